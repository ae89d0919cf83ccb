/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns as ECMA-262 defines them: what they match, and which are refused. */
#include "tests/fixture/json.h"

#include "kernel/schema/pattern.h"

static int match(const char *pattern_text, const char *text)
{
	WFS_AUTO_PATTERN struct wfs_pattern *pattern = NULL;
	WFS_AUTO_MATCHER struct wfs_matcher *matcher = NULL;
	struct wfs_error error = {0};

	if (wfs_pattern_new(
		    pattern_text, strlen(pattern_text), WFS_PATTERN_ECMA, &pattern, &error) != 0)
		fail_msg("%s: %s", pattern_text, error.message);
	assert_int_equal(wfs_matcher_new(&matcher), 0);
	return wfs_pattern_match(pattern, matcher, text, strlen(text), WFS_PATTERN_MATCH_MAX);
}

static void assert_fits(const char *pattern, const char *text)
{
	if (match(pattern, text) != 1)
		fail_msg("%s does not fit '%s'", pattern, text);
}

static void assert_misses(const char *pattern, const char *text)
{
	if (match(pattern, text) != 0)
		fail_msg("%s fits '%s'", pattern, text);
}

/* @reason: the part of the message after "the pattern does not compile: " */
static void assert_refused_bytes(const char *text, size_t size, const char *reason)
{
	struct wfs_pattern *pattern = NULL;
	struct wfs_error error = {0};

	if (wfs_pattern_new(text, size, WFS_PATTERN_ECMA, &pattern, &error) != -EINVAL)
		fail_msg("%s: was compiled", text);
	assert_null(pattern);
	assert_int_equal(error.code, WFS_E_INVALID_PATTERN);
	assert_string_equal(error.message + strlen("the pattern does not compile: "), reason);
}

static void assert_refused(const char *text, const char *reason)
{
	assert_refused_bytes(text, strlen(text), reason);
}

TEST(space_is_every_space_and_line_end_of_unicode)
{
	static const char *const spaces[] = {"\t", "\v", "\f", " ", "\n", "\r", "\xc2\xa0",
		"\u1680", "\u2000", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000",
		"\ufeff"};
	static const char *const others[] = {"a", "\x01", "\xc2\x85", "\u180e", "\u200b", "\u2013"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(spaces); i++) {
		assert_fits("^\\s$", spaces[i]);
		assert_fits("^[x\\s]$", spaces[i]);
		assert_misses("^\\S$", spaces[i]);
		assert_misses("^[x\\S]$", spaces[i]);
	}
	for (size_t i = 0; i < WFS_ARRAY_COUNT(others); i++) {
		assert_misses("^\\s$", others[i]);
		assert_fits("^[\\S]$", others[i]);
		assert_fits("^[^\\s]$", others[i]);
	}
}

TEST(digits_words_and_their_edges_are_those_of_ascii)
{
	assert_fits("^\\d\\w\\D\\W$", "1_é-");
	assert_misses("\\d", "\u0663");
	assert_misses("\\w", "é");
	assert_fits("^[\\D]$", "\u0663");
	assert_fits("^[\\W_]+$", "é😀_");
	assert_misses("[^\\D\\p{P}]", "😀");
	assert_fits("\\bb\\b", "éb");
	assert_misses("a\\Bé", "aé");
}

TEST(dot_fits_a_character_but_no_line_end)
{
	assert_fits("^.$", "😀");
	assert_misses("^.$", "\n");
	assert_misses("^.$", "\r");
	assert_misses("^.$", "\u2028");
	assert_misses("^.$", "\u2029");
	assert_fits("^.$", "\xc2\x85");
	assert_fits("^[^]$", "\n");
	assert_misses("[]", "a");
	assert_misses("^a$", "a\n");
}

TEST(escapes_name_characters)
{
	assert_fits("^\\t\\n\\v\\f\\r$", "\t\n\v\f\r");
	assert_fits("^\\cJ\\cj\\x41\\u0041\\u{41}\\u{1F600}\\ud83d\\ude00$", "\n\nAAA😀😀");
	assert_fits("^[\\b\\x2d\\]]+$", "\b-]");
	assert_fits("^\\/\\.\\-\\@$", "/.-@");
	assert_misses("^\\0$", "0");
}

