/* SPDX-License-Identifier: Apache-2.0 */
/* Starts worldfs-outside, which starts the command of a server, perhaps in the sandbox. */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "agents/outside/keeper/keeper.h"
#include "agents/outside/outside-child.h"
#include "kernel/base/array.h"
#include "kernel/base/log.h"

enum {
	DESCRIPTORS = 4,
	HIGH_FD = 10, /* above those that the process gets */
};

/* Limits of a process in the sandbox. Outside of it Linux counts all processes of the user. */
#define SANDBOX_PROCESSES_MAX "256"
#define SANDBOX_DATA_MAX "4294967296" /* bytes; address space is no measure: node reserves a lot */

/* The program; made by the build from its file (make-image). */
extern const char wfs_outside_image[];
extern const char wfs_outside_image_end[];

int outside_process_image(void)
{
	const size_t size = (size_t)(wfs_outside_image_end - wfs_outside_image);
	WFS_AUTO_FD int fd = memfd_create("worldfs-outside", MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	for (size_t done = 0; done < size;) {
		const ssize_t written = write(fd, wfs_outside_image + done, size - done);

		if (written < 0)
			return -errno;
		done += (size_t)written;
	}
	return WFS_STEAL_FD(fd);
}

/* --- texts for execve() --- */

/* A list of owned texts that ends with NULL. */
struct texts {
	char **items;
	size_t count;
	size_t capacity;
	bool failed;
};

static void texts_done(struct texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		free(texts->items[i]);
	free(texts->items);
}

/* @text: taken; NULL: no memory */
static void add_taken(struct texts *texts, char *text)
{
	char **const moved = wfs_array_reserve(
		texts->items, texts->count + 1, &texts->capacity, sizeof(*texts->items));

	if (moved)
		texts->items = moved;
	if (!moved || !text) {
		texts->failed = true;
		free(text);
		return;
	}
	texts->items[texts->count++] = text;
	texts->items[texts->count] = NULL;
}

static void add(struct texts *texts, const char *text)
{
	add_taken(texts, strdup(text));
}

static void add_variables(struct texts *texts, const char *name, const json_t *variables)
{
	size_t i;
	json_t *variable;

	json_array_foreach(variables, i, variable) {
		const char *const value = secure_getenv(json_string_value(variable));
		char *text = NULL;

		if (!value) {
			wfs_log(WFS_LOG_AGENTS, WFS_LOG_INFO,
				"server of tools: a variable is not set: '%s': %.80s", name,
				json_string_value(variable));
			continue;
		}
		if (asprintf(&text, "%s=%s", json_string_value(variable), value) < 0)
			text = NULL;
		add_taken(texts, text);
	}
}

/* --- the sandbox --- */

/* Looks for bubblewrap as a shell does, in the PATH of this process.
 * @ret_path: caller frees it. Return: 0, -ENOTSUP, -ENOMEM. */
static int find_bubblewrap(char **ret_path, struct wfs_error *error)
{
	const char *path = secure_getenv("PATH");

	for (const char *end; path && *path; path = *end ? end + 1 : end) {
		WFS_AUTO_FREE char *candidate = NULL;

		end = strchrnul(path, ':');
		if (*path != '/') /* a place relative to the working directory may be anybody's */
			continue;
		if (asprintf(&candidate, "%.*s/bwrap", (int)(end - path), path) < 0)
			return wfs_error_from_errno(error, -ENOMEM, "find bwrap");
		if (access(candidate, X_OK) == 0) {
			*ret_path = WFS_STEAL(candidate);
			return 0;
		}
	}
	wfs_error_set(error, WFS_E_NOT_ENABLED,
		"'sandbox' needs bubblewrap (bwrap), which is not installed");
	return -ENOTSUP;
}

/*
 * What a command in the sandbox sees: the directories that packages are installed to, read-only,
 * and empty ones for its own files. Not /, because a socket is of use in a read-only directory,
 * too, and home directories and worlds may be anywhere.
 */
static void add_sandbox(struct texts *arguments, bool network)
{
	static const char *const isolation[] = {"--unshare-all", "--die-with-parent",
		"--new-session", "--cap-drop", "ALL", "--dev", "/dev", "--proc", "/proc", "--tmpfs",
		"/tmp", "--chdir", "/tmp"};
	static const char *const system[] = {
		"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt"};
	static const char *const limits[] = {"--", "/usr/bin/prlimit",
		"--nproc=" SANDBOX_PROCESSES_MAX, "--data=" SANDBOX_DATA_MAX, "--"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(isolation); i++)
		add(arguments, isolation[i]);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(system); i++) {
		add(arguments, "--ro-bind-try");
		add(arguments, system[i]);
		add(arguments, system[i]);
	}
	if (network) { /* /etc/resolv.conf may lead there */
		add(arguments, "--share-net");
		add(arguments, "--ro-bind-try");
		add(arguments, "/run/systemd/resolve");
		add(arguments, "/run/systemd/resolve");
	}
	for (size_t i = 0; i < WFS_ARRAY_COUNT(limits); i++)
		add(arguments, limits[i]);
}

