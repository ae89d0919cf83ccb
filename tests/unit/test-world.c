/* SPDX-License-Identifier: Apache-2.0 */
/* Worlds: opening them, and the changes that one event or blob makes. */
#include "tests/fixture/tamper.h"

#include <sys/wait.h>

#include "kernel/base/lock.h"

enum { GENESIS_HEIGHT = 2 }; /* of a new world: the genesis record and its first snapshot */

/* --- opening one --- */

WITH_SOURCE(open_refuses_what_is_no_world)
{
	assert_int_equal(world_fixture_open(fixture), -ENOENT);
	assert_int_equal(fixture->error.code, WFS_E_NOT_FOUND);
	assert_int_equal(mkdir(fixture->directory, 0755), 0);
	assert_int_equal(world_fixture_open(fixture), -ENOENT);
	assert_int_equal(fixture->error.code, WFS_E_NOT_FOUND);
	assert_int_equal(rmdir(fixture->directory), 0); /* the attempt left nothing in it */
}

IN_WORLD(open_names_the_process_that_owns_the_world)
{
	char pid_text[32];
	int hold[2];
	int ready[2];
	char byte;
	pid_t owner;

	world_fixture_close(fixture);
	assert_int_equal(pipe(hold), 0);
	assert_int_equal(pipe(ready), 0);
	pid_t child = fork();
	if (child == 0) {
		close(hold[1]);
		int fd = wfs_lock_take(fixture->directory, 0, NULL);
		if (fd < 0 || write(ready[1], "r", 1) != 1)
			_exit(1);
		_exit(read(hold[0], &byte, 1) == 0 ? 0 : 1);
	}
	close(hold[0]);
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);

	assert_int_equal(world_fixture_open(fixture), -EBUSY);
	assert_int_equal(fixture->error.code, WFS_E_BUSY);
	snprintf(pid_text, sizeof(pid_text), "%ld", (long)child);
	assert_non_null(strstr(fixture->error.message, pid_text));
	assert_int_equal(wfs_lock_owner(fixture->directory, &owner), 0);
	assert_int_equal(owner, child);
	close(hold[1]);
	close(ready[0]);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(world_fixture_open(fixture), 0);
}

IN_WORLD(open_for_reading_runs_beside_the_owner)
{
	const struct wfs_world_options options = {.read_only = true};
	/* LMDB does not allow one environment twice in a process, so another process is the
	 * owner. */
	world_fixture_close(fixture);
	WFS_AUTO_FD int lock = wfs_lock_take(fixture->directory, 0, NULL);
	assert_true(lock >= 0);
	assert_int_equal(
		wfs_world_open(fixture->directory, &options, &fixture->world, &fixture->error), 0);

	assert_int_equal(height_of(fixture), GENESIS_HEIGHT);
	assert_int_equal(send_event(fixture, "test/Do@1", "{'key':'a','op':'set'}"), -EROFS);
	assert_int_equal(fixture->error.code, WFS_E_READ_ONLY);
}

IN_WORLD(open_shows_what_was_there_before)
{
	char id[64];

	tell(fixture, "{'key':'a','op':'set','n':1}");
	snprintf(id, sizeof(id), "%s", wfs_world_id(fixture->world));
	assert_int_equal(world_fixture_open(fixture), 0);

	assert_string_equal(wfs_world_id(fixture->world), id);
	assert_int_equal(height_of(fixture), GENESIS_HEIGHT + 1);
	assert_state(fixture, "cell", "a", "{'n':1}");
	tell(fixture, "{'key':'a','op':'add','n':1}");
	assert_state(fixture, "cell", "a", "{'n':2}");
}

/* Appends @line to the journal of a closed world. */
static void append_raw(struct world_fixture *fixture, const char *line)
{
	const struct wfs_store_options options = {0};
	WFS_AUTO_STORE struct wfs_store *store = NULL;
	struct wfs_bytes last;
	struct wfs_txn *txn;
	uint64_t height;
	uint64_t offset;

	world_fixture_close(fixture);
	assert_int_equal(wfs_store_open(fixture->directory, &options, &store, NULL), 0);
	assert_int_equal(wfs_store_write(store, &txn), 0);
	assert_int_equal(wfs_journal_height(txn, &height), 0);
	assert_int_equal(wfs_journal_get(txn, height - 1, &offset, &last), 0);
	assert_int_equal(
		wfs_journal_append(txn, height, offset + last.size, wfs_bytes_text(line)), 0);
	assert_int_equal(wfs_txn_commit(txn), 0);
}

