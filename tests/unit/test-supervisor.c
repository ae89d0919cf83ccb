/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to systemd, read from a real socket. */
#include "tests/fixture/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "fs/base/supervisor.h"

/* NOLINTBEGIN(concurrency-mt-unsafe): the environment of one thread */
TEST(systemd_gets_what_it_is_told)
{
	char directory[] = "/tmp/supervisor-XXXXXX";
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char text[64] = "";
	const int receiver = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_non_null(mkdtemp(directory));
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/notify", directory);
	assert_int_equal(bind(receiver, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(setenv("NOTIFY_SOCKET", address.sun_path, 1), 0);

	wfs_supervisor_tell("READY=1");

	assert_int_equal(recv(receiver, text, sizeof(text) - 1, 0), strlen("READY=1"));
	assert_string_equal(text, "READY=1");
	assert_int_equal(unsetenv("NOTIFY_SOCKET"), 0);
	wfs_supervisor_tell("READY=1");
	assert_int_equal(recv(receiver, text, sizeof(text) - 1, 0), -1);
	close(receiver);
	(void)unlink(address.sun_path);
	assert_int_equal(rmdir(directory), 0);
}

TEST(the_watchdog_is_answered_twice_as_often_as_it_asks)
{
	char pid[16];

	assert_int_equal(wfs_supervisor_pause_ms(), 0);
	assert_int_equal(setenv("NOTIFY_SOCKET", "/nowhere", 1), 0);
	assert_int_equal(wfs_supervisor_pause_ms(), WFS_SUPERVISOR_PAUSE_MS);
	assert_int_equal(setenv("WATCHDOG_USEC", "3000000", 1), 0);
	(void)snprintf(pid, sizeof(pid), "%d", (int)getpid());
	assert_int_equal(setenv("WATCHDOG_PID", pid, 1), 0);

	assert_int_equal(wfs_supervisor_pause_ms(), 1500);

	assert_int_equal(setenv("WATCHDOG_USEC", "60000000", 1), 0);
	assert_int_equal(wfs_supervisor_pause_ms(), WFS_SUPERVISOR_PAUSE_MS);

	assert_int_equal(setenv("WATCHDOG_USEC", "1", 1), 0);
	assert_int_equal(wfs_supervisor_pause_ms(), 1);

	assert_int_equal(setenv("WATCHDOG_PID", "1", 1), 0);
	assert_int_equal(wfs_supervisor_pause_ms(), WFS_SUPERVISOR_PAUSE_MS);
	assert_int_equal(unsetenv("NOTIFY_SOCKET"), 0);
}
/* NOLINTEND(concurrency-mt-unsafe) */
