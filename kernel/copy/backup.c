/* SPDX-License-Identifier: Apache-2.0 */
/* Copying a world. */
#include "kernel/copy/backup.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "kernel/base/array.h"
#include "kernel/base/file.h"
#include "kernel/base/hash-text.h"
#include "kernel/base/host-file.h"
#include "kernel/base/host-form.h"
#include "kernel/base/json.h"
#include "kernel/base/world-file.h"
#include "kernel/store/rows.h"
#include "kernel/store/stage.h"

enum { LOOK_COUNT = 1024 }; /* rows between two calls of look() */

/* One blob file to copy. */
struct file {
	struct wfs_hash hash;
	uint64_t size_bytes;
};

struct backup {
	struct wfs_world *world;
	const struct wfs_backup_options *options;
	struct wfs_stage stage;
	int hold_fd;            /* as long as it is open, no blob file is removed; or -1 */
	struct wfs_world *copy; /* opened to read its rows */
	struct file *files;     /* owned; sorted, each once */
	size_t file_count;
	size_t file_capacity;
	uint64_t data_total; /* about how many bytes data.mdb will have */
	struct wfs_backup_figures figures;
	struct wfs_error *error;
};

/* Reports the progress. Return: true to go on. */
static bool look(struct backup *backup, const char *what, uint64_t done, uint64_t total)
{
	const struct wfs_backup_options *options = backup->options;

	return !options->progress ||
		options->progress(options->context, what, done, total > done ? total : 0);
}

static int cancelled(struct backup *backup)
{
	return wfs_error_set(backup->error, WFS_E_CANCELLED, "interrupted: no backup was made");
}

/* --- data.mdb, host.json --- */

static int make_file(struct backup *backup, const char *name)
{
	int fd = openat(backup->stage.fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	return fd < 0 ? wfs_error_from_errno(
				backup->error, -errno, "make '%s/%s'", backup->stage.path, name)
		      : fd;
}

static bool data_copied(void *context, uint64_t done_bytes)
{
	struct backup *backup = context;

	backup->figures.data_bytes = done_bytes;
	return look(backup, "bytes of data.mdb", done_bytes, backup->data_total);
}

static bool pages_checked(void *context, uint64_t done, uint64_t total)
{
	return look(context, "pages", done, total);
}

/* Refuses the backup with the first of the problems. */
static int refuse(struct backup *backup, struct wfs_problems *problems)
{
	return wfs_error_set(backup->error, WFS_E_HASH_MISMATCH,
		"%.*s; no backup was made, 'worldfs verify' lists all damage",
		(int)strcspn(wfs_buffer_text(&problems->lines), "\n"),
		wfs_buffer_text(&problems->lines));
}

/* Checks all pages first: LMDB copies them on a thread of its own, without the store's guard, where
 * a damaged page would end the process. */
static int check_pages(struct backup *backup)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {.count = 0};
	int r = wfs_store_check_pages(
		wfs_world_store(backup->world), &problems, pages_checked, backup);

	if (r == -EINTR)
		return cancelled(backup);
	if (r)
		return wfs_error_from_errno(backup->error, r, "check the pages of data.mdb");
	return problems.count > 0 ? refuse(backup, &problems) : 0;
}

static int copy_data(struct backup *backup)
{
	struct wfs_store *store = wfs_world_store(backup->world);
	struct wfs_store_figures figures;
	WFS_AUTO_FD int fd = make_file(backup, "data.mdb");

	if (fd < 0)
		return wfs_trace(fd);
	wfs_store_figures(store, &figures);
	backup->data_total = figures.used_bytes - figures.free_bytes;
	int r = wfs_store_copy(store, fd, data_copied, backup);
	if (r == -EINTR)
		return cancelled(backup);
	return r ? wfs_error_from_errno(backup->error, r, "copy data.mdb") : 0;
}

/* Copies a file of the world's directory; one that is missing is left out. */
static int copy_named(struct backup *backup, const char *name)
{
	const char *const directory = wfs_world_directory(backup->world);
	WFS_AUTO_FD int from = wfs_world_file_open(directory, name, O_RDONLY, backup->error);

	if (from == -ENOENT)
		return 0;
	if (from < 0)
		return wfs_trace(from);
	WFS_AUTO_FD int to = make_file(backup, name);
	int r = to < 0 ? to : wfs_file_copy(from, to);
	return r ? wfs_error_from_errno(backup->error, r, "copy '%s/%s'", directory, name) : 0;
}

