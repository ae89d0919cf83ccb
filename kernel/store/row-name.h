/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables, and the names of their rows in messages.
 *
 * A user knows records by their number, states by reducer, key and height, and blobs and texts by
 * their hash. Damaged rows have such names, too: what a damaged row itself says is believed only if
 * other rows confirm it. Otherwise a bounded number of rows is searched for the one that refers to
 * it.
 */
#pragma once

#include <stdint.h>

#include "kernel/base/error.h"
#include "kernel/base/hash.h"
#include "kernel/store/store.h"

/* X(constant, LMDB name) */
#define WFS_TABLES(X)                   \
	X(META, "meta")                 \
	X(JOURNAL, "journal")           \
	X(REDUCER, "reducer")           \
	X(REDUCER_NAME, "reducer_name") \
	X(CELL_BY_NAME, "cell_by_name") \
	X(CELL, "cell")                 \
	X(HISTORY, "history")           \
	X(VERSION, "version")           \
	X(BLOB, "blob")                 \
	X(BLOB_LISTED, "blob_listed")   \
	X(INDEX, "index")               \
	X(TEXT, "text")                 \
	X(TEXT_BY_HASH, "text_by_hash") \
	X(CODE_CRASH, "code_crash")

enum wfs_table {
#define WFS_TABLE_ENUM(constant, name) WFS_TABLE_##constant,
	WFS_TABLES(WFS_TABLE_ENUM)
#undef WFS_TABLE_ENUM
		WFS_TABLE_COUNT
};

struct wfs_index_set;

/* Plain value: "record 7", "reducer 'cell', key 'a' at height 8 (version 12)". */
struct wfs_row_name {
	char text[WFS_ERROR_MESSAGE_SIZE];
};

/** wfs_row_name() - name a row.
 *  @txn: to read rows that tell more about it; NULL: use the key alone */
void wfs_row_name(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key,
	struct wfs_row_name *ret_name);

/** wfs_row_name_number() - name a row of a table whose keys are numbers. */
void wfs_row_name_number(
	struct wfs_txn *txn, enum wfs_table table, uint64_t number, struct wfs_row_name *ret_name);

/** wfs_row_name_index() - name an item of a set of the index. @id: of a cell, or a record's seq */
void wfs_row_name_index(struct wfs_txn *txn, const struct wfs_index_set *set, uint64_t id,
	struct wfs_row_name *ret_name);

/** wfs_row_name_error() - insert the name of a row before @error's message. Return: -EIO. */
int wfs_row_name_error(
	struct wfs_txn *txn, enum wfs_table table, uint64_t number, struct wfs_error *error);

void wfs_row_note_lost(struct wfs_txn *txn, enum wfs_table table, uint64_t number);
void wfs_row_note_bad(struct wfs_txn *txn, enum wfs_table table, uint64_t number);

/** wfs_row_lost() - note that a required row is missing (kernel/base/damage.h). Return: -EIO. */
static inline int wfs_row_lost(struct wfs_txn *txn, enum wfs_table table, uint64_t number)
{
	wfs_row_note_lost(txn, table, number);
	return -EIO;
}

/**
 * wfs_row_needed() - convert the result of looking up a cell or version that another row refers to
 * @r: of wfs_cell_get() or wfs_version_get(), called last; -ENOENT is noted as a missing row
 * Return: @r, but -EIO for -ENOENT.
 */
int wfs_row_needed(struct wfs_txn *txn, int r);

/** wfs_row_bad() - note that a row is damaged. Return: -EIO. */
static inline int wfs_row_bad(struct wfs_txn *txn, enum wfs_table table, uint64_t number)
{
	wfs_row_note_bad(txn, table, number);
	return -EIO;
}
