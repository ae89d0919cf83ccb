/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8, base64 (vectors of RFC 4648 section 10) and the names of keys (spec of the tree). */
#include "tests/fixture/test.h"

#include "kernel/base/encode.h"

#define VALID(text) wfs_utf8_valid(text, sizeof(text) - 1)

TEST(utf8_accepts_the_edges_of_every_length)
{
	assert_true(VALID(""));
	assert_true(VALID("\0\x7f"));
	assert_true(VALID("\xc2\x80\xdf\xbf"));
	assert_true(VALID("\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf"));
	assert_true(VALID("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"));
	assert_true(VALID("a long run of plain text, then \u20ac and more plain text"));
}

TEST(utf8_refuses_overlong_forms)
{
	assert_false(VALID("\xc0\x80"));
	assert_false(VALID("\xc1\xbf"));
	assert_false(VALID("\xe0\x9f\xbf"));
	assert_false(VALID("\xf0\x8f\xbf\xbf"));
}

TEST(utf8_refuses_surrogates_and_what_is_beyond_unicode)
{
	assert_false(VALID("\xed\xa0\x80"));
	assert_false(VALID("\xed\xbf\xbf"));
	assert_false(VALID("\xf4\x90\x80\x80"));
	assert_false(VALID("\xf5\x80\x80\x80"));
	assert_false(VALID("\xff"));
}

TEST(utf8_refuses_cut_and_stray_sequences)
{
	assert_false(VALID("\x80"));
	assert_false(VALID("\xc3"));
	assert_false(VALID("\xe2\x82"));
	assert_false(VALID("\xf0\x9f\x98"));
	assert_false(VALID("\xc3("));
	assert_false(VALID("12345678\xe2\x82(12345678"));
}

TEST(utf8_sequence_gives_the_size_of_the_first_character)
{
	assert_int_equal(wfs_utf8_sequence("", 0), 0);
	assert_int_equal(wfs_utf8_sequence("ab", 2), 1);
	assert_int_equal(wfs_utf8_sequence("\u00e9b", 3), 2);
	assert_int_equal(wfs_utf8_sequence("\u20acb", 4), 3);
	assert_int_equal(wfs_utf8_sequence("\U0001f600b", 5), 4);
	assert_int_equal(wfs_utf8_sequence("\U0001f600", 3), 0);
}

TEST(utf8_cut_drops_only_a_character_that_is_cut)
{
	assert_int_equal(wfs_utf8_cut("", 0), 0);
	assert_int_equal(wfs_utf8_cut("ab", 2), 2);
	assert_int_equal(wfs_utf8_cut("a\u20ac", 2), 1);
	assert_int_equal(wfs_utf8_cut("a\u20ac", 3), 1);
	assert_int_equal(wfs_utf8_cut("a\u20ac", 4), 4);
	assert_int_equal(wfs_utf8_cut("\U0001f600", 3), 0);
	assert_int_equal(wfs_utf8_cut("\U0001f600", 4), 4);
	assert_int_equal(wfs_utf8_cut("a\x80\x80\x80\x80", 5), 5);
}

TEST(line_clean_replaces_control_bytes_and_invalid_ones)
{
	char text[] = "a\n\u20ac\x7f\xff\t";

	wfs_line_clean(text, sizeof(text) - 1);

	assert_string_equal(text, "a?\u20ac???");
}

static void assert_base64(const char *plain, const char *text)
{
	WFS_AUTO_BUFFER struct wfs_buffer encoded = {0};
	WFS_AUTO_BUFFER struct wfs_buffer decoded = {0};

	wfs_base64_append(&encoded, plain, strlen(plain));
	assert_string_equal(wfs_buffer_text(&encoded), text);
	assert_int_equal(wfs_base64_decode(text, strlen(text), &decoded, NULL), 0);
	assert_string_equal(wfs_buffer_text(&decoded), plain);
}

TEST(base64_follows_the_vectors_of_the_standard_both_ways)
{
	assert_base64("", "");
	assert_base64("f", "Zg==");
	assert_base64("fo", "Zm8=");
	assert_base64("foo", "Zm9v");
	assert_base64("foob", "Zm9vYg==");
	assert_base64("fooba", "Zm9vYmE=");
	assert_base64("foobar", "Zm9vYmFy");
}

