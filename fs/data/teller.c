/* SPDX-License-Identifier: Apache-2.0 */
/* The thread, its jobs, and how it is given up. */
#include "fs/data/teller.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fs/tree/tree.h"
#include "kernel/base/clock.h"
#include "kernel/base/encode.h"
#include "kernel/base/log.h"

enum {
	/* The limit is waited for in parts. If the whole process was stopped, and the notification
	 * could not go on either, only one part is over. */
	LIMIT_PARTS = 10,
	STOP_LIMIT_MS = 1000, /* the limit of a mount that is being taken down */
	TRIES = 9,            /* of a notification for which memory is short; pauses double */
	NANOSECONDS_MS = 1000 * 1000,
};

struct wfs_teller {
	struct wfs_fuse *fuse; /* owned: a reference */
	struct wfs_numbers numbers;
	atomic_uint_fast64_t log_ino; /* of the log, or 0 */
	pthread_t thread;
	unsigned int limit_ms;
	char name[WFS_NAME_MAX]; /* in the notification; only the thread uses it */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Lock for the following: lock. */
	unsigned int users;        /* threads and callers that may still use this struct */
	int (*job)(void *context); /* NULL: none */
	void *context;
	int (*posted)(void *context); /* NULL: none */
	void *posted_context;
	bool unasked;   /* the job was posted: no caller waits */
	int result;     /* of the job, if `done` */
	bool done;      /* the job has ended, and its caller has not noticed yet */
	bool calling;   /* a notification is being sent: the caller's memory is not used */
	uint64_t calls; /* notifications that have ended */
	bool given_up;  /* the thread ends after its notification has returned */
	bool stopping;
	bool over;      /* the thread must end */
	bool ending;    /* the connection is being aborted */
	bool by_thread; /* by the teller's own thread */
	bool ended;     /* the connection was aborted, or this has failed */
	bool forgotten; /* names in the root were dropped, or this has failed */
};

unsigned int wfs_teller_limit_ms(void)
{
	const char *text = secure_getenv("WORLDFS_NOTIFY_LIMIT");
	char *end = NULL;
	const unsigned long seconds = text ? strtoul(text, &end, 10) : 0;

	if (!text || *end || seconds < 1 || seconds > WFS_TELLER_LIMIT_MAX_S)
		return WFS_TELLER_LIMIT_MS;
	return (unsigned int)seconds * 1000;
}

static void teller_unref(struct wfs_teller *teller)
{
	pthread_mutex_lock(&teller->lock);
	const bool last = --teller->users == 0;
	pthread_mutex_unlock(&teller->lock);
	if (!last)
		return;
	pthread_cond_destroy(&teller->changed);
	pthread_mutex_destroy(&teller->lock);
	wfs_fuse_unref(teller->fuse);
	free(teller);
}

/* Starts a thread that gets no signals: these are for the main thread. */
static int start_thread(
	struct wfs_teller *teller, void *(*run)(void *argument), pthread_t *ret_thread)
{
	sigset_t all;
	sigset_t old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int r = -pthread_create(ret_thread, NULL, run, teller);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return r;
}

/* --- the thread --- */

static void end_connection(struct wfs_teller *teller);

/* Makes the posted job the current one. The lock is held. */
static void take_posted(struct wfs_teller *teller)
{
	teller->job = teller->posted;
	teller->context = teller->posted_context;
	teller->unasked = teller->posted != NULL;
	teller->posted = NULL;
}

static void *teller_main(void *argument)
{
	struct wfs_teller *teller = argument;

	pthread_setname_np(pthread_self(), "wfs-teller");
	pthread_mutex_lock(&teller->lock);
	while (!teller->given_up) {
		if (!teller->job && !teller->over)
			take_posted(teller);
		if (!teller->job || teller->done) {
			if (teller->over)
				break;
			pthread_cond_wait(&teller->changed, &teller->lock);
			continue;
		}
		int (*const job)(void *context) = teller->job;
		void *const context = teller->context;
		pthread_mutex_unlock(&teller->lock);
		int r = job(context);
		pthread_mutex_lock(&teller->lock);
		teller->result = r;
		teller->done = !teller->unasked;
		if (teller->unasked)
			teller->job = NULL;
		teller->unasked = false;
		pthread_cond_broadcast(&teller->changed);
	}
	const bool ends = teller->by_thread;
	pthread_mutex_unlock(&teller->lock);
	if (ends)
		end_connection(teller);
	teller_unref(teller);
	return NULL;
}

