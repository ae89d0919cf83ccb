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

#include "agents/engine/observe.h"
#include "caps/drive.h"
#include "caps/session.h"

/** wfs_agents_start() - see wfs_driver_start. */
int wfs_agents_start(struct wfs_authority *authority, const struct wfs_helpers *helpers,
	bool paused, struct wfs_driver **ret_driver, struct wfs_error *error);
