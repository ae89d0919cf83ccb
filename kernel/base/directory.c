/* SPDX-License-Identifier: Apache-2.0 */
/* Removing directory trees. */
#include "kernel/base/directory.h"

#include <ftw.h>

enum { OPEN_FILES = 8 }; /* descriptors that nftw may hold at once */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	(void)remove(path);
	return 0;
}

void wfs_directory_remove(const char *directory)
{
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): safe without FTW_CHDIR, see nftw(3) */
	nftw(directory, remove_one, OPEN_FILES, FTW_DEPTH | FTW_PHYS);
}
