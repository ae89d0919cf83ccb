/* SPDX-License-Identifier: Apache-2.0 */
/* What a session shows and does depends on its grants, whichever way a client asks. */
#include "caps/session-act.h"
#include "caps/session-blob.h"
#include "caps/session-list.h"
#include "caps/session-outside.h"
#include "caps/session-query.h"
#include "caps/session-read.h"
#include "caps/session-turn.h"
#include "caps/session-upkeep.h"
#include "kernel/manifest/manifest.h"
#include "tests/fixture/apply.h"
#include "tests/fixture/session.h"

#include "caps/seen.h"
#include "kernel/base/encode.h"

/* If set, the next request waits after it was judged, until the test passes it to the kernel's
 * thread. */
static bool next_waits;

/* NOLINTBEGIN(readability-identifier-naming): the linker's names, see ld(1), --wrap */
int __real_wfs_world_submit(struct wfs_world *world, struct wfs_request *request);
int __wrap_wfs_world_submit(struct wfs_world *world, struct wfs_request *request);
/* NOLINTEND(readability-identifier-naming) */

int __wrap_wfs_world_submit(struct wfs_world *world, struct wfs_request *request)
{
	if (!next_waits)
		return __real_wfs_world_submit(world, request);
	next_waits = false;
	return 0;
}

/* Passes on the request that waits. Return: as wfs_world_call. */
static int go_on(struct at_work *work, struct wfs_request *request, sem_t *done)
{
	return wait_for(work, request, done, __real_wfs_world_submit(work->world->world, request));
}

static struct wfs_view look(struct at_work *work, const struct wfs_session *session)
{
	struct wfs_view view;

	assert_int_equal(wfs_session_view(session, WFS_HEIGHT_HEAD, &view, &work->error), 0);
	return view;
}

static uint32_t reducer_id(struct at_work *work, const char *name)
{
	WFS_AUTO_VIEW struct wfs_view view = look(work, work->operator);
	struct wfs_reducer reducer;

	assert_int_equal(
		wfs_session_reducer(work->operator, & view, name, strlen(name), &reducer), 0);
	return reducer.reducer_id;
}

/* The keys that a session lists, each followed by a space; caller frees. */
static char *keys_of(struct at_work *work, const struct wfs_session *session, const char *reducer)
{
	WFS_AUTO_VIEW struct wfs_view view = look(work, session);
	WFS_AUTO_SESSION_WALK struct wfs_session_walk walk = {.looked_at = 0};
	WFS_AUTO_BUFFER struct wfs_buffer keys = {0};
	struct wfs_entry entry;
	int r = wfs_session_cells(session, &view, reducer_id(work, reducer), 0, &walk, NULL);

	while (!r && (r = wfs_session_walk_next(&walk, &entry)) > 0) {
		wfs_buffer_append(&keys, entry.key.data, entry.key.size);
		wfs_buffer_append_byte(&keys, ' ');
		r = 0;
	}
	if (r)
		wfs_buffer_printf(&keys, "%s", strerrorname_np(-r));
	return strdup(wfs_buffer_text(&keys));
}

static void assert_keys(struct at_work *work, const char *reducer, const char *expected)
{
	WFS_AUTO_FREE char *keys = keys_of(work, work->alice, reducer);

	assert_string_equal(keys, expected);
}

static int cell(
	struct at_work *work, const char *reducer, const char *key, struct wfs_seen *ret_seen)
{
	WFS_AUTO_VIEW struct wfs_view view = look(work, work->alice);

	return wfs_session_cell(
		work->alice, &view, reducer_id(work, reducer), wfs_bytes_text(key), ret_seen);
}

static void fill(struct at_work *work)
{
	tell(work->world, "{'key':'lib1','op':'set','n':1}");
	tell(work->world, "{'key':'lib/2','op':'set','n':2}");
	tell(work->world, "{'key':'bash','op':'set','n':3}");
	assert_int_equal(send_event(work->world, "test/Total@1", "{'op':'set','n':4}"), 0);
}

