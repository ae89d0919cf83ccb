/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Baselines: the record that gives a new world the cells of another one, without their history.
 *
 * A restored world has at most one, right after genesis. The journal does not have its cells:
 * folding the journal again takes them from a store or a copy, and compares them with the record's
 * `changes` and snapshot hash. A journal that was cut (kernel/copy/gc.h) begins with a baseline of
 * the world's own cells, which says more: struct wfs_baseline_facts. A struct wfs_head is the end
 * of a journal in a write transaction (kernel/fold/head.h).
 * Source: docs/decisions/0010-restore-without-history.md.
 */
#pragma once

#include "kernel/read/view.h"
#include "kernel/world/genesis.h"

/* The world that the cells come from. Plain value. */
struct wfs_baseline {
	char from_world_id[WFS_WORLD_ID_SIZE + 1]; /* "": not known */
	uint64_t from_height;                      /* 0: not known */
};

/** wfs_baseline_cell() - write one cell of a baseline to the store, before the baseline's record is
 *  appended. @reducer_index: of the cell's reducer in the manifest
 *  @bytes: the cell's state, a canonical document; of content and code, any bytes
 *  @at_ns: time of the baseline's record
 *  Return: 0, -EEXIST (the cell was written before, and stays as it is), -EIO, -ENOSPC, -ENOMEM.
 *  After -EIO, -ENOSPC and -ENOMEM the caller gives up the transaction, as head.h says. */
int wfs_baseline_cell(struct wfs_head *head, size_t reducer_index, struct wfs_bytes key,
	struct wfs_bytes bytes, int64_t at_ns);

/** wfs_baseline_append() - append the baseline record for all cells that wfs_baseline_cell() has
 *  written, and store the record's snapshot hash as that of the world's newest snapshot
 *  @head: of height 1, after genesis. @baseline: the world that the cells come from. @principal,
 *  @at_ns: of the record
 *  @ret_snapshot_hash: hash of the snapshot document of these cells
 *  Return: 0, or -errno (the caller gives up the transaction). */
int wfs_baseline_append(struct wfs_head *head, const struct wfs_baseline *baseline,
	const char *principal, int64_t at_ns, struct wfs_hash *ret_snapshot_hash);

/** wfs_baseline_parse() - read from which world the cells of a baseline record come. @parsed: the
 *  record. Return: 0, or -EINVAL (not a baseline record, or a malformed one). */
int wfs_baseline_parse(const struct wfs_record_parsed *parsed, struct wfs_baseline *ret_baseline);

/* What the first record of a cut journal, a baseline, says of its height. Plain value. */
struct wfs_baseline_facts {
	bool changed;             /* there are cells, and `changes` is set */
	struct wfs_hash changes;  /* of the `changes` document of all cells */
	struct wfs_hash snapshot; /* of the snapshot document */
	/* of `[[reducer,key_b64,height,time_ns],…]`, in the order of the snapshot document */
	struct wfs_hash versions;
	struct wfs_hash blobs;    /* of `[[hash,height,time_ns],…]` of listed blobs, by number */
	struct wfs_hash manifest; /* in force */
};

/** wfs_baseline_facts() - compute what a baseline at the height of @view must say; reads every cell
 *  @view: closed and opened again now and then; the caller closes it, also after a failure
 *  Return: 0, or -errno. */
int wfs_baseline_facts(
	struct wfs_view *view, struct wfs_baseline_facts *ret_facts, struct wfs_error *error);

/** wfs_baseline_differs() - compare the baseline @parsed, the first record of a cut journal, with
 *  @facts, what it must say. Return: NULL (they agree), or static words for a message: what
 *  differs. */
const char *wfs_baseline_differs(
	const struct wfs_record_parsed *parsed, const struct wfs_baseline_facts *facts);

/** wfs_baseline_cut() - write the line of the baseline that takes the place of record @seq
 *  @view: of a height above @seq. @world_id: of the world. @facts: of height @seq + 1
 *  @line: empty; gets the line, with its newline. @ret_genesis_ns: time of record 0
 *  Return: 0, -ENOENT (no such record), -EIO, -ENOMEM. */
int wfs_baseline_cut(struct wfs_view *view, uint64_t seq, const char *world_id,
	const struct wfs_baseline_facts *facts, struct wfs_buffer *line, int64_t *ret_genesis_ns);

/** wfs_baseline_changes() - compute the hash that the member `changes` of a baseline record must
 *  have, from the cells in @view
 *  @view: of the baseline's height; closed and opened again now and then; the caller closes it,
 *  also after a failure
 *  @ret_changed: false: the baseline has no cells, and its record no `changes`
 *  @ret_changes: the hash; means nothing if @ret_changed is false. Return: 0, or -errno. */
int wfs_baseline_changes(struct wfs_view *view, bool *ret_changed, struct wfs_hash *ret_changes,
	struct wfs_error *error);
