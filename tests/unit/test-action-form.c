/* SPDX-License-Identifier: Apache-2.0 */
/* Contents of agents, prompts and workflows are checked when they are written, but not when a
 * journal is folded again. Each test ends with a replay of its journal. */
#include "tests/fixture/action.h"
#include "tests/fixture/restore.h"

#include "kernel/mind/form.h"

/* NOLINTBEGIN(readability-identifier-naming): the linker's names, see ld(1), --wrap */
bool __real_wfs_mind_form_has(const char *type);
bool __wrap_wfs_mind_form_has(const char *type);

/* Act as a program that was built before this check existed. */
static bool is_older;

/* Act as a program that does not check contents of this type yet; NULL: it checks all types. */
static const char *later_type;

bool __wrap_wfs_mind_form_has(const char *type)
{
	return !is_older && (!later_type || strcmp(type, later_type) != 0) &&
		__real_wfs_mind_form_has(type);
}
/* NOLINTEND(readability-identifier-naming) */

#define AGENT(content) WRITE("'artifact_id':'bot','type':'agent','content':" content)
#define BROKEN "{'max_turns':'many'}"
#define TOLD "'content': 'max_turns': expected an integer, got a string"

static void assert_content(struct world_fixture *fixture, const char *id, const char *expected)
{
	WFS_AUTO_FREE char *text = state_at(fixture, WFS_HEIGHT_HEAD, "sys.content", id);

	assert_string_equal(text, expected);
}

/* --- by a principal --- */

WITH_ACTORS(what_has_not_the_form_of_its_type_is_refused)
{
	assert_fails(fixture, "alice", AGENT(BROKEN), WFS_E_INVALID_ARGUMENT, TOLD);
	assert_fails(fixture, "alice", AGENT("'Be kind.'"), WFS_E_INVALID_JSON, "'content': ");
	assert_fails(fixture, "alice", AGENT("''"), WFS_E_INVALID_JSON, "'content': ");
	assert_fails(fixture, "alice",
		WRITE("'artifact_id':'p','type':'prompt','content':{'text':'a'}"),
		WFS_E_MISSING_ARGUMENT,
		"'content': the prompt: 'template' is missing, expected a text");
	assert_fails(fixture, "alice",
		WRITE("'artifact_id':'w','type':'workflow','content':{'states':['a'],'steps':"
		      "[{'state':'a','transition_conditions':[{'to':'a','condition':'1 +'}]}]}"),
		WFS_E_SYNTAX_ERROR,
		"'content': workflow.steps[0].transition_conditions[0].condition: ");

	assert_null(state_at(fixture, WFS_HEIGHT_HEAD, "sys.artifact", "bot"));
	assert_null(state_at(fixture, WFS_HEIGHT_HEAD, "sys.principal", "bot"));
}

WITH_ACTORS(a_type_is_refused_that_the_content_does_not_have)
{
	assert_done(fixture, "alice", WRITE("'artifact_id':'bot','content':" BROKEN));

	assert_fails(fixture, "alice", WRITE("'artifact_id':'bot','type':'agent'"),
		WFS_E_INVALID_ARGUMENT, TOLD);
	assert_done(fixture, "alice", AGENT("{'max_turns':1}"));
}

WITH_ACTORS(an_edit_that_breaks_the_form_is_refused)
{
	static const char edit[] = ACTION(
		"edit_artifact", "'artifact_id':'bot','old_string':'1','new_string':'\\'many\\''");

	assert_done(fixture, "alice", AGENT("{'max_turns':1}"));

	assert_fails(fixture, "alice", edit, WFS_E_INVALID_ARGUMENT, TOLD);
	assert_content(fixture, "bot", "{\"max_turns\":1}");
	assert_done(fixture, "alice",
		ACTION("edit_artifact", "'artifact_id':'bot','old_string':'1','new_string':'2'"));
}

