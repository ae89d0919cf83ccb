/* SPDX-License-Identifier: Apache-2.0 */
/* Code may do and see what its author may, whichever principal runs it. */
#include "tests/fixture/action.h"

#define GRANT(members) "{'action_type':'grant'," members "}"
#define CODE(id, body) WRITE("'artifact_id':'" id "','code':'function run(...) " body " end'")

/* mallory has grants for a part of the world; alice and bob have grants for everything, and
 * alice has secrets. */
static int setup(void **state)
{
	static const char *const first[] = {
		"{'action_type':'principal','id':'mallory','scrip':10}",
		GRANT("'cap':'sys/query@1','name':'look','to':'mallory',"
		      "'params':{'scope':['artifacts/open_*','principals/mallory']}"),
		GRANT("'cap':'sys/act@1','name':'do','to':'mallory','params':"
		      "{'actions':['write_artifact','invoke_artifact'],'artifacts':['open_*']}"),
	};
	int r = action_fixture_setup(state);

	for (size_t i = 0; !r && i < WFS_ARRAY_COUNT(first); i++) {
		json_t *answer = NULL;

		r = act_as(*state, "tester", first[i], &answer);
		json_decref(answer);
	}
	if (r)
		return r;
	assert_done(*state, "alice", WRITE("'artifact_id':'secret','content':'hush'"));
	assert_done(*state, "alice", WRITE("'artifact_id':'open_doc','content':'for all'"));
	return 0;
}

#define WITH_MALLORY(name) \
	TEST_WITH(name, struct world_fixture *fixture, setup, action_fixture_teardown)

#define ASK_ALL                                                              \
	"local function total(type) local r = kernel_state.query(type, {}) " \
	"return r.total or r.returned end "                                  \
	"return {kernel_state.get_balance(\\'alice\\'), "                    \
	"kernel_state.get_artifact_metadata(\\'secret\\') == nil, "          \
	"kernel_state.read_artifact(\\'secret\\') == nil, "                  \
	"kernel_state.read_artifact(\\'open_doc\\'), "                       \
	"kernel_state.get_quota(\\'alice\\', \\'disk\\') == nil, "           \
	"#kernel_state.list_artifacts_by_owner(\\'alice\\'), total(\\'events\\') > 0}"

WITH_MALLORY(code_sees_what_its_author_sees)
{
	assert_done(fixture, "mallory", CODE("open_eye", ASK_ALL));
	assert_data(fixture, "mallory", INVOKE("'artifact_id':'open_eye'"),
		"{'price_paid':0,'result':[0,true,true,'for all',true,1,false]}");
	assert_done(fixture, "alice", CODE("eye", ASK_ALL));
	assert_data(fixture, "mallory", INVOKE("'artifact_id':'eye'"),
		"{'price_paid':0,'result':[100,false,false,'for all',false,3,true]}");
}

WITH_MALLORY(what_is_hidden_is_refused_as_if_it_were_not_there)
{
	static const char missing[] = "Artifact 'secret' not found";
	static const char edit[] =
		ACTION("edit_artifact", "'artifact_id':'secret','old_string':'h','new_string':'H'");
	static const char read[] = ACTION("read_artifact", "'artifact_id':'secret'");
	static const char taken[] = "'mallory' may not write an artifact 'secret': the id is taken";

	assert_fails(fixture, "mallory", edit, WFS_E_NOT_FOUND, missing);
	assert_fails(fixture, "bob", edit, WFS_E_NOT_AUTHORIZED, "only the owner changes it");
	assert_fails(fixture, "mallory",
		ACTION("edit_artifact",
			"'artifact_id':'open_doc','old_string':'f','new_string':'F'"),
		WFS_E_NOT_AUTHORIZED, "only the owner changes it");
	assert_fails(
		fixture, "mallory", WRITE("'artifact_id':'secret'"), WFS_E_NOT_AUTHORIZED, taken);
	assert_fails(fixture, "mallory", WRITE("'artifact_id':'bob'"), WFS_E_NOT_AUTHORIZED,
		"'bob': the id is taken");
	assert_fails(fixture, "alice", WRITE("'artifact_id':'bob'"), WFS_E_ALREADY_EXISTS,
		"is a principal");
	assert_done(fixture, "alice", ACTION("delete_artifact", "'artifact_id':'secret'"));
	assert_fails(fixture, "mallory", read, WFS_E_NOT_FOUND, missing);
	assert_fails(fixture, "bob", read, WFS_E_DELETED, "was deleted by 'alice'");
	assert_fails(
		fixture, "mallory", WRITE("'artifact_id':'secret'"), WFS_E_NOT_AUTHORIZED, taken);
}

