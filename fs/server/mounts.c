/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mounts of one owner process. See mounts.h.
 *
 * `changing` serialises taking mounts down, which may take seconds. A new mount is served without
 * it, because the process that made the mount may be holding back Linux's first request. `mutex`
 * guards the list and is held only briefly, because FUSE requests (`status`) take it, too. When a
 * connection is unmounted by somebody else, its thread only notes that; the reaper takes the rest
 * down.
 */
#include "fs/server/mounts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "caps/authority.h"
#include "caps/session.h"
#include "fs/control/control.h"
#include "fs/data/data.h"
#include "kernel/base/clock.h"
#include "kernel/base/log.h"

enum {
	OUTER_WAIT_MS = 1000, /* for `umount -R` to take the outer mount after the nested one */
};

struct mount {
	struct mount *next; /* lock: mutex */
	struct wfs_mounts *mounts;
	struct wfs_keeper *keeper; /* owned */
	char *directory;           /* as named by the process that mounted it */
	char *principal;
	char *ctl; /* mount point of the control connection */
	/* A number by which the guardian knows the mount. */
	char name[sizeof("18446744073709551615")];
	bool nest_ctl;
	bool watched; /* by the guardian */
	struct wfs_session *session;
	struct wfs_control *control;
	struct wfs_data *data;
	/* Lock for the following: mutex. */
	bool control_ended;
	bool data_ended;
};

struct wfs_mounts {
	struct wfs_authority *authority;
	struct wfs_guardian *guardian;
	struct wfs_host *host;
	struct wfs_peers *peers;
	void (*reaped)(void *context);
	void *context;
	pthread_t reaper;
	bool reaper_started; /* changed by new and free only */

	pthread_mutex_t changing; /* taken before mutex */
	bool closed;              /* no more mounts are added; lock: changing */
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	/* Lock for the following: mutex. */
	struct mount *list;
	size_t coming; /* mounts that are being added */
	uint64_t numbers;
	bool stopping;
};

/* --- one mount --- */

static void mount_note_end(struct mount *mount, bool *ended)
{
	WFS_GUARD(&mount->mounts->mutex);

	*ended = true;
	pthread_cond_broadcast(&mount->mounts->changed);
}

static void mount_control_ended(void *context)
{
	struct mount *mount = context;

	mount_note_end(mount, &mount->control_ended);
}

static void mount_data_ended(void *context)
{
	struct mount *mount = context;

	mount_note_end(mount, &mount->data_ended);
}

/*
 * Takes down the connections of a mount. A nested control connection goes first. Otherwise the
 * tree goes first: its link must not lead to the bare directory below the control files, where a
 * writer would make a plain file and get no error.
 */
static void mount_free(struct mount *mount)
{
	if (!mount)
		return;
	if (mount->nest_ctl)
		wfs_control_free(WFS_STEAL(mount->control));
	wfs_data_free(mount->data);
	wfs_control_free(mount->control);
	if (mount->watched)
		wfs_guardian_forget(mount->mounts->guardian, mount->name);
	wfs_session_free(mount->session);
	wfs_keeper_unref(mount->keeper);
	free(mount->ctl);
	free(mount->principal);
	free(mount->directory);
	free(mount);
}
WFS_DEFINE_AUTO(mount, struct mount, mount_free)

static int mount_control(
	struct mount *mount, struct wfs_mount_options *given, struct wfs_error *error)
{
	const struct wfs_control_options options = {
		.fd = WFS_STEAL_FD(given->handed.fds[WFS_MOUNT_CONTROL]),
		.directory = mount->ctl,
		.keeper = mount->keeper,
		.allow_other = given->allow_other,
		.act = given->act,
		.trusted = given->trusted,
		.peers = mount->mounts->peers,
		.uid = given->uid,
		.gid = given->gid,
		.session = mount->session,
		.host = mount->mounts->host,
		.ended = mount_control_ended,
		.context = mount,
	};

	return wfs_control_new(&options, &mount->control, error);
}

