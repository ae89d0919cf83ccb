/* SPDX-License-Identifier: Apache-2.0 */
/* The keeper process, and the messages that it gets. */
#include "fs/mount/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fs/mount/environment.h"
#include "fs/mount/mount-table.h"
#include "kernel/base/clock.h"

enum {
	DEAD_TRIES = 20, /* how often the keeper looks whether a mount is dead */
	DEAD_POLL_MS = 50,
};

/* A message, which is one packet. Other versions of this program must send equal ones. */
struct message {
	uint32_t number; /* comes back with the answer; 0: no answer is wanted */
	uint8_t what;
	uint8_t part;
	uint16_t unused;
	uint64_t device;
};

struct answer {
	uint32_t number;
	int32_t result;
};

/* --- in the keeper --- */

struct kept {
	const char *paths[WFS_MOUNT_PARTS];
	unsigned long devices[WFS_MOUNT_PARTS]; /* valid if `mounted`, as are the sources */
	char *sources[WFS_MOUNT_PARTS];         /* owned */
	/* Of wfs_mount_connection(); owned; -errno: without fusectl a number says which it is. */
	int connections[WFS_MOUNT_PARTS];
	bool mounted[WFS_MOUNT_PARTS];
	bool nested;
	bool taken;
};

/* Has the path lost its file? Uses only what Linux knows already, because a file system may
 * hang. */
static bool is_gone(const char *path)
{
	const int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
	struct statx stx;

	return statx(AT_FDCWD, path, flags, 0, &stx) < 0 && (errno == ENOENT || errno == ENOTDIR);
}

/*
 * The present path of a mount of ours: a directory above it may have got another name. NULL:
 * unmounted.
 *
 * Linux gives the number of a mount that is gone to the next one. So a mount whose connection is
 * gone, or that was gone once, is never ours again, and a mount in another place is ours only if
 * our path has lost its file, and if the mount is of this world.
 * @ret_found: the path may be in it; caller frees
 */
static const char *kept_path(struct kept *kept, enum wfs_mount_part part, char **ret_found)
{
	const char *const known = kept->paths[part];
	const bool gone = wfs_mount_connection_gone(kept->connections[part]);
	int r = kept->mounted[part] && !gone
		? wfs_mount_find(kept->devices[part], kept->sources[part], ret_found)
		: 0;

	if (r < 0)
		return known; /* the table cannot be read, because memory is short */
	if (r > 0 && (strcmp(*ret_found, known) == 0 || is_gone(known)))
		return *ret_found;
	kept->mounted[part] = false;
	return NULL;
}

/* Looks for our mounts after the mount table has changed: one that was unmounted must not be taken
 * for ours when its number is used again. */
static void kept_look(struct kept *kept)
{
	for (int part = 0; part < WFS_MOUNT_PARTS; part++) {
		WFS_AUTO_FREE char *found = NULL;

		(void)kept_path(kept, (enum wfs_mount_part)part, &found);
	}
}

static int kept_unmount(struct kept *kept, enum wfs_mount_part part, bool lazy)
{
	WFS_AUTO_FREE char *found = NULL;
	const char *const path = kept_path(kept, part, &found);
	int r = path ? wfs_mount_unmount(path, kept->devices[part], false, NULL) : 0;

	if (r == -EBUSY && lazy)
		r = wfs_mount_unmount(path, kept->devices[part], true, NULL);
	if (r == 0)
		kept->mounted[part] = false;
	if (r == 0 && part == WFS_MOUNT_CONTROL && !kept->nested)
		wfs_mount_run_remove(kept->paths[part]);
	return r;
}

/* Opens the root of a mount of ours: as long as it is open, Linux gives its number to no other
 * connection.
 * Return: a descriptor, -ENOENT (it is gone), or another -errno. */
static int kept_open(const struct kept *kept, enum wfs_mount_part part, const char *path)
{
	const int flags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC;
	struct statx stx;
	WFS_AUTO_FD int root = open(path, O_PATH | O_CLOEXEC);

	if (root < 0 || statx(root, "", flags, 0, &stx) < 0)
		return -errno;
	return stx.stx_dev_minor == kept->devices[part] ? WFS_STEAL_FD(root) : -ENOENT;
}

static int kept_abort(struct kept *kept, enum wfs_mount_part part)
{
	WFS_AUTO_FREE char *found = NULL;
	WFS_AUTO_FD int root = -EIO;
	const char *const path = kept_path(kept, part, &found);

	/* The path of a nested mount leads through the other mount, which may hang. */
	if (path && !(part == WFS_MOUNT_CONTROL && kept->nested))
		root = kept_open(kept, part, path);
	if (!path || root == -ENOENT ||
		wfs_mount_abort_device(path, kept->devices[part], NULL) == 0)
		return 0;
	return wfs_mount_unmount(path, kept->devices[part], true, NULL);
}

