/* SPDX-License-Identifier: Apache-2.0 */
/* The guardian process, and the messages that it gets about mounts. */
#include "fs/mount/guardian.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fs/mount/environment.h"
#include "fs/mount/keeper.h"
#include "kernel/base/log.h"

enum {
	WATCH = '+', /* first byte of a message; the name follows, without NUL */
	FORGET = '-',
	FATAL = '!',
	/* wait for room in the socket, if the daemon has just sent many messages */
	FATAL_WAIT_MS = 1000,
	MESSAGE_SIZE_MAX = 1 + PATH_MAX,
	ORPHANED = SIGUSR1, /* sent to the guardian when the thread that forked it is gone */
};

struct wfs_guardian {
	int socket; /* of packets; owned */
	pid_t process;
};

/* --- in the guardian --- */

/* One mount. */
struct mount {
	char *name; /* owned; NULL: the mount was forgotten */
	int keeper; /* owned */
};

struct watched {
	struct mount *mounts;
	size_t count;
};

static void watched_forget(struct watched *watched, const char *name)
{
	for (size_t i = 0; i < watched->count; i++) {
		struct mount *const mount = &watched->mounts[i];

		if (mount->name && strcmp(mount->name, name) == 0) {
			free(WFS_STEAL(mount->name));
			close(mount->keeper);
			return;
		}
	}
}

/* Takes @keeper. */
static void watched_add(struct watched *watched, const char *name, int keeper)
{
	size_t i = 0;

	while (i < watched->count && watched->mounts[i].name)
		i++;
	if (i == watched->count) {
		struct mount *const mounts = reallocarray(watched->mounts, i + 1, sizeof(*mounts));

		if (!mounts) {
			close(keeper);
			return;
		}
		watched->mounts = mounts;
		watched->count++;
	}
	watched->mounts[i] = (struct mount){.name = strdup(name), .keeper = keeper};
	if (!watched->mounts[i].name)
		close(keeper);
}

static void abort_all(const struct watched *watched)
{
	for (size_t i = 0; i < watched->count; i++) {
		const struct mount *const mount = &watched->mounts[i];
		const int r = mount->name ? wfs_keeper_abort(mount->keeper, mount->name) : 0;

		if (r)
			wfs_log(WFS_LOG_MOUNT, WFS_LOG_ERR,
				"the daemon was killed; mount %s may hang, its keeper is gone: %s",
				mount->name, strerrordesc_np(-r));
	}
}

