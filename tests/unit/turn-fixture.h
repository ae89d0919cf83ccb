/* SPDX-License-Identifier: Apache-2.0 */
/* A world with agents, and somebody who answers what their runs ask for, for the tests of kernel/domain/turn/. */
#pragma once

#include "tests/unit/action-fixture.h"

#include "kernel/domain/turn/events.h"
#include "kernel/domain/turn/turn.h"

/* A model's answer. */
#define SAYS(text)                                                                              \
	"{'content':'" text "','duration_ms':7,'finish_reason':'stop','tool_calls':[],'usage':" \
	"null}"
#define WANTS(calls)                                                                        \
	"{'content':null,'duration_ms':7,'finish_reason':'tool_calls','tool_calls':[" calls \
	"],'usage':null}"
#define WANTS_ONE(id, name, arguments) \
	"{'id':'" id "','name':'" name "','arguments':'" arguments "'}"

/* Tools of a run; `look` is a reading tool. */
#define TURN_TOOLS                                                                    \
	"[{'kind':'action','name':'write_artifact'},{'kind':'action','name':'noop'}," \
	"{'kind':'read','name':'look'},{'kind':'result','name':'submit_result'}]"
#define TURN_OFFERED "['write_artifact','look','noop','submit_result']"
#define TURN_STEP(max_turns, settings, messages)                                               \
	"{'action_type':'step','agent':'alice','max_turns':" max_turns ",'messages':" messages \
	",'setup':{'model':'m','offered':" TURN_OFFERED ",'settings':" settings                \
	",'tools':" TURN_TOOLS "}}"
#define TURN_ASK "[{'content':'s','role':'system'},{'content':'go','role':'user'}]"

struct turn_run {
	struct world_fixture *fixture;
	char id[WFS_TURN_ID_MAX + 1];
};

static inline struct turn_run turn_begin(struct world_fixture *fixture, const char *step)
{
	struct turn_run run = {.fixture = fixture};
	WFS_AUTO_JSON json_t *answer = NULL;

	if (act_as(fixture, "tester", step, &answer))
		fail_msg("%s: %s", step, fixture->error.message);
	snprintf(
		run.id, sizeof(run.id), "%s", json_string_value(json_object_get(answer, "run_id")));
	return run;
}

static inline json_t *turn_document(
	const struct turn_run *run, const char *reducer, const char *suffix)
{
	char key[WFS_TURN_ID_MAX + 32];

	snprintf(key, sizeof(key), "%s%s", run->id, suffix);
	WFS_AUTO_FREE char *text = state_at(run->fixture, WFS_HEIGHT_HEAD, reducer, key);
	json_t *document = NULL;
	if (text)
		assert_int_equal(wfs_json_parse(text, strlen(text), &document, NULL), 0);
	return document;
}

/* The output of a tool call is this; apostrophes cannot stand in what the others expect. */
static inline void assert_output(
	const struct turn_run *run, const char *suffix, const char *expected)
{
	WFS_AUTO_JSON json_t *call = turn_document(run, "sys.tool_call", suffix);

	assert_string_equal(json_string_value(json_object_get(call, "output")), expected);
}

/* Number @index of what the run waits for; caller frees. NULL: there is none. */
static inline char *turn_waits_for(const struct turn_run *run, size_t index)
{
	WFS_AUTO_JSON json_t *state = turn_document(run, "sys.turn", "");
	const json_t *const open = json_array_get(json_object_get(state, "open"), index);
	const char *const id = json_string_value(json_object_get(open, "intent_id"));

	return id ? strdup(id) : NULL;
}

static inline int turn_send_receipt(
	const struct turn_run *run, const char *intent_id, const char *status, const char *payload)
{
	WFS_AUTO_JSON json_t *taken = json_of(payload);
	WFS_AUTO_JSON json_t *receipt = json_pack("{s:s, s:s, s:O, s:s}", "adapter_id", "test",
		"intent_id", intent_id, "payload", taken, "status", status);
	struct wfs_request request = {
		.kind = WFS_REQUEST_RECEIPT, .principal = "alice", .receipt = receipt};
	int r = wfs_world_call(run->fixture->world, &request);

	run->fixture->error = request.error;
	return r;
}

