/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshot documents: one line for each live cell, sorted, so that two worlds with equal cells have
 * equal hashes, whatever their histories.
 * Source: docs/design.md §13.
 */
#pragma once

#include "kernel/read/view.h"

/* Computes the hash of a snapshot document. Plain value: init, add …, end, done. */
struct wfs_snapshot_document {
	struct wfs_hasher *hasher; /* owned */
	struct wfs_buffer line;    /* scratch */
};
int wfs_snapshot_document_init(
	struct wfs_snapshot_document *document, const struct wfs_hash *manifest_hash);
/** wfs_snapshot_document_add() - add the line of the next live cell; the caller adds cells in the
 *  order of wfs_snapshot_walk(). @hash: of the cell's state. Return: 0, -ENOMEM. */
int wfs_snapshot_document_add(struct wfs_snapshot_document *document, struct wfs_bytes reducer,
	struct wfs_bytes key, const struct wfs_hash *hash);
struct wfs_hash wfs_snapshot_document_end(struct wfs_snapshot_document *document);
void wfs_snapshot_document_done(struct wfs_snapshot_document *document);
#define WFS_AUTO_SNAPSHOT_DOCUMENT WFS_CLEANUP(wfs_snapshot_document_done)

/* Called for every live cell. Callback table. */
struct wfs_snapshot_walker {
	/* @reducer, @key and @version: borrowed during the call. Return: 0, or -errno that ends the
	 * walk. */
	int (*cell)(void *context, struct wfs_bytes reducer, struct wfs_bytes key,
		const struct wfs_version *version, struct wfs_error *error);
	/* Report progress: @done of @total cells were walked; may be NULL. */
	void (*progress)(void *context, uint64_t done, uint64_t total);
	void *context; /* for both */
};

/** wfs_snapshot_walk() - call @walker for each live cell of a view, in the order of the snapshot
 *  document
 *  @view: if it has a transaction of its own, the walk closes the view now and then and opens it
 *  again at its height, so that no old transaction keeps pages from being used again; bytes that
 *  the caller has borrowed from the view are then not valid any more. The caller closes the view,
 *  after a failure, too
 *  Return: 0, the -errno of `cell`, or -errno of the store. */
int wfs_snapshot_walk(
	struct wfs_view *view, const struct wfs_snapshot_walker *walker, struct wfs_error *error);

/** wfs_snapshot_document_walk() - add all live cells of a view to @document, which was initialised
 *  and has no cells yet, and end it; the caller still calls wfs_snapshot_document_done()
 *  @view: as for wfs_snapshot_walk()
 *  @ret_hash: of the whole document. Return: 0, or -errno. */
int wfs_snapshot_document_walk(struct wfs_snapshot_document *document, struct wfs_view *view,
	struct wfs_hash *ret_hash, struct wfs_error *error);

/** wfs_snapshot_hash() - compute the hash of the snapshot document of a height, with a walk over
 *  all its live cells (wfs_snapshot_walk())
 *  @progress: called now and then with @context: @done of @total cells were walked; may be NULL
 *  Return: 0, -ENOENT (height_unavailable: the height is not reached yet, or was dropped), -EIO,
 *  -ENOMEM. */
int wfs_snapshot_hash(struct wfs_store *store, uint64_t height,
	void (*progress)(void *context, uint64_t done, uint64_t total), void *context,
	struct wfs_hash *ret_hash, struct wfs_error *error);
