/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshot documents: one line per live cell, sorted, so that equal states have equal hashes
 * whatever their history.
 * Source: spec 1, "Snapshot, replay, restore".
 */
#pragma once

#include "kernel/view.h"

/** wfs_snapshot_header() - the first line of a snapshot document. */
void wfs_snapshot_header(struct wfs_buffer *buffer, const struct wfs_hash *manifest_hash);

/** wfs_snapshot_body() - body of the record that holds a snapshot's hash. */
void wfs_snapshot_body(struct wfs_buffer *buffer, uint64_t height, const struct wfs_hash *hash);

/**
 * wfs_snapshot_hash() - hash of the snapshot document of a height
 *
 * Reads every cell; the view is renewed at the same height on the way, so that no old transaction
 * keeps pages alive.
 * @progress: called now and then with cells done and in all; may be NULL
 * Return: 0, -ENOENT (height_unavailable), -EIO, -ENOMEM.
 */
int wfs_snapshot_hash(struct wfs_world *world, uint64_t height,
	void (*progress)(void *context, uint64_t done, uint64_t total), void *context,
	struct wfs_hash *ret_hash, struct wfs_error *error);
