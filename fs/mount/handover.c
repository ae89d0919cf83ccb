/* SPDX-License-Identifier: Apache-2.0 */
/* Making both mounts of a tree, for an owner to serve. See handover.h. */
#include "fs/mount/handover.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fs/mount/make.h"
#include "fs/mount/mount-table.h"

enum {
	RUN_TRIES = 8, /* the keeper of an earlier mount may be removing the directory now */
};

static const char *const handed_names[] = {
	[WFS_MOUNT_DATA] = "the first descriptor",
	[WFS_MOUNT_CONTROL] = "the second descriptor",
};

int wfs_handed_check(const struct wfs_handed *handed, struct wfs_error *error)
{
	for (int i = 0; i < WFS_MOUNT_PARTS; i++)
		if (!wfs_make_is_device(handed->fds[i]))
			return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				"%s: expected one of /dev/fuse, mounted", handed_names[i]);
	if (!wfs_keeper_is(handed->fds[WFS_HANDED_KEEPER]))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"the third descriptor: expected the socket of a keeper, AF_UNIX and "
			"SOCK_SEQPACKET");
	return 0;
}

void wfs_handed_close(struct wfs_handed *handed)
{
	for (int i = 0; i < WFS_HANDED_COUNT; i++) {
		if (handed->fds[i] >= 0)
			close(handed->fds[i]);
		handed->fds[i] = -1;
	}
}

/* --- the place --- */

static int check_world(const char *world, const char *directory, struct wfs_error *error)
{
	if (wfs_mount_inside(directory, world))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'%s' lies inside the world directory '%s'", directory, world);
	if (wfs_mount_inside(world, directory))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"the world directory '%s' would lie inside the mount '%s'", world,
			directory);
	return 0;
}

/* Checks the directories above: inside of another mount of this world, a mount would keep it
 * busy. */
static int check_above(const char *world, const char *directory, struct wfs_error *error)
{
	WFS_AUTO_FREE char *above = strdup(directory);

	if (!above)
		return wfs_error_from_errno(error, -ENOMEM, "mount on '%s'", directory);
	for (char *slash = strrchr(above, '/'); slash > above; slash = strrchr(above, '/')) {
		*slash = '\0';
		if (wfs_mount_is_of(above, world))
			return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				"'%s' lies inside a mount of this world, '%s'", directory, above);
	}
	return 0;
}

static int prepare(const char *world, const char *directory, struct wfs_error *error)
{
	int r = check_world(world, directory, error);

	if (r == 0)
		r = check_above(world, directory, error);
	if (r == 0)
		r = wfs_mount_answers(directory, error);
	if (r == 0)
		r = wfs_mount_clear_dead(directory, error);
	return r == 0 ? wfs_mount_look_directory(directory, error) : r;
}

static int name_nested_ctl(const char *directory, char **ret_ctl, struct wfs_error *error)
{
	if (geteuid() != 0)
		return wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
			"--nest-ctl needs root: the kernel lets no other user mount inside a FUSE "
			"mount");
	if (asprintf(ret_ctl, "%s/ctl", directory) < 0) {
		*ret_ctl = NULL;
		return wfs_error_from_errno(error, -ENOMEM, "mount on '%s'", directory);
	}
	return 0;
}

/* --- both mounts --- */

/* Tells the keeper about a new mount. @place: as of wfs_make_mount() */
static int keep(struct wfs_handover *handover, enum wfs_mount_part part, const char *path,
	int place, struct wfs_error *error)
{
	unsigned long device = 0;
	unsigned long made = 0;
	int r = wfs_mount_device(path, &device, NULL, error);

	if (r == 0 && place >= 0 && (wfs_make_device(place, &made) < 0 || made != device))
		r = wfs_error_set(error, WFS_E_CONFLICT,
			"mount on '%s': another directory has just got this name", path);
	if (r == 0) {
		r = wfs_keeper_ask(handover->keeper, WFS_KEEPER_MOUNTED, part, device);
		if (r < 0)
			wfs_error_from_errno(error, r, "reach the keeper of '%s'", path);
	}
	if (r < 0 && place >= 0) /* the keeper cannot unmount it */
		wfs_make_undo(place);
	else if (r < 0 && device != 0)
		(void)wfs_mount_unmount(path, device, true, NULL);
	return r;
}

static int make_one(struct wfs_handover *handover, enum wfs_mount_part part,
	const struct wfs_make_options *options, struct wfs_error *error)
{
	WFS_AUTO_FD int place = -1;
	WFS_AUTO_FD int fd = wfs_make_mount(options, &place, error);
	const int r = fd < 0 ? fd : keep(handover, part, options->path, place, error);

	if (r == 0)
		handover->handed.fds[part] = WFS_STEAL_FD(fd);
	return r;
}

