/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which steps depend on which: edges both ways, an order in which each step comes behind those that it
 * depends on, or a cycle. Time and memory are linear in steps and edges, and nothing recurses.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers, of each step a run of them. Plain value. */
struct wfs_edges {
	uint32_t *steps; /* owned */
	size_t count;
	size_t capacity;
	size_t *first; /* of step i: steps[first[i]] up to steps[first[i + 1]]; owned */
};

/* Plain value; wfs_graph_init, wfs_graph_done. */
struct wfs_graph {
	size_t step_count;
	size_t defined_count;
	struct wfs_edges on;   /* which it depends on, as they were added */
	struct wfs_edges next; /* which depend on it, in plan order; from wfs_graph_sort on */
	uint32_t *order; /* behind those that it depends on; of a graph with a cycle: the cycle */
	size_t order_count;
	uint32_t *mark; /* of step i: 1 + the last one that depends on it */
};

/** wfs_graph_init() - of @step_count steps. Return: 0, or -ENOMEM. */
int wfs_graph_init(struct wfs_graph *graph, size_t step_count);
void wfs_graph_done(struct wfs_graph *graph);

/** wfs_graph_depend() - the step that is being defined depends on @step; said twice, it counts once.
 *  @ret_new: it was not said before. Return: 0, or -ENOMEM. */
int wfs_graph_depend(struct wfs_graph *graph, uint32_t step, bool *ret_new);

/** wfs_graph_end_step() - what follows is of the next step. */
void wfs_graph_end_step(struct wfs_graph *graph);

/** wfs_graph_sort() - when all are defined. Return: 0, -ELOOP (`order` has the steps of a cycle, from the
 *  first in plan order on: each depends on the one behind it, the last on the first), -ENOMEM. */
int wfs_graph_sort(struct wfs_graph *graph);

/** wfs_edges_of() - the steps of @step; @ret_count: how many. Return: NULL if no step of the graph has any. */
static inline const uint32_t *wfs_edges_of(
	const struct wfs_edges *edges, size_t step, size_t *ret_count)
{
	*ret_count = edges->first[step + 1] - edges->first[step];
	return edges->steps ? edges->steps + edges->first[step] : NULL;
}
