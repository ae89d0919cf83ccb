/* SPDX-License-Identifier: Apache-2.0 */
/* Calling observers with the events of turns. */
#pragma once

#include <jansson.h>
#include <stdint.h>

struct engine;
struct wfs_driver;

/* Receives the events of turns. Callback table. Thread: `wfs-agents`, one call at a time. */
struct wfs_turn_observer {
	/* @event: the value of a record of sys/KernelStart@1 and so on, in the order of the
	 * journal. A returned -errno is logged and has no other effect. */
	int (*event)(struct wfs_turn_observer *observer, const json_t *event);
	/* Private; lock: the driver's. */
	struct wfs_turn_observer *next;
	uint64_t from_height; /* of the first record that it gets */
};

/** wfs_agents_observe() - call @observer for each event of a turn, from the next commit on.
 *  @observer: kept until wfs_agents_unobserve() */
void wfs_agents_observe(struct wfs_driver *driver, struct wfs_turn_observer *observer);

/** wfs_agents_unobserve() - forget @observer; waits for a call in progress, so an observer's
 *  `event` must not call this. */
void wfs_agents_unobserve(struct wfs_driver *driver, struct wfs_turn_observer *observer);

/** observe_tell() - call all observers for the events of turns since the last time, up to the
 *  height of the world. Thread: engine->thread. */
void observe_tell(struct engine *engine);
