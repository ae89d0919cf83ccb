/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is an exact search as fast as memory is?
 *
 * For COUNT random vectors of unit length with DIMS dimensions: the time of a search for the best
 * LIMIT, and the time of reading all of these vectors once and adding their contents up. Medians of
 * RUNS, in turn.
 * Usage: bench-vectors WORLD-SOURCE (which is not read)
 */
#include <errno.h>
#include <math.h>

#include "bench.h"
#include "kernel/base/clock.h"
#include "kernel/vector/vectors.h"

enum {
	COUNT = 100000,
	DIMS = 768,
	LIMIT = 5,
	RUNS = 21,
	AHEAD = 128, /* lanes that are fetched from memory before they are needed */
};

typedef uint64_t lane __attribute__((vector_size(16), may_alias));

static uint64_t random_state = 88172645463325252U;

/* xorshift64 (Marsaglia, 2003). Return: from -1 to 1. */
static double random_number(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (double)(random_state >> 11) * 0x1p-52 - 1;
}

/* Sums of three numbers are close enough to a normal distribution not to favour a direction. */
static void random_vector(float *vector)
{
	double numbers[DIMS];
	double squares = 0;

	for (size_t i = 0; i < DIMS; i++) {
		numbers[i] = random_number() + random_number() + random_number();
		squares += numbers[i] * numbers[i];
	}
	for (size_t i = 0; i < DIMS; i++)
		vector[i] = (float)(numbers[i] / sqrt(squares));
}

static void fill(struct wfs_vectors *vectors, const float **ret_rows)
{
	struct wfs_error error = {0};
	float vector[DIMS];

	for (uint32_t id = 0; id < COUNT; id++) {
		struct wfs_vectors_row row = {.id = id, .vector = vector};

		random_vector(vector);
		bench_check(wfs_vectors_add(vectors, &row, &error), "add", &error);
	}
	for (uint32_t id = 0; id < COUNT; id++) {
		struct wfs_vectors_row row;

		bench_check(wfs_vectors_find(vectors, id, &row), "find", NULL);
		ret_rows[id] = row.vector;
	}
}

/* Adds up bits, not numbers: no addition of floats delays the reads. */
static double read_seconds(const float *const *rows, volatile uint64_t *ret_sum)
{
	const int64_t start_ns = wfs_clock_monotonic_ns();
	lane sums[4] = {0};

	for (size_t row = 0; row < COUNT; row++) {
		const lane *const at = (const lane *)rows[row];

		for (size_t i = 0; i < DIMS * sizeof(float) / sizeof(lane); i += 4) {
			__builtin_prefetch(at + i + AHEAD);
			for (size_t j = 0; j < 4; j++)
				sums[j] += at[i + j];
		}
	}
	for (size_t j = 0; j < 4; j++)
		*ret_sum += sums[j][0] + sums[j][1];
	return bench_seconds_since(start_ns);
}

static double search_seconds(struct wfs_vectors *vectors, const float *query)
{
	const int64_t start_ns = wfs_clock_monotonic_ns();
	struct wfs_vectors_hit hits[LIMIT];
	struct wfs_error error = {0};
	const int count = wfs_vectors_search(vectors, query, LIMIT, hits, &error);

	bench_check(count, "search", &error);
	bench_check(count == LIMIT ? 0 : -EIO, "hits", NULL);
	return bench_seconds_since(start_ns);
}

int main(void)
{
	WFS_AUTO_VECTORS struct wfs_vectors *vectors = NULL;
	static const float *rows[COUNT];
	struct wfs_error error = {0};
	volatile uint64_t sum = 0;
	double searches[RUNS];
	double reads[RUNS];
	float query[DIMS];

	bench_check(wfs_vectors_new(DIMS, &vectors, &error), "new", &error);
	fill(vectors, rows);
	for (size_t run = 0; run < RUNS; run++) {
		random_vector(query);
		searches[run] = search_seconds(vectors, query);
		reads[run] = read_seconds(rows, &sum);
	}
	const double search = bench_median(searches, RUNS);
	const double read = bench_median(reads, RUNS);
	const double gigabytes = (double)COUNT * DIMS * sizeof(float) / 1e9;

	printf("searching %d vectors of %d dimensions, %.0f MB\n", COUNT, DIMS,
		(double)wfs_vectors_size_bytes(vectors) / 1e6);
	printf("  %-28s %8.2f ms %8.1f GB/s\n", "read all of them", read * 1e3, gigabytes / read);
	printf("  %-28s %8.2f ms %8.1f GB/s\n", "exact search, limit 5", search * 1e3,
		gigabytes / search);
	printf("  %-28s %8.2f     (goal: below 3)\n", "ratio", search / read);
	return 0;
}
