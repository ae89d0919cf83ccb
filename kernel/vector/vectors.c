/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows are stored in chunks, so that a growing set copies none. A search goes through memory once
 * with arithmetic in float, which gives every cosine to within a proven error; the few rows that
 * may be among the best, within that error, are computed again in double.
 */
#include "kernel/vector/vectors.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/base/array.h"

#ifdef __FAST_MATH__
#error "the bound on the error of a search does not hold with fast math"
#endif

enum {
	CHUNK_ROWS = 256,
	ALIGNMENT_BYTES = 64, /* a cache line */
	STEP = 16,            /* floats that the inner loop takes at once, in LANES accumulators */
	LANE_FLOATS = 4,
	LANES = STEP / LANE_FLOATS,
	AHEAD = 512, /* floats that are prefetched before they are needed */
};

/* Every processor that this runs on computes four floats at once. */
typedef float lane __attribute__((vector_size(LANE_FLOATS * sizeof(float)), may_alias));

/* In float, vectors of other lengths may overflow or lose digits at its lower end: they are always
 * computed in double. */
#define LENGTH_MIN 0x1p-60
#define LENGTH_MAX 0x1p60

struct chunk {
	uint32_t ids[CHUNK_ROWS];
	int64_t ticks[CHUNK_ROWS];
	uint64_t places[CHUNK_ROWS];
	double importances[CHUNK_ROWS];
	double scores[CHUNK_ROWS];
	double lengths[CHUNK_ROWS];
	float inverses[CHUNK_ROWS]; /* of the lengths; NAN: not to be computed in float */
	float rough[CHUNK_ROWS];    /* scratch of a search: cosines in float; NAN: unknown */
	_Alignas(ALIGNMENT_BYTES) float values[]; /* CHUNK_ROWS rows of `stride` */
};

struct wfs_vectors {
	size_t dims;
	size_t stride; /* floats of a row: `dims`, and zeros up to a multiple of STEP */
	size_t count;
	struct chunk *
		*chunks; /* all full but for the last with rows, and at most one empty after it */
	size_t chunk_count;
	size_t chunk_capacity;
	float *query; /* scratch of a search: `stride` floats, of length 1 */
};

/* --- the set --- */

static size_t row_bytes(const struct wfs_vectors *vectors)
{
	return vectors->stride * sizeof(float);
}

static size_t chunk_bytes(const struct wfs_vectors *vectors)
{
	return sizeof(struct chunk) + CHUNK_ROWS * row_bytes(vectors);
}

int wfs_vectors_new(size_t dims, struct wfs_vectors **ret_vectors, struct wfs_error *error)
{
	if (dims < 1 || dims > WFS_VECTORS_DIMS_MAX)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"a vector has 1 to %d dimensions, not %zu", WFS_VECTORS_DIMS_MAX, dims);
	WFS_AUTO_VECTORS struct wfs_vectors *vectors = calloc(1, sizeof(*vectors));

	if (!vectors)
		return -ENOMEM;
	vectors->dims = dims;
	vectors->stride = (dims + STEP - 1) / STEP * STEP;
	vectors->query = aligned_alloc(ALIGNMENT_BYTES, row_bytes(vectors));
	if (!vectors->query)
		return -ENOMEM;
	*ret_vectors = WFS_STEAL(vectors);
	return 0;
}

void wfs_vectors_free(struct wfs_vectors *vectors)
{
	if (!vectors)
		return;
	for (size_t i = 0; i < vectors->chunk_count; i++)
		free(vectors->chunks[i]);
	free(vectors->chunks);
	free(vectors->query);
	free(vectors);
}

size_t wfs_vectors_size_bytes(const struct wfs_vectors *vectors)
{
	return sizeof(*vectors) + row_bytes(vectors) +
		vectors->chunk_capacity * sizeof(struct chunk *) +
		vectors->chunk_count * chunk_bytes(vectors);
}

/* --- rows --- */

/* Where a row is. Plain value. */
struct place {
	struct chunk *chunk;
	size_t row;
};

static struct place place_of(const struct wfs_vectors *vectors, size_t index)
{
	return (struct place){vectors->chunks[index / CHUNK_ROWS], index % CHUNK_ROWS};
}

static float *vector_at(const struct wfs_vectors *vectors, struct place place)
{
	return place.chunk->values + place.row * vectors->stride;
}

static size_t used_chunks(const struct wfs_vectors *vectors)
{
	return (vectors->count + CHUNK_ROWS - 1) / CHUNK_ROWS;
}