TEST(base64_round_trips_every_byte)
{
	WFS_AUTO_BUFFER struct wfs_buffer encoded = {0};
	WFS_AUTO_BUFFER struct wfs_buffer decoded = {0};
	uint8_t bytes[256];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(255 - i);
	wfs_base64_append(&encoded, bytes, sizeof(bytes));
	assert_int_equal(wfs_base64_decode(encoded.data, encoded.size, &decoded, NULL), 0);

	assert_true(wfs_bytes_equal(wfs_buffer_bytes(&decoded), WFS_BYTES(bytes, sizeof(bytes))));
}

static void assert_base64_refused(const char *text)
{
	WFS_AUTO_BUFFER struct wfs_buffer buffer = {0};
	struct wfs_error error = {0};

	wfs_buffer_append_text(&buffer, "before");
	assert_int_equal(wfs_base64_decode(text, strlen(text), &buffer, &error), -EINVAL);
	assert_int_equal(error.code, WFS_E_INVALID_ARGUMENT);
	assert_string_equal(wfs_buffer_text(&buffer), "before");
}

TEST(base64_refuses_missing_or_misplaced_padding)
{
	assert_base64_refused("Zg");
	assert_base64_refused("Zg=");
	assert_base64_refused("Zm9vYg");
	assert_base64_refused("Zg==Zg==");
	assert_base64_refused("Z===");
	assert_base64_refused("====");
	assert_base64_refused("=Zg=");
	assert_base64_refused("Zg=v");
	assert_base64_refused("Zm9v====");
}

TEST(base64_refuses_bits_behind_the_last_byte)
{
	assert_base64_refused("Zh==");
	assert_base64_refused("Zm9=");
}

TEST(base64_refuses_white_space_and_other_alphabets)
{
	assert_base64_refused("Zm9v\n");
	assert_base64_refused("Zm 9");
	assert_base64_refused("Zm9v\nZm9");
	assert_base64_refused("Zm-_");
	assert_base64_refused("Zm9v\xc3\xa9..");
}

TEST(base64_decode_reports_when_memory_is_out)
{
	WFS_AUTO_BUFFER struct wfs_buffer buffer = {0};

	wfs_buffer_reserve(&buffer, SIZE_MAX); /* decoding marks the buffer as failed */

	assert_int_equal(wfs_base64_decode("Zg==", 4, &buffer, NULL), -ENOMEM);
}

static void assert_name_of_bytes(const char *key, size_t key_size, const char *name)
{
	WFS_AUTO_BUFFER struct wfs_buffer encoded = {0};
	WFS_AUTO_BUFFER struct wfs_buffer decoded = {0};

	wfs_name_append(&encoded, key, key_size);
	assert_string_equal(wfs_buffer_text(&encoded), name);
	assert_int_equal(wfs_name_size(key, key_size), strlen(name));
	assert_int_equal(wfs_name_decode(name, strlen(name), &decoded), 0);
	assert_true(wfs_bytes_equal(wfs_buffer_bytes(&decoded), WFS_BYTES(key, key_size)));
}

#define assert_name(key, name) assert_name_of_bytes(key, sizeof(key) - 1, name)

TEST(decimal_reads_the_digits_at_the_beginning)
{
	uint64_t number = 7;

	assert_int_equal(wfs_decimal_read("0", 1, &number), 1);
	assert_int_equal(number, 0);
	assert_int_equal(wfs_decimal_read("0042.json", 9, &number), 4);
	assert_int_equal(number, 42);
	assert_int_equal(wfs_decimal_read("4242", 2, &number), 2);
	assert_int_equal(number, 42);
	assert_int_equal(wfs_decimal_read("18446744073709551615", 20, &number), 20);
	assert_true(number == UINT64_MAX);
}

TEST(decimal_refuses_what_is_no_number_or_too_large)
{
	uint64_t number = 7;

	assert_int_equal(wfs_decimal_read("", 0, &number), 0);
	assert_int_equal(wfs_decimal_read("-1", 2, &number), 0);
	assert_int_equal(wfs_decimal_read(" 1", 2, &number), 0);
	assert_int_equal(wfs_decimal_read("18446744073709551616", 20, &number), 0);
	assert_int_equal(wfs_decimal_read("99999999999999999999", 20, &number), 0);
	assert_int_equal(number, 7);
}

TEST(name_of_plain_text_is_the_text)
{
	assert_name("libc6", "libc6");
	assert_name("a b:c\\d", "a b:c\\d");
	assert_name("\u20ac\U0001f600", "\u20ac\U0001f600");
}

