/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the two roots that LMDB does not make. */
#include "kernel/store/roots.h"

#include <fcntl.h>
#include <lmdb.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/world-file.h"
#include "kernel/store/layout.h"

enum {
	ROOT_VERSION = 1,
	LOOKS_MAX = 10, /* attempts: a commit may come between reading both */
};

static const uint32_t root_magic = 0xBEEFC0DE;

static int read_root(int fd, uint64_t offset, struct root *ret_root)
{
	const ssize_t size = pread(fd, ret_root, sizeof(*ret_root), (off_t)offset);

	if (size < 0)
		return -errno;
	return size == sizeof(*ret_root) ? 0 : -ENODATA;
}

static bool is_root(const struct root *root, uint64_t number)
{
	const uint64_t page_size = root->free_pages.pad;

	return root->page.number == number && root->page.flags == PAGE_IS_ROOT &&
		root->magic == root_magic && root->version == ROOT_VERSION &&
		page_size >= PAGE_SIZE_MIN && page_size <= PAGE_SIZE_MAX &&
		(page_size & (page_size - 1)) == 0 && root->free_pages.flags == MDB_INTEGERKEY &&
		root->tables.flags == 0;
}

/* Transaction n writes root n % 2. In a new store both have 0. */
static bool are_in_turn(const struct root roots[static ROOT_COUNT])
{
	const uint64_t even = roots[0].txn_id;
	const uint64_t odd = roots[1].txn_id;

	if (even == 0 && odd == 0)
		return true;
	return even % 2 == 0 && odd % 2 == 1 && (even + 1 == odd || odd + 1 == even);
}

/* Return: 0, -EAGAIN (they do not fit together: perhaps one was just written), -EBADMSG,
 * -ENODATA (the file is too short), or another -errno. */
static int read_roots(int fd, struct root roots[static ROOT_COUNT])
{
	int r = read_root(fd, 0, &roots[0]);

	if (r)
		return r;
	if (!is_root(&roots[0], 0))
		return -EBADMSG;
	r = read_root(fd, roots[0].free_pages.pad, &roots[1]);
	if (r)
		return r;
	if (!is_root(&roots[1], 1) || roots[0].free_pages.pad != roots[1].free_pages.pad)
		return -EBADMSG;
	return are_in_turn(roots) ? 0 : -EAGAIN;
}

static int check_size(
	int fd, const struct root *root, const char *directory, struct wfs_error *error)
{
	const uint64_t page_size = root->free_pages.pad;
	struct stat st;

	if (fstat(fd, &st))
		return wfs_error_from_errno(error, -errno, "stat '%s/data.mdb'", directory);
	if (root->last_page < UINT64_MAX / PAGE_SIZE_MAX &&
		(root->last_page + 1) * page_size <= (uint64_t)st.st_size)
		return 0;
	return wfs_error_set(error, WFS_E_HASH_MISMATCH,
		"'%s/data.mdb' is cut short, or damaged: its root tells of %llu pages of %llu "
		"bytes, it has %lld bytes",
		directory, (unsigned long long)root->last_page + 1, (unsigned long long)page_size,
		(long long)st.st_size);
}

int roots_find(int fd, uint64_t txn_id, struct root *ret_root)
{
	struct root roots[ROOT_COUNT];
	int r = read_roots(fd, roots);

	if (r && r != -EAGAIN) /* not read, so there is nothing to check */
		return r;
	if (roots[txn_id % ROOT_COUNT].txn_id != txn_id)
		return -EAGAIN;
	*ret_root = roots[txn_id % ROOT_COUNT];
	return 0;
}

int wfs_roots_check(int directory_fd, const char *directory, struct wfs_error *error)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	WFS_AUTO_FD int fd =
		wfs_world_file_open_at(directory_fd, directory, "data.mdb", O_RDONLY, error);
	struct root roots[ROOT_COUNT] = {0};

	if (fd < 0)
		return wfs_trace(fd);
	int r = read_roots(fd, roots);

	for (int i = 0; r == -EAGAIN && i < LOOKS_MAX; i++) {
		nanosleep(&pause, NULL);
		r = read_roots(fd, roots);
	}
	if (r == -EAGAIN || r == -EBADMSG)
		return wfs_error_set(error, WFS_E_HASH_MISMATCH,
			"'%s/data.mdb' is damaged: its first two pages are not roots of a store",
			directory);
	if (r == -ENODATA)
		return wfs_error_set(error, WFS_E_HASH_MISMATCH,
			"'%s/data.mdb' is cut short: it ends before its second page", directory);
	if (r)
		return wfs_error_from_errno(error, r, "read '%s/data.mdb'", directory);
	return wfs_trace(
		check_size(fd, &roots[roots[0].txn_id < roots[1].txn_id], directory, error));
}
