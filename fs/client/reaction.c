/* SPDX-License-Identifier: Apache-2.0 */
/* Sends a small request on another connection. See reaction.h. */
#include "fs/client/reaction.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "fs/base/socket.h"
#include "kernel/base/cleanup.h"
#include "kernel/base/clock.h"
#include "kernel/base/lock.h"

#define MS_NS INT64_C(1000000)

/* Not a verb: the loop of the socket answers it, without judging or recording it. */
static const char question[] =
	"{\"cmd\":\"abandon\",\"id\":\"-\",\"payload\":{\"id\":\"-\"},\"v\":1}\n";

bool wfs_reaction(const char *directory, unsigned int wait_ms)
{
	const int64_t until_ns = wfs_clock_monotonic_ns() + wait_ms * MS_NS;
	WFS_AUTO_FD int fd = wfs_socket_connect(directory, wait_ms, NULL);
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	int r;

	if (fd < 0)
		return fd != -ETIMEDOUT;
	if (send(fd, question, strlen(question), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return true;
	do {
		const int64_t left_ns = until_ns - wfs_clock_monotonic_ns();

		r = poll(&ready, 1, left_ns > 0 ? (int)(left_ns / MS_NS) : 0);
	} while (r < 0 && errno == EINTR);
	return r != 0;
}

int wfs_reaction_missed(const char *directory, unsigned int wait_ms, struct wfs_error *error)
{
	const double seconds = wait_ms / 1000.0;
	pid_t pid = 0;

	if (wfs_lock_owner(directory, &pid) < 0 || pid == 0)
		return wfs_error_set(error, WFS_E_TIMEOUT,
			"the process that owns '%s' has not reacted for %g s", directory, seconds);
	return wfs_error_set(error, WFS_E_TIMEOUT,
		"process %d, which owns '%s', has not reacted for %g s: it hangs, was stopped "
		"(kill "
		"-CONT %d lets it go on), or another connection of this user has too many answers "
		"to read",
		(int)pid, directory, seconds, (int)pid);
}
