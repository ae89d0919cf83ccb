/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs for blobs: get, stat, put. */
#include "caps/session-blob.h"
#include "caps/session-read.h"
#include "fs/verb/verb-impl.h"
#include "kernel/base/json.h"

/* Opens the head and finds the blob that the member `hash_hex` names. */
static int blob_asked_for(struct wfs_call *call, struct wfs_view *ret_view,
	struct wfs_blob *ret_blob, struct wfs_blob_listing *ret_listing)
{
	const char *const text = wfs_verb_text(call, "hash_hex");
	struct wfs_hash hash;
	int r = wfs_hash_parse(text, strlen(text), &hash, &call->error);

	if (!r)
		r = wfs_verb_view(call, NULL, ret_view);
	if (!r)
		r = wfs_session_blob(call->session, ret_view, &hash, ret_blob, ret_listing);
	if (r == -ENOENT)
		return wfs_error_set(&call->error, WFS_E_NOT_FOUND, "no blob '%s'", text);
	return r;
}

int wfs_verb_blob_get(struct wfs_call *call)
{
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	WFS_AUTO_CONTENT struct wfs_content content = {0};
	struct wfs_blob blob = {.size_bytes = 0};
	struct wfs_blob_listing listing;
	int r = blob_asked_for(call, &view, &blob, &listing);

	if (!r && blob.size_bytes > WFS_VERB_BLOB_MAX)
		r = wfs_error_set(&call->error, WFS_E_TOO_LARGE,
			"the blob has %llu bytes, blob-get gives at most %d; read it in parts with "
			"fs-read",
			(unsigned long long)blob.size_bytes, (int)WFS_VERB_BLOB_MAX);
	if (!r)
		r = wfs_session_blob_content(
			call->session, &view, &blob, WFS_RANGE_ALL, &content, &call->error);
	if (r)
		return r;
	call->result = json_object();
	return wfs_json_set_base64(
		call->result, "data_b64", content.bytes.data, content.bytes.size);
}

int wfs_verb_blob_stat(struct wfs_call *call)
{
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	struct wfs_blob blob;
	struct wfs_blob_listing listing;
	int r = blob_asked_for(call, &view, &blob, &listing);

	if (r)
		return r;
	call->result = json_pack("{s:I, s:I, s:I}", "height", (json_int_t)listing.height, "size",
		(json_int_t)blob.size_bytes, "time_ns", (json_int_t)listing.time_ns);
	return call->result ? wfs_json_set_hash(call->result, "hash", &blob.hash) : -ENOMEM;
}

/* A put under way: a small value lives in its upload until the request has been answered. */
struct put {
	struct wfs_call *call;
	struct wfs_upload *upload;
};

static void put_free(struct put *put)
{
	if (put)
		wfs_upload_free(put->upload);
	free(put);
}
WFS_DEFINE_AUTO(put, struct put, put_free)

static void put_answered(struct wfs_request *request)
{
	struct put *const put = request->context;
	struct wfs_call *const call = put->call;
	int r = request->result;

	put_free(put);
	if (r) {
		call->error = request->error;
	} else {
		call->result = json_object();
		r = wfs_json_set_hash(call->result, "hash", &request->blob.hash);
	}
	wfs_verb_finish(call, r);
}

int wfs_verb_put_blob(struct wfs_call *call)
{
	WFS_AUTO_BUFFER struct wfs_buffer bytes = {0};
	WFS_CLEANUP(wfs_auto_put) struct put *put = calloc(1, sizeof(*put));
	struct wfs_request *const request = &call->request;
	int r = put ? wfs_verb_base64(call, "data_b64", &bytes) : -ENOMEM;

	if (!r)
		r = wfs_session_upload(call->session, &put->upload, &call->error);
	if (r)
		return r;
	r = wfs_upload_add(put->upload, bytes.data, bytes.size);
	if (r)
		return wfs_error_from_errno(&call->error, r, "store a blob");
	put->call = call;
	request->done = put_answered;
	request->context = put;
	r = wfs_upload_submit(call->session, put->upload, request);
	if (r) {
		call->error = request->error;
		return r;
	}
	(void)WFS_STEAL(put);
	return WFS_VERB_PENDING;
}
