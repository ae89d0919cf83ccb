/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns with the meaning of the Lua 5.4 reference manual (section 6.4.1), in a matcher of our
 * own, because Lua's can run for hours without the count hook ever firing. Every step of a match is
 * charged, and nesting is bounded.
 *
 * A pattern is a list of items. An item is a *single* (a byte, `.`, a class or a set) with an
 * optional repetition, or one of `(`, `)`, `()`, `%1`, `%b`, `%f`, `$` at the end. match_here
 * matches the items from one position on, and calls itself only where it may have to backtrack.
 */
#include "kernel/lua/lua-match.h"

#include <string.h>

#include "kernel/lua/lua-impl.h"

enum {
	CHARGE_STEPS = 256,  /* steps of the matcher between two charges */
	SET_STEP_BYTES = 16, /* bytes of a set that cost one step to read */
};

static const char *match_here(struct wfs_lua_matcher *m, const char *s, const char *p);

static void count_steps(struct wfs_lua_matcher *m, size_t count)
{
	m->steps += count;
	if (m->steps < CHARGE_STEPS)
		return;
	wfs_lua_charge(m->L, m->steps);
	m->steps = 0;
}

static void count_step(struct wfs_lua_matcher *m)
{
	count_steps(m, 1);
}

/* --- single items --- */

static bool is_between(unsigned char byte, unsigned char first, unsigned char last)
{
	return byte >= first && byte <= last;
}

static bool is_letter(unsigned char byte)
{
	return is_between(byte | 0x20, 'a', 'z');
}

static bool is_digit(unsigned char byte)
{
	return is_between(byte, '0', '9');
}

static bool is_graphic(unsigned char byte)
{
	return is_between(byte, '!', '~');
}

/* Is @byte in the class `%<letter>`? ASCII, in any locale. */
static bool in_class(unsigned char byte, unsigned char letter)
{
	bool in = false;

	switch (letter | 0x20) {
	case 'a':
		in = is_letter(byte);
		break;
	case 'c':
		in = byte < 0x20 || byte == 0x7f;
		break;
	case 'd':
		in = is_digit(byte);
		break;
	case 'g':
		in = is_graphic(byte);
		break;
	case 'l':
		in = is_between(byte, 'a', 'z');
		break;
	case 'p':
		in = is_graphic(byte) && !is_letter(byte) && !is_digit(byte);
		break;
	case 's':
		in = byte == ' ' || is_between(byte, '\t', '\r');
		break;
	case 'u':
		in = is_between(byte, 'A', 'Z');
		break;
	case 'w':
		in = is_letter(byte) || is_digit(byte);
		break;
	case 'x':
		in = is_digit(byte) || is_between(byte | 0x20, 'a', 'f');
		break;
	case 'z':
		in = byte == 0; /* not in the manual any more, but still in Lua */
		break;
	default:
		return byte == letter;
	}
	return is_between(letter, 'A', 'Z') ? !in : in;
}

/* Return: the end of the set that starts at @p (after its `]`). */
static const char *set_end(struct wfs_lua_matcher *m, const char *p)
{
	const char *const start = p++;

	if (p < m->pattern_end && *p == '^')
		p++;
	/* A `]` in the first place is an ordinary member. */
	for (bool first = true;; first = false) {
		if (p >= m->pattern_end)
			luaL_error(m->L, "malformed pattern (missing ']')");
		if (*p == ']' && !first)
			break;
		p += *p == '%' && p + 1 < m->pattern_end ? 2 : 1;
	}
	count_steps(m, (size_t)(p - start) / SET_STEP_BYTES);
	return p + 1;
}

/* Return: the end of the single item at @p. */
static const char *single_end(struct wfs_lua_matcher *m, const char *p)
{
	if (*p == '[')
		return set_end(m, p);
	if (*p != '%')
		return p + 1;
	if (p + 1 == m->pattern_end)
		luaL_error(m->L, "malformed pattern (ends with '%%')");
	return p + 2;
}

/* Is @byte in the set from @p (its `[`) to @end (after its `]`)? */
static bool in_set(unsigned char byte, const char *p, const char *end)
{
	const char *const last = end - 1;
	bool negated = false;

	p++;
	if (*p == '^') {
		negated = true;
		p++;
	}
	while (p < last) {
		if (*p == '%' && p + 1 < last) {
			if (in_class(byte, (unsigned char)p[1]))
				return !negated;
			p += 2;
		} else if (p + 2 < last && p[1] == '-') {
			if (is_between(byte, (unsigned char)p[0], (unsigned char)p[2]))
				return !negated;
			p += 3;
		} else {
			if (byte == (unsigned char)*p)
				return !negated;
			p++;
		}
	}
	return negated;
}

