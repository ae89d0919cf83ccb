/* SPDX-License-Identifier: Apache-2.0 */
/* The environment, the pool of read transactions, and the write transaction. */
#include "kernel/store/store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "kernel/base/damage.h"
#include "kernel/base/directory.h"
#include "kernel/base/formats.h"
#include "kernel/base/hash.h"
#include "kernel/base/world-file.h"
#include "kernel/store/guard.h"
#include "kernel/store/layout.h"
#include "kernel/store/pages.h"
#include "kernel/store/roots.h"
#include "kernel/store/space.h"
#include "kernel/store/store-impl.h"
#include "kernel/store/tables.h"

enum {
	FULL_DISK_BYTES = 64 << 10
}; /* with less room than this, a failed write means a full disk */

const char *const wfs_table_names[] = {
#define TABLE_NAME(constant, name) name,
	WFS_TABLES(TABLE_NAME)
#undef TABLE_NAME
		NULL,
};

const char *wfs_table_name(enum wfs_table table)
{
	return wfs_table_names[table];
}

int wfs_store_error(int code)
{
	switch (code) {
	case MDB_SUCCESS:
		return 0;
	case MDB_NOTFOUND:
		return -ENOENT;
	case MDB_KEYEXIST:
		return -EEXIST;
	case MDB_MAP_FULL:
	case EDQUOT: /* the quota of the host, which a user mends like a full disk */
		return -ENOSPC;
	case MDB_READERS_FULL:
		return -EAGAIN;
	case MDB_PANIC:
		/* A write of the root failed: LMDB does not know what is on the disk until the
		 * store is opened again. */
		return -ENOTRECOVERABLE;
	default:
		/* LMDB's own codes are negative; those not listed above mean damage or misuse. */
		return code > 0 ? -code : -EIO;
	}
}

/* LMDB reports a write that the disk had room for only in part as EIO ("short write, filesystem
 * full?" in mdb_page_flush). */
int store_commit_error(const struct wfs_store *store, int code)
{
	struct statvfs disk;

	if (code == EIO && fstatvfs(store->directory_fd, &disk) == 0 &&
		(uint64_t)disk.f_bavail * disk.f_frsize < FULL_DISK_BYTES)
		return -ENOSPC;
	return wfs_store_error(code);
}

MDB_dbi wfs_store_table(const struct wfs_store *store, enum wfs_table table)
{
	return store->tables[table];
}

bool wfs_store_has(const struct wfs_store *store, enum wfs_table table)
{
	return store->format >= WFS_STORE_FORMAT || table < WFS_TABLE_COUNT_7;
}

int wfs_store_format(const struct wfs_store *store)
{
	return store->format;
}

int wfs_store_fold_version(const struct wfs_store *store)
{
	return store->fold_version;
}

bool wfs_store_older(const struct wfs_store *store)
{
	return store->format < WFS_STORE_FORMAT || store->fold_version < WFS_FOLD_VERSION;
}

int wfs_store_directory_fd(const struct wfs_store *store)
{
	return store->directory_fd;
}

uint64_t wfs_store_last_txn(const struct wfs_store *store)
{
	MDB_envinfo info;

	(void)mdb_env_info(store->env, &info);
	return info.me_last_txnid;
}

uint64_t wfs_store_data_bytes(const struct wfs_store *store)
{
	MDB_envinfo info;
	MDB_stat stat;

	(void)mdb_env_info(store->env, &info);
	(void)mdb_env_stat(store->env, &stat);
	return (info.me_last_pgno + 1) * stat.ms_psize;
}

struct wfs_blob_pending *wfs_store_blob_pending(struct wfs_store *store)
{
	return &store->pending;
}

struct wfs_blob_count *wfs_store_blob_count(struct wfs_store *store)
{
	return &store->blob_count;
}

bool wfs_store_read_only(const struct wfs_store *store)
{
	return store->read_only;
}

void store_txn_free(struct wfs_txn *txn)
{
	/* Before the abort: a write transaction's cursors must not outlive it. */
	for (size_t i = 0; i < WFS_TABLE_COUNT; i++)
		wfs_txn_cursor_drop(txn, i);
	if (txn->mdb)
		mdb_txn_abort(txn->mdb);
	free(txn);
}

