/* SPDX-License-Identifier: Apache-2.0 */
/* Servers in the sandbox: what they can read, reach and use up. These tests need bubblewrap. */
#include "tests/fixture/outside.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "kernel/base/clock.h"
#include "kernel/base/file.h"

enum { NOBODY = 65534, GONE_S = 6 };

/* No file of this test is in the sandbox, so the server's text is an argument. */
static json_t *make_table(const char *name, bool network)
{
	WFS_AUTO_BUFFER struct wfs_buffer code = {0};
	WFS_AUTO_FD int fd = open(SOURCE_ROOT "/tests/outside/server.py", O_RDONLY | O_CLOEXEC);

	assert_int_equal(wfs_file_read(fd, 1 << 20, &code), 0);
	return json_pack("{s:{s:[s, s, s, s, s], s:b, s:b, s:[s]}}", "s", "command",
		"/usr/bin/python3", "-c", wfs_buffer_text(&code), "--fault", name, "sandbox", 1,
		"network", network, "env", "OUTSIDE_OTHER");
}

static void open_sandbox(struct outside_fixture *fixture, const char *name, bool network)
{
	const struct wfs_outside_callbacks callbacks = {.context = NULL};
	WFS_AUTO_JSON json_t *table = make_table(name, network);
	struct wfs_error error = {.code = WFS_OK};

	if (wfs_outside_new(&fixture->loop, table, &callbacks, &fixture->outside, &error) != 0)
		fail_msg("%s", error.message);
}

/* Processes with @name among their arguments. */
static size_t count_processes(const char *name)
{
	DIR *const processes = opendir("/proc");
	size_t count = 0;

	assert_non_null(processes);
	/* One thread. NOLINTNEXTLINE(concurrency-mt-unsafe) */
	for (const struct dirent *entry; (entry = readdir(processes));) {
		WFS_AUTO_BUFFER struct wfs_buffer text = {0};
		char path[300];

		snprintf(path, sizeof(path), "/proc/%s/cmdline", entry->d_name);
		WFS_AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0 && wfs_file_read(fd, 1 << 20, &text) == 0 &&
			memmem(text.data, text.size, name, strlen(name)))
			count++;
	}
	closedir(processes);
	return count;
}

WITH_CHILD(a_server_in_the_sandbox_works)
{
	open_sandbox(fixture, "", false);

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "echo", "{'text':'in'}");

	outside_expect_text(&outcome, "in");
}

WITH_CHILD(the_system_is_read_only_and_files_of_ours_are_not_there)
{
	WFS_AUTO_BUFFER struct wfs_buffer arguments = {0};
	open_sandbox(fixture, "", false);
	wfs_buffer_printf(&arguments,
		"{'paths':['/usr/bin','/tmp','%s','%s','/home','/root','/run','/var']}",
		fixture->directory, SOURCE_ROOT);

	AUTO_OUTSIDE struct outside_outcome outcome =
		outside_ask(fixture, "look", wfs_buffer_text(&arguments));

	outside_expect_text(&outcome, "r-rw------------");
}

WITH_CHILD(the_sandbox_has_the_named_environment_and_no_descriptor)
{
	open_sandbox(fixture, "", false);

	AUTO_OUTSIDE struct outside_outcome env = outside_ask(fixture, "env", "{}");
	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "descriptors", "{}");

	outside_expect_text(&env,
		"{\"LC_CTYPE\": \"C.UTF-8\", \"OUTSIDE_OTHER\": \"must not be seen\", "
		"\"PWD\": \"/tmp\"}");
	assert_non_null(strstr(wfs_buffer_text(&outcome.text),
		"{\"open\": [0, 1, 2], "
		"\"directory\": \"/tmp\""));
}

static int listen_somewhere(int *ret_port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (const struct sockaddr *)&address, size), 0);
	assert_int_equal(listen(fd, 5), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
	*ret_port = ntohs(address.sin_port);
	return fd;
}

static void expect_connect(struct outside_fixture *fixture, bool network, const char *expected)
{
	WFS_AUTO_BUFFER struct wfs_buffer arguments = {0};
	int port = 0;
	__attribute__((unused)) WFS_AUTO_FD int fd = listen_somewhere(&port);
	open_sandbox(fixture, "", network);
	wfs_buffer_printf(&arguments, "{'port':%d}", port);

	AUTO_OUTSIDE struct outside_outcome outcome =
		outside_ask(fixture, "connect", wfs_buffer_text(&arguments));

	outside_expect_text(&outcome, expected);
}

WITH_CHILD(the_sandbox_has_no_network)
{
	expect_connect(fixture, false, "refused");
}

WITH_CHILD(the_sandbox_can_be_given_the_network)
{
	expect_connect(fixture, true, "connected");
}

WITH_CHILD(memory_in_the_sandbox_has_a_bound)
{
	open_sandbox(fixture, "", false);

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "memory", "{}");

	outside_expect_text(&outcome, "no memory");
}

/* Linux does not count the processes of root. */
static void count_forks_as_nobody(int output)
{
	struct outside_fixture *mine = NULL;
	WFS_AUTO_JSON json_t *table = make_table("", false);
	const struct wfs_outside_callbacks callbacks = {.context = NULL};

	if (geteuid() == 0 &&
		(setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
			setresuid(NOBODY, NOBODY, NOBODY)))
		_exit(1);
	if (outside_child_setup((void **)&mine) ||
		wfs_outside_new(&mine->loop, table, &callbacks, &mine->outside, NULL))
		_exit(1);
	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(mine, "forks", "{}");
	if (outcome.code != WFS_OK)
		(void)dprintf(output, "%s", outcome.message);
	else
		(void)write(output, outcome.text.data, outcome.text.size);
	_exit(outside_teardown((void **)&mine));
}

TEST(processes_in_the_sandbox_have_a_bound)
{
	char text[512] = "";
	int ends[2];
	int status = 0;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	const pid_t child = fork();
	if (child == 0)
		count_forks_as_nobody(ends[1]);
	close(ends[1]);

	(void)read(ends[0], text, sizeof(text) - 1);

	print_message("%s\n", text);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_in_range(strtol(text, NULL, 10), 200, 256);
	close(ends[0]);
}

WITH_CHILD(all_that_was_in_the_sandbox_ends_with_the_client)
{
	const int64_t began = wfs_clock_monotonic_ns();
	open_sandbox(fixture, "ignores_term,of-this-test", false);
	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "fork", "{}");
	assert_true(count_processes("of-this-test") >= 3);

	wfs_outside_free(WFS_STEAL(fixture->outside));

	while (count_processes("of-this-test") > 0) {
		assert_true(wfs_clock_monotonic_ns() - began < (GONE_S + 5) * INT64_C(1000000000));
		outside_run(fixture, 20);
	}
}

WITH_CHILD(without_bubblewrap_the_sandbox_is_refused)
{
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread looks at the environment */
	WFS_AUTO_FREE char *path = strdup(getenv("PATH"));
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread looks at the environment */
	setenv("PATH", "relative:/nowhere", 1);
	open_sandbox(fixture, "", false);

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "echo", "{}");

	/* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread looks at the environment */
	setenv("PATH", path, 1);
	outside_expect_error(&outcome, WFS_E_UNAVAILABLE,
		"'sandbox' needs bubblewrap (bwrap), which is not installed");
	assert_false(outcome.sent);
}
