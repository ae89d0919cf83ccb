/* SPDX-License-Identifier: Apache-2.0 */
/* Directories: what is made in them, and removing them. */
#pragma once

/**
 * wfs_directory_remove() - remove a directory and everything in it, not following symlinks
 * Best effort: what cannot be removed stays. It needs no memory, and a child of a process with
 * threads may call it: signal-safety(7).
 */
void wfs_directory_remove(const char *directory);

/**
 * wfs_directory_adopt() - give a new file or directory the owner and group of its world's directory
 * Only root can, and only root needs to: what another user makes belongs to that user. Best effort,
 * because not every file system lets even root do it.
 * @directory_fd: of the world
 * @fd: of what this process has just made; anything else must not be given away
 */
void wfs_directory_adopt(int directory_fd, int fd);

/** wfs_directory_make() - make a directory in a world's directory, unless it is there, and adopt it.
 *  Return: 0 or -errno. */
int wfs_directory_make(int directory_fd, const char *name);

/** wfs_directory_clear() - remove everything in a directory that is open, in the same way. */
void wfs_directory_clear(int fd);
