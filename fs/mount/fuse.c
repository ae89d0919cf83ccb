/* SPDX-License-Identifier: Apache-2.0 */
/* FUSE sessions: serving, noticing the end, stopping. See fuse.h. */
#include "fs/mount/fuse.h"

#include <execinfo.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kernel/base/clock.h"
#include "kernel/base/log.h"

enum { FUSE_WAKE_INTERVAL_MS = 1 }; /* how often a loop that must end is woken */

struct wfs_fuse {
	struct fuse_session *session; /* owned */
	pthread_t thread;             /* runs the loop; valid when `started` */
	bool started;
	bool mounted;
	atomic_bool initialised; /* `init` was called; set before the loop begins */
	unsigned int threads;
	char *directory;
	struct wfs_keeper *keeper;
	enum wfs_mount_part part;
	sem_t begun;             /* posted once, after `begin_result` was set */
	atomic_int begin_result; /* the thread sanitizer knows no sem_clockwait() */
	atomic_bool stopping;    /* wfs_fuse_free() was called: the end is not reported */
	atomic_bool aborted;     /* by us */
	atomic_uint users;       /* references */
	void (*ended)(void *context);
	void *context;
};

void fs_reply_result(fuse_req_t request, int result)
{
	/* -ENOENT from libfuse: the connection was aborted, and no process waits any more. */
	(void)fuse_reply_err(request, result < 0 ? -result : 0);
}

void fs_reply_access(fuse_req_t request, bool directory, int mask)
{
	fs_reply_result(request, (mask & X_OK) && !directory ? -EACCES : 0);
}

/* libfuse gives reasons of failures only to its log function. */
__attribute__((format(printf, 2, 0))) static void fuse_log_line(
	enum fuse_log_level level, const char *format, va_list arguments)
{
	char line[512];

	vsnprintf(line, sizeof(line), format, arguments);
	line[strcspn(line, "\n")] = '\0';
	if (line[0] == '\0')
		return;
	wfs_log(WFS_LOG_MOUNT, level <= FUSE_LOG_ERR ? WFS_LOG_WARNING : WFS_LOG_DEBUG,
		"libfuse: %s", line);
}

/*
 * fuse_session_exit() does not wake the thread that waits in the loop, but a signal does
 * (fuse_loop_mt.c: "sem_wait() is interruptible"). The handler does nothing and must not restart.
 */
static int fuse_wake_signal(void)
{
	return SIGRTMIN + 5;
}

static void fuse_wake_handler(int number)
{
	(void)number;
}

static int fuse_prepare_wake(void)
{
	struct sigaction action = {.sa_handler = fuse_wake_handler};

	return sigaction(fuse_wake_signal(), &action, NULL) < 0 ? -errno : 0;
}

/* Loads libgcc_s, while a failure can still be reported: libfuse cancels its workers, for which
 * glibc loads it, and aborts the process if it cannot. Source: backtrace(3), NOTES;
 * nptl/pthread_cancel.c. */
static int fuse_prepare_cancel(void)
{
	void *here;

	return backtrace(&here, 1) < 1 ? -ENOMEM : 0;
}

/* Makes libfuse's session, which takes the descriptor on success. Return: 0 or -errno. */
static int fuse_open(struct wfs_fuse *fuse, const struct wfs_fuse_options *options, int *fd)
{
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	char place[sizeof("/dev/fd/") + 12];
	int r = fuse_opt_add_arg(&args, "worldfs") < 0 ? -ENOMEM : 0;

	if (r == 0)
		fuse->session =
			fuse_session_new(&args, options->ops, options->ops_size, options->userdata);
	fuse_opt_free_args(&args);
	if (!fuse->session)
		return r < 0 ? r : -EINVAL;
	snprintf(place, sizeof(place), "/dev/fd/%d", *fd);
	if (fuse_session_mount(fuse->session, place) < 0)
		return -EBADF;
	(void)WFS_STEAL_FD(*fd);
	return 0;
}