IN_WORLD(open_refuses_a_head_record_that_does_not_hash)
{
	tell(fixture, "{'key':'a','op':'set','n':1}");
	tamper_number(fixture, "journal", GENESIS_HEIGHT, "\"n\":1", "\"n\":2");

	assert_int_equal(world_fixture_open(fixture), -EIO);
	assert_int_equal(fixture->error.code, WFS_E_HASH_MISMATCH);
}

IN_WORLD(open_refuses_a_journal_whose_end_is_gone)
{
	tell(fixture, "{'key':'a','op':'set','n':1}");
	tamper_number(fixture, "journal", GENESIS_HEIGHT, NULL, NULL);

	assert_int_equal(world_fixture_open(fixture), -EIO);
	assert_int_equal(fixture->error.code, WFS_E_HASH_MISMATCH);
}

IN_WORLD(open_refuses_a_head_record_that_is_no_record)
{
	append_raw(fixture, "nonsense\n");
	tamper_head_hash(fixture);

	assert_int_equal(world_fixture_open(fixture), -EIO);
}

IN_WORLD(open_refuses_a_head_record_that_is_not_chained)
{
	WFS_AUTO_BUFFER struct wfs_buffer line = {0};
	const struct wfs_record record = {
		.seq = GENESIS_HEIGHT,
		.at_ns = INT64_C(1800000000000000000),
		.kind = WFS_RECORD_EVENT,
		.principal = "tester",
		.body = wfs_bytes_text("{\"schema\":\"test/Do@1\",\"value\":{}}"),
		.prev = wfs_hash_of("something else", 14),
	};

	wfs_record_write(&line, &record);
	append_raw(fixture, wfs_buffer_text(&line));
	tamper_head_hash(fixture);

	assert_int_equal(world_fixture_open(fixture), -EIO);
	assert_int_equal(fixture->error.code, WFS_E_HASH_MISMATCH);
}

/* --- events --- */

IN_WORLD(an_event_sets_its_cell)
{
	uint64_t seq;

	assert_int_equal(
		send_keyed(fixture, "test/Do@1", "{'key':'a','op':'set','n':5}", NULL, &seq), 0);

	assert_int_equal(seq, GENESIS_HEIGHT);
	assert_int_equal(height_of(fixture), GENESIS_HEIGHT + 1);
	assert_state(fixture, "cell", "a", "{'n':5}");
	assert_state_at(fixture, GENESIS_HEIGHT, "cell", "a", NULL);
}

IN_WORLD(the_record_of_an_event_holds_what_it_did)
{
	WFS_AUTO_BUFFER struct wfs_buffer changes = {0};
	const struct wfs_hash state_hash = wfs_hash_of("{\"n\":5}\n", 8);

	tell(fixture, "{'key':'a','op':'set','n':5}");

	WFS_AUTO_RECORD struct wfs_record_parsed parsed = record_at(fixture, GENESIS_HEIGHT);
	wfs_changes_add(&changes, "cell", wfs_bytes_text("a"), &state_hash);
	wfs_changes_end(&changes);
	const struct wfs_hash hash = wfs_hash_of(changes.data, changes.size);
	assert_int_equal(parsed.record.kind, WFS_RECORD_EVENT);
	assert_string_equal(parsed.record.principal, "tester");
	assert_false(parsed.record.derived);
	assert_true(parsed.record.changed);
	assert_true(wfs_hash_equal(&parsed.record.changes, &hash));
	assert_string_equal(parsed.body.event.schema, "test/Do@1");
	assert_int_equal(json_integer_value(json_object_get(parsed.body.event.value, "n")), 5);
}

IN_WORLD(an_event_that_gives_the_cell_what_it_has_changes_nothing)
{
	tell(fixture, "{'key':'a','op':'set','n':5}");
	tell(fixture, "{'key':'a','op':'set','n':5}");
	tell(fixture, "{'key':'a','op':'same'}");
	tell(fixture, "{'key':'b','op':'delete'}");

	for (uint64_t seq = GENESIS_HEIGHT + 1; seq < GENESIS_HEIGHT + 4; seq++) {
		WFS_AUTO_RECORD struct wfs_record_parsed parsed = record_at(fixture, seq);

		assert_false(parsed.record.changed);
	}
	assert_int_equal(height_of(fixture), GENESIS_HEIGHT + 4);
}

