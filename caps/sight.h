/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What rights show of the tree at one moment: reducers and cells, by grants and policy together.
 *
 * A cell is seen when its path is covered and the policy allows introspect.reducer_state for its
 * reducer; a reducer when anything in it could be covered and the policy allows that, or to list its
 * cells. Listing them is a question of its own. The same rules serve paths of the tree,
 * introspection, and what reducers ask for.
 * Thread: any; one at a time.
 */
#pragma once

#include "caps/rights.h"
#include "kernel/introspect.h"

/* Plain value; init, use, done. */
struct caps_sight {
	struct wfs_sight sight;    /* first: for the kernel, callbacks cast back */
	struct wfs_rights *rights; /* owned */
	enum wfs_origin origin;
	int64_t now_ns;
};

/** caps_sight_init() - @rights: taken. */
void caps_sight_init(struct caps_sight *sight, struct wfs_rights *rights, enum wfs_origin origin,
	int64_t now_ns);
void caps_sight_done(struct caps_sight *sight);
#define CAPS_AUTO_SIGHT WFS_CLEANUP(caps_sight_done)

/** caps_sight_kernel() - for the kernel's adapter; NULL: everything is seen. */
const struct wfs_sight *caps_sight_kernel(const struct caps_sight *sight);

bool caps_sight_manifest(const struct caps_sight *sight);
bool caps_sight_reducer(const struct caps_sight *sight, struct wfs_bytes name);

/** caps_sight_cell() - Return: 1, 0, or -ENOMEM. */
int caps_sight_cell(const struct caps_sight *sight, struct wfs_bytes reducer, struct wfs_bytes key);

/** caps_sight_listing() - may the cells of a reducer, of which some are seen, be listed? */
struct wfs_verdict caps_sight_listing(const struct caps_sight *sight, struct wfs_bytes reducer,
	struct wfs_question *ret_question);
