/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Intents of tool.outside: the server of the tool is asked, once, and its answer becomes the
 * receipt. What is too long for the receipt is stored as blobs first. A call that a process before
 * this one may have made is only made again if the tool is idempotent.
 */
#include "agents/intent/intent-impl.h"

#include "agents/engine/outside.h"
#include "agents/engine/tool.h"
#include "caps/session-blob.h"
#include "caps/session.h"
#include "kernel/base/json.h"
#include "kernel/base/log.h"
#include "kernel/manifest/document.h"
#include "kernel/value/output.h"

enum {
	AGAIN_MS = 1000,       /* after which a blob is stored again that could not be */
	INLINE_MAX = 64 << 10, /* bytes of content and of structured content in a receipt */
};

/* Bytes that are stored as a blob. */
struct part {
	const char *member; /* of the receipt that gets the hash; NULL: its list `blobs` */
	struct wfs_buffer bytes;
};

/* A call of an outside tool. */
struct calling_out {
	struct outside_call *call; /* NULL: the server is not asked now */
	bool is_late;              /* it was cancelled, because the caller has no time left */
	bool told;                 /* callers that wait have the answer */
	struct wfs_document_intent intent;
	struct wfs_session_receipt receipt;
	json_t *answer; /* the payload, before private texts are hidden; owned */
	struct part *parts;
	size_t part_count;
	size_t stored_count;
	struct wfs_upload *upload;
};

static const char *name_of(const struct work *work)
{
	return wfs_json_text(work->calling_out->intent.outside, "name");
}

/* --- the receipt --- */

static int send_answer(struct work *work)
{
	struct calling_out *const calling = work->calling_out;

	return wfs_session_outside_end(
		work->session, &calling->intent, &calling->receipt, &work->request);
}

static int send_lost(struct work *work)
{
	struct calling_out *const calling = work->calling_out;

	return wfs_session_outside_lost(
		work->session, &calling->intent, &calling->receipt, &work->request);
}

static void fail_for_memory(struct work *work)
{
	struct wfs_error error;

	(void)wfs_error_from_errno(&error, -ENOMEM, "call an outside tool");
	work_fail(work, &error);
}

static void answer(struct work *work)
{
	struct calling_out *const calling = work->calling_out;

	calling->answer = json_deep_copy(calling->receipt.payload);
	work->send = send_answer;
	if (calling->answer)
		work_submit(work);
	else
		fail_for_memory(work);
}

/* @payload: taken */
static void answer_with(struct work *work, const char *status, json_t *payload)
{
	work->calling_out->receipt.status = status;
	work->calling_out->receipt.payload = payload;
	if (payload)
		answer(work);
	else
		fail_for_memory(work);
}

/* The outcome is recorded as unknown: an earlier process may have made the call. */
static void answer_lost(struct work *work)
{
	work->send = send_lost;
	work_submit(work);
}

static void answer_error(
	struct work *work, enum wfs_error_code code, const char *message, bool sent)
{
	const char *const status = code == WFS_E_TIMEOUT ? "timeout"
		: code == WFS_E_CANCELLED                ? "cancelled"
							 : "error";

	if (work->earlier && !sent) { /* it cannot be made again */
		answer_lost(work);
		return;
	}
	answer_with(work, status,
		json_pack("{s:s, s:I, s:s, s:b}", "code", wfs_error_info(code)->name, "duration_ms",
			(json_int_t)work_elapsed_ms(work), "message", message, "sent", (int)sent));
}

/* --- blobs --- */

static void store_next(struct work *work);

static void store_again(struct work *work)
{
	store_next(work);
}

/* The receipt lacks what could not be stored. */
static int note_stored(struct work *work, const struct part *part, const char *hash)
{
	json_t *const payload = work->calling_out->receipt.payload;
	json_t *const blobs = json_object_get(payload, "blobs");

	if (part->member)
		return hash ? json_object_set_new(payload, part->member, json_string(hash)) : 0;
	if (hash && blobs)
		return json_array_append_new(blobs, json_string(hash));
	(void)json_object_del(payload, "blobs"); /* other indices would be wrong */
	return 0;
}

