/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Damage to a store that the tables' own functions refuse to do: rows of a closed world are
 * changed or deleted beneath them.
 */
#pragma once

#include "tests/unit/world-fixture.h"

#include <endian.h>
#include <lmdb.h>

#include "kernel/fold/head.h"
#include "kernel/store/store-impl.h"

static inline enum wfs_table tamper_table(const char *name)
{
	static const char *const names[] = {
#define TAMPER_NAME(constant, table_name) table_name,
		WFS_TABLES(TAMPER_NAME)
#undef TAMPER_NAME
	};

	for (size_t i = 0; i < WFS_TABLE_COUNT; i++)
		if (strcmp(names[i], name) == 0)
			return (enum wfs_table)i;
	fail_msg("no table '%s'", name);
	return WFS_TABLE_COUNT;
}

/* Changes the first @from in the row's value to @to; an empty @from deletes the row. The row's
 * checksum is made to fit: what is tested is what else tells. */
static inline void tamper(struct world_fixture *fixture, const char *table, struct wfs_bytes key,
	struct wfs_bytes from, struct wfs_bytes to)
{
	WFS_AUTO_BUFFER struct wfs_buffer value = {0};
	MDB_val k = {.mv_size = key.size, .mv_data = (void *)(uintptr_t)key.data};
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi dbi;
	MDB_val v;

	world_fixture_close(fixture);
	assert_int_equal(mdb_env_create(&env), 0);
	assert_int_equal(mdb_env_set_maxdbs(env, 32), 0);
	assert_int_equal(mdb_env_set_mapsize(env, UINT64_C(1) << 30), 0);
	assert_int_equal(mdb_env_open(env, fixture->directory, 0, 0644), 0);
	assert_int_equal(mdb_txn_begin(env, NULL, 0, &txn), 0);
	assert_int_equal(mdb_dbi_open(txn, table, 0, &dbi), 0);
	assert_int_equal(mdb_get(txn, dbi, &k, &v), 0);
	if (from.size) {
		const char *data = v.mv_data;
		const char *found = memmem(data, v.mv_size, from.data, from.size);

		assert_non_null(found);
		wfs_buffer_append(&value, data, (size_t)(found - data));
		wfs_buffer_append(&value, to.data, to.size);
		found += from.size;
		wfs_buffer_append(
			&value, found, (size_t)(data + v.mv_size - WFS_SEAL_SIZE - found));
		uint8_t seal[WFS_SEAL_SIZE];
		wfs_row_seal(tamper_table(table), key, wfs_buffer_bytes(&value), seal);
		wfs_buffer_append(&value, seal, sizeof(seal));
		v = (MDB_val){.mv_size = value.size, .mv_data = value.data};
		assert_int_equal(mdb_put(txn, dbi, &k, &v, 0), 0);
	} else {
		assert_int_equal(mdb_del(txn, dbi, &k, NULL), 0);
	}
	assert_int_equal(mdb_txn_commit(txn), 0);
	mdb_env_close(env);
}

/* The same for tables whose key is a number; @from NULL: deletes the row. */
static inline void tamper_number(struct world_fixture *fixture, const char *table, uint64_t number,
	const char *from, const char *to)
{
	uint64_t key = htobe64(number);

	tamper(fixture, table, WFS_BYTES(&key, sizeof(key)), wfs_bytes_text(from ? from : ""),
		wfs_bytes_text(to ? to : ""));
}

/* Gives a version other bytes and their hash: only folding again can tell. */
static inline void tamper_version(
	struct world_fixture *fixture, uint64_t vid, const char *from, const char *to)
{
	const struct wfs_hash before = wfs_hash_of(from, strlen(from));
	const struct wfs_hash after = wfs_hash_of(to, strlen(to));
	uint64_t key = htobe64(vid);

	tamper_number(fixture, "version", vid, from, to);
	tamper(fixture, "version", WFS_BYTES(&key, sizeof(key)),
		WFS_BYTES(before.bytes, WFS_HASH_SIZE), WFS_BYTES(after.bytes, WFS_HASH_SIZE));
}

/* Changes a closed world's store through the tables' own functions. */
static inline void tamper_rows(struct world_fixture *fixture,
	void (*change)(struct wfs_txn *txn, void *context), void *context)
{
	const struct wfs_store_options options = {0};
	WFS_AUTO_STORE struct wfs_store *store = NULL;
	struct wfs_txn *txn;

	world_fixture_close(fixture);
	assert_int_equal(wfs_store_open(fixture->directory, &options, &store, NULL), 0);
	assert_int_equal(wfs_store_write(store, &txn), 0);
	change(txn, context);
	assert_int_equal(wfs_txn_commit(txn), 0);
}

static inline void put_head_hash(struct wfs_txn *txn, void *context)
{
	struct wfs_bytes line;
	uint64_t height;
	uint64_t offset;

	(void)context;
	assert_int_equal(wfs_journal_height(txn, &height), 0);
	assert_int_equal(wfs_journal_get(txn, height - 1, &offset, &line), 0);
	const struct wfs_hash hash = wfs_hash_of(line.data, line.size);
	assert_int_equal(
		wfs_meta_put(txn, WFS_META_HEAD_HASH, WFS_BYTES(hash.bytes, sizeof(hash.bytes))),
		0);
}

/* Damage to the last record that opening the world does not see, because its hash was damaged
 * to match. */
static inline void tamper_head_hash(struct world_fixture *fixture)
{
	tamper_rows(fixture, put_head_hash, NULL);
}

/* The path of a blob's file; @hash: of its bytes. */
static inline void blob_file_path(
	const struct world_fixture *fixture, const struct wfs_hash *hash, char ret_path[static 256])
{
	char hex[WFS_HASH_HEX_SIZE + 1];

	wfs_hash_hex(hash, hex);
	snprintf(ret_path, 256, "%s/blobs/%.2s/%s", fixture->directory, hex, hex + 2);
}