WITH_MALLORY(what_may_be_used_may_be_depended_on)
{
	static const char *const ids[] = {"closed", "nowhere"};

	assert_done(fixture, "alice", WRITE("'artifact_id':'closed','access':'private'"));
	for (size_t i = 0; i < WFS_ARRAY_COUNT(ids); i++) {
		char action[120];
		char message[60];

		snprintf(action, sizeof(action),
			WRITE("'artifact_id':'open_one','depends_on':['%s']"), ids[i]);
		snprintf(message, sizeof(message), "'depends_on': Artifact '%s' not found", ids[i]);
		assert_fails(fixture, "mallory", action, WFS_E_NOT_FOUND, message);
	}
	assert_done(fixture, "mallory", WRITE("'artifact_id':'open_one','depends_on':['secret']"));
	assert_done(fixture, "bob", WRITE("'artifact_id':'bobs','depends_on':['closed']"));
}

WITH_MALLORY(who_runs_it_lends_it_nothing)
{
	assert_done(fixture, "mallory", CODE("open_eye", ASK_ALL));
	assert_data(fixture, "alice", INVOKE("'artifact_id':'open_eye'"),
		"{'price_paid':0,'result':[0,true,true,'for all',true,1,false]}");
}

WITH_MALLORY(who_owns_it_lends_it_nothing)
{
	assert_done(fixture, "mallory", CODE("open_eye", ASK_ALL));
	assert_done(fixture, "mallory",
		ACTION("transfer_ownership", "'artifact_id':'open_eye','to':'alice'"));
	assert_data(fixture, "alice", INVOKE("'artifact_id':'open_eye'"),
		"{'price_paid':0,'result':[0,true,true,'for all',true,2,false]}");
	/* Alice's rights apply once she writes the code herself. */
	assert_done(fixture, "alice", CODE("open_eye", ASK_ALL));
	assert_data(fixture, "mallory", INVOKE("'artifact_id':'open_eye'"),
		"{'price_paid':0,'result':[100,false,false,'for all',false,3,true]}");
}

WITH_MALLORY(an_update_without_code_keeps_its_author)
{
	assert_done(fixture, "mallory", CODE("open_eye", ASK_ALL));
	assert_done(fixture, "mallory",
		ACTION("transfer_ownership", "'artifact_id':'open_eye','to':'alice'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'open_eye','content':'x','price':0"));
	assert_data(fixture, "alice", INVOKE("'artifact_id':'open_eye'"),
		"{'price_paid':0,'result':[0,true,true,'for all',true,2,false]}");
}

WITH_MALLORY(code_does_what_its_author_may)
{
	assert_done(fixture, "mallory",
		CODE("open_hand",
			"local r = {} "
			"local function note(x) r[#r + 1] = x.ok or x.error.code end "
			"note(kernel_actions.write_artifact(\\'open_new\\', \\'data\\', \\'x\\')) "
			"note(kernel_actions.write_artifact(\\'closed\\', \\'data\\', \\'x\\')) "
			"note(kernel_actions.delete_artifact(\\'open_new\\')) "
			"note(kernel_actions.read_artifact(\\'secret\\')) "
			"note(kernel_actions.read_artifact(\\'open_doc\\')) "
			"note(pay(\\'alice\\', 1)) note(invoke(\\'secret\\')) "
			"note(kernel_actions.query_kernel(\\'artifacts\\')) return r"));
	assert_data(fixture, "alice", INVOKE("'artifact_id':'open_hand'"),
		"{'price_paid':0,'result':[true,'not_authorized','not_authorized',"
		"'not_authorized','not_authorized','not_authorized','not_authorized',"
		"true]}");
}

