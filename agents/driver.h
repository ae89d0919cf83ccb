/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver of a world's agents: one thread (`wfs-agents`) that does what runs ask for.
 *
 * It looks at the cells of sys.intent alone: one that is there is done, once, in the name of its agent;
 * one that is gone is not needed any more. So a world that was closed, or killed, goes on where it
 * was. Models are asked on this thread, thousands at once; tools that read do so on libuv's threads;
 * tools that act are requests to the kernel.
 * Source: design §5, §6; spec 5.
 */
#pragma once

#include "caps/drive.h"
#include "caps/session.h"

/** wfs_agents_start() - see wfs_driver_start. */
int wfs_agents_start(struct wfs_authority *authority, const struct wfs_helpers *helpers,
	bool paused, struct wfs_driver **ret_driver, struct wfs_error *error);

/* Somebody who is told what runs do. Callback table. Thread: `wfs-agents`, one at a time. */
struct wfs_turn_observer {
	/* @event: the value of a record of sys/KernelStart@1 and so on, in their order. What is returned
	 * changes nothing but a line in the log. */
	int (*event)(struct wfs_turn_observer *observer, const json_t *event);
	/* Private; lock: the driver's. */
	struct wfs_turn_observer *next;
	uint64_t from_height; /* of the first record that it is told of */
};

/** wfs_agents_observe() - from the next commit on. @observer: kept until wfs_agents_unobserve() */
void wfs_agents_observe(struct wfs_driver *driver, struct wfs_turn_observer *observer);

/** wfs_agents_unobserve() - when it returns, the observer is not being told any more. */
void wfs_agents_unobserve(struct wfs_driver *driver, struct wfs_turn_observer *observer);
