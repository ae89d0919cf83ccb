/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The head: the end of a world's journal, inside one write transaction.
 *
 * A head has what appending needs (next seq, hash of the last line, next vid …), which is read from
 * the last rows of the store. Appending a record, or setting a cell, writes all rows that this
 * changes in one transaction, so the journal and the cells always agree. Each line has the hash of
 * the line before; the hash of the last line is in the store's meta table. Functions that return
 * int return 0, -EIO, -ENOSPC or -ENOMEM if their comment does not say otherwise. If one fails, the
 * caller gives up the transaction, and loads the head again (wfs_head_load()).
 * Source: docs/design.md §3.
 * Thread: the one that holds the write transaction.
 */
#pragma once

#include "kernel/manifest/manifest.h"
#include "kernel/read/index.h"
#include "kernel/read/record.h"
#include "kernel/store/blob.h"
#include "kernel/store/tables.h"

/* Plain value; wfs_head_done releases what is owned. */
struct wfs_head {
	struct wfs_store *store;
	struct wfs_txn *txn;          /* borrowed; set anew for each transaction */
	uint64_t height;              /* seq of the next record */
	uint64_t journal_bytes;       /* offset of the next line */
	struct wfs_hash prev;         /* hash of the last line */
	int64_t at_ns;                /* time of the last record */
	uint64_t next_vid;            /* number of the next version of a cell */
	uint64_t next_listed_id;      /* number of the next listed blob */
	struct wfs_reducer *reducers; /* rows, by index in the manifest; owned */
	bool *reducer_dirty;          /* of each: must wfs_head_flush() write its row? owned */
	enum wfs_indexed *indexed;    /* of each: what the index (kernel/read/index.h) has; owned */
	size_t reducer_count;
	struct wfs_buffer line; /* scratch */
};

/** wfs_head_load() - read the head from the last rows of the store
 *  @head: zeros, or loaded before; the caller ends it with wfs_head_done(), also on failure
 *  @store, @txn: borrowed by @head; @txn is a write transaction. @manifest: the one in force
 *  Return: 0, -EIO, -ENOMEM. */
int wfs_head_load(struct wfs_head *head, struct wfs_store *store, struct wfs_txn *txn,
	const struct wfs_manifest *manifest);
void wfs_head_done(struct wfs_head *head);
#define WFS_AUTO_HEAD WFS_CLEANUP(wfs_head_done)

/** wfs_head_append() - write @record as the next line of the journal; sets the record's seq and
 *  prev; the caller has set the other members. */
int wfs_head_append(struct wfs_head *head, struct wfs_record *record);

/** wfs_head_append_line() - write @line, copied from a journal, newline included, as the next line
 *  The caller has checked that @line is the next record: its prev is the hash of the last line.
 *  @at_ns: time of the record */
int wfs_head_append_line(struct wfs_head *head, struct wfs_bytes line, int64_t at_ns);

/** wfs_head_add_reducer() - give @reducer, which the store does not have, the next id, and write
 *  its row, also to head->reducers. @height: first height that shows the reducer
 *  @at_ns: time of the record that adds the reducer. Return: 0, -EIO, -ENOSPC (also if no id is
 *  left), -ENOMEM. */
int wfs_head_add_reducer(struct wfs_head *head, const struct wfs_reducer_definition *reducer,
	uint64_t height, int64_t at_ns);

/** wfs_head_set_manifest() - replace the reducers by those of another manifest
 *  New reducers get rows, which readers see from head->height on.
 *  @from: the manifest of head->reducers. @to: must have each reducer that has live cells, keyed if
 *  it is keyed in @from, and only then. @at_ns: time of the record that brings @to into force */
int wfs_head_set_manifest(struct wfs_head *head, const struct wfs_manifest *from,
	const struct wfs_manifest *to, int64_t at_ns);

/* The new state of a cell. Plain value; `bytes` are borrowed. */
struct wfs_state {
	bool live;              /* false: the cell is deleted */
	struct wfs_bytes bytes; /* document; empty when not live */
	struct wfs_hash hash;   /* zero when not live */
};

/** wfs_head_set_cell() - write a version of a cell, which readers see from @height on, and update
 *  the index. @reducer_index: of its reducer in the manifest
 *  @cell: the cell's row, which is updated; if the cell is new, only `key` is set
 *  @at_ns: time of the record that makes the version */
int wfs_head_set_cell(struct wfs_head *head, size_t reducer_index, struct wfs_cell *cell,
	const struct wfs_state *state, uint64_t height, int64_t at_ns);

/** wfs_head_set_kernel() - write a version of a cell that has no reducer, which readers see from
 *  @height on. @kernel_cell: which: the manifest, or the hash of the newest snapshot
 *  @bytes: its state; @at_ns: time of the version */
int wfs_head_set_kernel(struct wfs_head *head, enum wfs_kernel_cell kernel_cell,
	struct wfs_bytes bytes, uint64_t height, int64_t at_ns);

/** wfs_head_set_snapshot() - store @hash as the hash of the newest snapshot, which readers see from
 *  head->height on. @at_ns: time of the snapshot's record */
int wfs_head_set_snapshot(struct wfs_head *head, const struct wfs_hash *hash, int64_t at_ns);

/** wfs_head_append_snapshot() - append a snapshot record of all cells, with the principal `kernel`
 *  and the time of the last record. @manifest_hash: of the manifest in force */
int wfs_head_append_snapshot(struct wfs_head *head, const struct wfs_hash *manifest_hash);

/** wfs_head_append_epoch() - append an epoch, the record from which on records are folded by
 *  WFS_FOLD_VERSION (kernel/base/formats.h), with the snapshot hash of the cells as they are, and
 *  the principal `kernel`
 *  @fold_from: the fold version of the records before. @at_ns: time of the epoch
 *  @manifest_hash: of the manifest in force */
int wfs_head_append_epoch(
	struct wfs_head *head, int fold_from, int64_t at_ns, const struct wfs_hash *manifest_hash);

/** wfs_head_list_blob() - write the row of a blob, and list the blob in /blobs from @height on
 *  @blob: from wfs_blob_writer_finish() (kernel/store/blob.h); if the blob is large, its file
 *  exists. @at_ns: time of the record that names the blob
 *  Return: 0, 1 (the blob was listed already), or -errno. */
int wfs_head_list_blob(
	struct wfs_head *head, const struct wfs_blob *blob, uint64_t height, int64_t at_ns);

/** wfs_head_list_bytes() - store @bytes as a blob, in a file if they are large, and list this blob
 *  as wfs_head_list_blob() does. Return: as wfs_head_list_blob(). */
int wfs_head_list_bytes(
	struct wfs_head *head, struct wfs_bytes bytes, uint64_t height, int64_t at_ns);

/** wfs_head_put_bytes() - store @bytes as a blob, in a file if they are large, without listing the
 *  blob; do nothing if the store has this blob already. */
int wfs_head_put_bytes(struct wfs_head *head, struct wfs_bytes bytes);

/* Name in the meta table: hash of the last line, raw. */
#define WFS_META_HEAD_HASH "head_hash"

/** wfs_head_flush() - write to the store what @head has changed in memory only: rows of reducers,
 *  and the hash of the last line; the caller does so before every commit. @manifest: that of
 *  head->reducers */
int wfs_head_flush(struct wfs_head *head, const struct wfs_manifest *manifest);
