/* SPDX-License-Identifier: Apache-2.0 */
/* What models were sent for turns: receipts, cells, files, and what a collection drops. */
#include "tests/fixture/turn.h"

#include "kernel/base/hash-text.h"
#include "kernel/copy/gc.h"
#include "kernel/domain/turn/raw.h"
#include "kernel/read/entity.h"
#include "kernel/store/blob.h"

/* Adds to @receipt the hash of @bytes as @member. */
static void name_hash(json_t *receipt, const char *member, struct wfs_bytes bytes)
{
	const struct wfs_hash hash = wfs_hash_of(bytes.data, bytes.size);

	assert_int_equal(
		json_object_set_new(receipt, member, json_string(WFS_HASH_TEXT(&hash))), 0);
}

/* Answers the turn, and keeps what was sent and what came. @more: of the receipt; may be NULL */
static int answer(const struct turn_run *run, const char *completion, struct wfs_bytes sent,
	struct wfs_bytes came, const char *more)
{
	WFS_AUTO_FREE char *intent_id = turn_waits_for(run, 0);
	WFS_AUTO_JSON json_t *receipt = json_pack("{s:s, s:s, s:o, s:s}", "adapter_id", "test",
		"intent_id", intent_id, "payload", json_of(completion), "status", "ok");
	const struct wfs_bytes raw[] = {sent, came};
	struct wfs_request request = {.kind = WFS_REQUEST_RECEIPT,
		.principal = "alice",
		.receipt = {.document = receipt, .raw = raw, .raw_count = 2}};

	name_hash(receipt, "request_hash", sent);
	name_hash(receipt, "response_hash", came);
	if (more) {
		WFS_AUTO_JSON json_t *members = json_of(more);

		assert_int_equal(json_object_update(receipt, members), 0);
	}
	int r = wfs_world_call(run->fixture->world, &request);
	run->fixture->error = request.error;
	return r;
}

/* The files of a turn, with their first 8 bytes. */
static void assert_files(const struct turn_run *run, const char *expected)
{
	const struct wfs_entity_contents *const contents =
		wfs_entity_file_contents(WFS_ENTITY_FILE_RAW);
	WFS_AUTO_VIEW struct wfs_view view = view_at(run->fixture, WFS_HEIGHT_HEAD);
	WFS_AUTO_BUFFER struct wfs_buffer shown = {0};
	struct wfs_version version;
	int r = 0;

	for (uint64_t i = 0; !r; i++) {
		WFS_AUTO_BUFFER struct wfs_buffer name = {0};
		struct wfs_version found;
		uint64_t size_bytes;
		uint64_t number;

		r = contents->next(&view, wfs_bytes_text(run->id), &i, &name, &version);
		if (r)
			break;
		assert_int_equal(contents->find(&view, wfs_bytes_text(run->id),
					 wfs_buffer_text(&name), &number, &found),
			0);
		assert_int_equal(found.vid, version.vid);
		wfs_buffer_printf(&shown, "%s:", wfs_buffer_text(&name));
		assert_int_equal(wfs_entity_write(&view, WFS_ENTITY_FILE_RAW, &version,
					 (struct wfs_range){.size = 8}, &shown, &size_bytes),
			0);
		wfs_buffer_append_byte(&shown, ' ');
	}
	assert_int_equal(r, -ENOENT);
	assert_string_equal(wfs_buffer_text(&shown), expected);
}

#define BYTES(text) wfs_bytes_text(text)

WITH_ACTORS(a_turn_has_a_file_for_each_request_and_answer)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("3", "{}", TURN_ASK));
	WFS_AUTO_VIEW struct wfs_view view = {0};
	struct wfs_blob_listing listing;
	struct wfs_blob blob;

	assert_files(&run, "");
	assert_int_equal(answer(&run, WANTS(WANTS_ONE("a", "noop", "{}")), BYTES("ask 1"),
				 BYTES("say 1"), NULL),
		0);
	assert_int_equal(turn_acts(&run, 0, "{'action_type':'noop'}"), 0);
	assert_int_equal(answer(&run, SAYS("done"), BYTES("ask 2"), BYTES(""), NULL), 0);

	assert_files(&run,
		"1.request.json:ask 1 1.response.json:say 1 2.request.json:ask 2 "
		"2.response.json: ");
	const struct wfs_hash hash = wfs_hash_of("ask 1", 5);
	view = view_at(fixture, WFS_HEIGHT_HEAD);
	assert_int_equal(wfs_view_blob(&view, &hash, &blob, &listing), -ENOENT);
}

WITH_ACTORS(each_attempt_is_a_request)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("3", "{}", TURN_ASK));
	const struct wfs_hash hash = wfs_hash_of("say", 3);
	char more[160];

	snprintf(more, sizeof(more), "{'earlier_hashes':[null,'%s']}", WFS_HASH_TEXT(&hash));
	assert_int_equal(answer(&run, SAYS("done"), BYTES("ask"), BYTES("say"), more), 0);
	assert_files(&run,
		"1.request.json:ask 2.request.json:ask 2.response.json:say 3.request.json:ask "
		"3.response.json:say ");
}

