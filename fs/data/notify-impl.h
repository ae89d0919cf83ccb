/* SPDX-License-Identifier: Apache-2.0 */
/* Private to fs/data/notify*.c. What these return but 0, their callers return at once: teller.h. */
#pragma once

#include "fs/data/notify.h"

/** notify_known() - of what nobody has looked up nothing is cached. */
int notify_known(int r);

/** notify_name() - drop a name. */
int notify_name(struct wfs_notify *notify, uint64_t directory, const char *name, size_t size);

/** notify_listing() - drop a directory's cached listing and attributes. */
int notify_listing(struct wfs_notify *notify, uint64_t directory);

/** notify_again() - wait a moment if @r calls for another of the @tries. */
bool notify_again(int r, unsigned int *tries);

/** notify_view() - the head. No view is held while Linux is told something. */
int notify_view(struct wfs_notify *notify, struct wfs_view *ret_view);

bool notify_names_changed(const struct wfs_change *change);

/* Looks at something in a view of its own. */
typedef int notify_look_fn(struct wfs_notify *notify, struct wfs_view *view, void *context);

/** notify_look() - and again when there is no memory for it. Return: what @each returned, … */
int notify_look(struct wfs_notify *notify, uint64_t height, notify_look_fn *each, void *context);

/* --- notify-inner.c: directories within that of one --- */

/* `steps` of a plan or `entries` of a memory store, whose changes are told. Plain value; begin, end. */
struct notify_inner {
	enum wfs_entity_file directory;
	struct wfs_bytes
		id; /* of the plan or the artifact, borrowed from the commit; of size 0: none yet */
	struct wfs_bytes key; /* of the step at hand */
	uint64_t ino;         /* 0: it has none, or Linux does not know it */
	bool listing;         /* names came or went in it */
};

/** notify_step() - one of a plan was changed. */
int notify_step(
	struct wfs_notify *notify, const struct wfs_change *change, struct notify_inner *steps);

/** notify_entry() - one of a memory store was. */
int notify_entry(
	struct wfs_notify *notify, const struct wfs_change *change, struct notify_inner *entries);

/** notify_store() - what is known of a memory store was changed. */
int notify_store(
	struct wfs_notify *notify, const struct wfs_change *change, struct notify_inner *entries);

/** notify_inner_end() - behind the last change in it. */
int notify_inner_end(struct wfs_notify *notify, struct notify_inner *inner);

/**
 * notify_store_type() - an artifact was changed: did it become a memory store, or is it none any more?
 * @artifact_ino: of its directory
 */
int notify_store_type(struct wfs_notify *notify, const struct wfs_commit *commit,
	struct wfs_bytes id, uint64_t artifact_ino);

/* --- notify-entity.c: artifacts, principals and turns --- */

/** notify_entities() - what a commit has changed of them. */
int notify_entities(struct wfs_notify *notify, const struct wfs_commit *commit);

/** notify_grants() - heights were dropped: each `grants.json` at the head may be of one of them
 *  (fs/tree/ino.h). */
int notify_grants(struct wfs_notify *notify);
