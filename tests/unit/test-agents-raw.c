/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/engine/raw.h"

#include "kernel/base/hash-text.h"
#include "kernel/base/json.h"
#include "kernel/value/stand-in.h"
#include "tests/fixture/test.h"

#define KEY "sk-0123456789abcdef"

static void raw_cleanup(struct raw *raw)
{
	raw_done(raw);
}
#define AUTO_RAW WFS_CLEANUP(raw_cleanup)

static void texts_cleanup(struct wfs_texts *texts)
{
	wfs_texts_done(texts);
}
#define AUTO_TEXTS WFS_CLEANUP(texts_cleanup)

static void assert_written(const char *text, const char *secret, const char *expected)
{
	WFS_AUTO_BUFFER struct wfs_buffer written = {0};

	assert_int_equal(raw_write(&written, wfs_bytes_text(text), secret), 0);
	assert_string_equal(wfs_buffer_text(&written), expected);
}

TEST(bytes_without_the_key_stay_as_they_are)
{
	static const char bytes[] = "{\"a\": \"\\u00e9\\\\\",\r\n\t\"b\":1}";

	assert_written(bytes, KEY, bytes);
	assert_written(bytes, NULL, bytes);
	assert_written("ollama", "ollama", "ollama"); /* no key: too short */
}

TEST(the_key_is_masked_wherever_it_comes_back)
{
	assert_written("{\"error\":\"bad key " KEY ", " KEY "\"}", KEY,
		"{\"error\":\"bad key ***, ***\"}");
}

TEST(bytes_with_the_key_in_escapes_are_left_out)
{
	assert_written("{\"error\":\"s\\u006b-0123456789abcdef\"}", KEY,
		"[left out: the key of the model is in these bytes]\n");
}

#define DELTA(text) "data: {\"choices\":[{\"delta\":{\"content\":\"" text "\"}}]}\n\n"

TEST(bytes_with_the_key_in_pieces_of_a_stream_are_left_out)
{
	assert_written(DELTA("sk-01234") DELTA("56789abcdef") "data: [DONE]\n\n", KEY,
		"[left out: the key of the model is in these bytes]\n");
	assert_written(DELTA("sk-01234") DELTA("56789") "data: [DONE]\n\n", KEY,
		DELTA("sk-01234") DELTA("56789") "data: [DONE]\n\n");
}

/* A receipt with an answer to each of three attempts, of which the second got nothing. */
static void name_three(struct raw *raw, json_t *receipt, struct wfs_texts *texts)
{
	WFS_AUTO_BUFFER struct wfs_buffer first = {0};
	WFS_AUTO_BUFFER struct wfs_buffer last = {0};
	struct wfs_error error = {0};

	wfs_buffer_append_text(&first, "busy");
	wfs_buffer_append_text(&last, "{}");
	const struct wfs_buffer answers[] = {first, {0}, last};
	assert_int_equal(raw_take(raw, WFS_BYTES("ask", 3), answers, 3, NULL), 0);
	assert_int_equal(raw_name(raw, receipt, texts, &error), 0);
}

static void assert_hash(const json_t *value, const char *bytes)
{
	const struct wfs_hash hash = wfs_hash_of(bytes, strlen(bytes));

	assert_string_equal(json_string_value(value), WFS_HASH_TEXT(&hash));
}

TEST(a_receipt_names_each_attempt)
{
	AUTO_RAW struct raw raw = {.wanted = true};
	AUTO_TEXTS struct wfs_texts texts = {0};
	WFS_AUTO_JSON json_t *receipt = json_pack("{s:{}}", "payload");

	name_three(&raw, receipt, &texts);
	assert_hash(json_object_get(receipt, "request_hash"), "ask");
	assert_hash(json_object_get(receipt, "response_hash"), "{}");
	const json_t *const earlier = json_object_get(receipt, "earlier_hashes");
	assert_int_equal(json_array_size(earlier), 2);
	assert_hash(json_array_get(earlier, 0), "busy");
	assert_true(json_is_null(json_array_get(earlier, 1)));
	assert_int_equal(raw.bytes_count, 3);
	assert_int_equal(texts.count, 0);
}

TEST(hashes_are_private_if_the_answer_has_a_private_text)
{
	AUTO_RAW struct raw raw = {.wanted = true};
	AUTO_TEXTS struct wfs_texts texts = {0};
	WFS_AUTO_JSON json_t *of = json_pack("[s]", "diary");
	WFS_AUTO_JSON json_t *said = json_string("private");
	json_t *stand_in = NULL;

	assert_int_equal(wfs_text_hide(&texts, of, said, &stand_in), 0);
	WFS_AUTO_JSON json_t *receipt = json_pack("{s:{s:o}}", "payload", "content", stand_in);
	name_three(&raw, receipt, &texts);
	const json_t *const hash = json_object_get(receipt, "request_hash");
	assert_true(wfs_text_is_hidden(hash, NULL));
	assert_true(json_equal(json_object_get(hash, "of"), of));
	assert_int_equal(texts.count, 4);
}

TEST(nothing_is_kept_that_is_not_wanted)
{
	AUTO_RAW struct raw raw = {.wanted = false};
	AUTO_TEXTS struct wfs_texts texts = {0};
	WFS_AUTO_JSON json_t *receipt = json_pack("{s:{}}", "payload");

	name_three(&raw, receipt, &texts);
	assert_int_equal(json_object_size(receipt), 1);
	assert_int_equal(raw.bytes_count, 0);
}
