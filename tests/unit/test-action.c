/* SPDX-License-Identifier: Apache-2.0 */
/* Actions: artifacts, scrip, quotas, code that runs. Each is tested as sent, and when it is
 * folded again. */
#include "tests/fixture/action.h"
#include "tests/fixture/tamper.h"

/* --- artifacts --- */

WITH_ACTORS(a_new_artifact_is_made_and_written_again)
{
	assert_data(fixture, "alice", WRITE("'artifact_id':'doc','content':'hello'"),
		"{'artifact_id':'doc','size_bytes':5,'was_update':false}");
	assert_data(fixture, "alice", WRITE("'artifact_id':'doc','content':{'b':1,'a':[]}"),
		"{'artifact_id':'doc','size_bytes':15,'was_update':true}");
	assert_int_equal(used_disk_of(fixture, "alice"), 15);
	assert_message(fixture, "bob", ACTION("read_artifact", "'artifact_id':'doc'"),
		"Read artifact doc");
}

WITH_ACTORS(an_update_keeps_what_is_not_given)
{
	WFS_AUTO_JSON json_t *answer = NULL;

	assert_done(fixture, "alice",
		WRITE("'artifact_id':'doc','content':'x','type':'note','metadata':{'k':1}"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'doc','content':'y'"));
	assert_int_equal(
		act_as(fixture, "alice", ACTION("read_artifact", "'artifact_id':'doc'"), &answer),
		0);

	const json_t *artifact = json_object_get(json_object_get(answer, "data"), "artifact");
	assert_string_equal(json_string_value(json_object_get(artifact, "type")), "note");
	assert_string_equal(json_string_value(json_object_get(artifact, "content")), "y");
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(artifact, "metadata"), "k")), 1);
}

WITH_ACTORS(only_the_owner_changes_what_is_freeware)
{
	assert_done(fixture, "alice", WRITE("'artifact_id':'doc','content':'x'"));

	assert_fails(fixture, "bob", WRITE("'artifact_id':'doc','content':'y'"),
		WFS_E_NOT_AUTHORIZED, "'bob' may not write 'doc' (freeware");
	assert_fails(fixture, "bob", ACTION("delete_artifact", "'artifact_id':'doc'"),
		WFS_E_NOT_AUTHORIZED, "may not delete");
	assert_fails(fixture, "bob",
		ACTION("edit_artifact", "'artifact_id':'doc','old_string':'x','new_string':'y'"),
		WFS_E_NOT_AUTHORIZED, "may not edit");
}

WITH_ACTORS(what_is_private_is_read_by_nobody_else)
{
	assert_done(
		fixture, "alice", WRITE("'artifact_id':'doc','content':'x','access':'private'"));

	assert_done(fixture, "alice", ACTION("read_artifact", "'artifact_id':'doc'"));
	assert_fails(fixture, "bob", ACTION("read_artifact", "'artifact_id':'doc'"),
		WFS_E_NOT_AUTHORIZED, "private");
}

WITH_ACTORS(a_missing_contract_is_for_the_owner_alone)
{
	assert_done(
		fixture, "alice", WRITE("'artifact_id':'doc','content':'x','access':'nothing'"));

	assert_done(fixture, "alice", ACTION("read_artifact", "'artifact_id':'doc'"));
	assert_fails(fixture, "bob", ACTION("read_artifact", "'artifact_id':'doc'"),
		WFS_E_NOT_AUTHORIZED, "no such contract");
}

#define CONTRACT(code)                                                                             \
	WRITE("'artifact_id':'rule','code':'function check(caller, action, artifact) " code " end" \
	      "'")

WITH_ACTORS(a_contract_decides_by_who_and_what)
{
	assert_done(fixture, "alice",
		CONTRACT("return {allowed = kernel_state.get_balance(caller) >= 100 "
			 "and action == \\'read\\', reason = \\'for the rich\\'}"));
	assert_done(fixture, "tester", WRITE("'artifact_id':'doc','content':'x','access':'rule'"));

	assert_done(fixture, "alice", ACTION("read_artifact", "'artifact_id':'doc'"));
	assert_fails(fixture, "bob", ACTION("read_artifact", "'artifact_id':'doc'"),
		WFS_E_NOT_AUTHORIZED, "'bob' may not read 'doc' (rule: for the rich)");
	assert_fails(fixture, "alice", ACTION("delete_artifact", "'artifact_id':'doc'"),
		WFS_E_NOT_AUTHORIZED, "may not delete");
}

