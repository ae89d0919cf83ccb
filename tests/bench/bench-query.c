/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does the cost of a query grow with its answer, or with the world?
 *
 * Fills a world with FEW artifacts and one with MANY, of OWNERS owners. In both, times a page of 20
 * artifacts of one owner; in the large one, times a name_pattern over all artifacts and a plain
 * scan of their cells. Medians of RUNS, in turn.
 * Usage: bench-query WORLD-SOURCE
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "kernel/base/clock.h"
#include "kernel/base/directory.h"
#include "kernel/base/json.h"
#include "kernel/domain/query/query-run.h"
#include "kernel/fold/head.h"
#include "kernel/world/world.h"

enum {
	FEW = 1000,
	MANY = 1000000,
	OWNERS = 10,
	ARTIFACTS_PER_COMMIT = 10000,
	PAGES = 100, /* in one run */
	RUNS = 21,
};

/* --- worlds --- */

static void put_artifact(struct wfs_head *head, size_t reducer_index, size_t number)
{
	struct wfs_buffer document = {0};
	char key[32];
	struct wfs_state state = {.live = true};
	struct wfs_cell cell = {.cell_id = 0};

	cell.key = WFS_BYTES(key, (size_t)snprintf(key, sizeof(key), "artifact-%zu", number));
	wfs_buffer_printf(&document,
		"{\"access\":\"freeware\",\"content_hash\":\"sha256:%064zu\",\"content_size\":100,"
		"\"created_at\":1,\"created_by\":\"owner-%zu\",\"depends_on\":[],"
		"\"executable\":%s,\"id\":\"%s\",\"invoke_price\":1,\"metadata\":{},"
		"\"owner\":\"owner-%zu\",\"read_price\":0,\"type\":\"data\",\"updated_at\":1}\n",
		number, number % OWNERS, number % 3 ? "false" : "true", key, number % OWNERS);
	state.bytes = wfs_buffer_bytes(&document);
	state.hash = wfs_hash_of(document.data, document.size);
	bench_check(wfs_head_set_cell(
			    head, reducer_index, &cell, &state, head->height + 1, head->at_ns),
		"write an artifact", NULL);
	wfs_buffer_done(&document);
}

/* Writes one record as the kernel thread does for a batch of requests, but without folding. */
static void put_artifacts(
	struct wfs_store *store, const struct wfs_manifest *manifest, size_t first, size_t end)
{
	WFS_AUTO_HEAD struct wfs_head head = {0};
	struct wfs_record record = {.kind = WFS_RECORD_ACTION,
		.principal = "bench",
		.body = wfs_bytes_text("{\"action\":{},\"result\":{}}")};
	const size_t reducer_index =
		wfs_manifest_reducer_find(manifest, wfs_builtin_reducer_name(WFS_BUILTIN_ARTIFACT))
			->index;
	struct wfs_txn *txn;

	bench_check(wfs_store_write(store, &txn), "begin", NULL);
	bench_check(wfs_head_load(&head, store, txn, manifest), "load", NULL);
	for (size_t number = first; number < end; number++)
		put_artifact(&head, reducer_index, number);
	record.at_ns = head.at_ns;
	bench_check(wfs_head_append(&head, &record), "append", NULL);
	bench_check(wfs_head_flush(&head, manifest), "flush", NULL);
	bench_check(wfs_txn_commit(txn), "commit", NULL);
}

static void fill_world(const char *source_directory, const char *directory, size_t count)
{
	const struct wfs_store_options options = {0};
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = NULL;
	WFS_AUTO_STORE struct wfs_store *store = NULL;
	struct wfs_error error = {0};

	bench_world_create(source_directory, directory);
	struct bench_world world = bench_world_open(directory);
	manifest = wfs_world_manifest(world.world);
	bench_world_close(&world);
	bench_check(wfs_store_open(directory, &options, &store, &error), "open", &error);
	for (size_t first = 0; first < count; first += ARTIFACTS_PER_COMMIT)
		put_artifacts(store, manifest, first,
			first + ARTIFACTS_PER_COMMIT < count ? first + ARTIFACTS_PER_COMMIT
							     : count);
}

static void fill_few(const char *source_directory, const char *directory)
{
	fill_world(source_directory, directory, FEW);
}

static void fill_many(const char *source_directory, const char *directory)
{
	fill_world(source_directory, directory, MANY);
}

/* --- what is timed --- */

