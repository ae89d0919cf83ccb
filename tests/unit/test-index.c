/* SPDX-License-Identifier: Apache-2.0 */
/* The index: in which sets cells are as they come, change and go, and how damage to the index is
 * found. */
#include "tests/fixture/cells.h"
#include "tests/fixture/tamper.h"

#include "kernel/check/verify.h"
#include "kernel/copy/gc.h"
#include "kernel/read/index.h"

/* Checks the keys of a set's cells, in order, with spaces between. */
static void assert_set(struct world_fixture *fixture, const struct wfs_index_set *set,
	bool newest_first, const char *expected)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	WFS_AUTO_INDEX_WALK struct wfs_index_walk walk = {0};
	WFS_AUTO_BUFFER struct wfs_buffer keys = {0};
	struct wfs_index_sum sum;
	struct wfs_cell cell;
	uint64_t cell_id;
	uint64_t count = 0;
	int r;

	assert_int_equal(wfs_index_walk_init(&walk, view.txn, set, newest_first), 0);
	for (; (r = wfs_index_walk_next(&walk, &cell_id)) == 1; count++) {
		assert_int_equal(wfs_cell_get(view.txn, cell_id, &cell), 0);
		wfs_buffer_append_text(&keys, count > 0 ? " " : "");
		wfs_buffer_append(&keys, cell.key.data, cell.key.size);
	}
	assert_int_equal(r, 0);
	assert_string_equal(wfs_buffer_text(&keys), expected);
	assert_int_equal(wfs_index_sum_get(view.txn, set, &sum), 0);
	assert_int_equal(sum.count, count);
}

static void assert_artifacts(struct world_fixture *fixture, const char *owner, const char *type,
	int executable, const char *expected)
{
	struct wfs_index_set set;

	wfs_index_artifacts(&set, owner, type, executable);
	assert_set(fixture, &set, false, expected);
}

static void assert_dependents(
	struct world_fixture *fixture, const char *artifact_id, const char *expected)
{
	struct wfs_index_set set;

	wfs_index_dependents(&set, artifact_id);
	assert_set(fixture, &set, false, expected);
}

static void assert_invocations(struct world_fixture *fixture, const char *artifact_id,
	const char *invoker_id, const char *expected)
{
	struct wfs_index_set set;

	wfs_index_invocations(&set, artifact_id, invoker_id);
	assert_set(fixture, &set, true, expected);
}

static struct wfs_index_sum sum_of(struct world_fixture *fixture, const struct wfs_index_set *set)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	struct wfs_index_sum sum;

	assert_int_equal(wfs_index_sum_get(view.txn, set, &sum), 0);
	return sum;
}

static void assert_good(struct world_fixture *fixture)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};

	assert_int_equal(wfs_verify(fixture->world, &problems, NULL, NULL, &fixture->error), 0);
	assert_string_equal(wfs_buffer_text(&problems.lines), "");
}

static void assert_finds(struct world_fixture *fixture, const char *line)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};

	if (!fixture->world)
		assert_int_equal(world_fixture_open(fixture), 0);
	assert_int_equal(wfs_verify(fixture->world, &problems, NULL, NULL, &fixture->error), 0);
	print_message("%s", wfs_buffer_text(&problems.lines));
	assert_non_null(strstr(wfs_buffer_text(&problems.lines), line));
}

static void artifact(struct cells *cells, const char *id, const char *owner, const char *type,
	bool executable, const char *depends_on)
{
	char document[512];

	snprintf(document, sizeof(document),
		"{'owner':'%s','type':'%s','executable':%s,'depends_on':%s}", owner, type,
		executable ? "true" : "false", depends_on);
	cells_set(cells, "sys.artifact", id, document);
}

