/* SPDX-License-Identifier: Apache-2.0 */
/* Actions on a run: cancel it, have a call wait for an approval, approve or refuse it. */
#include <inttypes.h>

#include "kernel/base/json.h"
#include "kernel/domain/turn/turn-impl.h"

enum {
	EARLIER_TURNS_MAX = 64
}; /* turns searched for a call's id; a later decision names its turn */

static int check_texts(const char *name, const json_t *action, struct wfs_error *error)
{
	const char *key;
	const json_t *value;

	(void)name;
	json_object_foreach((json_t *)action, key, value) {
		if (!json_is_string(value) && strcmp(key, "turn") != 0)
			return wfs_error_set(
				error, WFS_E_INVALID_ARGUMENT, "'%s': expected a text", key);
	}
	return 0;
}
const struct wfs_form turn_cancel_form = {.members = "action_type turn_id", .then = check_texts};
const struct wfs_form turn_ask_form = {
	.members = "action_type intent_id policy rule?", .then = check_texts};

static int check_approve(const char *name, const json_t *action, struct wfs_error *error)
{
	const char *decision;
	int64_t turn;
	int r = check_texts(name, action, error);

	if (!r)
		r = wfs_json_get_string(action, "decision", &decision, error);
	if (!r)
		r = wfs_json_get_integer(action, "turn", 1, INT64_MAX, &turn, error);
	if (!r && strcmp(decision, "allow") != 0 && strcmp(decision, "deny") != 0)
		r = wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'decision': expected \"allow\" or \"deny\", got '%.60s'", decision);
	return r;
}
const struct wfs_form turn_approve_form = {
	.members = "action_type call_id decision turn? turn_id", .then = check_approve};

static int load_running(
	struct wfs_fold *fold, const json_t *action, struct turn *ret_turn, struct wfs_error *error)
{
	const char *const run_id = json_string_value(json_object_get(action, "turn_id"));
	int r = turn_load(fold, run_id, ret_turn, error);

	if (r || strcmp(ret_turn->state.status, "running") == 0)
		return wfs_trace(r);
	return wfs_error_set(error, WFS_E_CONFLICT, "turn '%s' has ended already", run_id);
}

static int answer_with(const struct turn *turn, json_t **ret_answer, struct wfs_error *error)
{
	*ret_answer = json_pack("{s:s}", "run_id", turn->run_id);
	return *ret_answer ? 0 : fold_no_memory(error);
}

int turn_fold_cancel(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error)
{
	TURN_AUTO struct turn turn = {.fold = fold};
	int r = load_running(fold, action, &turn, error);

	if (!r)
		r = turn_end(&turn, "cancelled", error);
	if (!r)
		r = turn_store(&turn, error);
	return wfs_trace(r ? r : answer_with(&turn, ret_answer, error));
}

/* --- approval --- */

static int set_state(
	struct wfs_fold *fold, const char *intent_id, const char *state, struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_intent intent;
	int r = intent_load(fold, intent_id, &intent, error);

	intent.state = state;
	return wfs_trace(r ? r : fold_write_intent(fold, &intent, error));
}

/* Sets the status of a call, for readers. */
static int set_status(struct turn *turn, int64_t index, const char *status, struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_tool_call call;
	int r = turn_call_load(turn, index, &call, error);

	call.status = status;
	return wfs_trace(r ? r : fold_write_tool_call(turn->fold, &call, error));
}

/* Marks the intent in the run's state, so that each version of the state has the run's whole
 * status. */
static void set_asked(struct turn *turn, int64_t index, bool asked)
{
	size_t i;
	json_t *open;

	json_array_foreach(turn->state.open, i, open) {
		const json_t *const call = json_object_get(open, "call");

		if (!call || json_integer_value(call) != index)
			continue;
		if (asked)
			turn->failed |= json_object_set_new(open, "asked", json_true()) < 0;
		else
			(void)json_object_del(open, "asked");
	}
}

int turn_fold_ask(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error)
{
	const char *const id = json_string_value(json_object_get(action, "intent_id"));
	TURN_AUTO struct turn turn = {.fold = fold};
	WFS_AUTO_DOCUMENT struct wfs_document_intent intent;
	int r = intent_load(fold, id, &intent, error);

	if (!r && intent.call < 0)
		r = wfs_error_set(
			error, WFS_E_INVALID_ARGUMENT, "only tool calls wait for an approval");
	if (!r)
		r = turn_load(fold, intent.run_id, &turn, error);
	if (!r)
		r = set_state(fold, id, "asked", error);
	if (r)
		return wfs_trace(r);
	set_asked(&turn, intent.call, true);
	r = set_status(&turn, intent.call, "asked", error);
	if (!r)
		r = turn_store(&turn, error);
	return wfs_trace(r ? r : answer_with(&turn, ret_answer, error));
}

