/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scopes: which paths of the tree a grant covers.
 *
 * A scope is a set of patterns over tree paths without `at/<height>/`: `reducers/package/lib*`,
 * `artifacts/alice_*` and so on. `*` stands for any characters within a name, `**`, alone between
 * slashes, for any number of names. A pattern covers what it names and everything below it. The
 * directories above are seen too, but are not covered: they list only what is.
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

/* How much of a path is seen; they are ordered. */
enum wfs_coverage {
	WFS_COVERAGE_NONE,  /* it is as if it were not there */
	WFS_COVERAGE_BELOW, /* a directory in which something may be seen */
	WFS_COVERAGE_WHOLE, /* it and everything below it */
};

/* A path as its names, from the root down. Plain value; the names are borrowed. */
struct wfs_path {
	const struct wfs_bytes *names;
	size_t count;
};

struct wfs_scope;

/**
 * wfs_scope_new() - read what a grant's params say
 * @patterns: an array of patterns, or one; NULL, an empty array or text: everything
 * @name: what the params call it, for messages
 * Return: 0, -EINVAL (invalid_argument: names the pattern and what is wrong), -ENOMEM.
 */
int wfs_scope_new(const json_t *patterns, const char *name, struct wfs_scope **ret_scope,
	struct wfs_error *error);
void wfs_scope_free(struct wfs_scope *scope);
WFS_DEFINE_AUTO(scope, struct wfs_scope, wfs_scope_free)
#define WFS_AUTO_SCOPE WFS_CLEANUP(wfs_auto_scope)

/** wfs_scope_coverage() - how much of @path is seen */
enum wfs_coverage wfs_scope_coverage(const struct wfs_scope *scope, struct wfs_path path);

/**
 * wfs_scope_inside() - does @outer cover everything that @inner covers?
 * Each pattern of @inner must lie inside one of @outer: what only several of them cover together
 * is not recognised, so the answer may be false where true would be right, never the reverse.
 */
bool wfs_scope_inside(const struct wfs_scope *inner, const struct wfs_scope *outer);
