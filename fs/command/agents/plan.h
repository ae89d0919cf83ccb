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

/** wfs_plan_wait() - send a verb that answers as `chat` does, show progress, and print the answer.
 *  @payload: borrowed */
int wfs_plan_wait(
	struct wfs_run *run, const char *verb, json_t *payload, struct wfs_plan_watch *watch);

/** wfs_plan_settings() - set members from --batch, --concurrency, --plan, --rerun and --session. */
int wfs_plan_settings(struct wfs_run *run, json_t *payload);

struct wfs_walk;

/** wfs_plan_read() - read the document of a plan; caller owns it. @walk: zero; released by the
 *  caller */
int wfs_plan_read(
	struct wfs_run *run, struct wfs_walk *walk, const char *plan_id, json_t **ret_document);

/** wfs_plan_status() - read the summary of a plan; caller owns it. */
int wfs_plan_status(struct wfs_run *run, const char *plan_id, json_t **ret_summary);

/** wfs_plan_bar() - append a bar of @width characters. */
void wfs_plan_bar(struct wfs_buffer *line, int64_t done, int64_t total, int width);
