/* SPDX-License-Identifier: Apache-2.0 */
/* Followers: a world that is filled by another one's records has all that the other has, or stops
 * by name. */
#include "tests/fixture/apply.h"
#include "tests/fixture/asking.h"
#include "tests/fixture/memory.h"
#include "tests/fixture/sent.h"
#include "tests/fixture/tamper.h"
#include "tests/fixture/turn.h"

#include "kernel/base/hash-text.h"
#include "kernel/copy/backup.h"
#include "kernel/domain/timer/timer.h"
#include "kernel/follow/batch-make.h"
#include "kernel/follow/follower.h"
#include "kernel/read/snapshot.h"
#include "kernel/world/aside.h"

enum { BATCHES_MAX = 512 };

/* The changes that observers got, as text. */
struct told {
	struct wfs_observer observer; /* first: the callback casts back */
	struct wfs_buffer text;
};

/* An owner, which is the fixture's world, and its follower. */
struct pair {
	struct wfs_committer committer; /* first: the callback casts back */
	struct world_fixture *owner;
	struct world_fixture follower_fixture;
	struct wfs_follower *follower;
	struct told owner_told;
	struct told follower_told;
	/* Batches that the owner has made. Main thread only, or while it waits for an answer. */
	struct wfs_buffer batches[BATCHES_MAX];
	size_t batch_count;
	size_t applied_count;
	int result;                 /* of the committer */
	enum wfs_error_code reason; /* with it */
};

static void note(struct wfs_observer *observer, const struct wfs_commit *commit)
{
	struct wfs_buffer *const text = &((struct told *)observer)->text;

	wfs_buffer_printf(text, "%llu-%llu %d%d:", (unsigned long long)commit->from_height,
		(unsigned long long)commit->to_height, commit->manifest_changed,
		commit->blobs_listed);
	for (size_t i = 0; i < commit->change_count; i++)
		wfs_buffer_printf(text, " %u/%.*s %d%d", commit->changes[i].reducer_id,
			(int)commit->changes[i].key.size, (const char *)commit->changes[i].key.data,
			commit->changes[i].was_live, commit->changes[i].is_live);
	wfs_buffer_append_byte(text, '\n');
}

static int decide(struct wfs_committer *committer, struct wfs_txn *txn, uint64_t from, uint64_t to,
	const struct wfs_request *requests, struct wfs_error *error)
{
	struct pair *const pair = (struct pair *)committer;

	if (pair->result) {
		if (pair->reason)
			wfs_error_set(error, pair->reason, "told to");
		return pair->result;
	}
	assert_true(pair->batch_count < BATCHES_MAX);
	return wfs_batch_make(wfs_world_store(pair->owner->world), txn,
		&(struct wfs_batch_of){from, to, requests}, &pair->batches[pair->batch_count++],
		error);
}

static void observe(struct world_fixture *fixture, struct told *told)
{
	told->observer.committed = note;
	wfs_world_observe(fixture->world, &told->observer);
}

static void follow(struct pair *pair)
{
	struct world_fixture *const fixture = &pair->follower_fixture;

	assert_int_equal(world_fixture_open(fixture), 0);
	observe(fixture, &pair->follower_told);
	assert_int_equal(wfs_follower_new(fixture->world, &pair->follower, &fixture->error), 0);
}

/* Begins with a copy of the owner as it is now. */
static struct pair *pair_new(struct world_fixture *fixture)
{
	struct pair *const pair = calloc(1, sizeof(*pair));
	struct world_fixture *const copy = &pair->follower_fixture;
	const struct wfs_backup_options options = {.progress = NULL};
	struct wfs_backup_figures figures;

	pair->owner = fixture;
	pair->committer.decide = decide;
	copy->options = fixture->options;
	snprintf(copy->directory, sizeof(copy->directory), "%s/copy", fixture->root);
	assert_int_equal(
		wfs_backup(fixture->world, copy->directory, &options, &figures, &fixture->error),
		0);
	follow(pair);
	observe(fixture, &pair->owner_told);
	wfs_world_set_committer(fixture->world, &pair->committer);
	return pair;
}

static void pair_free(struct pair *pair)
{
	wfs_world_set_committer(pair->owner->world, NULL);
	wfs_world_unobserve(pair->owner->world, &pair->owner_told.observer);
	wfs_follower_free(pair->follower);
	if (pair->follower_fixture.world)
		wfs_world_unobserve(pair->follower_fixture.world, &pair->follower_told.observer);
	world_fixture_close(&pair->follower_fixture);
	for (size_t i = 0; i < pair->batch_count; i++)
		wfs_buffer_done(&pair->batches[i]);
	wfs_buffer_done(&pair->owner_told.text);
	wfs_buffer_done(&pair->follower_told.text);
	free(pair);
}

