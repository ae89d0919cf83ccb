/* SPDX-License-Identifier: Apache-2.0 */
/* Copying a world, from any source. */
#include "kernel/copy/backup.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "kernel/base/array.h"
#include "kernel/base/hash-text.h"
#include "kernel/store/blob.h"
#include "kernel/store/rows.h"
#include "kernel/store/stage.h"

enum { LOOK_COUNT = 1024 }; /* rows between two calls of look() */

/* One blob file to copy. */
struct file {
	struct wfs_hash hash;
	uint64_t size_bytes;
};

struct backup {
	struct wfs_backup_source *source;
	const struct wfs_backup_options *options;
	struct wfs_stage stage;
	struct wfs_world *copy; /* opened to read its rows */
	struct file *files;     /* owned; sorted, each once */
	size_t file_count;
	size_t file_capacity;
	uint64_t file_total_bytes; /* of all files */
	struct wfs_backup_figures figures;
	struct wfs_error *error;
};

/* Reports the progress. @context: struct backup. Return: true to go on. */
static bool look(void *context, const char *what, uint64_t done, uint64_t total)
{
	const struct wfs_backup_options *const options = ((struct backup *)context)->options;

	return !options->progress ||
		options->progress(options->context, what, done, total > done ? total : 0);
}

static int cancelled(struct backup *backup)
{
	return wfs_error_set(backup->error, WFS_E_CANCELLED, "interrupted: no backup was made");
}

/* Refuses what the source gives, with a text for what is wrong. */
static int refuse(struct backup *backup, const char *text, size_t size)
{
	return wfs_error_set(backup->error, WFS_E_HASH_MISMATCH, "%.*s; no %s", (int)size, text,
		backup->source->strange ? "copy was made of what the other side has sent"
					: "backup was made, 'worldfs verify' lists all damage");
}

/* Refuses it with the first of the problems. */
static int refuse_problems(struct backup *backup, struct wfs_problems *problems)
{
	const char *const text = wfs_buffer_text(&problems->lines);

	return refuse(backup, text, strcspn(text, "\n"));
}

/* --- data.mdb --- */

static int copy_data(struct backup *backup)
{
	const uint64_t bytes_max = backup->options->data_bytes_max;
	struct wfs_backup_sink sink = {
		.bytes_max = bytes_max > 0 ? bytes_max : WFS_BACKUP_DATA_MAX,
		.progress = look,
		.context = backup,
	};
	struct stat st;
	WFS_AUTO_FD int fd =
		openat(backup->stage.fd, "data.mdb", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return wfs_error_from_errno(
			backup->error, -errno, "make '%s/data.mdb'", backup->stage.path);
	sink.fd = fd;
	const int r = backup->source->give_data(backup->source, &sink, backup->error);
	if (r == -EINTR)
		return cancelled(backup);
	if (r)
		return wfs_trace(r);
	if (fstat(fd, &st))
		return wfs_error_from_errno(backup->error, -errno, "look at data.mdb");
	backup->figures.data_bytes = (uint64_t)st.st_size;
	return 0;
}

static bool pages_checked(void *context, uint64_t done, uint64_t total)
{
	return look(context, "pages", done, total);
}

/* Opens the copy. If it is a stranger's, all pages are checked before the first row is read. */
static int open_copy(struct backup *backup)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {.count = 0};
	const struct wfs_world_options options = {
		.read_only = true,
		.written_here = !backup->source->strange,
		.walk_pages = backup->source->strange,
		.problems = &problems,
		.pages_checked = pages_checked,
		.pages_context = backup,
	};
	const char *const wanted = backup->options->world_id;
	const int r = wfs_world_open(backup->stage.path, &options, &backup->copy, backup->error);

	if (r == -EINTR)
		return cancelled(backup);
	if (r && problems.count > 0)
		return refuse_problems(backup, &problems);
	if (r)
		return wfs_trace(r);
	if (wanted && strcmp(wfs_world_id(backup->copy), wanted) != 0)
		return wfs_error_set(backup->error, WFS_E_INVALID_ARGUMENT,
			"expected the world %s, got the world %s; no copy was made", wanted,
			wfs_world_id(backup->copy));
	return 0;
}

/* --- blob files --- */

static int add_file(struct backup *backup, const struct wfs_hash *hash, uint64_t size_bytes)
{
	if (size_bytes > WFS_BLOB_MAX)
		return -EFBIG;
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
		return refuse_problems(backup, &problems);
	return r ? wfs_error_from_errno(backup->error, r, "read the rows of the copy") : 0;
}

