/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Near misses: of some names, the one that somebody may have meant who wrote another.
 *
 *     struct wfs_near near = {.asked = name};
 *     for (each name there is)
 *             wfs_near_try(&near, it);
 *     if (near.name) …
 *
 * Two names are near when few letters differ (one in three, at least one), the case of letters aside, or when what
 * was asked for is one of the words that the other is made of: `id` for `artifact_id`.
 */
#pragma once

#include <stddef.h>

enum { WFS_NEAR_SIZE_MAX = 64 }; /* bytes of a name; longer ones are near none */

/* Set `asked`, then try names. Plain value; pointers are borrowed. */
struct wfs_near {
	const char *asked;
	const char *name; /* the nearest so far, the first of several; NULL: none is near */
	size_t distance;  /* of that one */
};

/** wfs_near_try() - is @name nearer than those before? Kept as `name` then. */
void wfs_near_try(struct wfs_near *near, const char *name);
