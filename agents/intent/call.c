/* SPDX-License-Identifier: Apache-2.0 */
/* Intents of tool.call: the tool is called with the rights of the agent. */
#include "agents/intent/intent-impl.h"

#include "agents/prepare/private.h"
#include "agents/prepare/question.h"
#include "agents/prepare/tool.h"
#include "caps/driving-timer.h"
#include "caps/session-text.h"
#include "kernel/base/json.h"
#include "kernel/manifest/document.h"
#include "kernel/value/output.h"

#define no_memory(error) wfs_error_from_errno(error, -ENOMEM, "call a tool")

/* --- reading --- */

void call_answer(struct work *work, const struct wfs_session *session, struct wfs_buffer *output,
	int64_t duration_ms)
{
	const size_t size = output->size;
	WFS_AUTO_JSON json_t *of = NULL;
	struct wfs_error error = {0};

	wfs_turn_cut(output);
	WFS_AUTO_JSON json_t *payload = wfs_buffer_check(output)
		? NULL
		: json_pack("{s:I, s:s#, s:I}", "duration_ms", (json_int_t)duration_ms, "output",
			  wfs_buffer_text(output), (int)output->size, "output_size",
			  (json_int_t)size);
	int r = payload ? wfs_session_noted(session, &of) : -ENOMEM;
	if (r > 0)
		r = wfs_text_hide_member(&work->texts, of, payload, "output", &error);
	else if (r < 0)
		r = no_memory(&error);
	if (r)
		work_fail(work, &error);
	else
		work_answer(work, "ok", WFS_STEAL(payload));
}

void call_take_output(struct work *work)
{
	call_answer(work, work->session, &work->calling.output, work->calling.read_ms);
}

/* On a thread of libuv. */
static void read_for(uv_work_t *reading)
{
	struct work *const work = CONTAINER_OF(reading, struct work, calling.reading);

	const enum wfs_effect question = agents_question_find(work->calling.tool_name);

	work->calling.read_result = question == WFS_EFFECT_COUNT
		? work->engine->helpers->run(work->session, work->calling.tool_name,
			  work->calling.arguments, &work->calling.output, &work->failure_meta,
			  &work->calling.failure)
		: agents_question_ask(work->session, question, work->calling.arguments,
			  &work->calling.output, &work->failure_meta, &work->calling.failure);
	if (work->calling.read_result && work->calling.failure.code == WFS_OK)
		(void)wfs_error_from_errno(
			&work->calling.failure, work->calling.read_result, "read");
	work->calling.read_ms = work_elapsed_ms(work);
}

static void read_done(uv_work_t *reading, int status)
{
	struct work *const work = CONTAINER_OF(reading, struct work, calling.reading);

	(void)status; /* this work of libuv is never cancelled */
	if (!work_read(work))
		return;
	if (work->calling.read_result)
		work_fail(work, &work->calling.failure);
	else
		work->kind->take_output(work);
}

/* The reading continues, and its output is dropped. */
static void too_late(struct work *work)
{
	struct wfs_error error;

	(void)wfs_error_set(&error, WFS_E_TIMEOUT, "the tool timed out after %lld ms",
		(long long)work_elapsed_ms(work));
	work->calling.is_late = true;
	work_fail(work, &error);
}

int call_read(struct work *work, const json_t *tool, const json_t *arguments, int64_t limit_ms,
	struct wfs_error *error)
{
	work->calling.tool_name = strdup(wfs_json_text(tool, "name"));
	work->calling.arguments = json_deep_copy(arguments); /* for the reading thread alone */
	if (!work->calling.tool_name || !work->calling.arguments ||
		(limit_ms < INT64_MAX && work_set_timer(work, (uint64_t)limit_ms, too_late)))
		return no_memory(error);
	work->calling.is_reading = true;
	int r = uv_queue_work(&work->engine->loop, &work->calling.reading, read_for, read_done);
	if (r)
		work->calling.is_reading = false;
	return r ? wfs_error_from_errno(error, r, "call a tool") : 0;
}

/* --- a call --- */

/* A tool and its arguments. Plain value; owned. */
struct called {
	json_t *tool;   /* expanded */
	json_t *stored; /* the arguments, with stand-ins for private texts */
	json_t *arguments;
	int64_t limit_ms;
	int64_t run_left_ms;
};

static void called_done(struct called *called)
{
	json_decref(called->tool);
	json_decref(called->stored);
	json_decref(called->arguments);
}

/* If arguments are refused, the message does not quote private ones. @r: result of their check */
static int hide_reason(const json_t *stored, int r, struct wfs_error *error)
{
	return (r == -EINVAL || r == -EFBIG) && wfs_text_has_hidden(stored)
		? wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			  "the arguments are not a JSON object that fits the tool's parameters, "
			  "and are not repeated here, because they are private")
		: r;
}

