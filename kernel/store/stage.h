/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stage: a directory that is filled under a temporary name and becomes the wanted one when it is
 * complete and durable. Until then the wanted directory has none of its files. The next process
 * that makes a stage for the same directory removes the stages that killed processes have left, but
 * not one that another process is filling. Of two processes that want one directory, one succeeds.
 *
 * Other users may write to the parent directory. So only directories that this user owns and that
 * were made as stages are removed, through their own descriptor, and nothing is replaced.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/error.h"

/* Plain value; zero-initialised has nothing to release. */
struct wfs_stage {
	char path[PATH_MAX]; /* the directory to fill */
	bool files_synced;   /* set by the caller: everything below its first level is durable */
	/* Private. */
	char directory[PATH_MAX]; /* the wanted directory, absolute */
	bool inside;              /* true: `path` is in `directory`; false: beside it */
	int place_fd;             /* of the parent of `path`; locked if that is `directory` */
	int fd;                   /* of `path`, locked; -1: none */
};

/** wfs_stage_init() - make stage->path, the directory that the caller fills
 *  @directory: the wanted directory: missing, or empty
 *  Return: 0, -EEXIST (already_exists: not empty, or another process is filling it), -ENOENT (the
 *  parent directory is missing), -EACCES (this user may not make directories in it), or another
 *  -errno. The caller calls wfs_stage_done() in any case. */
int wfs_stage_init(struct wfs_stage *stage, const char *directory, struct wfs_error *error);

/** wfs_stage_publish() - sync everything in the stage, and move it to the wanted directory
 *  @last: name of the file that makes the directory a valid one; it is moved last
 *  Return: 0, -EEXIST (another process has put files into the wanted directory), or another -errno.
 *  The caller calls wfs_stage_done() in any case. */
int wfs_stage_publish(struct wfs_stage *stage, const char *last, struct wfs_error *error);

/** wfs_stage_done() - release the stage, and remove its files if it was not published. */
void wfs_stage_done(struct wfs_stage *stage);
#define WFS_AUTO_STAGE WFS_CLEANUP(wfs_stage_done)
