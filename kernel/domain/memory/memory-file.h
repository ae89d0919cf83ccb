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

#include "kernel/read/view.h"

enum {
	WFS_MEMORY_NAME_SIZE = 17 + 1, /* a file's name and NUL */
};

/** wfs_memory_is_store() - is the artifact a memory store? @artifact: document of its cell */
bool wfs_memory_is_store(const json_t *artifact);

/** wfs_memory_entry_key() - split a key of sys.memory into store and entry
 *  @ret_artifact_id: borrowed from @key. Return: false: it is not the key of an entry. */
bool wfs_memory_entry_key(
	struct wfs_bytes key, struct wfs_bytes *ret_artifact_id, uint32_t *ret_number);

/** wfs_memory_entry_name() - write the name of an entry's file. */
void wfs_memory_entry_name(uint32_t number, char ret_name[static WFS_MEMORY_NAME_SIZE]);

/** wfs_memory_entry_number() - find the entry whose file has this name. Return: false: no entry
 *  can have it. */
bool wfs_memory_entry_number(const char *name, uint32_t *ret_number);

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
