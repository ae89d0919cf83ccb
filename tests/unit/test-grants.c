/* SPDX-License-Identifier: Apache-2.0 */
/* Principals and grants: what actions do to them, budgets, and records of refusals. */
#include "tests/fixture/world.h"

#include "kernel/check/replay.h"
#include "kernel/check/verify.h"
#include "kernel/domain/principal/grants.h"
#include "kernel/manifest/grant.h"
#include "kernel/read/snapshot.h"

enum { GENESIS_HEIGHT = 2 };

static bool cells_cannot_be_stored;

/* NOLINTBEGIN(readability-identifier-naming): the linker's names, see ld(1), --wrap */
int __real_wfs_head_set_cell(struct wfs_head *head, size_t reducer_index, struct wfs_cell *cell,
	const struct wfs_state *state, uint64_t height, int64_t at_ns);
int __wrap_wfs_head_set_cell(struct wfs_head *head, size_t reducer_index, struct wfs_cell *cell,
	const struct wfs_state *state, uint64_t height, int64_t at_ns);
/* NOLINTEND(readability-identifier-naming) */

int __wrap_wfs_head_set_cell(struct wfs_head *head, size_t reducer_index, struct wfs_cell *cell,
	const struct wfs_state *state, uint64_t height, int64_t at_ns)
{
	return cells_cannot_be_stored
		? -ENOSPC
		: __real_wfs_head_set_cell(head, reducer_index, cell, state, height, at_ns);
}

/* Sends an action. @ret_answer: caller owns it; NULL if the action failed */
static int act_charged(struct world_fixture *fixture, const char *action, const char *charge,
	uint64_t *ret_seq, json_t **ret_answer)
{
	WFS_AUTO_JSON json_t *json = json_of(action);
	struct wfs_request request = {
		.kind = WFS_REQUEST_ACTION,
		.principal = "tester",
		.action.document = json,
	};

	snprintf(request.charge, sizeof(request.charge), "%s", charge ? charge : "");
	int r = wfs_world_call(fixture->world, &request);
	fixture->error = request.error;
	*ret_seq = request.seq;
	*ret_answer = request.answer;
	return r;
}

static int act(struct world_fixture *fixture, const char *action)
{
	json_t *answer;
	uint64_t seq;
	int r = act_charged(fixture, action, NULL, &seq, &answer);

	json_decref(answer);
	return r;
}

/* Sends an action that must succeed, and gives the answer with ' for ". */
static void assert_done(struct world_fixture *fixture, const char *action, const char *expected)
{
	WFS_AUTO_JSON json_t *wanted = json_of(expected);
	WFS_AUTO_JSON json_t *answer = NULL;
	uint64_t seq;

	if (act_charged(fixture, action, NULL, &seq, &answer))
		fail_msg("%s: %s", action, fixture->error.message);
	assert_int_equal(seq, height_of(fixture) - 1);
	assert_true(json_equal(answer, wanted));
}

/* Checks that the body of a record is @expected, with ' for ". */
static void assert_body(struct world_fixture *fixture, uint64_t seq, enum wfs_record_kind kind,
	const char *expected)
{
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = record_at(fixture, seq);
	WFS_AUTO_FREE char *wanted = json_text(expected);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_body_write(&text, parsed.record.kind, &parsed.body);
	assert_string_equal(wfs_buffer_text(&text), wanted);
	assert_int_equal(parsed.record.kind, kind);
}

/* Checks that a well-formed action fails, is recorded, and changes nothing. */
static void assert_fails(
	struct world_fixture *fixture, const char *action, enum wfs_error_code code)
{
	const uint64_t height = height_of(fixture);
	json_t *answer;
	uint64_t seq;
	int r = act_charged(fixture, action, NULL, &seq, &answer);

