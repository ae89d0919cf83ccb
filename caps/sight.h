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

/* Plain value; between wfs_sight_init() and wfs_sight_done(). */
struct wfs_sight {
	struct wfs_introspect_filter filter; /* first, because callbacks cast back */
	struct wfs_rights *rights;           /* owned */
	enum wfs_origin origin;
	int64_t now_ns;
};

/** wfs_sight_init() - prepare to judge by the rights @rights. @rights: reference taken; @origin:
 *  whence the requests come; @now_ns: wall clock, since 1970, to tell which grants have expired */
void wfs_sight_init(
	struct wfs_sight *sight, struct wfs_rights *rights, enum wfs_origin origin, int64_t now_ns);
void wfs_sight_done(struct wfs_sight *sight);
#define WFS_AUTO_SIGHT WFS_CLEANUP(wfs_sight_done)

/** wfs_sight_filter() - get the filter by which the kernel's introspection leaves out what the
 *  principal does not see. Return: borrowed from @sight; NULL: the principal sees everything. */
const struct wfs_introspect_filter *wfs_sight_filter(const struct wfs_sight *sight);

/** wfs_sight_reducer() - may the principal see the reducer @name, or could it see any of the
 *  reducer's cells? */
bool wfs_sight_reducer(const struct wfs_sight *sight, struct wfs_bytes name);

/** wfs_sight_cell() - may the principal see the cell with the key @key of the reducer named
 *  @reducer? Return: 1, 0, or -ENOMEM. */
int wfs_sight_cell(const struct wfs_sight *sight, struct wfs_bytes reducer, struct wfs_bytes key);

/** wfs_sight_entity() - may the principal see the directory of the entity with the id @id? Return:
 *  1, 0, or -ENOMEM. */
int wfs_sight_entity(const struct wfs_sight *sight, enum wfs_entity entity, struct wfs_bytes id);

/** wfs_sight_entity_file() - may the principal see a file, or the directory `steps` or `entries`,
 *  of the entity with the id @id? An artifact's own rule for its readers is not asked. Return: 1,
 *  0, or -ENOMEM. */
int wfs_sight_entity_file(
	const struct wfs_sight *sight, enum wfs_entity_file file, struct wfs_bytes id);

/** wfs_sight_inner() - may the principal see the file @name in `steps` or `entries` of the entity
 *  with the id @id? Return: 1, 0, or -ENOMEM. */
int wfs_sight_inner(const struct wfs_sight *sight, enum wfs_entity_file directory,
	struct wfs_bytes id, struct wfs_bytes name);

/** wfs_sight_listing() - may the principal list those cells of the reducer named @reducer that it
 *  sees?
 *  @ret_question: what was judged, without the reducer; for wfs_rights_explain()
 *  (kernel/rights/rights.h). Return: the answer, whose code is WFS_OK if the principal may; borrows
 *  from sight->rights. */
struct wfs_verdict wfs_sight_listing(
	const struct wfs_sight *sight, struct wfs_bytes reducer, struct wfs_question *ret_question);
