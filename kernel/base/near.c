/* SPDX-License-Identifier: Apache-2.0 */
/* Near misses. Source: optimal string alignment distance. */
#include "kernel/base/near.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

static bool same(char a, char b)
{
	return strncasecmp(&a, &b, 1) == 0;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* How many letters to insert, drop, replace or swap with the next one.
 * Both names have at most WFS_NEAR_SIZE_MAX bytes. */
static size_t distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
	size_t rows[3][WFS_NEAR_SIZE_MAX + 1]; /* for this letter of @a and the two before */

	for (size_t j = 0; j <= b_size; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= a_size; i++) {
		const size_t *const before = rows[(i - 1) % 3];
		const size_t *const swapped = rows[(i + 1) % 3];
		size_t *const row = rows[i % 3];

		row[0] = i;
		for (size_t j = 1; j <= b_size; j++) {
			row[j] = least(least(before[j] + 1, row[j - 1] + 1),
				before[j - 1] + !same(a[i - 1], b[j - 1]));
			if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
				row[j] = least(row[j], swapped[j - 2] + 1);
		}
	}
	return rows[a_size % 3][b_size];
}

/* Is @word one of the words, separated by `_`, of @name? */
static bool has_word(const char *name, const char *word, size_t word_size)
{
	for (const char *at = name;; at++) {
		if (strncasecmp(at, word, word_size) == 0 &&
			(at[word_size] == '_' || at[word_size] == '\0'))
			return true;
		at = strchr(at, '_');
		if (!at)
			return false;
	}
}

void wfs_near_try(struct wfs_near *near, const char *name)
{
	const size_t asked_size = strlen(near->asked);
	const size_t size = strlen(name);

	if (asked_size == 0 || asked_size > WFS_NEAR_SIZE_MAX || size > WFS_NEAR_SIZE_MAX)
		return;
	const size_t most = asked_size < 6 ? 1 : asked_size / 3;
	size_t found = distance(near->asked, asked_size, name, size);
	if (found > most && asked_size > 1 && has_word(name, near->asked, asked_size))
		found = most;
	if (found > most || (near->name && found >= near->distance))
		return;
	near->name = name;
	near->distance = found;
}