static void invocation(struct cells *cells, const char *key, const char *artifact_id,
	const char *invoker_id, int duration_ms, const char *code)
{
	char document[512];

	snprintf(document, sizeof(document),
		"{'artifact_id':'%s','invoker_id':'%s','duration_ms':%d,'success':%s,"
		"'error_code':%s}",
		artifact_id, invoker_id, duration_ms, code ? "false" : "true",
		code ? code : "null");
	cells_set(cells, "sys.invocation", key, document);
}

static void some_artifacts(struct world_fixture *fixture)
{
	struct cells cells = cells_begin(fixture);

	artifact(&cells, "one", "alpha", "data", false, "[]");
	artifact(&cells, "two", "beta", "data", true, "['one']");
	artifact(&cells, "three", "alpha", "tool", true, "['two','one']");
	artifact(&cells, "four", "alpha", "data", true, "['one']");
	cells_commit(&cells);
}

/* --- artifacts --- */

IN_WORLD(artifacts_are_found_by_any_combination_in_order_of_creation)
{
	some_artifacts(fixture);

	assert_artifacts(fixture, "alpha", NULL, -1, "one three four");
	assert_artifacts(fixture, NULL, "data", -1, "one two four");
	assert_artifacts(fixture, NULL, NULL, 1, "two three four");
	assert_artifacts(fixture, NULL, NULL, 0, "one");
	assert_artifacts(fixture, "alpha", "data", -1, "one four");
	assert_artifacts(fixture, "alpha", NULL, 1, "three four");
	assert_artifacts(fixture, NULL, "data", 1, "two four");
	assert_artifacts(fixture, "alpha", "data", 1, "four");
	assert_artifacts(fixture, "gamma", NULL, -1, "");
	assert_artifacts(fixture, "alph", NULL, -1, "");
	assert_good(fixture);
}

IN_WORLD(an_artifact_that_changes_moves)
{
	struct cells cells;

	some_artifacts(fixture);
	cells = cells_begin(fixture);
	artifact(&cells, "one", "beta", "data", true, "[]");
	artifact(&cells, "three", "alpha", "tool", true, "['four']");
	cells_commit(&cells);

	assert_artifacts(fixture, "alpha", NULL, -1, "three four");
	assert_artifacts(fixture, "beta", NULL, -1, "one two");
	assert_artifacts(fixture, NULL, NULL, 0, "");
	assert_artifacts(fixture, NULL, "data", -1, "one two four");
	assert_dependents(fixture, "one", "two four");
	assert_dependents(fixture, "two", "");
	assert_dependents(fixture, "four", "three");
	assert_good(fixture);
}

IN_WORLD(an_artifact_that_is_deleted_is_in_no_set)
{
	struct cells cells;

	some_artifacts(fixture);
	cells = cells_begin(fixture);
	cells_delete(&cells, "sys.artifact", "three");
	cells_commit(&cells);

	assert_artifacts(fixture, "alpha", NULL, -1, "one four");
	assert_artifacts(fixture, NULL, "tool", -1, "");
	assert_dependents(fixture, "two", "");
	assert_dependents(fixture, "one", "two four");
	assert_good(fixture);
}

IN_WORLD(dependents_of_an_artifact_are_found)
{
	some_artifacts(fixture);

	assert_dependents(fixture, "one", "two three four");
	assert_dependents(fixture, "two", "three");
	assert_dependents(fixture, "three", "");
}

IN_WORLD(an_artifact_that_is_listed_twice_has_one_dependent)
{
	struct cells cells = cells_begin(fixture);

	artifact(&cells, "a", "alpha", "data", false, "['b','c','b',5]");
	cells_commit(&cells);

	assert_dependents(fixture, "b", "a");
	assert_dependents(fixture, "c", "a");
	assert_good(fixture);
}

