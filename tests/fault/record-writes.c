/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LD_PRELOAD library: records every change of files and names below a directory, in order.
 *
 *   RECORD_ROOT   the directory, absolute and without symbolic links
 *   RECORD_LOG    file that the records are appended to
 *
 * A record is a line `OP ARGUMENT… SIZE`, separated by tabs, and SIZE bytes. Files and directories
 * are named by inode number, names by path:
 *   create PATH INODE    mkdir PATH INODE MODE    rename FROM TO    unlink PATH (directories, too)
 *   write INODE OFFSET SYNCED (bytes)         truncate INODE SIZE
 *   sync INODE           syncall
 *   map PATH (shared and writable: those writes are not seen)
 *   said                 standard output was flushed: what was printed is acknowledged
 * A lock is held over a call and its record, so that the order is that of the calls. What the C
 * library calls inside itself does not come by here, but for what is named below.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "kernel/base/cleanup.h"

#define EXPORT __attribute__((visibility("default")))
#define REAL(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *root; /* NULL: nothing is recorded */
static int log_fd = -1;

__attribute__((constructor)) static void start(void)
{
	const char *const path = getenv("RECORD_LOG");

	log_fd = path ? (int)syscall(SYS_openat, AT_FDCWD, path,
				O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)
		      : -1;
	root = log_fd >= 0 ? getenv("RECORD_ROOT") : NULL;
}