TEST(name_escapes_slash_percent_and_control_bytes)
{
	assert_name("a/b", "a%2Fb");
	assert_name("100%", "100%25");
	assert_name("%2F", "%252F");
	assert_name("\x01\x1f\x7f\n", "%01%1F%7F%0A");
	assert_name("a\0b", "a%00b");
}

TEST(name_escapes_bytes_of_invalid_utf8_only)
{
	assert_name("\xff", "%FF");
	assert_name("a\xe2\x82z\u20ac", "a%E2%82z\u20ac");
	assert_name("\xc0\x80", "%C0%80");
}

TEST(name_escapes_the_first_dot_of_the_dot_names_only)
{
	assert_name(".", "%2E");
	assert_name("..", "%2E.");
	assert_name("...", "...");
	assert_name(".hidden", ".hidden");
	assert_name("a.", "a.");
}

TEST(name_of_the_empty_key_is_an_underscore)
{
	assert_name("", "_");
	assert_name("_", "%5F");
	assert_name("__", "__");
	assert_name("_a", "_a");
}

TEST(name_of_every_single_byte_decodes_to_it)
{
	for (int byte = 0; byte < 256; byte++) {
		WFS_AUTO_BUFFER struct wfs_buffer name = {0};
		WFS_AUTO_BUFFER struct wfs_buffer back = {0};
		const char key = (char)byte;

		wfs_name_append(&name, &key, 1);
		if (wfs_name_decode(name.data, name.size, &back) != 0 || back.size != 1 ||
			back.data[0] != key)
			fail_msg("byte %d is not kept by '%s'", byte, wfs_buffer_text(&name));
	}
}

static void assert_no_name_of_bytes(const char *name, size_t size)
{
	WFS_AUTO_BUFFER struct wfs_buffer buffer = {0};

	wfs_buffer_append_text(&buffer, "before");
	assert_int_equal(wfs_name_decode(name, size, &buffer), -ENOENT);
	assert_string_equal(wfs_buffer_text(&buffer), "before");
}

#define assert_no_name(name) assert_no_name_of_bytes(name, sizeof(name) - 1)

TEST(name_decode_refuses_what_the_host_does_not_allow)
{
	assert_no_name("");
	assert_no_name(".");
	assert_no_name("..");
	assert_no_name("a/b");
	assert_no_name("a\0b");
}

TEST(name_decode_refuses_needless_escapes)
{
	assert_no_name("%61");
	assert_no_name("%2E.."); /* the key "..." needs no escape */
	assert_no_name("%2Ea");
	assert_no_name("%5Fa");
	assert_no_name("%2E%2E");
	assert_no_name("%E2%82%AC"); /* valid UTF-8 is not escaped */
	assert_no_name("%E2\x82\xac");
}

TEST(name_decode_refuses_missing_escapes)
{
	assert_no_name("a\nb");
	assert_no_name("\x7f");
	assert_no_name("\xff");
	assert_no_name("%FF\xff");
}

TEST(name_decode_refuses_malformed_escapes)
{
	assert_no_name("%");
	assert_no_name("a%2");
	assert_no_name("%2f"); /* digits in lower case */
	assert_no_name("%GG");
	assert_no_name("% 2F");
}

TEST(name_decode_reports_when_memory_is_out)
{
	WFS_AUTO_BUFFER struct wfs_buffer buffer = {0};

	wfs_buffer_reserve(&buffer, SIZE_MAX); /* decoding marks the buffer as failed */

	assert_int_equal(wfs_name_decode("a", 1, &buffer), -ENOMEM);
	assert_int_equal(wfs_name_decode("%2F", 3, &buffer), -ENOMEM);
	assert_int_equal(wfs_name_decode("_", 1, &buffer), -ENOMEM);
}

TEST(name_size_counts_past_the_limit_of_a_file_name)
{
	char key[WFS_NAME_MAX + 1];

	memset(key, 'a', sizeof(key));
	assert_int_equal(wfs_name_size(key, WFS_NAME_MAX), WFS_NAME_MAX);
	assert_int_equal(wfs_name_size(key, WFS_NAME_MAX + 1), WFS_NAME_MAX + 1);

	key[0] = '/';
	assert_int_equal(wfs_name_size(key, WFS_NAME_MAX), WFS_NAME_MAX + 2);
}
