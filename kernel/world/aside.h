/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A world whose owner decides about its records together with other nodes.
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
	/** decide() - decide whether the records from @from on, below @to, are committed
	 *  Called on the kernel thread, while the transaction is open. Not called for a
	 *  transaction without records.
	 *  @txn: has all rows of the records; must only be read
	 *  @requests: those of the transaction, in their order, linked by `next`; a request with
	 *  `result` 0 has its records in @txn, from `seq` on
	 *  Return: 0: commit; or -errno with @error: the transaction is dropped, and each of its
	 *  requests fails with this error, except those that have failed for a reason of their
	 *  own. */
	int (*decide)(struct wfs_committer *committer, struct wfs_txn *txn, uint64_t from,
		uint64_t to, const struct wfs_request *requests, struct wfs_error *error);
};

/** wfs_world_set_committer() - set the committer. When the function has returned, the committer
 *  before is not called any more. @committer: borrowed until this function is called again; NULL
 *  (as in a world that was just opened): every transaction is committed. Thread: any but the kernel
 *  thread. */
void wfs_world_set_committer(struct wfs_world *world, struct wfs_committer *committer);

/** wfs_world_step_aside() - have the kernel thread end the transaction that it has begun, and begin
 *  no other; return when it has ended. Requests then wait in their queues, which refuse more than
 *  their bounds (overloaded). Observers may still be called for earlier commits. If the world
 *  stands aside already, does nothing. */
void wfs_world_step_aside(struct wfs_world *world);

/** wfs_world_refuse() - set whether requests fail while the world stands aside; it must stand aside
 *  @refuse: true: requests that wait, and later ones, fail (unavailable) and change nothing; false
 *  (as when the world has just stepped aside): requests wait. If the world is closed while it
 *  stands aside, the requests that wait fail in any case. */
void wfs_world_refuse(struct wfs_world *world, bool refuse);

/** wfs_world_publish() - have all observers called for a commit, after the calls for earlier
 *  commits, and wait until they have returned; the world must stand aside
 *  @commit: durable; borrowed for the call. @manifest: in force after the commit, used if
 *  commit->manifest_changed; the world takes a reference of its own */
void wfs_world_publish(
	struct wfs_world *world, const struct wfs_commit *commit, struct wfs_manifest *manifest);

/** wfs_world_resume() - end standing aside: read the head anew, load the code of the manifest anew,
 *  and let the kernel thread take requests. The caller makes sure that no other thread writes to
 *  the store any more.
 *  Return: 0 (also if the world does not stand aside), or -EIO, -ENOMEM, …, after which the world
 *  still stands aside. */
int wfs_world_resume(struct wfs_world *world, struct wfs_error *error);