static int apply(struct pair *pair, size_t index, struct wfs_followed_outcome *ret_outcome)
{
	return wfs_follower_apply(pair->follower, wfs_buffer_bytes(&pair->batches[index]),
		ret_outcome, &pair->follower_fixture.error);
}

static void assert_followed(struct pair *pair, size_t index, enum wfs_followed followed)
{
	struct wfs_followed_outcome outcome;

	if (apply(pair, index, &outcome))
		fail_msg("batch %zu: %s", index, pair->follower_fixture.error.message);
	if (outcome.followed != followed)
		fail_msg("batch %zu: outcome %d at %llu: %s %s", index, outcome.followed,
			(unsigned long long)outcome.seq, outcome.cell, outcome.message);
}

/* --- comparing --- */

static struct wfs_hash head_hash(struct wfs_view *view)
{
	struct wfs_bytes stored;
	struct wfs_hash hash;

	assert_int_equal(wfs_meta_get(view->txn, WFS_META_HEAD_HASH, &stored), 0);
	memcpy(hash.bytes, stored.data, sizeof(hash.bytes));
	return hash;
}

static struct wfs_hash snapshot_of(struct world_fixture *fixture)
{
	struct wfs_hash hash;

	assert_int_equal(wfs_snapshot_hash(wfs_world_store(fixture->world), height_of(fixture),
				 NULL, NULL, &hash, &fixture->error),
		0);
	return hash;
}

static void assert_same_versions(struct wfs_view *a, struct wfs_view *b)
{
	struct wfs_version x;
	struct wfs_version y;
	uint64_t last;
	uint64_t other;

	assert_int_equal(wfs_version_last(a->txn, &last), 0);
	assert_int_equal(wfs_version_last(b->txn, &other), 0);
	assert_int_equal(last, other);
	for (uint64_t vid = 1; vid <= last; vid++) {
		assert_int_equal(wfs_version_get(a->txn, vid, &x), 0);
		assert_int_equal(wfs_version_get(b->txn, vid, &y), 0);
		assert_int_equal(x.cell_id, y.cell_id);
		assert_int_equal(x.prev_vid, y.prev_vid);
		assert_int_equal(x.height, y.height);
		assert_int_equal(x.time_ns, y.time_ns);
		assert_int_equal(x.tombstone, y.tombstone);
		assert_int_equal(x.in_file, y.in_file);
		assert_true(wfs_hash_equal(&x.hash, &y.hash));
		assert_true(wfs_bytes_equal(x.bytes, y.bytes));
	}
}

/* Each private text of the one is in the other, for the same reader. */
static void assert_same_texts(struct wfs_view *a, struct wfs_view *b)
{
	struct wfs_text x;
	struct wfs_text y;
	uint64_t last;
	uint64_t other;

	assert_int_equal(wfs_text_last(a->txn, &last), 0);
	assert_int_equal(wfs_text_last(b->txn, &other), 0);
	assert_int_equal(last, other);
	for (uint64_t number = 1; number <= last; number++) {
		assert_int_equal(wfs_text_get(a->txn, number, &x), 0);
		assert_int_equal(wfs_text_find(b->txn, &x.hash, &y), 0);
		assert_int_equal(x.seq, y.seq);
		assert_true(wfs_bytes_equal(x.to, y.to));
		assert_true(wfs_bytes_equal(x.of, y.of));
		assert_true(wfs_bytes_equal(x.bytes, y.bytes));
	}
}

static void assert_same_told(struct pair *pair)
{
	assert_string_equal(wfs_buffer_text(&pair->owner_told.text),
		wfs_buffer_text(&pair->follower_told.text));
	wfs_buffer_reset(&pair->owner_told.text);
	wfs_buffer_reset(&pair->follower_told.text);
}

/* Applies what the owner has made, and compares both worlds. */
static void catch_up(struct pair *pair)
{
	while (pair->applied_count < pair->batch_count)
		assert_followed(pair, pair->applied_count++, WFS_FOLLOWED_APPLIED);
	WFS_AUTO_VIEW struct wfs_view a = view_at(pair->owner, WFS_HEIGHT_HEAD);
	WFS_AUTO_VIEW struct wfs_view b = view_at(&pair->follower_fixture, WFS_HEIGHT_HEAD);
	const struct wfs_hash x = head_hash(&a);
	const struct wfs_hash y = head_hash(&b);

	assert_int_equal(a.height, b.height);
	assert_true(wfs_hash_equal(&x, &y));
	assert_same_versions(&a, &b);
	assert_same_texts(&a, &b);
	assert_same_told(pair);
}

