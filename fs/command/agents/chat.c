/* SPDX-License-Identifier: Apache-2.0 */
/* chat: sends a message, and waits for the answer; also waiting for plans. */
#include <inttypes.h>
#include <string.h>

#include "fs/command/agents/commands.h"
#include "fs/command/agents/plan.h"

enum {
	LOOK_EVERY_MS = 200,
	BAR_WIDTH = 20,
};

/* --- while it runs --- */

void wfs_plan_watch_done(struct wfs_plan_watch *watch)
{
	json_decref(watch->status);
}

static json_t *ask_for_status(void *context)
{
	const struct wfs_plan_watch *const watch = context;

	return watch->plan_id ? json_pack("{s:s}", "plan_id", watch->plan_id)
			      : json_pack("{s:s}", "session_id", watch->session_id);
}

static bool take_status(void *context, const struct wfs_answer *answer)
{
	struct wfs_plan_watch *const watch = context;

	if (!answer->status) {
		json_decref(watch->status);
		watch->status = json_incref(answer->result);
	}
	return false;
}

void wfs_plan_bar(struct wfs_buffer *line, int64_t done, int64_t total, int width)
{
	const int full = total > 0 ? (int)(done * width / total) : width;

	wfs_buffer_append_byte(line, '[');
	for (int i = 0; i < width; i++)
		wfs_buffer_append_byte(line, i < full ? '#' : '-');
	wfs_buffer_append_byte(line, ']');
}

static int64_t ended_of(const json_t *plan)
{
	return wfs_run_integer(plan, "done") + wfs_run_integer(plan, "failed") +
		wfs_run_integer(plan, "skipped");
}

static void write_plan(const json_t *plan, struct wfs_buffer *line)
{
	const int64_t total = wfs_run_integer(plan, "total");
	const int64_t failed = wfs_run_integer(plan, "failed");

	if (strcmp(wfs_json_text(plan, "phase"), "answering") == 0) {
		wfs_buffer_append_text(line, "the model answers");
		return;
	}
	wfs_plan_bar(line, ended_of(plan), total, BAR_WIDTH);
	wfs_buffer_printf(line, " %" PRId64 " of %" PRId64 " steps, batch %" PRId64, ended_of(plan),
		total, wfs_run_integer(plan, "batches") + 1);
	if (failed > 0)
		wfs_buffer_printf(line, ", %" PRId64 " failed", failed);
}

/* If the plan has ended, it is the previous one, and the awaited one has not begun. */
static void write_line(void *context, int64_t seconds, struct wfs_buffer *line)
{
	const struct wfs_plan_watch *const watch = context;
	const json_t *const plan =
		watch->plan_id ? watch->status : json_object_get(watch->status, "plan");

	if (strcmp(wfs_json_text(plan, "status"), "running") == 0)
		write_plan(plan, line);
	else
		wfs_buffer_append_text(
			line, watch->plan_id ? "the plan continues" : "the model plans");
	wfs_buffer_printf(line, ", %" PRId64 " s", seconds);
}

/* --- the answer --- */

/* The command for a plan that is not done; NULL: none. */
static const char *next_command(const char *status)
{
	static const struct {
		const char *status;
		const char *command;
	} commands[] = {
		{"cancelled", "resume"},
		{"running", "resume"}, /* only the answer failed */
		{"failed", "show"},
		{"partial", "show"},
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(commands); i++)
		if (strcmp(commands[i].status, status) == 0)
			return commands[i].command;
	return NULL;
}

static void print_summary(struct wfs_run *run, const json_t *response)
{
	const json_t *const checkpoint = json_object_get(response, "checkpoint");
	const json_t *const timing = json_object_get(response, "timing_ms");
	const int64_t calls = wfs_run_integer(response, "tool_calls_count");

	if (!json_is_object(checkpoint))
		return;
	const char *const plan_id = wfs_json_text(checkpoint, "plan_id");
	const char *const status = wfs_json_text(checkpoint, "status");
	const char *const command = next_command(status);
	wfs_run_notice(run, "plan %s: %s, %" PRId64 " tool call%s, %.1f s", plan_id, status, calls,
		calls == 1 ? "" : "s", (double)wfs_run_integer(timing, "total") / 1000);
	if (command)
		wfs_run_notice(run, "  worldfs plan %s %s   %s", command, plan_id,
			*command == 'r' ? "continues it" : "shows its steps");
}

int wfs_plan_wait(
	struct wfs_run *run, const char *verb, json_t *payload, struct wfs_plan_watch *watch)
{
	const bool json = run->options[WFS_OPTION_JSON];
	const struct wfs_wait wait = {
		.verb = verb,
		.ending = "stopping the plan",
		.beside = "plan-status",
		.every_ms = LOOK_EVERY_MS,
		.context = watch,
		.ask = ask_for_status,
		.take = take_status,
		.line = write_line,
	};
	WFS_AUTO_JSON json_t *result = NULL;
	int64_t took_ns;
	int r = wfs_wait(&wait, run, payload, &result, &took_ns);
	const json_t *const response = r ? run->error_details : result;

	if (response && !json) {
		const char *const final = wfs_json_text(response, "final");

		if (*final)
			fprintf(run->out, "%s\n", final);
		(void)fflush(run->out); /* before notices about it */
		print_summary(run, response);
	}
	return !r && json ? wfs_run_json(run, WFS_STEAL(result)) : r;
}

/* --- the command --- */

int wfs_run_chat(struct wfs_run *run)
{
	const char *const session_id = run->options[WFS_OPTION_SESSION];
	const char *const plan_id = run->options[WFS_OPTION_PLAN];
	WFS_AUTO_PLAN_WATCH struct wfs_plan_watch watch = {
		.plan_id = plan_id, .session_id = session_id ? session_id : "default"};
	WFS_AUTO_JSON json_t *payload = json_object();
	int r = payload ? wfs_run_message(run, run->arguments[0], payload) : -ENOMEM;

	if (!r)
		r = wfs_run_members(run, payload);
	if (!r)
		r = wfs_run_open(run);
	return r ? r : wfs_plan_wait(run, "chat", payload, &watch);
}
