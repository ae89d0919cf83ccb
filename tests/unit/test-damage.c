/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows that an attacker has made, with correct checksums: each gives an error within bounded time,
 * and none ends the process. (test-pages.c tests the walk over pages.)
 */
#include "tests/fixture/tamper.h"

#include <sys/sendfile.h>

#include "kernel/base/damage.h"
#include "kernel/check/replay.h"
#include "kernel/check/verify.h"
#include "kernel/copy/backup.h"
#include "kernel/domain/turn/turn-file.h"
#include "kernel/read/index.h"
#include "kernel/store/layout.h"

enum { LIMIT_S = 20 };

/* Puts a row with a correct checksum. */
static void put_row(struct world_fixture *fixture, const char *table, struct wfs_bytes key,
	struct wfs_bytes value)
{
	WFS_AUTO_BUFFER struct wfs_buffer sealed = {0};
	uint8_t seal[WFS_SEAL_SIZE];
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi dbi;

	world_fixture_close(fixture);
	wfs_row_seal(tamper_table(table), key, value, seal);
	wfs_buffer_append(&sealed, value.data, value.size);
	wfs_buffer_append(&sealed, seal, sizeof(seal));
	MDB_val k = {.mv_size = key.size, .mv_data = (void *)(uintptr_t)key.data};
	MDB_val v = {.mv_size = sealed.size, .mv_data = sealed.data};
	assert_int_equal(mdb_env_create(&env), 0);
	assert_int_equal(mdb_env_set_maxdbs(env, 32), 0);
	assert_int_equal(mdb_env_set_mapsize(env, UINT64_C(1) << 30), 0);
	assert_int_equal(mdb_env_open(env, fixture->directory, 0, 0600), 0);
	assert_int_equal(mdb_txn_begin(env, NULL, 0, &txn), 0);
	assert_int_equal(mdb_dbi_open(txn, table, 0, &dbi), 0);
	assert_int_equal(mdb_put(txn, dbi, &k, &v, 0), 0);
	assert_int_equal(mdb_txn_commit(txn), 0);
	mdb_env_close(env);
}

/* As wfs_reducer_put() writes it. */
static void put_reducer(
	struct world_fixture *fixture, const char *name, uint32_t id, uint64_t live, uint64_t cells)
{
	struct __attribute__((packed)) {
		uint32_t id;
		uint8_t keyed;
		uint64_t created, live, cells, names_ns;
	} row = {htobe32(id), 1, htobe64(1), htobe64(live), htobe64(cells), 0};

	put_row(fixture, "reducer", wfs_bytes_text(name), WFS_BYTES(&row, sizeof(row)));
}

static uint32_t reducer_id(struct world_fixture *fixture, const char *name)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	struct wfs_reducer reducer;

	assert_int_equal(wfs_view_open(fixture->world, WFS_HEIGHT_HEAD, &view, NULL), 0);
	assert_int_equal(wfs_view_reducer(&view, name, strlen(name), &reducer), 0);
	return reducer.reducer_id;
}

/* Reads and writes: neither may end the process, or go on for ever. @wrong: an error is expected */
static void use(struct world_fixture *fixture, bool wrong)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {.count = 0};

	(void)alarm(LIMIT_S);
	if (world_fixture_open(fixture) == 0) {
		(void)send_event(fixture, "test/Do@1", "{'key':'z','op':'set','n':1}");
		if (wfs_verify(fixture->world, &problems, NULL, NULL, &fixture->error) == 0 &&
			wrong)
			assert_true(problems.count > 0);
	}
	(void)alarm(0);
}

static void live(struct world_fixture *fixture)
{
	for (int i = 0; i < 12; i++)
		tell(fixture, "{'key':'a','op':'add','n':1}");
}

