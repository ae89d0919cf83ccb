/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads canonical text directly into Lua: states, events, arguments and results of the host.
 * Parsing into json_t first would cost more than the rest of a step. The reader accepts exactly the
 * canonical form (members in order and so without duplicates, no white space), because the owner of
 * the process writes no other. It refuses every other text without saying what is wrong with it.
 *
 * Members and elements wait on the Lua stack until their table's size is known.
 */
#include <stdlib.h>
#include <string.h>

#include "kernel/base/encode.h"
#include "kernel/base/json.h"
#include "kernel/lua/lua-impl.h"

enum {
	WAITING_MAX = 64,    /* values of one table that wait on the stack */
	STACK_NEEDED = 4,    /* besides waiting values */
	INTEGER_DIGITS = 19, /* as many always fit 64 bits without a sign */
	NUMBER_SIZE = 32,    /* every canonical number is shorter */
};

struct reader {
	lua_State *L;
	const char *at;
	const char *end;
	struct wfs_buffer *scratch; /* for strings with escapes */
};

static bool read_value(struct reader *r, int depth);

static bool take(struct reader *r, char byte)
{
	if (r->at == r->end || *r->at != byte)
		return false;
	r->at++;
	return true;
}

static bool take_word(struct reader *r, const char *word, size_t size)
{
	if ((size_t)(r->end - r->at) < size || memcmp(r->at, word, size) != 0)
		return false;
	r->at += size;
	return true;
}

/* --- numbers --- */

/* Copies the number at the reader's position. Return: its size; 0: not a number, or too long. */
static size_t number_text(struct reader *r, char ret_text[static NUMBER_SIZE])
{
	size_t size = 0;

	while (r->at + size < r->end && r->at[size] && strchr("+-.0123456789Ee", r->at[size])) {
		if (size == NUMBER_SIZE - 1)
			return 0;
		ret_text[size] = r->at[size];
		size++;
	}
	ret_text[size] = '\0';
	return size;
}

/* Reads reals, the least integer, and numbers out of range;
 * accepts only their canonical spelling. */
static bool read_long_number(struct reader *r)
{
	WFS_AUTO_JSON json_t *json = NULL;
	char text[NUMBER_SIZE];
	const size_t size = number_text(r, text);

	if (size == 0 || wfs_json_parse(text, size, &json, NULL) < 0)
		return false;
	wfs_buffer_reset(r->scratch);
	wfs_json_write(json, r->scratch);
	if (!wfs_bytes_equal(wfs_buffer_bytes(r->scratch), WFS_BYTES(text, size)))
		return false;
	/* Pushing a number allocates nothing, so nothing can raise before the release. */
	if (json_is_integer(json))
		lua_pushinteger(r->L, json_integer_value(json));
	else
		lua_pushnumber(r->L, json_real_value(json));
	r->at += size;
	return true;
}

static bool read_number(struct reader *r)
{
	const bool negative = *r->at == '-';
	const char *const digits = r->at + negative;
	const char *at = digits;
	uint64_t value = 0;

	while (at < r->end && *at >= '0' && *at <= '9' && at - digits < INTEGER_DIGITS)
		value = value * 10 + (uint64_t)(*at++ - '0');
	if (value > INT64_MAX || (at < r->end && *at && strchr(".eE0123456789", *at)))
		return read_long_number(r);
	if (at == digits || (*digits == '0' && (at - digits > 1 || negative)))
		return false;
	lua_pushinteger(r->L, negative ? -(lua_Integer)value : (lua_Integer)value);
	r->at = at;
	return true;
}

/* --- strings --- */

static bool read_unicode_escape(struct reader *r)
{
	static const char digits[] = "0123456789abcdef";
	const char *low = NULL;

	if (!take_word(r, "00", 2) || r->end - r->at < 2 || (r->at[0] != '0' && r->at[0] != '1'))
		return false;
	low = memchr(digits, r->at[1], sizeof(digits) - 1);
	if (!low)
		return false;
	wfs_buffer_append_byte(r->scratch, (char)((r->at[0] - '0') * 16 + (int)(low - digits)));
	r->at += 2;
	return true;
}

static bool read_escape(struct reader *r)
{
	static const char from[] = "\"\\bfnrt";
	static const char to[] = "\"\\\b\f\n\r\t";
	const char *found = NULL;

	if (r->at == r->end)
		return false;
	if (take(r, 'u'))
		return read_unicode_escape(r);
	found = memchr(from, *r->at, sizeof(from) - 1);
	if (!found)
		return false;
	wfs_buffer_append_byte(r->scratch, to[found - from]);
	r->at++;
	return true;
}

/* Reads the rest of a string, from its first escape on; @start is where the string began. */
static bool read_escaped_string(struct reader *r, const char *start, struct wfs_bytes *ret_text)
{
	wfs_buffer_reset(r->scratch);
	wfs_buffer_append(r->scratch, start, (size_t)(r->at - start));
	while (r->at < r->end && *r->at != '"') {
		const unsigned char byte = (unsigned char)*r->at++;

		if (byte < 0x20 || (byte == '\\' && !read_escape(r)))
			return false;
		if (byte != '\\')
			wfs_buffer_append_byte(r->scratch, (char)byte);
	}
	if (wfs_buffer_check(r->scratch) < 0)
		return false;
	*ret_text = wfs_buffer_bytes(r->scratch);
	return take(r, '"');
}

