/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making mounts, with the rights of this process and in its mount namespace: by mount(2) if it has
 * the right, otherwise by fusermount3. A mount is not served until an owner has its descriptor.
 * Source: mount(2), fuse(4), fusermount3(1), fsopen(2).
 */
#pragma once

#include <stdbool.h>

#include "kernel/base/error.h"

/* Option struct: plain value; borrowed. */
struct wfs_make_options {
	const char *path;   /* canonical, a directory */
	const char *source; /* first column of the mount table; any text */
	bool allow_other;
	bool read_only;
};

/** wfs_make_mount() - mount a FUSE file system on a directory
 *  @ret_place: descriptor of the directory under the mount, for wfs_make_undo(); caller closes it;
 *  -1: fusermount3 has made the mount
 *  Return: a descriptor of /dev/fuse (caller closes; the last copy to be closed ends the
 *  connection), -ENOENT (there is no /dev/fuse), -EACCES or -EPERM (this process may not open
 *  /dev/fuse, or not mount on the directory; @error says what would help), -ELOOP (a directory of
 *  the path has become a link), … */
int wfs_make_mount(const struct wfs_make_options *options, int *ret_place, struct wfs_error *error);

/** wfs_make_device() - find Linux's number of the FUSE connection of the mount that was just made
 *  on the directory @place. Return: 0, -ENOENT (the mount is gone), … */
int wfs_make_device(int place, unsigned long *ret_device);

/** wfs_make_undo() - unmount the mount that was just made on the directory @place, wherever this
 *  directory is now. @place: -1: nothing is done */
void wfs_make_undo(int place);

/** wfs_make_detached() - make a mount that is on no directory yet, for wfs_make_attach(); needs
 *  CAP_SYS_ADMIN
 *  @options: `path` is only for messages; `read_only` is ignored
 *  @ret_mount: descriptor of the mount; caller closes
 *  Return: a descriptor of /dev/fuse, as wfs_make_mount(), or -errno. */
int wfs_make_detached(
	const struct wfs_make_options *options, int *ret_mount, struct wfs_error *error);

/** wfs_make_attach() - put a mount of wfs_make_detached() on the directory @path. @mount: its
 *  descriptor, which the caller still closes; @ret_place: as of wfs_make_mount()
 *  Return: 0, -ELOOP (a directory of the path has become a link), … */
int wfs_make_attach(int mount, const char *path, int *ret_place, struct wfs_error *error);

/** wfs_make_is_device() - is @fd a descriptor of /dev/fuse? */
bool wfs_make_is_device(int fd);
