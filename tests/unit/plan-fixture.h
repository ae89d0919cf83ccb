/* SPDX-License-Identifier: Apache-2.0 */
/* A world in which somebody chats, and who answers what chats and plans ask for, for the tests of
 * kernel/domain/plan/. */
#pragma once

#include "tests/unit/action-fixture.h"

#include "kernel/domain/plan/plan.h"
#include "kernel/fold/intent.h"

/* One step of a plan: its id is `s` and its index. Plain value. */
struct plan_spec {
	const char *type;
	char after[24]; /* indices of the steps that it depends on */
	int max_attempts;
};

#define CHAT_OF(session, members)                                                                 \
	"{'action_type':'chat','message':'do it','model':'m','session_id':'" session "'," members \
	"}"
#define CHAT_SETTINGS(batch_size, max_concurrency) \
	"'batch_size':" batch_size ",'max_concurrency':" max_concurrency
#define CHAT CHAT_OF("s", CHAT_SETTINGS("25", "8"))
#define RESUME(plan_id) "{'action_type':'resume','plan_id':'" plan_id "'}"

/* What a driver gives. */
#define SAYS(text) "{'duration_ms':7,'text':'" text "','usage':null}"
#define PLANS(text) "{'duration_ms':7,'plan':'" text "','usage':null}"
#define GAVE(value)                                                                       \
	"{'duration_ms':3,'outcome':{'details':null,'error':null,'method':'','name':'t'," \
	"'ok':true,'result':" value "}}"
#define GAVE_NOT(code, more)                                                               \
	"{'duration_ms':3,'outcome':{'details':{'message':'no','type':'t'},'error':'" code \
	"','method':'','name':'t','ok':false,'result':null}" more "}"
#define BROKE "{'code':'unavailable','message':'nobody there'}"

/* A chat, and what has come of it. */
struct plan_run {
	struct world_fixture *fixture;
	char chat_id[WFS_CHAT_ID_MAX + 1];
	char id[WFS_PLAN_ID_SIZE + 1];
};

/* --- looking --- */

/* The document of a cell; NULL: there is none. */
static inline json_t *cell_of(struct world_fixture *fixture, const char *reducer, const char *key)
{
	WFS_AUTO_FREE char *text = state_at(fixture, WFS_HEIGHT_HEAD, reducer, key);
	json_t *document = NULL;

	if (text)
		assert_int_equal(wfs_json_parse(text, strlen(text), &document, NULL), 0);
	return document;
}

/* @index: -1: of the plan itself */
static inline json_t *plan_cell(const struct plan_run *run, const char *reducer, int64_t index)
{
	char key[64];

	if (index < 0)
		return cell_of(run->fixture, reducer, run->id);
	snprintf(key, sizeof(key), "%s.%lld", run->id, (long long)index);
	return cell_of(run->fixture, reducer, key);
}

/* Bytes of it; 0: there is none. */
static inline int64_t plan_cell_bytes(
	const struct plan_run *run, const char *reducer, int64_t index)
{
	char key[64];

	snprintf(key, sizeof(key), "%s.%lld", run->id, (long long)index);
	WFS_AUTO_FREE char *text = state_at(run->fixture, WFS_HEIGHT_HEAD, reducer, key);
	return text ? (int64_t)strlen(text) + 1 : 0;
}

static inline int64_t plan_count(const struct plan_run *run, const char *member)
{
	WFS_AUTO_JSON json_t *state = plan_cell(run, "sys.plan", -1);

	return json_integer_value(json_object_get(state, member));
}

/* The members of @document that @expected has are those. @document: taken */
static inline void assert_members(json_t *document, const char *expected)
{
	WFS_AUTO_JSON json_t *owned = document;
	WFS_AUTO_JSON json_t *wanted = json_of(expected);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	const char *key;
	json_t *value;

	assert_non_null(owned);
	wfs_json_write(owned, &text);
	json_object_foreach(wanted, key, value) if (!json_equal(json_object_get(owned, key), value))
		fail_msg("'%s' is not as expected: %s", key, wfs_buffer_text(&text));
}

static inline void assert_plan(const struct plan_run *run, const char *expected)
{
	assert_members(plan_cell(run, "sys.plan", -1), expected);
}

static inline void assert_step(const struct plan_run *run, int64_t index, const char *expected)
{
	assert_members(plan_cell(run, "sys.plan_step", index), expected);
}

