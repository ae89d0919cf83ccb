/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A manifest that comes into force behind another one.
 *
 * It is a record like any other, {base_manifest_hash, manifest_hash, reason}, whose changes are the
 * cells of principals and grants that it declares otherwise (kernel/domain/principal/grants.h). Together with it the
 * manifest's own version is written, the rows of reducers that are new, and the document of the
 * manifest before becomes a listed blob: so a tree has all manifests that its journal names, the
 * newest as /manifest and the others by their hash. The same steps serve the writer and whoever
 * folds a journal again: wfs_apply_check, wfs_fold_run, wfs_fold_apply, wfs_apply_write.
 * Source: docs/design.md §4.
 * Thread: the one that holds the write transaction, unless said otherwise.
 */
#pragma once

#include "kernel/fold/fold.h"

/** wfs_apply_write_body() - append the body of a manifest record. @charge, @reason: may be NULL */
void wfs_apply_write_body(struct wfs_buffer *body, const char *charge, const struct wfs_hash *from,
	const struct wfs_hash *to, const char *reason);

/**
 * wfs_apply_check() - may @to follow @from in this world?
 * Reducers that have cells stay, and keyed as they are; so do built-in definitions.
 * @ret_diff: what is different (kernel/manifest/manifest-diff.h); caller owns it
 * Return: 0, -EINVAL (invalid_argument), -EIO, -ENOMEM.
 */
int wfs_apply_check(const struct wfs_head *head, const struct wfs_manifest *from,
	const struct wfs_manifest *to, json_t **ret_diff, struct wfs_error *error);

/** wfs_apply_has_module() - does one of its reducers have that module? Thread: any. */
bool wfs_apply_has_module(const struct wfs_manifest *manifest, const struct wfs_hash *module);

/**
 * wfs_apply_check_modules() - is each module that @from does not have a blob, and does it compile?
 * Thread: any.
 * @put_later: one that is no blob is not missed: a dry run has put none
 * Return: 0, -ENOENT (not_found), -EINVAL (syntax_error), …
 */
int wfs_apply_check_modules(struct wfs_store *store, const struct wfs_manifest *from,
	const struct wfs_manifest *to, bool put_later, struct wfs_error *error);

/** wfs_apply_write() - what stands beside the record, which is the newest; @head is of @to then. */
int wfs_apply_write(struct wfs_head *head, const struct wfs_manifest *from,
	const struct wfs_manifest *to, int64_t at_ns);

/**
 * wfs_apply_parse() - a manifest from its document's bytes. Thread: any.
 * Return: 0, -EINVAL (not a manifest that this program knows), -ENOMEM.
 */
int wfs_apply_parse(
	struct wfs_bytes text, struct wfs_manifest **ret_manifest, struct wfs_error *error);

/**
 * wfs_apply_load() - a manifest that was in force once, from its blob. Thread: any.
 * Return: 0, -ENOENT (there is no such blob; @error is not set), -EINVAL, -EIO, -ENOMEM.
 */
int wfs_apply_load(struct wfs_store *store, struct wfs_txn *txn, const struct wfs_hash *hash,
	struct wfs_manifest **ret_manifest, struct wfs_error *error);