/* Does the byte at @s match the single item from @p to @end? */
static bool single_matches(struct wfs_lua_matcher *m, const char *s, const char *p, const char *end)
{
	const unsigned char byte = s < m->text_end ? (unsigned char)*s : 0;

	if (s >= m->text_end)
		return false;
	switch (*p) {
	case '.':
		return true;
	case '%':
		return in_class(byte, (unsigned char)p[1]);
	case '[':
		count_steps(m, (size_t)(end - p) / SET_STEP_BYTES);
		return in_set(byte, p, end);
	default:
		return byte == (unsigned char)*p;
	}
}

/* --- repetitions --- */

/* Matches as many as possible, then backtracks. */
static const char *repeat_most(
	struct wfs_lua_matcher *m, const char *s, const char *p, const char *end)
{
	ptrdiff_t count = 0;

	while (single_matches(m, s + count, p, end)) {
		count_step(m);
		count++;
	}
	for (; count >= 0; count--) {
		const char *const matched = match_here(m, s + count, end + 1);

		if (matched)
			return matched;
	}
	return NULL;
}

static const char *repeat_least(
	struct wfs_lua_matcher *m, const char *s, const char *p, const char *end)
{
	for (;; s++) {
		const char *const matched = match_here(m, s, end + 1);

		if (matched)
			return matched;
		if (!single_matches(m, s, p, end))
			return NULL;
	}
}

/* --- captures --- */

static const char *capture_open(
	struct wfs_lua_matcher *m, const char *s, const char *p, ptrdiff_t size)
{
	const char *matched = NULL;

	if (m->capture_count == WFS_LUA_CAPTURES_MAX)
		luaL_error(m->L, "too many captures");
	m->captures[m->capture_count++] = (struct wfs_lua_capture){.start = s, .size = size};
	matched = match_here(m, s, p);
	if (!matched)
		m->capture_count--;
	return matched;
}

static const char *capture_close(struct wfs_lua_matcher *m, const char *s, const char *p)
{
	const char *matched = NULL;
	int i = m->capture_count - 1;

	while (i >= 0 && m->captures[i].size != WFS_LUA_CAPTURE_OPEN)
		i--;
	if (i < 0)
		luaL_error(m->L, "invalid pattern capture");
	m->captures[i].size = s - m->captures[i].start;
	matched = match_here(m, s, p);
	if (!matched)
		m->captures[i].size = WFS_LUA_CAPTURE_OPEN;
	return matched;
}

/* `%1` … `%9`: matches the text of a capture again. Return: its end, or NULL. */
static const char *match_again(struct wfs_lua_matcher *m, const char *s, int digit)
{
	const int i = digit - '1';

	if (i < 0 || i >= m->capture_count || m->captures[i].size == WFS_LUA_CAPTURE_OPEN)
		luaL_error(m->L, "invalid capture index %%%d in pattern", i + 1);
	/* A position capture has no text. */
	if (m->captures[i].size < 0 || m->captures[i].size > m->text_end - s)
		return NULL;
	wfs_lua_charge_bytes(m->L, (size_t)m->captures[i].size);
	if (memcmp(m->captures[i].start, s, (size_t)m->captures[i].size) != 0)
		return NULL;
	return s + m->captures[i].size;
}

/* --- other items --- */

/* `%bxy` with @p at x. Return: the end of the balanced text, or NULL. */
static const char *match_balance(struct wfs_lua_matcher *m, const char *s, const char *p)
{
	int open = 0;

	if (p + 1 >= m->pattern_end)
		luaL_error(m->L, "malformed pattern (missing arguments to '%%b')");
	if (s >= m->text_end || *s != p[0])
		return NULL;
	for (open = 1, s++; s < m->text_end; s++) {
		count_step(m);
		if (*s == p[1]) {
			if (--open == 0)
				return s + 1;
		} else if (*s == p[0]) {
			open++;
		}
	}
	return NULL;
}

