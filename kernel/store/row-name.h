/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables, and the names of their rows in messages.
 *
 * A user knows records by their number, states by reducer, key and height, and blobs and texts by
 * their hash. Damaged rows get such names, too: what a damaged row itself says is believed only if
 * other rows confirm it. Otherwise a bounded number of rows is searched for one that refers to the
 * damaged row. A @number is the key of a row in a table whose keys are single numbers: journal,
 * reducer_name, cell, version, blob_listed, text.
 */
#pragma once

#include <stdint.h>

#include "kernel/base/error.h"
#include "kernel/base/hash.h"
#include "kernel/store/store.h"

/* X(constant, LMDB name). Tables that a format adds follow those of the formats before. */
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
		WFS_TABLE_COUNT,
	WFS_TABLE_COUNT_7 = WFS_TABLE_TEXT, /* of format 7 */
};

struct wfs_index_set;

/* The name of a row, for messages. Plain value: "record 7", "reducer 'cell', key 'a' at height 8
 * (version 12)". */
struct wfs_row_name {
	char text[WFS_ERROR_MESSAGE_SIZE];
};

/** wfs_row_name() - make the name of the row of @table with the key @key
 *  @txn: to read rows that tell more about this row; NULL: use the key alone */
void wfs_row_name(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key,
	struct wfs_row_name *ret_name);

/** wfs_row_name_number() - make the name of the row of @table with the key @number
 *  @txn: as for wfs_row_name() */
void wfs_row_name_number(
	struct wfs_txn *txn, enum wfs_table table, uint64_t number, struct wfs_row_name *ret_name);

/** wfs_row_name_index() - make the name of a member of a set of the table index. @id: of a
 *  cell, or a record's seq. @txn: as for wfs_row_name() */
void wfs_row_name_index(struct wfs_txn *txn, const struct wfs_index_set *set, uint64_t id,
	struct wfs_row_name *ret_name);

/** wfs_row_name_error() - put the name of the damaged row with the key @number before the message
 *  of @error, and note the damage as wfs_row_bad() does. @error: filled already; may be NULL
 *  Return: -EIO. */
int wfs_row_name_error(
	struct wfs_txn *txn, enum wfs_table table, uint64_t number, struct wfs_error *error);

/* Do what wfs_row_lost() and wfs_row_bad() do, which also return -EIO. */
void wfs_row_note_lost(struct wfs_txn *txn, enum wfs_table table, uint64_t number);
void wfs_row_note_bad(struct wfs_txn *txn, enum wfs_table table, uint64_t number);

/** wfs_row_lost() - note, for the message of a later error (kernel/base/damage.h), that the row
 *  with the key @number is missing, which must exist. Return: -EIO. */
static inline int wfs_row_lost(struct wfs_txn *txn, enum wfs_table table, uint64_t number)
{
	wfs_row_note_lost(txn, table, number);
	return -EIO;
}

/** wfs_row_needed() - convert the result of looking up a cell or version that must exist, because a
 *  row refers to it: note that the row is missing if @r is -ENOENT
 *  @r: result of wfs_cell_get() or wfs_version_get() (tables.h), the last look-up in @txn
 *  Return: -EIO if @r is -ENOENT; otherwise @r. */
int wfs_row_needed(struct wfs_txn *txn, int r);

/** wfs_row_bad() - note, for the message of a later error (kernel/base/damage.h), that the row with
 *  the key @number is damaged. Return: -EIO. */
static inline int wfs_row_bad(struct wfs_txn *txn, enum wfs_table table, uint64_t number)
{
	wfs_row_note_bad(txn, table, number);
	return -EIO;
}
