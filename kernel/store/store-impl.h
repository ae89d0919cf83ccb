/* SPDX-License-Identifier: Apache-2.0 */
/* Private to kernel/store/: the structs of a store and of a transaction, and functions that several
 * files of this folder use. */
#pragma once

#include <lmdb.h>

#include "kernel/store/row-name.h"
#include "kernel/store/space.h"
#include "kernel/store/store.h"
#include "kernel/store/tables.h"

struct wfs_txn {
	struct wfs_store *store;
	MDB_txn *mdb;
	bool writing;
	bool broken;        /* a change was interrupted: the transaction can only be dropped */
	bool naming;        /* rows are read to name another row: missing ones are not noted */
	uint64_t cell_hint; /* the cell of the version that is being read, unless 0 */
	/* The cell or version that the last look-up did not find. */
	enum wfs_table absent_table;
	uint64_t absent_number;
	struct wfs_journal_cut cut; /* the newest, if known */
	bool cut_known;
	struct wfs_txn *next; /* in the store's pool of idle readers */
	/* One cursor a table, opened at its first use and kept; renewed when a reader is reused. */
	MDB_cursor *cursors[WFS_TABLE_COUNT];
	bool cursor_stale[WFS_TABLE_COUNT];
};

/* Writers of blobs that have renamed their file and are not freed yet: the row of the file may
 * still be unwritten. */
struct wfs_blob_pending {
	pthread_mutex_t lock;
	struct wfs_blob_writer *first; /* lock */
};
struct wfs_blob_pending *wfs_store_blob_pending(struct wfs_store *store);

/* How many bytes the blob files have. Each of the directories blobs/00 to blobs/ff is listed once,
 * when the bytes are first asked for. After that the owner counts the files that it makes and
 * removes; a store that was opened for reading lists the directories again for each commit. The
 * lock is held for one directory at a time, so that the kernel thread can store a large value in
 * between. */
struct wfs_blob_count {
	pthread_mutex_t lock;
	bool known[UINT8_MAX + 1]; /* lock; has this directory been listed? */
	uint64_t bytes;            /* lock; in the directories that are known */
	uint64_t last_txn;         /* lock; the commit in which they were listed */
};
struct wfs_blob_count *wfs_store_blob_count(struct wfs_store *store);

struct wfs_store {
	MDB_env *env;
	MDB_dbi tables[WFS_TABLE_COUNT];
	char *directory;
	int directory_fd;
	int format;
	int fold_version;
	bool scratch; /* its files may have been removed */
	pthread_mutex_t pool_lock;
	struct wfs_txn *pool; /* idle readers, reset; lock: pool_lock */
	bool read_only;
	struct wfs_blob_pending pending;
	struct wfs_blob_count blob_count;
	struct wfs_space space;
	/* wfs_row_name(): reading rows does not depend on the file that names them. */
	void (*name_row)(struct wfs_txn *txn, enum wfs_table table, struct wfs_bytes key,
		struct wfs_row_name *ret_name);
};

/** store_commit_error() - convert a code of LMDB from a failed write to a negative errno, as
 *  wfs_store_error() does, but to -ENOSPC if the disk is full. */
int store_commit_error(const struct wfs_store *store, int code);

/** store_txn_free() - free a transaction; if it has not ended, it is aborted. */
void store_txn_free(struct wfs_txn *txn);

/** wfs_blob_files_bytes() - add up the sizes of all blob files. Return: 0, or -errno from reading
 *  directories. */
int wfs_blob_files_bytes(struct wfs_store *store, uint64_t *ret_bytes);

/** wfs_store_read_only() - was the store opened with options->read_only? Then another process may
 *  own it. */
bool wfs_store_read_only(const struct wfs_store *store);

extern const char *const wfs_table_names[]; /* of LMDB; the last is NULL */

/** wfs_table_name() - Return: LMDB's name of the table, static. */
const char *wfs_table_name(enum wfs_table table);

/** wfs_store_has() - does the store have the table? A store of an older format lacks some. */
bool wfs_store_has(const struct wfs_store *store, enum wfs_table table);

MDB_dbi wfs_store_table(const struct wfs_store *store, enum wfs_table table);
int wfs_store_directory_fd(const struct wfs_store *store);

/** wfs_store_data_bytes() - Return: the size in bytes of all pages of data.mdb at the last commit,
 *  free ones included. */
uint64_t wfs_store_data_bytes(const struct wfs_store *store);

/** wfs_store_error() - convert a code of LMDB to 0 (success) or a negative errno. All conversions
 *  use this function. */
int wfs_store_error(int code);

enum { WFS_SEAL_SIZE = 8 };

/**
 * wfs_row_seal() - compute the checksum that is stored after every row's value
 *
 * XXH3-64 of the value, big-endian, seeded with the XXH3-64 of the key, which is seeded with the
 * table. So the checksum also fails when a damaged page makes LMDB return the row of another key or
 * table.
 */
void wfs_row_seal(enum wfs_table table, struct wfs_bytes key, struct wfs_bytes value,
	uint8_t ret_seal[static WFS_SEAL_SIZE]);

/** wfs_txn_cursor() - get the cursor that the transaction has on @table; for use within guarded
 *  calls (guard.h)
 *  @ret_cursor: borrowed until the transaction ends or drops the cursor. Return: 0, or a code of
 *  LMDB. */
int wfs_txn_cursor(struct wfs_txn *txn, enum wfs_table table, MDB_cursor **ret_cursor);
void wfs_txn_cursor_drop(struct wfs_txn *txn, enum wfs_table table);
