/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory that code runs in: one region of the process, always at the same address.
 *
 * Invariant: all memory of a Lua state is in the region, and so are the allocator's own lists. So a
 * copy of the region's first bytes is a copy of the state, and restoring it restores the state
 * exactly. And since every run begins with the same bytes at the same addresses, whatever Lua
 * derives from addresses (the place of a table in a hash) is always equal, too.
 *
 * Small blocks come in classes of 16 bytes and are cut from slabs. Large blocks have a header; free
 * ones are kept in lists by size, and merged with free neighbours.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "kernel/lua/lua-impl.h"

/* Where the region is. Unused in ordinary processes, also with the address sanitizer. */
#define ARENA_ADDRESS UINT64_C(0x200000000000)

enum {
	ARENA_BYTES = 256 << 20,
	STACK_BYTES = 64 << 10, /* at the end of the region: lua_newstate runs on this stack */
	ALIGNMENT = 16,
	SMALL_MAX = 512,
	SMALL_CLASSES = SMALL_MAX / ALIGNMENT,
	SLAB_BYTES = 8 << 10, /* from which small blocks are cut */
	BINS = 32,            /* lists of large free blocks: powers of two */
	BIN_LOOKS_MAX = 16,   /* blocks of a bin that a search tries, as they may be too small */
	SPLIT_MIN = 128,      /* a remainder of this size becomes a free block */
	IDLE_BYTES = 8 << 20, /* of the region, kept; memory beyond is returned to the system */
};

/* A free small block: its first bytes link it to the next one. */
struct unused {
	struct unused *next;
};

/* A large block. Its payload follows this header; that of a free block begins with the links. */
struct block {
	size_t size;          /* with this header; a multiple of 16, bit 0: in use */
	size_t previous_size; /* of the block before this one in memory; 0: this is the first */
	struct block *next;   /* in its bin, if free */
	struct block *previous;
};

enum { HEADER_BYTES = offsetof(struct block, next), IN_USE = 1 };

/* At the beginning of the region. */
struct arena {
	size_t top;  /* offset of the end of the last block */
	size_t high; /* greatest `top` since the region was restored */
	size_t last; /* offset of the block that ends at `top`; 0: none */
	char *slab;  /* unused part of the newest slab */
	size_t slab_bytes;
	struct unused *small[SMALL_CLASSES];
	struct block *bins[BINS];
};

enum { FIRST_BLOCK = (sizeof(struct arena) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT };

static_assert((int)HEADER_BYTES == (int)ALIGNMENT, "payloads are aligned");
static_assert(SPLIT_MIN >= sizeof(struct block), "what is left over holds its links");

static struct arena *arena_get(void)
{
	return (struct arena *)
		ARENA_ADDRESS; /* NOLINT(performance-no-int-to-ptr): fixed on purpose */
}

static char *at(size_t offset)
{
	return (char *)arena_get() + offset;
}

static size_t size_of(const struct block *block)
{
	return block->size & ~(size_t)IN_USE;
}

static struct block *following(struct arena *arena, struct block *block)
{
	char *const next = (char *)block + size_of(block);

	return next < at(arena->top) ? (struct block *)next : NULL;
}

/* --- lists of free blocks --- */

static size_t bin_of(size_t size)
{
	const size_t bin = (size_t)(63 - __builtin_clzll(size));

	return bin < BINS ? bin : BINS - 1;
}

static void bin_add(struct arena *arena, struct block *block)
{
	struct block **const head = &arena->bins[bin_of(block->size)];

	block->previous = NULL;
	block->next = *head;
	if (*head)
		(*head)->previous = block;
	*head = block;
}

static void bin_remove(struct arena *arena, struct block *block)
{
	if (block->previous)
		block->previous->next = block->next;
	else
		arena->bins[bin_of(block->size)] = block->next;
	if (block->next)
		block->next->previous = block->previous;
}

static struct block *bin_find(struct arena *arena, size_t size)
{
	int looks = 0;