	print_message("%.70s: %s\n", action, fixture->error.message);
	assert_int_equal(r, -wfs_error_info(code)->number);
	assert_int_equal(fixture->error.code, code);
	assert_null(answer);
	assert_int_equal(seq, height);
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = record_at(fixture, seq);
	const json_t *result = parsed.body.action.result;
	assert_int_equal(parsed.record.kind, WFS_RECORD_ACTION);
	assert_false(parsed.record.changed);
	assert_true(json_is_false(json_object_get(result, "ok")));
	assert_string_equal(json_string_value(json_object_get(result, "error_code")),
		wfs_error_info(code)->name);
}

/* Checks that a malformed action is refused, and leaves no record. */
static void assert_malformed(
	struct world_fixture *fixture, const char *action, enum wfs_error_code code)
{
	const uint64_t height = height_of(fixture);
	json_t *answer;
	uint64_t seq;
	int r = act_charged(fixture, action, NULL, &seq, &answer);

	print_message("%.70s: %s\n", action, fixture->error.message);
	assert_int_equal(r, -wfs_error_info(code)->number);
	assert_int_equal(fixture->error.code, code);
	assert_null(answer);
	assert_true(seq == UINT64_MAX);
	assert_int_equal(height_of(fixture), height);
}

static uint64_t grant_count(struct world_fixture *fixture)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	struct wfs_reducer reducer;

	assert_int_equal(wfs_view_reducer(&view, "sys.grant", 9, &reducer), 0);
	return reducer.live_count;
}

/* Makes the principals alice and bob. */
static int setup(void **state)
{
	int r = world_fixture_setup(state);

	if (!r)
		r = act(*state, "{'action_type':'principal','id':'alice'}");
	return r ? r : act(*state, "{'action_type':'principal','id':'bob'}");
}

#define WITH_TWO(name) TEST_WITH(name, struct world_fixture *fixture, setup, world_fixture_teardown)

#define GRANT(members) "{'action_type':'grant'," members "}"

/* --- genesis --- */

IN_WORLD(genesis_gives_the_declared_principals_and_grants_their_cells)
{
	WFS_AUTO_RECORD struct wfs_record_parsed genesis = record_at(fixture, 0);

	assert_true(genesis.record.changed);
	assert_state_at(
		fixture, 1, "sys.principal", "operator", "{'created_by':'kernel','id':'operator'}");
	assert_state_at(fixture, 1, "sys.grant", "operator.query.1",
		"{'cap':'sys/query@1','granted_by':'kernel','name':'operator.query.1','params':{},"
		"'to':'operator'}");
	assert_int_equal(grant_count(fixture), 8);
	assert_int_equal(height_of(fixture), GENESIS_HEIGHT);
}

IN_WORLD(the_first_snapshot_is_of_the_cells_of_genesis)
{
	WFS_AUTO_RECORD struct wfs_record_parsed snapshot = record_at(fixture, 1);
	struct wfs_hash hash;

	assert_int_equal(wfs_snapshot_hash(wfs_world_store(fixture->world), 1, NULL, NULL, &hash,
				 &fixture->error),
		0);

	assert_true(wfs_hash_equal(&snapshot.body.snapshot.snapshot_hash, &hash));
}

/* --- principals --- */

IN_WORLD(a_principal_is_added_once)
{
	assert_done(fixture, "{'action_type':'principal','id':'carol'}", "{'id':'carol'}");

	assert_state(fixture, "sys.principal", "carol", "{'created_by':'tester','id':'carol'}");
	assert_body(fixture, height_of(fixture) - 1, WFS_RECORD_ACTION,
		"{'action':{'action_type':'principal','id':'carol'},"
		"'result':{'id':'carol','ok':true}}");
	assert_fails(fixture, "{'action_type':'principal','id':'carol'}", WFS_E_ALREADY_EXISTS);
}

/* --- grants --- */

