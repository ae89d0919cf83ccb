/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mounts of one owner process. See mount.h.
 *
 * `changing` serialises everything that mounts or unmounts, which may take seconds; a path that
 * somebody gave is looked at before it is taken, because it may lead to what hangs. `mutex` guards
 * the list and is held for moments only, because FUSE requests (`status`) take it too. When a
 * connection ends from outside, its thread only notes that; the reaper takes the rest down.
 */
#include "fs/mount/mount.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fs/control/control.h"
#include "fs/data/data.h"
#include "fs/mount/mount-table.h"
#include "kernel/base/clock.h"
#include "kernel/base/log.h"

enum {
	OUTER_WAIT_MS = 1000,  /* for `umount -R` to take the outer mount after the nested one */
	REAPED_WAIT_MS = 1000, /* for the reaper to see what was unmounted from outside */
	REAPED_LOOK_MS = 2,
};

struct mount {
	struct mount *next; /* lock: mutex */
	struct wfs_mounts *mounts;
	char *directory; /* canonical */
	char *principal;
	char *ctl; /* mount point of the control connection */
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
	struct wfs_world *world;
	struct wfs_authority *authority; /* of the world */
	struct wfs_guardian *guardian;
	struct wfs_host *host;
	void (*reaped)(void *context);
	void *context;
	pthread_t reaper;
	bool reaper_started; /* changed by new and free only */

	pthread_mutex_t changing; /* before mutex */
	bool closed;              /* no mount is added any more; lock: changing */
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	/* Lock for the following: mutex. */
	struct mount *list;
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
 * Takes down what is up, a nested connection first. Otherwise the tree goes first: its link must
 * not lead to the bare directory below the control files, where a writer would make a plain file
 * and believe that it was heard.
 */
static void mount_free(struct mount *mount)
{
	if (!mount)
		return;
	if (mount->nest_ctl)
		wfs_control_free(WFS_STEAL(mount->control));
	wfs_data_free(mount->data);
	if (mount->watched)
		wfs_guardian_forget(mount->mounts->guardian, mount->directory);
	wfs_control_free(mount->control);
	if (mount->ctl && !mount->nest_ctl)
		wfs_mount_run_remove(mount->ctl);
	wfs_session_free(mount->session);
	free(mount->ctl);
	free(mount->principal);
	free(mount->directory);
	free(mount);
}
WFS_DEFINE_AUTO(mount, struct mount, mount_free)

static int mount_control(
	struct mount *mount, const char *name, bool allow_other, struct wfs_error *error)
{
	const struct wfs_control_options options = {
		.directory = mount->ctl,
		.world_name = name,
		.allow_other = allow_other,
		.session = mount->session,
		.host = mount->mounts->host,
		.ended = mount_control_ended,
		.context = mount,
	};

	return wfs_control_new(&options, &mount->control, error);
}

static int mount_data(
	struct mount *mount, const char *name, bool allow_other, struct wfs_error *error)
{
	const struct wfs_data_options options = {
		.directory = mount->directory,
		.world_name = name,
		.allow_other = allow_other,
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

/* The symlink in the tree must lead somewhere, a nested mount needs its directory. */
static int mount_connect(
	struct mount *mount, const struct wfs_mount_options *options, struct wfs_error *error)
{
	struct wfs_world *world = mount->mounts->world;
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = wfs_world_manifest(world);
	const char *name = wfs_manifest_name(manifest);
	int r = wfs_guardian_watch(mount->mounts->guardian, mount->directory);

	mount->watched = r == 0;
	if (r < 0)
		wfs_log(WFS_LOG_MOUNT, WFS_LOG_WARNING,
			"nobody watches over '%s', it may hang after a kill: %s", mount->directory,
			strerrordesc_np(-r));
	if (mount->nest_ctl) {
		r = mount_data(mount, name, options->allow_other, error);
		if (r == 0)
			r = mount_control(mount, name, options->allow_other, error);
		return r;
	}
	r = mount_control(mount, name, options->allow_other, error);
	if (r == 0)
		r = mount_data(mount, name, options->allow_other, error);
	return r;
}

/* --- where a mount may be --- */

/* The daemon must never touch its own mounts, so no path may lead into one. */
static int mounts_check_own(
	struct wfs_mounts *mounts, const char *directory, struct wfs_error *error)
{
	WFS_GUARD(&mounts->mutex);

	for (const struct mount *mount = mounts->list; mount; mount = mount->next) {
		if (strcmp(directory, mount->directory) == 0)
			return wfs_error_set(error, WFS_E_BUSY,
				"'%s': this world is mounted there already", directory);
		if (wfs_mount_inside(directory, mount->directory) ||
			wfs_mount_inside(directory, mount->ctl))
			return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				"'%s' lies inside a mount of this world, '%s'", directory,
				mount->directory);
	}
	return 0;
}

static int mounts_check_world(
	struct wfs_mounts *mounts, const char *directory, struct wfs_error *error)
{
	WFS_AUTO_FREE char *world = realpath(wfs_world_directory(mounts->world), NULL);

