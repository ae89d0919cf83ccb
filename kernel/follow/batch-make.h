/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making the batch (kernel/value/batch.h) of records of a world, from a transaction that has them:
 * one that is about to be committed (kernel/world/aside.h), or a later one.
 */
#pragma once

#include "kernel/store/tables.h"
#include "kernel/value/batch.h"

struct wfs_request;

/* What a batch is made of. Plain value; borrowed. */
struct wfs_batch_of {
	uint64_t from; /* its first record, which begins a request; above 0 */
	uint64_t to;   /* one more than the last */
	/* The requests of these records, linked by `next`, in the records' order: the batch lists
	 * those with an id; may be NULL. */
	const struct wfs_request *requests;
};

/** wfs_batch_make() - append to @buffer the encoded batch of the records of @of
 *  The batch also has content and code that these records give artifacts, their private texts, the
 *  manifests that they bring into force, the modules that such a manifest has and the one before
 *  has not, and each blob of up to WFS_BATCH_BLOB_MAX bytes (kernel/value/batch.h) that a `blob`
 *  record among them names. Equal records and equal ids of their requests give equal bytes, in
 *  whatever transaction they are read.
 *  @txn: of @store; only read
 *  Return: 0, -ENOENT (not_found: a record, or something else that the batch must have, is not
 *  kept any more), -EFBIG (too_large: the batch would have more than WFS_BATCH_SIZE_MAX bytes or
 *  WFS_BATCH_ATTACHED_MAX attached items), -EIO, -ENOMEM, …; after a failure the contents of
 *  @buffer mean nothing. */
int wfs_batch_make(struct wfs_store *store, struct wfs_txn *txn, const struct wfs_batch_of *of,
	struct wfs_buffer *buffer, struct wfs_error *error);
