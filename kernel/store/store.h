/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store of a world: one LMDB environment and the transactions on it. The only user of lmdb.h.
 *
 * Readers work on snapshots, take no lock and never wait for the writer; only one writer works at a
 * time. A transaction belongs to one request and ends with it, because an old snapshot keeps alive
 * every page that was freed since. Rows are in tables.h, large values as files in blob.h.
 * Source: docs/design.md §3, §6.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/base/buffer.h"
#include "kernel/base/cleanup.h"
#include "kernel/base/error.h"

struct wfs_problems;

struct wfs_store;
struct wfs_txn;

/* Option struct: plain value. */
struct wfs_store_options {
	bool create;  /* make the tables; -EEXIST if the directory has a store already */
	bool scratch; /* the store may be lost: commits are not synced */
	/* No write transactions; works beside a process that owns the store, and opens older
	 * formats, too. */
	bool read_only;
	bool upgrade; /* turn a store of an older format into one of this program's format */
	/* Check all pages before the first row is read, unless the last transaction has the number
	 * `believed_txn`, which the caller knows to be undamaged. */
	bool walk_pages;
	uint64_t believed_txn;         /* 0: none */
	struct wfs_problems *problems; /* gets all that the check of pages finds; may be NULL */
	/* Called by the check of pages with `context`: @done of @total pages were checked. If it
	 * returns false, the store is not opened (-EINTR). NULL: nothing is called. */
	bool (*pages_checked)(void *context, uint64_t done, uint64_t total);
	void *context;
	uint64_t map_size_bytes; /* maximum size of data.mdb, whole pages; 0: default */
};

#define WFS_STORE_MAP_SIZE_DEFAULT (UINT64_C(256) << 30) /* address space, not disk */

/* Figures of a store: plain value. */
struct wfs_store_figures {
	uint64_t map_size_bytes;
	uint64_t used_bytes;  /* bytes of pages, up to the highest one in use */
	uint64_t free_bytes;  /* how many of these are in free pages, for later commits */
	uint64_t blob_bytes;  /* of all blob files without checksums; see wfs_store_count_blobs() */
	uint64_t readers_max; /* read transactions that can exist at a time */
};

/** wfs_store_open() - open or create `data.mdb`, `lock.mdb` and `blobs/` in @directory
 *  @ret_store: caller closes it with wfs_store_close()
 *  Return: 0, -ENOENT (not_found: no store in the directory), -EEXIST (already_exists, with
 *  create), -EINVAL (format_newer: the store has a newer format or fold version than this program;
 *  format_older: it has an older one, and is opened neither with read_only nor with upgrade, or
 *  this program knows it no more; invalid_argument: bad map size), -EIO (hash_mismatch: a page is
 *  damaged; the message names the first one), -EINTR (`pages_checked` returned false), -ENOSPC,
 *  -ENOMEM, or another -errno. */
int wfs_store_open(const char *directory, const struct wfs_store_options *options,
	struct wfs_store **ret_store, struct wfs_error *error);

/** wfs_store_close() - close the store; all its transactions must have ended. */
void wfs_store_close(struct wfs_store *store);
WFS_DEFINE_AUTO(store, struct wfs_store, wfs_store_close)
#define WFS_AUTO_STORE WFS_CLEANUP(wfs_auto_store)

/** wfs_store_format() - Return: the format of the store: WFS_STORE_FORMAT (kernel/base/formats.h)
 *  or, if the store was opened for reading only, perhaps an older one. */
int wfs_store_format(const struct wfs_store *store);

/** wfs_store_fold_version() - Return: the fold version of the store: WFS_FOLD_VERSION
 *  (kernel/base/formats.h) or, if the store was opened for reading only, perhaps an older one. */
int wfs_store_fold_version(const struct wfs_store *store);

/** wfs_store_older() - is the store's format or fold version older than this program's? */
bool wfs_store_older(const struct wfs_store *store);

/** wfs_store_refuse_older() - fill @error with format_older, for a request to change a store whose
 *  format or fold version is older than this program's. Return: -EINVAL. */
int wfs_store_refuse_older(const struct wfs_store *store, struct wfs_error *error);

/** wfs_store_last_txn() - Return: the number of the last committed transaction. */
uint64_t wfs_store_last_txn(const struct wfs_store *store);

/** wfs_store_figures() - get all figures but `blob_bytes`, which is set to 0. */
void wfs_store_figures(struct wfs_store *store, struct wfs_store_figures *ret_figures);

/** wfs_store_count_blobs() - set figures->blob_bytes; to 0 if the blob files cannot be listed
 *  The first call for a store lists all files, which takes long when there are many. */
void wfs_store_count_blobs(struct wfs_store *store, struct wfs_store_figures *figures);

/** wfs_store_read() - begin a read transaction, which sees the rows of the last commit
 *  @ret_txn: caller ends it with wfs_txn_end()
 *  Thread: any; the transaction may move between threads. Return: 0, -EAGAIN (as many read
 *  transactions exist as can, see wfs_store_figures.readers_max), -ENOMEM. */
int wfs_store_read(struct wfs_store *store, struct wfs_txn **ret_txn);

/** wfs_store_write() - begin a write transaction; waits until the one before has ended
 *  @ret_txn: caller ends it with wfs_txn_commit() or wfs_txn_end(); only the calling thread may use
 *  it. Return: 0, -EACCES (the store was opened with `read_only`), or another -errno. */
int wfs_store_write(struct wfs_store *store, struct wfs_txn **ret_txn);

/** wfs_txn_commit() - commit a write transaction and make it durable; a failure drops its changes.
 *  Frees @txn in any case. Return: 0, -ENOSPC, -EIO, -ENOENT (data.mdb has been removed),
 *  or another -errno. */
int wfs_txn_commit(struct wfs_txn *txn);

/** wfs_txn_end() - end and free a read transaction, or a write transaction whose changes are
 *  dropped; @txn may be NULL. */
void wfs_txn_end(struct wfs_txn *txn);
WFS_DEFINE_AUTO(txn, struct wfs_txn, wfs_txn_end)
#define WFS_AUTO_TXN WFS_CLEANUP(wfs_auto_txn)

/* A caller's function that long checks call now and then: @done of @total pages were checked.
 * Return: false to stop. */
typedef bool wfs_store_pages_fn(void *context, uint64_t done, uint64_t total);

/** wfs_store_check_pages() - check all pages of data.mdb that the last commit uses, as pages.h says
 *  A writer may be at work during the check. Time is bounded by the size of the file.
 *  @problems: gets what is wrong; @progress: called with @context; may be NULL
 *  Return: 0 (also if problems were added), -EINTR (@progress returned false), -EIO, -EAGAIN (too
 *  many readers, or commits follow each other too fast), -ENOMEM. */
int wfs_store_check_pages(struct wfs_store *store, struct wfs_problems *problems,
	wfs_store_pages_fn *progress, void *context);

/* A caller's function that copying calls after every piece: @done_bytes were copied so far. Return:
 * false to stop. */
typedef bool wfs_store_copy_fn(void *context, uint64_t done_bytes);

/** wfs_store_copy() - write the state of the last commit to @fd, as a data.mdb without free pages
 *  Holds one read transaction from beginning to end, so pages that commits free during the copy are
 *  reused only after it. @each: called with @context; may be NULL
 *  Return: 0, -EINTR (@each returned false), -ENOSPC, -EIO, -EAGAIN (too many readers), -ENOMEM. */
int wfs_store_copy(struct wfs_store *store, int fd, wfs_store_copy_fn *each, void *context);
