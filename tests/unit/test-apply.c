/* SPDX-License-Identifier: Apache-2.0 */
/* A manifest that replaces another: what is added, what is removed, what is refused, and that
 * the journal can be folded again. */
#include "tests/fixture/apply.h"

#include <pthread.h>

#include "kernel/check/replay.h"
#include "kernel/check/verify.h"
#include "kernel/copy/gc.h"
#include "kernel/manifest/manifest.h"

static struct wfs_hash hash_now(struct world_fixture *fixture)
{
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = wfs_world_manifest(fixture->world);

	return *wfs_manifest_hash(manifest);
}

static bool is_granted(struct world_fixture *fixture, uint64_t height, const char *name)
{
	WFS_AUTO_FREE char *state = state_at(fixture, height, "sys.grant", name);

	return state != NULL;
}

/* Verify and replay find no problem. */
static void assert_sound(struct world_fixture *fixture)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};

	assert_int_equal(wfs_verify(fixture->world, &problems, NULL, NULL, &fixture->error), 0);
	assert_int_equal(wfs_replay(fixture->world, &problems, NULL, NULL, &fixture->error), 0);
	if (problems.count)
		fail_msg("%s", wfs_buffer_text(&problems.lines));
}

/* Expects a refusal that changes nothing, for a real run and for a dry run. */
static void assert_not_applied(struct world_fixture *fixture, json_t *document,
	enum wfs_error_code code, const char *mentioned)
{
	const uint64_t height = height_of(fixture);
	const struct wfs_hash hash = hash_now(fixture);

	for (int dry_run = 0; dry_run < 2; dry_run++) {
		int r = apply_as(fixture, document, NULL, dry_run != 0, NULL);

		print_message("%s\n", fixture->error.message);
		assert_int_equal(r, -wfs_error_info(code)->number);
		assert_int_equal(fixture->error.code, code);
		assert_non_null(strstr(fixture->error.message, mentioned));
	}
	const struct wfs_hash after = hash_now(fixture);
	assert_true(wfs_hash_equal(&hash, &after));
	assert_int_equal(height_of(fixture), height);
}

IN_WORLD(it_is_in_force_from_its_record_on)
{
	WFS_AUTO_JSON json_t *document = manifest_of_alice(fixture);
	const struct wfs_hash before = hash_now(fixture);
	const uint64_t height = height_of(fixture);
	struct wfs_blob_listing listing;
	struct wfs_reducer reducer;
	struct wfs_blob blob;

	assert_applied(fixture, document);
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = record_at(fixture, height);
	assert_int_equal(parsed.record.kind, WFS_RECORD_MANIFEST);
	assert_true(parsed.record.changed);
	assert_true(wfs_hash_equal(&parsed.body.manifest.base_manifest_hash, &before));
	assert_string_equal(parsed.body.manifest.reason, "a test");
	const struct wfs_hash after = hash_now(fixture);
	assert_true(wfs_hash_equal(&parsed.body.manifest.manifest_hash, &after));

	WFS_AUTO_VIEW struct wfs_view old = view_at(fixture, height);
	WFS_AUTO_VIEW struct wfs_view new = view_at(fixture, height + 1);
	struct wfs_version version;
	assert_int_equal(wfs_view_manifest(&old, &version), 0);
	assert_true(wfs_hash_equal(&version.hash, &before));
	assert_int_equal(wfs_view_manifest(&new, &version), 0);
	assert_true(wfs_hash_equal(&version.hash, &after));
	assert_int_equal(wfs_view_reducer(&old, "extra", 5, &reducer), -ENOENT);
	assert_int_equal(wfs_view_reducer(&new, "extra", 5, &reducer), 0);
	assert_int_equal(wfs_view_blob(&old, &before, &blob, &listing), -ENOENT);
	assert_int_equal(wfs_view_blob(&new, &before, &blob, &listing), 0);
	assert_false(is_granted(fixture, height, "alice.query.1"));
	assert_state_at(fixture, height + 1, "sys.grant", "alice.query.1",
		"{'cap':'sys/query@1','granted_by':'tester','name':'alice.query.1','params':{},"
		"'to':'alice'}");
	assert_state_at(fixture, height + 1, "sys.principal", "alice",
		"{'created_by':'tester','id':'alice'}");

	assert_int_equal(send_event(fixture, "test/Extra@1", "{'key':'x','op':'set','n':2}"), 0);
	assert_state(fixture, "extra", "x", "{'n':2}");
	tell(fixture, "{'key':'a','op':'set','n':1}");
	assert_state(fixture, "cell", "a", "{'n':1}");
	assert_sound(fixture);
}

