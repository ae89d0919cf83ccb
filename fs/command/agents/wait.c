/* SPDX-License-Identifier: Apache-2.0 */
/* The loop of waiting: for the answer, a signal, and the line on the terminal. */
#include "fs/command/agents/wait.h"

#include <poll.h>

#include "fs/command/frame/interrupt.h"
#include "kernel/base/clock.h"

enum { WAKE_EVERY_MS = 1000 }; /* a signal may come just before poll(2) */

#define SECOND_NS INT64_C(1000000000)
#define MS_NS INT64_C(1000000)

struct waiter {
	const struct wfs_wait *wait;
	struct wfs_run *run;
	struct wfs_access *beside; /* NULL: no progress is shown */
	struct wfs_progress progress;
	bool asked;     /* a request for progress is open */
	bool abandoned; /* the request is being ended */
	int64_t began_ns;
	int64_t asked_ns;
};

/* Begins to show progress. A principal without rights to it waits without. */
static int begin_to_tell(struct waiter *waiter)
{
	struct wfs_run *const run = waiter->run;
	int r = 0;

	wfs_progress_init(&waiter->progress, run->err);
	waiter->progress.terminal = waiter->progress.terminal && waiter->wait->beside;
	if (!waiter->progress.terminal)
		return 0;
	if (waiter->wait->begin)
		r = waiter->wait->begin(waiter->wait->context, run);
	json_decref(WFS_STEAL(run->meta));
	if (!r)
		r = wfs_access_beside(run->access, &waiter->beside);
	if (r == -EACCES) {
		run->error = (struct wfs_error){.code = WFS_OK};
		r = 0;
	}
	return r;
}

static void stop_telling(struct waiter *waiter)
{
	wfs_access_free(WFS_STEAL(waiter->beside));
}

static void ask(struct waiter *waiter, int64_t now_ns)
{
	json_t *const payload = waiter->wait->ask(waiter->wait->context);

	if (!payload || wfs_access_post(waiter->beside, waiter->wait->beside, payload) < 0)
		stop_telling(waiter);
	waiter->asked = true;
	waiter->asked_ns = now_ns;
}

/* Takes answers about progress. Return: is it time to ask again? */
static bool take(struct waiter *waiter)
{
	WFS_AUTO_ANSWER struct wfs_answer answer = {.status = 0};
	struct wfs_error error;
	const int r = wfs_access_take(waiter->beside, false, &answer, &error);

	if (r == 0)
		return false;
	if (r < 0) {
		stop_telling(waiter);
		return false;
	}
	waiter->asked = false;
	return waiter->wait->take(waiter->wait->context, &answer);
}

static void tell(struct waiter *waiter)
{
	const int64_t now_ns = wfs_clock_monotonic_ns();
	WFS_AUTO_BUFFER struct wfs_buffer line = {0};
	bool more = false;

	if (!waiter->wait->beside)
		return;
	if (waiter->beside && waiter->asked)
		more = take(waiter);
	if (waiter->beside && !waiter->asked &&
		(more || now_ns - waiter->asked_ns >= waiter->wait->every_ms * MS_NS))
		ask(waiter, now_ns);
	waiter->wait->line(waiter->wait->context, (now_ns - waiter->began_ns) / SECOND_NS, &line);
	if (wfs_buffer_check(&line) == 0 && !waiter->abandoned)
		wfs_progress_line(&waiter->progress, wfs_buffer_text(&line));
}

static int end_if_interrupted(struct waiter *waiter)
{
	if (waiter->abandoned || !wfs_interrupted())
		return 0;
	waiter->abandoned = true;
	wfs_progress_clear(&waiter->progress);
	wfs_run_notice(waiter->run, "interrupted: %s", waiter->wait->ending);
	return wfs_access_abandon(waiter->run->access, 0);
}

static void wait_a_while(struct waiter *waiter)
{
	struct pollfd wanted[2] = {{.fd = -1}, {.fd = -1}};

	wanted[0].fd = wfs_access_poll(waiter->run->access, &wanted[0].events);
	if (waiter->beside && waiter->asked)
		wanted[1].fd = wfs_access_poll(waiter->beside, &wanted[1].events);
	(void)poll(wanted, 2, waiter->progress.terminal ? waiter->wait->every_ms : WAKE_EVERY_MS);
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

int wfs_wait(const struct wfs_wait *wait, struct wfs_run *run, json_t *payload, json_t **ret_result,
	int64_t *ret_took_ns)
{
	struct waiter waiter = {.wait = wait, .run = run};
	int r = begin_to_tell(&waiter);

	wfs_interrupt_catch();
	waiter.began_ns = wfs_clock_monotonic_ns();
	if (!r)
		r = wfs_access_post(run->access, wait->verb, json_incref(payload));
	if (!r)
		r = take_result(&waiter, ret_result);
	wfs_progress_clear(&waiter.progress);
	stop_telling(&waiter);
	*ret_took_ns = wfs_clock_monotonic_ns() - waiter.began_ns;
	return r;
}
