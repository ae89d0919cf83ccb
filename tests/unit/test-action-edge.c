/* SPDX-License-Identifier: Apache-2.0 */
/* Actions at their edges: bounds that end a part of an action, code that changes itself, empty
 * code. */
#include "tests/fixture/turn.h"

/* Code that takes more memory than it may have, and is ended for that. */
#define GREEDY "local t = {} for i = 1, 1e9 do t[i] = {i} end "

WITH_ACTORS(code_that_becomes_executable_is_checked)
{
	assert_done(
		fixture, "alice", WRITE("'artifact_id':'x','executable':false,'code':'no lua('"));
	assert_fails(fixture, "alice", WRITE("'artifact_id':'x','executable':true"),
		WFS_E_SYNTAX_ERROR, "x:1");
	assert_fails(fixture, "alice", INVOKE("'artifact_id':'x'"), WFS_E_INVALID_TYPE,
		"not executable");
}

WITH_ACTORS(what_was_deleted_acts_no_more)
{
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'x','access':'public','code':'function run() "
		      "kernel_actions.delete_artifact(ctx.artifact_id) "
		      "local r = kernel_actions.write_artifact{artifact_id=\\'free\\', "
		      "content=string.rep(\\'x\\', 5000)} return r.error and r.error.code end'"));
	assert_data(
		fixture, "bob", INVOKE("'artifact_id':'x'"), "{'price_paid':0,'result':'deleted'}");

	assert_state(fixture, "sys.artifact", "free", NULL);
	assert_int_equal(used_disk_of(fixture, "alice"), 0);
	assert_state(fixture, "sys.resource", "x", NULL);
}

WITH_ACTORS(what_is_made_and_deleted_at_once_leaves_its_name_taken)
{
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'x','code':'function run() "
		      "kernel_actions.write_artifact{artifact_id=\\'y\\', content=\\'z\\', "
		      "code=\\'function run() end\\'} "
		      "return kernel_actions.delete_artifact(\\'y\\').ok end'"));
	assert_data(fixture, "bob", INVOKE("'artifact_id':'x'"), "{'price_paid':0,'result':true}");
	assert_fails(fixture, "bob", WRITE("'artifact_id':'y'"), WFS_E_DELETED, "was deleted");
}

WITH_ACTORS(checks_within_one_that_a_bound_ended_are_folded_again)
{
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'dice','code':'function check() "
		      "return {allowed = ctx.random(2) == 1} end'"));
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'greedy','code':'function check() "
		      "for i = 1, 5 do kernel_state.read_artifact(\\'rolled\\') end " GREEDY
		      "end'"));
	assert_done(fixture, "bob", WRITE("'artifact_id':'rolled','access':'dice'"));
	assert_done(fixture, "bob", WRITE("'artifact_id':'kept','access':'greedy'"));
	assert_done(fixture, "bob",
		WRITE("'artifact_id':'x','code':'function run() "
		      "kernel_state.read_artifact(\\'kept\\') local seen = \\'\\' "
		      "for i = 1, 40 do seen = seen .. "
		      "(kernel_state.read_artifact(\\'rolled\\') and \\'1\\' or \\'0\\') end "
		      "kernel_actions.write_artifact{artifact_id=\\'seen\\', content=seen} end'"));
	assert_done(fixture, "bob", INVOKE("'artifact_id':'x'"));
}

WITH_ACTORS(code_that_code_writes_and_a_bound_ends_is_folded_again)
{
	assert_done(fixture, "bob",
		WRITE("'artifact_id':'x','code':'function run() "
		      "kernel_actions.write_artifact{artifact_id=\\'y\\', code="
		      "\\'local s = string.rep([[x]], 40 << 20) .. string.rep([[y]], 9 << 20) "
		      "function run() end\\'} end'"));
	assert_fails(fixture, "bob", INVOKE("'artifact_id':'x'"), WFS_E_RUNTIME_ERROR,
		"bytes of memory, which its callers left");
	assert_state(fixture, "sys.artifact", "y", NULL);
}

