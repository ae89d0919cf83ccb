/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Intents of workflow.advance: a turn has ended, and the workflow of its agent may go to another
 * state. A thread of libuv evaluates conditions, or a model is asked. If anything fails, the state
 * stays.
 */
#include "agents/intent/intent-impl.h"

#include "agents/mind/condition.h"
#include "agents/mind/template.h"
#include "agents/mind/transition.h"
#include "agents/prepare/prepare.h"
#include "agents/prepare/variables.h"
#include "kernel/base/json.h"

#define STAGE "transition"

enum { REPLY_TOKENS_MAX = 512 };

#define no_memory(error) wfs_error_from_errno(error, -ENOMEM, "advance a workflow")

/* The facts on which the decision depends. Plain value; owned. Another thread may have the first
 * two: they share nothing with the setup. */
struct facts {
	json_t *mind;
	json_t *variables;
	json_t *setup;
	int64_t left_ms; /* of the turn's time */
	bool is_private; /* some facts were made from private texts */
};

static void facts_done(struct facts *facts)
{
	json_decref(facts->mind);
	json_decref(facts->setup);
	json_decref(facts->variables);
}
#define FACTS_AUTO WFS_CLEANUP(facts_done)

static int read_facts(const struct work *work, struct facts *facts, struct wfs_error *error)
{
	WFS_AUTO_DRIVING_RUN struct wfs_driving_run run = {.setup = NULL};
	int r = wfs_driving_run(work->session, work->owner_id, &run, error);

	if (r)
		return r;
	facts->setup = json_incref(run.setup);
	facts->left_ms = work_left_ms(run.state.started_ns, run.setup);
	WFS_AUTO_JSON json_t *mind = NULL;
	const json_t *const stored = json_object_get(run.setup, "mind");
	WFS_CLEANUP(agents_origin_done) struct agents_origin origin = {.of = NULL};
	r = agents_reveal(work->session, &run.view, stored, &mind, error);
	if (r)
		return r;
	facts->mind = json_deep_copy(mind);
	if (!facts->mind)
		return no_memory(error);
	r = agents_variables(
		work->session, &run.view, facts->mind, &origin, &facts->variables, error);
	facts->is_private = wfs_text_has_hidden(stored) || agents_origin_is_private(&origin);
	return r;
}

static json_t *note_of(const char *reference, const char *fallback, const char *reason)
{
	return json_pack("{s:s?, s:s, s:s?, s:s}", "fallback", fallback, "reason", reason,
		"reference", reference, "stage", STAGE);
}

/* --- conditions --- */

/* Conditions while they are evaluated. */
struct deciding {
	uv_work_t on_thread;
	struct work *work; /* valid until the evaluation is over: it is_reading */
	json_t *mind;      /* used by its thread alone; owned, as are those that follow */
	json_t *variables;
	json_t *notes;
	bool is_private;
	const char *to; /* borrowed from mind; NULL: no condition holds */
	int result;
};

static void deciding_free(struct deciding *deciding)
{
	json_decref(deciding->mind);
	json_decref(deciding->variables);
	json_decref(deciding->notes);
	free(deciding);
}

static void decide(uv_work_t *request)
{
	struct deciding *const deciding = CONTAINER_OF(request, struct deciding, on_thread);

	deciding->result = wfs_mind_conditions_first(json_object_get(deciding->mind, "conditions"),
		deciding->variables, &deciding->to, &deciding->notes);
}

/* Notes quote conditions, whose errors may quote variables. NULL without memory. */
static json_t *notes_of(const json_t *texts, bool is_private)
{
	WFS_AUTO_JSON json_t *notes = json_array();
	const json_t *text;
	size_t i;

	json_array_foreach(texts, i, text)
		if (json_array_append_new(notes,
			    note_of(NULL, "does not hold",
				    is_private ? AGENTS_REASON_LEFT_OUT
					       : json_string_value(text))) < 0)
			return NULL;
	return WFS_STEAL(notes);
}

static void decided(uv_work_t *request, int status)
{
	struct deciding *const deciding = CONTAINER_OF(request, struct deciding, on_thread);
	const char *const to = deciding->to;
	struct work *const work = deciding->work;
	const bool wanted = work_read(work);
	struct wfs_error error;

	(void)status; /* this work of libuv is never cancelled */
	if (wanted && deciding->result) {
		(void)no_memory(&error);
		work_fail(work, &error);
	} else if (wanted) {
		work_answer(work, "ok",
			json_pack("{s:I, s:s, s:o, s:s}", "duration_ms",
				(json_int_t)work_elapsed_ms(work), "next_state",
				to ? to : wfs_json_text(deciding->mind, "state"), "notes",
				notes_of(deciding->notes, deciding->is_private), "reason",
				to ? "condition" : "no condition holds"));
	}
	deciding_free(deciding);
}

