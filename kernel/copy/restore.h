/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Restoring: makes a world from a copy of a tree, of `/` or of `at/<height>`.
 *
 * If the copy has a journal, its records are folded again and become the records of the world, byte
 * for byte, and every file of the copy must be what folding gives. If a text is lost that an
 * artifact had earlier, cells that actions changed after it are taken from the copy, and fewer
 * records prove them (decision 17). Without a journal, the world begins with a baseline that has
 * the cells of the copy. Either way the world's snapshot hash is the one computed from the copy.
 * A copy with any wrong file is refused: the message names each path, and no world is made. If the
 * copy is to be repaired, and its whole journal was folded, files that follow from the journal may
 * differ. No file outside of the copy is read, whatever the copy has in it.
 * Source: docs/design.md §13.
 */
#pragma once

#include "kernel/check/refold.h"
#include "kernel/check/verify.h"

enum {
	WFS_RESTORE_CELL_MAX = 64 << 20,     /* bytes of one cell, more than a reducer can return */
	WFS_RESTORE_LINE_MAX = 64 << 20,     /* bytes of one record */
	WFS_RESTORE_MANIFEST_MAX = 64 << 20, /* bytes of the manifest */
};

/* Option struct: plain value. */
struct wfs_restore_options {
	wfs_progress_fn *progress; /* called between pieces; may be NULL */
	void *context;
	uint64_t map_size_bytes; /* of the new store; 0: default */
	/* Gives the time of a baseline, in nanoseconds since 1970; NULL: the host's clock. */
	int64_t (*clock_ns)(void *context);
	void *clock_context;
	/* if files that follow from the journal differ in the copy: make them from the journal */
	bool repair;
};

/* What restoring has made. Plain value. */
struct wfs_restored {
	char world_id[WFS_WORLD_ID_SIZE + 1];
	uint64_t height;
	uint64_t first_height;         /* the first that the world can show */
	struct wfs_hash snapshot_hash; /* of `height` */
	bool history;                  /* the journal was folded */
	/* with history: the first text that is lost, after which actions were not folded */
	struct wfs_refold_lost lost;
	size_t repaired; /* files of the copy that differ, and were made again */
	/* without history: the copy has a journal, which could not be folded, because it begins
	 * with a baseline, whose cells no later copy has, or, with `older`, because another fold
	 * version folded its first records */
	bool journal;
	bool older;
};

/** wfs_restore() - make a world in @directory from the copy of a tree whose root is @tree
 *  @directory: missing, or an empty directory; a failure leaves it as it was
 *  @problems: empty; gets every path that differs, also of a copy that is repaired. @ret_restored:
 *  set on success only
 *  Return: 0, -EIO (hash_mismatch: the copy has @problems, and may not or cannot be repaired),
 *  -EEXIST (already_exists: @directory is not empty, or another process fills it), -EINTR
 *  (cancelled: options->progress has returned false), -EINVAL (invalid_argument: @tree is a world,
 *  not a copy of a tree), -ENOENT (@tree does not exist), -ENOSPC, … */
int wfs_restore(const char *tree, const char *directory, const struct wfs_restore_options *options,
	struct wfs_problems *problems, struct wfs_restored *ret_restored, struct wfs_error *error);

/** wfs_restore_knows_readme() - is @text the tree's file README, as this version of the program or
 *  an earlier one writes it? */
bool wfs_restore_knows_readme(struct wfs_bytes text);
