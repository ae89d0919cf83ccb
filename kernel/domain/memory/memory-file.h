/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries of memory stores as files: what is in `/artifacts/<id>/entries/`.
 *
 * A file is one version of an entry's cell, with its bytes as they are. It is called as the entry,
 * `mem_0000002a.json`, and listed in the order of the ids, which is that of the names and of the keys; so a
 * listing goes on behind any id, whatever came and went meanwhile.
 * Source: worldfs-tree(5).
 * Thread: any.
 */
#pragma once

#include <jansson.h>

#include "kernel/read/view.h"

enum {
	WFS_MEMORY_NAME_SIZE = 17 + 1, /* text of a file's name */
};

/** wfs_memory_is_store() - @artifact: document of an artifact's cell */
bool wfs_memory_is_store(const json_t *artifact);

/** wfs_memory_entry_key() - whose entry a key of sys.memory is, and which. @ret_artifact_id: borrowed from
 *  @key. Return: false: it is the key of none. */
bool wfs_memory_entry_key(
	struct wfs_bytes key, struct wfs_bytes *ret_artifact_id, uint32_t *ret_number);

/** wfs_memory_entry_name() - of its file. */
void wfs_memory_entry_name(uint32_t number, char ret_name[static WFS_MEMORY_NAME_SIZE]);

/** wfs_memory_entry_number() - the entry whose file has this name. Return: false: none can have. */
bool wfs_memory_entry_number(const char *name, uint32_t *ret_number);

/** wfs_memory_entry() - its version in the view. Return: 0, -ENOENT, … */
int wfs_memory_entry(struct wfs_view *view, struct wfs_bytes artifact_id, uint32_t number,
	struct wfs_version *ret_version);

/**
 * wfs_memory_entry_next() - the first entry of a store from @number on that lives in the view
 * @ret_number: its own
 * Return: 0, -ENOENT (there are no more), …
 */
int wfs_memory_entry_next(struct wfs_view *view, struct wfs_bytes artifact_id, uint64_t number,
	uint32_t *ret_number, struct wfs_entry *ret_entry);

/** wfs_memory_entry_ever() - the same of those that there ever were, as far as they are kept. @ret_key: of its
 *  cell, borrowed until the view is closed */
int wfs_memory_entry_ever(struct wfs_view *view, struct wfs_bytes artifact_id, uint64_t number,
	uint32_t *ret_number, struct wfs_bytes *ret_key);

/** wfs_memory_entry_count() - how many a store has in the view, as its cell says. */
int wfs_memory_entry_count(
	struct wfs_view *view, struct wfs_bytes artifact_id, uint64_t *ret_count);
