/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening the files of a world's directory, which somebody else may have made.
 *
 * A symbolic link in the place of a file would lead reads and writes out of the directory, and
 * opening a FIFO would wait for ever. So every file is opened without following links and without
 * waiting, and must be a regular file. The directory itself may be reached through links.
 *
 * Directory and file must be owned by the user who opens the file, or by root. LMDB keeps mutexes
 * in lock.mdb and believes what both of its files say, so their owner has power over each process
 * that maps them. Root, too, does not open worlds of other users.
 * Source: docs/decisions/0025-consent.md
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "kernel/base/error.h"

/** wfs_world_file_open() - open a file in a world's directory
 *  @directory: its path. @name: without a slash
 *  @flags: of open(2); with O_CREAT the file gets mode 0600
 *  Return: a descriptor, -EINVAL (invalid_argument: says what is in the place of a regular file),
 *  -EACCES (not_authorized: says whose file it is), or another -errno. All fill @error. */
int wfs_world_file_open(
	const char *directory, const char *name, int flags, struct wfs_error *error);

/** wfs_world_directory_check() - check that this user, or root, owns a directory, so that its files
 *  may be used. @directory: its path, for messages
 *  Return: 0, -EACCES (not_authorized: the directory is another user's), or another -errno; all
 *  fill @error. */
int wfs_world_directory_check(int directory_fd, const char *directory, struct wfs_error *error);

/** wfs_world_file_open_at() - do wfs_world_file_open() in the open directory @directory_fd
 *  @directory: its path, for messages. Return: as wfs_world_file_open(). */
int wfs_world_file_open_at(int directory_fd, const char *directory, const char *name, int flags,
	struct wfs_error *error);

/*
 * A file in a world's directory says that the timers of the world do not fire: a restored world is
 * a copy, and the original may be at work. The user lets them fire with `worldfs trust`.
 */
#define WFS_TIMERS_PAUSED "timers-paused"

/** wfs_timers_pause() - make the file WFS_TIMERS_PAUSED in the world's directory @directory, if it
 *  does not exist. Return: 0, or -errno with @error. */
int wfs_timers_pause(const char *directory, struct wfs_error *error);

/** wfs_timers_paused() - does @directory have the file WFS_TIMERS_PAUSED? */
bool wfs_timers_paused(const char *directory);

/** wfs_timers_resume() - remove the file WFS_TIMERS_PAUSED from @directory, if it exists.
 *  Return: 0, or -errno with @error. */
int wfs_timers_resume(const char *directory, struct wfs_error *error);

/** wfs_file_kind_name() - Return: words for the kind of file that the st_mode @mode says, for
 *  messages, e.g. "a symbolic link"; static. */
const char *wfs_file_kind_name(mode_t mode);

/** wfs_beneath_open() - open a path within a directory, without following symbolic links in any
 *  part of the path. @path: must not have `..`, which is not checked
 *  @flags: of open(2); with O_CREAT the file gets mode 0600. Without O_DIRECTORY the path must lead
 *  to a regular file.
 *  Return: a descriptor, -ELOOP or -ENOTDIR (a part of the path is a link), -EINVAL (not a regular
 *  file), or another -errno. */
int wfs_beneath_open(int directory_fd, const char *path, int flags);