IN_WORLD(nil_deletes_the_cell_and_it_can_come_back)
{
	tell(fixture, "{'key':'a','op':'set','n':1}");
	tell(fixture, "{'key':'a','op':'delete'}");
	tell(fixture, "{'key':'a','op':'add','n':3}");

	assert_state_at(fixture, GENESIS_HEIGHT + 1, "cell", "a", "{'n':1}");
	assert_state_at(fixture, GENESIS_HEIGHT + 2, "cell", "a", NULL);
	assert_state_at(fixture, GENESIS_HEIGHT + 3, "cell", "a", "{'n':3}");
}

IN_WORLD(an_event_without_reducers_is_recorded)
{
	assert_int_equal(send_event(fixture, "test/None@1", "[1,2]"), 0);

	WFS_AUTO_RECORD struct wfs_record_parsed parsed = record_at(fixture, GENESIS_HEIGHT);
	assert_false(parsed.record.changed);
}

IN_WORLD(a_reducer_without_keys_has_the_empty_key)
{
	assert_int_equal(send_event(fixture, "test/Total@1", "{'op':'add','n':2}"), 0);
	assert_int_equal(send_event(fixture, "test/Total@1", "{'op':'add','n':3}"), 0);

	assert_state(fixture, "total", "", "{'n':5}");
}

IN_WORLD(two_reducers_fold_one_event)
{
	WFS_AUTO_BUFFER struct wfs_buffer changes = {0};
	const struct wfs_hash state_hash = wfs_hash_of("{\"n\":4}\n", 8);

	assert_int_equal(send_event(fixture, "test/Both@1", "{'key':'a','op':'add','n':4}"), 0);

	assert_state(fixture, "cell", "a", "{'n':4}");
	assert_state(fixture, "total", "", "{'n':4}");
	wfs_changes_add(&changes, "cell", wfs_bytes_text("a"), &state_hash);
	wfs_changes_add(&changes, "total", wfs_bytes_text(""), &state_hash);
	wfs_changes_end(&changes);
	const struct wfs_hash hash = wfs_hash_of(changes.data, changes.size);
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = record_at(fixture, GENESIS_HEIGHT);
	assert_true(wfs_hash_equal(&parsed.record.changes, &hash));
}

IN_WORLD(a_key_may_come_from_deep_inside)
{
	assert_int_equal(send_event(fixture, "test/Deep@1", "{'a':{'b':17},'n':1}"), 0);

	assert_state(fixture, "deep", "17", "{'n':1}");
}

IN_WORLD(the_senders_own_key_may_repeat_the_key)
{
	assert_int_equal(
		send_keyed(fixture, "test/Do@1", "{'key':'a','op':'set'}", "'a'", NULL), 0);
	assert_int_equal(send_keyed(fixture, "test/Do@1", "{'key':7,'op':'set'}", "'7'", NULL), 0);
}

IN_WORLD(a_large_state_becomes_a_file_and_comes_back)
{
	tell(fixture, "{'key':'a','op':'grow','n':100000}");
	tell(fixture, "{'key':'a','op':'same'}");
	assert_int_equal(world_fixture_open(fixture), 0);

	WFS_AUTO_FREE char *found = state_at(fixture, WFS_HEIGHT_HEAD, "cell", "a");
	assert_int_equal(strlen(found), 100000 + strlen("{\"pad\":\"\"}"));
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = record_at(fixture, GENESIS_HEIGHT + 1);
	assert_false(parsed.record.changed);
}

IN_WORLD(a_step_is_told_where_it_is)
{
	tell(fixture, "{'key':'a','op':'context'}");

	WFS_AUTO_RECORD struct wfs_record_parsed parsed = record_at(fixture, GENESIS_HEIGHT);
	WFS_AUTO_BUFFER struct wfs_buffer expected = {0};
	wfs_buffer_printf(&expected,
		"{'at_ns':%lld,'key':'a','principal':'tester','reducer':'cell',"
		"'schema':'test/Do@1','seq':%d}",
		(long long)parsed.record.at_ns, GENESIS_HEIGHT);
	assert_state(fixture, "cell", "a", wfs_buffer_text(&expected));
}