WITH_ACTORS(whatever_else_a_contract_gives_is_a_no)
{
	static const char *const codes[] = {
		CONTRACT("error(\\'broken\\')"),
		CONTRACT("return nil"),
		CONTRACT("return {allowed = 1}"),
		CONTRACT("while true do end"),
		CONTRACT("local t = {} for i = 1, 1e9 do t[i] = {i} end"),
		CONTRACT("return {allowed = kernel_actions.transfer{to=\\'alice\\', amount=1}.ok}"),
		WRITE("'artifact_id':'rule','code':'function run() return true end'"),
	};

	assert_done(fixture, "tester", WRITE("'artifact_id':'rule','content':'no code'"));
	assert_done(fixture, "bob", WRITE("'artifact_id':'doc','content':'x','access':'rule'"));
	assert_fails(fixture, "bob", ACTION("read_artifact", "'artifact_id':'doc'"),
		WFS_E_NOT_AUTHORIZED, "may not read");
	for (size_t i = 0; i < WFS_ARRAY_COUNT(codes); i++) {
		assert_done(fixture, "tester", codes[i]);
		assert_fails(fixture, "bob", WRITE("'artifact_id':'doc','content':'y'"),
			WFS_E_NOT_AUTHORIZED, "may not write");
	}
}

WITH_ACTORS(names_that_are_taken_or_reserved_are_refused)
{
	assert_fails(fixture, "alice", WRITE("'artifact_id':'bob'"), WFS_E_ALREADY_EXISTS,
		"is a principal");
	assert_fails(fixture, "alice", WRITE("'artifact_id':'transfer'"), WFS_E_INVALID_ARGUMENT,
		"word of the kernel's own");
	assert_fails(fixture, "alice", WRITE("'artifact_id':'genesis_x'"), WFS_E_NOT_AUTHORIZED,
		"system artifact");
	assert_fails(fixture, "alice", WRITE("'artifact_id':'../x'"), WFS_E_INVALID_ARGUMENT,
		"artifact_id");
}

WITH_ACTORS(an_edit_replaces_the_one_place)
{
	assert_done(fixture, "alice", WRITE("'artifact_id':'doc','content':'Hello world'"));

#define EDIT(before, after)     \
	ACTION("edit_artifact", \
		"'artifact_id':'doc','old_string':'" before "','new_string':'" after "'")
	assert_data(fixture, "alice", EDIT("Hello", "Goodbye"),
		"{'artifact_id':'doc','size_bytes':13}");
	assert_data(fixture, "alice", EDIT(" world", ""), "{'artifact_id':'doc','size_bytes':7}");
	assert_fails(fixture, "alice", EDIT("o", "0"), WFS_E_NOT_UNIQUE, "occurs 2 times");
	assert_fails(fixture, "alice", EDIT("zz", "y"), WFS_E_NOT_FOUND_IN_CONTENT, "'doc'");
	assert_fails(fixture, "alice", EDIT("o", "o"), WFS_E_NO_CHANGE, "the same");
	assert_fails(fixture, "alice", EDIT("", "o"), WFS_E_INVALID_ARGUMENT, "old_string");
	assert_int_equal(used_disk_of(fixture, "alice"), 7);
}

WITH_ACTORS(how_often_a_text_occurs_is_told)
{
	WFS_AUTO_JSON json_t *details = NULL;

	assert_done(fixture, "alice", WRITE("'artifact_id':'doc','content':'aXaXa'"));
	assert_int_equal(act_as(fixture, "alice", EDIT("a", "b"), &details), -EINVAL);
	assert_int_equal(json_integer_value(json_object_get(details, "count")), 3);
}

WITH_ACTORS(what_is_deleted_is_gone_and_its_name_taken)
{
	assert_done(fixture, "alice", WRITE("'artifact_id':'doc','content':'hello'"));
	assert_data(fixture, "alice", ACTION("delete_artifact", "'artifact_id':'doc'"),
		"{'artifact_id':'doc','freed_bytes':5}");

	assert_int_equal(used_disk_of(fixture, "alice"), 0);
	assert_state(fixture, "sys.artifact", "doc", NULL);
	assert_state(fixture, "sys.content", "doc", NULL);
	assert_fails(fixture, "alice", ACTION("read_artifact", "'artifact_id':'doc'"),
		WFS_E_DELETED, "was deleted by 'alice'");
	assert_fails(fixture, "alice", WRITE("'artifact_id':'doc','content':'again'"),
		WFS_E_DELETED, "was deleted");
	assert_fails(fixture, "alice", ACTION("delete_artifact", "'artifact_id':'doc'"),
		WFS_E_DELETED, "was deleted");
}

