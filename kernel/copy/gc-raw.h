/* SPDX-License-Identifier: Apache-2.0 */
/* Which blobs with the requests and answers of old turns (kernel/domain/turn/raw.h) a collection
 * drops. */
#pragma once

#include "kernel/store/tables.h"

struct wfs_error;
struct wfs_world;

/* Hashes of blobs, sorted, each once. Plain value; zero-initialised is empty; the caller ends it
 * with gc_raw_done(). */
struct gc_raw {
	struct wfs_hash *hashes;
	size_t count;
	size_t capacity;
	uint64_t after_vid; /* number of the last version of a cell that was looked at */
};
void gc_raw_done(struct gc_raw *raw);

/** gc_raw_find() - find the blobs that turns have which began before the height @before, and that
 *  no later turn has. @ret_raw: also written on failure. Return: 0, or -errno with @error. */
int gc_raw_find(
	struct wfs_world *world, uint64_t before, struct gc_raw *ret_raw, struct wfs_error *error);