/* Rows of the chunk @index that are in use. */
static size_t used_rows(const struct wfs_vectors *vectors, size_t index)
{
	const size_t rows = vectors->count - index * CHUNK_ROWS;

	return rows < CHUNK_ROWS ? rows : CHUNK_ROWS;
}

/* Compares all ids before it returns: compilers make that faster than a loop that ends early. */
static bool has_id(const uint32_t *ids, size_t count, uint32_t id)
{
	unsigned int found = 0;

	for (size_t i = 0; i < count; i++)
		found |= ids[i] == id;
	return found;
}

static bool find_place(const struct wfs_vectors *vectors, uint32_t id, struct place *ret_place)
{
	for (size_t i = 0; i < used_chunks(vectors); i++) {
		struct chunk *const chunk = vectors->chunks[i];
		size_t row = 0;

		if (!has_id(chunk->ids, used_rows(vectors, i), id))
			continue;
		while (chunk->ids[row] != id)
			row++;
		*ret_place = (struct place){chunk, row};
		return true;
	}
	return false;
}

/* Adds in order of the dimensions. Products of floats are exact in double.
 * Return: the length; a vector of length 0, or not finite, is unusable. */
static double length_of(const float *vector, size_t dims)
{
	double squares = 0;

	for (size_t i = 0; i < dims; i++)
		squares += (double)vector[i] * (double)vector[i];
	return sqrt(squares);
}

static int check_length(double length, const char *what, struct wfs_error *error)
{
	if (isfinite(length) && length > 0)
		return 0;
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
		isfinite(length) ? "all numbers of the %s are zero"
				 : "a number of the %s is not finite",
		what);
}

/* Makes room for one more row. */
static int reserve(struct wfs_vectors *vectors)
{
	struct chunk **chunks = NULL;
	struct chunk *chunk = NULL;

	if (vectors->count < vectors->chunk_count * CHUNK_ROWS)
		return 0;
	chunks = wfs_array_reserve(vectors->chunks, vectors->chunk_count, &vectors->chunk_capacity,
		sizeof(struct chunk *));
	if (!chunks)
		return -ENOMEM;
	vectors->chunks = chunks;
	chunk = aligned_alloc(ALIGNMENT_BYTES, chunk_bytes(vectors));
	if (!chunk)
		return -ENOMEM;
	chunks[vectors->chunk_count++] = chunk;
	return 0;
}

static void put(const struct wfs_vectors *vectors, struct place place,
	const struct wfs_vectors_row *row, double length)
{
	struct chunk *const chunk = place.chunk;
	float *const vector = vector_at(vectors, place);
	const bool usual = length >= LENGTH_MIN && length <= LENGTH_MAX;

	chunk->ids[place.row] = row->id;
	chunk->ticks[place.row] = row->tick;
	chunk->places[place.row] = row->place;
	chunk->importances[place.row] = row->importance;
	chunk->scores[place.row] = row->score;
	chunk->lengths[place.row] = length;
	chunk->inverses[place.row] = usual ? (float)(1 / length) : NAN;
	memcpy(vector, row->vector, vectors->dims * sizeof(*vector));
	memset(vector + vectors->dims, 0, (vectors->stride - vectors->dims) * sizeof(*vector));
}

int wfs_vectors_add(
	struct wfs_vectors *vectors, const struct wfs_vectors_row *row, struct wfs_error *error)
{
	const double length = length_of(row->vector, vectors->dims);
	struct place place;
	int r;

	r = check_length(length, "vector", error);
	if (r)
		return r;
	if (!isfinite(row->importance) || !isfinite(row->score))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"importance and score must be finite, they are %g and %g", row->importance,
			row->score);
	if (find_place(vectors, row->id, &place))
		return wfs_error_set(error, WFS_E_ALREADY_EXISTS,
			"there is a vector with the id %u already", (unsigned int)row->id);
	r = reserve(vectors);
	if (r)
		return r;
	put(vectors, place_of(vectors, vectors->count), row, length);
	vectors->count++;
	return 0;
}

static struct wfs_vectors_row row_at(const struct wfs_vectors *vectors, struct place place)
{
	return (struct wfs_vectors_row){
		.id = place.chunk->ids[place.row],
		.tick = place.chunk->ticks[place.row],
		.place = place.chunk->places[place.row],
		.importance = place.chunk->importances[place.row],
		.score = place.chunk->scores[place.row],
		.vector = vector_at(vectors, place),
	};
}