WITH_MALLORY(code_that_code_writes_has_the_same_author)
{
	assert_done(fixture, "mallory",
		CODE("open_maker",
			"return kernel_actions.write_artifact{artifact_id = \\'open_made\\', code "
			"= "
			"[[function run() return kernel_state.get_balance(\\'alice\\') end]]}.ok"));
	assert_data(fixture, "alice", INVOKE("'artifact_id':'open_maker'"),
		"{'price_paid':0,'result':true}");
	assert_data(fixture, "alice", INVOKE("'artifact_id':'open_made'"),
		"{'price_paid':0,'result':0}");
}

WITH_MALLORY(called_code_has_its_own_author)
{
	assert_done(fixture, "alice",
		CODE("open_service", "return kernel_state.get_balance(\\'alice\\')"));
	assert_done(fixture, "mallory",
		CODE("open_client",
			"return {invoke(\\'open_service\\').result, "
			"kernel_state.get_balance(\\'alice\\')}"));
	assert_data(fixture, "mallory", INVOKE("'artifact_id':'open_client'"),
		"{'price_paid':0,'result':[100,0]}");
}

WITH_MALLORY(what_it_needs_is_told_by_name_only)
{
	assert_done(fixture, "mallory",
		WRITE("'artifact_id':'open_needy','depends_on':['secret','open_doc'],"
		      "'code':'function run() return {deps.secret.id, deps.secret.owner == nil, "
		      "deps.open_doc.owner} end'"));
	assert_data(fixture, "mallory", INVOKE("'artifact_id':'open_needy'"),
		"{'price_paid':0,'result':['secret',true,'alice']}");
}

WITH_MALLORY(a_contract_sees_what_its_author_sees)
{
	assert_done(fixture, "mallory",
		WRITE("'artifact_id':'open_rule','code':'function check(caller) return {allowed = "
		      "kernel_state.get_balance(caller) > 0, reason = \\'poor\\'} end'"));
	assert_done(fixture, "mallory",
		WRITE("'artifact_id':'open_guarded','content':'x','access':'open_rule'"));
	assert_done(fixture, "mallory", ACTION("read_artifact", "'artifact_id':'open_guarded'"));
	assert_fails(fixture, "alice", ACTION("read_artifact", "'artifact_id':'open_guarded'"),
		WFS_E_NOT_AUTHORIZED, "poor");
}

WITH_MALLORY(without_grants_it_sees_itself_and_does_nothing)
{
	assert_done(fixture, "tester", "{'action_type':'principal','id':'poor'}");
	assert_done(fixture, "poor",
		CODE("own",
			"return {kernel_state.get_artifact_metadata(\\'own\\').owner, "
			"get_balance(), "
			"kernel_state.read_artifact(\\'own\\'), "
			"kernel_state.get_artifact_metadata(\\'open_doc\\') == nil, "
			"pay(\\'alice\\', 1).error.code}"));
	assert_done(fixture, "alice", ACTION("transfer", "'to':'own','amount':5"));
	assert_data(fixture, "alice", INVOKE("'artifact_id':'own'"),
		"{'price_paid':0,'result':['poor',5,'',true,'not_authorized']}");
	assert_done(fixture, "poor", CODE("own", "return kernel_state.query(\\'artifacts\\')"));
	assert_fails(fixture, "alice", INVOKE("'artifact_id':'own'"), WFS_E_RUNTIME_ERROR,
		"'poor' holds no grant of type 'query'");
}

WITH_MALLORY(what_is_revoked_is_gone_from_the_next_record_on)
{
	assert_done(fixture, "mallory",
		CODE("open_eye",
			"return {kernel_state.read_artifact(\\'open_doc\\') or 0, "
			"kernel_actions.write_artifact(\\'open_x\\', \\'data\\', \\'x\\').ok}"));
	assert_data(fixture, "alice", INVOKE("'artifact_id':'open_eye'"),
		"{'price_paid':0,'result':['for all',true]}");
	assert_done(fixture, "tester", "{'action_type':'revoke','name':'do'}");
	assert_data(fixture, "alice", INVOKE("'artifact_id':'open_eye'"),
		"{'price_paid':0,'result':['for all',false]}");
	assert_done(fixture, "tester", "{'action_type':'revoke','name':'look'}");
	assert_data(fixture, "alice", INVOKE("'artifact_id':'open_eye'"),
		"{'price_paid':0,'result':[0,false]}");
}