static void assert_good(struct world_fixture *fixture)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};

	assert_int_equal(wfs_verify(fixture->world, &problems, NULL, NULL, NULL), 0);
	assert_string_equal(wfs_buffer_text(&problems.lines), "");
	assert_int_equal(wfs_replay(fixture->world, &problems, NULL, NULL, NULL), 0);
	assert_string_equal(wfs_buffer_text(&problems.lines), "");
}

/* Compares all, and ends. */
static void assert_all(struct pair *pair)
{
	catch_up(pair);
	const struct wfs_hash x = snapshot_of(pair->owner);
	const struct wfs_hash y = snapshot_of(&pair->follower_fixture);

	assert_true(wfs_hash_equal(&x, &y));
	assert_good(&pair->follower_fixture);
	pair_free(pair);
}

/* --- records of all kinds --- */

static void snapshot(struct world_fixture *fixture)
{
	struct wfs_request request = {.kind = WFS_REQUEST_SNAPSHOT, .principal = "tester"};

	request.snapshot.height = height_of(fixture);
	request.snapshot.hash = snapshot_of(fixture);
	assert_int_equal(wfs_world_call(fixture->world, &request), 0);
}

static void live_with_events(struct world_fixture *fixture)
{
	tell(fixture, "{'key':'a','op':'set','n':1}");
	assert_int_equal(send_event(fixture, "test/Both@1", "{'key':'a','op':'add','n':1.5}"), 0);
	tell(fixture, "{'key':'r','op':'tree','n':3}");
	tell(fixture, "{'key':'a','op':'random'}");
	tell(fixture, "{'key':'c','op':'context'}");
	tell(fixture, "{'key':'a','op':'delete'}");
	tell(fixture, "{'key':'b','op':'grow','n':100000}");
	assert_int_equal(send_event(fixture, "test/None@1", "[null]"), 0);
	assert_int_equal(send_event(fixture, "test/Do@1", "{'key':'a','op':'fail'}"), -EIO);
	snapshot(fixture);
}

static void live_with_blobs(struct world_fixture *fixture)
{
	WFS_AUTO_FREE char *large = calloc(1, WFS_BATCH_BLOB_MAX);
	struct wfs_hash hash;

	assert_int_equal(put_blob(fixture, "small", 5, &hash), 0);
	assert_int_equal(put_blob(fixture, large, 100000, &hash), 0);
	assert_int_equal(put_blob(fixture, large, WFS_BATCH_BLOB_MAX, &hash), 0);
}

IN_WORLD(events_are_followed)
{
	struct pair *const pair = pair_new(fixture);

	live_with_events(fixture);

	assert_all(pair);
}

IN_WORLD(blobs_are_followed)
{
	struct pair *const pair = pair_new(fixture);

	live_with_blobs(fixture);

	assert_all(pair);
}

/* Its bytes come another way. */
IN_WORLD(a_large_blob_is_listed_without_its_bytes)
{
	struct pair *const pair = pair_new(fixture);
	WFS_AUTO_FREE char *large = calloc(1, WFS_BATCH_BLOB_MAX + 1);
	struct wfs_hash hash;

	assert_int_equal(put_blob(fixture, large, WFS_BATCH_BLOB_MAX + 1, &hash), 0);

	assert_true(pair->batches[0].size < 4096);
	catch_up(pair);
	WFS_AUTO_VIEW struct wfs_view view = view_at(&pair->follower_fixture, WFS_HEIGHT_HEAD);
	struct wfs_blob_listing listing;
	struct wfs_blob blob;
	assert_int_equal(wfs_view_blob(&view, &hash, &blob, &listing), 0);
	assert_true(blob.in_file);
	wfs_view_close(&view);
	pair_free(pair);
}

static void write_artifacts(struct world_fixture *fixture)
{
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'tool','type':'executable','executable':true,"
		      "'content':'about','code':'function run(...) return {done = true} end'"));
	assert_done(fixture, "alice", INVOKE("'artifact_id':'tool'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'a','content':'one two'"));
	assert_done(fixture, "alice",
		ACTION("edit_artifact",
			"'artifact_id':'a','old_string':'one','new_string':'three'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'a','content':'four'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'a','content':{'x':[1,2]}"));
	assert_fails(fixture, "bob", WRITE("'artifact_id':'a','content':'not mine'"),
		WFS_E_NOT_AUTHORIZED, "");
	assert_done(fixture, "alice", ACTION("transfer", "'to':'bob','amount':1"));
}

