/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/intent/again.h"

#include "agents/host/endpoint.h"
#include "agents/host/models.h"
#include "agents/host/script.h"
#include "agents/host/secret.h"
#include "agents/model/answer.h"
#include "caps/authority.h"
#include "caps/session-query.h"
#include "caps/session-raw.h"
#include "caps/session-read.h"
#include "caps/session.h"
#include "kernel/base/clock.h"
#include "kernel/base/json.h"

enum {
	ANSWERS_BYTES_MAX = 8 << 20
}; /* bytes of answers, also of the recorded ones; others are
				       * left out */

struct again {
	struct wait wait;
	json_t *turn;      /* its summary; owned */
	json_t *rows;      /* of the answer; owned */
	json_t *row;       /* of the request that is asked now; owned */
	json_t *entry;     /* of the model in host.json; owned */
	const char *model; /* its name; borrowed from the params, or from `turn` */
	uint64_t number;   /* of the request that is asked now; 0: none was */
	size_t bytes;      /* of the answers in `rows` */
	struct wfs_model_endpoint endpoint;
	struct wfs_model_call *call; /* NULL: no server is asked now */
	struct wfs_buffer body;      /* that it is sent */
	char key[64]; /* by which a server recognises the request; no other request has it */
};

#define no_memory(error) wfs_error_from_errno(error, -ENOMEM, "ask a model again")

static const char *turn_id_of(const struct again *again)
{
	return wfs_json_text(again->wait.drive->params, "turn_id");
}

/* --- what was recorded --- */

static json_t *error_of(const char *message)
{
	return json_pack("{s:s}", "error", message);
}

/* Reads the bytes of an answer. Those of a script are a completion, or {code, message}. */
static json_t *read_recorded(struct wfs_bytes bytes)
{
	WFS_AUTO_MODEL_ANSWER struct wfs_model_answer *answer = NULL;
	struct wfs_model_failure failure = {.status = 200};
	WFS_AUTO_JSON json_t *json = NULL;
	json_t *completion = NULL;

	if (!wfs_json_parse_bounded(bytes.data, bytes.size, &json, NULL)) {
		if (json_object_get(json, "finish_reason"))
			return WFS_STEAL(json);
		if (json_is_string(json_object_get(json, "message")))
			return error_of(wfs_json_text(json, "message"));
	}
	int r = wfs_model_answer_new(WFS_MODEL_CHAT, &answer);
	if (!r)
		r = wfs_model_answer_feed(answer, 200, bytes.data, bytes.size, &failure);
	if (!r)
		r = wfs_model_answer_finish(answer, &completion, &failure);
	if (r == -ENOMEM)
		return NULL;
	return r ? error_of(failure.message) : completion;
}

/* Reads the next request into @body, and begins its row with the recorded answer. An attempt whose
 * request is the same as the next one's is passed over. Return: 0, -ENOENT (no more), … */
static int read_next(struct again *again, struct wfs_buffer *body, struct wfs_error *error)
{
	const struct wfs_session *const session = again->wait.drive->session;
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	WFS_AUTO_BUFFER struct wfs_buffer came = {0};
	const char *const turn_id = turn_id_of(again);
	uint64_t number = again->number + 1;
	int r = wfs_session_view(session, WFS_HEIGHT_HEAD, &view, error);

	if (!r)
		r = wfs_session_raw_next(session, &view, turn_id, &number, body);
	while (!r) {
		WFS_AUTO_BUFFER struct wfs_buffer later = {0};
		uint64_t next = number + 1;

		again->number = number;
		r = wfs_session_raw_next(session, &view, turn_id, &next, &later);
		if (r || !wfs_bytes_equal(wfs_buffer_bytes(body), wfs_buffer_bytes(&later))) {
			r = r == -ENOENT ? 0 : r;
			break;
		}
		number = next;
	}
	if (!r)
		r = wfs_session_raw_answer(session, &view, turn_id, number, &came);
	if (r && (r != -ENOENT || again->number < number))
		return r;
	json_decref(again->row);
	again->row = json_pack("{s:I, s:o}", "number", (json_int_t)number, "recorded",
		r ? error_of("no answer is kept") : read_recorded(wfs_buffer_bytes(&came)));
	return again->row ? 0 : -ENOMEM;
}

