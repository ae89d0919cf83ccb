/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What does it cost to remember something, when much is remembered already?
 *
 * For larger and larger stores: the bytes in the journal and the bytes of versions of one more
 * entry, and the time of adding an entry and of searching for five. Each request goes through the
 * whole kernel, and is durable before its answer. Medians of RUNS. The bytes must not grow; a
 * search looks at all entries.
 * Usage: bench-memory WORLD-SOURCE [ENTRIES], where ENTRIES is the size of the last store
 */
#include <inttypes.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "kernel/base/clock.h"
#include "kernel/base/directory.h"
#include "kernel/base/json.h"
#include "kernel/manifest/manifest.h"
#include "kernel/manifest/source.h"
#include "kernel/read/view.h"
#include "kernel/world/world.h"

enum {
	RUNS = 21,
	TEXT_SIZE = 7 * 8, /* eight words of six letters */
	IN_FLIGHT = 500,
	ENTRIES = 10000, /* in the last store, by default */
};

#define OWNER "rich"

static uint64_t random_state = 88172645463325252U;

/* xorshift64 (Marsaglia, 2003). */
static uint64_t random_number(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Makes texts that all differ. */
static void random_text(char text[static TEXT_SIZE])
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz";

	for (size_t i = 0; i < TEXT_SIZE; i++)
		text[i] = letters[random_number() % (sizeof(letters) - 1)];
	for (size_t i = 6; i < TEXT_SIZE; i += 7)
		text[i] = ' ';
	text[TEXT_SIZE - 1] = '\0';
}

/* --- actions --- */

static json_t *invocation(const char *service, json_t *args)
{
	return json_pack("{s:s, s:s, s:o}", "action_type", "invoke_artifact", "artifact_id",
		service, "args", args);
}

static json_t *addition(const char *store)
{
	char text[TEXT_SIZE];

	random_text(text);
	return invocation("genesis_memory_add", json_pack("[s, s]", store, text));
}

static json_t *search(const char *store)
{
	char text[TEXT_SIZE];

	random_text(text);
	return invocation("genesis_memory_search", json_pack("[s, s]", store, text));
}

/* @action: taken. Return: milliseconds. */
static double act(struct wfs_world *world, const char *principal, json_t *action)
{
	struct wfs_request request = {
		.kind = WFS_REQUEST_ACTION, .principal = principal, .action.document = action};
	const int64_t start_ns = wfs_clock_monotonic_ns();
	int r = wfs_world_call(world, &request);
	const double seconds = bench_seconds_since(start_ns);

	bench_check(r, "act", &request.error);
	json_decref(request.answer);
	json_decref(action);
	return seconds * 1e3;
}

/* --- many at once --- */

static void answered(struct wfs_request *request)
{
	sem_t *const room = request->context;

	bench_check(request->result, "add", &request->error);
	json_decref(request->answer);
	json_decref((json_t *)(uintptr_t)request->action.document);
	free(request);
	sem_post(room);
}

/* @action: taken */
static void submit(struct wfs_world *world, json_t *action, sem_t *room)
{
	struct wfs_request *const request = calloc(1, sizeof(*request));

	if (!request)
		abort();
	*request = (struct wfs_request){.kind = WFS_REQUEST_ACTION,
		.principal = OWNER,
		.action.document = action,
		.done = answered,
		.context = room};
	sem_wait(room);
	bench_check(wfs_world_submit(world, request), "submit", &request->error);
}

static void fill(struct wfs_world *world, const char *store, size_t count)
{
	sem_t room;

	sem_init(&room, 0, IN_FLIGHT);
	for (size_t i = 0; i < count; i++)
		submit(world, addition(store), &room);
	for (size_t i = 0; i < IN_FLIGHT; i++)
		sem_wait(&room);
	sem_destroy(&room);
}

/* --- bytes --- */

/* Plain value. */
struct bytes {
	uint64_t height;
	uint64_t vid;
	double journal;  /* of the last record */
	double versions; /* of the versions that it wrote */
};