int wfs_vectors_remove(struct wfs_vectors *vectors, uint32_t id)
{
	struct place place;

	if (!find_place(vectors, id, &place))
		return -ENOENT;
	const struct place last = place_of(vectors, vectors->count - 1);
	const struct wfs_vectors_row row = row_at(vectors, last);

	if (row.id != id)
		put(vectors, place, &row, last.chunk->lengths[last.row]);
	vectors->count--;
	/* Keep one empty chunk, for owners that add and remove in turn. */
	if (vectors->chunk_count > used_chunks(vectors) + 1)
		free(vectors->chunks[--vectors->chunk_count]);
	return 0;
}

int wfs_vectors_find(
	const struct wfs_vectors *vectors, uint32_t id, struct wfs_vectors_row *ret_row)
{
	struct place place;

	if (!find_place(vectors, id, &place))
		return -ENOENT;
	*ret_row = row_at(vectors, place);
	return 0;
}

int wfs_vectors_set_score(struct wfs_vectors *vectors, uint32_t id, double score)
{
	struct place place;

	if (!isfinite(score))
		return -EINVAL;
	if (!find_place(vectors, id, &place))
		return -ENOENT;
	place.chunk->scores[place.row] = score;
	return 0;
}

/* --- hits: a heap with the worst hit on top --- */

struct hits {
	struct wfs_vectors_hit *items;
	size_t count;
	size_t limit;
};

static bool is_worse(const struct wfs_vectors_hit *a, const struct wfs_vectors_hit *b)
{
	return a->score != b->score ? a->score < b->score : a->id > b->id;
}

/* Inserts @hit, from the top down. */
static void sift_down(struct hits *hits, struct wfs_vectors_hit hit)
{
	size_t at = 0;

	for (size_t child = 1; child < hits->count; child = 2 * at + 1) {
		if (child + 1 < hits->count &&
			is_worse(&hits->items[child + 1], &hits->items[child]))
			child++;
		if (!is_worse(&hits->items[child], &hit))
			break;
		hits->items[at] = hits->items[child];
		at = child;
	}
	hits->items[at] = hit;
}

static void sift_up(struct hits *hits, struct wfs_vectors_hit hit)
{
	size_t at = hits->count++;

	for (; at > 0 && is_worse(&hit, &hits->items[(at - 1) / 2]); at = (at - 1) / 2)
		hits->items[at] = hits->items[(at - 1) / 2];
	hits->items[at] = hit;
}

static void offer(struct hits *hits, struct wfs_vectors_hit hit)
{
	if (hits->count < hits->limit)
		sift_up(hits, hit);
	else if (is_worse(&hits->items[0], &hit))
		sift_down(hits, hit);
}

/* Sorts the hits, best first: the worst goes last, then the worst of the others … */
static void sort_hits(struct hits *hits)
{
	const size_t count = hits->count;

	while (hits->count > 1) {
		const struct wfs_vectors_hit worst = hits->items[0];
		const struct wfs_vectors_hit last = hits->items[--hits->count];

		sift_down(hits, last);
		hits->items[hits->count] = worst;
	}
	hits->count = count;
}

/* --- the search --- */

/*
 * How far a cosine in float may be from that in double. With u = 2^-24, and vectors x of the query
 * and y of the row, |x| = 1: rounding the query gives at most u |y|; a sum of products in which no
 * term passes more than n roundings at most n u |y| (Higham, "Accuracy and Stability of Numerical
 * Algorithms", 3.1, with the inequality of Cauchy and Schwarz), where n = 1 for the product,
 * stride / STEP for its lane, and 7 for adding up lanes; the inverse of |y| and multiplying by it 2
 * u. Together at most (stride / STEP + 11) u, but for terms of u². Twice (stride / STEP + 32) u
 * leaves room for these, for numbers next to zero that a processor may take as zero, and for what
 * the sum in double itself is off, at most WFS_VECTORS_DIMS_MAX * 2^-52.
 */
static double rough_error(const struct wfs_vectors *vectors)
{
	const size_t roundings = vectors->stride / STEP + 32;

	return (double)roundings * 0x1p-23;
}