/* --- the answer --- */

static void go_on(struct again *again);

/* Ends a row. @answer: taken; NULL: no memory. Return: 0, -ENOMEM. */
static int add_answer(struct again *again, json_t *answer)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	bool bad = json_object_set_new(again->row, "again", answer) < 0;

	if (!bad)
		wfs_json_write(again->row, &text);
	again->bytes += text.size;
	if (!bad && again->bytes > ANSWERS_BYTES_MAX) {
		again->bytes -= text.size;
		bad = json_object_set_new(
			      again->row, "again", error_of("the answers are too large")) < 0 ||
			json_object_del(again->row, "recorded") < 0;
	}
	return bad || wfs_buffer_check(&text) ||
			json_array_append_new(again->rows, WFS_STEAL(again->row)) < 0
		? -ENOMEM
		: 0;
}

static void on_done(void *context, const struct wfs_model_result *result)
{
	struct again *const again = context;
	struct wfs_error error = {0};

	again->call = NULL;
	int r = add_answer(again,
		result->failure ? error_of(result->failure->message)
				: agents_secret_mask(result->completion, again->endpoint.api_key));
	if (r)
		wait_fail(&again->wait, r, &error);
	else
		go_on(again);
}

/* --- the question --- */

/* Makes the recorded request one for another model. Return: 0, -ENOMEM. */
static int convert(struct again *again, json_t *body)
{
	static const char *const limits[] = {"max_tokens", "max_completion_tokens"};
	const char *const limit = wfs_json_text(again->entry, "max_tokens_name");
	const char *const model = wfs_json_text(again->entry, "model");
	json_t *const more = json_object_get(again->entry, "extra_body");
	int bad = json_object_set_new(body, "model", json_string(*model ? model : again->model));

	for (size_t i = 0; i < WFS_ARRAY_COUNT(limits); i++) {
		WFS_AUTO_JSON json_t *tokens = json_incref(json_object_get(body, limits[i]));

		if (tokens && strcmp(limits[i], *limit ? limit : limits[0]) != 0) {
			(void)json_object_del(body, limits[i]);
			bad |= json_object_set(body, *limit ? limit : limits[0], tokens);
		}
	}
	(void)json_object_del(body, "stream");
	(void)json_object_del(body, "stream_options");
	if (again->endpoint.stream)
		bad |= json_object_set_new(body, "stream", json_true()) |
			json_object_set_new(
				body, "stream_options", json_pack("{s:b}", "include_usage", 1));
	if (json_is_object(more))
		bad |= json_object_update(body, more);
	return bad ? -ENOMEM : 0;
}

static int ask_server(struct again *again, json_t *body, struct wfs_error *error)
{
	int r = agents_endpoint_make(again->entry, INT64_MAX, &again->endpoint, error);

	if (!r && convert(again, body))
		r = no_memory(error);
	if (r)
		return r;
	snprintf(again->key, sizeof(again->key), "again/%llu/%lld",
		(unsigned long long)again->number, (long long)wfs_clock_realtime_ns());
	wfs_buffer_reset(&again->body);
	wfs_json_write(body, &again->body);
	if (wfs_buffer_check(&again->body))
		return no_memory(error);
	const struct wfs_model_request request = {
		.endpoint = &again->endpoint,
		.body = wfs_buffer_bytes(&again->body),
		.idempotency_key = again->key,
		.context = again,
		.done = on_done,
	};
	return wfs_model_call_start(again->wait.engine->client, &request, &again->call, error);
}

/* A script's delay is not waited for. */
static int ask_script(struct again *again, const json_t *body, struct wfs_error *error)
{
	struct script_answer answer = {.completion = NULL};
	struct wfs_error reason = {0};
	int r = script_read(wfs_authority_directory(again->wait.engine->authority),
		wfs_json_text(again->entry, "file"), (int64_t)json_array_size(again->rows) + 1,
		json_object_get(body, "messages"), &answer, &reason);

	if (r == -ENOMEM)
		return no_memory(error);
	r = add_answer(again,
		r                           ? error_of(reason.message)
			: answer.completion ? answer.completion
					    : error_of(wfs_json_text(answer.failure, "message")));
	json_decref(answer.failure);
	return r ? no_memory(error) : 0;
}