AT_WORK(who_holds_nothing_sees_nothing)
{
	struct wfs_session_figures figures;
	struct wfs_seen seen;
	struct wfs_reducer reducer;
	struct wfs_bytes line;
	uint64_t last;

	fill(work);
	WFS_AUTO_VIEW struct wfs_view view = look(work, work->alice);

	assert_int_equal(wfs_session_manifest(work->alice, &view, &seen), -EACCES);
	assert_int_equal(wfs_session_reducer(work->alice, &view, "cell", 4, &reducer), -ENOENT);
	assert_int_equal(cell(work, "cell", "bash", &seen), -ENOENT);
	assert_keys(work, "cell", "EACCES");
	assert_int_equal(wfs_session_record(work->alice, &view, 0, &line), -EACCES);
	assert_int_equal(wfs_session_blob_last(work->alice, &view, &last), -EACCES);
	assert_int_equal(wfs_session_figures(work->alice, &figures, &work->error), -EACCES);
	assert_int_equal(work->error.code, WFS_E_NOT_AUTHORIZED);
}

AT_WORK(a_scope_shows_what_it_covers)
{
	struct wfs_seen seen;
	struct wfs_reducer reducer;
	struct wfs_bytes name;

	fill(work);
	let(work, "{'to':'alice','cap':'sys/query@1','params':{'scope':['reducers/cell/lib*']}}");
	WFS_AUTO_VIEW struct wfs_view view = look(work, work->alice);

	assert_keys(work, "cell", "lib1 lib/2 ");
	assert_int_equal(cell(work, "cell", "lib1", &seen), 0);
	assert_int_equal(cell(work, "cell", "lib/2", &seen), 0);
	assert_int_equal(cell(work, "cell", "bash", &seen), -ENOENT);
	assert_int_equal(cell(work, "total", "", &seen), -ENOENT);
	assert_int_equal(wfs_session_reducer(work->alice, &view, "total", 5, &reducer), -ENOENT);
	assert_int_equal(wfs_session_reducer_next(work->alice, &view, 0, &name, &reducer), 0);
	assert_true(wfs_bytes_equal(name, wfs_bytes_text("cell")));
	assert_int_equal(
		wfs_session_reducer_next(work->alice, &view, reducer.reducer_id, &name, &reducer),
		-ENOENT);
	assert_int_equal(wfs_session_manifest(work->alice, &view, &seen), -ENOENT);
}

AT_WORK(whoever_saw_a_version_is_refused_when_it_may_no_more)
{
	struct wfs_seen seen;
	struct wfs_seen again;

	fill(work);
	let(work, "{'to':'alice','cap':'sys/query@1','name':'g'}");
	assert_int_equal(cell(work, "cell", "bash", &seen), 0);
	assert_int_equal(take_back(work, work->operator, "g"), 0);

	WFS_AUTO_VIEW struct wfs_view view = look(work, work->alice);
	assert_int_equal(
		wfs_session_version(work->alice, &view, seen.version.vid, &again), -EACCES);
}

static json_t *introspect(struct at_work *work, enum wfs_effect effect, const char *params_text)
{
	WFS_AUTO_JSON json_t *params = json_of(params_text);
	json_t *payload = NULL;

	work->error = (struct wfs_error){.code = WFS_OK};
	(void)wfs_session_introspect(work->alice, effect, params, &payload, &work->error);
	return payload;
}

AT_WORK(introspection_is_filtered_alike)
{
	fill(work);
	let(work, "{'to':'alice','cap':'sys/query@1','params':{'scope':['reducers/cell/lib*']}}");
	WFS_AUTO_JSON json_t *cells =
		introspect(work, WFS_EFFECT_INTROSPECT_LIST_CELLS, "{'reducer':'cell'}");
	assert_int_equal(json_array_size(json_object_get(cells, "cells")), 2);
	WFS_AUTO_JSON json_t *hidden =
		introspect(work, WFS_EFFECT_INTROSPECT_LIST_CELLS, "{'reducer':'total'}");
	assert_int_equal(work->error.code, WFS_E_REDUCER_MISSING);
	assert_null(json_object_get(hidden, "cells"));
	WFS_AUTO_JSON json_t *manifest = introspect(work, WFS_EFFECT_INTROSPECT_MANIFEST, "{}");
	assert_int_equal(work->error.code, WFS_E_NOT_FOUND);
	assert_null(json_object_get(manifest, "manifest"));
	WFS_AUTO_JSON json_t *state_of = introspect(work, WFS_EFFECT_INTROSPECT_REDUCER_STATE,
		"{'reducer':'cell','key_b64':'YmFzaA=='}");
	assert_int_equal(work->error.code, WFS_OK);
	assert_null(json_object_get(state_of, "state_b64"));
}

