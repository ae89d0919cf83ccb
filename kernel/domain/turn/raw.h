/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The requests of a run to its model and the answers to them, byte for byte.
 *
 * The bytes are blobs that no height lists. The receipt that answers an intent of a run has their
 * hashes, and folding it makes a cell for each:
 *
 *   sys.raw, key run id.n.request or run id.n.response: {hash}; n: number of the request within the
 *                run, from 1; each attempt at a request counts
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

/** wfs_raw_check_receipt() - check the members request_hash, response_hash and earlier_hashes of a
 *  receipt's body. Return: 0, or -EINVAL (one is neither a hash nor a stand-in of one). */
int wfs_raw_check_receipt(const struct wfs_body_receipt *receipt, struct wfs_error *error);

/** wfs_raw_find() - find the blob that a version of a cell of sys.raw names
 *  @ret_blob, @ret_text: set on success; borrowed until the transaction of @view ends; may be NULL
 *  @ret_text: if a stand-in hides the hash: the private text that is the hash; otherwise its
 *  `number` is 0
 *  Return: 0, -ENOENT (the world does not keep the blob, or the private text, any more), … */
int wfs_raw_find(struct wfs_view *view, const struct wfs_version *version,
	struct wfs_blob *ret_blob, struct wfs_text *ret_text);

/** wfs_raw_hash() - get the hash of the bytes of a file in the directory `raw` of a turn, even if
 *  the world does not keep these bytes any more
 *  @id: of the turn; @name: of the file, such as `1.request.json`
 *  Return: 0, 1 (a stand-in hides the hash, and the world does not keep the private text any more;
 *  @ret_hash is not set), -ENOENT (no such file), … */
int wfs_raw_hash(
	struct wfs_view *view, struct wfs_bytes id, const char *name, struct wfs_hash *ret_hash);

/** wfs_raw_run() - get the id of the run from the key of a cell of sys.raw. @ret_run: borrowed from
 *  @key. Return: false if @key has another form; @ret_run is then not set. */
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

/** turn_keep_raw() - make the cells of sys.raw for the hashes in a receipt that answers an intent
 *  of the run, and add the number of requests that the receipt tells of to turn->state.raw; does
 *  nothing if the receipt has no hashes, or the manifest lacks sys.raw
 *  @receipt: body of the receipt's record. Return: 0, -EINVAL (as wfs_raw_check_receipt()), … */
int turn_keep_raw(
	struct turn *turn, const struct wfs_body_receipt *receipt, struct wfs_error *error);
