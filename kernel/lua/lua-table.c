/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of `table` that can run long. Elements are read and written as by the language,
 * metamethods included, so that the library's own tables are protected here, too. Sorting is a
 * stable merge sort: it makes a bounded number of comparisons in a fixed order, whatever their
 * results.
 */
#include <string.h>

#include "kernel/lua/lua-impl.h"

enum { SORTED_MAX = INT32_MAX / 2 }; /* elements */

static lua_Integer table_length(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TTABLE);
	return luaL_len(L, 1);
}

static int table_insert(lua_State *L)
{
	const lua_Integer end = (lua_Integer)((lua_Unsigned)table_length(L) + 1);
	lua_Integer position = end;

	switch (lua_gettop(L)) {
	case 2:
		break;
	case 3:
		position = luaL_checkinteger(L, 2);
		luaL_argcheck(L, (lua_Unsigned)position - 1u < (lua_Unsigned)end, 2,
			"position out of bounds");
		for (lua_Integer i = end; i > position; i--) {
			wfs_lua_charge(L, 1);
			lua_geti(L, 1, i - 1);
			lua_seti(L, 1, i);
		}
		break;
	default:
		return luaL_error(L, "wrong number of arguments to 'insert'");
	}
	lua_seti(L, 1, position);
	return 0;
}

static int table_remove(lua_State *L)
{
	const lua_Integer size = table_length(L);
	lua_Integer position = luaL_optinteger(L, 2, size);

	if (position != size)
		luaL_argcheck(L, (lua_Unsigned)position - 1u <= (lua_Unsigned)size, 2,
			"position out of bounds");
	lua_geti(L, 1, position);
	for (; position < size; position++) {
		wfs_lua_charge(L, 1);
		lua_geti(L, 1, position + 1);
		lua_seti(L, 1, position);
	}
	lua_pushnil(L);
	lua_seti(L, 1, position);
	return 1;
}

static int table_concat(lua_State *L)
{
	const lua_Integer size = table_length(L);
	size_t separator_size = 0;
	const char *const separator = luaL_optlstring(L, 2, "", &separator_size);
	const lua_Integer first = luaL_optinteger(L, 3, 1);
	const lua_Integer last = luaL_optinteger(L, 4, size);
	struct wfs_lua_text text;

	wfs_lua_text_start(L, &text);
	for (lua_Integer i = first; i <= last; i++) {
		const char *element = NULL;
		size_t element_size = 0;

		lua_geti(L, 1, i);
		if (!lua_isstring(L, -1))
			return luaL_error(L, "invalid value (at index %I) in table for 'concat'",
				(LUAI_UACINT)i);
		element = lua_tolstring(L, -1, &element_size);
		wfs_lua_text_append(&text, element, element_size);
		lua_pop(L, 1);
		if (i == last)
			break; /* the greatest integer has no successor */
		wfs_lua_text_append(&text, separator, separator_size);
	}
	wfs_lua_text_push(&text);
	return 1;
}

static void move_element(lua_State *L, lua_Integer from, int table, lua_Integer to)
{
	wfs_lua_charge(L, 1);
	lua_geti(L, 1, from);
	lua_seti(L, table, to);
}

static int table_move(lua_State *L)
{
	const lua_Integer first = luaL_checkinteger(L, 2);
	const lua_Integer last = luaL_checkinteger(L, 3);
	const lua_Integer to = luaL_checkinteger(L, 4);
	const int table = lua_isnoneornil(L, 5) ? 1 : 5;
	const bool same = table == 1 || lua_rawequal(L, 1, table);

	luaL_checktype(L, 1, LUA_TTABLE);
	luaL_checktype(L, table, LUA_TTABLE);
	if (last >= first) {
		luaL_argcheck(L, first > 0 || last < LUA_MAXINTEGER + first, 3,
			"too many elements to move");
		const lua_Integer count = last - first; /* of elements, minus one */

		luaL_argcheck(L, to <= LUA_MAXINTEGER - count, 4, "destination wrap around");
		if (to > last || to <= first || !same) {
			for (lua_Integer i = 0; i <= count; i++)
				move_element(L, first + i, table, to + i);
		} else {
			for (lua_Integer i = count; i >= 0; i--)
				move_element(L, first + i, table, to + i);
		}
	}
	lua_pushvalue(L, table);
	return 1;
}

/* --- sort --- */

/* Stack indices of a sort: 1 table, 2 comparison or nil, 3 elements, 4 the other array. */
enum { STACK_ORDER = 2, STACK_FROM = 3, STACK_TO = 4 };

/* Must the value on top come before the one below it? Pops neither. */
static bool comes_before(lua_State *L)
{
	bool before = false;

	wfs_lua_charge(L, 1);
	if (lua_isnil(L, STACK_ORDER))
		return lua_compare(L, -1, -2, LUA_OPLT);
	lua_pushvalue(L, STACK_ORDER);
	lua_pushvalue(L, -2);
	lua_pushvalue(L, -4);
	lua_call(L, 2, 1);
	before = lua_toboolean(L, -1);
	lua_pop(L, 1);
	return before;
}

/* Merges [left, middle) and [middle, end) of @from into @to. */
static void merge(
	lua_State *L, int from, int to, lua_Integer left, lua_Integer middle, lua_Integer end)
{
	lua_Integer right = middle;
	lua_Integer at = left;

	while (left < middle && right < end) {
		lua_rawgeti(L, from, left);
		lua_rawgeti(L, from, right);
		if (comes_before(L)) {
			lua_rawseti(L, to, at++);
			lua_pop(L, 1);
			right++;
		} else {
			lua_pop(L, 1);
			lua_rawseti(L, to, at++);
			left++;
		}
	}
	while (left < middle || right < end) {
		lua_rawgeti(L, from, left < middle ? left++ : right++);
		lua_rawseti(L, to, at++);
	}
}

static lua_Integer least(lua_Integer a, lua_Integer b)
{
	return a < b ? a : b;
}

static int table_sort(lua_State *L)
{
	const lua_Integer size = table_length(L);
	int from = STACK_FROM;
	int to = STACK_TO;

	if (size < 2)
		return 0;
	luaL_argcheck(L, size < SORTED_MAX, 1, "array too big");
	if (!lua_isnoneornil(L, 2))
		luaL_checktype(L, 2, LUA_TFUNCTION);
	lua_settop(L, 2);
	wfs_lua_charge(L, (uint64_t)size);
	lua_createtable(L, (int)size, 0);
	lua_createtable(L, (int)size, 0);
	for (lua_Integer i = 1; i <= size; i++) {
		lua_geti(L, 1, i);
		lua_rawseti(L, from, i);
	}

	for (lua_Integer width = 1; width < size; width *= 2) {
		const int swap = from;

		wfs_lua_charge(L, (uint64_t)size);
		for (lua_Integer left = 1; left <= size; left += 2 * width)
			merge(L, from, to, left, least(left + width, size + 1),
				least(left + 2 * width, size + 1));
		from = to;
		to = swap;
	}

	for (lua_Integer i = 1; i <= size; i++) {
		lua_rawgeti(L, from, i);
		lua_seti(L, 1, i);
	}
	return 0;
}

const luaL_Reg wfs_lua_table[] = {
	{"concat", table_concat},
	{"insert", table_insert},
	{"move", table_move},
	{"remove", table_remove},
	{"sort", table_sort},
	{NULL, NULL},
};
