/* SPDX-License-Identifier: Apache-2.0 */
/* The local embedder: it gives the same bytes for ever, refuses some texts, and tells topics
 * apart. */
#include "tests/fixture/test.h"

#include <endian.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/base/hash.h"
#include "kernel/vector/embed.h"

#define TOPICS_FILE SOURCE_ROOT "/tests/data/topics.txt"

enum {
	TEXTS_MAX = 200,
	TOPICS_MAX = 16,
	NAME_SIZE = 32,
	NEAREST = 5,
};

struct vector {
	float numbers[WFS_EMBED_DIMS];
};

static struct vector embed_bytes(const void *text, size_t size)
{
	struct vector vector;

	assert_int_equal(wfs_embed_local(WFS_BYTES(text, size), vector.numbers, NULL), 0);
	return vector;
}

static struct vector embed(const char *text)
{
	return embed_bytes(text, strlen(text));
}

static double similarity(const struct vector *a, const struct vector *b)
{
	double sum = 0;

	for (size_t i = 0; i < WFS_EMBED_DIMS; i++)
		sum += (double)a->numbers[i] * (double)b->numbers[i];
	return sum;
}

static double similarity_of(const char *a, const char *b)
{
	const struct vector x = embed(a);
	const struct vector y = embed(b);

	return similarity(&x, &y);
}

/* --- bytes --- */

TEST(embed_gives_the_same_bytes_twice)
{
	const struct vector one = embed("the market closes at noon");
	const struct vector two = embed("the market closes at noon");

	assert_memory_equal(&one, &two, sizeof(one));
}

/* SHA-256 of the numbers as they are recorded: little-endian. */
static void assert_bytes(const struct vector *vector, const char *expected)
{
	char hex[WFS_HASH_HEX_SIZE + 1];
	uint32_t words[WFS_EMBED_DIMS];
	struct wfs_hash hash;

	memcpy(words, vector, sizeof(words));
	for (size_t i = 0; i < WFS_EMBED_DIMS; i++)
		words[i] = htole32(words[i]);
	hash = wfs_hash_of(words, sizeof(words));
	wfs_hash_hex(&hash, hex);
	assert_string_equal(hex, expected);
}

TEST(embed_of_a_sentence_has_these_bytes)
{
	const struct vector vector =
		embed("Sold 40 scrip worth of sorted data to bob; he paid without haggling.");

	assert_bytes(&vector, "bb56cb642edbf43a18463fcfa80b81801243095efa72bcfd116c32a2c217e371");
}

TEST(embed_of_one_letter_has_these_bytes)
{
	const struct vector vector = embed("x");

	assert_bytes(&vector, "ca9036c435bee3eef169e287ebc73fe83601f3cd519de42ccf2583ba67a12727");
}

TEST(embed_of_many_scripts_has_these_bytes)
{
	const struct vector vector = embed(
		"\u00dcber den Fl\u00fcssen: \u041c\u043e\u0441\u043a\u0432\u0430, "
		"\u0391\u03b8\u03ae\u03bd\u03b1, \u5929\u6c14\u5f88\u597d, \ud55c\uad6d\uc5b4 "
		"\U0001f600 don\u2019t");

	assert_bytes(&vector, "d13877918007c9e3f8edfce2bc149529c47d961110cf4654f377d2a1fea01946");
}

TEST(embed_of_invalid_utf8_has_these_bytes)
{
	const struct vector vector = embed_bytes("caf\xc3 \xff\xfe tea\0milk\xf0\x9f", 18);

	assert_bytes(&vector, "823be64a9b93d2823dca153637ff8143c16ce3582a1577d9401f2c5278839c82");
}

TEST(embed_of_a_long_text_has_these_bytes)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	for (uint32_t i = 0; text.size < 65536; i++)
		wfs_buffer_printf(
			&text, "word%u again and again%s", i * i % 1009, i % 7 ? " " : "");
	const struct vector vector = embed_bytes(text.data, text.size);

	assert_bytes(&vector, "1bd090e2c9f68496a0e9c394c0fd35f44c150cddd2cf6a3369c05fe566cd05b4");
}

/* --- what is refused, and what is not --- */

