/* SPDX-License-Identifier: Apache-2.0 */
/* What a copy gets from a world that this process has opened. */
#include "kernel/copy/backup.h"

#include <fcntl.h>

#include "kernel/base/file.h"
#include "kernel/base/hash-text.h"
#include "kernel/base/host-file.h"
#include "kernel/base/host-form.h"
#include "kernel/base/json.h"
#include "kernel/base/world-file.h"
#include "kernel/store/blob.h"

/* --- data.mdb --- */

/* A data.mdb on its way to a sink. Plain value. */
struct giving {
	const struct wfs_backup_sink *sink;
	uint64_t total_bytes; /* about */
	bool too_large;
};

static int cancelled(struct wfs_error *error)
{
	return wfs_error_set(error, WFS_E_CANCELLED, "interrupted: data.mdb was not copied");
}

static bool pages_checked(void *context, uint64_t done, uint64_t total)
{
	const struct giving *const giving = context;

	return giving->sink->progress(giving->sink->context, "pages", done, total);
}

static bool data_copied(void *context, uint64_t done_bytes)
{
	struct giving *const giving = context;

	giving->too_large = done_bytes > giving->sink->bytes_max;
	return !giving->too_large &&
		giving->sink->progress(giving->sink->context, "bytes of data.mdb", done_bytes,
			giving->total_bytes);
}

static int check_pages(struct wfs_store *store, struct giving *giving, struct wfs_error *error)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {.count = 0};
	const int r = wfs_store_check_pages(store, &problems, pages_checked, giving);

	if (r == -EINTR)
		return cancelled(error);
	if (r)
		return wfs_error_from_errno(error, r, "check the pages of data.mdb");
	if (problems.count == 0)
		return 0;
	return wfs_error_set(error, WFS_E_HASH_MISMATCH,
		"%.*s; no backup was made, 'worldfs verify' lists all damage",
		(int)strcspn(wfs_buffer_text(&problems.lines), "\n"),
		wfs_buffer_text(&problems.lines));
}

int wfs_backup_give(
	struct wfs_world *world, const struct wfs_backup_sink *sink, struct wfs_error *error)
{
	struct wfs_store *const store = wfs_world_store(world);
	struct giving giving = {.sink = sink};
	struct wfs_store_figures figures;
	int r = check_pages(store, &giving, error);

	if (r)
		return wfs_trace(r);
	wfs_store_figures(store, &figures);
	giving.total_bytes = figures.used_bytes - figures.free_bytes;
	r = wfs_store_copy(store, sink->fd, data_copied, &giving);
	if (r == -EINTR && giving.too_large)
		return wfs_error_set(error, WFS_E_TOO_LARGE,
			"data.mdb has more than %llu bytes, the most that the copy may have",
			(unsigned long long)sink->bytes_max);
	if (r == -EINTR)
		return cancelled(error);
	return r ? wfs_error_from_errno(error, r, "copy data.mdb") : 0;
}

/* --- the source --- */

struct local {
	struct wfs_backup_source source; /* first: the callbacks cast back */
	struct wfs_world *world;
	int hold_fd; /* as long as it is open, no blob file is removed; or -1 */
};

static int give_data(struct wfs_backup_source *source, const struct wfs_backup_sink *sink,
	struct wfs_error *error)
{
	return wfs_trace(wfs_backup_give(((struct local *)source)->world, sink, error));
}

static int give_file(struct wfs_backup_source *source, const struct wfs_hash *hash,
	const struct wfs_backup_sink *sink, struct wfs_error *error)
{
	struct local *const local = (struct local *)source;
	WFS_AUTO_FD int fd = -1;
	uint64_t size_bytes = 0;
	int r = wfs_blob_file_open(wfs_world_store(local->world), hash, &fd, &size_bytes);

	if (r == -ENOENT || r == -EIO || (!r && size_bytes > sink->bytes_max))
		return wfs_error_set(error, WFS_E_HASH_MISMATCH,
			"the file of %s is %s; no backup was made, 'worldfs verify' lists all "
			"damage",
			WFS_HASH_TEXT(hash), r == -ENOENT ? "missing" : "damaged");
	if (!r)
		r = wfs_file_copy(fd, sink->fd);
	return r ? wfs_error_from_errno(error, r, "copy the file of %s", WFS_HASH_TEXT(hash)) : 0;
}

/* Copies a file of the world's directory; one that is missing is left out. */
static int copy_named(const char *directory, const char *name, int to_fd, struct wfs_error *error)
{
	WFS_AUTO_FD int from = wfs_world_file_open(directory, name, O_RDONLY, error);

	if (from == -ENOENT)
		return 0;
	if (from < 0)
		return wfs_trace(from);
	WFS_AUTO_FD int to = openat(to_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	const int r = to < 0 ? -errno : wfs_file_copy(from, to);
	return r ? wfs_error_from_errno(error, r, "copy '%s/%s'", directory, name) : 0;
}

/* If something in host.json is wrong, its scripts are not copied. */
static int give_host(struct wfs_backup_source *source, int to_fd, struct wfs_error *error)
{
	const char *const directory = wfs_world_directory(((struct local *)source)->world);
	WFS_AUTO_JSON json_t *host = NULL;
	const char *model;
	json_t *entry;
	int r = copy_named(directory, "host.json", to_fd, error);

	if (r || wfs_host_file_read(directory, &host, NULL, NULL) < 0 ||
		wfs_host_check(host, NULL) < 0)
		return r;
	json_object_foreach(json_object_get(host, "models"), model, entry) {
		const char *const name = wfs_host_script(entry);

		/* Two models may have one script. */
		if (!r && name && wfs_host_script_name_valid(name) &&
			faccessat(to_fd, name, F_OK, 0))
			r = copy_named(directory, name, to_fd, error);
	}
	return r;
}

int wfs_backup(struct wfs_world *world, const char *directory,
	const struct wfs_backup_options *options, struct wfs_backup_figures *ret_figures,
	struct wfs_error *error)
{
	struct local local = {
		.source = {.give_data = give_data, .give_file = give_file, .give_host = give_host},
		.world = world,
		.hold_fd = wfs_blob_files_hold(wfs_world_store(world)),
	};

	if (local.hold_fd < 0 && local.hold_fd != -ENOENT)
		return wfs_error_from_errno(
			error, local.hold_fd, "open 'blobs' of '%s'", wfs_world_directory(world));
	const int r = wfs_backup_from(&local.source, directory, options, ret_figures, error);
	wfs_auto_fd(&local.hold_fd);
	return wfs_trace(r);
}
