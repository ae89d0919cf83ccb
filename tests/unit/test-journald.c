/* SPDX-License-Identifier: Apache-2.0 */
/* Log lines for journald: entries on a real datagram socket, and lines on a redirected stderr. */
#include "tests/fixture/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "kernel/base/journald.h"
#include "kernel/base/log.h"

/* stderr is the file `stream`, as systemd would make it; `receiver` is bound to `address`. */
struct journald {
	int stream, saved_stderr, receiver;
	char directory[32];
	struct sockaddr_un address;
	char name[64]; /* JOURNAL_STREAM */
	char text[8192];
};

static int journald_begin(void **state)
{
	struct journald *journald = calloc(1, sizeof(*journald));
	struct stat status;

	assert_non_null(journald);
	(void)snprintf(journald->directory, sizeof(journald->directory), "/tmp/journald-XXXXXX");
	assert_non_null(mkdtemp(journald->directory));
	journald->address.sun_family = AF_UNIX;
	(void)snprintf(journald->address.sun_path, sizeof(journald->address.sun_path), "%s/socket",
		journald->directory);
	journald->receiver = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	assert_int_equal(bind(journald->receiver, (struct sockaddr *)&journald->address,
				 sizeof(journald->address)),
		0);
	(void)fflush(stderr);
	journald->stream = memfd_create("stream", MFD_CLOEXEC);
	assert_int_equal(fstat(journald->stream, &status), 0);
	(void)snprintf(journald->name, sizeof(journald->name), "%llu:%llu",
		(unsigned long long)status.st_dev, (unsigned long long)status.st_ino);
	journald->saved_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	assert_true(dup2(journald->stream, STDERR_FILENO) >= 0);
	*state = journald;
	return 0;
}

static int journald_end(void **state)
{
	struct journald *journald = *state;

	wfs_log_divert(NULL);
	wfs_journald_height(0);
	dup2(journald->saved_stderr, STDERR_FILENO);
	close(journald->saved_stderr);
	close(journald->stream);
	close(journald->receiver);
	(void)unlink(journald->address.sun_path);
	assert_int_equal(rmdir(journald->directory), 0);
	free(journald);
	return 0;
}

/* Return: the next entry; "" if none was sent. */
static const char *entry(struct journald *journald)
{
	const ssize_t size =
		recv(journald->receiver, journald->text, sizeof(journald->text) - 1, 0);

	journald->text[size < 0 ? 0 : size] = '\0';
	return journald->text;
}

static const char *written(struct journald *journald)
{
	const ssize_t size = pread(journald->stream, journald->text, sizeof(journald->text) - 1, 0);

	assert_true(size >= 0);
	journald->text[size] = '\0';
	return journald->text;
}

#define UNDER_JOURNALD(name) \
	TEST_WITH(name, struct journald *journald, journald_begin, journald_end)

UNDER_JOURNALD(an_entry_has_priority_world_and_message)
{
	assert_int_equal(wfs_journald_setup(journald->name, journald->address.sun_path), 0);
	wfs_journald_world("/var/lib/worldfs/a\nPRIORITY=0");

	wfs_log(WFS_LOG_MOUNT, WFS_LOG_WARNING, "open failed: '%s'", "x\nWORLD=y");

	assert_string_equal(entry(journald),
		"WORLD=/var/lib/worldfs/a?PRIORITY=0\nSYSLOG_IDENTIFIER=worldfs\nPRIORITY=4\n"
		"MESSAGE=warning mount: open failed: 'x?WORLD=y'\n");
	assert_string_equal(written(journald), "");
}

UNDER_JOURNALD(an_entry_has_the_height_and_who_asked)
{
	assert_int_equal(wfs_journald_setup(journald->name, journald->address.sun_path), 0);
	wfs_journald_world("/w");
	wfs_journald_height(41);

	wfs_log_for("alice\nPRIORITY=0", WFS_LOG_SOCKET, WFS_LOG_ERR, "%s", "refused");

	assert_string_equal(entry(journald),
		"WORLD=/w\nHEIGHT=41\nPRINCIPAL=alice?PRIORITY=0\nSYSLOG_IDENTIFIER=worldfs\n"
		"PRIORITY=3\nMESSAGE=err socket: refused\n");
}

UNDER_JOURNALD(without_the_socket_a_line_has_its_priority_before_it)
{
	assert_int_equal(wfs_journald_setup(journald->name, "/nowhere/socket"), 0);

	wfs_log(WFS_LOG_BASE, WFS_LOG_ERR, "lost");

	assert_string_equal(written(journald), "<3>err base: lost\n");
}

UNDER_JOURNALD(a_stderr_that_is_another_file_gets_plain_lines)
{
	assert_int_equal(wfs_journald_setup("1:1", journald->address.sun_path), 0);

	wfs_log(WFS_LOG_BASE, WFS_LOG_ERR, "lost");

	assert_string_equal(written(journald), "err base: lost\n");
	assert_string_equal(entry(journald), "");
}

UNDER_JOURNALD(a_stream_that_is_not_two_numbers_is_refused)
{
	const char *const path = journald->address.sun_path;

	assert_int_equal(wfs_journald_setup("", path), -EINVAL);
	assert_int_equal(wfs_journald_setup("1", path), -EINVAL);
	assert_int_equal(wfs_journald_setup("1:", path), -EINVAL);
	assert_int_equal(wfs_journald_setup("1:2 ", path), -EINVAL);
	assert_int_equal(wfs_journald_setup(NULL, path), 0);
}
