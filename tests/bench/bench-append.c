/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast does a world take events, compared with the store beneath it?
 *
 * Appends EVENTS events through a Lua reducer, many in flight, as a program that has a lot to tell
 * would; and puts the same payloads into a plain LMDB table, so many a transaction, on the same
 * disk. Both are durable. Prints the rates and their ratio, medians of RUNS, for small batches and
 * for large ones.
 * Usage: bench-append WORLD-SOURCE [MOUNT-POINT]: with a mount point, once more with a mount that
 * has looked at every cell.
 */
#include <dirent.h>
#include <lmdb.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "caps/session.h"
#include "fs/data/data.h"
#include "kernel/base/clock.h"
#include "kernel/base/directory.h"
#include "kernel/base/json.h"

enum {
	EVENTS = 100000,
	KEYS = 1000,
	RUNS = 5,
	PAD = 150, /* bytes that make an event about 200 bytes long */
};

static void check(int r, const char *what, const struct wfs_error *error)
{
	if (r >= 0)
		return;
	fprintf(stderr, "bench-append: %s: %s\n", what, error ? error->message : strerror(-r));
	exit(1);
}

static json_t *event_value(size_t i)
{
	char key[32];
	char pad[PAD + 1];

	snprintf(key, sizeof(key), "key-%zu", i % KEYS);
	memset(pad, 'x', PAD);
	pad[PAD] = '\0';
	return json_pack("{s:s,s:i,s:s}", "key", key, "by", 1, "pad", pad);
}

/* --- LMDB alone --- */

static double lmdb_rate(const char *directory, char **lines, size_t batch)
{
	MDB_env *env;
	MDB_dbi table;
	MDB_txn *txn;

	mkdir(directory, 0755);
	check(-mdb_env_create(&env), "lmdb", NULL);
	check(-mdb_env_set_mapsize(env, UINT64_C(4) << 30), "lmdb", NULL);
	check(-mdb_env_open(env, directory, 0, 0644), "lmdb", NULL);
	int64_t start = wfs_clock_monotonic_ns();
	for (size_t i = 0; i < EVENTS;) {
		check(-mdb_txn_begin(env, NULL, 0, &txn), "lmdb", NULL);
		check(-mdb_dbi_open(txn, NULL, 0, &table), "lmdb", NULL);
		for (size_t end = i + batch; i < end; i++) {
			uint64_t seq = __builtin_bswap64(i);
			MDB_val key = {sizeof(seq), &seq};
			MDB_val value = {strlen(lines[i]), lines[i]};

			check(-mdb_put(txn, table, &key, &value, 0), "lmdb", NULL);
		}
		check(-mdb_txn_commit(txn), "lmdb", NULL);
	}
	double seconds = (double)(wfs_clock_monotonic_ns() - start) / 1e9;
	mdb_env_close(env);
	wfs_directory_remove(directory);
	return EVENTS / seconds;
}

/* --- a world --- */

struct flight {
	sem_t room; /* for so many more in flight */
	atomic_size_t failed;
};

static void done(struct wfs_request *request)
{
	struct flight *flight = request->context;

	if (request->result)
		atomic_fetch_add(&flight->failed, 1);
	json_decref((json_t *)(uintptr_t)request->value);
	free(request);
	sem_post(&flight->room);
}

static void flight_wait(struct flight *flight, size_t count)
{
	for (size_t i = 0; i < count; i++)
		sem_wait(&flight->room);
	if (atomic_load(&flight->failed))
		check(-EIO, "events failed", NULL);
}

static void send(const struct wfs_session *session, struct flight *flight, const char *line)
{
	struct wfs_request *request = calloc(1, sizeof(*request));
	struct wfs_error error = {0};
	json_t *value = NULL;

	check(wfs_json_parse(line, strlen(line), &value, &error), "event", &error);
	request->kind = WFS_REQUEST_EVENT;
	request->schema = "test/Add@1";
	request->value = value;
	request->done = done;
	request->context = flight;
	sem_wait(&flight->room);
	check(wfs_session_submit(session, request), "submit", &request->error);
}

/* Twice @batch in flight: one batch is committed while the next one gathers. */
static double send_all(const struct wfs_session *session, char **lines, size_t count, size_t batch)
{
	struct flight flight = {0};

	sem_init(&flight.room, 0, (unsigned int)(2 * batch));
	int64_t start = wfs_clock_monotonic_ns();
	for (size_t i = 0; i < count; i++)
		send(session, &flight, lines[i]);
	flight_wait(&flight, 2 * batch);
	double seconds = (double)(wfs_clock_monotonic_ns() - start) / 1e9;
	sem_destroy(&flight.room);
	return (double)count / seconds;
}

/* Looks every cell up, so that each later change has a name to invalidate. */
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
	const struct wfs_world_options options = {0};
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	WFS_AUTO_SOURCE struct wfs_source source = {0};
	WFS_AUTO_WORLD struct wfs_world *world = NULL;
	WFS_AUTO_SESSION struct wfs_session *session = NULL;
	WFS_AUTO_DATA struct wfs_data *data = NULL;
	struct wfs_error error = {0};

	check(wfs_source_load(source_directory, NULL, &problems, &source), "load",
		&(struct wfs_error){.message = "the world's source has problems"});
	check(wfs_world_create(directory, &source, &options, &problems, &error), "create", &error);
	check(wfs_world_open(directory, &options, &world, &error), "open", &error);
	check(wfs_session_new(world, WFS_PRINCIPAL_OPERATOR, &session, &error), "session", &error);
	send_all(session, lines, KEYS, KEYS); /* every cell exists */
	if (mount) {
		const struct wfs_data_options data_options = {
			.directory = mount, .world_name = "bench", .tree = {.session = session}};

		check(wfs_data_new(&data_options, &data, &error), "mount", &error);
		look_at_cells(mount);
	}
	return send_all(session, lines, EVENTS, batch);
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values)
{
	qsort(values, RUNS, sizeof(*values), compare_doubles);
	return values[RUNS / 2];
}

static void print_row(const char *what, double rate, const char *than, double base, double goal)
{
	printf("  %-44s %9.0f /s", what, rate);
	if (base > 0)
		printf("  %5.3f x %-10s goal >= %.2f %s", rate / base, than, goal,
			rate / base >= goal ? "" : "MISSED");
	printf("\n");
}

/* All rows for one size of batches. @mount may be NULL. */
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
	print_row("raw LMDB puts", median(raw), "", 0, 0);
	print_row("events through a Lua reducer", median(world), "raw", median(raw), 0.12);
	if (mount)
		print_row("the same with a mount attached", median(mounted), "unmounted",
			median(world), 0.80);
}

int main(int argc, char **argv)
{
	char directory[] = "bench-append-XXXXXX";

	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: bench-append WORLD-SOURCE [MOUNT-POINT]\n");
		return 2;
	}
	if (!mkdtemp(directory))
		check(-errno, "mkdtemp", NULL);
	char **lines = calloc(EVENTS, sizeof(*lines));
	for (size_t i = 0; i < EVENTS; i++) {
		json_t *value = event_value(i);

		lines[i] = json_dumps(value, JSON_COMPACT);
		json_decref(value);
	}
	compare(argv[1], directory, argc == 3 ? argv[2] : NULL, lines, 100);
	compare(argv[1], directory, argc == 3 ? argv[2] : NULL, lines, 1000);
	wfs_directory_remove(directory);
	for (size_t i = 0; i < EVENTS; i++)
		free(lines[i]);
	free(lines);
	return 0;
}
