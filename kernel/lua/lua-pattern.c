/* SPDX-License-Identifier: Apache-2.0 */
/* The functions with patterns: find, match, gmatch, gsub. The matcher is lua-match.c. */
#include <string.h>

#include "kernel/lua/lua-impl.h"
#include "kernel/lua/lua-match.h"

/* --- captures --- */

/* Pushes capture @i; for a pattern without captures, the whole match @s … @end as capture 0. */
static void push_capture(struct wfs_lua_matcher *m, int i, const char *s, const char *end)
{
	const struct wfs_lua_capture *const capture = &m->captures[i];

	if (i >= m->capture_count) {
		if (i != 0)
			luaL_error(m->L, "invalid capture index %%%d", i + 1);
		lua_pushlstring(m->L, s, (size_t)(end - s));
		return;
	}
	if (capture->size == WFS_LUA_CAPTURE_OPEN)
		luaL_error(m->L, "unfinished capture");
	if (capture->size == WFS_LUA_CAPTURE_POSITION) {
		lua_pushinteger(m->L, capture->start - m->text + 1);
		return;
	}
	wfs_lua_charge_bytes(m->L, (size_t)capture->size);
	lua_pushlstring(m->L, capture->start, (size_t)capture->size);
}

static int push_captures(struct wfs_lua_matcher *m, const char *s, const char *end)
{
	const int count = m->capture_count == 0 && s ? 1 : m->capture_count;

	luaL_checkstack(m->L, count, "too many captures");
	for (int i = 0; i < count; i++)
		push_capture(m, i, s, end);
	return count;
}

/* --- find and match --- */

static bool has_specials(const char *pattern, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (pattern[i] && strchr("^$*+?.([%-", pattern[i]))
			return true;
	return false;
}

/* Stack: text, pattern. */
static int find_plain(lua_State *L, size_t start)
{
	size_t size = 0;
	size_t pattern_size = 0;
	const char *const text = lua_tolstring(L, 1, &size);
	const char *const pattern = lua_tolstring(L, 2, &pattern_size);
	const char *found = NULL;

	found = memmem(text + start, size - start, pattern, pattern_size);
	/* Only for the bytes that were scanned,
	 * so that finding all fields of a text costs it once. */
	wfs_lua_charge_bytes(L, (found ? (size_t)(found - text) : size) - start + pattern_size);
	if (!found) {
		lua_pushnil(L);
		return 1;
	}
	lua_pushinteger(L, found - text + 1);
	lua_pushinteger(L, found - text + (lua_Integer)pattern_size);
	return 2;
}

static int find_or_match(lua_State *L, bool find)
{
	size_t size = 0;
	size_t pattern_size = 0;
	const char *const text = luaL_checklstring(L, 1, &size);
	const char *p = luaL_checklstring(L, 2, &pattern_size);
	const char *const pattern_end = p + pattern_size;
	const size_t start = wfs_lua_position(luaL_optinteger(L, 3, 1), size) - 1;
	const bool anchored = pattern_size > 0 && *p == '^';
	const char *s = text;
	struct wfs_lua_matcher m;

	if (start > size) {
		lua_pushnil(L);
		return 1;
	}
	wfs_lua_charge_bytes(L, pattern_size);
	if (find && (lua_toboolean(L, 4) || !has_specials(p, pattern_size)))
		return find_plain(L, start);

	wfs_lua_match_init(&m, L, text, size, pattern_end);
	p += anchored;
	for (s += start; s <= m.text_end; s++) {
		const char *const end = wfs_lua_match_at(&m, s, p);

		if (end) {
			wfs_lua_match_done(&m);
			if (!find)
				return push_captures(&m, s, end);
			lua_pushinteger(L, s - text + 1);
			lua_pushinteger(L, end - text);
			return 2 + push_captures(&m, NULL, NULL);
		}
		if (anchored)
			break;
	}
	wfs_lua_match_done(&m);
	lua_pushnil(L);
	return 1;
}

static int pattern_find(lua_State *L)
{
	return find_or_match(L, true);
}

static int pattern_match(lua_State *L)
{
	return find_or_match(L, false);
}

/* --- gmatch --- */

/* Upvalues: text, pattern, next start, end of the last match (both as offsets, -1: none). */
static int gmatch_iterate(lua_State *L)
{
	size_t size = 0;
	size_t pattern_size = 0;
	const char *const text = lua_tolstring(L, lua_upvalueindex(1), &size);
	const char *const pattern = lua_tolstring(L, lua_upvalueindex(2), &pattern_size);
	const lua_Integer last = lua_tointeger(L, lua_upvalueindex(4));
	lua_Integer start = lua_tointeger(L, lua_upvalueindex(3));
	struct wfs_lua_matcher m;

	wfs_lua_match_init(&m, L, text, size, pattern + pattern_size);
	for (; start <= (lua_Integer)size; start++) {
		const char *const end = wfs_lua_match_at(&m, text + start, pattern);

		if (!end || end - text == last)
			continue;
		wfs_lua_match_done(&m);
		lua_pushinteger(L, end - text);
		lua_copy(L, -1, lua_upvalueindex(3));
		lua_replace(L, lua_upvalueindex(4));
		return push_captures(&m, text + start, end);
	}
	wfs_lua_match_done(&m);
	lua_pushinteger(L, start);
	lua_replace(L, lua_upvalueindex(3));
	return 0;
}