WITH_TWO(a_grant_becomes_a_cell)
{
	assert_done(fixture,
		GRANT("'cap':'sys/"
		      "act@1','to':'alice','params':{'actions':['noop']},'name':'writer',"
		      "'expires_at_ns':1800000000000000000,'budget':{'calls':2}"),
		"{'name':'writer'}");

	assert_state(fixture, "sys.grant", "writer",
		"{'budget':{'calls':2},'cap':'sys/act@1','expires_at_ns':1800000000000000000,"
		"'granted_by':'tester','name':'writer','params':{'actions':['noop']},'to':'alice'"
		"}");
}

WITH_TWO(a_grant_without_a_name_gets_the_lowest_that_is_free)
{
	static const char blob[] = GRANT("'cap':'sys/blob@1','to':'alice','params':{}");

	assert_done(fixture, blob, "{'name':'alice.blob.1'}");
	assert_done(fixture, blob, "{'name':'alice.blob.2'}");
	assert_done(fixture, GRANT("'cap':'sys/query@1','to':'alice','params':{}"),
		"{'name':'alice.query.1'}");
	assert_done(fixture, "{'action_type':'revoke','name':'alice.blob.1'}", "{'removed':1}");
	assert_done(fixture, blob, "{'name':'alice.blob.1'}");
	assert_done(fixture, blob, "{'name':'alice.blob.3'}");
}

WITH_TWO(a_name_that_would_be_too_long_has_to_be_given)
{
	char id[WFS_GRANT_NAME_MAX + 1];
	char action[512];

	memset(id, 'x', WFS_GRANT_NAME_MAX);
	id[WFS_GRANT_NAME_MAX] = '\0';
	snprintf(action, sizeof(action), "{'action_type':'principal','id':'%s'}", id);
	assert_int_equal(act(fixture, action), 0);
	snprintf(action, sizeof(action), GRANT("'cap':'sys/blob@1','params':{},'to':'%s'"), id);
	assert_fails(fixture, action, WFS_E_INVALID_ARGUMENT);
	snprintf(action, sizeof(action),
		GRANT("'cap':'sys/blob@1','params':{},'name':'short','to':'%s'"), id);
	assert_done(fixture, action, "{'name':'short'}");
}

WITH_TWO(grants_that_fail_are_recorded)
{
	assert_fails(
		fixture, GRANT("'cap':'sys/blob@1','to':'mallory','params':{}"), WFS_E_NOT_FOUND);
	assert_fails(fixture,
		GRANT("'cap':'sys/blob@1','to':'bob','params':{},'name':'operator.act.1'"),
		WFS_E_ALREADY_EXISTS);
	assert_fails(fixture,
		GRANT("'cap':'sys/"
		      "blob@1','to':'bob','params':{},'expires_at_ns':1600000000000000000"),
		WFS_E_INVALID_ARGUMENT);
	assert_fails(fixture, GRANT("'cap':'sys/blob@1','to':'bob','params':{},'from':'none'"),
		WFS_E_NOT_FOUND);
	assert_fails(fixture,
		GRANT("'cap':'sys/blob@1','to':'bob','params':{},'from':'operator.act.1'"),
		WFS_E_INVALID_ARGUMENT);
	assert_fails(fixture, "{'action_type':'revoke','name':'none'}", WFS_E_NOT_FOUND);
	assert_int_equal(grant_count(fixture), 8);
}