/* --- queries --- */

/* A world with an artifact `doc`, in which alice may query everything that the rules allow. */
static int setup_with_rules(void **state, const char *rules)
{
	struct at_work *const work = calloc(1, sizeof(*work));
	WFS_AUTO_JSON json_t *action =
		json_of("{'action_type':'write_artifact','artifact_id':'doc','content':'x'}");
	struct wfs_request request = {.kind = WFS_REQUEST_ACTION,
		.principal = WFS_PRINCIPAL_OPERATOR,
		.action.document = action};

	*state = work;
	if (world_fixture_source((void **)&work->world))
		return -1;
	world_fixture_set_policy(work->world, rules);
	if (world_fixture_create(work->world) || world_fixture_open(work->world) ||
		at_work_begin(work) || wfs_world_call(work->world->world, &request))
		return -1;
	json_decref(request.answer);
	return give(work, work->operator, "{'to':'alice','cap':'sys/query@1'}");
}

/* Return: a new reference; NULL if the query is refused. */
static json_t *ask(struct at_work *work, const struct wfs_session *session, const char *type,
	const char *params_text)
{
	WFS_AUTO_VIEW struct wfs_view view = look(work, session);
	WFS_AUTO_JSON json_t *params = json_of(params_text);
	json_t *answer = NULL;

	work->error = (struct wfs_error){.code = WFS_OK};
	const struct wfs_session_query query = {.type = type, .params = params};
	(void)wfs_session_query(session, &view, &query, &answer, &work->error);
	return answer;
}

/* @member: a number in the answer */
static void assert_told(
	struct at_work *work, const char *type, const char *member, json_int_t expected)
{
	WFS_AUTO_JSON json_t *answer = ask(work, work->alice, type, "{}");

	print_message("%s\n", type);
	assert_int_equal(json_integer_value(json_object_get(answer, member)), expected);
}

static void assert_not_found(struct at_work *work, const char *type, const char *params)
{
	WFS_AUTO_JSON json_t *answer = ask(work, work->alice, type, params);

	print_message("%s\n", type);
	assert_null(answer);
	assert_int_equal(work->error.code, WFS_E_NOT_FOUND);
}

static int setup_without_journal(void **state)
{
	return setup_with_rules(state,
		"[{'when':{'effect':'introspect.journal*','principal':'alice'},'decision':'deny'},"
		"{'when':{},'decision':'allow'}]");
}

TEST_WITH(a_policy_that_denies_the_journal_hides_events, struct at_work *work,
	setup_without_journal, at_work_teardown)
{
	WFS_AUTO_JSON json_t *all = ask(work, work->operator, "events", "{}");
	WFS_AUTO_JSON json_t *artifact =
		ask(work, work->alice, "artifact", "{'artifact_id':'doc'}");

	assert_true(json_integer_value(json_object_get(all, "returned")) > 0);
	assert_told(work, "events", "returned", 0);
	assert_non_null(artifact);
}

static int setup_without_artifacts(void **state)
{
	return setup_with_rules(state,
		"[{'when':{'effect':'introspect.reducer_state','reducer':'sys.artifact',"
		"'principal':'alice'},'decision':'deny'},{'when':{'effect':"
		"'introspect.reducer_state','reducer':'sys.resource','principal':'alice'},"
		"'decision':'deny'},{'when':{},'decision':'allow'}]");
}

TEST_WITH(a_policy_that_denies_a_reducer_hides_its_cells_from_queries, struct at_work *work,
	setup_without_artifacts, at_work_teardown)
{
	WFS_AUTO_JSON json_t *known = ask(work, work->operator, "artifacts", "{}");
	WFS_AUTO_JSON json_t *balance =
		ask(work, work->alice, "balances", "{'principal_id':'alice'}");

	assert_true(json_integer_value(json_object_get(known, "total")) > 0);
	assert_told(work, "artifacts", "total", 0);
	assert_not_found(work, "artifact", "{'artifact_id':'doc'}");
	assert_not_found(work, "dependencies", "{'artifact_id':'doc'}");
	assert_not_found(work, "quotas", "{'principal_id':'alice'}");
	assert_not_found(work, "frozen", "{'agent_id':'alice'}");
	assert_non_null(balance);
}

