/* SPDX-License-Identifier: Apache-2.0 */
/* A thousand calls that wait for servers at once: each takes little memory, and none a thread. All
 * of them can be cancelled at once. */
#include <dirent.h>
#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>

#include "tests/fixture/outside.h"

enum {
	SERVERS = 4,
	CALLS = 1000,
	CALL_BYTES_MAX = 64 << 10,
	ARGUMENT_BYTES = 1000,
	FILES = 2 * CALLS + 500, /* descriptors; a message that cancels has a connection, too */
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { MEMORY_IS_OURS = 0 }; /* a sanitizer needs more */
#else
enum { MEMORY_IS_OURS = 1 };
#endif

static size_t resident_bytes(void)
{
	WFS_AUTO_FILE FILE *file = fopen("/proc/self/statm", "re");
	char line[128];
	char *end = NULL;

	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	(void)strtoul(line, &end, 10);
	return strtoul(end, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
}

static size_t thread_count(void)
{
	DIR *const directory = opendir("/proc/self/task");
	size_t count = 0;

	assert_non_null(directory);
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): the directory is this function's */
	while (readdir(directory))
		count++;
	(void)closedir(directory);
	return count;
}

static void allow_files(void)
{
	struct rlimit files;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
	assert_true(files.rlim_max >= FILES);
	files.rlim_cur = FILES;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
}

/* Opens a client of four servers, or of one that has four names. @concurrency: of each */
static void open_servers(struct outside_fixture *fixture, int concurrency)
{
	WFS_AUTO_JSON json_t *one = NULL;
	WFS_AUTO_JSON json_t *tools = json_object();
	WFS_AUTO_BUFFER struct wfs_buffer more = {0};
	const struct wfs_outside_callbacks callbacks = {.context = NULL};

	allow_files();
	wfs_buffer_printf(&more, ",'concurrency':%d", concurrency);
	one = outside_table(fixture, "", wfs_buffer_text(&more));
	for (int i = 0; i < SERVERS; i++) {
		const char name[] = {(char)('a' + i), '\0'};

		json_object_set(tools, name, json_object_get(one, "s"));
	}
	assert_int_equal(
		wfs_outside_new(&fixture->loop, tools, &callbacks, &fixture->outside, NULL), 0);
	assert_int_equal(outside_listed(fixture).state, WFS_OUTSIDE_READY);
}

struct load {
	struct wfs_outside_call *calls[CALLS];
	size_t done_count;
	size_t cancelled_count;
};

static void on_done(void *context, const struct wfs_outside_result *result)
{
	struct load *const load = context;

	load->done_count++;
	load->cancelled_count += result->code == WFS_E_CANCELLED;
	if (result->code != WFS_E_CANCELLED)
		print_message("a call has ended: %s\n", result->message);
}

static void start_calls(struct outside_fixture *fixture, struct load *load)
{
	char text[ARGUMENT_BYTES + 1];

	memset(text, 'x', ARGUMENT_BYTES);
	text[ARGUMENT_BYTES] = '\0';
	WFS_AUTO_JSON json_t *arguments = json_pack("{s:s}", "text", text);
	for (int i = 0; i < CALLS; i++) {
		const char name[] = {(char)('a' + i % SERVERS), '\0'};
		const struct wfs_outside_request request = {.server = name,
			.tool = "hang",
			.arguments = arguments,
			.intent_id = "7",
			.context = load,
			.done = on_done};

		assert_int_equal(
			wfs_outside_call_start(fixture->outside, &request, &load->calls[i], NULL),
			0);
	}
}

static void expect_little(struct outside_fixture *fixture, int concurrency)
{
	struct load load = {.done_count = 0};

	open_servers(fixture, concurrency);
	(void)malloc_trim(0);
	const size_t before_bytes = resident_bytes();
	const size_t before_threads = thread_count();

	start_calls(fixture, &load);
	while (outside_log_count(fixture, "tools/call") < (size_t)concurrency * SERVERS) {
		(void)malloc_trim(0); /* what reading the log took */
		outside_run(fixture, 100);
	}

	(void)malloc_trim(0);
	const size_t call_bytes = (resident_bytes() - before_bytes) / CALLS;
	print_message("%zu bytes a call\n", call_bytes);
	if (MEMORY_IS_OURS)
		assert_in_range(call_bytes, 1, CALL_BYTES_MAX);
	assert_int_equal(thread_count(), before_threads);
	assert_int_equal(load.done_count, 0);
}

WITH_BOTH(a_thousand_calls_that_servers_work_on)
{
	expect_little(fixture, CALLS / SERVERS);
}

WITH_BOTH(a_thousand_calls_that_wait_for_their_turn)
{
	expect_little(fixture, 1);
}

WITH_BOTH(a_thousand_calls_are_cancelled_at_once)
{
	struct load load = {.done_count = 0};
	struct wfs_outside_server server;

	open_servers(fixture, CALLS / SERVERS);
	start_calls(fixture, &load);
	while (outside_log_count(fixture, "tools/call") < CALLS)
		outside_run(fixture, 100);

	for (size_t i = 0; i < CALLS; i++)
		wfs_outside_call_cancel(load.calls[i]);
	while (outside_log_count(fixture, "notifications/cancelled") < CALLS)
		outside_run(fixture, 100);

	assert_int_equal(load.cancelled_count, CALLS);
	for (size_t i = 0; i < SERVERS; i++) {
		wfs_outside_server(fixture->outside, i, &server);
		assert_int_equal(server.state, WFS_OUTSIDE_READY);
	}
}
