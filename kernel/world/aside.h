/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A world whose records are decided together with others.
 *
 * An owner has a committer, which decides about each transaction before it is committed. A world
 * that is followed (kernel/follow/) stands aside: its kernel thread begins no transaction, so that
 * another thread may write to the store, and has the observers called for it.
 * Functions that return int return 0, or -errno with @error filled. None may be called for a world
 * that was opened for reading only.
 */
#pragma once

#include "kernel/world/world.h"

struct wfs_txn;

/* Decides about the transactions of a world. Its maker embeds it in a struct of its own. */
struct wfs_committer {
	/** decide() - decide whether the records [@from, @to) are committed, which are in @txn
	 *  The kernel thread waits for it, and the transaction stays open. Not called for a
	 *  transaction without records.
	 *  @txn: has all rows of the records; only read it
	 *  @requests: of the transaction, in their order, by `next`: those with `result` 0 have
	 *  their records in it, from `seq` on
	 *  Return: 0: commit; or -errno with @error: the transaction is dropped, and each of its
	 *  requests fails with this error, except those that have failed for a reason of their
	 *  own. */
	int (*decide)(struct wfs_committer *committer, struct wfs_txn *txn, uint64_t from,
		uint64_t to, const struct wfs_request *requests, struct wfs_error *error);
};

/** wfs_world_set_committer() - set the committer. After it has returned, the one before is not
 *  called any more. @committer: borrowed until the next call; NULL, as at first: every transaction
 *  is committed. Thread: any but the kernel thread. */
void wfs_world_set_committer(struct wfs_world *world, struct wfs_committer *committer);

/** wfs_world_step_aside() - have the kernel thread end what it has begun, and begin nothing more;
 *  waits for this. Requests wait in their queues, whose bounds hold (overloaded). Observers may
 *  still be called for commits from before. If the world stands aside already, does nothing. */
void wfs_world_step_aside(struct wfs_world *world);

/** wfs_world_refuse() - while the world stands aside: say whether requests fail
 *  @refuse: true: requests that wait, and later ones, fail (unavailable), and nothing of them was
 *  done; false, as at first: they wait. Ends when the world resumes. A world that is closed while
 *  it stands aside refuses those that wait. */
void wfs_world_refuse(struct wfs_world *world, bool refuse);

/** wfs_world_publish() - while the world stands aside: call the observers for a commit, after those
 *  before it, and wait until all have returned
 *  @commit: durable; borrowed. @manifest: in force after it; used if commit->manifest_changed; its
 *  reference stays the caller's */
void wfs_world_publish(
	struct wfs_world *world, const struct wfs_commit *commit, struct wfs_manifest *manifest);

/** wfs_world_resume() - end standing aside: read the head, the manifest and its code anew, and take
 *  the requests that wait. No other thread writes to the store any more.
 *  Return: 0 (also for a world that does not stand aside), or -EIO, -ENOMEM, …: the world still
 *  stands aside. */
int wfs_world_resume(struct wfs_world *world, struct wfs_error *error);
