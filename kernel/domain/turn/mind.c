/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs of agents whose prompts, workflow, memories and reflex are artifacts.
 * agents/prepare/prepare.c puts these together before the run: the `step` has what was found as
 * `setup.mind`, and notes of what was not. Folded here are the notes, as events; an action that a
 * reflex wants instead of a model's answer; and the workflow's state after the run.
 */
#include <inttypes.h>

#include "kernel/base/json.h"
#include "kernel/domain/action/invoke.h"
#include "kernel/domain/principal/grants.h"
#include "kernel/domain/turn/turn-impl.h"
#include "kernel/manifest/grant.h"
#include "kernel/read/text.h"

/* --- the form of a step --- */

static int check_text(const json_t *value, size_t size_max, const char *where, bool optional,
	struct wfs_error *error)
{
	if ((optional && (!value || json_is_null(value))) ||
		(json_is_string(value) && json_string_length(value) <= size_max))
		return 0;
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
		"%s: expected a text of at most %zu bytes", where, size_max);
}

static int check_note(const json_t *note, struct wfs_error *error)
{
	static const struct {
		const char *name;
		size_t size_max;
		bool optional;
	} texts[] = {{"stage", WFS_TURN_STATE_MAX, false}, {"reference", WFS_TURN_NOTE_MAX, true},
		{"fallback", WFS_TURN_NOTE_MAX, true}, {"reason", WFS_TURN_NOTE_MAX, false}};
	int r = wfs_json_members(note, "a note", "fallback reason reference stage", error);

	for (size_t i = 0; !r && i < WFS_ARRAY_COUNT(texts); i++)
		r = check_text(json_object_get(note, texts[i].name), texts[i].size_max,
			texts[i].name, texts[i].optional, error);
	return r;
}

static int check_notes(const json_t *notes, struct wfs_error *error)
{
	const json_t *note;
	size_t i;
	int r = 0;

	if (notes && (!json_is_array(notes) || json_array_size(notes) > WFS_TURN_NOTES_MAX))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"notes: expected an array of at most %d", WFS_TURN_NOTES_MAX);
	json_array_foreach(notes, i, note) {
		if (!r)
			r = check_note(note, error);
	}
	return r;
}

int turn_check_mind(const char *name, const json_t *action, struct wfs_error *error)
{
	static const char *const texts[] = {
		"setup/mind/mode", "setup/mind/state", "setup/mind/next"};
	const json_t *const mind = json_object_get(json_object_get(action, "setup"), "mind");
	const json_t *const failure = json_object_get(action, "failure");
	const json_t *const reflex = json_object_get(action, "reflex");

	(void)name;
	int r = check_notes(json_object_get(action, "notes"), error);
	if (!r && mind && !json_is_object(mind))
		r = wfs_error_set(error, WFS_E_INVALID_ARGUMENT, "setup/mind: expected an object");
	for (size_t i = 0; !r && i < WFS_ARRAY_COUNT(texts); i++)
		r = check_text(json_object_get(mind, strrchr(texts[i], '/') + 1),
			WFS_TURN_STATE_MAX, texts[i], true, error);
	if (!r && failure)
		r = wfs_json_members(failure, "failure", "code message", error);
	if (!r && failure)
		r = check_text(json_object_get(failure, "message"), WFS_TURN_OUTPUT_MAX,
			"failure/message", false, error);
	if (!r && reflex && !json_is_string(json_object_get(reflex, "action_type")))
		r = wfs_error_set(error, WFS_E_INVALID_ARGUMENT, "reflex: expected an action");
	return r;
}

/* --- notes --- */

int turn_emit_notes(struct turn *turn, const json_t *notes, struct wfs_error *error)
{
	const json_t *note;
	size_t i;
	int r = 0;

	json_array_foreach(notes, i, note) {
		if (!r)
			r = turn_emit(turn, WFS_KERNEL_NOTE, wfs_json_copy(note), error);
	}
	return wfs_trace(r);
}

/* --- the state of a workflow --- */

/* Has the workflow that the run began with this state? */
static bool knows_state(const struct turn *turn, const char *name)
{
	const json_t *const states = json_object_get(turn->setup.mind, "states");
	const json_t *state;
	size_t i;

	json_array_foreach(states, i, state) {
		if (json_is_string(state) && strcmp(json_string_value(state), name) == 0)
			return true;
	}
	return false;
}

/* Enters a state. Several runs of an agent may be open at once. The first that ends changes the
 * state; the others, which began in a state that has been left since, do not change it back.
 * @from: enter only from this state; "": only from none, or from one that the workflow does not
 * have
 * @ret_changed: the state was entered */
