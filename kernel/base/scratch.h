/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A temporary directory that is gone when its process is, however that ends: a child process waits
 * for the end and removes it. The child has no descriptor but a pipe's, and needs no memory.
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
	int alive;     /* the pipe's end that is closed with the process */
	pid_t remover; /* 0: none */
};

/**
 * wfs_scratch_init() - make a directory in $TMPDIR, or in /tmp
 * @name: what its name begins with
 * Return: 0, or -errno.
 */
int wfs_scratch_init(struct wfs_scratch *scratch, const char *name, struct wfs_error *error);

/** wfs_scratch_done() - remove it; returns when that is done. */
void wfs_scratch_done(struct wfs_scratch *scratch);
#define WFS_AUTO_SCRATCH WFS_CLEANUP(wfs_scratch_done)
