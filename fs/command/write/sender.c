/* SPDX-License-Identifier: Apache-2.0 */
/* Sends lines as events. */
#include "fs/command/write/sender.h"

#include <inttypes.h>
#include <string.h>

#include "fs/command/frame/interrupt.h"
#include "fs/command/write/commands.h"
#include "kernel/base/clock.h"

enum {
	LOOK_MS = 1000, /* after which a signal that came just before poll(2) is seen */
	IDLE_MS = 100,  /* after which a world without an owner is closed */
	HOLD_MS = 1000, /* how long it is open at most, while lines come */
	GAP_MS = 150,   /* how long it is closed then */
	RETRY_MS = 200, /* after trouble */
};

#define MS_NS INT64_C(1000000)

/* --- lists --- */

static void lines_append(struct sender_lines *lines, struct sender_line *line)
{
	line->next = NULL;
	if (lines->last)
		lines->last->next = line;
	else
		lines->first = line;
	lines->last = line;
	lines->count++;
	lines->bytes += line->size;
}

/* Return: the first line, which the caller frees; NULL: the list is empty. */
static struct sender_line *lines_take(struct sender_lines *lines)
{
	struct sender_line *const line = lines->first;

	if (!line)
		return NULL;
	lines->first = line->next;
	if (!lines->first)
		lines->last = NULL;
	lines->count--;
	lines->bytes -= line->size;
	return line;
}

static void lines_clear(struct sender_lines *lines)
{
	struct sender_line *line;

	while ((line = lines_take(lines)))
		free(line);
}

/* Moves all lines of @from to the beginning of @to. */
static void lines_prepend(struct sender_lines *to, struct sender_lines *from)
{
	struct sender_line *line;

	while ((line = lines_take(to)))
		lines_append(from, line);
	*to = *from;
	*from = (struct sender_lines){.first = NULL};
}

void sender_done(struct sender *sender)
{
	lines_clear(&sender->under_way);
	lines_clear(&sender->again);
	wfs_tail_free(sender->tail);
	json_decref(sender->refusals);
}

/* --- refusals and trouble --- */

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

/* Is this a failure of the host or of the owner, which later lines would have, too? */
static bool is_trouble(enum wfs_error_code code)
{
	return code == WFS_E_BUSY || code == WFS_E_OVERLOADED || code == WFS_E_STORE_FULL ||
		code == WFS_E_CANCELLED || code == WFS_E_UNAVAILABLE || code == WFS_E_TIMEOUT;
}

/* Puts the next attempt off, and tells the user why if this is the first trouble. Return: 0, or the
 * errno of run->error if no line was accepted for too long. */
static int begin_trouble(struct sender *sender)
{
	struct wfs_run *const run = sender->run;
	const int64_t now_ns = wfs_clock_monotonic_ns();

	if (sender->trouble_ns == 0) {
		sender->trouble_ns = now_ns;
		wfs_run_notice(run, "%s: %s: trying again for up to %d s",
			wfs_error_info(run->error.code)->name, run->error.message,
			SENDER_TROUBLE_MS / 1000);
	}
	if (now_ns - sender->trouble_ns >= SENDER_TROUBLE_MS * MS_NS)
		return -wfs_error_info(run->error.code)->number;
	sender->retry_ns = now_ns + RETRY_MS * MS_NS;
	run->error = (struct wfs_error){.code = WFS_OK};
	return 0;
}

static void end_trouble(struct sender *sender)
{
	if (sender->trouble_ns != 0)
		wfs_run_notice(sender->run, "events are accepted again");
	sender->trouble_ns = 0;
	sender->lost_told = false;
}

static void close_access(struct sender *sender)
{
	wfs_access_free(WFS_STEAL(sender->run->access));
}

/* The owner is gone: lines without an answer are sent to the next one. */
static int lose_owner(struct sender *sender)
{
	struct wfs_run *const run = sender->run;
	const size_t count = sender->under_way.count;

	close_access(sender);
	if (count > 0 && !sender->lost_told) /* not for each attempt */
		wfs_run_notice(run, "%zu line%s no answer, and %s sent again%s", count,
			count == 1 ? " got" : "s got", count == 1 ? "is" : "are",
			run->options[WFS_OPTION_DEDUP]
				? ""
				: "; without --dedup an event can then be recorded twice");
	sender->lost_told |= count > 0;
	lines_prepend(&sender->again, &sender->under_way);
	return begin_trouble(sender);
}

/* --- sending --- */

static bool has_room(const struct sender *sender)
{
	return sender->under_way.count < SENDER_UNDER_WAY_MAX &&
		sender->under_way.bytes < SENDER_UNDER_WAY_BYTES_MAX;
}