IN_WORLD(the_row_of_a_reducer_is_lost)
{
	live(fixture);
	tamper(fixture, "reducer", wfs_bytes_text("cell"), wfs_bytes_text(""), wfs_bytes_text(""));

	(void)alarm(LIMIT_S);
	assert_int_equal(world_fixture_open(fixture), -EIO);
	(void)alarm(0);
}

IN_WORLD(the_id_of_a_reducer_is_too_large)
{
	live(fixture);
	put_reducer(fixture, "cell", 0x87976f2b, 1, 1);

	use(fixture, true);
}

IN_WORLD(two_names_lead_to_one_id)
{
	live(fixture);
	put_reducer(fixture, "total", reducer_id(fixture, "cell"), 1, 1);

	use(fixture, true);
}

IN_WORLD(two_ids_lead_to_one_name)
{
	live(fixture);
	const uint32_t id = htobe32(reducer_id(fixture, "total"));
	put_row(fixture, "reducer_name", WFS_BYTES(&id, sizeof(id)), wfs_bytes_text("cell"));

	use(fixture, true);
}

IN_WORLD(a_reducer_counts_more_cells_than_there_are)
{
	live(fixture);
	put_reducer(fixture, "cell", reducer_id(fixture, "cell"), 1, UINT64_C(1) << 39);

	use(fixture, true);
}

IN_WORLD(a_record_is_far_beyond_the_others)
{
	const uint64_t seq = htobe64(UINT64_C(1) << 62);

	live(fixture);
	put_row(fixture, "journal", WFS_BYTES(&seq, sizeof(seq)), wfs_bytes_text("01234567{}\n"));

	(void)alarm(LIMIT_S);
	assert_int_equal(world_fixture_open(fixture), -EIO);
	(void)alarm(0);
}

/* The missing numbers between the others and this one are reported as one problem. */
IN_WORLD(a_version_is_far_beyond_the_others)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {.count = 0};
	const uint64_t vid = htobe64(WFS_VID_MAX - 1);

	live(fixture);
	put_row(fixture, "version", WFS_BYTES(&vid, sizeof(vid)), wfs_bytes_text("short"));
	assert_int_equal(world_fixture_open(fixture), 0);

	(void)alarm(LIMIT_S);
	assert_int_equal(wfs_verify(fixture->world, &problems, NULL, NULL, &fixture->error), 0);
	(void)alarm(0);

	assert_non_null(strstr(
		wfs_buffer_text(&problems.lines), ": is missing, up to 36028797018963965\n"));
	assert_true(problems.count < 10);
}

/* Its number would not fit into the number of an inode. */
IN_WORLD(the_number_of_a_version_is_too_large)
{
	const uint64_t vid = htobe64(WFS_VID_MAX + 1);

	live(fixture);
	put_row(fixture, "version", WFS_BYTES(&vid, sizeof(vid)), wfs_bytes_text("short"));

	(void)alarm(LIMIT_S);
	assert_int_equal(world_fixture_open(fixture), -EIO);
	(void)alarm(0);
}

IN_WORLD(versions_lead_to_each_other)
{
	struct __attribute__((packed)) {
		uint64_t cell_id, prev_vid, height, size, time_ns;
		uint8_t hash[WFS_HASH_SIZE], flags;
	} row = {0};
	struct wfs_version version;
	struct wfs_txn *txn;

	live(fixture);
	assert_int_equal(wfs_store_read(wfs_world_store(fixture->world), &txn), 0);
	assert_int_equal(wfs_version_last(txn, &version.vid), 0);
	assert_int_equal(wfs_version_get(txn, version.vid, &version), 0);
	row.cell_id = htobe64(version.cell_id);
	row.prev_vid = htobe64(version.vid);
	row.height = htobe64(version.height);
	row.flags = 1; /* a tombstone */
	wfs_txn_end(txn);
	const uint64_t key = htobe64(version.vid);
	put_row(fixture, "version", WFS_BYTES(&key, sizeof(key)), WFS_BYTES(&row, sizeof(row)));

	use(fixture, true);
}

