/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pattern matcher; private to this folder. Each call matches at one position of the text. Texts
 * and patterns are borrowed from Lua strings, which the caller keeps on its stack.
 */
#pragma once

#include <lua.h>
#include <stddef.h>

enum {
	WFS_LUA_CAPTURES_MAX = 32,
	WFS_LUA_CAPTURE_OPEN = -1, /* size of a capture whose `)` is not reached yet */
	WFS_LUA_CAPTURE_POSITION = -2,
};

struct wfs_lua_capture {
	const char *start;
	ptrdiff_t size; /* or one of the two constants above */
};

/* The state of matching. Plain value. */
struct wfs_lua_matcher {
	lua_State *L;
	const char *text;
	const char *text_end;
	const char *pattern_end;
	int depth;    /* nesting of the matcher now */
	size_t steps; /* not charged yet */
	int capture_count;
	struct wfs_lua_capture captures[WFS_LUA_CAPTURES_MAX];
};

void wfs_lua_match_init(struct wfs_lua_matcher *m, lua_State *L, const char *text, size_t text_size,
	const char *pattern_end);

/** wfs_lua_match_at() - match the pattern, from @p to m->pattern_end, with the text that begins at
 *  @s
 *  Raises a Lua error if the pattern is malformed or too complex, or a bound is exceeded.
 *  Return: the end of the match in the text, and m->captures is set; NULL: no match. */
const char *wfs_lua_match_at(struct wfs_lua_matcher *m, const char *s, const char *p);

/** wfs_lua_match_done() - charge the steps of the matcher that are not charged yet; called before
 *  returning to Lua code. */
void wfs_lua_match_done(struct wfs_lua_matcher *m);
