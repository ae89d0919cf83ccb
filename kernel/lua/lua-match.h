/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pattern matcher; private to this folder. A match is tried at one place of the text at a time.
 * Everything is borrowed from the Lua strings, which the caller keeps on its stack.
 */
#pragma once

#include <lua.h>
#include <stddef.h>

enum {
	WFS_LUA_CAPTURES_MAX = 32,
	WFS_LUA_CAPTURE_OPEN = -1, /* size of a capture whose `)` has not come */
	WFS_LUA_CAPTURE_POSITION = -2,
};

struct wfs_lua_capture {
	const char *start;
	ptrdiff_t size; /* or one of the two above */
};

/* Plain value. */
struct wfs_lua_matcher {
	lua_State *L;
	const char *text;
	const char *text_end;
	const char *pattern_end;
	int depth;
	size_t steps; /* not charged yet */
	int capture_count;
	struct wfs_lua_capture captures[WFS_LUA_CAPTURES_MAX];
};

void wfs_lua_match_init(struct wfs_lua_matcher *m, lua_State *L, const char *text, size_t text_size,
	const char *pattern_end);

/**
 * wfs_lua_match_at() - match the items of the pattern from @p on at @s exactly
 * Raises when the pattern is malformed or too complex, or a bound is reached.
 * Return: the end of the match, the captures are set; NULL: none.
 */
const char *wfs_lua_match_at(struct wfs_lua_matcher *m, const char *s, const char *p);

/** wfs_lua_match_done() - charge the rest of the steps; before anything is returned. */
void wfs_lua_match_done(struct wfs_lua_matcher *m);