/* Reads a string after its opening quote; @ret_text is valid until the next string is read. */
static bool read_string(struct reader *r, struct wfs_bytes *ret_text)
{
	const char *const start = r->at;

	r->at += wfs_json_plain_size(start, (size_t)(r->end - start));
	if (r->at < r->end && *r->at == '\\')
		return read_escaped_string(r, start, ret_text);
	*ret_text = WFS_BYTES(start, (size_t)(r->at - start));
	return take(r, '"');
}

/* --- tables --- */

/*
 * Moves the values that wait above @slot into the table there, which is made first unless @made.
 * @done: elements that are in the table already; @width: 1 for elements, 2 for members
 */
static void settle(lua_State *L, int slot, lua_Integer done, int width, bool *made)
{
	/* A new table takes the slot of the first waiting value. */
	const int count = (lua_gettop(L) - slot + (*made ? 0 : 1)) / width;

	if (!*made) {
		lua_createtable(L, width == 1 ? count : 0, width == 2 ? count : 0);
		lua_insert(L, slot);
		*made = true;
	}
	for (int i = count; i > 0; i--) {
		if (width == 1)
			lua_rawseti(L, slot, done + i);
		else
			lua_rawset(L, slot);
	}
}

static bool read_array(struct reader *r, int depth)
{
	lua_State *const L = r->L;
	const int slot = lua_gettop(L) + 1;
	lua_Integer count = 0;
	lua_Integer done = 0;
	bool made = false;

	while (!take(r, ']')) {
		if ((count > 0 && !take(r, ',')) || !read_value(r, depth))
			return false;
		count++;
		if (count - done == WAITING_MAX) {
			settle(L, slot, done, 1, &made);
			done = count;
		}
	}
	settle(L, slot, done, 1, &made);
	lua_rawgeti(L, LUA_REGISTRYINDEX, WFS_LUA_SLOT_ARRAY);
	lua_setmetatable(L, slot);
	return true;
}

/* Reads one member onto the stack. @previous: the key before, borrowed; replaced by this key. */
static bool read_member(struct reader *r, struct wfs_bytes *previous, int depth)
{
	struct wfs_bytes key = {0};

	if ((previous->data && !take(r, ',')) || !take(r, '"') || !read_string(r, &key))
		return false;
	lua_pushlstring(r->L, key.data, key.size);
	/* Lua's copy does not move: it stays on the stack, and then in the table. */
	key.data = lua_tolstring(r->L, -1, &key.size);
	if (previous->data &&
		wfs_json_key_compare(previous->data, previous->size, key.data, key.size) >= 0)
		return false;
	*previous = key;
	return take(r, ':') && read_value(r, depth);
}

static bool read_object(struct reader *r, int depth)
{
	lua_State *const L = r->L;
	const int slot = lua_gettop(L) + 1;
	struct wfs_bytes previous = {0};
	bool made = false;

	while (!take(r, '}')) {
		if (!read_member(r, &previous, depth))
			return false;
		if (lua_gettop(L) - slot >= 2 * WAITING_MAX)
			settle(L, slot, 0, 2, &made);
	}
	settle(L, slot, 0, 2, &made);
	return true;
}

static bool read_table(struct reader *r, int depth)
{
	if (depth > WFS_JSON_DEPTH_MAX)
		return false;
	luaL_checkstack(r->L, 2 * WAITING_MAX + STACK_NEEDED, "JSON value");
	return *r->at++ == '[' ? read_array(r, depth) : read_object(r, depth);
}

/* @depth: tables around the value. */
static bool read_value(struct reader *r, int depth)
{
	struct wfs_bytes text = {0};

	if (r->at == r->end)
		return false;
	switch (*r->at) {
	case '[':
	case '{':
		return read_table(r, depth + 1);
	case '"':
		r->at++;
		if (!read_string(r, &text))
			return false;
		lua_pushlstring(r->L, text.data, text.size);
		return true;
	case 't':
		lua_pushboolean(r->L, true);
		return take_word(r, "true", 4);
	case 'f':
		lua_pushboolean(r->L, false);
		return take_word(r, "false", 5);
	case 'n':
		lua_pushlightuserdata(r->L, NULL);
		return take_word(r, "null", 4);
	default:
		return read_number(r);
	}
}

bool wfs_lua_read_json(lua_State *L, struct wfs_bytes text, struct wfs_buffer *scratch)
{
	const int top = lua_gettop(L);
	struct reader reader = {
		.L = L,
		.at = text.data,
		.end = (const char *)text.data + text.size,
		.scratch = scratch,
	};

	if (wfs_utf8_valid(text.data, text.size) && read_value(&reader, 0)) {
		take(&reader, '\n');
		if (reader.at == reader.end)
			return true;
	}
	lua_settop(L, top);
	return false;
}

void wfs_lua_push_json(lua_State *L, struct wfs_bytes text)
{
	struct wfs_lua *const lua = wfs_lua_of(L);

	wfs_lua_charge(L, 1 + text.size / WFS_LUA_CHARGE_JSON_BYTES);
	/* The owner's texts are canonical, so only their depth can be wrong,
	 * which it does not check. */
	if (!wfs_lua_read_json(L, text, &lua->output[1]))
		luaL_error(L, "value nested more than %d levels", WFS_JSON_DEPTH_MAX);
}