/* Asks, and checks the total in the answer. */
static void ask(struct wfs_world *world, const char *params, json_int_t total)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	WFS_AUTO_JSON json_t *json = NULL;
	WFS_AUTO_JSON json_t *answer = NULL;
	struct wfs_query query;
	struct wfs_error error = {0};

	bench_check(wfs_json_parse(params, strlen(params), &json, &error), "parse", &error);
	bench_check(wfs_query_check("artifacts", json, &query, &error), "check", &error);
	bench_check(wfs_view_open(world, WFS_HEIGHT_HEAD, &view, &error), "open", &error);
	bench_check(wfs_query_run(&view, &query, NULL, NULL, &answer, &error), "run", &error);
	bench_check(json_integer_value(json_object_get(answer, "total")) == total ? 0 : -EIO,
		"another total than there should be", NULL);
}

static double page_seconds(const struct bench_world *world, size_t count)
{
	const int64_t start_ns = wfs_clock_monotonic_ns();

	for (int i = 0; i < PAGES; i++)
		ask(world->world, "{\"owner\":\"owner-7\",\"limit\":20}",
			(json_int_t)(count / OWNERS));
	return bench_seconds_since(start_ns) / PAGES;
}

static double pattern_seconds(const struct bench_world *world)
{
	const int64_t start_ns = wfs_clock_monotonic_ns();

	ask(world->world, "{\"name_pattern\":\"artifact-[0-9]*99$\",\"limit\":20}", MANY / 100);
	return bench_seconds_since(start_ns);
}

/* Reads every cell, and looks at its key. */
static double scan_seconds(const struct bench_world *world)
{
	const int64_t start_ns = wfs_clock_monotonic_ns();
	WFS_AUTO_VIEW struct wfs_view view = {0};
	WFS_AUTO_ENTRY_WALK struct wfs_entry_walk walk = {0};
	struct wfs_reducer reducer;
	struct wfs_entry entry;
	size_t sizes = 0;
	int r = wfs_view_open(world->world, WFS_HEIGHT_HEAD, &view, NULL);

	bench_check(r ? r : wfs_view_builtin(&view, WFS_BUILTIN_ARTIFACT, &reducer), "view", NULL);
	bench_check(wfs_entry_walk_init(&walk, &view, reducer.reducer_id, 0), "walk", NULL);
	while ((r = wfs_entry_walk_next(&walk, &entry)) > 0)
		sizes += entry.key.size;
	bench_check(r < 0 || sizes < MANY ? -EIO : 0, "scan", NULL);
	return bench_seconds_since(start_ns);
}

int main(int argc, char **argv)
{
	char scratch[] = "bench-query-XXXXXX";
	char few[64];
	char many[64];
	double page_of_few[RUNS];
	double page_of_many[RUNS];
	double pattern[RUNS];
	double scan[RUNS];

	if (argc != 2) {
		fprintf(stderr, "usage: bench-query WORLD-SOURCE\n");
		return 2;
	}
	bench_check(mkdtemp(scratch) ? 0 : -errno, "mkdtemp", NULL);
	snprintf(few, sizeof(few), "%s/few", scratch);
	snprintf(many, sizeof(many), "%s/many", scratch);
	bench_fill_apart(fill_few, argv[1], few);
	bench_fill_apart(fill_many, argv[1], many);
	struct bench_world small = bench_world_open(few);
	struct bench_world large = bench_world_open(many);
	(void)scan_seconds(&large); /* once, so that everything is in memory */
	for (size_t run = 0; run < RUNS; run++) {
		page_of_few[run] = page_seconds(&small, FEW);
		page_of_many[run] = page_seconds(&large, MANY);
		scan[run] = scan_seconds(&large);
		pattern[run] = pattern_seconds(&large);
	}
	bench_world_close(&small);
	bench_world_close(&large);
	wfs_directory_remove(scratch);

	const double page = bench_median(page_of_few, RUNS);
	const double page_large = bench_median(page_of_many, RUNS);
	const double plain = bench_median(scan, RUNS);
	const double matched = bench_median(pattern, RUNS);
	printf("queries of %d artifacts\n", MANY);
	printf("  %-44s %9.1f us\n", "page of an owner's 20, of 1000 artifacts", page * 1e6);
	printf("  %-44s %9.1f us  %5.2f x that  (goal: at most 1.2)\n",
		"such a page, of 1000000 artifacts", page_large * 1e6, page_large / page);
	printf("  %-44s %9.1f ms\n", "plain scan of all cells", plain * 1e3);
	printf("  %-44s %9.1f ms  %5.2f x that  (goal: below 2)\n", "name_pattern over all",
		matched * 1e3, matched / plain);
	return 0;
}
