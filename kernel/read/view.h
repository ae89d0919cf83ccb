/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A view: the world as it was at one height, for as long as one request lasts.
 *
 * Every read in the system is a view plus a look-up. A view of the head is the newest commit at
 * the moment it was opened and does not move. Bytes that a view hands out are borrowed from the
 * store's map until the view is closed, and have been checked against their hash. Of a value that
 * is a file the parts that are read have been checked against their checksums.
 * Source: docs/design.md §6.
 * Thread: any number of views; each is used by one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/manifest/builtin.h"
#include "kernel/read/blob-read.h"

struct wfs_store;

#define WFS_HEIGHT_HEAD UINT64_C(0) /* heights run from 1 */

/* Plain value. */
struct wfs_view {
	struct wfs_store *store;
	struct wfs_txn *txn;
	bool txn_borrowed; /* it goes on when the view is closed */
	uint64_t height;   /* the height served */
	bool head;         /* no later record existed when the view was opened */
};

/* Where a read stood: what every reply and error carries. Plain value. */
struct wfs_meta {
	uint64_t journal_height;
	bool has_snapshot;
	struct wfs_hash snapshot_hash; /* the newest snapshot recorded before the height */
	struct wfs_hash manifest_hash; /* the manifest in force at it */
};

/* A range of a version's or blob's bytes. Plain value; zero-initialised is empty. */
struct wfs_content {
	struct wfs_bytes bytes; /* borrowed from the map until the view is closed, or from `read` */
	struct wfs_buffer read; /* what came from a file */
};

void wfs_content_done(struct wfs_content *content);
#define WFS_AUTO_CONTENT WFS_CLEANUP(wfs_content_done)

/**
 * wfs_view_of() - look at @height, or at WFS_HEIGHT_HEAD
 * Return: 0, -ENOENT (height_unavailable), -EAGAIN (overloaded), -EIO, -ENOMEM.
 */
int wfs_view_of(struct wfs_store *store, uint64_t height, struct wfs_view *ret_view,
	struct wfs_error *error);

/**
 * wfs_view_within() - look at a height in a transaction that outlives the view
 * @head: the newest height in it
 * Return: 0, -ENOENT (height_unavailable), -EIO.
 */
int wfs_view_within(struct wfs_store *store, struct wfs_txn *txn, uint64_t head, uint64_t height,
	struct wfs_view *ret_view, struct wfs_error *error);
void wfs_view_close(struct wfs_view *view);

/**
 * wfs_view_then() - the view as it was at an older height, for whoever has a version of then
 * Of a height that was dropped, the first that is kept: up to there the cell did not change.
 * @ret_view: not to be closed; good as long as @view is
 */
int wfs_view_then(const struct wfs_view *view, uint64_t height, struct wfs_view *ret_view);
#define WFS_AUTO_VIEW WFS_CLEANUP(wfs_view_close)

int wfs_view_meta(struct wfs_view *view, struct wfs_meta *ret_meta);

/** wfs_meta_write() - append the document of /journal/head. */
void wfs_meta_write(const struct wfs_meta *meta, struct wfs_buffer *buffer);

/** wfs_view_reducer() - Return: 0, or -ENOENT when the height has no reducer of this name. */
int wfs_view_reducer(
	struct wfs_view *view, const char *name, size_t name_size, struct wfs_reducer *ret_reducer);

/** wfs_view_builtin() - the same for a built-in one, which every height has: it is never -ENOENT. */
int wfs_view_builtin(
	struct wfs_view *view, enum wfs_builtin_reducer builtin, struct wfs_reducer *ret_reducer);

/** wfs_view_reducer_by_id() - Return: 0, or -ENOENT. */
int wfs_view_reducer_by_id(
	struct wfs_view *view, uint32_t reducer_id, struct wfs_reducer *ret_reducer);

/** wfs_view_reducer_next() - the next one after id @after (0: the first), in order of creation. */
int wfs_view_reducer_next(struct wfs_view *view, uint32_t after, struct wfs_bytes *ret_name,
	struct wfs_reducer *ret_reducer);

/** wfs_view_reducer_next_name() - the same in byte order of the names (@after empty: the first). */
int wfs_view_reducer_next_name(struct wfs_view *view, struct wfs_bytes after,
	struct wfs_bytes *ret_name, struct wfs_reducer *ret_reducer);

/** wfs_view_cell() - the live version of a cell. Return: 0, or -ENOENT. */
int wfs_view_cell(struct wfs_view *view, uint32_t reducer_id, struct wfs_bytes key,
	struct wfs_version *ret_version);

/** wfs_view_version() - any version by its number, whatever the view's height. */
int wfs_view_version(struct wfs_view *view, uint64_t vid, struct wfs_version *ret_version);

/* --- cells of built-in reducers, whatever the view's height --- */

/** wfs_view_number() - the number of a cell among those of its reducer, live or not.
 *  Return: 0, or -ENOENT (there never was one). */
int wfs_view_number(struct wfs_view *view, enum wfs_builtin_reducer builtin, struct wfs_bytes key,
	uint64_t *ret_number);

/** wfs_view_key() - the key of a cell by its number; borrowed until the view is closed.
 *  Return: 0, or -ENOENT. */
int wfs_view_key(struct wfs_view *view, enum wfs_builtin_reducer builtin, uint64_t number,
	struct wfs_bytes *ret_key);

