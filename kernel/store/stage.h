/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stage: a directory that is filled under another name and becomes the wanted one when it is
 * whole and durable. Until then nothing is there; what a killed run left is taken away by the next
 * one, never what somebody is filling just now. Of two that want the same directory one gets it.
 *
 * Others may write where a stage stands. What is removed is ours and was made as a stage, and it is
 * removed through its own descriptor; nothing is replaced.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/error.h"

/* Plain value; zero-initialised has nothing to release. */
struct wfs_stage {
	char path[PATH_MAX]; /* the directory to fill */
	bool files_synced;   /* for who fills it: everything below its first level is durable */
	/* Private. */
	char directory[PATH_MAX]; /* the wanted one, absolute */
	bool inside;              /* it exists, so that `path` is in it; else beside it */
	int place_fd;             /* of what `path` stands in: locked, when that is `directory` */
	int fd;                   /* of `path`, locked; -1: there is none */
};

/**
 * wfs_stage_init() - make the directory to fill
 * @directory: missing, or an empty directory
 * Return: 0, -EEXIST (already_exists: also when somebody is filling it), -ENOENT, -EACCES, …
 */
int wfs_stage_init(struct wfs_stage *stage, const char *directory, struct wfs_error *error);

/**
 * wfs_stage_publish() - sync everything and put it in its place
 * @last: the name without which the directory is not what it is to be; it comes last
 * Return: 0, -EEXIST (something has come there meanwhile), or another -errno; wfs_stage_done is to
 * be called in any case.
 */
int wfs_stage_publish(struct wfs_stage *stage, const char *last, struct wfs_error *error);

/** wfs_stage_done() - remove what was not published. */
void wfs_stage_done(struct wfs_stage *stage);
#define WFS_AUTO_STAGE WFS_CLEANUP(wfs_stage_done)