WITH_TWO(malformed_actions_leave_no_record)
{
	assert_malformed(fixture, "{'name':'x'}", WFS_E_MISSING_ARGUMENT);
	assert_malformed(fixture, "{'action_type':'fly'}", WFS_E_INVALID_ARGUMENT);
	assert_malformed(fixture, "{'action_type':'revoke'}", WFS_E_MISSING_ARGUMENT);
	assert_malformed(
		fixture, "{'action_type':'revoke','name':'x','more':1}", WFS_E_INVALID_ARGUMENT);
	assert_malformed(fixture, "{'action_type':'principal','id':'a b'}", WFS_E_INVALID_ARGUMENT);
	assert_malformed(
		fixture, "{'action_type':'principal','id':'noop'}", WFS_E_INVALID_ARGUMENT);
	assert_malformed(
		fixture, "{'action_type':'principal','id':'mint'}", WFS_E_INVALID_ARGUMENT);
	assert_malformed(
		fixture, "{'action_type':'principal','id':'genesis_x'}", WFS_E_INVALID_ARGUMENT);
	assert_malformed(fixture, GRANT("'to':'bob','params':{}"), WFS_E_MISSING_ARGUMENT);
	assert_malformed(
		fixture, GRANT("'cap':'sys/fly@1','to':'bob','params':{}"), WFS_E_NOT_FOUND);
	assert_malformed(fixture, GRANT("'cap':'sys/query@1','to':'bob','params':{'scope':1}"),
		WFS_E_SCHEMA_VIOLATION);
	assert_malformed(fixture,
		GRANT("'cap':'sys/query@1','to':'bob','params':{},'budget':{'calls':1}"),
		WFS_E_INVALID_ARGUMENT);
	assert_malformed(fixture, GRANT("'cap':'sys/act@1','to':'bob','params':{},'from':'a b'"),
		WFS_E_INVALID_ARGUMENT);
	assert_malformed(fixture, GRANT("'cap':'sys/act@1','to':'bob','params':{},'used':{}"),
		WFS_E_INVALID_ARGUMENT);
}

/* --- passing on --- */

/* Grants g<@number> of @cap, delegated from the grant with the number before. */
static int pass_on(struct world_fixture *fixture, int number)
{
	char action[256];
	char from[64] = "";

	if (number > 0)
		snprintf(from, sizeof(from), ",'from':'g%d'", number - 1);
	snprintf(action, sizeof(action),
		GRANT("'cap':'sys/act@1','to':'%s','params':{},'name':'g%d'%s"),
		number % 2 ? "alice" : "bob", number, from);
	return act(fixture, action);
}

WITH_TWO(a_grant_is_passed_on_a_bounded_number_of_times)
{
	for (int i = 0; i <= WFS_GRANT_CHAIN_MAX; i++)
		assert_int_equal(pass_on(fixture, i), 0);

	assert_int_equal(pass_on(fixture, WFS_GRANT_CHAIN_MAX + 1), -EINVAL);
	assert_non_null(strstr(fixture->error.message, "16 times"));
}

WITH_TWO(revoking_takes_back_all_that_was_passed_on)
{
	for (int i = 0; i < 4; i++)
		assert_int_equal(pass_on(fixture, i), 0);
	assert_int_equal(act(fixture,
				 GRANT("'cap':'sys/act@1','to':'bob','params':{},'name':'side',"
				       "'from':'g1'")),
		0);
	assert_done(fixture, "{'action_type':'revoke','name':'g1'}", "{'removed':4}");

	assert_int_equal(grant_count(fixture), 9);
	assert_state(fixture, "sys.grant", "g1", NULL);
	assert_state(fixture, "sys.grant", "g3", NULL);
	assert_state(fixture, "sys.grant", "side", NULL);
	assert_state_at(fixture, height_of(fixture) - 1, "sys.grant", "g0",
		"{'cap':'sys/act@1','granted_by':'tester','name':'g0','params':{},'to':'bob'}");
}

WITH_TWO(what_a_revocation_that_failed_did_not_take_back_is_taken_back_later)
{
	for (int i = 0; i < 4; i++)
		assert_int_equal(pass_on(fixture, i), 0);
	assert_done(fixture, "{'action_type':'revoke','name':'g3'}", "{'removed':1}");
	cells_cannot_be_stored = true;
	assert_int_equal(act(fixture, "{'action_type':'revoke','name':'g2'}"), -ENOSPC);
	cells_cannot_be_stored = false;

	assert_done(fixture, "{'action_type':'revoke','name':'g1'}", "{'removed':2}");
}

enum { MODEL_GRANTS = 24, MODEL_ACTIONS = 300 };

