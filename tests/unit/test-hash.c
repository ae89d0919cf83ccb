/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256, its text form and its one parser. Vectors: FIPS 180-4 examples. */
#include "tests/fixture/test.h"

#include <pthread.h>

#include "kernel/base/hash.h"

#define HEX_EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define HEX_ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define HEX_MILLION_A "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"

static void assert_hex(struct wfs_hash hash, const char *expected)
{
	char hex[WFS_HASH_HEX_SIZE + 1];

	wfs_hash_hex(&hash, hex);
	assert_string_equal(hex, expected);
}

TEST(hash_of_nothing_is_that_of_the_standard)
{
	assert_hex(wfs_hash_of("", 0), HEX_EMPTY);
	assert_hex(wfs_hash_of(NULL, 0), HEX_EMPTY);
}

TEST(hash_of_abc_is_that_of_the_standard)
{
	assert_hex(wfs_hash_of("abc", 3), HEX_ABC);
}

TEST(hash_of_one_call_does_not_depend_on_the_one_before)
{
	wfs_hash_of("something else", 14);

	assert_hex(wfs_hash_of("abc", 3), HEX_ABC);
	assert_hex(wfs_hash_of("abc", 3), HEX_ABC);
}

static void *hash_many(void *failures)
{
	const struct wfs_hash expected = wfs_hash_of("abc", 3);

	for (int i = 0; i < 10000; i++) {
		const struct wfs_hash hash = wfs_hash_of("abc", 3);

		if (!wfs_hash_equal(&hash, &expected))
			++*(int *)failures;
	}
	return NULL;
}

TEST(hash_is_the_same_in_threads_at_once)
{
	pthread_t threads[4];
	int failures[4] = {0};

	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, hash_many, &failures[i]), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);

	for (int i = 0; i < 4; i++)
		assert_int_equal(failures[i], 0);
}

TEST(hash_equal_compares_all_bytes)
{
	struct wfs_hash a = {{0}};
	struct wfs_hash b = {{0}};

	assert_true(wfs_hash_equal(&a, &b));
	b.bytes[WFS_HASH_SIZE - 1] = 1;
	assert_false(wfs_hash_equal(&a, &b));
}

TEST(hash_text_has_the_prefix)
{
	const struct wfs_hash hash = wfs_hash_of("abc", 3);
	char text[WFS_HASH_TEXT_SIZE];

	wfs_hash_text(&hash, text);

	assert_string_equal(text, "sha256:" HEX_ABC);
}

static void assert_parses(const char *text, const char *expected)
{
	struct wfs_hash hash;

	assert_int_equal(wfs_hash_parse(text, strlen(text), &hash, NULL), 0);
	assert_hex(hash, expected);
}

TEST(hash_parse_takes_the_text_with_and_without_prefix)
{
	assert_parses(HEX_ABC, HEX_ABC);
	assert_parses("sha256:" HEX_ABC, HEX_ABC);
}

static void assert_refused(const char *text, size_t size)
{
	struct wfs_hash hash = {{42}};
	struct wfs_error error = {0};

	assert_int_equal(wfs_hash_parse(text, size, &hash, &error), -EINVAL);
	assert_int_equal(error.code, WFS_E_INVALID_ARGUMENT);
	assert_int_equal(hash.bytes[0], 42);
}

TEST(hash_parse_refuses_upper_case)
{
	assert_refused("BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD", 64);
	assert_refused("SHA256:" HEX_ABC, 71);
}

TEST(hash_parse_refuses_another_length)
{
	assert_refused(HEX_ABC, 63);
	assert_refused(HEX_ABC "0", 65);
	assert_refused("sha256:", 7);
	assert_refused("", 0);
	assert_refused(NULL, 0);
}

TEST(hash_parse_refuses_other_prefixes_and_bytes)
{
	assert_refused("sha512:" HEX_ABC, 71);
	assert_refused("sha256:sha256:" HEX_ABC, 78);
	assert_refused(" " HEX_ABC, 65);
	assert_refused("ga7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", 64);
	assert_refused("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015a\0", 64);
}

TEST(hash_parse_shows_what_came)
{
	struct wfs_hash hash;
	struct wfs_error error = {0};
	char long_text[1000];

	wfs_hash_parse("nonsense", 8, &hash, &error);
	assert_non_null(strstr(error.message, "'nonsense'"));

	memset(long_text, 'f', sizeof(long_text));
	wfs_hash_parse(long_text, sizeof(long_text), &hash, &error);
	assert_non_null(strstr(error.message, "(cut)"));
}

TEST(hasher_hashes_pieces_as_one)
{
	WFS_AUTO_HASHER struct wfs_hasher *hasher = NULL;
	char thousand[1000];

	memset(thousand, 'a', sizeof(thousand));
	assert_int_equal(wfs_hasher_new(&hasher), 0);
	for (int i = 0; i < 1000; i++)
		wfs_hasher_add(hasher, thousand, sizeof(thousand));

	assert_hex(wfs_hasher_end(hasher), HEX_MILLION_A);
}

TEST(hasher_starts_over_after_its_end)
{
	WFS_AUTO_HASHER struct wfs_hasher *hasher = NULL;

	assert_int_equal(wfs_hasher_new(&hasher), 0);
	wfs_hasher_add(hasher, "xyz", 3);
	wfs_hasher_end(hasher);
	wfs_hasher_add(hasher, "a", 1);
	wfs_hasher_add(hasher, "bc", 2);

	assert_hex(wfs_hasher_end(hasher), HEX_ABC);
}

TEST(hasher_of_nothing_gives_the_empty_hash_each_time)
{
	WFS_AUTO_HASHER struct wfs_hasher *hasher = NULL;

	assert_int_equal(wfs_hasher_new(&hasher), 0);

	assert_hex(wfs_hasher_end(hasher), HEX_EMPTY);
	assert_hex(wfs_hasher_end(hasher), HEX_EMPTY);
}

TEST(hasher_free_accepts_null_and_one_in_use)
{
	struct wfs_hasher *hasher = NULL;

	wfs_hasher_free(NULL);
	assert_int_equal(wfs_hasher_new(&hasher), 0);
	wfs_hasher_add(hasher, "abc", 3);
	wfs_hasher_free(hasher);
}