static void assert_refused(struct wfs_bytes text)
{
	struct vector vector;
	struct wfs_error error = {0};

	assert_int_equal(wfs_embed_local(text, vector.numbers, &error), -EINVAL);
	assert_int_equal(error.code, WFS_E_INVALID_ARGUMENT);
	assert_string_equal(error.message, "Text cannot be empty");
}

TEST(embed_refuses_no_text)
{
	assert_refused(WFS_BYTES(NULL, 0));
	assert_refused(WFS_BYTES("", 0));
}

TEST(embed_refuses_blank_text)
{
	assert_refused(wfs_bytes_text(" \t\r\n \u00a0\u3000"));
}

TEST(embed_refuses_text_without_words)
{
	assert_refused(wfs_bytes_text("... -- '!?' \u2026"));
	assert_refused(WFS_BYTES("\xff\x80\xc3", 3));
}

TEST(embed_takes_texts_of_nothing_but_common_words)
{
	assert_true(similarity_of("to be or not to be", "to be or not to be") > 0.999);
}

TEST(embed_has_unit_length)
{
	static const char *const texts[] = {"x", "a", "the tea is ready",
		"\u5929\u6c14\u5f88\u597d",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(texts); i++) {
		const double square = similarity_of(texts[i], texts[i]);

		if (fabs(square - 1) > 1e-6)
			fail_msg("'%s': the square of the length is %.9f", texts[i], square);
	}
}

/* Reads no byte after the end of the text: sanitizers would see it. */
TEST(embed_takes_a_text_that_is_cut_anywhere)
{
	static const char whole[] = "tea \u00e9t\u00e9 \u5929\u6c14 \U0001f600 milk";

	for (size_t size = 1; size < sizeof(whole); size++) {
		WFS_AUTO_FREE char *text = malloc(size);
		struct vector vector;

		assert_non_null(text);
		memcpy(text, whole, size);
		if (wfs_embed_local(WFS_BYTES(text, size), vector.numbers, NULL) != 0)
			fail_msg("cut at %zu", size);
	}
}

/* --- what is alike --- */

static void assert_same(const char *a, const char *b)
{
	const struct vector x = embed(a);
	const struct vector y = embed(b);

	if (!wfs_bytes_equal(WFS_BYTES(&x, sizeof(x)), WFS_BYTES(&y, sizeof(y))))
		fail_msg("'%s' and '%s' differ: %f", a, b, similarity(&x, &y));
}

TEST(embed_does_not_see_case)
{
	assert_same("Alice Sold The PARSER", "alice sold the parser");
	assert_same("\u00c4RGER IN K\u00d6LN", "\u00e4rger in k\u00f6ln");
	assert_same("\u0141\u00d3D\u0179 \u017dI\u017dKOV", "\u0142\u00f3d\u017a \u017ei\u017ekov");
	assert_same("\u041c\u041e\u0421\u041a\u0412\u0410", "\u043c\u043e\u0441\u043a\u0432\u0430");
	assert_same("\u0391\u0398\u0389\u039d\u0391\u03a3", "\u03b1\u03b8\u03ae\u03bd\u03b1\u03c2");
}

TEST(embed_does_not_see_punctuation)
{
	assert_same("don't wait: sell!", "dont wait \u2014 (sell)");
}

TEST(embed_sees_the_order_of_words_a_little)
{
	const double turned = similarity_of("bob pays alice scrip", "alice pays bob scrip");

	assert_true(turned > 0.8);
	assert_true(turned < 0.999);
}

TEST(embed_finds_words_with_other_endings_alike)
{
	assert_true(similarity_of("baking cakes", "baked a cake") > 0.5);
	assert_true(similarity_of("he stopped trading", "stop all trades") > 0.5);
}

TEST(embed_finds_misspelt_words_alike)
{
	const double misspelt = similarity_of("temperature", "temperatrue");

	assert_true(misspelt > 0.2);
	assert_true(misspelt > similarity_of("temperature", "mushroom") + 0.2);
}