/* The name of a cell leads to a cell of another reducer. */
IN_WORLD(a_name_leads_to_a_cell_of_another_reducer)
{
	struct __attribute__((packed)) {
		uint32_t reducer_id;
		char key;
	} name = {0, 'a'};

	live(fixture);
	name.reducer_id = htobe32(reducer_id(fixture, "cell"));
	const uint64_t cell = htobe64(wfs_cell_id(reducer_id(fixture, "total"), 1));
	put_row(fixture, "cell_by_name", WFS_BYTES(&name, sizeof(name)),
		WFS_BYTES(&cell, sizeof(cell)));

	use(fixture, true);
}

static void add_to_a_run(struct wfs_txn *txn, void *context)
{
	struct wfs_index_set set;

	(void)context;
	wfs_index_run(&set, wfs_bytes_text("ada.1"));
	assert_int_equal(wfs_index_add(txn, &set, 0, 40), 0);
}

IN_WORLD(the_index_leads_to_a_record_that_is_not_an_event)
{
	WFS_AUTO_BUFFER struct wfs_buffer lines = {0};
	WFS_AUTO_VIEW struct wfs_view view = {0};
	uint64_t size_bytes;

	tamper_rows(fixture, add_to_a_run, NULL);
	assert_int_equal(world_fixture_open(fixture), 0);
	assert_int_equal(wfs_view_open(fixture->world, WFS_HEIGHT_HEAD, &view, NULL), 0);

	assert_int_equal(wfs_turn_events(&view, wfs_bytes_text("ada.1"), 0,
				 (struct wfs_range){.size = 1000}, &lines, &size_bytes),
		-EIO);
}

/* Has a tree claim more rows than the file has room for. */
static void count_many_rows(struct world_fixture *fixture, const char *table)
{
	char path[256];
	struct root roots[ROOT_COUNT];
	struct tree tree;
	char page[4096];

	live(fixture);
	world_fixture_close(fixture);
	snprintf(path, sizeof(path), "%s/data.mdb", fixture->directory);
	WFS_AUTO_FD int fd = open(path, O_RDWR | O_CLOEXEC);
	for (size_t i = 0; i < ROOT_COUNT; i++)
		assert_int_equal(pread(fd, &roots[i], sizeof(roots[i]), (off_t)(i * sizeof(page))),
			sizeof(roots[i]));
	const struct root *const root = &roots[roots[0].txn_id < roots[1].txn_id];
	const off_t place = (off_t)(root->tables.root * sizeof(page));
	assert_int_equal(pread(fd, page, sizeof(page), place), sizeof(page));
	char *const name = memmem(page, sizeof(page), table, strlen(table));
	assert_non_null(name);
	memcpy(&tree, name + strlen(table), sizeof(tree));
	tree.entries = UINT64_C(1) << 40;
	memcpy(name + strlen(table), &tree, sizeof(tree));
	assert_int_equal(pwrite(fd, page, sizeof(page), place), sizeof(page));
}

IN_WORLD(a_table_counts_a_million_million_rows)
{
	const struct wfs_world_options options = {.read_only = true};
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {.count = 0};
	WFS_CLEANUP(wfs_auto_world) struct wfs_world *world = NULL;

	count_many_rows(fixture, "reducer_name");
	assert_int_equal(wfs_world_open(fixture->directory, &options, &world, NULL), 0);

	(void)alarm(LIMIT_S);
	assert_int_equal(wfs_verify(world, &problems, NULL, NULL, &fixture->error), 0);
	(void)alarm(0);

	assert_true(problems.count > 0);
}

