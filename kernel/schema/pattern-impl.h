/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of patterns: from the dialect of ECMA-262 to the one of PCRE2.
 *
 * Every pattern of ECMA-262 (with its flag `u`) is either written in PCRE2's dialect so that it fits the
 * strings that it fits in JavaScript, or refused. Nothing is passed on unread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"

/**
 * pattern_translate() - append what PCRE2 calls the pattern @text
 * Return: 0, -EINVAL (invalid_pattern; the message tells what is wrong and at which byte), -ENOMEM.
 */
int pattern_translate(
	const char *text, size_t size, struct wfs_buffer *out, struct wfs_error *error);

/**
 * pattern_property() - append the characters that `\p{@name}` stands for
 * @negated: those that it does not stand for
 * @in_class: the place is between brackets
 * Return: false when ECMA-262 has no property of this name (nothing appended).
 */
bool pattern_property(struct wfs_bytes name, bool negated, bool in_class, struct wfs_buffer *out);

enum {
	PATTERN_GROUPS_MAX = 200,           /* around one another; PCRE2 takes 250 */
	PATTERN_REPEAT_MAX = (1 << 16) - 1, /* PCRE2's bound of {n} */
	PATTERN_LENGTH_VARIES,
	PATTERN_LENGTH_UNKNOWN, /* no alternative was read to its end */
};

/* A group that can be referred to. */
struct pattern_capture {
	struct wfs_bytes name; /* NULL data: it has none */
	unsigned branch;       /* the alternative that it is part of */
	bool closed;
	bool quantified;
	bool repeated; /* it, or a group around it, may be gone through twice */
};

struct pattern_reference {
	size_t capture; /* index */
	size_t at;      /* byte */
};

/* A group that is being read; [0] is the whole pattern. */
struct pattern_group {
	unsigned branch; /* number of its alternative that is being read */
	unsigned length; /* characters that this alternative has so far, or PATTERN_LENGTH_VARIES */
	unsigned all_length;  /* of each alternative before */
	size_t first_capture; /* index of the first one in it */
	size_t at;            /* byte where it begins */
	bool is_capture;
	bool is_assertion;
	bool is_behind; /* a look-behind */
};

/* The part of the pattern that was read last: a quantifier repeats it. */
struct pattern_atom {
	unsigned length;
	size_t first_capture; /* index of the first one in it */
	bool can_repeat;
	bool is_capture; /* it is the group `first_capture` */
};

struct pattern_parser {
	const char *text;
	size_t size;
	size_t at;
	struct wfs_buffer *out;
	struct wfs_error *error;
	struct pattern_group groups[PATTERN_GROUPS_MAX + 1];
	unsigned depth; /* of the innermost in `groups` */
	unsigned branch_count;
	struct pattern_capture *captures; /* owned; of the whole pattern, found beforehand */
	size_t capture_count;
	size_t captures_begun;
	struct pattern_reference
		*references; /* owned; those that a repetition must not come between */
	size_t reference_count;
	struct pattern_atom atom;
};

static inline bool pattern_at_end(const struct pattern_parser *parser)
{
	return parser->at >= parser->size;
}

/* The byte @offset after the next one; 0 after the end. */
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

/** pattern_refuse() - with what is wrong at the byte @at. Return: -EINVAL. */
int pattern_refuse(struct pattern_parser *parser, size_t at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** pattern_looking_at() - is @text next? */
bool pattern_looking_at(const struct pattern_parser *parser, const char *text);

/** pattern_take() - go on after @text, if it is next */
bool pattern_take(struct pattern_parser *parser, const char *text);

/** pattern_take_character() - the next character; there must be one. */
uint32_t pattern_take_character(struct pattern_parser *parser);

void pattern_write_character(struct pattern_parser *parser, uint32_t code);

/** pattern_atom_is() - note that something was read that covers @length characters and has no group in it. */
void pattern_atom_is(struct pattern_parser *parser, unsigned length, bool can_repeat);

/** pattern_take_character_escape() - one that stands for one character; its backslash, at @from, was taken.
 *  Return: 0, -EINVAL. */
int pattern_take_character_escape(struct pattern_parser *parser, size_t from, uint32_t *ret_code);

/** pattern_read_set_escape() - one that stands for many characters; its backslash, at @from, was taken.
 *  Return: 1, 0 (it is none of these), -EINVAL. */
int pattern_read_set_escape(struct pattern_parser *parser, size_t from, bool in_class);

/** pattern_read_class() - characters in brackets. Return: 0, -EINVAL. */
int pattern_read_class(struct pattern_parser *parser);
