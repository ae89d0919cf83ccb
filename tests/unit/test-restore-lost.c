/* SPDX-License-Identifier: Apache-2.0 */
/* Restoring copies of worlds whose artifacts had other texts once, which are in no copy. */
#include "tests/unit/action-fixture.h"
#include "tests/unit/restore-fixture.h"

#include "kernel/gc.h"

/* Texts are written, replaced, edited, run and deleted, and other things done between.
 * Return: the record that gave the first text that is lost. */
static uint64_t live(struct world_fixture *fixture)
{
	tell(fixture, "{'key':'a','op':'set','n':1}");
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'tool','executable':true,'code':'function run() return 1 "
		      "end'"));
	assert_done(fixture, "bob", INVOKE("'artifact_id':'tool','method':'run'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'early','content':'kept'"));
	const uint64_t seq = height_of(fixture);
	assert_done(fixture, "alice", WRITE("'artifact_id':'note','content':'first'"));
	tell(fixture, "{'key':'a','op':'add','n':1}");
	assert_done(fixture, "alice", WRITE("'artifact_id':'note','content':'second'"));
	assert_done(fixture, "alice",
		ACTION("edit_artifact",
			"'artifact_id':'note','old_string':'second','new_string':'third'"));
	assert_done(fixture, "bob", WRITE("'artifact_id':'gone','content':'soon'"));
	assert_done(fixture, "bob", ACTION("delete_artifact", "'artifact_id':'gone'"));
	assert_done(fixture, "alice", ACTION("transfer", "'to':'bob','amount':7"));
	assert_done(fixture, "bob", INVOKE("'artifact_id':'tool','method':'run'"));
	assert_done(fixture, "alice", ACTION("submit_to_mint", "'artifact_id':'tool','bid':1"));
	assert_done(fixture, "tester", "{'action_type':'resolve_mint'}");
	tell(fixture, "{'key':'r','op':'tree','n':2}");
	return seq;
}

static void put_copy_text(const struct world_fixture *fixture, const char *name, const char *text)
{
	put_copy(fixture, name, wfs_bytes_text(text));
}

/* Appends @bytes, with @to in the place of the first @from, which must be in it. */
static void append_replaced(
	struct wfs_buffer *buffer, struct wfs_bytes bytes, const char *from, const char *to)
{
	const char *const start = bytes.data;
	const char *const found = memmem(start, bytes.size, from, strlen(from));

	if (!found)
		fail_msg("%s is not in %.*s", from, (int)bytes.size, start);
	const char *const rest = found + strlen(from);
	wfs_buffer_append(buffer, start, (size_t)(found - start));
	wfs_buffer_append_text(buffer, to);
	wfs_buffer_append(buffer, rest, bytes.size - (size_t)(rest - start));
}

static void replace_in_copy(
	const struct world_fixture *fixture, const char *name, const char *from, const char *to)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_FD int fd = -1;
	char bytes[4096];
	char path[256];

	copy_path(fixture, name, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	const ssize_t size = read(fd, bytes, sizeof(bytes));
	assert_true(size > 0 && size < (ssize_t)sizeof(bytes));
	append_replaced(&text, WFS_BYTES(bytes, (size_t)size), from, to);
	put_copy(fixture, name, wfs_buffer_bytes(&text));
}

