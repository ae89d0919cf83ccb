/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where are the rows of a world in its data.mdb?
 *
 * find-rows WORLD: prints a line for each row of each table: the table, offset and size of the key,
 * offset and size of the value, checksum included.
 * find-rows WORLD crash: first adds a row about code that crashed, since no code crashes on
 * purpose.
 */
#include <inttypes.h>
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/store/row-name.h"
#include "kernel/store/tables.h"

static void check(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "find-rows: %s\n", what);
	exit(2);
}

static void add_crash(const char *world)
{
	const struct wfs_store_options options = {.read_only = false};
	const struct wfs_code_crash crash = {.code = wfs_hash_of("code", 4),
		.crashes = 1,
		.at_ns = 1,
		.name = wfs_bytes_text("some.lua")};
	struct wfs_error error = {0};
	struct wfs_store *store = NULL;
	struct wfs_txn *txn = NULL;

	check(wfs_store_open(world, &options, &store, &error) == 0, error.message);
	check(wfs_store_write(store, &txn) == 0 && wfs_code_crash_put(txn, &crash) == 0 &&
			wfs_txn_commit(txn) == 0,
		"add a row");
	wfs_store_close(store);
}

/* The address at which LMDB has mapped the file. */
static const char *map_of(const char *path)
{
	FILE *const maps = fopen("/proc/self/maps", "re");
	char *real = realpath(path, NULL);
	const char *map = NULL;
	char *line = NULL;
	size_t size = 0;

	check(maps && real, "read /proc/self/maps");
	while (!map && getline(&line, &size, maps) > 0) {
		const char *const name = strchr(line, '/');

		if (name && strncmp(name, real, strlen(real)) == 0)
			/* NOLINTNEXTLINE(performance-no-int-to-ptr): an address, as text */
			map = (const char *)(uintptr_t)strtoull(line, NULL, 16);
	}
	free(line);
	free(real);
	check(fclose(maps) == 0 && map, "find the map of data.mdb");
	return map;
}

static void list_table(MDB_txn *txn, const char *table, const char *map)
{
	MDB_cursor *cursor = NULL;
	MDB_val key;
	MDB_val value;
	MDB_dbi dbi;

	check(mdb_dbi_open(txn, table, 0, &dbi) == 0 && mdb_cursor_open(txn, dbi, &cursor) == 0,
		table);
	while (mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0)
		printf("%s %td %zu %td %zu\n", table, (const char *)key.mv_data - map, key.mv_size,
			(const char *)value.mv_data - map, value.mv_size);
	mdb_cursor_close(cursor);
}

int main(int argc, char **argv)
{
	static const char *const tables[] = {
#define TABLE_NAME(constant, name) name,
		WFS_TABLES(TABLE_NAME)
#undef TABLE_NAME
	};
	MDB_env *env = NULL;
	MDB_txn *txn = NULL;
	char path[4096];

	check(argc >= 2, "usage: find-rows WORLD [crash]");
	if (argc > 2)
		add_crash(argv[1]);
	check(mdb_env_create(&env) == 0 && mdb_env_set_maxdbs(env, WFS_TABLE_COUNT) == 0 &&
			mdb_env_open(env, argv[1], MDB_RDONLY, 0) == 0 &&
			mdb_txn_begin(env, NULL, MDB_RDONLY, &txn) == 0,
		"open the store");
	snprintf(path, sizeof(path), "%s/data.mdb", argv[1]);
	const char *const map = map_of(path);
	for (size_t i = 0; i < WFS_TABLE_COUNT; i++)
		list_table(txn, tables[i], map);
	mdb_txn_abort(txn);
	mdb_env_close(env);
	return 0;
}
