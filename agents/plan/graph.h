/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dependencies of a plan's steps: edges in both directions, and an order in which each step comes
 * after those that it depends on, or a cycle. Callers give the dependencies of one step after the
 * other, in plan order: the *current step* is the one whose dependencies are given now. Time and
 * memory are linear in steps and edges; nothing recurses.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Adjacency lists: for each step, the numbers of other steps. Plain value. */
struct wfs_edges {
	uint32_t *steps; /* owned */
	size_t count;
	size_t capacity;
	size_t *first; /* the list of step i is steps[first[i]] up to steps[first[i + 1]]; owned */
};

/* Plain value; wfs_graph_init, wfs_graph_done. */
struct wfs_graph {
	size_t step_count;
	size_t defined_count;
	struct wfs_edges on;   /* for each step, those that it depends on, as they were added */
	struct wfs_edges next; /* for each step, those that depend on it; after sorting */
	uint32_t *order; /* each step after those that it depends on; or the steps of a cycle */
	size_t order_count;
	uint32_t *mark; /* for step i: 1 + the number of the last step that depends on it */
};

/** wfs_graph_init() - begin a graph of @step_count steps without dependencies; its current step is
 *  step 0. Return: 0, or -ENOMEM: the caller still calls wfs_graph_done(). */
int wfs_graph_init(struct wfs_graph *graph, size_t step_count);
void wfs_graph_done(struct wfs_graph *graph);

/** wfs_graph_depend() - make the current step depend on the step with the number @step (less than
 *  step_count), which may come before or after it in the plan. @ret_new: false: the current step
 *  depends on @step already. Return: 0, or -ENOMEM. */
int wfs_graph_depend(struct wfs_graph *graph, uint32_t step, bool *ret_new);

/** wfs_graph_end_step() - note that all dependencies of the current step are given; the next step
 *  becomes the current one. */
void wfs_graph_end_step(struct wfs_graph *graph);

/** wfs_graph_sort() - fill `order` and `next`, when all steps have ended. Return: 0, -ELOOP
 *  (`order` has the steps of a cycle, beginning with the first in plan order: each depends on the
 *  next one, the last on the first), -ENOMEM. */
int wfs_graph_sort(struct wfs_graph *graph);

/** wfs_edges_of() - get the list of the step with the number @step; borrowed from @edges.
 *  @ret_count: its length. Return: NULL if all lists are empty. */
static inline const uint32_t *wfs_edges_of(
	const struct wfs_edges *edges, size_t step, size_t *ret_count)
{
	*ret_count = edges->first[step + 1] - edges->first[step];
	return edges->steps ? edges->steps + edges->first[step] : NULL;
}
