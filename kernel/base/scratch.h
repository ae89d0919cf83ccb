/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A temporary directory that is removed when its process ends, in whatever way: a child process
 * waits for the end. The child has no descriptor but that of a pipe, and allocates nothing.
 */
#pragma once

#include <limits.h>
#include <sys/types.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/error.h"

/* Plain value; zero-initialised has nothing to release. */
struct wfs_scratch {
	char path[PATH_MAX];
	/* Private. */
	int alive;     /* our end of the pipe, which closes when this process ends */
	pid_t remover; /* 0: none */
};

/** wfs_scratch_init() - make a directory with a new name in $TMPDIR, or in /tmp if that is not set,
 *  and start the child that removes it. @scratch: gets its path
 *  @name: the beginning of the directory's name. Return: 0, or -errno (nothing is left). */
int wfs_scratch_init(struct wfs_scratch *scratch, const char *name, struct wfs_error *error);

/** wfs_scratch_done() - remove the directory, and wait until it is removed. */
void wfs_scratch_done(struct wfs_scratch *scratch);
#define WFS_AUTO_SCRATCH WFS_CLEANUP(wfs_scratch_done)
