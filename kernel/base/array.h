/* SPDX-License-Identifier: Apache-2.0 */
/* How arrays grow. */
#pragma once

#include <stdlib.h>

enum { WFS_ARRAY_FIRST = 16 }; /* items that the first room is for */

/**
 * wfs_array_reserve() - room for one more item behind the @count that there are
 * @items: from this function, or NULL; may move
 * @capacity: items that there is room for; changed
 * Return: the array, or NULL when there is no memory (@items and @capacity stay).
 */
static inline void *wfs_array_reserve(void *items, size_t count, size_t *capacity, size_t item_size)
{
	if (count < *capacity)
		return items;
	const size_t larger = *capacity ? *capacity * 2 : WFS_ARRAY_FIRST;
	void *const moved = reallocarray(items, larger, item_size);
	if (moved)
		*capacity = larger;
	return moved;
}
