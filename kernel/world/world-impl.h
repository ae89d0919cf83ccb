/* SPDX-License-Identifier: Apache-2.0 */
/* Private to kernel/: the inside of a world. */
#pragma once

#include "kernel/base/trust.h"
#include "kernel/box/quarantine.h"
#include "kernel/world/genesis.h"
#include "kernel/world/world.h"

struct wfs_world {
	char *directory;
	int lock_fd; /* held while we own the directory; -1 when read-only */
	struct wfs_store *store;
	struct wfs_world_options options;
	char id[WFS_WORLD_ID_SIZE + 1];
	uint8_t entropy[WFS_ENTROPY_SIZE];
	struct wfs_writer *writer; /* NULL when read-only */
	struct wfs_quarantine *quarantine;
	struct wfs_store_mark
		mark; /* of the store when this user last closed the world; zeros: unknown */

	pthread_mutex_t manifest_lock;
	struct wfs_manifest *manifest; /* in force at head; lock: manifest_lock */
};

/** wfs_world_manifest_set() - put @manifest into force at the head, and unref the manifest before,
 *  which may be NULL; locks manifest_lock. @manifest: takes the caller's reference */
void wfs_world_manifest_set(struct wfs_world *world, struct wfs_manifest *manifest);
