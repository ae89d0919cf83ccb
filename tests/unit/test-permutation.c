/* SPDX-License-Identifier: Apache-2.0 */
/* Keyed permutations: every number has one image and can be computed back from it, the key
 * decides, and no order is left. */
#include "tests/fixture/test.h"

#include <stdlib.h>

#include "kernel/base/permutation.h"

enum { COUNT = 100000 };

static struct wfs_permutation permutation_of(const char *secret, uint64_t first, unsigned int bits)
{
	struct wfs_permutation permutation;

	assert_int_equal(wfs_permutation_init(&permutation, wfs_bytes_text(secret),
				 wfs_bytes_text("test"), first, bits),
		0);
	return permutation;
}

/* The values are from a second implementation, which also gives the vector of the paper, with
 * its two and four rounds. */
TEST(siphash_gives_what_a_second_implementation_gives)
{
	const uint64_t key[] = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)};

	assert_true(wfs_siphash(key, UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)) ==
		UINT64_C(0xcc4fdd1a7d908b66));
}

TEST(every_number_comes_back)
{
	const struct wfs_permutation whole = permutation_of("secret", 2, 64);
	const struct wfs_permutation half = permutation_of("secret", 3, 62);
	const uint64_t odd[] = {0, 1, 2, 3, UINT64_MAX >> 2, (UINT64_MAX >> 2) + 1, UINT64_MAX};

	for (uint64_t i = 0; i < COUNT; i++) {
		const uint64_t number = i * UINT64_C(0x9e3779b97f4a7c15);

		assert_true(wfs_unpermute(&whole, i, wfs_permute(&whole, i, number)) == number);
		assert_true(wfs_permute(&whole, i, wfs_unpermute(&whole, i, number)) == number);
		assert_true(wfs_unpermute(&half, i, wfs_permute(&half, i, number)) == number);
	}
	for (size_t i = 0; i < 7; i++)
		assert_true(wfs_unpermute(&half, 5, wfs_permute(&half, 5, odd[i])) == odd[i]);
}

TEST(numbers_of_the_part_stay_in_it_and_others_as_they_are)
{
	const struct wfs_permutation half = permutation_of("secret", 3, 62);

	for (uint64_t number = 0; number < 3; number++)
		assert_true(wfs_permute(&half, 7, number) == number);
	assert_true(wfs_permute(&half, 7, UINT64_MAX) == UINT64_MAX);
	for (uint64_t number = 3; number < COUNT; number++) {
		const uint64_t image = wfs_permute(&half, 7, number);

		assert_true(image >= 3 && image >> 62 == 0);
	}
}

static int compare(const void *a, const void *b)
{
	const uint64_t left = *(const uint64_t *)a;
	const uint64_t right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

TEST(two_numbers_have_two_images_and_no_order)
{
	const struct wfs_permutation whole = permutation_of("secret", 2, 64);
	uint64_t *const images = calloc(COUNT, sizeof(*images));
	unsigned int rises = 0;

	assert_non_null(images);
	for (uint64_t i = 0; i < COUNT; i++) {
		images[i] = wfs_permute(&whole, 0, UINT64_C(2) << 60 | i);
		rises += i > 0 && images[i] > images[i - 1];
	}

	assert_in_range(rises, COUNT / 2 - 1000, COUNT / 2 + 1000); /* eleven standard deviations */
	qsort(images, COUNT, sizeof(*images), compare);
	for (size_t i = 1; i < COUNT; i++)
		assert_true(images[i] != images[i - 1]);
	free(images);
}

TEST(secret_purpose_and_tweak_decide)
{
	const struct wfs_permutation one = permutation_of("secret", 2, 64);
	const struct wfs_permutation other = permutation_of("Secret", 2, 64);
	struct wfs_permutation third;
	const uint64_t image = wfs_permute(&one, 0, 1000);

	assert_int_equal(wfs_permutation_init(&third, wfs_bytes_text("secret"),
				 wfs_bytes_text("another"), 2, 64),
		0);
	assert_true(wfs_permute(&other, 0, 1000) != image);
	assert_true(wfs_permute(&third, 0, 1000) != image);
	assert_true(wfs_permute(&one, 1, 1000) != image);
}

/* Values that a program keeps (inode numbers in a backup, a cursor) are still right after an
 * upgrade. */
TEST(images_are_the_same_in_every_version)
{
	const struct wfs_permutation whole = permutation_of("secret", 2, 64);

	assert_true(wfs_permute(&whole, 0, 1000) == UINT64_C(0xfdb18fb74b604e8a));
}
