/* SPDX-License-Identifier: Apache-2.0 */
/* Mounting by mount(2), by fusermount3, and in two steps. See make.h. */
#include "fs/mount/make.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fs/mount/fuse.h"
#include "fs/mount/way.h"
#include "kernel/base/buffer.h"
#include "kernel/base/encode.h"

enum {
	FUSE_MAJOR = 10, /* of /dev/fuse: Documentation/admin-guide/devices.txt of Linux */
	FUSE_MINOR = 229,
	NUMBER_SIZE = 16,
};

#define FUSE_TYPE "fuse.worldfs"
#define COMMFD "_FUSE_COMMFD" /* variable with the socket through which fusermount3 sends it */

bool wfs_make_is_device(int fd)
{
	struct statx stx;

	/* Does not ask the file system, which the sender may serve itself, and which may hang. */
	return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &stx) == 0 &&
		S_ISCHR(stx.stx_mode) && stx.stx_rdev_major == FUSE_MAJOR &&
		stx.stx_rdev_minor == FUSE_MINOR;
}

/* Opens /dev/fuse, to report its errors, which those of mount(2) and fusermount3 do not show. */
static int open_device(struct wfs_error *error)
{
	const int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	const int r = fd < 0 ? -errno : fd;

	switch (-r) {
	case ENOENT:
	case ENODEV:
	case ENXIO:
		wfs_error_set(error, WFS_E_NOT_FOUND,
			"no /dev/fuse here: load the module (modprobe fuse); in a container, start "
			"it with --device /dev/fuse --cap-add SYS_ADMIN");
		return r;
	case EACCES:
		wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
			"may not open /dev/fuse: as root, chmod 666 /dev/fuse (udev does that "
			"where it runs), or mount as root");
		return r;
	case EPERM:
		wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
			"may not open /dev/fuse: the container forbids the device; start it with "
			"--device /dev/fuse --cap-add SYS_ADMIN");
		return r;
	default:
		return r < 0 ? wfs_error_from_errno(error, r, "open '/dev/fuse'") : r;
	}
}

/* The source for the mount table. Caller frees. NULL without memory. */
static char *source_of(const struct wfs_make_options *options)
{
	char *const source = strdup(options->source[0] ? options->source : "worldfs");

	if (source)
		wfs_line_clean(source, strlen(source));
	return source;
}

/* --- mount(2) --- */

/* Mounts by mount(2). @fd: of /dev/fuse. Return: a descriptor of the mount point, or -errno. */
static int mount_directly(
	const struct wfs_make_options *options, const char *source, int fd, struct wfs_error *error)
{
	const unsigned long flags =
		MS_NOSUID | MS_NODEV | (options->read_only ? (unsigned long)MS_RDONLY : 0);
	WFS_AUTO_FD int place = wfs_way_directory(options->path);
	char link[WFS_WAY_LINK_SIZE];
	char data[128];

	if (place < 0)
		return wfs_way_error(error, place, "mount on", options->path);
	wfs_way_link(place, link);
	snprintf(data, sizeof(data), "fd=%d,rootmode=40000,user_id=%u,group_id=%u%s", fd, getuid(),
		getgid(), options->allow_other ? ",allow_other" : "");
	if (mount(source, link, FUSE_TYPE, flags, data) == 0)
		return WFS_STEAL_FD(place);
	const int r = -errno;
	if (r == -EPERM)
		wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
			"mount on '%s' was refused: mounting needs CAP_SYS_ADMIN in this mount "
			"namespace (in a container: --device /dev/fuse --cap-add SYS_ADMIN, or "
			"unshare -Ur -m)",
			options->path);
	else
		wfs_error_from_errno(error, r, "mount on '%s'", options->path);
	return r;
}

/* --- fusermount3 --- */

/* The options for fusermount3, with commas and backslashes of the source escaped. Caller frees. */
static char *helper_options(const struct wfs_make_options *options, const char *source)
{
	WFS_AUTO_BUFFER struct wfs_buffer name = {0};
	WFS_AUTO_FREE char *list = NULL;

	wfs_buffer_printf(&name, "fsname=%s", source);
	if (wfs_buffer_check(&name) < 0 ||
		fuse_opt_add_opt_escaped(&list, wfs_buffer_text(&name)) < 0 ||
		fuse_opt_add_opt(&list, "subtype=worldfs,nosuid,nodev") < 0 ||
		(options->allow_other && fuse_opt_add_opt(&list, "allow_other") < 0) ||
		(options->read_only && fuse_opt_add_opt(&list, "ro") < 0))
		return NULL;
	return WFS_STEAL(list);
}

/* Receives the descriptor that comes with a message. Return: the descriptor, or -EIO. */
static int receive_descriptor(int socket)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	char byte;
	struct iovec vector = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {
		.msg_iov = &vector,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	ssize_t size;
	int fd;

	do {
		size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	} while (size < 0 && errno == EINTR);
	const struct cmsghdr *const header = size > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS ||
		header->cmsg_len != CMSG_LEN(sizeof(int)))
		return -EIO;
	memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	return fd;
}

