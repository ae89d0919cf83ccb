/* SPDX-License-Identifier: Apache-2.0 */
/* Private to fs/command/agents/step*.c: waiting for a turn of an agent, and recording it. */
#pragma once

#include "fs/command/frame/output.h"
#include "fs/command/frame/run.h"

/** wfs_step_wait() - request a turn and wait until it has ended; on a terminal, show what the turn
 *  does
 *  A signal ends the turn. The caller has called wfs_run_open() (fs/command/frame/run.h).
 *  @payload: of the verb `step`; borrowed
 *  @ret_result: the result of the turn, or {runs} with the results of several; caller owns it; the
 *  result of a failed turn is in run->error_details instead
 *  @ret_took_ns: how long the turn took, from the request to the answer; also set on failure
 *  Return: 0, or -errno with run->error. */
int wfs_step_wait(struct wfs_run *run, json_t *payload, json_t **ret_result, int64_t *ret_took_ns);

/** wfs_step_record() - read the model's answers in a turn from the journal, and write them to
 *  @output as a script, the file of answers that the provider `script` reads (worldfs-host(5)); it
 *  is empty if the turn has no answers. @name: of the file for which wfs_output_make()
 *  (fs/command/frame/output.h) has made @output. Return: 0, or -errno with run->error. */
int wfs_step_record(
	struct wfs_run *run, const char *turn_id, const char *name, struct wfs_output *output);
