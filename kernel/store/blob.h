/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Large values as files: `blobs/ab/cdef…`, named by their SHA-256. Beside each stands
 * `cdef….sums`, the XXH3-64 (big-endian) of each 64 KiB of it, so that a part can be read and
 * checked without the rest.
 *
 * A file is written under a temporary name, synced and renamed, and its directory synced, before
 * the transaction that mentions it; so a row never names a file that is not there whole. Values
 * below WFS_BLOB_FILE_MIN never touch the disk here: they go into their row.
 */
#pragma once

#include <stdint.h>

#include "kernel/base/hash.h"
#include "kernel/store/tables.h"

enum {
	WFS_BLOB_FILE_MIN = 64 << 10, /* bytes; from here on a value is a file */
	WFS_BLOB_MAX = 1 << 30,       /* bytes of a listed blob (spec 2) */
};

struct wfs_blob_writer;

/** wfs_blob_writer_new() - receive a value in pieces. */
int wfs_blob_writer_new(struct wfs_store *store, struct wfs_blob_writer **ret_writer);

/** wfs_blob_writer_add() - Return: 0, -ENOSPC, -EIO, -ENOMEM. */
int wfs_blob_writer_add(struct wfs_blob_writer *writer, const void *data, size_t size);

/** wfs_blob_writer_size() - bytes received so far. */
uint64_t wfs_blob_writer_size(const struct wfs_blob_writer *writer);

/**
 * wfs_blob_writer_finish() - the value is whole; make its file durable
 * @ret_blob: `bytes` are borrowed from the writer when the value is small; listed_id is 0
 * Return: 0, -ENOSPC, -EIO.
 */
int wfs_blob_writer_finish(struct wfs_blob_writer *writer, struct wfs_blob *ret_blob);

/** wfs_blob_writer_free() - removes the temporary file of an unfinished value; accepts NULL. Not
 *  before the transaction that mentions the value has ended: until then its file is safe. */
void wfs_blob_writer_free(struct wfs_blob_writer *writer);
WFS_DEFINE_AUTO(blob_writer, struct wfs_blob_writer, wfs_blob_writer_free)
#define WFS_AUTO_BLOB_WRITER WFS_CLEANUP(wfs_auto_blob_writer)

/**
 * wfs_blob_file_read() - append a range of a blob's file, checked
 * @blob: its hash and size are used; the range lies within
 * Return: 0, -ENOENT, -EIO (a byte of the chunks around the range is not what was written), …
 */
int wfs_blob_file_read(struct wfs_store *store, const struct wfs_blob *blob, uint64_t offset,
	size_t size, struct wfs_buffer *buffer);

/** wfs_blob_file_check() - read the whole file and compare. Return: 0, -EIO (does not hash), … */
int wfs_blob_file_check(struct wfs_store *store, const struct wfs_blob *blob);

/** wfs_blob_files_clean() - remove what a killed owner was writing; only for the owner. */
int wfs_blob_files_clean(struct wfs_store *store);

/**
 * wfs_blob_files_hold() - nobody removes blob files from now on
 * For who reads files of a transaction that ends before the reading does.
 * Return: a descriptor; closing it lets go; -ENOENT (there are none at all), or another -errno.
 */
int wfs_blob_files_hold(struct wfs_store *store);

/** wfs_blob_files_settle() - is everybody gone who held them in an earlier commit?
 *  Return: 0, or -EAGAIN. */
int wfs_blob_files_settle(struct wfs_store *store);

/** wfs_blob_files_each() - call @each with the hash of every file until it returns not 0. Of some
 *  there may be the sums alone: a crash came between. */
int wfs_blob_files_each(struct wfs_store *store,
	int (*each)(void *context, const struct wfs_hash *hash), void *context);

/**
 * wfs_blob_file_remove() - remove the file of a value that no row mentions, or what is left of it
 * Return: 0, -EBUSY (it has just been received, so that its row may be under way), -ENOENT, …
 */
int wfs_blob_file_remove(
	struct wfs_store *store, const struct wfs_hash *hash, uint64_t *ret_size_bytes);

/**
 * wfs_blob_file_copy() - give @to the file of a blob, unless it has one, and check its hash there
 * @to: only its directory is used. The copy is not synced.
 * Return: 0, -ENOENT (there is no file), -EIO (does not hash), -ENOSPC, …
 */
int wfs_blob_file_copy(struct wfs_store *from, struct wfs_store *to, const struct wfs_blob *blob);
