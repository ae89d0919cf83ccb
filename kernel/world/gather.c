/* SPDX-License-Identifier: Apache-2.0 */
/* The changes that observers get. */
#include "kernel/world/gather.h"

#include <stdlib.h>

#include "kernel/base/array.h"

void wfs_gather_change(void *context, const struct wfs_change *change)
{
	struct wfs_gather *const gather = context;
	struct wfs_commit *const commit = &gather->commit;
	struct wfs_change *const changes = wfs_array_reserve(
		gather->changes, commit->change_count, &gather->change_capacity, sizeof(*changes));

	if (!changes) {
		gather->keys.failed = true;
		return;
	}
	gather->changes = changes;
	struct wfs_change *const added = &changes[commit->change_count++];
	*added = *change;
	/* An offset until all are there: the buffer moves while it grows. */
	added->key.data = (const void *)(uintptr_t)gather->keys.size;
	wfs_buffer_append(&gather->keys, change->key.data, change->key.size);
}

void wfs_gather_finish(struct wfs_gather *gather)
{
	for (size_t i = 0; i < gather->commit.change_count; i++) {
		struct wfs_change *const change = &gather->changes[i];

		if (change->key.size) /* an empty buffer has no data */
			change->key.data = gather->keys.data + (uintptr_t)change->key.data;
	}
	gather->commit.changes = gather->changes;
}

void wfs_gather_done(struct wfs_gather *gather)
{
	free(gather->changes);
	wfs_buffer_done(&gather->keys);
	*gather = (struct wfs_gather){.changes = NULL};
}
