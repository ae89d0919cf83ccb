/* SPDX-License-Identifier: Apache-2.0 */
/* Checking that a store is undamaged, and agrees with itself. */
#include "kernel/check/verify-impl.h"

#include "kernel/base/array.h"
#include "kernel/store/rows.h"

/* --- all rows --- */

/* Checks that each row is as it was written. The other checks compare rows with one another. */
static int verify_rows(struct verify *verify)
{
	struct wfs_rows rows = {0};
	uint64_t total = 0;
	int r = wfs_rows_total(verify->view.txn, &total);

	if (r && r != -EIO)
		return verify_failed(verify, r, "all rows");
	do {
		r = wfs_rows_check(&rows, verify->view.txn, VERIFY_RENEW_COUNT, verify->problems);
		if (r < 0)
			return verify_failed(verify, r, "all rows");
		const int stop = verify_step(verify, "rows", r ? rows.done : total, total);
		if (stop)
			return wfs_trace(stop);
	} while (r > 0);
	return 0;
}

/* --- pages --- */

static bool pages_progress(void *context, uint64_t done, uint64_t total)
{
	return verify_look(context, "pages", done, total) == 0;
}

/* Checks pages before any row is read: LMDB may follow a damaged page for ever, so no row is read
 * if one is found. @ret_sound: no page is damaged */
static int check_pages(struct verify *verify, bool *ret_sound)
{
	const size_t before = verify->problems->count;
	const int r = wfs_store_check_pages(
		wfs_world_store(verify->world), verify->problems, pages_progress, verify);

	*ret_sound = verify->problems->count == before;
	return r && r != -EINTR ? verify_failed(verify, r, "the pages") : r;
}

/* Finds the number of the newest version. If the last row is damaged, which verify_rows() reports,
 * it is the largest number that a walk over the versions meets. */
static int find_last_version(struct verify *verify)
{
	struct wfs_txn *const txn = verify->view.txn;
	int r = wfs_version_last(txn, &verify->last_vid);

	if (r == -EIO) {
		do {
			r = wfs_version_next_vid(txn, verify->last_vid, &verify->last_vid);
		} while (!r);
		r = r == -ENOENT ? 0 : r;
	}
	return r ? verify_failed(verify, r, "the newest version") : 0;
}

int wfs_verify(struct wfs_world *world, struct wfs_problems *problems, wfs_progress_fn *progress,
	void *context, struct wfs_error *error)
{
	static int (*const checks[])(struct verify * verify) = {
		verify_rows,
		verify_journal,
		verify_versions,
		verify_kernel_cells,
		verify_reducers,
		verify_index,
		verify_blobs,
		verify_listings,
		verify_texts,
		verify_snapshots,
	};
	struct verify verify = {
		.world = world,
		.problems = problems,
		.progress = progress,
		.context = context,
		.error = error,
	};
	/* Files of versions that are dropped during the check stay until it ends. */
	WFS_AUTO_FD int hold_fd = wfs_blob_files_hold(wfs_world_store(world));
	if (hold_fd < 0 && hold_fd != -ENOENT) /* -ENOENT: each missing file will be reported */
		return wfs_error_from_errno(error, hold_fd, "open the blob files");
	bool sound = false;
	int r = check_pages(&verify, &sound);

	if (r || !sound)
		return wfs_trace(r);
	r = verify_open_view(&verify, WFS_HEIGHT_HEAD);
	verify.height = verify.view.height;
	if (!r)
		r = find_last_version(&verify);
	for (size_t i = 0; !r && i < WFS_ARRAY_COUNT(checks); i++)
		r = checks[i](&verify);
	if (!r && verify.forbidden[0])
		r = wfs_error_from_errno(error, -EACCES, "check all of the world: open '%s/%s'",
			wfs_world_directory(world), verify.forbidden);
	if (!r && verify.failure)
		r = verify_failed(&verify, verify.failure, "all of the world");
	wfs_view_close(&verify.view);
	return wfs_trace(r);
}