WITH_ACTORS(a_contract_that_memory_ends_while_it_loads_is_folded_again)
{
	WFS_AUTO_FREE char *action = NULL;

	assert_done(fixture, "bob",
		WRITE("'artifact_id':'large','code':'local s = string.rep([[x]], 20 << 20) "
		      "function check() return {allowed = true} end'"));
	assert_done(fixture, "bob", WRITE("'artifact_id':'kept','access':'large'"));
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'x','code':'function run() "
		      "local s = string.rep(\\'x\\', 30 << 20) .. \\'y\\' "
		      "local seen = kernel_state.read_artifact(\\'kept\\') "
		      "kernel_actions.write_artifact{artifact_id=\\'seen\\', "
		      "content=tostring(seen)} return #s end'"));
	for (int i = 0; i < 40; i++) { /* so that the contract is not kept */
		free(action);
		assert_true(
			asprintf(&action, WRITE("'artifact_id':'c%d','code':'function run() end'"),
				i) > 0);
		assert_done(fixture, "bob", action);
	}
	assert_done(fixture, "bob", INVOKE("'artifact_id':'x'"));
}

WITH_ACTORS(what_depends_on_addresses_is_folded_again)
{
	assert_done(fixture, "bob",
		WRITE("'artifact_id':'x','code':'function run() " HOLES
		      "kernel_actions.write_artifact{artifact_id=\\'seen\\', "
		      "content=table.concat(seen)} end'"));
	assert_done(fixture, "bob", INVOKE("'artifact_id':'x'"));
}

WITH_ACTORS(empty_code_is_none)
{
	assert_done(fixture, "alice", WRITE("'artifact_id':'x','code':'','content':''"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'x','code':'function run() end'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'x','code':'','executable':false"));

	assert_state(fixture, "sys.code", "x", NULL);
	assert_int_equal(used_disk_of(fixture, "alice"), 0);
}

WITH_ACTORS(what_did_not_fail_has_no_error)
{
	assert_done(fixture, "alice", WRITE("'artifact_id':'nothing','code':'function run() end'"));
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'x','code':'function run() "
		      "local a, b = invoke(\\'nothing\\'), kernel_actions.noop() "
		      "local c = kernel_actions.transfer(\\'bob\\', 9) return {a.ok, a.error == "
		      "nil, "
		      "a.result == nil, b.error == nil, b.data == nil, c.error.code, c.data == "
		      "nil} "
		      "end'"));
	assert_data(fixture, "bob", INVOKE("'artifact_id':'x'"),
		"{'price_paid':0,'result':[true,true,true,true,true,'insufficient_funds',true]}");
}

WITH_ACTORS(what_leaves_no_room_for_its_own_record_has_failed)
{
	assert_done(fixture, "bob",
		WRITE("'artifact_id':'greedy','code':'function run() local n, size = 0, 500000 "
		      "while size > 0 do n = n + 1 "
		      "local s = string.rep(\\'x\\', size) "
		      "if not kernel_actions.write_artifact{artifact_id=\\'g\\' .. n, "
		      "content=s}.ok "
		      "then size = size // 2 end end return n end'"));
	const uint64_t height = height_of(fixture);
	char number[24];
	assert_fails(
		fixture, "bob", INVOKE("'artifact_id':'greedy'"), WFS_E_RUNTIME_ERROR, "bytes");
	snprintf(number, sizeof(number), "%llu.0", (unsigned long long)height);
	WFS_AUTO_FREE char *record = state_at(fixture, WFS_HEIGHT_HEAD, "sys.invocation", number);
	assert_non_null(record);
	assert_non_null(strstr(record, "\"error_code\":\"runtime_error\""));
	assert_null(state_at(fixture, WFS_HEIGHT_HEAD, "sys.artifact", "g1"));
	assert_true(used_disk_of(fixture, "bob") < 1000);
}

/* 20 times 4.5 MB, which would be more than one fold may hold */
WITH_ACTORS(what_is_taken_back_takes_no_room)
{
	assert_done(fixture, "bob",
		WRITE("'artifact_id':'large','code':'function run() "
		      "local ok = true local s = string.rep(\\'x\\', 500000) "
		      "for i = 1, 9 do "
		      "ok = kernel_actions.write_artifact{artifact_id=\\'l\\' .. i, content=s}.ok "
		      "and ok end "
		      "if ok then error(\\'no\\') end end'"));
	assert_done(fixture, "bob",
		WRITE("'artifact_id':'again','code':'function run() local last "
		      "for i = 1, 20 do last = invoke(\\'large\\').error end "
		      "return last.message end'"));
	assert_data(fixture, "bob", INVOKE("'artifact_id':'again'"),
		"{'price_paid':0,'result':'large:1: no'}");
}

#define TEN "1,1,1,1,1,1,1,1,1,1,"