WITH_ACTORS(disk_has_a_quota)
{
	WFS_AUTO_FREE char *large = malloc(2000);
	WFS_AUTO_FREE char *action = NULL;

	memset(large, 'x', 1001);
	large[1001] = '\0';
	assert_true(asprintf(&action, WRITE("'artifact_id':'doc','content':'%s'"), large) > 0);
	assert_fails(fixture, "alice", action, WFS_E_QUOTA_EXCEEDED,
		"has 1000 of its disk left, 1001 needed");
	assert_state(fixture, "sys.artifact", "doc", NULL);
	assert_done(fixture, "bob", action);
}

static uint64_t newest_vid(struct world_fixture *fixture, const char *reducer, const char *key)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	struct wfs_reducer found;
	struct wfs_version version;

	assert_int_equal(wfs_view_open(fixture->world, WFS_HEIGHT_HEAD, &view, NULL), 0);
	assert_int_equal(wfs_view_reducer(&view, reducer, strlen(reducer), &found), 0);
	assert_int_equal(wfs_view_cell(&view, found.reducer_id, wfs_bytes_text(key), &version), 0);
	return version.vid;
}

/* A principal that uses no disk can give none back: the cell is from a damaged or crafted store. */
WITH_ACTORS_DAMAGED(a_cell_that_lies_about_disk_is_an_error)
{
	WFS_AUTO_FREE char *before = NULL;
	WFS_AUTO_FREE char *after = NULL;

	assert_done(fixture, "bob", WRITE("'artifact_id':'doc','content':'12345'"));
	WFS_AUTO_FREE char *text = state_at(fixture, WFS_HEIGHT_HEAD, "sys.resource", "bob");
	assert_true(asprintf(&before, "%s\n", text) > 0);
	after = strdup(before);
	char *const used = strstr(after, "\"used\":5");
	assert_non_null(used);
	used[strlen("\"used\":")] = '0';
	tamper_version(fixture, newest_vid(fixture, "sys.resource", "bob"), before, after);
	assert_int_equal(world_fixture_open(fixture), 0);

	assert_fails(fixture, "bob", ACTION("delete_artifact", "'artifact_id':'doc'"),
		WFS_E_HASH_MISMATCH, "the cell of sys.resource of 'bob' is damaged");
}

WITH_ACTORS(content_may_take_the_room_of_code_in_one_write)
{
	WFS_AUTO_FREE char *before = NULL;
	WFS_AUTO_FREE char *after = NULL;

	assert_true(asprintf(&before, WRITE("'artifact_id':'x','code':'function run() end%900s'"),
			    "") > 0);
	assert_true(asprintf(&after,
			    WRITE("'artifact_id':'x','content':'%900s',"
				  "'code':'function run() end'"),
			    "") > 0);
	assert_done(fixture, "alice", before);
	assert_done(fixture, "alice", after);

	assert_int_equal(used_disk_of(fixture, "alice"), 918);
}

WITH_ACTORS(dependencies_exist_and_make_no_cycle)
{
	assert_fails(fixture, "alice", WRITE("'artifact_id':'a','depends_on':['zz']"),
		WFS_E_NOT_FOUND, "'zz'");
	assert_fails(fixture, "alice", WRITE("'artifact_id':'a','depends_on':['a']"), WFS_E_CYCLE,
		"itself");
	assert_done(fixture, "alice", WRITE("'artifact_id':'a'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'b','depends_on':['a']"));
	assert_fails(fixture, "alice", WRITE("'artifact_id':'a','depends_on':['b']"), WFS_E_CYCLE,
		"itself");
}

WITH_ACTORS(dependencies_are_at_most_ten_deep)
{
	WFS_AUTO_FREE char *action = NULL;

	assert_done(fixture, "alice", WRITE("'artifact_id':'d0'"));
	for (int i = 1; i <= WFS_ARTIFACT_DEPTH_MAX; i++) {
		free(action);
		assert_true(asprintf(&action, WRITE("'artifact_id':'d%d','depends_on':['d%d']"), i,
				    i - 1) > 0);
		assert_done(fixture, "alice", action);
	}
	assert_fails(fixture, "alice", WRITE("'artifact_id':'d11','depends_on':['d10']"),
		WFS_E_DEPTH_EXCEEDED, "more than 10 deep");
}