IN_WORLD(long_texts_are_told_apart)
{
	struct cells cells = cells_begin(fixture);
	char a[WFS_INDEX_TEXT_MAX + 2];
	char b[sizeof(a)];

	memset(a, 'x', sizeof(a) - 1);
	a[sizeof(a) - 1] = '\0';
	memcpy(b, a, sizeof(b));
	b[sizeof(b) - 2] = 'y';
	artifact(&cells, "first", "alpha", a, false, "[]");
	artifact(&cells, "second", "alpha", b, false, "[]");
	cells_commit(&cells);

	assert_artifacts(fixture, NULL, a, -1, "first");
	assert_artifacts(fixture, "alpha", b, 0, "second");
	a[WFS_INDEX_TEXT_MAX] = '\0';
	assert_artifacts(fixture, NULL, a, -1, "");
	assert_good(fixture);
}

IN_WORLD(texts_are_not_run_together)
{
	struct cells cells = cells_begin(fixture);

	artifact(&cells, "first", "ab", "c", false, "[]");
	artifact(&cells, "second", "a", "bc", false, "[]");
	cells_commit(&cells);

	assert_artifacts(fixture, "ab", "c", -1, "first");
	assert_artifacts(fixture, "a", "bc", -1, "second");
}

IN_WORLD(a_state_of_any_shape_can_be_kept)
{
	const struct wfs_bytes no_json = wfs_bytes_text("no JSON");
	struct cells cells = cells_begin(fixture);

	cells_set(&cells, "sys.artifact", "list", "[1]");
	cells_set(&cells, "sys.artifact", "odd", "{'owner':5,'depends_on':'x','executable':1}");
	cells_put(&cells, "sys.artifact", "bytes", &no_json);
	cells_set(&cells, "sys.invocation", "5.0", "null");
	cells_commit(&cells);

	assert_artifacts(fixture, NULL, NULL, 0, "list odd bytes");
	assert_artifacts(fixture, "", "", -1, "list odd bytes");
	assert_good(fixture);
	cells = cells_begin(fixture);
	cells_delete(&cells, "sys.artifact", "list");
	artifact(&cells, "bytes", "alpha", "data", true, "[]");
	cells_commit(&cells);
	assert_artifacts(fixture, "", "", -1, "odd");
	assert_artifacts(fixture, "alpha", NULL, -1, "bytes");
	assert_good(fixture);
}

IN_WORLD(a_state_in_a_file_is_read_when_it_changes)
{
	struct cells cells = cells_begin(fixture);
	WFS_AUTO_BUFFER struct wfs_buffer large = {0};

	wfs_buffer_append_text(&large, "{\"owner\":\"alpha\",\"pad\":\"");
	for (int i = 0; i < WFS_BLOB_FILE_MIN; i++)
		wfs_buffer_append_byte(&large, 'x');
	wfs_buffer_append_text(&large, "\"}\n");
	const struct wfs_bytes bytes = wfs_buffer_bytes(&large);
	cells_put(&cells, "sys.artifact", "large", &bytes);
	cells_commit(&cells);

	assert_artifacts(fixture, "alpha", NULL, -1, "large");
	assert_good(fixture);
	cells = cells_begin(fixture);
	artifact(&cells, "large", "beta", "data", false, "[]");
	cells_commit(&cells);
	assert_artifacts(fixture, "alpha", NULL, -1, "");
	assert_artifacts(fixture, "beta", NULL, -1, "large");
	assert_good(fixture);
}

/* --- invocations --- */

static void some_invocations(struct world_fixture *fixture)
{
	struct cells cells = cells_begin(fixture);

	invocation(&cells, "7.0", "pricer", "alpha", 10, NULL);
	invocation(&cells, "7.1", "adder", "pricer", 4, "'timeout'");
	invocation(&cells, "8.0", "pricer", "beta", 20, "'runtime_error'");
	invocation(&cells, "9.0", "pricer", "alpha", 30, "'runtime_error'");
	invocation(&cells, "10.0", "pricer", "alpha", 1, "'of another table'");
	cells_commit(&cells);
}