static void record(const void *data, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void record(const void *data, size_t size, const char *format, ...)
{
	const int saved = errno;
	char line[2 * PATH_MAX + 100];
	va_list arguments;

	va_start(arguments, format);
	int length = vsnprintf(line, sizeof(line) - 30, format, arguments);
	va_end(arguments);
	length += snprintf(line + length, 30, "\t%zu\n", size);
	const struct iovec parts[] = {{line, (size_t)length}, {(void *)(uintptr_t)data, size}};
	if (syscall(SYS_writev, log_fd, parts, 2) != length + (ssize_t)size)
		abort(); /* a recording with gaps would prove nothing */
	errno = saved;
}

/* --- which file, and is it ours? --- */

static bool is_ours(const char *path)
{
	const size_t size = root ? strlen(root) : 0;

	return root && strncmp(path, root, size) == 0 && (path[size] == '/' || !path[size]);
}

static void path_of_fd(int fd, char ret_path[static PATH_MAX])
{
	char link[64];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	const ssize_t size = readlink(link, ret_path, PATH_MAX - 1);
	ret_path[size > 0 ? size : 0] = '\0';
}

/* The absolute path of @name in @directory_fd, without links to descriptors. */
static void path_of(int directory_fd, const char *name, char ret_path[static PATH_MAX])
{
	static const char descriptors[] = "/proc/self/fd/";
	char directory[PATH_MAX];
	char *end = NULL;

	if (strncmp(name, descriptors, strlen(descriptors)) == 0) {
		const long fd = strtol(name + strlen(descriptors), &end, 10);

		if (*end == '/') {
			directory_fd = (int)fd;
			name = end + 1;
		}
	}
	if (name[0] == '/') {
		snprintf(ret_path, PATH_MAX, "%s", name);
		return;
	}
	if (directory_fd == AT_FDCWD)
		(void)!getcwd(directory, sizeof(directory));
	else
		path_of_fd(directory_fd, directory);
	snprintf(ret_path, PATH_MAX, "%.*s/%s", PATH_MAX / 2, directory, name);
}

static uint64_t inode_of(const char *path)
{
	struct stat st;

	return lstat(path, &st) ? 0 : st.st_ino;
}

/* Return: the inode of a file or directory below RECORD_ROOT, otherwise 0. */
static uint64_t our_inode(int fd)
{
	char path[PATH_MAX];
	struct stat st;

	path_of_fd(fd, path);
	return is_ours(path) && fstat(fd, &st) == 0 ? st.st_ino : 0;
}

/* --- names --- */

static int open_at(int directory_fd, const char *name, int flags, mode_t mode)
{
	char path[PATH_MAX];

	path_of(directory_fd, name, path);
	if (!is_ours(path) || !(flags & (O_CREAT | O_TRUNC)))
		return (int)syscall(SYS_openat, directory_fd, name, flags, mode);
	WFS_GUARD(&lock);
	const uint64_t before = inode_of(path);
	const int fd = (int)syscall(SYS_openat, directory_fd, name, flags, mode);
	if (fd >= 0 && !before)
		record(NULL, 0, "create\t%s\t%" PRIu64, path, inode_of(path));
	else if (fd >= 0 && (flags & O_TRUNC))
		record(NULL, 0, "truncate\t%" PRIu64 "\t0", before);
	return fd;
}

#define OPEN(function, parameters, directory_fd)                 \
	EXPORT int function parameters                           \
	{                                                        \
		va_list more;                                    \
		va_start(more, flags);                           \
		const mode_t mode = va_arg(more, mode_t);        \
		va_end(more);                                    \
		return open_at(directory_fd, name, flags, mode); \
	}
OPEN(open, (const char *name, int flags, ...), AT_FDCWD)
OPEN(open64, (const char *name, int flags, ...), AT_FDCWD)
OPEN(openat, (int fd, const char *name, int flags, ...), fd)
OPEN(openat64, (int fd, const char *name, int flags, ...), fd)

EXPORT int mkdirat(int fd, const char *name, mode_t mode)
{
	char path[PATH_MAX];

	path_of(fd, name, path);
	WFS_GUARD(&lock);
	const int r = REAL(mkdirat)(fd, name, mode);
	if (r == 0 && is_ours(path))
		record(NULL, 0, "mkdir\t%s\t%" PRIu64 "\t%u", path, inode_of(path), mode);
	return r;
}

EXPORT int mkdir(const char *name, mode_t mode)
{
	return mkdirat(AT_FDCWD, name, mode);
}

EXPORT char *mkdtemp(char *pattern)
{
	WFS_GUARD(&lock);
	char *const path = REAL(mkdtemp)(pattern);

	if (path && is_ours(path))
		record(NULL, 0, "mkdir\t%s\t%" PRIu64 "\t%u", path, inode_of(path), 0700U);
	return path;
}

EXPORT int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned int flags)
{
	char from_path[PATH_MAX];
	char to_path[PATH_MAX];

	path_of(from_fd, from, from_path);
	path_of(to_fd, to, to_path);
	WFS_GUARD(&lock);
	const int r = REAL(renameat2)(from_fd, from, to_fd, to, flags);
	if (r == 0 && (is_ours(from_path) || is_ours(to_path)))
		record(NULL, 0, "rename\t%s\t%s", from_path, to_path);
	return r;
}

EXPORT int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	return renameat2(from_fd, from, to_fd, to, 0);
}

EXPORT int rename(const char *from, const char *to)
{
	return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

EXPORT int unlinkat(int fd, const char *name, int flags)
{
	char path[PATH_MAX];

	path_of(fd, name, path);
	WFS_GUARD(&lock);
	const int r = REAL(unlinkat)(fd, name, flags);
	if (r == 0 && is_ours(path))
		record(NULL, 0, "unlink\t%s", path);
	return r;
}

EXPORT int unlink(const char *name)
{
	return unlinkat(AT_FDCWD, name, 0);
}

EXPORT int rmdir(const char *name)
{
	return unlinkat(AT_FDCWD, name, AT_REMOVEDIR);
}

EXPORT int remove(const char *name)
{
	const int r = unlinkat(AT_FDCWD, name, 0);

	return r && errno == EISDIR ? unlinkat(AT_FDCWD, name, AT_REMOVEDIR) : r;
}

/* --- contents --- */

static void record_write(int fd, uint64_t inode, const void *data, ssize_t size, off_t offset)
{
	const int flags = fcntl(fd, F_GETFL);

	if (size > 0)
		record(data, (size_t)size, "write\t%" PRIu64 "\t%lld\t%d", inode, (long long)offset,
			(flags & O_DSYNC) != 0);
}

EXPORT ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
	const uint64_t inode = our_inode(fd);
	WFS_GUARD(&lock);
	const ssize_t r = syscall(SYS_pwrite64, fd, data, size, offset);

	if (inode)
		record_write(fd, inode, data, r, offset);
	return r;
}

