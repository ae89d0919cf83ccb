/* SPDX-License-Identifier: Apache-2.0 */
/* What the benchmarks share. */
#include "bench.h"

#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "caps/authority.h"
#include "caps/session-act.h"
#include "caps/session.h"
#include "kernel/base/clock.h"
#include "kernel/base/json.h"
#include "kernel/manifest/manifest.h"
#include "kernel/manifest/source.h"
#include "kernel/world/world.h"

enum { PAD_SIZE = 150 }; /* bytes that bring an event to about 200 bytes */

void bench_check(int r, const char *what, const struct wfs_error *error)
{
	if (r >= 0)
		return;
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what,
		error ? error->message : strerror(-r));
	exit(1);
}

/* --- figures --- */

double bench_seconds_since(int64_t start_ns)
{
	return (double)(wfs_clock_monotonic_ns() - start_ns) / 1e9;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

double bench_median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare_doubles);
	return values[count / 2];
}

unsigned long bench_rss_anon_kib(void)
{
	char line[128];
	unsigned long kib = 0;
	WFS_AUTO_FILE FILE *status = fopen("/proc/self/status", "re");

	while (status && fgets(line, sizeof(line), status))
		if (strncmp(line, "RssAnon:", 8) == 0)
			kib = strtoul(line + 8, NULL, 10);
	return kib;
}

/* --- worlds --- */

void bench_world_create(const char *source_directory, const char *directory)
{
	const struct wfs_world_options options = {0};
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	WFS_AUTO_SOURCE struct wfs_source source = {0};
	struct wfs_error error = {0};

	bench_check(wfs_source_load(source_directory, NULL, &problems, &source), "load",
		&(struct wfs_error){.message = "the world's source has problems"});
	bench_check(wfs_world_create(directory, &source, &options, &problems, &error), "create",
		&error);
}

void bench_fill_apart(void (*fill)(const char *source_directory, const char *directory),
	const char *source_directory, const char *directory)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		fill(source_directory, directory);
		_exit(0);
	}
	bench_check(waitpid(child, &status, 0) == child && status == 0 ? 0 : -EIO, "fill", NULL);
}

struct bench_world bench_world_open(const char *directory)
{
	const struct wfs_world_options options = {0};
	struct bench_world world = {0};
	struct wfs_error error = {0};

	bench_check(wfs_world_open(directory, &options, &world.world, &error), "open", &error);
	bench_check(wfs_authority_new(world.world, &world.authority, &error), "grants", &error);
	bench_check(
		wfs_session_new(world.authority, WFS_PRINCIPAL_OPERATOR, &world.session, &error),
		"session", &error);
	return world;
}

static void answered(struct wfs_request *request)
{
	sem_post(request->context);
}

/* Waits for a change whose submission returned @r; frees the parts of its request. */
static void wait_for_change(struct wfs_request *request, int r, json_t *action, const char *what)
{
	if (!r) {
		while (sem_wait(request->context) != 0)
			;
		r = request->result;
	}
	bench_check(r, what, &request->error);
	sem_destroy(request->context);
	json_decref(request->answer);
	json_decref(action);
}

void bench_world_let(const struct bench_world *world, const char *id, const char *scope)
{
	json_t *principal = json_pack("{s:s}", "id", id);
	json_t *grant = json_pack(
		"{s:s, s:s, s:{s:[s]}}", "to", id, "cap", "sys/query@1", "params", "scope", scope);
	sem_t done;
	struct wfs_request add = {.done = answered, .context = &done};
	struct wfs_request give = {.done = answered, .context = &done};

	sem_init(&done, 0, 0);
	wait_for_change(&add, wfs_session_add_principal(world->session, principal, &add), principal,
		"add a principal");
	sem_init(&done, 0, 0);
	wait_for_change(&give, wfs_session_grant(world->session, grant, &give), grant, "grant");
}

void bench_world_close(struct bench_world *world)
{
	wfs_session_free(world->session);
	wfs_authority_free(world->authority);
	wfs_world_close(world->world);
}

/* --- events --- */

struct flight {
	sem_t room; /* lets the next requests be sent */
	atomic_size_t failed;
};

static void done(struct wfs_request *request)
{
	struct flight *flight = request->context;

	if (request->result)
		atomic_fetch_add(&flight->failed, 1);
	json_decref((json_t *)(uintptr_t)request->event.value);
	free(request);
	sem_post(&flight->room);
}

static void send(const struct wfs_session *session, struct flight *flight, const char *line)
{
	struct wfs_request *request = calloc(1, sizeof(*request));
	struct wfs_error error = {0};
	json_t *value = NULL;

	bench_check(wfs_json_parse(line, strlen(line), &value, &error), "event", &error);
	request->kind = WFS_REQUEST_EVENT;
	request->event.schema = "test/Add@1";
	request->event.value = value;
	request->done = done;
	request->context = flight;
	sem_wait(&flight->room);
	bench_check(wfs_session_submit(session, request), "submit", &request->error);
}

void bench_send(const struct bench_world *world, char *const *lines, size_t line_count,
	size_t count, size_t batch)
{
	struct flight flight = {0};

	sem_init(&flight.room, 0, (unsigned int)(2 * batch));
	for (size_t i = 0; i < count; i++)
		send(world->session, &flight, lines[i % line_count]);
	for (size_t i = 0; i < 2 * batch; i++)
		sem_wait(&flight.room);
	sem_destroy(&flight.room);
	bench_check(atomic_load(&flight.failed) ? -EIO : 0, "events failed", NULL);
}

char *bench_event(const char *key, const char *pad)
{
	char *line = NULL;

	bench_check(asprintf(&line, "{\"key\":\"%s\",\"by\":1,\"pad\":\"%s\"}", key, pad) < 0
			? -ENOMEM
			: 0,
		"event", NULL);
	return line;
}

char **bench_events(size_t count, size_t keys)
{
	char **lines = calloc(count, sizeof(*lines));
	char pad[PAD_SIZE + 1];
	char key[32];

	memset(pad, 'x', PAD_SIZE);
	pad[PAD_SIZE] = '\0';
	for (size_t i = 0; i < count; i++) {
		snprintf(key, sizeof(key), "key-%zu", i % keys);
		lines[i] = bench_event(key, pad);
	}
	return lines;
}

void bench_events_free(char **lines, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(lines[i]);
	free(lines);
}
