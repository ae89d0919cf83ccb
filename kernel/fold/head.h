/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The head: the end of a world's journal, inside one write transaction.
 *
 * It holds what appending needs (next seq, hash of the last line, next vid …), which is read from
 * the last rows of the store. Appending a record, or setting a cell, writes all rows that follow
 * from it in one transaction, so the journal and the cells always agree. Each line has the hash of
 * the line before; the hash of the last line is in the store's meta table.
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
	enum wfs_indexed *indexed;    /* of each reducer; owned */
	size_t reducer_count;
	struct wfs_buffer line; /* scratch */
};

/** wfs_head_load() - read the head from the last rows of the store. Return: 0, -EIO, -ENOMEM. */
int wfs_head_load(struct wfs_head *head, struct wfs_store *store, struct wfs_txn *txn,
	const struct wfs_manifest *manifest);
void wfs_head_done(struct wfs_head *head);
#define WFS_AUTO_HEAD WFS_CLEANUP(wfs_head_done)

/** wfs_head_append() - write @record as the next line; its seq and prev are set here. */
int wfs_head_append(struct wfs_head *head, struct wfs_record *record);

/** wfs_head_append_line() - write @line, of an existing journal, as the next line. The caller has
 *  checked that it is the next record, and has the hash of the line before. */
int wfs_head_append_line(struct wfs_head *head, struct wfs_bytes line, int64_t at_ns);

/** wfs_head_add_reducer() - write the row of a reducer, visible from the next height on. */
int wfs_head_add_reducer(
	struct wfs_head *head, const struct wfs_reducer_definition *reducer, int64_t at_ns);

/**
 * wfs_head_set_manifest() - replace the reducers by those of another manifest
 * New reducers get rows, visible from head->height on.
 * @from: the manifest of head->reducers. A reducer that @to has, too, must have no live cells, or
 * the same keys as before
 */
int wfs_head_set_manifest(struct wfs_head *head, const struct wfs_manifest *from,
	const struct wfs_manifest *to, int64_t at_ns);

/* The new state of a cell. Plain value; `bytes` are borrowed. */
struct wfs_state {
	bool live;
	struct wfs_bytes bytes; /* document; empty when not live */
	struct wfs_hash hash;   /* zero when not live */
};

/**
 * wfs_head_set_cell() - write a version of a cell, visible from @height on, and change the index
 * @reducer_index: in the manifest
 * @cell: the cell's row (of a new cell only its key), which is updated
 */
int wfs_head_set_cell(struct wfs_head *head, size_t reducer_index, struct wfs_cell *cell,
	const struct wfs_state *state, uint64_t height, int64_t at_ns);

/** wfs_head_set_kernel() - write a version of a cell that belongs to the kernel itself. */
int wfs_head_set_kernel(struct wfs_head *head, enum wfs_kernel_cell kernel_cell,
	struct wfs_bytes bytes, uint64_t height, int64_t at_ns);

/** wfs_head_set_snapshot() - note @hash as that of the newest snapshot, from head->height on. */
int wfs_head_set_snapshot(struct wfs_head *head, const struct wfs_hash *hash, int64_t at_ns);

/** wfs_head_append_snapshot() - append a snapshot record, and note @hash as that of the newest
 *  snapshot. */
int wfs_head_append_snapshot(struct wfs_head *head, const char *principal, int64_t at_ns,
	struct wfs_bytes body, const struct wfs_hash *hash);

/**
 * wfs_head_list_blob() - store a blob and list it from @height on
 * Return: 0, 1 (the blob was listed already), or -errno.
 */
int wfs_head_list_blob(
	struct wfs_head *head, const struct wfs_blob *blob, uint64_t height, int64_t at_ns);

/** wfs_head_list_bytes() - store bytes as a blob, and list it. Return: as wfs_head_list_blob(). */
int wfs_head_list_bytes(
	struct wfs_head *head, struct wfs_bytes bytes, uint64_t height, int64_t at_ns);

/* Name in the meta table: hash of the last line, raw. */
#define WFS_META_HEAD_HASH "head_hash"

/** wfs_head_flush() - write rows that are kept in memory; the caller does so before every
 *  commit. */
int wfs_head_flush(struct wfs_head *head, const struct wfs_manifest *manifest);
