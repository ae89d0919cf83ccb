/* SPDX-License-Identifier: Apache-2.0 */
/* Private to kernel/store/: what a transaction is made of. */
#pragma once

#include <lmdb.h>

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

struct wfs_txn {
	struct wfs_store *store;
	MDB_txn *mdb;
	bool writing;
	bool broken;          /* a change ended in its middle: nothing of it can be committed */
	struct wfs_txn *next; /* in the store's pool of idle readers */
	/* One cursor a table, opened at its first use and kept: for a pooled reader it is renewed. */
	MDB_cursor *cursors[WFS_TABLE_COUNT];
	bool cursor_stale[WFS_TABLE_COUNT];
};

/* Writers whose file has its name, while they live: its row may not be there yet. */
struct wfs_blob_pending {
	pthread_mutex_t lock;
	struct wfs_blob_writer *first; /* lock */
};
struct wfs_blob_pending *wfs_store_blob_pending(struct wfs_store *store);

MDB_dbi wfs_store_table(const struct wfs_store *store, enum wfs_table table);
int wfs_store_directory_fd(const struct wfs_store *store);

/** wfs_store_data_bytes() - size of the pages of data.mdb at the last commit. */
uint64_t wfs_store_data_bytes(const struct wfs_store *store);

/** wfs_store_error() - the one conversion of LMDB's codes to negative errno. */
int wfs_store_error(int code);

enum { WFS_SEAL_SIZE = 8 };

/**
 * wfs_row_seal() - the checksum that stands behind every row's value
 *
 * XXH3-64 of the value, big-endian, seeded with that of the key, which is seeded with the table:
 * so it also tells when LMDB is led astray and gives a row of another key or table.
 */
void wfs_row_seal(enum wfs_table table, struct wfs_bytes key, struct wfs_bytes value,
	uint8_t ret_seal[static WFS_SEAL_SIZE]);

/** wfs_txn_cursor() - the transaction's own cursor on @table. Borrowed until the txn ends, or it is
 *  dropped. For calls under the guard. Return: a code of LMDB. */
int wfs_txn_cursor(struct wfs_txn *txn, enum wfs_table table, MDB_cursor **ret_cursor);
void wfs_txn_cursor_drop(struct wfs_txn *txn, enum wfs_table table);