/* --- giving away --- */

WITH_ACTORS(scrip_moves_and_is_never_made)
{
	assert_data(fixture, "alice", ACTION("transfer", "'to':'bob','amount':30"),
		"{'amount':30,'from':'alice','resource':'scrip','to':'bob'}");
	assert_fails(fixture, "alice", ACTION("transfer", "'to':'bob','amount':71"),
		WFS_E_INSUFFICIENT_FUNDS, "has 70 scrip, 71 needed");
	assert_fails(fixture, "alice", ACTION("transfer", "'to':'nobody','amount':1"),
		WFS_E_NOT_FOUND, "Principal 'nobody' not found");
	assert_fails(fixture, "alice", ACTION("transfer", "'to':'bob','amount':0"),
		WFS_E_INVALID_ARGUMENT, "1 or more");
	assert_done(fixture, "alice", ACTION("transfer", "'to':'alice','amount':70"));

	assert_int_equal(scrip_of(fixture, "alice"), 70);
	assert_int_equal(scrip_of(fixture, "bob"), 80);
}

WITH_ACTORS(artifacts_have_wallets)
{
	assert_done(fixture, "alice", WRITE("'artifact_id':'shop'"));
	assert_done(fixture, "alice", ACTION("transfer", "'to':'shop','amount':5"));

	assert_int_equal(scrip_of(fixture, "shop"), 5);
}

WITH_ACTORS(quotas_move_between_those_who_have_them)
{
	assert_fails(fixture, "alice",
		ACTION("transfer", "'to':'bob','amount':1,'resource':'disk'"),
		WFS_E_INVALID_ARGUMENT, "'bob' has no quota of disk");
	assert_fails(fixture, "alice", ACTION("transfer", "'to':'bob','amount':1,'resource':'gpu'"),
		WFS_E_NOT_FOUND, "Resource 'gpu' not found");
	assert_done(
		fixture, "tester", "{'action_type':'principal','id':'carol','quotas':{'disk':0}}");
	assert_done(fixture, "alice",
		ACTION("transfer", "'to':'carol','amount':400,'resource':'disk'"));
	assert_fails(fixture, "alice",
		ACTION("transfer", "'to':'carol','amount':601,'resource':'disk'"),
		WFS_E_QUOTA_EXCEEDED, "has 600 of its disk left");
}

WITH_ACTORS(ownership_moves_and_the_maker_stays)
{
	assert_done(fixture, "alice", WRITE("'artifact_id':'doc','content':'12345'"));
	assert_fails(fixture, "bob", ACTION("transfer_ownership", "'artifact_id':'doc','to':'bob'"),
		WFS_E_NOT_AUTHORIZED, "its owner is 'alice'");
	assert_done(
		fixture, "alice", ACTION("transfer_ownership", "'artifact_id':'doc','to':'bob'"));

	assert_int_equal(used_disk_of(fixture, "alice"), 0);
	assert_int_equal(used_disk_of(fixture, "bob"), 5);
	assert_fails(fixture, "alice", WRITE("'artifact_id':'doc','content':'x'"),
		WFS_E_NOT_AUTHORIZED, "freeware");
	assert_done(fixture, "bob", WRITE("'artifact_id':'doc','content':'x'"));
	assert_done(fixture, "bob", WRITE("'artifact_id':'own','access':'self_owned'"));
	assert_fails(fixture, "bob",
		ACTION("transfer_ownership", "'artifact_id':'own','to':'alice'"),
		WFS_E_NOT_AUTHORIZED, "self_owned");
}

WITH_ACTORS(an_owner_deletes_what_only_somebody_else_writes)
{
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'doc','access':'transferable_freeware',"
		      "'metadata':{'authorized_writer':'bob'}"));
	assert_done(fixture, "bob", WRITE("'artifact_id':'doc','content':'12345'"));

	assert_fails(fixture, "alice", WRITE("'artifact_id':'doc','content':''"),
		WFS_E_NOT_AUTHORIZED, "only the authorized writer");
	assert_done(fixture, "alice", ACTION("delete_artifact", "'artifact_id':'doc'"));
	assert_int_equal(used_disk_of(fixture, "alice"), 0);
}

