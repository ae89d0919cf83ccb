/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event: sends one value, or each line of a file as an event.
 *
 * Lines are sent without waiting for earlier answers, so that many go into one commit. Answers
 * come in order, so each is about the oldest unanswered line.
 */
#include <inttypes.h>
#include <poll.h>
#include <string.h>

#include "fs/command/frame/input.h"
#include "fs/command/frame/interrupt.h"
#include "fs/command/frame/progress.h"
#include "fs/command/write/commands.h"
#include "kernel/base/clock.h"

enum {
	UNDER_WAY_MAX = 4096,           /* lines sent and not answered */
	UNDER_WAY_BYTES_MAX = 32 << 20, /* bytes of these lines */
	LOOK_MS = 1000, /* after which a signal that came just before poll(2) is seen */
};

/* Makes {schema, value, key?}. @value: taken */
static json_t *event_payload(const struct wfs_run *run, json_t *value)
{
	return json_pack("{s:s, s:o, s:s*}", "schema", run->arguments[0], "value", value, "key",
		run->options[WFS_OPTION_KEY]);
}

/* --- every line --- */

struct sender {
	struct wfs_run *run;
	struct wfs_lines lines;
	struct wfs_progress progress;
	struct {
		uint64_t number; /* of the line */
		size_t size;
	} under_way[UNDER_WAY_MAX]; /* a ring */
	size_t first;
	size_t count;
	size_t bytes;
	uint64_t accepted;
	uint64_t refused;
	json_t *refusals; /* for --json; otherwise NULL */
};

static void sender_free(struct sender *sender)
{
	if (!sender)
		return;
	wfs_lines_done(&sender->lines);
	json_decref(sender->refusals);
	free(sender);
}
WFS_DEFINE_AUTO(sender, struct sender, sender_free)

static void refuse_line(struct sender *sender, uint64_t number, const struct wfs_error *error)
{
	const char *const code = wfs_error_info(error->code)->name;

	sender->refused++;
	if (sender->refusals) {
		json_array_append_new(sender->refusals,
			json_pack("{s:s, s:I, s:s}", "code", code, "line", (json_int_t)number,
				"message", error->message));
		return;
	}
	wfs_progress_clear(&sender->progress);
	wfs_run_notice(sender->run, "line %" PRIu64 ": %s: %s", number, code, error->message);
}

static bool has_room(const struct sender *sender)
{
	return sender->count < UNDER_WAY_MAX && sender->bytes < UNDER_WAY_BYTES_MAX;
}

static int send_line(struct sender *sender, struct wfs_bytes line)
{
	const size_t last = (sender->first + sender->count) % UNDER_WAY_MAX;
	struct wfs_error error;
	json_t *value;
	int r = wfs_json_parse_bounded(line.data, line.size, &value, &error);

	if (r == -EINVAL || r == -EFBIG) {
		refuse_line(sender, sender->lines.number, &error);
		return 0;
	}
	if (!r)
		r = wfs_access_post(
			sender->run->access, "send-event", event_payload(sender->run, value));
	if (r)
		return r;
	sender->under_way[last].number = sender->lines.number;
	sender->under_way[last].size = line.size;
	sender->count++;
	sender->bytes += line.size;
	return 0;
}

static int send_lines(struct sender *sender)
{
	struct wfs_bytes line;
	int r = 0;

	while (!r && has_room(sender) && wfs_lines_next(&sender->lines, &line)) {
		const char *const text = line.data;
		size_t spaces = 0;

		while (spaces < line.size && strchr(" \t\r", text[spaces]) && text[spaces])
			spaces++;
		if (spaces < line.size) /* empty lines are ignored */
			r = send_line(sender, line);
	}
	return r;
}

static void take_answer(struct sender *sender, struct wfs_answer *answer)
{
	struct wfs_run *const run = sender->run;

	json_decref(run->meta);
	run->meta = WFS_STEAL(answer->meta);
	if (answer->status)
		refuse_line(sender, sender->under_way[sender->first].number, &answer->error);
	else
		sender->accepted++;
	sender->bytes -= sender->under_way[sender->first].size;
	sender->first = (sender->first + 1) % UNDER_WAY_MAX;
	sender->count--;
	wfs_progress_show(&sender->progress, "events", sender->accepted + sender->refused, 0);
}

/* Takes all answers that have come. Return: 0, or -errno. */
static int take_answers(struct sender *sender)
{
	while (sender->count > 0) {
		WFS_AUTO_ANSWER struct wfs_answer answer = {.status = 0};
		int r = wfs_access_take(sender->run->access, false, &answer, &sender->run->error);

		if (r <= 0)
			return r;
		take_answer(sender, &answer);
	}
	return 0;
}