int wfs_fuse_new(
	const struct wfs_fuse_options *options, struct wfs_fuse **ret_fuse, struct wfs_error *error)
{
	WFS_AUTO_FD int fd = options->fd;

	wfs_require(options->threads >= 1 && options->threads <= WFS_FUSE_THREADS_MAX);
	fuse_set_log_func(fuse_log_line);
	int r = fuse_prepare_wake();
	if (r < 0)
		return wfs_error_from_errno(error, r, "install a signal handler");
	r = fuse_prepare_cancel();
	if (r < 0)
		return wfs_error_from_errno(error, r, "load libgcc_s.so.1");

	WFS_AUTO_FUSE struct wfs_fuse *fuse = calloc(1, sizeof(*fuse));
	if (!fuse)
		return wfs_error_from_errno(error, -ENOMEM, "serve '%s'", options->directory);
	atomic_store(&fuse->users, 1);
	sem_init(&fuse->begun, 0, 0);
	fuse->directory = strdup(options->directory);
	if (!fuse->directory)
		return wfs_error_from_errno(error, -ENOMEM, "serve '%s'", options->directory);
	fuse->threads = options->threads;
	fuse->ended = options->ended;
	fuse->context = options->context;
	fuse->keeper = wfs_keeper_ref(options->keeper);
	fuse->part = options->part;
	r = fuse_open(fuse, options, &fd);
	if (r < 0)
		return wfs_error_from_errno(
			error, r, "make a FUSE session for '%s'", options->directory);
	fuse->mounted = true;
	*ret_fuse = WFS_STEAL(fuse);
	return 0;
}

bool wfs_fuse_is_initialised(const struct wfs_fuse *fuse)
{
	return atomic_load(&fuse->initialised);
}

/* Answers Linux's first request. If this fails, Linux refuses all later requests. */
static int fuse_initialise(struct wfs_fuse *fuse)
{
	struct fuse_buf buffer = {.mem = NULL};
	int r = fuse_session_receive_buf(fuse->session, &buffer);

	if (r > 0)
		fuse_session_process_buf(fuse->session, &buffer);
	free(buffer.mem);
	if (r <= 0)
		return r < 0 && r != -EPERM ? r : -ENODEV; /* EPERM: it is not mounted */
	return wfs_fuse_is_initialised(fuse) ? 0 : -ENOMEM;
}

static void *fuse_loop(void *argument)
{
	struct wfs_fuse *fuse = argument;
	struct fuse_loop_config *config = NULL;
	int r = fuse_initialise(fuse);

	atomic_store(&fuse->begin_result, r);
	sem_post(&fuse->begun);
	if (r < 0)
		return NULL;
	r = -ENOMEM;
	config = fuse_loop_cfg_create();
	if (config) {
		fuse_loop_cfg_set_clone_fd(config, 1);
		fuse_loop_cfg_set_max_threads(config, fuse->threads);
		fuse_loop_cfg_set_idle_threads(config, fuse->threads);
		r = fuse_session_loop_mt(fuse->session, config);
		fuse_loop_cfg_destroy(config);
	}
	if (atomic_load(&fuse->stopping))
		return NULL;
	if (r != 0)
		wfs_log(WFS_LOG_MOUNT, WFS_LOG_ERR, "serving ended: %s",
			strerrordesc_np(r < 0 ? -r : r));
	if (fuse->ended)
		fuse->ended(fuse->context);
	return NULL;
}

void wfs_fuse_initialised(struct wfs_fuse *fuse)
{
	atomic_store(&fuse->initialised, true);
}

/* Waits for the first request, with a limit: another process that has the descriptor may have read
 * it. */
static int fuse_wait_begun(struct wfs_fuse *fuse)
{
	const int64_t until_ns = wfs_clock_monotonic_ns() + WFS_FUSE_START_MS * INT64_C(1000000);
	const struct timespec until = {
		.tv_sec = until_ns / 1000000000, .tv_nsec = until_ns % 1000000000};

	while (sem_clockwait(&fuse->begun, CLOCK_MONOTONIC, &until) < 0)
		if (errno != EINTR)
			return -errno;
	return atomic_load(&fuse->begin_result);
}

