/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/box/quarantine.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/base/array.h"
#include "kernel/base/clock.h"
#include "kernel/base/encode.h"

struct known {
	struct wfs_quarantine_row row;
	bool changed; /* since it was last stored */
	bool storing; /* by a transaction that has not ended yet */
};

struct wfs_quarantine {
	pthread_mutex_t lock;
	struct known *known; /* sorted by hash; rows with 0 crashes leave when they are stored */
	size_t count;
	size_t capacity;
	_Atomic uint64_t generation;
};

int wfs_quarantine_new(struct wfs_quarantine **ret_quarantine)
{
	struct wfs_quarantine *const quarantine = calloc(1, sizeof(*quarantine));

	if (!quarantine)
		return -ENOMEM;
	pthread_mutex_init(&quarantine->lock, NULL);
	*ret_quarantine = quarantine;
	return 0;
}

void wfs_quarantine_free(struct wfs_quarantine *quarantine)
{
	if (!quarantine)
		return;
	pthread_mutex_destroy(&quarantine->lock);
	free(quarantine->known);
	free(quarantine);
}

/* Return: the index of @code, or the index at which to insert it */
static size_t place_of(
	const struct wfs_quarantine *quarantine, const struct wfs_hash *code, bool *ret_found)
{
	size_t low = 0;
	size_t high = quarantine->count;

	*ret_found = false;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const int order = memcmp(
			quarantine->known[middle].row.code.bytes, code->bytes, WFS_HASH_SIZE);

		if (order == 0) {
			*ret_found = true;
			return middle;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct known *find(struct wfs_quarantine *quarantine, const struct wfs_hash *code)
{
	bool found;
	const size_t at = place_of(quarantine, code, &found);

	return found ? &quarantine->known[at] : NULL;
}

/* Makes room for one more by forgetting a code that is not refused. Its row stays until the store
 * has removed it, too, so there may be more than WFS_QUARANTINE_ROWS_MAX rows for some time. */
static bool make_room(struct wfs_quarantine *quarantine)
{
	struct known *least = NULL;

	if (quarantine->count < WFS_QUARANTINE_ROWS_MAX)
		return true;
	for (struct known *known = quarantine->known; known < quarantine->known + quarantine->count;
		known++) {
		if (known->row.crashes > 0 && known->row.crashes < WFS_QUARANTINE_CRASHES &&
			(!least || known->row.crashes < least->row.crashes))
			least = known;
	}
	if (!least)
		return false;
	least->row.crashes = 0;
	least->changed = true;
	return quarantine->count < 2 * (size_t)WFS_QUARANTINE_ROWS_MAX;
}

static struct known *add(struct wfs_quarantine *quarantine, const struct wfs_hash *code)
{
	bool found;
	const size_t at = place_of(quarantine, code, &found);

	struct known *const items = wfs_array_reserve(
		quarantine->known, quarantine->count, &quarantine->capacity, sizeof(*items));
	if (!items)
		return NULL;
	quarantine->known = items;
	struct known *const known = &items[at];
	memmove(known + 1, known, (quarantine->count - at) * sizeof(*known));
	quarantine->count++;
	*known = (struct known){.row = {.code = *code}};
	return known;
}

static void count_generation(struct wfs_quarantine *quarantine)
{
	atomic_fetch_add(&quarantine->generation, 1);
}

int wfs_quarantine_load(struct wfs_quarantine *quarantine, const struct wfs_quarantine_row *row)
{
	WFS_GUARD(&quarantine->lock);
	struct known *known = find(quarantine, &row->code);

	if (!known)
		known = add(quarantine, &row->code);
	if (!known)
		return -ENOMEM;
	known->row = *row;
	if (row->crashes >= WFS_QUARANTINE_CRASHES)
		count_generation(quarantine);
	return 0;
}

uint32_t wfs_quarantine_crashed(
	struct wfs_quarantine *quarantine, const struct wfs_hash *code, const char *name)
{
	WFS_GUARD(&quarantine->lock);
	struct known *known = find(quarantine, code);

	/* A code that was just forgotten needs room like a new one:
	 * another code has taken its place. */
	if ((!known || known->row.crashes == 0) && !make_room(quarantine))
		return 0;
	if (!known)
		known = add(quarantine, code);
	if (!known)
		return 0;
	known->row.at_ns = wfs_clock_realtime_ns();
	const size_t size = wfs_utf8_cut(name, strnlen(name, WFS_QUARANTINE_NAME_MAX));
	memcpy(known->row.name, name, size);
	known->row.name[size] = '\0';
	known->row.crashes += known->row.crashes < UINT32_MAX;
	known->changed = true;
	if (known->row.crashes == WFS_QUARANTINE_CRASHES)
		count_generation(quarantine);
	return known->row.crashes;
}

bool wfs_quarantine_refuses(struct wfs_quarantine *quarantine, const struct wfs_hash *code)
{
	WFS_GUARD(&quarantine->lock);
	const struct known *const known = find(quarantine, code);

	return known && known->row.crashes >= WFS_QUARANTINE_CRASHES;
}

uint64_t wfs_quarantine_generation(const struct wfs_quarantine *quarantine)
{
	return atomic_load(&quarantine->generation);
}

bool wfs_quarantine_lift(struct wfs_quarantine *quarantine, const struct wfs_hash *code)
{
	WFS_GUARD(&quarantine->lock);
	struct known *const known = find(quarantine, code);

	if (!known)
		return false;
	if (known->row.crashes == 0) /* lifted already, by a request whose transaction failed */
		return true;
	known->row.crashes = 0;
	known->changed = true;
	count_generation(quarantine);
	return true;
}

int wfs_quarantine_rows(
	struct wfs_quarantine *quarantine, struct wfs_quarantine_row **ret_rows, size_t *ret_count)
{
	WFS_GUARD(&quarantine->lock);
	struct wfs_quarantine_row *rows = NULL;
	size_t count = 0;

	if (quarantine->count > 0) {
		rows = calloc(quarantine->count, sizeof(*rows));
		if (!rows)
			return -ENOMEM;
	}
	for (size_t i = 0; i < quarantine->count; i++)
		if (quarantine->known[i].row.crashes > 0)
			rows[count++] = quarantine->known[i].row;
	*ret_rows = rows;
	*ret_count = count;
	return 0;
}

bool wfs_quarantine_changed(struct wfs_quarantine *quarantine, struct wfs_quarantine_row *ret_row)
{
	WFS_GUARD(&quarantine->lock);

	for (size_t i = 0; i < quarantine->count; i++) {
		struct known *const known = &quarantine->known[i];

		if (!known->changed)
			continue;
		known->changed = false;
		known->storing = true;
		*ret_row = known->row;
		return true;
	}
	return false;
}

void wfs_quarantine_settle(struct wfs_quarantine *quarantine, bool committed)
{
	WFS_GUARD(&quarantine->lock);

	for (size_t i = quarantine->count; i-- > 0;) {
		struct known *const known = &quarantine->known[i];

		if (!known->storing)
			continue;
		known->storing = false;
		if (!committed)
			known->changed = true;
		else if (!known->changed && known->row.crashes == 0)
			memmove(known, known + 1, (--quarantine->count - i) * sizeof(*known));
	}
}
