/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Iteration in an order that is the same everywhere: numbers by value, strings by bytes, false,
 * true. Keys of other types have no such order and are refused. (Lua's own order is that of hashes
 * with a random seed.)
 *
 * `pairs` takes the keys when it is called: fields that are assigned later are not visited, and
 * fields that are cleared are skipped.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/lua/lua-impl.h"

#define TWO_TO_63 9223372036854775808.0

enum { RANK_UNORDERED = 3 };

/* A key, for sorting. Strings are borrowed: the key is on the stack or in a table. */
struct key {
	int type;
	bool is_integer;
	union {
		lua_Integer integer; /* for booleans, too */
		lua_Number real;
	};
	const char *text; /* of a key without an order: the name of its type */
	size_t size;
	lua_Integer slot; /* in the table of keys */
};

static void key_read(lua_State *L, int index, struct key *ret_key)
{
	struct key key = {.type = lua_type(L, index), .text = ""};

	switch (key.type) {
	case LUA_TNUMBER:
		key.is_integer = lua_isinteger(L, index);
		if (key.is_integer)
			key.integer = lua_tointeger(L, index);
		else
			key.real = lua_tonumber(L, index);
		break;
	case LUA_TSTRING:
		key.text = lua_tolstring(L, index, &key.size);
		break;
	case LUA_TBOOLEAN:
		key.integer = lua_toboolean(L, index);
		break;
	default:
		key.text = luaL_typename(L, index);
		key.size = strlen(key.text);
	}
	*ret_key = key;
}

/* Exact, also if no real equals the integer. */
static int compare_integer_real(lua_Integer a, lua_Number b)
{
	if (b >= TWO_TO_63)
		return -1;
	if (b < -TWO_TO_63)
		return 1;
	if (a == (lua_Integer)floor(b))
		return floor(b) == b ? 0 : -1;
	return a < (lua_Integer)floor(b) ? -1 : 1;
}

static int compare_numbers(const struct key *a, const struct key *b)
{
	if (a->is_integer && b->is_integer)
		return (a->integer > b->integer) - (a->integer < b->integer);
	if (a->is_integer)
		return compare_integer_real(a->integer, b->real);
	if (b->is_integer)
		return -compare_integer_real(b->integer, a->real);
	return (a->real > b->real) - (a->real < b->real);
}

static int type_rank(const struct key *key)
{
	switch (key->type) {
	case LUA_TNUMBER:
		return 0;
	case LUA_TSTRING:
		return 1;
	case LUA_TBOOLEAN:
		return 2;
	default:
		return RANK_UNORDERED;
	}
}

static bool is_unordered(const struct key *key)
{
	return type_rank(key) == RANK_UNORDERED;
}

static int key_compare(const void *left, const void *right)
{
	const struct key *const a = left;
	const struct key *const b = right;
	int order = type_rank(a) - type_rank(b);

	if (order != 0)
		return order;
	if (a->type == LUA_TNUMBER)
		return compare_numbers(a, b);
	if (a->type == LUA_TBOOLEAN)
		return (int)(a->integer - b->integer);
	order = memcmp(a->text, b->text, a->size < b->size ? a->size : b->size);
	return order != 0 ? order : (a->size > b->size) - (a->size < b->size);
}

/* --- keys for messages --- */

bool wfs_lua_push_least_key(lua_State *L, int index, wfs_lua_key_test *wanted)
{
	struct key best = {.text = ""};
	bool found = false;
	uint64_t count = 0;
	int slot = 0;

	index = lua_absindex(L, index);
	luaL_checkstack(L, LUA_MINSTACK, NULL);
	lua_pushnil(L);
	slot = lua_gettop(L);
	lua_pushnil(L);
	while (lua_next(L, index)) {
		struct key key = {.text = ""};

		lua_pop(L, 1);
		count++;
		if (!wanted(L, lua_gettop(L)))
			continue;
		key_read(L, -1, &key);
		if (found && key_compare(&key, &best) >= 0)
			continue;
		found = true;
		best = key;
		lua_copy(L, -1, slot);
	}
	wfs_lua_charge(L, count);
	if (!found)
		lua_pop(L, 1);
	return found;
}

static bool key_is_unordered(lua_State *L, int index)
{
	struct key key = {.text = ""};

	key_read(L, index, &key);
	return is_unordered(&key);
}

/* Raises an error for a table that has keys without an order. */
static void refuse_unordered(lua_State *L, int table)
{
	wfs_lua_push_least_key(L, table, key_is_unordered);
	luaL_error(L, "a key of type %s has no order", luaL_typename(L, -1));
}

/* --- next --- */

/* Finds the least key above the given one. Linear, and charged for that; loops use pairs. */
static int pairs_next(lua_State *L)
{
	struct key after = {.type = LUA_TBOOLEAN, .text = ""};
	struct key best = {.text = ""};
	bool found = false;
	uint64_t count = 0;

	luaL_checktype(L, 1, LUA_TTABLE);
	lua_settop(L, 2);
	if (!lua_isnil(L, 2))
		key_read(L, 2, &after);
	if (is_unordered(&after))
		return luaL_error(L, "a key of type %s has no order", after.text);
	lua_pushnil(L); /* 3: best key */
	lua_pushnil(L); /* 4: its value */
	lua_pushnil(L);
	while (lua_next(L, 1)) {
		struct key key = {.text = ""};

		key_read(L, -2, &key);
		if (is_unordered(&key))
			refuse_unordered(L, 1);
		if ((lua_isnil(L, 2) || key_compare(&key, &after) > 0) &&
			(!found || key_compare(&key, &best) < 0)) {
			found = true;
			best = key;
			lua_copy(L, -2, 3);
			lua_copy(L, -1, 4);
		}
		lua_pop(L, 1);
		count++;
	}
	wfs_lua_charge(L, count);
	lua_settop(L, 4);
	return found ? 2 : 1;
}