/* The expected state: for each grant whether it exists, and from which grant it was delegated. */
struct model {
	bool live[MODEL_GRANTS];
	int from[MODEL_GRANTS]; /* -1: from no grant */
};

/* A random number below @end. */
static int chance(uint32_t *seed, int end)
{
	*seed = *seed * 1664525 + 1013904223;
	return (int)((*seed >> 8) % (uint32_t)end);
}

static int depth_of(const struct model *model, int grant)
{
	int depth = 0;

	for (int at = grant; at >= 0; at = model->from[at])
		depth++;
	return depth;
}

static int take_back(struct model *model, int grant)
{
	int removed = 1;

	model->live[grant] = false;
	for (int i = 0; i < MODEL_GRANTS; i++)
		if (model->live[i] && model->from[i] == grant)
			removed += take_back(model, i);
	return removed;
}

static void give(struct world_fixture *fixture, struct model *model, int grant, int from)
{
	char action[256];
	char member[64] = "";

	if (!model->live[from] || depth_of(model, from) > WFS_GRANT_CHAIN_MAX)
		from = -1;
	if (from >= 0)
		snprintf(member, sizeof(member), ",'from':'g%d'", from);
	snprintf(action, sizeof(action),
		GRANT("'cap':'sys/act@1','to':'bob','params':{},'name':'g%d'%s"), grant, member);
	assert_int_equal(act(fixture, action), 0);
	model->live[grant] = true;
	model->from[grant] = from;
}

static void take(struct world_fixture *fixture, struct model *model, int grant)
{
	char action[64];
	char answer[32];

	snprintf(action, sizeof(action), "{'action_type':'revoke','name':'g%d'}", grant);
	snprintf(answer, sizeof(answer), "{'removed':%d}", take_back(model, grant));
	assert_done(fixture, action, answer);
}

/* Some of the actions fail, and the world is opened again now and then. */
WITH_TWO(grants_come_and_go_as_in_a_model)
{
	const uint64_t before = grant_count(fixture);
	struct model model = {.live = {false}};
	uint32_t seed = 17;
	uint64_t live = 0;

	for (int i = 0; i < MODEL_ACTIONS; i++) {
		const int grant = chance(&seed, MODEL_GRANTS);

		if (!model.live[grant])
			give(fixture, &model, grant, chance(&seed, MODEL_GRANTS));
		else if (chance(&seed, 3) == 0)
			take(fixture, &model, grant);
		if (i % 7 == 0)
			assert_int_not_equal(
				act(fixture, "{'action_type':'revoke','name':'none'}"), 0);
		if (i % 100 == 99) {
			wfs_world_close(WFS_STEAL(fixture->world));
			assert_int_equal(world_fixture_open(fixture), 0);
		}
	}

	for (int i = 0; i < MODEL_GRANTS; i++)
		live += model.live[i];
	assert_int_equal(grant_count(fixture), before + live);
}

/* --- budgets --- */

/* Grants bob 'paid' with a budget of @calls; bob delegates 'part' with @part_calls to alice. */
static void grant_budgets(struct world_fixture *fixture, int calls, int part_calls)
{
	char action[256];

	snprintf(action, sizeof(action),
		GRANT("'cap':'sys/"
		      "act@1','to':'bob','params':{},'name':'paid','budget':{'calls':%d}"),
		calls);
	assert_int_equal(act(fixture, action), 0);
	snprintf(action, sizeof(action),
		GRANT("'cap':'sys/act@1','to':'alice','params':{},'name':'part','from':'paid',"
		      "'budget':{'calls':%d}"),
		part_calls);
	assert_int_equal(act(fixture, action), 0);
}