int wfs_txn_cursor(struct wfs_txn *txn, enum wfs_table table, MDB_cursor **ret_cursor)
{
	const MDB_dbi dbi = txn->store->tables[table];
	int r = 0;

	if (!txn->cursors[table]) {
		MDB_stat stat;

		/* Reads the table's root, so that mdb_cursor_open() allocates its memory without
		 * reading pages, which may be damaged. */
		r = mdb_stat(txn->mdb, dbi, &stat);
		if (!r)
			r = mdb_cursor_open(txn->mdb, dbi, &txn->cursors[table]);
	} else if (txn->cursor_stale[table]) {
		r = mdb_cursor_renew(txn->mdb, txn->cursors[table]);
	}
	if (r)
		return r;
	txn->cursor_stale[table] = false;
	*ret_cursor = txn->cursors[table];
	return 0;
}

void wfs_txn_cursor_drop(struct wfs_txn *txn, enum wfs_table table)
{
	if (txn->cursors[table])
		mdb_cursor_close(txn->cursors[table]);
	txn->cursors[table] = NULL;
}

static struct wfs_txn *pool_take(struct wfs_store *store)
{
	WFS_GUARD(&store->pool_lock);
	struct wfs_txn *txn = store->pool;

	if (txn)
		store->pool = txn->next;
	return txn;
}

static void pool_give(struct wfs_store *store, struct wfs_txn *txn)
{
	WFS_GUARD(&store->pool_lock);
	txn->next = store->pool;
	store->pool = txn;
}

static int txn_new(struct wfs_store *store, bool writing, struct wfs_txn **ret_txn)
{
	struct wfs_txn *txn = calloc(1, sizeof(*txn));

	if (!txn)
		return -ENOMEM;
	txn->store = store;
	txn->writing = writing;
	int r = mdb_txn_begin(store->env, NULL, writing ? 0 : MDB_RDONLY, &txn->mdb);
	if (r == MDB_READERS_FULL) {
		int dead = 0;

		/* Free the readers' slots of killed processes, and try again. */
		mdb_reader_check(store->env, &dead);
		if (dead)
			r = mdb_txn_begin(store->env, NULL, writing ? 0 : MDB_RDONLY, &txn->mdb);
	}
	if (r) {
		free(txn);
		return wfs_store_error(r);
	}
	*ret_txn = txn;
	return 0;
}

int wfs_store_read(struct wfs_store *store, struct wfs_txn **ret_txn)
{
	struct wfs_txn *txn = pool_take(store);

	wfs_damage_forget();
	if (!txn)
		return txn_new(store, false, ret_txn);
	int r = mdb_txn_renew(txn->mdb);
	if (r) {
		store_txn_free(txn);
		return wfs_store_error(r);
	}
	*ret_txn = txn;
	return 0;
}

int wfs_store_write(struct wfs_store *store, struct wfs_txn **ret_txn)
{
	wfs_damage_forget();
	return txn_new(store, true, ret_txn);
}

void wfs_txn_end(struct wfs_txn *txn)
{
	if (!txn)
		return;
	if (txn->writing) {
		store_txn_free(txn);
		return;
	}
	mdb_txn_reset(txn->mdb);
	txn->cut_known = false;
	for (size_t i = 0; i < WFS_TABLE_COUNT; i++)
		txn->cursor_stale[i] = true;
	pool_give(txn->store, txn);
}

static int commit(void *context)
{
	struct wfs_txn *txn = context;
	int r = mdb_txn_commit(txn->mdb);

	txn->mdb = NULL; /* LMDB has freed it, also after a failure */
	return r;
}

/* Was data.mdb removed while it is open? What is written to it now is lost with this process. */
static bool is_removed(const struct wfs_store *store)
{
	struct stat st;
	mdb_filehandle_t fd;

	return !store->scratch && mdb_env_get_fd(store->env, &fd) == 0 && fstat(fd, &st) == 0 &&
		st.st_nlink == 0;
}

int wfs_txn_commit(struct wfs_txn *txn)
{
	wfs_require(txn->writing);
	if (txn->broken || is_removed(txn->store)) {
		const int r = txn->broken ? -EIO : -ENOENT;

		wfs_txn_end(txn);
		return r;
	}
	for (size_t i = 0; i < WFS_TABLE_COUNT; i++)
		wfs_txn_cursor_drop(txn, i);
	int r = guard_call(commit, txn);

	if (r)
		r = store_commit_error(txn->store, r);
	store_txn_free(txn);
	return r;
}
