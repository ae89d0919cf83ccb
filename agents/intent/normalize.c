/* SPDX-License-Identifier: Apache-2.0 */
/* Intents of plan.normalize: a thread of libuv cuts a plan into steps, and sends them as answers
 * in parts. */
#include "agents/intent/intent-impl.h"

#include "agents/plan/normalize.h"
#include "caps/session-blob.h"
#include "caps/session-read.h"
#include "kernel/base/json.h"
#include "kernel/manifest/document.h"

/* A plan while it is cut into steps. */
struct normalizing {
	uv_work_t on_thread;
	struct work *work; /* NULL: the steps are not wanted any more */
	char chat_id[WFS_CHAT_ID_MAX + 1];
	struct wfs_buffer text;
	json_t *goal; /* the message; owned by its thread */
	bool imported;
	bool reruns; /* run done steps without results again */

	int result;
	struct wfs_error error;
	json_t *details;
	struct wfs_plan_made plan;
	char failed_id[WFS_PLAN_ID_SIZE + 1];

	bool is_running;
	size_t offset; /* of the next part */
};

static void normalizing_free(struct normalizing *normalizing)
{
	if (!normalizing)
		return;
	if (normalizing->is_running) {
		normalizing->work = NULL;
		return;
	}
	wfs_buffer_done(&normalizing->text);
	json_decref(normalizing->goal);
	json_decref(normalizing->details);
	wfs_plan_made_done(&normalizing->plan);
	free(normalizing);
}

static void on_thread(uv_work_t *request)
{
	struct normalizing *const normalizing =
		CONTAINER_OF(request, struct normalizing, on_thread);
	const struct wfs_plan_origin origin = {
		.chat_id = normalizing->chat_id,
		.goal = json_string_value(normalizing->goal),
		.imported = normalizing->imported,
		.reruns = normalizing->reruns,
	};
	const struct wfs_bytes text = wfs_buffer_bytes(&normalizing->text);

	normalizing->result = wfs_plan_normalize(&origin, text.data, text.size, &normalizing->plan,
		&normalizing->error, &normalizing->details);
	if (normalizing->result && !normalizing->imported)
		wfs_plan_failed_id(&origin, text.data, text.size, normalizing->failed_id);
}

/* --- answers --- */

static void answer_failure(struct work *work, struct normalizing *normalizing)
{
	work_answer(work, "error",
		json_pack("{s:s, s:O?, s:I, s:O*, s:s, s:s*, s:i}", "code",
			wfs_error_info(normalizing->error.code)->name, "details",
			normalizing->details, "duration_ms", (json_int_t)work_elapsed_ms(work),
			"goal", normalizing->imported ? NULL : normalizing->goal, "message",
			normalizing->error.message, "plan_id",
			*normalizing->failed_id ? normalizing->failed_id : NULL, "total", 0));
}

static void answer_part(struct work *work, struct normalizing *normalizing)
{
	struct wfs_error error = {0};
	size_t count = 0;

	if (wfs_session_check_journal(work->session, &error)) {
		work_fail(work, &error);
		return;
	}
	json_t *const payload = wfs_plan_payload(&normalizing->plan, normalizing->offset, &count);

	normalizing->offset += count;
	work_answer(work, "ok", payload);
}

bool normalize_next(struct work *work, const json_t *answer)
{
	struct normalizing *const normalizing = work->normalizing;

	(void)answer;
	if (!normalizing || normalizing->result ||
		normalizing->offset >= json_array_size(normalizing->plan.parts))
		return false;
	answer_part(work, normalizing);
	return true;
}

/* Skips the parts that were answered before the world was opened. */
static int skip_given(struct work *work, struct normalizing *normalizing, struct wfs_error *error)
{
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	WFS_AUTO_DOCUMENT struct wfs_document_plan plan = {.own = {.json = NULL}};
	int r = wfs_session_view(work->session, WFS_HEIGHT_HEAD, &view, error);

	if (!r)
		r = wfs_driving_plan(&view, normalizing->plan.plan_id, &plan, error);
	if (r == -ENOENT)
		return 0;
	if (!r && strcmp(plan.source_id, work->owner_id) == 0)
		normalizing->offset = (size_t)plan.defined;
	return r;
}

