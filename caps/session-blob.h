/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blobs: finding, reading and receiving them. kernel/read/view.h describes what reads give.
 */
#pragma once

#include "kernel/base/cleanup.h"
#include "kernel/read/blob-read.h"

struct wfs_content;
struct wfs_request;
struct wfs_session;
struct wfs_view;

int wfs_session_blob(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_hash *hash, struct wfs_blob *ret_blob,
	struct wfs_blob_listing *ret_listing);
int wfs_session_blob_listed(const struct wfs_session *session, struct wfs_view *view,
	uint64_t listed_id, struct wfs_blob *ret_blob, struct wfs_blob_listing *ret_listing);
int wfs_session_blob_last(
	const struct wfs_session *session, struct wfs_view *view, uint64_t *ret_listed_id);
int wfs_session_blob_content(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_blob *blob, struct wfs_range range, struct wfs_content *ret_content,
	struct wfs_error *error);

/* --- receiving --- */

struct wfs_upload; /* a blob that is received in pieces */

/** wfs_session_upload() - begin to receive a blob. A refusal is recorded, without waiting for its
 *  record. @ret_upload: set on success; caller frees it with wfs_upload_free(). Return: 0, -EACCES
 *  (the principal may not store blobs), -EOPNOTSUPP (not_enabled: the world's manifest does not
 *  have blob.put), -ENOMEM, … */
int wfs_session_upload(
	const struct wfs_session *session, struct wfs_upload **ret_upload, struct wfs_error *error);

/** wfs_session_upload_answer() - begin to store bytes that a receipt of the session's principal
 *  will name, such as a long output of an outside tool; needs no right, because the effect that the
 *  receipt answers was judged. @ret_upload: set on success; caller frees it with wfs_upload_free().
 *  Return: 0, -ENOMEM, … */
int wfs_session_upload_answer(
	const struct wfs_session *session, struct wfs_upload **ret_upload, struct wfs_error *error);

/** wfs_upload_hash() - get the hash of a blob that was submitted. @ret_text: the hash as text, with
 *  a NUL. Return: 0, -ENOENT (wfs_upload_submit() has not stored the blob yet). */
int wfs_upload_hash(const struct wfs_upload *upload, char ret_text[static WFS_HASH_TEXT_SIZE]);

/** wfs_upload_add() - append @size bytes to the blob. @data: copied. Return: 0, -EFBIG (the blob
 *  would have more than WFS_BLOB_MAX bytes), -ENOSPC, -EIO (the disk failed), -ENOMEM; after an
 *  error the upload can only be freed. */
int wfs_upload_add(struct wfs_upload *upload, const void *data, size_t size);

/** wfs_upload_size() - get the number of bytes received so far. */
uint64_t wfs_upload_size(const struct wfs_upload *upload);

/** wfs_upload_copy() - append all bytes received so far to @buffer. Return: 0, -EIO, -ENOMEM. */
int wfs_upload_copy(const struct wfs_upload *upload, struct wfs_buffer *buffer);

/** wfs_upload_submit() - sync the received blob to the disk, and submit the request that records it
 *  After -EAGAIN (overloaded) the function can be called again; after another failure @upload can
 *  only be freed.
 *  @upload, @request: must live until the answer; request->done is set, its kind and blob get set
 *  Return: as wfs_session_submit() (caps/session-act.h), -ENOSPC, -EIO (the disk failed). */
int wfs_upload_submit(
	const struct wfs_session *session, struct wfs_upload *upload, struct wfs_request *request);

/** wfs_upload_free() - free an upload, and remove the file of an unfinished blob; accepts NULL. */
void wfs_upload_free(struct wfs_upload *upload);
WFS_DEFINE_AUTO(upload, struct wfs_upload, wfs_upload_free)
#define WFS_AUTO_UPLOAD WFS_CLEANUP(wfs_auto_upload)