IN_WORLD(a_store_with_a_damaged_page_has_no_backup)
{
	const struct wfs_backup_options options = {.progress = NULL};
	struct wfs_backup_figures figures;
	char directory[256];

	count_many_rows(fixture, "index");
	assert_int_equal(world_fixture_open(fixture), 0);
	snprintf(directory, sizeof(directory), "%s/backup", fixture->root);

	assert_int_equal(
		wfs_backup(fixture->world, directory, &options, &figures, &fixture->error), -EIO);

	assert_int_equal(fixture->error.code, WFS_E_HASH_MISMATCH);
	assert_non_null(strstr(fixture->error.message, "table 'index'"));
	assert_int_equal(access(directory, F_OK), -1);
}

/* The root page of the table of tables becomes a page whose first row leads to itself: LMDB goes
 * round for ever. */
static void lead_to_itself(struct world_fixture *fixture)
{
	static const uint8_t head[] = {0x7f, 0xff, 0, 0};
	char path[256];
	struct root roots[ROOT_COUNT];

	live(fixture);
	world_fixture_close(fixture);
	snprintf(path, sizeof(path), "%s/data.mdb", fixture->directory);
	WFS_AUTO_FD int fd = open(path, O_RDWR | O_CLOEXEC);
	for (size_t i = 0; i < ROOT_COUNT; i++)
		assert_int_equal(pread(fd, &roots[i], sizeof(roots[i]), (off_t)(i * 4096)),
			sizeof(roots[i]));
	const struct root *const root = &roots[roots[0].txn_id < roots[1].txn_id];
	assert_int_equal(pwrite(fd, head, sizeof(head), (off_t)(root->tables.root * 4096 + 9)),
		sizeof(head));
}

IN_WORLD(a_world_with_a_page_that_leads_to_itself_is_not_read)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {.count = 0};
	const struct wfs_world_options options = {
		.read_only = true, .walk_pages = true, .problems = &problems};
	WFS_CLEANUP(wfs_auto_world) struct wfs_world *world = NULL;

	lead_to_itself(fixture);
	(void)alarm(LIMIT_S);
	assert_int_equal(
		wfs_world_open(fixture->directory, &options, &world, &fixture->error), -EIO);
	(void)alarm(0);

	assert_int_equal(fixture->error.code, WFS_E_HASH_MISMATCH);
	assert_non_null(strstr(fixture->error.message, "page "));
	assert_int_equal(problems.count, 1);
}

IN_WORLD(a_world_of_a_stranger_has_its_pages_walked_before_it_is_read)
{
	const struct wfs_world_options options = {.read_only = true};
	WFS_CLEANUP(wfs_auto_world) struct wfs_world *world = NULL;
	char copy[256];
	char path[512];

	lead_to_itself(fixture);
	/* Another file makes another world: see decision 25. */
	snprintf(path, sizeof(path), "%s/data.mdb", fixture->directory);
	snprintf(copy, sizeof(copy), "%s/data.copy", fixture->directory);
	WFS_AUTO_FD int from = open(path, O_RDONLY | O_CLOEXEC);
	WFS_AUTO_FD int to = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	while (sendfile(to, from, NULL, 1 << 20) > 0)
		;
	assert_int_equal(rename(copy, path), 0);

	(void)alarm(LIMIT_S);
	assert_int_equal(
		wfs_world_open(fixture->directory, &options, &world, &fixture->error), -EIO);
	(void)alarm(0);

	assert_non_null(strstr(fixture->error.message, "'worldfs verify' lists all damage"));
}

/* --- rows whose checksum does not fit: what each is called --- */

/* Flips a bit of a row's checksum, or gives the row another key. @moved: that key; NULL: the row
 * keeps its key */
static void spoil_row(
	struct world_fixture *fixture, const char *table, struct wfs_bytes key, const void *moved)
{
	MDB_val k = {.mv_size = key.size, .mv_data = (void *)(uintptr_t)key.data};
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi dbi;
	MDB_val v;