/* `%f[set]` with @p at the set: does the set match at @s but not before it? */
static bool is_frontier(struct wfs_lua_matcher *m, const char *s, const char *p, const char *end)
{
	const unsigned char before = s == m->text ? 0 : (unsigned char)s[-1];
	const unsigned char here = s < m->text_end ? (unsigned char)*s : 0;

	return !in_set(before, p, end) && in_set(here, p, end);
}

/*
 * match_single() - match one single item with its repetition
 * @p: moved past the item
 * @ret_more: true if the item matched and the caller continues at the returned position
 */
static const char *match_single(
	struct wfs_lua_matcher *m, const char *s, const char **p, bool *ret_more)
{
	const char *const end = single_end(m, *p);
	const int repetition = end < m->pattern_end ? *end : '\0';
	const bool optional = repetition == '*' || repetition == '?' || repetition == '-';
	const char *matched = NULL;

	if (!single_matches(m, s, *p, end)) {
		*ret_more = optional;
		*p = end + optional;
		return optional ? s : NULL;
	}
	*ret_more = false;
	switch (repetition) {
	case '*':
		return repeat_most(m, s, *p, end);
	case '+':
		return repeat_most(m, s + 1, *p, end);
	case '-':
		return repeat_least(m, s, *p, end);
	case '?':
		matched = match_here(m, s + 1, end + 1);
		if (matched)
			return matched;
		*ret_more = true;
		*p = end + 1;
		return s;
	default:
		*ret_more = true;
		*p = end;
		return s + 1;
	}
}

/* Matches an item that begins with `%`. Arguments as match_single. */
static const char *match_percent(
	struct wfs_lua_matcher *m, const char *s, const char **p, bool *ret_more)
{
	const int next = *p + 1 < m->pattern_end ? (*p)[1] : '\0';
	const char *set = NULL;

	*ret_more = true;
	switch (next) {
	case 'b':
		s = match_balance(m, s, *p + 2);
		*p += 4;
		return s;
	case 'f':
		set = *p + 2;
		if (set >= m->pattern_end || *set != '[')
			luaL_error(m->L, "missing '[' after '%%f' in pattern");
		*p = set_end(m, set);
		return is_frontier(m, s, set, *p) ? s : NULL;
	default:
		if (!is_digit((unsigned char)next))
			return match_single(m, s, p, ret_more);
		s = match_again(m, s, next);
		*p += 2;
		return s;
	}
}

/* Return: the end of the match of all items from @p on, exactly at @s; NULL: no match. */
static const char *match_items(struct wfs_lua_matcher *m, const char *s, const char *p)
{
	bool more = true;

	while (more && s && p < m->pattern_end) {
		count_step(m);
		switch (*p) {
		case '(':
			if (p + 1 < m->pattern_end && p[1] == ')')
				return capture_open(m, s, p + 2, WFS_LUA_CAPTURE_POSITION);
			return capture_open(m, s, p + 1, WFS_LUA_CAPTURE_OPEN);
		case ')':
			return capture_close(m, s, p + 1);
		case '$':
			if (p + 1 == m->pattern_end)
				return s == m->text_end ? s : NULL;
			s = match_single(m, s, &p, &more);
			break;
		case '%':
			s = match_percent(m, s, &p, &more);
			break;
		default:
			s = match_single(m, s, &p, &more);
			break;
		}
	}
	return s;
}

static const char *match_here(struct wfs_lua_matcher *m, const char *s, const char *p)
{
	const char *matched = NULL;

	if (m->depth == WFS_LUA_MATCH_DEPTH_MAX)
		luaL_error(m->L, "pattern too complex");
	m->depth++;
	count_step(m);
	matched = match_items(m, s, p);
	m->depth--;
	return matched;
}

/* --- life --- */

void wfs_lua_match_init(struct wfs_lua_matcher *m, lua_State *L, const char *text, size_t text_size,
	const char *pattern_end)
{
	m->L = L;
	m->text = text;
	m->text_end = text + text_size;
	m->pattern_end = pattern_end;
	m->depth = 0;
	m->steps = 0;
	m->capture_count = 0;
}

const char *wfs_lua_match_at(struct wfs_lua_matcher *m, const char *s, const char *p)
{
	m->capture_count = 0;
	return match_here(m, s, p);
}

void wfs_lua_match_done(struct wfs_lua_matcher *m)
{
	wfs_lua_charge(m->L, m->steps);
	m->steps = 0;
}
