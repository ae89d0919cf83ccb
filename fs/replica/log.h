/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of a replicated world in etcd: which node owns the world, and what its journal has.
 *
 * Keys, below the prefix of the client:
 *  head           {epoch, fold_version, height, line_hash}: of the last batch
 *  epoch          {epoch, owner, process}: the node that may append, and its process
 *  log/<height>   the batch whose first record has this height; 20 digits. `B` and its bytes, or
 *                 `P` and [hash of each part] if it has more than WFS_LOG_BATCH_MAX bytes
 *  part/<hash>    such a part; written before, never changed
 *
 * A batch is appended by one transaction that compares the revisions of head and epoch, so that
 * each height has one batch, and an owner whose epoch is over appends nothing. An answer that does
 * not come, and one that says that a comparison failed, prove nothing: a request can be done late,
 * or twice. What decides is what log/<height> and epoch have in one read.
 *
 * Functions that return int return as wfs_etcd functions do (fs/replica/etcd.h), and what they
 * name, with @error filled. Thread: that of the client.
 * Source: docs/decisions/0038-followers.md.
 */
#pragma once

#include "fs/replica/etcd.h"
#include "kernel/base/hash.h"

enum {
	WFS_LOG_BATCH_MAX = 1000 * 1000, /* bytes of a batch in one key, and of a part */
	WFS_LOG_PARTS_MAX = 128,         /* of a batch */
	WFS_LOG_NODE_MAX = 63,           /* bytes of a node's name */
	WFS_LOG_PROCESS_SIZE = 33,       /* 32 hexadecimal digits and NUL */
	WFS_LOG_READ_COUNT = 16,         /* batches that are read at once */
};

struct wfs_log_head {
	int64_t height;            /* number of records in the log */
	struct wfs_hash line_hash; /* of the last line */
	int64_t epoch;             /* of the owner that appended it */
	int64_t fold_version;
};

struct wfs_log_epoch {
	int64_t epoch;
	char owner[WFS_LOG_NODE_MAX + 1];
	char process
		[WFS_LOG_PROCESS_SIZE]; /* random: a node that starts again is another process */
};

/* What the log had at one moment. Plain value. */
struct wfs_log_place {
	struct wfs_log_head head;
	struct wfs_log_epoch epoch;
	int64_t head_revision;
	int64_t epoch_revision;
};

/** wfs_log_node_valid() - may a node have this name: 1 to WFS_LOG_NODE_MAX lower-case letters
 *  (a-z), digits and `-`? */
bool wfs_log_node_valid(const char *name);
/** wfs_log_node_check() - Return: 0, -EINVAL (invalid_argument). */
int wfs_log_node_check(const char *name, struct wfs_error *error);

/** wfs_log_look() - read head and epoch, in one transaction
 *  Return: 0, -ENOENT (not_found: the prefix has no world), -EIO (they do not have their form). */
int wfs_log_look(struct wfs_etcd *etcd, struct wfs_log_place *ret_place, struct wfs_error *error);

/** wfs_log_begin() - make the log of a world that has none. @head: its epoch is that of @epoch
 *  Return: 0, -EEXIST (already_exists: the prefix has a world), -ETIMEDOUT: it may have it now. */
int wfs_log_begin(struct wfs_etcd *etcd, const struct wfs_log_head *head,
	const struct wfs_log_epoch *epoch, struct wfs_log_place *ret_place,
	struct wfs_error *error);

/** wfs_log_claim() - make another process the owner, by an epoch that is one higher
 *  @place: as it was read; *@place is what the log has then. @owner, @process: of the epoch
 *  Return: 0, -ESTALE (busy: another process has changed the epoch), -ETIMEDOUT: look again, it may
 *  still come. */
int wfs_log_claim(struct wfs_etcd *etcd, struct wfs_log_place *place, const char *owner,
	const char *process, struct wfs_error *error);

/** wfs_log_append() - append a batch. The caller owns the world by place->epoch.
 *  @place: where the log ends; *@place is where it ends then
 *  @head: after the batch; its epoch is that of @place
 *  @until_ns: of the monotonic clock: after this no request is sent again
 *  Return: 0, -ESTALE (busy: the batch is not in the log and never will be, because another batch
 *  is at its height, or another epoch has begun: look again); -ETIMEDOUT (timeout: it may be in the
 *  log, or come; the caller must not append another batch before it knows: wfs_log_resolve());
 *  others: it is not in the log and never will be. */
int wfs_log_append(struct wfs_etcd *etcd, struct wfs_log_place *place,
	const struct wfs_log_head *head, struct wfs_bytes batch, int64_t until_ns,
	struct wfs_error *error);

/** wfs_log_resolve() - find out what became of a batch whose append gave -ETIMEDOUT, sending it
 *  again if need be. Parameters and return as for wfs_log_append(), with equal arguments. */
int wfs_log_resolve(struct wfs_etcd *etcd, struct wfs_log_place *place,
	const struct wfs_log_head *head, struct wfs_bytes batch, int64_t until_ns,
	struct wfs_error *error);

/** wfs_log_read() - read batches in their order, from the one at @height on
 *  @each: gets the height of a batch, and its bytes, which are borrowed; returns 0, or a value that
 *  ends reading
 *  Return: 0 (none is left, or WFS_LOG_READ_COUNT were read), -EIO (hash_mismatch: a part is
 *  damaged, or a batch has no form), -ENOENT (not_found: a part is missing), or what @each
 *  returns. */
int wfs_log_read(struct wfs_etcd *etcd, int64_t height,
	int (*each)(void *context, int64_t height, struct wfs_bytes batch, struct wfs_error *error),
	void *context, struct wfs_error *error);