/* Another journal, in which record @seq is another and the rest is chained anew. */
static void replace_in_record(
	struct world_fixture *fixture, uint64_t seq, const char *from, const char *to)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	WFS_AUTO_BUFFER struct wfs_buffer log = {0};
	WFS_AUTO_BUFFER struct wfs_buffer line = {0};
	char was[WFS_HASH_TEXT_SIZE] = "";
	char is[WFS_HASH_TEXT_SIZE] = "";
	char name[64];

	for (uint64_t i = 0; i < view.height; i++) {
		struct wfs_bytes original;

		wfs_buffer_reset(&line);
		assert_int_equal(wfs_view_record(&view, i, &original), 0);
		if (i < seq)
			wfs_buffer_append(&line, original.data, original.size);
		else
			append_replaced(&line, original, i == seq ? from : was, i == seq ? to : is);
		wfs_buffer_append(&log, line.data, line.size);
		const struct wfs_hash was_hash = wfs_hash_of(original.data, original.size);
		const struct wfs_hash is_hash = wfs_hash_of(line.data, line.size);
		wfs_hash_text(&was_hash, was);
		wfs_hash_text(&is_hash, is);
	}
	put_copy(fixture, "journal/log.jsonl", wfs_buffer_bytes(&log));
	snprintf(name, sizeof(name), "journal/%llu.json", (unsigned long long)view.height - 1);
	put_copy(fixture, name, wfs_buffer_bytes(&line));
}

static void remove_copy_directory(const struct world_fixture *fixture, const char *name)
{
	char path[256];

	copy_path(fixture, name, path);
	wfs_directory_remove(path);
}

static void assert_verified(struct world_fixture *fixture)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};

	assert_int_equal(wfs_verify(fixture->world, &problems, NULL, NULL, &fixture->error), 0);
	assert_string_equal(wfs_buffer_text(&problems.lines), "");
}

/* Without the check that all can be folded again: that is what is lost. */
static int teardown(void **state)
{
	struct world_fixture *fixture = *state;

	if (fixture->world)
		assert_verified(fixture);
	return world_fixture_teardown(state);
}

/* --- what is restored --- */

static void the_state_is_that_of_the_copy(void **state)
{
	struct world_fixture *fixture = *state;
	const uint64_t lost = live(fixture);
	const uint64_t height = height_of(fixture);
	const struct wfs_hash hash = snapshot_of(fixture, height);
	copy_at(fixture, WFS_HEIGHT_HEAD);

	const struct wfs_restored restored = restore(fixture);

	assert_true(restored.history);
	assert_int_equal(restored.lost.seq, lost);
	assert_string_equal(restored.lost.artifact_id, "note");
	assert_false(restored.lost.code);
	assert_int_equal(restored.height, height);
	assert_int_equal(restored.first_height, height);
	assert_true(wfs_hash_equal(&restored.snapshot_hash, &hash));
	assert_int_equal(height_of(fixture), height);
	assert_state(fixture, "sys.artifact", "gone", NULL);
	assert_int_equal(scrip_of(fixture, "alice"), 92);
	assert_verified(fixture);
}

static void older_heights_are_not_there(void **state)
{
	struct world_fixture *fixture = *state;
	struct wfs_view view;

	live(fixture);
	copy_at(fixture, WFS_HEIGHT_HEAD);
	restore(fixture);

	assert_int_equal(
		wfs_view_open(fixture->world, height_of(fixture) - 1, &view, &fixture->error),
		-ENOENT);
	assert_int_equal(fixture->error.code, WFS_E_HEIGHT_UNAVAILABLE);
}

static void replay_names_the_text_that_is_lost(void **state)
{
	struct world_fixture *fixture = *state;
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};

	live(fixture);
	copy_at(fixture, WFS_HEIGHT_HEAD);
	restore(fixture);

	assert_int_equal(wfs_replay(fixture->world, &problems, NULL, NULL, &fixture->error), 0);
	assert_int_equal(problems.count, 1);
	assert_non_null(strstr(wfs_buffer_text(&problems.lines), "the content of artifact 'note'"));
}

static void it_goes_on(void **state)
{
	struct world_fixture *fixture = *state;
	struct wfs_gc gc = {0};

	live(fixture);
	copy_at(fixture, WFS_HEIGHT_HEAD);
	restore(fixture);

	assert_done(fixture, "alice",
		ACTION("edit_artifact",
			"'artifact_id':'note','old_string':'third','new_string':'fourth'"));
	assert_fails(fixture, "bob", WRITE("'artifact_id':'gone'"), WFS_E_DELETED, "gone");
	assert_data(fixture, "bob", INVOKE("'artifact_id':'tool','method':'run'"),
		"{'price_paid':0,'result':1}");
	tell(fixture, "{'key':'a','op':'add','n':3}");
	assert_state(fixture, "cell", "a", "{\"n\":5}");
	assert_verified(fixture);
	assert_int_equal(wfs_gc_keep(fixture->world, 1, &gc, &fixture->error), 0);
	assert_int_equal(wfs_gc_advance(fixture->world, &gc, "tester", 0, &fixture->error), 0);
}