WITH_ACTORS(a_batch_is_the_same_after_the_commit)
{
	struct pair *const pair = pair_new(fixture);

	write_artifacts(fixture);
	for (size_t i = 0; i < pair->batch_count; i++) {
		WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
		WFS_AUTO_BUFFER struct wfs_buffer again = {0};
		WFS_AUTO_BATCH struct wfs_batch batch = {0};

		assert_int_equal(
			wfs_batch_decode(wfs_buffer_bytes(&pair->batches[i]), &batch, NULL), 0);
		assert_int_equal(
			wfs_batch_make(wfs_world_store(fixture->world), view.txn,
				&(struct wfs_batch_of){batch.from, batch.to, NULL}, &again, NULL),
			0);
		assert_true(wfs_bytes_equal(
			wfs_buffer_bytes(&again), wfs_buffer_bytes(&pair->batches[i])));
	}

	assert_all(pair);
}

IN_WORLD(records_that_are_not_there_give_no_batch)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	WFS_AUTO_BUFFER struct wfs_buffer buffer = {0};
	struct wfs_error error = {0};

	assert_int_equal(wfs_batch_make(wfs_world_store(fixture->world), view.txn,
				 &(struct wfs_batch_of){1, view.height + 1, NULL}, &buffer, &error),
		-ENOENT);
	assert_int_equal(error.code, WFS_E_NOT_FOUND);
}

/* Keeps the last request that was heard of, as text. */
static void hear(void *context, const char *id, uint64_t seq)
{
	snprintf(context, 32, "%s %llu", id, (unsigned long long)seq);
}

static int send_with_id(struct pair *pair, const char *id, const char *schema)
{
	WFS_AUTO_JSON json_t *value = json_pack("{s:s, s:s, s:i}", "key", "k", "op", "set", "n", 1);
	struct wfs_request request = {
		.kind = WFS_REQUEST_EVENT,
		.principal = "tester",
		.id = id,
		.event.schema = schema,
		.event.value = value,
	};

	return wfs_world_call(pair->owner->world, &request);
}

IN_WORLD(a_follower_hears_of_requests_with_ids)
{
	struct pair *const pair = pair_new(fixture);
	const uint64_t height = height_of(fixture);
	char heard[32] = "";

	wfs_follower_listen(pair->follower, hear, heard);
	assert_int_equal(send_with_id(pair, "b-1.x_Z", "test/Do@1"), 0);
	catch_up(pair);
	char expected[32];
	snprintf(expected, sizeof(expected), "b-1.x_Z %llu", (unsigned long long)height);
	assert_string_equal(heard, expected);

	/* Those that are refused have no records; others have no id. */
	assert_true(send_with_id(pair, "refused", "test/Nothing@1") < 0);
	assert_int_equal(send_with_id(pair, NULL, "test/Do@1"), 0);
	catch_up(pair);
	assert_string_equal(heard, expected);
	pair_free(pair);
}

IN_WORLD(manifests_and_grants_are_followed)
{
	struct pair *const pair = pair_new(fixture);

	live_with_manifests(fixture, act_for_manifests);

	assert_all(pair);
}

IN_WORLD(a_manifest_with_a_new_module_is_followed)
{
	struct pair *const pair = pair_new(fixture);
	static const char module[] = "function step(state, event, ctx) return {own = 1} end\n";
	struct wfs_hash hash;
	json_t *reducer;

	assert_int_equal(put_blob(fixture, module, sizeof(module) - 1, &hash), 0);
	WFS_AUTO_JSON json_t *document = manifest_now(fixture);
	reducer = json_deep_copy(json_array_get(json_object_get(document, "reducers"), 0));
	json_object_set_new(reducer, "name", json_string("own"));
	json_object_set_new(reducer, "module", json_string(WFS_HASH_TEXT(&hash)));
	json_array_insert_new(json_object_get(document, "reducers"), 0, reducer);
	declare(document, "schemas",
		"{'$kind':'defschema','name':'test/Own@1','schema':{'type':'object'}}");
	declare(document, "routing", "{'event':'test/Own@1','reducer':'own','key_field':'key'}");
	assert_applied(fixture, document);
	assert_int_equal(send_event(fixture, "test/Own@1", "{'key':'k'}"), 0);
	catch_up(pair);

	assert_state(&pair->follower_fixture, "own", "k", "{'own':1}");
	assert_all(pair);
}

