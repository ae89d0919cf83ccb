/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts the bytes written to a control file into JSON values.
 *
 * A request ends at a newline after a whole JSON value, or where the caller says that no more
 * bytes come. A value may be spread over writes and lines (pretty-printed JSON). A small automaton
 * follows the bytes, each byte once, so that only whole values are parsed and the cost is linear,
 * however small the writes are. The automaton also finds bytes that can no longer become valid:
 * - an error within one line gives one invalid_json, and parsing continues with the next line;
 * - an error in a value that began on an earlier line drops all bytes received so far with one
 *   invalid_json, because the intended end of the value is unknown.
 * If words are requests, a line that begins with neither bracket nor quotation mark is one text,
 * without the white space around it.
 * Source: worldfs-tree(5).
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"
#include "kernel/base/json.h"

enum { WFS_CONTROL_DEPTH_WORDS = WFS_JSON_DEPTH_MAX / 64 };

/* Plain value; zero-initialise, set the options and `context`; end with
 * wfs_control_parser_done(). */
struct wfs_control_parser {
	size_t size_max_bytes; /* option: bytes of one value */
	bool empty_lines;      /* option: an empty line is a request without a value */
	bool words;            /* option: a line is a text, unless it begins with [, { or " */
	/* Option: may a value be parsed that takes about @bytes of memory? Called with `context` in
	 * wfs_control_parser_take(). Return: 0 (yes), or -errno with @error. NULL: any value may
	 * be. */
	int (*admit)(void *context, size_t bytes, struct wfs_error *error);
	void *context;

	/* Private. */
	struct wfs_buffer pending; /* untaken bytes, from `start` on */
	size_t start;              /* index of the first byte of the current value */
	size_t scanned;            /* index of the first byte that was not scanned */
	size_t scalar;             /* index where the current number or literal began */
	int state;
	unsigned int depth;
	uint64_t objects[WFS_CONTROL_DEPTH_WORDS]; /* bit n: level n is an object, not an array */
	bool key;                                  /* the current string is a member name */
	bool later_line;                           /* the current value began on an earlier line */
	bool ended; /* the value ends before the newline at scanned - 1 */
};

void wfs_control_parser_done(struct wfs_control_parser *parser);

/** wfs_control_parser_add() - append @size bytes, which are copied, to those that are to be parsed.
 *  Return: 0, or -ENOMEM (all bytes that were not taken yet are dropped). */
int wfs_control_parser_add(struct wfs_control_parser *parser, const void *data, size_t size);

/** wfs_control_parser_take() - take the next value
 *  @end: true: no more bytes come, so the bytes that are left are the last value
 *  @ret_json: set if the answer is 1; caller owns it; NULL for an empty line
 *  Return: 1 (a value), 0 (no whole value), -EINVAL (invalid_json: not JSON), -EFBIG (too_large:
 *  more than parser->size_max_bytes), -ENOMEM, or what `admit` returned. After a failure the next
 *  call continues after the failed value. */
int wfs_control_parser_take(
	struct wfs_control_parser *parser, bool end, json_t **ret_json, struct wfs_error *error);

/** wfs_control_parser_size() - get the size in bytes of the value that wfs_control_parser_take()
 *  would give with the same @end; 0: none. */
size_t wfs_control_parser_size(struct wfs_control_parser *parser, bool end);

/** wfs_control_parser_trim() - if all bytes were taken, and the parser has memory for more than
 *  @size_max_bytes, free this memory; otherwise do nothing. */
void wfs_control_parser_trim(struct wfs_control_parser *parser, size_t size_max_bytes);

/** wfs_control_parser_drop() - drop the bytes that were not taken yet. */
void wfs_control_parser_drop(struct wfs_control_parser *parser);

/** wfs_control_parser_pending() - are there untaken bytes other than white space? */
bool wfs_control_parser_pending(const struct wfs_control_parser *parser);

/** wfs_control_parser_whole() - are the untaken bytes a whole value that only lacks its newline? */
bool wfs_control_parser_whole(const struct wfs_control_parser *parser);
