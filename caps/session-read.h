/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views, reducers, cells, versions and records. kernel/read/view.h describes the results, and when
 * they are -ENOENT.
 */
#pragma once

#include "kernel/read/view.h"

struct wfs_seen;
struct wfs_session;

/** wfs_session_view() - open the view of @height, or of the head (WFS_HEIGHT_HEAD); this needs no
 *  right: later calls judge what is read in the view. @ret_view: set on success; caller closes it
 *  with wfs_session_view_close(). Return: 0, -ENOENT (height_unavailable: no such height yet, or it
 *  was dropped), -EAGAIN (overloaded: too many views are open), …; with @error. */
int wfs_session_view(const struct wfs_session *session, uint64_t height, struct wfs_view *ret_view,
	struct wfs_error *error);
void wfs_session_view_close(struct wfs_view *view);
#define WFS_AUTO_SESSION_VIEW WFS_CLEANUP(wfs_session_view_close)

/** wfs_session_meta() - set all members of @ret_meta (kernel/value/meta.h) for a view;
 *  `has_snapshot` is false if the session does not see everything, even if there is a snapshot.
 *  Return: 0, or -errno. */
int wfs_session_meta(
	const struct wfs_session *session, struct wfs_view *view, struct wfs_meta *ret_meta);
int wfs_session_manifest(
	const struct wfs_session *session, struct wfs_view *view, struct wfs_seen *ret_seen);

int wfs_session_reducer(const struct wfs_session *session, struct wfs_view *view, const char *name,
	size_t name_size, struct wfs_reducer *ret_reducer);
int wfs_session_reducer_by_id(const struct wfs_session *session, struct wfs_view *view,
	uint32_t reducer_id, struct wfs_reducer *ret_reducer);
int wfs_session_reducer_next(const struct wfs_session *session, struct wfs_view *view,
	uint32_t after, struct wfs_bytes *ret_name, struct wfs_reducer *ret_reducer);
int wfs_session_cell(const struct wfs_session *session, struct wfs_view *view, uint32_t reducer_id,
	struct wfs_bytes key, struct wfs_seen *ret_seen);

/** wfs_session_version() - find the version with the number @vid, whatever the view's height.
 *  Return: 0, -EACCES (the session may not see its file, or not any more), -ENOENT (no such
 *  version), … */
int wfs_session_version(const struct wfs_session *session, struct wfs_view *view, uint64_t vid,
	struct wfs_seen *ret_seen);
/** wfs_session_content() - read the bytes @range of a version. @ret_content: set on success; caller
 *  ends it with wfs_content_done() (kernel/read/view.h). Return: 0, -EACCES (the version is
 *  the content or the code of an artifact, or an entry of its memory, and the principal may not
 *  read this artifact without paying), … */
int wfs_session_content(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_seen *seen, struct wfs_range range, struct wfs_content *ret_content,
	struct wfs_error *error);

/** wfs_session_may_hash() - may the session's principal have the hash of this version? The hash of
 *  a short text reveals the text.
 *  Return: 0 (yes), -EACCES (no: the principal may not read the version's bytes), … */
int wfs_session_may_hash(
	const struct wfs_session *session, struct wfs_view *view, const struct wfs_seen *seen);

/** wfs_session_record() - find the line of record @seq. @ret_line: borrowed until the view is
 *  closed. Return: 0, -ENOENT (the session does not see the record's file, or the view does not
 *  have the record), -EACCES (the session may read no records; counted), … */
int wfs_session_record(const struct wfs_session *session, struct wfs_view *view, uint64_t seq,
	struct wfs_bytes *ret_line);
int wfs_session_journal_read(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_view_log *log, uint64_t offset, size_t size, struct wfs_buffer *buffer);
