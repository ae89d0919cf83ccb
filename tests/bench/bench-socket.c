/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What does judging a request cost? Requests per second that the control socket answers to one
 * client, one after the other and many at once: for the operator, and for a reader whose grants and
 * policy are checked for each request. Medians of RUNS.
 * Usage: bench-socket WORLD-SOURCE
 */
#include <signal.h>
#include <sys/wait.h>

#include "bench.h"
#include "fs/client/client.h"
#include "fs/server/owner.h"
#include "kernel/base/clock.h"
#include "kernel/base/directory.h"
#include "kernel/base/json.h"

enum {
	CELLS = 1000,
	REQUESTS = 50000, /* in one measurement */
	WINDOW = 256,     /* under way, if many are sent at once */
	RUNS = 5,
};

#define READER "reader"

static void fill(const char *source_directory, const char *directory)
{
	char **lines = bench_events(CELLS, CELLS);

	bench_world_create(source_directory, directory);
	struct bench_world world = bench_world_open(directory);
	bench_send(&world, lines, CELLS, CELLS, CELLS);
	bench_world_let(&world, READER, "reducers/counter/*");
	bench_world_close(&world);
	bench_events_free(lines, CELLS);
}

static void take(struct wfs_client *client)
{
	WFS_AUTO_ANSWER struct wfs_answer answer = {.status = 0};
	struct wfs_error error = {0};

	bench_check(wfs_client_take(client, true, &answer, &error), "take", &error);
	bench_check(answer.status, "query-state", &answer.error);
	if (!json_object_get(answer.result, "state_b64"))
		bench_check(-ENOENT, "a state", NULL);
}

/* Return: requests per second. */
static double ask(const char *directory, const char *principal, size_t window)
{
	WFS_AUTO_CLIENT struct wfs_client *client = NULL;
	WFS_AUTO_JSON json_t *payload =
		json_pack("{s:s, s:s}", "reducer", "counter", "key_b64", "a2V5LTA=" /* key-0 */);
	size_t under_way = 0;

	bench_check(wfs_client_new(directory, principal, WFS_CLIENT_WAIT_MS, &client, NULL),
		"connect", NULL);
	const int64_t start = wfs_clock_monotonic_ns();
	for (size_t i = 0; i < REQUESTS; i++) {
		bench_check(wfs_client_post(client, "query-state", payload), "post", NULL);
		if (++under_way == window) {
			take(client);
			under_way--;
		}
	}
	while (under_way-- > 0)
		take(client);
	return REQUESTS / bench_seconds_since(start);
}

static void print_row(const char *what, double *judged, double *whole)
{
	const double a = bench_median(judged, RUNS);
	const double b = bench_median(whole, RUNS);

	printf("%-34s %9.0f /s %9.0f /s %6.2f\n", what, a, b, a / b);
}

int main(int argc, char **argv)
{
	static double judged[2][RUNS];
	static double whole[2][RUNS];
	static const size_t windows[] = {1, WINDOW};
	char world[] = "bench-socket-XXXXXX";
	char directory[4096];
	struct wfs_error error = {0};

	if (argc != 2) {
		fprintf(stderr, "usage: bench-socket WORLD-SOURCE\n");
		return 2;
	}
	bench_check(mkdtemp(world) ? 0 : -errno, "mkdtemp", NULL);
	WFS_AUTO_FREE char *root = realpath(world, NULL);
	snprintf(directory, sizeof(directory), "%s/world", root);
	bench_fill_apart(fill, argv[1], directory);
	const struct wfs_owner_options options = {.directory = directory, .keep = true};
	bench_check(wfs_owner_start(&options, &error), "start an owner", &error);
	for (size_t run = 0; run < RUNS; run++)
		for (size_t i = 0; i < WFS_ARRAY_COUNT(windows); i++) {
			judged[i][run] = ask(directory, READER, windows[i]);
			whole[i][run] = ask(directory, NULL, windows[i]);
		}
	WFS_AUTO_CLIENT struct wfs_client *client = NULL;
	WFS_AUTO_ANSWER struct wfs_answer answer = {.status = 0};
	bench_check(wfs_client_new(directory, NULL, WFS_CLIENT_WAIT_MS, &client, NULL), "connect",
		NULL);
	bench_check(wfs_client_post(client, "shutdown", NULL), "shutdown", NULL);
	bench_check(wfs_client_take(client, true, &answer, &error), "shutdown", &error);
	wfs_directory_remove(world);
	printf("%-34s %12s %12s %6s\n", "query-state over the socket", "judged, `as`", "operator",
		"ratio");
	print_row("one after the other", judged[0], whole[0]);
	print_row("256 at once", judged[1], whole[1]);
	return 0;
}