	if (!world)
		return wfs_error_from_errno(
			error, -errno, "resolve '%s'", wfs_world_directory(mounts->world));
	if (wfs_mount_inside(directory, world))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'%s' lies inside the world directory '%s'", directory, world);
	if (wfs_mount_inside(world, directory))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"the world directory '%s' would lie inside the mount '%s'", world,
			directory);
	return 0;
}

static bool mounts_have(struct wfs_mounts *mounts, const char *directory)
{
	WFS_GUARD(&mounts->mutex);

	for (const struct mount *mount = mounts->list; mount; mount = mount->next)
		if (strcmp(directory, mount->directory) == 0)
			return true;
	return false;
}

/* What somebody has just unmounted himself is on the list until the reaper has seen that. */
static void mounts_wait_reaped(struct wfs_mounts *mounts, const char *directory)
{
	const struct timespec pause = {.tv_nsec = REAPED_LOOK_MS * 1000000L};

	for (int ms = 0; ms < REAPED_WAIT_MS; ms += REAPED_LOOK_MS) {
		if (!mounts_have(mounts, directory) || wfs_mount_is_ours(directory, NULL) != 0)
			return;
		nanosleep(&pause, NULL);
	}
}

/* Before `changing` is taken, because this may take as long as one waits for what hangs. */
static int mounts_look(
	struct wfs_mounts *mounts, const char *directory, char **ret_path, struct wfs_error *error)
{
	WFS_AUTO_FREE char *path = NULL;

	mounts_wait_reaped(mounts, directory);
	int r = mounts_check_own(mounts, directory, error);
	if (r == 0)
		r = wfs_mount_resolve(directory, &path, error);
	if (r == 0)
		r = mounts_check_own(mounts, path, error);
	if (r == 0)
		r = wfs_mount_answers(path, error);
	if (r == 0)
		*ret_path = WFS_STEAL(path);
	return r;
}

/* Clears what a killed daemon left on the directory, and checks that it is fit. */
static int mounts_prepare(struct wfs_mounts *mounts, const char *path, struct wfs_error *error)
{
	int r = mounts_check_own(mounts, path, error);

	if (r == 0)
		r = mounts_check_world(mounts, path, error);
	if (r == 0)
		r = wfs_mount_clear_dead(path, error);
	return r == 0 ? wfs_mount_look_directory(path, error) : r;
}

/* --- adding and removing --- */

static void mounts_insert(struct wfs_mounts *mounts, struct mount *mount)
{
	WFS_GUARD(&mounts->mutex);

	mount->next = mounts->list;
	mounts->list = mount;
	/* It may have ended before the reaper could see it. */
	pthread_cond_broadcast(&mounts->changed);
}

/* Path of the control connection's mount point: caller frees. */
static int mount_make_ctl(
	struct mount *mount, const struct wfs_mount_options *options, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer path = {0};

	if (!mount->nest_ctl)
		return wfs_mount_run_directory(wfs_world_id(mount->mounts->world), mount->directory,
			options->allow_other, &mount->ctl, error);
	if (geteuid() != 0)
		return wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
			"--nest-ctl needs root: the kernel lets no other user mount inside a FUSE "
			"mount");
	wfs_buffer_printf(&path, "%s/ctl", mount->directory);
	if (wfs_buffer_check(&path) < 0 || !(mount->ctl = strdup(wfs_buffer_text(&path))))
		return wfs_error_from_errno(error, -ENOMEM, "mount '%s'", mount->directory);
	return 0;
}

int wfs_mounts_add(
	struct wfs_mounts *mounts, const struct wfs_mount_options *options, struct wfs_error *error)
{
	WFS_AUTO_FREE char *path = NULL;
	int r = mounts_look(mounts, options->directory, &path, error);

