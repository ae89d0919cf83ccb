/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listings: walks over those cells, or entities (caps/session-entity.h), that a session sees.
 */
#pragma once

#include "kernel/manifest/entity-table.h"
#include "kernel/read/view.h"

struct wfs_session;
struct wfs_sight;

/* A walk over cells or entities that a session sees, in the order in which their cells were made.
 * Begin with wfs_session_cells() or wfs_session_entities(). */
struct wfs_session_walk {
	struct wfs_entry_walk entries;
	struct wfs_sight *sight;  /* owned */
	struct wfs_bytes reducer; /* its name, borrowed until the view is closed */
	enum wfs_entity entity;   /* for a walk over entities; WFS_ENTITIES_MAX: over cells */
	bool sees_directory;      /* the session sees the directory of the last entry */
	bool sees_beside;         /* it sees the file beside this directory (ID.json of a plan) */
	uint64_t looked_at;       /* entries so far, those that are not seen included */
	uint64_t look_max;        /* the walk ends after so many; 0: no bound; set by the caller */
	uint64_t cell_id;         /* of the last entry that was looked at */
};
/** wfs_session_cells() - begin a walk over those cells of a reducer that the session sees.
 *  @after_id: the walk begins after the cell with this number; 0: with the oldest. @ret_walk: set
 *  on success; caller ends it with wfs_session_walk_done(). @error: filled if listing is refused;
 *  may be NULL
 *  Return: 0, -EACCES (listing is refused), -ENOENT (no such reducer), … */
int wfs_session_cells(const struct wfs_session *session, struct wfs_view *view, uint32_t reducer_id,
	uint64_t after_id, struct wfs_session_walk *ret_walk, struct wfs_error *error);
/** wfs_session_walk_next() - get the next cell or entity of a walk. @ret_entry: valid if the answer
 *  is 1; its key is borrowed until the next call.
 *  Return: 1, 0 (no more, or walk->look_max is reached), or -errno. */
int wfs_session_walk_next(struct wfs_session_walk *walk, struct wfs_entry *ret_entry);
/** wfs_session_walk_cut() - has the walk ended because walk->look_max is reached? A walk after the
 *  cell walk->cell_id may find more. */
static inline bool wfs_session_walk_cut(const struct wfs_session_walk *walk)
{
	return walk->look_max > 0 && walk->looked_at == walk->look_max;
}
void wfs_session_walk_done(struct wfs_session_walk *walk);
#define WFS_AUTO_SESSION_WALK WFS_CLEANUP(wfs_session_walk_done)

/** wfs_session_entities() - begin a walk over those entities of the kind @entity whose directory,
 *  or the file beside it (ID.json of a plan), the session sees; wfs_session_walk_next() gets them.
 *  @after_id, @ret_walk, @error: as for wfs_session_cells(). Return: 0, -EACCES (listing is
 *  refused), … */
int wfs_session_entities(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity entity, uint64_t after_id, struct wfs_session_walk *ret_walk,
	struct wfs_error *error);

/** wfs_session_lists() - may the session list directories such as `steps` or `entries` of entities
 *  that it sees? @directory: of which name. @error: filled on -EACCES; may be NULL. Return: 0
 *  (yes), -EACCES (no; counted), -ENOMEM. */
int wfs_session_lists(
	const struct wfs_session *session, enum wfs_entity_file directory, struct wfs_error *error);