/* Finds the files that rows of the copy mention; the world itself may have changed since. */
static int find_files(struct backup *backup, struct wfs_txn *txn)
{
	int r = find_in_versions(backup, txn);

	if (!r)
		r = find_in_blobs(backup, txn);
	if (r == -EINTR)
		return r;
	if (r == -EFBIG)
		return wfs_error_set(backup->error, WFS_E_TOO_LARGE,
			"a row tells of a file of more than %d bytes; no copy was made",
			WFS_BLOB_MAX);
	if (r)
		return wfs_error_from_errno(backup->error, r, "read the rows of the copy");
	sort_files(backup);
	for (size_t i = 0; i < backup->file_count; i++)
		backup->file_total_bytes += backup->files[i].size_bytes;
	return 0;
}

static int read_copy(struct backup *backup)
{
	WFS_AUTO_TXN struct wfs_txn *txn = NULL;
	int r = wfs_store_read(wfs_world_store(backup->copy), &txn);

	if (r)
		return wfs_error_from_errno(backup->error, r, "read the rows of the copy");
	r = check_rows(backup, txn);
	if (r)
		return wfs_trace(r);
	r = wfs_journal_height(txn, &backup->figures.height);
	return r ? wfs_error_from_errno(backup->error, r, "read the rows of the copy")
		 : find_files(backup, txn);
}

static bool file_came(void *context, const char *what, uint64_t done, uint64_t total)
{
	struct backup *const backup = context;

	(void)what;
	(void)total;
	return look(backup, "bytes of blob files", backup->figures.file_bytes + done,
		backup->file_total_bytes);
}

static int fill_file(struct backup *backup, const struct file *file)
{
	const struct wfs_backup_sink sink = {
		.fd = wfs_blob_file_make(wfs_world_store(backup->copy), &file->hash),
		.bytes_max = file->size_bytes,
		.progress = file_came,
		.context = backup,
	};

	if (sink.fd < 0)
		return wfs_error_from_errno(
			backup->error, sink.fd, "make the file of %s", WFS_HASH_TEXT(&file->hash));
	const int r = backup->source->give_file(backup->source, &file->hash, &sink, backup->error);
	close(sink.fd);
	return r == -EINTR ? cancelled(backup) : wfs_trace(r);
}

static int copy_file(struct backup *backup, const struct file *file)
{
	const struct wfs_blob blob = {
		.hash = file->hash, .size_bytes = file->size_bytes, .in_file = true};
	char text[WFS_HASH_TEXT_SIZE + 32];
	int r = fill_file(backup, file);

	if (r)
		return wfs_trace(r);
	r = wfs_blob_file_seal(wfs_world_store(backup->copy), &blob);
	if (r == -EIO)
		return refuse(backup, text,
			(size_t)snprintf(text, sizeof(text), "the file of %s is damaged",
				WFS_HASH_TEXT(&file->hash)));
	return r ? wfs_error_from_errno(
			   backup->error, r, "copy the file of %s", WFS_HASH_TEXT(&file->hash))
		 : 0;
}

static int copy_files(struct backup *backup)
{
	for (size_t i = 0; i < backup->file_count; i++) {
		const int r = copy_file(backup, &backup->files[i]);

		if (r)
			return wfs_trace(r);
		backup->figures.file_count++;
		backup->figures.file_bytes += backup->files[i].size_bytes;
		if (!file_came(backup, NULL, 0, 0))
			return cancelled(backup);
	}
	return 0;
}

/* --- the whole --- */

static int fill(struct backup *backup)
{
	struct wfs_backup_source *const source = backup->source;
	int r = copy_data(backup);

	if (!r && mkdirat(backup->stage.fd, "blobs", 0700))
		r = wfs_error_from_errno(
			backup->error, -errno, "make '%s/blobs'", backup->stage.path);
	if (!r)
		r = open_copy(backup);
	if (!r)
		r = read_copy(backup);
	if (!r)
		r = copy_files(backup);
	if (!r && source->give_host)
		r = source->give_host(source, backup->stage.fd, backup->error);
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
	free(backup->files);
}

int wfs_backup_from(struct wfs_backup_source *source, const char *directory,
	const struct wfs_backup_options *options, struct wfs_backup_figures *ret_figures,
	struct wfs_error *error)
{
	WFS_CLEANUP(backup_done)
	struct backup backup = {.source = source, .options = options, .error = error};
	int r = wfs_stage_init(&backup.stage, directory, error);

	if (r)
		return wfs_trace(r);
	r = fill(&backup);
	if (!r && !look(&backup, "rows", 0, 0)) /* the last chance to cancel */
		r = cancelled(&backup);
	if (!r)
		r = wfs_stage_publish(&backup.stage, "data.mdb", error);
	if (!r)
		*ret_figures = backup.figures;
	return wfs_trace(r);
}
