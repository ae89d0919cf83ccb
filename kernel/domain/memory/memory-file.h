/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries of memory stores as files: the contents of `/artifacts/<id>/entries/`.
 *
 * A file is one version of an entry's cell, byte for byte. Its name is the entry's id, as in
 * `mem_0000002a.json`. Names, ids and keys have one order, in which files are listed; so a listing
 * can continue after any id, even if entries have come and gone since.
 * Source: worldfs-tree(5).
 * Thread: any.
 */
#pragma once

#include <jansson.h>

#include "kernel/manifest/entity-name.h"
#include "kernel/read/view.h"

/** wfs_memory_is_store() - is the artifact a memory store? @artifact: document of its cell */
bool wfs_memory_is_store(const json_t *artifact);

/** wfs_memory_entry() - find the version of an entry in the view. Return: 0, -ENOENT, … */
int wfs_memory_entry(struct wfs_view *view, struct wfs_bytes artifact_id, uint32_t number,
	struct wfs_version *ret_version);

/**
 * wfs_memory_entry_next() - find the first entry of a store, from @number on, that exists in the
 * view
 * @ret_number: of the entry
 * Return: 0, -ENOENT (no more entries), …
 */
int wfs_memory_entry_next(struct wfs_view *view, struct wfs_bytes artifact_id, uint64_t number,
	uint32_t *ret_number, struct wfs_entry *ret_entry);

/** wfs_memory_entry_ever() - wfs_memory_entry_next(), also for deleted entries whose cells are
 *  kept
 *  @ret_key: of the cell, borrowed until the view is closed */
int wfs_memory_entry_ever(struct wfs_view *view, struct wfs_bytes artifact_id, uint64_t number,
	uint32_t *ret_number, struct wfs_bytes *ret_key);

/** wfs_memory_entry_count() - how many entries has a store in the view, according to its cell? */
int wfs_memory_entry_count(
	struct wfs_view *view, struct wfs_bytes artifact_id, uint64_t *ret_count);