/* Notes a mount. The owner of the world, which may be a foreign user, can send this message, too,
 * so the keeper unmounts only on its own path. */
static int kept_add(struct kept *kept, enum wfs_mount_part part, unsigned long device)
{
	WFS_AUTO_FREE char *source = NULL;
	unsigned long mounted = 0;
	int r = wfs_mount_device(kept->paths[part], &mounted, &source, NULL);

	if (r < 0)
		return r;
	if (mounted != device)
		return -EINVAL;
	free(kept->sources[part]);
	if (kept->connections[part] >= 0)
		close(kept->connections[part]);
	kept->connections[part] = wfs_mount_connection(device);
	kept->sources[part] = WFS_STEAL(source);
	kept->devices[part] = device;
	kept->mounted[part] = true;
	return 0;
}

static int keeper_do(struct kept *kept, const struct message *message)
{
	if (message->part >= WFS_MOUNT_PARTS)
		return -EINVAL;
	switch (message->what) {
	case WFS_KEEPER_MOUNTED:
		return kept_add(
			kept, (enum wfs_mount_part)message->part, (unsigned long)message->device);
	case WFS_KEEPER_TAKEN:
		kept->taken = true;
		return 0;
	case WFS_KEEPER_ABORT:
		return kept_abort(kept, message->part);
	case WFS_KEEPER_UNMOUNT:
	case WFS_KEEPER_REMOVE:
		return kept_unmount(kept, message->part, message->what == WFS_KEEPER_REMOVE);
	default:
		return -EINVAL;
	}
}

/* Removes a mount that no owner has taken over. The process that made it may have been killed
 * before it told the keeper of it: then the mount is dead as soon as Linux has closed the
 * descriptors of that process. */
static void kept_remove(struct kept *kept, enum wfs_mount_part part)
{
	const struct timespec pause = {.tv_nsec = DEAD_POLL_MS * 1000000L};
	/* A nested mount gets its place after an owner has taken over. */
	const bool nested = part == WFS_MOUNT_CONTROL && kept->nested;

	for (int i = 0; !nested && !kept->mounted[part] && i < DEAD_TRIES; i++) {
		if (wfs_mount_clear_dead(kept->paths[part], NULL) != -EBUSY)
			break;
		nanosleep(&pause, NULL);
	}
	(void)kept_unmount(kept, part, true);
}

/* Waits for a message. Return: its size; 0: the other end is closed everywhere. */
static ssize_t wait_for_message(
	int socket, int table, struct kept *kept, struct message *ret_message)
{
	for (;;) {
		struct pollfd polled[] = {
			{.fd = socket, .events = POLLIN}, {.fd = table, .events = POLLPRI}};

		if (poll(polled, 2, -1) < 0)
			continue; /* a signal */
		if (polled[1].revents)
			kept_look(kept);
		if (!polled[0].revents)
			continue;
		const ssize_t size = recv(socket, ret_message, sizeof(*ret_message), MSG_DONTWAIT);
		if (size >= 0)
			return size;
		if (errno != EINTR && errno != EAGAIN)
			return 0;
	}
}

_Noreturn static void keeper_main(int socket, struct kept *kept)
{
	const int table = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	struct message message;
	ssize_t size;

	prctl(PR_SET_NAME, "wfs-keeper");
	while ((size = wait_for_message(socket, table, kept, &message)) > 0) {
		if (size != (ssize_t)sizeof(message))
			continue;
		const struct answer answer = {
			.number = message.number, .result = keeper_do(kept, &message)};
		if (answer.number)
			(void)send(socket, &answer, sizeof(answer), MSG_NOSIGNAL | MSG_DONTWAIT);
	}
	if (!kept->taken) {
		kept_remove(kept, WFS_MOUNT_CONTROL);
		kept_remove(kept, WFS_MOUNT_DATA);
	}
	_exit(0);
}

/* The keeper process. It leaves the process group and the terminal of the process that mounts,
 * closes all descriptors, above all those of /dev/fuse, and keeps no directory busy. */
_Noreturn static void keeper_begin(int socket, struct kept *kept)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	(void)signal(SIGCHLD, SIG_DFL); /* so that it can wait for fusermount3 */
	if (setsid() < 0 || chdir("/") < 0 || dup2(socket, STDIN_FILENO) < 0)
		_exit(1);
	closefrom(STDERR_FILENO + 1);
	wfs_environment_forget();
	if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
		_exit(1);
	keeper_main(STDIN_FILENO, kept);
}

/* --- outside --- */

