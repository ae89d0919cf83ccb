/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to patterns: translates the dialect of ECMA-262 into that of PCRE2.
 *
 * Every pattern of ECMA-262 (with its flag `u`) is either rewritten for PCRE2 so that it fits
 * exactly the strings that it fits in JavaScript, or refused. No part is passed on without being
 * parsed. A capture is a group in parentheses that can be referred to; an alternative is one of the
 * parts between `|`. A function that returns -EINVAL has filled parser->error, because the pattern
 * is invalid (invalid_pattern).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"

/** pattern_translate() - append the PCRE2 form of the ECMA-262 pattern @text to @out; after a
 *  failure, @out may have a part of this form
 *  Return: 0, -EINVAL (invalid_pattern; the message says what is wrong and at which byte),
 *  -ENOMEM. */
int pattern_translate(
	const char *text, size_t size, struct wfs_buffer *out, struct wfs_error *error);

/** pattern_property() - append the PCRE2 form of the set of characters that `\p{@name}` means to
 *  @out. @negated: append the complement of the set. @in_class: append the set as a member of a
 *  class in brackets
 *  Return: false if ECMA-262 has no property of this name (nothing is appended); true also for the
 *  name of an unknown script, which PCRE2 will refuse. */
bool pattern_property(struct wfs_bytes name, bool negated, bool in_class, struct wfs_buffer *out);

enum {
	PATTERN_GROUPS_MAX = 200,           /* nested groups; PCRE2 takes 250 */
	PATTERN_REPEAT_MAX = (1 << 16) - 1, /* PCRE2's bound of {n} */
	/* in the place of a length: */
	PATTERN_LENGTH_VARIES,  /* matches can have different lengths */
	PATTERN_LENGTH_UNKNOWN, /* no alternative has been parsed completely */
};

/* A group that can be referred to. */
struct pattern_capture {
	struct wfs_bytes name; /* NULL data: without a name */
	unsigned branch;       /* number of the alternative that contains the group */
	bool closed;           /* its `)` was parsed */
	bool quantified;       /* a quantifier follows it */
	bool repeated;         /* the group, or one around it, can match more than once */
};

/* A reference to a capture, such as `\1`. */
struct pattern_reference {
	size_t capture; /* index */
	size_t at;      /* byte where it begins */
};

/* A group that is being parsed; [0] is the whole pattern. */
struct pattern_group {
	unsigned branch; /* number of its alternative that is being parsed */
	unsigned length; /* characters that this alternative has so far, or PATTERN_LENGTH_VARIES */
	unsigned all_length;  /* of each earlier alternative, or a PATTERN_LENGTH_… */
	size_t first_capture; /* index of the first capture in it */
	size_t at;            /* byte where it begins */
	bool is_capture;
	bool is_assertion;
	bool is_behind; /* a look-behind */
};

/* The part of the pattern that was parsed last; a quantifier after it repeats it. */
struct pattern_atom {
	unsigned length;      /* characters that it matches, or PATTERN_LENGTH_VARIES */
	size_t first_capture; /* index of the first capture in it */
	bool can_repeat;
	bool is_capture; /* the part is the group `first_capture` */
};

struct pattern_parser {
	const char *text;
	size_t size;
	size_t at;
	struct wfs_buffer *out;
	struct wfs_error *error;
	struct pattern_group groups[PATTERN_GROUPS_MAX + 1];
	unsigned depth; /* index of the innermost group in `groups` */
	unsigned branch_count;
	struct pattern_capture *captures; /* owned; of the whole pattern, counted in advance */
	size_t capture_count;
	size_t captures_begun;
	/* owned; checked at the end: a reference to a group that can repeat is invalid */
	struct pattern_reference *references;
	size_t reference_count;
	struct pattern_atom atom;
};

static inline bool pattern_at_end(const struct pattern_parser *parser)
{
	return parser->at >= parser->size;
}

/* The byte at @offset from the current one; 0 after the end. */
static inline char pattern_peek(const struct pattern_parser *parser, size_t offset)
{
	if (parser->size - parser->at <= offset)
		return '\0';
	return parser->text[parser->at + offset];
}

static inline bool pattern_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool pattern_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/** pattern_refuse() - fill parser->error: what is wrong at byte @at of the pattern (printf style).
 *  Return: -EINVAL. */
int pattern_refuse(struct pattern_parser *parser, size_t at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** pattern_looking_at() - does @text come next in the pattern? */
bool pattern_looking_at(const struct pattern_parser *parser, const char *text);

/** pattern_take() - move past @text if it comes next in the pattern. Return: true if it did. */
bool pattern_take(struct pattern_parser *parser, const char *text);

/** pattern_take_character() - read the next character of the pattern, which must exist. Return: its
 *  code point. */
uint32_t pattern_take_character(struct pattern_parser *parser);

void pattern_write_character(struct pattern_parser *parser, uint32_t code);

/** pattern_atom_is() - set parser->atom after a part without groups was parsed. @length: characters
 *  that the part matches. @can_repeat: a quantifier may follow the part */
void pattern_atom_is(struct pattern_parser *parser, unsigned length, bool can_repeat);

/** pattern_take_character_escape() - read the rest of an escape that means one character, after its
 *  backslash, which is at byte @from. @ret_code: code point of the character. Return: 0,
 *  -EINVAL (not such an escape). */
int pattern_take_character_escape(struct pattern_parser *parser, size_t from, uint32_t *ret_code);

/** pattern_read_set_escape() - read the rest of an escape that means a set of characters, such as
 *  `\d`, after its backslash, which is at byte @from, and append its PCRE2 form
 *  @in_class: the escape is within brackets. Return: 1, 0 (another kind of escape comes, and
 *  nothing was read), -EINVAL (the escape is malformed, or names no set). */
int pattern_read_set_escape(struct pattern_parser *parser, size_t from, bool in_class);

/** pattern_read_class() - read the class in brackets that comes next in the pattern, and append its
 *  PCRE2 form. Return: 0, -EINVAL (the class is malformed, e.g. its `]` is missing). */
int pattern_read_class(struct pattern_parser *parser);
