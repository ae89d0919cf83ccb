/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to fs/command/: walking the tree through the verbs fs-list and fs-read.
 *
 * The first answer fixes the height, and everything after it is read at that one, so that a
 * listing, a tree or a search shows one moment.
 */
#pragma once

#include "fs/command/frame/run.h"

/* Plain value: init, then walk, done. */
struct wfs_walk {
	struct wfs_run *run;
	char *at; /* consistency to ask for; owned; NULL: head, not fixed yet */
};

/** wfs_walk_init() - begin at --at, or at the head
 *  @path: where it goes; below at/ a height is named already, and --at is misuse */
int wfs_walk_init(struct wfs_walk *walk, struct wfs_run *run, const char *path);
void wfs_walk_done(struct wfs_walk *walk);
#define WFS_AUTO_WALK WFS_CLEANUP(wfs_walk_done)

/** wfs_walk_payload() - {path, at?}: new reference, NULL without memory. */
json_t *wfs_walk_payload(const struct wfs_walk *walk, const char *path);

/** wfs_walk_call() - one request about a path; takes @payload. Fixes the height. */
int wfs_walk_call(struct wfs_walk *walk, const char *verb, json_t *payload, json_t **ret_result);

/**
 * wfs_walk_names() - the names in a directory
 * @each: told each entry and its path; may itself walk; Return: 0, or anything else that ends it
 */
int wfs_walk_names(struct wfs_walk *walk, const char *path,
	int (*each)(void *context, const char *path, const json_t *entry), void *context);

/** wfs_walk_is() - is an entry of fs-list or an answer of fs-stat of this type? */
bool wfs_walk_is(const json_t *entry, const char *type);

/**
 * wfs_walk_read() - the bytes of a file, in parts
 * @each: Return: 0, or anything else that ends it
 */
int wfs_walk_read(struct wfs_walk *walk, const char *path,
	int (*each)(void *context, struct wfs_bytes part), void *context);

/** wfs_walk_keep() - an @each of wfs_walk_read(): append the part to a struct wfs_buffer, its context. */
int wfs_walk_keep(void *context, struct wfs_bytes part);

/** wfs_walk_print() - a whole file: its exact bytes, or with --json {data_b64, size}. */
int wfs_walk_print(struct wfs_walk *walk, const char *path);
