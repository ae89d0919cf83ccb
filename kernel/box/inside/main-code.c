/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worldfs-code: the process that runs code of artifacts and reducers, and has nothing else.
 *
 * Its owner starts it with a socket as descriptor 0, without arguments or environment. Users never
 * start it. It exits with 0 when the owner is gone, and with 1 when it could not be confined.
 */
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "kernel/box/inside/confine.h"
#include "kernel/box/inside/serve.h"
#include "kernel/lua/lua.h"

enum { SOCKET = 0 };

/* Replaces time() at linking: Lua makes its hash seed from the time,
 * and the seed must be constant. */
/* NOLINTBEGIN(readability-identifier-naming): the linker makes this name */
time_t __wrap_time(time_t *ret_time);
time_t __wrap_time(time_t *ret_time)
{
	if (ret_time)
		*ret_time = 0;
	return 0;
}
/* NOLINTEND(readability-identifier-naming) */

static int compare(const void *a, const void *b)
{
	return *(const unsigned char *)a - *(const unsigned char *)b;
}

/* At its first large sort the C library asks for the size of memory,
 * which the filter would forbid later. */
static void sort_once(void)
{
	unsigned char bytes[2048] = {1};

	qsort(bytes, sizeof(bytes), 1, compare);
}

int main(void)
{
	/* Let the heap grow by brk() alone, which the filter allows. There is one thread. */
	mallopt(M_MMAP_MAX, 0);  /* NOLINT(concurrency-mt-unsafe) */
	mallopt(M_ARENA_MAX, 1); /* NOLINT(concurrency-mt-unsafe) */
	sort_once();
	(void)prctl(PR_SET_NAME, "worldfs-code");
	if (wfs_lua_arena_map() < 0)
		return EXIT_FAILURE;
#ifndef WFS_CODE_UNCONFINED /* a sanitizer's runtime needs more than the filter allows */
	if (confine(SOCKET) < 0)
		return EXIT_FAILURE;
#endif
	return serve(SOCKET) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
