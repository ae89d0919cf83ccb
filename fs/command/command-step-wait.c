/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for a turn of an agent.
 *
 * The request is answered when it has ended. What is told meanwhile is read from the journal, on a way
 * of its own, because answers come in order.
 */
#include "fs/command/command-step.h"

#include <inttypes.h>
#include <poll.h>

#include "fs/command/follow.h"
#include "fs/command/interrupt.h"
#include "fs/command/progress.h"
#include "kernel/base/clock.h"

enum {
	FOLLOW_EVERY_MS = 100, /* between two looks at the journal */
	WAKE_EVERY_MS = 1000,  /* a signal may come just before the wait */
};

#define SECOND_NS INT64_C(1000000000)
#define MS_NS INT64_C(1000000)

struct waiter {
	struct wfs_run *run;
	struct wfs_access *beside; /* to read the journal; NULL: nothing is told */
	struct wfs_progress progress;
	struct wfs_follow follow;
	uint64_t next_seq;
	bool asked;     /* for records */
	bool abandoned; /* the turn is being ended */
	int64_t began_ns;
	int64_t asked_ns;
};

/* Who may not read the journal waits without being told anything. */
static int begin_to_follow(struct waiter *waiter)
{
	struct wfs_run *const run = waiter->run;
	WFS_AUTO_JSON json_t *head = NULL;

	wfs_progress_init(&waiter->progress, run->err);
	if (!waiter->progress.terminal)
		return 0;
	int r = wfs_run_call(run, "journal-head", NULL, &head);
	json_decref(WFS_STEAL(run->meta));
	waiter->next_seq = (uint64_t)wfs_run_integer(head, "journal_height");
	if (!r)
		r = wfs_access_beside(run->access, &waiter->beside);
	if (r == -EACCES) {
		run->error = (struct wfs_error){.code = WFS_OK};
		r = 0;
	}
	return r;
}

static void stop_following(struct waiter *waiter)
{
	wfs_access_free(WFS_STEAL(waiter->beside));
}

static void ask_for_records(struct waiter *waiter, int64_t now_ns)
{
	if (wfs_access_post(waiter->beside, "journal-read",
		    json_pack("{s:I}", "from", (json_int_t)waiter->next_seq)) < 0)
		stop_following(waiter);
	waiter->asked = true;
	waiter->asked_ns = now_ns;
}

/* Return: is it time to ask again? */
static bool take_records(struct waiter *waiter)
{
	WFS_AUTO_ANSWER struct wfs_answer answer = {.status = 0};
	struct wfs_error error;
	const json_t *record;
	size_t i;
	const int r = wfs_access_take(waiter->beside, false, &answer, &error);

	if (r == 0)
		return false;
	if (r < 0 || answer.status) {
		stop_following(waiter);
		return false;
	}
	json_array_foreach(json_object_get(answer.result, "records"), i, record)
	{
		wfs_follow_take(&waiter->follow, record);
	}
	const json_t *const next = json_object_get(answer.result, "next_from");
	waiter->next_seq = (uint64_t)(next ? json_integer_value(next)
					   : wfs_run_integer(answer.meta, "journal_height"));
	waiter->asked = false;
	return next != NULL;
}

static void tell(struct waiter *waiter)
{
	const int64_t now_ns = wfs_clock_monotonic_ns();
	WFS_AUTO_BUFFER struct wfs_buffer line = {0};
	bool more = false;

	if (waiter->beside && waiter->asked)
		more = take_records(waiter);
	if (waiter->beside && !waiter->asked &&
		(more || now_ns - waiter->asked_ns >= FOLLOW_EVERY_MS * MS_NS))
		ask_for_records(waiter, now_ns);
	wfs_follow_line(&waiter->follow, (now_ns - waiter->began_ns) / SECOND_NS, &line);
	if (wfs_buffer_check(&line) == 0 && !waiter->abandoned)
		wfs_progress_line(&waiter->progress, wfs_buffer_text(&line));
}

static int end_if_interrupted(struct waiter *waiter)
{
	if (waiter->abandoned || !wfs_interrupted())
		return 0;
	waiter->abandoned = true;
	wfs_progress_clear(&waiter->progress);
	wfs_run_notice(waiter->run, "interrupted: the turn is being ended");
	return wfs_access_abandon(waiter->run->access, 0);
}

static void wait_a_while(struct waiter *waiter)
{
	struct pollfd wanted[2] = {{.fd = -1}, {.fd = -1}};

	wanted[0].fd = wfs_access_poll(waiter->run->access, &wanted[0].events);
	if (waiter->beside && waiter->asked)
		wanted[1].fd = wfs_access_poll(waiter->beside, &wanted[1].events);
	(void)poll(wanted, 2, waiter->progress.terminal ? FOLLOW_EVERY_MS : WAKE_EVERY_MS);
}

static int take_result(struct waiter *waiter, json_t **ret_result)
{
	struct wfs_run *const run = waiter->run;
	WFS_AUTO_ANSWER struct wfs_answer answer = {.status = 0};
	int r;

	while ((r = wfs_access_take(run->access, false, &answer, &run->error)) == 0) {
		r = end_if_interrupted(waiter);
		if (r)
			return r;
		tell(waiter);
		wait_a_while(waiter);
	}
	if (r < 0)
		return r;
	run->error = answer.error;
	run->error_details = WFS_STEAL(answer.details);
	run->meta = WFS_STEAL(answer.meta);
	*ret_result = WFS_STEAL(answer.result);
	return answer.status;
}

int wfs_step_wait(struct wfs_run *run, json_t *payload, json_t **ret_result, int64_t *ret_took_ns)
{
	struct waiter waiter = {.run = run, .follow = {.agent = run->arguments[0]}};
	int r = begin_to_follow(&waiter);

	waiter.began_ns = wfs_clock_monotonic_ns();
	if (!r)
		r = wfs_access_post(run->access, "step", json_incref(payload));
	if (!r)
		r = take_result(&waiter, ret_result);
	wfs_progress_clear(&waiter.progress);
	stop_following(&waiter);
	*ret_took_ns = wfs_clock_monotonic_ns() - waiter.began_ns;
	return r;
}
