/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to fs/command/: walks the tree with the verbs fs-list and fs-read.
 *
 * The first answer fixes the height for all later requests, so that a listing, a tree or a search
 * shows one moment.
 */
#pragma once

#include "fs/command/frame/run.h"

/* Plain value: init, then walk, done. */
struct wfs_walk {
	struct wfs_run *run;
	char *at; /* requested consistency; owned; NULL: head, not fixed yet */
};

/** wfs_walk_init() - prepare to read the tree at the height that --at gives, or else the head
 *  @path: that will be read; if it is below at/, it names a height, so --at is misuse
 *  Return: 0, -EINVAL (misuse, with the run's error), -ENOMEM. */
int wfs_walk_init(struct wfs_walk *walk, struct wfs_run *run, const char *path);
void wfs_walk_done(struct wfs_walk *walk);
#define WFS_AUTO_WALK WFS_CLEANUP(wfs_walk_done)

/** wfs_walk_payload() - make {path, at?}, the payload of a verb that reads @path.
 *  Return: new reference, NULL without memory. */
json_t *wfs_walk_payload(const struct wfs_walk *walk, const char *path);

/** wfs_walk_call() - send a verb that reads a path, wait for the answer, and set the height of all
 *  later requests to that of the answer. @payload: taken; @ret_result: caller owns it
 *  Return: 0, or -errno with the run's error. */
int wfs_walk_call(struct wfs_walk *walk, const char *verb, json_t *payload, json_t **ret_result);

/** wfs_walk_names() - call @each for the names in the directory @path
 *  @each: gets @context, the path of an entry, and the entry as fs-list gives it; may use the walk,
 *  too; returns 0, or another value to stop
 *  Return: 0, what @each has returned, or -errno with the run's error. */
int wfs_walk_names(struct wfs_walk *walk, const char *path,
	int (*each)(void *context, const char *path, const json_t *entry), void *context);

/** wfs_walk_is() - has an entry of fs-list, or an answer of fs-stat, this type: "file", "directory"
 *  or "symlink"? */
bool wfs_walk_is(const json_t *entry, const char *type);

/** wfs_walk_read() - call @each for the parts of the file @path, in order
 *  @each: gets @context and a part, borrowed; returns 0, or another value to stop
 *  Return: 0, what @each has returned, or -errno with the run's error. */
int wfs_walk_read(struct wfs_walk *walk, const char *path,
	int (*each)(void *context, struct wfs_bytes part), void *context);

/** wfs_walk_keep() - append @part to @context, a struct wfs_buffer; a function for
 *  `each` of wfs_walk_read(). Return: 0, or -errno. */
int wfs_walk_keep(void *context, struct wfs_bytes part);

/** wfs_walk_write() - write @part to @context, a FILE; a function for `each` of wfs_walk_read().
 *  Return: 0, or -errno. */
int wfs_walk_write(void *context, struct wfs_bytes part);

/** wfs_walk_print() - print the whole file @path, byte for byte, or with --json as {data_b64,
 *  size}. Return: 0, or -errno, with the run's error unless printing has failed. */
int wfs_walk_print(struct wfs_walk *walk, const char *path);
