/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listing ahead: inodes made before they are looked up.
 *
 * For an entry that comes with attributes Linux makes an inode and a name, which takes ten times
 * as long as listing the name alone; without them, a process that goes on to open the files pays a
 * look-up for each. So a large directory is listed without, and when look-ups follow, a child
 * process lists the same directory through the mount, one window after the other, and is the only
 * one to get the attributes: the inodes are made on another processor while the scan goes on. Of
 * each window one entry is left without; its look-up tells that the scan has come so far.
 *
 * It is a process, because no thread of the daemon may wait for the daemon's own mount: killed in
 * that wait, it would keep the connection open and wait for ever. The child has no descriptor of the
 * daemon's, and lives for one window.
 * Source: docs/decisions/0005-listings-with-attributes.md; request_wait_answer() and
 * fuse_direntplus_link() in Linux fs/fuse.
 * Thread: any.
 */
#pragma once

#include "fs/data/teller.h"
#include "fs/tree/tree.h"

struct wfs_listahead;

/** wfs_listahead_new() - @tree, @numbers, @teller, @mount (path of the mount point; NULL: nothing is
 *  listed ahead): borrowed until stop.
 *  Return: 0, -ENOMEM, -EAGAIN (no thread to be had). */
int wfs_listahead_new(const struct wfs_tree *tree, const struct wfs_numbers *numbers,
	struct wfs_teller *teller, const char *mount, struct wfs_listahead **ret_listahead);

/** wfs_listahead_stop() - end the thread and its child, once; while requests are still served,
 *  for which the child may wait. */
void wfs_listahead_stop(struct wfs_listahead *listahead);

/** wfs_listahead_free() - when requests come no more; accepts NULL. */
void wfs_listahead_free(struct wfs_listahead *listahead);

/** wfs_listahead_pause() - end a child at work, which keeps the mount busy, and begin no other. */
void wfs_listahead_pause(struct wfs_listahead *listahead);
void wfs_listahead_resume(struct wfs_listahead *listahead);

/** wfs_listahead_listed() - somebody begins to list a directory and is given no attributes. */
void wfs_listahead_listed(struct wfs_listahead *listahead, uint64_t directory);

/** wfs_listahead_looked_up() - a name of this directory was looked up and found.
 *  @next: offset in the directory behind it */
void wfs_listahead_looked_up(struct wfs_listahead *listahead, uint64_t directory, uint64_t next);

/** wfs_listahead_asks() - is the child the one who asks for a listing? */
bool wfs_listahead_asks(struct wfs_listahead *listahead, pid_t pid);

/**
 * wfs_listahead_take() - one more entry for the child
 * @next: offset in the directory behind the entry
 * @ret_plain: leave its attributes out
 * Return: false when the window is full; the entry is not for this child.
 */
bool wfs_listahead_take(struct wfs_listahead *listahead, uint64_t next, bool *ret_plain);

/** wfs_listahead_end() - the child was given the last entry of the directory. */
void wfs_listahead_end(struct wfs_listahead *listahead);