IN_WORLD(random_differs_from_record_to_record)
{
	tell(fixture, "{'key':'a','op':'random'}");
	tell(fixture, "{'key':'b','op':'random'}");

	WFS_AUTO_FREE char *a = state_at(fixture, WFS_HEIGHT_HEAD, "cell", "a");
	WFS_AUTO_FREE char *b = state_at(fixture, WFS_HEIGHT_HEAD, "cell", "b");
	assert_string_not_equal(a, b);
}

static int64_t backward_clock(void *context)
{
	return atomic_fetch_sub((atomic_int_least64_t *)context, 1000000);
}

IN_WORLD(time_never_goes_back)
{
	int64_t last = 0;

	fixture->options.clock_ns = backward_clock;
	assert_int_equal(world_fixture_open(fixture), 0);
	tell(fixture, "{'key':'a','op':'set','n':1}");
	tell(fixture, "{'key':'a','op':'set','n':2}");

	for (uint64_t seq = 0; seq < GENESIS_HEIGHT + 2; seq++) {
		WFS_AUTO_RECORD struct wfs_record_parsed parsed = record_at(fixture, seq);

		assert_true(parsed.record.at_ns >= last);
		last = parsed.record.at_ns;
	}
}

/* --- events that are refused --- */

#define REFUSES_EVENT(name, schema, value, key, number, code)                    \
	IN_WORLD(name)                                                           \
	{                                                                        \
		assert_event_refused(fixture, schema, value, key, number, code); \
	}

REFUSES_EVENT(an_unknown_schema_is_refused, "test/Nothing@1", "{}", NULL, -ENOENT, WFS_E_NOT_FOUND)
REFUSES_EVENT(a_value_that_does_not_fit_its_schema_is_refused, "test/Do@1", "{'key':'a'}", NULL,
	-EINVAL, WFS_E_SCHEMA_VIOLATION)

IN_WORLD(a_lua_error_is_refused_with_its_message)
{
	assert_event_refused(
		fixture, "test/Do@1", "{'key':'a','op':'fail'}", NULL, -EIO, WFS_E_RUNTIME_ERROR);
	assert_non_null(strstr(fixture->error.message, "told to fail"));
	assert_non_null(strstr(fixture->error.message, "cell.lua:8"));
}

IN_WORLD(an_endless_loop_is_refused)
{
	assert_event_refused(
		fixture, "test/Do@1", "{'key':'a','op':'loop'}", NULL, -EIO, WFS_E_RUNTIME_ERROR);
	tell(fixture, "{'key':'a','op':'set'}");
}

REFUSES_EVENT(an_effect_that_is_not_declared_is_refused, "test/Do@1", "{'key':'a','op':'effect'}",
	NULL, -EIO, WFS_E_RUNTIME_ERROR)
REFUSES_EVENT(an_event_without_the_key_is_refused, "test/Do@1", "{'op':'set'}", NULL, -EINVAL,
	WFS_E_INVALID_ARGUMENT)

IN_WORLD(a_key_that_is_too_long_is_refused)
{
	WFS_AUTO_BUFFER struct wfs_buffer value = {0};

	wfs_buffer_append_text(&value, "{'op':'set','key':'");
	for (int i = 0; i < 256; i++)
		wfs_buffer_append_byte(&value, 'k');
	wfs_buffer_append_text(&value, "'}");

	assert_event_refused(
		fixture, "test/Do@1", wfs_buffer_text(&value), NULL, -EFBIG, WFS_E_KEY_TOO_LONG);
}

IN_WORLD(a_key_of_the_limit_is_taken)
{
	WFS_AUTO_BUFFER struct wfs_buffer value = {0};

	wfs_buffer_append_text(&value, "{'op':'set','key':'");
	for (int i = 0; i < 255; i++)
		wfs_buffer_append_byte(&value, 'k');
	wfs_buffer_append_text(&value, "'}");

	tell(fixture, wfs_buffer_text(&value));
	assert_state(fixture, "cell",
		"kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"
		"kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"
		"kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"
		"kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk",
		"{'n':0}");
}

REFUSES_EVENT(a_key_other_than_the_senders_own_is_refused, "test/Do@1", "{'key':'a','op':'set'}",
	"'b'", -EINVAL, WFS_E_INVALID_ARGUMENT)

