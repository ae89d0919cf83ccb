/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The modules of a manifest's reducers, each read from the store when it is first used.
 * Thread: the one that folds.
 */
#pragma once

#include "kernel/box/box.h"
#include "kernel/manifest/manifest.h"
#include "kernel/store/store.h"

struct wfs_runtime;

/**
 * wfs_runtime_new() - make the runtime of @manifest, of which it keeps a reference
 * @limits: of every step; copied. Replay allows more processor time than the first run, because a
 *          step may be slower on another machine.
 * Return: 0, -ENOMEM.
 */
int wfs_runtime_new(struct wfs_manifest *manifest, const struct wfs_lua_limits *limits,
	struct wfs_runtime **ret_runtime);
void wfs_runtime_free(struct wfs_runtime *runtime);
WFS_DEFINE_AUTO(runtime, struct wfs_runtime, wfs_runtime_free)
#define WFS_AUTO_RUNTIME WFS_CLEANUP(wfs_auto_runtime)

/** wfs_runtime_limits() - the limits of every step; borrowed from the runtime. */
const struct wfs_lua_limits *wfs_runtime_limits(const struct wfs_runtime *runtime);

struct wfs_manifest *wfs_runtime_manifest(const struct wfs_runtime *runtime);

/* Where modules are read, and run. Plain value, all borrowed; a runtime always gets the same
 * box. */
struct wfs_runtime_place {
	struct wfs_store *store;
	struct wfs_txn *txn;
	struct wfs_box *box;
};

/**
 * wfs_runtime_reducer() - find the module of a reducer, and read it from the store the first time
 * @ret_code: borrowed from the runtime
 * Return: 0, -EIO (hash_mismatch, runtime_error), -EINVAL (syntax_error), -ENOMEM.
 */
int wfs_runtime_reducer(struct wfs_runtime *runtime, const struct wfs_runtime_place *place,
	const struct wfs_reducer_definition *reducer, struct wfs_code **ret_code,
	struct wfs_error *error);
