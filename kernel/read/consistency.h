/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which height a read wants: `head`, `exact:<h>` or `at_least:<h>`.
 *
 * The one parser of this text. What is none of the three is an error, never a default.
 * Source: docs/design.md §6.
 */
#pragma once

#include <stdint.h>

#include "kernel/base/error.h"

enum wfs_consistency_kind {
	WFS_CONSISTENCY_HEAD = 0,
	WFS_CONSISTENCY_EXACT,
	WFS_CONSISTENCY_AT_LEAST,
};

/* Plain value; zero-initialised is `head`. */
struct wfs_consistency {
	enum wfs_consistency_kind kind;
	uint64_t height; /* of the last two */
};

/**
 * wfs_consistency_parse() - white space around it and the case of letters do not matter
 * Return: 0, or -EINVAL (invalid_consistency, the message shows what came).
 */
int wfs_consistency_parse(
	const char *text, struct wfs_consistency *ret_consistency, struct wfs_error *error);

/**
 * wfs_consistency_height() - the height to open a view at
 * @ret_height: WFS_HEIGHT_HEAD for `head` and `at_least`
 * Return: 0, or -ENOENT (height_unavailable: `exact:0`, heights run from 1).
 */
int wfs_consistency_height(
	const struct wfs_consistency *consistency, uint64_t *ret_height, struct wfs_error *error);

/** wfs_consistency_check() - is @height, of the view that was opened, what was wanted?
 *  Return: 0, or -ENOENT (height_unavailable: `at_least` is not reached yet). */
int wfs_consistency_check(
	const struct wfs_consistency *consistency, uint64_t height, struct wfs_error *error);
