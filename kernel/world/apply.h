/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replacing the manifest in force by another one.
 *
 * This is a record, {base_manifest_hash, manifest_hash, reason}, which changes the cells of those
 * principals and grants that the new manifest declares differently
 * (kernel/domain/principal/grants.h). The same transaction writes the manifest's own version and
 * the rows of new reducers, and makes the document of the old manifest a listed blob: so a tree has
 * all manifests that its journal names, the newest as /manifest and the others by their hash. The
 * writer, and code that folds a journal again, call in this order: wfs_apply_check(),
 * wfs_fold_run(), wfs_fold_apply(), wfs_apply_write().
 * Source: docs/design.md §4.
 * Thread: the one that holds the write transaction, unless said otherwise. Functions that return
 * int return 0, or -errno.
 */
#pragma once

#include "kernel/fold/fold.h"

/** wfs_apply_check() - check that the manifest @to may replace @from in the world of @head
 *  @to must keep all reducers that have cells, each keyed or not as before, all effects of this
 *  program, all caps, and all definitions whose names begin with sys/.
 *  @ret_diff: the differences (kernel/manifest/manifest-diff.h), set on success; caller owns it
 *  Return: 0, -EINVAL (invalid_argument: @to lacks something that it must keep), -EIO, -ENOMEM. */
int wfs_apply_check(const struct wfs_head *head, const struct wfs_manifest *from,
	const struct wfs_manifest *to, json_t **ret_diff, struct wfs_error *error);

/** wfs_apply_has_module() - does a reducer of @manifest have the module (Lua code) with the hash
 *  @module? Thread: any. */
bool wfs_apply_has_module(const struct wfs_manifest *manifest, const struct wfs_hash *module);

/** wfs_apply_check_modules() - check that each module that @to has, but @from does not have, is a
 *  blob of the world and compiles
 *  @put_later: a module may be missing, because the client of a dry run will put it later
 *  Return: 0, -ENOENT (not_found: a module is missing), -EINVAL (syntax_error: a module does not
 *  compile), … Thread: any. */
int wfs_apply_check_modules(struct wfs_store *store, const struct wfs_manifest *from,
	const struct wfs_manifest *to, bool put_later, struct wfs_error *error);

/** wfs_apply_write() - after the manifest record was appended: write the document of the manifest
 *  @to and the rows of its new reducers, and list the document of @from as a blob
 *  Afterwards @head has the reducers of @to. @at_ns: time of the manifest record. Return: 0,
 *  -ENOSPC, -EIO, -ENOMEM; after a failure the caller gives up the transaction. */
int wfs_apply_write(struct wfs_head *head, const struct wfs_manifest *from,
	const struct wfs_manifest *to, int64_t at_ns);

/** wfs_apply_parse() - make a manifest from the bytes of its document. Thread: any.
 *  @ret_manifest: the caller unrefs it
 *  Return: 0, -EINVAL (not a manifest that this program knows), -ENOMEM. */
int wfs_apply_parse(
	struct wfs_bytes text, struct wfs_manifest **ret_manifest, struct wfs_error *error);

/** wfs_apply_load() - read a manifest that was once in force from its blob. Thread: any.
 *  @hash: of the blob. @ret_manifest: the caller unrefs it
 *  Return: 0, -ENOENT (the blob is missing; @error is not set), -EINVAL (the blob is not a manifest
 *  that this program knows), -EIO, -ENOMEM. */
int wfs_apply_load(struct wfs_store *store, struct wfs_txn *txn, const struct wfs_hash *hash,
	struct wfs_manifest **ret_manifest, struct wfs_error *error);
