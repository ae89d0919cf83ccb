/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits for a request that takes long, and shows progress on a terminal. The progress is requested
 * on another way into the world, because answers come in order. A signal ends the request.
 */
#pragma once

#include "fs/command/frame/progress.h"
#include "fs/command/frame/run.h"

/* How progress is found and shown. Without `beside` none is, and the members from it on are not
 * used; otherwise all are required except `begin`. Plain value. */
struct wfs_wait {
	const char *verb;
	const char *ending; /* shown after a signal, e.g. "ending the turn" */
	const char *beside; /* verb that gives the progress; NULL: no progress is shown */
	int every_ms;       /* pause between two requests for the progress */
	void *context;
	/* Makes the next payload of `beside`; NULL without memory. */
	json_t *(*ask)(void *context);
	/* Takes in an answer of `beside`. Return: true: more progress can be requested at once. */
	bool (*take)(void *context, const struct wfs_answer *answer);
	/* Appends a line for users, without its end. @seconds: since the request */
	void (*line)(void *context, int64_t seconds, struct wfs_buffer *line);
	/* Called once, on a terminal, before `beside` is requested for the first time; may be NULL.
	 * Return: 0, -EACCES (wait without progress), or another -errno with run->error, which ends
	 * the wait. */
	int (*begin)(void *context, struct wfs_run *run);
};

/** wfs_wait() - send a request, and wait for its answer; the caller has called wfs_run_open()
 *  (fs/command/frame/run.h)
 *  @payload: of wait->verb; borrowed
 *  @ret_result: caller owns it; after a failure run->error_details may have details
 *  @ret_took_ns: how long the answer took; also set on failure
 *  Return: 0, or -errno with run->error. */
int wfs_wait(const struct wfs_wait *wait, struct wfs_run *run, json_t *payload, json_t **ret_result,
	int64_t *ret_took_ns);
