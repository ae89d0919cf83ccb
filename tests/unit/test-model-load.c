/* SPDX-License-Identifier: Apache-2.0 */
/* Thousands of calls at once: all are under way together, and each takes little memory. */
#include <malloc.h>
#include <sys/resource.h>

#include "tests/fixture/model.h"

enum {
	CALLS = 5000,
	CALL_BYTES_MAX = 64 << 10,
	FILES = CALLS + 1000, /* descriptors */
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { MEMORY_IS_OURS = 0 }; /* a sanitizer needs more */
#else
enum { MEMORY_IS_OURS = 1 };
#endif

struct load {
	struct model_fixture *fixture;
	unsigned int started_count;
	unsigned int done_count;
	unsigned int completion_count;
	size_t waiting_bytes; /* memory when the first call ended; until then all calls waited */
	char body[1024];
};

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

/* Memory that earlier tests freed does not count. */
static size_t resident_bytes_before(void)
{
	malloc_trim(0);
	return resident_bytes();
}

static void on_load_done(void *context, const struct wfs_model_result *result)
{
	struct load *const load = context;

	if (load->done_count == 0)
		load->waiting_bytes = resident_bytes();
	load->done_count++;
	load->completion_count += result->completion != NULL;
}

static void start_one(struct load *load)
{
	const struct wfs_model_request request = {
		.endpoint = &load->fixture->endpoint,
		.body = WFS_BYTES(load->body, sizeof(load->body)),
		.idempotency_key = "k",
		.context = load,
		.done = on_load_done,
	};
	struct wfs_model_call *call = NULL;

	assert_int_equal(wfs_model_call_start(load->fixture->client, &request, &call, NULL), 0);
	load->started_count++;
}

static int setup(void **state)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_max < FILES)
		return -1;
	files.rlim_cur = FILES;
	return setrlimit(RLIMIT_NOFILE, &files) == 0 ? model_fixture_setup(state) : -1;
}

#define UNDER_LOAD(name) \
	TEST_WITH(name, struct model_fixture *fixture, setup, model_fixture_teardown)

/* The server answers no request before it has all of them. */
static struct load run_wave(struct model_fixture *fixture)
{
	struct load load = {.fixture = fixture};

	memset(load.body, 'x', sizeof(load.body));
	model_server_plan(fixture->server, "{'default':{'wait_for':5000}}");
	while (load.started_count < CALLS)
		start_one(&load);
	uv_run(&fixture->loop, UV_RUN_DEFAULT);
	assert_int_equal(load.completion_count, CALLS);
	assert_int_equal(model_server_stat(fixture->server, "waiting_max"), CALLS);
	return load;
}

UNDER_LOAD(five_thousand_calls_wait_at_once)
{
	const size_t before_bytes = resident_bytes_before();

	fixture->endpoint.stream = true;
	const struct load load = run_wave(fixture);
	const size_t call_bytes = (load.waiting_bytes - before_bytes) / CALLS;

	print_message("%zu bytes a call\n", call_bytes);
	if (MEMORY_IS_OURS)
		assert_in_range(call_bytes, 1, CALL_BYTES_MAX);
}

UNDER_LOAD(their_connections_are_used_again)
{
	int first_count;

	run_wave(fixture);
	first_count = model_server_stat(fixture->server, "connections");
	run_wave(fixture);

	/* The other connections are the questions of the test itself. */
	assert_in_range(model_server_stat(fixture->server, "connections") - first_count, 1, 10);
}

/* TLS with a server that does not speak it lasts until the time limit. */
UNDER_LOAD(connections_over_tls_share_what_is_trusted)
{
	struct load load = {.fixture = fixture};
	const size_t before_bytes = resident_bytes_before();
	char url[64];

	model_server_plan(fixture->server, "{}");
	(void)snprintf(url, sizeof(url), "https://127.0.0.1:%d/v1", fixture->server->port);
	fixture->endpoint.base_url = url;
	fixture->endpoint.connect_timeout_ms = 1000;
	fixture->endpoint.attempts = 1;
	while (load.started_count < WFS_MODEL_CONNECTS_MAX)
		start_one(&load);
	uv_run(&fixture->loop, UV_RUN_DEFAULT);
	const size_t call_bytes = (load.waiting_bytes - before_bytes) / WFS_MODEL_CONNECTS_MAX;

	assert_int_equal(load.done_count, WFS_MODEL_CONNECTS_MAX);
	assert_int_equal(load.completion_count, 0);
	print_message("%zu bytes a call\n", call_bytes);
	if (MEMORY_IS_OURS) /* this also counts the shared memory */
		assert_in_range(call_bytes, 1, 2 * CALL_BYTES_MAX);
}

TEST_GROUP(model_group_setup, model_group_teardown)