ASKING(effects_and_their_refusals_are_followed)
{
	struct pair *const pair = pair_new(fixture);
	struct asking_judge judge = asking_judge();

	wfs_world_judge(fixture->world, &judge.judge);
	assert_int_equal(ask_for(fixture, "a", asking_for_everything,
				 ",'tell':true,'after':[{'effect':'introspect.manifest'}]"),
		0);
	judge.r = -EACCES;
	judge.judgement.error.code = WFS_E_POLICY_DENIED;
	assert_int_equal(ask_for(fixture, "a", "[{'effect':'introspect.manifest'}]", ""), 0);
	wfs_world_judge(fixture->world, NULL);

	assert_all(pair);
}

WITH_ACTORS(artifacts_are_followed)
{
	struct pair *const pair = pair_new(fixture);

	write_artifacts(fixture);

	assert_all(pair);
}

WITH_ACTORS(turns_are_followed)
{
	struct pair *const pair = pair_new(fixture);
	struct turn_run run = turn_begin(fixture, TURN_STEP("5", "{}", TURN_ASK));

	turn_says(&run, WANTS(WANTS_ONE("call_x", "look", "{}")));
	turn_gives(&run, 0, "a file");
	turn_says(&run, SAYS("done"));

	assert_ended(&run, "no_tool_calls");
	assert_all(pair);
}

#define NOTE WRITE("'artifact_id':'n','content':'x'")

WITH_ACTORS(timers_are_followed)
{
	struct pair *const pair = pair_new(fixture);
	char key[WFS_TIMER_KEY_SIZE];
	WFS_AUTO_JSON json_t *action = json_of(NOTE);
	struct wfs_request request = {
		.kind = WFS_REQUEST_ACTION, .principal = "alice", .action.document = action};

	assert_done(fixture, "tester",
		"{'action_type':'grant','cap':'sys/timer@1','params':{},'to':'alice'}");
	assert_done(fixture, "alice", ACTION("schedule", "'id':'a','every_ms':100,'action':" NOTE));
	wfs_timer_key("alice", "a", key);
	WFS_AUTO_FREE char *text = state_at(fixture, WFS_HEIGHT_HEAD, "sys.timer", key);
	WFS_AUTO_JSON json_t *timer = json_of(text);
	request.fired = (struct wfs_fired){.timer = "a",
		.due_ns = json_integer_value(json_object_get(timer, "next_ns")),
		.how = WFS_FIRED_DUE};
	assert_int_equal(wfs_world_call(fixture->world, &request), 0);
	json_decref(request.answer);
	assert_done(fixture, "alice", ACTION("unschedule", "'id':'a'"));

	assert_all(pair);
}

WITH_MEMORY(private_texts_are_followed)
{
	struct pair *const pair = pair_new(fixture);
	char id[MEMORY_ID_TEXT_SIZE];

	memory_make(fixture, "notes");
	memory_remember(fixture, "alice", "notes", "saffron sauce", id);
	json_decref(memory_call(fixture, "alice", "genesis_memory_search", "run",
		"[{'memory':'notes','query':'which spice'}]"));
	memory_forget(fixture, "notes", id);

	assert_all(pair);
}

static void act_at_random(struct world_fixture *fixture, int pick, int key, int number)
{
	WFS_AUTO_JSON json_t *answer = NULL;
	char action[256];

	if (pick == 0)
		snprintf(action, sizeof(action), WRITE("'artifact_id':'a%d','content':'text %d'"),
			key, number);
	else if (pick == 1)
		snprintf(action, sizeof(action), ACTION("delete_artifact", "'artifact_id':'a%d'"),
			key);
	else if (pick == 2)
		snprintf(action, sizeof(action), ACTION("transfer", "'to':'bob','amount':%d"), key);
	else
		snprintf(action, sizeof(action),
			ACTION("edit_artifact",
				"'artifact_id':'a%d','old_string':'text','new_string':'text %d'"),
			key, number);
	(void)act_as(fixture, key % 2 ? "alice" : "bob", action, &answer);
}

static void send_at_random(struct world_fixture *fixture, int pick, int key, int number)
{
	static const char *const ops[] = {"add", "set", "delete", "random", "grow"};
	char value[160];

	snprintf(value, sizeof(value), "{'key':'k%d','op':'%s','n':%d}", key, ops[pick], number);
	(void)send_event(fixture, "test/Do@1", value);
}

/* Changes of many kinds, and refusals, in an order that a seed gives. */
WITH_ACTORS(any_order_of_changes_is_followed)
{
	struct pair *const pair = pair_new(fixture);
	uint32_t seed = 12345;
	char text[16];
	struct wfs_hash hash;

	for (int i = 0; i < 150; i++) {
		seed = seed * 1103515245 + 12345;
		const int pick = (int)(seed >> 16) % 11;
		const int key = (int)(seed >> 24) % 5;

		snprintf(text, sizeof(text), "%d", i % 20);
		if (pick < 4)
			act_at_random(fixture, pick, key, i);
		else if (pick < 9)
			send_at_random(fixture, pick - 4, key, i);
		else if (pick == 9)
			(void)put_blob(fixture, text, strlen(text), &hash);
		else
			snapshot(fixture);
		if (i % 3 == 0)
			catch_up(pair);
	}

	assert_all(pair);
}

