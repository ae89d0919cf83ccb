/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backup: a whole copy of a world, taken while its owner writes.
 *
 * The copy is the world as one commit left it: data.mdb without its free pages, every blob file
 * that its rows mention, checked against its hash, host.json, and the scripts of models that it
 * names. It shares nothing with the original that can be damaged with it, and appears in its place
 * whole and synced, or not at all.
 * It reads beside the owner and never waits for the kernel thread, nor lets it wait.
 * Source: docs/design.md §13.
 */
#pragma once

#include "kernel/check/verify.h"

/* Option struct: plain value. */
struct wfs_backup_options {
	wfs_progress_fn *progress; /* called between pieces; may be NULL */
	void *context;
};

/* What was copied. Plain value. */
struct wfs_backup_figures {
	uint64_t height; /* of the copy */
	uint64_t data_bytes;
	uint64_t file_count; /* blob files */
	uint64_t file_bytes;
};

/**
 * wfs_backup() - copy @world into @directory
 * @world: opened read-only or owned
 * @directory: missing, or an empty directory
 * Return: 0, -EEXIST (already_exists), -EINTR (cancelled), -EIO (hash_mismatch: the world is
 *         damaged), -ENOSPC, …; nothing is left unless 0.
 */
int wfs_backup(struct wfs_world *world, const char *directory,
	const struct wfs_backup_options *options, struct wfs_backup_figures *ret_figures,
	struct wfs_error *error);