WITH_ACTORS(an_interface_is_checked_when_it_is_written)
{
	assert_fails(fixture, "alice",
		WRITE("'artifact_id':'x','code':'function run() end','interface':{'methods':"
		      "[{'name':'run'},{'name':'go','input':{'type':'bogus','minimum':'x'}}]}"),
		WFS_E_INVALID_ARGUMENT, "'interface': methods/1/input: /");
	assert_null(strchr(fixture->error.message, '\n'));
	assert_fails(fixture, "alice", WRITE("'artifact_id':'x','interface':{'methods':{}}"),
		WFS_E_INVALID_ARGUMENT,
		"'interface': methods: expected a list of {name, description?, input?}");
	assert_fails(fixture, "alice", WRITE("'artifact_id':'x','interface':{'methods':[{}]}"),
		WFS_E_INVALID_ARGUMENT, "'interface': methods/0: expected an object with a name");
	assert_done(fixture, "alice", WRITE("'artifact_id':'x','interface':{'methods':[]}"));
	assert_fails(fixture, "alice",
		WRITE("'artifact_id':'x','interface':{'tests':[" TEN TEN TEN TEN TEN TEN
		      "1,1,1,1,1]}"),
		WFS_E_TOO_LARGE, "'interface': tests: 65 of them, at most 64 are taken");
}

/* --- what code has the host do --- */

/* A schema of one argument; checking the argument uses up all steps that a check has. */
static json_t *doubling_schema(void)
{
	json_t *const schema = json_pack("{s:s, s:{}}", "$ref", "#/$defs/0", "$defs");
	json_t *const definitions = json_object_get(schema, "$defs");

	for (int i = 0; i < 50; i++) {
		char name[32];
		char target[32];

		snprintf(name, sizeof(name), "%d", i);
		snprintf(target, sizeof(target), "#/$defs/%d", i + 1);
		json_object_set_new(definitions, name,
			json_pack("{s:[{s:s}, {s:s}]}", "allOf", "$ref", target, "$ref", target));
	}
	json_object_set_new(definitions, "50", json_true());
	return schema;
}

WITH_ACTORS(long_checks_of_arguments_are_bounded_together)
{
	WFS_AUTO_JSON json_t *action =
		json_of(WRITE("'artifact_id':'y','access':'public','code':'function run() end'"));
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	json_object_set_new(action, "interface",
		json_pack(
			"{s:[{s:s, s:o}]}", "methods", "name", "run", "input", doubling_schema()));
	wfs_json_write(action, &text);
	assert_done(fixture, "bob", wfs_buffer_text(&text));
	assert_done(fixture, "bob",
		WRITE("'artifact_id':'x','code':'function run() local last "
		      "for i = 1, 1000 do last = invoke([[y]], 1).error.code end return last "
		      "end'"));
	assert_fails(fixture, "bob", INVOKE("'artifact_id':'y','args':[1]"), WFS_E_INVALID_ARGUMENT,
		"the check takes too many steps");
	assert_fails(fixture, "bob", INVOKE("'artifact_id':'x'"), WFS_E_RUNTIME_ERROR,
		"instructions for one invocation");
}

/* The processor time that the kernel thread is said to have used (sanitizers would stretch the
 * real time); each look at it adds a step. */
static int64_t thread_time_ns;
static int64_t thread_step_ns;

/* NOLINTNEXTLINE(readability-identifier-naming): the linker's name, see ld(1), --wrap */
int64_t __wrap_wfs_clock_thread_ns(void);

int64_t __wrap_wfs_clock_thread_ns(void)
{
	thread_time_ns += thread_step_ns;
	return thread_time_ns;
}

/* The journal is folded again, too: then no code may be ended that was not ended at first. */
static int slow_host_teardown(void **state)
{
	int r = action_fixture_teardown(state);

	thread_step_ns = 0;
	return r;
}

#define WITH_SLOW_HOST(name) \
	TEST_WITH(name, struct world_fixture *fixture, action_fixture_setup, slow_host_teardown)

WITH_SLOW_HOST(code_whose_host_takes_long_is_ended)
{
	assert_done(fixture, "bob",
		WRITE("'artifact_id':'x','code':'function run(count) local n = 0 "
		      "for i = 1, count do pcall(kernel_state.get_balance, [[bob]]) n = i end "
		      "return n end'"));
	assert_data(fixture, "bob", INVOKE("'artifact_id':'x','args':[30]"),
		"{'price_paid':0,'result':30}");
	thread_step_ns = INT64_C(1000000000);
	assert_data(fixture, "bob", INVOKE("'artifact_id':'x','args':[5]"),
		"{'price_paid':0,'result':5}");
	assert_fails(fixture, "bob", INVOKE("'artifact_id':'x','args':[30]"), WFS_E_RUNTIME_ERROR,
		"x: too much processor time for what it asks for");
}