WITH_ACTORS(an_agent_may_get_its_content_later)
{
	assert_done(fixture, "alice", WRITE("'artifact_id':'bot','type':'agent'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'bot','price':3"));

	assert_done(fixture, "alice", WRITE("'artifact_id':'bot','content':{'tools':['later']}"));
	assert_fails(fixture, "alice", WRITE("'artifact_id':'bot','content':" BROKEN),
		WFS_E_INVALID_ARGUMENT, TOLD);
}

WITH_ACTORS(an_editor_that_may_not_read_is_not_told_what_is_there)
{
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'rule','code':'function check(who, use) "
		      "return {allowed = use == \\'edit\\'} end'"));
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'bot','type':'agent','access':'rule','content':"
		      "{'model':'secret','max_turns':1}"));

	assert_fails(fixture, "bob",
		ACTION("edit_artifact",
			"'artifact_id':'bot','old_string':'model','new_string':'max_turns'"),
		WFS_E_INVALID_JSON,
		"'content': expected one that the type 'agent' has, got another one");
}

/* --- by code --- */

/* Makes a program x of the author that writes an agent with the content it is given, and notes
 * the answer to the write. */
static void make_writer(struct world_fixture *fixture, const char *author)
{
	assert_done(fixture, author,
		WRITE("'artifact_id':'x','access':'public','code':'"
		      "function run(content) "
		      "local r = kernel_actions.write_artifact{artifact_id = \\'robot\\', "
		      "type = \\'agent\\', content = content} "
		      "local told = r.ok and \\'taken\\' or r.error.code .. \\' \\' .. "
		      "r.error.message "
		      "kernel_actions.write_artifact{artifact_id = \\'note\\', "
		      "content = {told = told}} "
		      "end'"));
}

#define RUN(content) INVOKE("'artifact_id':'x','args':[" content "]")

WITH_ACTORS(code_is_told_what_is_wrong)
{
	WFS_AUTO_JSON json_t *refused = json_of("[0]");

	make_writer(fixture, "alice");
	assert_done(fixture, "bob", RUN(BROKEN));
	WFS_AUTO_RECORD struct wfs_record_parsed record =
		record_at(fixture, height_of(fixture) - 1);

	assert_content(fixture, "note", "{\"told\":\"invalid_argument " TOLD "\"}");
	assert_null(state_at(fixture, WFS_HEIGHT_HEAD, "sys.artifact", "robot"));
	assert_true(json_equal(
		json_object_get(record.body.action.result, "refused_contents"), refused));
	assert_done(fixture, "bob", RUN("{'max_turns':1}"));
	assert_content(fixture, "note", "{\"told\":\"taken\"}");
}

/* One of the writes is refused; an invocation among them is ended by a bound, which undoes its
 * writes. */
WITH_ACTORS(writes_of_code_are_told_apart_when_they_are_folded_again)
{
	make_writer(fixture, "alice");
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'greedy','access':'public','code':'function run() "
		      "invoke(\\'x\\', {max_turns = false}) "
		      "invoke(\\'x\\', {max_turns = false}) "
		      "local t = {} while true do t[#t + 1] = (\\'x\\'):rep(1000000) .. #t end "
		      "end'"));
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'y','access':'public','code':'function run() "
		      "invoke(\\'x\\', {max_turns = 1}) "
		      "invoke(\\'greedy\\') "
		      "invoke(\\'x\\', {max_turns = 2}) "
		      "invoke(\\'x\\', {max_turns = true}) "
		      "end'"));

	assert_done(fixture, "bob", INVOKE("'artifact_id':'y'"));
	WFS_AUTO_RECORD struct wfs_record_parsed record =
		record_at(fixture, height_of(fixture) - 1);

	WFS_AUTO_JSON json_t *refused = json_of("[4]");
	assert_true(json_equal(
		json_object_get(record.body.action.result, "refused_contents"), refused));
	assert_content(fixture, "robot", "{\"max_turns\":2}");
	assert_content(fixture, "note",
		"{\"told\":\"invalid_argument 'content': 'max_turns': expected an integer, got a "
		"boolean\"}");
}

