/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Introspection: answers questions about a world.
 *
 * The one adapter (code that answers effects, and that receipts name) of introspect.manifest,
 * introspect.reducer_state, introspect.journal_head and introspect.list_cells. Sessions ask it for
 * clients of the socket, of the control files and of the command line, and the kernel asks it for
 * reducers, so that all of them get equal answers. It reads only the store.
 * Source: docs/design.md §6; tests/data/seeds/4-introspection-surface.
 */
#pragma once

#include "kernel/manifest/effect.h"
#include "kernel/read/view.h"

struct wfs_permutation;

#define WFS_INTROSPECT_ADAPTER "kernel.introspect" /* adapter_id of its receipts */

enum {
	WFS_INTROSPECT_PAGE_MAX = 1000,  /* cells of one list_cells, and its default */
	WFS_INTROSPECT_NAMES_MAX = 32,   /* reducers that an error message names, at most */
	WFS_INTROSPECT_SCAN_MAX = 10000, /* cells looked at for one list_cells, seen or not */
};

/* What the principal may see; the answers hide everything else. Callback table. */
struct wfs_introspect_filter {
	/* Each: may the principal see the manifest, this reducer, this cell? */
	bool (*manifest)(const struct wfs_introspect_filter *filter);
	/* True also for a reducer of which the principal sees only some cells. */
	bool (*reducer)(const struct wfs_introspect_filter *filter, struct wfs_bytes name);
	bool (*cell)(const struct wfs_introspect_filter *filter, struct wfs_bytes reducer,
		struct wfs_bytes key);
};

/* The side that asks. Callback table. */
struct wfs_introspector {
	/* Open a view, as wfs_view_of() does (kernel/read/view.h); wfs_introspect() closes it. */
	int (*open)(const struct wfs_introspector *introspector, uint64_t height,
		struct wfs_view *ret_view, struct wfs_error *error);
	const struct wfs_introspect_filter *filter; /* NULL: everything */
	/* replaces ids of cells in cursors (kernel/base/permutation.h); NULL: they stay */
	const struct wfs_permutation *cursors;
};

/** wfs_introspect() - answer one question about a world
 *  @effect: one of the four at the top of this header. @params: of the effect; checked here
 *  @ret_payload: set also on failure, and then owned by the caller, too. On success the payload of
 *  a receipt; on failure {"code","message","meta"?} (no `meta` if no view could be opened), or NULL
 *  (out of memory). @error: filled on failure; not NULL
 *  Return: 0, -EINVAL (missing_argument, invalid_argument: @params does not have the form of the
 *  effect's params; invalid_consistency: its `consistency` is none), -ENOENT (reducer_missing: the
 *  principal sees no such reducer; height_unavailable: the height is not reached yet, or was
 *  dropped; not_found: the principal may not see the manifest), -EAGAIN (overloaded: too many
 *  readers), -EIO (the store is damaged), -ENOMEM. */
int wfs_introspect(const struct wfs_introspector *introspector, enum wfs_effect effect,
	const json_t *params, json_t **ret_payload, struct wfs_error *error);
