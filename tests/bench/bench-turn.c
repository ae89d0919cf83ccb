/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a turn costs without its model. Many turns of one request run at once, with answers from a
 * script; and turns with tool calls, each an action with a commit of its own. Ten times as many
 * calls should cost ten times as much. Medians of RUNS.
 * Usage: bench-turn WORLD-SOURCE
 */
#include <inttypes.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "agents/driver.h"
#include "bench.h"
#include "caps/session-act.h"
#include "fs/tool/helper.h"
#include "kernel/base/clock.h"
#include "kernel/base/directory.h"
#include "kernel/base/host-file.h"
#include "kernel/base/json.h"
#include "kernel/base/trust.h"
#include "kernel/world/world.h"

enum {
	TURNS = 2000, /* turns at once */
	FEW = 10,     /* tool calls of a turn */
	MANY = 100,
	REPEATED = 5, /* turns with tool calls, one after the other */
	RUNS = 5,
};

#define AGENT                                                                               \
	"{\"action_type\":\"write_artifact\",\"artifact_id\":\"agent\",\"type\":\"agent\"," \
	"\"content\":{\"model\":\"script\",\"system_prompt\":\"You are an agent.\","        \
	"\"tools\":[\"noop\"]}}"

static void write_file(const char *directory, const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	FILE *const file = fopen(path, "we");
	bench_check(file && fputs(text, file) >= 0 && fclose(file) == 0 ? 0 : -EIO, path, NULL);
}

/* Writes answers for the messages `none`, FEW and MANY, and for the outputs of the tools. */
static void write_script(const char *directory)
{
	static const int counts[] = {FEW, MANY};
	WFS_AUTO_BUFFER struct wfs_buffer script = {0};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(counts); i++) {
		wfs_buffer_printf(&script, "{\"last_message\":\"%d\",\"tool_calls\":[", counts[i]);
		for (int call = 0; call < counts[i]; call++)
			wfs_buffer_printf(&script,
				"%s{\"id\":\"c%d\",\"name\":\"noop\",\"arguments\":\"{}\"}",
				call > 0 ? "," : "", call);
		wfs_buffer_append_text(&script, "]}\n");
	}
	wfs_buffer_append_text(&script, "{\"match\":\"\",\"content\":\"done\"}\n");
	write_file(directory, "script.jsonl", wfs_buffer_text(&script));
	write_file(directory, "host.json",
		"{\"models\":{\"script\":{\"provider\":\"script\",\"file\":\"script.jsonl\"}}}");
}

/* Without the user's trust no model of host.json answers. */
static void trust_host(const struct bench_world *world, const char *directory)
{
	WFS_AUTO_JSON json_t *host = NULL;
	struct wfs_hash hash;

	bench_check(wfs_host_file_read(directory, &host, &hash, NULL), "read host.json", NULL);
	bench_check(
		wfs_trust_give(directory, wfs_world_id(world->world), &hash, NULL), "trust", NULL);
}

static void answered(struct wfs_request *request)
{
	sem_post(request->context);
}

static void give(const struct bench_world *world, const char *text,
	int (*send)(const struct wfs_session *, json_t *, struct wfs_request *))
{
	WFS_AUTO_JSON json_t *action = NULL;
	struct wfs_error error = {0};
	sem_t done;

	sem_init(&done, 0, 0);
	struct wfs_request request = {.done = answered, .context = &done};
	bench_check(wfs_json_parse(text, strlen(text), &action, &error), text, &error);
	bench_check(send ? send(world->session, action, &request)
			 : wfs_session_act(world->session, action, &request),
		text, &request.error);
	sem_wait(&done);
	bench_check(request.result, text, &request.error);
	json_decref(request.answer);
	sem_destroy(&done);
}

/* --- runs --- */

static void ended(struct wfs_drive *drive)
{
	json_decref(drive->result);
	drive->result = NULL;
	sem_post(drive->context);
}

static uint64_t height_of(const struct bench_world *world)
{
	struct wfs_world_figures figures;

	wfs_world_figures(world->world, &figures);
	return figures.height;
}

