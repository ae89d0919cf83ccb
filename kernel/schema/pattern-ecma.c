/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser of ECMA-262's patterns (with the flag `u`); writes PCRE2's form of what it parses.
 *
 * Characters and classes are written as code points in brackets, so that no option or version of
 * PCRE2 interprets them in another way. Besides what ECMA-262 refuses, this refuses what PCRE2
 * cannot express: a look-behind of varying length, and a reference to a group inside of a
 * repetition. (ECMA-262 clears groups at the beginning of each round, PCRE2 keeps them.)
 * Besides what ECMA-262 accepts, this accepts a backslash before any punctuation, braces that are
 * not a quantifier, and `-` beside an escape like `\w` in brackets. They mean the character itself,
 * as in JavaScript without the flag `u`.
 * Source: ECMA-262, "Patterns" (22.2.1) and "Regular Expressions for Web Browsers" (B.1.2).
 */
#include <stdlib.h>
#include <string.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/encode.h"
#include "kernel/schema/pattern-impl.h"

/* Reads a decimal number. Return: false if it is above PATTERN_REPEAT_MAX. */
static bool take_number(struct pattern_parser *parser, unsigned *ret_number)
{
	unsigned number = 0;

	for (; pattern_is_digit(pattern_peek(parser, 0)); parser->at++) {
		if (number <= PATTERN_REPEAT_MAX)
			number = number * 10 + (unsigned)(pattern_peek(parser, 0) - '0');
	}
	*ret_number = number;
	return number <= PATTERN_REPEAT_MAX;
}

static unsigned add_lengths(unsigned a, unsigned b)
{
	const unsigned sum = a + b; /* neither is above PATTERN_LENGTH_UNKNOWN */

	return sum > PATTERN_REPEAT_MAX ? PATTERN_LENGTH_VARIES : sum;
}

/* --- references to groups --- */

/* Has the group @capture always matched when the current position is reached? */
static bool is_passed(const struct pattern_parser *parser, const struct pattern_capture *capture)
{
	if (!capture->closed || capture->quantified)
		return false;
	for (unsigned i = 0; i <= parser->depth; i++) {
		if (parser->groups[i].branch == capture->branch)
			return true;
	}
	return false;
}

static int read_reference(struct pattern_parser *parser, size_t from, size_t capture)
{
	if (!is_passed(parser, &parser->captures[capture]))
		parser->references[parser->reference_count++] =
			(struct pattern_reference){.capture = capture, .at = from};
	wfs_buffer_printf(parser->out, "\\g{%zu}", capture + 1);
	pattern_atom_is(parser, PATTERN_LENGTH_VARIES, true);
	return 0;
}

static int read_number_reference(struct pattern_parser *parser, size_t from)
{
	unsigned number;

	if (!take_number(parser, &number) || number > parser->capture_count)
		return pattern_refuse(parser, from, "a reference to a group that is not there");
	return read_reference(parser, from, number - 1);
}

/* Reads `<name>`, of ASCII letters, digits, `_` and `$`. */
static bool take_name(struct pattern_parser *parser, struct wfs_bytes *ret_name)
{
	size_t size = 0;

	if (pattern_peek(parser, 0) != '<' || pattern_is_digit(pattern_peek(parser, 1)))
		return false;
	for (;; size++) {
		const char c = pattern_peek(parser, 1 + size);

		if (!pattern_is_letter(c) && !pattern_is_digit(c) && c != '_' && c != '$')
			break;
	}
	if (size == 0 || pattern_peek(parser, 1 + size) != '>')
		return false;
	*ret_name = WFS_BYTES(parser->text + parser->at + 1, size);
	parser->at += size + 2;
	return true;
}

/* Return: the index of the group with this name, or capture_count. */
static size_t capture_find(const struct pattern_parser *parser, struct wfs_bytes name)
{
	size_t i = 0;

	while (i < parser->capture_count &&
		(!parser->captures[i].name.data ||
			!wfs_bytes_equal(parser->captures[i].name, name)))
		i++;
	return i;
}

static int read_name_reference(struct pattern_parser *parser, size_t from)
{
	struct wfs_bytes name;

	parser->at++;
	if (!take_name(parser, &name))
		return pattern_refuse(
			parser, from, "\\k needs the name of a group, like \\k<name>");
	const size_t capture = capture_find(parser, name);

	if (capture == parser->capture_count)
		return pattern_refuse(parser, from, "a reference to a group that is not there");
	return read_reference(parser, from, capture);
}

