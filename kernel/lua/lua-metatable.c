/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metatables, and the marks of arrays and objects.
 *
 * Invariant: Lua never sees a metatable that code can write. `setmetatable` makes a new table with
 * the events that it knows; later assignments to the table that it was given have no effect.
 * `getmetatable` returns the given table, which is element 1 of the copy.
 *
 * So a table cannot become weak, nothing has a finaliser, and a to-be-closed variable refuses every
 * value except nil and false: Lua's list of variables to close is always empty. Lua 5.4.4 corrupts
 * memory after a `break` out of a loop with such a variable, and when a collection empties a weak
 * metatable during an assignment.
 * `__concat` is refused because of a third defect of this kind: when the stack grows during the
 * metamethod, luaV_concat (as patched in Debian 12) continues in the old stack.
 */
#include "kernel/base/cleanup.h"
#include "kernel/lua/lua-impl.h"

enum {
	ORIGINAL = 1,    /* element of a copy: the table that the code passed */
	CHARGE_COPY = 8, /* instructions for looking up all events */
};

static const char *const events[] = {
	"__add",
	"__band",
	"__bnot",
	"__bor",
	"__bxor",
	"__call",
	"__div",
	"__eq",
	"__idiv",
	"__index",
	"__le",
	"__len",
	"__lt",
	"__metatable",
	"__mod",
	"__mul",
	"__name",
	"__newindex",
	"__pairs",
	"__pow",
	"__shl",
	"__shr",
	"__sub",
	"__tostring",
	"__unm",
};

static const char *const refused_events[] = {"__close", "__concat", "__gc", "__mode"};

static int meta_getmetatable(lua_State *L)
{
	luaL_checkany(L, 1);
	if (!lua_getmetatable(L, 1)) {
		lua_pushnil(L);
		return 1;
	}
	/* Pushes nothing if the field is absent; metatables of libraries and of marks have it. */
	if (luaL_getmetafield(L, 1, "__metatable") == LUA_TNIL)
		lua_rawgeti(L, -1, ORIGINAL);
	return 1;
}

/* Pushes the field @name of the table at @index. Return: its type. */
static int push_raw_field(lua_State *L, int index, const char *name)
{
	lua_pushstring(L, name);
	return lua_rawget(L, index);
}

/* Pushes the metatable that Lua gets instead of the table at @index. */
static void push_copy(lua_State *L, int index)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(refused_events); i++) {
		if (push_raw_field(L, index, refused_events[i]) != LUA_TNIL)
			luaL_error(L, "'%s' in a metatable is not available", refused_events[i]);
		lua_pop(L, 1);
	}
	wfs_lua_charge(L, CHARGE_COPY);
	lua_createtable(L, ORIGINAL, 0);
	lua_pushvalue(L, index);
	lua_rawseti(L, -2, ORIGINAL);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(events); i++) {
		if (push_raw_field(L, index, events[i]) == LUA_TNIL)
			lua_pop(L, 1);
		else
			lua_setfield(L, -2, events[i]);
	}
}

static int meta_setmetatable(lua_State *L)
{
	const int type = lua_type(L, 2);

	luaL_checktype(L, 1, LUA_TTABLE);
	luaL_argexpected(L, type == LUA_TNIL || type == LUA_TTABLE, 2, "nil or table");
	if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL)
		return luaL_error(L, "cannot change a protected metatable");
	lua_settop(L, 2);
	if (type == LUA_TTABLE)
		push_copy(L, 2);
	lua_setmetatable(L, 1);
	lua_settop(L, 1);
	return 1;
}

/* Marks the table that was passed, or a new one; a mark can be replaced. */
static int mark(lua_State *L, enum wfs_lua_slot slot)
{
	if (lua_isnone(L, 1))
		lua_newtable(L);
	luaL_checktype(L, 1, LUA_TTABLE);
	lua_settop(L, 1);
	lua_rawgeti(L, LUA_REGISTRYINDEX, WFS_LUA_SLOT_ARRAY);
	lua_rawgeti(L, LUA_REGISTRYINDEX, WFS_LUA_SLOT_OBJECT);
	if (lua_getmetatable(L, 1) && !lua_rawequal(L, -1, 2) && !lua_rawequal(L, -1, 3))
		return luaL_error(L, "table has a metatable already");
	lua_rawgeti(L, LUA_REGISTRYINDEX, slot);
	lua_setmetatable(L, 1);
	lua_settop(L, 1);
	return 1;
}

static int meta_array(lua_State *L)
{
	return mark(L, WFS_LUA_SLOT_ARRAY);
}

static int meta_object(lua_State *L)
{
	return mark(L, WFS_LUA_SLOT_OBJECT);
}

const luaL_Reg wfs_lua_metatable[] = {
	{"array", meta_array},
	{"getmetatable", meta_getmetatable},
	{"object", meta_object},
	{"setmetatable", meta_setmetatable},
	{NULL, NULL},
};
