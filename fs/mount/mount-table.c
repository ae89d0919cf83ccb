/* SPDX-License-Identifier: Apache-2.0 */
/* Finding mounts, and unmounting them. Source: proc(5), mountinfo; fusermount3(1). */
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fs/mount/mount-table.h"
#include "fs/mount/way.h"
#include "kernel/base/buffer.h"
#include "kernel/base/log.h"

enum {
	MOUNT_STACK_MAX = 8, /* dead mounts on top of each other that are unmounted */
};

#define MOUNT_TYPE "fuse.worldfs"

/* The mount on a path. Plain value. */
struct found {
	char type[64];
	char source[PATH_MAX];
	unsigned long device; /* minor number, by which FUSE names the connection */
};

bool wfs_mount_inside(const char *path, const char *directory)
{
	size_t size = strlen(directory);

	if (size == 1) /* the root */
		return true;
	return strncmp(path, directory, size) == 0 && (path[size] == '\0' || path[size] == '/');
}

/* Replaces each \ooo by the byte, in place. */
static void table_unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from; to++) {
		if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] && from[3]) {
			*to = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 | (from[3] - '0'));
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

/* Field @index (from 0) of a line, ended with NUL in place. */
static char *table_field(char *line, unsigned int index)
{
	for (; line && index > 0; index--) {
		line = strchr(line, ' ');
		line = line ? line + 1 : NULL;
	}
	if (line)
		line[strcspn(line, " \n")] = '\0';
	return line;
}

/*
 * Finds the topmost mount on @path, which the table lists last. Without @path: finds the first
 * mount of our type with @ret_found->device and its source; @ret_path is its mount point (caller
 * frees).
 * Return: 1, 0 (not found), -errno.
 */
static int table_search(
	const char *path, struct found *ret_found, char **ret_path, struct wfs_error *error)
{
	WFS_AUTO_FILE FILE *file = fopen("/proc/self/mountinfo", "re");
	WFS_AUTO_FREE char *line = NULL;
	size_t capacity = 0;
	int found = 0;

	if (!file)
		return wfs_error_from_errno(error, -errno, "open '/proc/self/mountinfo'");
	while (getline(&line, &capacity, file) >= 0) {
		char *behind = strstr(line, " - ");
		char *type = behind ? table_field(behind + 3, 0) : NULL;
		char *point = type ? table_field(line, 4) : NULL;
		char *minor = point ? strchr(line, ':') : NULL;

		if (!minor)
			continue;
		const unsigned long device = strtoul(minor + 1, NULL, 10);
		char *const source = type + strlen(type) + 1;

		table_unescape(point);
		source[strcspn(source, " \n")] = '\0';
		table_unescape(source);
		if (!path && ret_path && device == ret_found->device &&
			strcmp(type, MOUNT_TYPE) == 0 && strcmp(source, ret_found->source) == 0) {
			*ret_path = strdup(point);
			return *ret_path ? 1 : -ENOMEM;
		}
		if (!path || strcmp(point, path) != 0)
			continue;
		snprintf(ret_found->type, sizeof(ret_found->type), "%s", type);
		snprintf(ret_found->source, sizeof(ret_found->source), "%s", source);
		ret_found->device = device;
		found = 1;
	}
	if (!feof(file))
		return wfs_error_from_errno(error, -ENOMEM, "read '/proc/self/mountinfo'");
	return found;
}

static int table_find(const char *path, struct found *ret_found, struct wfs_error *error)
{
	return table_search(path, ret_found, NULL, error);
}

int wfs_mount_find(unsigned long device, const char *source, char **ret_path)
{
	struct found found = {.device = device};

	snprintf(found.source, sizeof(found.source), "%s", source);
	return table_search(NULL, &found, ret_path, NULL);
}

bool wfs_mount_is_of(const char *path, const char *world)
{
	struct found found = {.device = 0};

	return table_find(path, &found, NULL) > 0 && strcmp(found.type, MOUNT_TYPE) == 0 &&
		strcmp(found.source, world) == 0;
}

/* Looks up a name that no process can have asked for. @ret_result: 0 or -errno. */
static int table_ask(const char *path, int *ret_result, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer name = {0};
	uint64_t fresh = 0;

	if (getrandom(&fresh, sizeof(fresh), 0) != (ssize_t)sizeof(fresh))
		return wfs_error_from_errno(error, -errno, "look at '%s'", path);
	wfs_buffer_printf(&name, "%s/.worldfs-%016" PRIx64, path, fresh);
	if (wfs_buffer_check(&name) < 0)
		return wfs_error_from_errno(error, -ENOMEM, "look at '%s'", path);
	return wfs_mount_look_answers(wfs_buffer_text(&name), ret_result, error);
}

static bool table_is_dead(const char *path)
{
	int result = 0;

	return table_ask(path, &result, NULL) == 0 && result == -ENOTCONN;
}

int wfs_mount_answers(const char *path, struct wfs_error *error)
{
	int result;

	return table_ask(path, &result, error);
}

int wfs_mount_is_ours(const char *path, struct wfs_error *error)
{
	struct found found = {.device = 0};
	int r = table_find(path, &found, error);

	return r <= 0 ? r : strcmp(found.type, MOUNT_TYPE) == 0;
}

