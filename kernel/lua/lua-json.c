/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes Lua values as canonical JSON. (lua-read.c reads it.)
 *
 * null is light userdata of the NULL pointer; arrays have the array marker as their metatable;
 * objects are plain tables. When written, a table is an array if it is marked as one or has exactly
 * the keys 1 … n; it is an object if it is marked as one, is empty, or has string keys only. Fields
 * are read raw, so writing runs no code of the module. This is the hot path of every step: members
 * are sorted and written from the Lua stack, without values in between.
 */
#include <stdlib.h>
#include <string.h>

#include "kernel/base/array.h"
#include "kernel/base/encode.h"
#include "kernel/base/json.h"
#include "kernel/lua/lua-impl.h"

enum {
	STACK_NEEDED = 4,        /* per level, besides kept members */
	MEMBERS_KEPT = 64,       /* members of an object on the stack; others are looked up again */
	MEMBERS_SORTED_FEW = 16, /* up to this number, insertion sort */
	PATH_SHOWN_BYTES = 200,  /* of a path in a message */
	NAME_SHOWN_BYTES = 60,   /* of a member name in a path */
};

/* --- writing --- */

/* Where the writer is: a chain from the value up to the root. */
struct place {
	const struct place *up; /* NULL: this is the root */
	const char *name;       /* NULL: an element */
	size_t name_size;
	lua_Integer index;
};

struct writer {
	lua_State *L;
	struct wfs_lua *lua;
	struct wfs_buffer *buffer;
	const char *what;
	bool root_array;
};

static void path_append(struct wfs_buffer *path, const struct place *place)
{
	if (!place->up)
		return;
	path_append(path, place->up);
	if (!place->name) {
		wfs_buffer_printf(path, "[%lld]", (long long)place->index);
		return;
	}
	wfs_buffer_append_byte(path, '.');
	wfs_buffer_append(path, place->name,
		place->name_size < NAME_SHOWN_BYTES ? place->name_size : NAME_SHOWN_BYTES);
}

/*
 * refuse() - raise "name:line: what: path: reason"
 *
 * The path is written into the step's own output buffer, which is not needed any more and, unlike a
 * local, does not leak when the error leaves this function.
 */
_Noreturn static void refuse(struct writer *w, const struct place *place, const char *reason)
{
	const char *path = NULL;
	const char *more = "";

	wfs_buffer_reset(w->buffer);
	path_append(w->buffer, place);
	path = wfs_buffer_text(w->buffer);
	if (w->buffer->size > PATH_SHOWN_BYTES) {
		w->buffer->data[PATH_SHOWN_BYTES] = '\0';
		more = "…";
	}
	luaL_where(w->L, 1); /* the line that called a function of the host; otherwise "" */
	if (!*lua_tostring(w->L, -1))
		lua_pushfstring(w->L, "%s: ", w->lua->name);
	lua_pushfstring(w->L, "%s: %s%s%s%s", w->what, path, more, *path ? ": " : "", reason);
	lua_concat(w->L, 2);
	lua_error(w->L);
	abort(); /* not reached */
}

static void write_value(struct writer *w, int index, const struct place *place, int depth);

static void write_string(struct writer *w, const char *text, size_t size, const struct place *place)
{
	if (!wfs_utf8_valid(text, size))
		refuse(w, place, "string is not valid UTF-8");
	wfs_json_write_string(w->buffer, text, size);
}

static void write_number(struct writer *w, int index, const struct place *place)
{
	int64_t integer = 0;
	double real = 0;

	if (lua_isinteger(w->L, index)) {
		wfs_buffer_append_int(w->buffer, lua_tointeger(w->L, index));
		return;
	}
	real = lua_tonumber(w->L, index);
	switch (wfs_json_real_canonical(real, &integer)) {
	case 2:
		wfs_buffer_append_int(w->buffer, integer);
		break;
	case 1:
		wfs_json_write_real(w->buffer, real);
		break;
	default:
		refuse(w, place, "number that JSON cannot carry (not finite, or beyond 64 bits)");
	}
}

static struct wfs_lua_member *member_add(struct writer *w)
{
	struct wfs_lua *const lua = w->lua;

	struct wfs_lua_member *const members = wfs_array_reserve(
		lua->members, lua->member_count, &lua->member_capacity, sizeof(*members));

	if (!members)
		wfs_lua_stop_now(w->L, WFS_LUA_STOP_NO_MEMORY);
	lua->members = members;
	return &lua->members[lua->member_count++];
}

static int member_compare(const void *a, const void *b)
{
	const struct wfs_lua_member *const left = a;
	const struct wfs_lua_member *const right = b;

	return wfs_json_key_compare(left->text, left->size, right->text, right->size);
}

