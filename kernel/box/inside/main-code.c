/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worldfs-code: the process that runs code of artifacts and reducers, and has nothing else.
 *
 * Its owner starts it with one socket as descriptor 0, without arguments or environment. It is not for
 * users. It exits 0 when the owner is gone, 1 when it could not give up what it must not have.
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

/* The linker puts this in place of time(): what Lua makes the seed of its hashes of must not differ. */
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

/* The C library asks at its first large sort how much memory there is, which the filter forbids later. */
static void sort_once(void)
{
	unsigned char bytes[2048] = {1};

	qsort(bytes, sizeof(bytes), 1, compare);
}

int main(void)
{
	/* The heap grows by brk() alone: the filter allows no other way. There is one thread. */
	mallopt(M_MMAP_MAX, 0);  /* NOLINT(concurrency-mt-unsafe) */
	mallopt(M_ARENA_MAX, 1); /* NOLINT(concurrency-mt-unsafe) */
	sort_once();
	(void)prctl(PR_SET_NAME, "worldfs-code");
	if (wfs_lua_arena_map() < 0)
		return EXIT_FAILURE;
#ifndef WFS_CODE_UNCONFINED /* the runtime of a sanitizer needs more than the filter allows */
	if (confine(SOCKET) < 0)
		return EXIT_FAILURE;
#endif
	return serve(SOCKET) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
