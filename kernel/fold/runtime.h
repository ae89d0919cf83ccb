/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The modules of a manifest's reducers, each had at its first use.
 * Thread: one, the one that folds.
 */
#pragma once

#include "kernel/box/box.h"
#include "kernel/manifest/manifest.h"
#include "kernel/store/store.h"

struct wfs_runtime;

/**
 * wfs_runtime_new() - for @manifest, of which a reference is kept
 * @limits: of every step. Replay gives more room than the first time: on a slower machine a step that
 *          passed once may take more processor time.
 */
int wfs_runtime_new(struct wfs_manifest *manifest, const struct wfs_lua_limits *limits,
	struct wfs_runtime **ret_runtime);
void wfs_runtime_free(struct wfs_runtime *runtime);
WFS_DEFINE_AUTO(runtime, struct wfs_runtime, wfs_runtime_free)
#define WFS_AUTO_RUNTIME WFS_CLEANUP(wfs_auto_runtime)

/** wfs_runtime_limits() - of every step; borrowed from the runtime. */
const struct wfs_lua_limits *wfs_runtime_limits(const struct wfs_runtime *runtime);

struct wfs_manifest *wfs_runtime_manifest(const struct wfs_runtime *runtime);

/* Where modules are read, and run. Plain value, all borrowed; the box always is the same one. */
struct wfs_runtime_place {
	struct wfs_store *store;
	struct wfs_txn *txn;
	struct wfs_box *box;
};

/**
 * wfs_runtime_reducer() - the module of a reducer, read from the store when it is new
 * @ret_code: borrowed from the runtime
 * Return: 0, -EIO (hash_mismatch, runtime_error), -EINVAL (syntax_error), -ENOMEM.
 */
int wfs_runtime_reducer(struct wfs_runtime *runtime, const struct wfs_runtime_place *place,
	const struct wfs_reducer_definition *reducer, struct wfs_code **ret_code,
	struct wfs_error *error);