WITH_MALLORY(a_grant_ends_at_its_time)
{
	char grant[200];

	assert_done(fixture, "tester", "{'action_type':'principal','id':'guest'}");
	snprintf(grant, sizeof(grant),
		GRANT("'cap':'sys/query@1','to':'guest','params':{},'expires_at_ns':%lld"),
		(long long)fixture->now_ns + 1000000000);
	assert_done(fixture, "tester", grant);
	assert_done(
		fixture, "guest", CODE("glance", "return kernel_state.get_balance(\\'alice\\')"));
	assert_data(fixture, "alice", INVOKE("'artifact_id':'glance'"),
		"{'price_paid':0,'result':100}");
	fixture->now_ns += 2000000000;
	assert_data(
		fixture, "alice", INVOKE("'artifact_id':'glance'"), "{'price_paid':0,'result':0}");
}

WITH_MALLORY(what_was_passed_on_is_worth_what_it_comes_from)
{
	assert_done(fixture, "tester", "{'action_type':'principal','id':'guest'}");
	assert_done(fixture, "mallory",
		GRANT("'cap':'sys/query@1','from':'look','name':'part','to':'guest',"
		      "'params':{'scope':['artifacts/open_doc']}"));
	assert_done(fixture, "guest",
		CODE("glance", "return kernel_state.read_artifact(\\'open_doc\\')"));
	assert_data(fixture, "alice", INVOKE("'artifact_id':'glance'"),
		"{'price_paid':0,'result':'for all'}");
	assert_done(fixture, "tester", "{'action_type':'revoke','name':'look'}");
	assert_data(fixture, "alice", INVOKE("'artifact_id':'glance'"),
		"{'price_paid':0,'result':null}");
}

/* The id is also a valid path, which leads to something else. */
WITH_MALLORY(an_id_is_its_own_in_its_directory_only)
{
	assert_done(fixture, "tester", "{'action_type':'principal','id':'guest'}");
	assert_done(fixture, "tester",
		GRANT("'cap':'sys/query@1','to':'guest','params':{'scope':['manifest']}"));
	assert_done(fixture, "guest",
		CODE("log.jsonl", "return kernel_state.query(\\'events\\').returned"));
	assert_data(fixture, "guest", INVOKE("'artifact_id':'log.jsonl'"),
		"{'price_paid':0,'result':0}");
}

#define READ_BOTH                                                  \
	"local read = kernel_actions.read_artifact(\\'report\\') " \
	"return {read.ok or read.error.code, kernel_state.read_artifact(\\'report\\') or 0}"

/* The owner reads the artifact for nothing, and would pay itself. */
WITH_MALLORY(code_of_another_does_not_read_what_its_caller_sells)
{
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'report','content':'figures','policy':{'read_price':50}"));
	assert_done(fixture, "bob", CODE("helper", READ_BOTH));
	assert_done(fixture, "alice", CODE("own", READ_BOTH));

	assert_data(fixture, "alice", INVOKE("'artifact_id':'helper'"),
		"{'price_paid':0,'result':['not_authorized',0]}");
	assert_data(fixture, "alice", INVOKE("'artifact_id':'own'"),
		"{'price_paid':0,'result':[true,'figures']}");
	assert_data(fixture, "bob", INVOKE("'artifact_id':'helper'"),
		"{'price_paid':0,'result':[true,0]}");
	assert_int_equal(scrip_of(fixture, "bob"), 0);
}

/* Otherwise a principal that may write to an artifact could have its code run by somebody who
 * did not ask for that. */
WITH_MALLORY(who_makes_it_executable_is_its_author)
{
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'open_notes','executable':false,'access':'public',"
		      "'code':'function run() return kernel_state.get_balance(\\'alice\\') end'"));
	assert_done(fixture, "mallory", WRITE("'artifact_id':'open_notes','executable':true"));
	assert_data(fixture, "mallory", INVOKE("'artifact_id':'open_notes'"),
		"{'price_paid':0,'result':0}");
}