/* Also inside of a request, and where the text is not lost yet. */
static void every_height_is_restored(void **state)
{
	struct world_fixture *fixture = *state;
	char original[sizeof(fixture->directory)];
	const uint64_t lost = live(fixture);
	const uint64_t height = height_of(fixture);

	memcpy(original, fixture->directory, sizeof(original));
	for (uint64_t at = lost; at <= height; at++) {
		const struct wfs_hash hash = snapshot_of(fixture, at);

		print_message("%llu\n", (unsigned long long)at);
		copy_at(fixture, at);
		const struct wfs_restored restored = restore(fixture);
		assert_true(wfs_hash_equal(&restored.snapshot_hash, &hash));
		/* Behind the first text came an event. */
		assert_int_equal(restored.lost.seq, at > lost + 2 ? lost : 0);
		assert_int_equal(restored.first_height, at > lost + 2 ? at : 1);
		tell(fixture, "{'key':'later','op':'set','n':1}");
		assert_verified(fixture);
		world_fixture_close(fixture);
		wfs_directory_remove(fixture->directory);
		remove_copy_directory(fixture, "");
		memcpy(fixture->directory, original, sizeof(original));
		assert_int_equal(world_fixture_open(fixture), 0);
	}
}

/* What the budget of a grant paid for is not known behind the text. */
static void grants_and_what_they_paid_for_are_restored(void **state)
{
	struct world_fixture *fixture = *state;
	WFS_AUTO_JSON json_t *value = json_of("{'key':'paid','op':'set'}");
	struct wfs_request event = {.kind = WFS_REQUEST_EVENT,
		.principal = "alice",
		.schema = "test/Do@1",
		.value = value,
		.charge = "some"};

	live(fixture);
	assert_done(fixture, "tester",
		"{'action_type':'grant','cap':'sys/act@1','to':'alice','params':{},'name':'some',"
		"'budget':{'calls':2}}");
	assert_int_equal(wfs_world_call(fixture->world, &event), 0);
	assert_done(fixture, "tester", "{'action_type':'principal','id':'carol','scrip':1}");
	const struct wfs_hash hash = snapshot_of(fixture, height_of(fixture));
	copy_at(fixture, WFS_HEIGHT_HEAD);

	const struct wfs_restored restored = restore(fixture);

	assert_true(wfs_hash_equal(&restored.snapshot_hash, &hash));
	assert_int_equal(wfs_world_call(fixture->world, &event), 0);
	assert_int_equal(wfs_world_call(fixture->world, &event), -EDQUOT);
}

/* More than nine records, so that their names are of different lengths. */
static void invocations_are_in_the_order_of_their_records(void **state)
{
	struct world_fixture *fixture = *state;
	WFS_AUTO_ENTRY_WALK struct wfs_entry_walk walk = {0};
	struct wfs_reducer reducer;
	struct wfs_entry entry;
	uint64_t before = 0;
	uint64_t seq;
	size_t count = 0;

	live(fixture);
	for (int i = 0; i < 90; i++)
		assert_done(fixture, "bob", INVOKE("'artifact_id':'tool','method':'run'"));
	copy_at(fixture, WFS_HEIGHT_HEAD);
	restore(fixture);

	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	assert_int_equal(wfs_view_builtin(&view, WFS_BUILTIN_INVOCATION, &reducer), 0);
	assert_int_equal(wfs_entry_walk_init(&walk, &view, reducer.reducer_id, 0), 0);
	for (; wfs_entry_walk_next(&walk, &entry) > 0; count++, before = seq) {
		assert_true(wfs_decimal_read(entry.key.data, entry.key.size, &seq) > 0);
		assert_true(seq > before);
	}
	assert_int_equal(count, 92);
}

