/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table of inodes and of their further names. See known.h. */
#include "fs/data/known.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "fs/tree/ino.h"

enum {
	BUCKETS_FIRST = 1024, /* doubled when there are more entries */
	ROOM_FRACTION = 8,    /* with less room than 1/8 of the limit, names are nearly too many */
};

/*
 * An inode with its first name; or a further name of an inode, which is found by the numbers of
 * inode and parent. Nearly every inode has one name; an inode that several heights show has one at
 * each.
 */
struct wfs_known_entry {
	struct wfs_known_entry *next;   /* in the bucket */
	struct wfs_known_entry *others; /* of an inode: its further names; of these: the next */
	uint64_t ino;
	uint64_t parent;  /* 0: the name was taken, or the inode has none */
	uint32_t lookups; /* of an inode, at least 1; of a further name 0 */
	uint32_t walk;    /* of an inode: number of the last walk that has given it */
	uint8_t size;
	char name[];
};
static_assert(WFS_NAME_MAX <= UINT8_MAX, "a name's size needs more bits");

struct wfs_known {
	size_t names_max;
	pthread_mutex_t lock;
	/* Lock for the following: lock. */
	struct wfs_known_entry **buckets; /* owned, as the entries */
	size_t bucket_count;              /* a power of two */
	size_t inodes_count;
	size_t names_count; /* entries of both kinds: each has room for a name */
	uint32_t walks;
};

/* Finalizer of splitmix64. Source: Steele, Lea, Flood: Fast splittable pseudorandom number
 * generators (2014). */
