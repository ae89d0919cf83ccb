/* SPDX-License-Identifier: Apache-2.0 */
/* Private to fs/command/agents/step*.c: waiting for a turn of an agent, and recording it. */
#pragma once

#include "fs/command/frame/output.h"
#include "fs/command/frame/run.h"

/** wfs_step_wait() - request a turn, and show on a terminal what it does until it has ended
 *  A signal ends the turn.
 *  @payload: of the verb `step`
 *  @ret_result: caller owns it; run->error_details has that of a failed turn
 *  @ret_took_ns: since the request */
int wfs_step_wait(struct wfs_run *run, json_t *payload, json_t **ret_result, int64_t *ret_took_ns);

/** wfs_step_record() - write the model's answers in a turn, from the journal, to a file. */
int wfs_step_record(
	struct wfs_run *run, const char *turn_id, const char *name, struct wfs_output *output);
