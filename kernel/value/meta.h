/* SPDX-License-Identifier: Apache-2.0 */
/* At which state of the world a read was answered. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "kernel/base/hash.h"

/* The state of the world that a read has seen; every reply and error has it. Plain value. */
struct wfs_meta {
	uint64_t journal_height;
	bool has_snapshot;
	struct wfs_hash snapshot_hash; /* the newest snapshot recorded before the height */
	struct wfs_hash manifest_hash; /* the manifest in force at the height */
};

/** wfs_meta_write() - append to @buffer the text of the file journal/head: the object of
 *  wfs_meta_document(), as canonical JSON, and a newline. */
void wfs_meta_write(const struct wfs_meta *meta, struct wfs_buffer *buffer);

/** wfs_meta_document() - make {journal_height, manifest_hash, snapshot_hash?}; `snapshot_hash` is
 *  set if meta->has_snapshot. Return: a new reference, or NULL if memory runs out. */
json_t *wfs_meta_document(const struct wfs_meta *meta);
