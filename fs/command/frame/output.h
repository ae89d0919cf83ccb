/* SPDX-License-Identifier: Apache-2.0 */
/* Files that a command writes: under a name of their own until they are whole. */
#pragma once

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"

/* Plain value; {.fd = -1} has nothing to release. */
struct wfs_output {
	char *path; /* owned */
	int fd;
};

/** wfs_output_make() - before what is to be written is there. @name: as wanted */
int wfs_output_make(const char *name, struct wfs_output *output, struct wfs_error *error);

/** wfs_output_done() - one that was not written is gone. */
void wfs_output_done(struct wfs_output *output);
#define WFS_AUTO_OUTPUT WFS_CLEANUP(wfs_output_done)

/** wfs_output_write() - all of it, to the disk; then it has its name, in the place of what had it. */
int wfs_output_write(struct wfs_output *output, const char *name, struct wfs_bytes bytes,
	struct wfs_error *error);