/* --- batches that do not fit --- */

IN_WORLD(a_batch_is_told_apart_by_its_place)
{
	struct pair *const pair = pair_new(fixture);
	struct wfs_followed_outcome outcome;

	for (int i = 0; i < 3; i++)
		tell(fixture, "{'key':'a','op':'add','n':1}");

	assert_followed(pair, 1, WFS_FOLLOWED_AHEAD);
	assert_followed(pair, 0, WFS_FOLLOWED_APPLIED);
	assert_followed(pair, 0, WFS_FOLLOWED_PRESENT);
	assert_followed(pair, 1, WFS_FOLLOWED_APPLIED);
	assert_followed(pair, 0, WFS_FOLLOWED_PRESENT);
	assert_int_equal(apply(pair, 1, &outcome), 0);
	assert_int_equal(outcome.followed, WFS_FOLLOWED_PRESENT);
	pair->applied_count = 2;
	assert_all(pair);
}

IN_WORLD(a_batch_with_another_line_is_told_apart)
{
	struct pair *const pair = pair_new(fixture);
	struct wfs_followed_outcome outcome;
	const uint64_t height = height_of(fixture);

	tell(fixture, "{'key':'a','op':'set','n':1}");
	tell(fixture, "{'key':'a','op':'set','n':2}");
	wfs_follower_free(WFS_STEAL(pair->follower));
	assert_int_equal(wfs_world_resume(pair->follower_fixture.world, NULL), 0);
	tell(&pair->follower_fixture, "{'key':'b','op':'set','n':1}");
	assert_int_equal(wfs_follower_new(pair->follower_fixture.world, &pair->follower, NULL), 0);

	assert_int_equal(apply(pair, 0, &outcome), 0);
	assert_int_equal(outcome.followed, WFS_FOLLOWED_OTHER);
	assert_int_equal(outcome.seq, height);
	assert_int_equal(apply(pair, 1, &outcome), 0);
	assert_int_equal(outcome.followed, WFS_FOLLOWED_OTHER);
	assert_int_equal(outcome.seq, height);
	pair_free(pair);
}

WITH_ACTORS(no_flipped_bit_of_a_batch_is_committed)
{
	struct pair *const pair = pair_new(fixture);
	struct wfs_followed_outcome outcome;
	const uint64_t height = height_of(&pair->follower_fixture);

	assert_done(fixture, "alice", WRITE("'artifact_id':'a','content':'one'"));
	struct wfs_buffer *const batch = &pair->batches[0];
	for (size_t bit = 0; bit < 8 * batch->size; bit += 3) {
		batch->data[bit / 8] = (char)(batch->data[bit / 8] ^ 1 << bit % 8);
		assert_int_equal(apply(pair, 0, &outcome), -EINVAL);
		batch->data[bit / 8] = (char)(batch->data[bit / 8] ^ 1 << bit % 8);
	}

	assert_int_equal(height_of(&pair->follower_fixture), height);
	assert_all(pair);
}

/* The same records without what is attached. */
WITH_ACTORS(a_batch_that_lacks_a_text_is_refused)
{
	struct pair *const pair = pair_new(fixture);
	WFS_AUTO_BATCH struct wfs_batch whole = {0};
	WFS_AUTO_BATCH struct wfs_batch bare = {0};
	WFS_AUTO_BUFFER struct wfs_buffer encoded = {0};
	struct wfs_followed_outcome outcome;
	struct wfs_error error = {0};

	assert_done(fixture, "alice", WRITE("'artifact_id':'a','content':'one'"));
	assert_int_equal(wfs_batch_decode(wfs_buffer_bytes(&pair->batches[0]), &whole, NULL), 0);
	assert_int_equal(wfs_batch_add_line(&bare, whole.lines, NULL), 0);
	bare.from = whole.from;
	bare.to = whole.to;
	bare.prev = whole.prev;
	assert_int_equal(wfs_batch_encode(&bare, &encoded, NULL), 0);

	assert_int_equal(
		wfs_follower_apply(pair->follower, wfs_buffer_bytes(&encoded), &outcome, &error),
		-EINVAL);
	assert_non_null(strstr(error.message, "lacks the content"));
	assert_all(pair);
}

