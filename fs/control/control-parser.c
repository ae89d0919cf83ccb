/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts written bytes into JSON values. See control-parser.h. */
#include "fs/control/control-parser.h"

#include <string.h>

#include "kernel/base/encode.h"
#include "kernel/base/span.h"

/* Position of the next byte in a value. Zero is the start of a value. */
enum {
	SCAN_VALUE = 0,    /* a value must follow; at depth 0: nothing has come yet */
	SCAN_VALUE_OR_END, /* after `[` */
	SCAN_KEY_OR_END,   /* after `{` */
	SCAN_KEY,          /* after `,` in an object */
	SCAN_COLON,
	SCAN_NEXT, /* after a member: `,` or the closing bracket */
	SCAN_STRING,
	SCAN_ESCAPE, /* after a backslash */
	SCAN_SCALAR, /* a number or literal, which is checked at its end */
	SCAN_WORD,   /* a line that is a text */
	SCAN_WHOLE,  /* the value is whole */
	SCAN_BROKEN, /* no further byte can make it valid */
};

static bool parser_is_space(char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

static bool parser_in_object(const struct wfs_control_parser *parser)
{
	unsigned int level = parser->depth - 1;

	return parser->objects[level / 64] >> (level % 64) & 1;
}

static int parser_value_end(const struct wfs_control_parser *parser)
{
	return parser->depth == 0 ? SCAN_WHOLE : SCAN_NEXT;
}

static int parser_open(struct wfs_control_parser *parser, bool object)
{
	unsigned int level = parser->depth;

	if (level == WFS_JSON_DEPTH_MAX)
		return SCAN_BROKEN;
	uint64_t bit = UINT64_C(1) << (level % 64);
	if (object)
		parser->objects[level / 64] |= bit;
	else
		parser->objects[level / 64] &= ~bit;
	parser->depth++;
	return object ? SCAN_KEY_OR_END : SCAN_VALUE_OR_END;
}

static int parser_close(struct wfs_control_parser *parser, bool object)
{
	if (parser->depth == 0 || parser_in_object(parser) != object)
		return SCAN_BROKEN;
	parser->depth--;
	return parser_value_end(parser);
}

static int parser_begin_string(struct wfs_control_parser *parser, bool key)
{
	parser->key = key;
	return SCAN_STRING;
}

static int parser_begin_value(struct wfs_control_parser *parser, char byte)
{
	if (byte == '{' || byte == '[')
		return parser_open(parser, byte == '{');
	if (byte == '"')
		return parser_begin_string(parser, false);
	if (parser->words && parser->depth == 0)
		return SCAN_WORD;
	if (byte == '-' || (byte >= '0' && byte <= '9') || byte == 't' || byte == 'f' ||
		byte == 'n') {
		parser->scalar = parser->scanned;
		return SCAN_SCALAR;
	}
	return SCAN_BROKEN;
}

static int parser_in_string(const struct wfs_control_parser *parser, char byte)
{
	if (byte == '\\')
		return SCAN_ESCAPE;
	if (byte == '"')
		return parser->key ? SCAN_COLON : parser_value_end(parser);
	return (unsigned char)byte < 0x20 ? SCAN_BROKEN : SCAN_STRING;
}

/* Takes a byte outside of strings, numbers and literals; white space changes nothing. */
static int parser_structure(struct wfs_control_parser *parser, char byte)
{
	if (parser_is_space(byte))
		return parser->state;
	switch (parser->state) {
	case SCAN_VALUE_OR_END:
		if (byte == ']')
			return parser_close(parser, false);
		return parser_begin_value(parser, byte);
	case SCAN_VALUE:
		return parser_begin_value(parser, byte);
	case SCAN_KEY_OR_END:
		if (byte == '}')
			return parser_close(parser, true);
		return byte == '"' ? parser_begin_string(parser, true) : SCAN_BROKEN;
	case SCAN_KEY:
		return byte == '"' ? parser_begin_string(parser, true) : SCAN_BROKEN;
	case SCAN_COLON:
		return byte == ':' ? SCAN_VALUE : SCAN_BROKEN;
	case SCAN_NEXT:
		if (byte == ',')
			return parser_in_object(parser) ? SCAN_KEY : SCAN_VALUE;
		if (byte == '}' || byte == ']')
			return parser_close(parser, byte == '}');
		return SCAN_BROKEN;
	default: /* SCAN_WHOLE: only white space may follow */
		return SCAN_BROKEN;
	}
}

static int parser_step(struct wfs_control_parser *parser, char byte)
{
	switch (parser->state) {
	case SCAN_STRING:
		return parser_in_string(parser, byte);
	case SCAN_ESCAPE:
		return byte != '\0' && strchr("\"\\/bfnrtu", byte) ? SCAN_STRING : SCAN_BROKEN;
	case SCAN_SCALAR:
		if (!parser_is_space(byte) && byte != ',' && byte != ']' && byte != '}')
			return SCAN_SCALAR;
		if (wfs_span_scalar(WFS_BYTES(parser->pending.data + parser->scalar,
			    parser->scanned - parser->scalar)) != parser->scanned - parser->scalar)
			return SCAN_BROKEN;
		parser->state = parser_value_end(parser);
		return parser_structure(parser, byte);
	case SCAN_WORD:
	case SCAN_BROKEN:
		return parser->state;
	default:
		return parser_structure(parser, byte);
	}
}

/* Begins the next value at index @start. */
static void parser_restart(struct wfs_control_parser *parser, size_t start)
{
	parser->start = start;
	parser->scanned = start;
	parser->state = SCAN_VALUE;
	parser->depth = 0;
	parser->later_line = false;
	parser->ended = false;
}

void wfs_control_parser_drop(struct wfs_control_parser *parser)
{
	wfs_buffer_reset(&parser->pending);
	parser_restart(parser, 0);
}

void wfs_control_parser_done(struct wfs_control_parser *parser)
{
	wfs_buffer_done(&parser->pending);
	parser_restart(parser, 0);
}

void wfs_control_parser_trim(struct wfs_control_parser *parser, size_t size_max_bytes)
{
	if (parser->start == parser->pending.size &&
		parser->pending.capacity_bytes > size_max_bytes)
		wfs_control_parser_done(parser);
}

/* Removes the bytes of taken values; the current value is moved at most once. */
static void parser_compact(struct wfs_control_parser *parser)
{
	size_t gap = parser->start;

	if (gap == 0)
		return;
	parser->pending.size -= gap;
	if (parser->pending.size > 0)
		memmove(parser->pending.data, parser->pending.data + gap, parser->pending.size);
	parser->start = 0;
	parser->scanned -= gap;
	parser->scalar -= parser->state == SCAN_SCALAR ? gap : 0;
}

int wfs_control_parser_add(struct wfs_control_parser *parser, const void *data, size_t size)
{
	parser_compact(parser);
	wfs_buffer_append(&parser->pending, data, size);
	int r = wfs_buffer_check(&parser->pending);
	if (r < 0)
		wfs_control_parser_drop(parser);
	return r;
}

/* Gives a line as a text, without the white space around it. */
static int parser_give_word(
	const char *text, size_t size, json_t **ret_json, struct wfs_error *error)
{
	while (size > 0 && parser_is_space(text[size - 1]))
		size--;
	while (size > 0 && parser_is_space(*text)) {
		text++;
		size--;
	}
	if (!wfs_utf8_valid(text, size))
		return wfs_error_set(error, WFS_E_INVALID_JSON,
			"expected a word that is valid UTF-8, or an object");
	*ret_json = json_stringn(text, size);
	return *ret_json ? 0 : wfs_error_from_errno(error, -ENOMEM, "read a word");
}

static int parser_admit(const struct wfs_control_parser *parser, const char *text, size_t size,
	struct wfs_error *error)
{
	if (!parser->admit)
		return 0;
	return parser->admit(
		parser->context, wfs_json_count(text, size) * WFS_JSON_VALUE_BYTES + size, error);
}

/* Gives the text from `start` to index @end as one request; the next begins at index @next. */
static int parser_give(struct wfs_control_parser *parser, size_t end, size_t next,
	json_t **ret_json, struct wfs_error *error)
{
	const char *text = parser->pending.data + parser->start;
	size_t size = end - parser->start;
	bool lost = parser->later_line && parser->state == SCAN_BROKEN;
	int r = 0;

	if (size > parser->size_max_bytes)
		r = wfs_error_set(error, WFS_E_TOO_LARGE,
			"a request has at most %zu bytes, got %zu", parser->size_max_bytes, size);
	else if (parser->state == SCAN_WORD)
		r = parser_give_word(text, size, ret_json, error);
	else
		r = parser_admit(parser, text, size, error);
	if (!r && parser->state != SCAN_WORD)
		r = wfs_json_parse_bounded(text, size, ret_json, error);
	if (r < 0 && lost)
		wfs_control_parser_drop(parser);
	else
		parser_restart(parser, next);
	return r < 0 ? r : 1;
}

/* Scans new bytes. Return: true: a request ends before the newline at scanned - 1. */
static bool parser_scan(struct wfs_control_parser *parser)
{
	while (!parser->ended && parser->scanned < parser->pending.size) {
		char byte = parser->pending.data[parser->scanned];

		parser->state = parser_step(parser, byte);
		parser->scanned++;
		if (byte != '\n')
			continue;
		if (parser->state == SCAN_WHOLE || parser->state == SCAN_WORD ||
			parser->state == SCAN_BROKEN)
			parser->ended = true;
		else if (parser->state != SCAN_VALUE || parser->depth > 0)
			parser->later_line = true;
		else if (parser->empty_lines)
			parser->ended = true;
		else
			parser_restart(parser, parser->scanned);
	}
	return parser->ended;
}

size_t wfs_control_parser_size(struct wfs_control_parser *parser, bool end)
{
	if (parser_scan(parser))
		return parser->scanned - 1 - parser->start;
	return end ? parser->pending.size - parser->start : 0;
}

/* Scanned bytes need no second look: at the start of a value, white space alone has come. */
bool wfs_control_parser_pending(const struct wfs_control_parser *parser)
{
	if (parser->depth > 0 || parser->state != SCAN_VALUE)
		return true;
	for (size_t i = parser->scanned; i < parser->pending.size; i++) {
		if (!parser_is_space(parser->pending.data[i]))
			return true;
	}
	return false;
}

bool wfs_control_parser_whole(const struct wfs_control_parser *parser)
{
	return parser->state == SCAN_WHOLE && parser->scanned == parser->pending.size;
}

int wfs_control_parser_take(
	struct wfs_control_parser *parser, bool end, json_t **ret_json, struct wfs_error *error)
{
	if (parser_scan(parser)) {
		size_t newline = parser->scanned - 1;

		if (parser->state == SCAN_VALUE) {
			parser_restart(parser, parser->scanned);
			*ret_json = NULL;
			return 1;
		}
		return parser_give(parser, newline, parser->scanned, ret_json, error);
	}
	size_t size = parser->pending.size - parser->start;
	if (size > parser->size_max_bytes) {
		wfs_control_parser_drop(parser);
		return wfs_error_set(error, WFS_E_TOO_LARGE,
			"a request has at most %zu bytes; what came so far is dropped",
			parser->size_max_bytes);
	}
	if (!end)
		return 0;
	if (!wfs_control_parser_pending(parser)) {
		wfs_control_parser_drop(parser);
		return 0;
	}
	return parser_give(parser, parser->pending.size, parser->pending.size, ret_json, error);
}
