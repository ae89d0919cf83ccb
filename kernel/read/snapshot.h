/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshot documents: one line per live cell, sorted, so that equal states have equal hashes
 * whatever their history.
 * Source: docs/design.md §13.
 */
#pragma once

#include "kernel/read/view.h"

/** wfs_snapshot_header() - the first line of a snapshot document. */
void wfs_snapshot_header(struct wfs_buffer *buffer, const struct wfs_hash *manifest_hash);

/* A snapshot document on its way into a hash. Plain value: init, add …, end, done. */
struct wfs_snapshot_document {
	struct wfs_hasher *hasher;
	struct wfs_buffer line;
};
int wfs_snapshot_document_init(
	struct wfs_snapshot_document *document, const struct wfs_hash *manifest_hash);
/** wfs_snapshot_document_add() - the next live cell, in the order of wfs_snapshot_walk. */
int wfs_snapshot_document_add(struct wfs_snapshot_document *document, struct wfs_bytes reducer,
	struct wfs_bytes key, const struct wfs_hash *hash);
struct wfs_hash wfs_snapshot_document_end(struct wfs_snapshot_document *document);
void wfs_snapshot_document_done(struct wfs_snapshot_document *document);
#define WFS_AUTO_SNAPSHOT_DOCUMENT WFS_CLEANUP(wfs_snapshot_document_done)

/* Who is told of every live cell. */
struct wfs_snapshot_walker {
	/* @reducer, @key and @version: borrowed during the call. Return: 0, or -errno that ends it. */
	int (*cell)(void *context, struct wfs_bytes reducer, struct wfs_bytes key,
		const struct wfs_version *version, struct wfs_error *error);
	/* Now and then, with cells done and in all; may be NULL. */
	void (*progress)(void *context, uint64_t done, uint64_t total);
	void *context;
};

/**
 * wfs_snapshot_walk() - the live cells of a view in the order of snapshot documents
 * @view: if it owns its transaction, it is opened again at its height now and then, so that no old
 *        transaction keeps pages alive
 */
int wfs_snapshot_walk(
	struct wfs_view *view, const struct wfs_snapshot_walker *walker, struct wfs_error *error);

/** wfs_snapshot_body() - body of the record that holds a snapshot's hash. @charge: may be NULL */
void wfs_snapshot_body(struct wfs_buffer *buffer, const char *charge, uint64_t height,
	const struct wfs_hash *hash);

/** wfs_snapshot_document_walk() - add all of a view, and end. */
int wfs_snapshot_document_walk(struct wfs_snapshot_document *document, struct wfs_view *view,
	struct wfs_hash *ret_hash, struct wfs_error *error);

/**
 * wfs_snapshot_hash() - hash of the snapshot document of a height
 *
 * Reads every cell; the view is renewed at the same height on the way, so that no old transaction
 * keeps pages alive.
 * @progress: called now and then with cells done and in all; may be NULL
 * Return: 0, -ENOENT (height_unavailable), -EIO, -ENOMEM.
 */
int wfs_snapshot_hash(struct wfs_store *store, uint64_t height,
	void (*progress)(void *context, uint64_t done, uint64_t total), void *context,
	struct wfs_hash *ret_hash, struct wfs_error *error);