/* Begins a notification. Return: false if the teller was given up. */
static bool begin_call(struct wfs_teller *teller)
{
	WFS_GUARD(&teller->lock);

	teller->calling = !teller->given_up;
	return teller->calling;
}

static bool end_call(struct wfs_teller *teller)
{
	WFS_GUARD(&teller->lock);

	teller->calling = false;
	teller->calls++;
	return !teller->given_up;
}

/* A notification. */
struct message {
	enum { ENTRY, INODE, STORE } kind;
	uint64_t ino;
	uint64_t offset;
	struct wfs_bytes bytes;
};

static int send_message(struct wfs_teller *teller, const struct message *message)
{
	struct fuse_session *const session = wfs_fuse_session(teller->fuse);
	struct fuse_bufvec vector = FUSE_BUFVEC_INIT(message->bytes.size);
	const fuse_ino_t ino = wfs_numbers_ino(&teller->numbers, message->ino);

	if (!wfs_fuse_is_initialised(teller->fuse))
		return -ENOENT; /* the world changes already, but nothing is cached */
	switch (message->kind) {
	case ENTRY:
		return fuse_lowlevel_notify_inval_entry(
			session, ino, message->bytes.data, message->bytes.size);
	case INODE:
		return fuse_lowlevel_notify_inval_inode(session, ino, (off_t)message->offset, 0);
	default:
		vector.buf[0].mem = (void *)(uintptr_t)message->bytes.data;
		return fuse_lowlevel_notify_store(session, ino, (off_t)message->offset, &vector, 0);
	}
}

/* Waits before the next of the TRIES. */
static void pause_before(int nth_try)
{
	const struct timespec pause = {.tv_nsec = (long)NANOSECONDS_MS << (nth_try - 1)};

	nanosleep(&pause, NULL);
}

static int tell(struct wfs_teller *teller, const struct message *message)
{
	int r = -ENOMEM;

	for (int i = 0; i < TRIES && r == -ENOMEM; i++) {
		if (i > 0)
			pause_before(i);
		if (!begin_call(teller))
			return -ECANCELED;
		r = send_message(teller, message);
		if (!end_call(teller))
			return -ECANCELED;
	}
	return r == -ENODEV ? -ENOENT : r; /* the mount is gone, with everything cached */
}

int wfs_teller_entry(struct wfs_teller *teller, uint64_t directory, const char *name, size_t size)
{
	const struct message message = {
		.kind = ENTRY, .ino = directory, .bytes = WFS_BYTES(teller->name, size)};

	wfs_require(size <= sizeof(teller->name));
	memcpy(teller->name, name, size);
	return tell(teller, &message);
}

int wfs_teller_inode(struct wfs_teller *teller, uint64_t ino, uint64_t offset)
{
	const struct message message = {.kind = INODE, .ino = ino, .offset = offset};

	return tell(teller, &message);
}

int wfs_teller_inode_here(struct wfs_teller *teller, uint64_t ino, uint64_t offset)
{
	const struct message message = {.kind = INODE, .ino = ino, .offset = offset};
	int r = -ENOMEM;

	for (int i = 0; i < TRIES && r == -ENOMEM; i++) {
		if (i > 0)
			pause_before(i);
		r = send_message(teller, &message);
	}
	return r == -ENODEV ? -ENOENT : r;
}

int wfs_teller_store(
	struct wfs_teller *teller, uint64_t ino, uint64_t offset, struct wfs_bytes bytes)
{
	const struct message message = {
		.kind = STORE, .ino = ino, .offset = offset, .bytes = bytes};

	return tell(teller, &message);
}

void wfs_teller_set_log(struct wfs_teller *teller, uint64_t ino)
{
	atomic_store(&teller->log_ino, ino);
}

/* --- giving up --- */

static void note(struct wfs_teller *teller, bool *what)
{
	WFS_GUARD(&teller->lock);

	*what = true;
	pthread_cond_broadcast(&teller->changed);
}