static int setup_without_lists(void **state)
{
	return setup_with_rules(state,
		"[{'when':{'effect':'introspect.list_cells','principal':'alice'},"
		"'decision':'deny'},{'when':{},'decision':'allow'}]");
}

TEST_WITH(a_policy_that_denies_lists_leaves_what_is_named, struct at_work *work,
	setup_without_lists, at_work_teardown)
{
	WFS_AUTO_JSON json_t *artifact =
		ask(work, work->alice, "artifact", "{'artifact_id':'doc'}");

	assert_told(work, "artifacts", "total", 0);
	assert_told(work, "principals", "total", 0);
	assert_non_null(artifact);
}

/* --- changing --- */

static int emit(struct at_work *work, const struct wfs_session *session)
{
	WFS_AUTO_JSON json_t *value = json_of("{'key':'a','op':'set'}");
	struct wfs_request request = {
		.kind = WFS_REQUEST_EVENT, .event.schema = "test/Do@1", .event.value = value};
	int r = wfs_session_call(session, &request);

	work->error = request.error;
	return r;
}

AT_WORK(a_refused_change_is_recorded)
{
	assert_int_equal(emit(work, work->alice), -EACCES);
	assert_int_equal(work->error.code, WFS_E_NOT_AUTHORIZED);
	assert_non_null(strstr(work->error.message, "'alice' holds no grant of type 'act'"));

	WFS_AUTO_RECORD struct wfs_record_parsed parsed = record_at(work->world, ALICE_HEIGHT);
	assert_int_equal(parsed.record.kind, WFS_RECORD_DECISION);
	assert_string_equal(parsed.record.principal, "alice");
	assert_string_equal(parsed.body.decision.effect, "event.emit");
	assert_string_equal(parsed.body.decision.code, "not_authorized");
}

AT_WORK(a_refused_blob_is_recorded_behind_the_answer)
{
	struct wfs_upload *upload = NULL;

	assert_int_equal(wfs_session_upload(work->alice, &upload, &work->error), -EACCES);
	assert_null(upload);
	assert_int_equal(
		emit(work, work->alice), -EACCES); /* requests of a principal keep their order */

	WFS_AUTO_RECORD struct wfs_record_parsed parsed = record_at(work->world, ALICE_HEIGHT);
	assert_int_equal(parsed.record.kind, WFS_RECORD_DECISION);
	assert_string_equal(parsed.body.decision.effect, "blob.put");
}

AT_WORK(a_budget_ends)
{
	let(work, "{'to':'alice','cap':'sys/act@1','name':'g','budget':{'calls':2}}");
	assert_int_equal(emit(work, work->alice), 0);
	assert_int_equal(emit(work, work->alice), 0);
	assert_int_equal(emit(work, work->alice), -EDQUOT);
	assert_int_equal(work->error.code, WFS_E_QUOTA_EXCEEDED);
}

/* Judges an event of alice, which then waits. */
static void judge_event(struct at_work *work, struct wfs_request *request, json_t *value)
{
	*request = (struct wfs_request){
		.kind = WFS_REQUEST_EVENT, .event.schema = "test/Do@1", .event.value = value};
	assert_int_equal(wfs_session_admit(work->alice, WFS_EFFECT_EVENT_EMIT, request), 0);
}

AT_WORK(a_grant_that_got_the_name_of_another_allows_nothing_that_waited)
{
	WFS_AUTO_JSON json_t *value = json_of("{'key':'a','op':'set','n':1}");
	struct wfs_request request;

	let(work, "{'to':'alice','cap':'sys/act@1','name':'g'}");
	judge_event(work, &request, value);
	assert_int_equal(take_back(work, work->operator, "g"), 0);
	let(work, "{'to':'alice','cap':'sys/act@1','name':'g','budget':{'calls':1}}");

	assert_int_equal(wfs_world_call(work->world->world, &request), -EACCES);
	assert_int_equal(request.error.code, WFS_E_NOT_AUTHORIZED);
	assert_string_equal(
		request.error.message, "the grant 'g' was revoked while the request waited");
}

