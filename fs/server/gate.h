/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver of agents that runs only while this node owns the world.
 *
 * Turns, plans, timers and calls of outside tools run on one node. Verbs use the gate as their
 * driver. The gate starts the real driver when the node begins to own the world, passes on to it
 * what verbs ask for, and frees it when the node stops owning. All this is done on a thread of the
 * gate, because freeing waits for calls under way.
 */
#pragma once

#include "caps/drive.h"

struct wfs_gate;

/** wfs_gate_new() - make a gate that is shut
 *  @drive: starts the real driver, with the arguments that follow, which must outlive the gate
 *  @ret_gate: caller frees it through its driver. Return: 0, -EAGAIN (overloaded: no thread),
 *  -ENOMEM. */
int wfs_gate_new(wfs_driver_start *drive, struct wfs_authority *authority,
	const struct wfs_helpers *helpers, bool paused, struct wfs_gate **ret_gate,
	struct wfs_error *error);

/** wfs_gate_driver() - get the driver of the gate, whose `free` frees the gate. Requests to this
 *  driver fail (unavailable) while the gate is shut. From wfs_gate_open() on they wait until the
 *  real driver has started; they fail if it cannot be started, or if too many wait. */
struct wfs_driver *wfs_gate_driver(struct wfs_gate *gate);

/** wfs_gate_open() - have the real driver started @delay_ms from now; returns at once. Thread: any.
 */
void wfs_gate_open(struct wfs_gate *gate, int64_t delay_ms);

/** wfs_gate_shut() - have the real driver freed; returns at once. Thread: any. */
void wfs_gate_shut(struct wfs_gate *gate);
