/* SPDX-License-Identifier: Apache-2.0 */
/* Scopes: what patterns cover, what a principal sees above it, and which scopes lie inside of
 * others. */
#include "tests/fixture/json.h"

#include "kernel/rights/scope.h"

/* A scope from the text of its JSON. */
static struct wfs_scope *scope_of(const char *text)
{
	WFS_AUTO_JSON json_t *patterns = json_of(text);
	struct wfs_error error = {0};
	struct wfs_scope *scope = NULL;

	if (wfs_scope_new(patterns, "scope", &scope, &error))
		fail_msg("%s: %s", text, error.message);
	return scope;
}

static enum wfs_coverage sight_of(const struct wfs_scope *scope, const char *text)
{
	struct wfs_bytes names[WFS_SCOPE_NAMES_MAX];
	struct wfs_path path = {.names = names};

	while (*text) {
		const size_t size = strcspn(text, "/");

		names[path.count++] = WFS_BYTES(text, size);
		text += size + (text[size] == '/');
	}
	return wfs_scope_coverage(scope, path);
}

/* Each row: a scope, a path, and what is seen of it. */
static const struct {
	const char *scope;
	const char *path;
	enum wfs_coverage sight;
} sights[] = {
	{"[]", "", WFS_COVERAGE_WHOLE},
	{"''", "anything/at/all", WFS_COVERAGE_WHOLE},
	{"'reducers/package/lib*'", "", WFS_COVERAGE_BELOW},
	{"'reducers/package/lib*'", "reducers", WFS_COVERAGE_BELOW},
	{"'reducers/package/lib*'", "reducers/package", WFS_COVERAGE_BELOW},
	{"'reducers/package/lib*'", "reducers/package/libc6", WFS_COVERAGE_WHOLE},
	{"'reducers/package/lib*'", "reducers/package/lib", WFS_COVERAGE_WHOLE},
	{"'reducers/package/lib*'", "reducers/package/bash", WFS_COVERAGE_NONE},
	{"'reducers/package/lib*'", "reducers/other", WFS_COVERAGE_NONE},
	{"'reducers/package/lib*'", "manifest", WFS_COVERAGE_NONE},
	{"'reducers'", "reducers/package/bash", WFS_COVERAGE_WHOLE},
	{"'reducers'", "reducer", WFS_COVERAGE_NONE},
	{"'reducers/*'", "reducers", WFS_COVERAGE_BELOW},
	{"'reducers/*'", "reducers/a/b", WFS_COVERAGE_WHOLE},
	{"'reducers/*/b'", "reducers/a", WFS_COVERAGE_BELOW},
	{"'reducers/*/b'", "reducers/a/b", WFS_COVERAGE_WHOLE},
	{"'reducers/*/b'", "reducers/a/c", WFS_COVERAGE_NONE},
	{"'artifacts/alice_*/**'", "artifacts/alice_x", WFS_COVERAGE_WHOLE},
	{"'artifacts/alice_*/**'", "artifacts/bob", WFS_COVERAGE_NONE},
	{"'**'", "", WFS_COVERAGE_WHOLE},
	{"'**/x'", "x", WFS_COVERAGE_WHOLE},
	{"'**/x'", "a/b", WFS_COVERAGE_BELOW},
	{"'**/x'", "a/b/x/c", WFS_COVERAGE_WHOLE},
	{"'a/**/z'", "a", WFS_COVERAGE_BELOW},
	{"'a/**/z'", "a/z", WFS_COVERAGE_WHOLE},
	{"'a/**/z'", "a/b/c/z", WFS_COVERAGE_WHOLE},
	{"'a/**/z'", "b", WFS_COVERAGE_NONE},
	{"'a/x*y*z'", "a/xyyz", WFS_COVERAGE_WHOLE},
	{"'a/x*y*z'", "a/xyzy", WFS_COVERAGE_NONE},
	{"['a/b', 'c']", "c/d", WFS_COVERAGE_WHOLE},
	{"['a/b', 'c']", "a", WFS_COVERAGE_BELOW},
	{"['a/b', 'c']", "d", WFS_COVERAGE_NONE},
	{"['a/b', 'a']", "a", WFS_COVERAGE_WHOLE},
};

