/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The requests of a run to its model and the answers to them, byte for byte.
 *
 * The bytes are blobs that no height lists. The receipt that answers an intent of a run has their
 * hashes, and folding it makes a cell for each:
 *
 *   sys.raw, key run id.n.request or run id.n.response: {hash}; n: number of the request within the
 *                run, from 1; each attempt at a request is one
 *
 * The hash is a text or, if the bytes may have a private text in them, a stand-in
 * (kernel/value/stand-in.h): a principal that may not read that text does not learn the hash, and
 * does not see the file. `gc --raw-before` drops blobs, and leaves records and cells as they are.
 * Manifests that an older program has made lack the reducer, so their worlds keep
 * none of these cells.
 */
#pragma once

#include "kernel/fold/fold.h"
#include "kernel/read/view.h"

struct turn;
struct wfs_body_receipt;

enum { WFS_RAW_KEY_SIZE = WFS_KEY_SIZE_MAX + 1 };

/** wfs_raw_check_receipt() - check the members of a receipt's body that have hashes. Return: 0, or
 *  -EINVAL. */
int wfs_raw_check_receipt(const struct wfs_body_receipt *receipt, struct wfs_error *error);

/** wfs_raw_find() - find the blob that a version of a cell of sys.raw names
 *  @ret_blob: borrowed until the transaction of @view ends; may be NULL
 *  @ret_text: if the hash is private: the text that has it; otherwise its `number` is 0; may be
 *  NULL
 *  Return: 0, -ENOENT (the world does not keep the blob, or the private text, any more), … */
int wfs_raw_find(struct wfs_view *view, const struct wfs_version *version,
	struct wfs_blob *ret_blob, struct wfs_text *ret_text);

/** wfs_raw_hash() - get the hash of the bytes of a file in `raw` of a turn, which need not be kept
 *  @id: of the turn; @name: of the file
 *  Return: 0, 1 (it is private, and the text that has it is not kept), -ENOENT (no such file), … */
int wfs_raw_hash(
	struct wfs_view *view, struct wfs_bytes id, const char *name, struct wfs_hash *ret_hash);

/** wfs_raw_run() - get the id of the run from the key of a cell of sys.raw. @ret_run: borrowed from
 *  @key. Return: false: not such a key. */
bool wfs_raw_run(struct wfs_bytes key, struct wfs_bytes *ret_run);

/* The members find, next, count, name and write_part of struct wfs_entity_contents
 * (kernel/read/entity.h) for the files in `raw` of a turn. */
int turn_raw_find(struct wfs_view *view, struct wfs_bytes id, const char *name,
	uint64_t *ret_number, struct wfs_version *ret_version);
int turn_raw_next(struct wfs_view *view, struct wfs_bytes id, uint64_t *number,
	struct wfs_buffer *name, struct wfs_version *ret_version);
int turn_raw_count(struct wfs_view *view, struct wfs_bytes id, uint64_t *ret_count);
int turn_raw_name(struct wfs_view *view, struct wfs_bytes key, const struct wfs_version *version,
	struct wfs_bytes *ret_id, struct wfs_buffer *name);
int turn_raw_write(struct wfs_view *then, const struct wfs_version *version, struct wfs_range range,
	struct wfs_buffer *buffer, uint64_t *ret_size_bytes);

/** turn_keep_raw() - make the cells for the hashes in a receipt that answers an intent of the run,
 *  and add the requests of the receipt to turn->state.raw; does nothing if the receipt has no
 *  hashes, or the manifest lacks the reducer. Return: 0, or -errno. */
int turn_keep_raw(
	struct turn *turn, const struct wfs_body_receipt *receipt, struct wfs_error *error);