	world_fixture_close(fixture);
	assert_int_equal(mdb_env_create(&env), 0);
	assert_int_equal(mdb_env_set_maxdbs(env, 32), 0);
	assert_int_equal(mdb_env_set_mapsize(env, UINT64_C(1) << 30), 0);
	assert_int_equal(mdb_env_open(env, fixture->directory, 0, 0600), 0);
	assert_int_equal(mdb_txn_begin(env, NULL, 0, &txn), 0);
	assert_int_equal(mdb_dbi_open(txn, table, 0, &dbi), 0);
	assert_int_equal(mdb_get(txn, dbi, &k, &v), 0);
	WFS_AUTO_FREE char *value = malloc(v.mv_size);
	memcpy(value, v.mv_data, v.mv_size);
	v.mv_data = value;
	if (moved) {
		assert_int_equal(mdb_del(txn, dbi, &k, NULL), 0);
		k.mv_data = (void *)(uintptr_t)moved;
	} else {
		value[v.mv_size - 1] ^= 1;
	}
	assert_int_equal(mdb_put(txn, dbi, &k, &v, 0), 0);
	assert_int_equal(mdb_txn_commit(txn), 0);
	mdb_env_close(env);
}

static void spoil(struct world_fixture *fixture, const char *table, struct wfs_bytes key)
{
	spoil_row(fixture, table, key, NULL);
}

static void spoil_number(struct world_fixture *fixture, const char *table, uint64_t number)
{
	const uint64_t key = htobe64(number);

	spoil(fixture, table, WFS_BYTES(&key, sizeof(key)));
}

/* `verify` lists the problem; `replay` and `backup` fail. */
static void assert_told(struct world_fixture *fixture, const char *name)
{
	const struct wfs_backup_options options = {.progress = NULL};
	WFS_AUTO_PROBLEMS struct wfs_problems verified = {.count = 0};
	WFS_AUTO_PROBLEMS struct wfs_problems replayed = {.count = 0};
	struct wfs_backup_figures figures;
	struct wfs_error error = {0};
	char path[512];

	assert_int_equal(world_fixture_open(fixture), 0);
	assert_int_equal(wfs_verify(fixture->world, &verified, NULL, NULL, &error), 0);
	print_message("%s", wfs_buffer_text(&verified.lines));
	assert_non_null(strstr(wfs_buffer_text(&verified.lines), name));

	int r = wfs_replay(fixture->world, &replayed, NULL, NULL, &error);
	assert_true(r == -EIO || replayed.count > 0);
	assert_non_null(strstr(r ? error.message : wfs_buffer_text(&replayed.lines), name));

	snprintf(path, sizeof(path), "%s.copy", fixture->directory);
	assert_int_equal(wfs_backup(fixture->world, path, &options, &figures, &error), -EIO);
	assert_int_equal(error.code, WFS_E_HASH_MISMATCH);
	assert_non_null(strstr(error.message, name));
	assert_int_equal(access(path, F_OK), -1);
}

static uint64_t cell_id_of(struct world_fixture *fixture, const char *key, uint64_t *ret_vid)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	struct wfs_version version;

	assert_int_equal(wfs_view_open(fixture->world, WFS_HEIGHT_HEAD, &view, NULL), 0);
	const uint32_t id = reducer_id(fixture, "cell");
	assert_int_equal(wfs_view_cell(&view, id, wfs_bytes_text(key), &version), 0);
	*ret_vid = version.vid;
	return version.cell_id;
}

IN_WORLD(a_record_is_told_by_its_number)
{
	live(fixture);
	spoil_number(fixture, "journal", 5);

	assert_told(fixture, "record 5");
}

IN_WORLD(a_state_is_told_by_reducer_key_and_height)
{
	uint64_t vid;

	live(fixture);
	(void)cell_id_of(fixture, "a", &vid);
	spoil_number(fixture, "version", vid - 1);

	assert_told(fixture, "reducer 'cell', key 'a' at height 13");
}

