/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns are matched name by name. The state is the set of places in the pattern that the names
 * so far can have led to, with one bit for each place; so the time grows with the number of names
 * in the path, and not with what the pattern looks like.
 */
#include "kernel/rights/scope.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

/* Bit i: the next name is compared with name i of the pattern. Bit `count`: the path is covered. */
typedef uint64_t places_t;
static_assert(WFS_SCOPE_NAMES_MAX < 64, "a place is a bit");

struct pattern {
	char *text;
	struct wfs_bytes names[WFS_SCOPE_NAMES_MAX]; /* borrowed from `text` */
	size_t count;
};

struct wfs_scope {
	size_t count; /* 0: everything */
	struct pattern patterns[];
};

static bool is_any_names(struct wfs_bytes name)
{
	return name.size == 2 && memcmp(name.data, "**", 2) == 0;
}

/* --- matching --- */

/* Does @pattern match @name? @symbolic: @name comes from a pattern, and only `*` matches its
 * `*`. */
static bool name_matches(struct wfs_bytes pattern, struct wfs_bytes name, bool symbolic)
{
	const char *const want = pattern.data;
	const char *const have = name.data;
	size_t at = 0;
	size_t star = SIZE_MAX; /* place of the last `*` in the pattern */
	size_t taken = 0;       /* where the part of the name begins that follows this `*` */

	for (size_t i = 0; i < name.size;) {
		if (at < pattern.size && want[at] == '*') {
			star = at++;
			taken = i;
		} else if (at < pattern.size && want[at] == have[i] &&
			!(symbolic && have[i] == '*')) {
			at++;
			i++;
		} else if (star != SIZE_MAX) {
			at = star + 1;
			i = ++taken;
		} else {
			return false;
		}
	}
	while (at < pattern.size && want[at] == '*')
		at++;
	return at == pattern.size;
}

/* A `**` may stand for no name at all. */
static places_t skip_any_names(const struct pattern *pattern, places_t places)
{
	for (size_t i = 0; i < pattern->count; i++)
		if (places & UINT64_C(1) << i && is_any_names(pattern->names[i]))
			places |= UINT64_C(1) << (i + 1);
	return places;
}

static places_t begin(const struct pattern *pattern)
{
	return skip_any_names(pattern, 1);
}

static bool is_covered(const struct pattern *pattern, places_t places)
{
	return places & UINT64_C(1) << pattern->count;
}

static places_t advance(
	const struct pattern *pattern, places_t places, struct wfs_bytes name, bool symbolic)
{
	places_t next = 0;

	for (size_t i = 0; i < pattern->count; i++) {
		if (!(places & UINT64_C(1) << i))
			continue;
		if (is_any_names(pattern->names[i]))
			next |= UINT64_C(1) << i;
		else if (!(symbolic && is_any_names(name)) &&
			name_matches(pattern->names[i], name, symbolic))
			next |= UINT64_C(1) << (i + 1);
	}
	return skip_any_names(pattern, next);
}

static enum wfs_coverage coverage(
	const struct pattern *pattern, struct wfs_path path, bool symbolic)
{
	places_t places = begin(pattern);

	for (size_t i = 0; i < path.count && places && !is_covered(pattern, places); i++)
		places = advance(pattern, places, path.names[i], symbolic);
	if (is_covered(pattern, places))
		return WFS_COVERAGE_WHOLE;
	return places ? WFS_COVERAGE_BELOW : WFS_COVERAGE_NONE;
}

enum wfs_coverage wfs_scope_coverage(const struct wfs_scope *scope, struct wfs_path path)
{
	enum wfs_coverage best = scope->count > 0 ? WFS_COVERAGE_NONE : WFS_COVERAGE_WHOLE;

	for (size_t i = 0; i < scope->count && best < WFS_COVERAGE_WHOLE; i++) {
		const enum wfs_coverage here = coverage(&scope->patterns[i], path, false);

		if (here > best)
			best = here;
	}
	return best;
}