static inline void assert_chat(const struct plan_run *run, const char *expected)
{
	assert_members(cell_of(run->fixture, "sys.chat_message", run->chat_id), expected);
}

/* Status letters of its steps, e.g. `dfsp`; a step that is ready is `q`, one that runs `r`. */
static inline void assert_steps(const struct plan_run *run, const char *expected)
{
	static const char *const statuses[] = {
		"done", "failed", "skipped", "pending", "ready", "running"};
	WFS_AUTO_BUFFER struct wfs_buffer letters = {0};

	for (int64_t i = 0; i < plan_count(run, "total"); i++) {
		WFS_AUTO_JSON json_t *step = plan_cell(run, "sys.plan_step", i);
		const char *const status = wfs_json_text(step, "status");

		for (size_t k = 0; k < WFS_ARRAY_COUNT(statuses); k++)
			if (strcmp(status, statuses[k]) == 0)
				wfs_buffer_append_byte(&letters, "dfspqr"[k]);
	}
	assert_string_equal(wfs_buffer_text(&letters), expected);
}

/* --- what is waited for --- */

/* Intent number @index of the plan; caller frees. NULL: there is none. */
static inline char *plan_waits_for(const struct plan_run *run, size_t index)
{
	WFS_AUTO_JSON json_t *state = plan_cell(run, "sys.plan", -1);
	const json_t *const open = json_array_get(json_object_get(state, "open"), index);
	const char *const id = json_string_value(json_object_get(open, "intent_id"));

	return id ? strdup(id) : NULL;
}

/* The same of the chat. */
static inline char *chat_waits_for(const struct plan_run *run)
{
	WFS_AUTO_JSON json_t *message = cell_of(run->fixture, "sys.chat_message", run->chat_id);
	const char *const id = json_string_value(json_object_get(message, "open"));

	return id ? strdup(id) : NULL;
}

/* The steps that it waits for, in the order in which they were begun; `.` is an intent of none. */
static inline void assert_waits_for(const struct plan_run *run, const char *expected)
{
	WFS_AUTO_JSON json_t *state = plan_cell(run, "sys.plan", -1);
	WFS_AUTO_BUFFER struct wfs_buffer steps = {0};
	size_t i;
	const json_t *open;

	json_array_foreach(json_object_get(state, "open"), i, open)
	{
		const json_t *const step = json_object_get(open, "step");

		wfs_buffer_append_text(&steps, i > 0 ? " " : "");
		if (step)
			wfs_buffer_printf(&steps, "%lld", (long long)json_integer_value(step));
		else
			wfs_buffer_append_byte(&steps, '.');
	}
	assert_string_equal(wfs_buffer_text(&steps), expected);
}

/* @payload: taken */
static inline int send_receipt(
	struct world_fixture *fixture, const char *intent_id, const char *status, json_t *payload)
{
	WFS_AUTO_JSON json_t *receipt = json_pack("{s:s, s:s, s:o, s:s}", "adapter_id", "test",
		"intent_id", intent_id, "payload", payload, "status", status);
	struct wfs_request request = {
		.kind = WFS_REQUEST_RECEIPT, .principal = "alice", .receipt = receipt};
	int r = wfs_world_call(fixture->world, &request);

	fixture->error = request.error;
	return r;
}

/* --- chats --- */

/* Says something. The chat is in answer. */
static inline struct plan_run chat_as(
	struct world_fixture *fixture, const char *principal, const char *action)
{
	struct plan_run run = {.fixture = fixture};
	WFS_AUTO_JSON json_t *answer = NULL;

	if (act_as(fixture, principal, action, &answer))
		fail_msg("%s: %s", action, fixture->error.message);
	snprintf(run.chat_id, sizeof(run.chat_id), "%s", wfs_json_text(answer, "chat_id"));
	snprintf(run.id, sizeof(run.id), "%s", wfs_json_text(answer, "plan_id"));
	return run;
}

static inline int chat_send(const struct plan_run *run, const char *status, const char *payload)
{
	WFS_AUTO_FREE char *intent_id = chat_waits_for(run);

	assert_non_null(intent_id);
	return send_receipt(run->fixture, intent_id, status, json_of(payload));
}

