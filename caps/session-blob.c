/* SPDX-License-Identifier: Apache-2.0 */
/* Blobs, for a session: reads them, and receives new ones. */
#include "caps/session-blob.h"
#include "caps/caps-impl.h"

#include "caps/session-act.h"

int wfs_session_blob(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_hash *hash, struct wfs_blob *ret_blob,
	struct wfs_blob_listing *ret_listing)
{
	int r = wfs_session_judge(session, WFS_EFFECT_BLOB_GET, NULL);

	return r ? r : wfs_view_blob(view, hash, ret_blob, ret_listing);
}

int wfs_session_blob_listed(const struct wfs_session *session, struct wfs_view *view,
	uint64_t listed_id, struct wfs_blob *ret_blob, struct wfs_blob_listing *ret_listing)
{
	int r = wfs_session_judge(session, WFS_EFFECT_BLOB_GET, NULL);

	return r ? r : wfs_view_blob_listed(view, listed_id, ret_blob, ret_listing);
}

int wfs_session_blob_last(
	const struct wfs_session *session, struct wfs_view *view, uint64_t *ret_listed_id)
{
	int r = wfs_session_judge(session, WFS_EFFECT_BLOB_GET, NULL);

	return r ? r : wfs_view_blob_last(view, ret_listed_id);
}

int wfs_session_blob_content(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_blob *blob, struct wfs_range range, struct wfs_content *ret_content,
	struct wfs_error *error)
{
	int r = wfs_session_judge(session, WFS_EFFECT_BLOB_GET, error);

	return r ? r : wfs_view_blob_content(view, blob, range, ret_content, error);
}

/* --- receiving --- */

struct wfs_upload {
	struct wfs_blob_writer *writer;
	struct wfs_blob blob; /* once it is complete */
	bool complete;
	bool answers; /* wfs_session_upload_answer() has begun it */
};

static void forget(struct wfs_request *request)
{
	free(request);
}

/* Records a refusal that is answered without waiting for the record;
 * without memory, does not record. */
static void record_behind(const struct wfs_session *session, enum wfs_effect effect)
{
	struct wfs_request *const request = calloc(1, sizeof(*request));

	if (!request)
		return;
	request->done = forget;
	if (wfs_session_admit(session, effect, request) != WFS_SESSION_REFUSED)
		free(request);
}

static int new_upload(const struct wfs_session *session, bool answers,
	struct wfs_upload **ret_upload, struct wfs_error *error)
{
	WFS_AUTO_UPLOAD struct wfs_upload *upload = calloc(1, sizeof(*upload));
	int r = upload
		? wfs_blob_writer_new(wfs_world_store(session_world(session)), &upload->writer)
		: -ENOMEM;

	if (r)
		return wfs_error_from_errno(error, r, "receive a blob");
	upload->answers = answers;
	*ret_upload = WFS_STEAL(upload);
	return 0;
}

int wfs_session_upload(
	const struct wfs_session *session, struct wfs_upload **ret_upload, struct wfs_error *error)
{
	int r = wfs_session_judge(session, WFS_EFFECT_BLOB_PUT, error);

	if (r && r != -ENOMEM) /* the sender of the blob must not wait here */
		record_behind(session, WFS_EFFECT_BLOB_PUT);
	return r ? r : new_upload(session, false, ret_upload, error);
}

int wfs_session_upload_answer(
	const struct wfs_session *session, struct wfs_upload **ret_upload, struct wfs_error *error)
{
	return new_upload(session, true, ret_upload, error);
}

int wfs_upload_hash(const struct wfs_upload *upload, char ret_text[static WFS_HASH_TEXT_SIZE])
{
	if (!upload->complete)
		return -ENOENT;
	wfs_hash_text(&upload->blob.hash, ret_text);
	return 0;
}

int wfs_upload_add(struct wfs_upload *upload, const void *data, size_t size)
{
	if (wfs_blob_writer_size(upload->writer) + size > WFS_BLOB_MAX)
		return -EFBIG;
	return wfs_blob_writer_add(upload->writer, data, size);
}

uint64_t wfs_upload_size(const struct wfs_upload *upload)
{
	return wfs_blob_writer_size(upload->writer);
}

int wfs_upload_copy(const struct wfs_upload *upload, struct wfs_buffer *buffer)
{
	return wfs_trace(wfs_blob_writer_copy(upload->writer, buffer));
}

int wfs_upload_submit(
	const struct wfs_session *session, struct wfs_upload *upload, struct wfs_request *request)
{
	int r = upload->complete ? 0 : wfs_blob_writer_finish(upload->writer, &upload->blob);

	if (r)
		return wfs_error_from_errno(&request->error, r, "store a blob");
	upload->complete = true;
	request->kind = WFS_REQUEST_BLOB;
	request->blob = upload->blob;
	if (!upload->answers)
		return wfs_session_submit(session, request);
	session_sign(session, request);
	return wfs_world_submit(session_world(session), request);
}

void wfs_upload_free(struct wfs_upload *upload)
{
	if (upload)
		wfs_blob_writer_free(upload->writer);
	free(upload);
}
