/* SPDX-License-Identifier: Apache-2.0 */
/* Making directories, and removing them with everything in them. */
#pragma once

/** wfs_directory_remove() - remove a directory, if it exists, and everything in it, not following
 *  symbolic links
 *  Files that cannot be removed stay, without an error. Allocates nothing, so that a process that
 *  was forked from one with threads may call this function: signal-safety(7). */
void wfs_directory_remove(const char *directory);

/** wfs_directory_make() - make the directory @name, of mode 0700 less the umask, in an open
 *  directory. Return: 0 (also if anything of this name exists, even a file), or -errno. */
int wfs_directory_make(int directory_fd, const char *name);

/** wfs_directory_clear() - remove everything in the directory @fd, not following symbolic links
 *  Files that cannot be removed stay, without an error. @fd: open for reading, and stays open */
void wfs_directory_clear(int fd);
