/* SPDX-License-Identifier: Apache-2.0 */
/* Fills a directory under a temporary name. */
#include "kernel/store/stage.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "kernel/base/buffer.h"
#include "kernel/base/directory.h"
#include "kernel/base/world-file.h"

#define MARK ".worldfs-new-" /* in our names, before their random end */
#define MOVED ".moved"

enum {
	RANDOM_SIZE = 6, /* hexadecimal digits at the end of our names */
	RANDOM_MASK = 0xffffff,
	TRIES_MAX = 1000, /* of names that are taken, or whose directory another process removed */
	/* A directory of ours with this bit is a stage, from its first moment on: a user who may
	 * rename there could give any directory the name of a stage. */
	STAGE_BIT = S_ISVTX,
};

/* The parent directory of the stage, and the beginning of the stage's name. */
struct place {
	char directory[PATH_MAX];
	char prefix[NAME_MAX + 1];
};

static int too_long(struct wfs_error *error, const char *directory)
{
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT, "'%s' is too long", directory);
}

/* Cuts the last name off a path, which leaves its parent. Return: the last name. */
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
	const char *place = *path ? path : "/";
	if (name == path)
		place = ".";
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
	snprintf(ret_place->directory, PATH_MAX, "%.*s",
		slash == stage->directory ? 1 : (int)(slash - stage->directory), stage->directory);
	snprintf(ret_place->prefix, sizeof(ret_place->prefix), "%.*s" MARK,
		(int)(sizeof(ret_place->prefix) - sizeof(MARK) - RANDOM_SIZE), slash + 1);
}

/* The last name of an absolute path. */
static const char *name_of(const char *path)
{
	return strrchr(path, '/') + 1;
}

/* --- names in directories --- */

static void close_listing(DIR **listing)
{
	if (*listing)
		closedir(*listing);
}
#define AUTO_LISTING WFS_CLEANUP(close_listing)

/* Return: NULL and errno; uses a descriptor of its own, because closedir closes it. */
static DIR *list(int directory_fd)
{
	WFS_AUTO_FD int fd = openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *listing = fd < 0 ? NULL : fdopendir(fd);

	if (listing)
		(void)WFS_STEAL_FD(fd);
	return listing;
}

