/* SPDX-License-Identifier: Apache-2.0 */
/* Private to fs/data/notify*.c. If a function here fails, its caller must return the error at once:
 * see teller.h. */
#pragma once

#include "fs/data/notify.h"

/** notify_known() - the result of a notification, in which -ENOENT becomes 0: Linux has cached
 *  nothing of a name or inode that it does not know. */
int notify_known(int r);

/** notify_name() - have Linux drop a name of a directory. */
int notify_name(struct wfs_notify *notify, uint64_t directory, const char *name, size_t size);

/** notify_listing() - have Linux drop the cached listing and attributes of a directory. */
int notify_listing(struct wfs_notify *notify, uint64_t directory);

/** notify_again() - should the caller try again after the error @r? If so, wait a moment and count
 *  one of
 *  @tries. */
bool notify_again(int r, unsigned int *tries);

/** notify_view() - open a view of the head. The caller closes it before any notification. */
int notify_view(struct wfs_notify *notify, struct wfs_view *ret_view);

bool notify_names_changed(const struct wfs_change *change);

/* Looks at something in a view of its own. */
typedef int notify_look_fn(struct wfs_notify *notify, struct wfs_view *view, void *context);

/** notify_look() - call @each with a view of @height, a few times if memory is short. Return: as
 *  @each, … */
int notify_look(struct wfs_notify *notify, uint64_t height, notify_look_fn *each, void *context);

/* --- notify-inner.c: directories within that of an artifact or a plan --- */

/* Notifies Linux of changes in `steps` of a plan, or in `entries` of a memory store. Plain value;
 * begin, end. */
struct notify_inner {
	enum wfs_entity_file directory;
	struct wfs_bytes
		id; /* of the plan or the artifact, borrowed from the commit; of size 0: none yet */
	struct wfs_bytes key; /* of the step at hand */
	uint64_t ino;         /* of the directory; 0: it has none, or Linux does not know it */
	bool listing;         /* names in it were added or removed */
};

/** notify_step() - notify of a changed step of a plan. */
int notify_step(
	struct wfs_notify *notify, const struct wfs_change *change, struct notify_inner *steps);

/** notify_entry() - notify of a changed entry of a memory store. */
int notify_entry(
	struct wfs_notify *notify, const struct wfs_change *change, struct notify_inner *entries);

/** notify_store() - notify of a changed cell of a memory store. */
int notify_store(
	struct wfs_notify *notify, const struct wfs_change *change, struct notify_inner *entries);

/** notify_inner_end() - called after the last change in a directory. */
int notify_inner_end(struct wfs_notify *notify, struct notify_inner *inner);

/** notify_store_type() - notify of an artifact that became a memory store, or is not one any more
 *  @artifact_ino: of its directory */
int notify_store_type(struct wfs_notify *notify, const struct wfs_commit *commit,
	struct wfs_bytes id, uint64_t artifact_ino);

/* --- notify-entity.c: artifacts, principals and turns --- */

/** notify_entities() - notify of their changes in a commit. */
int notify_entities(struct wfs_notify *notify, const struct wfs_commit *commit);

/** notify_grants() - have Linux drop the name of each principal's `grants.json` at the head. Called
 *  after heights were dropped: the file's inode number has the height at which it was looked up
 *  (fs/tree/ino.h), which may be one of these. */
int notify_grants(struct wfs_notify *notify);
