/* SPDX-License-Identifier: Apache-2.0 */
/* Private to fs/command/agents/{plan,plan-file,chat}.c: printing of plans. */
#pragma once

#include "fs/command/agents/wait.h"

/* Progress of an awaited plan. Plain value. */
struct wfs_plan_watch {
	const char *plan_id; /* NULL: that of the session */
	const char *session_id;
	json_t *status; /* answer of plan-status; owned; NULL: not known yet */
};
void wfs_plan_watch_done(struct wfs_plan_watch *watch);
#define WFS_AUTO_PLAN_WATCH WFS_CLEANUP(wfs_plan_watch_done)

/** wfs_plan_wait() - send a verb, show progress until the answer comes, and print the answer
 *  The caller has called wfs_run_open() (fs/command/frame/run.h).
 *  @verb: chat, plan-resume or plan-import. @payload: borrowed
 *  @watch: says which plan's progress to show; the caller calls wfs_plan_watch_done()
 *  Return: 0, or -errno with run->error; of a failed plan, what is known of it was printed then,
 *  unless --json is given. */
int wfs_plan_wait(
	struct wfs_run *run, const char *verb, json_t *payload, struct wfs_plan_watch *watch);

struct wfs_walk;

/** wfs_plan_read() - read `plans/ID.json`. @walk: zero-initialised; with it the caller can read
 *  more at this height, and must call wfs_walk_done() (fs/command/frame/walk.h)
 *  @ret_document: caller owns it. Return: 0, or -errno with run->error. */
int wfs_plan_read(
	struct wfs_run *run, struct wfs_walk *walk, const char *plan_id, json_t **ret_document);

/** wfs_plan_status() - send the verb plan-status for a plan. @ret_summary: its result, see
 *  wfs_plan_summary() (kernel/domain/plan/plan-read.h): `done` and `total` count steps of the plan,
 *  `batches` ended batches, `batch` the steps of the present one, {ended, size}; caller owns it
 *  Return: 0, or -errno with run->error. */
int wfs_plan_status(struct wfs_run *run, const char *plan_id, json_t **ret_summary);

/** wfs_plan_bar() - append `[`, @width characters of which @done of @total are filled (all
 *  if @total is 0), and `]`. */
void wfs_plan_bar(struct wfs_buffer *line, int64_t done, int64_t total, int width);