/* As folding makes those of one record. */
static void behind_the_number_names_are_in_the_order_of_bytes(void **state)
{
	static const char *const expected[] = {"7.1", "7.10", "7.2", "10.0"};
	struct world_fixture *fixture = *state;
	WFS_AUTO_ENTRY_WALK struct wfs_entry_walk walk = {0};
	struct wfs_reducer reducer;
	struct wfs_entry entry;
	size_t count = 0;

	tell(fixture, "{'key':'10.0','op':'set','n':1}");
	tell(fixture, "{'key':'7.2','op':'set','n':1}");
	tell(fixture, "{'key':'7.10','op':'set','n':1}");
	tell(fixture, "{'key':'7.1','op':'set','n':1}");
	copy_state(fixture);
	restore(fixture);

	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	assert_int_equal(wfs_view_reducer(&view, "cell", strlen("cell"), &reducer), 0);
	assert_int_equal(wfs_entry_walk_init(&walk, &view, reducer.reducer_id, 0), 0);
	for (; wfs_entry_walk_next(&walk, &entry) > 0; count++) {
		assert_true(count < WFS_ARRAY_COUNT(expected));
		assert_true(wfs_bytes_equal(entry.key, wfs_bytes_text(expected[count])));
	}
	assert_int_equal(count, WFS_ARRAY_COUNT(expected));
}

static void code_may_be_lost_as_well(void **state)
{
	struct world_fixture *fixture = *state;

	assert_done(fixture, "alice",
		WRITE("'artifact_id':'tool','executable':true,'code':'function run() return 1 "
		      "end'"));
	assert_done(fixture, "bob", INVOKE("'artifact_id':'tool','method':'run'"));
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'tool','code':'function run() return 2 end'"));
	copy_at(fixture, WFS_HEIGHT_HEAD);

	const struct wfs_restored restored = restore(fixture);

	assert_true(restored.lost.code);
	assert_string_equal(restored.lost.artifact_id, "tool");
	assert_data(fixture, "bob", INVOKE("'artifact_id':'tool','method':'run'"),
		"{'price_paid':0,'result':2}");
}

static void a_text_that_is_a_blob_is_not_lost(void **state)
{
	struct world_fixture *fixture = *state;
	struct wfs_hash hash;

	assert_int_equal(put_blob(fixture, "first", 5, &hash), 0);
	assert_done(fixture, "alice", WRITE("'artifact_id':'note','content':'first'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'note','content':'second'"));
	copy_at(fixture, WFS_HEIGHT_HEAD);

	assert_int_equal(restore(fixture).lost.seq, 0);
	assert_sound(fixture);
}

/* --- what is refused --- */

static void a_cell_of_a_reducer_is_still_proven_by_folding(void **state)
{
	live(*state);
	copy_at(*state, WFS_HEIGHT_HEAD);
	put_copy_text(*state, "reducers/cell/a", "{\"n\":3}\n");

	assert_refused(*state, "reducers/cell/a: expected sha256:");
}

static void content_must_be_what_its_artifact_says(void **state)
{
	live(*state);
	copy_at(*state, WFS_HEIGHT_HEAD);
	put_copy_text(*state, "artifacts/note/content", "fifth");

	assert_refused(*state, "artifacts/note/content: expected sha256:");
}

static void content_must_be_there(void **state)
{
	live(*state);
	copy_at(*state, WFS_HEIGHT_HEAD);
	remove_copy(*state, "artifacts/note/content");

	assert_refused(*state, "artifacts/note/content: is missing");
}

static void an_artifact_must_be_what_is_made_of_it(void **state)
{
	live(*state);
	copy_at(*state, WFS_HEIGHT_HEAD);
	replace_in_copy(
		*state, "reducers/sys.artifact/note", "\"owner\":\"alice\"", "\"owner\":\"bob\"");

	assert_refused(*state, "artifacts/note/owner: expected sha256:");
}

