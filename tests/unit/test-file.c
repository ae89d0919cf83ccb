/* SPDX-License-Identifier: Apache-2.0 */
/* Copying whole files, within a file system and between two. */
#include "tests/fixture/test.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/error.h"
#include "kernel/base/file.h"

enum { SIZE = 300000 };

/* Makes a file without a name, with @size bytes that depend on their position; its offset is at
 * its beginning. */
static int file_of(size_t size)
{
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	for (size_t i = 0; i < size; i += sizeof(uint32_t)) {
		const uint32_t word = (uint32_t)i;

		assert_int_equal(pwrite(fd, &word, sizeof(word), (off_t)i), sizeof(word));
	}
	return fd;
}

static void assert_has_file_of(int fd, size_t size)
{
	WFS_AUTO_FREE uint32_t *words = malloc(SIZE);
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, size);
	assert_int_equal(pread(fd, words, size, 0), size);
	for (size_t i = 0; i < size / sizeof(*words); i++)
		assert_int_equal(words[i], i * sizeof(*words));
}

TEST(copy_gives_the_same_bytes)
{
	WFS_AUTO_FD int from = file_of(SIZE);
	WFS_AUTO_FD int to = file_of(0);

	assert_int_equal(wfs_file_copy(from, to), 0);

	assert_has_file_of(to, SIZE);
}

TEST(copy_crosses_file_systems)
{
	WFS_AUTO_FD int from = file_of(SIZE);
	WFS_AUTO_FD int to = memfd_create("copy", MFD_CLOEXEC);

	assert_int_equal(wfs_file_copy(from, to), 0);

	assert_has_file_of(to, SIZE);
}

TEST(copy_of_an_empty_file_is_empty)
{
	WFS_AUTO_FD int from = file_of(0);
	WFS_AUTO_FD int to = file_of(0);

	assert_int_equal(wfs_file_copy(from, to), 0);

	assert_has_file_of(to, 0);
}

TEST(copy_says_why_it_could_not)
{
	WFS_AUTO_FD int from = file_of(SIZE);
	WFS_AUTO_FD int to = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_int_equal(wfs_file_copy(from, to), -EBADF);
}
