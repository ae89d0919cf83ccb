/* SPDX-License-Identifier: Apache-2.0 */
/* Private to fs/data/notify*.c. Functions here return 0 or -errno, if they do not say otherwise;
 * also 0 if Linux does not know a name or inode that it shall drop. If one fails, its caller must
 * return the error at once, see wfs_teller_run() (fs/data/teller.h). Those that have Linux drop
 * something are called in a job of the teller. An *entity* is an artifact, principal, turn, plan,
 * or what domains add (fs/tree/ino.h). Directories such as `steps` are those within that of an
 * entity. */
#pragma once

#include "fs/data/notify.h"
#include "kernel/manifest/entity-table.h"

/** notify_known() - return @r, the result of a notification, but 0 if it is -ENOENT: Linux has
 *  cached nothing of a name or inode that it does not know. */
int notify_known(int r);

/** notify_name() - have Linux drop the name @name, of @size bytes, from its cache of @directory, an
 *  inode number. */
int notify_name(struct wfs_notify *notify, uint64_t directory, const char *name, size_t size);

/** notify_listing() - have Linux drop the cached listing and attributes of the directory with this
 *  inode number. */
int notify_listing(struct wfs_notify *notify, uint64_t directory);

/** notify_again() - should the caller try again to read what it has just tried to read with the
 *  result @r? If so, because memory is short or all views are in use (-ENOMEM, -EAGAIN), this
 *  function waits a moment before it returns. @tries: set to 0 by the caller before it reads for
 *  the first time; counts the calls; after some calls the answer is no
 *  Return: true: try again; false also if @r is 0. */
bool notify_again(int r, unsigned int *tries);

/** notify_view() - open a view of the head. @ret_view: set on success; caller closes it with
 *  wfs_session_view_close() (caps/session-read.h), before any notification */
int notify_view(struct wfs_notify *notify, struct wfs_view *ret_view);

/** notify_names_changed() - has the change made or deleted the cell, and so added or removed a
 *  name? */
bool notify_names_changed(const struct wfs_change *change);

/* Looks at something in a view of its own. */
typedef int notify_look_fn(struct wfs_notify *notify, struct wfs_view *view, void *context);

/** notify_look() - open a view of @height, call @each with this view and @context, and close the
 *  view; repeat all this as long as notify_again() says so, so @each may be called several times.
 *  Return: what @each has returned, or -errno of opening the view. */
int notify_look(struct wfs_notify *notify, uint64_t height, notify_look_fn *each, void *context);

/* --- notify-item.c: directories within that of an entity --- */

/* Notifies Linux of changes in directories of one kind, such as `steps` of plans. Plain value;
 * zero-initialise, set `directory`; then call notify_item() or notify_items_begin() for each
 * change, and notify_items_end(). */
struct notify_items {
	enum wfs_entity_file directory;
	struct wfs_bytes id; /* of the entity, borrowed from the commit; of size 0: none yet */
	uint64_t ino;        /* of the directory; 0: it has none, or Linux does not know it */
	bool listing;        /* names in it were added or removed */
};

/** notify_item() - have Linux drop what is outdated because @change has changed the cell of a file
 *  in a directory of the kind items->directory. @items: one struct for all changes of a commit in
 *  directories of this kind */
int notify_item(
	struct wfs_notify *notify, const struct wfs_change *change, struct notify_items *items);

/** notify_items_begin() - have Linux drop the attributes of the directory items->directory of the
 *  entity with the id @id, because the directory's time has changed; does nothing if @items is
 *  about @id already
 *  @items: as for notify_item(); if @items is about another entity, notify_items_end() is called
 *  for that entity first */
int notify_items_begin(struct wfs_notify *notify, struct wfs_bytes id, struct notify_items *items);

/** notify_items_end() - have Linux drop the listing of the directory that @items is about, if its
 *  names have changed; called after the last change in this directory. */
int notify_items_end(struct wfs_notify *notify, struct notify_items *items);

/** notify_store_type() - have Linux drop the name `entries` of an artifact, if the artifact has
 *  become a memory store in this commit, or is not one any more; and the attributes of the
 *  directory `entries`, if the artifact is or was a store
 *  @id: of the artifact; @artifact_ino: inode number of its directory */
int notify_store_type(struct wfs_notify *notify, const struct wfs_commit *commit,
	struct wfs_bytes id, uint64_t artifact_ino);

/* --- notify-entity.c: artifacts, principals, turns and plans --- */

/** notify_entities() - have Linux drop what a commit has made outdated in the directories of
 *  artifacts, principals, turns, plans, and what domains add (the entities, fs/tree/ino.h). */
int notify_entities(struct wfs_notify *notify, const struct wfs_commit *commit);

/** notify_events() - have Linux drop the pages of `events.jsonl` of each turn whose cell, which
 *  counts the turn's events, has changed. No names are dropped: look-ups of these files may be
 *  waiting. */
int notify_events(struct wfs_notify *notify, const struct wfs_commit *commit);

/** notify_private_texts() - have Linux drop the pages and listings of all nodes that Linux knows
 *  and for which wfs_tree_is_private() (fs/tree/tree.h) is true, because the principal may read
 *  other private texts than before, or some texts are gone. */
int notify_private_texts(struct wfs_notify *notify);

/** notify_grants() - have Linux drop the name of each principal's `grants.json` at the head. Called
 *  after heights were dropped: the file's inode number has the height at which the file was looked
 *  up (fs/tree/ino.h), and this height may have been dropped. */
int notify_grants(struct wfs_notify *notify);