/* Starts fusermount3, whose messages go to stderr. Return: its pid, or -errno. */
static pid_t start_helper(const char *path, char *list, int socket)
{
	char *const argv[] = {
		(char *)"fusermount3", (char *)"-o", list, (char *)"--", (char *)path, NULL};
	char number[NUMBER_SIZE];
	posix_spawn_file_actions_t actions;
	pid_t pid = -1;

	snprintf(number, sizeof(number), "%d", socket);
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): a process that mounts has one thread */
	if (setenv(COMMFD, number, 1) < 0)
		return -errno;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, socket, socket); /* it stays open there */
	const int r = -posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): as above */
	(void)unsetenv(COMMFD);
	return r < 0 ? r : pid;
}

static int mount_by_helper(
	const struct wfs_make_options *options, const char *source, struct wfs_error *error)
{
	WFS_AUTO_FREE char *list = helper_options(options, source);
	int sockets[2];

	if (!list || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0)
		return wfs_error_from_errno(
			error, list ? -errno : -ENOMEM, "mount on '%s'", options->path);
	WFS_AUTO_FD int from = sockets[0];
	const pid_t helper = start_helper(options->path, list, sockets[1]);
	close(sockets[1]);
	if (helper == -ENOENT)
		return wfs_error_set(error, WFS_E_INTERNAL_ERROR,
			"mount on '%s': an ordinary user needs fusermount3 (package fuse3)",
			options->path);
	if (helper < 0)
		return wfs_error_from_errno(error, helper, "run fusermount3");
	const int fd = receive_descriptor(from);
	while (waitpid(helper, NULL, 0) < 0 && errno == EINTR)
		continue;
	return fd < 0
		? wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
			  options->allow_other
				  ? "mount on '%s' was refused: --allow-other of an ordinary user "
				    "needs the line user_allow_other in /etc/fuse.conf; the line "
				    "above has the reason"
				  : "mount on '%s' was refused: the directory must be yours and "
				    "writable; the line above has the reason",
			  options->path)
		: fd;
}

int wfs_make_mount(const struct wfs_make_options *options, int *ret_place, struct wfs_error *error)
{
	WFS_AUTO_FREE char *source = source_of(options);
	WFS_AUTO_FD int device = open_device(error);

	if (device < 0)
		return device;
	if (!source)
		return wfs_error_from_errno(error, -ENOMEM, "mount on '%s'", options->path);
	const int r = mount_directly(options, source, device, error);
	if ((r == -EPERM || r == -ENOSYS) && geteuid() != 0) {
		*ret_place = -1;
		return mount_by_helper(options, source, error);
	}
	if (r < 0)
		return r;
	*ret_place = r;
	return WFS_STEAL_FD(device);
}

int wfs_make_device(int place, unsigned long *ret_device)
{
	WFS_AUTO_WAY struct wfs_way way = WFS_WAY_NONE;
	const int r = wfs_way_open_above(place, &way);
	WFS_AUTO_FD int root = r < 0 ? r : wfs_way_mounted(&way, ret_device);

	return root < 0 ? root : 0;
}

void wfs_make_undo(int place)
{
	WFS_AUTO_WAY struct wfs_way way = WFS_WAY_NONE;

	if (place >= 0 && wfs_way_open_above(place, &way) == 0)
		(void)umount2(way.name, UMOUNT_NOFOLLOW | MNT_DETACH);
}

/* --- in two steps --- */

static int configure(
	int context, const struct wfs_make_options *options, const char *source, int device)
{
	char fd[NUMBER_SIZE];
	char user[NUMBER_SIZE];
	char group[NUMBER_SIZE];
	const char *const pairs[][2] = {{"source", source}, {"subtype", "worldfs"}, {"fd", fd},
		{"rootmode", "40000"}, {"user_id", user}, {"group_id", group}};

	snprintf(fd, sizeof(fd), "%d", device);
	snprintf(user, sizeof(user), "%u", getuid());
	snprintf(group, sizeof(group), "%u", getgid());
	for (size_t i = 0; i < WFS_ARRAY_COUNT(pairs); i++)
		if (fsconfig(context, FSCONFIG_SET_STRING, pairs[i][0], pairs[i][1], 0) < 0)
			return -errno;
	if (options->allow_other &&
		fsconfig(context, FSCONFIG_SET_FLAG, "allow_other", NULL, 0) < 0)
		return -errno;
	return fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0 ? -errno : 0;
}

int wfs_make_detached(
	const struct wfs_make_options *options, int *ret_mount, struct wfs_error *error)
{
	WFS_AUTO_FREE char *source = source_of(options);
	WFS_AUTO_FD int device = open_device(error);
	WFS_AUTO_FD int context = -1;
	int r = 0;

	if (device < 0)
		return device;
	context = fsopen("fuse", FSOPEN_CLOEXEC);
	if (context < 0)
		r = -errno;
	if (!r)
		r = source ? configure(context, options, source, device) : -ENOMEM;
	const int mounted =
		r ? -1 : fsmount(context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	if (!r && mounted < 0)
		r = -errno;
	if (r)
		return wfs_error_from_errno(error, r, "mount on '%s'", options->path);
	*ret_mount = mounted;
	return WFS_STEAL_FD(device);
}

int wfs_make_attach(int mount, const char *path, int *ret_place, struct wfs_error *error)
{
	const unsigned int flags = MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH;
	WFS_AUTO_FD int place = wfs_way_directory(path);

	if (place < 0)
		return wfs_way_error(error, place, "mount on", path);
	if (move_mount(mount, "", place, "", flags) < 0)
		return wfs_error_from_errno(error, -errno, "mount on '%s'", path);
	*ret_place = WFS_STEAL_FD(place);
	return 0;
}