IN_WORLD(it_is_in_force_when_the_world_is_opened_again)
{
	live_with_manifests(fixture, act_for_manifests);
	assert_int_equal(world_fixture_open(fixture), 0);
	assert_int_equal(send_event(fixture, "test/Extra@1", "{'key':'x'}"), 0);
	assert_state(fixture, "extra", "x", NULL);
	assert_sound(fixture);
}

IN_WORLD(what_it_is_based_on_must_be_in_force)
{
	const struct wfs_hash first = hash_now(fixture);
	WFS_AUTO_JSON json_t *same = manifest_now(fixture);
	WFS_AUTO_JSON json_t *alice = manifest_of_alice(fixture);

	assert_not_applied(fixture, same, WFS_E_NO_CHANGE, "in force");
	assert_int_equal(apply_as(fixture, alice, &first, false, NULL), 0);
	WFS_AUTO_JSON json_t *bob = manifest_of_bob(fixture);
	const uint64_t height = height_of(fixture);
	assert_int_equal(apply_as(fixture, bob, &first, false, NULL), -ESTALE);
	assert_int_equal(fixture->error.code, WFS_E_CONFLICT);
	assert_int_equal(height_of(fixture), height);
	const struct wfs_hash second = hash_now(fixture);
	assert_int_equal(apply_as(fixture, bob, &second, false, NULL), 0);
	/* Back to the first manifest, which is already stored as a blob. */
	assert_applied(fixture, same);
	assert_sound(fixture);
}

IN_WORLD(a_dry_run_tells_and_changes_nothing)
{
	WFS_AUTO_JSON json_t *document = manifest_of_alice(fixture);
	const uint64_t height = height_of(fixture);
	const struct wfs_hash before = hash_now(fixture);
	WFS_AUTO_JSON json_t *dry = NULL;
	WFS_AUTO_JSON json_t *real = NULL;

	assert_int_equal(apply_as(fixture, document, NULL, true, &dry), 0);
	const struct wfs_hash after = hash_now(fixture);
	assert_true(wfs_hash_equal(&before, &after));
	assert_int_equal(height_of(fixture), height);
	assert_int_equal(send_event(fixture, "test/Extra@1", "{'key':'x'}"), -ENOENT);
	assert_int_equal(apply_as(fixture, document, NULL, false, &real), 0);
	WFS_AUTO_JSON json_t *added = json_of("[{'list':'schemas','name':'test/Extra@1'},"
					      "{'list':'reducers','name':'extra'},"
					      "{'list':'routing','name':'test/Extra@1 -> extra'},"
					      "{'list':'principals','name':'alice'},"
					      "{'list':'grants','name':'alice.query.1'}]");
	assert_true(json_equal(json_object_get(dry, "added"), added));
	assert_true(json_is_true(json_object_get(dry, "dry_run")));
	json_object_set(dry, "dry_run", json_object_get(real, "dry_run"));
	assert_true(json_equal(dry, real));
}

IN_WORLD(grants_go_with_what_was_passed_on_from_them)
{
	live_with_manifests(fixture, act_for_manifests);
	const uint64_t height = height_of(fixture) - 2; /* alice's grant comes before bob's */
	assert_true(is_granted(fixture, height, "alice.query.1"));
	assert_true(is_granted(fixture, height, "carol.query.1"));
	assert_false(is_granted(fixture, height, "bob.blob.1"));
	assert_false(is_granted(fixture, height + 1, "alice.query.1"));
	assert_false(is_granted(fixture, height + 1, "carol.query.1"));
	assert_true(is_granted(fixture, height + 1, "bob.blob.1"));
	assert_true(is_granted(fixture, height + 1, "operator.admin.1"));
	assert_sound(fixture);
}

