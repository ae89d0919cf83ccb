/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store of a world: one LMDB environment and the transactions on it. The only user of lmdb.h.
 *
 * Readers work on snapshots, take no lock and never wait for the writer; there is one writer at a
 * time. A transaction belongs to one request and ends with it, because an old snapshot keeps every
 * page freed since alive. Rows live in tables.h, large values as files in blob.h.
 * Source: design §3, §5.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/base/buffer.h"
#include "kernel/base/cleanup.h"
#include "kernel/base/error.h"
#include "kernel/base/problems.h"

enum { WFS_STORE_FORMAT = 8 }; /* raised when rows change their meaning */

struct wfs_store;
struct wfs_txn;

/* Option struct: plain value. */
struct wfs_store_options {
	bool create;    /* make the tables; refuses a directory that has a store already */
	bool scratch;   /* may be lost: commits are not synced */
	bool read_only; /* no write transactions; may run beside the owner */
	/* Walk all pages before the first row is read, unless @believed_txn was the last transaction. */
	bool walk_pages;
	uint64_t believed_txn;
	struct wfs_problems *problems; /* of the walk: gets all that is wrong; may be NULL */
	uint64_t
		map_size_bytes; /* upper bound of data.mdb, a multiple of the page size; 0: default */
};

#define WFS_STORE_MAP_SIZE_DEFAULT (UINT64_C(256) << 30) /* address space, not disk */

/* Figures of a store: plain value. */
struct wfs_store_figures {
	uint64_t map_size_bytes;
	uint64_t used_bytes; /* pages in use, up to the highest one */
	uint64_t free_bytes; /* of these: pages that later commits use again */
	uint64_t blob_bytes; /* of all blob files, checksums apart; see wfs_store_count_blobs() */
	uint64_t readers_max;
};

/**
 * wfs_store_open() - open or create `data.mdb`, `lock.mdb` and `blobs/` in @directory
 * Return: 0, -ENOENT (not_found: no store there), -EEXIST (already_exists, with create),
 *         -EINVAL (format_older, format_newer; invalid_argument: bad map size), -EIO (hash_mismatch: names the
 *         first damaged page), -ENOSPC, -ENOMEM.
 */
int wfs_store_open(const char *directory, const struct wfs_store_options *options,
	struct wfs_store **ret_store, struct wfs_error *error);

/** wfs_store_close() - no transaction may be left. */
void wfs_store_close(struct wfs_store *store);
WFS_DEFINE_AUTO(store, struct wfs_store, wfs_store_close)
#define WFS_AUTO_STORE WFS_CLEANUP(wfs_auto_store)

/** wfs_store_directory() - path given at open. */
const char *wfs_store_directory(const struct wfs_store *store);

/** wfs_store_last_txn() - the number of the last transaction that was committed. */
uint64_t wfs_store_last_txn(const struct wfs_store *store);

/** wfs_store_figures() - all but `blob_bytes`, which is 0 */
void wfs_store_figures(struct wfs_store *store, struct wfs_store_figures *ret_figures);

/** wfs_store_count_blobs() - set `blob_bytes`; 0 when the blob files cannot be listed. The first call for a store lists
 *  all of them, which takes long when there are many. */
void wfs_store_count_blobs(struct wfs_store *store, struct wfs_store_figures *figures);

/**
 * wfs_store_read() - begin a read transaction (a snapshot of the last commit)
 * Thread: any; the transaction may move between threads. Return: 0, -EAGAIN (too many), -ENOMEM.
 */
int wfs_store_read(struct wfs_store *store, struct wfs_txn **ret_txn);

/** wfs_store_write() - begin the write transaction; waits for the one before. */
int wfs_store_write(struct wfs_store *store, struct wfs_txn **ret_txn);

/** wfs_txn_commit() - make a write transaction durable; @txn is gone whatever comes back.
 *  Return: 0, -ENOSPC, -EIO, -ENOENT (data.mdb was removed meanwhile). */
int wfs_txn_commit(struct wfs_txn *txn);

/** wfs_txn_end() - end a read transaction, or drop a write transaction; accepts NULL. */
void wfs_txn_end(struct wfs_txn *txn);
WFS_DEFINE_AUTO(txn, struct wfs_txn, wfs_txn_end)
#define WFS_AUTO_TXN WFS_CLEANUP(wfs_auto_txn)

/* Called every so many pages. Return: false to give up. */
typedef bool wfs_store_pages_fn(void *context, uint64_t done, uint64_t total);

/**
 * wfs_store_check_pages() - check all pages of data.mdb as of the last commit
 * See pages.h. A writer may be at work meanwhile. Time is bounded by the size of the file.
 * @problems: what is wrong; @progress: may be NULL
 * Return: 0 (also with problems), -EINTR (@progress gave up), -EIO, -EAGAIN, -ENOMEM.
 */
int wfs_store_check_pages(struct wfs_store *store, struct wfs_problems *problems,
	wfs_store_pages_fn *progress, void *context);

/* Told of every piece, with the bytes so far. Return: false to give up. */
typedef bool wfs_store_copy_fn(void *context, uint64_t done_bytes);

/**
 * wfs_store_copy() - append the last commit to @fd, as a data.mdb without free pages
 *
 * One read transaction from beginning to end: pages that others free meanwhile are not used again
 * before it returns.
 * @each: may be NULL
 * Return: 0, -EINTR (@each gave up), -ENOSPC, -EIO, -EAGAIN, -ENOMEM.
 */
int wfs_store_copy(struct wfs_store *store, int fd, wfs_store_copy_fn *each, void *context);