static int make_run_ctl(struct wfs_handover *handover, const char *world, const char *directory,
	bool allow_other, struct wfs_error *error)
{
	struct wfs_make_options options = {.source = world, .allow_other = allow_other};
	int r = -ENOENT;

	options.path = handover->ctl;
	for (int i = 0; i < RUN_TRIES && r < 0; i++) {
		WFS_AUTO_FREE char *ctl = NULL;

		r = wfs_mount_run_directory(world, directory, allow_other, &ctl, error);
		if (r < 0)
			return r;
		r = make_one(handover, WFS_MOUNT_CONTROL, &options, error);
		if (r < 0 && access(handover->ctl, F_OK) == 0)
			return r;
	}
	return r;
}

static int make_both(struct wfs_handover *handover, const char *world, const char *directory,
	bool allow_other, bool nest_ctl, struct wfs_error *error)
{
	const struct wfs_make_options data = {
		.path = directory,
		.source = world,
		.allow_other = allow_other,
		.read_only = true,
	};
	const struct wfs_make_options control = {
		.path = handover->ctl, .source = world, .allow_other = allow_other};
	int r = 0;

	if (!nest_ctl) {
		r = make_run_ctl(handover, world, directory, allow_other, error);
	} else {
		const int fd = wfs_make_detached(&control, &handover->detached, error);

		handover->handed.fds[WFS_MOUNT_CONTROL] = fd < 0 ? -1 : fd;
		r = fd < 0 ? fd : 0;
	}
	return r < 0 ? r : make_one(handover, WFS_MOUNT_DATA, &data, error);
}

int wfs_handover_make(const char *world, const char *directory, bool allow_other, bool nest_ctl,
	struct wfs_handover *ret_handover, struct wfs_error *error)
{
	struct wfs_handover handover = {.handed = WFS_HANDED_NONE, .detached = -1};
	int r = prepare(world, directory, error);

	if (r == 0)
		r = nest_ctl ? name_nested_ctl(directory, &handover.ctl, error)
			     : wfs_mount_run_directory(
				       world, directory, allow_other, &handover.ctl, error);
	const int keeper = r < 0 ? r : wfs_keeper_start(directory, handover.ctl, nest_ctl, error);
	if (keeper < 0) {
		if (handover.ctl && !nest_ctl)
			wfs_mount_run_remove(handover.ctl);
		free(handover.ctl);
		return keeper;
	}
	handover.made = true;
	handover.handed.fds[WFS_HANDED_KEEPER] = fcntl(keeper, F_DUPFD_CLOEXEC, 0);
	r = wfs_keeper_new(keeper, &handover.keeper);
	if (r < 0) {
		wfs_handover_done(&handover); /* makes the keeper remove the run-time directory */
		return wfs_error_from_errno(error, r, "mount on '%s'", directory);
	}
	r = handover.handed.fds[WFS_HANDED_KEEPER] < 0
		? wfs_error_from_errno(error, -errno, "mount on '%s'", directory)
		: make_both(&handover, world, directory, allow_other, nest_ctl, error);
	if (r < 0) {
		wfs_handover_undo(&handover);
		wfs_handover_done(&handover);
		return r;
	}
	*ret_handover = handover;
	return 0;
}

int wfs_handover_end(struct wfs_handover *handover, struct wfs_error *error)
{
	if (handover->detached < 0)
		return 0;
	WFS_AUTO_FD int place = -1;
	const int r = wfs_make_attach(handover->detached, handover->ctl, &place, error);

	close(handover->detached);
	handover->detached = -1;
	return r < 0 ? r : keep(handover, WFS_MOUNT_CONTROL, handover->ctl, place, error);
}

void wfs_handover_undo(struct wfs_handover *handover)
{
	if (!handover->made)
		return;
	(void)wfs_keeper_ask(handover->keeper, WFS_KEEPER_REMOVE, WFS_MOUNT_CONTROL, 0);
	(void)wfs_keeper_ask(handover->keeper, WFS_KEEPER_REMOVE, WFS_MOUNT_DATA, 0);
}

void wfs_handover_done(struct wfs_handover *handover)
{
	if (!handover->made)
		return;
	wfs_handed_close(&handover->handed);
	if (handover->detached >= 0)
		close(handover->detached);
	handover->detached = -1;
	wfs_keeper_unref(WFS_STEAL(handover->keeper));
	free(WFS_STEAL(handover->ctl));
	handover->made = false;
}
