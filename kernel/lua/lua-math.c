/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `math`: what IEEE 754 defines to the last bit. Functions whose last digit depends on the C library
 * (sin, exp, log …) are absent; the operator `^` is the language's own and cannot be taken out, its
 * results for other than small whole powers are the C library's. Randomness is ctx.random only.
 */
#include <float.h>
#include <math.h>

#include "kernel/base/hash.h"
#include "kernel/lua/lua-impl.h"

static int math_abs(lua_State *L)
{
	if (lua_isinteger(L, 1)) {
		const lua_Integer value = lua_tointeger(L, 1);

		lua_pushinteger(L, value < 0 ? (lua_Integer)(0u - (lua_Unsigned)value) : value);
	} else {
		lua_pushnumber(L, fabs(luaL_checknumber(L, 1)));
	}
	return 1;
}

/* A whole real as an integer when it fits. */
static int push_whole(lua_State *L, lua_Number whole)
{
	lua_Integer integer = 0;

	if (lua_numbertointeger(whole, &integer))
		lua_pushinteger(L, integer);
	else
		lua_pushnumber(L, whole);
	return 1;
}

static int math_floor(lua_State *L)
{
	if (!lua_isinteger(L, 1))
		return push_whole(L, floor(luaL_checknumber(L, 1)));
	lua_settop(L, 1);
	return 1;
}

static int math_ceil(lua_State *L)
{
	if (!lua_isinteger(L, 1))
		return push_whole(L, ceil(luaL_checknumber(L, 1)));
	lua_settop(L, 1);
	return 1;
}

static int math_fmod(lua_State *L)
{
	if (lua_isinteger(L, 1) && lua_isinteger(L, 2)) {
		const lua_Integer divisor = lua_tointeger(L, 2);

		luaL_argcheck(L, divisor != 0, 2, "zero");
		/* The least integer divided by -1 traps. */
		lua_pushinteger(L, divisor == -1 ? 0 : lua_tointeger(L, 1) % divisor);
	} else {
		lua_pushnumber(L, fmod(luaL_checknumber(L, 1), luaL_checknumber(L, 2)));
	}
	return 1;
}

static int math_modf(lua_State *L)
{
	const lua_Number value = luaL_checknumber(L, 1);
	const lua_Number whole = trunc(value);

	if (lua_isinteger(L, 1)) {
		lua_settop(L, 1); /* may be beyond what a real holds */
		lua_pushnumber(L, 0);
		return 2;
	}
	push_whole(L, whole);
	lua_pushnumber(L, isinf(value) ? 0.0 : value - whole);
	return 2;
}

/* Pushes the argument that no other one is below (or above, for @greatest). */
static int extreme(lua_State *L, bool greatest)
{
	const int count = lua_gettop(L);
	int best = 1;

	luaL_argcheck(L, count >= 1, 1, "value expected");
	for (int i = 2; i <= count; i++) {
		if (greatest ? lua_compare(L, best, i, LUA_OPLT)
			     : lua_compare(L, i, best, LUA_OPLT))
			best = i;
	}
	wfs_lua_charge(L, (uint64_t)count);
	lua_pushvalue(L, best);
	return 1;
}

static int math_max(lua_State *L)
{
	return extreme(L, true);
}

static int math_min(lua_State *L)
{
	return extreme(L, false);
}

static int math_sqrt(lua_State *L)
{
	lua_pushnumber(L, sqrt(luaL_checknumber(L, 1)));
	return 1;
}

static int math_tointeger(lua_State *L)
{
	int is_integer = 0;
	lua_Integer value = 0;

	luaL_checkany(L, 1);
	value = lua_tointegerx(L, 1, &is_integer);
	if (is_integer)
		lua_pushinteger(L, value);
	else
		lua_pushnil(L);
	return 1;
}

static int math_type(lua_State *L)
{
	luaL_checkany(L, 1);
	if (lua_type(L, 1) == LUA_TNUMBER)
		lua_pushstring(L, lua_isinteger(L, 1) ? "integer" : "float");
	else
		lua_pushnil(L);
	return 1;
}

static int math_ult(lua_State *L)
{
	const lua_Unsigned a = (lua_Unsigned)luaL_checkinteger(L, 1);
	const lua_Unsigned b = (lua_Unsigned)luaL_checkinteger(L, 2);

	lua_pushboolean(L, a < b);
	return 1;
}

const luaL_Reg wfs_lua_math[] = {
	{"abs", math_abs},
	{"ceil", math_ceil},
	{"floor", math_floor},
	{"fmod", math_fmod},
	{"max", math_max},
	{"min", math_min},
	{"modf", math_modf},
	{"sqrt", math_sqrt},
	{"tointeger", math_tointeger},
	{"type", math_type},
	{"ult", math_ult},
	{NULL, NULL},
};

/* --- ctx.random --- */

static uint64_t rotate(uint64_t value, int bits)
{
	return (value << bits) | (value >> (64 - bits));
}

/* xoshiro256** 1.0 (Blackman and Vigna, public domain). */
static uint64_t random_next(uint64_t state[static 4])
{
	const uint64_t result = rotate(state[1] * 5, 7) * 9;
	const uint64_t shifted = state[1] << 17;

	state[2] ^= state[0];
	state[3] ^= state[1];
	state[1] ^= state[2];
	state[0] ^= state[3];
	state[2] ^= shifted;
	state[3] = rotate(state[3], 45);
	return result;
}

/* At the first draw of a step; most steps draw nothing. */
static void random_start(struct wfs_lua *lua)
{
	const struct wfs_hash hash = wfs_hash_of(lua->seed, WFS_HASH_SIZE);

	for (int i = 0; i < 4; i++) {
		lua->random[i] = 0;
		for (int byte = 7; byte >= 0; byte--)
			lua->random[i] = lua->random[i] << 8 | hash.bytes[i * 8 + byte];
	}
	/* All zero is the one state that the generator never leaves. */
	if (!(lua->random[0] | lua->random[1] | lua->random[2] | lua->random[3]))
		lua->random[0] = 1;
	lua->seed = NULL;
}

/* Uniform in 0 … @most: draws below the next power of two until one fits. */
static uint64_t random_up_to(uint64_t state[static 4], uint64_t most)
{
	const int unused = most == 0 ? 63 : __builtin_clzll(most);
	uint64_t value = 0;

	do
		value = random_next(state) >> unused;
	while (value > most);
	return value;
}

int wfs_lua_random(lua_State *L)
{
	struct wfs_lua *const lua = wfs_lua_of(L);
	lua_Integer least = 1;
	lua_Integer most = 0;

	if (lua->seed)
		random_start(lua);
	if (lua_isnoneornil(L, 1)) {
		lua_pushnumber(L,
			(lua_Number)(random_next(lua->random) >> (64 - DBL_MANT_DIG)) *
				(0.5 / ((uint64_t)1 << (DBL_MANT_DIG - 1))));
		return 1;
	}
	if (lua_isnoneornil(L, 2)) {
		most = luaL_checkinteger(L, 1);
	} else {
		least = luaL_checkinteger(L, 1);
		most = luaL_checkinteger(L, 2);
	}
	luaL_argcheck(L, least <= most, lua_gettop(L), "interval is empty");
	lua_pushinteger(L,
		(lua_Integer)((lua_Unsigned)least +
			random_up_to(lua->random, (lua_Unsigned)most - (lua_Unsigned)least)));
	return 1;
}