static uint64_t vid_of(struct world_fixture *fixture, const char *reducer, const char *key)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	struct wfs_reducer row;
	struct wfs_version version;

	assert_int_equal(wfs_view_reducer(&view, reducer, strlen(reducer), &row), 0);
	assert_int_equal(wfs_view_cell(&view, row.reducer_id, wfs_bytes_text(key), &version), 0);
	return version.vid;
}

static void stop(struct pair *pair)
{
	struct world_fixture *const copy = &pair->follower_fixture;

	wfs_follower_free(WFS_STEAL(pair->follower));
	wfs_world_unobserve(copy->world, &pair->follower_told.observer);
	world_fixture_close(copy);
}

/* Checks that batch @index is not folded, however often it is given. */
static void assert_diverges(struct pair *pair, size_t index, const char *cell, const char *message)
{
	struct world_fixture *const copy = &pair->follower_fixture;
	const uint64_t height = height_of(copy);

	for (int i = 0; i < 2; i++) {
		struct wfs_followed_outcome outcome;

		assert_int_equal(apply(pair, index, &outcome), 0);
		assert_int_equal(outcome.followed, WFS_FOLLOWED_DIVERGED);
		assert_int_equal(outcome.seq, height);
		print_message("%s: %s\n", outcome.cell, outcome.message);
		assert_string_equal(outcome.cell, cell);
		assert_non_null(strstr(outcome.message, message));
		assert_int_equal(height_of(copy), height);
	}
	assert_string_equal(wfs_buffer_text(&pair->follower_told.text), "");
}

IN_WORLD(a_world_with_another_cell_diverges_by_name_and_changes_nothing)
{
	struct pair *const pair = pair_new(fixture);

	tell(fixture, "{'key':'a','op':'set','n':1}");
	catch_up(pair);
	const uint64_t vid = vid_of(&pair->follower_fixture, "cell", "a");
	stop(pair);
	tamper_version(&pair->follower_fixture, vid, "{\"n\":1}\n", "{\"n\":5}\n");
	follow(pair);
	tell(fixture, "{'key':'a','op':'add','n':1}");

	assert_diverges(pair, 1, "cell/a", "differs from what folding gives");
	pair_free(pair);
}

/* Flips a bit in each place of the store that has these bytes. */
static void flip_bits(struct world_fixture *fixture, const char *bytes)
{
	WFS_AUTO_BUFFER struct wfs_buffer data = {0};
	char path[128];
	char *at;

	snprintf(path, sizeof(path), "%s/data.mdb", fixture->directory);
	FILE *const file = fopen(path, "r+");
	assert_non_null(file);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	assert_int_equal(wfs_buffer_reserve(&data, (size_t)ftell(file)), 0);
	data.size = (size_t)ftell(file);
	rewind(file);
	assert_int_equal(fread(data.data, 1, data.size, file), data.size);
	while ((at = memmem(data.data, data.size, bytes, strlen(bytes))))
		at[1] ^= 1;
	rewind(file);
	assert_int_equal(fwrite(data.data, 1, data.size, file), data.size);
	assert_int_equal(fclose(file), 0);
}

IN_WORLD(a_flipped_bit_in_the_store_is_named)
{
	struct pair *const pair = pair_new(fixture);

	tell(fixture, "{'key':'a','op':'set','n':54321}");
	tell(fixture, "{'key':'b','op':'set','n':1}"); /* the newest version is always read */
	catch_up(pair);
	flip_bits(&pair->follower_fixture, "{\"n\":54321}\n"); /* LMDB maps the file */
	tell(fixture, "{'key':'a','op':'add','n':1}");

	assert_diverges(pair, 2, "", "reducer 'cell', key 'a' at height");
	pair_free(pair);
}

/* --- the writer --- */

IN_WORLD(what_the_committer_refuses_is_dropped_with_its_reason)
{
	struct pair *const pair = pair_new(fixture);
	const uint64_t height = height_of(fixture);

	pair->result = -EAGAIN;
	pair->reason = WFS_E_UNAVAILABLE;
	assert_int_equal(send_event(fixture, "test/Do@1", "{'key':'a','op':'add','n':1}"), -EAGAIN);
	assert_int_equal(fixture->error.code, WFS_E_UNAVAILABLE);
	assert_string_equal(fixture->error.message, "told to");
	pair->result = -ETIMEDOUT;
	pair->reason = WFS_OK;
	assert_int_equal(
		send_event(fixture, "test/Do@1", "{'key':'a','op':'add','n':1}"), -ETIMEDOUT);
	assert_int_equal(fixture->error.code, WFS_E_TIMEOUT);
	assert_int_equal(height_of(fixture), height);
	assert_string_equal(wfs_buffer_text(&pair->owner_told.text), "");
	pair->result = 0;
	tell(fixture, "{'key':'a','op':'add','n':1}");

	assert_state(fixture, "cell", "a", "{'n':1}");
	assert_all(pair);
}

