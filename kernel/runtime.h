/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Lua states of a manifest's reducers, made at their first use.
 * Thread: one, the one that folds.
 */
#pragma once

#include "kernel/lua/lua.h"
#include "kernel/manifest/manifest.h"
#include "kernel/store/store.h"

struct wfs_runtime;

/**
 * wfs_runtime_new() - for @manifest, of which a reference is kept
 * @limits: of every step. Who folds a step that passed once (replay) gives more room than the
 *          first time: near a limit, garbage of earlier steps can tip one over.
 */
int wfs_runtime_new(struct wfs_manifest *manifest, const struct wfs_lua_limits *limits,
	struct wfs_runtime **ret_runtime);
void wfs_runtime_free(struct wfs_runtime *runtime);
WFS_DEFINE_AUTO(runtime, struct wfs_runtime, wfs_runtime_free)
#define WFS_AUTO_RUNTIME WFS_CLEANUP(wfs_auto_runtime)

/** wfs_runtime_limits() - of every step; borrowed from the runtime. */
const struct wfs_lua_limits *wfs_runtime_limits(const struct wfs_runtime *runtime);

struct wfs_manifest *wfs_runtime_manifest(const struct wfs_runtime *runtime);

/**
 * wfs_runtime_reducer() - the state of a reducer, its module read from the store when it is new
 * @ret_lua: borrowed from the runtime
 * Return: 0, -EIO (hash_mismatch, runtime_error), -EINVAL (syntax_error), -ENOMEM.
 */
int wfs_runtime_reducer(struct wfs_runtime *runtime, struct wfs_store *store, struct wfs_txn *txn,
	const struct wfs_reducer_definition *reducer, struct wfs_lua **ret_lua,
	struct wfs_error *error);
