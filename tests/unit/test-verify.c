/* SPDX-License-Identifier: Apache-2.0 */
/* Verification: it finds no problem in a good world, and reports each kind of damage. */
#include "tests/fixture/tamper.h"

#include "kernel/check/verify.h"
#include "kernel/read/snapshot.h"

enum { GENESIS_HEIGHT = 2 };

/* The first blob of the fixture's world. */
#define GENESIS_BLOB "blob sha256:94e7123db24ba3b9bdf06d2e21b128c6de20cc9b8f210231098e991400158f86"

static struct wfs_problems verify(struct world_fixture *fixture)
{
	struct wfs_problems problems = {0};

	if (!fixture->world)
		assert_int_equal(world_fixture_open(fixture), 0);
	int r = wfs_verify(fixture->world, &problems, NULL, NULL, &fixture->error);
	if (r)
		print_error("%s\n", fixture->error.message);
	assert_int_equal(r, 0);
	return problems;
}

static void assert_good(struct world_fixture *fixture)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = verify(fixture);

	if (problems.count)
		print_error("%s", wfs_buffer_text(&problems.lines));
	assert_int_equal(problems.count, 0);
}

/* Checks that one of the problems has this name and this text. */
static void assert_tells(struct world_fixture *fixture, const char *name, const char *reason)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = verify(fixture);
	char line[256];

	snprintf(line, sizeof(line), "%s: %s", name, reason);
	print_message("%s", wfs_buffer_text(&problems.lines));
	assert_true(problems.count > 0);
	assert_non_null(strstr(wfs_buffer_text(&problems.lines), line));
}

static void assert_tells_record(struct world_fixture *fixture, uint64_t seq, const char *reason)
{
	char name[64];

	snprintf(name, sizeof(name), "record %llu", (unsigned long long)seq);
	assert_tells(fixture, name, reason);
}

/* @name: the cell's name, and the height */
static void assert_tells_version(
	struct world_fixture *fixture, const char *name, uint64_t vid, const char *reason)
{
	char text[128];

	snprintf(text, sizeof(text), "%s (version %llu)", name, (unsigned long long)vid);
	assert_tells(fixture, text, reason);
}

static int snapshot(struct world_fixture *fixture, const struct wfs_hash *hash)
{
	struct wfs_request request = {.kind = WFS_REQUEST_SNAPSHOT, .principal = "tester"};

	request.snapshot.height = height_of(fixture);
	if (hash)
		request.snapshot.hash = *hash;
	else
		assert_int_equal(
			wfs_snapshot_hash(wfs_world_store(fixture->world), request.snapshot.height,
				NULL, NULL, &request.snapshot.hash, &fixture->error),
			0);
	return wfs_world_call(fixture->world, &request);
}

/* Makes a change of every kind. */
static void live(struct world_fixture *fixture)
{
	struct wfs_hash hash;
	WFS_AUTO_FREE char *large = calloc(1, 100000);

	tell(fixture, "{'key':'a','op':'set','n':1}");
	assert_int_equal(send_event(fixture, "test/Both@1", "{'key':'a','op':'add','n':4}"), 0);
	tell(fixture, "{'key':'r','op':'tree','n':3}");
	tell(fixture, "{'key':'a','op':'delete'}");
	assert_int_equal(put_blob(fixture, "small", 5, &hash), 0);
	assert_int_equal(put_blob(fixture, large, 100000, &hash), 0);
	tell(fixture, "{'key':'b','op':'grow','n':100000}");
	assert_int_equal(snapshot(fixture, NULL), 0);
	assert_int_equal(send_event(fixture, "test/None@1", "[null]"), 0);
	for (int i = 0; i < 20; i++)
		tell(fixture, "{'key':'d','op':'add','n':1}");
	assert_int_equal(snapshot(fixture, NULL), 0);
}

static uint64_t last_vid(struct world_fixture *fixture)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	uint64_t vid;

	assert_int_equal(wfs_version_last(view.txn, &vid), 0);
	return vid;
}

static uint32_t cell_reducer(struct world_fixture *fixture)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	struct wfs_reducer reducer;

	assert_int_equal(wfs_view_reducer(&view, "cell", 4, &reducer), 0);
	return reducer.reducer_id;
}

/* Makes three cells; opening a world looks at its last two records only. */
static void live_a_little(struct world_fixture *fixture)
{
	tell(fixture, "{'key':'a','op':'set','n':1}");
	tell(fixture, "{'key':'b','op':'set','n':2}");
	tell(fixture, "{'key':'c','op':'set','n':3}");
}