TEST(properties_have_the_names_of_unicode)
{
	assert_fits("^\\p{L}\\p{Letter}\\p{gc=Lu}\\p{General_Category=Nd}\\p{digit}$",
		"aéÄ\u0663"
		"3");
	assert_fits("^\\p{Script=Greek}\\p{scx=Cyrl}\\P{sc=Latin}$", "αяα");
	assert_fits("^\\p{ASCII}\\P{ASCII}[\\p{ASCII}][\\P{ASCII}]$", "aéaé");
	assert_fits("^\\p{Any}\\p{Assigned}\\p{Emoji}\\p{White_Space}$", "aa😀 ");
	assert_fits("^[\\p{Lowercase}\\p{punct}]+$", "a-é!");
	assert_fits("^\\p{LC}$", "a");
	assert_misses("^\\P{Letter}$", "é");
	assert_refused("\\p{Greek}", "ECMA-262 has no property 'Greek' at byte 0");
	assert_refused("\\p{letter}", "ECMA-262 has no property 'letter' at byte 0");
	assert_refused("\\p{sc=a-b}", "ECMA-262 has no property 'sc=a-b' at byte 0");
	assert_refused("\\pL", "\\p needs a property in braces at byte 0");
	assert_refused("\\p{sc=Klingon}", "unknown property after \\P or \\p");
}

TEST(brackets_take_ranges_and_a_dash_beside_an_escape)
{
	assert_fits("^[a-cx-]+$", "abcx-");
	assert_fits("^[\\w-.]+$", "a-.");
	assert_fits("^[a-\\d]+$", "a-5");
	assert_fits("^[[:]+$", "[:");
	assert_fits("^[α-ω]$", "π");
	assert_refused("[c-a]", "a range goes from the larger to the smaller at byte 1");
	assert_refused("[a", "missing ] of the [ at byte 0");
	assert_refused("a]", "] without its [, written \\] as a character at byte 1");
	assert_refused("[[:alpha:]]", "] without its [, written \\] as a character at byte 10");
}

TEST(groups_can_be_named_and_referred_to)
{
	assert_fits("^(?<quote>['\"])a\\k<quote>$", "'a'");
	assert_misses("^(?<quote>['\"])a\\k<quote>$", "'a\"");
	assert_fits("^(?:(a)|b)\\1c$", "bc");
	assert_fits("^\\k<n>(?<n>a)$", "a");
	assert_fits("^(?:(.)\\1)*$", "aabb");
	assert_refused("\\1", "a reference to a group that is not there at byte 0");
	assert_refused("(a)\\2", "a reference to a group that is not there at byte 3");
	assert_refused("\\k<n>", "a reference to a group that is not there at byte 0");
	assert_refused("(?<n>a)\\k", "\\k needs the name of a group, like \\k<name> at byte 7");
	assert_refused("(?<n>a)(?<n>b)", "two groups have this name at byte 7");
}

/* In JavaScript the group is unset in the second round, so that `\1` is empty. */
TEST(a_reference_to_what_a_repetition_forgets_is_refused)
{
	assert_refused(
		"^(?:(a)|b)*\\1$", "a reference to a group that a repetition forgets at byte 11");
	assert_refused(
		"(?:(a)?b\\1)+", "a reference to a group that a repetition forgets at byte 8");
}

TEST(look_arounds_look)
{
	assert_fits("^(?=.*\\d)(?!.*x)\\w+$", "ab1");
	assert_misses("^(?=.*\\d)(?!.*x)\\w+$", "abx1");
	assert_fits("(?<=a|bc)d", "bcd");
	assert_fits("(?<!\\$)\\b\\d{2}", "12");
	assert_fits("(?=b) ?b", "ab"); /* PCRE2 10.42 alone does not refuse it */
	assert_refused("(?<=a*)b", "a look-behind needs a fixed number of characters at byte 0");
	assert_refused("(?=a)*", "the quantifier has nothing to repeat at byte 5");
}

