/* SPDX-License-Identifier: Apache-2.0 */
/* The fold alone: it computes without writing, and is applied as a whole or dropped. */
#include "tests/fixture/world.h"

#include <malloc.h>

#include "kernel/fold/fold.h"
#include "kernel/fold/head.h"
#include "kernel/fold/runtime.h"
#include "kernel/world/domains.h"

enum {
	GENESIS_HEIGHT = 2,
	GENESIS_VID = 12, /* the operator and its eight grants, the manifest, the snapshot */
};

/* A fold in a write transaction on a closed world's store. */
struct folding {
	struct world_fixture *world;
	struct wfs_manifest *manifest;
	struct wfs_store *store;
	struct wfs_txn *txn;
	struct wfs_head head;
	struct wfs_runtime *runtime;
	struct wfs_fold *fold;
	json_t *value; /* of the last event */
	struct wfs_error error;
};

static int setup(void **state)
{
	static const uint8_t entropy[WFS_ENTROPY_SIZE] = {1, 2, 3};
	const struct wfs_store_options options = {0};
	struct folding *folding = calloc(1, sizeof(*folding));

	*state = folding;
	if (world_fixture_setup((void **)&folding->world))
		return -1;
	folding->manifest = wfs_world_manifest(folding->world->world);
	world_fixture_close(folding->world);
	return wfs_store_open(folding->world->directory, &options, &folding->store, NULL) ||
		wfs_store_write(folding->store, &folding->txn) ||
		wfs_head_load(&folding->head, folding->store, folding->txn, folding->manifest) ||
		wfs_runtime_new(folding->manifest, &WFS_LUA_LIMITS_DEFAULT, &folding->runtime) ||
		wfs_fold_new(entropy, wfs_domains, &folding->fold);
}

static int teardown(void **state)
{
	struct folding *folding = *state;
	void *world = folding->world;

	json_decref(folding->value);
	wfs_fold_free(folding->fold);
	wfs_runtime_free(folding->runtime);
	wfs_head_done(&folding->head);
	wfs_txn_end(folding->txn);
	wfs_store_close(folding->store);
	wfs_manifest_unref(folding->manifest);
	free(folding);
	return world_fixture_teardown(&world);
}

#define FOLDING(name) TEST_WITH(name, struct folding *folding, setup, teardown)

static int run(struct folding *folding, const char *schema, const char *value)
{
	WFS_AUTO_FREE char *text = json_text(value);
	WFS_AUTO_BUFFER struct wfs_buffer body = {0};

	json_decref(folding->value);
	folding->value = NULL;
	assert_int_equal(wfs_json_parse(text, strlen(text), &folding->value, NULL), 0);
	wfs_body_write_event(&body,
		&(const struct wfs_body_event){
			.due_ns = -1, .schema = schema, .value = folding->value});
	const struct wfs_fold_input input = {
		.kind = WFS_RECORD_EVENT,
		.schema = schema,
		.value = folding->value,
		.body = wfs_buffer_bytes(&body),
		.principal = "tester",
		.at_ns = folding->head.at_ns,
	};
	int r = wfs_fold_run(
		folding->fold, &folding->head, folding->runtime, &input, &folding->error);
	/* The fold borrows the body until it is applied, so the test applies it here. */
	if (!r)
		r = wfs_fold_apply(folding->fold, &folding->head);
	return r;
}

struct seen {
	size_t count;
	struct wfs_change last;
};

static void see(void *context, const struct wfs_change *change)
{
	struct seen *seen = context;

	seen->count++;
	seen->last = *change;
}

static struct seen changes_of(const struct folding *folding)
{
	struct seen seen = {0};

	wfs_fold_changes(folding->fold, see, &seen);
	return seen;
}