/** wfs_view_newest() - its newest version, which may be a deletion. Return: 0, or -ENOENT. */
int wfs_view_newest(struct wfs_view *view, enum wfs_builtin_reducer builtin, struct wfs_bytes key,
	struct wfs_version *ret_version);

/** wfs_view_is_of() - is this a version of a cell of that reducer? Return: 1, 0, or -errno. */
int wfs_view_is_of(
	struct wfs_view *view, const struct wfs_version *version, enum wfs_builtin_reducer builtin);

/**
 * wfs_view_name() - which cell a version belongs to
 * @ret_reducer, @ret_key: borrowed until the view is closed
 */
int wfs_view_name(struct wfs_view *view, const struct wfs_version *version,
	struct wfs_bytes *ret_reducer, struct wfs_bytes *ret_key);

/* What a listing tells of a cell. Plain value; `key` is borrowed until the next step. */
struct wfs_entry {
	uint64_t cell_id; /* also the cookie: a walk can start behind it */
	uint64_t vid;
	uint64_t height; /* when this version was written */
	uint64_t size_bytes;
	int64_t time_ns;
	struct wfs_bytes key;
};

/** wfs_view_entry() - of one cell; its key is borrowed until the view is closed. Return: 1 and an entry, 0 (it
 *  does not live in the view), or -errno. */
int wfs_view_entry(struct wfs_view *view, uint64_t cell_id, struct wfs_entry *ret_entry);

/* Walks the live cells of a reducer in order of creation. Plain value: init, next …, done. */
struct wfs_entry_walk {
	struct wfs_view *view;
	struct wfs_cell_walk cells;
};
int wfs_entry_walk_init(
	struct wfs_entry_walk *walk, struct wfs_view *view, uint32_t reducer_id, uint64_t after_id);
/** wfs_entry_walk_next() - Return: 1 and an entry, 0 at the end, or -errno. */
int wfs_entry_walk_next(struct wfs_entry_walk *walk, struct wfs_entry *ret_entry);
void wfs_entry_walk_done(struct wfs_entry_walk *walk);
#define WFS_AUTO_ENTRY_WALK WFS_CLEANUP(wfs_entry_walk_done)

/** wfs_view_next_key() - the live version with the smallest key above @after (NULL: the first). */
int wfs_view_next_key(struct wfs_view *view, uint32_t reducer_id, const struct wfs_bytes *after,
	struct wfs_bytes *ret_key, struct wfs_version *ret_version);

/**
 * wfs_view_content() - bytes of a version that were checked
 * Return: 0, -ENOENT (it is a deletion), -EIO (hash_mismatch), …
 */
int wfs_view_content(struct wfs_view *view, const struct wfs_version *version,
	struct wfs_range range, struct wfs_content *ret_content, struct wfs_error *error);

/** wfs_view_state() - the JSON of a version; an empty object when it is not JSON, as a world may have
 *  that was restored from foreign files. Return: 0, -EIO, -ENOMEM. @ret_state: caller owns it */
int wfs_view_state(struct wfs_view *view, const struct wfs_version *version, json_t **ret_state);

/** wfs_view_version_document() - the JSON of a version of a built-in reducer's cell; caller owns it. */
int wfs_view_version_document(struct wfs_view *view, const struct wfs_version *version,
	json_t **ret_document, struct wfs_error *error);

/** wfs_view_document() - the same of the live cell of this key. Return: 0, -ENOENT, … */
int wfs_view_document(struct wfs_view *view, enum wfs_builtin_reducer builtin, const char *key,
	json_t **ret_document, struct wfs_error *error);

/** wfs_view_manifest() - the version that is the manifest document in force. */
int wfs_view_manifest(struct wfs_view *view, struct wfs_version *ret_version);

/** wfs_view_blob() - a listed blob. Return: 0, or -ENOENT (also when listed later). */
int wfs_view_blob(struct wfs_view *view, const struct wfs_hash *hash, struct wfs_blob *ret_blob,
	struct wfs_blob_listing *ret_listing);

/** wfs_view_blob_listed() - the listed blob of this number. Return: 0, or -ENOENT. */
int wfs_view_blob_listed(struct wfs_view *view, uint64_t listed_id, struct wfs_blob *ret_blob,
	struct wfs_blob_listing *ret_listing);

/** wfs_view_blob_last() - the highest number of a listed blob, 0 when there is none. */
int wfs_view_blob_last(struct wfs_view *view, uint64_t *ret_listed_id);

/** wfs_view_blob_content() - the same of a blob. */
int wfs_view_blob_content(struct wfs_view *view, const struct wfs_blob *blob,
	struct wfs_range range, struct wfs_content *ret_content, struct wfs_error *error);

/** wfs_view_record() - one journal line. Return: 0, or -ENOENT at or above the height. */
int wfs_view_record(struct wfs_view *view, uint64_t seq, struct wfs_bytes *ret_line);

/** wfs_view_record_time() - at_ns of a record, read from its line. */
int wfs_view_record_time(struct wfs_view *view, uint64_t seq, int64_t *ret_at_ns);

/** wfs_view_journal_size() - bytes of all lines below the height. */
int wfs_view_journal_size(struct wfs_view *view, uint64_t *ret_size_bytes);

/** wfs_view_journal_read() - append up to @size bytes of log.jsonl from @offset to @buffer. */
int wfs_view_journal_read(
	struct wfs_view *view, uint64_t offset, size_t size, struct wfs_buffer *buffer);
