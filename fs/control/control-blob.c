/* SPDX-License-Identifier: Apache-2.0 */
/*
 * put-blob: bytes go to an upload as they come, and the blob is recorded when the file is
 * closed or read. Syncing a large file takes seconds, so it is done on another thread.
 */
#include <inttypes.h>
#include <time.h>

#include "caps/session-blob.h"
#include "fs/control/control-impl.h"
#include "fs/verb/verb.h"
#include "kernel/base/json.h"

static void blob_refuse(struct wfs_control_open *open, const struct wfs_error *error, int r)
{
	struct wfs_control_call *call = wfs_control_call_new(open);

	if (!call)
		return;
	call->call.error = *error;
	wfs_control_refuse(call, r);
}

static int blob_add(
	struct wfs_control_open *open, const void *data, size_t size, struct wfs_error *error)
{
	int r = 0;

	if (!open->upload)
		r = wfs_session_upload(open->user->session, &open->upload, error);
	if (r < 0)
		return wfs_trace(r);
	r = wfs_upload_add(open->upload, data, size);
	if (r == -EFBIG)
		return wfs_error_set(error, WFS_E_TOO_LARGE,
			"a blob has at most %d bytes; what came so far is dropped",
			(int)WFS_BLOB_MAX);
	return r < 0 ? wfs_error_from_errno(error, r, "receive a blob") : 0;
}

void wfs_control_blob_write(struct wfs_control_open *open, const void *data, size_t size)
{
	struct wfs_error error = {0};
	int r = open->stream_failed;

	open->truncated = false;
	if (r < 0)
		wfs_error_set(&error, WFS_E_INVALID_REQUEST,
			"this blob was refused: read the answer or close the file before writing "
			"more");
	else
		r = blob_add(open, data, size, &error);
	if (r < 0) {
		open->stream_failed = r;
		wfs_upload_free(WFS_STEAL(open->upload));
		blob_refuse(open, &error, r);
	}
	wfs_control_submitted(open);
}

static int blob_result(struct wfs_call *call)
{
	call->result = json_pack("{s:I}", "size", (json_int_t)call->request.blob.size_bytes);
	if (!call->result)
		return -ENOMEM;
	return wfs_json_set_hash(call->result, "hash", &call->request.blob.hash);
}

static void blob_recorded(struct wfs_request *request)
{
	struct wfs_call *call = request->context;
	int r = request->result;

	if (r < 0)
		call->error = request->error;
	else
		r = blob_result(call);
	wfs_verb_finish(call, r);
}

/* Waits while the world's queue is full, as this thread may. */
static int blob_submit(struct wfs_control_call *call)
{
	const struct timespec pause = {.tv_nsec = WFS_CONTROL_RETRY_MS * 1000000L};
	struct wfs_request *request = &call->call.request;

	for (;;) {
		*request = (struct wfs_request){.done = blob_recorded, .context = &call->call};
		int r = wfs_upload_submit(call->call.session, call->upload, request);
		if (r != -EAGAIN || call->retries == WFS_CONTROL_RETRY_MAX)
			return r;
		call->retries++;
		nanosleep(&pause, NULL);
	}
}

/* --- a blob for the node that owns a replicated world --- */

static void blob_answered(struct wfs_call *call)
{
	struct wfs_control_call *const own = call->context;

	if (!call->status)
		(void)json_object_set_new(call->result, "size",
			json_integer((json_int_t)wfs_upload_size(own->upload)));
	own->answered_by(call);
}

/* Sends the bytes as a request. */
static int blob_send(struct wfs_control_call *call)
{
	WFS_AUTO_BUFFER struct wfs_buffer bytes = {0};
	int r = 0;

	if (wfs_upload_size(call->upload) > WFS_VERB_BLOB_MAX)
		return wfs_error_set(&call->call.request.error, WFS_E_TOO_LARGE,
			"another node owns this replicated world: it takes a blob of at most %d "
			"bytes from here; store a larger one at that node",
			WFS_VERB_BLOB_MAX);
	r = wfs_upload_copy(call->upload, &bytes);
	call->call.payload = json_object();
	if (!r)
		r = wfs_json_set_base64(call->call.payload, "data_b64", bytes.data, bytes.size);
	if (r)
		return wfs_error_from_errno(&call->call.request.error, r, "send a blob");
	call->answered_by = call->call.done;
	call->call.done = blob_answered;
	wfs_call_start(&call->call, "put-blob");
	return 0;
}

static void blob_complete(struct wfs_control_call *call, struct wfs_upload *upload)
{
	struct wfs_host *const host = call->call.host;

	call->upload = upload;
	int r = host && host->owns && !host->owns(host) ? blob_send(call) : blob_submit(call);
	if (r < 0) {
		call->call.error = call->call.request.error;
		wfs_control_refuse(call, r);
	}
}

static void blob_end(struct wfs_work_task *task)
{
	struct wfs_control_open *open =
		(void *)((char *)task - offsetof(struct wfs_control_open, task));
	struct wfs_error error = {0};
	int r = 0;

	open->truncated = false;
	if (!open->upload)
		r = wfs_session_upload(open->user->session, &open->upload, &error);
	struct wfs_control_call *call = r < 0 ? NULL : wfs_control_call_new(open);
	if (call)
		blob_complete(call, WFS_STEAL(open->upload));
	else if (r < 0)
		blob_refuse(open, &error, r);
	wfs_control_submitted(open);
}

void wfs_control_blob_end(struct wfs_control_open *open)
{
	open->task.run = blob_end;
	wfs_work_add(open->control->slow, &open->task, 0);
}
