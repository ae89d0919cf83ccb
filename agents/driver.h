/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver of a world: one thread (`wfs-agents`) that does what open intents ask for.
 *
 * It looks at the cells of sys.intent: each intent is done once, with the rights of its principal;
 * a cell that has gone needs no answer any more. So a world that was closed, or whose daemon was
 * killed, continues where it was. This thread asks models, thousands at once; tools that read run
 * on threads of libuv; tools that act are requests to the kernel.
 * Source: docs/design.md, "Turns" and "Plans".
 */
#pragma once

#include "agents/engine/observe.h"
#include "caps/drive.h"

/** wfs_agents_start() - start the driver of a world; parameters and return values are those of
 *  wfs_driver_start in caps/drive.h. */
int wfs_agents_start(struct wfs_authority *authority, const struct wfs_helpers *helpers,
	bool paused, struct wfs_driver **ret_driver, struct wfs_error *error);
