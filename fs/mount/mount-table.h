/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mount table of the system, as far as our mounts are concerned, and the run-time directory in
 * which control connections are mounted.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/error.h"

/* --- mount-table.c --- */

/** wfs_mount_inside() - is @path @directory itself, or below it? Both absolute and canonical. */
bool wfs_mount_inside(const char *path, const char *directory);

/** wfs_mount_is_ours() - is a worldfs the topmost mount on @path? Return: 1, 0, or -errno. */
int wfs_mount_is_ours(const char *path, struct wfs_error *error);

/**
 * wfs_mount_clear_dead() - make sure that nothing is mounted on @path
 *
 * A mount of ours whose daemon was killed is taken away. It still answers stat from the kernel's
 * cache, so a name that nobody ever asked for is looked up. One that does not answer is alive.
 * Return: 0, -EBUSY (busy: something else is mounted, or a mount of ours that is alive), …
 */
int wfs_mount_clear_dead(const char *path, struct wfs_error *error);

/** wfs_mount_is_of() - is the topmost mount on @path one of the world in the directory @world? */
bool wfs_mount_is_of(const char *path, const char *world);

/** wfs_mount_find() - where is the connection @device of the world @source mounted? @ret_path: caller frees
 *  Return: 1, 0 (nowhere), or -errno. */
int wfs_mount_find(unsigned long device, const char *source, char **ret_path);

/** wfs_mount_device() - the number by which Linux calls the connection of the topmost mount on @path.
 *  @ret_source: what the mount table calls its world; caller frees; may be NULL
 *  Return: 0, -ENOENT (not_found: nothing of ours is mounted), … */
int wfs_mount_device(
	const char *path, unsigned long *ret_device, char **ret_source, struct wfs_error *error);

/**
 * wfs_mount_abort_device() - end the connection @device: requests to its daemon get an error
 * It stays mounted. @path: where it is mounted
 * Return: 0, -EPERM (not root, and no fusectl file system), …
 */
int wfs_mount_abort_device(const char *path, unsigned long device, struct wfs_error *error);

/** wfs_mount_unmount() - take the connection @device away from @path, and nothing else
 *  Return: 0, -EBUSY (files are in use; never when @lazy), -ENOENT (@device is not the topmost mount there), … */
int wfs_mount_unmount(const char *path, unsigned long device, bool lazy, struct wfs_error *error);

/** wfs_mount_answers() - does what is mounted on @path, or on the way to it, answer at all?
 *  Return: 0 (even if by an error), -ETIMEDOUT (timeout: no), … */
int wfs_mount_answers(const char *path, struct wfs_error *error);

/* --- mount-look.c: each returns -ETIMEDOUT (timeout) when nothing is seen for 10 s --- */

/** wfs_mount_look_link() - Return: 1 (a symlink), 0 (anything else, or nothing), … */
int wfs_mount_look_link(const char *path, struct wfs_error *error);

/** wfs_mount_look_canonical() - realpath(3). @ret_path: caller frees. Return: 0, -ENOENT, … */
int wfs_mount_look_canonical(const char *path, char **ret_path, struct wfs_error *error);

/** wfs_mount_look_directory() - Return: 0, -EINVAL (not a directory), -ENOENT, … */
int wfs_mount_look_directory(const char *path, struct wfs_error *error);

/** wfs_mount_look_answers() - @ret_result: 0 or the -errno of lstat. Return: 0, … */
int wfs_mount_look_answers(const char *path, int *ret_result, struct wfs_error *error);

/* --- mount-place.c --- */

/**
 * wfs_mount_resolve() - the canonical path of a directory, without touching what is mounted on it
 * @ret_path: caller frees
 * Return: 0, -EINVAL (not absolute), -ENOENT, -ETIMEDOUT (timeout: something on the way hangs), …
 */
int wfs_mount_resolve(const char *directory, char **ret_path, struct wfs_error *error);

/**
 * wfs_mount_run_directory() - make the directory for the control connection of a mount
 *
 * The first of these that can be had: /run/worldfs/<id>, for root; $XDG_RUNTIME_DIR/worldfs/<id>;
 * /tmp/worldfs-<uid>/<id>; with an empty directory `ctl` in it, on which nothing is mounted. (Root of a
 * container without privilege may not write to /run.) <id> depends on the world and @directory
 * only, so that what a killed daemon left is found again; a mount there that is just being taken
 * away is waited for.
 * @world: canonical directory of the world
 * @ret_path: of `ctl`; caller frees
 */
int wfs_mount_run_directory(const char *world, const char *directory, bool allow_other,
	char **ret_path, struct wfs_error *error);

/** wfs_mount_run_remove() - remove `ctl` and the directories above it that are empty then. */
void wfs_mount_run_remove(const char *path);

/** wfs_mount_run_clear() - take away the control connections whose daemon was killed. */
void wfs_mount_run_clear(void);
