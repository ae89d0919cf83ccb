/* SPDX-License-Identifier: Apache-2.0 */
/* Calling observers with the events of turns. */
#pragma once

#include <jansson.h>
#include <stdint.h>

struct engine;
struct wfs_driver;

/* Receives the events of turns. Callback table. Thread: `wfs-agents`, one call at a time. */
struct wfs_turn_observer {
	/* @event: an event of a turn (kernel/domain/turn/events.h); events come in the order of
	 * the journal. A returned -errno is logged and has no other effect. */
	int (*event)(struct wfs_turn_observer *observer, const json_t *event);
	/* Private; lock: the driver's. */
	struct wfs_turn_observer *next;
	uint64_t from_height; /* it gets the events of the records from this number on */
};

/** wfs_agents_observe() - call @observer->event for each event of a turn that is recorded from now
 *  on. @observer: borrowed until wfs_agents_unobserve(); `event` is set. Thread: any. */
void wfs_agents_observe(struct wfs_driver *driver, struct wfs_turn_observer *observer);

/** wfs_agents_unobserve() - end wfs_agents_observe() for @observer; waits for a call of its `event`
 *  that is in progress, so `event` must not call this. */
void wfs_agents_unobserve(struct wfs_driver *driver, struct wfs_turn_observer *observer);

/** observe_tell() - call all observers for the events of turns that were recorded since the last
 *  call of this function. Thread: engine->thread. */
void observe_tell(struct engine *engine);