AT_WORK(what_waited_is_done_when_its_grant_was_only_used_since)
{
	WFS_AUTO_JSON json_t *value = json_of("{'key':'a','op':'set','n':1}");
	struct wfs_request request;

	let(work, "{'to':'operator','cap':'sys/llm@1','name':'other'}");
	let(work, "{'to':'alice','cap':'sys/act@1','name':'g','budget':{'calls':2}}");
	judge_event(work, &request, value);
	assert_int_equal(emit(work, work->alice), 0);
	assert_int_equal(take_back(work, work->operator, "other"), 0);

	assert_int_equal(wfs_world_call(work->world->world, &request), 0);
}

/* Applies a policy that has @rules before a rule that allows everything. */
static void apply_policy(struct at_work *work, const char *rules)
{
	WFS_AUTO_JSON json_t *document = manifest_now(work->world);
	json_t *const policy = json_pack("{s:s, s:s, s:o}", "$kind", "defpolicy", "name",
		"test/Other@1", "rules", json_of(rules));

	json_array_append_new(
		json_object_get(policy, "rules"), json_of("{'when':{},'decision':'allow'}"));
	json_array_insert_new(json_object_get(document, "policies"), 0, policy);
	json_object_set_new(document, "policy", json_string("test/Other@1"));
	assert_applied(work->world, document);
}

AT_WORK(what_waited_is_not_done_when_another_policy_denies_it)
{
	WFS_AUTO_JSON json_t *value = json_of("{'key':'a','op':'set','n':1}");
	struct wfs_request request;

	let(work, "{'to':'alice','cap':'sys/act@1','name':'g'}");
	judge_event(work, &request, value);
	apply_policy(work, "[{'when':{'principal':'alice'},'decision':'deny'}]");
	const uint64_t height = height_of(work->world);

	assert_int_equal(wfs_world_call(work->world->world, &request), -EACCES);
	assert_int_equal(request.error.code, WFS_E_POLICY_DENIED);
	assert_string_equal(request.error.message,
		"rule 0 of the policy 'test/Other@1' denies event.emit to 'alice', by a "
		"manifest that was applied while the request waited");
	assert_int_equal(height_of(work->world), height);
}

AT_WORK(an_approval_of_one_call_is_none_of_another)
{
	let(work, "{'to':'alice','cap':'sys/drive@1','name':'g'}");
	apply_policy(work,
		"[{'when':{'principal':'alice','effect':'agent.step'},'decision':'ask'},"
		"{'when':{'principal':'alice','effect':'plan.run'},'decision':'ask'}]");
	assert_false(wfs_session_may(work->alice, WFS_EFFECT_AGENT_STEP));

	wfs_session_approve_call(work->alice, WFS_EFFECT_AGENT_STEP);

	assert_true(wfs_session_may(work->alice, WFS_EFFECT_AGENT_STEP));
	assert_false(wfs_session_may(work->alice, WFS_EFFECT_PLAN_RUN));
}

AT_WORK(what_waited_is_done_when_another_policy_allows_it)
{
	WFS_AUTO_JSON json_t *value = json_of("{'key':'a','op':'set','n':1}");
	struct wfs_request request;

	let(work, "{'to':'alice','cap':'sys/act@1','name':'g'}");
	judge_event(work, &request, value);
	apply_policy(work,
		"[{'when':{'principal':'alice','effect':'action.*'},'decision':'deny'},"
		"{'when':{'principal':'bob'},'decision':'deny'}]");

	assert_int_equal(wfs_world_call(work->world->world, &request), 0);
}

/* alice writes an artifact; after her request was judged, a policy comes into force that denies
 * actions about 'x'. Return: as wfs_world_call. */
static int write_before_policy(struct at_work *work, const char *id)
{
	WFS_AUTO_JSON json_t *action = json_pack("{s:s, s:s, s:s}", "action_type", "write_artifact",
		"artifact_id", id, "content", "1");
	BEGIN_REQUEST(request, done);

	let(work, "{'to':'alice','cap':'sys/act@1','name':'g'}");
	next_waits = true;
	assert_int_equal(wfs_session_act(work->alice, action, &request), 0);
	apply_policy(work, "[{'when':{'artifact':'x'},'decision':'deny'}]");
	return go_on(work, &request, &done);
}