/*
 * Linux still answers from its cache after a connection was aborted, so this drops the names in the
 * root, and the size of the log. A reader that holds one of these locks keeps this thread, too.
 */
static void forget_ways(struct wfs_teller *teller)
{
	struct fuse_session *const session = wfs_fuse_session(teller->fuse);
	const uint64_t log_ino = atomic_load(&teller->log_ino);
	const char *name;

	if (log_ino)
		fuse_lowlevel_notify_inval_inode(
			session, wfs_numbers_ino(&teller->numbers, log_ino), 0, 0);
	for (size_t i = 0; (name = wfs_tree_root_name(i)); i++)
		fuse_lowlevel_notify_inval_entry(session, FUSE_ROOT_ID, name, strlen(name));
}

static void end_connection(struct wfs_teller *teller)
{
	wfs_fuse_abort(teller->fuse);
	note(teller, &teller->ended);
	forget_ways(teller);
	note(teller, &teller->forgotten);
}

static void *ending_main(void *argument)
{
	struct wfs_teller *teller = argument;

	pthread_setname_np(pthread_self(), "wfs-ending");
	end_connection(teller);
	teller_unref(teller);
	return NULL;
}

/* Claims the ending of the connection. @ret_by_thread: the teller's own thread does it.
 * Return: false if it was begun before. */
static bool claim_ending(struct wfs_teller *teller, bool *ret_by_thread)
{
	WFS_GUARD(&teller->lock);

	if (teller->ending)
		return false;
	teller->ending = true;
	teller->by_thread = !teller->given_up && !teller->job;
	if (teller->by_thread)
		teller->given_up = true;
	else
		teller->users++;
	pthread_cond_broadcast(&teller->changed);
	*ret_by_thread = teller->by_thread;
	return true;
}

/*
 * Begins to end the connection. The path of the mount may lead through a file system that hangs, so
 * this is done on a thread of its own, or on the teller's if that is idle, because a new one needs
 * memory.
 */
static void begin_ending(struct wfs_teller *teller, const char *why)
{
	pthread_t thread;
	bool by_thread;

	if (!claim_ending(teller, &by_thread))
		return;
	wfs_log(WFS_LOG_MOUNT, WFS_LOG_ERR, "ending the mount '%s': %s",
		wfs_fuse_directory(teller->fuse), why);
	if (by_thread)
		return;
	if (start_thread(teller, ending_main, &thread) == 0) {
		pthread_detach(thread);
		return;
	}
	wfs_fuse_abort(teller->fuse);
	note(teller, &teller->ended);
	note(teller, &teller->forgotten);
	teller_unref(teller);
}

/* --- waiting; the lock is held --- */

/* How long a caller has waited without progress. */
struct patience {
	uint64_t calls; /* notifications that had ended when it began to wait */
	unsigned int parts;
};

static unsigned int limit_of(const struct wfs_teller *teller)
{
	return teller->stopping && teller->limit_ms > STOP_LIMIT_MS ? STOP_LIMIT_MS
								    : teller->limit_ms;
}

/* Waits for a change, or a part of the limit. Return: is the limit over? */
static bool wait_part(struct wfs_teller *teller, struct patience *patience)
{
	const int64_t until_ns = wfs_clock_monotonic_ns() +
		(int64_t)(limit_of(teller) / LIMIT_PARTS) * NANOSECONDS_MS;
	const struct timespec until = {
		.tv_sec = until_ns / 1000000000, .tv_nsec = until_ns % 1000000000};

	if (pthread_cond_clockwait(&teller->changed, &teller->lock, CLOCK_MONOTONIC, &until) !=
		ETIMEDOUT)
		return false;
	if (patience->calls != teller->calls)
		*patience = (struct patience){.calls = teller->calls};
	return ++patience->parts >= LIMIT_PARTS;
}

/* Waits until a job may begin or, with @done, has ended. Return: false if the teller is given
 * up. */
static bool wait_for_job(struct wfs_teller *teller, bool done)
{
	struct patience patience = {.calls = teller->calls};

	while (!teller->given_up && (done ? !teller->done : teller->job != NULL))
		/* Only during a notification: at other times the thread uses memory of its
		 * caller. */
		if (wait_part(teller, &patience) && teller->calling)
			teller->given_up = true;
	return !teller->given_up;
}

