/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which reducers and cells of the tree a principal's rights show at one moment, by grants and
 * policy together.
 *
 * A cell is seen if its path is covered and the policy allows introspect.reducer_state for its
 * reducer; a reducer is seen if any path in it could be covered and the policy allows that or
 * introspect.list_cells. Listing is judged separately. An *entity* is an artifact, principal, turn
 * or plan as a directory: its path must be covered, and the policy is asked about the reducer that
 * a file is made from. The same rules serve paths of the tree, introspection, and what reducers ask
 * for.
 * Thread: any; one at a time.
 */
#pragma once

#include "kernel/read/entity.h"
#include "kernel/read/introspect.h"
#include "kernel/rights/rights.h"

/* Plain value; init, use, done. */
struct wfs_sight {
	struct wfs_introspect_filter filter; /* first, because callbacks cast back */
	struct wfs_rights *rights;           /* owned */
	enum wfs_origin origin;
	int64_t now_ns;
};

/** wfs_sight_init() - prepare to judge by these rights. @rights: taken; @origin: of the requests;
 *  @now_ns: wall clock, to tell which grants have expired */
void wfs_sight_init(
	struct wfs_sight *sight, struct wfs_rights *rights, enum wfs_origin origin, int64_t now_ns);
void wfs_sight_done(struct wfs_sight *sight);
#define WFS_AUTO_SIGHT WFS_CLEANUP(wfs_sight_done)

/** wfs_sight_filter() - get the filter by which the kernel's introspection leaves out what is not
 *  seen. Return: borrowed from @sight; NULL: everything is seen. */
const struct wfs_introspect_filter *wfs_sight_filter(const struct wfs_sight *sight);

/** wfs_sight_reducer() - may the principal see a reducer, or any of its cells? */
bool wfs_sight_reducer(const struct wfs_sight *sight, struct wfs_bytes name);

/** wfs_sight_cell() - may the principal see a cell? Return: 1, 0, or -ENOMEM. */
int wfs_sight_cell(const struct wfs_sight *sight, struct wfs_bytes reducer, struct wfs_bytes key);

/** wfs_sight_entity() - may the principal see the directory of an artifact, a principal, a turn or
 *  a plan? Return: 1, 0, or -ENOMEM. */
int wfs_sight_entity(const struct wfs_sight *sight, enum wfs_entity entity, struct wfs_bytes id);

/** wfs_sight_entity_file() - is a file of an entity, or its directory `steps` or `entries`, seen?
 *  An artifact's own rule for its readers is not asked. Return: 1, 0, or -ENOMEM. */
int wfs_sight_entity_file(
	const struct wfs_sight *sight, enum wfs_entity_file file, struct wfs_bytes id);

/** wfs_sight_inner() - is a file in `steps` or `entries` of the entity @id seen? @name: of the
 *  file. Return: 1, 0, or -ENOMEM. */
int wfs_sight_inner(const struct wfs_sight *sight, enum wfs_entity_file directory,
	struct wfs_bytes id, struct wfs_bytes name);

/** wfs_sight_listing() - may the cells of a reducer, some of which are seen, be listed?
 *  @ret_question: what was judged, without the reducer; for wfs_rights_explain()
 *  (kernel/rights/rights.h). Return: its code is WFS_OK if they may; borrows from sight->rights. */
struct wfs_verdict wfs_sight_listing(
	const struct wfs_sight *sight, struct wfs_bytes reducer, struct wfs_question *ret_question);