/* Return: NULL at the end. */
static const char *next_name(DIR *listing)
{
	const struct dirent *entry;

	do {
		/* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours, see readdir(3) */
		entry = readdir(listing);
	} while (entry && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
	return entry ? entry->d_name : NULL;
}

/* Return: 1 (the directory is empty), 0, or -errno. */
static int is_empty(int directory_fd)
{
	AUTO_LISTING DIR *listing = list(directory_fd);

	return listing ? !next_name(listing) : -errno;
}

/* Renames without replacing anything. Return: 0, -EEXIST, or another -errno. */
static int move_to(int from_fd, const char *from, int to_fd, const char *to)
{
	if (renameat2(from_fd, from, to_fd, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL)
		return -errno;
	/* Not every file system can do that. Our processes do not race here: they hold locks. */
	if (faccessat(to_fd, to, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return -EEXIST;
	return renameat(from_fd, from, to_fd, to) ? -errno : 0;
}

static int move(int from_fd, int to_fd, const char *name)
{
	return move_to(from_fd, name, to_fd, name);
}

/* --- what killed runs left --- */

/* Is it the name of a stage? */
static bool is_named(const char *prefix, const char *name)
{
	const size_t size = strlen(prefix);

	return strncmp(name, prefix, size) == 0 && strlen(name) == size + RANDOM_SIZE;
}

static int open_directory(int place_fd, const char *name)
{
	int fd = openat(place_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static bool is_stage(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_uid == geteuid() && (st.st_mode & STAGE_BIT);
}

/* Has the name that is moved last been moved? If a crash left it in both places, it is one file. */
static bool is_published(int place_fd, int stage_fd, const char *last)
{
	struct stat moved;
	struct stat left;

	if (fstatat(place_fd, last, &moved, AT_SYMLINK_NOFOLLOW))
		return false;
	return fstatat(stage_fd, last, &left, AT_SYMLINK_NOFOLLOW) != 0 ||
		(left.st_dev == moved.st_dev && left.st_ino == moved.st_ino);
}

/* Is it a single name in a directory? */
static bool is_plain(const char *name)
{
	return !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/*
 * Moves files back into a stage whose run was killed while it moved them up. MOVED lists their
 * names, after that of the last one, which means, once it is moved, that all stay. A name that the
 * stage still has was not moved, so the one beside the stage is somebody else's. Return: is
 * everything back?
 */
static bool take_back(int place_fd, int stage_fd)
{
	char name[NAME_MAX + 2] = "";
	WFS_AUTO_FD int fd = openat(stage_fd, MOVED, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT;
	WFS_AUTO_FILE FILE *names = fdopen(fd, "r");
	bool back = true;

	if (!names)
		return false;
	(void)WFS_STEAL_FD(fd); /* the stream's */
	for (bool first = true; fgets(name, sizeof(name), names); first = false) {
		name[strcspn(name, "\n")] = '\0';
		if (first && is_published(place_fd, stage_fd, name))
			return true;
		if (first || !is_plain(name))
			continue;
		const int r = move(place_fd, stage_fd, name);
		back &= r == 0 || r == -ENOENT || r == -EEXIST;
	}
	return back && !ferror(names);
}

/*
 * Removes a stage together with the files it has moved, which nobody would find without it. If
 * those cannot be moved back, both stay for the next run. Removes the name only if empty: it may be
 * another directory's.
 */
static void remove_stage(int place_fd, int stage_fd, const char *name)
{
	if (!take_back(place_fd, stage_fd))
		return;
	(void)unlinkat(stage_fd, MOVED, 0);
	wfs_directory_clear(stage_fd);
	(void)unlinkat(place_fd, name, AT_REMOVEDIR);
}

/* Removes stages that killed runs left. */
static int remove_left(int place_fd, const char *prefix)
{
	AUTO_LISTING DIR *listing = list(place_fd);
	const char *name;

	if (!listing)
		return -errno;
	while ((name = next_name(listing))) {
		if (!is_named(prefix, name))
			continue;
		WFS_AUTO_FD int fd = open_directory(place_fd, name);
		if (fd >= 0 && is_stage(fd) && flock(fd, LOCK_EX | LOCK_NB) == 0)
			remove_stage(place_fd, fd, name);
	}
	return 0;
}

/* --- life --- */

/* Opens the parent directory of the stage,
 * and checks that the wanted directory can be made or filled. */
static int enter_place(struct wfs_stage *stage, const struct place *place, struct wfs_error *error)
{
	stage->place_fd = open(place->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (stage->place_fd < 0)
		return wfs_error_from_errno(error, -errno, "open '%s'", place->directory);
	int r = stage->inside ? wfs_world_directory_check(stage->place_fd, place->directory, error)
			      : 0;
	if (r)
		return r;
	/* Locked until it is filled,
	 * so that only one of two processes that found it empty goes on. */
	if (stage->inside && flock(stage->place_fd, LOCK_EX | LOCK_NB))
		return errno != EWOULDBLOCK
			? wfs_error_from_errno(error, -errno, "lock '%s'", place->directory)
			: wfs_error_set(error, WFS_E_ALREADY_EXISTS,
				  "'%s' is being filled by another process", place->directory);
	r = remove_left(stage->place_fd, place->prefix);
	int empty = !r && stage->inside ? is_empty(stage->place_fd) : 1;
	if (r || empty < 0)
		return wfs_error_from_errno(error, r ? r : empty, "read '%s'", place->directory);
	if (!empty)
		return wfs_error_set(error, WFS_E_ALREADY_EXISTS,
			"'%s' exists and is not empty; expected a new or an empty directory",
			place->directory);
	return 0;
}

/* Return: 0, or -EAGAIN (the name is taken, or the directory was removed by another process), … */
static int try_to_make(struct wfs_stage *stage)
{
	const char *const name = name_of(stage->path);
	struct stat st;

	if (mkdirat(stage->place_fd, name, STAGE_BIT | S_IRWXU))
		return errno == EEXIST ? -EAGAIN : -errno;
	/* A process that removes stages may have been faster,
	 * and holds the lock until it is gone. */
	WFS_AUTO_FD int fd = open_directory(stage->place_fd, name);
	if (fd < 0 || flock(fd, LOCK_EX) || fstat(fd, &st)) {
		const int r = fd < 0 ? fd : -errno;

		(void)unlinkat(stage->place_fd, name, AT_REMOVEDIR);
		return r == -ENOENT ? -EAGAIN : r;
	}
	if (st.st_nlink == 0)
		return -EAGAIN;
	stage->fd = WFS_STEAL_FD(fd);
	return 0;
}

static int make_stage(struct wfs_stage *stage, const struct place *place, struct wfs_error *error)
{
	int r = -EAGAIN;

	for (int i = 0; r == -EAGAIN && i < TRIES_MAX; i++) {
		uint32_t number;

		if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
			return wfs_error_from_errno(error, -errno, "draw random bytes");
		if ((size_t)snprintf(stage->path, PATH_MAX, "%s/%s%0*x", place->directory,
			    place->prefix, RANDOM_SIZE, number & RANDOM_MASK) >= PATH_MAX)
			return too_long(error, stage->directory);
		r = try_to_make(stage);
	}
	return r ? wfs_error_from_errno(error, r, "make '%s'", stage->path) : 0;
}

int wfs_stage_init(struct wfs_stage *stage, const char *directory, struct wfs_error *error)
{
	struct place place;

	*stage = (struct wfs_stage){.fd = -1, .place_fd = -1};
	int r = resolve(stage, directory, error);
	if (r)
		return wfs_trace(r);
	find_place(stage, &place);
	r = enter_place(stage, &place, error);
	return wfs_trace(r ? r : make_stage(stage, &place, error));
}

static bool is_moved(const char *name, const char *last)
{
	return strcmp(name, MOVED) != 0 && strcmp(name, last) != 0;
}

/* Writes down the names that will be moved, for take_back. */
static int note_names(const struct wfs_stage *stage, DIR *listing, const char *last)
{
	WFS_AUTO_BUFFER struct wfs_buffer names = {0};
	WFS_AUTO_FD int fd =
		openat(stage->fd, MOVED, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	const char *name;

	if (fd < 0)
		return -errno;
	wfs_buffer_printf(&names, "%s\n", last);
	while ((name = next_name(listing)))
		if (is_moved(name, last))
			wfs_buffer_printf(&names, "%s\n", name);
	rewinddir(listing);
	if (wfs_buffer_check(&names))
		return -ENOMEM;
	ssize_t n = write(fd, names.data, names.size);
	if (n >= 0 && (size_t)n < names.size)
		return -ENOSPC;
	return n < 0 || fsync(fd) || fsync(stage->fd) ? -errno : 0;
}

/* Moves everything from the stage to the parent. */
static int move_up(const struct wfs_stage *stage, const char *last)
{
	AUTO_LISTING DIR *listing = list(stage->fd);
	const int to = stage->place_fd;
	const char *name;

	if (!listing)
		return -errno;
	int r = note_names(stage, listing, last);
	/* The stage's own name must be durable first, so that moved files are never without it. */
	if (!r && fsync(to))
		r = -errno;
	while (!r && (name = next_name(listing)))
		if (is_moved(name, last))
			r = move(stage->fd, to, name);
	if (!r && fsync(to))
		r = -errno;
	if (!r)
		r = move(stage->fd, to, last);
	if (!r && fsync(to)) {
		r = -errno;
		(void)move(to, stage->fd, last); /* undone, because publishing failed */
	}
	return r;
}

/* Clears the mark of a stage, after the rename,
 * so that a crash before it leaves a removable stage. */
static int clear_bit(const struct wfs_stage *stage)
{
	struct stat st;

	if (fstat(stage->fd, &st))
		return -errno;
	if (!(st.st_mode & STAGE_BIT)) /* the file system does not store the bit */
		return 0;
	return fchmod(stage->fd, st.st_mode & ALLPERMS & ~(mode_t)STAGE_BIT) ? -errno : 0;
}

static int take_place(const struct wfs_stage *stage)
{
	const char *const own = name_of(stage->path);
	const char *const wanted = name_of(stage->directory);
	int r = move_to(stage->place_fd, own, stage->place_fd, wanted);

	if (r)
		return r;
	r = clear_bit(stage);
	if (!r && fsync(stage->place_fd))
		r = -errno;
	if (r) /* undone, because publishing failed */
		(void)move_to(stage->place_fd, wanted, stage->place_fd, own);
	return r;
}

int wfs_stage_publish(struct wfs_stage *stage, const char *last, struct wfs_error *error)
{
	/* syncfs(2) is one call for any number of files, and reports each that could not be
	 * written; but it also waits for what other processes write. */
	int r = (stage->files_synced ? fsync(stage->fd) : syncfs(stage->fd)) ? -errno : 0;

	if (r)
		return wfs_error_from_errno(error, r, "sync '%s'", stage->path);
	r = stage->inside ? move_up(stage, last) : take_place(stage);
	if (r)
		return wfs_error_from_errno(error, r, "fill '%s'", stage->directory);
	if (!stage->inside)
		close(WFS_STEAL_FD(stage->fd)); /* it is the wanted directory now */
	return 0;
}

void wfs_stage_done(struct wfs_stage *stage)
{
	if (stage->directory[0] && stage->fd >= 0) {
		remove_stage(stage->place_fd, stage->fd, name_of(stage->path));
		close(stage->fd);
	}
	if (stage->directory[0] && stage->place_fd >= 0)
		close(stage->place_fd);
	*stage = (struct wfs_stage){.fd = -1, .place_fd = -1};
}