int wfs_keeper_start(const char *directory, const char *ctl, bool nested, struct wfs_error *error)
{
	struct kept kept = {.paths = {directory, ctl}, .connections = {-1, -1}, .nested = nested};
	int sockets[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return wfs_error_from_errno(error, -errno, "start the keeper of a mount");
	const pid_t keeper = fork();
	if (keeper == 0) {
		close(sockets[0]);
		keeper_begin(sockets[1], &kept);
	}
	const int r = keeper < 0 ? -errno : 0;
	close(sockets[1]);
	if (r < 0) {
		close(sockets[0]);
		return wfs_error_from_errno(error, r, "start the keeper of a mount");
	}
	return sockets[0];
}

bool wfs_keeper_is(int fd)
{
	int domain = 0;
	int type = 0;
	socklen_t size = sizeof(int);

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 &&
		getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && domain == AF_UNIX &&
		type == SOCK_SEQPACKET;
}

struct wfs_keeper {
	int fd; /* owned */
	atomic_uint users;
	pthread_mutex_t lock;
	_Atomic int64_t hurry_until_ns; /* 0: wfs_keeper_hurry() was not called */
	/* Lock for the following: lock. */
	uint32_t asked;
	bool silent; /* a message got no answer in time */
};

int wfs_keeper_new(int fd, struct wfs_keeper **ret_keeper)
{
	struct wfs_keeper *const keeper = calloc(1, sizeof(*keeper));

	if (!keeper) {
		close(fd);
		return -ENOMEM;
	}
	keeper->fd = fd;
	atomic_store(&keeper->users, 1);
	pthread_mutex_init(&keeper->lock, NULL);
	*ret_keeper = keeper;
	return 0;
}

struct wfs_keeper *wfs_keeper_ref(struct wfs_keeper *keeper)
{
	atomic_fetch_add(&keeper->users, 1);
	return keeper;
}

void wfs_keeper_unref(struct wfs_keeper *keeper)
{
	if (!keeper || atomic_fetch_sub(&keeper->users, 1) > 1)
		return;
	close(keeper->fd);
	pthread_mutex_destroy(&keeper->lock);
	free(keeper);
}

int wfs_keeper_fd(const struct wfs_keeper *keeper)
{
	return keeper->fd;
}

/* Until when to wait for an answer. Lock: lock. */
static int64_t keeper_deadline(const struct wfs_keeper *keeper)
{
	const int64_t now_ns = wfs_clock_monotonic_ns();
	const int64_t hurry_until_ns = atomic_load(&keeper->hurry_until_ns);
	const int64_t late_ns = now_ns + WFS_KEEPER_LATE_MS * INT64_C(1000000);

	if (hurry_until_ns == 0)
		return now_ns + WFS_KEEPER_WAIT_MS * INT64_C(1000000);
	if (keeper->silent)
		return now_ns;
	return hurry_until_ns > late_ns ? hurry_until_ns : late_ns;
}

/* Waits for the answer to message @number; late answers to earlier messages are skipped. */
static int keeper_wait(int fd, uint32_t number, int64_t until_ns)
{
	for (;;) {
		struct pollfd polled = {.fd = fd, .events = POLLIN};
		const int64_t left_ns = until_ns - wfs_clock_monotonic_ns();
		struct answer answer;

		if (left_ns <= 0 || poll(&polled, 1, (int)(left_ns / 1000000) + 1) == 0)
			return -ETIMEDOUT;
		const ssize_t size = recv(fd, &answer, sizeof(answer), MSG_DONTWAIT);
		if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR))
			return -EPIPE;
		if (size == (ssize_t)sizeof(answer) && answer.number == number)
			return answer.result > 0 || answer.result < -4095 ? -EIO : answer.result;
	}
}

int wfs_keeper_ask(struct wfs_keeper *keeper, enum wfs_keeper_what what, enum wfs_mount_part part,
	unsigned long device)
{
	WFS_GUARD(&keeper->lock);
	struct message message = {.what = (uint8_t)what, .part = (uint8_t)part, .device = device};

	if (++keeper->asked == 0)
		keeper->asked++;
	message.number = keeper->asked;
	if (send(keeper->fd, &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -EPIPE;
	const int r = keeper_wait(keeper->fd, message.number, keeper_deadline(keeper));
	keeper->silent = r == -ETIMEDOUT;
	return r;
}

void wfs_keeper_hurry(struct wfs_keeper *keeper, int64_t until_ns)
{
	atomic_store(&keeper->hurry_until_ns, until_ns);
}

int wfs_keeper_abort(int fd, const char *name)
{
	int r = 0;

	(void)name;
	for (int part = 0; part < WFS_MOUNT_PARTS; part++) {
		const struct message message = {.what = WFS_KEEPER_ABORT, .part = (uint8_t)part};

		if (send(fd, &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
			r = -errno;
	}
	return r;
}
