/* SPDX-License-Identifier: Apache-2.0 */
#include "caps/replica.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "caps/authority.h"
#include "kernel/base/hash-text.h"
#include "kernel/fold/head.h"
#include "kernel/follow/batch-make.h"
#include "kernel/read/blob-read.h"
#include "kernel/store/blob.h"
#include "kernel/store/tables.h"
#include "kernel/world/aside.h"
#include "kernel/world/request.h"

struct wfs_replica {
	struct wfs_committer committer; /* first: the callback casts back */
	struct wfs_world *world;
	struct wfs_carrier *carrier;
	struct wfs_follower *follower; /* NULL: the node owns */
	struct wfs_buffer batch;       /* kernel thread: scratch */
};

/* Reads the hash of the last line. */
static int read_head(
	struct wfs_replica *replica, struct wfs_txn *txn, struct wfs_replica_head *head)
{
	struct wfs_bytes stored;
	int r = wfs_meta_get(txn, WFS_META_HEAD_HASH, &stored);

	if (!r && stored.size != sizeof(head->line_hash.bytes))
		r = -EIO;
	if (r)
		return r == -ENOENT ? -EIO : r;
	memcpy(head->line_hash.bytes, stored.data, stored.size);
	head->fold_version = wfs_store_fold_version(wfs_world_store(replica->world));
	return 0;
}

/* Tells the carrier of the requests of a batch that was carried. */
static void hear(const struct wfs_replica *replica, const struct wfs_request *requests,
	uint64_t from, uint64_t to)
{
	struct wfs_carrier *const carrier = replica->carrier;

	for (const struct wfs_request *request = requests; carrier->heard && request;
		request = request->next)
		if (request->id && request->result == 0 && request->seq >= from &&
			request->seq < to)
			carrier->heard(carrier, request->id, request->seq);
}

static int decide(struct wfs_committer *committer, struct wfs_txn *txn, uint64_t from, uint64_t to,
	const struct wfs_request *requests, struct wfs_error *error)
{
	struct wfs_replica *const replica = (struct wfs_replica *)committer;
	struct wfs_replica_head head = {.height = to};
	int r = read_head(replica, txn, &head);

	if (r)
		return wfs_error_from_errno(error, r, "read the head");
	wfs_buffer_reset(&replica->batch);
	r = wfs_batch_make(wfs_world_store(replica->world), txn,
		&(struct wfs_batch_of){from, to, requests}, &replica->batch, error);
	if (!r)
		r = replica->carrier->carry(
			replica->carrier, from, &head, wfs_buffer_bytes(&replica->batch), error);
	if (!r)
		hear(replica, requests, from, to);
	return wfs_trace(r);
}

static void heard(void *context, const char *id, uint64_t seq)
{
	struct wfs_carrier *const carrier = context;

	carrier->heard(carrier, id, seq);
}

static int follow(struct wfs_replica *replica, struct wfs_error *error)
{
	const int r = wfs_follower_new(replica->world, &replica->follower, error);

	if (!r && replica->carrier->heard)
		wfs_follower_listen(replica->follower, heard, replica->carrier);
	return wfs_trace(r);
}

int wfs_replica_new(struct wfs_authority *authority, struct wfs_carrier *carrier,
	struct wfs_replica **ret_replica, struct wfs_error *error)
{
	WFS_AUTO_REPLICA struct wfs_replica *replica = calloc(1, sizeof(*replica));

	if (!replica)
		return wfs_error_from_errno(error, -ENOMEM, "follow a world");
	replica->committer.decide = decide;
	replica->world = wfs_authority_world(authority);
	replica->carrier = carrier;
	const int r = follow(replica, error);
	if (!r)
		*ret_replica = WFS_STEAL(replica);
	return wfs_trace(r);
}

void wfs_replica_free(struct wfs_replica *replica)
{
	if (!replica)
		return;
	wfs_world_step_aside(replica->world);
	wfs_world_refuse(replica->world, true);
	wfs_world_set_committer(replica->world, NULL);
	wfs_follower_free(replica->follower);
	wfs_buffer_done(&replica->batch);
	free(replica);
}

int wfs_replica_head(
	struct wfs_replica *replica, struct wfs_replica_head *ret_head, struct wfs_error *error)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	int r = wfs_view_open(replica->world, WFS_HEIGHT_HEAD, &view, error);

	if (r)
		return wfs_trace(r);
	ret_head->height = view.height;
	r = read_head(replica, view.txn, ret_head);
	return r ? wfs_error_from_errno(error, r, "read the head") : 0;
}