/* Asks the next request. Return: 0, -ENOENT (no more), or -errno with @error. */
static int ask_next(struct again *again, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer bytes = {0};
	WFS_AUTO_JSON json_t *body = NULL;
	int r = read_next(again, &bytes, error);

	if (r)
		return r;
	if (wfs_json_parse(bytes.data, bytes.size, &body, NULL) || !json_is_object(body))
		return add_answer(again, error_of("the request is not kept as it was sent"))
			? no_memory(error)
			: 0;
	return strcmp(wfs_json_text(again->entry, "provider"), "script") == 0
		? ask_script(again, body, error)
		: ask_server(again, body, error);
}

static void finish(struct again *again)
{
	struct wfs_error error = {0};

	if (again->number == 0) {
		wait_fail(&again->wait,
			wfs_error_set(&error, WFS_E_NOT_FOUND,
				"turn '%.200s' has no request that is kept and that you may read",
				turn_id_of(again)),
			&error);
		return;
	}
	WFS_AUTO_JSON json_t *own = json_pack("{s:O, s:s, s:O, s:s}", "agent",
		json_object_get(again->turn, "agent"), "model", again->model, "requests",
		again->rows, "turn_id", turn_id_of(again));
	json_t *const result = own ? wfs_json_copy(own) : NULL;
	json_decref(WFS_STEAL(again->rows));
	if (result)
		wait_tell(&again->wait, 0, result, NULL);
	else
		wait_fail(&again->wait, no_memory(&error), &error);
}

static void go_on(struct again *again)
{
	struct wfs_error error = {0};
	int r = 0;

	while (!r && !again->call)
		r = ask_next(again, &error);
	if (r == -ENOENT && error.code == WFS_OK)
		finish(again);
	else if (r)
		wait_fail(&again->wait, r, &error);
}

/* --- the wait --- */

static int prepare(struct again *again, struct wfs_error *error)
{
	const struct wfs_drive *const drive = again->wait.drive;
	const char *const model = json_string_value(json_object_get(drive->params, "model"));
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	int r = wfs_session_judge(drive->session, WFS_EFFECT_AGENT_STEP, error);

	if (!r)
		r = wfs_session_view(drive->session, WFS_HEIGHT_HEAD, &view, error);
	if (!r)
		r = wfs_session_turn(
			drive->session, &view, wfs_bytes_text(turn_id_of(again)), &again->turn);
	if (r == -ENOENT)
		return wfs_error_set(
			error, WFS_E_NOT_FOUND, "Turn '%.200s' not found", turn_id_of(again));
	if (!r)
		r = wfs_session_may_ask_again(
			drive->session, wfs_json_text(again->turn, "agent"), error);
	if (r)
		return r;
	again->model = model ? model : wfs_json_text(again->turn, "model");
	again->rows = json_array();
	r = wfs_models_find(wfs_authority_directory(again->wait.engine->authority), again->model,
		&again->entry, error);
	return r || again->rows ? r : no_memory(error);
}

static void start(struct wait *wait)
{
	struct again *const again = (struct again *)wait;
	struct wfs_error error = {0};
	int r = prepare(again, &error);

	if (r)
		wait_fail(wait, r, &error);
	else
		go_on(again);
}

static void fail(struct wait *wait, int r, struct wfs_error *error)
{
	wait_tell(wait, r, NULL, error);
}

static void left(struct wait *wait)
{
	struct wfs_error error = {0};

	wait_fail(wait, wfs_error_set(&error, WFS_E_CANCELLED, "the caller has gone"), &error);
}

static void done(struct wait *wait)
{
	struct again *const again = (struct again *)wait;

	if (again->call)
		wfs_model_call_cancel(WFS_STEAL(again->call));
	json_decref(WFS_STEAL(again->turn));
	json_decref(WFS_STEAL(again->rows));
	json_decref(WFS_STEAL(again->row));
	json_decref(WFS_STEAL(again->entry));
	wfs_buffer_done(&again->body);
}

const struct wait_kind wait_for_again = {
	.size = sizeof(struct again),
	.doing = "ask a model again",
	.closing = "the world is being closed: the model is not asked again",
	.start = start,
	.fail = fail,
	.left = left,
	.done = done,
};
