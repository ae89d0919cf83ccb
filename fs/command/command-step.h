/* SPDX-License-Identifier: Apache-2.0 */
/* Private to fs/command/command-step*.c: a turn of an agent is waited for, and written down. */
#pragma once

#include "fs/command/command-impl.h"

/**
 * wfs_step_wait() - ask for a turn, and tell on a terminal what it does until it has ended
 * A signal ends it.
 * @payload: of the verb `step`
 * @ret_result: caller owns it; of a turn that failed it is run->error_details
 * @ret_took_ns: since it was asked for
 */
int wfs_step_wait(struct wfs_run *run, json_t *payload, json_t **ret_result, int64_t *ret_took_ns);

/* A file under a name of its own until it is whole. Plain value; {.fd = -1} has nothing to release. */
struct wfs_step_file {
	char *path; /* owned */
	int fd;
};

/** wfs_step_file_make() - before the turn, which should not be taken for nothing. @name: as wanted */
int wfs_step_file_make(struct wfs_run *run, const char *name, struct wfs_step_file *file);
void wfs_step_file_done(struct wfs_step_file *file);
#define WFS_AUTO_STEP_FILE WFS_CLEANUP(wfs_step_file_done)

/** wfs_step_file_write() - what the model answered in a turn, from the journal; then it has its name. */
int wfs_step_file_write(
	struct wfs_run *run, const char *turn_id, const char *name, struct wfs_step_file *file);
