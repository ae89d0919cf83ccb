/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Near misses: which of the known names did the writer of an unknown name probably mean?
 *
 *     struct wfs_near near = {.asked = name};
 *     for (each name there is)
 *             wfs_near_try(&near, it);
 *     if (near.name) …
 *
 * Two names are near when at most a third of the letters differ (one letter in names of fewer than
 * six), ignoring case, or when the unknown name is one of the words of the known name: `id` of
 * `artifact_id`.
 */
#pragma once

#include <stddef.h>

enum { WFS_NEAR_SIZE_MAX = 64 }; /* bytes of a name; longer names are never near */

/* Set `asked`, then try names. Plain value; pointers are borrowed. */
struct wfs_near {
	const char *asked;
	const char *name; /* the nearest so far, the first of several; NULL: none is near */
	size_t distance;  /* between `asked` and `name` */
};

/** wfs_near_try() - set near->name to @name if that is near to near->asked, and nearer than all
 *  names before. */
void wfs_near_try(struct wfs_near *near, const char *name);