TEST(quantifiers_are_those_of_ecma_262)
{
	assert_fits("^a{2}b{1,}c{0,1}d*?e+?f??$", "aabe");
	assert_fits("^{a}\\{$", "{a}{");
	assert_refused("a*+", "the quantifier has nothing to repeat at byte 2");
	assert_refused("*a", "the quantifier has nothing to repeat at byte 0");
	assert_refused("^*", "the quantifier has nothing to repeat at byte 1");
	assert_refused("a{2,1}", "a quantifier goes from the larger to the smaller at byte 1");
	assert_refused("a{,2}", "{,n} is written {0,n} at byte 1");
	assert_refused("a{2", "missing } of the quantifier at byte 1");
	assert_refused("a{65536}", "more than 65535 repetitions at byte 1");
}

TEST(what_only_other_dialects_have_is_refused)
{
	assert_refused("\\Aa\\z", "ECMA-262 has no escape \\A at byte 0");
	assert_refused("a\\h", "ECMA-262 has no escape \\h at byte 1");
	assert_refused("\\Qa\\E", "ECMA-262 has no escape \\Q at byte 0");
	assert_refused("(?i)a", "ECMA-262 has no such group at byte 0");
	assert_refused("(?P<n>a)", "ECMA-262 has no such group at byte 0");
	assert_refused("(?>a)", "ECMA-262 has no such group at byte 0");
	assert_refused("(?#a)", "ECMA-262 has no such group at byte 0");
	assert_refused("(*UCP)a", "the quantifier has nothing to repeat at byte 1");
	assert_refused("\\01", "ECMA-262 has no escape \\0 at byte 0");
	assert_refused("\\é", "ECMA-262 has no such escape at byte 0");
}

TEST(half_written_escapes_are_refused)
{
	assert_refused("a\\", "\\ at the end at byte 1");
	assert_refused("\\x4", "\\x needs two hexadecimal digits at byte 0");
	assert_refused("\\u004", "\\u needs four hexadecimal digits at byte 0");
	assert_refused("\\u{}", "\\u{} has no digits at byte 0");
	assert_refused("\\u{41", "\\u{...} has no end at byte 0");
	assert_refused("\\u{110000}", "\\u{...} is beyond U+10FFFF at byte 0");
	assert_refused("\\ud83d", "half a surrogate pair is not a character at byte 0");
	assert_refused("\\ude00\\ud83d", "half a surrogate pair is not a character at byte 0");
	assert_refused("\\c1", "\\c needs a letter at byte 0");
	assert_refused(")", "unmatched closing parenthesis at byte 0");
	assert_refused("(a", "missing closing parenthesis at byte 2");
	assert_refused("\xff", "a text that is not UTF-8 at byte 0");
}

TEST(a_nul_is_a_character)
{
	WFS_AUTO_PATTERN struct wfs_pattern *pattern = NULL;
	WFS_AUTO_MATCHER struct wfs_matcher *matcher = NULL;
	struct wfs_error error = {0};

	assert_int_equal(wfs_pattern_new("a\0b", 3, WFS_PATTERN_ECMA, &pattern, &error), 0);
	assert_int_equal(wfs_matcher_new(&matcher), 0);

	assert_int_equal(wfs_pattern_match(pattern, matcher, "a\0b", 3, 1 << 10), 1);
	assert_refused_bytes("a\\\0", 3, "ECMA-262 has no such escape at byte 1");
}

TEST(nesting_of_groups_is_bounded)
{
	char text[2 * 201 + 1];
	memset(text, '(', 201);
	memset(text + 201, ')', 201);
	text[402] = '\0';

	assert_refused(text, "groups are nested deeper than 200 at byte 200");
	text[401] = '\0';
	assert_fits(text + 1, "");
}

/* Each `\S` becomes a hundred bytes for PCRE2, and a pattern may have 4096. */
TEST(the_longest_pattern_is_compiled_or_refused)
{
	char text[WFS_PATTERN_SIZE_MAX + 1];
	for (size_t i = 0; i < WFS_PATTERN_SIZE_MAX; i += 2)
		memcpy(text + i, "\\S", 2);
	text[WFS_PATTERN_SIZE_MAX] = '\0';

	assert_refused(text, "regular expression is too large");
	text[1000] = '\0';
	assert_misses(text, "a");
}
