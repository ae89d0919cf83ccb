/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scopes: the paths of the tree that a grant covers.
 *
 * A scope is a set of patterns over tree paths without `at/<height>/`: `reducers/package/lib*`,
 * `artifacts/alice_*` and so on. `*` stands for any characters within a name; `**`, alone between
 * slashes, for any number of names. A pattern covers the paths that it matches, and everything
 * below them. The directories above are visible, too, but list only names that lead to covered
 * paths.
 * Source: docs/design.md §9.
 * Thread: any; a scope is immutable.
 */
#pragma once

#include <jansson.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"

enum {
	WFS_SCOPE_PATTERNS_MAX = 256,
	WFS_SCOPE_PATTERN_SIZE_MAX = 1024, /* bytes */
	WFS_SCOPE_NAMES_MAX = 32,          /* names of one pattern */
};

/* How much of a path is visible, from the least to the most. */
enum wfs_coverage {
	WFS_COVERAGE_NONE,  /* nothing: the path is as good as missing */
	WFS_COVERAGE_BELOW, /* the path is a directory in which something may be visible */
	WFS_COVERAGE_WHOLE, /* the path and everything below it */
};

/* A path as its names, from the root down. Plain value; the names are borrowed. */
struct wfs_path {
	const struct wfs_bytes *names;
	size_t count;
};

struct wfs_scope;

/** wfs_scope_new() - read a scope from a member of a grant's params
 *  @patterns: value of the member: an array of patterns, or one pattern; NULL, or an empty array or
 *  text: everything. @name: of the member, for messages. @ret_scope: set on success;
 *  caller frees it with wfs_scope_free()
 *  Return: 0, -EINVAL (invalid_argument: a pattern is malformed, or a limit above is exceeded; the
 *  message says which pattern and why), -ENOMEM. */
int wfs_scope_new(const json_t *patterns, const char *name, struct wfs_scope **ret_scope,
	struct wfs_error *error);
void wfs_scope_free(struct wfs_scope *scope);
WFS_DEFINE_AUTO(scope, struct wfs_scope, wfs_scope_free)
#define WFS_AUTO_SCOPE WFS_CLEANUP(wfs_auto_scope)

/** wfs_scope_coverage() - get how much of @path the scope makes visible. */
enum wfs_coverage wfs_scope_coverage(const struct wfs_scope *scope, struct wfs_path path);

/** wfs_scope_inside() - does @outer cover everything that @inner covers?
 *  True only if each pattern of @inner lies inside a single pattern of @outer. So the answer may be
 *  false although several patterns of @outer cover one of @inner together, but is never wrongly
 *  true. */
bool wfs_scope_inside(const struct wfs_scope *inner, const struct wfs_scope *outer);