static void what_is_made_of_cells_must_be_there(void **state)
{
	live(*state);
	copy_at(*state, WFS_HEIGHT_HEAD);
	remove_copy_directory(*state, "principals");

	assert_refused(*state, "principals: is missing or empty");
}

static void an_artifact_is_not_gone_without_having_been_deleted(void **state)
{
	live(*state);
	copy_at(*state, WFS_HEIGHT_HEAD);
	remove_copy(*state, "reducers/sys.artifact/early");
	remove_copy_directory(*state, "artifacts/early");

	assert_refused(*state, "reducers/sys.artifact/early: is missing");
}

static void what_actions_leave_for_good_must_be_there(void **state)
{
	struct world_fixture *fixture = *state;
	char name[64];
	char line[128];

	live(fixture);
	const uint64_t seq =
		height_of(fixture) - 12; /* behind it came an auction and an event with six more */
	copy_at(fixture, WFS_HEIGHT_HEAD);
	remove_copy(fixture, "reducers/sys.deleted/gone");
	snprintf(name, sizeof(name), "reducers/sys.invocation/%llu.0", (unsigned long long)seq);
	remove_copy(fixture, name);
	snprintf(line, sizeof(line), "%s: is missing: record %llu made it\n", name,
		(unsigned long long)seq);

	assert_refused(fixture, line);
}

static void an_account_is_never_gone(void **state)
{
	live(*state);
	copy_at(*state, WFS_HEIGHT_HEAD);
	remove_copy(*state, "reducers/sys.ledger/bob");
	remove_copy_directory(*state, "principals/bob");

	assert_refused(*state, "reducers/sys.ledger/bob: is missing");
}

static void an_invocation_from_before_is_not_changed(void **state)
{
	struct world_fixture *fixture = *state;
	const uint64_t seq = live(fixture) - 2;
	char name[64];
	char line[128];

	copy_at(fixture, WFS_HEIGHT_HEAD);
	snprintf(name, sizeof(name), "reducers/sys.invocation/%llu.0", (unsigned long long)seq);
	replace_in_copy(fixture, name, "\"success\":true", "\"success\":false");
	snprintf(line, sizeof(line), "%s: is not what folding gives", name);

	assert_refused(fixture, line);
}

/* Nothing else in the tree has that. */
static void a_snapshot_proves_all_cells(void **state)
{
	struct world_fixture *fixture = *state;
	struct wfs_request request = {.kind = WFS_REQUEST_SNAPSHOT, .principal = "tester"};

	live(fixture);
	request.snapshot_height = height_of(fixture);
	request.snapshot_hash = snapshot_of(fixture, request.snapshot_height);
	assert_int_equal(wfs_world_call(fixture->world, &request), 0);
	copy_at(fixture, WFS_HEIGHT_HEAD);
	replace_in_copy(fixture, "reducers/sys.deleted/gone", "\"deleted_by\":\"bob\"",
		"\"deleted_by\":\"alice\"");

	assert_refused(fixture, "reducers: expected sha256:");
}

static void hash_member(const char *text, char ret_member[static 128])
{
	const struct wfs_hash hash = wfs_hash_of(text, strlen(text));
	char hash_text[WFS_HASH_TEXT_SIZE];

	wfs_hash_text(&hash, hash_text);
	snprintf(ret_member, 128, "\"content_hash\":\"%s\"", hash_text);
}

/* Else whoever changes a content would only have to change its hash, too. */
static void a_text_that_nothing_replaced_is_not_lost(void **state)
{
	struct world_fixture *fixture = *state;
	char proven[128];
	char forged[128];

	assert_done(fixture, "alice", WRITE("'artifact_id':'note','content':'proven'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'other','content':'more'"));
	copy_at(fixture, WFS_HEIGHT_HEAD);
	hash_member("proven", proven);
	hash_member("forged", forged);
	put_copy_text(fixture, "artifacts/note/content", "forged");
	replace_in_copy(fixture, "reducers/sys.artifact/note", proven, forged);

	assert_refused(fixture, "reducers/sys.artifact/note: content_hash: expected \"sha256:");
}

