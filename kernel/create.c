/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making a world: its genesis record, its first snapshot record, and nothing on failure.
 * Everything is built in a directory of another name, which then becomes the wanted one.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "kernel/base/directory.h"
#include "kernel/head.h"
#include "kernel/snapshot.h"
#include "kernel/world-impl.h"

/* The first snapshot record. No cell exists yet: its document is the header alone. */
static int append_snapshot(struct wfs_head *head, const struct wfs_manifest *manifest)
{
	WFS_AUTO_BUFFER struct wfs_buffer document = {0};
	WFS_AUTO_BUFFER struct wfs_buffer body = {0};

	wfs_snapshot_header(&document, wfs_manifest_hash(manifest));
	struct wfs_hash hash = wfs_hash_of(document.data, document.size);
	wfs_snapshot_body(&body, head->height, &hash);
	if (wfs_buffer_check(&document) || wfs_buffer_check(&body))
		return -ENOMEM;
	return wfs_head_append_snapshot(
		head, "kernel", head->at_ns, wfs_buffer_bytes(&body), &hash);
}

static int fill(struct wfs_head *head, const struct wfs_genesis *genesis,
	const struct wfs_manifest *manifest, const struct wfs_source *source)
{
	int r = wfs_genesis_write(head, genesis, manifest);

	for (size_t i = 0; !r && i < source->blob_count; i++)
		r = wfs_genesis_module(head, genesis, wfs_buffer_bytes(&source->blobs[i]));
	if (!r)
		r = append_snapshot(head, manifest);
	if (!r)
		r = wfs_head_flush(head, manifest);
	return wfs_trace(r);
}

/* What a world is made from. */
struct parts {
	const struct wfs_source *source;
	struct wfs_manifest *manifest;
	struct wfs_genesis genesis;
};

static int write_store(const struct parts *parts, const char *directory,
	const struct wfs_world_options *options, struct wfs_error *error)
{
	const struct wfs_store_options store_options = {
		.create = true,
		.map_size_bytes = options->map_size_bytes,
	};
	WFS_AUTO_STORE struct wfs_store *store = NULL;
	WFS_AUTO_HEAD struct wfs_head head = {0};
	struct wfs_txn *txn;
	int r = wfs_store_open(directory, &store_options, &store, error);

	if (r)
		return wfs_trace(r);
	r = wfs_store_write(store, &txn);
	if (r)
		return wfs_error_from_errno(error, r, "write genesis");
	r = wfs_head_load(&head, store, txn, parts->manifest);
	if (!r)
		r = fill(&head, &parts->genesis, parts->manifest, parts->source);
	if (!r)
		r = wfs_genesis_meta(&parts->genesis, txn);
	if (r)
		wfs_txn_end(txn);
	else
		r = wfs_txn_commit(txn);
	return r ? wfs_error_from_errno(error, r, "write genesis") : 0;
}

static int write_host(const struct wfs_source *source, const char *directory)
{
	if (source->host.size == 0)
		return 0;
	WFS_AUTO_FD int parent = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (parent < 0)
		return -errno;
	WFS_AUTO_FD int fd =
		openat(parent, "host.json", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	ssize_t n = write(fd, source->host.data, source->host.size);
	if (n < 0)
		return -errno;
	return (size_t)n == source->host.size ? 0 : -ENOSPC;
}

/* --- directories --- */

/* Return: 0 when @path is missing or an empty directory. */
static int check_free(const char *path, struct wfs_error *error)
{
	DIR *listing = opendir(path);
	const struct dirent *entry;
	bool empty = true;

	if (!listing && errno == ENOENT)
		return 0;
	if (!listing)
		return wfs_error_from_errno(error, -errno, "make a world at '%s'", path);
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone, see readdir(3) */
	while ((entry = readdir(listing)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			empty = false;
	closedir(listing);
	if (empty)
		return 0;
	return wfs_error_set(error, WFS_E_ALREADY_EXISTS,
		"'%s' exists and is not empty; expected a new or an empty directory", path);
}

/* Where the world is built: beside @directory, or inside when that exists (it may be a mount point
 * or somebody's working directory, which nothing can take the place of). */
static int name_temporary(
	const char *directory, bool inside, char ret_path[static PATH_MAX], struct wfs_error *error)
{
	size_t size = strlen(directory);

	while (size > 1 && directory[size - 1] == '/')
		size--;
	if ((size_t)snprintf(ret_path, PATH_MAX, "%.*s%s.new-%ld", (int)size, directory,
		    inside ? "/" : "", (long)getpid()) < PATH_MAX)
		return 0;
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT, "'%s' is too long", directory);
}

/* Moves everything out of @temporary; data.mdb last, because with it a directory is a world. */
static int move_up(const char *temporary, const char *directory)
{
	static const char *const names[] = {"blobs", "lock.mdb", "host.json", "data.mdb"};
	WFS_AUTO_FD int from = open(temporary, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	WFS_AUTO_FD int to = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (from < 0 || to < 0)
		return -errno;
	for (size_t i = 0; i < WFS_ARRAY_COUNT(names); i++)
		if (renameat(from, names[i], to, names[i]) && errno != ENOENT)
			return -errno;
	return rmdir(temporary) ? -errno : 0;
}

static int create_in(const struct parts *parts, const char *directory, bool inside,
	const struct wfs_world_options *options, struct wfs_error *error)
{
	char temporary[PATH_MAX];
	int r = name_temporary(directory, inside, temporary, error);

	if (r)
		return wfs_trace(r);
	if (mkdir(temporary, 0700)) /* a world is its owner's affair: mounts show it to others */
		return wfs_error_from_errno(error, -errno, "make '%s'", temporary);
	r = write_store(parts, temporary, options, error);
	if (!r) {
		r = write_host(parts->source, temporary);
		if (!r && inside)
			r = move_up(temporary, directory);
		else if (!r && rename(temporary, directory))
			r = -errno;
		if (r)
			wfs_error_from_errno(error, r, "put the world at '%s'", directory);
	}
	if (r)
		wfs_directory_remove(temporary);
	return wfs_trace(r);
}

int wfs_world_create(const char *directory, const struct wfs_source *source,
	const struct wfs_world_options *options, struct wfs_problems *problems,
	struct wfs_error *error)
{
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = NULL;
	int r = check_free(directory, error);

	if (r)
		return wfs_trace(r);
	r = wfs_manifest_new(source->manifest, problems, &manifest);
	if (r)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"the manifest has %zu problem(s)", problems->count);
	struct parts parts = {.source = source, .manifest = manifest};
	r = wfs_genesis_draw(options->clock_ns, options->clock_context, &parts.genesis);
	if (r)
		return wfs_error_from_errno(error, r, "draw random bytes");
	return wfs_trace(
		create_in(&parts, directory, access(directory, F_OK) == 0, options, error));
}
