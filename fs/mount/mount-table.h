/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our mounts in the mount table of the system, and the run-time directory in which control
 * connections are mounted.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/error.h"

/* --- mount-table.c --- */

/** wfs_mount_inside() - is @path equal to @directory, or below it? Both are absolute and
 *  canonical. */
bool wfs_mount_inside(const char *path, const char *directory);

/** wfs_mount_is_ours() - is the topmost mount on @path one of WorldFS? Return: 1, 0, or -errno. */
int wfs_mount_is_ours(const char *path, struct wfs_error *error);

/**
 * wfs_mount_clear_dead() - make sure that no file system is mounted on @path
 *
 * Unmounts a mount of ours whose daemon was killed. Linux still answers stat of it from its cache,
 * so this looks up a name that no process can have asked for. A mount that does not answer counts
 * as alive.
 * Return: 0, -EBUSY (busy: another file system is mounted, or a mount of ours that is alive), …
 */
int wfs_mount_clear_dead(const char *path, struct wfs_error *error);

/** wfs_mount_is_of() - does the topmost mount on @path belong to the world in the directory @world
 *  (canonical)? Return: false also if nothing is mounted there, or the mount table cannot be
 *  read. */
bool wfs_mount_is_of(const char *path, const char *world);

/** wfs_mount_find() - find the mount point of a world's mount. @device: Linux's number of the
 *  mount's FUSE connection; @source: the mount's source in the mount table, as from
 *  wfs_mount_device()
 *  @ret_path: caller frees
 *  Return: 1, 0 (not mounted), or -errno. */
int wfs_mount_find(unsigned long device, const char *source, char **ret_path);

/** wfs_mount_device() - find Linux's number of the FUSE connection of the topmost mount on @path
 *  @ret_source: the mount's source in the mount table, which names the world; caller frees; NULL:
 *  not wanted
 *  Return: 0, -ENOENT (not_found: the topmost mount is not ours), … */
int wfs_mount_device(
	const char *path, unsigned long *ret_device, char **ret_source, struct wfs_error *error);

/** wfs_mount_connection() - open a file of fusectl, by which wfs_mount_connection_gone() knows the
 *  FUSE connection that has Linux's number @device now. It keeps no mount busy. Return: a
 *  descriptor, or -errno: fusectl is not mounted, … */
int wfs_mount_connection(unsigned long device);

/** wfs_mount_connection_gone() - is the connection gone for which wfs_mount_connection() has opened
 *  @fd? Another connection may have its number by now. @fd: negative: this is not known, and false
 *  is returned. */
bool wfs_mount_connection_gone(int fd);

/** wfs_mount_abort_device() - end the FUSE connection with Linux's number @device: requests to its
 *  daemon get an error
 *  The mount stays. @path: mount point of the connection; only used if fusectl is not mounted
 *  Return: 0, -EPERM (not root, and no fusectl file system), -ENOENT (another file system is
 *  mounted on @path), … */
int wfs_mount_abort_device(const char *path, unsigned long device, struct wfs_error *error);

/** wfs_mount_unmount() - unmount @path, if the FUSE connection of its topmost mount has the number
 *  @device. @lazy: true: also if files are in use, with MNT_DETACH
 *  Return: 0, -EBUSY (files are in use; not if @lazy), -ENOENT (the topmost mount has another
 *  number), … */
int wfs_mount_unmount(const char *path, unsigned long device, bool lazy, struct wfs_error *error);

/** wfs_mount_answers() - check that the file system at @path, and those on the way to it, answer
 *  Return: 0 (also if an error is the answer), -ETIMEDOUT (timeout: no answer), … */
int wfs_mount_answers(const char *path, struct wfs_error *error);

/* --- mount-look.c: each returns -ETIMEDOUT (timeout) after 10 s without an answer --- */

/** wfs_mount_look_link() - is there a symlink at @path? Return: 1, 0 (another file, or none), … */
int wfs_mount_look_link(const char *path, struct wfs_error *error);

/** wfs_mount_look_canonical() - call realpath(3) for @path. @ret_path: caller frees.
 *  Return: 0, -ENOENT (no file is there), … */
int wfs_mount_look_canonical(const char *path, char **ret_path, struct wfs_error *error);

/** wfs_mount_look_directory() - check that @path is a directory. Return: 0, -EINVAL (it is another
 *  file), -ENOENT (no file is there), … */
int wfs_mount_look_directory(const char *path, struct wfs_error *error);

/** wfs_mount_look_answers() - call lstat(2) for @path. @ret_result: its result, 0 or -errno
 *  Return: 0 (lstat(2) has returned), or -errno. */
int wfs_mount_look_answers(const char *path, int *ret_result, struct wfs_error *error);

/* --- mount-place.c --- */

/**
 * wfs_mount_resolve() - find the canonical path of a directory, without using a file system on it
 * @ret_path: caller frees
 * Return: 0, -EINVAL (not absolute), -ENOENT (a directory is missing), -ETIMEDOUT (timeout: a file
 * system on the way hangs), …
 */
int wfs_mount_resolve(const char *directory, char **ret_path, struct wfs_error *error);

/**
 * wfs_mount_run_directory() - make the directory for the control connection of a mount
 *
 * The first of these that can be made: /run/worldfs/<id>, for root; $XDG_RUNTIME_DIR/worldfs/<id>;
 * /tmp/worldfs-<uid>/<id>; with an empty directory `ctl` in it, on which no file system is mounted.
 * (Root of a container without privilege may not write to /run.) <id> depends only on the world and
 * @directory, so that a directory that a killed daemon has left is found again. Waits up to two
 * seconds for a mount on `ctl` to be unmounted.
 * @world: canonical directory of the world
 * @directory: mount point of the tree
 * @allow_other: other users can pass the directories
 * @ret_path: of `ctl`; caller frees
 * Return: 0, or -errno with @error.
 */
int wfs_mount_run_directory(const char *world, const char *directory, bool allow_other,
	char **ret_path, struct wfs_error *error);

/** wfs_mount_run_remove() - remove a directory `ctl` of wfs_mount_run_directory(), and those above
 *  it that are then empty. @path: of `ctl` */
void wfs_mount_run_remove(const char *path);

/** wfs_mount_run_clear() - unmount the control files of this user's killed daemons, and remove the
 *  directories that wfs_mount_run_directory() has made for them. */
void wfs_mount_run_clear(void);