/* --- what the journal says of cells that are taken from the copy --- */

static void copy_behind_a_loss(struct world_fixture *fixture)
{
	assert_done(fixture, "alice", WRITE("'artifact_id':'lost','content':'first'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'lost','content':'second'"));
	copy_at(fixture, WFS_HEIGHT_HEAD);
}

static void give_query(struct world_fixture *fixture)
{
	assert_done(fixture, "tester",
		"{'action_type':'grant','cap':'sys/"
		"query@1','params':{},'to':'alice','name':'some'}");
}

static void a_grant_is_not_added(void **state)
{
	struct world_fixture *fixture = *state;

	give_query(fixture);
	copy_behind_a_loss(fixture);
	put_copy_text(fixture, "reducers/sys.grant/forged",
		"{\"cap\":\"sys/admin@1\",\"name\":\"forged\",\"params\":{},\"to\":\"bob\"}\n");

	assert_refused(fixture, "reducers/sys.grant/forged: is not what folding gives");
}

static void a_grant_is_not_changed(void **state)
{
	struct world_fixture *fixture = *state;

	give_query(fixture);
	copy_behind_a_loss(fixture);
	replace_in_copy(fixture, "reducers/sys.grant/some", "sys/query@1", "sys/admin@1");

	assert_refused(fixture, "reducers/sys.grant/some: is not what folding gives");
}

static void a_grant_is_not_gone(void **state)
{
	struct world_fixture *fixture = *state;

	give_query(fixture);
	copy_behind_a_loss(fixture);
	remove_copy(fixture, "reducers/sys.grant/some");

	assert_refused(fixture, "reducers/sys.grant/some: is missing");
}

static void a_revoked_grant_does_not_come_back(void **state)
{
	struct world_fixture *fixture = *state;

	give_query(fixture);
	WFS_AUTO_FREE char *text = state_at(fixture, WFS_HEIGHT_HEAD, "sys.grant", "some");
	WFS_AUTO_BUFFER struct wfs_buffer document = {0};
	wfs_buffer_printf(&document, "%s\n", text);
	assert_done(fixture, "alice", WRITE("'artifact_id':'lost','content':'zero'"));
	assert_done(fixture, "tester", "{'action_type':'revoke','name':'some'}");
	copy_behind_a_loss(fixture);
	put_copy(fixture, "reducers/sys.grant/some", wfs_buffer_bytes(&document));

	assert_refused(fixture, "reducers/sys.grant/some: is not what folding gives");
}

static void a_principal_is_not_added(void **state)
{
	copy_behind_a_loss(*state);
	put_copy_text(*state, "reducers/sys.principal/mallory", "{\"id\":\"mallory\"}\n");

	assert_refused(*state, "reducers/sys.principal/mallory: is not what folding gives");
}

/* Puts another text there, with its hash; both are of one size. */
static void forge_text(const struct world_fixture *fixture, const char *id, const char *name,
	const char *from, const char *to)
{
	char path[128];
	char proven[128];
	char forged[128];

	hash_member(from, proven);
	hash_member(to, forged);
	snprintf(path, sizeof(path), "artifacts/%s/%s", id, name);
	put_copy_text(fixture, path, to);
	snprintf(path, sizeof(path), "reducers/sys.artifact/%s", id);
	/* Behind the name of the member. */
	replace_in_copy(fixture, path, strchr(proven, ':'), strchr(forged, ':'));
}

#define CODE_1 "function run() return 1 end"
#define CODE_2 "function run() return 2 end"