/* Sends an event that is charged to the grant @charge. */
static int pay(struct world_fixture *fixture, const char *charge, const char *value)
{
	WFS_AUTO_JSON json_t *json = json_of(value);
	struct wfs_request request = {
		.kind = WFS_REQUEST_EVENT,
		.principal = "alice",
		.event.schema = "test/Do@1",
		.event.value = json,
	};

	snprintf(request.charge, sizeof(request.charge), "%s", charge);
	int r = wfs_world_call(fixture->world, &request);
	fixture->error = request.error;
	return r;
}

static void assert_used(struct world_fixture *fixture, const char *grant, int calls)
{
	WFS_AUTO_FREE char *text = state_at(fixture, WFS_HEIGHT_HEAD, "sys.grant", grant);
	WFS_AUTO_JSON json_t *json = NULL;

	assert_int_equal(wfs_json_parse(text, strlen(text), &json, NULL), 0);
	const json_t *used = json_object_get(json, "used");
	assert_int_equal(json_integer_value(json_object_get(used, "calls")), calls);
}

WITH_TWO(a_call_is_counted_in_the_grant_and_those_above_it)
{
	grant_budgets(fixture, 5, 2);
	assert_int_equal(pay(fixture, "part", "{'key':'a','op':'set','n':1}"), 0);
	assert_int_equal(pay(fixture, "paid", "{'key':'a','op':'set','n':2}"), 0);

	assert_used(fixture, "part", 1);
	assert_used(fixture, "paid", 2);
	assert_state(fixture, "cell", "a", "{'n':2}");
	assert_body(fixture, height_of(fixture) - 1, WFS_RECORD_EVENT,
		"{'grant':'paid','schema':'test/Do@1','value':{'key':'a','n':2,'op':'set'}}");
}

WITH_TWO(a_spent_budget_refuses_and_records_nothing)
{
	grant_budgets(fixture, 2, 9);
	assert_int_equal(pay(fixture, "part", "{'key':'a','op':'set','n':1}"), 0);
	assert_int_equal(pay(fixture, "part", "{'key':'a','op':'set','n':2}"), 0);
	const uint64_t height = height_of(fixture);

	assert_int_equal(pay(fixture, "part", "{'key':'a','op':'set','n':3}"), -EDQUOT);
	assert_int_equal(fixture->error.code, WFS_E_QUOTA_EXCEEDED);
	assert_non_null(strstr(fixture->error.message, "'paid'"));
	assert_int_equal(height_of(fixture), height);
	assert_state(fixture, "cell", "a", "{'n':2}");
	assert_used(fixture, "part", 2);
}

WITH_TWO(a_budget_of_tokens_that_is_spent_refuses_too)
{
	assert_int_equal(act(fixture,
				 GRANT("'cap':'sys/act@1','to':'bob','params':{},'name':'none',"
				       "'budget':{'tokens':0}")),
		0);

	assert_int_equal(pay(fixture, "none", "{'key':'a','op':'set'}"), -EDQUOT);
}

WITH_TWO(a_grant_without_a_budget_is_not_counted)
{
	const uint64_t height = height_of(fixture);

	assert_int_equal(pay(fixture, "operator.act.1", "{'key':'a','op':'set'}"), 0);

	assert_int_equal(height_of(fixture), height + 1);
	WFS_AUTO_FREE char *text =
		state_at(fixture, WFS_HEIGHT_HEAD, "sys.grant", "operator.act.1");
	assert_null(strstr(text, "used"));
}

WITH_TWO(a_call_that_fails_costs_nothing)
{
	grant_budgets(fixture, 5, 2);
	assert_int_equal(pay(fixture, "part", "{'key':'a','op':'fail'}"), -EIO);

	assert_used(fixture, "part", 0);
}

WITH_TWO(a_grant_that_is_gone_pays_for_nothing)
{
	const uint64_t height = height_of(fixture);

	assert_int_equal(pay(fixture, "gone", "{'key':'a','op':'set'}"), -EACCES);

	assert_int_equal(fixture->error.code, WFS_E_NOT_AUTHORIZED);
	assert_int_equal(height_of(fixture), height);
}

