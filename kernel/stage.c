/* SPDX-License-Identifier: Apache-2.0 */
/* Filling a directory under another name. */
#include "kernel/stage.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "kernel/base/buffer.h"
#include "kernel/base/directory.h"
#include "kernel/base/file.h"

#define MARK ".worldfs-new-" /* what our names have before their random end */
#define RANDOM "XXXXXX"
#define MOVED ".moved"

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

/*
 * A run that was killed while it moved up has left names beside its directory. They stand in MOVED,
 * behind the one that came last; without that one they are nothing.
 */
static void take_back(const struct place *place, int stage_fd)
{
	char path[PATH_MAX + NAME_MAX + 1];
	char name[NAME_MAX + 2] = "";
	WFS_AUTO_FD int fd = openat(stage_fd, MOVED, O_RDONLY | O_CLOEXEC);
	FILE *list = fd < 0 ? NULL : fdopen(fd, "r");

	if (!list)
		return;
	(void)WFS_STEAL_FD(fd); /* the stream's */
	for (bool first = true; fgets(name, sizeof(name), list); first = false) {
		name[strcspn(name, "\n")] = '\0';
		snprintf(path, sizeof(path), "%s/%s", place->directory, name);
		if (!first)
			wfs_directory_remove(path);
		else if (access(path, F_OK) == 0)
			break;
	}
	(void)fclose(list); /* was only read */
}

static void remove_left(const struct place *place, const char *name)
{
	char path[PATH_MAX + NAME_MAX + 1];

	snprintf(path, sizeof(path), "%s/%s", place->directory, name);
	WFS_AUTO_FD int fd = lock_directory(path);
	if (fd < 0)
		return;
	take_back(place, fd);
	wfs_directory_remove(path);
}

/* Calls @each, when it is given, for what stages left. Return: how many names there are, or -errno. */
static int look_through(const struct place *place,
	void (*each)(const struct place *place, const char *name), struct wfs_error *error)
{
	DIR *listing = opendir(place->directory);
	const struct dirent *entry;
	int count = 0;

	if (!listing)
		return wfs_error_from_errno(error, -errno, "read '%s'", place->directory);
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone, see readdir(3) */
	while ((entry = readdir(listing))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		count = 1;
		if (each && is_ours(place, entry->d_name))
			each(place, entry->d_name);
	}
	closedir(listing);
	return count;
}

/* Removes what killed runs left. @ret_empty: is there nothing else? */
static int clear(const struct place *place, bool *ret_empty, struct wfs_error *error)
{
	int r = look_through(place, remove_left, error);

	if (r > 0)
		r = look_through(place, NULL, error);
	if (r < 0)
		return r;
	*ret_empty = r == 0;
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

static bool is_moved(const struct dirent *entry, const char *last)
{
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		strcmp(entry->d_name, MOVED) != 0 && strcmp(entry->d_name, last) != 0;
}

/* Writes down what will be moved, for take_back. */
static int note_names(const struct wfs_stage *stage, DIR *listing, const char *last)
{
	WFS_AUTO_BUFFER struct wfs_buffer names = {0};
	WFS_AUTO_FD int fd =
		openat(stage->fd, MOVED, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	const struct dirent *entry;

	if (fd < 0)
		return -errno;
	wfs_buffer_printf(&names, "%s\n", last);
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone, see readdir(3) */
	while ((entry = readdir(listing)))
		if (is_moved(entry, last))
			wfs_buffer_printf(&names, "%s\n", entry->d_name);
	rewinddir(listing);
	if (wfs_buffer_check(&names))
		return -ENOMEM;
	ssize_t n = write(fd, names.data, names.size);
	if (n >= 0 && (size_t)n < names.size)
		return -ENOSPC;
	return n < 0 || fsync(fd) || fsync(stage->fd) ? -errno : 0;
}

/* Moves everything out of the stage. */
static int move_up(struct wfs_stage *stage, const char *last)
{
	WFS_AUTO_FD int to = open(stage->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *listing = to < 0 ? NULL : opendir(stage->path);
	const struct dirent *entry;

	if (!listing)
		return -errno;
	int r = note_names(stage, listing, last);
	/* The stage's own name, too, so that what is moved is never alone. */
	if (!r && fsync(to))
		r = -errno;
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone, see readdir(3) */
	while (!r && (entry = readdir(listing)))
		if (is_moved(entry, last))
			r = move(stage->fd, to, entry->d_name);
	closedir(listing);
	if (!r && fsync(to))
		r = -errno;
	if (!r)
		r = move(stage->fd, to, last);
	if (!r && fsync(to)) {
		r = -errno;
		(void)move(to, stage->fd, last); /* it failed, so it is not there */
	}
	return r;
}

static int take_place(const struct wfs_stage *stage)
{
	char parent[PATH_MAX];

	memcpy(parent, stage->directory, PATH_MAX);
	(void)cut_name(parent);
	if (rename(stage->path, stage->directory))
		return -errno;
	int r = wfs_file_sync_directory(*parent ? parent : "/");
	if (r)
		(void)rename(stage->directory, stage->path); /* it failed, so it is not there */
	return r;
}

int wfs_stage_publish(struct wfs_stage *stage, const char *last, struct wfs_error *error)
{
	/* One call for any number of files, and it tells of every one that could not be written;
	 * but it waits for what others write, too. */
	int r = (stage->files_synced ? fsync(stage->fd) : syncfs(stage->fd)) ? -errno : 0;

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
	struct place place;

	if (stage->made && stage->inside && stage->fd >= 0) {
		find_place(stage, &place);
		take_back(&place, stage->fd);
	}
	if (stage->made)
		wfs_directory_remove(stage->path);
	if (stage->path[0] && stage->fd >= 0)
		close(stage->fd);
	*stage = (struct wfs_stage){.fd = -1};
}
