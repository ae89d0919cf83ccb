/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The height that a read asks for: `head`, `exact:<h>` or `at_least:<h>`.
 *
 * The only parser of this text. Any other text is an error, never a default.
 * Source: docs/design.md §6.
 */
#pragma once

#include <stdint.h>

#include "kernel/base/error.h"

#define WFS_HEIGHT_HEAD UINT64_C(0) /* heights run from 1 */

enum wfs_consistency_kind {
	WFS_CONSISTENCY_HEAD = 0,
	WFS_CONSISTENCY_EXACT,
	WFS_CONSISTENCY_AT_LEAST,
};

/* Plain value; zero-initialised is `head`. */
struct wfs_consistency {
	enum wfs_consistency_kind kind;
	uint64_t height; /* of `exact` and `at_least` */
};

/** wfs_consistency_parse() - read the text of a wanted height. @ret_consistency: set on success
 *  White space around the text, and the case of its letters, do not matter.
 *  Return: 0, or -EINVAL (invalid_consistency: @text has another form; the message shows it). */
int wfs_consistency_parse(
	const char *text, struct wfs_consistency *ret_consistency, struct wfs_error *error);

/** wfs_consistency_height() - get the height at which to open a view, for a wanted height
 *  @ret_height: WFS_HEIGHT_HEAD for `head` and `at_least`; set on success
 *  Return: 0, or -ENOENT (height_unavailable: `exact:0`, as heights run from 1). */
int wfs_consistency_height(
	const struct wfs_consistency *consistency, uint64_t *ret_height, struct wfs_error *error);

/** wfs_consistency_check() - check that the height of the view that was opened for a wanted height
 *  is high enough
 *  @height: of the view. Return: 0, or -ENOENT (height_unavailable: the world has not reached the
 *  height of `at_least` yet). */
int wfs_consistency_check(
	const struct wfs_consistency *consistency, uint64_t height, struct wfs_error *error);