static int read_escape(struct pattern_parser *parser)
{
	const size_t from = parser->at++;
	const char c = pattern_peek(parser, 0);
	uint32_t code;
	int r;

	if (c == 'b' || c == 'B') {
		wfs_buffer_printf(parser->out, "\\%c", c);
		pattern_atom_is(parser, 0, false);
		parser->at++;
		return 0;
	}
	if (c >= '1' && c <= '9')
		return read_number_reference(parser, from);
	if (c == 'k')
		return read_name_reference(parser, from);
	pattern_atom_is(parser, 1, true);
	r = pattern_read_set_escape(parser, from, false);
	if (r == 0) {
		r = pattern_take_character_escape(parser, from, &code);
		if (r == 0)
			pattern_write_character(parser, code);
	}
	return r < 0 ? r : 0;
}

/* --- groups --- */

static void branch_begin(struct pattern_parser *parser)
{
	struct pattern_group *const group = &parser->groups[parser->depth];

	group->branch = parser->branch_count++;
	group->length = 0;
}

/* Ends an alternative: merges its length into that of its group. */
static void branch_end(struct pattern_parser *parser)
{
	struct pattern_group *const group = &parser->groups[parser->depth];

	if (group->all_length == PATTERN_LENGTH_UNKNOWN)
		group->all_length = group->length;
	else if (group->all_length != group->length)
		group->all_length = PATTERN_LENGTH_VARIES;
}

/* The alternatives of a look-behind may differ in length, but none may vary in length. */
static int branch_check(struct pattern_parser *parser)
{
	const struct pattern_group *const group = &parser->groups[parser->depth];

	return group->is_behind && group->length == PATTERN_LENGTH_VARIES
		? pattern_refuse(
			  parser, group->at, "a look-behind needs a fixed number of characters")
		: 0;
}

static int group_open(struct pattern_parser *parser)
{
	static const char *const openings[] = {"(?:", "(?=", "(?!", "(?<=", "(?<!"};
	struct pattern_group group = {.at = parser->at, .all_length = PATTERN_LENGTH_UNKNOWN};
	struct wfs_bytes name;
	size_t i = 0;

	if (parser->depth >= PATTERN_GROUPS_MAX)
		return pattern_refuse(
			parser, parser->at, "groups are nested deeper than %d", PATTERN_GROUPS_MAX);
	while (i < WFS_ARRAY_COUNT(openings) && !pattern_take(parser, openings[i]))
		i++;
	if (i == WFS_ARRAY_COUNT(openings)) {
		if (pattern_take(parser, "(?") && !take_name(parser, &name))
			return pattern_refuse(parser, group.at, "ECMA-262 has no such group");
		if (parser->at == group.at)
			parser->at++;
		group.is_capture = true;
	}
	group.is_assertion = i >= 1 && i <= 4;
	group.is_behind = i == 3 || i == 4;
	group.first_capture = parser->captures_begun;
	if (group.is_capture)
		parser->captures[parser->captures_begun++].branch =
			parser->groups[parser->depth].branch;
	wfs_buffer_append_text(parser->out, group.is_capture ? "(" : openings[i]);
	parser->groups[++parser->depth] = group;
	branch_begin(parser);
	pattern_atom_is(parser, 0, false);
	return 0;
}

static int group_close(struct pattern_parser *parser)
{
	const struct pattern_group *const group = &parser->groups[parser->depth];
	int r;

	if (parser->depth == 0)
		return pattern_refuse(parser, parser->at, "unmatched closing parenthesis");
	r = branch_check(parser);
	if (r < 0)
		return r;
	branch_end(parser);
	if (group->is_capture)
		parser->captures[group->first_capture].closed = true;
	parser->atom = (struct pattern_atom){.length = group->is_assertion ? 0 : group->all_length,
		.first_capture = group->first_capture,
		.can_repeat = !group->is_assertion,
		.is_capture = group->is_capture};
	parser->depth--;
	parser->at++;
	wfs_buffer_append_byte(parser->out, ')');
	return 0;
}

static int read_or(struct pattern_parser *parser)
{
	int r = branch_check(parser);

	if (r < 0)
		return r;
	branch_end(parser);
	branch_begin(parser);
	pattern_atom_is(parser, 0, false);
	parser->at++;
	wfs_buffer_append_byte(parser->out, '|');
	return 0;
}

