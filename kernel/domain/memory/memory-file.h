/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries of memory stores as files: the contents of `/artifacts/<id>/entries/`.
 *
 * A file is one version of an entry's cell, byte for byte. Its name is the entry's id, as in
 * `mem_0000002a.json`. Names, ids and keys have one order, in which files are listed; so a listing
 * can continue after any id, even if entries were added or removed since. The number of an entry is
 * that in its id (0x2a above). Results must not be used after a failure.
 * Source: worldfs-tree(5).
 * Thread: any.
 */
#pragma once

#include <jansson.h>

#include "kernel/manifest/entity-name.h"
#include "kernel/read/view.h"

/** wfs_memory_is_store() - is an artifact of this type a memory store? */
bool wfs_memory_is_store(const char *type);

/** wfs_memory_entry() - find the version of the cell of entry @number that is current in the view.
 *  @artifact_id: of the store. Return: 0, -ENOENT (no such entry), … */
int wfs_memory_entry(struct wfs_view *view, struct wfs_bytes artifact_id, uint32_t number,
	struct wfs_version *ret_version);

/** wfs_memory_entry_next() - find the entry with the lowest number from @number on that exists in
 *  the view. @artifact_id: of the store. @ret_number: of the entry. @ret_entry: its cell, borrowed
 *  until the transaction of @view ends. Return: 0, -ENOENT (no more entries), … */
int wfs_memory_entry_next(struct wfs_view *view, struct wfs_bytes artifact_id, uint64_t number,
	uint32_t *ret_number, struct wfs_entry *ret_entry);

/** wfs_memory_entry_ever() - find the entry with the lowest number from @number on that a store has
 *  ever had: also one that was deleted, or added after the view's height
 *  @artifact_id: of the store. @ret_key: of the entry's cell, borrowed until the view is closed
 *  Return: 0, -ENOENT (no more entries), … */
int wfs_memory_entry_ever(struct wfs_view *view, struct wfs_bytes artifact_id, uint64_t number,
	uint32_t *ret_number, struct wfs_bytes *ret_key);

/** wfs_memory_entry_count() - get how many entries a store has in the view, by its cell of
 *  sys.memory_store. Return: 0, or -errno. */
int wfs_memory_entry_count(
	struct wfs_view *view, struct wfs_bytes artifact_id, uint64_t *ret_count);