/* Copies host.json, and the scripts that it names; if something in it is wrong, no scripts. */
static int copy_host(struct backup *backup)
{
	WFS_AUTO_JSON json_t *host = NULL;
	const char *model;
	json_t *entry;
	int r = copy_named(backup, "host.json");

	if (r || wfs_host_file_read(wfs_world_directory(backup->world), &host, NULL, NULL) < 0 ||
		wfs_host_check(host, NULL) < 0)
		return r;
	json_object_foreach(json_object_get(host, "models"), model, entry) {
		const char *const name = wfs_host_script(entry);

		/* Two models may have one script. */
		if (!r && name && wfs_host_script_name_valid(name) &&
			faccessat(backup->stage.fd, name, F_OK, 0))
			r = copy_named(backup, name);
	}
	return r;
}

/* --- blob files --- */

static int add_file(struct backup *backup, const struct wfs_hash *hash, uint64_t size_bytes)
{
	struct file *const files = wfs_array_reserve(
		backup->files, backup->file_count, &backup->file_capacity, sizeof(*files));

	if (!files)
		return -ENOMEM;
	backup->files = files;
	backup->files[backup->file_count++] = (struct file){*hash, size_bytes};
	return 0;
}

/* Reports the progress after every LOOK_COUNT rows. Return: 0, or -EINTR. */
static int look_at_row(struct backup *backup, const char *what, uint64_t row, uint64_t total)
{
	if (row % LOOK_COUNT != 0 || look(backup, what, row, total))
		return 0;
	return cancelled(backup);
}

static int find_in_versions(struct backup *backup, struct wfs_txn *txn)
{
	struct wfs_version version;
	uint64_t vid = 0;
	uint64_t last_vid;
	int r = wfs_version_last(txn, &last_vid);

	if (r)
		return r;
	while ((r = wfs_version_next(txn, vid, &version)) == 0) {
		vid = version.vid;
		if (version.in_file)
			r = add_file(backup, &version.hash, version.size_bytes);
		if (!r)
			r = look_at_row(backup, "versions", vid, last_vid);
		if (r)
			return r;
	}
	return r == -ENOENT ? 0 : r;
}

static int find_in_blobs(struct backup *backup, struct wfs_txn *txn)
{
	struct wfs_blob blob;
	struct wfs_hash last;
	uint64_t count = 0;
	int r;

	while ((r = wfs_blob_next(txn, count ? &last : NULL, &blob)) == 0) {
		last = blob.hash;
		if (blob.in_file)
			r = add_file(backup, &blob.hash, blob.size_bytes);
		if (!r)
			r = look_at_row(backup, "blobs", ++count, 0);
		if (r)
			return r;
	}
	return r == -ENOENT ? 0 : r;
}

static int compare_files(const void *a, const void *b)
{
	const struct file *x = a;
	const struct file *y = b;

	return memcmp(x->hash.bytes, y->hash.bytes, sizeof(x->hash.bytes));
}

static void sort_files(struct backup *backup)
{
	size_t kept = 0;

	if (backup->file_count == 0)
		return;
	qsort(backup->files, backup->file_count, sizeof(*backup->files), compare_files);
	for (size_t i = 1; i < backup->file_count; i++)
		if (compare_files(&backup->files[kept], &backup->files[i]) != 0)
			backup->files[++kept] = backup->files[i];
	backup->file_count = kept + 1;
}

/* Checks that each row of the copy is as it was written. */
static int check_rows(struct backup *backup, struct wfs_txn *txn)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {.count = 0};
	struct wfs_rows rows = {0};
	uint64_t total = 0;
	int r = wfs_rows_total(txn, &total);

	if (!r)
		r = 1;
	while (r > 0 && problems.count == 0) {
		r = wfs_rows_check(&rows, txn, LOOK_COUNT, &problems);
		if (r >= 0 && !look(backup, "rows", rows.done, total))
			return cancelled(backup);
	}
	if (problems.count > 0)
		return refuse(backup, &problems);
	return r ? wfs_error_from_errno(backup->error, r, "read the rows of the copy") : 0;
}

