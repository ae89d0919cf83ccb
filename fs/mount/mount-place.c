/* SPDX-License-Identifier: Apache-2.0 */
/* The places of a mount: the canonical directory, and the run-time directory of its control
 * files. */
#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fs/mount/mount-table.h"
#include "kernel/base/hash.h"

enum {
	PLACE_ID_SIZE = 16, /* hex digits */
	PLACE_TRIES = 8,
	PLACE_RUN_TRIES = 8, /* the keeper of an earlier mount may be removing the directory now */
	PLACE_LOOK_MS = 10,
	PLACE_WAIT_MS = 2000, /* wait until a mount is gone whose other half is gone already */
};

/* Splits off the last name: "/a/b//" becomes "/a/" and "b". Return: the name, "" for the root. */
static const char *place_split(char *path)
{
	size_t size = strlen(path);

	while (size > 1 && path[size - 1] == '/')
		path[--size] = '\0';
	char *slash = strrchr(path, '/');
	memmove(slash + 2, slash + 1, strlen(slash + 1) + 1);
	slash[1] = '\0';
	return slash + 2;
}

int wfs_mount_resolve(const char *directory, char **ret_path, struct wfs_error *error)
{
	int r = 0;

	if (directory[0] != '/')
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"the mount directory must be an absolute path, got '%s'", directory);
	WFS_AUTO_FREE char *parent = malloc(strlen(directory) + 2);
	if (!parent)
		return wfs_error_from_errno(error, -ENOMEM, "resolve '%s'", directory);
	memcpy(parent, directory, strlen(directory) + 1);
	const char *name = place_split(parent);
	bool whole = name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
	if (!whole) {
		r = wfs_mount_look_link(directory, error);
		whole = r > 0;
	}
	if (r < 0 || whole)
		return r < 0 ? r : wfs_mount_look_canonical(directory, ret_path, error);
	WFS_AUTO_FREE char *resolved = NULL;
	r = wfs_mount_look_canonical(parent, &resolved, error);
	if (r < 0)
		return r;
	WFS_AUTO_BUFFER struct wfs_buffer path = {0};
	wfs_buffer_printf(&path, "%s/%s", strcmp(resolved, "/") == 0 ? "" : resolved, name);
	if (wfs_buffer_check(&path) < 0 || !(*ret_path = strdup(wfs_buffer_text(&path))))
		return wfs_error_from_errno(error, -ENOMEM, "resolve '%s'", directory);
	return 0;
}

/* Is this a directory of this user, in which no other user can have made files? */
static bool place_is_private(const char *path, mode_t forbidden)
{
	struct stat stat;

	return lstat(path, &stat) == 0 && S_ISDIR(stat.st_mode) && stat.st_uid == geteuid() &&
		(stat.st_mode & forbidden) == 0;
}

static int place_mkdir(const char *path, mode_t mode, struct wfs_error *error)
{
	if (mkdir(path, mode) < 0 && errno != EEXIST)
		return wfs_error_from_errno(error, -errno, "make the directory '%s'", path);
	return 0;
}

/* Places for the run-time directories of all mounts of this user, the best one first. */
enum { PLACE_SYSTEM, PLACE_USER, PLACE_TEMPORARY, PLACES };

/* Appends the name of @place to @path. Return: false if this user cannot use it. */
static bool place_base_name(int place, struct wfs_buffer *path)
{
	const char *const run = secure_getenv("XDG_RUNTIME_DIR");

	switch (place) {
	case PLACE_SYSTEM:
		wfs_buffer_append_text(path, "/run/worldfs");
		return geteuid() == 0;
	case PLACE_USER:
		wfs_buffer_printf(path, "%s/worldfs", run ? run : "");
		return run && run[0] == '/' && place_is_private(run, 0077) &&
			access(run, W_OK) == 0;
	default:
		wfs_buffer_printf(path, "/tmp/worldfs-%ju", (uintmax_t)geteuid());
		return true;
	}
}

/* Makes the directory @base if it does not exist, and checks that no other user can write to it. */
static int place_make_base(const char *base, bool system, struct wfs_error *error)
{
	struct stat stat;
	int r = place_mkdir(base, system ? 0755 : 0700, error);

	if (r < 0)
		return r;
	if (lstat(base, &stat) < 0)
		return wfs_error_from_errno(error, -errno, "look at '%s'", base);
	if (!place_is_private(base, system ? 0022 : 0077))
		return wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
			"'%s' is not a directory that only this user can use; remove it, or set "
			"XDG_RUNTIME_DIR to a directory that is yours, with mode 0700",
			base);
	return access(base, W_OK) < 0 ? wfs_error_from_errno(error, -errno, "use '%s'", base) : 0;
}

