/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/replica/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>

#include "caps/replica.h"
#include "fs/replica/peer.h"
#include "kernel/base/clock.h"
#include "kernel/base/hash-text.h"

struct wfs_serve {
	struct wfs_authority *authority;
	int64_t hold_ns;
	pthread_t keeper;       /* ends the hold */
	bool keeping;           /* the thread runs */
	pthread_mutex_t lock;   /* for the following */
	pthread_cond_t changed; /* any of it has; by the monotonic clock */
	unsigned int backup_count;
	int hold_fd; /* as long as it is open, no blob file is removed; or -1 */
	int64_t hold_until_ns;
	bool ending;
};

/* A backup that is under way. */
struct backup {
	struct wfs_serve *serve;
	int fd; /* to write to; owned by the thread */
	/* Lock for the following: that of `serve`. */
	unsigned int refs; /* of the thread and the port */
	bool whole;
};

/* --- threads --- */

/* Starts a thread that takes no signals: those are for the program's own threads, and SIGPIPE, when
 * a client has left, for nobody. Return: 0, or -EAGAIN. */
static int start(pthread_t *ret_thread, void *(*run)(void *context), void *context)
{
	sigset_t all;
	sigset_t before;

	sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	const int r = -pthread_create(ret_thread, NULL, run, context);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

/* --- blob files stay for a while --- */

/* Has blob files that are held stay for hold_ms from now on. The caller has the lock. */
static void hold_on(struct wfs_serve *serve)
{
	serve->hold_until_ns = wfs_clock_monotonic_ns() + serve->hold_ns;
	pthread_cond_broadcast(&serve->changed);
}

/* Begins to hold, if nothing is held yet. The caller has the lock. Return: 0, or -errno. */
static int hold(struct wfs_serve *serve)
{
	if (serve->hold_fd < 0) {
		const int fd = wfs_replica_hold(serve->authority);

		if (fd < 0 && fd != -ENOENT)
			return fd;
		serve->hold_fd = fd < 0 ? -1 : fd;
	}
	hold_on(serve);
	return 0;
}

/* Waits until the hold may have to end. The caller has the lock. */
static void wait_to_end(struct wfs_serve *serve)
{
	const struct timespec until = {.tv_sec = serve->hold_until_ns / 1000000000,
		.tv_nsec = serve->hold_until_ns % 1000000000};

	if (serve->hold_fd < 0 || serve->backup_count > 0)
		pthread_cond_wait(&serve->changed, &serve->lock);
	else
		(void)pthread_cond_timedwait(&serve->changed, &serve->lock, &until);
}

static void *keep(void *context)
{
	struct wfs_serve *const serve = context;
	WFS_GUARD(&serve->lock);

	while (!serve->ending) {
		wait_to_end(serve);
		if (serve->hold_fd >= 0 && serve->backup_count == 0 &&
			wfs_clock_monotonic_ns() >= serve->hold_until_ns)
			close(WFS_STEAL_FD(serve->hold_fd));
	}
	return NULL;
}

/* --- life --- */

int wfs_serve_new(struct wfs_authority *authority, int64_t hold_ms, struct wfs_serve **ret_serve,
	struct wfs_error *error)
{
	WFS_AUTO_SERVE struct wfs_serve *serve = calloc(1, sizeof(*serve));
	pthread_condattr_t monotonic;

	if (!serve)
		return wfs_error_from_errno(error, -ENOMEM, "give a world to other nodes");
	serve->authority = authority;
	serve->hold_ns = (hold_ms > 0 ? hold_ms : WFS_SERVE_HOLD_MS) * INT64_C(1000000);
	serve->hold_fd = -1;
	pthread_mutex_init(&serve->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&serve->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	const int r = start(&serve->keeper, keep, serve);
	if (r)
		return wfs_error_set(error, WFS_E_OVERLOADED,
			"no thread can begin that gives a world to other nodes");
	serve->keeping = true;
	*ret_serve = WFS_STEAL(serve);
	return 0;
}

static void wait_for_backups(struct wfs_serve *serve)
{
	WFS_GUARD(&serve->lock);

	serve->ending = true;
	pthread_cond_broadcast(&serve->changed);
	while (serve->backup_count > 0)
		pthread_cond_wait(&serve->changed, &serve->lock);
}

void wfs_serve_free(struct wfs_serve *serve)
{
	if (!serve)
		return;
	wait_for_backups(serve);
	if (serve->keeping)
		pthread_join(serve->keeper, NULL);
	wfs_auto_fd(&serve->hold_fd);
	pthread_cond_destroy(&serve->changed);
	pthread_mutex_destroy(&serve->lock);
	free(serve);
}

/* --- blobs --- */

int wfs_serve_blob(
	void *context, const struct wfs_hash *hash, int *ret_fd, uint64_t *ret_size_bytes)
{
	struct wfs_serve *const serve = context;

	pthread_mutex_lock(&serve->lock);
	hold_on(serve);
	pthread_mutex_unlock(&serve->lock);
	return wfs_trace(
		wfs_replica_open_blob(serve->authority, hash, ret_fd, ret_size_bytes, NULL));
}

/* --- backups --- */

/* Has the port closed the other end of the pipe? Then nothing more is checked or read. */
static bool is_read(void *context, const char *what, uint64_t done, uint64_t total)
{
	const struct backup *const backup = context;
	struct pollfd pipe = {.fd = backup->fd, .events = POLLOUT};

	(void)what;
	(void)done;
	(void)total;
	return poll(&pipe, 1, 0) < 0 || !(pipe.revents & POLLERR);
}

static void unref(struct backup *backup)
{
	struct wfs_serve *const serve = backup->serve;
	WFS_GUARD(&serve->lock);

	if (--backup->refs > 0)
		return;
	free(backup);
	serve->backup_count--;
	hold_on(serve);
}

static void *run(void *context)
{
	struct backup *const backup = context;
	struct wfs_serve *const serve = backup->serve;
	const struct wfs_backup_sink sink = {
		.fd = backup->fd, .bytes_max = UINT64_MAX, .progress = is_read, .context = backup};
	const bool whole = wfs_replica_give(serve->authority, &sink, NULL) == 0;

	pthread_mutex_lock(&serve->lock);
	backup->whole = whole;
	pthread_mutex_unlock(&serve->lock);
	close(backup->fd); /* the port asks then whether it is whole */
	unref(backup);
	return NULL;
}

/* Counts a backup. Return: 0, -EAGAIN (too many are under way), or another -errno. */
static int admit(struct wfs_serve *serve)
{
	WFS_GUARD(&serve->lock);

	if (serve->backup_count >= WFS_SERVE_BACKUPS_MAX)
		return -EAGAIN;
	const int r = hold(serve);
	if (!r)
		serve->backup_count++;
	return r;
}

/* Begins a backup that is counted. */
static int begin(struct wfs_serve *serve, struct wfs_port_backup *ret_backup)
{
	WFS_AUTO_FREE struct backup *backup = malloc(sizeof(*backup));
	WFS_AUTO_FD int reading = -1;
	WFS_AUTO_FD int writing = -1;
	pthread_t thread;
	int ends[2];

	if (!backup)
		return -ENOMEM;
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	reading = ends[0];
	writing = ends[1];
	*backup = (struct backup){.serve = serve, .fd = writing, .refs = 2};
	const int r = start(&thread, run, backup);
	if (r)
		return r;
	(void)pthread_detach(thread);
	writing = -1;
	*ret_backup =
		(struct wfs_port_backup){.fd = WFS_STEAL_FD(reading), .backup = WFS_STEAL(backup)};
	return 0;
}

int wfs_serve_backup(void *context, struct wfs_port_backup *ret_backup)
{
	struct wfs_serve *const serve = context;

	int r = admit(serve);

	if (r)
		return wfs_trace(r);
	r = begin(serve, ret_backup);
	if (r) {
		WFS_GUARD(&serve->lock);
		serve->backup_count--;
		pthread_cond_broadcast(&serve->changed);
	}
	return wfs_trace(r);
}

bool wfs_serve_backup_is_whole(void *context, void *backup)
{
	struct wfs_serve *const serve = context;
	WFS_GUARD(&serve->lock);

	return ((const struct backup *)backup)->whole;
}

void wfs_serve_backup_done(void *context, void *backup)
{
	(void)context;
	unref(backup);
}

/* --- the source that is another node --- */

/* Bytes on their way from a peer to a sink. Plain value. */
struct coming {
	const struct wfs_backup_sink *sink;
	const char *what;
};

static bool come(void *context, uint64_t done_bytes)
{
	const struct coming *const coming = context;

	return coming->sink->progress(coming->sink->context, coming->what, done_bytes, 0);
}

static int give_data(struct wfs_backup_source *source, const struct wfs_backup_sink *sink,
	struct wfs_error *error)
{
	struct wfs_peer *const peer = ((struct wfs_serve_source *)source)->peer;
	struct coming coming = {sink, "bytes of data.mdb"};

	wfs_peer_watch(peer, come, &coming);
	const int r = wfs_peer_backup(peer, sink->bytes_max, sink->fd, error);
	wfs_peer_watch(peer, NULL, NULL);
	if (r == -ENOENT)
		return wfs_error_set(error, WFS_E_UNAVAILABLE,
			"the other node makes no backup now: it makes %d at once at most",
			WFS_SERVE_BACKUPS_MAX);
	return wfs_trace(r);
}

static int give_file(struct wfs_backup_source *source, const struct wfs_hash *hash,
	const struct wfs_backup_sink *sink, struct wfs_error *error)
{
	struct wfs_peer *const peer = ((struct wfs_serve_source *)source)->peer;
	struct coming coming = {sink, "bytes of a blob"};

	wfs_peer_watch(peer, come, &coming);
	const int r = wfs_peer_blob(peer, hash, sink->bytes_max, sink->fd, error);
	wfs_peer_watch(peer, NULL, NULL);
	if (r == -ENOENT)
		return wfs_error_set(error, WFS_E_NOT_FOUND,
			"the other node does not have the file of %s, which its data.mdb mentions; "
			"a collection may just have removed it",
			WFS_HASH_TEXT(hash));
	return wfs_trace(r);
}

void wfs_serve_source_init(struct wfs_serve_source *ret_source, struct wfs_peer *peer)
{
	*ret_source = (struct wfs_serve_source){
		.source = {.strange = true, .give_data = give_data, .give_file = give_file},
		.peer = peer,
	};
}
