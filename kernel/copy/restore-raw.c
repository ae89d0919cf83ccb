/* SPDX-License-Identifier: Apache-2.0 */
/* Takes what models were sent, and sent back, from `raw` of the turns of a copy. */
#include "kernel/base/encode.h"
#include "kernel/copy/restore-impl.h"
#include "kernel/domain/turn/raw.h"
#include "kernel/store/blob.h"

/* The files of one turn. */
struct taking {
	struct restore_batch batch;
	uint64_t height;
	struct wfs_buffer id;     /* of the turn */
	struct restore_path path; /* of the directory */
};

/* A private hash may be unknown, because the private text that has it was not restored. Then the
 * file cannot be compared, and is not taken. */
static int take(struct restore *restore, void *context, int directory, const char *name)
{
	struct taking *const taking = context;
	const struct restore_path path = restore_path("%s/%s", taking->path.text, name);
	struct wfs_view view = {.store = restore->store,
		.txn = taking->batch.txn,
		.txn_borrowed = true,
		.height = taking->height};
	WFS_AUTO_FD int fd = -1;
	struct wfs_hash hash;
	int r = wfs_raw_hash(&view, wfs_buffer_bytes(&taking->id), name, &hash);

	if (r > 0)
		return 0;
	if (r == -ENOENT)
		return restore_noted(restore, path.text, "is not a file of a tree");
	if (r)
		return restore_write_failed(restore, r);
	r = restore_open(restore, directory, name, path.text, WFS_BLOB_MAX, &fd);
	return r <= 0
		? r
		: restore_blob(&taking->batch, fd, path.text, "the receipt of the request", &hash);
}

/* Other names than those of turns are noted when the turns are compared. */
static int take_turn(struct restore *restore, void *context, int directory, const char *name)
{
	struct taking *const taking = context;
	WFS_AUTO_FD int turn = -1;
	WFS_AUTO_FD int raw = -1;

	taking->path = restore_path("turns/%s/raw", name);
	wfs_buffer_reset(&taking->id);
	int r = wfs_name_decode(name, strlen(name), &taking->id);
	if (r)
		return r == -ENOMEM ? restore_write_failed(restore, r) : 0;
	r = restore_directory(restore, directory, name, restore_path("turns/%s", name).text, &turn);
	if (r > 0)
		r = restore_directory(restore, turn, "raw", taking->path.text, &raw);
	return r <= 0 ? r
		      : restore_list(restore, raw, restore_path("%s/", taking->path.text).text,
				take, taking);
}

int restore_raw(struct restore *restore)
{
	struct taking taking = {.batch.restore = restore};
	WFS_AUTO_FD int directory = -1;
	int r = restore_directory(restore, restore->tree_fd, "turns", "turns", &directory);

	if (r <= 0)
		return wfs_trace(r);
	r = restore_batch_begin(&taking.batch);
	if (!r)
		r = restore_write_failed(
			restore, wfs_journal_height(taking.batch.txn, &taking.height));
	if (!r)
		r = restore_list(restore, directory, "turns/", take_turn, &taking);
	if (!r)
		r = restore_batch_commit(&taking.batch);
	restore_batch_done(&taking.batch);
	wfs_buffer_done(&taking.id);
	return wfs_trace(r);
}
