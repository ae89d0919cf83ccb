/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backup: a whole copy of a world, taken while its owner writes.
 *
 * The copy is the world after one commit: data.mdb without its free pages, every blob file that its
 * rows mention, compared with its hash, host.json, and the scripts of models that host.json names.
 * It shares no file with the original, so damage to one cannot reach the other. It appears complete
 * and synced, or not at all.
 * A backup may run beside the owner. It never waits for the kernel thread, which never waits for
 * it.
 * Source: docs/design.md §13.
 */
#pragma once

#include "kernel/check/verify.h"

/* Option struct: plain value. */
struct wfs_backup_options {
	wfs_progress_fn *progress; /* called between pieces; may be NULL */
	void *context;
};

/* Counts of what was copied. Plain value. */
struct wfs_backup_figures {
	uint64_t height;     /* of the copy */
	uint64_t data_bytes; /* bytes of data.mdb */
	uint64_t file_count; /* blob files */
	uint64_t file_bytes; /* bytes of these */
};

/** wfs_backup() - copy @world into @directory
 *  @world: opened for reading only, or owned
 *  @directory: missing, or an empty directory. @ret_figures: set on success only
 *  Return: 0, -EEXIST (already_exists), -EINTR (cancelled), -EIO (hash_mismatch: the world is
 *  damaged), -ENOSPC, …; a failure leaves @directory as it was. */
int wfs_backup(struct wfs_world *world, const char *directory,
	const struct wfs_backup_options *options, struct wfs_backup_figures *ret_figures,
	struct wfs_error *error);