IN_WORLD(a_request_that_is_too_large_is_refused)
{
	WFS_AUTO_FREE char *text = malloc(WFS_REQUEST_SIZE_MAX + 1);

	memset(text, 'x', WFS_REQUEST_SIZE_MAX + 1);
	WFS_AUTO_JSON json_t *value = json_stringn(text, WFS_REQUEST_SIZE_MAX + 1);
	struct wfs_request request = {.kind = WFS_REQUEST_EVENT,
		.principal = "tester",
		.event.schema = "test/None@1",
		.event.value = value};

	assert_int_equal(wfs_world_call(fixture->world, &request), -EFBIG);
	assert_int_equal(request.error.code, WFS_E_TOO_LARGE);
	assert_int_equal(height_of(fixture), GENESIS_HEIGHT);
}

IN_WORLD(a_refused_event_leaves_the_cells_as_they_were)
{
	/* `total` is folded first and succeeds; then the event turns out to lack the key for
	 * `cell`. */
	tell(fixture, "{'key':'a','op':'set','n':1}");
	assert_int_equal(send_event(fixture, "test/Total@1", "{'op':'set','n':1}"), 0);

	assert_event_refused(
		fixture, "test/Both@1", "{'key':'a','op':'fail'}", NULL, -EIO, WFS_E_RUNTIME_ERROR);
	assert_state(fixture, "cell", "a", "{'n':1}");
	assert_state(fixture, "total", "", "{'n':1}");
}

/* --- derived events --- */

IN_WORLD(derived_events_are_folded_behind_their_cause)
{
	tell(fixture, "{'key':'a','op':'emit','n':3}");

	assert_int_equal(height_of(fixture), GENESIS_HEIGHT + 4);
	for (uint64_t i = 1; i <= 3; i++) {
		WFS_AUTO_RECORD struct wfs_record_parsed parsed =
			record_at(fixture, GENESIS_HEIGHT + i);

		assert_true(parsed.record.derived);
		assert_int_equal(parsed.record.cause, GENESIS_HEIGHT);
		assert_string_equal(parsed.record.principal, "tester");
	}
	assert_state(fixture, "cell", "a.3", "{'n':3}");
	assert_state_at(fixture, GENESIS_HEIGHT + 3, "cell", "a.3", NULL);
}

IN_WORLD(derived_events_are_folded_breadth_first)
{
	static const char *const keys[] = {"r", "r1", "r2", "r11", "r12", "r21", "r22"};
	static const uint64_t causes[] = {0, 0, 0, 1, 1, 2, 2};

	tell(fixture, "{'key':'r','op':'tree','n':2}");

	assert_int_equal(height_of(fixture), GENESIS_HEIGHT + 7);
	for (uint64_t i = 0; i < 7; i++) {
		WFS_AUTO_RECORD struct wfs_record_parsed parsed =
			record_at(fixture, GENESIS_HEIGHT + i);

		assert_string_equal(
			json_string_value(json_object_get(parsed.body.event.value, "key")),
			keys[i]);
		assert_int_equal(parsed.record.derived, i > 0);
		if (i > 0)
			assert_int_equal(parsed.record.cause, GENESIS_HEIGHT + causes[i]);
	}
}

IN_WORLD(several_records_of_a_request_may_change_one_cell)
{
	tell(fixture, "{'key':'a','op':'emit','n':3,'value':{'key':'b','op':'add','n':10}}");

	assert_state_at(fixture, GENESIS_HEIGHT + 1, "cell", "b", NULL);
	assert_state_at(fixture, GENESIS_HEIGHT + 2, "cell", "b", "{'n':10}");
	assert_state_at(fixture, GENESIS_HEIGHT + 3, "cell", "b", "{'n':20}");
	assert_state_at(fixture, GENESIS_HEIGHT + 4, "cell", "b", "{'n':30}");
}

IN_WORLD(an_event_may_cause_as_many_others_as_the_limit)
{
	tell(fixture, "{'key':'a','op':'emit','n':1024}");

	assert_int_equal(height_of(fixture), GENESIS_HEIGHT + 1025);
	assert_state(fixture, "cell", "a.1024", "{'n':1024}");
}

REFUSES_EVENT(an_event_that_causes_more_others_than_the_limit_is_refused, "test/Do@1",
	"{'key':'a','op':'emit','n':1025}", NULL, -EIO, WFS_E_RUNTIME_ERROR)
REFUSES_EVENT(an_event_that_causes_more_others_in_the_end_is_refused, "test/Do@1",
	"{'key':'a','op':'tree','n':10}", NULL, -EIO, WFS_E_RUNTIME_ERROR)