static void members_sort(struct wfs_lua_member *members, size_t count)
{
	if (count > MEMBERS_SORTED_FEW) {
		qsort(members, count, sizeof(*members), member_compare);
		return;
	}
	for (size_t i = 1; i < count; i++) {
		const struct wfs_lua_member moved = members[i];
		size_t at = i;

		for (; at > 0 && member_compare(&members[at - 1], &moved) > 0; at--)
			members[at] = members[at - 1];
		members[at] = moved;
	}
}

static void member_write(struct writer *w, int table, struct wfs_lua_member member,
	const struct place *up, int depth)
{
	const struct place place = {.up = up, .name = member.text, .name_size = member.size};

	if (memchr(member.text, '\0', member.size))
		refuse(w, &place, "member name contains a NUL byte");
	write_string(w, member.text, member.size, &place);
	wfs_buffer_append_byte(w->buffer, ':');
	if (member.slot) {
		write_value(w, member.slot, &place, depth);
		return;
	}
	lua_pushlstring(w->L, member.text, member.size);
	lua_rawget(w->L, table);
	write_value(w, lua_gettop(w->L), &place, depth);
	lua_pop(w->L, 1);
}

static void members_write(
	struct writer *w, int table, size_t first, const struct place *place, int depth)
{
	const size_t count = w->lua->member_count - first;

	if (count > 1)
		members_sort(w->lua->members + first, count);
	wfs_buffer_append_byte(w->buffer, '{');
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			wfs_buffer_append_byte(w->buffer, ',');
		/* Copied, because nested objects may move the array. */
		member_write(w, table, w->lua->members[first + i], place, depth);
	}
	wfs_buffer_append_byte(w->buffer, '}');
}

static bool key_is_number(lua_State *L, int index)
{
	return lua_type(L, index) == LUA_TNUMBER;
}

static bool key_is_no_name(lua_State *L, int index)
{
	return lua_type(L, index) != LUA_TSTRING;
}

static lua_Integer key_index(lua_State *L, int index)
{
	const lua_Integer key = lua_isinteger(L, index) ? lua_tointeger(L, index) : 0;

	return key >= 1 ? key : 0;
}

static bool key_is_no_index(lua_State *L, int index)
{
	return key_index(L, index) == 0;
}

static bool has_marker(lua_State *L, int table, enum wfs_lua_slot slot)
{
	bool equal = false;

	if (!lua_getmetatable(L, table))
		return false;
	lua_rawgeti(L, LUA_REGISTRYINDEX, slot);
	equal = lua_rawequal(L, -1, -2);
	lua_pop(L, 2);
	return equal;
}

/*
 * For a table that has keys of an array and others. Refuses it as an array if it is marked as one,
 * or if it has a number as a key and is not marked; otherwise as an object.
 */
_Noreturn static void refuse_keys(struct writer *w, int table, const struct place *place)
{
	lua_State *const L = w->L;
	const bool array = has_marker(L, table, WFS_LUA_SLOT_ARRAY) ||
		(!has_marker(L, table, WFS_LUA_SLOT_OBJECT) &&
			wfs_lua_push_least_key(L, table, key_is_number));
	const char *text = NULL;

	wfs_lua_push_least_key(L, table, array ? key_is_no_index : key_is_no_name);
	if (lua_type(L, -1) == LUA_TSTRING)
		refuse(w, place,
			lua_pushfstring(L, "array with the key '%s'", lua_tostring(L, -1)));
	text = wfs_lua_push_text(L, -1, NULL);
	if (array)
		refuse(w, place, lua_pushfstring(L, "array with a hole or the key %s", text));
	refuse(w, place,
		lua_pushfstring(L, "object with the %s key %s", luaL_typename(L, -2), text));
}

/* Keeps the first members on the stack, so that writing them needs no look-up. */
static void write_object(struct writer *w, int table, const struct place *place, int depth)
{
	lua_State *const L = w->L;
	const size_t first = w->lua->member_count;
	const int top = lua_gettop(L);

	luaL_checkstack(L, 2 * MEMBERS_KEPT + STACK_NEEDED, "JSON object");
	lua_pushnil(L);
	while (lua_next(L, table)) {
		struct wfs_lua_member *member = NULL;

		if (key_is_no_name(L, -2))
			refuse_keys(w, table, place);
		member = member_add(w);
		member->text = lua_tolstring(L, -2, &member->size);
		if (w->lua->member_count - first <= MEMBERS_KEPT) {
			member->slot = lua_gettop(L);
			lua_pushvalue(L, -2);
		} else {
			member->slot = 0;
			lua_pop(L, 1);
		}
	}
	members_write(w, table, first, place, depth);
	w->lua->member_count = first;
	lua_settop(L, top);
}

