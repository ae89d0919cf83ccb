/* SPDX-License-Identifier: Apache-2.0 */
/*
 * malloc that fails when it is told to, and counts. For tests that are linked with --wrap of malloc,
 * realloc and free (tests/unit/meson.build); calls of shared libraries do not pass here.
 */
#pragma once

#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>

static unsigned int allocations_until_failure; /* 0: none fails */
static ptrdiff_t live_bytes;
static ptrdiff_t peak_bytes;

/* NOLINTBEGIN(readability-identifier-naming): the linker's names, see ld(1), --wrap */
void *__real_malloc(size_t size);
void *__real_realloc(void *block, size_t size);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *block, size_t size);
void __wrap_free(void *block);

static bool allocation_fails(void)
{
	return allocations_until_failure > 0 && --allocations_until_failure == 0;
}

static void *count_block(void *block)
{
	live_bytes += (ptrdiff_t)malloc_usable_size(block);
	if (live_bytes > peak_bytes)
		peak_bytes = live_bytes;
	return block;
}

void *__wrap_malloc(size_t size)
{
	return allocation_fails() ? NULL : count_block(__real_malloc(size));
}

void *__wrap_realloc(void *block, size_t size)
{
	const size_t old_bytes = malloc_usable_size(block);
	void *moved = NULL;

	if (allocation_fails())
		return NULL;
	moved = __real_realloc(block, size);
	if (!moved)
		return NULL;
	live_bytes -= (ptrdiff_t)old_bytes;
	return count_block(moved);
}

void __wrap_free(void *block)
{
	live_bytes -= (ptrdiff_t)malloc_usable_size(block);
	__real_free(block);
}
/* NOLINTEND(readability-identifier-naming) */