TEST(patterns_cover_what_they_name_and_what_is_below)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(sights); i++) {
		WFS_AUTO_SCOPE struct wfs_scope *scope = scope_of(sights[i].scope);

		print_message("%s '%s'\n", sights[i].scope, sights[i].path);
		assert_int_equal(sight_of(scope, sights[i].path), sights[i].sight);
	}
}

/* Each row: two scopes, and whether the first lies inside of the second. */
static const struct {
	const char *inner;
	const char *outer;
	bool inside;
} insides[] = {
	{"[]", "[]", true},
	{"'a'", "[]", true},
	{"[]", "'a'", false},
	{"[]", "'**'", false},
	{"'**'", "'**'", true},
	{"'a/b'", "'a'", true},
	{"'a'", "'a/b'", false},
	{"'a/lib*'", "'a/*'", true},
	{"'a/*'", "'a/lib*'", false},
	{"'a/libc*'", "'a/lib*'", true},
	{"'a/x*z'", "'a/x*'", true},
	{"'a/x*'", "'a/x*z'", false},
	{"'a/*b*'", "'a/*'", true},
	{"'a/*'", "'a/*b*'", false},
	{"'a/**/z'", "'a/*'", false},
	{"'a/**/z'", "'a/**'", true},
	{"'a/*/z'", "'a/**/z'", true},
	{"'a/**'", "'a'", true},
	{"'a'", "'a/**'", true},
	{"['a/b', 'c']", "['c', 'a']", true},
	{"['a/b', 'd']", "['c', 'a']", false},
};

TEST(scopes_lie_inside_of_others)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(insides); i++) {
		WFS_AUTO_SCOPE struct wfs_scope *inner = scope_of(insides[i].inner);
		WFS_AUTO_SCOPE struct wfs_scope *outer = scope_of(insides[i].outer);

		print_message("%s in %s\n", insides[i].inner, insides[i].outer);
		assert_int_equal(wfs_scope_inside(inner, outer), insides[i].inside);
	}
}

static const struct {
	const char *scope;
	const char *reason;
} refusals[] = {
	{"7", "as text"},
	{"[7]", "as text"},
	{"['']", "a name is empty"},
	{"'/a'", "a name is empty"},
	{"'a/'", "a name is empty"},
	{"'a//b'", "a name is empty"},
	{"'a/b**'", "stands alone"},
	{"'at'", "heights do not count"},
	{"'at/7/reducers'", "heights do not count"},
	{"'a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a'", "32 names"},
};

TEST(patterns_of_the_wrong_form_are_refused)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(refusals); i++) {
		WFS_AUTO_JSON json_t *patterns = json_of(refusals[i].scope);
		struct wfs_error error = {0};
		struct wfs_scope *scope = NULL;

		print_message("%s\n", refusals[i].scope);
		assert_int_equal(wfs_scope_new(patterns, "scope", &scope, &error), -EINVAL);
		assert_int_equal(error.code, WFS_E_INVALID_ARGUMENT);
		assert_non_null(strstr(error.message, refusals[i].reason));
		assert_null(scope);
	}
}

TEST(too_many_and_too_long_patterns_are_refused)
{
	WFS_AUTO_JSON json_t *many = json_array();
	WFS_AUTO_JSON json_t *longest = NULL;
	char text[WFS_SCOPE_PATTERN_SIZE_MAX + 2];
	struct wfs_scope *scope = NULL;
	struct wfs_error error = {0};

	for (int i = 0; i <= WFS_SCOPE_PATTERNS_MAX; i++)
		json_array_append_new(many, json_string("a"));
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	longest = json_string(text);

	assert_int_equal(wfs_scope_new(many, "scope", &scope, &error), -EINVAL);
	assert_non_null(strstr(error.message, "257"));
	assert_int_equal(wfs_scope_new(longest, "scope", &scope, &error), -EINVAL);
	assert_non_null(strstr(error.message, "1024 bytes"));
	text[WFS_SCOPE_PATTERN_SIZE_MAX] = '\0';
	json_string_set(longest, text);
	assert_int_equal(wfs_scope_new(longest, "scope", &scope, &error), 0);
	wfs_scope_free(scope);
}
