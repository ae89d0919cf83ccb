/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast is code that runs inside of a world? A function that adds two numbers is called by Lua
 * alone; by invocations, many under way, each with a record of its own that is durable before the
 * answer; and by another artifact, NESTED times within one record. Medians of RUNS.
 * Usage: bench-invoke WORLD-SOURCE
 */
#include <lauxlib.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "caps/session-act.h"
#include "kernel/base/clock.h"
#include "kernel/base/directory.h"
#include "kernel/base/json.h"

enum {
	LUA_CALLS = 2000000,
	INVOCATIONS = 20000,
	IN_FLIGHT = 1000,
	NESTED = 1000, /* calls within one record */
	NESTING = 20,  /* records with nested calls */
	RUNS = 5,
};

#define CODE "function run(a, b) return a + b end"

static double lua_rate(void)
{
	lua_State *const L = luaL_newstate();

	bench_check(L && luaL_dostring(L, CODE) == LUA_OK ? 0 : -ENOMEM, "lua", NULL);
	const int64_t start_ns = wfs_clock_monotonic_ns();
	for (int i = 0; i < LUA_CALLS; i++) {
		lua_getglobal(L, "run");
		lua_pushinteger(L, i);
		lua_pushinteger(L, 2);
		bench_check(lua_pcall(L, 2, 1, 0) == LUA_OK ? 0 : -EIO, "lua", NULL);
		lua_settop(L, 0);
	}
	const double seconds = bench_seconds_since(start_ns);
	lua_close(L);
	return LUA_CALLS / seconds;
}

/* --- actions --- */

struct flight {
	sem_t room;
	atomic_size_t failed;
};

static void answered(struct wfs_request *request)
{
	struct flight *const flight = request->context;

	if (request->result)
		atomic_fetch_add(&flight->failed, 1);
	json_decref(request->answer);
	json_decref((json_t *)(uintptr_t)request->action.document);
	free(request);
	sem_post(&flight->room);
}

static void act(const struct bench_world *world, struct flight *flight, const char *text)
{
	struct wfs_request *const request = calloc(1, sizeof(*request));
	struct wfs_error error = {0};
	json_t *action = NULL;

	bench_check(wfs_json_parse(text, strlen(text), &action, &error), "action", &error);
	request->done = answered;
	request->context = flight;
	sem_wait(&flight->room);
	bench_check(wfs_session_act(world->session, action, request), "act", &request->error);
}

/* Submits the action @text @count times, and waits for all answers. Return: seconds. */
static double act_many(const struct bench_world *world, const char *text, size_t count)
{
	struct flight flight = {.failed = 0};
	const int64_t start_ns = wfs_clock_monotonic_ns();

	sem_init(&flight.room, 0, IN_FLIGHT);
	for (size_t i = 0; i < count; i++)
		act(world, &flight, text);
	for (size_t i = 0; i < IN_FLIGHT; i++)
		sem_wait(&flight.room);
	bench_check(flight.failed ? -EIO : 0, text, NULL);
	sem_destroy(&flight.room);
	return bench_seconds_since(start_ns);
}

static void write_codes(const struct bench_world *world)
{
	act_many(world,
		"{\"action_type\":\"write_artifact\",\"artifact_id\":\"add\",\"code\":\"" CODE
		"\"}",
		1);
	act_many(world,
		"{\"action_type\":\"write_artifact\",\"artifact_id\":\"many\",\"code\":"
		"\"function run(n) local s = 0 for i = 1, n do s = s + invoke('add', i, 2).result "
		"end return s end\"}",
		1);
}

static void print_row(const char *what, double rate, double lua)
{
	printf("  %-44s %9.0f /s  %.4f x Lua alone\n", what, rate, rate / lua);
}

int main(int argc, char **argv)
{
	char world_directory[] = "bench-invoke-XXXXXX";
	char nested[128];
	double lua[RUNS];
	double records[RUNS];
	double within[RUNS];
	char path[64];

	if (argc != 2) {
		fprintf(stderr, "usage: bench-invoke WORLD-SOURCE\n");
		return 2;
	}
	bench_check(mkdtemp(world_directory) ? 0 : -errno, "mkdtemp", NULL);
	snprintf(path, sizeof(path), "%s/world", world_directory);
	snprintf(nested, sizeof(nested),
		"{\"action_type\":\"invoke_artifact\",\"artifact_id\":\"many\",\"args\":[%d]}",
		NESTED);
	bench_world_create(argv[1], path);
	struct bench_world world = bench_world_open(path);
	write_codes(&world);
	for (size_t run = 0; run < RUNS; run++) {
		lua[run] = lua_rate();
		records[run] = INVOCATIONS /
			act_many(&world,
				"{\"action_type\":\"invoke_artifact\",\"artifact_id\":\"add\","
				"\"args\":[1,2]}",
				INVOCATIONS);
		within[run] = (double)NESTED * NESTING / act_many(&world, nested, NESTING);
	}
	bench_world_close(&world);
	wfs_directory_remove(world_directory);
	const double base = bench_median(lua, RUNS);
	printf("a function that adds two numbers\n");
	print_row("called by Lua alone", base, base);
	print_row("invoked, a record each", bench_median(records, RUNS), base);
	print_row("invoked by code, 1,000 in a record", bench_median(within, RUNS), base);
	return 0;
}
