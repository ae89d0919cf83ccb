/* SPDX-License-Identifier: Apache-2.0 */
/* Private texts: records have stand-ins for them, and the world still has the texts. */
#include "kernel/world/embedder.h"
#include "tests/fixture/memory.h"
#include "tests/fixture/restore-lost.h"

#include "kernel/copy/gc.h"
#include "kernel/read/text.h"

#define SECRET "saffron sauce"

/* All lines of the journal; caller frees. */
static char *journal_of(struct world_fixture *fixture)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	WFS_AUTO_BUFFER struct wfs_buffer log = {0};

	assert_int_equal(read_log(&view, 0, log_size(&view), &log), 0);
	return strdup(wfs_buffer_text(&log));
}

static void assert_journal_lacks(struct world_fixture *fixture, const char *text)
{
	WFS_AUTO_FREE char *journal = journal_of(fixture);

	if (strstr(journal, text))
		fail_msg("the journal has '%s': %s", text, journal);
}

static void assert_journal_has(struct world_fixture *fixture, const char *text)
{
	WFS_AUTO_FREE char *journal = journal_of(fixture);

	if (!strstr(journal, text))
		fail_msg("the journal lacks '%s': %s", text, journal);
}

/* Checks the newest text of the table: it contains @part, and is for @to, and about @of. */
static void assert_text(
	struct world_fixture *fixture, const char *part, const char *to, const char *of)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	struct wfs_text text;
	uint64_t last;

	assert_int_equal(wfs_text_last(view.txn, &last), 0);
	assert_int_equal(wfs_text_get(view.txn, last, &text), 0);
	assert_non_null(memmem(text.bytes.data, text.bytes.size, part, strlen(part)));
	assert_true(wfs_bytes_equal(text.to, wfs_bytes_text(to)));
	assert_true(wfs_bytes_equal(text.of, wfs_bytes_text(of)));
}

static uint64_t text_count(struct world_fixture *fixture)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	uint64_t last;

	assert_int_equal(wfs_text_last(view.txn, &last), 0);
	return last;
}

static void remember_secret(struct world_fixture *fixture)
{
	char id[MEMORY_ID_TEXT_SIZE];

	memory_make(fixture, "notes");
	memory_remember(fixture, "alice", "notes", SECRET, id);
}

/* --- what records have --- */

WITH_MEMORY(what_a_private_store_is_told_is_not_in_the_journal)
{
	remember_secret(fixture);

	assert_journal_lacks(fixture, SECRET);
	assert_journal_has(fixture, "\"of\":[\"notes\"]");
	assert_text(fixture, SECRET, "alice", "[\"notes\"]");
}

WITH_MEMORY(what_a_private_store_is_asked_is_not_in_the_journal)
{
	remember_secret(fixture);

	json_decref(memory_call(fixture, "alice", "genesis_memory_search", "run",
		"[{'memory':'notes','query':'which spice'}]"));

	assert_journal_lacks(fixture, "which spice");
	assert_text(fixture, "which spice", "alice", "[\"notes\"]");
}

WITH_MEMORY(what_a_store_for_everybody_is_told_is_in_the_journal)
{
	char id[MEMORY_ID_TEXT_SIZE];

	json_decref(memory_call(fixture, "alice", "genesis_memory", "create",
		"[{'id':'notes','access':'freeware'}]"));
	memory_remember(fixture, "alice", "notes", SECRET, id);

	assert_journal_has(fixture, SECRET);
	assert_int_equal(text_count(fixture), 0);
}