/* For a table whose keys are positive integers, but not 1 … n. */
_Noreturn static void refuse_hole(struct writer *w, int table, const struct place *place)
{
	lua_Integer hole = 1;

	for (; lua_rawgeti(w->L, table, hole) != LUA_TNIL; hole++)
		lua_pop(w->L, 1);
	refuse(w, place, lua_pushfstring(w->L, "array with a hole at %I", (LUAI_UACINT)hole));
}

/* Raises unless the keys are 1 … n; returns n. */
static lua_Integer array_count(struct writer *w, int table, const struct place *place)
{
	lua_State *const L = w->L;
	lua_Integer greatest = 0;
	lua_Integer count = 0;

	lua_pushnil(L);
	while (lua_next(L, table)) {
		const lua_Integer key = key_index(L, -2);

		if (key == 0)
			refuse_keys(w, table, place);
		if (key > greatest)
			greatest = key;
		count++;
		lua_pop(L, 1);
	}
	if (count != greatest)
		refuse_hole(w, table, place);
	return count;
}

static void write_array(struct writer *w, int table, const struct place *place, int depth)
{
	const lua_Integer count = array_count(w, table, place);

	wfs_buffer_append_byte(w->buffer, '[');
	for (lua_Integer i = 1; i <= count; i++) {
		const struct place element = {.up = place, .index = i};

		if (i > 1)
			wfs_buffer_append_byte(w->buffer, ',');
		lua_rawgeti(w->L, table, i);
		write_value(w, lua_gettop(w->L), &element, depth);
		lua_pop(w->L, 1);
	}
	wfs_buffer_append_byte(w->buffer, ']');
}

static bool is_array(struct writer *w, int table, const struct place *place)
{
	lua_State *const L = w->L;
	bool array = false;

	if (has_marker(L, table, WFS_LUA_SLOT_ARRAY))
		return true;
	if (has_marker(L, table, WFS_LUA_SLOT_OBJECT))
		return false;
	lua_pushnil(L);
	if (!lua_next(L, table))
		return !place->up && w->root_array;
	array = lua_type(L, -2) == LUA_TNUMBER;
	lua_pop(L, 2);
	return array;
}

/*
 * write_value() - append the value at the absolute stack index @index
 * @depth: tables around it
 */
static void write_value(struct writer *w, int index, const struct place *place, int depth)
{
	lua_State *const L = w->L;
	const char *text = NULL;
	size_t size = 0;

	wfs_lua_charge(L, 1);
	switch (lua_type(L, index)) {
	case LUA_TTABLE:
		if (depth == WFS_JSON_DEPTH_MAX)
			refuse(w, place,
				"nested more than 128 levels, or a table that contains itself");
		luaL_checkstack(L, STACK_NEEDED, "JSON value");
		if (is_array(w, index, place))
			write_array(w, index, place, depth + 1);
		else
			write_object(w, index, place, depth + 1);
		break;
	case LUA_TSTRING:
		text = lua_tolstring(L, index, &size);
		write_string(w, text, size, place);
		break;
	case LUA_TNUMBER:
		write_number(w, index, place);
		break;
	case LUA_TBOOLEAN:
		wfs_buffer_append_text(w->buffer, lua_toboolean(L, index) ? "true" : "false");
		break;
	case LUA_TLIGHTUSERDATA:
		wfs_buffer_append_text(w->buffer, "null");
		break;
	default:
		refuse(w, place,
			lua_pushfstring(L, "a %s is not a JSON value", luaL_typename(L, index)));
	}
	if (w->buffer->size > w->lua->limits.output_bytes)
		refuse(w, place,
			lua_pushfstring(L, "more than %I bytes of JSON",
				(LUAI_UACINT)w->lua->limits.output_bytes));
	if (wfs_buffer_check(w->buffer) < 0)
		wfs_lua_stop_now(L, WFS_LUA_STOP_NO_MEMORY);
}

static void write_root(lua_State *L, int index, struct writer *writer, int depth)
{
	const struct place root = {0};

	writer->L = L;
	writer->lua = wfs_lua_of(L);
	writer->lua->member_count = 0;
	write_value(writer, lua_absindex(L, index), &root, depth);
}

void wfs_lua_write_json(
	lua_State *L, int index, struct wfs_buffer *buffer, const char *what, bool array)
{
	struct writer writer = {.buffer = buffer, .what = what, .root_array = array};

	wfs_buffer_reset(buffer);
	write_root(L, index, &writer, 0);
}

void wfs_lua_write_element(lua_State *L, int index, struct wfs_buffer *buffer, const char *what)
{
	struct writer writer = {.buffer = buffer, .what = what};

	write_root(L, index, &writer, 1);
}