static void is_done(uv_work_t *request, int status)
{
	struct normalizing *const normalizing =
		CONTAINER_OF(request, struct normalizing, on_thread);
	struct work *const work = normalizing->work;
	struct wfs_error error = {0};

	(void)status; /* this work of libuv is never cancelled */
	normalizing->is_running = false;
	if (!work) {
		normalizing_free(normalizing);
		return;
	}
	if (normalizing->result)
		answer_failure(work, normalizing);
	else if (skip_given(work, normalizing, &error))
		work_fail(work, &error);
	else
		answer_part(work, normalizing);
}

/* --- the text --- */

static int read_blob(struct work *work, struct wfs_view *view, const char *name,
	struct wfs_buffer *text, struct wfs_error *error)
{
	WFS_AUTO_CONTENT struct wfs_content content = {0};
	struct wfs_hash hash;
	struct wfs_blob_listing listing;
	struct wfs_blob blob;
	int r = wfs_hash_parse(name, strlen(name), &hash, error);

	if (!r)
		r = wfs_session_blob(work->session, view, &hash, &blob, &listing);
	if (r == -ENOENT)
		return wfs_error_set(error, WFS_E_NOT_FOUND, "the blob %s does not exist", name);
	if (r)
		return wfs_error_from_errno(error, r, "read the blob %s", name);
	if (blob.size_bytes > WFS_PLAN_IMPORT_MAX)
		return wfs_error_set(error, WFS_E_TOO_LARGE,
			"the plan has %llu bytes, at most %d are taken",
			(unsigned long long)blob.size_bytes, WFS_PLAN_IMPORT_MAX);
	r = wfs_session_blob_content(work->session, view, &blob, WFS_RANGE_ALL, &content, error);
	if (r)
		return r;
	wfs_buffer_append(text, content.bytes.data, content.bytes.size);
	return wfs_buffer_check(text) ? wfs_error_from_errno(error, -ENOMEM, "import a plan") : 0;
}

static int read_source(
	struct work *work, struct wfs_view *view, struct wfs_buffer *text, struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_plan_source source;
	int r = wfs_driving_source(view, work->owner_id, &source, error);

	if (r)
		return r;
	wfs_buffer_append(text, json_string_value(source.text), json_string_length(source.text));
	return wfs_buffer_check(text) ? wfs_error_from_errno(error, -ENOMEM, "read a plan") : 0;
}

static int read_text(struct work *work, struct normalizing *normalizing, struct wfs_error *error)
{
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	WFS_AUTO_DOCUMENT struct wfs_document_chat_message message = {.role = NULL};
	int r = wfs_session_view(work->session, WFS_HEIGHT_HEAD, &view, error);

	if (!r)
		r = wfs_driving_message(&view, work->owner_id, &message, error);
	if (r)
		return r;
	normalizing->imported = message.blob != NULL;
	normalizing->reruns = message.rerun;
	normalizing->goal = json_incref(message.content);
	if (!normalizing->goal)
		return wfs_error_from_errno(error, -ENOMEM, "read a plan");
	return normalizing->imported
		? read_blob(work, &view, message.blob, &normalizing->text, error)
		: read_source(work, &view, &normalizing->text, error);
}

static int begin(struct work *work, struct normalizing *normalizing, struct wfs_error *error)
{
	int r = read_text(work, normalizing, error);

	if (r)
		return r;
	r = uv_queue_work(&work->engine->loop, &normalizing->on_thread, on_thread, is_done);
	normalizing->is_running = r == 0;
	return r ? wfs_error_from_errno(error, r, "read a plan") : 0;
}

void normalize_done(struct work *work)
{
	normalizing_free(work->normalizing);
}

void normalize_begin(struct work *work)
{
	struct normalizing *const normalizing = calloc(1, sizeof(*normalizing));
	struct wfs_error error = {0};

	normalizing_free(work->normalizing);
	work->normalizing = normalizing;
	if (!normalizing) {
		(void)wfs_error_from_errno(&error, -ENOMEM, "read a plan");
		work_fail(work, &error);
		return;
	}
	normalizing->work = work;
	snprintf(normalizing->chat_id, sizeof(normalizing->chat_id), "%s", work->owner_id);
	if (begin(work, normalizing, &error))
		work_fail(work, &error);
}
