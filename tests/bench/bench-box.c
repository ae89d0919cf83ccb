/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the box costs: events through a reducer of one line, IN_FLIGHT at once, and one invocation
 * alone, after a pause. Prints figures for a program to read: box-figures builds this file also
 * with the version of the program before the box, so it uses nothing newer.
 * Usage: bench-box WORLD-SOURCE
 */
#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "caps/session-act.h"
#include "kernel/base/clock.h"
#include "kernel/base/directory.h"
#include "kernel/base/json.h"

enum {
	EVENTS = 100000,
	KEYS = 1000,
	IN_FLIGHT = 1000,
	ALONE = 1500,
	PAUSE_NS = 2 * 1000 * 1000,
};

struct alone {
	sem_t done;
	int64_t end_ns;
	int result;
};

static void answered(struct wfs_request *request)
{
	struct alone *const alone = request->context;

	alone->end_ns = wfs_clock_monotonic_ns();
	alone->result = request->result;
	sem_post(&alone->done);
}

/* Return: microseconds until the answer. */
static double act(const struct bench_world *world, const char *text)
{
	struct alone alone = {.result = 0};
	struct wfs_request *const request = calloc(1, sizeof(*request));
	struct wfs_error error = {0};
	json_t *action = NULL;

	if (!request)
		abort();
	bench_check(wfs_json_parse(text, strlen(text), &action, &error), "action", &error);
	sem_init(&alone.done, 0, 0);
	request->done = answered;
	request->context = &alone;
	const int64_t start = wfs_clock_monotonic_ns();
	bench_check(wfs_session_act(world->session, action, request), "act", &request->error);
	while (sem_wait(&alone.done) != 0)
		continue;
	bench_check(alone.result, text, &request->error);
	json_decref(request->answer);
	json_decref(action);
	free(request);
	sem_destroy(&alone.done);
	return (double)(alone.end_ns - start) / 1000;
}

static double invocation_us(const struct bench_world *world)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	static double taken[ALONE];

	act(world,
		"{\"action_type\":\"write_artifact\",\"artifact_id\":\"add\",\"code\":"
		"\"function run(a, b) return a + b end\"}");
	for (size_t i = 0; i < ALONE; i++) {
		(void)nanosleep(&pause, NULL);
		taken[i] = act(world,
			"{\"action_type\":\"invoke_artifact\",\"artifact_id\":\"add\",\"args\":[1,"
			"2]}");
	}
	return bench_median(taken, ALONE);
}

int main(int argc, char **argv)
{
	char directory[] = "bench-box-XXXXXX";
	char path[64];

	if (argc != 2) {
		fprintf(stderr, "usage: bench-box WORLD-SOURCE\n");
		return 2;
	}
	bench_check(mkdtemp(directory) ? 0 : -errno, "mkdtemp", NULL);
	snprintf(path, sizeof(path), "%s/world", directory);
	bench_world_create(argv[1], path);
	struct bench_world world = bench_world_open(path);
	char **lines = bench_events(EVENTS, KEYS);

	bench_send(&world, lines, KEYS, KEYS, IN_FLIGHT / 2); /* every cell exists */
	const int64_t start = wfs_clock_monotonic_ns();
	bench_send(&world, lines, EVENTS, EVENTS, IN_FLIGHT / 2); /* twice as many are waiting */
	printf("events_per_second %.0f\n", EVENTS / bench_seconds_since(start));
	printf("invocation_us %.1f\n", invocation_us(&world));
	bench_events_free(lines, EVENTS);
	bench_world_close(&world);
	wfs_directory_remove(directory);
	return 0;
}