int wfs_mount_clear_dead(const char *path, struct wfs_error *error)
{
	struct found found = {.device = 0};

	for (int i = 0; i < MOUNT_STACK_MAX; i++) {
		int r = table_find(path, &found, error);
		if (r <= 0)
			return r;
		if (strcmp(found.type, MOUNT_TYPE) != 0 || !table_is_dead(path))
			break;
		r = wfs_mount_unmount(path, found.device, true, error);
		if (r < 0)
			return wfs_trace(r);
		wfs_log(WFS_LOG_MOUNT, WFS_LOG_NOTICE, "cleared a dead mount: '%s'", path);
	}
	return wfs_error_set(
		error, WFS_E_BUSY, "'%s': a filesystem is mounted there already", path);
}

int wfs_mount_device(
	const char *path, unsigned long *ret_device, char **ret_source, struct wfs_error *error)
{
	struct found found = {.device = 0};
	int r = table_find(path, &found, error);

	if (r < 0)
		return wfs_trace(r);
	if (r == 0 || strcmp(found.type, MOUNT_TYPE) != 0)
		return wfs_error_set(error, WFS_E_NOT_FOUND, "no world is mounted on '%s'", path);
	if (ret_source && !(*ret_source = strdup(found.source)))
		return wfs_error_from_errno(error, -ENOMEM, "look at '%s'", path);
	*ret_device = found.device;
	return 0;
}

int wfs_mount_connection(unsigned long device)
{
	char waiting[64];

	snprintf(waiting, sizeof(waiting), "/sys/fs/fuse/connections/%lu/waiting", device);
	const int fd = open(waiting, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

bool wfs_mount_connection_gone(int fd)
{
	char byte;

	return fd >= 0 && pread(fd, &byte, 1, 0) == 0;
}

/* Aborts a connection through fusectl, which the mount's owner may do; but it is not mounted
 * everywhere. */
static bool table_abort(unsigned long device)
{
	char control[64];

	snprintf(control, sizeof(control), "/sys/fs/fuse/connections/%lu/abort", device);
	WFS_AUTO_FD int fd = open(control, O_WRONLY | O_CLOEXEC);
	return fd >= 0 && write(fd, "1", 1) == 1;
}

/* Aborts a connection by a forced unmount, which aborts it and then fails, because the mount is in
 * use: by a descriptor that this function holds. */
static int table_abort_by_force(const char *path, unsigned long device, struct wfs_error *error)
{
	WFS_AUTO_WAY struct wfs_way way = WFS_WAY_NONE;
	unsigned long mounted = 0;
	int r = wfs_way_open(path, &way);
	WFS_AUTO_FD int user = r < 0 ? r : wfs_way_mounted(&way, &mounted);

	if (user < 0)
		return wfs_way_error(error, user, "abort", path);
	if (mounted != device)
		return wfs_error_set(
			error, WFS_E_NOT_FOUND, "another file system is mounted on '%s'", path);
	if (umount2(way.name, MNT_FORCE | UMOUNT_NOFOLLOW) < 0 && errno != EBUSY)
		return wfs_error_from_errno(
			error, -errno, "abort '%s' (is fusectl mounted?)", path);
	return 0;
}

int wfs_mount_abort_device(const char *path, unsigned long device, struct wfs_error *error)
{
	return table_abort(device) ? 0 : table_abort_by_force(path, device, error);
}

/* Unmounts the mount of an ordinary user by the set-uid helper. Return: 0 or -errno. */
static int table_run_fusermount(const char *path, bool lazy)
{
	char *const argv[] = {(char *)"fusermount3", (char *)"-u", (char *)(lazy ? "-qz" : "-q"),
		(char *)"--", (char *)path, NULL};
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int status;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	int r = -posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (r < 0)
		return r;
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	/* fusermount3 does not give the reason; for a mount of ours it is that files are in use. */
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EBUSY;
}

/* Unmounts the name that was checked: as long as a file system is mounted on it, it stays in its
 * directory. Return: 0 or -errno. */
static int table_unmount(const char *path, unsigned long device, bool lazy)
{
	WFS_AUTO_WAY struct wfs_way way = WFS_WAY_NONE;
	unsigned long mounted = 0;
	int r = wfs_way_open(path, &way);
	const int root = r < 0 ? r : wfs_way_mounted(&way, &mounted);

	if (root < 0)
		return root;
	close(root); /* otherwise the mount would be in use */
	if (mounted != device)
		return -ENOENT;
	return umount2(way.name, UMOUNT_NOFOLLOW | (lazy ? MNT_DETACH : 0)) < 0 ? -errno : 0;
}

int wfs_mount_unmount(const char *path, unsigned long device, bool lazy, struct wfs_error *error)
{
	int r = table_unmount(path, device, lazy);

	/* Without openat2(), an ordinary user still has fusermount3, which has no more rights. */
	if (r == -EPERM || (r == -ENOSYS && geteuid() != 0))
		r = table_run_fusermount(path, lazy);
	if (r == -EBUSY && access("/etc/mtab", F_OK))
		return wfs_error_set(error, WFS_E_INTERNAL_ERROR,
			"'%s' cannot be unmounted: fusermount3 needs /etc/mtab, which is missing "
			"(as root: ln -s ../proc/self/mounts /etc/mtab)",
			path);
	if (r == -EBUSY)
		return wfs_error_set(error, WFS_E_BUSY,
			"'%s' is in use (a file in it is open, or a process works there)", path);
	return r < 0 ? wfs_way_error(error, r, "unmount", path) : 0;
}