/* Return: seconds for @count turns that begin at once. */
static double run_many(const struct bench_world *world, struct wfs_driver *driver, size_t count,
	const char *message)
{
	WFS_AUTO_JSON json_t *params =
		json_pack("{s:s, s:s}", "agent", "agent", "message", message);
	struct wfs_drive *const drives = calloc(count, sizeof(*drives));
	sem_t done;

	bench_check(params && drives ? 0 : -ENOMEM, "run", NULL);
	wfs_require(drives != NULL);
	sem_init(&done, 0, 0);
	const int64_t start_ns = wfs_clock_monotonic_ns();
	for (size_t i = 0; i < count; i++) {
		drives[i] = (struct wfs_drive){.session = world->session,
			.params = params,
			.done = ended,
			.context = &done};
		driver->begin(driver, &drives[i]);
	}
	for (size_t i = 0; i < count; i++)
		sem_wait(&done);
	const double seconds = bench_seconds_since(start_ns);
	for (size_t i = 0; i < count; i++)
		bench_check(drives[i].status, "run", &drives[i].error);
	free(drives);
	sem_destroy(&done);
	return seconds;
}

static double run_calls(const struct bench_world *world, struct wfs_driver *driver, int count)
{
	char message[16];
	double seconds = 0;

	snprintf(message, sizeof(message), "%d", count);
	for (int i = 0; i < REPEATED; i++)
		seconds += run_many(world, driver, 1, message);
	return seconds / REPEATED;
}

int main(int argc, char **argv)
{
	char directory[] = "bench-turn-XXXXXX";
	struct wfs_driver *driver = NULL;
	struct wfs_error error = {0};
	double turns[RUNS];
	double few[RUNS];
	double many[RUNS];
	char path[64];

	if (argc != 2) {
		fprintf(stderr, "usage: bench-turn WORLD-SOURCE\n");
		return 2;
	}
	bench_check(mkdtemp(directory) ? 0 : -errno, "mkdtemp", NULL);
	snprintf(path, sizeof(path), "%s/world", directory);
	bench_world_create(argv[1], path);
	write_script(path);
	struct bench_world world = bench_world_open(path);
	trust_host(&world, path);
	give(&world, AGENT, NULL);
	give(&world, "{\"cap\":\"sys/llm@1\",\"to\":\"agent\"}", wfs_session_grant);
	give(&world, "{\"cap\":\"sys/act@1\",\"to\":\"agent\"}", wfs_session_grant);
	bench_check(wfs_agents_start(world.authority, &wfs_tool_helpers, false, &driver, &error),
		"drive", &error);
	const uint64_t before = height_of(&world);
	(void)run_many(&world, driver, 1, "none");
	const uint64_t of_turn = height_of(&world) - before;
	(void)run_calls(&world, driver, FEW);
	const uint64_t of_calls = (height_of(&world) - before - of_turn) / REPEATED;
	for (size_t run = 0; run < RUNS; run++) {
		turns[run] = run_many(&world, driver, TURNS, "none") / TURNS;
		few[run] = run_calls(&world, driver, FEW) / FEW;
		many[run] = run_calls(&world, driver, MANY) / MANY;
	}
	driver->free(driver);
	bench_world_close(&world);
	wfs_directory_remove(directory);
	const double call_us = 1e6 * bench_median(few, RUNS);
	const double call_of_many_us = 1e6 * bench_median(many, RUNS);
	printf("a turn without its model\n");
	printf("  %-44s %9.1f us  %" PRIu64 " records\n", "a run of one turn, 2,000 at once",
		1e6 * bench_median(turns, RUNS), of_turn);
	printf("  %-44s %9.1f us  %" PRIu64 " records a run\n",
		"a tool call of 10 in a turn, one by one", call_us, of_calls);
	printf("  %-44s %9.1f us  %.2f x (goal 1.2)\n", "a tool call of 100 in a turn, one by one",
		call_of_many_us, call_of_many_us / call_us);
	return 0;
}
