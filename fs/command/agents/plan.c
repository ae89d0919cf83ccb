/* SPDX-License-Identifier: Apache-2.0 */
/* plan ls, show, watch, resume, cancel: shows and controls plans. */
#include <inttypes.h>
#include <poll.h>
#include <string.h>

#include "fs/command/agents/commands.h"
#include "fs/command/agents/plan.h"
#include "fs/command/frame/interrupt.h"
#include "fs/command/frame/walk.h"

enum {
	WATCH_EVERY_MS = 200,
	WATCH_BAR_WIDTH = 40,
	GOAL_MAX = 60, /* shown characters, as are the next two */
	TITLE_MAX = 80,
	REASON_MAX = 200,
};

/* --- ls --- */

/* Prints the beginning of a text on one line. */
static void print_text(FILE *out, const char *text, int max)
{
	for (; *text && max > 0; text++) {
		const unsigned char byte = (unsigned char)*text;

		if ((text[1] & 0xc0) != 0x80)
			max--; /* this byte ends a character */
		fputc(byte < 0x20 || byte == 0x7f ? ' ' : byte, out);
	}
}

static void print_plan(FILE *out, const json_t *plan, bool first)
{
	char steps[48];

	if (first)
		fprintf(out, "%-32s %-16s %-16s %13s %6s %6s  %s\n", "PLAN", "SESSION", "STATUS",
			"STEPS", "FAILED", "CALLS", "GOAL");
	snprintf(steps, sizeof(steps), "%" PRId64 "/%" PRId64, wfs_run_integer(plan, "done"),
		wfs_run_integer(plan, "total"));
	fprintf(out, "%-32s %-16s %-16s %13s %6" PRId64 " %6" PRId64 "  ",
		wfs_json_text(plan, "plan_id"), wfs_json_text(plan, "session_id"),
		wfs_json_text(plan, "status"), steps, wfs_run_integer(plan, "failed"),
		wfs_run_integer(plan, "tool_calls"));
	print_text(out, wfs_json_text(plan, "goal"), GOAL_MAX);
	fputc('\n', out);
}

int wfs_run_plan_ls(struct wfs_run *run)
{
	return wfs_run_list(run, "plans",
		json_pack("{s:s*}", "session_id", run->options[WFS_OPTION_SESSION]), print_plan);
}

/* --- show --- */

int wfs_plan_status(struct wfs_run *run, const char *plan_id, json_t **ret_summary)
{
	return wfs_run_call(
		run, "plan-status", json_pack("{s:s}", "plan_id", plan_id), ret_summary);
}

static void print_step(FILE *out, size_t index, const json_t *step)
{
	const json_t *const depends_on = json_object_get(step, "depends_on");
	const char *const tool = wfs_json_text(json_object_get(step, "tool"), "name");
	const json_t *id;
	size_t i;

	fprintf(out, "%6zu  %-9s %-5s %-20s ", index, wfs_json_text(step, "status"),
		wfs_json_text(step, "type"), wfs_json_text(step, "id"));
	print_text(out, wfs_json_text(step, "title"), TITLE_MAX);
	if (*tool) {
		fputs(" (", out);
		print_text(out, tool, TITLE_MAX);
		fputc(')', out);
	}
	json_array_foreach(depends_on, i, id) {
		fprintf(out, "%s%s", i == 0 ? "  <- " : ", ", json_string_value(id));
	}
	fputc('\n', out);
	if (*wfs_json_text(step, "reason")) {
		fputs("        ", out);
		print_text(out, wfs_json_text(step, "reason"), REASON_MAX);
		fputc('\n', out);
	}
}

static void print_document(struct wfs_run *run, const json_t *document)
{
	const json_t *const plan = json_object_get(document, "plan");
	const char *const final = wfs_json_text(plan, "final");
	const json_t *step;
	size_t i;

	fprintf(run->out,
		"plan     %s\ngoal     %s\nstatus   %s\nsession  %s\ncreated  %s\nupdated  %s\n\n",
		wfs_json_text(document, "plan_id"), wfs_json_text(document, "goal"),
		wfs_json_text(document, "status"),
		wfs_json_text(json_object_get(document, "cursors"), "session_id"),
		wfs_json_text(document, "created_utc"), wfs_json_text(document, "updated_utc"));
	json_array_foreach(json_object_get(plan, "steps"), i, step) {
		print_step(run->out, i, step);
	}
	if (*final)
		fprintf(run->out, "\n%s\n", final);
}

int wfs_plan_read(
	struct wfs_run *run, struct wfs_walk *walk, const char *plan_id, json_t **ret_document)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	char path[128];

	snprintf(path, sizeof(path), "plans/%.64s.json", plan_id);
	int r = strchr(plan_id, '/') ? -ENOENT : wfs_walk_init(walk, run, path);
	if (!r)
		r = wfs_walk_read(walk, path, wfs_walk_keep, &text);
	if (r == -ENOENT)
		return wfs_error_set(
			&run->error, WFS_E_NOT_FOUND, "Plan '%.64s' not found", plan_id);
	return r ? r : wfs_json_parse(text.data, text.size, ret_document, &run->error);
}