WITH_SLOW_HOST(a_contract_whose_host_takes_long_is_ended)
{
	assert_done(fixture, "bob",
		WRITE("'artifact_id':'slow','code':'function check() "
		      "for i = 1, 30 do kernel_state.get_balance([[bob]]) end "
		      "return {allowed = true} end'"));
	assert_done(fixture, "bob",
		WRITE("'artifact_id':'x','access':'slow','code':'function run() end'"));
	assert_done(fixture, "alice", INVOKE("'artifact_id':'x'"));
	thread_step_ns = INT64_C(1000000000);
	assert_fails(fixture, "alice", INVOKE("'artifact_id':'x'"), WFS_E_NOT_AUTHORIZED,
		"slow: too much processor time for what it asks for");
}

/* The number of instructions of the invocation in the record at this height. */
static int64_t instructions_at(struct world_fixture *fixture, uint64_t seq)
{
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = record_at(fixture, seq);

	return json_integer_value(json_object_get(parsed.body.action.result, "instructions"));
}

#define LONG_NAME "'artifact_id':'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab'"
#define LONG_QUERY \
	ACTION("query_kernel", "'query_type':'artifacts','params':{'name_pattern':'(a+)+$'}")

WITH_SLOW_HOST(a_query_of_code_that_takes_long_is_ended)
{
	assert_done(fixture, "bob", WRITE(LONG_NAME));
	assert_done(fixture, "bob",
		WRITE("'artifact_id':'x','code':'function run() "
		      "return pcall(kernel_state.query, [[artifacts]], "
		      "{name_pattern = [[(a+)+$]]}) end'"));
	thread_step_ns = INT64_C(6000000000);
	assert_fails(fixture, "bob", INVOKE("'artifact_id':'x'"), WFS_E_RUNTIME_ERROR,
		"x: too much processor time for what it asks for");
}

WITH_SLOW_HOST(a_tool_call_whose_query_takes_long_is_refused_again)
{
	assert_done(fixture, "bob", WRITE(LONG_NAME));
	struct turn_run run = turn_begin(fixture,
		ACTION("step",
			"'agent':'alice','max_turns':2,'messages':" TURN_ASK
			",'setup':{'model':'m','offered':['query_kernel'],'settings':{},"
			"'tools':[{'kind':'action','name':'query_kernel'}]}"));
	turn_says(&run, WANTS(WANTS_ONE("c", "query_kernel", "{}")));
	thread_step_ns = INT64_C(20000000000);
	assert_int_equal(turn_acts(&run, 0, LONG_QUERY), -EIO);
	assert_non_null(strstr(fixture->error.message, "too much processor time"));
}

WITH_ACTORS(what_a_query_looks_at_counts_as_instructions)
{
	assert_done(fixture, "bob",
		WRITE("'artifact_id':'x','code':'function run(type) "
		      "return kernel_state.query(type, {limit = 1}).returned end'"));
	const uint64_t height = height_of(fixture);
	assert_data(fixture, "bob", INVOKE("'artifact_id':'x','args':['events']"),
		"{'price_paid':0,'result':1}");
	assert_data(fixture, "bob", INVOKE("'artifact_id':'x','args':['artifacts']"),
		"{'price_paid':0,'result':1}");

	assert_true(instructions_at(fixture, height + 1) > instructions_at(fixture, height) + 200);
}

WITH_ACTORS(no_code_runs_when_the_time_for_code_is_over)
{
	assert_done(fixture, "bob", WRITE("'artifact_id':'x','code':'function run() end'"));
	assert_done(fixture, "bob", WRITE(LONG_NAME));
	const uint64_t height = height_of(fixture);
	wfs_world_end_code(fixture->world, 0);
	assert_fails(fixture, "bob", INVOKE("'artifact_id':'x'"), WFS_E_CANCELLED,
		"the world is being closed");

	assert_fails(fixture, "bob", LONG_QUERY, WFS_E_CANCELLED, "the world is being closed");
	assert_int_equal(height_of(fixture), height);
	assert_done(fixture, "bob", WRITE("'artifact_id':'y','content':'a'"));
}
