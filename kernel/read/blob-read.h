/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of values, checked: the one place that reads them. Blobs and versions hold theirs in the
 * same way, in their row or in a file. What is damaged or missing is hash_mismatch.
 */
#pragma once

#include "kernel/store/blob.h"

/* Bytes of a value. Plain value. */
struct wfs_range {
	uint64_t offset;
	size_t size; /* fewer are there only at the end */
};

/* Everything. */
#define WFS_RANGE_ALL ((struct wfs_range){.size = SIZE_MAX})

/** wfs_version_value() - a version, seen as a blob; its bytes are borrowed as those are. */
struct wfs_blob wfs_version_value(const struct wfs_version *version);

/**
 * wfs_value_read() - a range of a value
 * A row is compared with its hash, of a file the parts around the range with their checksums.
 * @buffer: the bytes of a file are appended to it
 * @ret_bytes: borrowed from the value's row or from @buffer
 * Return: 0, -EIO (hash_mismatch: also when the file is missing), -ENOMEM, …
 */
int wfs_value_read(struct wfs_store *store, const struct wfs_blob *value, struct wfs_range range,
	struct wfs_buffer *buffer, struct wfs_bytes *ret_bytes, struct wfs_error *error);

/*
 * Whole values into memory, files compared with their hash, too: for the kernel's own use (modules,
 * states of large cells), not for serving files.
 */

/** wfs_blob_read() - append a blob. Return: 0, -EIO (hash_mismatch: also when it is missing). */
int wfs_blob_read(struct wfs_store *store, struct wfs_txn *txn, const struct wfs_hash *hash,
	struct wfs_buffer *buffer, struct wfs_error *error);

/** wfs_version_read() - append the bytes of a version. Return: as above. */
int wfs_version_read(struct wfs_store *store, const struct wfs_version *version,
	struct wfs_buffer *buffer, struct wfs_error *error);
