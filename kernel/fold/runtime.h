/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The modules (Lua code) of a manifest's reducers, each read from the store when it is first used.
 * Thread: the one that folds.
 */
#pragma once

#include "kernel/box/box.h"
#include "kernel/manifest/manifest.h"
#include "kernel/store/store.h"

struct wfs_runtime;

/** wfs_runtime_new() - make the runtime of @manifest, which keeps a reference to the manifest
 *  @limits: of each step; copied. Replay allows more processor time than the first run, because a
 *  step may be slower on another machine. @ret_runtime: caller frees it with wfs_runtime_free()
 *  Return: 0, -ENOMEM. */
int wfs_runtime_new(struct wfs_manifest *manifest, const struct wfs_lua_limits *limits,
	struct wfs_runtime **ret_runtime);
void wfs_runtime_free(struct wfs_runtime *runtime);
WFS_DEFINE_AUTO(runtime, struct wfs_runtime, wfs_runtime_free)
#define WFS_AUTO_RUNTIME WFS_CLEANUP(wfs_auto_runtime)

/** wfs_runtime_limits() - get the limits of every step; borrowed from the runtime. */
const struct wfs_lua_limits *wfs_runtime_limits(const struct wfs_runtime *runtime);

/** wfs_runtime_manifest() - get the manifest of the runtime; borrowed from the runtime. */
struct wfs_manifest *wfs_runtime_manifest(const struct wfs_runtime *runtime);

/* Where modules are read from (store, txn) and run (box). Plain value, all borrowed; all calls for
 * one runtime must give the same box. */
struct wfs_runtime_place {
	struct wfs_store *store;
	struct wfs_txn *txn;
	struct wfs_box *box;
};

/** wfs_runtime_reducer() - get the code of a reducer, which is read from the store the first time,
 *  and compiled when its first step runs. @reducer: of the manifest, not built in
 *  @ret_code: borrowed from the runtime
 *  Return: 0, -EIO (hash_mismatch: the blob is damaged or missing), -EINVAL (syntax_error: the blob
 *  is too large), -ENOMEM, … */
int wfs_runtime_reducer(struct wfs_runtime *runtime, const struct wfs_runtime_place *place,
	const struct wfs_reducer_definition *reducer, struct wfs_code **ret_code,
	struct wfs_error *error);