	if (r < 0)
		return wfs_trace(r);
	WFS_GUARD(&mounts->changing);
	if (mounts->closed)
		return wfs_error_set(error, WFS_E_CANCELLED, "the world's owner is ending");
	WFS_CLEANUP(wfs_auto_mount) struct mount *mount = calloc(1, sizeof(*mount));
	if (!mount || !(mount->principal = strdup(options->principal)))
		return wfs_error_from_errno(error, -ENOMEM, "mount '%s'", options->directory);
	mount->mounts = mounts;
	mount->nest_ctl = options->nest_ctl;
	mount->directory = WFS_STEAL(path);
	r = wfs_session_new(mounts->authority, options->principal, &mount->session, error);
	if (r == 0)
		r = mounts_prepare(mounts, mount->directory, error);
	if (r == 0)
		r = mount_make_ctl(mount, options, error);
	if (r == 0)
		r = mount_connect(mount, options, error);
	if (r < 0)
		return wfs_trace(r);
	wfs_log(WFS_LOG_MOUNT, WFS_LOG_NOTICE, "mounted: '%s' as %s, control files in '%s'",
		mount->directory, mount->principal, mount->ctl);
	mounts_insert(mounts, WFS_STEAL(mount));
	return 0;
}

/* Takes a mount off the list. @directory: NULL: the first one that ended. */
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

/* First the connection that refuses when it is in use; the rest follows whatever happens. */
int wfs_mounts_remove(struct wfs_mounts *mounts, const char *directory, struct wfs_error *error)
{
	WFS_AUTO_FREE char *path = NULL;
	int r = 0;

	if (!mounts_have(mounts, directory))
		r = wfs_mount_resolve(directory, &path, error);
	if (r < 0)
		return r;
	WFS_GUARD(&mounts->changing);
	struct mount *mount = mounts_take(mounts, path ? path : directory);
	if (!mount)
		return wfs_error_set(
			error, WFS_E_NOT_FOUND, "this world is not mounted on '%s'", directory);
	wfs_data_pause(mount->data);
	r = wfs_mount_unmount(mount->nest_ctl ? mount->ctl : mount->directory, false, error);
	if (r == -EBUSY) {
		wfs_data_resume(mount->data);
		mounts_insert(mounts, mount);
		return r;
	}
	wfs_log(WFS_LOG_MOUNT, WFS_LOG_NOTICE, "unmounted: '%s'", mount->directory);
	mount_free(mount);
	return 0;
}

bool wfs_mounts_close_if_none(struct wfs_mounts *mounts)
{
	WFS_GUARD(&mounts->changing);
	WFS_GUARD(&mounts->mutex);

	mounts->closed = !mounts->list;
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

/* `umount -R` takes the nested connection first and must still find the outer one. */
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

/* Return: false when the mounts are being freed. */
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
	wfs_log(WFS_LOG_MOUNT, WFS_LOG_NOTICE, "unmounted from outside: '%s'", mount->directory);
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

int wfs_mounts_new(struct wfs_authority *authority, struct wfs_guardian *guardian,
	struct wfs_host *host, void (*reaped)(void *context), void *context,
	struct wfs_mounts **ret_mounts)
{
	struct wfs_mounts *mounts = calloc(1, sizeof(*mounts));

	if (!mounts)
		return -ENOMEM;
	mounts->world = wfs_authority_world(authority);
	mounts->authority = authority;
	mounts->guardian = guardian;
	mounts->host = host;
	mounts->reaped = reaped;
	mounts->context = context;
	pthread_mutex_init(&mounts->changing, NULL);
	pthread_mutex_init(&mounts->mutex, NULL);
	pthread_cond_init(&mounts->changed, NULL);
	int r = -pthread_create(&mounts->reaper, NULL, reaper_run, mounts);
	if (r < 0) {
		wfs_mounts_free(mounts);
		return wfs_trace(r);
	}
	mounts->reaper_started = true;
	*ret_mounts = mounts;
	return 0;
}

static void mounts_stop_reaper(struct wfs_mounts *mounts)
{
	pthread_mutex_lock(&mounts->mutex);
	mounts->stopping = true;
	pthread_cond_broadcast(&mounts->changed);
	pthread_mutex_unlock(&mounts->mutex);
	if (mounts->reaper_started)
		pthread_join(mounts->reaper, NULL);
}

void wfs_mounts_free(struct wfs_mounts *mounts)
{
	if (!mounts)
		return;
	mounts_stop_reaper(mounts);
	while (mounts->list) {
		struct mount *mount = mounts->list;

		mounts->list = mount->next;
		wfs_log(WFS_LOG_MOUNT, WFS_LOG_NOTICE, "unmounting: '%s'", mount->directory);
		mount_free(mount);
	}
	pthread_cond_destroy(&mounts->changed);
	pthread_mutex_destroy(&mounts->mutex);
	pthread_mutex_destroy(&mounts->changing);
	free(mounts);
}
