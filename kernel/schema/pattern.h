/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns: regular expressions, matched against texts; neither pattern nor text is trusted.
 *
 * The dialect is PCRE2's with UTF-8 and `$` at the very end only; or, for JSON Schema, that of
 * ECMA-262 with the flag `u`. Every match runs under limits of work, depth and memory.
 * Thread: a pattern is immutable; a matcher belongs to one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/error.h"

enum {
	WFS_PATTERN_SIZE_MAX = 4096,           /* bytes of one pattern */
	WFS_PATTERN_MATCH_MAX = 1 << 20,       /* PCRE2's match limit */
	WFS_PATTERN_MATCH_DEPTH_MAX = 1 << 14, /* PCRE2's depth limit */
};

enum wfs_pattern_flags {
	WFS_PATTERN_AT_START = 1 << 0, /* match only at the beginning of the text */
	WFS_PATTERN_ECMA = 1 << 1,     /* the dialect is that of ECMA-262 */
};

struct wfs_pattern;
struct wfs_matcher;

/** wfs_pattern_new() - compile a pattern. @text, @size: of the pattern; borrowed during the call.
 *  @ret_pattern: set on success; caller frees it with wfs_pattern_free()
 *  Return: 0, -EINVAL (invalid_pattern: it does not compile, or is too long; the message has only
 *  the reason, not the pattern), -ENOMEM (@error unchanged). */
int wfs_pattern_new(const char *text, size_t size, enum wfs_pattern_flags flags,
	struct wfs_pattern **ret_pattern, struct wfs_error *error);
void wfs_pattern_free(struct wfs_pattern *pattern);
WFS_DEFINE_AUTO(pattern, struct wfs_pattern, wfs_pattern_free)
#define WFS_AUTO_PATTERN WFS_CLEANUP(wfs_auto_pattern)

/** wfs_pattern_at_start() - can the pattern match only at the beginning of a text? */
bool wfs_pattern_at_start(const struct wfs_pattern *pattern);

/** wfs_matcher_new() - make a matcher, the scratch memory that wfs_pattern_match() needs.
 *  @ret_matcher: set on success; caller frees it with wfs_matcher_free(). Return: 0, or -ENOMEM. */
int wfs_matcher_new(struct wfs_matcher **ret_matcher);
void wfs_matcher_free(struct wfs_matcher *matcher);
WFS_DEFINE_AUTO(matcher, struct wfs_matcher, wfs_matcher_free)
#define WFS_AUTO_MATCHER WFS_CLEANUP(wfs_auto_matcher)

/** wfs_pattern_match() - does the pattern match somewhere in a text?
 *  @limit: how much work (in units of PCRE2's match limit) is allowed for each position where a
 *  match could begin; from 1 to WFS_PATTERN_MATCH_MAX
 *  Return: 1 (it does), 0, -EAGAIN (@limit was reached; a higher one may be enough), -E2BIG (the
 *  match would go too deep, or take too much memory), -EINVAL (the text is not UTF-8), -ENOMEM. */
int wfs_pattern_match(const struct wfs_pattern *pattern, struct wfs_matcher *matcher,
	const char *text, size_t size, uint32_t limit);
