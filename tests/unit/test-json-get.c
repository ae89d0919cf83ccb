/* SPDX-License-Identifier: Apache-2.0 */
/* Reading members of a request. */
#include "tests/fixture/test.h"

#include "kernel/base/cleanup.h"
#include "kernel/base/json.h"
#include "kernel/base/permutation.h"

static json_t *request(void)
{
	json_t *const json = json_pack("{s:s, s:i, s:f, s:n, s:s%}", "text", "abc", "count", 7,
		"real", 1.5, "none", "nul", "a\0b", (size_t)3);

	assert_non_null(json);
	return json;
}

TEST(json_get_string_borrows_the_text)
{
	WFS_AUTO_JSON json_t *json = request();
	const char *text = NULL;

	assert_int_equal(wfs_json_get_string(json, "text", &text, NULL), 0);
	assert_ptr_equal(text, json_string_value(json_object_get(json, "text")));
}

static void assert_no_string(const json_t *json, const char *name, enum wfs_error_code code)
{
	struct wfs_error error = {0};
	const char *text = "before";

	assert_int_equal(wfs_json_get_string(json, name, &text, &error), -EINVAL);
	assert_int_equal(error.code, code);
	assert_string_equal(text, "before");
	if (json_is_object(json))
		assert_non_null(strstr(error.message, name));
}

TEST(json_get_string_refuses_what_is_missing_mistyped_or_has_nul)
{
	WFS_AUTO_JSON json_t *json = request();
	WFS_AUTO_JSON json_t *array = json_array();

	assert_no_string(json, "absent", WFS_E_MISSING_ARGUMENT);
	assert_no_string(json, "count", WFS_E_INVALID_ARGUMENT);
	assert_no_string(json, "none", WFS_E_INVALID_ARGUMENT);
	assert_no_string(json, "nul", WFS_E_INVALID_ARGUMENT);
	assert_no_string(array, "text", WFS_E_INVALID_ARGUMENT);
	assert_no_string(NULL, "text", WFS_E_INVALID_ARGUMENT);
}

TEST(json_get_integer_reads_one_in_range)
{
	WFS_AUTO_JSON json_t *json = request();
	int64_t value = 0;

	assert_int_equal(wfs_json_get_integer(json, "count", 7, 7, &value, NULL), 0);
	assert_int_equal(value, 7);
}

TEST(json_get_integer_keeps_the_default_when_absent)
{
	WFS_AUTO_JSON json_t *json = request();
	int64_t value = 42;

	assert_int_equal(wfs_json_get_integer(json, "absent", 0, 1, &value, NULL), 0);
	assert_int_equal(value, 42);
}

static void assert_no_integer(
	const json_t *json, const char *name, int64_t minimum, int64_t maximum)
{
	struct wfs_error error = {0};
	int64_t value = 42;

	assert_int_equal(
		wfs_json_get_integer(json, name, minimum, maximum, &value, &error), -EINVAL);
	assert_int_equal(error.code, WFS_E_INVALID_ARGUMENT);
	assert_int_equal(value, 42);
}

TEST(json_get_integer_refuses_other_types_and_values_out_of_range)
{
	WFS_AUTO_JSON json_t *json = request();

	assert_no_integer(json, "count", 8, 10);
	assert_no_integer(json, "count", 0, 6);
	assert_no_integer(json, "text", 0, 10);
	assert_no_integer(json, "real", 0, 10);
	assert_no_integer(json, "none", 0, 10);
	assert_no_integer(NULL, "count", 0, 10);
}

TEST(json_only_accepts_listed_members)
{
	static const char *const names[] = {"text", "count", "real", "none", "nul", "more", NULL};
	static const char *const no_names[] = {NULL};
	WFS_AUTO_JSON json_t *json = request();
	WFS_AUTO_JSON json_t *empty = json_object();

	assert_int_equal(wfs_json_only(json, names, NULL), 0);
	assert_int_equal(wfs_json_only(empty, no_names, NULL), 0);
}

TEST(json_only_names_the_unknown_member)
{
	static const char *const names[] = {"text", "coun", NULL};
	WFS_AUTO_JSON json_t *json = json_pack("{s:s, s:i}", "text", "x", "count", 1);
	struct wfs_error error = {0};

	assert_int_equal(wfs_json_only(json, names, &error), -EINVAL);
	assert_int_equal(error.code, WFS_E_INVALID_ARGUMENT);
	assert_string_equal(error.message, "unknown member 'count', expected only: text, coun");
}

TEST(json_only_refuses_what_is_no_object)
{
	static const char *const names[] = {"a", NULL};
	WFS_AUTO_JSON json_t *json = json_array();

	assert_int_equal(wfs_json_only(json, names, NULL), -EINVAL);
	assert_int_equal(wfs_json_only(NULL, names, NULL), -EINVAL);
}

TEST(json_members_takes_those_of_a_list_of_words)
{
	WFS_AUTO_JSON json_t *json = json_pack("{s:i, s:i}", "must", 1, "may", 2);
	WFS_AUTO_JSON json_t *empty = json_object();

	assert_int_equal(wfs_json_members(json, "test", "may? must", NULL), 0);
	assert_int_equal(wfs_json_members(empty, "test", "may?", NULL), 0);
	assert_int_equal(wfs_json_members(empty, "test", "", NULL), 0);
}

