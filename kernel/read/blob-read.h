/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the bytes of blobs and versions, which are in a row or in a file, and checking them. No
 * other module reads them. Damaged or missing bytes give the error hash_mismatch. A value is the
 * bytes of a blob or a version.
 */
#pragma once

#include "kernel/store/blob.h"

/* A range of bytes of a value. Plain value. */
struct wfs_range {
	uint64_t offset;
	size_t size; /* a range that passes the end of the value gives fewer */
};

/* All bytes of a value. */
#define WFS_RANGE_ALL ((struct wfs_range){.size = SIZE_MAX})

/** wfs_version_value() - describe the value of a version as a blob. Return: its `bytes` stay valid
 *  as long as those of @version. */
struct wfs_blob wfs_version_value(const struct wfs_version *version);

/** wfs_value_read() - read a range of a value
 *  A value in a row is compared with its hash; of a value in a file, only the 64 KiB pieces that
 *  the range touches are compared with their checksums. @value: from a view, or from
 *  wfs_version_value()
 *  @buffer: if the value is in a file, the bytes of the range are appended to it
 *  @ret_bytes: bytes of the range; borrowed from the value's row, or from @buffer
 *  Return: 0, -EIO (hash_mismatch: also when the file is missing), -ENOMEM, … */
int wfs_value_read(struct wfs_store *store, const struct wfs_blob *value, struct wfs_range range,
	struct wfs_buffer *buffer, struct wfs_bytes *ret_bytes, struct wfs_error *error);

/*
 * Whole values, read into memory and compared with their hash: for the kernel's own use (modules,
 * states of large cells), not for readers of files.
 */

/** wfs_blob_read() - append all bytes of the blob with the hash @hash to @buffer; after a failure,
 *  @buffer may have some of them
 *  Return: 0, -EIO (hash_mismatch: also when the blob is missing), … */
int wfs_blob_read(struct wfs_store *store, struct wfs_txn *txn, const struct wfs_hash *hash,
	struct wfs_buffer *buffer, struct wfs_error *error);

/** wfs_version_read() - append all bytes of a version, which must not be a deletion, to @buffer;
 *  after a failure, @buffer may have some of them. Return: as wfs_blob_read(). */
int wfs_version_read(struct wfs_store *store, const struct wfs_version *version,
	struct wfs_buffer *buffer, struct wfs_error *error);