WITH_ACTORS(a_type_that_gets_a_form_later_changes_no_record)
{
	make_writer(fixture, "alice");
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'y','access':'public','code':'function run() "
		      "kernel_actions.write_artifact{artifact_id = \\'shelf\\', "
		      "type = \\'library\\', content = {note = \\'none\\'}} "
		      "invoke(\\'x\\', {max_turns = false}) "
		      "end'"));
	later_type = "library";
	assert_done(fixture, "bob", INVOKE("'artifact_id':'y'"));
	later_type = NULL;

	assert_content(fixture, "shelf", "{\"note\":\"none\"}");
	assert_sound(fixture);
}

WITH_ACTORS(conditions_use_up_what_code_may)
{
	make_writer(fixture, "bob"); /* bob has no quota */
	assert_done(fixture, "bob",
		WRITE("'artifact_id':'y','access':'public','code':'function run() "
		      "local conditions = {} "
		      "for i = 1, 64 do conditions[i] = {to = \\'a\\', condition = \\'stuck\\'} "
		      "end "
		      "local content = {workflow = {states = {\\'a\\'}, steps = "
		      "{{state = \\'a\\', transition_conditions = conditions}}}} "
		      "for i = 1, 100 do invoke(\\'x\\', content) end "
		      "end'"));

	assert_fails(fixture, "bob", INVOKE("'artifact_id':'y'"), WFS_E_RUNTIME_ERROR,
		"y:1: more than 50000000 instructions for one invocation");
}

/* --- worlds of older programs --- */

static void make_old_world(struct world_fixture *fixture)
{
	is_older = true;
	make_writer(fixture, "alice");
	assert_done(fixture, "alice", AGENT("{'max_turns':[]}"));
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'w','type':'workflow','content':{'states':1}"));
	assert_done(fixture, "bob", RUN("{'max_turns':[]}"));
	is_older = false;
}

WITH_ACTORS(a_world_with_broken_ones_is_folded_again)
{
	static const char edit[] =
		ACTION("edit_artifact", "'artifact_id':'bot','old_string':'[]','new_string':'{}'");

	make_old_world(fixture);
	is_older = true;
	assert_done(fixture, "alice", edit);
	assert_fails(fixture, "alice", edit, WFS_E_NOT_FOUND_IN_CONTENT, "does not occur");
	is_older = false;

	assert_content(fixture, "note", "{\"told\":\"taken\"}");
	assert_sound(fixture);
	assert_done(fixture, "alice", WRITE("'artifact_id':'w','price':3"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'w','type':'workflow','price':4"));
	assert_done(fixture, "alice", ACTION("transfer_ownership", "'to':'bob','artifact_id':'w'"));
	assert_fails(fixture, "bob", WRITE("'artifact_id':'w','content':'!'"), WFS_E_INVALID_JSON,
		"'content': ");
	assert_done(
		fixture, "bob", WRITE("'artifact_id':'w','content':{'states':['a'],'steps':[]}"));
}

WITH_ACTORS(a_copy_with_broken_ones_is_restored)
{
	make_old_world(fixture);
	copy_at(fixture, WFS_HEIGHT_HEAD);
	const struct wfs_hash hash = snapshot_of(fixture, WFS_HEIGHT_HEAD);

	const struct wfs_restored restored = restore(fixture);

	assert_true(restored.history);
	assert_true(wfs_hash_equal(&restored.snapshot_hash, &hash));
	assert_content(fixture, "bot", "{\"max_turns\":[]}");
	assert_content(fixture, "robot", "{\"max_turns\":[]}");
	assert_sound(fixture);
}

WITH_ACTORS(a_copy_without_its_journal_is_restored)
{
	make_old_world(fixture);
	copy_state(fixture);

	(void)restore(fixture);

	assert_content(fixture, "w", "{\"states\":1}");
	assert_sound(fixture);
}
