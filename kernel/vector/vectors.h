/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A set of vectors of one dimension in memory, searched exactly: no search misses a vector, and the
 * scores are those of plain arithmetic in double, on every machine.
 *
 * Rows have no order. Each has values by which the owner of the set chooses rows to drop; the set
 * itself drops none.
 * Thread: one at a time; a search changes scratch memory of the set.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/error.h"

enum {
	WFS_VECTORS_DIMS_MAX = 16384,
	WFS_VECTORS_LIMIT_MAX = 1000, /* hits of a search */
};

struct wfs_vectors;

/* A vector, and values that the owner of the set gives it. Plain value. */
struct wfs_vectors_row {
	uint32_t id;         /* unique in its set */
	int64_t tick;        /* creation time, in units of the owner */
	uint64_t place;      /* set by the owner: how many rows it had ever added before */
	double importance;   /* set by the owner */
	double score;        /* set by the owner */
	const float *vector; /* one number for each dimension; borrowed, as the functions say */
};

/* A row that a search has found. Plain value. */
struct wfs_vectors_hit {
	uint32_t id;
	double score; /* cosine, from -1 to 1 except for rounding */
};

/* Which row wfs_vectors_lowest() returns. */
enum wfs_vectors_order {
	WFS_VECTORS_OLDEST,            /* by tick, then place */
	WFS_VECTORS_LOWEST_SCORE,      /* by score, then tick, then place */
	WFS_VECTORS_LOWEST_IMPORTANCE, /* by importance, then place, like a stable sort of a list */
};

/** wfs_vectors_new() - make an empty set of vectors. @ret_vectors: set on success; caller frees it
 *  with wfs_vectors_free(). @dims: dimensions of every vector, from 1 to WFS_VECTORS_DIMS_MAX
 *  Return: 0, -EINVAL (invalid_argument: @dims is out of range), -ENOMEM (@error is not filled). */
int wfs_vectors_new(size_t dims, struct wfs_vectors **ret_vectors, struct wfs_error *error);
void wfs_vectors_free(struct wfs_vectors *vectors);
WFS_DEFINE_AUTO(vectors, struct wfs_vectors, wfs_vectors_free)
#define WFS_AUTO_VECTORS WFS_CLEANUP(wfs_auto_vectors)

/** wfs_vectors_add() - add a copy of a row and its vector
 *  Return: 0, -EINVAL (invalid_argument: a number in @row is not finite, or the vector is zero),
 *  -EEXIST (already_exists: the set has a row with this id), -ENOMEM (@error is not filled). A
 *  failure leaves the set unchanged. */
int wfs_vectors_add(
	struct wfs_vectors *vectors, const struct wfs_vectors_row *row, struct wfs_error *error);

/** wfs_vectors_remove() - remove the row with this id. Return: 0, or -ENOENT (no such row). */
int wfs_vectors_remove(struct wfs_vectors *vectors, uint32_t id);

/** wfs_vectors_find() - get the row with this id. @ret_row: its vector stays valid until a row is
 *  added or removed. Return: 0, or -ENOENT (no such row). */
int wfs_vectors_find(
	const struct wfs_vectors *vectors, uint32_t id, struct wfs_vectors_row *ret_row);

/** wfs_vectors_set_score() - change the score of the row with this id
 *  Return: 0, -EINVAL (@score is not finite), -ENOENT (no such row). */
int wfs_vectors_set_score(struct wfs_vectors *vectors, uint32_t id, double score);

/** wfs_vectors_size_bytes() - Return: how many bytes of memory the set has allocated. */
size_t wfs_vectors_size_bytes(const struct wfs_vectors *vectors);

/** wfs_vectors_search() - find up to @limit rows, those with the highest cosine to @query (their
 *  score), best first
 *  The score is the scalar product, divided by the product of the lengths, all in double and added
 *  in the order of the dimensions. Of rows with equal scores, that with the lower id is first.
 *  Allocates nothing.
 *  @query: one number for each dimension
 *  @limit: from 1 to WFS_VECTORS_LIMIT_MAX
 *  @ret_hits: room for @limit hits; those after the returned number are undefined
 *  Return: the number of hits, or -EINVAL (invalid_argument: @limit is out of range, or @query is
 *  zero or not finite). */
int wfs_vectors_search(struct wfs_vectors *vectors, const float *query, size_t limit,
	struct wfs_vectors_hit *ret_hits, struct wfs_error *error);

/** wfs_vectors_lowest() - find the row that comes first in the order @order. @ret_id: of this row
 *  Return: 0, or -ENOENT (the set is empty). */
int wfs_vectors_lowest(
	const struct wfs_vectors *vectors, enum wfs_vectors_order order, uint32_t *ret_id);