IN_WORLD(a_derived_event_that_is_not_declared_is_refused)
{
	assert_event_refused(fixture, "test/Do@1",
		"{'key':'a','op':'emit','n':1,'schema':'test/Total@1','value':{'op':'set'}}", NULL,
		-EIO, WFS_E_RUNTIME_ERROR);
	assert_non_null(strstr(fixture->error.message, "test/Total@1"));
	assert_event_refused(fixture, "test/Total@1",
		"{'op':'emit','n':1,'schema':'test/Out@1','value':{'key':'a','op':'set'}}", NULL,
		-EIO, WFS_E_RUNTIME_ERROR);
}

IN_WORLD(a_derived_event_that_does_not_fit_its_schema_is_refused)
{
	assert_event_refused(fixture, "test/Do@1",
		"{'key':'a','op':'emit','n':1,'value':{'key':'b'}}", NULL, -EIO,
		WFS_E_RUNTIME_ERROR);
	assert_event_refused(fixture, "test/Do@1", "{'key':'a','op':'emit','n':1,'schema':5}", NULL,
		-EIO, WFS_E_RUNTIME_ERROR);
}

IN_WORLD(a_derived_event_with_another_key_of_its_own_is_refused)
{
	tell(fixture, "{'key':'a','op':'emit','n':1,'own_key':'a.1'}");
	assert_event_refused(fixture, "test/Do@1", "{'key':'a','op':'emit','n':1,'own_key':'b'}",
		NULL, -EINVAL, WFS_E_INVALID_ARGUMENT);
}

IN_WORLD(a_derived_event_that_fails_fails_the_whole_request)
{
	assert_event_refused(fixture, "test/Do@1",
		"{'key':'a','op':'emit','n':1,'value':{'key':'b','op':'fail'}}", NULL, -EIO,
		WFS_E_RUNTIME_ERROR);
	assert_state(fixture, "cell", "a", NULL);
}

/* --- blobs --- */

IN_WORLD(a_blob_is_listed_once)
{
	struct wfs_hash hash;
	struct wfs_hash again;

	assert_int_equal(put_blob(fixture, "hello\n", 6, &hash), 0);
	assert_int_equal(put_blob(fixture, "hello\n", 6, &again), 0);

	assert_true(wfs_hash_equal(&hash, &again));
	assert_int_equal(height_of(fixture), GENESIS_HEIGHT + 1);
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = record_at(fixture, GENESIS_HEIGHT);
	assert_int_equal(parsed.record.kind, WFS_RECORD_BLOB);
	assert_int_equal(parsed.body.blob.size, 6);
}

IN_WORLD(a_blob_that_is_listed_already_is_answered_without_a_record)
{
	WFS_AUTO_BLOB_WRITER struct wfs_blob_writer *writer = NULL;
	struct wfs_request request = {.kind = WFS_REQUEST_BLOB, .principal = "tester"};
	struct wfs_hash hash;

	assert_int_equal(put_blob(fixture, "hello\n", 6, &hash), 0);
	assert_int_equal(wfs_blob_writer_new(wfs_world_store(fixture->world), &writer), 0);
	assert_int_equal(wfs_blob_writer_add(writer, "hello\n", 6), 0);
	assert_int_equal(wfs_blob_writer_finish(writer, &request.blob), 0);
	assert_int_equal(wfs_world_call(fixture->world, &request), 0);

	assert_true(request.seq == UINT64_MAX);
	assert_int_equal(request.height, GENESIS_HEIGHT + 1);
}

IN_WORLD(a_large_blob_can_be_read_back)
{
	WFS_AUTO_FREE char *data = malloc(1 << 20);
	struct wfs_blob_listing listing;
	struct wfs_blob blob;
	struct wfs_hash hash;

	memset(data, 'b', 1 << 20);
	assert_int_equal(put_blob(fixture, data, 1 << 20, &hash), 0);

	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	WFS_AUTO_CONTENT struct wfs_content content = {0};
	assert_int_equal(wfs_view_blob(&view, &hash, &blob, &listing), 0);
	assert_int_equal(listing.height, GENESIS_HEIGHT + 1);
	assert_int_equal(wfs_view_blob_content(&view, &blob, WFS_RANGE_ALL, &content, NULL), 0);
	assert_true(wfs_bytes_equal(content.bytes, WFS_BYTES(data, 1 << 20)));
}