static int enter_state(struct turn *turn, const char *from, const char *name, const char *reason,
	bool *ret_changed, struct wfs_error *error)
{
	const int64_t seq = (int64_t)turn->fold->head->height;
	WFS_AUTO_DOCUMENT struct wfs_document_workflow workflow;
	int r = fold_read_workflow(turn->fold, turn->state.agent, &workflow, error);
	const char *const current = workflow.own.json ? workflow.current_state : "";

	*ret_changed = false;
	if (r)
		return wfs_trace(r);
	const bool leaves = *from ? strcmp(current, from) == 0 : !knows_state(turn, current);
	if (!leaves || strcmp(current, name) == 0)
		return 0;
	*ret_changed = true;
	WFS_AUTO_JSON json_t *history =
		workflow.history ? json_incref(workflow.history) : json_array();
	while (json_array_size(history) >= WFS_TURN_STATES_KEPT)
		(void)json_array_remove(history, 0);
	if (json_array_append_new(history,
		    json_pack("{s:s, s:I, s:s}", "reason", reason, "seq", (json_int_t)seq, "state",
			    name)) < 0)
		return fold_no_memory(error);
	workflow.current_state = name;
	workflow.entered_at_seq = seq;
	workflow.history = history;
	return wfs_trace(fold_write_workflow(turn->fold, &workflow, error));
}

/* --- what an agent did last --- */

int turn_remember_action(struct turn *turn, const char *name, const struct turn_result *result,
	struct wfs_error *error)
{
	int r = turn_setup(turn, error);

	if (r || !turn->setup.mind)
		return wfs_trace(r);
	const int size = action_shown(wfs_bytes_text(result->output), WFS_TURN_ACTION_SHOWN);
	turn->state.last_action = turn_own(turn,
		json_pack("{s:o, s:b, s:s}", "result",
			result->hidden ? json_incref(result->hidden)
				       : json_stringn(result->output, (size_t)size),
			"success", !result->is_error, "type", name));
	return 0;
}

/* Counts a run of the agent. @failed: the run failed; @stayed: the state did not change */
static int note_agent(struct turn *turn, bool failed, bool stayed, struct wfs_error *error)
{
	json_t *const action = turn->state.last_action;
	const bool well = json_is_true(json_object_get(action, "success"));
	WFS_AUTO_DOCUMENT struct wfs_document_agent agent;
	int r = fold_read_agent(turn->fold, turn->state.agent, &agent, error);

	if (failed || (action && !well))
		agent.failure_count++;
	else if (action)
		agent.failure_count = 0;
	if (action)
		agent.last_action = action;
	agent.runs++;
	agent.same_state_for = stayed ? agent.same_state_for + 1 : 0;
	return wfs_trace(r ? r : fold_write_agent(turn->fold, &agent, error));
}

/* --- the end of a run --- */

/* How a run has changed its agent's state. Plain value; borrowed. */
struct transition {
	const char *to;
	const char *reason;
	const char *fallback; /* NULL: no fallback was needed */
	bool changed;
};

static int tell_transition(
	struct turn *turn, const struct transition *transition, struct wfs_error *error)
{
	const json_t *const mind = turn->setup.mind;
	const char *const from = wfs_json_text(mind, "state");
	json_t *const reference = json_object_get(mind, "transition_reference");

	return wfs_trace(turn_emit(turn, WFS_KERNEL_NOTE,
		json_pack("{s:s?, s:o, s:O?, s:s}", "fallback", transition->fallback, "reason",
			transition->changed
				? json_sprintf(
					  "%s -> %s: %s", from, transition->to, transition->reason)
				: json_sprintf("stays in %s: %s", from, transition->reason),
			"reference", transition->fallback ? reference : NULL, "stage",
			"transition"),
		error));
}

/* Changes the report of a transition if another run has changed the state first. */
static void take_back(const struct turn *turn, struct transition *transition)
{
	if (transition->changed ||
		strcmp(transition->to, wfs_json_text(turn->setup.mind, "state")) == 0)
		return;
	transition->fallback = "stay";
	transition->reason = "another run has changed it meanwhile";
}

/* Moves the agent to its next state after a successful run. */
static int move_to(struct turn *turn, const char *to, const char *reason, struct wfs_error *error)
{
	const char *const from = wfs_json_text(turn->setup.mind, "state");
	struct transition transition = {.to = to, .reason = reason};
	int r = enter_state(turn, from, to, reason, &transition.changed, error);

	take_back(turn, &transition);
	if (!r)
		r = note_agent(turn, false, !transition.changed, error);
	return wfs_trace(r ? r : tell_transition(turn, &transition, error));
}

/* Asks the driver for the next state. The run is counted first, so that the answer can depend on
 * it. */
static int ask_next(
	struct turn *turn, const char *reason, const json_t *mind, struct wfs_error *error)
{
	int r = note_agent(turn, false, true, error);

	turn->state.ending = reason;
	return wfs_trace(r ? r
			   : turn_ask(turn, WFS_EFFECT_WORKFLOW_ADVANCE,
				     json_pack("{s:O, s:s, s:O}", "mode",
					     json_object_get(mind, "mode"), "run_id", turn->run_id,
					     "state", json_object_get(mind, "state")),
				     -1, error));
}