int wfs_replica_apply(struct wfs_replica *replica, struct wfs_bytes batch,
	struct wfs_followed_outcome *ret_outcome, struct wfs_error *error)
{
	return wfs_trace(wfs_follower_apply(replica->follower, batch, ret_outcome, error));
}

int wfs_replica_own(struct wfs_replica *replica, struct wfs_error *error)
{
	wfs_world_set_committer(replica->world, &replica->committer);
	const int r = wfs_world_resume(replica->world, error);
	if (r)
		return wfs_trace(r);
	wfs_follower_free(WFS_STEAL(replica->follower));
	return 0;
}

int wfs_replica_follow(struct wfs_replica *replica, struct wfs_error *error)
{
	wfs_world_step_aside(replica->world);
	return replica->follower ? 0 : follow(replica, error);
}

void wfs_replica_refuse(struct wfs_replica *replica, bool refuse)
{
	wfs_world_refuse(replica->world, refuse);
}

int64_t wfs_replica_bytes(const struct wfs_replica *replica)
{
	struct wfs_store_figures figures;

	wfs_store_figures(wfs_world_store(replica->world), &figures);
	return (int64_t)figures.used_bytes;
}

/* --- for other nodes --- */

int wfs_replica_give(struct wfs_authority *authority, const struct wfs_backup_sink *sink,
	struct wfs_error *error)
{
	return wfs_trace(wfs_backup_give(wfs_authority_world(authority), sink, error));
}

int wfs_replica_hold(struct wfs_authority *authority)
{
	return wfs_blob_files_hold(wfs_world_store(wfs_authority_world(authority)));
}

/* Makes a file in memory with these bytes, whose position is at its beginning. Return: its
 * descriptor, or -errno. */
static int file_of(struct wfs_bytes bytes)
{
	WFS_AUTO_FD int fd = memfd_create("blob", MFD_CLOEXEC);
	size_t done = 0;

	if (fd < 0)
		return -errno;
	while (done < bytes.size) {
		const ssize_t size =
			pwrite(fd, (const char *)bytes.data + done, bytes.size - done, (off_t)done);

		if (size < 0 && errno != EINTR)
			return -errno;
		done += size > 0 ? (size_t)size : 0;
	}
	return WFS_STEAL_FD(fd);
}

/* Opens the bytes of a blob that is in a row. */
static int open_row(struct wfs_store *store, const struct wfs_hash *hash, int *ret_fd,
	uint64_t *ret_size_bytes, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer buffer = {0};
	WFS_AUTO_TXN struct wfs_txn *txn = NULL;
	struct wfs_blob blob;
	struct wfs_bytes bytes;
	int r = wfs_store_read(store, &txn);

	if (!r)
		r = wfs_blob_get(txn, hash, &blob);
	if (r == -ENOENT)
		return wfs_error_set(error, WFS_E_NOT_FOUND, "this world does not have the blob %s",
			WFS_HASH_TEXT(hash));
	if (r)
		return wfs_error_from_errno(error, r, "look a blob up");
	r = wfs_value_read(store, &blob, WFS_RANGE_ALL, &buffer, &bytes, error);
	if (r)
		return wfs_trace(r);
	const int fd = file_of(bytes);
	if (fd < 0)
		return wfs_error_from_errno(error, fd, "copy a blob");
	*ret_fd = fd;
	*ret_size_bytes = bytes.size;
	return 0;
}

int wfs_replica_open_blob(struct wfs_authority *authority, const struct wfs_hash *hash, int *ret_fd,
	uint64_t *ret_size_bytes, struct wfs_error *error)
{
	struct wfs_store *const store = wfs_world_store(wfs_authority_world(authority));
	const int r = wfs_blob_file_open(store, hash, ret_fd, ret_size_bytes);

	if (r == -ENOENT)
		return wfs_trace(open_row(store, hash, ret_fd, ret_size_bytes, error));
	if (r == -EIO)
		return wfs_error_set(error, WFS_E_HASH_MISMATCH,
			"something else is in the place of the file of %s", WFS_HASH_TEXT(hash));
	return r ? wfs_error_from_errno(error, r, "open the file of %s", WFS_HASH_TEXT(hash)) : 0;
}