/* The new owner pays for the bytes of the artifact. */
WITH_ACTORS(who_gives_an_artifact_away_writes_it_no_more)
{
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'doc','content':'1','access':'transferable_freeware',"
		      "'metadata':{'authorized_writer':'alice','kept':1}"));
	assert_done(
		fixture, "alice", ACTION("transfer_ownership", "'artifact_id':'doc','to':'bob'"));

	assert_fails(fixture, "alice", WRITE("'artifact_id':'doc','content':'12345'"),
		WFS_E_NOT_AUTHORIZED, "only the authorized writer, or else the owner, changes it");
	assert_int_equal(used_disk_of(fixture, "bob"), 1);
	WFS_AUTO_FREE char *text = state_at(fixture, WFS_HEIGHT_HEAD, "sys.artifact", "doc");
	assert_non_null(strstr(text, "\"metadata\":{\"kept\":1}"));
	assert_done(fixture, "bob", WRITE("'artifact_id':'doc','content':'12'"));
	assert_done(fixture, "bob", ACTION("delete_artifact", "'artifact_id':'doc'"));
}

WITH_ACTORS(reading_has_its_price)
{
	const uint64_t height = height_of(fixture);

	assert_done(fixture, "alice",
		WRITE("'artifact_id':'doc','content':'x','policy':{'read_price':7}"));
	assert_message(fixture, "bob", ACTION("read_artifact", "'artifact_id':'doc'"),
		"Read artifact doc (paid 7 scrip to alice)");
	assert_done(fixture, "alice", ACTION("read_artifact", "'artifact_id':'doc'"));

	assert_int_equal(scrip_of(fixture, "alice"), 107);
	assert_int_equal(scrip_of(fixture, "bob"), 43);
	/* The owner's own reading leaves no record. */
	assert_int_equal(height_of(fixture), height + 2);
}

/* --- code --- */

WITH_ACTORS(code_runs_for_its_price)
{
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'add','price':5,"
		      "'code':'function run(a, b) return a + b end'"));
	assert_data(fixture, "bob", INVOKE("'artifact_id':'add','args':[2,3]"),
		"{'price_paid':5,'result':5}");
	assert_message(fixture, "alice", INVOKE("'artifact_id':'add','args':[2,3]"),
		"Invoked add. Result: 5");

	assert_int_equal(scrip_of(fixture, "alice"), 105);
	assert_int_equal(scrip_of(fixture, "bob"), 45);
}

WITH_ACTORS(what_fails_costs_nothing_and_is_recorded)
{
	const uint64_t height = height_of(fixture);
	char key[32];

	assert_done(fixture, "alice",
		WRITE("'artifact_id':'bad','price':5,"
		      "'code':'function run() kernel_actions.transfer_scrip(\\'bob\\', 1) "
		      "error(\\'no\\') end'"));
	assert_done(fixture, "alice", ACTION("transfer", "'to':'bad','amount':10"));
	assert_fails(fixture, "bob", INVOKE("'artifact_id':'bad'"), WFS_E_RUNTIME_ERROR, "no");

	assert_int_equal(scrip_of(fixture, "bad"), 10);
	assert_int_equal(scrip_of(fixture, "bob"), 50);
	snprintf(key, sizeof(key), "%llu.0", (unsigned long long)height + 2);
	WFS_AUTO_FREE char *text = state_at(fixture, WFS_HEIGHT_HEAD, "sys.invocation", key);
	assert_non_null(text);
	assert_non_null(strstr(text, "\"success\":false"));
	assert_non_null(strstr(text, "\"error_code\":\"runtime_error\""));
}

WITH_ACTORS(code_is_checked_when_it_is_written)
{
	assert_fails(fixture, "alice", WRITE("'artifact_id':'x','code':'function run('"),
		WFS_E_SYNTAX_ERROR, "x:1");
	assert_fails(fixture, "alice", WRITE("'artifact_id':'x','code':'y = 1'"),
		WFS_E_SYNTAX_ERROR, "run");
	assert_fails(fixture, "alice", WRITE("'artifact_id':'x','executable':true"),
		WFS_E_MISSING_ARGUMENT, "requires 'code'");
	assert_fails(fixture, "alice", INVOKE("'artifact_id':'x'"), WFS_E_NOT_FOUND, "'x'");
	assert_done(fixture, "alice", WRITE("'artifact_id':'x','content':'y'"));
	assert_fails(fixture, "alice", INVOKE("'artifact_id':'x'"), WFS_E_INVALID_TYPE,
		"not executable");
	assert_fails(fixture, "alice", INVOKE("'artifact_id':'transfer'"), WFS_E_INVALID_ARGUMENT,
		"is an action, not an artifact");
}