/* @facts: mind and variables are taken */
static int begin_deciding(struct work *work, struct facts *facts, struct wfs_error *error)
{
	struct deciding *const deciding = calloc(1, sizeof(*deciding));

	if (!deciding)
		return no_memory(error);
	deciding->work = work;
	deciding->mind = WFS_STEAL(facts->mind);
	deciding->variables = WFS_STEAL(facts->variables);
	deciding->is_private = facts->is_private;
	work->calling.is_reading = true;
	int r = uv_queue_work(&work->engine->loop, &deciding->on_thread, decide, decided);
	if (!r)
		return 0;
	work->calling.is_reading = false;
	deciding_free(deciding);
	return wfs_error_from_errno(error, r, "advance a workflow");
}

/* --- a model --- */

int ask_state(struct work *work, struct work_question *question, struct wfs_error *error)
{
	FACTS_AUTO struct facts facts = {.mind = NULL};
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	int r = read_facts(work, &facts, error);

	work->asking.request_private = facts.is_private;
	work->asking.raw.origin.nobodys = facts.is_private; /* only the agent may read it */
	work->asking.script_turn = work->turn + 1;
	if (!r && facts.left_ms == 0)
		return wfs_error_set(error, WFS_E_TIMEOUT, "the run has used up its time");
	if (!r)
		r = wfs_mind_template_fill(json_object_get(facts.mind, "transition_prompt"),
			facts.variables, &text, error);
	if (r && facts.is_private && r != -ENOMEM)
		return wfs_error_set(error, error->code, AGENTS_REASON_LEFT_OUT);
	if (r)
		return r;
	WFS_AUTO_JSON json_t *messages = json_pack("[{s:o, s:s}]", "content",
		json_stringn(wfs_buffer_text(&text), text.size), "role", "user");
	WFS_AUTO_JSON json_t *setup = json_pack("{s:O, s:[], s:{s:i, s:f}, s:[]}", "model",
		json_object_get(facts.setup, "model"), "offered", "settings", "max_tokens",
		REPLY_TOKENS_MAX, "temperature", 0.0, "tools");
	if (!messages || !setup)
		return no_memory(error);
	question->left_ms = facts.left_ms;
	question->messages = WFS_STEAL(messages);
	question->setup = WFS_STEAL(setup);
	return 0;
}

/* After an answer that names no state, the state stays; the note has the answer. */
static int read_reply(const json_t *mind, const char *text, const char **ret_next,
	struct wfs_buffer *reason, json_t *notes, struct wfs_error *error)
{
	const char *const reference =
		json_string_value(json_object_get(mind, "transition_reference"));
	struct wfs_error problem = {0};
	int r = wfs_mind_transition_reply(
		wfs_bytes_text(text), json_object_get(mind, "states"), ret_next, reason, &problem);

	if (r == -ENOMEM)
		return no_memory(error);
	if (!r)
		return 0;
	*ret_next = wfs_json_text(mind, "state");
	wfs_buffer_append_text(reason, "the model's answer names no state");
	return wfs_buffer_check(reason) ||
			json_array_append_new(notes, note_of(reference, "stay", problem.message)) <
				0
		? no_memory(error)
		: 0;
}

int take_state(struct work *work, json_t *completion, json_t **ret_payload, struct wfs_error *error)
{
	FACTS_AUTO struct facts facts = {.mind = NULL};
	WFS_AUTO_JSON json_t *notes = json_array();
	WFS_AUTO_BUFFER struct wfs_buffer reason = {0};
	const char *next = NULL;
	int r = notes ? read_facts(work, &facts, error) : no_memory(error);

	if (!r)
		r = read_reply(facts.mind, wfs_json_text(completion, "content"), &next, &reason,
			notes, error);
	if (r)
		return r;
	*ret_payload = json_pack("{s:O, s:O, s:s, s:O, s:s, s:O?, s:O?}", "attempts",
		json_object_get(completion, "attempts"), "duration_ms",
		json_object_get(completion, "duration_ms"), "next_state", next, "notes", notes,
		"reason", wfs_buffer_text(&reason), "text", json_object_get(completion, "content"),
		"usage", json_object_get(completion, "usage"));
	return *ret_payload ? 0 : no_memory(error);
}

/* --- both --- */

void advance_begin(struct work *work)
{
	FACTS_AUTO struct facts facts = {.mind = NULL};
	struct wfs_error error = {0};
	int r = read_facts(work, &facts, &error);
	const bool asks = strcmp(wfs_json_text(facts.mind, "mode"), "llm") == 0;

	if (!r && asks && json_object_get(facts.mind, "transition_prompt")) {
		generate_begin(work);
		return;
	}
	if (!r && asks)
		r = wfs_error_set(&error, WFS_E_NOT_FOUND, "the state has no transition prompt");
	if (!r)
		r = begin_deciding(work, &facts, &error);
	if (r)
		work_fail(work, &error);
}

void advance_log(const struct work *work, const char *status, const json_t *payload)
{
	const json_t *note;
	size_t i;

	if (strcmp(status, "ok") != 0) {
		agents_log_fallback(work->session, STAGE, "stay");
		return;
	}
	json_array_foreach(json_object_get(payload, "notes"), i, note) {
		const char *const fallback = json_string_value(json_object_get(note, "fallback"));

		if (fallback)
			agents_log_fallback(work->session, STAGE, fallback);
	}
}