static void wait_until(struct wfs_teller *teller, const bool *happened)
{
	struct patience patience = {.calls = teller->calls};

	while (!*happened && !wait_part(teller, &patience))
		continue;
}

/* --- for callers --- */

/* Runs a job. @ret_end: the caller must end the connection */
static int run(struct wfs_teller *teller, int (*job)(void *context), void *context, bool *ret_end)
{
	WFS_GUARD(&teller->lock);

	*ret_end = false;
	if (teller->given_up || teller->stopping)
		return -ECANCELED;
	if (wait_for_job(teller, false)) {
		teller->job = job;
		teller->context = context;
		pthread_cond_broadcast(&teller->changed);
		if (wait_for_job(teller, true)) {
			teller->job = NULL;
			teller->done = false;
			pthread_cond_broadcast(&teller->changed);
			return teller->result;
		}
	}
	*ret_end = !teller->stopping;
	return -ECANCELED;
}

int wfs_teller_run(struct wfs_teller *teller, int (*job)(void *context), void *context)
{
	bool end;
	int r = run(teller, job, context, &end);

	if (end)
		wfs_teller_end(teller, "a reader keeps Linux from dropping outdated content");
	return r;
}

void wfs_teller_post(struct wfs_teller *teller, int (*job)(void *context), void *context)
{
	WFS_GUARD(&teller->lock);

	if (teller->posted || teller->given_up || teller->stopping)
		return;
	teller->posted = job;
	teller->posted_context = context;
	pthread_cond_broadcast(&teller->changed);
}

void wfs_teller_end(struct wfs_teller *teller, const char *why)
{
	begin_ending(teller, why);
	WFS_GUARD(&teller->lock);
	wait_until(teller, &teller->ended);
}

/* --- life --- */

int wfs_teller_new(struct wfs_fuse *fuse, const struct wfs_numbers *numbers, unsigned int limit_ms,
	struct wfs_teller **ret_teller)
{
	struct wfs_teller *teller = calloc(1, sizeof(*teller));

	wfs_require(limit_ms >= LIMIT_PARTS);
	if (!teller)
		return -ENOMEM;
	teller->fuse = wfs_fuse_ref(fuse);
	teller->numbers = *numbers;
	teller->limit_ms = limit_ms;
	teller->users = 2;
	pthread_mutex_init(&teller->lock, NULL);
	pthread_cond_init(&teller->changed, NULL);
	int r = start_thread(teller, teller_main, &teller->thread);
	if (r) {
		teller->users = 1;
		teller_unref(teller);
		return r;
	}
	*ret_teller = teller;
	return 0;
}

void wfs_teller_stop(struct wfs_teller *teller)
{
	WFS_GUARD(&teller->lock);

	teller->stopping = true;
	pthread_cond_broadcast(&teller->changed);
}

void wfs_teller_free(struct wfs_teller *teller)
{
	if (!teller)
		return;
	pthread_mutex_lock(&teller->lock);
	teller->over = true;
	teller->stopping = true;
	pthread_cond_broadcast(&teller->changed);
	(void)wait_for_job(teller, false); /* one that was posted */
	const bool given_up = teller->given_up;
	if (teller->ending) /* waits, because the process may end soon */
		wait_until(teller, &teller->forgotten);
	pthread_mutex_unlock(&teller->lock);
	if (given_up)
		pthread_detach(teller->thread);
	else
		pthread_join(teller->thread, NULL);
	teller_unref(teller);
}

/* --- whole jobs --- */

/* The job copies it first, because its caller may return before the notification does. */
struct listing {
	struct wfs_teller *teller;
	uint64_t directory;
};

static int drop_listing(void *context)
{
	const struct listing listing = *(const struct listing *)context;

	return wfs_teller_inode(listing.teller, listing.directory, 0);
}

int wfs_teller_listing(struct wfs_teller *teller, uint64_t directory)
{
	struct listing listing = {teller, directory};

	return wfs_teller_run(teller, drop_listing, &listing);
}