/* Connects to the owner, or opens the world. Return: 0 (perhaps without success, if the sender
 * tries again), or -errno. */
static int open_access(struct sender *sender)
{
	int r = wfs_run_open(sender->run);

	sender->opened_ns = sender->used_ns = wfs_clock_monotonic_ns();
	return r && sender->follows && is_trouble(sender->run->error.code) ? begin_trouble(sender)
									   : r;
}

/* Sends a line or, if the world cannot be reached now, keeps it for later. @line, @value: taken */
static int post(struct sender *sender, struct sender_line *line, json_t *value)
{
	struct wfs_run *const run = sender->run;
	int r = run->access ? 0 : open_access(sender);

	if (r || !run->access) {
		lines_append(&sender->again, line);
		json_decref(value);
		return r;
	}
	lines_append(&sender->under_way, line);
	sender->used_ns = wfs_clock_monotonic_ns();
	return wfs_access_post(
		run->access, "send-event", wfs_event_payload(run, sender->schema, value));
}

/* Sends a line that was just read. */
static int send_line(struct sender *sender, struct wfs_bytes text, uint64_t number)
{
	struct sender_line *line;
	struct wfs_error error;
	json_t *value;
	int r = wfs_json_parse_bounded(text.data, text.size, &value, &error);

	if (r == -EINVAL || r == -EFBIG) {
		refuse_line(sender, number, &error);
		return 0;
	}
	if (r)
		return r;
	line = malloc(sizeof(*line) + (sender->follows ? text.size : 0));
	if (!line) {
		json_decref(value);
		return -ENOMEM;
	}
	*line = (struct sender_line){.number = number, .size = text.size};
	if (sender->follows)
		memcpy(line->text, text.data, text.size);
	return post(sender, line, value);
}

static int refuse_long(struct sender *sender, uint64_t number)
{
	struct wfs_error error;
	int r = wfs_error_set(&error, WFS_E_TOO_LARGE, "line %" PRIu64 " has more than %d bytes",
		number, (int)WFS_LINE_MAX);

	if (!sender->follows) {
		sender->run->error = error;
		return r;
	}
	refuse_line(sender, number, &error);
	return 0;
}

static bool is_empty(struct wfs_bytes line)
{
	const char *const text = line.data;
	size_t spaces = 0;

	while (spaces < line.size && strchr(" \t\r", text[spaces]) && text[spaces])
		spaces++;
	return spaces == line.size;
}

/* Sends lines again that were sent before. */
static int send_again(struct sender *sender)
{
	struct sender_lines lines = sender->again;
	int r = 0;

	sender->again = (struct sender_lines){.first = NULL};
	while (!r && has_room(sender) && lines.first && !sender->again.first) {
		struct sender_line *const line = lines_take(&lines);
		json_t *value;

		r = wfs_json_parse_bounded(line->text, line->size, &value, &sender->run->error);
		if (r)
			free(line);
		else
			r = post(sender, line, value);
	}
	lines_prepend(&lines, &sender->again);
	sender->again = lines;
	return r;
}

static int send_new(struct sender *sender)
{
	struct wfs_bytes line;
	int r = 0;

	while (!r && has_room(sender) && !sender->again.first &&
		wfs_tail_next(sender->tail, &line, &sender->number)) {
		if (!line.data)
			r = refuse_long(sender, sender->number);
		else if (!is_empty(line))
			r = send_line(sender, line, sender->number);
	}
	return r;
}

/* May lines be sent now? A sender that follows and has opened the world itself pauses. */
static bool may_send(const struct sender *sender)
{
	const struct wfs_access *const access = sender->run->access;
	const int64_t now_ns = wfs_clock_monotonic_ns();

	if (sender->failing || now_ns < sender->retry_ns)
		return false;
	return !sender->follows || !access || wfs_access_has_owner(access) ||
		now_ns < sender->opened_ns + HOLD_MS * MS_NS;
}

/* --- answers --- */

static int take_answer(struct sender *sender, struct wfs_answer *answer)
{
	struct wfs_run *const run = sender->run;
	struct sender_line *const line = lines_take(&sender->under_way);

	json_decref(run->meta);
	run->meta = WFS_STEAL(answer->meta);
	sender->used_ns = wfs_clock_monotonic_ns();
	if (answer->status && sender->follows && is_trouble(answer->error.code)) {
		run->error = answer->error;
		sender->failing = true;
		lines_append(&sender->again, line);
		return begin_trouble(sender);
	}
	if (answer->status) {
		refuse_line(sender, line->number, &answer->error);
	} else {
		end_trouble(sender);
		sender->seen += json_is_true(json_object_get(answer->result, "seen"));
		sender->accepted += !json_is_true(json_object_get(answer->result, "seen"));
	}
	free(line);
	if (!sender->follows)
		wfs_progress_show(&sender->progress, "events",
			sender->accepted + sender->seen + sender->refused, 0);
	return 0;
}

