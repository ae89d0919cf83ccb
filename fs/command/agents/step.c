/* SPDX-License-Identifier: Apache-2.0 */
/* step, cancel, approve: turns of agents. */
#include <inttypes.h>
#include <string.h>

#include "fs/command/agents/again.h"
#include "fs/command/agents/commands.h"
#include "fs/command/agents/step.h"

#define SECOND_NS INT64_C(1000000000)

/* --- the request --- */

static int make_request(struct wfs_run *run, json_t **ret_payload)
{
	const bool no_wait = run->options[WFS_OPTION_NO_WAIT];
	const bool record = run->options[WFS_OPTION_RECORD];
	WFS_AUTO_JSON json_t *payload = json_pack("{s:s}", "agent", run->arguments[0]);
	uint64_t turns = 1;
	int r = payload ? wfs_run_count(run, WFS_OPTION_TURNS, &turns) : -ENOMEM;

	if (r)
		return r;
	if (no_wait && record)
		return wfs_run_misuse(run, "--no-wait and --record cannot be used together");
	if (turns != 1 && (no_wait || record))
		return wfs_run_misuse(
			run, "--turns: expected 1 with %s", no_wait ? "--no-wait" : "--record");
	if (run->options[WFS_OPTION_MESSAGES] && run->argument_count > 1)
		return wfs_run_misuse(run, "MESSAGE and --messages cannot be used together");
	r = wfs_run_members(run, payload);
	if (!r && run->argument_count > 1)
		r = wfs_run_message(run, run->arguments[1], payload);
	if (!r && no_wait && json_object_set_new(payload, "wait", json_false()) < 0)
		r = -ENOMEM;
	if (!r)
		*ret_payload = WFS_STEAL(payload);
	return r;
}

/* --- the result --- */

static int64_t count_calls(const json_t *turn)
{
	const json_t *message;
	int64_t count = 0;
	size_t i;

	json_array_foreach(json_object_get(turn, "history"), i, message) {
		count += (int64_t)json_array_size(json_object_get(message, "tool_calls"));
	}
	return count;
}

static const char *plural(int64_t count)
{
	return count == 1 ? "" : "s";
}

/* Prints a summary of a turn. @took: ", 1.2 s", or "" if unknown for this turn alone */
static void print_summary(struct wfs_run *run, const json_t *turn, const char *took)
{
	const json_t *const usage = json_object_get(turn, "total_usage");
	/* A reflex acts instead of the model: its action is not a message of the history. */
	const bool reflex = strcmp(wfs_json_text(turn, "termination_reason"), "reflex") == 0;
	const int64_t requests = reflex ? 0 : wfs_run_integer(turn, "turn_count");
	const int64_t calls = reflex ? 1 : count_calls(turn);

	wfs_run_notice(run,
		"%s: %s, %" PRId64 " request%s, %" PRId64 " tool call%s, %s%" PRId64 " tokens%s",
		wfs_json_text(turn, "run_id"), wfs_json_text(turn, "termination_reason"), requests,
		plural(requests), calls, plural(calls),
		json_is_true(json_object_get(usage, "incomplete")) ? "at least " : "",
		wfs_run_integer(usage, "total_tokens"), took);
}

static int print_final(struct wfs_run *run, const json_t *turn)
{
	const json_t *const given = json_object_get(turn, "final_tool_result");
	const json_t *const message = json_object_get(turn, "final_message");

	if (given && !json_is_string(given))
		return wfs_run_print_document(run, given);
	const char *const text =
		given ? json_string_value(given) : wfs_json_text(message, "content");
	if (given || strcmp(wfs_json_text(message, "role"), "assistant") == 0)
		fprintf(run->out, "%s\n", text);
	(void)fflush(run->out); /* before notices about it */
	return 0;
}

/* Prints results. @result: of one turn, or {runs}; a failed turn has no last message */
static int print_turns(struct wfs_run *run, const json_t *result, int64_t took_ns)
{
	const json_t *const runs = json_object_get(result, "runs");
	const size_t count = runs ? json_array_size(runs) : 1;
	char took[32] = "";
	int r = 0;

	if (!runs)
		snprintf(took, sizeof(took), ", %.1f s", (double)took_ns / (double)SECOND_NS);
	for (size_t i = 0; !r && i < count; i++) {
		const json_t *const turn = runs ? json_array_get(runs, i) : result;

		if (json_is_true(json_object_get(turn, "ok")))
			r = print_final(run, turn);
		if (!r && json_object_get(turn, "run_id"))
			print_summary(run, turn, took);
		if (json_is_false(json_object_get(turn, "ok")))
			wfs_run_notice(run, "turns/%s/transcript.md shows the turn",
				wfs_json_text(turn, "run_id"));
	}
	return r;
}

/* --- the commands --- */