int wfs_run_plan_show(struct wfs_run *run)
{
	WFS_AUTO_WALK struct wfs_walk walk = {0};
	WFS_AUTO_JSON json_t *document = NULL;
	int r = wfs_plan_read(run, &walk, run->arguments[0], &document);

	if (r)
		return r;
	if (run->options[WFS_OPTION_JSON])
		return wfs_run_json(run, WFS_STEAL(document));
	print_document(run, document);
	return 0;
}

/* --- watch --- */

/* What was printed last, so that each ended batch gets one line. */
struct watching {
	struct wfs_run *run;
	struct wfs_progress progress;
	int64_t batches;
};

static int64_t batch_number(const json_t *plan, const char *member)
{
	return wfs_run_integer(json_object_get(plan, "batch"), member);
}

/* Prints a line, with a full bar, if a batch has ended since the last look. */
static void print_ended(struct watching *watching, const json_t *plan)
{
	const int64_t batches = wfs_run_integer(plan, "batches");

	if (batches == watching->batches || watching->run->options[WFS_OPTION_JSON])
		return;
	wfs_progress_clear(&watching->progress);
	WFS_AUTO_BUFFER struct wfs_buffer line = {0};
	wfs_buffer_printf(&line, "batch %4" PRId64 " ", batches);
	wfs_plan_bar(&line, 1, 1, WATCH_BAR_WIDTH);
	wfs_buffer_printf(&line,
		"   %" PRId64 " of %" PRId64 " steps done, %" PRId64 " failed, %" PRId64 " skipped",
		wfs_run_integer(plan, "done"), wfs_run_integer(plan, "total"),
		wfs_run_integer(plan, "failed"), wfs_run_integer(plan, "skipped"));
	fprintf(watching->run->out, "%s\n", wfs_buffer_text(&line));
	(void)fflush(watching->run->out);
	watching->batches = batches;
}

static void tell(struct watching *watching, const json_t *plan)
{
	WFS_AUTO_BUFFER struct wfs_buffer line = {0};
	const int64_t size = batch_number(plan, "size");
	const int64_t ended = batch_number(plan, "ended");

	print_ended(watching, plan);
	if (strcmp(wfs_json_text(plan, "phase"), "answering") == 0) {
		wfs_buffer_append_text(&line, "the model answers");
	} else {
		wfs_buffer_printf(
			&line, "batch %4" PRId64 " ", wfs_run_integer(plan, "batches") + 1);
		wfs_plan_bar(&line, ended, size, WATCH_BAR_WIDTH);
		wfs_buffer_printf(&line,
			" %" PRId64 "/%" PRId64 "   %" PRId64 " of %" PRId64 " steps done", ended,
			size, wfs_run_integer(plan, "done"), wfs_run_integer(plan, "total"));
	}
	if (wfs_buffer_check(&line) == 0)
		wfs_progress_line(&watching->progress, wfs_buffer_text(&line));
}

static bool goes_on(const json_t *plan)
{
	return strcmp(wfs_json_text(plan, "status"), "running") == 0 &&
		json_is_true(json_object_get(plan, "waits"));
}

/* Has the plan no owner that continues it? Then this process sees no changes. */
static bool is_left_alone(struct wfs_run *run)
{
	if (wfs_access_has_owner(run->access))
		return false;
	wfs_run_notice(run,
		"no process owns the world, so the plan does not run; 'worldfs plan resume "
		"%s' continues it",
		run->arguments[0]);
	return true;
}

int wfs_run_plan_watch(struct wfs_run *run)
{
	struct watching watching = {.run = run};
	WFS_AUTO_JSON json_t *plan = NULL;
	int r;

	wfs_progress_init(&watching.progress, run->err);
	wfs_interrupt_catch();
	for (;;) {
		json_decref(WFS_STEAL(plan));
		r = wfs_plan_status(run, run->arguments[0], &plan);
		if (r || !goes_on(plan) || is_left_alone(run) || wfs_interrupted())
			break;
		tell(&watching, plan);
		(void)poll(NULL, 0, WATCH_EVERY_MS);
	}
	wfs_progress_clear(&watching.progress);
	if (r)
		return r;
	print_ended(&watching, plan);
	if (run->options[WFS_OPTION_JSON])
		return wfs_run_json(run, WFS_STEAL(plan));
	fprintf(run->out, "%s: %s, %" PRId64 " of %" PRId64 " steps done\n", run->arguments[0],
		wfs_json_text(plan, "status"), wfs_run_integer(plan, "done"),
		wfs_run_integer(plan, "total"));
	return 0;
}

/* --- resume, cancel --- */

int wfs_run_plan_resume(struct wfs_run *run)
{
	WFS_AUTO_PLAN_WATCH struct wfs_plan_watch watch = {.plan_id = run->arguments[0]};
	WFS_AUTO_JSON json_t *payload = json_pack("{s:s}", "plan_id", run->arguments[0]);
	int r = wfs_run_open(run);

	if (!r)
		r = wfs_run_members(run, payload);
	return r ? r : wfs_plan_wait(run, "plan-resume", payload, &watch);
}

static int print_cancelled(struct wfs_run *run, const json_t *result)
{
	(void)result;
	wfs_run_notice(run, "stopped %s; 'worldfs plan resume %s' continues it", run->arguments[0],
		run->arguments[0]);
	return 0;
}

int wfs_run_plan_cancel(struct wfs_run *run)
{
	return wfs_run_show(run, "plan-cancel", json_pack("{s:s}", "plan_id", run->arguments[0]),
		print_cancelled);
}