WITH_MEMORY(what_a_store_that_costs_is_told_is_not_in_the_journal)
{
	char id[MEMORY_ID_TEXT_SIZE];

	json_decref(memory_call(fixture, "alice", "genesis_memory", "create",
		"[{'id':'notes','access':'freeware'}]"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'notes','policy':{'read_price':3}"));
	memory_remember(fixture, "alice", "notes", SECRET, id);

	assert_journal_lacks(fixture, SECRET);
}

WITH_MEMORY(what_another_is_refused_is_not_in_the_journal)
{
	memory_make(fixture, "notes");

	assert_fails(fixture, "bob",
		INVOKE("'artifact_id':'genesis_memory','method':'add','args':['notes','" SECRET
		       "']"),
		WFS_E_NOT_AUTHORIZED, "may not write");

	assert_journal_lacks(fixture, SECRET);
	assert_text(fixture, SECRET, "bob", "[\"notes\"]");
}

WITH_MEMORY(arguments_that_a_service_does_not_understand_are_not_in_the_journal)
{
	memory_make(fixture, "notes");

	assert_fails(fixture, "alice",
		INVOKE("'artifact_id':'genesis_memory','method':'add','args':['notes','" SECRET
		       "','no list']"),
		WFS_E_INVALID_ARGUMENT, "tags");

	assert_journal_lacks(fixture, SECRET);
	assert_text(fixture, SECRET, "alice", "[]");
}

WITH_MEMORY(arguments_of_private_code_are_not_in_the_journal)
{
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'tool','access':'private','executable':true,'code':'function "
		      "run(x) return x end'"));

	assert_done(fixture, "alice", INVOKE("'artifact_id':'tool','args':['" SECRET "']"));

	assert_journal_lacks(fixture, SECRET);
	assert_text(fixture, SECRET, "alice", "[\"tool\"]");
}

static void door_make(struct world_fixture *fixture)
{
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'door','executable':true,'code':'function run(x) return 1 "
		      "end','interface':{'methods':[{'name':'run','input':{'type':'object',"
		      "'properties':{'pin':{'type':'string','secret':true}}}}]}"));
}

WITH_MEMORY(arguments_that_an_interface_marks_secret_are_not_in_the_journal)
{
	door_make(fixture);

	assert_done(fixture, "bob", INVOKE("'artifact_id':'door','args':[{'pin':'pin is 4711'}]"));

	assert_journal_lacks(fixture, "pin is 4711");
	assert_text(fixture, "pin is 4711", "bob", "[]");
}

WITH_MEMORY(secret_arguments_of_a_mistyped_method_are_not_in_the_journal)
{
	door_make(fixture);

	assert_fails(fixture, "bob",
		INVOKE("'artifact_id':'door','method':'rum','args':[{'pin':'pin is 4711'}]"),
		WFS_E_INVALID_ARGUMENT, "no method 'rum'");

	assert_journal_lacks(fixture, "pin is 4711");
	assert_text(fixture, "pin is 4711", "bob", "[]");
}

WITH_MEMORY(secret_arguments_of_closed_code_are_for_their_sender_alone)
{
	door_make(fixture);
	assert_done(fixture, "alice", WRITE("'artifact_id':'door','policy':{'read_price':5}"));

	assert_done(fixture, "bob", INVOKE("'artifact_id':'door','args':[{'pin':'pin is 4711'}]"));

	assert_journal_lacks(fixture, "pin is 4711");
	assert_text(fixture, "pin is 4711", "bob", "[]");
}

WITH_MEMORY(reasons_beside_hidden_texts_are_not_in_the_journal)
{
	static const char *const actions[] = {
		WRITE("'artifact_id':'diary','access':'private','content':'old','executable':true,"
		      "'code':'function run() end','reasoning':'for " SECRET "'"),
		ACTION("edit_artifact",
			"'artifact_id':'diary','old_string':'old','new_string':'new',"
			"'reasoning':'for " SECRET "'"),
		INVOKE("'artifact_id':'diary','args':[],'reasoning':'for " SECRET "'"),
		WRITE("'artifact_id':'self','access':'self_owned','reasoning':'for " SECRET "'"),
		WRITE("'artifact_id':'diary','reasoning':'for " SECRET "'"),
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(actions); i++) {
		print_message("%s\n", actions[i]);
		assert_done(fixture, "alice", actions[i]);
		assert_journal_lacks(fixture, SECRET);
	}
	assert_text(fixture, "for " SECRET, "alice", "[\"diary\"]");
	assert_sound(fixture);
}