WITH_ACTORS(code_acts_as_its_artifact_and_nobody_else)
{
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'thief','code':'function run() "
		      "local t = kernel_actions.transfer{to=\\'alice\\', amount=10, "
		      "from=\\'bob\\', caller=\\'bob\\', principal=\\'bob\\'} "
		      "local u = kernel_actions.transfer_scrip(\\'alice\\', 10) "
		      "return {t.ok, t.error.code, u.ok, u.error.code, ctx.caller, ctx.origin} "
		      "end'"));
	assert_data(fixture, "bob", INVOKE("'artifact_id':'thief'"),
		"{'price_paid':0,'result':[false,'invalid_argument',false,'insufficient_funds',"
		"'bob','bob']}");
	assert_int_equal(scrip_of(fixture, "bob"), 50);
}

WITH_ACTORS(a_nested_call_fails_alone)
{
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'inner','code':'function run() "
		      "kernel_actions.write_artifact{artifact_id=\\'left\\', content=\\'x\\'} "
		      "error(\\'inner\\') end'"));
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'outer','code':'function run() "
		      "kernel_actions.write_artifact{artifact_id=\\'kept\\', content=\\'x\\'} "
		      "local r = invoke(\\'inner\\') return {r.ok, r.error.code} end'"));
	assert_data(fixture, "bob", INVOKE("'artifact_id':'outer'"),
		"{'price_paid':0,'result':[false,'runtime_error']}");

	assert_state(fixture, "sys.artifact", "left", NULL);
	WFS_AUTO_FREE char *kept = state_at(fixture, WFS_HEIGHT_HEAD, "sys.artifact", "kept");
	assert_non_null(strstr(kept, "\"owner\":\"outer\""));
	assert_non_null(strstr(kept, "\"charged_to\":\"alice\""));
}

WITH_ACTORS(code_that_deleted_its_artifact_makes_no_other)
{
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'last','access':'public','code':'function run() "
		      "local gone = kernel_actions.delete_artifact(\\'last\\') "
		      "local made = kernel_actions.write_artifact{artifact_id=\\'left\\', "
		      "content=\\'x\\'} return {gone.ok, made.ok, made.error.code} end'"));
	assert_data(fixture, "bob", INVOKE("'artifact_id':'last'"),
		"{'price_paid':0,'result':[true,false,'deleted']}");
	assert_state(fixture, "sys.artifact", "left", NULL);
	assert_state(fixture, "sys.resource", "last", NULL);
}

WITH_ACTORS(the_sixth_call_within_calls_is_refused)
{
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'deep','code':'function run(n) "
		      "local r = invoke(\\'deep\\', n + 1) "
		      "if r.ok then return r.result end return {n, r.error.code} end'"));
	assert_data(fixture, "alice", INVOKE("'artifact_id':'deep','args':[0]"),
		"{'price_paid':0,'result':[5,'depth_exceeded']}");
}

WITH_ACTORS(a_contract_is_asked_by_the_innermost_call_as_well)
{
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'rule','code':'function check() "
		      "return {allowed = true} end'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'doc','content':'x','access':'rule'"));
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'deep','code':'function run() "
		      "local r = invoke(\\'deep\\') if r.ok then return r.result + 1 end "
		      "assert(kernel_state.read_artifact(\\'doc\\') == \\'x\\') return 0 end'"));
	assert_data(fixture, "bob", INVOKE("'artifact_id':'deep'"), "{'price_paid':0,'result':5}");
}

WITH_ACTORS(a_bound_that_ends_a_nested_call_is_folded_again)
{
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'greedy','code':'function run() local t = {} "
		      "for i = 1, 1e9 do t[i] = {i} end end'"));
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'careful','code':'function run() "
		      "local r = invoke(\\'greedy\\') return r.ok end'"));
	assert_data(fixture, "alice", INVOKE("'artifact_id':'careful'"),
		"{'price_paid':0,'result':false}");
	assert_fails(fixture, "alice", INVOKE("'artifact_id':'greedy'"), WFS_E_RUNTIME_ERROR,
		"bytes of memory");
}