static void stored(struct engine *engine, struct job *job)
{
	struct work *const work = (struct work *)job;
	struct calling_out *const calling = work->calling_out;
	const struct part *const part = &calling->parts[calling->stored_count];
	const int r = work->request.result;
	char hash[WFS_HASH_TEXT_SIZE];
	const char *found = NULL;

	work->state = WORK_DOING;
	json_decref(WFS_STEAL(work->request.answer));
	if (r == 0 && wfs_upload_hash(calling->upload, hash) == 0)
		found = hash;
	wfs_upload_free(WFS_STEAL(calling->upload));
	if (work->gone || engine_stopping(engine)) {
		work_free(work);
		return;
	}
	if ((r == -ENOSPC || r == -EAGAIN || r == -ENOMEM) &&
		work_set_timer(work, AGAIN_MS, store_again) == 0)
		return;
	if (!found)
		wfs_log_for(wfs_session_principal(work->session), WFS_LOG_AGENTS, WFS_LOG_WARNING,
			"a part of the answer of '%s' is not kept: %s", name_of(work),
			work->request.error.message);
	if (note_stored(work, part, found))
		wfs_log(WFS_LOG_AGENTS, WFS_LOG_ERR, "no memory for the name of a blob");
	calling->stored_count++;
	store_next(work);
}

/* Return: 0 if the kernel has the request. */
static int store(struct work *work, const struct part *part)
{
	struct calling_out *const calling = work->calling_out;
	int r = wfs_session_upload_answer(work->session, &calling->upload, &work->request.error);

	if (!r)
		r = wfs_upload_add(calling->upload, part->bytes.data, part->bytes.size);
	if (!r)
		r = wfs_upload_submit(work->session, calling->upload, &work->request);
	return r;
}

static void store_next(struct work *work)
{
	struct calling_out *const calling = work->calling_out;

	if (calling->stored_count == calling->part_count) {
		answer(work);
		return;
	}
	work->request = engine_request(work->engine, &work->job, stored);
	work->state = WORK_SUBMITTING;
	const int r = store(work, &calling->parts[calling->stored_count]);
	if (!r)
		return;
	if (work->request.error.code == WFS_OK)
		(void)wfs_error_from_errno(&work->request.error, r, "store a blob");
	work->request.result = r;
	stored(work->engine, &work->job);
}

/* --- a result --- */

/* @bytes: taken */
static void add_part(struct calling_out *calling, const char *member, struct wfs_buffer *bytes)
{
	calling->parts[calling->part_count++] = (struct part){member, *bytes};
	*bytes = (struct wfs_buffer){0};
}

/* Adds a value to the payload, or its text to the parts if it is long. Return: 0, -ENOMEM. */
static int take_value(
	struct calling_out *calling, const char *member, const char *blob_member, json_t *value)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	if (!value)
		return 0;
	wfs_json_write(value, &text);
	if (wfs_buffer_check(&text))
		return -ENOMEM;
	if (text.size <= INLINE_MAX)
		return json_object_set_new(calling->receipt.payload, member, json_deep_copy(value));
	add_part(calling, blob_member, &text);
	return 0;
}

/* Blobs can be read by their hashes, so a private answer has none. Return: 0, -ENOMEM. */
static int take_parts(struct calling_out *calling, const struct wfs_outside_result *result)
{
	json_t *const payload = calling->receipt.payload;
	int r = take_value(calling, "content", "content_blob", result->content);

	if (!r)
		r = take_value(calling, "structured", "structured_blob", result->structured);
	if (!r && result->text.size > WFS_TURN_OUTPUT_MAX) {
		WFS_AUTO_BUFFER struct wfs_buffer text = {0};

		wfs_buffer_append(&text, result->text.data, result->text.size);
		r = wfs_buffer_check(&text);
		add_part(calling, "output_blob", &text);
	}
	if (!r && result->blob_count > 0)
		r = json_object_set_new(payload, "blobs", json_array());
	for (size_t i = 0; !r && i < result->blob_count; i++) {
		const struct wfs_bytes bytes = result->blobs[i].bytes;
		WFS_AUTO_BUFFER struct wfs_buffer copy = {0};

		wfs_buffer_append(&copy, bytes.data, bytes.size);
		r = wfs_buffer_check(&copy);
		add_part(calling, NULL, &copy);
	}
	return r;
}

static int take_result(struct work *work, const struct wfs_outside_result *result)
{
	struct calling_out *const calling = work->calling_out;
	const json_t *const arguments = json_object_get(calling->intent.outside, "arguments");
	WFS_AUTO_BUFFER struct wfs_buffer output = {0};

	wfs_buffer_append(&output, result->text.data, result->text.size);
	wfs_turn_cut(&output);
	if (wfs_buffer_check(&output))
		return -ENOMEM;
	calling->receipt.status = "ok";
	calling->receipt.payload =
		json_pack("{s:I, s:s, s:s#, s:I}", "duration_ms", (json_int_t)result->duration_ms,
			"intent_id", work->intent_id, "output", wfs_buffer_text(&output),
			(int)output.size, "output_size", (json_int_t)result->text.size);
	calling->parts = calloc(result->blob_count + 3, sizeof(*calling->parts));
	if (!calling->receipt.payload || !calling->parts)
		return -ENOMEM;
	return wfs_text_is_hidden(arguments, NULL) ? 0 : take_parts(calling, result);
}