WITH_MEMORY(edits_of_a_private_content_are_not_in_the_journal)
{
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'diary','access':'private','content':'old " SECRET "'"));

	assert_done(fixture, "alice",
		ACTION("edit_artifact",
			"'artifact_id':'diary','old_string':'old " SECRET
			"','new_string':'new " SECRET "'"));

	assert_journal_lacks(fixture, SECRET);
	assert_int_equal(text_count(fixture), 2);
}

WITH_MEMORY(one_text_has_another_hash_each_time)
{
	remember_secret(fixture);
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	struct wfs_text first;
	struct wfs_text second;

	json_decref(
		memory_call(fixture, "alice", "genesis_memory", "add", "['notes','" SECRET "']"));
	wfs_view_close(&view);
	view = view_at(fixture, WFS_HEIGHT_HEAD);

	assert_int_equal(wfs_text_get(view.txn, 1, &first), 0);
	assert_int_equal(wfs_text_get(view.txn, 2, &second), 0);
	assert_int_equal(first.bytes.size, second.bytes.size);
	assert_false(wfs_hash_equal(&first.hash, &second.hash));
}

/* --- ids --- */

/* The id of its entry, which listings show, does not reveal a short text. */
WITH_MEMORY(one_text_has_another_id_in_another_world)
{
	char first[MEMORY_ID_TEXT_SIZE];
	char second[MEMORY_ID_TEXT_SIZE];
	void *other = NULL;

	memory_make(fixture, "notes");
	memory_remember(fixture, "alice", "notes", SECRET, first);

	assert_int_equal(memory_world_setup(&other), 0);
	memory_make(other, "notes");
	memory_remember(other, "alice", "notes", SECRET, second);
	assert_int_equal(height_of(other), height_of(fixture));
	assert_int_equal(world_fixture_teardown(&other), 0);

	assert_string_not_equal(first, second);
}

/* --- vectors --- */

/* Gives the same vector for each text. */
struct one_vector {
	struct wfs_embedder embedder; /* first: the callback casts back */
	struct wfs_world *world;
};

#define ONE_VECTOR "AACAPwAAAAA=" /* 1, 0 */

static void give_vector(struct wfs_embedder *embedder, struct wfs_request *request)
{
	wfs_world_embedded(((struct one_vector *)embedder)->world, request,
		json_pack("{s:i, s:s, s:s}", "dims", 2, "embedding", ONE_VECTOR, "model",
			embedder->model));
}

WITH_MEMORY(vectors_that_code_had_made_are_not_in_the_journal)
{
	struct one_vector made = {{"far", give_vector}, fixture->world};

	json_decref(memory_call(fixture, "alice", "genesis_memory", "create",
		"[{'id':'notes','access':'public'}]"));
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'clerk','code':'function run(x) local told = "
		      "invoke(\\'genesis_memory_add\\', {memory = \\'notes\\', text = x.pin}) "
		      "assert(told.ok, told.error and told.error.message) return 1 end',"
		      "'interface':{'methods':[{'name':'run','input':{'type':'object',"
		      "'properties':{'pin':{'type':'string','secret':true}}}}]}"));
	wfs_world_set_embedder(fixture->world, &made.embedder);

	assert_done(
		fixture, "alice", INVOKE("'artifact_id':'clerk','args':[{'pin':'pin is 4711'}]"));

	wfs_world_set_embedder(fixture->world, NULL);
	assert_journal_has(fixture, "\"embedder\":\"far\"");
	assert_journal_lacks(fixture, ONE_VECTOR);
	assert_text(fixture, ONE_VECTOR, "alice", "[]");
	assert_sound(fixture);
}

/* --- what looks like a stand-in --- */