static int make_arguments(
	const struct wfs_host_server *host, struct texts *arguments, struct wfs_error *error)
{
	WFS_AUTO_FREE char *bubblewrap = NULL;
	const int r = host->sandbox ? find_bubblewrap(&bubblewrap, error) : 0;
	size_t i;
	json_t *word;

	if (r)
		return r;
	add(arguments, "worldfs-outside");
	if (bubblewrap) {
		add(arguments, bubblewrap);
		add_sandbox(arguments, host->network);
	}
	json_array_foreach(host->command, i, word)
		add(arguments, json_string_value(word));
	return 0;
}

/* --- starting --- */

/* The child of vfork(), which shares the parent's memory, so it only makes system calls.
 * @fds: above those that the process gets */
_Noreturn static void become(
	int image_fd, const int fds[static DESCRIPTORS], char **arguments, char **environment)
{
	for (int i = 0; i < DESCRIPTORS; i++)
		if (dup2(fds[i], i) < 0)
			_exit(127);
	(void)syscall(SYS_execveat, image_fd, "", arguments, environment, AT_EMPTY_PATH);
	_exit(127);
}

static pid_t spawn(
	int image_fd, const int fds[static DESCRIPTORS], char **arguments, char **environment)
{
	sigset_t all;
	sigset_t before;
	pid_t pid = 0;

	/* Blocked, because no handler of the parent may run in the child. */
	sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	/* fork() would copy the page tables.
	 * NOLINTNEXTLINE(clang-analyzer-security.insecureAPI.vfork) */
	pid = vfork();
	if (pid == 0)
		/* It makes system calls alone. NOLINTNEXTLINE(clang-analyzer-unix.Vfork) */
		become(image_fd, fds, arguments, environment);
	const int reason = errno;
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return pid < 0 ? -reason : pid;
}

/* Pairs of descriptors: [0] stays here, [1] is for the process. */
struct ends {
	int pairs[DESCRIPTORS][2];
};

static void ends_done(struct ends *ends)
{
	for (int i = 0; i < DESCRIPTORS; i++)
		for (int side = 0; side < 2; side++)
			if (ends->pairs[i][side] >= 0)
				close(ends->pairs[i][side]);
}

static int open_ends(struct ends *ends)
{
	for (int i = 0; i < DESCRIPTORS; i++)
		ends->pairs[i][0] = ends->pairs[i][1] = -1;
	for (int i = 0; i < DESCRIPTORS; i++) {
		int pair[2];
		const int here =
			i == STDIN_FILENO ? 1 : 0; /* pipe2() gives the reading end first */

		if (i == KEEPER_SOCKET ? socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)
				       : pipe2(pair, O_CLOEXEC))
			return -errno;
		ends->pairs[i][0] = pair[here];
		ends->pairs[i][1] = fcntl(pair[!here], F_DUPFD_CLOEXEC, HIGH_FD);
		const int reason = errno;
		close(pair[!here]);
		if (ends->pairs[i][1] < 0)
			return -reason;
	}
	return 0;
}

int outside_process_start(int image_fd, const char *name, const struct wfs_host_server *host,
	struct outside_process *ret_process, struct wfs_error *error)
{
	WFS_CLEANUP(texts_done) struct texts arguments = {.items = NULL};
	WFS_CLEANUP(texts_done) struct texts environment = {.items = NULL};
	WFS_CLEANUP(ends_done) struct ends ends;
	int fds[DESCRIPTORS];
	int r = open_ends(&ends);

	if (r)
		return wfs_error_from_errno(error, r, "start a server of tools");
	r = make_arguments(host, &arguments, error);
	if (r)
		return r;
	add_variables(&environment, name, host->env);
	/* An empty list has its NULL, too. */
	if (arguments.failed || environment.failed ||
		(!environment.items && !(environment.items = calloc(1, sizeof(char *)))))
		return wfs_error_from_errno(error, -ENOMEM, "start a server of tools");
	for (int i = 0; i < DESCRIPTORS; i++)
		fds[i] = ends.pairs[i][1];
	const pid_t keeper = spawn(image_fd, fds, arguments.items, environment.items);
	if (keeper < 0)
		return wfs_error_from_errno(error, (int)keeper, "start a server of tools");
	*ret_process = (struct outside_process){
		.keeper = keeper,
		.input = WFS_STEAL_FD(ends.pairs[STDIN_FILENO][0]),
		.output = WFS_STEAL_FD(ends.pairs[STDOUT_FILENO][0]),
		.errors = WFS_STEAL_FD(ends.pairs[STDERR_FILENO][0]),
		.socket = WFS_STEAL_FD(ends.pairs[KEEPER_SOCKET][0]),
	};
	return 0;
}