IN_WORLD(a_cell_is_told_by_reducer_and_key)
{
	uint64_t vid;

	live(fixture);
	const uint64_t cell_id = cell_id_of(fixture, "a", &vid);
	spoil_number(fixture, "cell", cell_id);

	assert_told(fixture, "reducer 'cell', key 'a': is damaged");
}

/* Moves the cell to a reducer that does not exist. */
static void move_cell(struct world_fixture *fixture, uint64_t cell_id)
{
	const uint64_t key = htobe64(cell_id);
	const uint64_t moved = key ^ htobe64(UINT64_C(0x77) << 48);

	spoil_row(fixture, "cell", WFS_BYTES(&key, sizeof(key)), &moved);
}

IN_WORLD(a_row_whose_key_leads_nowhere_is_told_by_its_right_one)
{
	uint64_t vid;

	live(fixture);
	move_cell(fixture, cell_id_of(fixture, "a", &vid));

	assert_told(fixture, "reducer 'cell', key 'a': is damaged");
}

IN_WORLD(a_world_that_has_lost_its_snapshot_says_so)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	struct wfs_meta meta;

	live(fixture);
	move_cell(fixture, wfs_cell_id(WFS_REDUCER_ID_KERNEL, WFS_KERNEL_CELL_SNAPSHOT));
	assert_int_equal(world_fixture_open(fixture), 0);

	assert_int_equal(wfs_view_open(fixture->world, WFS_HEIGHT_HEAD, &view, NULL), 0);
	assert_int_equal(wfs_view_meta(&view, &meta), -EIO);
}

IN_WORLD(a_damaged_newest_version_hides_no_other_damage)
{
	const struct wfs_world_options options = {.read_only = true};
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {.count = 0};
	WFS_CLEANUP(wfs_auto_world) struct wfs_world *world = NULL;
	uint64_t vid;

	live(fixture);
	(void)cell_id_of(fixture, "a", &vid);
	spoil_number(fixture, "version", vid);
	spoil_number(fixture, "journal", 5);
	assert_int_equal(wfs_world_open(fixture->directory, &options, &world, &fixture->error), 0);

	assert_int_equal(wfs_verify(world, &problems, NULL, NULL, &fixture->error), 0);

	assert_non_null(
		strstr(wfs_buffer_text(&problems.lines), "reducer 'cell', key 'a' at height 14"));
	assert_non_null(strstr(wfs_buffer_text(&problems.lines), "record 5: is damaged"));
}

IN_WORLD(a_reducer_is_told_by_its_name)
{
	live(fixture);
	const uint32_t id = htobe32(reducer_id(fixture, "total"));
	spoil(fixture, "reducer_name", WFS_BYTES(&id, sizeof(id)));

	assert_int_equal(world_fixture_open(fixture), -EIO);
	assert_non_null(strstr(fixture->error.message, "reducer 'total' is damaged"));
}

IN_WORLD(a_value_of_the_world_is_told_by_its_name)
{
	live(fixture);
	spoil(fixture, "meta", wfs_bytes_text("entropy"));

	assert_int_equal(world_fixture_open(fixture), -EIO);
	assert_int_equal(fixture->error.code, WFS_E_HASH_MISMATCH);
	assert_non_null(strstr(fixture->error.message, "the world's value 'entropy' is damaged"));
}

IN_WORLD(the_last_record_is_told_by_its_number_each_time)
{
	live(fixture);
	spoil_number(fixture, "journal", 13);

	for (int i = 0; i < 2; i++) {
		assert_int_equal(world_fixture_open(fixture), -EIO);
		assert_non_null(strstr(fixture->error.message, "record 13 is damaged"));
	}
}