WITH_MEMORY(an_argument_that_looks_like_a_stand_in_is_taken_as_it_is)
{
	const char *const hash =
		"sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	WFS_AUTO_JSON json_t *answer = NULL;
	char action[512];

	assert_done(fixture, "alice",
		WRITE("'artifact_id':'echo','executable':true,'code':'function run(x) return "
		      "x.hash end'"));
	snprintf(action, sizeof(action),
		INVOKE("'artifact_id':'echo','args':[{'hash':'%s','of':[],'size':3}]"), hash);

	assert_int_equal(act_as(fixture, "bob", action, &answer), 0);

	assert_string_equal(
		json_string_value(json_object_get(json_object_get(answer, "data"), "result")),
		hash);
	assert_journal_lacks(fixture, hash);
	assert_sound(fixture);
}

static void assert_is_hidden(const char *size, bool expected)
{
	char text[256];

	snprintf(text, sizeof(text), "{'hash':'sha256:%064d','of':['a'],'size':%s}", 0, size);
	WFS_AUTO_JSON json_t *value = json_of(text);
	if (wfs_text_is_hidden(value, NULL) != expected)
		fail_msg("%s %s a stand-in", text, expected ? "is not" : "is");
}

TEST(a_stand_in_has_a_size_that_a_text_can_have)
{
	assert_is_hidden("0", true);
	assert_is_hidden("4294967295", true);
	assert_is_hidden("-1", false);
	assert_is_hidden("4294967296", false);
}

/* --- what is folded again --- */

/* Makes private texts of each kind. */
static void live_in_private(struct world_fixture *fixture)
{
	remember_secret(fixture);
	json_decref(memory_call(
		fixture, "alice", "genesis_memory", "search", "['notes','" SECRET "']"));
	assert_fails(fixture, "bob",
		INVOKE("'artifact_id':'genesis_memory','method':'search','args':['notes','spy']"),
		WFS_E_NOT_AUTHORIZED, "may not read");
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'diary','access':'private','content':'one','code':'function "
		      "run(x) return x end','executable':true"));
	assert_done(fixture, "alice", INVOKE("'artifact_id':'diary','args':['mine']"));
}

/* Searches a store. @of: JSON, the owners of the query */
static void ask_with_texts_of(struct world_fixture *fixture, const char *store, const char *of)
{
	char action[256];

	snprintf(action, sizeof(action),
		INVOKE("'artifact_id':'genesis_memory_search','args':[{'memory':'%s','query':"
		       "'" SECRET "'}]"),
		store);
	WFS_AUTO_JSON json_t *json = json_of(action);
	WFS_AUTO_JSON json_t *owners = json_of(of);
	struct wfs_request request = {.kind = WFS_REQUEST_ACTION,
		.principal = "alice",
		.action.document = json,
		.action.of = owners};

	assert_int_equal(wfs_world_call(fixture->world, &request), 0);
	json_decref(request.answer);
}

WITH_MEMORY(arguments_made_of_other_private_texts_are_not_in_the_journal)
{
	json_decref(memory_call(fixture, "alice", "genesis_memory", "create",
		"[{'id':'lore','access':'freeware'}]"));
	memory_make(fixture, "notes");

	ask_with_texts_of(fixture, "lore", "['diary']");
	assert_text(fixture, SECRET, "alice", "[\"diary\"]");
	ask_with_texts_of(fixture, "notes", "['diary']");
	assert_text(fixture, SECRET, "alice", "[\"notes\",\"diary\"]");
	ask_with_texts_of(fixture, "notes", "[]");
	assert_text(fixture, SECRET, "alice", "[]");

	assert_journal_lacks(fixture, SECRET);
	assert_sound(fixture);
}

WITH_MEMORY(a_world_with_private_texts_is_sound)
{
	live_in_private(fixture);
	assert_done(fixture, "alice",
		ACTION("edit_artifact",
			"'artifact_id':'diary','old_string':'one','new_string':'two'"));

	assert_sound(fixture);
}

static void cut_journal(struct world_fixture *fixture)
{
	struct wfs_gc gc = {.journal = true};

	assert_int_equal(wfs_gc_begin(fixture->world, true, 1, &gc, NULL), 0);
	assert_int_equal(wfs_gc_advance(fixture->world, &gc, "tester", 0, NULL), 0);
}