/* An update keeps what it does not give. */
static void code_is_not_lost_by_a_write_of_something_else(void **state)
{
	struct world_fixture *fixture = *state;

	assert_done(fixture, "alice",
		WRITE("'artifact_id':'tool','executable':true,'code':'" CODE_1 "'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'tool','price':3"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'tool','content':'first'"));
	assert_done(fixture, "alice",
		ACTION("edit_artifact",
			"'artifact_id':'tool','old_string':'first','new_string':'second'"));
	copy_at(fixture, WFS_HEIGHT_HEAD);
	forge_text(fixture, "tool", "code", CODE_1, CODE_2);

	assert_refused(fixture, "reducers/sys.artifact/tool: code_hash: expected \"sha256:");
}

static void a_text_behind_the_lost_one_is_that_of_its_line(void **state)
{
	struct world_fixture *fixture = *state;

	assert_done(fixture, "alice", WRITE("'artifact_id':'lost','content':'zero'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'lost','content':'one'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'note','content':'proven'"));
	copy_behind_a_loss(fixture);
	forge_text(fixture, "note", "content", "proven", "forged");

	assert_refused(fixture, "reducers/sys.artifact/note: content_hash: expected \"sha256:");
}

static void a_text_from_before_the_lost_one_is_what_it_was(void **state)
{
	struct world_fixture *fixture = *state;

	assert_done(fixture, "alice", WRITE("'artifact_id':'note','content':'proven'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'given','content':'proven'"));
	copy_behind_a_loss(fixture);
	replace_in_copy(
		fixture, "reducers/sys.artifact/note", "\"owner\":\"alice\"", "\"owner\":\"bob\"");

	assert_refused(fixture, "reducers/sys.artifact/note: is not what folding gives");
}

static void a_text_behind_an_invocation_is_that_of_its_line(void **state)
{
	struct world_fixture *fixture = *state;

	live(fixture);
	assert_done(fixture, "alice", WRITE("'artifact_id':'note','content':'proven'"));
	copy_at(fixture, WFS_HEIGHT_HEAD);
	forge_text(fixture, "note", "content", "proven", "forged");

	assert_refused(fixture, "reducers/sys.artifact/note: content_hash: expected \"sha256:");
}

static void an_artifact_without_content_has_none(void **state)
{
	struct world_fixture *fixture = *state;

	assert_done(fixture, "alice", WRITE("'artifact_id':'lost','content':'zero'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'lost','content':'one'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'note'"));
	copy_behind_a_loss(fixture);
	forge_text(fixture, "note", "content", "", "forged");

	assert_refused(fixture, "reducers/sys.artifact/note: content_hash: expected \"sha256:");
}

static void code_has_the_author_who_wrote_it(void **state)
{
	struct world_fixture *fixture = *state;

	assert_done(fixture, "alice", WRITE("'artifact_id':'lost','content':'zero'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'lost','content':'one'"));
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'tool','executable':true,'code':'" CODE_1 "'"));
	copy_behind_a_loss(fixture);
	replace_in_copy(fixture, "reducers/sys.artifact/tool", "\"code_author\":\"alice\"",
		"\"code_author\":\"tester\"");

	assert_refused(fixture,
		"reducers/sys.artifact/tool: code_author: expected \"alice\" (the journal), got "
		"\"tester\"");
}

static void code_from_before_has_the_author_it_had(void **state)
{
	struct world_fixture *fixture = *state;

	assert_done(fixture, "alice",
		WRITE("'artifact_id':'tool','executable':true,'code':'" CODE_1 "'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'lost','content':'zero'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'tool','price':3"));
	copy_behind_a_loss(fixture);
	replace_in_copy(fixture, "reducers/sys.artifact/tool", "\"code_author\":\"alice\"",
		"\"code_author\":\"tester\"");

	assert_refused(fixture, "reducers/sys.artifact/tool: code_author: expected \"alice\"");
}

static void a_record_is_still_what_folding_gives(void **state)
{
	struct world_fixture *fixture = *state;
	char line[64];

	live(fixture);
	const uint64_t seq = height_of(fixture) - 1; /* which an event caused */
	copy_at(fixture, WFS_HEIGHT_HEAD);
	replace_in_record(fixture, seq, "\"n\":0", "\"n\":9");
	snprintf(line, sizeof(line), "journal/log.jsonl: %llu: is not the one that folding gives",
		(unsigned long long)seq);

	assert_refused(fixture, line);
}

static void the_result_of_an_action_is_still_what_folding_gives(void **state)
{
	struct world_fixture *fixture = *state;
	char line[64];

	live(fixture);
	const uint64_t seq = height_of(fixture);
	give_query(fixture);
	copy_at(fixture, WFS_HEIGHT_HEAD);
	replace_in_record(fixture, seq, "\"ok\":true", "\"more\":1,\"ok\":true");
	snprintf(line, sizeof(line), "journal/log.jsonl: %llu: is not the one that folding gives",
		(unsigned long long)seq);

	assert_refused(fixture, line);
}

static void an_artifact_is_not_deleted_by_the_copy(void **state)
{
	struct world_fixture *fixture = *state;

	assert_done(fixture, "alice", WRITE("'artifact_id':'note','content':'kept'"));
	copy_behind_a_loss(fixture);
	remove_copy(fixture, "reducers/sys.artifact/note");
	remove_copy_directory(fixture, "artifacts/note");
	put_copy_text(fixture, "reducers/sys.deleted/note",
		"{\"deleted_at\":1,\"deleted_by\":\"alice\"}\n");

	assert_refused(fixture, "reducers/sys.deleted/note: is not what the journal says");
}

static void content_without_a_journal_must_be_what_its_artifact_says(void **state)
{
	live(*state);
	copy_state(*state);
	put_copy_text(*state, "artifacts/note/content", "fifth");

	assert_refused(*state, "artifacts/note/content: expected sha256:");
}

static void an_end_at_any_look_leaves_nothing(void **state)
{
	live(*state);
	copy_at(*state, WFS_HEIGHT_HEAD);

	assert_ends_leave_nothing(*state);
}

#define LOST(name) cmocka_unit_test_setup_teardown(name, action_fixture_setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LOST(the_state_is_that_of_the_copy),
		LOST(older_heights_are_not_there),
		LOST(replay_names_the_text_that_is_lost),
		LOST(it_goes_on),
		LOST(every_height_is_restored),
		LOST(grants_and_what_they_paid_for_are_restored),
		LOST(invocations_are_in_the_order_of_their_records),
		LOST(behind_the_number_names_are_in_the_order_of_bytes),
		LOST(code_may_be_lost_as_well),
		LOST(a_text_that_is_a_blob_is_not_lost),
		LOST(a_cell_of_a_reducer_is_still_proven_by_folding),
		LOST(content_must_be_what_its_artifact_says),
		LOST(content_must_be_there),
		LOST(an_artifact_must_be_what_is_made_of_it),
		LOST(what_is_made_of_cells_must_be_there),
		LOST(an_artifact_is_not_gone_without_having_been_deleted),
		LOST(what_actions_leave_for_good_must_be_there),
		LOST(an_account_is_never_gone),
		LOST(an_invocation_from_before_is_not_changed),
		LOST(a_snapshot_proves_all_cells),
		LOST(a_text_that_nothing_replaced_is_not_lost),
		LOST(a_grant_is_not_added),
		LOST(a_grant_is_not_changed),
		LOST(a_grant_is_not_gone),
		LOST(a_revoked_grant_does_not_come_back),
		LOST(a_principal_is_not_added),
		LOST(code_is_not_lost_by_a_write_of_something_else),
		LOST(a_text_behind_the_lost_one_is_that_of_its_line),
		LOST(a_text_from_before_the_lost_one_is_what_it_was),
		LOST(a_text_behind_an_invocation_is_that_of_its_line),
		LOST(an_artifact_without_content_has_none),
		LOST(code_has_the_author_who_wrote_it),
		LOST(code_from_before_has_the_author_it_had),
		LOST(a_record_is_still_what_folding_gives),
		LOST(the_result_of_an_action_is_still_what_folding_gives),
		LOST(an_artifact_is_not_deleted_by_the_copy),
		LOST(content_without_a_journal_must_be_what_its_artifact_says),
		LOST(an_end_at_any_look_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
