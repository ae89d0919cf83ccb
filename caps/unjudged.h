/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Look-ups that are not judged, because they give no content: names and numbers for notifications
 * of mounts, and facts about files and directories that a session has found. An *entity* is an
 * artifact, principal, turn or plan as a directory.
 */
#pragma once

#include "kernel/manifest/entity-table.h"
#include "kernel/read/view.h"
#include "kernel/store/tables.h"

struct wfs_buffer;

/** wfs_unjudged_entity_names() - get the number of entities of the kind @entity at the head,
 *  whatever the height of @view, and when one was last added or removed (@ret_names_ns, since
 *  1970). Return: 0, or -errno. */
int wfs_unjudged_entity_names(
	struct wfs_view *view, enum wfs_entity entity, uint64_t *ret_count, int64_t *ret_names_ns);

/** wfs_unjudged_item_count() - estimate how many files the directory `steps` or `entries` of the
 *  entity with the id @id has. Return: 0, or -errno. */
int wfs_unjudged_item_count(struct wfs_view *view, enum wfs_entity_file directory,
	struct wfs_bytes id, uint64_t *ret_count);

/** wfs_unjudged_first_event() - find the oldest event of a turn that no cut has dropped.
 *  @ret_seq: number of the event's record. Return: 0, -ENOENT (the turn has no such event), … */
int wfs_unjudged_first_event(struct wfs_view *view, struct wfs_bytes turn_id, uint64_t *ret_seq);

/** wfs_unjudged_last_event() - find the newest event of a turn in the view. @ret_seq: number of the
 *  event's record. Return: 0, -ENOENT (the turn has no event), … */
int wfs_unjudged_last_event(struct wfs_view *view, struct wfs_bytes turn_id, uint64_t *ret_seq);

/** wfs_unjudged_turn_record() - find the oldest record of a turn whose number is at least *@seq.
 *  @seq: becomes the number of this record. Return: 1, 0 (no such record), or -errno. */
int wfs_unjudged_turn_record(struct wfs_view *view, struct wfs_bytes turn_id, uint64_t *seq);

/** wfs_unjudged_record_time() - get the time of the record @seq, which stat(2) shows for its file;
 *  wfs_unjudged_log() - describe log.jsonl. Both do and return what wfs_view_record_time() and
 *  wfs_view_log() (kernel/read/view.h) do. */
int wfs_unjudged_record_time(struct wfs_view *view, uint64_t seq, int64_t *ret_at_ns);
int wfs_unjudged_log(struct wfs_view *view, uint64_t number, struct wfs_view_log *ret_log);

/** wfs_unjudged_has_texts() - has any record in the view a private text? Return: 1, 0, or
 *  -errno. */
int wfs_unjudged_has_texts(struct wfs_view *view);

/* --- for dropping cached files --- */

/** wfs_unjudged_builtin() - find the number of a built-in reducer in the view. Return: 0, or
 *  -errno. */
int wfs_unjudged_builtin(
	struct wfs_view *view, enum wfs_builtin_reducer builtin, uint32_t *ret_reducer_id);

/** wfs_unjudged_entity_number() - find the number of an entity's cell, see wfs_view_number()
 *  (kernel/read/view.h), even if the entity was deleted. Return: 0, -ENOENT (the entity never
 *  existed), … */
int wfs_unjudged_entity_number(
	struct wfs_view *view, enum wfs_entity entity, struct wfs_bytes id, uint64_t *ret_number);

/** wfs_unjudged_item_name() - find the entity that has, in a directory such as `steps`, the file
 *  made from the cell with the key @key, and append the file's name to @name
 *  @view: NULL: only the id is wanted, and @name stays unchanged. @ret_id: id of the entity,
 *  borrowed from @key. Return: 0, -ENOENT (no file in such a directory has this key), … */
int wfs_unjudged_item_name(struct wfs_view *view, enum wfs_entity_file directory,
	struct wfs_bytes key, struct wfs_bytes *ret_id, struct wfs_buffer *name);

/** wfs_unjudged_is_store() - is this artifact a memory store in the view?
 *  Return: 1, 0 (no; also if it does not exist there, or was deleted), or -errno. */
int wfs_unjudged_is_store(struct wfs_view *view, struct wfs_bytes id);

/** wfs_unjudged_entry_ever() - find the entry of a memory store with the lowest number from @number
 *  on, deleted ones included. @ret_key: of its cell, borrowed until the view is closed
 *  Return: 0, -ENOENT (no such entry), … */
int wfs_unjudged_entry_ever(struct wfs_view *view, struct wfs_bytes artifact_id, uint64_t number,
	uint32_t *ret_number, struct wfs_bytes *ret_key);

/** wfs_unjudged_grantee() - append to @buffer the id of the principal that holds the grant with the
 *  name @grant in the view. Return: 0, -ENOENT (no such grant), … */
int wfs_unjudged_grantee(struct wfs_view *view, struct wfs_bytes grant, struct wfs_buffer *buffer);

/** wfs_unjudged_text_before() - find the version that a cell of content, code or an entry had
 *  before the version with the number @vid. @file: content, code or entries; @key: of the cell;
 *  @vid: UINT64_MAX: find the cell's newest version that is not a deletion
 *  Return: 0, -ENOENT (no such version, or the store no longer has @vid), … */
int wfs_unjudged_text_before(struct wfs_view *view, enum wfs_entity_file file, struct wfs_bytes key,
	uint64_t vid, uint64_t *ret_vid);