WITH_TWO(an_action_that_fails_costs_a_call)
{
	json_t *answer;
	uint64_t seq;

	grant_budgets(fixture, 5, 2);
	assert_int_equal(act_charged(fixture, "{'action_type':'revoke','name':'none'}", "part",
				 &seq, &answer),
		-ENOENT);

	assert_used(fixture, "part", 1);
	assert_body(fixture, seq, WFS_RECORD_ACTION,
		"{'action':{'action_type':'revoke','name':'none'},'grant':'part',"
		"'result':{'error_code':'not_found','ok':false}}");
}

WITH_TWO(a_grant_can_pay_for_its_own_end)
{
	json_t *answer;
	uint64_t seq;

	grant_budgets(fixture, 5, 2);
	assert_int_equal(act_charged(fixture, "{'action_type':'revoke','name':'part'}", "part",
				 &seq, &answer),
		0);
	json_decref(answer);

	assert_state(fixture, "sys.grant", "part", NULL);
	assert_used(fixture, "paid", 1);
}

static struct wfs_request snapshot_request(struct world_fixture *fixture)
{
	struct wfs_request request = {
		.kind = WFS_REQUEST_SNAPSHOT,
		.principal = "bob",
		.charge = "paid",
		.snapshot.height = height_of(fixture),
	};

	assert_int_equal(wfs_snapshot_hash(wfs_world_store(fixture->world), request.snapshot.height,
				 NULL, NULL, &request.snapshot.hash, &fixture->error),
		0);
	return request;
}

static int pay_for_blob(struct world_fixture *fixture, const char *text, uint64_t *ret_seq)
{
	WFS_AUTO_BLOB_WRITER struct wfs_blob_writer *writer = NULL;
	struct wfs_request request = {
		.kind = WFS_REQUEST_BLOB, .principal = "alice", .charge = "paid"};

	assert_int_equal(wfs_blob_writer_new(wfs_world_store(fixture->world), &writer), 0);
	assert_int_equal(wfs_blob_writer_add(writer, text, strlen(text)), 0);
	assert_int_equal(wfs_blob_writer_finish(writer, &request.blob), 0);
	int r = wfs_world_call(fixture->world, &request);
	*ret_seq = request.seq;
	return r;
}

WITH_TWO(blobs_and_snapshots_are_counted_when_they_are_recorded)
{
	uint64_t seq;

	grant_budgets(fixture, 9, 1);
	assert_int_equal(pay_for_blob(fixture, "hello", &seq), 0);
	assert_int_equal(seq, height_of(fixture) - 1);
	assert_used(fixture, "paid", 1);
	assert_int_equal(pay_for_blob(fixture, "hello", &seq), 0);
	assert_true(seq == UINT64_MAX);
	assert_used(fixture, "paid", 1);
	struct wfs_request snapshot = snapshot_request(fixture);
	assert_int_equal(wfs_world_call(fixture->world, &snapshot), 0);
	assert_used(fixture, "paid", 2);
}

/* --- decisions --- */

WITH_TWO(a_refusal_is_recorded_before_it_is_answered)
{
	struct wfs_request request = {
		.kind = WFS_REQUEST_DECISION,
		.principal = "alice",
		.decision.refusal = {.effect = "event.emit",
			.grant = "part",
			.policy = "my/own@1",
			.rule_known = true,
			.rule_index = 0},
	};

	wfs_error_set(&request.error, WFS_E_POLICY_DENIED, "denied by rule 0 of my/own@1");
	assert_int_equal(wfs_world_call(fixture->world, &request), -EACCES);

	assert_int_equal(request.error.code, WFS_E_POLICY_DENIED);
	assert_string_equal(request.error.message, "denied by rule 0 of my/own@1");
	assert_int_equal(request.seq, height_of(fixture) - 1);
	assert_body(fixture, request.seq, WFS_RECORD_DECISION,
		"{'code':'policy_denied','decision':'deny','effect':'event.emit','grant':'part',"
		"'policy':'my/own@1','rule_index':0}");
}