/* Finds the files that rows of the copy mention; the world itself may have changed since. */
static int find_files(struct backup *backup)
{
	const struct wfs_world_options options = {.read_only = true, .written_here = true};
	WFS_AUTO_TXN struct wfs_txn *txn = NULL;
	int r = wfs_world_open(backup->stage.path, &options, &backup->copy, backup->error);

	if (r)
		return wfs_trace(r);
	r = wfs_store_read(wfs_world_store(backup->copy), &txn);
	if (r)
		return wfs_error_from_errno(backup->error, r, "read the rows of the copy");
	r = check_rows(backup, txn);
	if (r)
		return wfs_trace(r);
	r = wfs_journal_height(txn, &backup->figures.height);
	if (!r)
		r = find_in_versions(backup, txn);
	if (!r)
		r = find_in_blobs(backup, txn);
	if (r == -EINTR)
		return r;
	if (r)
		return wfs_error_from_errno(backup->error, r, "read the rows of the copy");
	sort_files(backup);
	return 0;
}

static int copy_file(struct backup *backup, const struct file *file)
{
	const struct wfs_blob blob = {
		.hash = file->hash, .size_bytes = file->size_bytes, .in_file = true};
	int r = wfs_blob_file_copy(
		wfs_world_store(backup->world), wfs_world_store(backup->copy), &blob);

	if (r == -ENOENT || r == -EIO)
		return wfs_error_set(backup->error, WFS_E_HASH_MISMATCH,
			"the file of %s is %s; no backup was made, 'worldfs verify' lists all "
			"damage",
			WFS_HASH_TEXT(&file->hash), r == -EIO ? "damaged" : "missing");
	return r ? wfs_error_from_errno(
			   backup->error, r, "copy the file of %s", WFS_HASH_TEXT(&file->hash))
		 : 0;
}

static int copy_files(struct backup *backup)
{
	uint64_t total_bytes = 0;
	int r = 0;

	for (size_t i = 0; i < backup->file_count; i++)
		total_bytes += backup->files[i].size_bytes;
	for (size_t i = 0; !r && i < backup->file_count; i++) {
		r = copy_file(backup, &backup->files[i]);
		backup->figures.file_count++;
		backup->figures.file_bytes += backup->files[i].size_bytes;
		if (!r &&
			!look(backup, "bytes of blob files", backup->figures.file_bytes,
				total_bytes))
			r = cancelled(backup);
	}
	return r;
}

/* --- the whole --- */

static int fill(struct backup *backup)
{
	int r = check_pages(backup);

	if (!r)
		r = copy_data(backup);
	if (!r && mkdirat(backup->stage.fd, "blobs", 0700))
		r = wfs_error_from_errno(
			backup->error, -errno, "make '%s/blobs'", backup->stage.path);
	if (!r)
		r = find_files(backup);
	if (!r)
		r = copy_files(backup);
	if (!r)
		r = copy_host(backup);
	/* lock.mdb has only our own reader of the copy. */
	wfs_world_close(WFS_STEAL(backup->copy));
	if (!r && unlinkat(backup->stage.fd, "lock.mdb", 0) && errno != ENOENT)
		r = wfs_error_from_errno(backup->error, -errno, "close the copy");
	return wfs_trace(r);
}

static void backup_done(struct backup *backup)
{
	wfs_world_close(backup->copy);
	wfs_stage_done(&backup->stage);
	wfs_auto_fd(&backup->hold_fd);
	free(backup->files);
}

int wfs_backup(struct wfs_world *world, const char *directory,
	const struct wfs_backup_options *options, struct wfs_backup_figures *ret_figures,
	struct wfs_error *error)
{
	WFS_CLEANUP(backup_done)
	struct backup backup = {.world = world, .options = options, .hold_fd = -1, .error = error};
	int r = wfs_stage_init(&backup.stage, directory, error);

	if (r)
		return wfs_trace(r);
	backup.hold_fd = wfs_blob_files_hold(wfs_world_store(world));
	if (backup.hold_fd < 0 && backup.hold_fd != -ENOENT)
		return wfs_error_from_errno(
			error, backup.hold_fd, "open 'blobs' of '%s'", wfs_world_directory(world));
	r = fill(&backup);
	if (!r && !look(&backup, "rows", 0, 0)) /* the last chance to cancel */
		r = cancelled(&backup);
	if (!r)
		r = wfs_stage_publish(&backup.stage, "data.mdb", error);
	if (!r)
		*ret_figures = backup.figures;
	return wfs_trace(r);
}
