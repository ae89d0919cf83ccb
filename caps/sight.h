/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What rights show of the tree at one moment: reducers and cells, by grants and policy together.
 *
 * A cell is seen when its path is covered and the policy allows introspect.reducer_state for its
 * reducer; a reducer when anything in it could be covered and the policy allows that or
 * introspect.list_cells. Listing is a question of its own. Of artifacts, principals, turns and plans as
 * directories the path there is asked for, and the policy for the reducer that a file is made from. The
 * same rules serve paths of the tree, introspection, and what reducers ask for.
 * Thread: any; one at a time.
 */
#pragma once

#include "kernel/domain/entity/entity.h"
#include "kernel/read/introspect.h"
#include "kernel/rights/rights.h"

/* Plain value; init, use, done. */
struct wfs_sight {
	struct wfs_introspect_filter filter; /* first: callbacks cast back */
	struct wfs_rights *rights;           /* owned */
	enum wfs_origin origin;
	int64_t now_ns;
};

/** wfs_sight_init() - @rights: taken; @now_ns: of the host's clock, for what has expired. */
void wfs_sight_init(
	struct wfs_sight *sight, struct wfs_rights *rights, enum wfs_origin origin, int64_t now_ns);
void wfs_sight_done(struct wfs_sight *sight);
#define WFS_AUTO_SIGHT WFS_CLEANUP(wfs_sight_done)

/** wfs_sight_filter() - for the kernel's adapter; NULL: everything is seen. */
const struct wfs_introspect_filter *wfs_sight_filter(const struct wfs_sight *sight);

/** wfs_sight_reducer() - is it seen, or some of its cells? */
bool wfs_sight_reducer(const struct wfs_sight *sight, struct wfs_bytes name);

/** wfs_sight_cell() - is it seen? Return: 1, 0, or -ENOMEM. */
int wfs_sight_cell(const struct wfs_sight *sight, struct wfs_bytes reducer, struct wfs_bytes key);

/** wfs_sight_entity() - is the directory of one of them seen? Return: as above. */
int wfs_sight_entity(const struct wfs_sight *sight, enum wfs_entity entity, struct wfs_bytes id);

/** wfs_sight_entity_file() - the same of a file there, of `steps` and `entries` as directories. What its
 *  artifact says is another matter. */
int wfs_sight_entity_file(
	const struct wfs_sight *sight, enum wfs_entity_file file, struct wfs_bytes id);

/** wfs_sight_inner() - the same of a file in such a directory. @name: of the file */
int wfs_sight_inner(const struct wfs_sight *sight, enum wfs_entity_file directory,
	struct wfs_bytes id, struct wfs_bytes name);

/**
 * wfs_sight_listing() - may the cells of a reducer, of which some are seen, be listed?
 * @ret_question: that the verdict answers, for wfs_rights_explain
 */
struct wfs_verdict wfs_sight_listing(
	const struct wfs_sight *sight, struct wfs_bytes reducer, struct wfs_question *ret_question);
