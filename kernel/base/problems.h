/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list of the problems in a user's input, each with file, JSON pointer and reason, so that all
 * are reported at once.
 */
#pragma once

#include <stddef.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"

enum { WFS_PROBLEMS_MAX = 1000 }; /* further problems are counted, not kept */

/* Plain value; zero-initialised is empty. */
struct wfs_problems {
	struct wfs_buffer lines; /* one problem a line, "file: pointer: reason\n" */
	size_t count;            /* problems found, kept or not */
};

/* A JSON pointer without characters that need escapes. Plain value. */
struct wfs_place {
	char text[96];
};

/** wfs_place_at() - make a place; @format, printf style, gives its JSON pointer, which is cut if it
 *  is too long. */
struct wfs_place wfs_place_at(const char *format, ...) __attribute__((format(printf, 1, 2)));

void wfs_problems_done(struct wfs_problems *problems);
#define WFS_AUTO_PROBLEMS WFS_CLEANUP(wfs_problems_done)

/** wfs_problems_add() - add one problem to the list
 *  @file: name of the file as the user wrote it, or NULL
 *  @pointer: JSON pointer (RFC 6901; "" is the whole document), or NULL
 *  @format: the reason, printf style
 *  NULL and empty parts are left out of the line; control bytes become `?`. */
void wfs_problems_add(struct wfs_problems *problems, const char *file, const char *pointer,
	const char *format, ...) __attribute__((format(printf, 4, 5)));