IN_WORLD(an_event_on_a_damaged_state_is_hash_mismatch)
{
	uint64_t vid;

	live(fixture);
	tell(fixture, "{'key':'b','op':'set','n':1}");
	(void)cell_id_of(fixture, "a", &vid);
	spoil_number(fixture, "version", vid);
	assert_int_equal(world_fixture_open(fixture), 0);

	assert_int_equal(send_event(fixture, "test/Do@1", "{'key':'a','op':'add','n':1}"), -EIO);
	assert_int_equal(fixture->error.code, WFS_E_HASH_MISMATCH);
	assert_non_null(strstr(fixture->error.message, "reducer 'cell', key 'a' at height 14"));
	/* A cell with another state can still be changed, and gets its own message. */
	tell(fixture, "{'key':'b','op':'add','n':1}");
}

/* A row with a damaged key is not found in its place; the row that is found there shows this. */
IN_WORLD(a_key_with_a_damaged_name_is_not_missing)
{
	struct __attribute__((packed)) {
		uint32_t reducer_id;
		char key;
	} name = {.key = 'a'};
	WFS_AUTO_VIEW struct wfs_view view = {0};
	struct wfs_version version;

	live(fixture);
	const uint32_t id = reducer_id(fixture, "cell");
	name.reducer_id = htobe32(id);
	spoil(fixture, "cell_by_name", WFS_BYTES(&name, sizeof(name)));
	assert_int_equal(world_fixture_open(fixture), 0);

	assert_int_equal(wfs_view_open(fixture->world, WFS_HEIGHT_HEAD, &view, NULL), 0);
	assert_int_equal(wfs_view_cell(&view, id, wfs_bytes_text("aa"), &version), -EIO);
	assert_non_null(strstr(wfs_damage_noted(), "the name of reducer 'cell', key 'a'"));
}

IN_WORLD(a_name_that_leads_to_no_cell_is_damage)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	struct wfs_version version;
	uint64_t vid;

	live(fixture);
	tell(fixture, "{'key':'b','op':'set','n':1}");
	const uint64_t cell_id = cell_id_of(fixture, "b", &vid);
	const uint64_t key = htobe64(cell_id);
	const uint32_t id = reducer_id(fixture, "cell");
	tamper(fixture, "cell", WFS_BYTES(&key, sizeof(key)), wfs_bytes_text(""),
		wfs_bytes_text(""));
	assert_int_equal(world_fixture_open(fixture), 0);

	assert_int_equal(wfs_view_open(fixture->world, WFS_HEIGHT_HEAD, &view, NULL), 0);
	assert_int_equal(wfs_view_cell(&view, id, wfs_bytes_text("b"), &version), -EIO);
	assert_non_null(strstr(wfs_damage_noted(), "reducer 'cell', key 'b' is missing"));
}

/* The records before and after it can be read. */
IN_WORLD(a_damaged_record_in_the_middle_hides_no_other)
{
	WFS_AUTO_BUFFER struct wfs_buffer log = {0};
	WFS_AUTO_BUFFER struct wfs_buffer part = {0};
	WFS_AUTO_VIEW struct wfs_view view = {0};
	uint64_t offset;
	uint64_t next;
	struct wfs_bytes line;

	live(fixture);
	assert_int_equal(wfs_view_open(fixture->world, WFS_HEIGHT_HEAD, &view, NULL), 0);
	assert_int_equal(read_log(&view, 0, 1 << 20, &log), 0);
	assert_int_equal(wfs_journal_get(view.txn, 7, &offset, &line), 0);
	next = offset + line.size;
	wfs_view_close(&view);
	spoil_number(fixture, "journal", 7);
	assert_int_equal(world_fixture_open(fixture), 0);
	assert_int_equal(wfs_view_open(fixture->world, WFS_HEIGHT_HEAD, &view, NULL), 0);

	assert_int_equal(read_log(&view, 0, 1 << 20, &part), 0);
	assert_int_equal(part.size, offset);
	assert_int_equal(read_log(&view, offset, 1 << 20, &part), -EIO);
	assert_int_equal(read_log(&view, next, 1 << 20, &part), 0);
	assert_int_equal(part.size, offset + log.size - next);
	assert_memory_equal(part.data + offset, log.data + next, log.size - next);
}
