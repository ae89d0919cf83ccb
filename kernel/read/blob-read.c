/* SPDX-License-Identifier: Apache-2.0 */
/* Reading values, from rows and files. */
#include "kernel/read/blob-read.h"

#include "kernel/base/damage.h"
#include "kernel/base/hash-text.h"

static int damaged(const struct wfs_blob *value, const char *how, struct wfs_error *error)
{
	wfs_damage_note("the stored bytes of %s are %s", WFS_HASH_TEXT(&value->hash), how);
	return wfs_error_set(error, WFS_E_HASH_MISMATCH, "%s", wfs_damage_noted());
}

static int compare(const struct wfs_blob *value, struct wfs_bytes bytes, struct wfs_error *error)
{
	return wfs_hash_fits(&value->hash, bytes) ? 0 : damaged(value, "damaged", error);
}

static int read_file(struct wfs_store *store, const struct wfs_blob *value, struct wfs_range range,
	struct wfs_buffer *buffer, struct wfs_error *error)
{
	int r = wfs_blob_file_read(store, value, range.offset, range.size, buffer);

	if (r == -ENOENT)
		return damaged(value, "missing", error);
	if (r == -EIO)
		return damaged(value, "damaged", error);
	return r ? wfs_error_from_errno(error, r, "read %s", WFS_HASH_TEXT(&value->hash)) : 0;
}

struct wfs_blob wfs_version_value(const struct wfs_version *version)
{
	return (struct wfs_blob){
		.hash = version->hash,
		.size_bytes = version->size_bytes,
		.in_file = version->in_file,
		.bytes = version->bytes,
	};
}

int wfs_value_read(struct wfs_store *store, const struct wfs_blob *value, struct wfs_range range,
	struct wfs_buffer *buffer, struct wfs_bytes *ret_bytes, struct wfs_error *error)
{
	const uint64_t left =
		range.offset < value->size_bytes ? value->size_bytes - range.offset : 0;
	const size_t start = buffer->size;
	int r;

	if (range.size > left)
		range.size = left;
	if (range.size == 0)
		range.offset = 0;
	r = value->in_file ? read_file(store, value, range, buffer, error)
			   : compare(value, value->bytes, error);
	if (r)
		return wfs_trace(r);
	const char *const from = value->in_file ? buffer->data + start : value->bytes.data;
	*ret_bytes = range.size == 0 ? WFS_BYTES(NULL, 0)
		: value->in_file     ? WFS_BYTES(from, range.size)
				     : WFS_BYTES(from + range.offset, range.size);
	return 0;
}

/* Appends a whole value to @buffer, and compares it with its hash. */
static int read_whole(struct wfs_store *store, const struct wfs_blob *value,
	struct wfs_buffer *buffer, struct wfs_error *error)
{
	struct wfs_bytes bytes;
	int r = wfs_value_read(store, value, WFS_RANGE_ALL, buffer, &bytes, error);

	if (r)
		return r;
	if (value->in_file)
		return compare(value, bytes, error);
	wfs_buffer_append(buffer, bytes.data, bytes.size);
	r = wfs_buffer_check(buffer);
	return r ? wfs_error_from_errno(error, r, "read a value") : 0;
}

int wfs_blob_read(struct wfs_store *store, struct wfs_txn *txn, const struct wfs_hash *hash,
	struct wfs_buffer *buffer, struct wfs_error *error)
{
	struct wfs_blob blob;
	int r = wfs_blob_get(txn, hash, &blob);

	if (r == -ENOENT || r == -EIO)
		return damaged(&(struct wfs_blob){.hash = *hash}, r == -EIO ? "damaged" : "missing",
			error);
	return r ? wfs_error_from_errno(error, r, "look a blob up")
		 : read_whole(store, &blob, buffer, error);
}

int wfs_version_read(struct wfs_store *store, const struct wfs_version *version,
	struct wfs_buffer *buffer, struct wfs_error *error)
{
	const struct wfs_blob value = wfs_version_value(version);

	return read_whole(store, &value, buffer, error);
}