static int mount_data(struct mount *mount, struct wfs_mount_options *given, struct wfs_error *error)
{
	const struct wfs_data_options options = {
		.fd = WFS_STEAL_FD(given->handed.fds[WFS_MOUNT_DATA]),
		.directory = mount->directory,
		.keeper = mount->keeper,
		.here = given->here,
		.uid = given->uid,
		.gid = given->gid,
		.tree =
			{
				.session = mount->session,
				.ctl_target = mount->nest_ctl ? NULL : mount->ctl,
				.ctl_directory = mount->nest_ctl,
			},
		.ended = mount_data_ended,
		.context = mount,
	};

	return wfs_data_new(&options, &mount->data, error);
}

/* Control files first: the symlink in the tree must lead somewhere. */
static int mount_connect(
	struct mount *mount, struct wfs_mount_options *options, struct wfs_error *error)
{
	int r = wfs_guardian_watch(
		mount->mounts->guardian, mount->name, wfs_keeper_fd(mount->keeper));

	mount->watched = r == 0;
	if (r < 0)
		wfs_log(WFS_LOG_MOUNT, WFS_LOG_WARNING,
			"the guardian does not watch '%s', which may hang after a kill: %s",
			mount->directory, strerrordesc_np(-r));
	r = mount_control(mount, options, error);
	if (r == 0)
		r = mount_data(mount, options, error);
	if (r == 0) {
		r = wfs_keeper_ask(mount->keeper, WFS_KEEPER_TAKEN, WFS_MOUNT_DATA, 0);
		if (r < 0)
			wfs_error_from_errno(
				error, r, "reach the keeper of '%s'", mount->directory);
	}
	return r;
}

/* --- adding and removing --- */

static void mounts_insert(struct wfs_mounts *mounts, struct mount *mount)
{
	WFS_GUARD(&mounts->mutex);

	mount->next = mounts->list;
	mounts->list = mount;
	/* It may have ended before it was in the list. */
	pthread_cond_broadcast(&mounts->changed);
}

static int mount_new(struct wfs_mounts *mounts, struct wfs_mount_options *options,
	struct mount **ret_mount, struct wfs_error *error)
{
	WFS_CLEANUP(wfs_auto_mount) struct mount *mount = calloc(1, sizeof(*mount));

	if (!mount)
		return wfs_error_from_errno(error, -ENOMEM, "serve '%s'", options->directory);
	mount->mounts = mounts;
	mount->nest_ctl = options->nest_ctl;
	if (wfs_keeper_new(WFS_STEAL_FD(options->handed.fds[WFS_HANDED_KEEPER]), &mount->keeper) <
		0)
		return wfs_error_from_errno(error, -ENOMEM, "serve '%s'", options->directory);
	mount->directory = strdup(options->directory);
	mount->principal = strdup(options->principal);
	mount->ctl = strdup(options->ctl);
	if (!mount->directory || !mount->principal || !mount->ctl)
		return wfs_error_from_errno(error, -ENOMEM, "serve '%s'", options->directory);
	int r = wfs_session_new(mounts->authority, options->principal, &mount->session, error);
	if (r < 0)
		return wfs_trace(r);
	*ret_mount = WFS_STEAL(mount);
	return 0;
}

/* Counts a mount that is being added. Return: 0 and its number, or -errno with @error. */
static int mounts_begin(struct wfs_mounts *mounts, uint64_t *ret_number, struct wfs_error *error)
{
	WFS_GUARD(&mounts->changing);
	WFS_GUARD(&mounts->mutex);
	size_t count = mounts->coming;

	if (mounts->closed)
		return wfs_error_set(
			error, WFS_E_CANCELLED, "the process that owns the world is ending");
	for (const struct mount *mount = mounts->list; mount; mount = mount->next)
		count++;
	if (count >= WFS_MOUNTS_MAX)
		return wfs_error_set(error, WFS_E_OVERLOADED, "the world has %d mounts already",
			(int)WFS_MOUNTS_MAX);
	mounts->coming++;
	*ret_number = ++mounts->numbers;
	return 0;
}

static void mounts_end_coming(struct wfs_mounts *mounts)
{
	WFS_GUARD(&mounts->mutex);

	mounts->coming--;
}