/* Counts the bytes that the last record added. @bytes: the counts before it */
static void count_bytes(struct wfs_world *world, struct bytes *bytes)
{
	struct wfs_error error = {0};
	WFS_AUTO_VIEW struct wfs_view view;
	struct wfs_version version = {.vid = bytes->vid};
	struct wfs_bytes line;

	bench_check(wfs_view_open(world, WFS_HEIGHT_HEAD, &view, &error), "view", &error);
	bytes->height = view.height;
	bench_check(wfs_view_record(&view, view.height - 1, &line), "record", NULL);
	bytes->journal = (double)line.size;
	bytes->versions = 0;
	while (bytes->vid > 0 && wfs_version_next(view.txn, version.vid, &version) == 0)
		bytes->versions += (double)version.size_bytes;
	bench_check(wfs_version_last(view.txn, &bytes->vid), "version", NULL);
}

/* --- one store --- */

static void print_row(struct wfs_world *world, const char *store, size_t count)
{
	struct bytes bytes = {.vid = 0};
	double journal[RUNS];
	double versions[RUNS];
	double add_ms[RUNS];
	double search_ms[RUNS];

	for (size_t i = 0; i < RUNS; i++) {
		search_ms[i] = act(world, OWNER, search(store));
		count_bytes(world, &bytes);
		add_ms[i] = act(world, OWNER, addition(store));
		count_bytes(world, &bytes);
		journal[i] = bytes.journal;
		versions[i] = bytes.versions;
	}
	printf("  %8zu entries %8.0f bytes in the journal %8.0f of versions %9.2f ms to add %9.2f "
	       "ms "
	       "to search\n",
		count, bench_median(journal, RUNS), bench_median(versions, RUNS),
		bench_median(add_ms, RUNS), bench_median(search_ms, RUNS));
}

static void measure(struct wfs_world *world, size_t count)
{
	char store[32];

	snprintf(store, sizeof(store), "store-%zu", count);
	act(world, OWNER,
		json_pack("{s:s, s:s, s:s, s:{s:{s:i}}}", "action_type", "write_artifact",
			"artifact_id", store, "type", "memory_store", "content", "config",
			"max_entries", 100000));
	fill(world, store, count);
	print_row(world, store, count);
}

/* --- the world --- */

static void create(const char *source_directory, const char *directory)
{
	const struct wfs_world_options options = {0};
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	WFS_AUTO_SOURCE struct wfs_source source = {0};
	struct wfs_error error = {0};

	bench_check(wfs_source_load(source_directory, NULL, &problems, &source), "load",
		&(struct wfs_error){.message = "the world's source has problems"});
	source.genesis = true;
	bench_check(wfs_world_create(directory, &source, &options, &problems, &error), "create",
		&error);
}

int main(int argc, char **argv)
{
	const size_t last = argc == 3 ? strtoul(argv[2], NULL, 10) : ENTRIES;
	const struct wfs_world_options options = {0};
	char directory[] = "bench-memory-XXXXXX";
	struct wfs_world *world = NULL;
	struct wfs_error error = {0};
	char path[64];

	if (argc < 2 || argc > 3 || last == 0) {
		fprintf(stderr, "usage: bench-memory WORLD-SOURCE [ENTRIES]\n");
		return 2;
	}
	bench_check(mkdtemp(directory) ? 0 : -errno, "mkdtemp", NULL);
	snprintf(path, sizeof(path), "%s/world", directory);
	create(argv[1], path);
	bench_check(wfs_world_open(path, &options, &world, &error), "open", &error);
	act(world, WFS_PRINCIPAL_OPERATOR,
		json_pack("{s:s, s:s, s:i}", "action_type", "principal", "id", OWNER, "scrip",
			10000000));
	act(world, WFS_PRINCIPAL_OPERATOR,
		json_pack("{s:s, s:s, s:s, s:{}}", "action_type", "grant", "to", OWNER, "cap",
			"sys/act@1", "params"));
	printf("one more entry of a memory store\n");
	measure(world, 10);
	measure(world, 1000);
	measure(world, last);
	wfs_world_close(world);
	wfs_directory_remove(directory);
	return 0;
}