int wfs_fuse_start(struct wfs_fuse *fuse, struct wfs_error *error)
{
	sigset_t all, old;

	wfs_require(!fuse->started);
	/* The main thread takes the signals of the process; the loop takes only the one that wakes
	 * it. */
	sigfillset(&all);
	sigdelset(&all, fuse_wake_signal());
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int r = -pthread_create(&fuse->thread, NULL, fuse_loop, fuse);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r < 0)
		return wfs_error_from_errno(error, r, "start the threads of a mount");
	fuse->started = true;
	r = fuse_wait_begun(fuse);
	if (r < 0)
		return wfs_error_from_errno(error, r, "begin to serve '%s'", fuse->directory);
	return 0;
}

struct fuse_session *wfs_fuse_session(struct wfs_fuse *fuse)
{
	return fuse->session;
}

const char *wfs_fuse_directory(const struct wfs_fuse *fuse)
{
	return fuse->directory;
}

/* Was the connection aborted or unmounted? Another connection may have its number then. */
static bool fuse_is_severed(const struct wfs_fuse *fuse)
{
	struct pollfd polled = {.fd = fuse_session_fd(fuse->session)};

	return poll(&polled, 1, 0) == 1 && (polled.revents & POLLERR);
}

void wfs_fuse_abort(struct wfs_fuse *fuse)
{
	atomic_store(&fuse->aborted, true);
	const int r = fuse_is_severed(fuse)
		? 0
		: wfs_keeper_ask(fuse->keeper, WFS_KEEPER_ABORT, fuse->part, 0);
	if (r < 0)
		wfs_log(WFS_LOG_MOUNT, WFS_LOG_ERR,
			"'%s' may show outdated content, its keeper cannot end it: %s",
			fuse->directory, strerrordesc_np(-r));
}

struct wfs_fuse *wfs_fuse_ref(struct wfs_fuse *fuse)
{
	atomic_fetch_add(&fuse->users, 1);
	return fuse;
}

void wfs_fuse_unref(struct wfs_fuse *fuse)
{
	if (atomic_fetch_sub(&fuse->users, 1) > 1)
		return;
	if (fuse->session)
		fuse_session_destroy(fuse->session);
	wfs_keeper_unref(fuse->keeper);
	sem_destroy(&fuse->begun);
	free(fuse->directory);
	free(fuse);
}

static void fuse_stop(struct wfs_fuse *fuse)
{
	const struct timespec interval = {.tv_nsec = FUSE_WAKE_INTERVAL_MS * 1000000L};

	fuse_session_exit(fuse->session);
	/* A signal is lost if it comes right before the loop begins to wait, so it is sent
	 * repeatedly. */
	pthread_kill(fuse->thread, fuse_wake_signal());
	while (pthread_tryjoin_np(fuse->thread, NULL) == EBUSY) {
		nanosleep(&interval, NULL);
		pthread_kill(fuse->thread, fuse_wake_signal());
	}
}

/* Unmounts. As long as a thread uses the session, its descriptor stays open, because its number
 * must not be given to another file; so the connection does not end by closing it. An aborted mount
 * stays then, and its users see errors. */
static void fuse_unmount(struct wfs_fuse *fuse)
{
	if (atomic_load(&fuse->users) == 1) {
		fuse_session_destroy(WFS_STEAL(fuse->session));
	} else if (!atomic_load(&fuse->aborted)) {
		wfs_fuse_abort(fuse);
	} else {
		return;
	}
	const int r = wfs_keeper_ask(fuse->keeper, WFS_KEEPER_REMOVE, fuse->part, 0);
	if (r < 0)
		wfs_log(WFS_LOG_MOUNT, WFS_LOG_WARNING,
			"'%s' stays mounted, dead; its keeper does not take it away: %s",
			fuse->directory, strerrordesc_np(-r));
}

void wfs_fuse_free(struct wfs_fuse *fuse)
{
	if (!fuse)
		return;
	atomic_store(&fuse->stopping, true);
	if (fuse->started)
		fuse_stop(fuse);
	if (fuse->mounted)
		fuse_unmount(fuse);
	wfs_fuse_unref(fuse);
}