/* --- quantifiers --- */

struct quantifier {
	unsigned min;
	unsigned max; /* PATTERN_REPEAT_MAX + 1: unbounded */
};

/* Reads a quantifier. Return: 1, 0 (no quantifier follows), -EINVAL. */
static int take_quantifier(struct pattern_parser *parser, struct quantifier *ret_quantifier)
{
	const size_t from = parser->at;
	struct quantifier quantifier = {.min = 0, .max = PATTERN_REPEAT_MAX + 1};
	bool fits = true;

	if (pattern_take(parser, "?")) {
		quantifier.max = 1;
	} else if (pattern_take(parser, "+")) {
		quantifier.min = 1;
	} else if (pattern_peek(parser, 0) == '{' &&
		(pattern_is_digit(pattern_peek(parser, 1)) || pattern_peek(parser, 1) == ',')) {
		parser->at++;
		if (!pattern_is_digit(pattern_peek(parser, 0)))
			return pattern_refuse(parser, from, "{,n} is written {0,n}");
		fits = take_number(parser, &quantifier.min);
		if (!pattern_take(parser, ","))
			quantifier.max = quantifier.min;
		else if (pattern_is_digit(pattern_peek(parser, 0)))
			fits = take_number(parser, &quantifier.max) && fits;
		if (!pattern_take(parser, "}"))
			return pattern_refuse(parser, from, "missing } of the quantifier");
	} else if (!pattern_take(parser, "*")) {
		return 0;
	}
	if (!fits)
		return pattern_refuse(parser, from, "more than %d repetitions", PATTERN_REPEAT_MAX);
	if (quantifier.min > quantifier.max)
		return pattern_refuse(
			parser, from, "a quantifier goes from the larger to the smaller");
	*ret_quantifier = quantifier;
	return 1;
}

static void write_quantifier(struct pattern_parser *parser, struct quantifier quantifier)
{
	wfs_buffer_printf(parser->out, "{%u", quantifier.min);
	if (quantifier.max > PATTERN_REPEAT_MAX)
		wfs_buffer_append_byte(parser->out, ',');
	else if (quantifier.max != quantifier.min)
		wfs_buffer_printf(parser->out, ",%u", quantifier.max);
	wfs_buffer_append_byte(parser->out, '}');
	if (pattern_take(parser, "?"))
		wfs_buffer_append_byte(parser->out, '?');
}

/* Ends an atom, with the quantifier that may follow it. */
static int atom_end(struct pattern_parser *parser)
{
	struct pattern_group *const group = &parser->groups[parser->depth];
	struct pattern_atom atom = parser->atom;
	struct quantifier quantifier = {.min = 1, .max = 1};
	const size_t from = parser->at;
	const int r = take_quantifier(parser, &quantifier);

	if (r < 0)
		return r;
	if (r > 0 && !atom.can_repeat)
		return pattern_refuse(parser, from, "the quantifier has nothing to repeat");
	if (r > 0) {
		write_quantifier(parser, quantifier);
		if (atom.is_capture)
			parser->captures[atom.first_capture].quantified = true;
		for (size_t i = atom.first_capture;
			quantifier.max > 1 && i < parser->captures_begun; i++)
			parser->captures[i].repeated = true;
		if (quantifier.min != quantifier.max)
			atom.length = PATTERN_LENGTH_VARIES;
		else if (atom.length <= PATTERN_REPEAT_MAX)
			atom.length = atom.length * quantifier.min > PATTERN_REPEAT_MAX
				? PATTERN_LENGTH_VARIES
				: atom.length * quantifier.min;
	}
	group->length = add_lengths(group->length, atom.length);
	return 0;
}

/* --- patterns --- */

static int read_plain(struct pattern_parser *parser)
{
	const size_t from = parser->at;
	const char c = pattern_peek(parser, 0);

	if (c == '*' || c == '+' || c == '?' ||
		(c == '{' &&
			(pattern_is_digit(pattern_peek(parser, 1)) ||
				pattern_peek(parser, 1) == ',')))
		return pattern_refuse(parser, from, "the quantifier has nothing to repeat");
	if (c == ']')
		return pattern_refuse(parser, from, "] without its [, written \\] as a character");
	pattern_atom_is(parser, 1, true);
	pattern_write_character(parser, pattern_take_character(parser));
	return 0;
}

