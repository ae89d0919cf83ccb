/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A world that is on several nodes: what one node does with its own copy.
 *
 * The node either follows or owns. While it follows, the world folds batches of records that the
 * owner has made (kernel/value/batch.h), and its own requests wait. While it owns, the kernel
 * thread folds requests, and a carrier takes each batch to where the other nodes find it, before
 * the world commits it.
 * Functions that return int return 0, or -errno with @error filled.
 * Thread: one at a time, and not the kernel thread.
 * Source: docs/decisions/0038-followers.md.
 */
#pragma once

#include <stdint.h>

#include "kernel/copy/backup.h"
#include "kernel/follow/follower.h"

struct wfs_authority;
struct wfs_replica;

/* The last record of a world. Plain value. */
struct wfs_replica_head {
	uint64_t height;           /* number of records */
	struct wfs_hash line_hash; /* of the last line */
	int fold_version;
};

/* Takes batches to other nodes. Its maker embeds it in a struct of its own. */
struct wfs_carrier {
	/** carry() - store a batch in the log that all nodes read, and wait until it is durable
	 *  Called on the kernel thread, which folds nothing until carry() returns. @from: number
	 *  of the batch's first record. @head: the last record that the world has with the batch.
	 *  @batch: borrowed for the call
	 *  Return: 0: the world commits the batch; or -errno with @error: the world drops the
	 *  batch, and the requests in it fail with this error. */
	int (*carry)(struct wfs_carrier *carrier, uint64_t from,
		const struct wfs_replica_head *head, struct wfs_bytes batch,
		struct wfs_error *error);
	/** heard() - note that the request with the id @id (borrowed) has records, the first of
	 *  which has the number @seq, in a batch that was carried or applied; once for each such
	 *  request. Called on the kernel thread after carry(), or in wfs_replica_apply(). The
	 *  pointer may be NULL. */
	void (*heard)(struct wfs_carrier *carrier, const char *id, uint64_t seq);
};

/** wfs_replica_new() - begin to follow. @authority: of a world that is open, and not for reading
 *  only; @carrier: its callbacks are set; both must live until wfs_replica_free()
 *  @ret_replica: set on success; caller frees it with wfs_replica_free(). Return: 0, -ENOMEM. */
int wfs_replica_new(struct wfs_authority *authority, struct wfs_carrier *carrier,
	struct wfs_replica **ret_replica, struct wfs_error *error);

/** wfs_replica_free() - end following or owning; accepts NULL. Then the world folds nothing, and
 *  its requests fail (unavailable). */
void wfs_replica_free(struct wfs_replica *replica);
WFS_DEFINE_AUTO(replica, struct wfs_replica, wfs_replica_free)
#define WFS_AUTO_REPLICA WFS_CLEANUP(wfs_auto_replica)

/** wfs_replica_head() - get the last record of the world's newest commit. While the node owns,
 *  another commit may follow at once. @ret_head: set on success. Return: 0, -EAGAIN (overloaded:
 *  too many views are open), -EIO (the store is damaged), -ENOMEM. */
int wfs_replica_head(
	struct wfs_replica *replica, struct wfs_replica_head *ret_head, struct wfs_error *error);

/** wfs_replica_apply() - while the node follows: fold a batch, commit it, and call the observers
 *  @batch: borrowed. @ret_outcome: set on success only. Return: as wfs_follower_apply()
 *  (kernel/follow/follower.h). */
int wfs_replica_apply(struct wfs_replica *replica, struct wfs_bytes batch,
	struct wfs_followed_outcome *ret_outcome, struct wfs_error *error);

/** wfs_replica_own() - while the node follows: own the world; requests that wait are folded.
 *  Return: 0; -EIO (the head or the code of the manifest cannot be read), -ENOMEM or another -errno
 *  of wfs_world_resume() (kernel/world/aside.h): the node still follows. */
int wfs_replica_own(struct wfs_replica *replica, struct wfs_error *error);

/** wfs_replica_follow() - stop owning, and follow: waits until the kernel thread has ended the
 *  batch that it folds; does nothing if the node follows already
 *  Return: 0, or -ENOMEM: the world folds nothing, and the function is to be called again. */
int wfs_replica_follow(struct wfs_replica *replica, struct wfs_error *error);

/** wfs_replica_refuse() - while the node follows: set whether requests fail (unavailable) or wait.
 *  When the node begins to follow, they wait. */
void wfs_replica_refuse(struct wfs_replica *replica, bool refuse);

/** wfs_replica_bytes() - get the size in bytes of the world's store, up to its last page in use;
 *  not negative. */
int64_t wfs_replica_bytes(const struct wfs_replica *replica);

/*
 * What a node gives to other nodes, which have a right to the whole world. Thread: any, also
 * several at a time.
 */

/** wfs_replica_give() - write the world's data.mdb, as of the newest commit and without free pages
 *  All pages are checked before the first is written.
 *  @sink: see kernel/copy/backup.h; its descriptor is that of a pipe or a file
 *  Return: as wfs_backup_give() (kernel/copy/backup.h): 0 says that data.mdb was written to its
 *  end. */
int wfs_replica_give(struct wfs_authority *authority, const struct wfs_backup_sink *sink,
	struct wfs_error *error);

/** wfs_replica_hold() - keep collections (`worldfs gc`) from removing blob files that a node that
 *  copies this world may still ask for; collections leave these to a later one
 *  Return: a descriptor, which the caller closes to end this; -ENOENT (the world has no blob
 *  files), or another -errno. */
int wfs_replica_hold(struct wfs_authority *authority);

/** wfs_replica_open_blob() - open the bytes of a blob, or of a version that has a file
 *  The bytes of a file are not compared with @hash: the reader does that. A small blob is in a row,
 *  without a file; its bytes are compared, and given in a file in memory.
 *  @ret_fd: for reading, at the beginning; caller closes it. @ret_size_bytes: of the bytes. Both
 *  are set on success.
 *  Return: 0, -ENOENT (not_found: this world does not have the blob), -EIO (hash_mismatch: its
 *  bytes are damaged, or something else is in the place of its file), -EAGAIN (too many readers),
 *  or another -errno. */
int wfs_replica_open_blob(struct wfs_authority *authority, const struct wfs_hash *hash, int *ret_fd,
	uint64_t *ret_size_bytes, struct wfs_error *error);