TEST(embed_finds_texts_alike_that_have_no_blanks)
{
	/* "the weather is fine today", "today's weather is bad", "I like apples" */
	const char *const fine = "\u4eca\u5929\u5929\u6c14\u5f88\u597d";
	const char *const bad = "\u4eca\u5929\u7684\u5929\u6c14\u4e0d\u597d";
	const char *const apples = "\u6211\u559c\u6b22\u5403\u82f9\u679c";

	assert_true(similarity_of(fine, bad) > similarity_of(fine, apples) + 0.3);
}

TEST(embed_finds_strangers_unlike)
{
	assert_true(fabs(similarity_of("the auction is over", "my knee hurts")) < 0.2);
}

/* --- topics --- */

struct topics {
	char names[TOPICS_MAX][NAME_SIZE];
	size_t name_count;
	size_t topic[TEXTS_MAX];
	struct vector vectors[TEXTS_MAX];
	size_t count;
};

static size_t topic_index(struct topics *topics, const char *name)
{
	size_t index = 0;

	while (index < topics->name_count && strcmp(topics->names[index], name) != 0)
		index++;
	if (index == topics->name_count) {
		assert_true(index < TOPICS_MAX);
		(void)snprintf(topics->names[index], NAME_SIZE, "%.*s", NAME_SIZE - 1, name);
		topics->name_count++;
	}
	return index;
}

static int topics_setup(void **state)
{
	WFS_AUTO_FILE FILE *file = fopen(TOPICS_FILE, "re");
	struct topics *const topics = calloc(1, sizeof(*topics));
	char line[512];

	assert_non_null(file);
	assert_non_null(topics);
	while (fgets(line, sizeof(line), file)) {
		char *const tab = strchr(line, '\t');

		if (line[0] == '#')
			continue;
		assert_non_null(tab);
		assert_true(topics->count < TEXTS_MAX);
		*tab = '\0';
		topics->topic[topics->count] = topic_index(topics, line);
		topics->vectors[topics->count++] = embed(tab + 1);
	}
	*state = topics;
	return 0;
}

static int topics_teardown(void **state)
{
	free(*state);
	return 0;
}

#define WITH_TOPICS(name) TEST_WITH(name, struct topics *topics, NULL, NULL)

/* How many of the NEAREST other texts have the topic of this one. */
static size_t nearest_of_topic(const struct topics *topics, size_t text)
{
	bool taken[TEXTS_MAX] = {false};
	size_t same = 0;

	taken[text] = true;
	for (size_t n = 0; n < NEAREST; n++) {
		double best = -2;
		size_t nearest = 0;

		for (size_t i = 0; i < topics->count; i++) {
			const double score =
				similarity(&topics->vectors[text], &topics->vectors[i]);

			if (taken[i] || score <= best)
				continue;
			best = score;
			nearest = i;
		}
		taken[nearest] = true;
		same += topics->topic[nearest] == topics->topic[text];
	}
	return same;
}

/* Chance gives 0.11; counting words, weighted by how rare they are in all texts, gives 0.49. */
WITH_TOPICS(embed_finds_texts_of_the_same_topic)
{
	size_t same = 0;

	assert_int_equal(topics->count, 80);
	for (size_t i = 0; i < topics->count; i++)
		same += nearest_of_topic(topics, i);
	const double precision = (double)same / (double)(NEAREST * topics->count);

	print_message("precision at %d: %.3f\n", NEAREST, precision);
	assert_true(precision >= 0.6);
}

WITH_TOPICS(embed_ranks_texts_of_the_same_topic_above_others)
{
	assert_int_equal(topics->name_count, 8);
	for (size_t topic = 0; topic < topics->name_count; topic++) {
		double sums[2] = {0};
		size_t counts[2] = {0};

		for (size_t i = 0; i < topics->count; i++)
			for (size_t j = 0; j < topics->count; j++) {
				const bool same = topics->topic[j] == topic;

				if (topics->topic[i] != topic || i == j)
					continue;
				sums[same] += similarity(&topics->vectors[i], &topics->vectors[j]);
				counts[same]++;
			}
		const double within = sums[1] / (double)counts[1];
		const double across = sums[0] / (double)counts[0];

		print_message(
			"%-8s within %.3f, across %.3f\n", topics->names[topic], within, across);
		if (within < 1.5 * across)
			fail_msg("%s: within %f, across %f", topics->names[topic], within, across);
	}
}

TEST_GROUP(topics_setup, topics_teardown)
