/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way to a mount point, walked once and then held. Both mount(2) and umount2(2) walk a path
 * anew, and the owner of a directory on the way can exchange that directory for a link in between:
 * the last name would then be one in another directory, such as /etc. The path of a mount point is
 * canonical, so a link on the way is always wrong, and is refused.
 * Source: openat2(2), RESOLVE_NO_SYMLINKS; proc(5), /proc/PID/fd.
 */
#pragma once

#include "kernel/base/error.h"

enum {
	WFS_WAY_LINK_SIZE = 32,                      /* "/proc/self/fd/N" */
	WFS_WAY_NAME_SIZE = WFS_WAY_LINK_SIZE + 256, /* "/proc/self/fd/N/NAME" */
};

/* A name in a directory that is open; a mount on the name is not kept busy by it. Plain value. */
struct wfs_way {
	int above;                    /* the directory, as O_PATH; owned */
	char name[WFS_WAY_NAME_SIZE]; /* a path, for calls that do not follow a link as last name */
};

#define WFS_WAY_NONE ((struct wfs_way){.above = -1})

/** wfs_way_open() - open the directory above @path, which is canonical
 *  Return: 0, -ELOOP (there is a link on the way), -ENOENT, -ENOSYS (Linux before 5.6), … */
int wfs_way_open(const char *path, struct wfs_way *ret_way);

/** wfs_way_open_above() - the way to what is mounted on an open directory, wherever that is now
 *  @directory: O_PATH is enough. Return: 0, -ENOENT, … */
int wfs_way_open_above(int directory, struct wfs_way *ret_way);

void wfs_way_done(struct wfs_way *way);
#define WFS_AUTO_WAY WFS_CLEANUP(wfs_way_done)

/** wfs_way_directory() - open the canonical directory @path, or what is mounted on it, as O_PATH
 *  Return: a descriptor, or as wfs_way_open. */
int wfs_way_directory(const char *path);

/** wfs_way_link() - a path that leads to what @fd has open, and cannot lead anywhere else. */
void wfs_way_link(int fd, char ret_link[static WFS_WAY_LINK_SIZE]);

/** wfs_way_mounted() - open the root of the topmost mount on the name, which is busy then
 *  No file system is asked for anything that Linux does not know already.
 *  @ret_device: the number by which Linux calls the connection of a FUSE mount
 *  Return: a descriptor, -ENOENT (nothing is mounted there), -ELOOP, … */
int wfs_way_mounted(const struct wfs_way *way, unsigned long *ret_device);

/** wfs_way_error() - tell a user who named @path that a function above has returned @r
 *  @what: a verb, as "unmount". Return: @r. */
int wfs_way_error(struct wfs_error *error, int r, const char *what, const char *path);