IN_WORLD(a_new_world_is_good)
{
	assert_good(fixture);
}

IN_WORLD(a_world_with_something_of_everything_is_good)
{
	live(fixture);

	assert_good(fixture);
}

IN_WORLD(more_rows_than_one_view_holds_are_good)
{
	char value[100];

	for (int i = 0; i < 6; i++) {
		snprintf(value, sizeof(value), "{'key':'k%d','op':'emit','n':1000}", i);
		tell(fixture, value);
	}

	assert_good(fixture);
}

static bool note_progress(void *context, const char *what, uint64_t done, uint64_t total)
{
	(void)done;
	(void)total;
	snprintf(context, 32, "%s", what);
	return true;
}

IN_WORLD(progress_is_told)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	char last[32] = "";

	assert_int_equal(wfs_verify(fixture->world, &problems, note_progress, last, NULL), 0);

	assert_string_equal(last, "snapshots");
}

struct looks {
	int count;
	int end_at;
};

static bool end_at_look(void *context, const char *what, uint64_t done, uint64_t total)
{
	struct looks *looks = context;

	(void)what;
	(void)done;
	(void)total;
	return ++looks->count != looks->end_at;
}

IN_WORLD(an_end_at_any_look_is_an_error)
{
	struct looks looks = {0};
	int r = -EINTR;

	tell(fixture, "{'key':'a','op':'grow','n':200000}");
	while (r == -EINTR) {
		WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};

		looks = (struct looks){.end_at = looks.end_at + 1};
		r = wfs_verify(fixture->world, &problems, end_at_look, &looks, &fixture->error);
		assert_int_equal(problems.count, 0);
		assert_int_equal(fixture->error.code, r ? WFS_E_CANCELLED : WFS_OK);
		fixture->error = (struct wfs_error){0};
	}

	assert_int_equal(r, 0);
	assert_true(looks.end_at > 4);
}

/* --- journal --- */

IN_WORLD(a_changed_line_breaks_the_chain)
{
	live_a_little(fixture);
	tamper_number(fixture, "journal", GENESIS_HEIGHT, "\"n\":1", "\"n\":7");

	assert_tells_record(fixture, GENESIS_HEIGHT + 1, "`prev` is not the hash");
}

IN_WORLD(a_shorter_line_leaves_a_gap)
{
	live_a_little(fixture);
	tamper_number(fixture, "journal", GENESIS_HEIGHT, "\"n\":1", "\"n\":");

	assert_tells_record(fixture, GENESIS_HEIGHT, "is not a record");
	assert_tells_record(fixture, GENESIS_HEIGHT + 1, "does not begin where");
}

#define TELLS_CHANGED(name, from, to, says)                                  \
	IN_WORLD(name)                                                       \
	{                                                                    \
		live_a_little(fixture);                                      \
		tamper_number(fixture, "journal", GENESIS_HEIGHT, from, to); \
		assert_tells_record(fixture, GENESIS_HEIGHT, says);          \
	}

TELLS_CHANGED(a_missing_line_is_found, NULL, NULL, "is missing")
TELLS_CHANGED(a_line_with_another_seq_is_found, "\"seq\":2", "\"seq\":9", "has another seq")
TELLS_CHANGED(time_that_goes_back_is_found, "{\"at_ns\":17", "{\"at_ns\":16", "is older than")
TELLS_CHANGED(a_cause_in_the_future_is_found, "\"cause\":null", "\"cause\":9999",
	"is caused by a later record")

