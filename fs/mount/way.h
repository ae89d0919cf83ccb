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

/** wfs_way_open() - open the way to @path, which is canonical; caller calls wfs_way_done()
 *  Return: 0, -ELOOP (a link is on the way), -ENOENT (a directory on the way is missing), -ENOSYS
 *  (Linux before 5.6), … */
int wfs_way_open(const char *path, struct wfs_way *ret_way);

/** wfs_way_open_above() - open the way to an open directory, wherever it is now; caller calls
 *  wfs_way_done(). @directory: O_PATH is enough. Return: 0, or -errno. */
int wfs_way_open_above(int directory, struct wfs_way *ret_way);

void wfs_way_done(struct wfs_way *way);
#define WFS_AUTO_WAY WFS_CLEANUP(wfs_way_done)

/** wfs_way_directory() - open @path, which is canonical, as O_PATH; if a file system is mounted on
 *  it, its root. Return: a descriptor (caller closes), or the error of wfs_way_open(). */
int wfs_way_directory(const char *path);

/** wfs_way_link() - write the path in /proc that leads to the open file @fd, and to no other
 *  file. */
void wfs_way_link(int fd, char ret_link[static WFS_WAY_LINK_SIZE]);

/** wfs_way_mounted() - open the root of the topmost mount at the end of @way, which keeps the mount
 *  busy. Uses only what Linux knows already, because a file system may hang.
 *  @ret_device: Linux's number of the connection of a FUSE mount
 *  Return: a descriptor (caller closes), -ENOENT (nothing is mounted there), -ELOOP, … */
int wfs_way_mounted(const struct wfs_way *way, unsigned long *ret_device);

/** wfs_way_error() - fill @error: a function of this header has returned @r for @path
 *  @what: what was to be done, a verb such as "unmount". Return: @r. */
int wfs_way_error(struct wfs_error *error, int r, const char *what, const char *path);