static bool pattern_inside(const struct pattern *inner, const struct wfs_scope *outer)
{
	const struct wfs_path path = {inner->names, inner->count};

	for (size_t i = 0; i < outer->count; i++)
		if (coverage(&outer->patterns[i], path, true) == WFS_COVERAGE_WHOLE)
			return true;
	return outer->count == 0;
}

bool wfs_scope_inside(const struct wfs_scope *inner, const struct wfs_scope *outer)
{
	for (size_t i = 0; i < inner->count; i++)
		if (!pattern_inside(&inner->patterns[i], outer))
			return false;
	return inner->count > 0 || outer->count == 0;
}

/* --- reading --- */

static int refuse(struct wfs_error *error, const char *text, const char *why)
{
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT, "the pattern '%.200s': %s", text, why);
}

/* Adds the next name of the pattern's text. Return: NULL, or a text that says what is wrong. */
static const char *add_name(struct pattern *pattern, const char *name, size_t size)
{
	if (size == 0)
		return "a name is empty";
	if (pattern->count == WFS_SCOPE_NAMES_MAX)
		return "more than 32 names";
	for (size_t i = 0; i + 1 < size; i++)
		if (size > 2 && name[i] == '*' && name[i + 1] == '*')
			return "'**' stands alone between slashes";
	pattern->names[pattern->count++] = WFS_BYTES(name, size);
	return NULL;
}

static int read_pattern(
	const json_t *value, const char *name, struct pattern *pattern, struct wfs_error *error)
{
	const char *const given = json_string_value(value);
	const char *why = NULL;

	static_assert(WFS_SCOPE_NAMES_MAX == 32 && WFS_SCOPE_PATTERN_SIZE_MAX == 1024,
		"messages name the bounds");
	if (!given || strlen(given) != json_string_length(value))
		return wfs_error_set(
			error, WFS_E_INVALID_ARGUMENT, "'%s': expected patterns, as text", name);
	if (strlen(given) > WFS_SCOPE_PATTERN_SIZE_MAX)
		return refuse(error, given, "more than 1024 bytes");
	pattern->text = strdup(given);
	if (!pattern->text)
		return wfs_error_from_errno(error, -ENOMEM, "read a scope");
	for (const char *at = pattern->text; !why;) {
		const size_t size = strcspn(at, "/");

		why = add_name(pattern, at, size);
		if (!at[size])
			break;
		at += size + 1;
	}
	if (!why && strcmp(pattern->text, "at") == 0)
		why = "heights do not count, patterns begin below them";
	if (!why && strncmp(pattern->text, "at/", 3) == 0)
		why = "heights do not count, leave 'at/<height>/' out";
	return why ? refuse(error, given, why) : 0;
}

static bool is_empty_text(const json_t *value)
{
	return json_is_string(value) && json_string_length(value) == 0;
}

int wfs_scope_new(const json_t *patterns, const char *name, struct wfs_scope **ret_scope,
	struct wfs_error *error)
{
	const size_t count = json_is_array(patterns) ? json_array_size(patterns)
						     : patterns && !is_empty_text(patterns);
	WFS_AUTO_SCOPE struct wfs_scope *scope = NULL;

	static_assert(WFS_SCOPE_PATTERNS_MAX == 256, "the message names the bound");
	if (count > WFS_SCOPE_PATTERNS_MAX)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'%s': at most 256 patterns, got %zu", name, count);
	scope = calloc(1, sizeof(*scope) + count * sizeof(struct pattern));
	if (!scope)
		return wfs_error_from_errno(error, -ENOMEM, "read a scope");
	scope->count = count;
	for (size_t i = 0; i < count; i++) {
		int r = read_pattern(
			json_is_array(patterns) ? json_array_get(patterns, i) : patterns, name,
			&scope->patterns[i], error);

		if (r)
			return r;
	}
	*ret_scope = WFS_STEAL(scope);
	return 0;
}

void wfs_scope_free(struct wfs_scope *scope)
{
	if (!scope)
		return;
	for (size_t i = 0; i < scope->count; i++)
		free(scope->patterns[i].text);
	free(scope);
}