static void on_done(void *context, const struct wfs_outside_result *result)
{
	struct work *const work = context;
	struct calling_out *const calling = work->calling_out;
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	calling->call = NULL;
	if (calling->is_late && result->code == WFS_E_CANCELLED) {
		answer_error(work, WFS_E_TIMEOUT,
			"the call was cancelled: its caller has no time left", result->sent);
	} else if (result->code != WFS_OK) {
		answer_error(work, result->code, result->message, result->sent);
	} else if (result->is_error) {
		wfs_buffer_append(&text, result->text.data, result->text.size);
		wfs_turn_cut(&text);
		answer_error(work, WFS_E_EFFECT_FAILED,
			text.size ? wfs_buffer_text(&text) : "the tool says that it has failed",
			true);
	} else if (take_result(work, result)) {
		fail_for_memory(work);
	} else {
		store_next(work);
	}
}

/* --- the call --- */

static int ask(struct work *work, struct wfs_error *error)
{
	struct calling_out *const calling = work->calling_out;
	const char *const hash_text = wfs_json_text(calling->intent.outside, "hash");
	WFS_AUTO_JSON json_t *arguments = NULL;
	struct wfs_hash hash;
	char server[WFS_TOOL_SERVER_MAX + 1];
	const char *const name = name_of(work);
	const size_t size = strcspn(name, ".");

	snprintf(server, sizeof(server), "%.*s", (int)size, name);
	int r = wfs_session_outside_arguments(work->session, &calling->intent, &arguments, error);
	if (!r)
		r = wfs_hash_parse(hash_text, strlen(hash_text), &hash, error);
	const struct wfs_outside_request request = {
		.server = server,
		.tool = name + size + 1,
		.arguments = arguments,
		.intent_id = work->intent_id,
		.hash = &hash,
		.context = work,
		.done = on_done,
	};
	return r ? r : outside_call(work->engine, &request, &calling->call, error);
}

void call_outside_begin(struct work *work)
{
	struct calling_out *const calling = calloc(1, sizeof(*calling));
	struct wfs_error error = {0};
	int r;

	if (!calling) { /* the intent is found again when the world is opened */
		work_free(work);
		return;
	}
	work->calling_out = calling;
	calling->receipt.intent_id = work->intent_id;
	r = wfs_driving_intent(&work->engine->driving, work->intent_id, &calling->intent, &error);
	if (r || !calling->intent.outside) {
		work_free(work);
		return;
	}
	if (work->earlier && wfs_session_outside_fate(&calling->intent) == WFS_OUTSIDE_LOST) {
		answer_lost(work);
		return;
	}
	r = ask(work, &error);
	if (r)
		answer_error(work, error.code, error.message, false);
}

void call_outside_give_up(struct work *work, bool late)
{
	struct calling_out *const calling = work->calling_out;

	if (!calling || !calling->call)
		return;
	calling->is_late = late;
	outside_cancel(calling->call);
}

void call_outside_cancel(struct work *work)
{
	struct calling_out *const calling = work->calling_out;

	if (calling && calling->call)
		outside_drop(WFS_STEAL(calling->call));
}

void call_outside_recorded(struct work *work)
{
	struct calling_out *const calling = work->calling_out;
	const json_t *const payload =
		work->receipt ? json_object_get(work->receipt, "payload") : calling->answer;

	if (payload)
		tool_tell(work->engine, work->intent_id, payload);
	calling->told = payload;
}

void call_outside_done(struct work *work)
{
	struct calling_out *const calling = WFS_STEAL(work->calling_out);

	if (!calling)
		return;
	if (!calling->told)
		tool_tell(work->engine, work->intent_id, NULL);
	wfs_document_done(&calling->intent);
	wfs_session_receipt_done(&calling->receipt);
	json_decref(calling->answer);
	for (size_t i = 0; i < calling->part_count; i++)
		wfs_buffer_done(&calling->parts[i].bytes);
	free(calling->parts);
	wfs_upload_free(calling->upload);
	free(calling);
}