WITH_MEMORY(private_texts_outlive_their_records)
{
	live_in_private(fixture);
	const uint64_t count = text_count(fixture);
	cut_journal(fixture);
	assert_sound(fixture);
	assert_int_equal(text_count(fixture), count);
	assert_done(fixture, "alice",
		ACTION("edit_artifact",
			"'artifact_id':'diary','old_string':'one','new_string':'two'"));

	assert_sound(fixture);
	cut_journal(fixture);
	assert_sound(fixture);
	assert_int_equal(world_fixture_open(fixture), 0);
	assert_sound(fixture);
}

WITH_MEMORY(a_copy_with_its_texts_is_the_same_world)
{
	live_in_private(fixture);
	const uint64_t count = text_count(fixture);
	const struct wfs_hash hash = snapshot_of(fixture, WFS_HEIGHT_HEAD);
	copy_at(fixture, WFS_HEIGHT_HEAD);

	const struct wfs_restored restored = restore(fixture);

	assert_true(restored.history);
	assert_true(wfs_hash_equal(&restored.snapshot_hash, &hash));
	assert_int_equal(text_count(fixture), count);
	assert_sound(fixture);
}

/* Expects a refusal whose reason contains this text. */
static void assert_not_restored(struct world_fixture *fixture, const char *part)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	const struct wfs_restore_options options = {.progress = NULL};
	struct wfs_restored restored;

	assert_int_equal(restore_with(fixture, &options, &problems, &restored), -EIO);
	if (!strstr(wfs_buffer_text(&problems.lines), part))
		fail_msg("'%s' is not in '%s'", part, wfs_buffer_text(&problems.lines));
}

/* The name of the file of the first text in the copy. */
static void first_text(struct world_fixture *fixture, char ret_name[static 128])
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	char hex[WFS_HASH_HEX_SIZE + 1];
	struct wfs_text text;

	assert_int_equal(wfs_text_get(view.txn, 1, &text), 0);
	wfs_hash_hex(&text.hash, hex);
	snprintf(ret_name, 128, "journal/texts/%s", hex);
}

WITH_MEMORY(a_copy_without_a_text_is_refused_by_its_name)
{
	char name[128];

	remember_secret(fixture);
	copy_at(fixture, WFS_HEIGHT_HEAD);
	first_text(fixture, name);
	remove_copy(fixture, name);

	assert_not_restored(fixture, name);
}

WITH_MEMORY(a_copy_with_another_text_is_refused)
{
	char name[128];

	remember_secret(fixture);
	copy_at(fixture, WFS_HEIGHT_HEAD);
	first_text(fixture, name);
	put_copy(fixture, name, wfs_bytes_text("0123456789abcdef[\"notes\",\"x\"]"));

	assert_not_restored(fixture, "does not have its hash");
}

WITH_MEMORY(a_copy_with_a_text_that_no_record_names_is_refused)
{
	static const char name[] = "journal/texts/"
				   "0123456789abcdef0123456789abcdef"
				   "0123456789abcdef0123456789abcdef";

	remember_secret(fixture);
	copy_at(fixture, WFS_HEIGHT_HEAD);
	put_copy(fixture, name, wfs_bytes_text("x"));

	assert_not_restored(fixture, name);
}

/* The size is counted against the principal's quota when the record is folded again. */
WITH_MEMORY(a_copy_with_a_text_of_less_than_no_bytes_is_refused)
{
	assert_done(fixture, "tester",
		"{'action_type':'principal','id':'carol','quotas':{'journal':100000}}");
	assert_done(fixture, "carol",
		WRITE("'artifact_id':'tool','access':'private','executable':true,'code':'function "
		      "run(x) return x end'"));
	const uint64_t seq = height_of(fixture);
	assert_done(fixture, "carol", INVOKE("'artifact_id':'tool','args':['" SECRET "']"));
	copy_at(fixture, WFS_HEIGHT_HEAD);
	replace_in_record(fixture, seq,
		"\"of\":[\"tool\"],\"size\":", "\"of\":[\"tool\"],\"size\":-90000000000000000");

	assert_not_restored(fixture, "differs from what folding gives");
}