FOLDING(a_run_writes_nothing_before_it_is_applied)
{
	WFS_AUTO_BUFFER struct wfs_buffer body = {0};
	WFS_AUTO_JSON json_t *value = json_pack("{s:s,s:s}", "key", "a", "op", "set");
	uint64_t cell_id;
	uint64_t height;

	wfs_body_write_event(&body,
		&(const struct wfs_body_event){
			.due_ns = -1, .schema = "test/Do@1", .value = value});
	const struct wfs_fold_input input = {.kind = WFS_RECORD_EVENT,
		.schema = "test/Do@1",
		.value = value,
		.body = wfs_buffer_bytes(&body),
		.principal = "tester",
		.at_ns = folding->head.at_ns};
	assert_int_equal(wfs_fold_run(folding->fold, &folding->head, folding->runtime, &input,
				 &folding->error),
		0);

	assert_int_equal(wfs_fold_record_count(folding->fold), 1);
	assert_int_equal(wfs_journal_height(folding->txn, &height), 0);
	assert_int_equal(height, GENESIS_HEIGHT);
	assert_int_equal(folding->head.height, GENESIS_HEIGHT);
	assert_int_equal(wfs_fold_apply(folding->fold, &folding->head), 0);
	assert_int_equal(wfs_journal_height(folding->txn, &height), 0);
	assert_int_equal(height, GENESIS_HEIGHT + 1);
	assert_int_equal(wfs_cell_find(folding->txn, folding->head.reducers[0].reducer_id,
				 wfs_bytes_text("a"), &cell_id),
		0);
}

FOLDING(a_run_that_fails_is_dropped_by_the_next)
{
	assert_int_equal(run(folding, "test/Do@1",
				 "{'key':'a','op':'emit','n':1,'value':{'key':'b','op':'fail'}}"),
		-EIO);
	assert_int_equal(folding->error.code, WFS_E_RUNTIME_ERROR);
	assert_int_equal(run(folding, "test/Do@1", "{'key':'c','op':'set'}"), 0);

	assert_int_equal(wfs_fold_record_count(folding->fold), 1);
	assert_int_equal(changes_of(folding).count, 1);
	assert_int_equal(folding->head.height, GENESIS_HEIGHT + 1);
	assert_int_equal(folding->head.next_vid, GENESIS_VID + 2); /* one version more */
}

FOLDING(derived_events_are_counted_with_their_cause)
{
	assert_int_equal(run(folding, "test/Do@1", "{'key':'a','op':'emit','n':5}"), 0);

	assert_int_equal(wfs_fold_record_count(folding->fold), 6);
	assert_int_equal(changes_of(folding).count, 6);
}

FOLDING(changes_tell_what_the_request_did_as_a_whole)
{
	assert_int_equal(run(folding, "test/Do@1", "{'key':'b','op':'set'}"), 0);
	struct seen created = changes_of(folding);
	assert_int_equal(run(folding, "test/Do@1", "{'key':'b','op':'same'}"), 0);
	struct seen same = changes_of(folding);
	assert_int_equal(run(folding, "test/Do@1", "{'key':'b','op':'delete'}"), 0);
	struct seen deleted = changes_of(folding);

	assert_int_equal(created.count, 1);
	assert_true(!created.last.was_live && created.last.is_live);
	assert_int_equal(created.last.reducer_id, folding->head.reducers[0].reducer_id);
	assert_int_equal(same.count, 0);
	assert_int_equal(deleted.count, 1);
	assert_true(deleted.last.was_live && !deleted.last.is_live);
}

FOLDING(two_cells_of_one_record_are_both_changed)
{
	assert_int_equal(run(folding, "test/Both@1", "{'key':'b','op':'set'}"), 0);

	assert_int_equal(changes_of(folding).count, 2);
	assert_int_equal(folding->head.reducers[0].live_count, 1);
	assert_int_equal(folding->head.reducers[1].live_count, 1);
}

FOLDING(many_cells_are_each_found_again)
{
	assert_int_equal(run(folding, "test/Do@1", "{'key':'a','op':'emit','n':1000}"), 0);
	assert_int_equal(changes_of(folding).count, 1001);
	assert_int_equal(run(folding, "test/Do@1", "{'key':'a','op':'emit','n':1000}"), 0);
	assert_int_equal(changes_of(folding).count, 0);
	assert_int_equal(run(folding, "test/Do@1",
				 "{'key':'b','op':'emit','n':1000,"
				 "'value':{'key':'a.7','op':'add','n':1}}"),
		0);
	assert_int_equal(changes_of(folding).count, 2);
}