/* Makes the first of these places that this user can use, and appends its name to @path. */
static int place_base(struct wfs_buffer *path, struct wfs_error *error)
{
	int r = -ENOENT;

	for (int place = 0; place < PLACES && r < 0; place++) {
		wfs_buffer_reset(path);
		const bool usable = place_base_name(place, path);
		if (wfs_buffer_check(path) < 0)
			return wfs_error_from_errno(error, -ENOMEM, "name the run-time directory");
		if (usable)
			r = place_make_base(wfs_buffer_text(path), place == PLACE_SYSTEM, error);
	}
	return r;
}

static void place_id(
	const char *world, const char *directory, char ret_id[static WFS_HASH_HEX_SIZE + 1])
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_buffer_printf(&text, "%s\n%s", world, directory);
	struct wfs_hash hash = wfs_hash_of(text.data, text.size);
	wfs_hash_hex(&hash, ret_id);
	ret_id[PLACE_ID_SIZE] = '\0';
}

/* Appends the name of the directory of one mount, and makes it. */
static int place_own(const char *id, mode_t mode, struct wfs_buffer *path, struct wfs_error *error)
{
	int r = -ENOENT;

	/* A process that removes the directory of another mount may remove the base between two
	 * steps. */
	for (int i = 0; i < PLACE_TRIES && r == -ENOENT; i++) {
		wfs_buffer_reset(path);
		r = place_base(path, error);
		wfs_buffer_printf(path, "/%s", id);
		if (r == 0)
			r = place_mkdir(wfs_buffer_text(path), mode, error);
	}
	return r;
}

/* Waits until the directory is free. The mount point of the tree is free already, so a mount here
 * is dead, or is being unmounted. */
static int place_wait_free(const char *path, struct wfs_error *error)
{
	const struct timespec pause = {.tv_nsec = PLACE_LOOK_MS * 1000000L};
	int r = wfs_mount_clear_dead(path, error);

	for (int ms = 0; r == -EBUSY && ms < PLACE_WAIT_MS; ms += PLACE_LOOK_MS) {
		nanosleep(&pause, NULL);
		r = wfs_mount_clear_dead(path, error);
	}
	return r;
}

static int make_run_directory(const char *world, const char *directory, bool allow_other,
	char **ret_path, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer path = {0};
	char id[WFS_HASH_HEX_SIZE + 1];
	mode_t mode = allow_other ? 0755 : 0700;

	place_id(world, directory, id);
	int r = place_own(id, mode, &path, error);
	if (r == 0 && chmod(wfs_buffer_text(&path), mode) < 0)
		r = wfs_error_from_errno(error, -errno, "change '%s'", wfs_buffer_text(&path));
	if (r < 0)
		return r;
	wfs_buffer_append_text(&path, "/ctl");
	if (wfs_buffer_check(&path) < 0)
		return wfs_error_from_errno(error, -ENOMEM, "name the run-time directory");
	r = place_wait_free(wfs_buffer_text(&path), error);
	if (r == 0)
		r = place_mkdir(wfs_buffer_text(&path), 0700, error);
	if (r < 0)
		return wfs_trace(r);
	char *result = strdup(wfs_buffer_text(&path));
	if (!result)
		return wfs_error_from_errno(error, -ENOMEM, "name the run-time directory");
	*ret_path = result;
	return 0;
}

int wfs_mount_run_directory(const char *world, const char *directory, bool allow_other,
	char **ret_path, struct wfs_error *error)
{
	int r = -ENOENT;

	for (int i = 0; i < PLACE_RUN_TRIES && r == -ENOENT; i++)
		r = make_run_directory(world, directory, allow_other, ret_path, error);
	return r;
}

void wfs_mount_run_remove(const char *path)
{
	char directory[PATH_MAX]; /* on the stack, so that it works without memory, too */

	snprintf(directory, sizeof(directory), "%s", path);
	/* ctl, <id>, worldfs: removing the last fails as long as another mount needs it. */
	for (int i = 0; i < 3; i++) {
		if (rmdir(directory) < 0)
			return;
		*strrchr(directory, '/') = '\0';
	}
}

static void place_clear(const char *base)
{
	const struct dirent *entry;
	DIR *listing = opendir(base);

	/* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone, see readdir(3) */
	while (listing && (entry = readdir(listing))) {
		WFS_AUTO_BUFFER struct wfs_buffer path = {0};

		if (entry->d_name[0] == '.')
			continue;
		wfs_buffer_printf(&path, "%s/%s/ctl", base, entry->d_name);
		if (wfs_mount_is_ours(wfs_buffer_text(&path), NULL) > 0 &&
			wfs_mount_clear_dead(wfs_buffer_text(&path), NULL) == 0)
			wfs_mount_run_remove(wfs_buffer_text(&path));
	}
	if (listing)
		closedir(listing);
}

void wfs_mount_run_clear(void)
{
	for (int place = 0; place < PLACES; place++) {
		WFS_AUTO_BUFFER struct wfs_buffer base = {0};

		if (place_base_name(place, &base) && wfs_buffer_check(&base) == 0 &&
			place_is_private(
				wfs_buffer_text(&base), place == PLACE_SYSTEM ? 0022 : 0077))
			place_clear(wfs_buffer_text(&base));
	}
}
