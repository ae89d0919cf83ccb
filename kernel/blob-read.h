/* SPDX-License-Identifier: Apache-2.0 */
/* Whole values into memory, checked against their hash: for the kernel's own use (modules, states
 * of large cells), not for serving files. */
#pragma once

#include "kernel/store/blob.h"

/** wfs_blob_read() - append a blob. Return: 0, -EIO (hash_mismatch: also when it is missing). */
int wfs_blob_read(struct wfs_store *store, struct wfs_txn *txn, const struct wfs_hash *hash,
	struct wfs_buffer *buffer, struct wfs_error *error);

/** wfs_version_read() - append the bytes of a version. Return: as above. */
int wfs_version_read(struct wfs_store *store, const struct wfs_version *version,
	struct wfs_buffer *buffer, struct wfs_error *error);
