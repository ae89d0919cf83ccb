/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Baselines: the record that gives a new world the cells of another one, without their history.
 *
 * A world has at most one, right behind genesis. Its cells are in no journal: whoever folds it
 * again needs them from elsewhere, and its `changes` and snapshot hash tell whether they are right.
 * Source: docs/decisions/0010-restore-without-history.md.
 */
#pragma once

#include "kernel/read/view.h"
#include "kernel/world/genesis.h"

/* Where the cells come from. Plain value. */
struct wfs_baseline {
	char from_world_id[WFS_WORLD_ID_SIZE + 1]; /* "": not known */
	uint64_t from_height;                      /* 0: not known */
};

/**
 * wfs_baseline_cell() - write one cell of a baseline whose record is still to come
 * @bytes: a canonical document
 * Return: 0, -EEXIST (the cell is there already), or what wfs_head_set_cell gives.
 */
int wfs_baseline_cell(struct wfs_head *head, size_t reducer_index, struct wfs_bytes key,
	struct wfs_bytes bytes, int64_t at_ns);

/** wfs_baseline_append() - the record, of the cells that were written; its snapshot is recorded. */
int wfs_baseline_append(struct wfs_head *head, const struct wfs_baseline *baseline,
	const char *principal, int64_t at_ns, struct wfs_hash *ret_snapshot_hash);

/** wfs_baseline_parse() - where from, of a baseline record. Return: 0, or -EINVAL. */
int wfs_baseline_parse(const struct wfs_record_parsed *parsed, struct wfs_baseline *ret_baseline);

/**
 * wfs_baseline_changes() - hash of the `changes` document of a baseline's height
 * @view: of that height; renewed on the way
 * @ret_changed: are there cells at all?
 */
int wfs_baseline_changes(struct wfs_view *view, bool *ret_changed, struct wfs_hash *ret_changes,
	struct wfs_error *error);
