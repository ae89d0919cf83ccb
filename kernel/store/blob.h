/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Large values as files: `blobs/ab/cdef…`, named by their SHA-256. Beside each file, `cdef….sums`
 * holds the XXH3-64 (big-endian) of each 64 KiB of it, so that a part can be read and checked
 * without the rest.
 *
 * A file is written under a temporary name, synced and renamed, and its directory synced, before
 * the transaction that mentions it; so every file that a row names is complete. Values below
 * WFS_BLOB_FILE_MIN are not written to files: they go into their row.
 */
#pragma once

#include <stdint.h>

#include "kernel/base/hash.h"
#include "kernel/store/tables.h"

enum {
	WFS_BLOB_FILE_MIN = 64 << 10, /* bytes; values of this size and larger are files */
	WFS_BLOB_MAX = 1 << 30,       /* bytes of a listed blob */
};

struct wfs_blob_writer;

/** wfs_blob_writer_new() - begin to receive a value in pieces. Return: 0, or -ENOMEM.
 *  @ret_writer: caller owns it */
int wfs_blob_writer_new(struct wfs_store *store, struct wfs_blob_writer **ret_writer);

/** wfs_blob_writer_add() - append a piece of the value. Return: 0, -ENOSPC, -EIO, -ENOMEM. */
int wfs_blob_writer_add(struct wfs_blob_writer *writer, const void *data, size_t size);

/** wfs_blob_writer_size() - Return: how many bytes were received so far. */
uint64_t wfs_blob_writer_size(const struct wfs_blob_writer *writer);

/**
 * wfs_blob_writer_finish() - end the value, and make its file durable if it is large
 * @ret_blob: `bytes` of a small value are borrowed from the writer; listed_id is 0
 * Return: 0, -ENOSPC, -EIO.
 */
int wfs_blob_writer_finish(struct wfs_blob_writer *writer, struct wfs_blob *ret_blob);

/** wfs_blob_writer_free() - free the writer, which may be NULL; removes the file of an unfinished
 *  value. Call this after the transaction that mentions the value has ended: until then the writer
 *  keeps wfs_blob_file_remove() from removing the file. */
void wfs_blob_writer_free(struct wfs_blob_writer *writer);
WFS_DEFINE_AUTO(blob_writer, struct wfs_blob_writer, wfs_blob_writer_free)
#define WFS_AUTO_BLOB_WRITER WFS_CLEANUP(wfs_auto_blob_writer)

/**
 * wfs_blob_file_read() - read a range of a blob's file, check it, and append it to @buffer
 * @blob: its hash and size are used; the range must lie within the size
 * Return: 0, -ENOENT, -EIO (the 64 KiB chunks around the range do not have their checksums), …
 */
int wfs_blob_file_read(struct wfs_store *store, const struct wfs_blob *blob, uint64_t offset,
	size_t size, struct wfs_buffer *buffer);

/** wfs_blob_file_check() - compare a whole file with its hash. Return: 0, -EIO (another hash), … */
int wfs_blob_file_check(struct wfs_store *store, const struct wfs_blob *blob);

/** wfs_blob_files_clean() - remove temporary files that a killed owner left; for the owner only. */
int wfs_blob_files_clean(struct wfs_store *store);

/**
 * wfs_blob_files_hold() - keep blob files from being removed
 * For callers that read files of a transaction which ends before they have finished.
 * Return: a descriptor, whose closing ends the hold; -ENOENT (the store has no blob files), or
 * another -errno.
 */
int wfs_blob_files_hold(struct wfs_store *store);

/** wfs_blob_files_settle() - have all holders that began in an earlier commit let go?
 *  Return: 0, or -EAGAIN. */
int wfs_blob_files_settle(struct wfs_store *store);

/** wfs_blob_files_each() - call @each with the hash of every file, until it returns non-zero. After
 *  a crash a hash may have its file of checksums only. */
int wfs_blob_files_each(struct wfs_store *store,
	int (*each)(void *context, const struct wfs_hash *hash), void *context);

/**
 * wfs_blob_file_remove() - remove a file that no row mentions, with its checksums
 * @ret_size_bytes: the size of the file
 * Return: 0, -EBUSY (the value was just received and its row may not be written yet), -ENOENT, …
 */
int wfs_blob_file_remove(
	struct wfs_store *store, const struct wfs_hash *hash, uint64_t *ret_size_bytes);

/**
 * wfs_blob_file_copy() - copy a blob's file to a store that lacks it, and check its hash
 * @to: only its directory is used. The copy is not synced.
 * Return: 0, -ENOENT (@from has no such file), -EIO (another hash), -ENOSPC, …
 */
int wfs_blob_file_copy(struct wfs_store *from, struct wfs_store *to, const struct wfs_blob *blob);
