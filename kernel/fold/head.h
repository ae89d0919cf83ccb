/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The head: the growing edge of a world inside one write transaction.
 *
 * It holds what has to be known to append (next seq, hash of the last line, next vid …), all of it
 * derived from the last rows of the store. Appending a record and setting a cell write every
 * derived row in the same transaction, so there is no state in which the journal and the cells
 * disagree. Each line is covered by the hash in the line behind it; that of the last line stands
 * in the store's meta table.
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
	struct wfs_txn *txn;    /* borrowed; set anew for each transaction */
	uint64_t height;        /* seq of the next record */
	uint64_t journal_bytes; /* offset of the next line */
	struct wfs_hash prev;   /* hash of the last line */
	int64_t at_ns;          /* of the last record */
	uint64_t next_vid;
	uint64_t next_listed_id;
	struct wfs_reducer *reducers; /* by index in the manifest; owned */
	bool *reducer_dirty;          /* owned */
	enum wfs_indexed *indexed;    /* of each; owned */
	size_t reducer_count;
	struct wfs_buffer line; /* scratch */
};

/** wfs_head_load() - read everything from the last rows. Return: 0, -EIO, -ENOMEM. */
int wfs_head_load(struct wfs_head *head, struct wfs_store *store, struct wfs_txn *txn,
	const struct wfs_manifest *manifest);
void wfs_head_done(struct wfs_head *head);
#define WFS_AUTO_HEAD WFS_CLEANUP(wfs_head_done)

/** wfs_head_append() - write @record as the next line; its seq and prev are set here. */
int wfs_head_append(struct wfs_head *head, struct wfs_record *record);

/** wfs_head_append_line() - the same of a line that there is already: whoever calls has checked that
 *  it is a record, the next one, and chained. */
int wfs_head_append_line(struct wfs_head *head, struct wfs_bytes line, int64_t at_ns);

/** wfs_head_add_reducer() - make the row of a reducer, visible from the next height on. */
int wfs_head_add_reducer(
	struct wfs_head *head, const struct wfs_reducer_definition *reducer, int64_t at_ns);

/**
 * wfs_head_set_manifest() - go over to the reducers of another manifest
 * Those that are new get rows, visible from the height on that is now.
 * @from: what `reducers` are of; those of them that are kept have no live cells, or are keyed as before
 */
int wfs_head_set_manifest(struct wfs_head *head, const struct wfs_manifest *from,
	const struct wfs_manifest *to, int64_t at_ns);

/* What a cell becomes. Plain value; `bytes` are borrowed. */
struct wfs_state {
	bool live;
	struct wfs_bytes bytes; /* document; empty when not live */
	struct wfs_hash hash;   /* zero when not live */
};

/**
 * wfs_head_set_cell() - write the version that becomes visible at @height
 * The cell's places in the index change with it.
 * @reducer_index: in the manifest
 * @cell: the cell's row as it is now (a new cell: only its key), and as it is afterwards
 */
int wfs_head_set_cell(struct wfs_head *head, size_t reducer_index, struct wfs_cell *cell,
	const struct wfs_state *state, uint64_t height, int64_t at_ns);

/** wfs_head_set_kernel() - the same for a cell of the kernel's own (wfs_kernel_cell). */
int wfs_head_set_kernel(struct wfs_head *head, enum wfs_kernel_cell kernel_cell,
	struct wfs_bytes bytes, uint64_t height, int64_t at_ns);

/** wfs_head_set_snapshot() - @hash is that of the newest snapshot from the height on that is now. */
int wfs_head_set_snapshot(struct wfs_head *head, const struct wfs_hash *hash, int64_t at_ns);

/** wfs_head_append_snapshot() - a snapshot record, and @hash as the newest snapshot. */
int wfs_head_append_snapshot(struct wfs_head *head, const char *principal, int64_t at_ns,
	struct wfs_bytes body, const struct wfs_hash *hash);

/**
 * wfs_head_list_blob() - store a blob and list it from @height on
 * Return: 0 newly listed, 1 was listed already, or -errno.
 */
int wfs_head_list_blob(
	struct wfs_head *head, const struct wfs_blob *blob, uint64_t height, int64_t at_ns);

/** wfs_head_list_bytes() - the same for a blob that is in memory. Return: as above. */
int wfs_head_list_bytes(
	struct wfs_head *head, struct wfs_bytes bytes, uint64_t height, int64_t at_ns);

/* Name in the meta table: hash of the last line, raw. */
#define WFS_META_HEAD_HASH "head_hash"

/** wfs_head_flush() - write what is kept in memory; before every commit. */
int wfs_head_flush(struct wfs_head *head, const struct wfs_manifest *manifest);
