/* SPDX-License-Identifier: Apache-2.0 */
/* ctx.random, the only source of random numbers. */
#include <float.h>

#include "kernel/lua/lua-impl.h"

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

/* Called at the first random number of a run; most runs use none. */
static void random_start(struct wfs_lua *lua)
{
	for (int i = 0; i < 4; i++) {
		lua->random[i] = 0;
		for (int byte = 7; byte >= 0; byte--)
			lua->random[i] = lua->random[i] << 8 | lua->seed[i * 8 + byte];
	}
	/* The generator never leaves the state of zeros. */
	if (!(lua->random[0] | lua->random[1] | lua->random[2] | lua->random[3]))
		lua->random[0] = 1;
	lua->seed = NULL;
}

/* Uniform in 0 … @most: tries numbers below the next power of two until one fits. */
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