/* Finds the open intent of the call with this id. */
static int find_asked(struct turn *turn, const char *call_id, const char **ret_intent,
	int64_t *ret_index, struct wfs_error *error)
{
	size_t i;
	const json_t *open;

	json_array_foreach(turn->state.open, i, open) {
		WFS_AUTO_DOCUMENT struct wfs_document_tool_call call = {.own = {.json = NULL}};
		const json_t *const index = json_object_get(open, "call");
		int r = index ? turn_call_load(turn, json_integer_value(index), &call, error) : 0;

		if (r)
			return wfs_trace(r);
		if (!index || strcmp(call.id, call_id) != 0)
			continue;
		if (strcmp(call.status, "asked") != 0)
			return wfs_error_set(error, WFS_E_CONFLICT,
				"the call '%s' of turn '%s' does not wait for an approval", call_id,
				turn->run_id);
		*ret_intent = json_string_value(json_object_get(open, "intent_id"));
		*ret_index = json_integer_value(index);
		return 0;
	}
	return wfs_error_set(error, WFS_E_NOT_FOUND, "turn '%s' has no open call '%.80s'",
		turn->run_id, call_id);
}

/* May an earlier turn have had a call with this id? Return: 1, 0, or -errno. */
static int find_earlier(struct turn *turn, const char *call_id, struct wfs_error *error)
{
	const int64_t now = turn->state.turn;

	if (now > EARLIER_TURNS_MAX)
		return 1;
	for (int64_t number = 1, index = 0; number < now; index++) {
		WFS_AUTO_DOCUMENT struct wfs_document_tool_call call;
		int r = turn_call_of(turn, number, index, &call, error);

		if (r)
			return wfs_trace(r);
		if (call.id && strcmp(call.id, call_id) == 0)
			return 1;
		if (!call.id) {
			number++;
			index = -1;
		}
	}
	return 0;
}

/*
 * Refuses a decision that may be about an earlier call. Some models number the calls of each
 * answer anew, and a late decision must not count for the call that waits now.
 */
static int check_meant(
	struct turn *turn, const json_t *action, const char *call_id, struct wfs_error *error)
{
	const json_t *const given = json_object_get(action, "turn");
	const int64_t now = turn->state.turn;
	int r = given ? json_integer_value(given) != now : find_earlier(turn, call_id, error);

	if (r <= 0)
		return wfs_trace(r);
	if (given)
		return wfs_error_set(error, WFS_E_CONFLICT,
			"the call '%s' that waits is of turn %" PRId64 ", not %" PRId64, call_id,
			now, (int64_t)json_integer_value(given));
	return wfs_error_set(error, WFS_E_CONFLICT,
		"'%s' may have had another call '%s' before; to decide on the one that waits, add "
		"its turn, \"turn\": %" PRId64 " (--of-turn %" PRId64 ")",
		turn->run_id, call_id, now, now);
}

static int deny(struct turn *turn, const char *intent_id, int64_t index, struct wfs_error *error)
{
	char output[256];
	char id[WFS_HASH_TEXT_SIZE];

	snprintf(id, sizeof(id), "%s", intent_id); /* closing the intent frees the text */
	snprintf(output, sizeof(output), "Tool execution failed: '%s' did not approve of the call",
		turn->fold->input.principal);
	const struct turn_result result = {
		.is_error = true, .output = output, .output_size = (int64_t)strlen(output)};
	int r = turn_answered(turn, id, error);
	if (!r)
		r = turn_result(turn, index, &result, error);
	return wfs_trace(r ? r : turn_go_on(turn, error));
}

int turn_fold_approve(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error)
{
	const char *const call_id = json_string_value(json_object_get(action, "call_id"));
	const char *const decision = json_string_value(json_object_get(action, "decision"));
	TURN_AUTO struct turn turn = {.fold = fold};
	const char *intent_id = NULL;
	int64_t index = 0;
	int r = load_running(fold, action, &turn, error);

	if (!r)
		r = find_asked(&turn, call_id, &intent_id, &index, error);
	if (!r)
		r = check_meant(&turn, action, call_id, error);
	if (r)
		return wfs_trace(r);
	if (strcmp(decision, "deny") == 0) {
		r = deny(&turn, intent_id, index, error);
	} else {
		r = set_state(fold, intent_id, "approved", error);
		set_asked(&turn, index, false);
		if (!r)
			r = set_status(&turn, index, "approved", error);
	}
	if (!r)
		r = turn_store(&turn, error);
	return wfs_trace(r ? r : answer_with(&turn, ret_answer, error));
}