static inline void chat_answer(const struct plan_run *run, const char *status, const char *payload)
{
	if (chat_send(run, status, payload))
		fail_msg("%s: %s", payload, run->fixture->error.message);
}

/* --- parts --- */

static inline json_t *document_of(const struct plan_spec *spec, size_t index)
{
	WFS_AUTO_JSON json_t *depends_on = json_array();
	const bool is_tool = strcmp(spec->type, "tool") == 0;
	const bool is_model = strcmp(spec->type, "llm") == 0;

	for (const char *at = spec->after; *at; at += strspn(at, " ")) {
		char *end;

		json_array_append_new(depends_on, json_sprintf("s%ld", strtol(at, &end, 10)));
		at = end;
	}
	return json_pack("{s:i, s:O, s:o, s:i, s:o, s:n, s:s, s:o, s:o, s:s}", "attempts", 0,
		"depends_on", depends_on, "id", json_sprintf("s%zu", index), "max_attempts",
		spec->max_attempts, "prompt", is_model ? json_string("say") : json_null(),
		"result_ref", "status", "pending", "title", json_sprintf("step %zu", index), "tool",
		is_tool ? json_pack("{s:{}, s:s, s:s}", "args", "method", "", "name", "t")
			: json_null(),
		"type", spec->type);
}

/* Steps as a driver gives them. */
static inline json_t *steps_of(const struct plan_spec *specs, size_t count)
{
	json_t *steps = json_array();

	for (size_t i = 0; i < count; i++) {
		json_t *document = document_of(&specs[i], i);
		const json_t *const after = json_object_get(document, "depends_on");
		size_t k;
		const json_t *id;

		json_array_append_new(steps,
			json_pack("{s:O, s:I}", "step", document, "waiting",
				(json_int_t)json_array_size(after)));
		json_array_foreach(after, k, id)
		{
			json_t *const of = json_array_get(
				steps, (size_t)strtol(json_string_value(id) + 1, NULL, 10));

			if (!json_object_get(of, "next"))
				json_object_set_new(of, "next", json_array());
			json_array_append_new(
				json_object_get(of, "next"), json_integer((json_int_t)i));
		}
		json_decref(document);
	}
	return steps;
}

/* A part: @count of @steps from @offset on. */
static inline json_t *part_of(
	const struct plan_run *run, const json_t *steps, size_t offset, size_t count, size_t total)
{
	WFS_AUTO_JSON json_t *some = json_array();

	for (size_t i = offset; i < offset + count && i < json_array_size(steps); i++)
		json_array_append(some, json_array_get(steps, i));
	return json_pack("{s:s, s:I, s:s, s:O, s:I}", "goal", "do it", "offset", (json_int_t)offset,
		"plan_id", run->id, "steps", some, "total", (json_int_t)total);
}

/* @part: taken */
static inline int send_part(const struct plan_run *run, json_t *part)
{
	WFS_AUTO_FREE char *intent_id = chat_waits_for(run);

	assert_non_null(intent_id);
	return send_receipt(run->fixture, intent_id, "ok", part);
}

static inline void give_part(const struct plan_run *run, json_t *part)
{
	if (send_part(run, part))
		fail_msg("a part: %s", run->fixture->error.message);
}

/* The plan that the chat waits for, in as few parts as may be. */
static inline void give_steps(
	const struct plan_run *run, const struct plan_spec *specs, size_t count)
{
	WFS_AUTO_JSON json_t *steps = steps_of(specs, count);

	for (size_t offset = 0; offset < count; offset += WFS_PLAN_PART_MAX)
		give_part(run, part_of(run, steps, offset, WFS_PLAN_PART_MAX, count));
}

/* A chat that a model has answered with a plan, which nobody has cut yet. */
static inline struct plan_run chat_planned(struct world_fixture *fixture, const char *chat)
{
	struct plan_run run = chat_as(fixture, "alice", chat);

	chat_answer(&run, "ok", PLANS("a plan"));
	snprintf(run.id, sizeof(run.id), "plan%llu", (unsigned long long)height_of(fixture));
	return run;
}

/* A plan that runs. */
static inline struct plan_run plan_begin(struct world_fixture *fixture, const char *chat,
	const struct plan_spec *specs, size_t count)
{
	struct plan_run run = chat_planned(fixture, chat);

	give_steps(&run, specs, count);
	return run;
}