EXPORT ssize_t pwrite64(int fd, const void *data, size_t size, off_t offset)
{
	return pwrite(fd, data, size, offset);
}

EXPORT ssize_t write(int fd, const void *data, size_t size)
{
	const uint64_t inode = our_inode(fd);

	if (!inode)
		return syscall(SYS_write, fd, data, size);
	WFS_GUARD(&lock);
	const ssize_t r = syscall(SYS_write, fd, data, size);
	if (r > 0)
		record_write(fd, inode, data, r, lseek(fd, 0, SEEK_CUR) - r);
	return r;
}

/* Linux gets the parts in one call; the recording has one record for each part. */
EXPORT ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset)
{
	const uint64_t inode = our_inode(fd);
	WFS_GUARD(&lock);
	const ssize_t r = syscall(SYS_pwritev, fd, parts, count, offset, 0);
	ssize_t left = r;

	for (int i = 0; inode && left > 0; i++) {
		const ssize_t size =
			(ssize_t)parts[i].iov_len < left ? (ssize_t)parts[i].iov_len : left;

		record_write(fd, inode, parts[i].iov_base, size, offset + (r - left));
		left -= size;
	}
	return r;
}

EXPORT ssize_t writev(int fd, const struct iovec *parts, int count)
{
	if (!our_inode(fd))
		return syscall(SYS_writev, fd, parts, count);
	const off_t offset = lseek(fd, 0, SEEK_CUR);
	const ssize_t r = pwritev(fd, parts, count, offset);
	if (r > 0)
		lseek(fd, offset + r, SEEK_SET);
	return r;
}

EXPORT int ftruncate(int fd, off_t size)
{
	const uint64_t inode = our_inode(fd);
	WFS_GUARD(&lock);
	const int r = (int)syscall(SYS_ftruncate, fd, size);

	if (r == 0 && inode)
		record(NULL, 0, "truncate\t%" PRIu64 "\t%lld", inode, (long long)size);
	return r;
}

EXPORT int ftruncate64(int fd, off_t size)
{
	return ftruncate(fd, size);
}

EXPORT int fdatasync(int fd)
{
	const uint64_t inode = our_inode(fd);
	WFS_GUARD(&lock);
	const int r = (int)syscall(SYS_fdatasync, fd);

	if (r == 0 && inode)
		record(NULL, 0, "sync\t%" PRIu64, inode);
	return r;
}

EXPORT int syncfs(int fd)
{
	WFS_GUARD(&lock);
	const int r = (int)syscall(SYS_syncfs, fd);

	if (r == 0 && root)
		record(NULL, 0, "syncall");
	return r;
}

EXPORT int fsync(int fd)
{
	return fdatasync(fd);
}

EXPORT void *mmap(void *at, size_t size, int access, int flags, int fd, off_t offset)
{
	char path[PATH_MAX];

	if (fd >= 0 && (access & PROT_WRITE) && (flags & MAP_SHARED)) {
		path_of_fd(fd, path);
		WFS_GUARD(&lock);
		if (is_ours(path))
			record(NULL, 0, "map\t%s", path);
	}
	return (void *)syscall(SYS_mmap, at, size, access, flags, fd, offset);
}

EXPORT void *mmap64(void *at, size_t size, int access, int flags, int fd, off_t offset)
{
	return mmap(at, size, access, flags, fd, offset);
}

EXPORT int fflush(FILE *stream)
{
	const int r = REAL(fflush)(stream);
	WFS_GUARD(&lock);

	if (r == 0 && stream == stdout && root)
		record(NULL, 0, "said");
	return r;
}