/* Waits for an answer or, if there is room, for input; then reads. */
static int wait_and_read(struct sender *sender)
{
	const bool wants_input = !sender->lines.ended && has_room(sender);
	struct pollfd ready[2] = {{.fd = -1}, {.fd = -1}};

	if (sender->count > 0)
		ready[0].fd = wfs_access_poll(sender->run->access, &ready[0].events);
	if (wants_input)
		ready[1] = (struct pollfd){.fd = sender->lines.fd, .events = POLLIN};
	if (poll(ready, WFS_ARRAY_COUNT(ready), LOOK_MS) < 0)
		return errno == EINTR ? 0 : -errno;
	return ready[1].revents ? wfs_lines_fill(&sender->lines) : 0;
}

/* Has everything been sent? */
static bool is_sent(const struct sender *sender)
{
	return sender->lines.ended && sender->lines.taken_bytes == sender->lines.buffer.size;
}

/* Has everything been answered? */
static bool is_over(const struct sender *sender)
{
	return sender->count == 0 && is_sent(sender);
}

static int send_all(struct sender *sender)
{
	bool stopped = false;
	int r = 0;

	while (!r && !is_over(sender)) {
		/* Lines that were sent are still answered, so that it is known which ones were. */
		if (wfs_interrupted() && !is_sent(sender)) {
			wfs_lines_stop(&sender->lines);
			stopped = true;
		}
		r = send_lines(sender);
		/* Lines in memory wait only for room. */
		const bool lines_left = !has_room(sender);

		if (!r)
			r = take_answers(sender);
		if (!r && !is_over(sender) && !(lines_left && has_room(sender)))
			r = wait_and_read(sender);
	}
	if (r == -EFBIG)
		r = wfs_error_set(&sender->run->error, WFS_E_TOO_LARGE,
			"line %" PRIu64 " has more than %d bytes", sender->lines.number + 1,
			(int)WFS_LINE_MAX);
	if (!r && stopped)
		r = wfs_error_set(&sender->run->error, WFS_E_CANCELLED,
			"interrupted: the lines behind line %" PRIu64 " were not sent",
			sender->lines.number);
	wfs_progress_clear(&sender->progress);
	return r;
}

static int tell_result(struct sender *sender, int64_t started_ns)
{
	struct wfs_run *const run = sender->run;
	const double seconds = (double)(wfs_clock_monotonic_ns() - started_ns) / 1e9;
	const double count = (double)(sender->accepted + sender->refused);
	int r = 0;

	wfs_run_notice(run, "%" PRIu64 " events accepted, %" PRIu64 " refused, %.1f s (%.0f/s)",
		sender->accepted, sender->refused, seconds, seconds > 0 ? count / seconds : 0);
	if (sender->refusals)
		r = wfs_run_json(run,
			json_pack("{s:I, s:O}", "accepted", (json_int_t)sender->accepted, "refused",
				sender->refusals));
	return r ? r : sender->refused > 0;
}

static int send_each_line(struct wfs_run *run)
{
	const int64_t started_ns = wfs_clock_monotonic_ns();
	WFS_CLEANUP(wfs_auto_sender) struct sender *sender = calloc(1, sizeof(*sender));
	WFS_AUTO_FD int fd = -1;
	int r;

	if (run->arguments[1][0] != '@')
		return wfs_run_misuse(run, "--lines needs @FILE or @-");
	if (!sender)
		return -ENOMEM;
	fd = wfs_input_open(run->arguments[1] + 1, &run->error);
	if (fd < 0)
		return fd;
	r = wfs_run_open(run);
	if (r)
		return r;
	sender->run = run;
	sender->refusals = run->options[WFS_OPTION_JSON] ? json_array() : NULL;
	wfs_lines_init(&sender->lines, fd);
	wfs_interrupt_catch();
	wfs_progress_init(&sender->progress, run->err);
	r = send_all(sender);
	if (r) {
		wfs_run_notice(run, "stopped after %" PRIu64 " accepted events", sender->accepted);
		return r;
	}
	return tell_result(sender, started_ns);
}

int wfs_run_event(struct wfs_run *run)
{
	json_t *value;

	if (run->options[WFS_OPTION_LINES])
		return send_each_line(run);
	int r = wfs_run_value(run, run->arguments[1], &value);
	return r ? r
		 : wfs_run_show(
			   run, "send-event", event_payload(run, value), wfs_run_print_document);
}
