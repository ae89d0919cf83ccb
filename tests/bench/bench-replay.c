/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast is a journal folded again, compared with its store alone?
 *
 * Replays a world of EVENTS events; and puts the rows of its store into an empty LMDB environment
 * with replay's settings, not synced either, with as many commits. Prints the rates in records a
 * second and their ratio, medians of RUNS, and the memory of replay after each quarter.
 * Usage: bench-replay WORLD-SOURCE
 */
#include <errno.h>
#include <lmdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench.h"
#include "kernel/base/clock.h"
#include "kernel/base/directory.h"
#include "kernel/check/replay.h"

enum {
	EVENTS = 1000000,
	LINES = 100000,
	KEYS = 1000,
	BATCH = 1000,
	RECORDS_PER_COMMIT = 1000, /* as in replay */
	TABLES_MAX = 16,
	RUNS = 3,
	QUARTERS = 4,
};

static void fill_world(const char *source_directory, const char *directory)
{
	char **lines = bench_events(LINES, KEYS);

	bench_world_create(source_directory, directory);
	struct bench_world world = bench_world_open(directory);
	bench_send(&world, lines, LINES, EVENTS, BATCH);
	bench_world_close(&world);
	bench_events_free(lines, LINES);
}

/* --- replay --- */

struct memory {
	unsigned long kib[QUARTERS];
	size_t quarter;
};

static bool on_progress(void *context, const char *what, uint64_t done, uint64_t total)
{
	struct memory *memory = context;

	(void)what;
	if (memory->quarter < QUARTERS && done * QUARTERS >= total * (memory->quarter + 1))
		memory->kib[memory->quarter++] = bench_rss_anon_kib();
	return true;
}

static double replay_seconds(const char *directory, struct memory *memory)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	struct bench_world world = bench_world_open(directory);
	struct wfs_error error = {0};
	const int64_t start_ns = wfs_clock_monotonic_ns();

	bench_check(
		wfs_replay(world.world, &problems, on_progress, memory, &error), "replay", &error);
	const double seconds = bench_seconds_since(start_ns);
	bench_check(problems.count ? -EIO : 0, "replay found differences", NULL);
	bench_world_close(&world);
	return seconds;
}

/* --- the same rows into LMDB alone --- */

struct rows {
	MDB_cursor *from;
	MDB_dbi to;
	size_t count; /* rows copied so far */
	size_t done;
};

static void check_lmdb(int r)
{
	bench_check(r ? -EIO : 0, mdb_strerror(r), NULL);
}

static MDB_env *open_lmdb(const char *directory, unsigned int flags)
{
	MDB_env *env;

	check_lmdb(mdb_env_create(&env));
	check_lmdb(mdb_env_set_maxdbs(env, TABLES_MAX));
	check_lmdb(mdb_env_set_mapsize(env, UINT64_C(64) << 30));
	check_lmdb(mdb_env_open(env, directory, flags, 0644));
	return env;
}

/* Opens a cursor on each table of @from, and makes a table of its name in @to. */
static size_t open_tables(MDB_txn *from, MDB_txn *to, struct rows tables[static TABLES_MAX])
{
	MDB_dbi names;
	MDB_dbi table;
	MDB_cursor *cursor;
	MDB_val key;
	MDB_stat stat;
	char name[64];
	size_t count = 0;

	check_lmdb(mdb_dbi_open(from, NULL, 0, &names));
	check_lmdb(mdb_cursor_open(from, names, &cursor));
	while (count < TABLES_MAX && mdb_cursor_get(cursor, &key, NULL, MDB_NEXT) == 0) {
		snprintf(name, sizeof(name), "%.*s", (int)key.mv_size, (char *)key.mv_data);
		check_lmdb(mdb_dbi_open(from, name, 0, &table));
		check_lmdb(mdb_stat(from, table, &stat));
		check_lmdb(mdb_cursor_open(from, table, &tables[count].from));
		check_lmdb(mdb_dbi_open(to, name, MDB_CREATE, &tables[count].to));
		tables[count++].count = stat.ms_entries;
	}
	mdb_cursor_close(cursor);
	return count;
}

/* Copies the next rows of a table, until @share of the table is copied. */
static void copy_rows(MDB_txn *to, struct rows *rows, double share)
{
	MDB_val key;
	MDB_val value;

	for (; (double)rows->done < share * (double)rows->count; rows->done++) {
		check_lmdb(mdb_cursor_get(rows->from, &key, &value, MDB_NEXT));
		check_lmdb(mdb_put(to, rows->to, &key, &value, 0));
	}
}

static double lmdb_seconds(const char *world_directory, const char *directory, size_t commits)
{
	struct rows tables[TABLES_MAX] = {0};
	MDB_txn *reading;
	MDB_txn *writing;

	mkdir(directory, 0755);
	MDB_env *from = open_lmdb(world_directory, MDB_RDONLY);
	MDB_env *to = open_lmdb(directory, MDB_NOSYNC);
	check_lmdb(mdb_txn_begin(from, NULL, MDB_RDONLY, &reading));
	check_lmdb(mdb_txn_begin(to, NULL, 0, &writing));
	const size_t count = open_tables(reading, writing, tables);
	check_lmdb(mdb_txn_commit(writing));
	const int64_t start_ns = wfs_clock_monotonic_ns();
	for (size_t commit = 1; commit <= commits; commit++) {
		check_lmdb(mdb_txn_begin(to, NULL, 0, &writing));
		for (size_t i = 0; i < count; i++)
			copy_rows(writing, &tables[i], (double)commit / (double)commits);
		check_lmdb(mdb_txn_commit(writing));
	}
	const double seconds = bench_seconds_since(start_ns);
	mdb_txn_abort(reading);
	mdb_env_close(to);
	mdb_env_close(from);
	wfs_directory_remove(directory);
	return seconds;
}

int main(int argc, char **argv)
{
	char scratch[] = "bench-replay-XXXXXX";
	char world[64];
	char lmdb[64];
	double ours[RUNS];
	double raw[RUNS];
	struct memory memory;

	if (argc != 2) {
		fprintf(stderr, "usage: bench-replay WORLD-SOURCE\n");
		return 2;
	}
	bench_check(mkdtemp(scratch) ? 0 : -errno, "mkdtemp", NULL);
	snprintf(world, sizeof(world), "%s/world", scratch);
	snprintf(lmdb, sizeof(lmdb), "%s/lmdb", scratch);
	setenv("TMPDIR", scratch, 1); /* replay's store must be on this disk, too */
	bench_fill_apart(fill_world, argv[1], world);
	for (size_t run = 0; run < RUNS; run++) {
		memory = (struct memory){0};
		raw[run] = lmdb_seconds(world, lmdb, EVENTS / RECORDS_PER_COMMIT + 1);
		ours[run] = replay_seconds(world, &memory);
	}
	wfs_directory_remove(scratch);

	const double replay_rate = EVENTS / bench_median(ours, RUNS);
	const double raw_rate = EVENTS / bench_median(raw, RUNS);
	printf("replaying %d events\n", EVENTS);
	printf("  %-44s %9.0f records/s\n", "raw LMDB puts of the same rows", raw_rate);
	printf("  %-44s %9.0f records/s  %5.3f x raw\n", "replay", replay_rate,
		replay_rate / raw_rate);
	printf("  memory beyond the map at each quarter: %lu, %lu, %lu, %lu KiB\n", memory.kib[0],
		memory.kib[1], memory.kib[2], memory.kib[3]);
	return 0;
}
