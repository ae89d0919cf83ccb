/* SPDX-License-Identifier: Apache-2.0 */
/* Gives up descriptors, privileges and system calls. */
#include "kernel/box/inside/confine.h"

#include <errno.h>
#include <grp.h>
#include <linux/close_range.h>
#include <seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
	DATA_BYTES_MAX = 512 << 20, /* the region of Lua (256 MiB), images of modules, messages */
	STACK_BYTES_MAX = 8 << 20,
	NOBODY = 65534,
};

/* --- descriptors and limits --- */

static int close_others(int fd)
{
	if (fd > 0 && close_range(0, (unsigned int)fd - 1, 0) < 0)
		return -errno;
	return close_range((unsigned int)fd + 1, ~0U, 0) < 0 ? -errno : 0;
}

static int set_limits(void)
{
	static const struct {
		__rlimit_resource_t resource;
		rlim_t bound;
	} limits[] = {
		{RLIMIT_DATA, DATA_BYTES_MAX},
		{RLIMIT_STACK, STACK_BYTES_MAX},
		{RLIMIT_CORE, 0},
		{RLIMIT_FSIZE, 0},
		{RLIMIT_NOFILE, 1},
		{RLIMIT_NPROC, 0},
		{RLIMIT_MEMLOCK, 0},
		{RLIMIT_MSGQUEUE, 0},
	};

	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		const struct rlimit both = {limits[i].bound, limits[i].bound};

		if (setrlimit(limits[i].resource, &both) < 0)
			return -errno;
	}
	return 0;
}

/* --- privileges --- */

/* As root: moves to an empty root directory, and to an id that owns nothing. */
static int drop_root(void)
{
	if (geteuid() != 0)
		return 0;
	/* Without the capability (in a container) only the filter keeps files away. */
	if (chroot("/proc/self/fdinfo") < 0 && errno != EPERM && errno != ENOENT)
		return -errno;
	if (chdir("/") < 0)
		return -errno;
	/* A user namespace may lack that id; its root stays, and has no rights outside. */
	if (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
		setresuid(NOBODY, NOBODY, NOBODY) < 0)
		return errno == EPERM || errno == EINVAL ? 0 : -errno;
	return 0;
}

static int drop_privileges(void)
{
	int r = drop_root();

	if (r < 0)
		return r;
	/* After the change of ids, which would undo the last two settings. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 ||
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return -errno;
	return 0;
}

/* --- the filter --- */

static int allow(scmp_filter_ctx filter, int fd)
{
	/* Receiving and sending as recv(2) and send(2) do it here: other flags (MSG_OOB) and
	 * addresses lead to parts of Linux that are not needed. */
	int r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(recvfrom), 4,
		SCMP_A0(SCMP_CMP_EQ, (uint64_t)fd), SCMP_A3(SCMP_CMP_EQ, 0),
		SCMP_A4(SCMP_CMP_EQ, 0), SCMP_A5(SCMP_CMP_EQ, 0));

	if (r == 0)
		r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(sendto), 4,
			SCMP_A0(SCMP_CMP_EQ, (uint64_t)fd), SCMP_A3(SCMP_CMP_EQ, MSG_NOSIGNAL),
			SCMP_A4(SCMP_CMP_EQ, 0), SCMP_A5(SCMP_CMP_EQ, 0));
	/* Growing and shrinking the heap, and returning memory of the region. */
	if (r == 0)
		r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(brk), 0);
	if (r == 0)
		r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(madvise), 1,
			SCMP_A2(SCMP_CMP_EQ, MADV_DONTNEED));
	/* malloc() tries mmap() when the heap is at its bound:
	 * refuse without ending the process. */
	if (r == 0)
		r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOMEM), SCMP_SYS(mmap), 0);
	/* The process's own processor time, which bounds code. */
	if (r == 0)
		r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clock_gettime), 1,
			SCMP_A0(SCMP_CMP_EQ, CLOCK_THREAD_CPUTIME_ID));
	if (r == 0)
		r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(exit_group), 0);
	return r;
}

static int set_filter(int fd)
{
	const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int r = filter ? allow(filter, fd) : -ENOMEM;

	if (r == 0)
		r = seccomp_load(filter);
	seccomp_release(filter);
	return r;
}

int confine(int fd)
{
	int r = drop_privileges();

	if (r == 0)
		r = close_others(fd);
	if (r == 0)
		r = set_limits();
	return r == 0 ? set_filter(fd) : r;
}
