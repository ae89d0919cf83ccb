/* SPDX-License-Identifier: Apache-2.0 */
/* Filling a directory under another name. */
#include "kernel/stage.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "kernel/base/directory.h"
#include "kernel/base/file.h"

#define MARK ".worldfs-new-" /* what our names have before their random end */
#define RANDOM "XXXXXX"

/* The directory that the stage is made in, and what its name begins with. */
struct place {
	char directory[PATH_MAX];
	char prefix[NAME_MAX + 1];
};

static int too_long(struct wfs_error *error, const char *directory)
{
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT, "'%s' is too long", directory);
}

/* Cuts the last name off a path: what is left is where it stands. */
static char *cut_name(char *path)
{
	size_t size = strlen(path);

	while (size > 1 && path[size - 1] == '/')
		path[--size] = '\0';
	char *slash = strrchr(path, '/');
	if (slash)
		*slash = '\0';
	return slash ? slash + 1 : path;
}

/* Makes stage->directory absolute, although its last name may be missing. */
static int resolve(struct wfs_stage *stage, const char *directory, struct wfs_error *error)
{
	char path[PATH_MAX];
	char parent[PATH_MAX];

	if ((size_t)snprintf(path, PATH_MAX, "%s", directory) >= PATH_MAX)
		return too_long(error, directory);
	stage->inside = realpath(directory, stage->directory) != NULL;
	if (stage->inside)
		return 0;
	if (errno != ENOENT)
		return wfs_error_from_errno(error, -errno, "make '%s'", directory);
	const char *name = cut_name(path);
	const char *place = name == path ? "." : *path ? path : "/";
	if (!realpath(place, parent))
		return wfs_error_from_errno(error, -errno, "make '%s'", directory);
	if ((size_t)snprintf(stage->directory, PATH_MAX, "%s/%s",
		    strcmp(parent, "/") == 0 ? "" : parent, name) >= PATH_MAX)
		return too_long(error, directory);
	return 0;
}

static void find_place(const struct wfs_stage *stage, struct place *ret_place)
{
	const char *slash = strrchr(stage->directory, '/');

	*ret_place = (struct place){.prefix = MARK};
	if (stage->inside) {
		memcpy(ret_place->directory, stage->directory, PATH_MAX);
		return;
	}
	snprintf(ret_place->directory, PATH_MAX, "%.*s/", (int)(slash - stage->directory),
		stage->directory);
	snprintf(ret_place->prefix, sizeof(ret_place->prefix), "%.*s" MARK,
		(int)(sizeof(ret_place->prefix) - sizeof(MARK)), slash + 1);
}

/* --- what others left --- */

static bool is_ours(const struct place *place, const char *name)
{
	const size_t size = strlen(place->prefix);

	return strncmp(name, place->prefix, size) == 0 && strlen(name) == size + sizeof(RANDOM) - 1;
}

/* Return: a locked descriptor, or -EAGAIN when somebody fills it, or another -errno. */
static int lock_directory(const char *path)
{
	WFS_AUTO_FD int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB))
		return -errno;
	return WFS_STEAL_FD(fd);
}

/* Return: is it gone? */
static bool remove_left(const struct place *place, const char *name)
{
	char path[PATH_MAX + NAME_MAX];

	snprintf(path, sizeof(path), "%s/%s", place->directory, name);
	WFS_AUTO_FD int fd = lock_directory(path);
	if (fd < 0)
		return false;
	wfs_directory_remove(path);
	return access(path, F_OK) != 0;
}

/* Removes what killed runs left. @ret_empty: is there nothing else? */
static int clear(const struct place *place, bool *ret_empty, struct wfs_error *error)
{
	DIR *listing = opendir(place->directory);
	const struct dirent *entry;

	if (!listing)
		return wfs_error_from_errno(error, -errno, "read '%s'", place->directory);
	*ret_empty = true;
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone, see readdir(3) */
	while ((entry = readdir(listing))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (!is_ours(place, entry->d_name) || !remove_left(place, entry->d_name))
			*ret_empty = false;
	}
	closedir(listing);
	return 0;
}

/* --- life --- */

int wfs_stage_init(struct wfs_stage *stage, const char *directory, struct wfs_error *error)
{
	struct place place;
	bool empty = false;

	*stage = (struct wfs_stage){.fd = -1};
	int r = resolve(stage, directory, error);
	if (r)
		return wfs_trace(r);
	find_place(stage, &place);
	r = clear(&place, &empty, error);
	if (r)
		return wfs_trace(r);
	if (stage->inside && !empty)
		return wfs_error_set(error, WFS_E_ALREADY_EXISTS,
			"'%s' exists and is not empty; expected a new or an empty directory",
			directory);
	if ((size_t)snprintf(stage->path, PATH_MAX, "%s/%s" RANDOM, place.directory,
		    place.prefix) >= PATH_MAX)
		return too_long(error, directory);
	if (!mkdtemp(stage->path))
		return wfs_error_from_errno(error, -errno, "make '%s'", stage->path);
	stage->made = true;
	stage->fd = lock_directory(stage->path);
	return stage->fd < 0 ? wfs_error_from_errno(error, stage->fd, "open '%s'", stage->path) : 0;
}

static int move(int from, int to, const char *name)
{
	return renameat(from, name, to, name) ? -errno : 0;
}

/* Moves everything out of the stage. */
static int move_up(struct wfs_stage *stage, const char *last)
{
	WFS_AUTO_FD int to = open(stage->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *listing = opendir(stage->path);
	const struct dirent *entry;
	int r = to < 0 ? -errno : 0;

	if (!listing)
		return -errno;
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone, see readdir(3) */
	while (!r && (entry = readdir(listing)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
			strcmp(entry->d_name, last) != 0)
			r = move(stage->fd, to, entry->d_name);
	closedir(listing);
	if (!r && fsync(to))
		r = -errno;
	if (!r)
		r = move(stage->fd, to, last);
	return !r && fsync(to) ? -errno : r;
}

static int take_place(const struct wfs_stage *stage)
{
	char parent[PATH_MAX];

	memcpy(parent, stage->directory, PATH_MAX);
	(void)cut_name(parent);
	if (rename(stage->path, stage->directory))
		return -errno;
	return wfs_file_sync_directory(*parent ? parent : "/");
}

int wfs_stage_publish(struct wfs_stage *stage, const char *last, struct wfs_error *error)
{
	/* One call for any number of files, and it tells of every one that could not be written. */
	int r = syncfs(stage->fd) ? -errno : 0;

	if (r)
		return wfs_error_from_errno(error, r, "sync '%s'", stage->path);
	r = stage->inside ? move_up(stage, last) : take_place(stage);
	if (r)
		return wfs_error_from_errno(error, r, "fill '%s'", stage->directory);
	if (!stage->inside)
		stage->made = false;
	return 0;
}

void wfs_stage_done(struct wfs_stage *stage)
{
	if (stage->made)
		wfs_directory_remove(stage->path);
	if (stage->path[0] && stage->fd >= 0)
		close(stage->fd);
	*stage = (struct wfs_stage){.fd = -1};
}
