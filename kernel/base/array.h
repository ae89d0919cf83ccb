/* SPDX-License-Identifier: Apache-2.0 */
/* Growing arrays. */
#pragma once

#include <stdlib.h>

enum { WFS_ARRAY_FIRST = 16 }; /* items that the first allocation has room for */

/** wfs_array_reserve() - make room for one more item in an array that has @count items of
 *  @item_size bytes. @items: the array: allocated by this function, or NULL; the array may move
 *  @capacity: the number of items that the array has room for; updated
 *  Return: the array, owned by the caller, or NULL without memory (@items and @capacity stay
 *  valid). */
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