/* Answers what the run waits for, number @index. */
static inline void turn_answer_as(
	const struct turn_run *run, size_t index, const char *status, const char *payload)
{
	WFS_AUTO_FREE char *intent_id = turn_waits_for(run, index);

	assert_non_null(intent_id);
	if (turn_send_receipt(run, intent_id, status, payload))
		fail_msg("%s: %s", payload, run->fixture->error.message);
}

static inline void turn_says(const struct turn_run *run, const char *completion)
{
	turn_answer_as(run, 0, "ok", completion);
}

static inline void turn_gives(const struct turn_run *run, size_t index, const char *output)
{
	WFS_AUTO_JSON json_t *payload = json_pack("{s:i, s:s, s:I}", "duration_ms", 3, "output",
		output, "output_size", (json_int_t)strlen(output));
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_json_write(payload, &text);
	turn_answer_as(run, index, "ok", wfs_buffer_text(&text));
}

/* The tool call @index is this action of the agent. */
static inline int turn_acts(const struct turn_run *run, size_t index, const char *action)
{
	WFS_AUTO_FREE char *intent_id = turn_waits_for(run, index);
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

/* The events of the run, or NULL behind the last one; caller owns it. */
static inline json_t *turn_event(const struct turn_run *run, int64_t event_seq)
{
	const uint64_t height = height_of(run->fixture);

	for (uint64_t seq = 0; seq < height; seq++) {
		WFS_AUTO_RECORD struct wfs_record_parsed parsed = record_at(run->fixture, seq);
		const json_t *const schema = json_object_get(parsed.body_json, "schema");
		json_t *const value = json_object_get(parsed.body_json, "value");
		const char *const id = json_string_value(json_object_get(value, "run_id"));

		if (parsed.record.kind == WFS_RECORD_EVENT &&
			wfs_kernel_event_find(json_string_value(schema)) < WFS_KERNEL_EVENT_COUNT &&
			id && strcmp(id, run->id) == 0 &&
			json_integer_value(json_object_get(value, "event_seq")) == event_seq)
			return json_incref(value);
	}
	return NULL;
}

/* Their types, in order. */
static inline void assert_events(const struct turn_run *run, const char *expected)
{
	WFS_AUTO_BUFFER struct wfs_buffer types = {0};
	json_t *event;

	for (int64_t i = 0; (event = turn_event(run, i)) != NULL; i++) {
		wfs_buffer_printf(&types, "%s%s", i > 0 ? " " : "",
			json_string_value(json_object_get(event, "type")) + 0);
		json_decref(event);
	}
	assert_string_equal(wfs_buffer_text(&types), expected);
}

/* Members of event @event_seq are these. */
static inline void assert_event(const struct turn_run *run, int64_t event_seq, const char *expected)
{
	WFS_AUTO_JSON json_t *event = turn_event(run, event_seq);
	WFS_AUTO_JSON json_t *wanted = json_of(expected);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	const char *key;
	json_t *value;

	wfs_json_write(event, &text);
	json_object_foreach(wanted, key, value) if (!json_equal(json_object_get(event, key), value))
		fail_msg("event %lld: '%s' is not as expected: %s", (long long)event_seq, key,
			wfs_buffer_text(&text));
}

static inline void assert_turn(
	const struct turn_run *run, const char *reducer, const char *suffix, const char *expected)
{
	WFS_AUTO_JSON json_t *document = turn_document(run, reducer, suffix);
	WFS_AUTO_JSON json_t *wanted = json_of(expected);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	const char *key;
	json_t *value;

	assert_non_null(document);
	wfs_json_write(document, &text);
	json_object_foreach(
		wanted, key, value) if (!json_equal(json_object_get(document, key), value))
		fail_msg("%s%s: '%s' is not as expected: %s", reducer, suffix, key,
			wfs_buffer_text(&text));
}

static inline void assert_ended(const struct turn_run *run, const char *reason)
{
	WFS_AUTO_JSON json_t *state = turn_document(run, "sys.turn", "");
	const char *const got = json_string_value(json_object_get(state, "reason"));

	assert_string_equal(got ? got : "(it goes on)", reason);
	assert_int_equal(json_array_size(json_object_get(state, "open")), 0);
}