FOLDING(a_cell_that_is_made_and_deleted_again_is_no_change_of_the_request)
{
	assert_int_equal(run(folding, "test/Do@1",
				 "{'key':'a','op':'emit','n':1,'value':{'key':'a','op':'delete'}}"),
		0);

	assert_int_equal(changes_of(folding).count, 0);
	assert_int_equal(folding->head.reducers[0].live_count, 0);
	assert_int_equal(folding->head.reducers[0].cell_count, 1);
}

FOLDING(random_is_the_same_for_the_same_record)
{
	struct wfs_version version;
	struct wfs_hash first;

	assert_int_equal(run(folding, "test/Do@1", "{'key':'a','op':'random'}"), 0);
	assert_int_equal(wfs_version_get(folding->txn, folding->head.next_vid - 1, &version), 0);
	first = version.hash;
	wfs_txn_end(folding->txn);
	folding->txn = NULL;
	assert_int_equal(wfs_store_write(folding->store, &folding->txn), 0);
	assert_int_equal(
		wfs_head_load(&folding->head, folding->store, folding->txn, folding->manifest), 0);
	assert_int_equal(run(folding, "test/Do@1", "{'key':'a','op':'random'}"), 0);
	assert_int_equal(wfs_version_get(folding->txn, folding->head.next_vid - 1, &version), 0);

	assert_true(wfs_hash_equal(&first, &version.hash));
}

/* --- bounds of one event --- */

enum { PAD = 7000000, STATE_SIZE = PAD + sizeof("{\"odd\":true,\"pad\":\"\"}\n") - 1 };

/* Runs an event that causes @count others, each of which adds @pad bytes to the cell `x`. */
static int run_large(struct folding *folding, int count, int pad)
{
	char value[160];

	snprintf(value, sizeof(value),
		"{'key':'a','op':'emit','n':%d,'value':{'key':'x','op':'toggle','n':%d}}", count,
		pad);
	return run(folding, "test/Do@1", value);
}

FOLDING(an_event_whose_states_are_too_much_fails)
{
	const int fit = WFS_FOLD_BYTES_MAX / STATE_SIZE;

	assert_int_equal(run_large(folding, fit + 1, PAD), -EIO);
	assert_int_equal(folding->error.code, WFS_E_RUNTIME_ERROR);
	assert_non_null(strstr(folding->error.message, "more than 67108864 bytes"));
	assert_int_equal(folding->head.height, GENESIS_HEIGHT);

	assert_int_equal(run_large(folding, fit, PAD), 0);
	assert_in_range(wfs_fold_bytes(folding->fold), fit * STATE_SIZE, WFS_FOLD_BYTES_MAX);
}

FOLDING(states_that_an_event_only_reads_count_too)
{
	enum { CELLS = 10 };
	char value[160];

	for (int i = 1; i <= CELLS; i++) {
		snprintf(value, sizeof(value), "{'key':'a.%d','op':'grow','n':%d}", i, PAD);
		assert_int_equal(run(folding, "test/Do@1", value), 0);
	}

	/* The event gives each of these cells a small state. */
	snprintf(value, sizeof(value), "{'key':'a','op':'emit','n':%d}", CELLS);
	assert_int_equal(run(folding, "test/Do@1", value), -EIO);
	assert_non_null(strstr(folding->error.message, "more than 67108864 bytes"));
	assert_int_equal(run(folding, "test/Do@1", "{'key':'a','op':'emit','n':9}"), 0);
}

/* Runs an event that causes 50 others, each with @turns rounds of a loop; a step has 100,000
 * instructions. */
static int run_working(struct folding *folding, uint64_t instructions, int turns)
{
	const struct wfs_lua_limits limits = {
		.instructions = instructions, .memory_bytes = 8 << 20, .output_bytes = 1 << 20};
	char value[160];

	wfs_runtime_free(folding->runtime);
	folding->runtime = NULL;
	assert_int_equal(wfs_runtime_new(folding->manifest, &limits, &folding->runtime), 0);
	snprintf(value, sizeof(value),
		"{'key':'a','op':'emit','n':50,'value':{'key':'x','op':'work','n':%d}}", turns);
	return run(folding, "test/Do@1", value);
}

