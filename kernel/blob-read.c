/* SPDX-License-Identifier: Apache-2.0 */
/* Whole values into memory. */
#include "kernel/blob-read.h"

/* Blobs and versions hold their bytes in the same way: @value is either, seen as a blob. */
static int read_checked(struct wfs_store *store, const struct wfs_blob *value,
	struct wfs_buffer *buffer, struct wfs_error *error)
{
	size_t start = buffer->size;
	char text[WFS_HASH_TEXT_SIZE];
	int r = 0;

	wfs_hash_text(&value->hash, text);
	if (value->in_file)
		r = wfs_blob_file_read(store, value, 0, value->size_bytes, buffer);
	else
		wfs_buffer_append(buffer, value->bytes.data, value->bytes.size);
	if (!r)
		r = wfs_buffer_check(buffer);
	if (r)
		return wfs_error_from_errno(error, r == -ENOENT ? -EIO : r, "read %s", text);
	struct wfs_hash computed = wfs_hash_of(buffer->data + start, buffer->size - start);
	if (wfs_hash_equal(&computed, &value->hash))
		return 0;
	return wfs_error_set(
		error, WFS_E_HASH_MISMATCH, "the stored bytes of %s are damaged", text);
}

int wfs_blob_read(struct wfs_store *store, struct wfs_txn *txn, const struct wfs_hash *hash,
	struct wfs_buffer *buffer, struct wfs_error *error)
{
	struct wfs_blob blob;
	int r = wfs_blob_get(txn, hash, &blob);

	if (r)
		return wfs_error_from_errno(error, r == -ENOENT ? -EIO : r, "look a blob up");
	return read_checked(store, &blob, buffer, error);
}

int wfs_version_read(struct wfs_store *store, const struct wfs_version *version,
	struct wfs_buffer *buffer, struct wfs_error *error)
{
	const struct wfs_blob value = {
		.hash = version->hash,
		.size_bytes = version->size_bytes,
		.in_file = version->in_file,
		.bytes = version->bytes,
	};

	return read_checked(store, &value, buffer, error);
}