static float rough_product(const float *query, const float *vector, size_t stride)
{
	const lane *const x = (const lane *)query;
	const lane *const y = (const lane *)vector;
	lane sums[LANES] = {0};
	lane sum;

	for (size_t i = 0; i < stride / LANE_FLOATS; i += LANES) {
		__builtin_prefetch(vector + LANE_FLOATS * i + AHEAD);
		sums[0] += x[i] * y[i];
		sums[1] += x[i + 1] * y[i + 1];
		sums[2] += x[i + 2] * y[i + 2];
		sums[3] += x[i + 3] * y[i + 3];
	}
	sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
	return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* Fills `rough` of every row. Return: the lowest of the `limit` best rough cosines, or -INFINITY if
 * any row may be a hit. */
static double find_floor(const struct wfs_vectors *vectors, struct hits *hits)
{
	for (size_t i = 0; i < used_chunks(vectors); i++) {
		struct chunk *const chunk = vectors->chunks[i];
		const float *vector = chunk->values;

		for (size_t row = 0; row < used_rows(vectors, i); row++) {
			const float score = chunk->inverses[row] *
				rough_product(vectors->query, vector, vectors->stride);

			chunk->rough[row] = score;
			vector += vectors->stride;
			if (!isnan(score))
				offer(hits, (struct wfs_vectors_hit){chunk->ids[row], score});
		}
	}
	return hits->count < hits->limit ? -INFINITY : hits->items[0].score;
}

static double exact_product(const float *query, const float *vector, size_t dims)
{
	double sum = 0;

	for (size_t i = 0; i < dims; i++)
		sum += (double)query[i] * (double)vector[i];
	return sum;
}

/* Computes in double all rows that may have a cosine of at least @floor. */
static void find_hits(const struct wfs_vectors *vectors, const float *query, double query_length,
	double floor, struct hits *hits)
{
	for (size_t index = 0; index < vectors->count; index++) {
		const struct place at = place_of(vectors, index);

		/* A rough cosine that is NAN is not below anything. */
		if (floor > -INFINITY && (double)at.chunk->rough[at.row] < floor)
			continue;
		const double product = exact_product(query, vector_at(vectors, at), vectors->dims);

		offer(hits,
			(struct wfs_vectors_hit){at.chunk->ids[at.row],
				product / (query_length * at.chunk->lengths[at.row])});
	}
}

int wfs_vectors_search(struct wfs_vectors *vectors, const float *query, size_t limit,
	struct wfs_vectors_hit *ret_hits, struct wfs_error *error)
{
	const double length = length_of(query, vectors->dims);
	struct hits hits = {.items = ret_hits, .limit = limit};
	double floor = -INFINITY;
	int r;

	if (limit < 1 || limit > WFS_VECTORS_LIMIT_MAX)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"a search gives 1 to %d hits, not %zu", WFS_VECTORS_LIMIT_MAX, limit);
	r = check_length(length, "query", error);
	if (r)
		return r;
	if (vectors->count > limit) {
		for (size_t i = 0; i < vectors->stride; i++)
			vectors->query[i] =
				i < vectors->dims ? (float)((double)query[i] / length) : 0;
		/* A row that is among the best has at least the worst rough cosine of `limit` rows,
		 * less their error; its own rough cosine may be below by its own error. */
		floor = find_floor(vectors, &hits) - 2 * rough_error(vectors);
		hits.count = 0;
	}
	find_hits(vectors, query, length, floor, &hits);
	sort_hits(&hits);
	return (int)hits.count;
}

/* --- choosing a row to drop --- */

static double value_of(struct place place, enum wfs_vectors_order order)
{
	switch (order) {
	case WFS_VECTORS_LOWEST_SCORE:
		return place.chunk->scores[place.row];
	case WFS_VECTORS_LOWEST_IMPORTANCE:
		return place.chunk->importances[place.row];
	case WFS_VECTORS_OLDEST:
		break;
	}
	return 0;
}

static bool goes_before(struct place a, struct place b, enum wfs_vectors_order order)
{
	const double value_a = value_of(a, order);
	const double value_b = value_of(b, order);
	const int64_t tick_a = a.chunk->ticks[a.row];
	const int64_t tick_b = b.chunk->ticks[b.row];
	const uint64_t place_a = a.chunk->places[a.row];
	const uint64_t place_b = b.chunk->places[b.row];

	if (value_a != value_b)
		return value_a < value_b;
	if (tick_a != tick_b && order != WFS_VECTORS_LOWEST_IMPORTANCE)
		return tick_a < tick_b;
	if (place_a != place_b)
		return place_a < place_b;
	return a.chunk->ids[a.row] < b.chunk->ids[b.row];
}

int wfs_vectors_lowest(
	const struct wfs_vectors *vectors, enum wfs_vectors_order order, uint32_t *ret_id)
{
	struct place lowest;

	if (vectors->count == 0)
		return -ENOENT;
	lowest = place_of(vectors, 0);
	for (size_t index = 1; index < vectors->count; index++) {
		const struct place at = place_of(vectors, index);

		if (goes_before(at, lowest, order))
			lowest = at;
	}
	*ret_id = lowest.chunk->ids[lowest.row];
	return 0;
}
