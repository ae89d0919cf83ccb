/* SPDX-License-Identifier: Apache-2.0 */
/* Dependencies: counting sort for the reverse edges, Kahn's algorithm for the order. */
#include "agents/plan/graph.h"

#include <errno.h>
#include <string.h>

#include "kernel/base/array.h"
#include "kernel/base/cleanup.h"

int wfs_graph_init(struct wfs_graph *graph, size_t step_count)
{
	*graph = (struct wfs_graph){
		.step_count = step_count,
		.on.first = calloc(step_count + 1, sizeof(*graph->on.first)),
		.next.first = calloc(step_count + 2, sizeof(*graph->next.first)),
		.order = calloc(step_count + 1, sizeof(*graph->order)),
		.mark = calloc(step_count + 1, sizeof(*graph->mark)),
	};
	return graph->on.first && graph->next.first && graph->order && graph->mark ? 0 : -ENOMEM;
}

void wfs_graph_done(struct wfs_graph *graph)
{
	free(graph->on.steps);
	free(graph->on.first);
	free(graph->next.steps);
	free(graph->next.first);
	free(graph->order);
	free(graph->mark);
	*graph = (struct wfs_graph){0};
}

int wfs_graph_depend(struct wfs_graph *graph, uint32_t step, bool *ret_new)
{
	struct wfs_edges *const on = &graph->on;

	*ret_new = graph->mark[step] != graph->defined_count + 1;
	if (!*ret_new)
		return 0;
	uint32_t *const steps =
		wfs_array_reserve(on->steps, on->count, &on->capacity, sizeof(*steps));
	if (!steps)
		return -ENOMEM;
	on->steps = steps;
	on->steps[on->count++] = step;
	graph->mark[step] = (uint32_t)graph->defined_count + 1;
	return 0;
}

void wfs_graph_end_step(struct wfs_graph *graph)
{
	graph->on.first[++graph->defined_count] = graph->on.count;
}

/* --- reverse edges --- */

/* During the last loop, `first[i + 1]` is the place of the next edge of step i; afterwards, the
 * place where the edges of step i + 1 begin. */
static int reverse(struct wfs_graph *graph)
{
	size_t *const first = graph->next.first;

	graph->next.steps = calloc(graph->on.count + 1, sizeof(*graph->next.steps));
	if (!graph->next.steps)
		return -ENOMEM;
	for (size_t i = 0; i < graph->on.count; i++)
		first[graph->on.steps[i] + 2]++;
	for (size_t step = 0; step < graph->step_count; step++)
		first[step + 2] += first[step + 1];
	for (size_t step = 0; step < graph->step_count; step++) {
		size_t count;
		const uint32_t *const on = wfs_edges_of(&graph->on, step, &count);

		for (size_t i = 0; i < count; i++)
			graph->next.steps[first[on[i] + 1]++] = (uint32_t)step;
	}
	graph->next.count = graph->on.count;
	return 0;
}

/* --- cycles --- */

/* Return: a dependency of the step that has no place in the order either. */
static uint32_t blocker(const struct wfs_graph *graph, const uint32_t *waiting, uint32_t step)
{
	size_t count;
	const uint32_t *on = wfs_edges_of(&graph->on, step, &count);

	while (waiting[*on] == 0)
		on++;
	return *on;
}

static void find_cycle(struct wfs_graph *graph, const uint32_t *waiting)
{
	uint32_t step = 0;

	/* Each step without a place in the order depends on another such step: into a cycle. */
	while (waiting[step] == 0)
		step++;
	memset(graph->mark, 0, graph->step_count * sizeof(*graph->mark));
	for (; !graph->mark[step]; step = blocker(graph, waiting, step))
		graph->mark[step] = 1;
	const uint32_t on_it = step;
	uint32_t begin = on_it;
	while ((step = blocker(graph, waiting, step)) != on_it)
		if (step < begin)
			begin = step;
	graph->order_count = 0;
	step = begin;
	do {
		graph->order[graph->order_count++] = step;
		step = blocker(graph, waiting, step);
	} while (step != begin);
}

int wfs_graph_sort(struct wfs_graph *graph)
{
	WFS_AUTO_FREE uint32_t *waiting = calloc(graph->step_count + 1, sizeof(*waiting));
	int r = waiting ? reverse(graph) : -ENOMEM;

	if (r)
		return r;
	for (size_t step = 0; step < graph->step_count; step++) {
		size_t count;

		(void)wfs_edges_of(&graph->on, step, &count);
		waiting[step] = (uint32_t)count;
		if (count == 0)
			graph->order[graph->order_count++] = (uint32_t)step;
	}
	/* Afterwards only the steps that a cycle keeps from a place in the order wait. */
	for (size_t at = 0; at < graph->order_count; at++) {
		size_t count;
		const uint32_t *const next = wfs_edges_of(&graph->next, graph->order[at], &count);

		for (size_t i = 0; i < count; i++)
			if (--waiting[next[i]] == 0)
				graph->order[graph->order_count++] = next[i];
	}
	if (graph->order_count == graph->step_count)
		return 0;
	find_cycle(graph, waiting);
	return -ELOOP;
}