IN_WORLD(requests_to_a_follower_wait_or_fail)
{
	struct pair *const pair = pair_new(fixture);
	struct world_fixture *const copy = &pair->follower_fixture;
	struct answers answers;
	struct sent sent[2];

	answers_init(&answers, 1);
	sent_init(&sent[0], &answers, "add", "a", 1);
	assert_int_equal(wfs_world_submit(copy->world, &sent[0].request), 0);
	tell(fixture, "{'key':'a','op':'set','n':5}");
	catch_up(pair);
	assert_int_equal(sent[0].answer_count, 0);

	wfs_world_refuse(copy->world, true);
	answers_wait(&answers);
	assert_int_equal(sent[0].request.result, -EAGAIN);
	assert_int_equal(sent[0].request.error.code, WFS_E_UNAVAILABLE);
	assert_int_equal(send_event(copy, "test/Do@1", "{'key':'a','op':'add','n':1}"), -EAGAIN);
	assert_int_equal(copy->error.code, WFS_E_UNAVAILABLE);

	wfs_world_refuse(copy->world, false);
	answers_init(&answers, 1);
	sent_init(&sent[1], &answers, "add", "a", 2);
	assert_int_equal(wfs_world_submit(copy->world, &sent[1].request), 0);
	wfs_follower_free(WFS_STEAL(pair->follower));
	assert_int_equal(wfs_world_resume(copy->world, NULL), 0);
	answers_wait(&answers);
	assert_int_equal(sent[1].request.result, 0);
	assert_state(copy, "cell", "a", "{'n':7}");
	for (int i = 0; i < 2; i++)
		json_decref(sent[i].value);
	pair_free(pair);
}

IN_WORLD(a_world_that_stands_aside_can_be_closed)
{
	struct answers answers;
	struct sent sent;

	wfs_world_step_aside(fixture->world);
	wfs_world_step_aside(fixture->world);
	answers_init(&answers, 1);
	sent_init(&sent, &answers, "add", "a", 1);
	assert_int_equal(wfs_world_submit(fixture->world, &sent.request), 0);
	world_fixture_close(fixture);

	assert_int_equal(sent.answer_count, 1);
	assert_int_equal(sent.request.error.code, WFS_E_UNAVAILABLE);
	json_decref(sent.value);
}

IN_WORLD(an_owner_that_does_not_stand_aside_resumes_nothing)
{
	assert_int_equal(wfs_world_resume(fixture->world, &fixture->error), 0);
	tell(fixture, "{'key':'a','op':'set','n':1}");
	wfs_follower_free(NULL);
}

/* Makes the follower the owner, and the owner its follower. */
static void change_roles(struct pair *pair)
{
	struct world_fixture *const before = pair->owner;
	struct world_fixture other = *before;

	catch_up(pair);
	wfs_world_set_committer(before->world, NULL);
	wfs_follower_free(WFS_STEAL(pair->follower));
	assert_int_equal(wfs_world_resume(pair->follower_fixture.world, NULL), 0);
	/* The tests' functions act on pair->owner, whose world is exchanged. */
	before->world = pair->follower_fixture.world;
	pair->follower_fixture.world = other.world;
	wfs_world_set_committer(before->world, &pair->committer);
	assert_int_equal(wfs_follower_new(pair->follower_fixture.world, &pair->follower, NULL), 0);
}

WITH_ACTORS(roles_change_both_ways)
{
	struct pair *const pair = pair_new(fixture);

	for (int i = 0; i < 4; i++) {
		WFS_AUTO_JSON json_t *alice = NULL;

		write_artifacts(fixture);
		tell(fixture, "{'key':'a','op':'add','n':1}");
		if (i == 1) {
			alice = manifest_now(fixture);
			declare(alice, "schemas",
				"{'$kind':'defschema','name':'test/More@1','schema':{}}");
			assert_applied(fixture, alice);
		}
		catch_up(pair);
		change_roles(pair);
		if (i > 0)
			assert_int_equal(send_event(fixture, "test/More@1", "{}"), 0);
	}

	assert_state(fixture, "cell", "a", "{'n':4}");
	catch_up(pair);
	assert_good(&pair->follower_fixture);
	/* As it was: each world has its own observer's list again after an even number. */
	pair_free(pair);
}