IN_WORLD(a_grant_that_is_declared_otherwise_is_replaced)
{
	WFS_AUTO_JSON json_t *first = manifest_of_alice(fixture);

	declare(first, "grants",
		"{'name':'alice.act.1','cap':'sys/act@1','to':'alice','params':{},"
		"'budget':{'calls':5}}");
	assert_applied(fixture, first);
	act_for_manifests(fixture, "{'action_type':'principal','id':'carol'}");
	act_for_manifests(fixture,
		"{'action_type':'grant','cap':'sys/query@1','to':'carol','params':{},"
		"'from':'alice.query.1'}");
	WFS_AUTO_JSON json_t *second = manifest_now(fixture);
	undeclare(second, "grants", "name", "alice.query.1");
	declare(second, "grants",
		"{'name':'alice.query.1','cap':'sys/query@1','to':'alice',"
		"'params':{'scope':'manifest'}}");
	assert_applied(fixture, second);
	assert_state(fixture, "sys.grant", "alice.query.1",
		"{'cap':'sys/query@1','granted_by':'tester','name':'alice.query.1',"
		"'params':{'scope':'manifest'},'to':'alice'}");
	assert_false(is_granted(fixture, WFS_HEIGHT_HEAD, "carol.query.1"));
	assert_true(is_granted(fixture, WFS_HEIGHT_HEAD, "alice.act.1"));
	/* A grant that is declared as before keeps its state, even if it was revoked. */
	act_for_manifests(fixture, "{'action_type':'revoke','name':'alice.act.1'}");
	WFS_AUTO_JSON json_t *third = manifest_now(fixture);
	declare(third, "principals", "{'id':'dave'}");
	assert_applied(fixture, third);
	assert_false(is_granted(fixture, WFS_HEIGHT_HEAD, "alice.act.1"));
	assert_sound(fixture);
}

IN_WORLD(a_name_that_somebody_has_is_not_taken)
{
	WFS_AUTO_JSON json_t *document = manifest_of_alice(fixture);

	act_for_manifests(fixture, "{'action_type':'principal','id':'alice'}");
	act_for_manifests(
		fixture, "{'action_type':'grant','cap':'sys/query@1','to':'alice','params':{}}");
	assert_not_applied(fixture, document, WFS_E_ALREADY_EXISTS, "alice.query.1");
	act_for_manifests(fixture, "{'action_type':'revoke','name':'alice.query.1'}");
	assert_applied(fixture, document);
	assert_sound(fixture);
}

IN_WORLD(accounts_begin_as_declared_and_are_then_their_owners)
{
	WFS_AUTO_JSON json_t *first = manifest_now(fixture);
	WFS_AUTO_JSON json_t *second = manifest_now(fixture);

	act_for_manifests(fixture, "{'action_type':'principal','id':'carol','scrip':3}");
	declare(first, "principals", "{'id':'alice','scrip':70,'quotas':{'disk':9}}");
	declare(second, "principals", "{'id':'alice','scrip':1,'quotas':{'llm_tokens':1}}");
	declare(second, "principals", "{'id':'carol','scrip':1}");
	assert_applied(fixture, first);
	assert_applied(fixture, second);

	assert_state(fixture, "sys.ledger", "alice", "{'scrip':70}");
	assert_state(fixture, "sys.resource", "alice", "{'disk':{'quota':9,'used':0}}");
	assert_state(fixture, "sys.ledger", "carol", "{'scrip':3}");
	assert_state(fixture, "sys.resource", "carol", NULL);
	assert_sound(fixture);
}

IN_WORLD(a_principal_is_not_called_as_an_artifact_is_or_was)
{
	WFS_AUTO_JSON json_t *document = manifest_now(fixture);

	act_for_manifests(
		fixture, "{'action_type':'write_artifact','artifact_id':'doc','content':'x'}");
	declare(document, "principals", "{'id':'doc'}");

	assert_not_applied(fixture, document, WFS_E_ALREADY_EXISTS, "'doc' is taken");
	act_for_manifests(fixture, "{'action_type':'delete_artifact','artifact_id':'doc'}");
	assert_not_applied(fixture, document, WFS_E_ALREADY_EXISTS, "'doc' is taken");
}

static void write_agent(struct world_fixture *fixture, const char *owner, const char *id)
{
	WFS_AUTO_JSON json_t *action = json_pack("{s:s, s:s, s:s, s:s}", "action_type",
		"write_artifact", "artifact_id", id, "type", "agent", "content", "{}");
	struct wfs_request request = {
		.kind = WFS_REQUEST_ACTION, .principal = owner, .action.document = action};

	if (wfs_world_call(fixture->world, &request))
		fail_msg("%s: %s", id, request.error.message);
	json_decref(request.answer);
}

