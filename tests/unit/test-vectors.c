/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of vectors: rows, refusals, searches compared with plain arithmetic, and which row is
 * removed first. */
#include "tests/fixture/test.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/vector/vectors.h"

/* --- memory that ends --- */

static unsigned int allocations_until_failure; /* 0: none fails */

/* NOLINTBEGIN(readability-identifier-naming): the linker's names, see ld(1), --wrap */
void *__real_calloc(size_t count, size_t size);
void *__real_reallocarray(void *block, size_t count, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_reallocarray(void *block, size_t count, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static bool allocation_fails(void)
{
	return allocations_until_failure > 0 && --allocations_until_failure == 0;
}

void *__wrap_calloc(size_t count, size_t size)
{
	return allocation_fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_reallocarray(void *block, size_t count, size_t size)
{
	return allocation_fails() ? NULL : __real_reallocarray(block, count, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	void *const block = allocation_fails() ? NULL : __real_aligned_alloc(alignment, size);

	return block ? memset(block, 0xff, size) : NULL; /* callers must not rely on zeros */
}
/* NOLINTEND(readability-identifier-naming) */

/* --- sets --- */

static struct wfs_vectors *new_set(size_t dims)
{
	struct wfs_vectors *vectors = NULL;

	assert_int_equal(wfs_vectors_new(dims, &vectors, NULL), 0);
	return vectors;
}

static void add(struct wfs_vectors *vectors, uint32_t id, const float *vector)
{
	const struct wfs_vectors_row row = {.id = id, .vector = vector};

	assert_int_equal(wfs_vectors_add(vectors, &row, NULL), 0);
}

static void add_ranked(struct wfs_vectors *vectors, uint32_t id, int64_t tick, double value)
{
	const float vector[] = {1};
	const struct wfs_vectors_row row = {
		.id = id, .tick = tick, .importance = value, .score = -value, .vector = vector};

	assert_int_equal(wfs_vectors_add(vectors, &row, NULL), 0);
}

/* Adds a row with a place: several rows may be made at one tick, in a known order. */
static void add_placed(struct wfs_vectors *vectors, uint32_t id, int64_t tick, uint64_t place)
{
	const float vector[] = {1};
	const struct wfs_vectors_row row = {
		.id = id, .tick = tick, .place = place, .importance = 0.5, .vector = vector};

	assert_int_equal(wfs_vectors_add(vectors, &row, NULL), 0);
}

static uint32_t lowest(const struct wfs_vectors *vectors, enum wfs_vectors_order order)
{
	uint32_t id = UINT32_MAX;

	assert_int_equal(wfs_vectors_lowest(vectors, order, &id), 0);
	return id;
}

static uint64_t random_state = 88172645463325252U;

/* xorshift64 (Marsaglia, 2003). */
static uint64_t random_bits(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* From -1 to 1. */
static float random_number(void)
{
	return (float)((double)(random_bits() >> 11) * 0x1p-52 - 1);
}

static void random_vector(float *vector, size_t dims)
{
	for (size_t i = 0; i < dims; i++)
		vector[i] = random_number();
}

/* --- the reference --- */

/* The rows of a set, in a plain array. */
struct plain {
	size_t dims;
	size_t count;
	uint32_t *ids;
	float *values;
};

static void plain_done(struct plain *plain)
{
	free(plain->ids);
	free(plain->values);
}
#define PLAIN_AUTO WFS_CLEANUP(plain_done)

static struct plain plain_new(size_t dims, size_t count)
{
	struct plain plain = {.dims = dims,
		.count = count,
		.ids = malloc(count * sizeof(uint32_t) + 1),
		.values = malloc(count * dims * sizeof(float) + 1)};

	assert_non_null(plain.ids);
	assert_non_null(plain.values);
	return plain;
}

static float *plain_at(const struct plain *plain, size_t index)
{
	return plain->values + index * plain->dims;
}

static double plain_product(const float *a, const float *b, size_t dims)
{
	double sum = 0;

	for (size_t i = 0; i < dims; i++)
		sum += (double)a[i] * (double)b[i];
	return sum;
}

static double plain_cosine(const float *a, const float *b, size_t dims)
{
	return plain_product(a, b, dims) /
		(sqrt(plain_product(a, a, dims)) * sqrt(plain_product(b, b, dims)));
}

static int compare_hits(const void *a, const void *b)
{
	const struct wfs_vectors_hit *const x = a;
	const struct wfs_vectors_hit *const y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static struct wfs_vectors *set_of(const struct plain *plain)
{
	struct wfs_vectors *const vectors = new_set(plain->dims);

	for (size_t i = 0; i < plain->count; i++)
		add(vectors, plain->ids[i], plain_at(plain, i));
	return vectors;
}

/* Searches the set, and fails if the result differs by one bit from that of plain arithmetic. */
static void assert_search(
	const char *name, struct wfs_vectors *vectors, const struct plain *plain, size_t limit)
{
	WFS_AUTO_FREE struct wfs_vectors_hit *all = calloc(plain->count + 1, sizeof(*all));
	WFS_AUTO_FREE struct wfs_vectors_hit *hits = calloc(limit, sizeof(*hits));
	WFS_AUTO_FREE float *query = calloc(plain->dims, sizeof(*query));
	const size_t expected = plain->count < limit ? plain->count : limit;

	if (plain->count > 0)
		memcpy(query, plain_at(plain, plain->count / 2), plain->dims * sizeof(*query));
	query[0] += 0.25F;
	for (size_t i = 0; i < plain->count; i++)
		all[i] = (struct wfs_vectors_hit){
			plain->ids[i], plain_cosine(query, plain_at(plain, i), plain->dims)};
	qsort(all, plain->count, sizeof(*all), compare_hits);

	const int count = wfs_vectors_search(vectors, query, limit, hits, NULL);

	if (count != (int)expected)
		fail_msg("%s: %zu dimensions, %zu rows, limit %zu: %d hits", name, plain->dims,
			plain->count, limit, count);
	for (size_t i = 0; i < expected; i++)
		if (hits[i].id != all[i].id || hits[i].score != all[i].score)
			fail_msg("%s: %zu dimensions, %zu rows, limit %zu: hit %zu is %u %a, not "
				 "%u %a",
				name, plain->dims, plain->count, limit, i, hits[i].id,
				hits[i].score, all[i].id, all[i].score);
}

static void assert_searches(const char *name, const struct plain *plain)
{
	static const size_t limits[] = {1, 2, 5, 100, WFS_VECTORS_LIMIT_MAX};
	WFS_AUTO_VECTORS struct wfs_vectors *vectors = set_of(plain);

	for (size_t i = 0; i < WFS_ARRAY_COUNT(limits); i++)
		assert_search(name, vectors, plain, limits[i]);
}

/* --- rows --- */

TEST(vectors_find_gives_what_was_added)
{
	WFS_AUTO_VECTORS struct wfs_vectors *vectors = new_set(3);
	const float vector[] = {1, -2, 3};
	const struct wfs_vectors_row row = {
		.id = 7, .tick = -4, .importance = 0.5, .score = 0.25, .vector = vector};
	struct wfs_vectors_row found = {0};

	assert_int_equal(wfs_vectors_add(vectors, &row, NULL), 0);

	assert_int_equal(wfs_vectors_find(vectors, 7, &found), 0);
	assert_int_equal(found.id, 7);
	assert_int_equal(found.tick, -4);
	assert_true(found.importance == 0.5 && found.score == 0.25);
	assert_ptr_not_equal(found.vector, vector);
	assert_memory_equal(found.vector, vector, sizeof(vector));
}

TEST(vectors_find_misses_ids_that_are_not_there)
{
	WFS_AUTO_VECTORS struct wfs_vectors *vectors = new_set(1);
	struct wfs_vectors_row found;

	add_ranked(vectors, 1, 0, 0);

	assert_int_equal(wfs_vectors_find(vectors, 2, &found), -ENOENT);
	assert_int_equal(wfs_vectors_remove(vectors, 2), -ENOENT);
	assert_int_equal(wfs_vectors_set_score(vectors, 2, 1), -ENOENT);
}

TEST(vectors_keep_every_other_row_when_one_is_removed)
{
	enum { COUNT = 600 };
	WFS_AUTO_VECTORS struct wfs_vectors *vectors = new_set(1);
	struct wfs_vectors_row found;

	for (uint32_t id = 0; id < COUNT; id++)
		add_ranked(vectors, id, id, 0);
	for (uint32_t id = 0; id < COUNT; id += 2)
		assert_int_equal(wfs_vectors_remove(vectors, id), 0);
	for (uint32_t id = 0; id < COUNT; id++) {
		const int r = wfs_vectors_find(vectors, id, &found);

		if (r != (id % 2 ? 0 : -ENOENT) || (r == 0 && found.tick != id))
			fail_msg("id %u: %d", id, r);
	}
}

TEST(vectors_take_an_id_again_after_it_was_removed)
{
	WFS_AUTO_VECTORS struct wfs_vectors *vectors = new_set(1);
	struct wfs_vectors_row found;

	add_ranked(vectors, 1, 10, 0);
	assert_int_equal(wfs_vectors_remove(vectors, 1), 0);
	add_ranked(vectors, 1, 20, 0);

	assert_int_equal(wfs_vectors_find(vectors, 1, &found), 0);
	assert_int_equal(found.tick, 20);
}

TEST(vectors_set_score_changes_one_row)
{
	WFS_AUTO_VECTORS struct wfs_vectors *vectors = new_set(1);
	struct wfs_vectors_row one;
	struct wfs_vectors_row two;

	add_ranked(vectors, 1, 0, 0);
	add_ranked(vectors, 2, 0, 0);
	assert_int_equal(wfs_vectors_set_score(vectors, 2, 0.75), 0);

	assert_int_equal(wfs_vectors_find(vectors, 1, &one), 0);
	assert_int_equal(wfs_vectors_find(vectors, 2, &two), 0);
	assert_true(one.score == 0 && two.score == 0.75);
}

TEST(vectors_give_memory_back)
{
	enum { COUNT = 2000 };
	WFS_AUTO_VECTORS struct wfs_vectors *vectors = new_set(100);
	const size_t empty_bytes = wfs_vectors_size_bytes(vectors);
	float vector[100] = {1};

	for (uint32_t id = 0; id < COUNT; id++)
		add(vectors, id, vector);
	const size_t full_bytes = wfs_vectors_size_bytes(vectors);

	for (uint32_t id = 0; id < COUNT; id++)
		assert_int_equal(wfs_vectors_remove(vectors, id), 0);

	assert_true(full_bytes >= empty_bytes + COUNT * sizeof(vector));
	assert_true(wfs_vectors_size_bytes(vectors) < full_bytes / 4);
}

/* --- what is refused --- */

TEST(vectors_new_refuses_dimensions_out_of_bounds)
{
	struct wfs_vectors *vectors = NULL;
	struct wfs_error error = {0};

	assert_int_equal(wfs_vectors_new(0, &vectors, &error), -EINVAL);
	assert_int_equal(error.code, WFS_E_INVALID_ARGUMENT);
	assert_int_equal(wfs_vectors_new(WFS_VECTORS_DIMS_MAX + 1, &vectors, &error), -EINVAL);
	assert_string_equal(error.message, "a vector has 1 to 16384 dimensions, not 16385");
	assert_null(vectors);
}

static void assert_vector_refused(const float *vector, const char *message)
{
	WFS_AUTO_VECTORS struct wfs_vectors *vectors = new_set(2);
	const struct wfs_vectors_row row = {.id = 1, .vector = vector};
	struct wfs_error error = {0};

	assert_int_equal(wfs_vectors_add(vectors, &row, &error), -EINVAL);
	assert_int_equal(error.code, WFS_E_INVALID_ARGUMENT);
	assert_string_equal(error.message, message);
	assert_int_equal(wfs_vectors_lowest(vectors, WFS_VECTORS_OLDEST, &(uint32_t){0}), -ENOENT);
}

TEST(vectors_add_refuses_a_zero_vector)
{
	assert_vector_refused((float[]){0, -0.0F}, "all numbers of the vector are zero");
}

TEST(vectors_add_refuses_numbers_that_are_not_finite)
{
	assert_vector_refused((float[]){1, NAN}, "a number of the vector is not finite");
	assert_vector_refused((float[]){-INFINITY, 1}, "a number of the vector is not finite");
}

TEST(vectors_add_refuses_an_order_that_is_not_finite)
{
	WFS_AUTO_VECTORS struct wfs_vectors *vectors = new_set(1);
	const float vector[] = {1};
	const struct wfs_vectors_row importance = {.importance = NAN, .vector = vector};
	const struct wfs_vectors_row score = {.score = INFINITY, .vector = vector};
	struct wfs_error error = {0};

	assert_int_equal(wfs_vectors_add(vectors, &importance, &error), -EINVAL);
	assert_int_equal(error.code, WFS_E_INVALID_ARGUMENT);
	assert_int_equal(wfs_vectors_add(vectors, &score, &error), -EINVAL);
	add_ranked(vectors, 1, 0, 0);
	assert_int_equal(wfs_vectors_set_score(vectors, 1, NAN), -EINVAL);
}

TEST(vectors_add_refuses_an_id_twice)
{
	WFS_AUTO_VECTORS struct wfs_vectors *vectors = new_set(1);
	const float vector[] = {1};
	const struct wfs_vectors_row row = {.id = 5, .vector = vector};
	struct wfs_error error = {0};

	add(vectors, 5, vector);

	assert_int_equal(wfs_vectors_add(vectors, &row, &error), -EEXIST);
	assert_int_equal(error.code, WFS_E_ALREADY_EXISTS);
	assert_string_equal(error.message, "there is a vector with the id 5 already");
}

TEST(vectors_search_refuses_queries_without_direction)
{
	WFS_AUTO_VECTORS struct wfs_vectors *vectors = new_set(2);
	struct wfs_vectors_hit hit;
	struct wfs_error error = {0};

	add(vectors, 1, (float[]){1, 0});

	assert_int_equal(wfs_vectors_search(vectors, (float[]){0, 0}, 1, &hit, &error), -EINVAL);
	assert_int_equal(error.code, WFS_E_INVALID_ARGUMENT);
	assert_string_equal(error.message, "all numbers of the query are zero");
	assert_int_equal(wfs_vectors_search(vectors, (float[]){0, NAN}, 1, &hit, &error), -EINVAL);
	assert_string_equal(error.message, "a number of the query is not finite");
}

TEST(vectors_search_refuses_limits_out_of_bounds)
{
	WFS_AUTO_VECTORS struct wfs_vectors *vectors = new_set(1);
	struct wfs_vectors_hit hit;
	struct wfs_error error = {0};

	assert_int_equal(wfs_vectors_search(vectors, (float[]){1}, 0, &hit, &error), -EINVAL);
	assert_int_equal(error.code, WFS_E_INVALID_ARGUMENT);
	assert_int_equal(
		wfs_vectors_search(vectors, (float[]){1}, WFS_VECTORS_LIMIT_MAX + 1, &hit, &error),
		-EINVAL);
	assert_string_equal(error.message, "a search gives 1 to 1000 hits, not 1001");
}

/* --- memory --- */

TEST(vectors_new_tells_that_memory_is_out)
{
	struct wfs_vectors *vectors = NULL;

	allocations_until_failure = 1;
	assert_int_equal(wfs_vectors_new(4, &vectors, NULL), -ENOMEM);
	allocations_until_failure = 2;
	assert_int_equal(wfs_vectors_new(4, &vectors, NULL), -ENOMEM);
	assert_null(vectors);
}

TEST(vectors_add_leaves_the_set_as_it_was_when_memory_is_out)
{
	WFS_AUTO_VECTORS struct wfs_vectors *vectors = new_set(1);
	const float vector[] = {1};
	const struct wfs_vectors_row row = {.id = 1, .vector = vector};

	allocations_until_failure = 1;
	assert_int_equal(wfs_vectors_add(vectors, &row, NULL), -ENOMEM);
	allocations_until_failure = 2;
	assert_int_equal(wfs_vectors_add(vectors, &row, NULL), -ENOMEM);
	assert_int_equal(wfs_vectors_lowest(vectors, WFS_VECTORS_OLDEST, &(uint32_t){0}), -ENOENT);
	add(vectors, 1, vector);
}

TEST(vectors_search_allocates_nothing)
{
	PLAIN_AUTO struct plain plain = plain_new(20, 1000);
	WFS_AUTO_VECTORS struct wfs_vectors *vectors = NULL;
	struct wfs_vectors_hit hits[100];
	float query[20] = {1};

	random_vector(plain.values, plain.count * plain.dims);
	for (uint32_t i = 0; i < plain.count; i++)
		plain.ids[i] = i;
	vectors = set_of(&plain);
	allocations_until_failure = 1;
	const int count = wfs_vectors_search(vectors, query, 100, hits, NULL);
	const unsigned int left = allocations_until_failure;

	allocations_until_failure = 0;
	assert_int_equal(count, 100);
	assert_int_equal(left, 1);
}

/* --- searches --- */

TEST(vectors_search_of_an_empty_set_finds_nothing)
{
	WFS_AUTO_VECTORS struct wfs_vectors *vectors = new_set(2);
	struct wfs_vectors_hit hits[5];

	assert_int_equal(wfs_vectors_search(vectors, (float[]){1, 1}, 5, hits, NULL), 0);
}

TEST(vectors_search_gives_all_when_the_limit_is_larger)
{
	WFS_AUTO_VECTORS struct wfs_vectors *vectors = new_set(2);
	struct wfs_vectors_hit hits[5];

	add(vectors, 1, (float[]){-2, 0});
	add(vectors, 2, (float[]){0, 0.5F});
	add(vectors, 3, (float[]){3, 0});

	assert_int_equal(wfs_vectors_search(vectors, (float[]){1, 0}, 5, hits, NULL), 3);
	assert_true(hits[0].id == 3 && hits[0].score == 1);
	assert_true(hits[1].id == 2 && hits[1].score == 0);
	assert_true(hits[2].id == 1 && hits[2].score == -1);
}

TEST(vectors_search_orders_ties_by_id)
{
	static const uint32_t ids[] = {9, 4000000000, 2, 7, 5};
	WFS_AUTO_VECTORS struct wfs_vectors *vectors = new_set(2);
	struct wfs_vectors_hit hits[3];

	for (size_t i = 0; i < WFS_ARRAY_COUNT(ids); i++)
		add(vectors, ids[i], (float[]){1, 2});

	assert_int_equal(wfs_vectors_search(vectors, (float[]){3, 4}, 3, hits, NULL), 3);
	assert_int_equal(hits[0].id, 2);
	assert_int_equal(hits[1].id, 5);
	assert_int_equal(hits[2].id, 7);
}

/* Gives ids in no order, so that rows of equal scores are not found in the order of rows. */
static void number_rows(struct plain *plain)
{
	for (uint32_t i = 0; i < plain->count; i++)
		plain->ids[i] = i * 2654435761U;
}

TEST(vectors_search_is_that_of_plain_arithmetic_on_random_sets)
{
	static const size_t dims[] = {1, 2, 15, 16, 17, 100, 768};
	static const size_t counts[] = {1, 4, 255, 256, 257, 1500};

	for (size_t d = 0; d < WFS_ARRAY_COUNT(dims); d++) {
		for (size_t c = 0; c < WFS_ARRAY_COUNT(counts); c++) {
			PLAIN_AUTO struct plain plain = plain_new(dims[d], counts[c]);

			number_rows(&plain);
			random_vector(plain.values, plain.count * plain.dims);
			assert_searches("random", &plain);
		}
	}
}

TEST(vectors_search_is_that_of_plain_arithmetic_at_the_most_dimensions)
{
	PLAIN_AUTO struct plain plain = plain_new(WFS_VECTORS_DIMS_MAX, 20);

	number_rows(&plain);
	random_vector(plain.values, plain.count * plain.dims);

	assert_searches("most dimensions", &plain);
}

TEST(vectors_search_tells_rows_apart_that_differ_in_the_last_bits)
{
	PLAIN_AUTO struct plain plain = plain_new(96, 1500);

	number_rows(&plain);
	random_vector(plain.values, plain.dims);
	for (size_t i = 1; i < plain.count; i++) {
		float *const vector = plain_at(&plain, i);
		float *const number = vector + random_bits() % plain.dims;

		memcpy(vector, plain.values, plain.dims * sizeof(*vector));
		*number = nextafterf(*number, random_number() * 2);
	}

	assert_searches("last bits", &plain);
}

TEST(vectors_search_finds_all_of_many_duplicates)
{
	PLAIN_AUTO struct plain plain = plain_new(32, 1500);

	number_rows(&plain);
	for (size_t i = 0; i < plain.count; i++) {
		if (i < 7)
			random_vector(plain_at(&plain, i), plain.dims);
		else
			memcpy(plain_at(&plain, i), plain_at(&plain, i % 7),
				plain.dims * sizeof(float));
	}

	assert_searches("duplicates", &plain);
}

TEST(vectors_search_takes_lengths_that_float_cannot_square)
{
	static const float factors[] = {1, 0x1p-140F, 0x1p-100F, 0x1p-60F, 0x1p60F, 0x1p126F};
	PLAIN_AUTO struct plain plain = plain_new(40, 1500);

	number_rows(&plain);
	random_vector(plain.values, plain.count * plain.dims);
	for (size_t i = 0; i < plain.count; i++)
		for (size_t j = 0; j < plain.dims; j++)
			plain_at(&plain, i)[j] *= factors[i % WFS_ARRAY_COUNT(factors)];

	assert_searches("lengths", &plain);
}

/* float is least exact for sums in which large products cancel each other. */
TEST(vectors_search_survives_cancellation)
{
	PLAIN_AUTO struct plain plain = plain_new(64, 1500);

	number_rows(&plain);
	random_vector(plain.values, plain.count * plain.dims);
	for (size_t i = 0; i < plain.count; i++)
		for (size_t j = 0; j < plain.dims; j += 2) {
			float *const pair = plain_at(&plain, i) + j;

			pair[0] = 1000 + pair[0] / 1000;
			pair[1] = j % 4 ? -pair[0] : pair[0];
		}

	assert_searches("cancellation", &plain);
}

TEST(vectors_search_when_all_cosines_are_negative)
{
	WFS_AUTO_VECTORS struct wfs_vectors *vectors = new_set(2);
	struct wfs_vectors_hit hits[2];

	add(vectors, 1, (float[]){-1, 0});
	add(vectors, 2, (float[]){-1, 1});
	add(vectors, 3, (float[]){-1, 2});

	assert_int_equal(wfs_vectors_search(vectors, (float[]){1, 0}, 2, hits, NULL), 2);
	assert_true(hits[0].id == 3 && hits[0].score < 0);
	assert_int_equal(hits[1].id, 2);
}

TEST(vectors_search_after_rows_were_removed)
{
	PLAIN_AUTO struct plain plain = plain_new(48, 1500);
	WFS_AUTO_VECTORS struct wfs_vectors *vectors = NULL;

	number_rows(&plain);
	random_vector(plain.values, plain.count * plain.dims);
	vectors = set_of(&plain);
	while (plain.count > 400) {
		const size_t gone = random_bits() % plain.count;
		const size_t last = --plain.count;

		assert_int_equal(wfs_vectors_remove(vectors, plain.ids[gone]), 0);
		plain.ids[gone] = plain.ids[last];
		memmove(plain_at(&plain, gone), plain_at(&plain, last), plain.dims * sizeof(float));
	}

	assert_search("removed", vectors, &plain, 1);
	assert_search("removed", vectors, &plain, 50);
	assert_search("removed", vectors, &plain, 1000);
}

/* --- what goes first --- */

TEST(vectors_lowest_of_an_empty_set_is_none)
{
	WFS_AUTO_VECTORS struct wfs_vectors *vectors = new_set(1);
	uint32_t id;

	assert_int_equal(wfs_vectors_lowest(vectors, WFS_VECTORS_OLDEST, &id), -ENOENT);
}

TEST(vectors_lowest_by_age_takes_tick_then_id)
{
	WFS_AUTO_VECTORS struct wfs_vectors *vectors = new_set(1);

	add_ranked(vectors, 1, 6, -1);
	add_ranked(vectors, 4, 5, 9);
	add_ranked(vectors, 3, 5, 9);
	add_ranked(vectors, 2, 7, -9);

	assert_int_equal(lowest(vectors, WFS_VECTORS_OLDEST), 3);
}

TEST(vectors_lowest_by_importance_takes_importance_then_place)
{
	WFS_AUTO_VECTORS struct wfs_vectors *vectors = new_set(1);

	add_ranked(vectors, 1, 1, 0.75);
	add_placed(vectors, 2, 1, 8);
	add_placed(vectors, 5, 3, 7);
	add_placed(vectors, 4, 2, 9);

	assert_int_equal(lowest(vectors, WFS_VECTORS_LOWEST_IMPORTANCE), 5);
}

TEST(vectors_lowest_by_age_takes_the_first_of_those_made_at_once)
{
	WFS_AUTO_VECTORS struct wfs_vectors *vectors = new_set(1);

	add_placed(vectors, 2, 5, 8);
	add_placed(vectors, 3, 6, 6);
	add_placed(vectors, 4, 5, 7);

	assert_int_equal(lowest(vectors, WFS_VECTORS_OLDEST), 4);
}

TEST(vectors_lowest_by_score_takes_score_then_tick_then_id)
{
	WFS_AUTO_VECTORS struct wfs_vectors *vectors = new_set(1);

	add_ranked(vectors, 1, 1, 0.5); /* its score is -0.5 */
	add_ranked(vectors, 2, 3, 0.75);
	add_ranked(vectors, 5, 2, 0.75);
	add_ranked(vectors, 4, 2, 0.75);

	assert_int_equal(lowest(vectors, WFS_VECTORS_LOWEST_SCORE), 4);
	assert_int_equal(wfs_vectors_set_score(vectors, 1, -0.8), 0);
	assert_int_equal(lowest(vectors, WFS_VECTORS_LOWEST_SCORE), 1);
}

TEST(vectors_lowest_looks_at_every_chunk)
{
	WFS_AUTO_VECTORS struct wfs_vectors *vectors = new_set(1);

	for (uint32_t id = 0; id < 600; id++)
		add_ranked(vectors, id, id == 513 ? -1 : 0, 0);

	assert_int_equal(lowest(vectors, WFS_VECTORS_OLDEST), 513);
}
