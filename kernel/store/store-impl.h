/* SPDX-License-Identifier: Apache-2.0 */
/* Private to kernel/store/: what a transaction is made of. */
#pragma once

#include <lmdb.h>

#include "kernel/store/row-name.h"
#include "kernel/store/store.h"

struct wfs_txn {
	struct wfs_store *store;
	MDB_txn *mdb;
	bool writing;
	bool broken;        /* a change ended in its middle: nothing of it can be committed */
	bool naming;        /* rows are read for the name of one: what they lack is not noted */
	uint64_t cell_hint; /* of the version that is looked for, when not 0 */
	/* The cell or the version that was looked for last and is not there. */
	enum wfs_table absent_table;
	uint64_t absent_number;
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

/* How many bytes the blob files have. Each of the directories blobs/00 to blobs/ff is listed once, when the bytes are
 * first asked for; after that the owner, which alone makes and removes files, counts. A store that was opened for
 * reading lists them once for each commit that it is asked about. The lock is held for one directory at a time, so
 * that the kernel thread can store a large value while all are listed. */
struct wfs_blob_count {
	pthread_mutex_t lock;
	bool known[UINT8_MAX + 1]; /* lock; has this directory been listed? */
	uint64_t bytes;            /* lock; of the directories that have */
	uint64_t last_txn;         /* lock; when they were listed */
};
struct wfs_blob_count *wfs_store_blob_count(struct wfs_store *store);

/** wfs_blob_files_bytes() - Return: 0, or -errno of what cannot be listed. */
int wfs_blob_files_bytes(struct wfs_store *store, uint64_t *ret_bytes);

/** wfs_store_read_only() - was it opened for reading only? Then another process may be the owner. */
bool wfs_store_read_only(const struct wfs_store *store);

/** wfs_table_name() - as LMDB has it. */
const char *wfs_table_name(enum wfs_table table);

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