static uint64_t mix(uint64_t number)
{
	number = (number ^ (number >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	number = (number ^ (number >> 27)) * UINT64_C(0x94d049bb133111eb);
	return number ^ (number >> 31);
}

/*
 * @parent: 0 for an inode, whatever name it has. The lowest bits of inode numbers are consecutive
 * within a kind (fs/tree/ino.h). They stay as they are, so a scan finds neighbours in the same
 * cache line.
 */
static struct wfs_known_entry **bucket_of(struct wfs_known *known, uint64_t ino, uint64_t parent)
{
	const uint64_t hash = ino + mix(ino >> WFS_VIEW_BITS) + (parent ? mix(parent) : 0);

	return &known->buckets[hash & (known->bucket_count - 1)];
}

static struct wfs_known_entry **bucket_of_entry(
	struct wfs_known *known, const struct wfs_known_entry *entry)
{
	return bucket_of(known, entry->ino, entry->lookups ? 0 : entry->parent);
}

static struct wfs_known_entry *find_inode(struct wfs_known *known, uint64_t ino)
{
	struct wfs_known_entry *entry = *bucket_of(known, ino, 0);

	while (entry && (entry->ino != ino || entry->lookups == 0))
		entry = entry->next;
	return entry;
}

static bool has_text(const struct wfs_known_entry *entry, const char *name, size_t size)
{
	return entry->size == size && memcmp(entry->name, name, size) == 0;
}

/* Has the inode this name among its further names? */
static bool has_further_name(
	struct wfs_known *known, uint64_t parent, uint64_t ino, const char *name, size_t size)
{
	const struct wfs_known_entry *entry = *bucket_of(known, ino, parent);

	while (entry &&
		(entry->ino != ino || entry->parent != parent || entry->lookups > 0 ||
			!has_text(entry, name, size)))
		entry = entry->next;
	return entry != NULL;
}

/* Doubles the buckets if the entries are more. Without memory, the chains only get longer. */
static void grow(struct wfs_known *known)
{
	const size_t old_count = known->bucket_count;
	struct wfs_known_entry **const old = known->buckets;
	struct wfs_known_entry **const buckets =
		calloc(old_count * 2, sizeof(struct wfs_known_entry *));

	if (!buckets)
		return;
	known->buckets = buckets;
	known->bucket_count = old_count * 2;
	for (size_t i = 0; i < old_count; i++) {
		while (old[i]) {
			struct wfs_known_entry *const entry = old[i];
			struct wfs_known_entry **const bucket = bucket_of_entry(known, entry);

			old[i] = entry->next;
			entry->next = *bucket;
			*bucket = entry;
		}
	}
	free(old);
}

static int add_entry(struct wfs_known *known, const struct wfs_known_entry *plan, const char *name,
	struct wfs_known_entry **ret_entry)
{
	if (known->names_count >= known->names_max)
		return -ENFILE;
	struct wfs_known_entry *const entry = malloc(sizeof(*entry) + plan->size);
	if (!entry)
		return -ENOMEM;
	if (known->names_count >= known->bucket_count)
		grow(known);
	*entry = *plan;
	memcpy(entry->name, name, plan->size);
	struct wfs_known_entry **const bucket = bucket_of_entry(known, entry);
	entry->next = *bucket;
	*bucket = entry;
	known->names_count++;
	known->inodes_count += entry->lookups > 0;
	*ret_entry = entry;
	return 0;
}

/* Removes an entry from its bucket; the caller owns it then. */
static void remove_entry(struct wfs_known *known, struct wfs_known_entry *entry)
{
	struct wfs_known_entry **at = bucket_of_entry(known, entry);

	while (*at != entry)
		at = &(*at)->next;
	*at = entry->next;
	known->names_count--;
	known->inodes_count -= entry->lookups > 0;
}

static void free_names(struct wfs_known_entry *names)
{
	while (names) {
		struct wfs_known_entry *const next = names->others;

		free(names);
		names = next;
	}
}

/* Removes the further names of an inode. Return: a list; caller frees it. */
static struct wfs_known_entry *take_others(struct wfs_known *known, struct wfs_known_entry *inode)
{
	struct wfs_known_entry *const others = inode->others;

	for (struct wfs_known_entry *other = others; other; other = other->others)
		remove_entry(known, other);
	inode->others = NULL;
	return others;
}

/* --- adding --- */

static int add_further_name(struct wfs_known *known, struct wfs_known_entry *inode, uint64_t parent,
	const char *name, size_t size)
{
	const struct wfs_known_entry plan = {
		.ino = inode->ino, .parent = parent, .size = (uint8_t)size};
	struct wfs_known_entry *entry;

	if (inode->parent == parent && has_text(inode, name, size))
		return 0;
	if (inode->others && has_further_name(known, parent, inode->ino, name, size))
		return 0;
	if (inode->parent == 0 && has_text(inode, name, size)) {
		inode->parent = parent;
		return 0;
	}
	int r = add_entry(known, &plan, name, &entry);
	if (r)
		return r;
	entry->others = inode->others;
	inode->others = entry;
	return 0;
}

static int note(
	struct wfs_known *known, uint64_t parent, uint64_t ino, const char *name, size_t size)
{
	struct wfs_known_entry *inode = find_inode(known, ino);
	if (!inode) {
		const struct wfs_known_entry plan = {.ino = ino,
			.parent = parent,
			.lookups = 1,
			.walk = known->walks,
			.size = (uint8_t)size};

		return add_entry(known, &plan, name, &inode);
	}
	int r = parent ? add_further_name(known, inode, parent, name, size) : 0;
	if (!r && inode->lookups < UINT32_MAX) /* at UINT32_MAX the inode stays for ever */
		inode->lookups++;
	return r;
}

/* @parent: 0: without a name */
static int add(
	struct wfs_known *known, uint64_t parent, uint64_t ino, const char *name, size_t size)
{
	WFS_GUARD(&known->lock);
	int r = note(known, parent, ino, name, size);

	return r ? r : known->names_count > known->names_max - known->names_max / ROOM_FRACTION;
}

int wfs_known_add(struct wfs_known *known, uint64_t parent, uint64_t ino, const char *name)
{
	const size_t size = strlen(name);

	wfs_require(size <= WFS_NAME_MAX && parent != 0);
	return add(known, parent, ino, name, size);
}

int wfs_known_add_inode(struct wfs_known *known, uint64_t ino)
{
	return add(known, 0, ino, "", 0);
}

void wfs_known_forget(struct wfs_known *known, uint64_t ino, uint64_t count)
{
	WFS_GUARD(&known->lock);
	struct wfs_known_entry *inode = find_inode(known, ino);

	if (!inode || inode->lookups == UINT32_MAX)
		return;
	if (count < inode->lookups) {
		inode->lookups -= (uint32_t)count;
		return;
	}
	free_names(take_others(known, inode));
	remove_entry(known, inode);
	free(inode);
}

struct wfs_known_figures wfs_known_figures(struct wfs_known *known)
{
	WFS_GUARD(&known->lock);

	return (struct wfs_known_figures){known->inodes_count, known->names_count};
}

/* --- walks --- */

void wfs_known_walk_init(struct wfs_known_walk *walk, struct wfs_known *known)
{
	WFS_GUARD(&known->lock);

	*walk = (struct wfs_known_walk){.known = known, .number = ++known->walks};
}

void wfs_known_walk_done(struct wfs_known_walk *walk)
{
	free_names(walk->names);
	walk->names = NULL;
}

/* The next inode that this walk has not given yet. The lock is held. */
static struct wfs_known_entry *next_inode(struct wfs_known_walk *walk)
{
	struct wfs_known *const known = walk->known;

	if (walk->bucket_count != known->bucket_count) { /* all entries have moved */
		walk->bucket = 0;
		walk->bucket_count = known->bucket_count;
	}
	for (; walk->bucket < walk->bucket_count; walk->bucket++) {
		struct wfs_known_entry *entry = known->buckets[walk->bucket];

		while (entry && (entry->lookups == 0 || entry->walk == walk->number))
			entry = entry->next;
		if (!entry)
			continue;
		entry->walk = walk->number;
		return entry;
	}
	return NULL;
}

bool wfs_known_next(struct wfs_known_walk *walk, uint64_t *ret_ino)
{
	WFS_GUARD(&walk->known->lock);
	const struct wfs_known_entry *const inode = next_inode(walk);

	if (inode)
		*ret_ino = inode->ino;
	return inode != NULL;
}

static void copy_name(const struct wfs_known_entry *entry, struct wfs_known_name *ret_name)
{
	ret_name->parent = entry->parent;
	ret_name->size = entry->size;
	memcpy(ret_name->text, entry->name, entry->size);
}

/* Takes all names of the next inode that has any: gives the first one, and keeps the others in
 * @walk. */
static bool take_names(struct wfs_known_walk *walk, struct wfs_known_name *ret_name)
{
	WFS_GUARD(&walk->known->lock);
	struct wfs_known_entry *inode;

	while ((inode = next_inode(walk)) != NULL) {
		if (walk->wanted && !walk->wanted(walk->context, inode->ino))
			continue;
		walk->names = take_others(walk->known, inode);
		if (inode->parent != 0) {
			copy_name(inode, ret_name);
			inode->parent = 0;
			return true;
		}
		if (walk->names)
			return false;
	}
	return false;
}

bool wfs_known_take_name(struct wfs_known_walk *walk, struct wfs_known_name *ret_name)
{
	struct wfs_known_entry *const first = walk->names;

	if (!first && take_names(walk, ret_name))
		return true;
	WFS_AUTO_FREE struct wfs_known_entry *entry = walk->names;
	if (!entry)
		return false;
	walk->names = entry->others;
	copy_name(entry, ret_name);
	return true;
}

/* --- life --- */

size_t wfs_known_limit(void)
{
	const char *text = secure_getenv("WORLDFS_CACHED_NAMES");
	uint64_t count;

	if (!text || wfs_decimal_read(text, strlen(text), &count) != strlen(text) ||
		count < WFS_KNOWN_NAMES_MIN || count > WFS_KNOWN_NAMES_MAX)
		return WFS_KNOWN_NAMES_MAX;
	return (size_t)count;
}

int wfs_known_new(size_t names_max, struct wfs_known **ret_known)
{
	WFS_AUTO_KNOWN struct wfs_known *known = calloc(1, sizeof(*known));

	wfs_require(names_max > 0);
	if (!known)
		return -ENOMEM;
	pthread_mutex_init(&known->lock, NULL);
	known->names_max = names_max;
	known->buckets = calloc(BUCKETS_FIRST, sizeof(struct wfs_known_entry *));
	if (!known->buckets)
		return -ENOMEM;
	known->bucket_count = BUCKETS_FIRST;
	*ret_known = WFS_STEAL(known);
	return 0;
}

void wfs_known_free(struct wfs_known *known)
{
	if (!known)
		return;
	for (size_t i = 0; i < known->bucket_count; i++) {
		while (known->buckets[i]) {
			struct wfs_known_entry *const entry = known->buckets[i];

			known->buckets[i] = entry->next;
			free(entry);
		}
	}
	free(known->buckets);
	pthread_mutex_destroy(&known->lock);
	free(known);
}
