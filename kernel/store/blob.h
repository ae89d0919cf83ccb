/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Large values as files: `blobs/ab/cdef…`, named by their SHA-256. Beside each file, `cdef….sums`
 * holds the XXH3-64 (big-endian) of each 64 KiB of it, so that a part can be read and checked
 * without the rest.
 *
 * A file is written under a temporary name, synced and renamed, and its directory synced, before
 * the transaction that mentions it; so every file that a row names is complete. Values below
 * WFS_BLOB_FILE_MIN are not written to files: they go into their row. A collection (`worldfs gc`)
 * removes the files that no row mentions any more.
 * Functions that return int return 0 or -errno: -ENOENT: the blob has no file; -ENOSPC: the disk is
 * full; -EIO: reading or writing failed; unless their comment gives another reason.
 */
#pragma once

#include <stdint.h>

#include "kernel/base/hash.h"
#include "kernel/store/tables.h"

enum {
	WFS_BLOB_FILE_MIN = 64 << 10, /* bytes; values of this size or more are in files */
	WFS_BLOB_MAX = 1 << 30,       /* bytes of a listed blob */
};

struct wfs_blob_writer;

/** wfs_blob_writer_new() - begin to receive a value in pieces. @ret_writer: caller frees it with
 *  wfs_blob_writer_free(). Return: 0, or -ENOMEM. */
int wfs_blob_writer_new(struct wfs_store *store, struct wfs_blob_writer **ret_writer);

/** wfs_blob_writer_add() - append a piece of the value. Return: 0, -ENOSPC, -EIO, -ENOMEM; after an
 *  error the writer can only be freed. */
int wfs_blob_writer_add(struct wfs_blob_writer *writer, const void *data, size_t size);

/** wfs_blob_writer_size() - Return: how many bytes were received so far. */
uint64_t wfs_blob_writer_size(const struct wfs_blob_writer *writer);

/** wfs_blob_writer_copy() - append all bytes that were received so far to @buffer. Return: 0, -EIO,
 *  -ENOMEM. */
int wfs_blob_writer_copy(const struct wfs_blob_writer *writer, struct wfs_buffer *buffer);

/** wfs_blob_writer_finish() - end the value; if it is large, make its file durable under its name
 *  @ret_blob: describes the value; `bytes` of a small one are borrowed until the writer is freed;
 *  listed_id is 0. Return: 0, -ENOSPC, -EIO, or another -errno; in each case the writer can only be
 *  freed afterwards. */
int wfs_blob_writer_finish(struct wfs_blob_writer *writer, struct wfs_blob *ret_blob);

/** wfs_blob_writer_free() - free the writer, which may be NULL; removes the file of an unfinished
 *  value
 *  The caller calls this after the transaction that mentions the value has ended: until then the
 *  writer keeps wfs_blob_file_remove() from removing the file. */
void wfs_blob_writer_free(struct wfs_blob_writer *writer);
WFS_DEFINE_AUTO(blob_writer, struct wfs_blob_writer, wfs_blob_writer_free)
#define WFS_AUTO_BLOB_WRITER WFS_CLEANUP(wfs_auto_blob_writer)

/** wfs_blob_file_read() - read a range of a blob's file, compare it with its checksums, and append
 *  it to @buffer
 *  @blob: its hash and size are used. @offset, @size: of the range, in bytes; it lies within the
 *  blob
 *  Return: 0, -ENOENT, -EIO (the 64 KiB chunks around the range do not have their checksums), or
 *  another -errno; a failure leaves the contents of @buffer unchanged. */
int wfs_blob_file_read(struct wfs_store *store, const struct wfs_blob *blob, uint64_t offset,
	size_t size, struct wfs_buffer *buffer);

/** wfs_blob_file_check() - compare a whole blob file with its hash. @blob: its hash and size are
 *  used. Return: 0, -ENOENT, -EIO (another hash or size), or another -errno. */
int wfs_blob_file_check(struct wfs_store *store, const struct wfs_blob *blob);

/** wfs_blob_files_clean() - remove temporary blob files that a killed owner has left; only the
 *  owner may call this. Return: 0, or -errno. */
int wfs_blob_files_clean(struct wfs_store *store);

/** wfs_blob_files_hold() - take a hold on the blob files, which makes wfs_blob_files_settle() fail,
 *  so that no collection removes blob files
 *  For callers that end the transaction in which they found blobs before they have read the files.
 *  Return: a descriptor, whose closing ends the hold; -ENOENT (the store has no blob files), or
 *  another -errno. */
int wfs_blob_files_hold(struct wfs_store *store);

/** wfs_blob_files_settle() - check that at this moment no process has a hold on the blob files; a
 *  hold may begin afterwards. Return: 0, -EAGAIN (a process has one), -ENOENT (the store has no
 *  blob files), or another -errno. */
int wfs_blob_files_settle(struct wfs_store *store);

/** wfs_blob_files_each() - call @each with @context for the hash of every blob file, until @each
 *  returns non-zero
 *  After a crash, @each may get a hash of which only the file of checksums is left. Return: 0, what
 *  @each returned, or -errno (a directory cannot be read). */
int wfs_blob_files_each(struct wfs_store *store,
	int (*each)(void *context, const struct wfs_hash *hash), void *context);

/** wfs_blob_file_remove() - remove a blob file that no row mentions, and its file of checksums
 *  @ret_size_bytes: size of the removed blob file; if there was only a file of checksums, of this
 *  Return: 0, -EBUSY (the value was just received and its row may not be written yet), -ENOENT,
 *  or another -errno. */
int wfs_blob_file_remove(
	struct wfs_store *store, const struct wfs_hash *hash, uint64_t *ret_size_bytes);

/** wfs_blob_file_open() - open a blob's file for reading; its bytes are not checked
 *  @ret_fd: caller closes it. @ret_size_bytes: of the file
 *  Return: 0, -ENOENT, -EIO (something else is in the place of the file), or another -errno. */
int wfs_blob_file_open(struct wfs_store *store, const struct wfs_hash *hash, int *ret_fd,
	uint64_t *ret_size_bytes);

/** wfs_blob_file_make() - make an empty file with the name of a blob's file; the caller fills it
 *  with the blob's bytes, and then calls wfs_blob_file_seal()
 *  For a store that is being made, which needs no temporary name and no sync. @store: only its
 *  directory is used. Return: a descriptor for writing, -EEXIST, or another -errno. */
int wfs_blob_file_make(struct wfs_store *store, const struct wfs_hash *hash);

/** wfs_blob_file_seal() - compare a file that wfs_blob_file_make() has made with the hash and size
 *  of @blob, and write its file of checksums, without a sync
 *  After a failure, both files stay. Return: 0, -EIO (another hash or size), -ENOSPC, or another
 *  -errno. */
int wfs_blob_file_seal(struct wfs_store *store, const struct wfs_blob *blob);

/** wfs_blob_file_link() - make hard links to a blob's file and to its file of checksums in another
 *  world's directory, @to_fd; copy the files where the file system has no hard links
 *  A file that @to_fd has already stays, and one that @from does not have is left out. Nothing is
 *  synced. Return: 0, -ENOSPC, or another -errno. */
int wfs_blob_file_link(struct wfs_store *from, int to_fd, const struct wfs_hash *hash);