IN_WORLD(invocations_are_found_newest_first)
{
	some_invocations(fixture);

	assert_invocations(fixture, NULL, NULL, "10.0 9.0 8.0 7.1 7.0");
	assert_invocations(fixture, "pricer", NULL, "10.0 9.0 8.0 7.0");
	assert_invocations(fixture, NULL, "alpha", "10.0 9.0 7.0");
	assert_invocations(fixture, NULL, "pricer", "7.1");
	assert_invocations(fixture, "adder", "pricer", "7.1");
	assert_invocations(fixture, "adder", "alpha", "");
	assert_good(fixture);
}

IN_WORLD(sums_of_invocations_are_kept)
{
	struct wfs_index_set set;

	some_invocations(fixture);

	wfs_index_invocations(&set, "pricer", NULL);
	assert_int_equal(sum_of(fixture, &set).count, 4);
	assert_int_equal(sum_of(fixture, &set).amount, 61);
	wfs_index_failures(&set, "pricer", NULL, WFS_E_RUNTIME_ERROR);
	assert_int_equal(sum_of(fixture, &set).count, 2);
	assert_int_equal(sum_of(fixture, &set).amount, 50);
	wfs_index_failures(&set, "pricer", "alpha", WFS_E_RUNTIME_ERROR);
	assert_int_equal(sum_of(fixture, &set).count, 1);
	wfs_index_failures(&set, NULL, NULL, WFS_E_TIMEOUT);
	assert_int_equal(sum_of(fixture, &set).count, 1);
	wfs_index_failures(&set, NULL, "alpha", WFS_E_INTERNAL_ERROR);
	assert_int_equal(sum_of(fixture, &set).count, 1);
	wfs_index_failures(&set, NULL, "alpha", WFS_E_TIMEOUT);
	assert_int_equal(sum_of(fixture, &set).count, 0);
}

IN_WORLD(bids_are_pending_or_not)
{
	struct cells cells = cells_begin(fixture);
	struct wfs_index_set set;

	cells_set(&cells, "sys.mint", "s1", "{'status':'pending'}");
	cells_set(&cells, "sys.mint", "s2", "{'status':'won'}");
	cells_set(&cells, "sys.mint", "s3", "{'status':'pending'}");
	cells_commit(&cells);
	cells = cells_begin(fixture);
	cells_set(&cells, "sys.mint", "s1", "{'status':'lost'}");
	cells_commit(&cells);

	wfs_index_bids(&set, true);
	assert_set(fixture, &set, false, "s3");
	wfs_index_bids(&set, false);
	assert_set(fixture, &set, true, "s2 s1");
	assert_good(fixture);
}

TEST(other_reducers_are_in_no_set)
{
	assert_int_equal(wfs_indexed_find(wfs_bytes_text("sys.ledger")), WFS_INDEXED_NONE);
	assert_int_equal(wfs_indexed_find(wfs_bytes_text("sys.grant")), WFS_INDEXED_GRANTS);
	assert_int_equal(wfs_indexed_find(wfs_bytes_text("sys.artifact")), WFS_INDEXED_ARTIFACTS);
	assert_int_equal(
		wfs_indexed_find(wfs_bytes_text("sys.invocation")), WFS_INDEXED_INVOCATIONS);
}

/* --- what else changes a store --- */

IN_WORLD(dropping_old_heights_leaves_the_index_right)
{
	struct wfs_gc gc = {0};
	struct cells cells;

	some_artifacts(fixture);
	cells = cells_begin(fixture);
	cells_delete(&cells, "sys.artifact", "one");
	artifact(&cells, "two", "alpha", "data", true, "[]");
	cells_commit(&cells);
	tell(fixture, "{'key':'a','op':'set','n':1}");
	assert_int_equal(wfs_gc_begin(fixture->world, false, height_of(fixture), &gc, NULL), 0);
	assert_int_equal(wfs_gc_advance(fixture->world, &gc, "tester", 0, NULL), 0);

	assert_true(gc.figures.cell_count > 0);
	assert_artifacts(fixture, "alpha", NULL, -1, "two three four");
	assert_good(fixture);
}