	for (size_t bin = bin_of(size); bin < BINS; bin++) {
		for (struct block *block = arena->bins[bin]; block; block = block->next) {
			if (block->size >= size)
				return block;
			if (++looks == BIN_LOOKS_MAX)
				break;
		}
	}
	return NULL;
}

/* --- large blocks --- */

static void set_size(struct arena *arena, struct block *block, size_t size, size_t in_use)
{
	struct block *next = NULL;

	block->size = size | in_use;
	next = following(arena, block);
	if (next)
		next->previous_size = size;
	else
		arena->last = (size_t)((char *)block - at(0));
}

static void block_free(struct arena *arena, struct block *block);

/* Shortens a block in use, and frees the rest if that is large enough. */
static void block_trim(struct arena *arena, struct block *block, size_t size)
{
	const size_t all = size_of(block);

	if (all - size < SPLIT_MIN)
		return;
	struct block *const rest = (struct block *)((char *)block + size);

	block->size = size | IN_USE;
	rest->previous_size = size;
	set_size(arena, rest, all - size, IN_USE);
	block_free(arena, rest);
}

static void block_free(struct arena *arena, struct block *block)
{
	struct block *next = following(arena, block);
	size_t size = size_of(block);

	if (next && !(next->size & IN_USE)) {
		bin_remove(arena, next);
		size += next->size;
	}
	if (block->previous_size) {
		struct block *const before = (struct block *)((char *)block - block->previous_size);

		if (!(before->size & IN_USE)) {
			bin_remove(arena, before);
			size += before->size;
			block = before;
		}
	}
	if ((char *)block + size == at(arena->top)) {
		arena->top -= size;
		arena->last = block->previous_size ? arena->top - block->previous_size : 0;
		return;
	}
	set_size(arena, block, size, 0);
	bin_add(arena, block);
}

/* Enlarges the used part of the region. Return: false: the region is full */
static bool extend(struct arena *arena, size_t size)
{
	if (size > ARENA_BYTES - STACK_BYTES - arena->top)
		return false;
	arena->top += size;
	if (arena->top > arena->high)
		arena->high = arena->top;
	return true;
}

static size_t block_size(size_t payload)
{
	const size_t size = HEADER_BYTES + (payload + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

	return size < sizeof(struct block) ? sizeof(struct block) : size;
}

static void *block_new(struct arena *arena, size_t payload)
{
	const size_t size = block_size(payload);
	struct block *block = bin_find(arena, size);

	if (block) {
		bin_remove(arena, block);
		block->size |= IN_USE;
		block_trim(arena, block, size);
	} else {
		const size_t offset = arena->top;
		const size_t last = arena->last;

		if (!extend(arena, size))
			return NULL;
		block = (struct block *)at(offset);
		block->previous_size = last ? size_of((struct block *)at(last)) : 0;
		set_size(arena, block, size, IN_USE);
	}
	return (char *)block + HEADER_BYTES;
}

/* Grows or shrinks a block in place. Return: false: no room after it */
static bool block_resize(struct arena *arena, struct block *block, size_t payload)
{
	const size_t size = block_size(payload);
	const size_t own = size_of(block);
	struct block *const next = following(arena, block);

	if (size > own && !next) {
		if (!extend(arena, size - own))
			return false;
		set_size(arena, block, size, IN_USE);
	} else if (size > own) {
		if ((next->size & IN_USE) || own + next->size < size)
			return false;
		bin_remove(arena, next);
		set_size(arena, block, own + next->size, IN_USE);
	}
	block_trim(arena, block, size);
	return true;
}

/* --- small blocks --- */

static size_t class_of(size_t size)
{
	return (size - 1) / ALIGNMENT;
}

static void *small_new(struct arena *arena, size_t size)
{
	const size_t class = class_of(size);
	const size_t bytes = (class + 1) * ALIGNMENT;
	struct unused *const unused = arena->small[class];

	if (unused) {
		arena->small[class] = unused->next;
		return unused;
	}
	if (arena->slab_bytes < bytes) {
		char *const slab = block_new(arena, SLAB_BYTES);

		if (!slab)
			return NULL;
		arena->slab = slab;
		arena->slab_bytes = SLAB_BYTES;
	}
	arena->slab += bytes;
	arena->slab_bytes -= bytes;
	return arena->slab - bytes;
}

static void small_free(struct arena *arena, void *data, size_t size)
{
	struct unused *const unused = data;

	unused->next = arena->small[class_of(size)];
	arena->small[class_of(size)] = unused;
}

/* --- blocks of any size --- */

static void *block_of(void *data)
{
	return (char *)data - HEADER_BYTES;
}

static void *arena_new(struct arena *arena, size_t size)
{
	return size <= SMALL_MAX ? small_new(arena, size) : block_new(arena, size);
}

static void arena_free(struct arena *arena, void *data, size_t size)
{
	if (size <= SMALL_MAX)
		small_free(arena, data, size);
	else
		block_free(arena, block_of(data));
}

void *wfs_lua_arena_resize(void *data, size_t old_size, size_t new_size)
{
	struct arena *const arena = arena_get();
	void *moved = NULL;

	if (old_size == 0)
		return arena_new(arena, new_size);
	if (new_size == 0) {
		arena_free(arena, data, old_size);
		return NULL;
	}
	if (old_size <= SMALL_MAX && new_size <= SMALL_MAX &&
		class_of(old_size) == class_of(new_size))
		return data;
	if (old_size > SMALL_MAX && new_size > SMALL_MAX &&
		block_resize(arena, block_of(data), new_size))
		return data;
	moved = arena_new(arena, new_size);
	if (!moved)
		return NULL;
	memcpy(moved, data, old_size < new_size ? old_size : new_size);
	arena_free(arena, data, old_size);
	return moved;
}

/* --- the region --- */

int wfs_lua_arena_map(void)
{
	void *const wanted = arena_get();
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
	void *const data = mmap(wanted, ARENA_BYTES, PROT_READ | PROT_WRITE, flags, -1, 0);

	if (data == wanted)
		return 0;
	if (data == MAP_FAILED)
		return -errno;
	munmap(data, ARENA_BYTES); /* an old Linux ignores the flag, and maps elsewhere */
	return -ENOTSUP;
}

void wfs_lua_arena_reset(void)
{
	struct arena *const arena = arena_get();

	wfs_lua_arena_trim();
	memset(arena, 0, sizeof(*arena));
	arena->top = FIRST_BLOCK;
	arena->high = FIRST_BLOCK;
}

void *wfs_lua_arena_stack(void)
{
	return at(ARENA_BYTES);
}

struct wfs_bytes wfs_lua_arena_bytes(void)
{
	return WFS_BYTES(arena_get(), arena_get()->top);
}

void wfs_lua_arena_trim(void)
{
	struct arena *const arena = arena_get();

	if (arena->high <= IDLE_BYTES)
		return;
	(void)madvise(at(IDLE_BYTES), ARENA_BYTES - STACK_BYTES - IDLE_BYTES, MADV_DONTNEED);
	arena->high = IDLE_BYTES;
}

void wfs_lua_arena_restore(struct wfs_bytes image)
{
	struct arena *const arena = arena_get();

	wfs_lua_arena_trim();
	memcpy(arena, image.data, image.size);
	arena->high = arena->top;
}
