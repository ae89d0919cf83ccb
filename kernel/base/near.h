/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Near misses: which of the known names did the writer of an unknown name probably mean?
 *
 *     struct wfs_near near = {.asked = name};
 *     for (each known name)
 *             wfs_near_try(&near, known);
 *     if (near.name) …
 *
 * A known name is near when it differs from the unknown one in at most a third of the latter's
 * letters (in one, if these are fewer than six), ignoring case, or when the unknown name is one of
 * the words of the known name: `id` of `artifact_id`.
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

/** wfs_near_try() - set near->name to @name if @name is near to near->asked, and nearer than all
 *  names that were tried before. */
void wfs_near_try(struct wfs_near *near, const char *name);
