/* SPDX-License-Identifier: Apache-2.0 */
/* A ring of the newest ids, and a hash table with chains of its places. All memory is allocated
 * when the list is made, because an id that is heard of cannot be refused. */
#include "fs/replica/ids.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/base/hash.h"
#include "kernel/value/batch.h"

enum { NONE = UINT32_MAX, BUCKETS = WFS_IDS_MAX };

struct place {
	char id[WFS_BATCH_ID_MAX + 1]; /* "": free */
	uint64_t seq;
	uint32_t next; /* in its bucket; NONE: the last */
};

struct wfs_ids {
	pthread_mutex_t lock;
	uint32_t at; /* the oldest place, which is used next */
	struct place places[WFS_IDS_MAX];
	uint32_t buckets[BUCKETS];
};

struct wfs_ids *wfs_ids_new(void)
{
	struct wfs_ids *const ids = calloc(1, sizeof(*ids));

	if (!ids)
		return NULL;
	pthread_mutex_init(&ids->lock, NULL);
	memset(ids->buckets, 0xff, sizeof(ids->buckets));
	return ids;
}

void wfs_ids_free(struct wfs_ids *ids)
{
	if (!ids)
		return;
	pthread_mutex_destroy(&ids->lock);
	free(ids);
}

/* Clients choose ids, so the buckets follow from a hash that they cannot steer. */
static uint32_t *bucket_of(struct wfs_ids *ids, const char *id)
{
	const struct wfs_hash hash = wfs_hash_of(id, strlen(id));
	uint32_t number;

	memcpy(&number, hash.bytes, sizeof(number));
	return &ids->buckets[number % BUCKETS];
}

static struct place *find(struct wfs_ids *ids, const char *id)
{
	for (uint32_t at = *bucket_of(ids, id); at != NONE; at = ids->places[at].next)
		if (strcmp(ids->places[at].id, id) == 0)
			return &ids->places[at];
	return NULL;
}

/* Takes a place out of its bucket. */
static void drop(struct wfs_ids *ids, uint32_t index)
{
	const struct place *const place = &ids->places[index];
	uint32_t *at = bucket_of(ids, place->id);

	while (*at != index)
		at = &ids->places[*at].next;
	*at = place->next;
}

void wfs_ids_add(struct wfs_ids *ids, const char *id, uint64_t seq)
{
	WFS_GUARD(&ids->lock);

	wfs_require(wfs_batch_id_valid(id));
	if (find(ids, id))
		return;
	struct place *const place = &ids->places[ids->at];
	if (*place->id)
		drop(ids, ids->at);
	uint32_t *const bucket = bucket_of(ids, id);
	snprintf(place->id, sizeof(place->id), "%s", id);
	place->seq = seq;
	place->next = *bucket;
	*bucket = ids->at;
	ids->at = (ids->at + 1) % WFS_IDS_MAX;
}

bool wfs_ids_find(struct wfs_ids *ids, const char *id, uint64_t *ret_seq)
{
	WFS_GUARD(&ids->lock);
	const struct place *const place = find(ids, id);

	if (place)
		*ret_seq = place->seq;
	return place != NULL;
}