static int read_call(struct work *work, struct called *called, struct wfs_error *error)
{
	WFS_AUTO_DRIVING_RUN struct wfs_driving_run run = {.setup = NULL};
	WFS_AUTO_DOCUMENT struct wfs_document_tool_call stored = {.own = {.json = NULL}};
	WFS_AUTO_JSON json_t *call = NULL;
	int r = wfs_driving_run(work->session, work->owner_id, &run, error);

	if (!r)
		r = wfs_driving_call(&run, work->turn, work->index, &stored, error);
	if (!r)
		r = agents_reveal(work->session, &run.view, stored.own.json, &call, error);
	if (r)
		return r;
	const char *const name = stored.name;
	json_t *const tool = agents_tool_find(json_object_get(run.setup, "tools"), name);
	if (!tool)
		return wfs_error_set(error, WFS_E_NOT_FOUND, "unknown tool '%s'", name);
	r = agents_tool_expand(work->engine->helpers, tool, &called->tool, error);
	if (r)
		return r;
	called->stored = json_incref(json_object_get(stored.own.json, "arguments"));
	const char *const arguments = wfs_json_text(call, "arguments");
	const json_t *const limit =
		json_object_get(json_object_get(run.setup, "settings"), "tool_timeout_ms");
	called->limit_ms = called->run_left_ms = work_left_ms(run.state.started_ns, run.setup);
	if (limit && json_integer_value(limit) < called->limit_ms)
		called->limit_ms = json_integer_value(limit);
	r = wfs_json_parse_bounded(arguments, strlen(arguments), &called->arguments, error);
	if (!r && !json_is_object(called->arguments))
		r = wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"the arguments: expected a JSON object, got another value");
	if (!r)
		r = agents_tool_check(
			work->engine->helpers, called->tool, called->arguments, error);
	return hide_reason(stored.own.json, r, error);
}

/* An argument; null counts as absent. */
static json_t *given_of(json_t *arguments, const char *name)
{
	json_t *const value = json_object_get(arguments, name);

	return json_is_null(value) ? NULL : value;
}

/* Has the call wait, or answers it when it has waited. Return: 0, or -errno with @error. */
static int wait_begin(struct work *work, json_t *arguments, struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_wait wait = {.own = {.json = NULL}};
	WFS_AUTO_JSON json_t *result = NULL;
	int r = wfs_driving_wait(&work->engine->driving, work->intent_id, &wait, error);

	if (!r && !wait.own.json)
		return work_suspend(work,
			json_pack("{s:O*, s:O*, s:s, s:O*}", "after_ms",
				given_of(arguments, "after_ms"), "at", given_of(arguments, "at"),
				"intent_id", work->intent_id, "until_event",
				given_of(arguments, "until_event")),
			error);
	if (!r)
		r = wfs_driving_waited(work->session, &wait, &result, error);
	if (r)
		return r;
	wfs_json_write(result, &work->calling.output);
	call_answer(work, work->session, &work->calling.output, work_elapsed_ms(work));
	return 0;
}

void call_cancel(struct work *work)
{
	drive_leave(work);
	ask_outside_leave(work);
}

void call_begin(struct work *work)
{
	WFS_CLEANUP(called_done) struct called called = {.tool = NULL};
	struct wfs_error error = {0};
	int r = read_call(work, &called, &error);

	if (!r && agents_tool_is(called.tool, WFS_TOOL_KIND_READ)) {
		r = call_read(work, called.tool, called.arguments, called.limit_ms, &error);
		if (!r)
			return;
	}
	if (!r && agents_tool_is(called.tool, WFS_TOOL_KIND_DRIVE)) {
		r = drive_begin(work, wfs_json_text(called.tool, "name"), called.arguments,
			called.run_left_ms, &error);
		if (!r)
			return;
	}
	if (!r && agents_tool_is(called.tool, WFS_TOOL_KIND_OUTSIDE)) {
		ask_outside(work, called.tool, called.arguments, called.stored, called.limit_ms);
		return;
	}
	if (!r && agents_tool_is(called.tool, WFS_TOOL_KIND_WAIT)) {
		r = wait_begin(work, called.arguments, &error);
		if (!r)
			return;
	} else if (!r) {
		r = agents_tool_action(work->engine->helpers, called.tool, called.arguments,
			&work->action, &error);
	}
	work->called =
		(struct wfs_session_call){.intent_id = work->intent_id, .approved = work->approved};
	if (r)
		work_fail(work, &error);
	else
		work_submit(work);
}