static int read_term(struct pattern_parser *parser)
{
	const char c = pattern_peek(parser, 0);

	if (c == '^' || c == '$') {
		wfs_buffer_append_byte(parser->out, c);
		pattern_atom_is(parser, 0, false);
		parser->at++;
		return 0;
	}
	if (c == '.') {
		wfs_buffer_append_text(parser->out, "[^\\x{a}\\x{d}\\x{2028}\\x{2029}]");
		pattern_atom_is(parser, 1, true);
		parser->at++;
		return 0;
	}
	if (c == '[')
		return pattern_read_class(parser);
	if (c == '\\')
		return read_escape(parser);
	return read_plain(parser);
}

static int read_pattern(struct pattern_parser *parser)
{
	int r = 0;

	branch_begin(parser);
	while (!r && !pattern_at_end(parser)) {
		const char c = pattern_peek(parser, 0);

		if (c == '(') {
			r = group_open(parser);
			continue;
		}
		if (c == '|') {
			r = read_or(parser);
			continue;
		}
		r = c == ')' ? group_close(parser) : read_term(parser);
		if (!r)
			r = atom_end(parser);
	}
	if (!r && parser->depth > 0)
		r = pattern_refuse(parser, parser->at, "missing closing parenthesis");
	return r;
}

static bool is_assertion(const struct pattern_parser *parser)
{
	return pattern_looking_at(parser, "(?=") || pattern_looking_at(parser, "(?!") ||
		pattern_looking_at(parser, "(?<=") || pattern_looking_at(parser, "(?<!");
}

/*
 * Counts the groups first, because a reference may come before its group. With a look-ahead PCRE2
 * 10.42 skips positions where a match begins (`(?=b) ?b` in "ab"), unless it has to try every
 * position.
 */
static int find_captures(struct pattern_parser *parser)
{
	bool has_assertion = false;
	bool in_class = false;

	for (; !pattern_at_end(parser); parser->at++) {
		const size_t from = parser->at;
		struct wfs_bytes name = {.size = 0};
		const char c = pattern_peek(parser, 0);

		if (c == '\\')
			parser->at++;
		else if (c == '[' || c == ']')
			in_class = c == '[' || (in_class && c != ']');
		else if (c == '(' && !in_class && is_assertion(parser))
			has_assertion = true;
		else if (c == '(' && !in_class &&
			(pattern_peek(parser, 1) != '?' || pattern_looking_at(parser, "(?<"))) {
			if (pattern_take(parser, "(?") && take_name(parser, &name) &&
				capture_find(parser, name) < parser->capture_count)
				return pattern_refuse(parser, from, "two groups have this name");
			parser->at = from;
			parser->captures[parser->capture_count++].name = name;
		}
	}
	if (has_assertion)
		wfs_buffer_append_text(parser->out, "(*NO_START_OPT)");
	parser->at = 0;
	return 0;
}

static int check_references(struct pattern_parser *parser)
{
	for (size_t i = 0; i < parser->reference_count; i++) {
		const struct pattern_reference *const reference = &parser->references[i];

		if (parser->captures[reference->capture].repeated)
			return pattern_refuse(parser, reference->at,
				"a reference to a group that a repetition forgets");
	}
	return 0;
}

int pattern_translate(
	const char *text, size_t size, struct wfs_buffer *out, struct wfs_error *error)
{
	WFS_AUTO_FREE struct pattern_reference *references =
		calloc(size / 2 + 1, sizeof(*references));
	WFS_AUTO_FREE struct pattern_capture *captures = calloc(size + 1, sizeof(*captures));
	WFS_AUTO_FREE struct pattern_parser *parser = calloc(1, sizeof(*parser));
	int r;

	if (!parser || !captures || !references)
		return -ENOMEM;
	*parser = (struct pattern_parser){.text = text,
		.size = size,
		.out = out,
		.error = error,
		.captures = captures,
		.references = references};
	parser->groups[0].all_length = PATTERN_LENGTH_UNKNOWN;
	if (!wfs_utf8_valid(text, size))
		return pattern_refuse(parser, 0, "a text that is not UTF-8");
	r = find_captures(parser);
	if (!r)
		r = read_pattern(parser);
	if (!r)
		r = check_references(parser);
	return r ? r : wfs_buffer_check(out);
}
