/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A view: the world at one height, open for reading as long as one request lasts.
 *
 * Every read is a look-up in a view. A view of the head shows the newest commit of the moment at
 * which it was opened, and later commits do not change it. Bytes that a view returns are borrowed
 * from the store's map until the view is closed, and have been compared with their hash; of a value
 * in a file, the parts that are read have been compared with their checksums.
 * Source: docs/design.md §6.
 * Thread: any number of views; each is used by one thread at a time.
 * Functions that return int return 0, -ENOENT (not in the view) or another -errno; what they find
 * is a plain value. Every reducer, cell, version and listed blob has a number, its id.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/manifest/builtin.h"
#include "kernel/read/blob-read.h"
#include "kernel/value/consistency.h"
#include "kernel/value/meta.h"

struct wfs_store;

/* An open view. Plain value. */
struct wfs_view {
	struct wfs_store *store;
	struct wfs_txn *txn;
	bool txn_borrowed; /* closing the view does not end the transaction */
	uint64_t height;   /* the height that it shows */
	bool head;         /* no later record existed when the view was opened */
};

/* A range of a version's or blob's bytes. Plain value; zero-initialised is empty. */
struct wfs_content {
	struct wfs_bytes bytes; /* borrowed from the map until the view is closed, or from `read` */
	struct wfs_buffer read; /* owned: bytes that were read from a file */
};

static inline void wfs_content_done(struct wfs_content *content)
{
	wfs_buffer_done(&content->read);
}
#define WFS_AUTO_CONTENT WFS_CLEANUP(wfs_content_done)

/** wfs_view_of() - open a view of a store, with a transaction of its own
 *  @height: from 1 on, or WFS_HEIGHT_HEAD
 *  @ret_view: set on success; caller closes it with wfs_view_close()
 *  Return: 0, -ENOENT (height_unavailable: the height is not reached yet, or was dropped), -EAGAIN
 *  (overloaded: too many readers), -EIO, -ENOMEM. */
int wfs_view_of(struct wfs_store *store, uint64_t height, struct wfs_view *ret_view,
	struct wfs_error *error);

/** wfs_view_within() - open a view in the transaction @txn, which must outlive the view
 *  @head: the newest height in the transaction. @height: from 1 on, or WFS_HEIGHT_HEAD. @ret_view:
 *  closing it leaves @txn open
 *  Return: 0, -ENOENT (height_unavailable: @height is above @head, or was dropped), -EIO. */
int wfs_view_within(struct wfs_store *store, struct wfs_txn *txn, uint64_t head, uint64_t height,
	struct wfs_view *ret_view, struct wfs_error *error);
void wfs_view_close(struct wfs_view *view);

/** wfs_view_then() - make a view of an older height in the transaction of @view
 *  Callers have a version that was written at @height, and that is not dropped. If the height was
 *  dropped, @ret_view is at the oldest height that is kept, which shows this version, too.
 *  @ret_view: borrows from @view; caller does not close it. Return: 0, or -EIO. */
int wfs_view_then(const struct wfs_view *view, uint64_t height, struct wfs_view *ret_view);
#define WFS_AUTO_VIEW WFS_CLEANUP(wfs_view_close)

int wfs_view_meta(struct wfs_view *view, struct wfs_meta *ret_meta);

/** wfs_view_reducer() - find a reducer that exists at the view's height by its name. Return: 0, or
 *  -ENOENT. */
int wfs_view_reducer(
	struct wfs_view *view, const char *name, size_t name_size, struct wfs_reducer *ret_reducer);

/** wfs_view_builtin() - find a built-in reducer, which every height has. Return: 0, or -EIO. */
int wfs_view_builtin(
	struct wfs_view *view, enum wfs_builtin_reducer builtin, struct wfs_reducer *ret_reducer);

/** wfs_view_reducer_by_id() - find a reducer that exists at the view's height by its number.
 *  Return: 0, or -ENOENT. */
int wfs_view_reducer_by_id(
	struct wfs_view *view, uint32_t reducer_id, struct wfs_reducer *ret_reducer);

/** wfs_view_reducer_next() - find the reducer with the lowest number above @after (0: the first of
 *  all); reducers that were added later have higher numbers. Return: 0, or -ENOENT. */
int wfs_view_reducer_next(struct wfs_view *view, uint32_t after, struct wfs_bytes *ret_name,
	struct wfs_reducer *ret_reducer);

/** wfs_view_reducer_next_name() - find the reducer whose name comes next after @after in byte order
 *  (empty: the first of all). Return: 0, or -ENOENT. */
int wfs_view_reducer_next_name(struct wfs_view *view, struct wfs_bytes after,
	struct wfs_bytes *ret_name, struct wfs_reducer *ret_reducer);