static int pattern_gmatch(lua_State *L)
{
	size_t size = 0;
	size_t start = 0;

	luaL_checklstring(L, 1, &size);
	luaL_checkstring(L, 2);
	start = wfs_lua_position(luaL_optinteger(L, 3, 1), size) - 1;
	lua_settop(L, 2);
	lua_pushinteger(L, (lua_Integer)(start > size ? size + 1 : start));
	lua_pushinteger(L, -1);
	lua_pushcclosure(L, gmatch_iterate, 4);
	return 1;
}

/* --- gsub --- */

enum { GSUB_REPLACEMENT = 3 }; /* stack index */

static void append_template(
	struct wfs_lua_matcher *m, struct wfs_lua_text *result, const char *s, const char *end)
{
	lua_State *const L = m->L;
	size_t size = 0;
	const char *at = lua_tolstring(L, GSUB_REPLACEMENT, &size);
	const char *const template_end = at + size;

	while (at < template_end) {
		const char *const percent = memchr(at, '%', (size_t)(template_end - at));
		const int next = percent && percent + 1 < template_end ? percent[1] : '\0';
		const char *captured = NULL;

		wfs_lua_text_append(result, at, (size_t)((percent ? percent : template_end) - at));
		if (!percent)
			break;
		at = percent + 2;
		if (next == '%') {
			wfs_lua_text_append_byte(result, '%');
		} else if (next == '0') {
			wfs_lua_text_append(result, s, (size_t)(end - s));
		} else if (next >= '1' && next <= '9') {
			push_capture(m, next - '1', s, end);
			captured = lua_tolstring(L, -1, &size);
			wfs_lua_text_append(result, captured, size);
			lua_pop(L, 1);
		} else {
			luaL_error(L, "invalid use of '%%' in replacement string");
		}
	}
}

/* Appends the replacement of the match @s … @end. */
static void append_replacement(
	struct wfs_lua_matcher *m, struct wfs_lua_text *result, const char *s, const char *end)
{
	lua_State *const L = m->L;
	const char *text = NULL;
	size_t size = 0;

	switch (lua_type(L, GSUB_REPLACEMENT)) {
	case LUA_TFUNCTION:
		lua_pushvalue(L, GSUB_REPLACEMENT);
		lua_call(L, push_captures(m, s, end), 1);
		break;
	case LUA_TTABLE:
		push_capture(m, 0, s, end);
		lua_gettable(L, GSUB_REPLACEMENT);
		break;
	default:
		append_template(m, result, s, end);
		return;
	}
	if (!lua_toboolean(L, -1)) {
		wfs_lua_text_append(result, s, (size_t)(end - s));
	} else if (lua_isstring(L, -1)) {
		text = lua_tolstring(L, -1, &size);
		wfs_lua_text_append(result, text, size);
	} else {
		luaL_error(L, "invalid replacement value (a %s)", luaL_typename(L, -1));
	}
	lua_pop(L, 1);
}

static int pattern_gsub(lua_State *L)
{
	size_t size = 0;
	size_t pattern_size = 0;
	const char *s = luaL_checklstring(L, 1, &size);
	const char *p = luaL_checklstring(L, 2, &pattern_size);
	const char *const pattern_end = p + pattern_size;
	const int type = lua_type(L, GSUB_REPLACEMENT);
	const lua_Integer most = luaL_optinteger(L, 4, (lua_Integer)size + 1);
	const bool anchored = pattern_size > 0 && *p == '^';
	const char *copied = s; /* the text before this is in the result */
	const char *last = NULL;
	lua_Integer count = 0;
	struct wfs_lua_text result;
	struct wfs_lua_matcher m;

	luaL_argexpected(L,
		type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TFUNCTION ||
			type == LUA_TTABLE,
		GSUB_REPLACEMENT, "string/function/table");
	p += anchored;
	wfs_lua_match_init(&m, L, s, size, pattern_end);
	wfs_lua_text_start(L, &result);
	while (count < most) {
		const char *const end = wfs_lua_match_at(&m, s, p);

		if (end && end != last) {
			count++;
			wfs_lua_text_append(&result, copied, (size_t)(s - copied));
			append_replacement(&m, &result, s, end);
			copied = s = last = end;
		} else if (s < m.text_end) {
			s++;
		} else {
			break;
		}
		if (anchored)
			break;
	}
	wfs_lua_match_done(&m);
	wfs_lua_text_append(&result, copied, (size_t)(m.text_end - copied));
	wfs_lua_text_push(&result);
	lua_pushinteger(L, count);
	return 2;
}

const luaL_Reg wfs_lua_pattern[] = {
	{"find", pattern_find},
	{"gmatch", pattern_gmatch},
	{"gsub", pattern_gsub},
	{"match", pattern_match},
	{NULL, NULL},
};
