/* SPDX-License-Identifier: Apache-2.0 */
/* Dependencies among steps. */
#include "tests/fixture/json.h"

#include <errno.h>

#include "agents/plan/graph.h"

/* @edges: `1:0 2:0,1`: step 1 depends on step 0, step 2 on both. Return: the result of sorting */
static int make(struct wfs_graph *graph, size_t count, const char *edges)
{
	bool is_new;

	assert_int_equal(wfs_graph_init(graph, count), 0);
	for (size_t step = 0; step < count; step++) {
		char name[16];

		snprintf(name, sizeof(name), "%zu:", step);
		const char *at = strstr(edges, name);
		for (at = at ? at + strlen(name) : ""; *at >= '0' && *at <= '9'; at += *at == ',') {
			char *end;

			assert_int_equal(
				wfs_graph_depend(graph, (uint32_t)strtoul(at, &end, 10), &is_new),
				0);
			at = end;
		}
		wfs_graph_end_step(graph);
	}
	return wfs_graph_sort(graph);
}

static void append_steps(struct wfs_buffer *text, const uint32_t *steps, size_t count)
{
	for (size_t i = 0; i < count; i++)
		wfs_buffer_printf(text, "%s%u", i > 0 ? "," : "", steps[i]);
}

static void assert_order(size_t count, const char *edges, int status, const char *expected)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	struct wfs_graph graph;

	assert_int_equal(make(&graph, count, edges), status);
	append_steps(&text, graph.order, graph.order_count);
	assert_string_equal(wfs_buffer_text(&text), expected);
	wfs_graph_done(&graph);
}

TEST(each_step_comes_behind_those_that_it_depends_on)
{
	assert_order(0, "", 0, "");
	assert_order(3, "", 0, "0,1,2");
	assert_order(4, "0:1 1:2 3:0", 0, "2,1,0,3");
	assert_order(4, "1:0 2:0 3:1,2", 0, "0,1,2,3");
}

TEST(a_cycle_begins_with_its_first_step)
{
	assert_order(2, "0:1 1:0", -ELOOP, "0,1");
	assert_order(4, "0:3 1:3 2:1 3:2", -ELOOP, "1,3,2");
	assert_order(5, "1:0,3 2:1 3:2 4:3", -ELOOP, "1,3,2");
}

TEST(those_that_depend_on_a_step_are_in_plan_order)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	struct wfs_graph graph;
	size_t count;

	assert_int_equal(make(&graph, 4, "3:1,0 2:1,1,1 0:1"), 0);
	const uint32_t *next = wfs_edges_of(&graph.next, 1, &count);
	append_steps(&text, next, count);
	next = wfs_edges_of(&graph.next, 0, &count);
	wfs_buffer_append_byte(&text, ' ');
	append_steps(&text, next, count);
	(void)wfs_edges_of(&graph.next, 3, &count);

	assert_string_equal(wfs_buffer_text(&text), "0,2,3 3");
	assert_int_equal(count, 0);
	wfs_graph_done(&graph);
}

TEST(what_is_said_twice_counts_once)
{
	struct wfs_graph graph;
	bool is_new = false;

	assert_int_equal(wfs_graph_init(&graph, 2), 0);
	assert_int_equal(wfs_graph_depend(&graph, 1, &is_new), 0);
	assert_true(is_new);
	assert_int_equal(wfs_graph_depend(&graph, 1, &is_new), 0);
	assert_false(is_new);

	assert_int_equal(graph.on.count, 1);
	wfs_graph_done(&graph);
}

TEST(a_graph_that_was_never_made_is_released)
{
	struct wfs_graph graph = {0};

	wfs_graph_done(&graph);
}
