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
	/* Of these records, by `next`, in their order: those with an id are listed; may be NULL. */
	const struct wfs_request *requests;
};

/** wfs_batch_make() - append to @buffer the encoded batch of records
 *  Attached are contents and code that they give artifacts, private texts and manifests that they
 *  bring, the modules that such a manifest has and the one before has not, and blobs of up to
 *  WFS_BATCH_BLOB_MAX bytes that they list. The same records and ids give the same bytes from every
 *  transaction that has the records.
 *  @txn: of @store; only read
 *  Return: 0, -ENOENT (not_found: a record, or what must be attached, is not kept any more),
 *  -EFBIG (too_large), -EIO, -ENOMEM, …; after a failure the contents of @buffer mean nothing. */
int wfs_batch_make(struct wfs_store *store, struct wfs_txn *txn, const struct wfs_batch_of *of,
	struct wfs_buffer *buffer, struct wfs_error *error);