WITH_ACTORS(actions_that_a_bound_has_ended_are_not_counted)
{
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'greedy','code':'function run() local t = {} "
		      "for i = 1, 1000 do kernel_actions.noop() end "
		      "for i = 1, 1e9 do t[i] = {i} end end'"));
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'careful','code':'function run() local n = 0 "
		      "invoke(\\'greedy\\') "
		      "for i = 1, 100 do if kernel_actions.noop().ok then n = n + 1 end end "
		      "kernel_actions.write_artifact{artifact_id=\\'kept\\', content=n} "
		      "return n end'"));
	assert_data(fixture, "alice", INVOKE("'artifact_id':'careful'"),
		"{'price_paid':0,'result':100}");
}

WITH_ACTORS(the_original_principal_pays_for_all)
{
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'inner','price':3,'code':'function run() return 1 end'"));
	assert_done(fixture, "bob",
		WRITE("'artifact_id':'outer','price':4,'code':'function run() "
		      "return invoke(\\'inner\\').price_paid end'"));
	assert_done(fixture, "tester", "{'action_type':'principal','id':'carol','scrip':10}");
	assert_data(
		fixture, "carol", INVOKE("'artifact_id':'outer'"), "{'price_paid':4,'result':3}");

	assert_int_equal(scrip_of(fixture, "carol"), 3);
	assert_int_equal(scrip_of(fixture, "alice"), 103);
	assert_int_equal(scrip_of(fixture, "bob"), 54);
}

WITH_ACTORS(describe_runs_no_code)
{
	const char action[] = INVOKE("'artifact_id':'x','method':'describe'");

	assert_done(fixture, "alice",
		WRITE("'artifact_id':'x','price':5,'interface':{'description':'adds','methods':"
		      "[{'name':'run'}]},'code':'function run() error(1) end'"));
	assert_data(fixture, "bob", action,
		"{'price_paid':0,'result':{'artifact_id':'x','created_by':'alice',"
		"'description':'adds','executable':true,'methods':[{'name':'run'}],'type':'data'}"
		"}");
	assert_int_equal(scrip_of(fixture, "bob"), 50);
}

WITH_ACTORS(arguments_fit_the_interface)
{
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'x','interface':{'methods':[{'name':'run','input':"
		      "{'type':'array','items':{'type':'integer'}}}]},"
		      "'code':'function run(n) return n end'"));
	assert_data(fixture, "bob", INVOKE("'artifact_id':'x','args':[1]"),
		"{'price_paid':0,'result':1}");
	assert_fails(fixture, "bob", INVOKE("'artifact_id':'x','args':['a']"),
		WFS_E_INVALID_ARGUMENT, "interface");
	assert_fails(fixture, "bob", INVOKE("'artifact_id':'x','method':'go'"),
		WFS_E_INVALID_ARGUMENT, "no method 'go'");
}

WITH_ACTORS(what_code_needs_is_there_or_named)
{
	assert_done(fixture, "alice", WRITE("'artifact_id':'lib','content':'x'"));
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'x','depends_on':['lib'],"
		      "'code':'function run() return deps.lib.owner end'"));
	assert_data(
		fixture, "bob", INVOKE("'artifact_id':'x'"), "{'price_paid':0,'result':'alice'}");
	assert_done(fixture, "alice", ACTION("delete_artifact", "'artifact_id':'lib'"));
	assert_fails(fixture, "bob", INVOKE("'artifact_id':'x'"), WFS_E_DELETED,
		"'x' depends on it: Artifact 'lib' was deleted");
}

WITH_ACTORS(the_world_is_asked_by_code)
{
	assert_done(fixture, "alice", WRITE("'artifact_id':'doc','content':'text'"));
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'ask','code':'function run() return {"
		      "kernel_state.get_balance(\\'alice\\'), "
		      "kernel_state.get_quota(\\'alice\\', \\'disk\\'), "
		      "kernel_state.get_artifact_metadata(\\'doc\\').content_size, "
		      "kernel_state.read_artifact(\\'doc\\'), get_balance(), "
		      "kernel_state.get_artifact_metadata(\\'none\\') == nil} end'"));
	assert_data(fixture, "bob", INVOKE("'artifact_id':'ask'"),
		"{'price_paid':0,'result':[100,1000,4,'text',0,true]}");
}
