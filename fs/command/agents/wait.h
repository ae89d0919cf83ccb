/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for a request that takes long, and telling on a terminal how far it is. What is told is asked for
 * meanwhile on a way of its own, because answers come in order. A signal ends what was asked for.
 */
#pragma once

#include "fs/command/frame/progress.h"
#include "fs/command/frame/run.h"

/* What is told, and how it is found out. Set all; plain value. */
struct wfs_wait {
	const char *verb;
	const char *ending; /* what is told when a signal has come, e.g. "ending the turn" */
	const char *beside; /* verb that is asked meanwhile */
	int every_ms;       /* how often */
	void *context;
	/* The next payload of `beside`; NULL without memory. */
	json_t *(*ask)(void *context);
	/* Look at its answer. Return: is there more at once? */
	bool (*take)(void *context, const struct wfs_answer *answer);
	/* Append what people read: one line, without its end. @seconds: since it was asked for */
	void (*line)(void *context, int64_t seconds, struct wfs_buffer *line);
	/* Once, on a terminal, before anything is asked for; may be NULL. */
	int (*begin)(void *context, struct wfs_run *run);
};

/**
 * wfs_wait() - ask, and wait for the answer
 * @payload: borrowed
 * @ret_result: caller owns it; of what failed there may be run->error_details
 * @ret_took_ns: since it was asked for
 */
int wfs_wait(const struct wfs_wait *wait, struct wfs_run *run, json_t *payload, json_t **ret_result,
	int64_t *ret_took_ns);