#define BEGIN(fixture, chat, ...)                                          \
	plan_begin(fixture, chat, (const struct plan_spec[]){__VA_ARGS__}, \
		WFS_ARRAY_COUNT(((const struct plan_spec[]){__VA_ARGS__})))

/* --- answers --- */

/* Answers what the plan waits for, number @index. */
static inline int plan_send(
	const struct plan_run *run, size_t index, const char *status, const char *payload)
{
	WFS_AUTO_FREE char *intent_id = plan_waits_for(run, index);

	assert_non_null(intent_id);
	return send_receipt(run->fixture, intent_id, status, json_of(payload));
}

static inline void plan_answer(
	const struct plan_run *run, size_t index, const char *status, const char *payload)
{
	if (plan_send(run, index, status, payload))
		fail_msg("%s: %s", payload, run->fixture->error.message);
}

/* Its tools do what they are asked for, @count times. */
static inline void plan_do(const struct plan_run *run, size_t count)
{
	for (size_t i = 0; i < count; i++)
		plan_answer(run, 0, "ok", GAVE("1"));
}

/* Tool call number @index is this action of alice. Return: as wfs_world_call. */
static inline int plan_act(const struct plan_run *run, size_t index, const char *action)
{
	WFS_AUTO_FREE char *intent_id = plan_waits_for(run, index);
	WFS_AUTO_JSON json_t *json = json_of(action);
	struct wfs_request request = {.kind = WFS_REQUEST_ACTION,
		.principal = "alice",
		.action = json,
		.intent_id = intent_id};

	assert_non_null(intent_id);
	int r = wfs_world_call(run->fixture->world, &request);
	json_decref(request.answer);
	run->fixture->error = request.error;
	return r;
}

/* Somebody says of the plan that it is to go on, or to stop. */
static inline int plan_tell(const struct plan_run *run, const char *principal, const char *what)
{
	WFS_AUTO_JSON json_t *action =
		json_pack("{s:s, s:s}", "action_type", what, "plan_id", run->id);
	struct wfs_request request = {
		.kind = WFS_REQUEST_ACTION, .principal = principal, .action = action};
	int r = wfs_world_call(run->fixture->world, &request);

	json_decref(request.answer);
	run->fixture->error = request.error;
	return r;
}

static inline void plan_stop_it(const struct plan_run *run)
{
	assert_int_equal(plan_tell(run, "alice", "stop"), 0);
}

static inline void plan_resume_it(const struct plan_run *run)
{
	assert_int_equal(plan_tell(run, "alice", "resume"), 0);
}

/* Its failed steps are to run again. Return: as wfs_world_call. */
static inline int plan_retry_it(const struct plan_run *run)
{
	WFS_AUTO_JSON json_t *action = json_pack(
		"{s:s, s:s, s:b}", "action_type", "resume", "plan_id", run->id, "retry_failed", 1);
	struct wfs_request request = {
		.kind = WFS_REQUEST_ACTION, .principal = "alice", .action = action};
	int r = wfs_world_call(run->fixture->world, &request);

	json_decref(request.answer);
	run->fixture->error = request.error;
	return r;
}

/* --- sums --- */

/* The bytes that are counted are those that there are: of each block, and of all steps and results. */
static inline void assert_bytes_are_counted(const struct plan_run *run)
{
	const int64_t total = plan_count(run, "defined");
	int64_t steps = 0;
	int64_t results = 0;
	int64_t count = 0;

	for (int64_t first = 0; first < total; first += WFS_PLAN_BLOCK) {
		WFS_AUTO_JSON json_t *block =
			plan_cell(run, "sys.plan_block", first / WFS_PLAN_BLOCK);
		int64_t bytes = 0;

		for (int64_t i = first; i < total && i < first + WFS_PLAN_BLOCK; i++) {
			const int64_t result = plan_cell_bytes(run, "sys.plan_result", i);

			bytes += plan_cell_bytes(run, "sys.plan_step", i);
			results += result;
			count += result > 0;
		}
		assert_int_equal(json_integer_value(json_object_get(block, "bytes")), bytes);
		steps += bytes;
	}
	assert_int_equal(plan_count(run, "steps_bytes"), steps);
	assert_int_equal(plan_count(run, "results_bytes"), results);
	assert_int_equal(plan_count(run, "results_count"), count);
}
