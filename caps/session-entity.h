/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Artifacts, principals, turns and plans as directories (kernel/read/entity.h), judged by
 * their paths. An *entity* is one of these.
 */
#pragma once

#include "kernel/manifest/entity-table.h"
#include "kernel/read/blob-read.h"

struct wfs_entry;
struct wfs_seen;
struct wfs_session;
struct wfs_view;

/** wfs_session_entity() - find the cell of the entity with the id @id, if it exists in the view.
 *  @ret_version: of the cell. Return: 0, -ENOENT (no such entity, or the session does not see its
 *  directory), … */
int wfs_session_entity(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity entity, struct wfs_bytes id, struct wfs_version *ret_version);

/** wfs_session_entity_at() - as wfs_session_entity(), but find the entity by the number of its
 *  cell, see wfs_view_number() (kernel/read/view.h). @ret_id: borrowed until the view is closed.
 *  Return: as wfs_session_entity(). */
int wfs_session_entity_at(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity entity, uint64_t number, struct wfs_bytes *ret_id,
	struct wfs_version *ret_version);

/** wfs_session_entity_file() - find the version from which a file of the entity with the id @id is
 *  made; for `grants.json` that of the principal's cell of sys.ledger.
 *  Return: 0, -ENOENT (no such file, or the session does not see it), … */
int wfs_session_entity_file(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity_file file, struct wfs_bytes id, struct wfs_seen *ret_seen);

/** wfs_session_entity_version() - find the version with the number @vid, from which a file is made
 *  @file: which file; if it is a directory such as WFS_ENTITY_FILE_PLAN_STEPS, a file in that
 *  Return: 0, -EACCES (the session may not see the file, or not any more), -ENOENT (no such file is
 *  made from this version, or the version is a deletion), … */
int wfs_session_entity_version(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity_file file, uint64_t vid, struct wfs_seen *ret_seen);

/* The part of a file to read. Plain value. */
struct wfs_session_part {
	struct wfs_range range;    /* size 0: only get the size */
	struct wfs_buffer *buffer; /* gets the bytes appended */
	uint64_t size_bytes;       /* result: of the whole file */
};

/** wfs_session_entity_read() - read a part of a file of an entity. `meta.json` lacks the hashes of
 *  content and code if the principal may not read these
 *  @file: of a kind that wfs_entity_write() (kernel/read/entity.h) makes. @seen: from
 *  wfs_session_entity_file() or wfs_session_entity_version(), for @file. @part: `range` and
 *  `buffer` are set; gets `size_bytes`. Return: as wfs_entity_write(). */
int wfs_session_entity_read(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity_file file, const struct wfs_seen *seen, struct wfs_session_part *part);

/* A file in a directory of an entity, such as `steps` of a plan or `entries` of a memory store,
 * which a function above has found. Plain value. */
struct wfs_session_item {
	enum wfs_entity_file directory;
	struct wfs_bytes id;        /* of the entity; borrowed */
	uint64_t number;            /* of the file; files are listed in the order of these */
	struct wfs_version version; /* result: from which the file is made */
};

/** wfs_session_item() - find a file in `steps` or `entries` of an entity by its name
 *  @name: ends with a NUL. @item: the caller has set `directory` and `id`; gets `number` and
 *  `version`
 *  Return: 0, -ENOENT (this file does not exist, or the session does not see it), … */
int wfs_session_item(const struct wfs_session *session, struct wfs_view *view, const char *name,
	struct wfs_session_item *item);

/** wfs_session_item_next() - find, among the files in `steps` or `entries` of an entity with
 *  numbers from item->number on, the first that the session sees
 *  @left: how many files may be looked at, those that are not seen included; decremented for each
 *  @item: gets `number` and `version`; of an entry, only vid, size_bytes and time_ns of `version`
 *  @name: its contents become the name of the file
 *  Return: 0, -ENOENT (no more files), 1 (@left is 0; item->number: where to continue), … */
int wfs_session_item_next(const struct wfs_session *session, struct wfs_view *view, uint64_t *left,
	struct wfs_session_item *item, struct wfs_buffer *name);

/* `events.jsonl` of a turn. Plain value. */
struct wfs_events {
	uint64_t seq; /* number of the record of its last event or, if the file grows, its first */
	/* If the file grows: it has the events below this height. 0: it ends with record `seq`. */
	uint64_t height;
	/* set by wfs_session_events(), of the whole file */
	uint64_t size_bytes;
	int64_t time_ns; /* of the last event */
};

/** wfs_session_events() - append the part @range (size 0: nothing) of a turn's `events.jsonl` to
 *  @buffer. @events: the caller has set `seq` and `height`; gets the other members
 *  Return: 0, -EACCES (the session may not see the file any more), -ENOENT (the record `seq` is not
 *  an event of a turn), … */
int wfs_session_events(const struct wfs_session *session, struct wfs_view *view,
	struct wfs_range range, struct wfs_buffer *buffer, struct wfs_events *events);

/** wfs_session_live_text() - find the version with the number @vid, which is content, code or an
 *  entry of an artifact, if the artifact was not deleted, whatever the view's height.
 *  Return: 0, -EACCES (the session may not see the file), -ENOENT (the artifact was deleted, or the
 *          version is none of these), … */
int wfs_session_live_text(const struct wfs_session *session, struct wfs_view *view, uint64_t vid,
	struct wfs_seen *ret_seen);

/** wfs_session_reads() - may the session's principal read content, code and entries of the artifact
 *  with the id @id, by the rule for readers that the artifact has in the view? An administrator
 *  may. Return: 1, 0 (no, or the artifact does not exist in the view), or -errno. */
int wfs_session_reads(
	const struct wfs_session *session, struct wfs_view *view, struct wfs_bytes id);