/* The author of an agent's artifact chooses its name, and may choose a name that the operator is
 * about to declare. */
IN_WORLD(an_agent_of_somebody_else_is_not_declared)
{
	WFS_AUTO_JSON json_t *document = manifest_now(fixture);
	WFS_AUTO_JSON json_t *own = manifest_now(fixture);

	act_for_manifests(fixture, "{'action_type':'principal','id':'mallory'}");
	write_agent(fixture, "mallory", "carol");
	write_agent(fixture, "tester", "helper");
	declare(document, "principals", "{'id':'carol'}");
	declare(document, "grants",
		"{'name':'carol.admin.1','cap':'sys/admin@1','to':'carol','params':{}}");
	declare(own, "principals", "{'id':'helper'}");
	declare(own, "grants",
		"{'name':'helper.act.1','cap':'sys/act@1','to':'helper','params':{}}");

	assert_not_applied(fixture, document, WFS_E_CONFLICT, "belongs to 'mallory'");
	assert_false(is_granted(fixture, height_of(fixture), "carol.admin.1"));
	assert_applied(fixture, own);
	assert_true(is_granted(fixture, height_of(fixture), "helper.act.1"));
	assert_sound(fixture);
}

IN_WORLD(reducers_with_cells_stay)
{
	WFS_AUTO_JSON json_t *removed = manifest_now(fixture);
	WFS_AUTO_JSON json_t *keyed = manifest_now(fixture);

	undeclare(removed, "routing", "reducer", "total");
	undeclare(removed, "reducers", "name", "total");
	json_object_set_new(
		json_array_get(json_object_get(keyed, "reducers"), 1), "keyed", json_true());
	undeclare(keyed, "routing", "reducer", "total");
	assert_int_equal(send_event(fixture, "test/Total@1", "{'op':'set','n':1}"), 0);
	assert_not_applied(fixture, removed, WFS_E_INVALID_ARGUMENT, "'total' has 1 cell,");
	assert_not_applied(fixture, keyed, WFS_E_INVALID_ARGUMENT, "'total' has 1 cell,");
	assert_int_equal(send_event(fixture, "test/Total@1", "{'op':'delete'}"), 0);
	assert_applied(fixture, removed);
	assert_applied(fixture, keyed); /* the reducer comes again, under its old number */
	assert_sound(fixture);
}

IN_WORLD(built_in_definitions_stay)
{
	WFS_AUTO_JSON json_t *cap = manifest_now(fixture);
	WFS_AUTO_JSON json_t *effect = manifest_now(fixture);

	undeclare(cap, "caps", "name", "sys/llm@1");
	undeclare(cap, "grants", "cap", "sys/llm@1");
	assert_not_applied(fixture, cap, WFS_E_INVALID_ARGUMENT, "sys/llm@1");
	undeclare(effect, "effects", "name", "world.gc");
	assert_not_applied(fixture, effect, WFS_E_INVALID_ARGUMENT, "world.gc");
}

static void set_module(json_t *document, const struct wfs_hash *hash)
{
	assert_int_equal(wfs_json_set_hash(json_array_get(json_object_get(document, "reducers"), 0),
				 "module", hash),
		0);
}

IN_WORLD(modules_are_blobs_that_compile)
{
	static const char good[] = "function step(state) return {new = true} end\n";
	static const char bad[] = "function step(state";
	struct wfs_hash hash = wfs_hash_of(good, strlen(good));
	WFS_AUTO_JSON json_t *document = manifest_now(fixture);

	set_module(document, &hash);
	assert_int_equal(apply_as(fixture, document, NULL, true, NULL), 0);
	assert_int_equal(apply_as(fixture, document, NULL, false, NULL), -ENOENT);
	assert_non_null(strstr(fixture->error.message, "'cell' is not a blob"));
	assert_int_equal(put_blob(fixture, bad, strlen(bad), &hash), 0);
	set_module(document, &hash);
	assert_not_applied(fixture, document, WFS_E_SYNTAX_ERROR, "cell.lua");
	assert_int_equal(put_blob(fixture, good, strlen(good), &hash), 0);
	set_module(document, &hash);
	tell(fixture, "{'key':'a','op':'set','n':1}");
	assert_applied(fixture, document);
	tell(fixture, "{'key':'a','op':'set','n':1}");
	assert_state(fixture, "cell", "a", "{'new':true}");
	assert_sound(fixture);
}