/* Takes all answers that have come. Return: 0, or -errno. */
static int take_answers(struct sender *sender)
{
	struct wfs_run *const run = sender->run;
	int r = 0;

	while (!r && sender->under_way.count > 0 && run->access) {
		WFS_AUTO_ANSWER struct wfs_answer answer = {.status = 0};

		r = wfs_access_take(run->access, false, &answer, &run->error);
		if (r == 0)
			return 0;
		if (r > 0)
			r = take_answer(sender, &answer);
		else if (sender->follows && is_trouble(run->error.code))
			r = lose_owner(sender);
	}
	if (sender->under_way.count == 0)
		sender->failing = false;
	return r;
}

/* --- the loop --- */

/* Has everything been sent? */
static bool is_sent(const struct sender *sender, bool stopped)
{
	return stopped || (wfs_tail_ended(sender->tail) && !sender->again.first);
}

/* Closes a world that has no owner, so that other processes can open it. Only after this, and
 * GAP_MS, it is opened again. */
static void give_way(struct sender *sender)
{
	const struct wfs_access *const access = sender->run->access;
	const int64_t now_ns = wfs_clock_monotonic_ns();
	const bool held = now_ns >= sender->opened_ns + HOLD_MS * MS_NS;

	if (!sender->follows || !access || wfs_access_has_owner(access) ||
		sender->under_way.count > 0)
		return;
	if (!held && now_ns < sender->used_ns + IDLE_MS * MS_NS)
		return;
	close_access(sender);
	sender->retry_ns = held ? now_ns + GAP_MS * MS_NS : 0;
}

/* How long poll(2) may wait. */
static int wait_ms(const struct sender *sender)
{
	const int64_t left_ms = (sender->retry_ns - wfs_clock_monotonic_ns()) / MS_NS + 1;
	int ms = sender->follows ? WFS_TAIL_LOOK_MS : LOOK_MS;

	if (sender->follows && sender->run->access && !wfs_access_has_owner(sender->run->access))
		ms = IDLE_MS;
	return left_ms > 0 && left_ms < ms ? (int)left_ms : ms;
}

/* Reads or, if nothing can be read, waits for an answer or for input. */
static int wait_and_read(struct sender *sender, bool stopped)
{
	struct wfs_run *const run = sender->run;
	const bool is_over = is_sent(sender, stopped) && sender->under_way.count == 0;
	const bool wants_input = !stopped && !wfs_tail_ended(sender->tail) && has_room(sender) &&
		!sender->again.first && may_send(sender);
	struct pollfd ready[2] = {{.fd = -1}, {.fd = -1}};
	int r = wants_input ? wfs_tail_fill(sender->tail, &run->error) : 0;

	if (r || is_over)
		return r < 0 ? r : 0;
	if (run->access && (sender->under_way.count > 0 || wfs_access_has_owner(run->access)))
		ready[0].fd = wfs_access_poll(run->access, &ready[0].events);
	if (wants_input)
		ready[1] = wfs_tail_poll(sender->tail);
	if (poll(ready, WFS_ARRAY_COUNT(ready), wait_ms(sender)) < 0)
		return errno == EINTR ? 0 : -errno;
	if (ready[0].revents && sender->under_way.count == 0) /* the owner has ended */
		close_access(sender);
	return 0;
}

static int send_lines(struct sender *sender, bool stopped)
{
	int r = 0;

	if (stopped || !may_send(sender))
		return 0;
	if (sender->again.first)
		r = send_again(sender);
	return r ? r : send_new(sender);
}

int sender_run(struct sender *sender, bool *ret_stopped)
{
	bool stopped = false;
	int r = 0;

	while (!r && (!is_sent(sender, stopped) || sender->under_way.count > 0)) {
		/* Lines that were sent are still answered, so that it is known which ones were. */
		stopped = stopped || (wfs_interrupted() && !is_sent(sender, false));
		r = send_lines(sender, stopped);
		/* Lines in memory wait only for room. */
		const bool lines_left = !has_room(sender);

		if (!r)
			r = take_answers(sender);
		give_way(sender);
		if (!r && !(lines_left && has_room(sender)))
			r = wait_and_read(sender, stopped);
	}
	wfs_progress_clear(&sender->progress);
	*ret_stopped = stopped;
	return r;
}
