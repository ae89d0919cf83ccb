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

/** wfs_session_entity() - find a live entity: its cell. Return: 0, -ENOENT, … */
int wfs_session_entity(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity entity, struct wfs_bytes id, struct wfs_version *ret_version);

/** wfs_session_entity_at() - find a live entity by the number of its cell. @ret_id: borrowed until
 *  the view is closed */
int wfs_session_entity_at(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity entity, uint64_t number, struct wfs_bytes *ret_id,
	struct wfs_version *ret_version);

/** wfs_session_entity_file() - get the version that a file is made from; for `grants.json` the
 *  principal's ledger. Return: 0, -ENOENT (no such file, or the session does not see it), … */
int wfs_session_entity_file(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity_file file, struct wfs_bytes id, struct wfs_seen *ret_seen);

/** wfs_session_entity_version() - get it by the number of the version; -EACCES if the session may
 *  not see it (any more), -ENOENT if the file is never made from such a version. @file:
 *  WFS_ENTITY_FILE_PLAN_STEPS: a file in `steps` */
int wfs_session_entity_version(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity_file file, uint64_t vid, struct wfs_seen *ret_seen);

/* The part of a file to read. Plain value. */
struct wfs_session_part {
	struct wfs_range range;    /* size 0: only get the size */
	struct wfs_buffer *buffer; /* gets the bytes appended */
	uint64_t size_bytes;       /* result: of the whole file */
};

/** wfs_session_entity_read() - read a part of a file that is made from a version which a function
 *  above returned; see wfs_entity_write. */
int wfs_session_entity_read(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity_file file, const struct wfs_seen *seen, struct wfs_session_part *part);

/*
 * Files in a directory of an entity, such as `steps` of a plan or `entries` of a memory store,
 * which a function above has found. Each file has a number, in the order of which they are listed.
 */

/** wfs_session_item() - find a file by its name. Return: 0, -ENOENT (this file does not exist, or
 *  the session does not see it), … */
int wfs_session_item(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity_file directory, struct wfs_bytes id, const char *name, uint64_t *ret_number,
	struct wfs_seen *ret_seen);

/**
 * wfs_session_item_next() - find the first file that the session sees
 * @number: in: where to begin; out: that of the file
 * @left: bound of the files to look at, those that are not seen included; decremented for each
 * @name: becomes the name of the file
 * @ret_version: of an entry only vid, size_bytes and time_ns are set
 * Return: 0, -ENOENT (no more files), 1 (@left is 0; @number: where to continue), …
 */
int wfs_session_item_next(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity_file directory, struct wfs_bytes id, uint64_t *number, uint64_t *left,
	struct wfs_buffer *name, struct wfs_version *ret_version);

/* The whole `events.jsonl` of a turn. Plain value. */
struct wfs_events {
	uint64_t size_bytes;
	int64_t time_ns; /* of the newest event */
};

/** wfs_session_events() - append a part of `events.jsonl`, of the turn that has the event @seq, up
 *  to this event; see wfs_turn_events. Return: 0, -EACCES (the session may not see it any more),
 *  -ENOENT, … */
int wfs_session_events(const struct wfs_session *session, struct wfs_view *view, uint64_t seq,
	struct wfs_range range, struct wfs_buffer *buffer, struct wfs_events *ret_events);

/** wfs_session_live_text() - get content, code or an entry of a live artifact by the version's
 *  number.
 *  Return: 0, -EACCES, -ENOENT (the artifact was deleted), … */
int wfs_session_live_text(const struct wfs_session *session, struct wfs_view *view, uint64_t vid,
	struct wfs_seen *ret_seen);

/** wfs_session_reads() - may the principal read content, code and entries of this artifact by its
 *  rule in the view? Return: 1, 0 (no, or it is not live), or -errno. */
int wfs_session_reads(
	const struct wfs_session *session, struct wfs_view *view, struct wfs_bytes id);
