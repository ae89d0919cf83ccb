/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LD_PRELOAD library: the n-th call of one kind fails.
 *
 *   FAULT_KIND      write, sync, rename, link, unlink, open (for writing), mkdir, truncate, map,
 *                   alloc, descriptor (whatever makes one) or thread (or process)
 *   FAULT_NTH       which call fails, from 1, counted from main()
 *   FAULT_ERRNO     with which errno, a number
 *   FAULT_ONWARDS   when set, every later call fails, too
 *   FAULT_KILL      when set, the process is killed there instead, before the call
 *   FAULT_COUNTER   file of 8 bytes in which the calls are counted; shared by child processes
 *
 * What the C library calls inside itself (stdio's writes) does not come by here, except for
 * allocations.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* The real function of the same name, looked up at each call: nothing here is fast. */
#define REAL(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

static const char *kind; /* NULL: nothing fails (yet) */
static uint64_t nth;
static int number;
static bool onwards;
static bool kills;
static atomic_uint_least64_t *counter;

/* Counts a call of @of. Return: shall it fail? If so, errno is set. */
static bool fails(const char *of)
{
	if (!kind || strcmp(kind, of) != 0)
		return false;
	const uint64_t count = atomic_fetch_add(counter, 1) + 1;
	if (count < nth || (count > nth && !onwards))
		return false;
	if (kills)
		(void)kill(getpid(), SIGKILL);
	errno = number;
	return true;
}

static uint64_t number_of(const char *name)
{
	const char *const text = getenv(name);

	return text ? strtoull(text, NULL, 10) : 0;
}

static void arm(void)
{
	const char *const wanted = getenv("FAULT_KIND");
	const char *const path = getenv("FAULT_COUNTER");
	const int fd = wanted && path ? open(path, O_RDWR | O_CLOEXEC) : -1;

	if (fd < 0)
		return;
	counter = mmap(NULL, sizeof(*counter), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	nth = number_of("FAULT_NTH");
	number = (int)number_of("FAULT_ERRNO");
	onwards = getenv("FAULT_ONWARDS") != NULL;
	kills = getenv("FAULT_KILL") != NULL;
	kind = wanted;
}

/* --- counting begins where the program does --- */

typedef int main_fn(int argc, char **argv, char **environment);
typedef int start_fn(main_fn *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
	void (*rtld_fini)(void), void *stack_end);

static main_fn *real_main;

static int armed_main(int argc, char **argv, char **environment)
{
	arm();
	return real_main(argc, argv, environment);
}

EXPORT start_fn __libc_start_main;

EXPORT int __libc_start_main(main_fn *main, int argc, char **argv, void (*init)(void),
	void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
	real_main = main;
	return REAL(__libc_start_main)(armed_main, argc, argv, init, fini, rtld_fini, stack_end);
}

/* Only writes to files fail: a pipe has no disk that could fail, and libuv aborts when its own
 * pipes fail. */
static const char *write_to(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? "write" : "";
}

/* --- the calls: X(kind, return type, what failure returns, name, parameters, arguments) --- */

#define CALLS(X)                                                                                   \
	X(write_to(fd), ssize_t, -1, write, (int fd, const void *data, size_t size),               \
		(fd, data, size))                                                                  \
	X(write_to(fd), ssize_t, -1, pwrite,                                                       \
		(int fd, const void *data, size_t size, off_t offset), (fd, data, size, offset))   \
	X(write_to(fd), ssize_t, -1, pwrite64,                                                     \
		(int fd, const void *data, size_t size, off_t offset), (fd, data, size, offset))   \
	X(write_to(fd), ssize_t, -1, writev, (int fd, const struct iovec *parts, int count),       \
		(fd, parts, count))                                                                \
	X(write_to(fd), ssize_t, -1, pwritev,                                                      \
		(int fd, const struct iovec *parts, int count, off_t offset),                      \
		(fd, parts, count, offset))                                                        \
	X(write_to(out), ssize_t, -1, splice,                                                      \
		(int in, off64_t *in_at, int out, off64_t *out_at, size_t size,                    \
			unsigned int flags),                                                       \
		(in, in_at, out, out_at, size, flags))                                             \
	X("sync", int, -1, fsync, (int fd), (fd))                                                  \
	X("sync", int, -1, fdatasync, (int fd), (fd))                                              \
	X("sync", int, -1, msync, (void *data, size_t size, int flags), (data, size, flags))       \
	X("rename", int, -1, rename, (const char *from, const char *to), (from, to))               \
	X("rename", int, -1, renameat, (int from_fd, const char *from, int to_fd, const char *to), \
		(from_fd, from, to_fd, to))                                                        \
	X("rename", int, -1, renameat2,                                                            \
		(int from_fd, const char *from, int to_fd, const char *to, unsigned int flags),    \
		(from_fd, from, to_fd, to, flags))                                                 \
	X("link", int, -1, linkat,                                                                 \
		(int from_fd, const char *from, int to_fd, const char *to, int flags),             \
		(from_fd, from, to_fd, to, flags))                                                 \
	X("unlink", int, -1, unlinkat, (int fd, const char *path, int flags), (fd, path, flags))   \
	X("mkdir", int, -1, mkdir, (const char *path, mode_t mode), (path, mode))                  \
	X("mkdir", int, -1, mkdirat, (int fd, const char *path, mode_t mode), (fd, path, mode))    \
	X("mkdir", char *, NULL, mkdtemp, (char *pattern), (pattern))                              \
	X("sync", int, -1, syncfs, (int fd), (fd))                                                 \
	X("truncate", int, -1, ftruncate, (int fd, off_t size), (fd, size))                        \
	X("truncate", int, -1, ftruncate64, (int fd, off_t size), (fd, size))                      \
	X("truncate", int, -1, fallocate, (int fd, int mode, off_t offset, off_t size),            \
		(fd, mode, offset, size))                                                          \
	X("truncate", int, -1, fallocate64, (int fd, int mode, off_t offset, off_t size),          \
		(fd, mode, offset, size))                                                          \
	X("map", void *, MAP_FAILED, mmap,                                                         \
		(void *at, size_t size, int access, int flags, int fd, off_t offset),              \
		(at, size, access, flags, fd, offset))                                             \
	X("map", void *, MAP_FAILED, mmap64,                                                       \
		(void *at, size_t size, int access, int flags, int fd, off_t offset),              \
		(at, size, access, flags, fd, offset))

#define MORE_CALLS(X)                                                                            \
	X("descriptor", int, -1, socket, (int domain, int type, int protocol),                   \
		(domain, type, protocol))                                                        \
	X("descriptor", int, -1, socketpair, (int domain, int type, int protocol, int fds[2]),   \
		(domain, type, protocol, fds))                                                   \
	X("descriptor", int, -1, pipe2, (int fds[2], int flags), (fds, flags))                   \
	X("descriptor", int, -1, eventfd, (unsigned int count, int flags), (count, flags))       \
	X("descriptor", int, -1, signalfd, (int fd, const sigset_t *mask, int flags),            \
		(fd, mask, flags))                                                               \
	X("descriptor", int, -1, epoll_create1, (int flags), (flags))                            \
	X("descriptor", FILE *, NULL, fopen, (const char *path, const char *mode), (path, mode)) \
	X("descriptor", DIR *, NULL, opendir, (const char *path), (path))                        \
	X("thread", pid_t, -1, fork, (void), ())                                                 \
	X("thread", int, number, pthread_create,                                                 \
		(pthread_t * thread, const pthread_attr_t *attr, void *(*run)(void *),           \
			void *argument),                                                         \
		(thread, attr, run, argument))

#define DEFINE(of, type, failure, name, parameters, arguments)             \
	EXPORT type name parameters                                        \
	{                                                                  \
		return fails(of) ? (type)(failure) : REAL(name) arguments; \
	}
CALLS(DEFINE)
MORE_CALLS(DEFINE)

#define OPEN(name, parameters, arguments)                                                      \
	EXPORT int name parameters                                                             \
	{                                                                                      \
		va_list more;                                                                  \
		va_start(more, flags);                                                         \
		const mode_t mode = va_arg(more, mode_t);                                      \
		va_end(more);                                                                  \
		if (fails("descriptor") || ((flags & O_ACCMODE) != O_RDONLY && fails("open"))) \
			return -1;                                                             \
		return REAL(name) arguments;                                                   \
	}
OPEN(open, (const char *path, int flags, ...), (path, flags, mode))
OPEN(open64, (const char *path, int flags, ...), (path, flags, mode))
OPEN(openat, (int fd, const char *path, int flags, ...), (fd, path, flags, mode))
OPEN(openat64, (int fd, const char *path, int flags, ...), (fd, path, flags, mode))

/* --- allocations: dlsym itself needs them, so glibc's own names --- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *data, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

EXPORT void *malloc(size_t size)
{
	return fails("alloc") ? NULL : __libc_malloc(size);
}

EXPORT void *calloc(size_t count, size_t size)
{
	return fails("alloc") ? NULL : __libc_calloc(count, size);
}

EXPORT void *realloc(void *data, size_t size)
{
	return fails("alloc") ? NULL : __libc_realloc(data, size);
}

EXPORT int posix_memalign(void **ret_data, size_t alignment, size_t size)
{
	void *const data = fails("alloc") ? NULL : __libc_memalign(alignment, size);

	if (!data)
		return ENOMEM;
	*ret_data = data;
	return 0;
}