/* Receives a message. @ret_fd: the descriptor that came with it, or -1 */
static ssize_t receive(int socket, char *message, int *ret_fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	struct iovec vector = {.iov_base = message, .iov_len = MESSAGE_SIZE_MAX};
	struct msghdr header = {
		.msg_iov = &vector,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	const ssize_t size = recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	const struct cmsghdr *const rights = size > 0 ? CMSG_FIRSTHDR(&header) : NULL;

	*ret_fd = -1;
	if (rights && rights->cmsg_type == SCM_RIGHTS)
		memcpy(ret_fd, CMSG_DATA(rights), sizeof(*ret_fd));
	return size;
}

/* Reads all waiting messages. Return: false if the daemon's descriptors are closed. */
static bool read_messages(int socket, struct watched *watched)
{
	char message[MESSAGE_SIZE_MAX + 1];
	ssize_t size;
	int fd;

	while ((size = receive(socket, message, &fd)) > 0) {
		message[size] = '\0';
		if (message[0] == WATCH)
			watched_add(watched, message + 1, fd);
		else if (message[0] == FORGET)
			watched_forget(watched, message + 1);
		else
			abort_all(watched);
	}
	return size < 0;
}

_Noreturn static void guardian_main(int socket, pid_t daemon, const sigset_t *orphaned)
{
	struct watched watched = {0};
	struct pollfd polled[] = {
		{.fd = socket, .events = POLLIN},
		{.fd = signalfd(-1, orphaned, SFD_CLOEXEC), .events = POLLIN},
	};

	prctl(PR_SET_NAME, "wfs-guardian");
	if (polled[1].fd < 0 || prctl(PR_SET_PDEATHSIG, ORPHANED) < 0)
		_exit(1);
	if (getppid() != daemon) /* the daemon is gone already */
		_exit(0);
	while (poll(polled, WFS_ARRAY_COUNT(polled), -1) < 0 || polled[1].revents == 0)
		if (!read_messages(socket, &watched))
			_exit(0);
	/* If the daemon's descriptors are closed, so are its connections, and other mounts may be
	 * in their places by now. */
	if (read_messages(socket, &watched))
		abort_all(&watched);
	_exit(0);
}

/* The guardian process. It leaves the daemon's process group, and keeps only stderr of its
 * descriptors. */
_Noreturn static void guardian_start(int socket, pid_t daemon)
{
	sigset_t orphaned, all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	sigemptyset(&orphaned);
	sigaddset(&orphaned, ORPHANED);
	if (setsid() < 0 || dup2(socket, STDIN_FILENO) < 0 ||
		dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		_exit(1);
	closefrom(STDERR_FILENO + 1);
	wfs_environment_forget();
	guardian_main(STDIN_FILENO, daemon, &orphaned);
}

/* --- in the daemon --- */

static int fatal_socket = -1; /* for the handler; set once */

/* Handles a fatal signal: tells the guardian, and then the signal has its default effect
 * (SA_RESETHAND). poll(2) and send(2) may be called in handlers. */
static void on_fatal(int number)
{
	static const char message = FATAL;
	struct pollfd room = {.fd = fatal_socket, .events = POLLOUT};

	(void)poll(&room, 1, FATAL_WAIT_MS);
	(void)send(fatal_socket, &message, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	(void)raise(number);
}

/* Installs the handlers of fatal signals, unless a sanitizer has its own. */
static void handle_fatal(int socket)
{
	static const int numbers[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGQUIT, SIGSEGV, SIGSYS};
	const struct sigaction ours = {.sa_handler = on_fatal, .sa_flags = SA_RESETHAND};
	struct sigaction present;

	fatal_socket = socket;
	for (size_t i = 0; i < WFS_ARRAY_COUNT(numbers); i++)
		if (sigaction(numbers[i], NULL, &present) == 0 && present.sa_handler == SIG_DFL)
			(void)sigaction(numbers[i], &ours, NULL);
}

int wfs_guardian_new(struct wfs_guardian **ret_guardian, struct wfs_error *error)
{
	WFS_CLEANUP(wfs_auto_guardian) struct wfs_guardian *guardian = calloc(1, sizeof(*guardian));
	const pid_t daemon = getpid();
	int sockets[2] = {-1, -1};

	if (!guardian)
		return wfs_error_from_errno(error, -ENOMEM, "start the guardian");
	guardian->socket = -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return wfs_error_from_errno(error, -errno, "start the guardian");
	guardian->process = fork();
	if (guardian->process == 0)
		guardian_start(sockets[1], daemon);
	int r = guardian->process < 0 ? -errno : 0;
	close(sockets[1]);
	guardian->socket = sockets[0];
	if (r < 0)
		return wfs_error_from_errno(error, r, "start the guardian");
	handle_fatal(guardian->socket);
	*ret_guardian = WFS_STEAL(guardian);
	return 0;
}

void wfs_guardian_free(struct wfs_guardian *guardian)
{
	if (!guardian)
		return;
	if (guardian->process > 0)
		kill(guardian->process, SIGKILL); /* no mount is left */
	fatal_socket = -1;
	if (guardian->socket >= 0)
		close(guardian->socket);
	while (guardian->process > 0 && waitpid(guardian->process, NULL, 0) < 0 && errno == EINTR)
		continue;
	free(guardian);
}

/* Sends a message to the guardian. @fd: sent with it; -1: none */
static int tell(struct wfs_guardian *guardian, char what, const char *name, int fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
	char message[MESSAGE_SIZE_MAX];
	const int size = snprintf(message, sizeof(message), "%c%s", what, name);
	struct iovec vector = {.iov_base = message, .iov_len = (size_t)size};
	struct msghdr header = {.msg_iov = &vector, .msg_iovlen = 1};

	if ((size_t)size >= sizeof(message))
		return -ENAMETOOLONG;
	if (fd >= 0) {
		header.msg_control = control;
		header.msg_controllen = sizeof(control);
		struct cmsghdr *const rights = CMSG_FIRSTHDR(&header);
		*rights = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)),
			.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(rights), &fd, sizeof(fd));
	}
	return sendmsg(guardian->socket, &header, MSG_NOSIGNAL) == size ? 0 : -errno;
}

int wfs_guardian_watch(struct wfs_guardian *guardian, const char *name, int keeper)
{
	return tell(guardian, WATCH, name, keeper);
}

void wfs_guardian_forget(struct wfs_guardian *guardian, const char *name)
{
	/* a failure does no harm: aborting it does nothing */
	(void)tell(guardian, FORGET, name, -1);
}
