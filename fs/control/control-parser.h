/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cutting what is written to a control file into JSON values.
 *
 * A request ends at a newline behind a whole JSON value, or where the caller says that no more
 * comes. A value may be spread over writes and over lines (pretty-printed JSON). The bytes are
 * followed by a small automaton, each byte once, so that a value is parsed only when it is
 * whole and the cost is linear however small the writes are. The automaton also tells what no
 * further byte can make valid:
 * - a line that goes wrong by itself is one invalid_json, and the next line is read as usual;
 * - when a value that began on an earlier line goes wrong, nobody knows where it was meant to
 *   end, so everything received so far is dropped with the one error.
 * Where words are requests, so is a line that begins with anything but a bracket or a quotation mark,
 * as it stands, without the white space around it.
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

/* Plain value; zero-initialised (but for the options) is empty. */
struct wfs_control_parser {
	size_t size_max_bytes; /* option: of one value */
	bool empty_lines;      /* option: an empty line is a request without a value */
	bool words; /* option: a line that begins no object, array or string is a string */
	/* Option: may a value be parsed that will take about @bytes of memory? Return: 0, or -errno. NULL: yes. */
	int (*admit)(void *context, size_t bytes, struct wfs_error *error);
	void *context;

	/* Private. */
	struct wfs_buffer pending; /* bytes not given out yet, behind `start` */
	size_t start;              /* index of the first byte of the value under way */
	size_t scanned;            /* index of the first byte not looked at */
	size_t scalar;             /* index where the number or literal under way began */
	int state;
	unsigned int depth;
	uint64_t objects[WFS_CONTROL_DEPTH_WORDS]; /* bit n: level n is an object, not an array */
	bool key;                                  /* the string under way is a member name */
	bool later_line; /* the value under way began on an earlier line */
	bool ended;      /* it ends before the newline at scanned - 1 */
};

void wfs_control_parser_done(struct wfs_control_parser *parser);

/** wfs_control_parser_add() - Return: 0, or -ENOMEM (what was pending is dropped). */
int wfs_control_parser_add(struct wfs_control_parser *parser, const void *data, size_t size);

/**
 * wfs_control_parser_take() - the next value
 * @end: no more bytes come: what is pending is all of the last value
 * @ret_json: caller owns one reference; NULL for an empty line
 * Return: 1 (a value), 0 (none is whole), -EINVAL (invalid_json), -EFBIG (too_large), -ENOMEM, what `admit` returned.
 *         After a failure taking goes on behind what failed.
 */
int wfs_control_parser_take(
	struct wfs_control_parser *parser, bool end, json_t **ret_json, struct wfs_error *error);

/** wfs_control_parser_size() - bytes of the value that taking would give now. Return: 0: none is whole. */
size_t wfs_control_parser_size(struct wfs_control_parser *parser, bool end);

/** wfs_control_parser_trim() - when nothing is pending, keep at most @size_max_bytes for the next value. */
void wfs_control_parser_trim(struct wfs_control_parser *parser, size_t size_max_bytes);

/** wfs_control_parser_drop() - forget what is pending. */
void wfs_control_parser_drop(struct wfs_control_parser *parser);

/** wfs_control_parser_pending() - is there more than white space that was not given out? */
bool wfs_control_parser_pending(const struct wfs_control_parser *parser);

/** wfs_control_parser_whole() - what is pending is a whole value that only lacks its newline. */
bool wfs_control_parser_whole(const struct wfs_control_parser *parser);
