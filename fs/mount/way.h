/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way to a mount point, resolved once and then held open. Both mount(2) and umount2(2) resolve
 * a path again, and the owner of a directory on the way can replace this directory by a link in
 * between: the last name would then be in another directory, such as /etc. The path of a mount
 * point is canonical, so a link on the way is always wrong, and is refused.
 * Source: openat2(2), RESOLVE_NO_SYMLINKS; proc(5), /proc/PID/fd.
 */
#pragma once

#include "kernel/base/error.h"

enum {
	WFS_WAY_LINK_SIZE = 32,                      /* "/proc/self/fd/N" */
	WFS_WAY_NAME_SIZE = WFS_WAY_LINK_SIZE + 256, /* "/proc/self/fd/N/NAME" */
};

/* A name in an open directory, which does not keep a mount on the name busy. Plain value. */
struct wfs_way {
	int above;                    /* the directory, as O_PATH; owned */
	char name[WFS_WAY_NAME_SIZE]; /* a path, for calls that do not follow a link as last name */
};

#define WFS_WAY_NONE ((struct wfs_way){.above = -1})

/** wfs_way_open() - open the directory above @path, which is canonical
 *  Return: 0, -ELOOP (a link is on the way), -ENOENT, -ENOSYS (Linux before 5.6), … */
int wfs_way_open(const char *path, struct wfs_way *ret_way);

/** wfs_way_open_above() - open the way to the mount on an open directory, wherever this directory
 *  is now
 *  @directory: O_PATH is enough. Return: 0, -ENOENT, … */
int wfs_way_open_above(int directory, struct wfs_way *ret_way);

void wfs_way_done(struct wfs_way *way);
#define WFS_AUTO_WAY WFS_CLEANUP(wfs_way_done)

/** wfs_way_directory() - open @path (O_PATH), canonical, or the root of the mount on it
 *  Return: a descriptor, or as wfs_way_open(). */
int wfs_way_directory(const char *path);

/** wfs_way_link() - the path in /proc that leads to the open file @fd, and to no other file. */
void wfs_way_link(int fd, char ret_link[static WFS_WAY_LINK_SIZE]);

/** wfs_way_mounted() - open the root of the topmost mount on the name, which keeps the mount busy
 *  Uses only what Linux knows already, because a file system may hang.
 *  @ret_device: Linux's number of the connection of a FUSE mount
 *  Return: a descriptor, -ENOENT (nothing is mounted there), -ELOOP, … */
int wfs_way_mounted(const struct wfs_way *way, unsigned long *ret_device);

/** wfs_way_error() - tell a user who named @path that a function above has returned @r
 *  @what: a verb, as "unmount". Return: @r. */
int wfs_way_error(struct wfs_error *error, int r, const char *what, const char *path);
