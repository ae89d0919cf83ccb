/* SPDX-License-Identifier: Apache-2.0 */
/* FUSE sessions: mount, serve, notice the end, take down. See fuse.h. */
#include "fs/mount/fuse.h"

#include <execinfo.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fs/mount/mount-table.h"
#include "kernel/base/buffer.h"
#include "kernel/base/encode.h"
#include "kernel/base/log.h"

enum { FUSE_WAKE_INTERVAL_MS = 1 }; /* how often a loop that shall end is woken */

struct wfs_fuse {
	struct fuse_session *session; /* owned */
	pthread_t thread;             /* runs the loop; valid when `started` */
	bool started;
	bool mounted;
	bool initialised; /* before the loop begins */
	unsigned int threads;
	char *directory;
	unsigned long device; /* Linux's name of the connection */
	atomic_bool stopping; /* wfs_fuse_free is at work: do not report the end */
	atomic_bool aborted;  /* by us */
	atomic_uint users;    /* references */
	void (*ended)(void *context);
	void *context;
};

void fs_reply_result(fuse_req_t request, int result)
{
	/* -ENOENT from libfuse: the connection was aborted and nobody waits any more. */
	(void)fuse_reply_err(request, result < 0 ? -result : 0);
}

/* libfuse tells why it failed by a log function only. */
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
 * fuse_session_exit() does not wake the thread that waits in the loop, a signal does
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

/* libfuse cancels its workers, for which glibc loads libgcc_s, and aborts when it cannot: so it is
 * loaded while there is time to refuse. Source: backtrace(3), NOTES; nptl/pthread_cancel.c. */
static int fuse_prepare_cancel(void)
{
	void *here;

	return backtrace(&here, 1) < 1 ? -ENOMEM : 0;
}

/* Asks the device itself, because the errors of mount(2) and fusermount3 do not tell this. */
static int fuse_check_device(struct wfs_error *error)
{
	WFS_AUTO_FD int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	if (fd >= 0)
		return 0;
	int r = -errno;
	switch (-r) {
	case ENOENT:
	case ENODEV:
	case ENXIO:
		wfs_error_set(error, WFS_E_NOT_FOUND,
			"no /dev/fuse here: load the module (modprobe fuse); in a container, start "
			"it "
			"with --device /dev/fuse --cap-add SYS_ADMIN");
		return r;
	case EACCES:
		wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
			"may not open /dev/fuse: as root, chmod 666 /dev/fuse (udev does that "
			"where it "
			"runs), or mount as root");
		return r;
	case EPERM:
		wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
			"may not open /dev/fuse: the container forbids the device; start it with "
			"--device /dev/fuse --cap-add SYS_ADMIN");
		return r;
	default:
		return wfs_error_from_errno(error, r, "open '/dev/fuse'");
	}
}

static int fuse_mount_error(const struct wfs_fuse_options *options, struct wfs_error *error)
{
	if (geteuid() == 0)
		return wfs_error_set(error, WFS_E_INTERNAL_ERROR,
			"mount on '%s' was refused: mounting needs CAP_SYS_ADMIN (in a container: "
			"--device /dev/fuse --cap-add SYS_ADMIN); the line above has the reason",
			options->directory);
	if (access("/usr/bin/fusermount3", X_OK) < 0 && access("/bin/fusermount3", X_OK) < 0)
		return wfs_error_set(error, WFS_E_INTERNAL_ERROR,
			"mount on '%s': an ordinary user needs fusermount3 (package fuse3)",
			options->directory);
	if (options->allow_other)
		return wfs_error_set(error, WFS_E_INTERNAL_ERROR,
			"mount on '%s' was refused: --allow-other of an ordinary user needs the "
			"line "
			"user_allow_other in /etc/fuse.conf; the line above has the reason",
			options->directory);
	return wfs_error_set(error, WFS_E_INTERNAL_ERROR,
		"mount on '%s' was refused: the directory must be yours and writable; the line "
		"above "
		"has the reason",
		options->directory);
}

/* Source and subtype go through libfuse's option list, where commas and backslashes are escaped. */
static int fuse_arguments(const struct wfs_fuse_options *options, struct fuse_args *args)
{
	WFS_AUTO_BUFFER struct wfs_buffer source = {0};
	WFS_AUTO_FREE char *list = NULL;

	wfs_buffer_append_text(&source, "fsname=");
	wfs_buffer_append_text(&source, options->source[0] != '\0' ? options->source : "worldfs");
	if (wfs_buffer_check(&source) < 0)
		return -ENOMEM;
	wfs_line_clean(source.data, source.size);
	if (fuse_opt_add_opt_escaped(&list, wfs_buffer_text(&source)) < 0 ||
		fuse_opt_add_opt(&list, "subtype=worldfs") < 0 ||
		(options->allow_other && fuse_opt_add_opt(&list, "allow_other") < 0) ||
		(options->read_only && fuse_opt_add_opt(&list, "ro") < 0) ||
		(options->extra && fuse_opt_add_opt(&list, options->extra) < 0))
		return -ENOMEM;
	if (fuse_opt_add_arg(args, "worldfs") < 0 || fuse_opt_add_arg(args, "-o") < 0 ||
		fuse_opt_add_arg(args, list) < 0)
		return -ENOMEM;
	return 0;
}