/** wfs_view_cell() - find the version of a cell that the view shows. Return: 0, or -ENOENT (no live
 *  cell). */
int wfs_view_cell(struct wfs_view *view, uint32_t reducer_id, struct wfs_bytes key,
	struct wfs_version *ret_version);

/** wfs_view_version() - find a version by its number, also one that the view's height does not
 *  show. Return: 0, or -ENOENT. */
int wfs_view_version(struct wfs_view *view, uint64_t vid, struct wfs_version *ret_version);

/* --- cells of built-in reducers, whatever the view's height --- */

/** wfs_view_number() - find the number, counted from 1, that a cell, live or not, has among all
 *  cells that its reducer ever had. Return: 0, or -ENOENT (no cell ever had this key). */
int wfs_view_number(struct wfs_view *view, enum wfs_builtin_reducer builtin, struct wfs_bytes key,
	uint64_t *ret_number);

/** wfs_view_key() - find the key of the cell that has this number (as from wfs_view_number()) among
 *  the cells of a reducer. @ret_key: borrowed until the view is closed. Return: 0, or -ENOENT. */
int wfs_view_key(struct wfs_view *view, enum wfs_builtin_reducer builtin, uint64_t number,
	struct wfs_bytes *ret_key);

/** wfs_view_newest() - find the newest version of a cell, also one after the view's height; it may
 *  be a deletion. Return: 0, or -ENOENT (no cell ever had this key). */
int wfs_view_newest(struct wfs_view *view, enum wfs_builtin_reducer builtin, struct wfs_bytes key,
	struct wfs_version *ret_version);

/** wfs_view_is_of() - does @version belong to a cell of the reducer @builtin? Return: 1, 0, or
 *  -errno. */
int wfs_view_is_of(
	struct wfs_view *view, const struct wfs_version *version, enum wfs_builtin_reducer builtin);

/** wfs_view_name() - find the reducer and the key of the cell that a version belongs to
 *  @ret_reducer: name of the reducer. Both results are borrowed until the view is closed
 *  Return: 0, or -errno. */
int wfs_view_name(struct wfs_view *view, const struct wfs_version *version,
	struct wfs_bytes *ret_reducer, struct wfs_bytes *ret_key);

/* A live cell in a listing. Plain value; `key` is borrowed until wfs_entry_walk_next() is called
 * again. */
struct wfs_entry {
	uint64_t cell_id; /* number of the cell: a later walk can start after it */
	uint64_t vid;     /* number of the version */
	uint64_t height;  /* at which this version was written */
	uint64_t size_bytes;
	int64_t time_ns; /* when it was written, since 1970 */
	struct wfs_bytes key;
};

/** wfs_view_entry() - get the entry that a listing has for the cell with the number @cell_id
 *  @ret_entry: its key is borrowed until the view is closed
 *  Return: 1 and an entry, 0 (the cell is not live in the view), -ENOENT (no cell has this number),
 *  or another -errno. */
int wfs_view_entry(struct wfs_view *view, uint64_t cell_id, struct wfs_entry *ret_entry);

/* Walks the live cells of a reducer, oldest first: those after the cell with the number @after_id
 * (0: all). Plain value: init, next …, done. */
struct wfs_entry_walk {
	struct wfs_view *view;
	struct wfs_cell_walk cells;
};
int wfs_entry_walk_init(
	struct wfs_entry_walk *walk, struct wfs_view *view, uint32_t reducer_id, uint64_t after_id);
/** wfs_entry_walk_next() - get the next live cell. Return: 1 and an entry, 0 at the end, or
 *  -errno. */
int wfs_entry_walk_next(struct wfs_entry_walk *walk, struct wfs_entry *ret_entry);
void wfs_entry_walk_done(struct wfs_entry_walk *walk);
#define WFS_AUTO_ENTRY_WALK WFS_CLEANUP(wfs_entry_walk_done)

/** wfs_view_next_key() - find the live cell of a reducer with the lowest key above @after (NULL:
 *  the lowest of all). @ret_key: borrowed until the view is closed. Return: 0, or -ENOENT. */
int wfs_view_next_key(struct wfs_view *view, uint32_t reducer_id, const struct wfs_bytes *after,
	struct wfs_bytes *ret_key, struct wfs_version *ret_version);

/** wfs_view_content() - read a range of a version's bytes, and compare them with their hash or
 *  checksums. @ret_content: set on success; caller ends it with wfs_content_done()
 *  Return: 0, -ENOENT (the version is a deletion), -EIO (hash_mismatch), … */
int wfs_view_content(struct wfs_view *view, const struct wfs_version *version,
	struct wfs_range range, struct wfs_content *ret_content, struct wfs_error *error);