/* --- damage --- */

struct damage {
	struct wfs_index_set set;
	uint64_t cell_id;
};

static struct damage damage_of(struct world_fixture *fixture)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	struct damage damage;
	struct wfs_reducer reducer;

	wfs_index_artifacts(&damage.set, "alpha", NULL, -1);
	assert_int_equal(wfs_view_reducer(&view, "sys.artifact", 12, &reducer), 0);
	assert_int_equal(wfs_cell_find(view.txn, reducer.reducer_id, wfs_bytes_text("three"),
				 &damage.cell_id),
		0);
	return damage;
}

static void remove_item(struct wfs_txn *txn, void *context)
{
	struct damage *damage = context;

	assert_int_equal(wfs_index_remove(txn, &damage->set, damage->cell_id), 0);
}

IN_WORLD(a_cell_that_a_set_lacks_is_found)
{
	some_artifacts(fixture);
	struct damage damage = damage_of(fixture);
	tamper_rows(fixture, remove_item, &damage);

	assert_finds(fixture,
		"reducer 'sys.artifact', key 'three' in the index of 'alpha': "
		"is missing in a set where it belongs");
}

static void add_item(struct wfs_txn *txn, void *context)
{
	struct damage *damage = context;

	wfs_index_artifacts(&damage->set, "nobody", NULL, -1);
	assert_int_equal(wfs_index_add(txn, &damage->set, damage->cell_id, 0), 0);
}

IN_WORLD(a_cell_in_a_set_where_it_does_not_belong_is_found)
{
	some_artifacts(fixture);
	struct damage damage = damage_of(fixture);
	tamper_rows(fixture, add_item, &damage);

	assert_finds(fixture, "is the last item, and there are more than belong");
}

IN_WORLD(a_sum_that_is_another_one_is_found)
{
	const uint64_t three = htobe64(3);
	const uint64_t four = htobe64(4);

	some_artifacts(fixture);
	const struct damage damage = damage_of(fixture);
	tamper(fixture, "index", WFS_BYTES(damage.set.bytes, damage.set.size),
		WFS_BYTES(&three, sizeof(three)), WFS_BYTES(&four, sizeof(four)));

	assert_finds(fixture, "is in a set whose sum is another one");
}

IN_WORLD(a_part_of_a_sum_that_is_another_one_is_found)
{
	const uint64_t before = htobe64(4);
	const uint64_t after = htobe64(5);
	struct wfs_index_set set;
	WFS_AUTO_BUFFER struct wfs_buffer key = {0};

	some_invocations(fixture);
	wfs_index_invocations(&set, "adder", NULL);
	wfs_buffer_append(&key, set.bytes, set.size);
	{
		WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
		WFS_AUTO_INDEX_WALK struct wfs_index_walk walk = {0};
		uint64_t cell_id;

		assert_int_equal(wfs_index_walk_init(&walk, view.txn, &set, false), 0);
		assert_int_equal(wfs_index_walk_next(&walk, &cell_id), 1);
		cell_id = htobe64(cell_id);
		wfs_buffer_append(&key, &cell_id, sizeof(cell_id));
	}
	tamper(fixture, "index", wfs_buffer_bytes(&key), WFS_BYTES(&before, sizeof(before)),
		WFS_BYTES(&after, sizeof(after)));

	assert_finds(fixture, "has another part of a sum than it should");
	assert_finds(fixture, "is in a set whose sum is another one");
}

IN_WORLD(a_row_that_does_not_decode_is_found)
{
	const uint64_t count = htobe64(3);

	some_artifacts(fixture);
	const struct damage damage = damage_of(fixture);
	tamper(fixture, "index", WFS_BYTES(damage.set.bytes, damage.set.size),
		WFS_BYTES(&count, sizeof(count)), WFS_BYTES(NULL, 0));

	assert_finds(fixture, "is the last one whose row can be read");
}
