/* SPDX-License-Identifier: Apache-2.0 */
/* Private to fs/command/: the commands of this folder. */
#pragma once

#include "fs/command/frame/run.h"

wfs_command_run wfs_run_init, wfs_run_status, wfs_run_snapshot, wfs_run_trust, wfs_run_verify,
	wfs_run_replay, wfs_run_backup, wfs_run_gc, wfs_run_restore, wfs_run_apply, wfs_run_upgrade,
	wfs_run_replicate, wfs_run_follow, wfs_run_replicas, wfs_run_handover;

/** wfs_run_replicate_world() - make the log of the world in @directory at @url, and this host its
 *  first node, by the options of `replicate`. Return: 0, or -errno with run->error: nothing was
 *  changed; but after -ETIMEDOUT it is not known whether the log was made. */
int wfs_run_replicate_world(struct wfs_run *run, const char *directory, const char *url);

/** wfs_run_tell_trust() - print on run->err that the world in @directory is paused (it asks no
 *  model and continues no turn), if it belongs to the user and the user does not trust it. */
void wfs_run_tell_trust(struct wfs_run *run, const char *directory);
