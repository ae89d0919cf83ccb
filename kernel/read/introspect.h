/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Introspection: a world that is asked about itself.
 *
 * The one adapter behind the effects introspect.manifest, introspect.reducer_state,
 * introspect.journal_head and introspect.list_cells. Sessions ask it for the socket, the control
 * files and the command line, and the kernel for reducers, so that all of them get the same
 * answers. It reads the store and nothing else.
 * Source: docs/design.md §6; tests/data/seeds/4-introspection-surface.
 */
#pragma once

#include "kernel/manifest/effect.h"
#include "kernel/read/view.h"

struct wfs_permutation;

#define WFS_INTROSPECT_ADAPTER "kernel.introspect" /* adapter_id of its receipts */

enum {
	WFS_INTROSPECT_PAGE_MAX = 1000,  /* cells of one list_cells, and its default */
	WFS_INTROSPECT_NAMES_MAX = 32,   /* reducers that an error message names */
	WFS_INTROSPECT_SCAN_MAX = 10000, /* cells looked at for one list_cells, seen or not */
};

/* What somebody may see; the rest is as if it were not there. Callback table. */
struct wfs_introspect_filter {
	bool (*manifest)(const struct wfs_introspect_filter *filter);
	/* Also one of which only some cells are seen. */
	bool (*reducer)(const struct wfs_introspect_filter *filter, struct wfs_bytes name);
	bool (*cell)(const struct wfs_introspect_filter *filter, struct wfs_bytes reducer,
		struct wfs_bytes key);
};

/* Who asks. Callback table. */
struct wfs_introspector {
	/* As wfs_view_open. */
	int (*open)(const struct wfs_introspector *introspector, uint64_t height,
		struct wfs_view *ret_view, struct wfs_error *error);
	const struct wfs_introspect_filter *filter; /* NULL: everything */
	const struct wfs_permutation *cursors;      /* NULL: plain ones, of who sees everything */
};

/** wfs_introspects() - is @effect one of the four? */
bool wfs_introspects(enum wfs_effect effect);

/**
 * wfs_introspect() - answer
 * @effect: one of the four
 * @params: checked here
 * @ret_payload: the receipt; of a failure {"code","message","meta"}, or NULL without memory.
 *               Caller owns it either way.
 * @error: filled on failure; not NULL
 * Return: 0, -EINVAL (missing_argument, invalid_argument, invalid_consistency), -ENOENT
 *         (reducer_missing, height_unavailable; not_found: the manifest is out of sight), -EAGAIN,
 *         -EIO, -ENOMEM.
 */
int wfs_introspect(const struct wfs_introspector *introspector, enum wfs_effect effect,
	const json_t *params, json_t **ret_payload, struct wfs_error *error);

/** wfs_meta_document() - {journal_height, manifest_hash, snapshot_hash?}. Return: new reference,
 *  NULL without memory. */
json_t *wfs_meta_document(const struct wfs_meta *meta);

/** wfs_read_describe() - fill an error that a failed read left without text. Return: @r. */
int wfs_read_describe(struct wfs_error *error, int r);
