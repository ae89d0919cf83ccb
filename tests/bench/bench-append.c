/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast does a world take events, compared with its store alone?
 *
 * Appends EVENTS events through a Lua reducer, with many under way, as a busy program would; and
 * puts the payloads of these events into a plain LMDB table on the same disk, with as many in a
 * transaction. Both are durable. Prints the rates and their ratio, medians of RUNS, for small
 * batches and for large ones.
 * Usage: bench-append WORLD-SOURCE [MOUNT-POINT]: with a mount point, once more with a mount in
 * which every cell was looked up.
 */
#include <dirent.h>
#include <errno.h>
#include <lmdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench.h"
#include "fs/data/data.h"
#include "kernel/base/clock.h"
#include "kernel/base/directory.h"
#include "mounted.h"

enum {
	EVENTS = 100000,
	KEYS = 1000,
	RUNS = 5,
};

/* --- LMDB alone --- */

static double lmdb_rate(const char *directory, char **lines, size_t batch)
{
	MDB_env *env;
	MDB_dbi table;
	MDB_txn *txn;

	mkdir(directory, 0755);
	bench_check(-mdb_env_create(&env), "lmdb", NULL);
	bench_check(-mdb_env_set_mapsize(env, UINT64_C(4) << 30), "lmdb", NULL);
	bench_check(-mdb_env_open(env, directory, 0, 0644), "lmdb", NULL);
	const int64_t start_ns = wfs_clock_monotonic_ns();
	for (size_t i = 0; i < EVENTS;) {
		bench_check(-mdb_txn_begin(env, NULL, 0, &txn), "lmdb", NULL);
		bench_check(-mdb_dbi_open(txn, NULL, 0, &table), "lmdb", NULL);
		for (size_t end = i + batch; i < end; i++) {
			uint64_t seq = __builtin_bswap64(i);
			MDB_val key = {sizeof(seq), &seq};
			MDB_val value = {strlen(lines[i]), lines[i]};

			bench_check(-mdb_put(txn, table, &key, &value, 0), "lmdb", NULL);
		}
		bench_check(-mdb_txn_commit(txn), "lmdb", NULL);
	}
	const double seconds = bench_seconds_since(start_ns);
	mdb_env_close(env);
	wfs_directory_remove(directory);
	return EVENTS / seconds;
}

/* --- a world --- */

/* Looks up every cell, so that each later change must invalidate a name. */
static void look_at_cells(const char *mount)
{
	char path[4096];
	struct stat st;

	snprintf(path, sizeof(path), "%s/reducers/counter", mount);
	DIR *listing = opendir(path);
	const struct dirent *entry;
	while (listing && (entry = readdir(listing)))
		fstatat(dirfd(listing), entry->d_name, &st, 0);
	if (listing)
		closedir(listing);
}

static double world_rate(const char *source_directory, const char *directory, const char *mount,
	char **lines, size_t batch)
{
	struct wfs_data *data = NULL;

	bench_world_create(source_directory, directory);
	struct bench_world world = bench_world_open(directory);
	bench_send(&world, lines, KEYS, KEYS, KEYS); /* every cell exists */
	if (mount) {
		data = bench_mount(world.session, mount);
		look_at_cells(mount);
	}
	const int64_t start_ns = wfs_clock_monotonic_ns();
	bench_send(&world, lines, EVENTS, EVENTS, batch);
	const double seconds = bench_seconds_since(start_ns);
	wfs_data_free(data);
	bench_world_close(&world);
	return EVENTS / seconds;
}

static void print_row(const char *what, double rate, const char *than, double base, double goal)
{
	printf("  %-44s %9.0f /s", what, rate);
	if (base > 0)
		printf("  %5.3f x %-10s goal >= %.2f %s", rate / base, than, goal,
			rate / base >= goal ? "" : "MISSED");
	printf("\n");
}

/* Prints all rows for one size of batches. @mount may be NULL. */
static void compare(
	const char *source, const char *directory, const char *mount, char **lines, size_t batch)
{
	double raw[RUNS];
	double world[RUNS];
	double mounted[RUNS];
	char path[64];

	for (size_t run = 0; run < RUNS; run++) {
		snprintf(path, sizeof(path), "%s/lmdb", directory);
		raw[run] = lmdb_rate(path, lines, batch);
		snprintf(path, sizeof(path), "%s/world", directory);
		world[run] = world_rate(source, path, NULL, lines, batch);
		wfs_directory_remove(path);
		if (mount)
			mounted[run] = world_rate(source, path, mount, lines, batch);
		wfs_directory_remove(path);
	}
	printf("appending in batches of %zu\n", batch);
	print_row("raw LMDB puts", bench_median(raw, RUNS), "", 0, 0);
	print_row("events through a Lua reducer", bench_median(world, RUNS), "raw",
		bench_median(raw, RUNS), 0.12);
	if (mount)
		print_row("the same with a mount attached", bench_median(mounted, RUNS),
			"unmounted", bench_median(world, RUNS), 0.80);
}

int main(int argc, char **argv)
{
	char directory[] = "bench-append-XXXXXX";

	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: bench-append WORLD-SOURCE [MOUNT-POINT]\n");
		return 2;
	}
	if (!mkdtemp(directory))
		bench_check(-errno, "mkdtemp", NULL);
	char **lines = bench_events(EVENTS, KEYS);
	compare(argv[1], directory, argc == 3 ? argv[2] : NULL, lines, 100);
	compare(argv[1], directory, argc == 3 ? argv[2] : NULL, lines, 1000);
	wfs_directory_remove(directory);
	bench_events_free(lines, EVENTS);
	return 0;
}
