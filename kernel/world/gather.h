/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gathers the changes of a commit for observers, while its transaction is filled. The writer and
 * a follower (kernel/follow/) both add the changes of each run of the fold, in order.
 * Thread: the one that holds the write transaction, until wfs_gather_finish() was called.
 */
#pragma once

#include "kernel/world/observer.h"

/* Plain value; zeros, then change …, finish, done. */
struct wfs_gather {
	struct wfs_commit commit;   /* its changes are set by wfs_gather_finish() */
	struct wfs_change *changes; /* owned */
	size_t change_capacity;
	struct wfs_buffer keys; /* of the changes; failed: no memory for one of them */
};

/** wfs_gather_change() - add the change of a cell to a gather; wfs_fold_changes()
 *  (kernel/fold/fold.h) calls this function
 *  If memory runs out, gather->keys is marked as failed. @context: the struct wfs_gather. @change:
 *  copied, with its key */
void wfs_gather_change(void *context, const struct wfs_change *change);

/** wfs_gather_finish() - set gather->commit.changes, which are borrowed from @gather; no change may
 *  be added afterwards. */
void wfs_gather_finish(struct wfs_gather *gather);

void wfs_gather_done(struct wfs_gather *gather);