AT_WORK(an_action_that_waited_is_judged_by_its_artifact)
{
	assert_int_equal(write_before_policy(work, "x"), -EACCES);
	assert_int_equal(work->error.code, WFS_E_POLICY_DENIED);
}

AT_WORK(an_action_that_waited_is_not_judged_by_another_artifact)
{
	assert_int_equal(write_before_policy(work, "y"), 0);
}

AT_WORK(nothing_is_passed_on_from_a_grant_that_somebody_else_has_got_since)
{
	WFS_AUTO_JSON json_t *part = json_of("{'to':'bob','cap':'sys/query@1','name':'part'}");
	BEGIN_REQUEST(request, done);

	assert_int_equal(add_principal(work, work->operator, "bob"), 0);
	assert_int_equal(add_principal(work, work->operator, "carol"), 0);
	let(work, "{'to':'alice','cap':'sys/query@1','name':'on-call'}");
	next_waits = true;
	assert_int_equal(wfs_session_grant(work->alice, part, &request), 0);
	assert_int_equal(take_back(work, work->operator, "on-call"), 0);
	let(work, "{'to':'carol','cap':'sys/query@1','name':'on-call'}");

	assert_int_equal(go_on(work, &request, &done), -EACCES);
	assert_int_equal(work->error.code, WFS_E_NOT_AUTHORIZED);
	assert_string_equal(
		work->error.message, "the grant 'on-call' was revoked while the request waited");
	assert_state(work->world, "sys.grant", "part", NULL);
}

AT_WORK(who_passed_a_grant_on_does_not_end_another_that_got_its_name)
{
	WFS_AUTO_JSON json_t *revocation = json_of("{'name':'x'}");
	BEGIN_REQUEST(request, done);

	let(work, "{'to':'alice','cap':'sys/query@1','name':'a'}");
	assert_int_equal(
		give(work, work->alice, "{'to':'operator','cap':'sys/query@1','name':'x'}"), 0);
	next_waits = true;
	assert_int_equal(wfs_session_revoke(work->alice, revocation, &request), 0);
	assert_int_equal(take_back(work, work->operator, "x"), 0);
	let(work, "{'to':'operator','cap':'sys/llm@1','name':'x'}");

	assert_int_equal(go_on(work, &request, &done), -EACCES);
	assert_int_equal(work->error.code, WFS_E_NOT_AUTHORIZED);
	assert_int_equal(take_back(work, work->operator, "x"), 0);
}

AT_WORK(granting_and_taking_back_are_charged)
{
	let(work, "{'to':'alice','cap':'sys/admin@1','name':'a','budget':{'calls':2}}");
	assert_int_equal(
		give(work, work->alice, "{'to':'operator','cap':'sys/llm@1','name':'g'}"), 0);
	assert_int_equal(take_back(work, work->alice, "g"), 0);
	assert_int_equal(give(work, work->alice, "{'to':'operator','cap':'sys/llm@1'}"), -EDQUOT);
	assert_int_equal(take_back(work, work->alice, "operator.llm.1"), -EDQUOT);
}

AT_WORK(a_budget_ends_for_what_was_passed_on)
{
	let(work, "{'to':'alice','cap':'sys/act@1','name':'g','budget':{'calls':2}}");
	assert_int_equal(give(work, work->alice, "{'to':'alice','cap':'sys/act@1'}"), 0);
	assert_int_equal(emit(work, work->alice), 0);
	assert_int_equal(emit(work, work->alice), 0);
	assert_int_equal(emit(work, work->alice), -EDQUOT);
	assert_int_equal(work->error.code, WFS_E_QUOTA_EXCEEDED);
}