static size_t index_of(const json_t *manifest, const char *effect)
{
	const json_t *definition;
	size_t i;

	json_array_foreach(json_object_get(manifest, "effects"), i, definition) {
		if (strcmp(json_string_value(json_object_get(definition, "name")), effect) == 0)
			return i;
	}
	fail_msg("no effect %s", effect);
	return 0;
}

/* A rule can apply to code alone: it does not match what a principal does directly. */
WITH_SOURCE_REPLAYED(a_policy_can_name_code)
{
	json_t *const manifest = fixture->loaded.manifest;

	world_fixture_set_policy(fixture,
		"[{'when':{'origin':'code','effect':'action.transfer'},'decision':'deny'},"
		"{'when':{'origin':'code','effect':'query.*','principal':'bob'},"
		"'decision':'deny'},{'when':{'origin':'code','effect':"
		"'introspect.reducer_state','reducer':'sys.content'},'decision':'deny'},"
		"{'when':{},'decision':'allow'}]");
	json_array_remove(json_object_get(manifest, "effects"), index_of(manifest, "action.noop"));
	assert_int_equal(world_fixture_create(fixture), 0);
	assert_int_equal(world_fixture_open(fixture), 0);
	assert_int_equal(action_fixture_begin(fixture), 0);

	assert_done(fixture, "alice", CODE("one", "return pay(\\'bob\\', 1).error.code"));
	assert_data(fixture, "alice", INVOKE("'artifact_id':'one'"),
		"{'price_paid':0,'result':'policy_denied'}");
	assert_done(fixture, "alice", ACTION("transfer", "'to':'bob','amount':1"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'doc','content':'x'"));
	assert_done(fixture, "alice",
		CODE("one",
			"return {kernel_state.read_artifact(\\'doc\\') or 0, "
			"kernel_state.read_artifact(\\'one\\'), "
			"kernel_actions.noop().error.code}"));
	assert_data(fixture, "alice", INVOKE("'artifact_id':'one'"),
		"{'price_paid':0,'result':[0,'','not_authorized']}");
	assert_done(fixture, "bob", CODE("two", "return kernel_state.get_balance(\\'alice\\')"));
	assert_data(fixture, "alice", INVOKE("'artifact_id':'two'"), "{'price_paid':0,'result':0}");
}

#define TOTALS                                                               \
	"local function total(type) local r = kernel_state.query(type, {}) " \
	"return r.total or r.returned or #r.frozen_agents end "              \
	"return {total(\\'events\\'), total(\\'artifacts\\'), total(\\'principals\\') > 0, "

/* A rule that hides something in the tree hides it from queries, too; but code still sees what
 * belongs to it. */
WITH_SOURCE_REPLAYED(code_is_told_nothing_that_the_policy_hides_from_its_author)
{
	world_fixture_set_policy(fixture,
		"[{'when':{'effect':'introspect.journal','principal':'bob'},'decision':'deny'},"
		"{'when':{'effect':'introspect.reducer_state','reducer':'sys.artifact',"
		"'principal':'bob'},'decision':'deny'},{'when':{'effect':"
		"'introspect.reducer_state','reducer':'sys.resource','principal':'bob'},"
		"'decision':'deny'},{'when':{},'decision':'allow'}]");
	assert_int_equal(world_fixture_create(fixture), 0);
	assert_int_equal(world_fixture_open(fixture), 0);
	assert_int_equal(action_fixture_begin(fixture), 0);
	assert_done(fixture, "alice", WRITE("'artifact_id':'doc','content':'x'"));

	assert_done(fixture, "bob",
		CODE("two",
			TOTALS "kernel_state.get_artifact_metadata(\\'doc\\') or 0, "
			       "kernel_state.read_artifact(\\'doc\\') or 0, "
			       "#kernel_state.list_artifacts_by_owner(\\'alice\\'), "
			       "kernel_state.get_artifact_metadata(\\'two\\').id, "
			       "kernel_state.get_balance(\\'alice\\'), "
			       "kernel_state.get_resource(\\'alice\\', \\'disk\\')}"));
	assert_data(fixture, "alice", INVOKE("'artifact_id':'two'"),
		"{'price_paid':0,'result':[0,1,true,0,0,0,'two',100,0]}");
}

#undef TEST