WITH_TWO(a_decision_says_only_what_is_known)
{
	struct wfs_request request = {.kind = WFS_REQUEST_DECISION,
		.principal = "alice",
		.decision.refusal = {.effect = "world.gc"}};

	wfs_error_set(&request.error, WFS_E_NOT_AUTHORIZED, "no grant of admin");
	assert_int_equal(wfs_world_call(fixture->world, &request), -EACCES);

	assert_body(fixture, request.seq, WFS_RECORD_DECISION,
		"{'code':'not_authorized','decision':'deny','effect':'world.gc'}");
}

/* --- folding again --- */

static void refuse_once(struct world_fixture *fixture)
{
	struct wfs_request request = {.kind = WFS_REQUEST_DECISION,
		.principal = "alice",
		.decision.refusal = {.effect = "world.gc"}};

	wfs_error_set(&request.error, WFS_E_NOT_AUTHORIZED, "no grant of admin");
	assert_int_equal(wfs_world_call(fixture->world, &request), -EACCES);
}

WITH_TWO(everything_comes_out_the_same_again)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	uint64_t seq;

	grant_budgets(fixture, 5, 2);
	assert_int_equal(pay(fixture, "part", "{'key':'a','op':'emit','n':3}"), 0);
	assert_int_equal(pay_for_blob(fixture, "hello", &seq), 0);
	struct wfs_request snapshot = snapshot_request(fixture);
	assert_int_equal(wfs_world_call(fixture->world, &snapshot), 0);
	refuse_once(fixture);
	assert_int_equal(act(fixture, "{'action_type':'revoke','name':'none'}"), -ENOENT);
	assert_int_equal(act(fixture, "{'action_type':'revoke','name':'paid'}"), 0);

	assert_int_equal(wfs_replay(fixture->world, &problems, NULL, NULL, &fixture->error), 0);
	assert_string_equal(wfs_buffer_text(&problems.lines), "");
	assert_int_equal(wfs_verify(fixture->world, &problems, NULL, NULL, &fixture->error), 0);
	assert_string_equal(wfs_buffer_text(&problems.lines), "");
}

/* --- bounds --- */

static void add_declared_grants(json_t *manifest, size_t count)
{
	json_t *grants = json_object_get(manifest, "grants");

	while (json_array_size(grants) < count)
		json_array_append_new(grants,
			json_pack("{s:s, s:o, s:{}, s:s}", "cap", "sys/blob@1", "name",
				json_sprintf("g%zu", json_array_size(grants)), "params", "to",
				"operator"));
}

WITH_SOURCE(grants_of_a_world_are_bounded)
{
	add_declared_grants(fixture->loaded.manifest, WFS_GRANTS_MAX);
	assert_int_equal(world_fixture_create(fixture), 0);
	assert_int_equal(world_fixture_open(fixture), 0);

	assert_fails(fixture, GRANT("'cap':'sys/blob@1','to':'operator','params':{}"),
		WFS_E_QUOTA_EXCEEDED);
	assert_int_equal(act(fixture, "{'action_type':'revoke','name':'g65535'}"), 0);
	assert_int_equal(act(fixture, GRANT("'cap':'sys/blob@1','to':'operator','params':{}")), 0);
}

WITH_SOURCE(principals_of_a_world_are_bounded)
{
	json_t *principals = json_object_get(fixture->loaded.manifest, "principals");

	while (json_array_size(principals) < WFS_PRINCIPALS_MAX)
		json_array_append_new(principals,
			json_pack(
				"{s:o}", "id", json_sprintf("p%zu", json_array_size(principals))));
	assert_int_equal(world_fixture_create(fixture), 0);
	assert_int_equal(world_fixture_open(fixture), 0);

	assert_fails(fixture, "{'action_type':'principal','id':'alice'}", WFS_E_QUOTA_EXCEEDED);
}
