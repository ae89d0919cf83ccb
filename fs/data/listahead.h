/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listing ahead: has Linux make inodes before they are looked up.
 *
 * For an entry that comes with attributes Linux makes an inode and a name, which takes ten times as
 * long as listing the name alone. Without attributes, a process that then opens the files waits for
 * a look-up of each. So a large directory is listed without attributes. When look-ups follow, a
 * child process lists the same directory through the mount, one window after the other, and only
 * this child gets attributes:
 * so Linux makes the inodes on another processor while the scan goes on. One entry of each window
 * is left without attributes; its look-up shows how far the scan has come.
 *
 * The child is a process, because no thread of the daemon may wait for the daemon's own mount: if
 * it were killed in that wait, it would keep the connection open and wait for ever. The child has
 * no descriptor of the daemon, and lives for one window. Inode numbers and offsets are ours here,
 * not Linux's (fs/data/numbers.h).
 * Source: docs/decisions/0005-listings-with-attributes.md; request_wait_answer() and
 * fuse_direntplus_link() in Linux fs/fuse.
 * Thread: any.
 */
#pragma once

#include "fs/data/teller.h"
#include "fs/tree/tree.h"

struct wfs_listahead;

/** wfs_listahead_new() - start the thread that has children list ahead
 *  @mount: path of the mount point; NULL: nothing is listed ahead
 *  @ret_listahead: set on success; caller frees it with wfs_listahead_free()
 *  @tree, @numbers, @teller, @mount: borrowed until wfs_listahead_stop() has returned
 *  Return: 0, -ENOMEM, -EAGAIN (no thread can be started). */
int wfs_listahead_new(const struct wfs_tree *tree, const struct wfs_numbers *numbers,
	struct wfs_teller *teller, const char *mount, struct wfs_listahead **ret_listahead);

/** wfs_listahead_stop() - end the thread and its child; called once, while requests are still
 *  served, because the child may wait for one. */
void wfs_listahead_stop(struct wfs_listahead *listahead);

/** wfs_listahead_free() - release the memory, after wfs_listahead_stop() and after the last
 *  request; accepts NULL. */
void wfs_listahead_free(struct wfs_listahead *listahead);

/** wfs_listahead_pause() - end the child, which keeps the mount busy, wait until it has ended, and
 *  start no other until wfs_listahead_resume(). */
void wfs_listahead_pause(struct wfs_listahead *listahead);
void wfs_listahead_resume(struct wfs_listahead *listahead);

/** wfs_listahead_listed() - note that a process begins to list @directory, an inode number, and
 *  gets only names, without attributes: look-ups may follow. */
void wfs_listahead_listed(struct wfs_listahead *listahead, uint64_t directory);

/** wfs_listahead_looked_up() - note that a name in @directory, an inode number, was looked up and
 *  found. @next: offset in the directory (as of getdents(2)) after this name */
void wfs_listahead_looked_up(struct wfs_listahead *listahead, uint64_t directory, uint64_t next);

/** wfs_listahead_asks() - is the process @pid, which requests a listing, the child that lists
 *  ahead? */
bool wfs_listahead_asks(struct wfs_listahead *listahead, pid_t pid);

/** wfs_listahead_take() - decide whether the listing that the child reads gets one more entry
 *  @next: offset in the directory after the entry
 *  @ret_plain: true: the entry is to be given without attributes
 *  Return: false: the window is full, and the listing ends before the entry. */
bool wfs_listahead_take(struct wfs_listahead *listahead, uint64_t next, bool *ret_plain);

/** wfs_listahead_end() - note that the child has got the last entry of the directory. */
void wfs_listahead_end(struct wfs_listahead *listahead);