int wfs_mounts_add(
	struct wfs_mounts *mounts, struct wfs_mount_options *options, struct wfs_error *error)
{
	WFS_CLEANUP(wfs_auto_mount) struct mount *mount = NULL;
	uint64_t number = 0;
	int r = wfs_handed_check(&options->handed, error);

	if (r == 0)
		r = mounts_begin(mounts, &number, error);
	if (r < 0) {
		wfs_handed_close(&options->handed);
		return wfs_trace(r);
	}
	r = mount_new(mounts, options, &mount, error);
	if (r == 0) {
		wfs_require(mount != NULL);
		snprintf(mount->name, sizeof(mount->name), "%" PRIu64, number);
		r = mount_connect(mount, options, error);
	}
	wfs_handed_close(&options->handed);
	if (r == 0) {
		wfs_log_for(mount->principal, WFS_LOG_MOUNT, WFS_LOG_NOTICE,
			"mounted: '%s' as %s, control files in '%s'", mount->directory,
			mount->principal, mount->ctl);
		mounts_insert(mounts, WFS_STEAL(mount));
	}
	mounts_end_coming(mounts);
	return r;
}

/* Takes a mount off the list. @directory: NULL: the first one that has ended */
static struct mount *mounts_take(struct wfs_mounts *mounts, const char *directory)
{
	WFS_GUARD(&mounts->mutex);

	for (struct mount **at = &mounts->list; *at; at = &(*at)->next) {
		struct mount *mount = *at;

		if (directory ? strcmp(directory, mount->directory) == 0
			      : mount->control_ended || mount->data_ended) {
			*at = mount->next;
			return mount;
		}
	}
	return NULL;
}

/* Takes down the connection that refuses while it is in use first; the other one then goes in any
 * case. */
int wfs_mounts_remove(struct wfs_mounts *mounts, const char *directory, struct wfs_error *error)
{
	WFS_GUARD(&mounts->changing);
	struct mount *mount = mounts_take(mounts, directory);

	if (!mount)
		return wfs_error_set(
			error, WFS_E_NOT_FOUND, "this world is not mounted on '%s'", directory);
	wfs_data_pause(mount->data);
	const int r = wfs_keeper_ask(mount->keeper, WFS_KEEPER_UNMOUNT,
		mount->nest_ctl ? WFS_MOUNT_CONTROL : WFS_MOUNT_DATA, 0);
	if (r < 0 && r != -EPIPE) {
		wfs_data_resume(mount->data);
		mounts_insert(mounts, mount);
		if (r == -EBUSY)
			return wfs_error_set(error, WFS_E_BUSY,
				"'%s' is in use (a file in it is open, or a process works there)",
				directory);
		return wfs_error_from_errno(error, r, "unmount '%s'", directory);
	}
	if (r == 0)
		wfs_log_for(mount->principal, WFS_LOG_MOUNT, WFS_LOG_NOTICE, "unmounted: '%s'",
			mount->directory);
	mount_free(mount); /* without a keeper it stays mounted but not served, which is logged */
	if (r == 0)
		return 0;
	return wfs_error_set(error, WFS_E_NOT_FOUND,
		"the keeper of '%s' is gone: the mount is not served any more, but stays "
		"as a dead mount",
		directory);
}

bool wfs_mounts_close_if_none(struct wfs_mounts *mounts)
{
	WFS_GUARD(&mounts->changing);
	WFS_GUARD(&mounts->mutex);

	mounts->closed = !mounts->list && mounts->coming == 0;
	return mounts->closed;
}

void wfs_mounts_status(struct wfs_mounts *mounts, json_t *array)
{
	WFS_GUARD(&mounts->mutex);

	for (const struct mount *mount = mounts->list; mount; mount = mount->next)
		json_array_append_new(array,
			json_pack("{s:s, s:s, s:s}", "ctl", mount->ctl, "directory",
				mount->directory, "principal", mount->principal));
}

/* --- the reaper --- */

/* Waits for the outer mount: `umount -R` takes the nested connection first, and must still find
 * the outer one. */
