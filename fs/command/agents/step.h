/* SPDX-License-Identifier: Apache-2.0 */
/* Private to fs/command/agents/step*.c: waiting for a turn of an agent, and recording it. */
#pragma once

#include "fs/command/frame/output.h"
#include "fs/command/frame/run.h"

/** wfs_step_wait() - request a turn, and show on a terminal what it does until it has ended
 *  A signal ends the turn. The caller has called wfs_run_open().
 *  @payload: of the verb `step`; borrowed
 *  @ret_result: that of the turn, or {runs} with those of several; caller owns it; after a failed
 *  turn it is in run->error_details
 *  @ret_took_ns: how long the turn took, from the request to the answer; also set on failure
 *  Return: 0, or -errno with run->error. */
int wfs_step_wait(struct wfs_run *run, json_t *payload, json_t **ret_result, int64_t *ret_took_ns);

/** wfs_step_record() - read the model's answers in a turn from the journal, and write them as a
 *  script, which is empty if the turn has no answers. @name: of the file, for which
 *  wfs_output_make() has made @output. Return: 0, or -errno with run->error. */
int wfs_step_record(
	struct wfs_run *run, const char *turn_id, const char *name, struct wfs_output *output);
