/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Restoring: a world from any copy of a tree, of `/` or of a height.
 *
 * With the journal in the copy, its records are folded again and become the records of the world,
 * byte for byte, and every file of the copy must be what folding gives; where a text is lost that an
 * artifact had before, cells that actions changed behind it are taken from the copy, and proven by
 * less (decision 17). Without a journal, the world
 * begins with a baseline whose cells are those of the copy. Either way the world's snapshot hash is
 * the one computed from the copy. A copy that differs anywhere is refused, each path of it that
 * does is named, and nothing is made; unless it is to be repaired, and its whole journal was folded: then files
 * that only show what follows from the journal may differ. Nothing outside of the copy is read, whatever is in it.
 * Source: docs/design.md §13.
 */
#pragma once

#include "kernel/check/refold.h"
#include "kernel/check/verify.h"

enum {
	WFS_RESTORE_CELL_MAX = 64 << 20,     /* bytes of one cell, more than a reducer can answer */
	WFS_RESTORE_LINE_MAX = 64 << 20,     /* bytes of one record */
	WFS_RESTORE_MANIFEST_MAX = 64 << 20, /* bytes of the manifest */
};

/* Option struct: plain value. */
struct wfs_restore_options {
	wfs_progress_fn *progress; /* called between pieces; may be NULL */
	void *context;
	uint64_t map_size_bytes; /* 0: default */
	/* Time of a baseline; NULL: the host's clock. */
	int64_t (*clock_ns)(void *context);
	void *clock_context;
	bool repair; /* files that follow from the journal, which is whole, are not taken from the copy */
};

/* What was made. Plain value. */
struct wfs_restored {
	char world_id[WFS_WORLD_ID_SIZE + 1];
	uint64_t height;
	uint64_t first_height;         /* that can be shown */
	struct wfs_hash snapshot_hash; /* of `height` */
	bool history;                  /* the journal was folded */
	struct wfs_refold_lost lost;   /* with history: what kept actions from being folded */
	size_t repaired;               /* files of the copy that differ, and were not taken */
	bool journal;                  /* without history: there is a journal, but it begins with a
	                                * baseline, whose cells no later copy has */
};

/**
 * wfs_restore() - make a world in @directory from the copy in @tree
 * @directory: missing, or an empty directory; a failure leaves it like that
 * @problems: every path that differs, also of a copy that is repaired
 * Return: 0, -EIO (hash_mismatch, with @problems), -EEXIST (already_exists), -EINTR (cancelled),
 *         -EINVAL, -ENOENT, -ENOSPC, …
 */
int wfs_restore(const char *tree, const char *directory, const struct wfs_restore_options *options,
	struct wfs_problems *problems, struct wfs_restored *ret_restored, struct wfs_error *error);

/** wfs_restore_knows_readme() - is that the README of this version or of one before it? */
bool wfs_restore_knows_readme(struct wfs_bytes text);