AT_WORK(a_part_is_passed_on_and_ends_with_the_whole)
{
	WFS_AUTO_SESSION struct wfs_session *bob = NULL;

	assert_int_equal(add_principal(work, work->operator, "bob"), 0);
	assert_int_equal(wfs_session_new(work->authority, "bob", &bob, &work->error), 0);
	assert_int_equal(give(work, work->alice, "{'to':'bob','cap':'sys/query@1'}"), -EACCES);
	let(work, "{'to':'alice','cap':'sys/query@1','name':'a','params':{'scope':['reducers']}}");

	assert_int_equal(give(work, work->alice, "{'to':'bob','cap':'sys/query@1'}"), -EACCES);
	assert_int_equal(give(work, work->alice,
				 "{'to':'bob','cap':'sys/query@1','name':'b',"
				 "'params':{'scope':['reducers/cell']}}"),
		0);
	assert_true(wfs_session_may(bob, WFS_EFFECT_INTROSPECT_LIST_CELLS));
	assert_int_equal(take_back(work, work->operator, "a"), 0);
	assert_false(wfs_session_may(bob, WFS_EFFECT_INTROSPECT_LIST_CELLS));
}

AT_WORK(who_passed_a_grant_on_may_take_it_back)
{
	assert_int_equal(add_principal(work, work->operator, "bob"), 0);
	let(work, "{'to':'alice','cap':'sys/query@1','name':'a'}");
	assert_int_equal(give(work, work->alice, "{'to':'bob','cap':'sys/query@1','name':'b'}"), 0);

	assert_int_equal(take_back(work, work->alice, "a"), -EACCES);
	assert_int_equal(take_back(work, work->alice, "b"), 0);
	assert_int_equal(take_back(work, work->alice, "b"), -EACCES);
	assert_int_equal(take_back(work, work->operator, "b"), -ENOENT);
}

AT_WORK(who_is_no_administrator_any_more_takes_nothing_back)
{
	let(work, "{'to':'alice','cap':'sys/admin@1','name':'a'}");
	assert_int_equal(
		give(work, work->alice, "{'to':'operator','cap':'sys/query@1','name':'g'}"), 0);
	assert_int_equal(take_back(work, work->operator, "a"), 0);
	assert_int_equal(take_back(work, work->alice, "g"), -EACCES);
	assert_int_equal(take_back(work, work->operator, "g"), 0);
}

AT_WORK(what_would_grant_nothing_is_refused)
{
	static const char *const params[] = {"{'scope':['/reducers']}", "{'scope':'reducers/'}",
		"{'scope':['reducers','at/3/reducers']}", "{'scope':['reducers/**x']}"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(params); i++) {
		char grant[100];

		snprintf(grant, sizeof(grant), "{'to':'alice','cap':'sys/query@1','params':%s}",
			params[i]);
		assert_int_equal(give(work, work->operator, grant), -EINVAL);
		assert_non_null(strstr(work->error.message, "the pattern '"));
	}
}

AT_WORK(only_an_administrator_adds_principals)
{
	assert_int_equal(add_principal(work, work->alice, "bob"), -EACCES);
	assert_int_equal(add_principal(work, work->operator, "alice"), -EEXIST);
	assert_int_equal(add_principal(work, work->operator, "no good"), -EINVAL);
}

/* alice calls an outside tool; after that was judged, a policy comes into force that denies tools
 * that may destroy something, which a tool without hints may. Return: as wfs_world_call. */
static int call_before_policy(struct at_work *work, const char *annotations_text)
{
	WFS_AUTO_JSON json_t *annotations = json_of(annotations_text);
	WFS_AUTO_JSON json_t *arguments = json_object();
	struct wfs_session_outside outside = {
		.tool = {"git.push",
			"sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
			annotations},
		.arguments = arguments,
	};
	BEGIN_REQUEST(request, done);

	let(work, "{'to':'alice','cap':'sys/tool@1','name':'g'}");
	next_waits = true;
	assert_int_equal(wfs_session_outside_begin(work->alice, &outside, NULL, &request), 0);
	apply_policy(work, "[{'when':{'annotation':'destructiveHint'},'decision':'deny'}]");
	int r = go_on(work, &request, &done);
	wfs_session_outside_done(&outside);
	return r;
}

AT_WORK(a_call_that_waited_is_not_made_when_another_policy_denies_its_tool)
{
	assert_int_equal(call_before_policy(work, "{}"), -EACCES);
	assert_int_equal(work->error.code, WFS_E_POLICY_DENIED);
}

AT_WORK(a_call_that_waited_is_made_when_another_policy_denies_other_tools)
{
	assert_int_equal(call_before_policy(work, "{'readOnlyHint':true}"), 0);
}