WITH_ACTORS(a_hash_whose_bytes_are_not_kept_has_no_file)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("3", "{}", TURN_ASK));
	const struct wfs_hash hash = wfs_hash_of("lost", 4);
	char more[160];

	snprintf(more, sizeof(more), "{'request_hash':'%s'}", WFS_HASH_TEXT(&hash));
	assert_int_equal(answer(&run, SAYS("done"), BYTES("ask"), BYTES("say"), more), 0);
	assert_files(&run, "1.response.json:say ");
}

WITH_ACTORS(a_receipt_with_something_else_in_place_of_a_hash_is_refused)
{
	static const char *const wrong[] = {"{'request_hash':'sha256:12'}", "{'response_hash':7}",
		"{'earlier_hashes':'x'}", "{'earlier_hashes':['x']}"};
	struct turn_run run = turn_begin(fixture, TURN_STEP("3", "{}", TURN_ASK));

	for (size_t i = 0; i < WFS_ARRAY_COUNT(wrong); i++)
		assert_int_equal(
			answer(&run, SAYS("done"), BYTES("ask"), BYTES("say"), wrong[i]), -EINVAL);
	assert_files(&run, "");
}

WITH_ACTORS(names_that_are_no_files_are_not_found)
{
	static const char *const names[] = {"", "1", "0.request.json", "01.request.json",
		"1.request", "1.reply.json", "2.request.json", "99999999999999999999.request.json"};
	const struct wfs_entity_contents *const contents =
		wfs_entity_file_contents(WFS_ENTITY_FILE_RAW);
	struct turn_run run = turn_begin(fixture, TURN_STEP("3", "{}", TURN_ASK));
	WFS_AUTO_VIEW struct wfs_view view = {0};
	struct wfs_version version;
	uint64_t number;

	assert_int_equal(answer(&run, SAYS("done"), BYTES("ask"), BYTES("say"), NULL), 0);
	view = view_at(fixture, WFS_HEIGHT_HEAD);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(names); i++)
		assert_int_equal(
			contents->find(&view, wfs_bytes_text(run.id), names[i], &number, &version),
			-ENOENT);
}

/* --- collections --- */

static struct wfs_gc drop(struct world_fixture *fixture, uint64_t before)
{
	struct wfs_gc gc = {.raw_before = before, .raw_only = true};

	assert_int_equal(wfs_gc_begin(fixture->world, false, 0, &gc, &fixture->error), 0);
	assert_int_equal(wfs_gc_advance(fixture->world, &gc, "tester", 0, &fixture->error), 0);
	assert_true(gc.done);
	return gc;
}

WITH_ACTORS(a_collection_drops_what_old_turns_alone_have)
{
	WFS_AUTO_BUFFER struct wfs_buffer large = {0};
	struct turn_run old = turn_begin(fixture, TURN_STEP("3", "{}", TURN_ASK));
	const uint64_t height = height_of(fixture);
	struct turn_run young = turn_begin(fixture, TURN_STEP("3", "{}", TURN_ASK));

	assert_int_equal(wfs_buffer_reserve(&large, WFS_BLOB_FILE_MIN), 0);
	for (size_t i = 0; i < WFS_BLOB_FILE_MIN; i++)
		wfs_buffer_append_byte(&large, 'l');
	assert_int_equal(
		answer(&old, SAYS("done"), BYTES("same"), wfs_buffer_bytes(&large), NULL), 0);
	assert_int_equal(answer(&young, SAYS("done"), BYTES("same"), BYTES("say"), NULL), 0);

	const struct wfs_gc gc = drop(fixture, height);
	assert_int_equal(gc.figures.raw_count, 1);
	assert_int_equal(gc.figures.raw_bytes, WFS_BLOB_FILE_MIN);
	assert_int_equal(gc.figures.file_count, 1);
	assert_int_equal(gc.figures.version_count, 0);
	assert_files(&old, "1.request.json:same ");
	assert_files(&young, "1.request.json:same 1.response.json:say ");
	assert_int_equal(drop(fixture, height).figures.raw_count, 0);
	assert_int_equal(drop(fixture, height_of(fixture)).figures.raw_count, 2);
	assert_files(&young, "");
}

WITH_ACTORS(a_collection_leaves_a_listed_blob)
{
	WFS_AUTO_BLOB_WRITER struct wfs_blob_writer *writer = NULL;
	struct turn_run run = turn_begin(fixture, TURN_STEP("3", "{}", TURN_ASK));
	struct wfs_request request = {.kind = WFS_REQUEST_BLOB, .principal = "tester"};

	assert_int_equal(answer(&run, SAYS("done"), BYTES("ask"), BYTES("say"), NULL), 0);
	assert_int_equal(wfs_blob_writer_new(wfs_world_store(fixture->world), &writer), 0);
	assert_int_equal(wfs_blob_writer_add(writer, "ask", 3), 0);
	assert_int_equal(wfs_blob_writer_finish(writer, &request.blob), 0);
	assert_int_equal(wfs_world_call(fixture->world, &request), 0);

	assert_int_equal(drop(fixture, height_of(fixture)).figures.raw_count, 1);
	assert_files(&run, "1.request.json:ask ");
}

WITH_ACTORS(a_collection_before_a_height_that_is_not_reached_is_refused)
{
	struct wfs_gc gc = {.raw_before = height_of(fixture) + 1, .raw_only = true};

	assert_int_equal(wfs_gc_begin(fixture->world, false, 0, &gc, &fixture->error), -ENOENT);
	assert_int_equal(fixture->error.code, WFS_E_HEIGHT_UNAVAILABLE);
}