FOLDING(an_event_with_too_many_instructions_in_its_steps_fails)
{
	assert_int_equal(run_working(folding, 100000, 90000), -EIO);
	assert_int_equal(folding->error.code, WFS_E_RUNTIME_ERROR);
	assert_non_null(
		strstr(folding->error.message, "more than 1000000 instructions for one event"));
	assert_int_equal(folding->head.height, GENESIS_HEIGHT);

	assert_int_equal(run_working(folding, 100000, 19000), 0);
	assert_int_equal(folding->head.height, GENESIS_HEIGHT + 51);
}

/* The earlier steps leave less than a step may use. */
FOLDING(the_last_steps_of_an_event_have_what_the_others_left)
{
	/* Fewer instructions than between two checks of the bound. */
	assert_int_equal(run_working(folding, 1000, 900), 0);
	assert_int_equal(run_working(folding, 400000, 85000), -EIO);
	assert_non_null(strstr(folding->error.message,
		"cell.lua:14: more than 4000000 instructions for one event"));
	assert_int_equal(run_working(folding, 800000, 85000), 0);
}

FOLDING(bytes_of_states_that_do_not_change_count_as_instructions)
{
	assert_int_equal(run(folding, "test/Do@1", "{'key':'x','op':'grow','n':7000000}"), 0);
	assert_int_equal(run(folding, "test/Do@1",
				 "{'key':'a','op':'emit','n':100,'value':{'key':'x','op':'same'}}"),
		-EIO);
	assert_non_null(
		strstr(folding->error.message, "more than 100000000 instructions for one event"));
	assert_int_equal(run(folding, "test/Do@1",
				 "{'key':'a','op':'emit','n':20,'value':{'key':'x','op':'same'}}"),
		0);
}

/* Appends `[[],[],…]` with @count values. */
static void append_values(struct wfs_buffer *buffer, size_t count)
{
	wfs_buffer_append_byte(buffer, '[');
	for (size_t i = 1; i < count; i++)
		wfs_buffer_append_text(buffer, i == 1 ? "[]" : ",[]");
	wfs_buffer_append_byte(buffer, ']');
}

FOLDING(events_of_one_step_with_too_many_values_fail)
{
	WFS_AUTO_BUFFER struct wfs_buffer value = {0};

	wfs_buffer_append_text(
		&value, "{'key':'a','op':'emit','n':3,'value':{'key':'x','op':'same','values':");
	append_values(&value, WFS_JSON_VALUES_MAX / 3);
	wfs_buffer_append_text(&value, "}}");

	assert_int_equal(run(folding, "test/Do@1", wfs_buffer_text(&value)), -EIO);
	assert_string_equal(
		folding->error.message, "cell.lua: more than 1048576 values of JSON in events");
	assert_int_equal(folding->error.code, WFS_E_RUNTIME_ERROR);
}

FOLDING(events_of_many_steps_with_too_many_values_fail)
{
	WFS_AUTO_BUFFER struct wfs_buffer value = {0};

	/* The event has 5 times 100,000 values, and each event that it causes has twice as many. */
	wfs_buffer_append_text(&value,
		"{'key':'a','op':'emit','n':5,'value':{'key':'x','op':'emit','schema':'test/Do@1',"
		"'n':2,'value':{'key':'x','op':'same','values':");
	append_values(&value, 100000);
	wfs_buffer_append_text(&value, "}},'schema':'test/Do@1'}");

	assert_int_equal(run(folding, "test/Do@1", wfs_buffer_text(&value)), -EIO);
	assert_string_equal(folding->error.message,
		"the events that the event causes have more than 1048576 values of JSON");
	assert_int_equal(folding->error.code, WFS_E_RUNTIME_ERROR);
}

static size_t heap_bytes(void)
{
	const struct mallinfo2 figures = mallinfo2();

	return figures.uordblks + figures.hblkhd;
}

FOLDING(what_a_large_event_took_is_given_back)
{
	assert_int_equal(run(folding, "test/Do@1", "{'key':'x','op':'set'}"), 0);
	wfs_fold_clear(folding->fold);
	const size_t before = heap_bytes();
	assert_int_equal(run_large(folding, 9, PAD), 0);
	wfs_fold_clear(folding->fold);

	assert_int_equal(wfs_fold_bytes(folding->fold), 0);
	assert_true(heap_bytes() < before + (16 << 20)); /* under a sanitizer both are 0 */
}