int wfs_fuse_new(
	const struct wfs_fuse_options *options, struct wfs_fuse **ret_fuse, struct wfs_error *error)
{
	wfs_require(options->threads >= 1 && options->threads <= WFS_FUSE_THREADS_MAX);
	int r = fuse_check_device(error);
	if (r < 0)
		return wfs_trace(r);
	fuse_set_log_func(fuse_log_line);
	r = fuse_prepare_wake();
	if (r < 0)
		return wfs_error_from_errno(error, r, "install a signal handler");
	r = fuse_prepare_cancel();
	if (r < 0)
		return wfs_error_from_errno(error, r, "load libgcc_s.so.1");

	WFS_AUTO_FUSE struct wfs_fuse *fuse = calloc(1, sizeof(*fuse));
	if (!fuse)
		return wfs_error_from_errno(error, -ENOMEM, "mount '%s'", options->directory);
	atomic_store(&fuse->users, 1);
	fuse->directory = strdup(options->directory);
	if (!fuse->directory)
		return wfs_error_from_errno(error, -ENOMEM, "mount '%s'", options->directory);
	fuse->threads = options->threads;
	fuse->ended = options->ended;
	fuse->context = options->context;
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	r = fuse_arguments(options, &args);
	if (r == 0)
		fuse->session =
			fuse_session_new(&args, options->ops, options->ops_size, options->userdata);
	fuse_opt_free_args(&args);
	if (!fuse->session)
		return wfs_error_from_errno(error, r < 0 ? r : -EINVAL,
			"make a FUSE session for '%s'", options->directory);
	if (fuse_session_mount(fuse->session, options->directory) < 0)
		return fuse_mount_error(options, error);
	fuse->mounted = true;
	(void)wfs_mount_device(fuse->directory, &fuse->device, NULL); /* else it is 0, nobody's */
	*ret_fuse = WFS_STEAL(fuse);
	return 0;
}

static void *fuse_loop(void *argument)
{
	struct wfs_fuse *fuse = argument;
	struct fuse_loop_config *config = fuse_loop_cfg_create();
	int r = -ENOMEM;

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
	fuse->initialised = true;
}

/* Linux's first request, without a good answer to which it refuses all others for ever. */
static int fuse_initialise(struct wfs_fuse *fuse)
{
	struct fuse_buf buffer = {.mem = NULL};
	int r = fuse_session_receive_buf(fuse->session, &buffer);

	if (r > 0)
		fuse_session_process_buf(fuse->session, &buffer);
	free(buffer.mem);
	if (r <= 0)
		return r < 0 ? r : -ENODEV;
	return fuse->initialised ? 0 : -ENOMEM;
}

int wfs_fuse_start(struct wfs_fuse *fuse, struct wfs_error *error)
{
	sigset_t all, old;

	wfs_require(!fuse->started);
	int r = fuse_initialise(fuse);
	if (r < 0)
		return wfs_error_from_errno(error, r, "begin to serve a mount");
	/* The process's signals are for its main thread; the loop takes only the one that wakes it. */
	sigfillset(&all);
	sigdelset(&all, fuse_wake_signal());
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = -pthread_create(&fuse->thread, NULL, fuse_loop, fuse);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r < 0)
		return wfs_error_from_errno(error, r, "start the threads of a mount");
	fuse->started = true;
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

/* Linux tells so of a connection that was aborted or unmounted; its number may be another's then. */
static bool fuse_is_severed(const struct wfs_fuse *fuse)
{
	struct pollfd polled = {.fd = fuse_session_fd(fuse->session)};

	return poll(&polled, 1, 0) == 1 && (polled.revents & POLLERR);
}

void wfs_fuse_abort(struct wfs_fuse *fuse)
{
	struct wfs_error error = {.code = WFS_OK};

	atomic_store(&fuse->aborted, true);
	if (fuse_is_severed(fuse) ||
		wfs_mount_abort_device(fuse->directory, fuse->device, &error) == 0 ||
		error.code == WFS_E_NOT_FOUND) /* what is mounted there is not ours */
		return;
	wfs_log(WFS_LOG_MOUNT, WFS_LOG_ERR, "cannot end '%s', taking it away: %s", fuse->directory,
		error.message);
	if (wfs_mount_unmount(fuse->directory, true, &error))
		wfs_log(WFS_LOG_MOUNT, WFS_LOG_ERR, "'%s' may show what is not true any more: %s",
			fuse->directory, error.message);
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
	free(fuse->directory);
	free(fuse);
}

static void fuse_stop(struct wfs_fuse *fuse)
{
	const struct timespec interval = {.tv_nsec = FUSE_WAKE_INTERVAL_MS * 1000000L};

	fuse_session_exit(fuse->session);
	/* A signal that comes just before the loop begins to wait is lost, so it is repeated. */
	pthread_kill(fuse->thread, fuse_wake_signal());
	while (pthread_tryjoin_np(fuse->thread, NULL) == EBUSY) {
		nanosleep(&interval, NULL);
		pthread_kill(fuse->thread, fuse_wake_signal());
	}
}

/* The descriptor of a session that somebody still uses stays open until he is back: its number
 * must not become another's. So the connection does not end with it. */
static void fuse_unmount(struct wfs_fuse *fuse)
{
	struct wfs_error error = {.code = WFS_OK};

	if (atomic_load(&fuse->users) == 1) {
		fuse_session_unmount(fuse->session);
	} else if (!atomic_load(&fuse->aborted)) {
		wfs_fuse_abort(fuse);
		if (wfs_mount_unmount(fuse->directory, true, &error))
			wfs_log(WFS_LOG_MOUNT, WFS_LOG_ERR, "%s", error.message);
	}
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
