/* SPDX-License-Identifier: Apache-2.0 */
/* Directories: what is made in them, and removing them. */
#pragma once

/**
 * wfs_directory_remove() - remove a directory and everything in it, not following symlinks
 * Best effort: what cannot be removed stays. It needs no memory, and a child of a process with
 * threads may call it: signal-safety(7).
 */
void wfs_directory_remove(const char *directory);

/** wfs_directory_make() - make a directory in a world's directory, unless it is there.
 *  Return: 0 or -errno. */
int wfs_directory_make(int directory_fd, const char *name);

/** wfs_directory_clear() - remove everything in a directory that is open, in the same way. */
void wfs_directory_clear(int fd);
