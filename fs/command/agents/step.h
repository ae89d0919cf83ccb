/* SPDX-License-Identifier: Apache-2.0 */
/* Private to fs/command/agents/step*.c: how they wait for a turn of an agent, and record it. */
#pragma once

#include "fs/command/frame/output.h"
#include "fs/command/frame/run.h"

/**
 * wfs_step_wait() - ask for a turn, and tell on a terminal what it does until it has ended
 * A signal ends it.
 * @payload: of the verb `step`
 * @ret_result: caller owns it; of a turn that failed it is run->error_details
 * @ret_took_ns: since it was asked for
 */
int wfs_step_wait(struct wfs_run *run, json_t *payload, json_t **ret_result, int64_t *ret_took_ns);

/** wfs_step_record() - what the model answered in a turn, from the journal, to a file. */
int wfs_step_record(
	struct wfs_run *run, const char *turn_id, const char *name, struct wfs_output *output);