IN_WORLD(changes_that_are_not_those_of_the_head_record_are_found)
{
	live_a_little(fixture);
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = record_at(fixture, GENESIS_HEIGHT + 2);
	char text[WFS_HASH_TEXT_SIZE];
	wfs_hash_text(&parsed.record.changes, text);
	tamper_number(fixture, "journal", GENESIS_HEIGHT + 2, text,
		"sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
	tamper_head_hash(fixture);

	assert_tells_record(fixture, GENESIS_HEIGHT + 2, "`changes` is not the hash");
}

IN_WORLD(a_record_without_changes_that_changed_something_is_found)
{
	live_a_little(fixture);
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = record_at(fixture, GENESIS_HEIGHT + 2);
	char text[WFS_HASH_TEXT_SIZE + 2];
	char hash[WFS_HASH_TEXT_SIZE];
	wfs_hash_text(&parsed.record.changes, hash);
	snprintf(text, sizeof(text), "\"%s\"", hash);
	tamper_number(fixture, "journal", GENESIS_HEIGHT + 2, text, "null");
	tamper_head_hash(fixture);

	assert_tells_record(fixture, GENESIS_HEIGHT + 2, "`changes` is not the hash");
}

IN_WORLD(changes_of_a_record_that_changed_nothing_are_found)
{
	live_a_little(fixture);
	assert_int_equal(send_event(fixture, "test/None@1", "1"), 0);
	tamper_number(fixture, "journal", GENESIS_HEIGHT + 3, "\"changes\":null",
		"\"changes\":"
		"\"sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"");
	tamper_head_hash(fixture);

	assert_tells_record(fixture, GENESIS_HEIGHT + 3, "`changes` is not the hash");
}

/* --- versions --- */

IN_WORLD(a_flipped_bit_in_a_version_is_found)
{
	live_a_little(fixture);
	uint64_t vid = last_vid(fixture);
	tamper_number(fixture, "version", vid, "{\"n\":3}", "{\"n\":1}");

	assert_tells_version(fixture, "reducer 'cell', key 'c' at height 5", vid,
		"its bytes do not have its hash");
}

IN_WORLD(a_version_that_was_replaced_with_its_hash_is_found_by_the_record)
{
	live_a_little(fixture);
	tamper_version(fixture, last_vid(fixture), "{\"n\":3}\n", "{\"n\":1}\n");

	assert_tells_record(fixture, GENESIS_HEIGHT + 2, "`changes` is not the hash");
}

IN_WORLD(a_missing_version_is_found)
{
	live_a_little(fixture);
	uint64_t vid = last_vid(fixture) - 1;
	tamper_number(fixture, "version", vid, NULL, NULL);

	assert_tells_version(fixture, "reducer 'cell', key 'b'", vid, "is missing");
}

IN_WORLD(a_version_cut_short_is_found)
{
	live_a_little(fixture);
	uint64_t vid = last_vid(fixture);
	tamper_number(fixture, "version", vid, "{\"n\":3}\n", "{\"n\"");

	assert_tells_version(fixture, "reducer 'cell', key 'c' at height 5", vid, "is damaged");
}

static void large_state(struct world_fixture *fixture, uint64_t *ret_vid, char ret_path[static 256])
{
	tell(fixture, "{'key':'a','op':'grow','n':100000}");
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	struct wfs_version version;
	assert_int_equal(wfs_version_last(view.txn, ret_vid), 0);
	assert_int_equal(wfs_view_version(&view, *ret_vid, &version), 0);
	blob_file_path(fixture, &version.hash, ret_path);
}

IN_WORLD(a_missing_file_of_a_version_is_found)
{
	char path[256];
	uint64_t vid;

	large_state(fixture, &vid, path);
	assert_int_equal(unlink(path), 0);

	assert_tells_version(
		fixture, "reducer 'cell', key 'a' at height 3", vid, "its blob file is missing");
}

IN_WORLD(a_flipped_bit_in_a_file_of_a_version_is_found)
{
	char path[256];
	uint64_t vid;

	large_state(fixture, &vid, path);
	WFS_AUTO_FD int fd = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(pwrite(fd, "!", 1, 50000), 1);

	assert_tells_version(fixture, "reducer 'cell', key 'a' at height 3", vid,
		"its blob file is missing or does not");
}

/* --- cells --- */

/* A change of the row of the first cell of `cell`. */
struct cell_damage {
	uint32_t reducer_id;
	void (*damage)(struct wfs_cell *cell);
};

static void put_damaged_cell(struct wfs_txn *txn, void *context)
{
	const struct cell_damage *damage = context;
	struct wfs_cell cell;
	char key[WFS_KEY_SIZE_MAX];

	assert_int_equal(wfs_cell_get(txn, wfs_cell_id(damage->reducer_id, 1), &cell), 0);
	memcpy(key, cell.key.data, cell.key.size);
	cell.key.data = key;
	damage->damage(&cell);
	assert_int_equal(wfs_cell_put(txn, &cell), 0);
}

static void assert_finds_cell(
	struct world_fixture *fixture, void (*damage)(struct wfs_cell *cell), const char *reason)
{
	live_a_little(fixture);
	struct cell_damage context = {cell_reducer(fixture), damage};
	tamper_rows(fixture, put_damaged_cell, &context);

	assert_tells(fixture, "reducer 'cell', key 'a'", reason);
}

static void other_head(struct wfs_cell *cell)
{
	cell->head_vid++;
}

IN_WORLD(a_cell_with_another_head_is_found)
{
	assert_finds_cell(fixture, other_head, "its head is not its newest version");
}

static void other_size(struct wfs_cell *cell)
{
	cell->size_bytes++;
}

IN_WORLD(a_cell_with_another_size_is_found)
{
	assert_finds_cell(fixture, other_size, "does not agree with its newest version");
}

static void other_life(struct wfs_cell *cell)
{
	cell->live = false;
}

IN_WORLD(a_cell_that_is_said_to_be_deleted_is_found)
{
	assert_finds_cell(fixture, other_life, "does not agree with its newest version");
}

static void other_key(struct wfs_cell *cell)
{
	cell->key = wfs_bytes_text("other");
}

IN_WORLD(a_cell_with_another_key_is_found)
{
	live_a_little(fixture);
	struct cell_damage context = {cell_reducer(fixture), other_key};
	tamper_rows(fixture, put_damaged_cell, &context);

	assert_tells(fixture, "reducer 'cell', key 'other'", "its key does not lead to it");
}

static void other_count(struct wfs_cell *cell)
{
	cell->version_count++;
}

IN_WORLD(a_cell_with_another_count_of_versions_is_found)
{
	assert_finds_cell(fixture, other_count, "counts other versions than it has");
}

static void other_creation(struct wfs_cell *cell)
{
	cell->created_height++;
}

IN_WORLD(a_cell_with_another_height_of_creation_is_found)
{
	assert_finds_cell(fixture, other_creation, "was not created with its first version");
}

static void long_key(struct wfs_cell *cell)
{
	static char key[WFS_KEY_SIZE_MAX + 1];

	cell->key = WFS_BYTES(key, sizeof(key));
}

IN_WORLD(a_cell_row_that_does_not_decode_is_found)
{
	struct cell_damage context = {0};

	live_a_little(fixture);
	context = (struct cell_damage){cell_reducer(fixture), long_key};
	tamper_rows(fixture, put_damaged_cell, &context);

	assert_tells(fixture, "reducer 'cell', key 'a'", "is damaged");
}

static void put_wrong_name(struct wfs_txn *txn, void *context)
{
	uint32_t reducer_id = *(uint32_t *)context;

	assert_int_equal(
		wfs_cell_name_put(txn, reducer_id, wfs_bytes_text("a"), wfs_cell_id(reducer_id, 2)),
		0);
}

IN_WORLD(a_name_that_leads_to_another_cell_is_found)
{
	live_a_little(fixture);
	uint32_t reducer_id = cell_reducer(fixture);
	tamper_rows(fixture, put_wrong_name, &reducer_id);

	assert_tells(fixture, "reducer 'cell', key 'a'", "its key does not lead to it");
}

static void put_wrong_history(struct wfs_txn *txn, void *context)
{
	uint32_t reducer_id = *(uint32_t *)context;
	uint64_t last;

	assert_int_equal(wfs_version_last(txn, &last), 0);
	assert_int_equal(wfs_history_put(txn, wfs_cell_id(reducer_id, 1),
				 GENESIS_HEIGHT + 3 + WFS_HISTORY_STRIDE, last),
		0);
}

IN_WORLD(a_history_that_leads_elsewhere_is_found)
{
	live_a_little(fixture);
	uint32_t reducer_id = cell_reducer(fixture);
	uint64_t vid = last_vid(fixture) - 2;
	tamper_rows(fixture, put_wrong_history, &reducer_id);

	assert_tells_version(fixture, "reducer 'cell', key 'a' at height 3", vid,
		"the history does not lead to it");
}

static void put_wrong_counts(struct wfs_txn *txn, void *context)
{
	struct wfs_reducer reducer;

	(void)context;
	assert_int_equal(wfs_reducer_get(txn, "cell", 4, &reducer), 0);
	reducer.live_count++;
	assert_int_equal(wfs_reducer_put(txn, "cell", &reducer), 0);
}

IN_WORLD(a_reducer_that_counts_wrong_is_found)
{
	live_a_little(fixture);
	tamper_rows(fixture, put_wrong_counts, NULL);

	assert_tells(fixture, "reducer 'cell'", "counts other cells than it has");
}

/* --- blobs --- */

static void put_wrong_blob(struct wfs_txn *txn, void *context)
{
	struct wfs_blob blob;

	(void)context;
	assert_int_equal(wfs_blob_next(txn, NULL, &blob), 0);
	struct wfs_blob wrong = blob;
	WFS_AUTO_FREE char *bytes = malloc(blob.size_bytes);
	memcpy(bytes, blob.bytes.data, blob.size_bytes);
	bytes[0] ^= 1;
	wrong.bytes.data = bytes;
	assert_int_equal(wfs_blob_put(txn, &wrong), 0);
}

IN_WORLD(a_flipped_bit_in_a_blob_is_found)
{
	tamper_rows(fixture, put_wrong_blob, NULL);

	assert_tells(fixture, GENESIS_BLOB, "its bytes do not have its hash");
}

static void put_wrong_listing(struct wfs_txn *txn, void *context)
{
	struct wfs_blob blob;

	(void)context;
	assert_int_equal(wfs_blob_next(txn, NULL, &blob), 0);
	struct wfs_blob wrong = blob;
	WFS_AUTO_FREE char *bytes = malloc(blob.size_bytes);
	memcpy(bytes, blob.bytes.data, blob.size_bytes);
	wrong.bytes.data = bytes;
	wrong.listed_id = 99;
	assert_int_equal(wfs_blob_put(txn, &wrong), 0);
}

IN_WORLD(a_blob_with_another_listing_is_found)
{
	tamper_rows(fixture, put_wrong_listing, NULL);

	assert_tells(fixture, GENESIS_BLOB, "its listing does not lead to it");
}

IN_WORLD(a_listing_without_a_blob_is_found)
{
	char text[WFS_HASH_TEXT_SIZE];
	char name[128];
	struct wfs_hash hash;

	assert_int_equal(put_blob(fixture, "x", 1, &hash), 0);
	tamper(fixture, "blob", WFS_BYTES(hash.bytes, WFS_HASH_SIZE), WFS_BYTES(NULL, 0),
		WFS_BYTES(NULL, 0));

	wfs_hash_text(&hash, text);
	snprintf(name, sizeof(name), "the listing of blob %s", text);
	assert_tells(fixture, name, "does not name a blob");
}

IN_WORLD(a_damaged_file_of_a_blob_is_found)
{
	WFS_AUTO_FREE char *data = calloc(1, 100000);
	struct wfs_hash hash;
	char path[256];

	assert_int_equal(put_blob(fixture, data, 100000, &hash), 0);
	blob_file_path(fixture, &hash, path);
	assert_int_equal(truncate(path, 99999), 0);

	WFS_AUTO_PROBLEMS struct wfs_problems problems = verify(fixture);
	assert_int_equal(problems.count, 1);
	assert_non_null(strstr(wfs_buffer_text(&problems.lines), "its file is missing or does"));
}

IN_WORLD(a_blob_row_cut_short_is_found)
{
	const struct wfs_hash module = wfs_hash_of(fixture_step_lua, strlen(fixture_step_lua));
	char text[WFS_HASH_TEXT_SIZE];
	char name[128];

	tamper(fixture, "blob", WFS_BYTES(module.bytes, WFS_HASH_SIZE),
		wfs_bytes_text("function step"), WFS_BYTES(NULL, 0));

	wfs_hash_text(&module, text);
	snprintf(name, sizeof(name), "blob %s", text);
	assert_tells(fixture, name, "is damaged");
}

/* --- snapshots --- */

IN_WORLD(a_snapshot_with_another_hash_is_found)
{
	const struct wfs_hash wrong = wfs_hash_of("wrong", 5);

	assert_int_equal(snapshot(fixture, &wrong), 0);

	assert_tells_record(fixture, GENESIS_HEIGHT, "its snapshot hash is not that");
}

IN_WORLD(a_snapshot_of_a_height_to_come_is_found)
{
	struct wfs_request request = {.kind = WFS_REQUEST_SNAPSHOT,
		.principal = "tester",
		.snapshot.height = GENESIS_HEIGHT + 1};

	assert_int_equal(wfs_world_call(fixture->world, &request), 0);

	assert_tells_record(fixture, GENESIS_HEIGHT, "is not a snapshot record");
}

IN_WORLD(verify_tells_what_is_missing_when_all_blob_files_are)
{
	char path[128];

	live(fixture);
	snprintf(path, sizeof(path), "%s/blobs", fixture->directory);
	wfs_directory_remove(path);

	WFS_AUTO_PROBLEMS struct wfs_problems problems = verify(fixture);
	assert_int_equal(problems.count, 2); /* a blob and a version */
	assert_non_null(strstr(wfs_buffer_text(&problems.lines), "file is missing"));
}