static bool is_well(const char *reason)
{
	static const char *const reasons[] = {"no_tool_calls", "max_turns", "length",
		"content_filter", "termination_tool", "reflex"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(reasons); i++)
		if (strcmp(reasons[i], reason) == 0)
			return true;
	return false;
}

int turn_end_mind(struct turn *turn, const char *reason, bool *ret_waits, struct wfs_error *error)
{
	int r = turn_setup(turn, error);
	const json_t *const mind = turn->setup.mind;
	const char *const mode = wfs_json_text(mind, "mode");

	*ret_waits = false;
	if (r || !mind || turn->state.advanced)
		return wfs_trace(r);
	if (turn->state.ending) /* ended during the question: counted already */
		return 0;
	if (!is_well(reason))
		return wfs_trace(note_agent(turn, true, true, error));
	if (!*mode)
		return wfs_trace(note_agent(turn, false, true, error));
	if (strcmp(mode, "auto") == 0)
		return wfs_trace(move_to(turn, wfs_json_text(mind, "next"), "auto", error));
	*ret_waits = true;
	return wfs_trace(ask_next(turn, reason, mind, error));
}

/* Corrects `same_state_for`: the run was counted before the new state was known. */
static int note_changed(struct turn *turn, struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_agent agent;
	int r = fold_read_agent(turn->fold, turn->state.agent, &agent, error);

	agent.same_state_for = 0;
	return wfs_trace(r ? r : fold_write_agent(turn->fold, &agent, error));
}

/* Folds the next state. After any failure the agent stays in its state. */
static int advance(struct turn *turn, const json_t *mind, const struct wfs_body_receipt *receipt,
	struct wfs_error *error)
{
	const json_t *const payload = receipt->payload;
	const bool ok = strcmp(receipt->status, "ok") == 0;
	const char *const next = ok ? wfs_json_text(payload, "next_state") : "";
	const char *const state = wfs_json_text(mind, "state");
	const bool known = ok && knows_state(turn, next);
	struct transition transition = {
		.to = known ? next : state,
		.reason = wfs_json_text(payload, ok ? "reason" : "message"),
		.fallback = known ? NULL : "stay",
	};
	int r = check_notes(json_object_get(payload, "notes"), error);

	if (!r)
		r = turn_emit_notes(turn, json_object_get(payload, "notes"), error);
	if (!r)
		r = enter_state(
			turn, state, transition.to, transition.reason, &transition.changed, error);
	if (!r && transition.changed)
		r = note_changed(turn, error);
	take_back(turn, &transition);
	return wfs_trace(r ? r : tell_transition(turn, &transition, error));
}

int turn_fold_advance(
	struct turn *turn, const struct wfs_body_receipt *receipt, struct wfs_error *error)
{
	const json_t *const usage = json_object_get(receipt->payload, "usage");
	int r = turn_setup(turn, error);

	if (!r)
		r = grants_charge_receipt(turn->fold, receipt, error);
	if (!r && json_is_object(usage))
		r = turn_spend(turn, usage, error);
	if (!r)
		r = advance(turn, turn->setup.mind, receipt, error);
	turn->state.advanced = true;
	return wfs_trace(r ? r : turn_end(turn, turn->state.ending, error));
}

/* --- its beginning --- */

int turn_begin_mind(struct turn *turn, const json_t *action, struct wfs_error *error)
{
	const json_t *const mind = turn->setup.mind;
	const char *const state = wfs_json_text(mind, "state");
	const char *const entered = wfs_json_text(mind, "entered");
	const char *const reason = *entered ? entered : "the workflow begins";
	bool changed;
	int r = *state ? enter_state(turn, "", state, reason, &changed, error) : 0;

	return wfs_trace(r ? r : turn_emit_notes(turn, json_object_get(action, "notes"), error));
}

/* Makes the action of a reflex a tool call, as if a model had asked for it. */
int turn_begin_reflex(struct turn *turn, const json_t *reflex, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *arguments = wfs_json_copy(reflex);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	json_t *const hidden = json_object_get(reflex, "arguments");

	(void)json_object_del(arguments, "action_type");
	wfs_json_write(arguments, &text);
	if (!arguments || wfs_buffer_check(&text))
		return fold_no_memory(error);
	WFS_AUTO_JSON json_t *calls = json_pack("[{s:o, s:O}]", "arguments",
		wfs_text_is_hidden(hidden, NULL) ? json_incref(hidden)
						 : json_stringn(text.data, text.size),
		"name", json_object_get(reflex, "action_type"));
	if (!calls)
		return fold_no_memory(error);
	turn->state.reflex = true;
	turn->state.turn = 1;
	int r = turn_make_calls(turn, calls, false, error);
	return wfs_trace(r ? r : turn_go_on(turn, error));
}