/* --- pairs --- */

/* For keys 1 … n. Upvalues: table, position. */
static int sequence_iterate(lua_State *L)
{
	const lua_Integer next = lua_tointeger(L, lua_upvalueindex(2)) + 1;
	const lua_Integer count = lua_tointeger(L, lua_upvalueindex(3));

	for (lua_Integer i = next; i <= count; i++) {
		lua_pushinteger(L, i);
		if (lua_rawgeti(L, lua_upvalueindex(1), i) != LUA_TNIL) {
			lua_pushinteger(L, i);
			lua_replace(L, lua_upvalueindex(2));
			return 2;
		}
		lua_pop(L, 2);
	}
	lua_pushinteger(L, count);
	lua_replace(L, lua_upvalueindex(2));
	lua_pushnil(L);
	return 1;
}

/* For other keys. Upvalues: table, position, table of keys, array of their slots in order. */
static int keys_iterate(lua_State *L)
{
	const uint32_t *const order = lua_touserdata(L, lua_upvalueindex(4));
	const lua_Integer count = (lua_Integer)lua_rawlen(L, lua_upvalueindex(3));

	for (lua_Integer i = lua_tointeger(L, lua_upvalueindex(2)); i < count; i++) {
		lua_rawgeti(L, lua_upvalueindex(3), order[i]);
		lua_pushvalue(L, -1);
		if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) {
			lua_pushinteger(L, i + 1);
			lua_replace(L, lua_upvalueindex(2));
			return 2;
		}
		lua_pop(L, 2);
	}
	lua_pushinteger(L, count);
	lua_replace(L, lua_upvalueindex(2));
	lua_pushnil(L);
	return 1;
}

/* Are the keys 1 … n? @ret_count: the number of keys, in any case */
static bool is_sequence(lua_State *L, lua_Integer *ret_count)
{
	lua_Integer greatest = 0;
	lua_Integer count = 0;
	bool sequence = true;

	lua_pushnil(L);
	while (lua_next(L, 1)) {
		const lua_Integer key = lua_isinteger(L, -2) ? lua_tointeger(L, -2) : 0;

		count++;
		sequence = sequence && key >= 1;
		if (key > greatest)
			greatest = key;
		lua_pop(L, 1);
	}
	*ret_count = count;
	return sequence && greatest == count;
}

static uint64_t sort_cost(lua_Integer count)
{
	uint64_t cost = (uint64_t)count;

	for (lua_Integer rest = count; rest > 1; rest /= 2)
		cost += (uint64_t)count;
	return cost;
}

/* Pushes a table of the keys, and an array of their slots in order. */
static void push_sorted_keys(lua_State *L, lua_Integer count)
{
	struct key *const keys = lua_newuserdatauv(L, (size_t)count * sizeof(*keys), 0);
	const int scratch = lua_gettop(L);
	uint32_t *order = NULL;
	lua_Integer i = 0;

	lua_createtable(L, (int)count, 0);
	lua_pushnil(L);
	while (lua_next(L, 1)) {
		lua_pop(L, 1);
		key_read(L, -1, &keys[i]);
		if (is_unordered(&keys[i]))
			refuse_unordered(L, 1);
		lua_pushvalue(L, -1);
		lua_rawseti(L, scratch + 1, ++i);
		keys[i - 1].slot = i;
	}
	qsort(keys, (size_t)count, sizeof(*keys), key_compare);

	order = lua_newuserdatauv(L, (size_t)count * sizeof(*order), 0);
	for (i = 0; i < count; i++)
		order[i] = (uint32_t)keys[i].slot;
	lua_remove(L, scratch);
}

static int pairs_pairs(lua_State *L)
{
	lua_Integer count = 0;

	luaL_checkany(L, 1);
	if (luaL_getmetafield(L, 1, "__pairs") != LUA_TNIL) {
		lua_pushvalue(L, 1);
		lua_call(L, 1, 3);
		return 3;
	}
	luaL_checktype(L, 1, LUA_TTABLE);
	lua_settop(L, 1);

	lua_pushvalue(L, 1);
	if (is_sequence(L, &count)) {
		wfs_lua_charge(L, (uint64_t)count);
		lua_pushinteger(L, 0);
		lua_pushinteger(L, count);
		lua_pushcclosure(L, sequence_iterate, 3);
	} else {
		luaL_argcheck(L, count < INT32_MAX, 1, "too many keys");
		wfs_lua_charge(L, sort_cost(count));
		lua_pushinteger(L, 0);
		push_sorted_keys(L, count);
		lua_pushcclosure(L, keys_iterate, 4);
	}
	lua_pushvalue(L, 1);
	lua_pushnil(L);
	return 3;
}

const luaL_Reg wfs_lua_pairs[] = {
	{"next", pairs_next},
	{"pairs", pairs_pairs},
	{NULL, NULL},
};
