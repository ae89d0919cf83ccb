/* SPDX-License-Identifier: Apache-2.0 */
/* Plans for the tests of what is shown of them: made as a driver makes them, by receipts. */
#pragma once

#include "tests/unit/action-fixture.h"

#include "kernel/domain/plan/plan-file.h"

struct planned {
	struct world_fixture *fixture;
	char chat_id[WFS_CHAT_ID_MAX + 1];
	const char *id;
};

/* A part's entry of a step; JSON with '. */
#define PLANNED_STEP(id, type, title, tool, depends_on, next, waiting)                          \
	"{'next':[" next "],'step':{'attempts':0,'depends_on':[" depends_on "],'id':'" id       \
	"','max_attempts':1,'prompt':null,'result_ref':null,'status':'pending','title':'" title \
	"','tool':" tool ",'type':'" type "'},'waiting':" waiting "}"
#define PLANNED_TOOL "{'args':{'path':'x'},'method':'','name':'look'}"

static inline json_t *planned_document(
	const struct planned *planned, enum wfs_builtin_reducer reducer, const char *suffix)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(planned->fixture, WFS_HEIGHT_HEAD);
	json_t *document = NULL;
	char key[WFS_CHAT_ID_MAX + 32];

	snprintf(key, sizeof(key), "%s%s",
		reducer == WFS_BUILTIN_CHAT_MESSAGE ? planned->chat_id : planned->id, suffix);
	(void)wfs_view_document(&view, reducer, key, &document, NULL);
	return document;
}

/* What the plan waits for, number @index; of -1: what its chat does. Caller frees. */
static inline char *planned_waits_for(const struct planned *planned, int index)
{
	WFS_AUTO_JSON json_t *message = planned_document(planned, WFS_BUILTIN_CHAT_MESSAGE, "");
	WFS_AUTO_JSON json_t *state = planned_document(planned, WFS_BUILTIN_PLAN, "");
	const json_t *const open =
		json_array_get(json_object_get(state, "open"), (size_t)(index < 0 ? 0 : index));
	const char *const id =
		index < 0 ? wfs_json_text(message, "open") : wfs_json_text(open, "intent_id");

	assert_true(*id != '\0');
	return strdup(id);
}

/* @payload: taken */
static inline void planned_answer_with(
	const struct planned *planned, int index, const char *status, json_t *payload)
{
	WFS_AUTO_FREE char *intent_id = planned_waits_for(planned, index);
	WFS_AUTO_JSON json_t *receipt = json_pack("{s:s, s:s, s:o, s:s}", "adapter_id", "test",
		"intent_id", intent_id, "payload", payload, "status", status);
	struct wfs_request request = {
		.kind = WFS_REQUEST_RECEIPT, .principal = "alice", .receipt = receipt};

	if (wfs_world_call(planned->fixture->world, &request))
		fail_msg("%s: %s", status, request.error.message);
}

static inline void planned_answer(
	const struct planned *planned, int index, const char *status, const char *payload)
{
	planned_answer_with(planned, index, status, json_of(payload));
}

/* The tool that the plan waits for, number @index, gives this. */
static inline void planned_gives(const struct planned *planned, int index, const char *result)
{
	planned_answer_with(planned, index, "ok",
		json_pack("{s:{s:n, s:n, s:s, s:s, s:b, s:s}}", "outcome", "details", "error",
			"method", "", "name", "look", "ok", 1, "result", result));
}

/* It fails, and is not tried again. */
static inline void planned_breaks(const struct planned *planned, int index)
{
	planned_answer(planned, index, "ok",
		"{'final':true,'outcome':{'details':{'message':'no','type':'t'},'error':"
		"'UNKNOWN_TOOL','method':'','name':'look','ok':false,'result':null}}");
}

/* A chat whose answer is a plan; @source: its text */
static inline struct planned planned_chat(
	struct world_fixture *fixture, const char *plan_id, const char *source)
{
	struct planned planned = {.fixture = fixture, .id = plan_id};
	WFS_AUTO_JSON json_t *answer = NULL;

	assert_int_equal(act_as(fixture, "alice",
				 "{'action_type':'chat','batch_size':2,'max_concurrency':2,"
				 "'message':'do it','model':'m','session_id':'s'}",
				 &answer),
		0);
	snprintf(planned.chat_id, sizeof(planned.chat_id), "%s", wfs_json_text(answer, "chat_id"));
	planned_answer_with(&planned, -1, "ok", json_pack("{s:s, s:n}", "plan", source, "usage"));
	return planned;
}

/* All steps in one part. @steps: an array of such entries; taken. @draft: NULL: there is none */
static inline void planned_define(
	const struct planned *planned, const char *goal, json_t *steps, const char *draft)
{
	const json_int_t total = (json_int_t)json_array_size(steps);

	planned_answer_with(planned, -1, "ok",
		json_pack("{s:s*, s:s, s:i, s:s, s:o, s:I}", "draft", draft, "goal", goal, "offset",
			0, "plan_id", planned->id, "steps", steps, "total", total));
}

static inline struct planned planned_begin(
	struct world_fixture *fixture, const char *plan_id, const char *steps)
{
	struct planned planned = planned_chat(fixture, plan_id, "a plan");

	planned_define(&planned, "the goal", json_of(steps), NULL);
	return planned;
}

/* Two tools, and a note that depends on both. */
#define PLANNED_SMALL                                                                              \
	"[" PLANNED_STEP("a", "tool", "first", PLANNED_TOOL, "", "2", "0") "," PLANNED_STEP("b/c", \
		"tool", "second", PLANNED_TOOL, "", "2",                                           \
		"0") "," PLANNED_STEP("n", "note", "last", "null", "'a','b/c'", "", "2") "]"
#define PLANNED_ID "0123456789abcdef0123456789abcdef"

/* Number @index of many tools that depend on nothing. */
static inline json_t *planned_one_of_many(size_t index)
{
	return json_pack(
		"{s:{s:i, s:[], s:o, s:i, s:n, s:n, s:s, s:o, s:{s:{}, s:s, s:s}, s:s}, s:i}",
		"step", "attempts", 0, "depends_on", "id", json_sprintf("step%zu", index),
		"max_attempts", 1, "prompt", "result_ref", "status", "pending", "title",
		json_sprintf("number %zu of many", index), "tool", "args", "method", "", "name",
		"look", "type", "tool", "waiting", 0);
}

/* A plan of many steps; none but those of the first batch is begun. */
static inline struct planned planned_many(
	struct world_fixture *fixture, const char *plan_id, size_t count)
{
	struct planned planned = planned_chat(fixture, plan_id, "a plan");

	for (size_t offset = 0; offset < count; offset += WFS_PLAN_PART_MAX) {
		json_t *const steps = json_array();

		for (size_t i = offset; i < count && i < offset + WFS_PLAN_PART_MAX; i++)
			assert_int_equal(json_array_append_new(steps, planned_one_of_many(i)), 0);
		planned_answer_with(&planned, -1, "ok",
			json_pack("{s:s, s:I, s:s, s:o, s:I}", "goal", "much", "offset",
				(json_int_t)offset, "plan_id", plan_id, "steps", steps, "total",
				(json_int_t)count));
	}
	return planned;
}
