/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches: the records of one commit of a world, with attached bytes: those that folding the
 * records needs, and of which their lines have only the hashes.
 *
 * Encoded, a batch is a line of canonical JSON, then the lines of the records, then the attached
 * bytes, in the order in which the first line lists them:
 *   {"attached":[{"hash":…,"kind":…,"size":…},…],"from":…,"lines_hash":…,"lines_size":…,
 *    "prev":…,"requests":[{"id":…,"seq":…},…],"requests_hash":…,"to":…,"version":1}
 * The list `attached` is sorted by kind and hash, and has each pair once; `requests` is sorted by
 * seq; so equal batches are equal bytes. Decoding trusts nothing: a batch has the form that
 * encoding gives, and every hash and size fits, or it is refused. Only the meaning of the lines is
 * not checked here.
 */
#pragma once

#include <stdint.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"
#include "kernel/base/hash.h"

enum {
	WFS_BATCH_VERSION = 1,
	WFS_BATCH_SIZE_MAX = 256 << 20,  /* bytes of an encoded batch */
	WFS_BATCH_ATTACHED_MAX = 65536,  /* items of the list `attached` of one batch */
	WFS_BATCH_HEADER_MAX = 16 << 20, /* bytes of its first line */
	WFS_BATCH_BLOB_MAX = 512 << 10,  /* bytes of a blob that is attached */
	WFS_BATCH_ID_MAX = 64,           /* bytes of the id of a request */
};

/* X(constant, name in the first line); sorted by name */
#define WFS_ATTACHED_KINDS(X)                                         \
	X(BLOB, "blob")         /* a blob that a record lists */      \
	X(CODE, "code")         /* code that a record brings */       \
	X(CONTENT, "content")   /* content that a record brings */    \
	X(MANIFEST, "manifest") /* that a record brings into force */ \
	X(MODULE, "module")     /* of a reducer of such a manifest */ \
	X(TEXT, "text")         /* a private text, salt and JSON, that a record brings */

enum wfs_attached_kind {
#define WFS_ATTACHED_ENUM(constant, name) WFS_ATTACHED_##constant,
	WFS_ATTACHED_KINDS(WFS_ATTACHED_ENUM)
#undef WFS_ATTACHED_ENUM
		WFS_ATTACHED_KIND_COUNT
};

/* Attached bytes. Plain value. */
struct wfs_attached {
	enum wfs_attached_kind kind;
	struct wfs_hash hash; /* of the bytes */
	size_t offset;        /* in batch->bytes */
	size_t size;
};

/* A request that has an id, so that it is done once, even if it is sent to two owners in turn.
 * Plain value. */
struct wfs_batch_request {
	char id[WFS_BATCH_ID_MAX + 1];
	uint64_t seq; /* its first record */
};

/* A batch. Plain value; zeros are an empty one. A batch that is made has the lines and the attached
 * bytes in buffers of its own; one that was decoded borrows them. */
struct wfs_batch {
	uint64_t from;        /* seq of the first record */
	uint64_t to;          /* one more than the seq of the last record */
	struct wfs_hash prev; /* hash of the journal's line before the first record */
	struct wfs_bytes lines;
	struct wfs_bytes bytes;        /* all that is attached */
	struct wfs_attached *attached; /* owned */
	size_t attached_count;
	size_t attached_capacity;
	struct wfs_batch_request *requests; /* owned; those with an id, in the order of seq */
	size_t request_count;
	size_t request_capacity;
	size_t *ends; /* decoded: offset of the end of each line in `lines`; owned */

	struct wfs_buffer own_lines;
	struct wfs_buffer own_bytes;
};

void wfs_batch_done(struct wfs_batch *batch);
#define WFS_AUTO_BATCH WFS_CLEANUP(wfs_batch_done)

/** wfs_batch_add_line() - add the line of the next record, newline included. @line: copied. Return:
 *  0, -EFBIG (too_large: the batch would have more than WFS_BATCH_SIZE_MAX bytes), -ENOMEM. */
int wfs_batch_add_line(struct wfs_batch *batch, struct wfs_bytes line, struct wfs_error *error);

/** wfs_batch_attach() - attach a copy of @bytes; equal bytes may be attached more than once, and
 *  are encoded once
 *  Return: 0, -EFBIG (too_large: WFS_BATCH_SIZE_MAX bytes or WFS_BATCH_ATTACHED_MAX items would be
 *  exceeded), -ENOMEM. */
int wfs_batch_attach(struct wfs_batch *batch, enum wfs_attached_kind kind, struct wfs_bytes bytes,
	struct wfs_error *error);

/** wfs_batch_id_valid() - may a request have this id: 1 to WFS_BATCH_ID_MAX letters, digits, `-`,
 *  `.` and `_`? */
bool wfs_batch_id_valid(const char *id);

/** wfs_batch_add_request() - add a request; the caller adds requests in the order of their seqs
 *  @id: valid (wfs_batch_id_valid()). @seq: of the request's first record. Return: 0, -ENOMEM. */
int wfs_batch_add_request(
	struct wfs_batch *batch, const char *id, uint64_t seq, struct wfs_error *error);

/** wfs_batch_encode() - append the encoded batch to @buffer; sorts batch->attached, and removes
 *  items that were attached twice
 *  @batch: the caller has set `from`, `to` and `prev`. Return: 0, -EFBIG (too_large: more than
 *  WFS_BATCH_SIZE_MAX bytes; @buffer then has them, too), -ENOMEM. */
int wfs_batch_encode(struct wfs_batch *batch, struct wfs_buffer *buffer, struct wfs_error *error);

/** wfs_batch_decode() - read an encoded batch
 *  @encoded: must stay valid as long as @ret_batch, which borrows lines and attached bytes from it
 *  @ret_batch: set on success only; caller ends it with wfs_batch_done()
 *  Return: 0, -EINVAL (invalid_argument: the bytes are not a batch, or are damaged), -EFBIG
 *  (too_large: more than WFS_BATCH_SIZE_MAX bytes), -ENOMEM. */
int wfs_batch_decode(
	struct wfs_bytes encoded, struct wfs_batch *ret_batch, struct wfs_error *error);

/** wfs_batch_line() - get the line of record @seq of a decoded batch, newline included
 *  @seq: from batch->from on, below batch->to. Return: borrowed from the encoded bytes. */
struct wfs_bytes wfs_batch_line(const struct wfs_batch *batch, uint64_t seq);

/** wfs_batch_find() - find attached bytes of a decoded batch. @ret_bytes: borrowed from the encoded
 *  bytes. Return: true, or false if no bytes of this kind and hash are attached. */
bool wfs_batch_find(const struct wfs_batch *batch, enum wfs_attached_kind kind,
	const struct wfs_hash *hash, struct wfs_bytes *ret_bytes);