TEST(json_members_names_what_is_unknown_or_missing)
{
	WFS_AUTO_JSON json_t *json = json_pack("{s:i}", "mus", 1);
	WFS_AUTO_JSON json_t *empty = json_object();
	struct wfs_error error = {0};

	assert_int_equal(wfs_json_members(json, "test", "must may?", &error), -EINVAL);
	assert_int_equal(error.code, WFS_E_INVALID_ARGUMENT);
	assert_string_equal(error.message, "unknown member 'mus' (test takes: must may?)");
	assert_int_equal(wfs_json_members(json, "test", "", &error), -EINVAL);
	assert_string_equal(error.message, "unknown member 'mus' (test takes: none)");
	assert_int_equal(wfs_json_members(empty, "test", "may? must", &error), -EINVAL);
	assert_int_equal(error.code, WFS_E_MISSING_ARGUMENT);
	assert_string_equal(error.message, "'must' is missing (test takes: may? must)");
	assert_int_equal(wfs_json_members(NULL, "test", "", &error), -EINVAL);
}

TEST(json_set_writes_bytes_and_hashes_as_text)
{
	WFS_AUTO_JSON json_t *json = json_object();
	const struct wfs_hash zero = {.bytes = {0}};

	assert_int_equal(wfs_json_set_base64(json, "data", "hello", 5), 0);
	assert_int_equal(wfs_json_set_hash(json, "hash", &zero), 0);
	assert_string_equal(json_string_value(json_object_get(json, "data")), "aGVsbG8=");
	assert_memory_equal(json_string_value(json_object_get(json, "hash")), "sha256:000", 10);
	assert_int_equal(wfs_json_set_base64(NULL, "data", "", 0), -ENOMEM);
}

/* Reads the cursor that a listing returned back from its member `cursor`. */
static uint64_t cursor_again(const struct wfs_permutation *given,
	const struct wfs_permutation *taken, uint64_t cursor, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *answer = json_object();
	WFS_AUTO_JSON json_t *asked = NULL;
	uint64_t again = UINT64_MAX;

	assert_int_equal(wfs_json_set_cursor(answer, given, cursor), 0);
	asked = json_pack("{s:O}", "cursor", json_object_get(answer, "next_cursor"));
	int r = wfs_json_get_cursor(asked, taken, &again, error);
	assert_int_equal(r, error->code ? -EINVAL : 0);
	return again;
}

TEST(cursors_come_back_to_the_one_that_they_were_given)
{
	static const uint64_t cursors[] = {1, 7, UINT64_C(1) << 40, UINT64_C(1) << 57};
	struct wfs_error error = {0};
	struct wfs_permutation ada;
	struct wfs_permutation bea;

	wfs_permutation_init(&ada, wfs_bytes_text("secret"), wfs_bytes_text("ada"), 1, 64);
	wfs_permutation_init(&bea, wfs_bytes_text("secret"), wfs_bytes_text("bea"), 1, 64);

	for (size_t i = 0; i < 4; i++) {
		assert_true(cursor_again(NULL, NULL, cursors[i], &error) == cursors[i]);
		assert_true(cursor_again(&ada, &ada, cursors[i], &error) == cursors[i]);
	}
	assert_int_equal(error.code, WFS_OK);
	(void)cursor_again(&ada, NULL, 7, &error);
	assert_int_equal(error.code, WFS_E_INVALID_ARGUMENT);
	error.code = WFS_OK;
	(void)cursor_again(NULL, &ada, 7, &error);
	assert_int_equal(error.code, WFS_E_INVALID_ARGUMENT);
	error.code = WFS_OK;
	(void)cursor_again(&bea, &ada, 7, &error);
	assert_int_equal(error.code, WFS_E_INVALID_ARGUMENT); /* one of 16 numbers is a cursor */
}

TEST(what_nobody_gave_is_no_cursor)
{
	static const char *const texts[] = {"", "x", "x7", "7", "X3f2acc7f57c29bdb",
		"x3F2acc7f57c29bdb", "x3f2acc7f57c29bdb0", "x-f2acc7f57c29bdb",
		"x+000000000000007"};
	struct wfs_permutation ada;

	wfs_permutation_init(&ada, wfs_bytes_text("secret"), wfs_bytes_text("ada"), 1, 64);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		WFS_AUTO_JSON json_t *asked = json_pack("{s:s}", "cursor", texts[i]);
		struct wfs_error error = {0};
		uint64_t cursor;

		if (wfs_json_get_cursor(asked, &ada, &cursor, &error) != -EINVAL)
			fail_msg("'%s' is taken", texts[i]);
		assert_int_equal(error.code, WFS_E_INVALID_ARGUMENT);
	}
}

TEST(json_add_missing_appends_what_the_array_does_not_have)
{
	WFS_AUTO_JSON json_t *array = json_pack("[s, i]", "a", 1);
	WFS_AUTO_JSON json_t *values = json_pack("[s, s, i, s]", "b", "a", 1, "b");
	WFS_AUTO_JSON json_t *expected = json_pack("[s, i, s]", "a", 1, "b");

	assert_int_equal(wfs_json_add_missing(array, values), 0);
	assert_true(json_equal(array, expected));
	assert_true(wfs_json_has(array, json_array_get(values, 0)));
	assert_false(wfs_json_has(array, expected));
	assert_false(wfs_json_has(NULL, expected));
}
