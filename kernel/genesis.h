/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Genesis: what height 1 of a world consists of. Written once by `init`, and again by replay, from
 * the same parts, so that both give the same rows.
 */
#pragma once

#include "kernel/fold.h"

enum { WFS_WORLD_ID_SIZE = 32 }; /* hex digits */

/* The parts that are not in the manifest. Plain value. */
struct wfs_genesis {
	char world_id[WFS_WORLD_ID_SIZE + 1];
	uint8_t entropy[WFS_ENTROPY_SIZE];
	int64_t at_ns;
};

/** wfs_genesis_write() - reducers, record 0 and the manifest's version; modules are listed by
 *  wfs_genesis_module. @head: of an empty store. */
int wfs_genesis_write(struct wfs_head *head, const struct wfs_genesis *genesis,
	const struct wfs_manifest *manifest);

/** wfs_genesis_module() - store and list one Lua module, visible from height 1 on. */
int wfs_genesis_module(
	struct wfs_head *head, const struct wfs_genesis *genesis, struct wfs_bytes module);