static void reaper_wait_outer(struct mount *mount)
{
	struct wfs_mounts *mounts = mount->mounts;
	int64_t until_ns = wfs_clock_monotonic_ns() + OUTER_WAIT_MS * INT64_C(1000000);
	const struct timespec until = {
		.tv_sec = until_ns / 1000000000, .tv_nsec = until_ns % 1000000000};
	WFS_GUARD(&mounts->mutex);
	int r = 0;

	while (mount->nest_ctl && !mount->data_ended && !mounts->stopping && r != ETIMEDOUT)
		r = pthread_cond_clockwait(
			&mounts->changed, &mounts->mutex, CLOCK_MONOTONIC, &until);
}

/* Waits for a mount that has ended. Return: false: the mounts are being freed. */
static bool reaper_wait(struct wfs_mounts *mounts)
{
	WFS_GUARD(&mounts->mutex);

	for (;;) {
		if (mounts->stopping)
			return false;
		for (const struct mount *mount = mounts->list; mount; mount = mount->next)
			if (mount->control_ended || mount->data_ended)
				return true;
		pthread_cond_wait(&mounts->changed, &mounts->mutex);
	}
}

static void reaper_reap(struct wfs_mounts *mounts)
{
	WFS_GUARD(&mounts->changing);
	struct mount *mount = mounts_take(mounts, NULL);

	if (!mount)
		return;
	reaper_wait_outer(mount);
	wfs_log_for(mount->principal, WFS_LOG_MOUNT, WFS_LOG_NOTICE, "unmounted from outside: '%s'",
		mount->directory);
	mount_free(mount);
}

static void *reaper_run(void *argument)
{
	struct wfs_mounts *mounts = argument;

	while (reaper_wait(mounts)) {
		reaper_reap(mounts);
		if (mounts->reaped)
			mounts->reaped(mounts->context);
	}
	return NULL;
}

/* --- life --- */

int wfs_mounts_new(const struct wfs_mounts_options *options, struct wfs_mounts **ret_mounts,
	struct wfs_error *error)
{
	struct wfs_mounts *mounts = calloc(1, sizeof(*mounts));

	if (!mounts)
		return wfs_error_from_errno(error, -ENOMEM, "prepare for mounts");
	mounts->authority = options->authority;
	mounts->guardian = options->guardian;
	mounts->host = options->host;
	mounts->peers = options->peers;
	mounts->reaped = options->reaped;
	mounts->context = options->context;
	pthread_mutex_init(&mounts->changing, NULL);
	pthread_mutex_init(&mounts->mutex, NULL);
	pthread_cond_init(&mounts->changed, NULL);
	const int r = -pthread_create(&mounts->reaper, NULL, reaper_run, mounts);
	if (r < 0) {
		wfs_mounts_free(mounts);
		return wfs_error_from_errno(error, r, "start the threads of mounts");
	}
	mounts->reaper_started = true;
	*ret_mounts = mounts;
	return 0;
}

/* Gives all keepers together the time of one answer: each is asked twice, and may not answer. */
static void mounts_hurry(struct wfs_mounts *mounts)
{
	const int64_t until_ns = wfs_clock_monotonic_ns() + WFS_KEEPER_WAIT_MS * INT64_C(1000000);
	WFS_GUARD(&mounts->mutex);

	for (struct mount *mount = mounts->list; mount; mount = mount->next)
		wfs_keeper_hurry(mount->keeper, until_ns);
}

void wfs_mounts_free(struct wfs_mounts *mounts)
{
	if (!mounts)
		return;
	pthread_mutex_lock(&mounts->mutex);
	mounts->stopping = true;
	pthread_cond_broadcast(&mounts->changed);
	pthread_mutex_unlock(&mounts->mutex);
	if (mounts->reaper_started)
		pthread_join(mounts->reaper, NULL);
	mounts_hurry(mounts);
	while (mounts->list) {
		struct mount *mount = mounts->list;

		mounts->list = mount->next;
		wfs_log_for(mount->principal, WFS_LOG_MOUNT, WFS_LOG_NOTICE, "unmounting: '%s'",
			mount->directory);
		mount_free(mount);
	}
	pthread_cond_destroy(&mounts->changed);
	pthread_mutex_destroy(&mounts->mutex);
	pthread_mutex_destroy(&mounts->changing);
	free(mounts);
}