IN_WORLD(all_problems_are_told)
{
	WFS_AUTO_JSON json_t *document = manifest_now(fixture);

	json_object_set_new(document, "policy", json_string("no/Such@1"));
	declare(document, "principals", "{'id':'#'}");
	assert_not_applied(fixture, document, WFS_E_INVALID_ARGUMENT, "2 problems");
	assert_non_null(strstr(fixture->error.message, "/policy"));
	assert_non_null(strstr(fixture->error.message, "/principals/0/id"));
}

/* --- what was checked by the manifest before --- */

static pthread_mutex_t clock_lock = PTHREAD_MUTEX_INITIALIZER;

static int64_t held_clock(void *context)
{
	WFS_GUARD(&clock_lock);

	return world_fixture_clock(context);
}

static void answered(struct wfs_request *request)
{
	atomic_fetch_add((atomic_int *)request->context, 1);
}

IN_WORLD(an_event_that_waited_is_checked_again)
{
	atomic_int done = 0;

	fixture->options.clock_ns = held_clock;
	assert_int_equal(world_fixture_open(fixture), 0);
	WFS_AUTO_JSON json_t *document = manifest_now(fixture);
	WFS_AUTO_JSON json_t *value = json_of("{'op':'set','n':1}");
	undeclare(document, "routing", "event", "test/Total@1");
	undeclare(document, "schemas", "name", "test/Total@1");
	struct wfs_request requests[] = {
		{.kind = WFS_REQUEST_EVENT, .event.schema = "test/Total@1", .event.value = value},
		{.kind = WFS_REQUEST_MANIFEST, .manifest.document = document},
		{.kind = WFS_REQUEST_EVENT, .event.schema = "test/Total@1", .event.value = value},
	};
	pthread_mutex_lock(&clock_lock);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(requests); i++) {
		requests[i].principal = "tester";
		requests[i].done = answered;
		requests[i].context = &done;
		assert_int_equal(wfs_world_submit(fixture->world, &requests[i]), 0);
	}
	pthread_mutex_unlock(&clock_lock);
	world_fixture_close(fixture); /* answers all requests */
	assert_int_equal(atomic_load(&done), 3);
	json_decref(requests[1].answer);
	assert_int_equal(requests[0].result, 0);
	assert_int_equal(requests[1].result, 0);
	assert_int_equal(requests[2].result, -ENOENT);
	assert_int_equal(world_fixture_open(fixture), 0);
	assert_sound(fixture);
}

/* --- failures and upkeep --- */

IN_WORLD(without_room_it_never_was)
{
	const struct wfs_hash before = hash_now(fixture);

	fixture->options.map_size_bytes = 1 << 20;
	assert_int_equal(world_fixture_open(fixture), 0);
	WFS_AUTO_JSON json_t *document = manifest_of_alice(fixture);
	for (int i = 0; i < 5000; i++) {
		char grant[128];

		snprintf(grant, sizeof(grant),
			"{'name':'many.%d','cap':'sys/query@1','to':'alice','params':{}}", i);
		json_array_append_new(json_object_get(document, "grants"), json_of(grant));
	}
	assert_int_equal(apply_as(fixture, document, NULL, true, NULL), 0);
	assert_int_equal(apply_as(fixture, document, NULL, false, NULL), -ENOSPC);
	const struct wfs_hash after = hash_now(fixture);
	assert_true(wfs_hash_equal(&before, &after));
	tell(fixture, "{'key':'a','op':'set','n':1}");
	assert_int_equal(send_event(fixture, "test/Extra@1", "{'key':'x'}"), -ENOENT);
	WFS_AUTO_JSON json_t *small = manifest_of_alice(fixture);
	assert_applied(fixture, small);
	assert_sound(fixture);
}

IN_WORLD(dropping_heights_keeps_what_the_journal_names)
{
	struct wfs_gc gc = {0};

	live_with_manifests(fixture, act_for_manifests);
	assert_int_equal(wfs_gc_begin(fixture->world, true, 1, &gc, &fixture->error), 0);
	assert_int_equal(wfs_gc_advance(fixture->world, &gc, "tester", 0, &fixture->error), 0);
	assert_true(gc.figures.version_count > 0);
	assert_sound(fixture);
	assert_int_equal(world_fixture_open(fixture), 0);
	assert_sound(fixture);
}
