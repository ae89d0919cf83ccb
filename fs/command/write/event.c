/* SPDX-License-Identifier: Apache-2.0 */
/* event: sends one value, or each line of a file as an event, perhaps as the lines come. */
#include <inttypes.h>

#include "fs/command/frame/input.h"
#include "fs/command/frame/interrupt.h"
#include "fs/command/write/commands.h"
#include "fs/command/write/sender.h"
#include "kernel/base/clock.h"

json_t *wfs_event_payload(const struct wfs_run *run, const char *schema, json_t *value)
{
	return json_pack("{s:s, s:o, s:s*, s:s*}", "schema", schema, "value", value, "key",
		run->options[WFS_OPTION_KEY], "dedup", run->options[WFS_OPTION_DEDUP]);
}

static void tell_file(void *context, const char *text)
{
	wfs_run_notice(context, "%s", text);
}

static void tell_counts(struct sender *sender, int64_t started_ns)
{
	struct wfs_run *const run = sender->run;
	const double seconds = (double)(wfs_clock_monotonic_ns() - started_ns) / 1e9;
	const double count = (double)(sender->accepted + sender->seen + sender->refused);
	char seen[64] = "";

	if (run->options[WFS_OPTION_DEDUP])
		snprintf(seen, sizeof(seen), "%" PRIu64 " seen before, ", sender->seen);
	wfs_run_notice(run, "%" PRIu64 " events accepted, %s%" PRIu64 " refused, %.1f s (%.0f/s)",
		sender->accepted, seen, sender->refused, seconds,
		seconds > 0 ? count / seconds : 0);
}

/* A sender that follows its lines has told the refused ones, which may be any number. */
static int print_counts(const struct sender *sender)
{
	json_t *const refused = sender->follows ? json_integer((json_int_t)sender->refused)
						: json_incref(sender->refusals);
	json_t *const counts = json_pack(
		"{s:I, s:o}", "accepted", (json_int_t)sender->accepted, "refused", refused);

	if (counts && sender->run->options[WFS_OPTION_DEDUP] &&
		json_object_set_new(counts, "seen", json_integer((json_int_t)sender->seen)) < 0) {
		json_decref(counts);
		return -ENOMEM;
	}
	return wfs_run_json(sender->run, counts);
}

/* @r: 0, or why it ended. Return: exit status, or -errno. */
static int end_lines(struct sender *sender, int r, bool stopped, int64_t started_ns)
{
	struct wfs_run *const run = sender->run;

	if (!r && stopped && !sender->follows)
		r = wfs_error_set(&run->error, WFS_E_CANCELLED,
			"interrupted: the lines behind line %" PRIu64 " were not sent",
			sender->number);
	if (r && !sender->follows) {
		wfs_run_notice(run, "stopped after %" PRIu64 " accepted events", sender->accepted);
		return r;
	}
	if (sender->again.count > 0)
		wfs_run_notice(run, "%zu line%s not sent", sender->again.count,
			sender->again.count == 1 ? " was" : "s were");
	tell_counts(sender, started_ns);
	if (!r && run->options[WFS_OPTION_JSON])
		r = print_counts(sender);
	/* A signal is how following ends. */
	return r ? r : sender->refused > 0 && !stopped;
}

static int send_each_line(struct wfs_run *run, const char *path, const char *schema, bool follows)
{
	const int64_t started_ns = wfs_clock_monotonic_ns();
	WFS_CLEANUP(sender_done)
	struct sender sender = {.run = run, .schema = schema, .follows = follows};
	bool stopped;
	int r = wfs_tail_new(path, follows, tell_file, run, &sender.tail, &run->error);

	if (!r)
		r = wfs_run_open(run);
	if (r)
		return r;
	sender.opened_ns = sender.used_ns = wfs_clock_monotonic_ns();
	if (run->options[WFS_OPTION_JSON] && !follows)
		sender.refusals = json_array();
	wfs_interrupt_catch();
	wfs_progress_init(&sender.progress, run->err);
	r = sender_run(&sender, &stopped);
	return end_lines(&sender, r, stopped, started_ns);
}

int wfs_run_event(struct wfs_run *run)
{
	const char *const first = run->arguments[0];
	const char *const second = run->arguments[1];
	json_t *value;

	if (run->options[WFS_OPTION_FOLLOW] && run->options[WFS_OPTION_LINES])
		return wfs_run_misuse(run, "--follow sends each line, so --lines cannot be given");
	if (run->options[WFS_OPTION_FOLLOW])
		return send_each_line(run, first, second, true);
	if (run->options[WFS_OPTION_LINES] && second[0] != '@')
		return wfs_run_misuse(run, "--lines needs @FILE or @-");
	if (run->options[WFS_OPTION_LINES])
		return send_each_line(run, second + 1, first, false);
	int r = wfs_run_value(run, second, &value);
	return r ? r
		 : wfs_run_show(run, "send-event", wfs_event_payload(run, first, value),
			   wfs_run_print_document);
}