/* Ends the command. A failure to record is reported, but does not fail the turn, whose own failure
 * comes first. */
static int end_step(struct wfs_run *run, int r, const json_t *turn, struct wfs_output *file)
{
	const struct wfs_error error = run->error;
	WFS_AUTO_JSON json_t *details = WFS_STEAL(run->error_details);
	WFS_AUTO_JSON json_t *meta = WFS_STEAL(run->meta);
	const char *const turn_id = wfs_json_text(turn, "run_id");
	const int recorded = file->fd >= 0 && *turn_id
		? wfs_step_record(run, turn_id, run->options[WFS_OPTION_RECORD], file)
		: 0;

	json_decref(run->meta);
	run->meta = WFS_STEAL(meta);
	if (!r)
		return recorded;
	if (recorded)
		wfs_run_notice(run, "worldfs: %s", run->error.message);
	run->error = error;
	run->error_details = WFS_STEAL(details);
	return r;
}

static int step(struct wfs_run *run, json_t *payload, struct wfs_output *file)
{
	const bool json = run->options[WFS_OPTION_JSON];
	WFS_AUTO_JSON json_t *result = NULL;
	int64_t took_ns = 0;

	int r = wfs_step_wait(run, payload, &result, &took_ns);
	const json_t *const turn = r ? run->error_details : result;
	if (turn && !json) {
		const int printed = print_turns(run, turn, took_ns);

		r = r ? r : printed;
	}
	r = end_step(run, r, turn, file);
	return !r && json ? wfs_run_json(run, WFS_STEAL(result)) : r;
}

static int print_turn_id(struct wfs_run *run, const json_t *result)
{
	fprintf(run->out, "%s\n", wfs_json_text(result, "turn_id"));
	return 0;
}

static int begin_step(struct wfs_run *run, json_t *payload)
{
	if (!wfs_access_has_owner(run->access))
		return wfs_error_set(&run->error, WFS_E_NOT_ENABLED,
			"--no-wait: no process owns the world to continue the turn; start one with "
			"'worldfs serve' or 'worldfs mount'");
	return wfs_run_show(run, "step", json_incref(payload), print_turn_id);
}

static int again(struct wfs_run *run)
{
	static const enum wfs_option others[] = {WFS_OPTION_TURNS, WFS_OPTION_MAX_TURNS,
		WFS_OPTION_MESSAGES, WFS_OPTION_TOOLS, WFS_OPTION_TIMEOUT, WFS_OPTION_NO_WAIT,
		WFS_OPTION_RECORD};
	bool alone = run->argument_count == 1;

	for (size_t i = 0; i < WFS_ARRAY_COUNT(others); i++)
		alone &= !run->options[others[i]];
	return alone ? wfs_again_run(run)
		     : wfs_run_misuse(run, "with --again, only TURN and --model can be given");
}

int wfs_run_step(struct wfs_run *run)
{
	const char *const record = run->options[WFS_OPTION_RECORD];
	WFS_AUTO_OUTPUT struct wfs_output file = {.fd = -1};
	WFS_AUTO_JSON json_t *payload = NULL;

	if (run->options[WFS_OPTION_WAKE])
		return wfs_run_order(run, "wake", json_pack("{s:s}", "turn_id", run->arguments[0]),
			"woken", run->arguments[0]);
	if (run->options[WFS_OPTION_AGAIN])
		return again(run);
	if (run->options[WFS_OPTION_MODEL])
		return wfs_run_misuse(run, "--model needs --again");
	int r = make_request(run, &payload);
	if (!r)
		r = wfs_run_open(run);
	if (!r && record)
		r = wfs_output_make(record, &file, &run->error);
	if (r)
		return r;
	return run->options[WFS_OPTION_NO_WAIT] ? begin_step(run, payload)
						: step(run, payload, &file);
}

int wfs_run_cancel(struct wfs_run *run)
{
	return wfs_run_order(run, "cancel", json_pack("{s:s}", "turn_id", run->arguments[0]),
		"cancelled", run->arguments[0]);
}

int wfs_run_approve(struct wfs_run *run)
{
	const char *const decision = run->argument_count > 2 ? run->arguments[2] : "allow";
	const bool allow = strcmp(decision, "allow") == 0;
	WFS_AUTO_JSON json_t *payload = json_pack("{s:s, s:s, s:s}", "call_id", run->arguments[1],
		"decision", decision, "turn_id", run->arguments[0]);
	int r = payload ? wfs_run_members(run, payload) : -ENOMEM;

	if (r)
		return r;
	if (!allow && strcmp(decision, "deny") != 0)
		return wfs_run_misuse(run, "expected allow or deny, got '%.60s'", decision);
	return wfs_run_order(run, "approve", WFS_STEAL(payload), allow ? "allowed" : "denied",
		run->arguments[1]);
}