/** wfs_view_state() - read a version and parse it as JSON
 *  @ret_state: caller owns it; an empty object if the bytes are not JSON, which can happen in a
 *  world that was restored from foreign files. Return: 0, -ENOENT (the version is a deletion),
 *  -EIO, -ENOMEM. */
int wfs_view_state(struct wfs_view *view, const struct wfs_version *version, json_t **ret_state);

/** wfs_view_version_document() - read a version of a built-in reducer's cell and parse it as JSON
 *  @ret_document: caller owns it. Return: 0, -ENOENT (the version is a deletion), -EIO (also if the
 *  bytes are not JSON), … */
int wfs_view_version_document(struct wfs_view *view, const struct wfs_version *version,
	json_t **ret_document, struct wfs_error *error);

/** wfs_view_document() - read the live cell with the key @key of a built-in reducer, and parse it
 *  as JSON. @ret_document: caller owns it. @error: filled only if a cell was found, but its bytes
 *  cannot be read. Return: 0, -ENOENT (no live cell), … */
int wfs_view_document(struct wfs_view *view, enum wfs_builtin_reducer builtin, const char *key,
	json_t **ret_document, struct wfs_error *error);

/** wfs_view_manifest() - find the version whose bytes are the document of the manifest in force at
 *  the view's height. */
int wfs_view_manifest(struct wfs_view *view, struct wfs_version *ret_version);

/** wfs_view_blob() - find the blob with the hash @hash, if it is listed at the view's height.
 *  @ret_listing: its row in the list. Return: 0, or -ENOENT. */
int wfs_view_blob(struct wfs_view *view, const struct wfs_hash *hash, struct wfs_blob *ret_blob,
	struct wfs_blob_listing *ret_listing);

/** wfs_view_blob_listed() - find a listed blob by its number in the list. Return: 0, or -ENOENT. */
int wfs_view_blob_listed(struct wfs_view *view, uint64_t listed_id, struct wfs_blob *ret_blob,
	struct wfs_blob_listing *ret_listing);

/** wfs_view_blob_last() - find the number of the last listed blob in the view's transaction, also
 *  of one that was listed after the view's height; 0 if none is listed. */
int wfs_view_blob_last(struct wfs_view *view, uint64_t *ret_listed_id);

/** wfs_view_blob_content() - read a range of a blob's bytes, as wfs_view_content() does. */
int wfs_view_blob_content(struct wfs_view *view, const struct wfs_blob *blob,
	struct wfs_range range, struct wfs_content *ret_content, struct wfs_error *error);

/** wfs_view_record() - find the line of record @seq of the journal, borrowed until the view is
 *  closed. Return: 0, -ENOENT (@seq is not below the height, or before the oldest record that is
 *  kept), or -EIO (the record is damaged, or missing). */
int wfs_view_record(struct wfs_view *view, uint64_t seq, struct wfs_bytes *ret_line);

/** wfs_view_record_time() - read the time of record @seq from its line, in nanoseconds since 1970;
 *  for a record before the oldest one that is kept, get the time of record 0 instead
 *  Return: 0, -ENOENT (@seq is not below the height), or -EIO. */
int wfs_view_record_time(struct wfs_view *view, uint64_t seq, int64_t *ret_at_ns);

/* One of the files that journal/log.jsonl has been: each cut of the journal (kernel/store/tables.h)
 * makes another file of it, with another beginning, and a reader may have an older one open. Plain
 * value. */
struct wfs_view_log {
	uint64_t first_seq; /* the oldest record that is kept now */
	uint64_t cut;       /* number of the cut that made the file, modulo WFS_JOURNAL_CUTS_MAX */
	uint64_t begin;     /* of the file; both offsets count bytes from record 0 on */
	uint64_t end;       /* of the last line below the view's height */
};

/** wfs_view_log() - describe a file journal/log.jsonl. @number: of the cut that made it, modulo
 *  WFS_JOURNAL_CUTS_MAX; 0: the file before the first cut; WFS_LOG_NOW: the present file
 *  Return: 0, -ENOENT (no such cut yet), -EIO. */
int wfs_view_log(struct wfs_view *view, uint64_t number, struct wfs_view_log *ret_log);
#define WFS_LOG_NOW UINT64_MAX

/** wfs_view_log_read() - append up to @size bytes of journal/log.jsonl to @buffer, from the byte at
 *  @offset in the file on
 *  Fewer are appended at the end of the file, and before a damaged line; a read that begins in a
 *  damaged line fails.
 *  @log: the file, from wfs_view_log() for this view. Return: 0, -ENOENT (the record at @offset was
 *  dropped), -EIO (the line at @offset is damaged), -ENOMEM. */
int wfs_view_log_read(struct wfs_view *view, const struct wfs_view_log *log, uint64_t offset,
	size_t size, struct wfs_buffer *buffer);
