/* SPDX-License-Identifier: Apache-2.0 */
/* Forged copies of worlds whose artifacts had earlier texts: what the journal proves about the
 * cells. */
#include "tests/fixture/restore-lost.h"

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

LOST(a_grant_is_not_added)
{
	give_query(fixture);
	copy_behind_a_loss(fixture);
	put_copy_text(fixture, "reducers/sys.grant/forged",
		"{\"cap\":\"sys/admin@1\",\"name\":\"forged\",\"params\":{},\"to\":\"bob\"}\n");

	assert_copy_refused(fixture, "reducers/sys.grant/forged: is not what folding gives");
}

LOST(a_grant_is_not_changed)
{
	give_query(fixture);
	copy_behind_a_loss(fixture);
	replace_in_copy(fixture, "reducers/sys.grant/some", "sys/query@1", "sys/admin@1");

	assert_copy_refused(fixture, "reducers/sys.grant/some: is not what folding gives");
}

LOST(a_grant_is_not_gone)
{
	give_query(fixture);
	copy_behind_a_loss(fixture);
	remove_copy(fixture, "reducers/sys.grant/some");

	assert_copy_refused(fixture, "reducers/sys.grant/some: is missing");
}

LOST(a_revoked_grant_does_not_come_back)
{
	give_query(fixture);
	WFS_AUTO_FREE char *text = state_at(fixture, WFS_HEIGHT_HEAD, "sys.grant", "some");
	WFS_AUTO_BUFFER struct wfs_buffer document = {0};
	wfs_buffer_printf(&document, "%s\n", text);
	assert_done(fixture, "alice", WRITE("'artifact_id':'lost','content':'zero'"));
	assert_done(fixture, "tester", "{'action_type':'revoke','name':'some'}");
	copy_behind_a_loss(fixture);
	put_copy(fixture, "reducers/sys.grant/some", wfs_buffer_bytes(&document));

	assert_copy_refused(fixture, "reducers/sys.grant/some: is not what folding gives");
}

LOST(a_principal_is_not_added)
{
	copy_behind_a_loss(fixture);
	put_copy_text(fixture, "reducers/sys.principal/mallory", "{\"id\":\"mallory\"}\n");

	assert_copy_refused(fixture, "reducers/sys.principal/mallory: is not what folding gives");
}

/* Replaces a text and its hash by another text of equal size and its hash. */
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
	/* Replaces the part after the name of the member. */
	replace_in_copy(fixture, path, strchr(proven, ':'), strchr(forged, ':'));
}

#define CODE_1 "function run() return 1 end"
#define CODE_2 "function run() return 2 end"

/* An update keeps members that it does not mention. */
static void agent_behind_a_loss(struct world_fixture *fixture)
{
	assert_done(fixture, "alice", WRITE("'artifact_id':'lost','content':'first'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'lost','content':'second'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'bot','type':'agent'"));
	assert_done(fixture, "tester",
		"{'action_type':'grant','cap':'sys/act@1','params':{},'to':'bot','name':'given',"
		"'to_artifact_of':'alice'}");
}

LOST(an_agent_is_a_principal)
{
	agent_behind_a_loss(fixture);
	assert_done(fixture, "bot",
		"{'action_type':'grant','cap':'sys/act@1','params':{},'to':'bob','from':'given'}");
	assert_done(fixture, "tester",
		"{'action_type':'step','agent':'bot','max_turns':1,'messages':[{'content':'go','"
		"role':"
		"'user'}],'setup':{'model':'m','offered':[],'settings':{},'tools':[]}}");
	copy_at(fixture, WFS_HEIGHT_HEAD);
	WFS_AUTO_FREE char *bot = state_at(fixture, WFS_HEIGHT_HEAD, "sys.principal", "bot");
	WFS_AUTO_FREE char *alice = state_at(fixture, WFS_HEIGHT_HEAD, "sys.principal", "alice");
	restore(fixture);

	WFS_AUTO_FREE char *restored_bot =
		state_at(fixture, WFS_HEIGHT_HEAD, "sys.principal", "bot");
	WFS_AUTO_FREE char *restored_alice =
		state_at(fixture, WFS_HEIGHT_HEAD, "sys.principal", "alice");
	assert_string_equal(restored_bot, bot);
	assert_string_equal(restored_alice, alice);
	assert_verified(fixture);
}

LOST(an_agent_that_was_written_again_is_a_principal)
{
	assert_done(fixture, "alice", WRITE("'artifact_id':'bot','type':'agent','content':{}"));
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'bot','type':'agent','content':{'model':'b'}"));
	assert_done(fixture, "tester",
		"{'action_type':'grant','cap':'sys/act@1','params':{},'to':'bot',"
		"'to_artifact_of':'alice'}");
	copy_at(fixture, WFS_HEIGHT_HEAD);
	restore(fixture);

	assert_verified(fixture);
}

/* Checks an agent that code of @author wrote when alice called it. */
static void assert_agent_of_code_is_restored(struct world_fixture *fixture, const char *author)
{
	assert_done(fixture, "alice", WRITE("'artifact_id':'lost','content':'first'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'lost','content':'second'"));
	assert_done(fixture, author,
		WRITE("'artifact_id':'maker','executable':true,'code':'function run() return "
		      "kernel_actions.write_artifact(\\'bot\\', \\'agent\\', \\'{}\\').ok end'"));
	assert_done(fixture, "alice", INVOKE("'artifact_id':'maker','method':'run'"));
	assert_done(fixture, "tester",
		"{'action_type':'grant','cap':'sys/act@1','params':{},'to':'bot',"
		"'to_artifact_of':'maker'}");
	WFS_AUTO_FREE char *bot = state_at(fixture, WFS_HEIGHT_HEAD, "sys.principal", "bot");
	copy_at(fixture, WFS_HEIGHT_HEAD);
	restore(fixture);

	assert_state(fixture, "sys.principal", "bot", bot);
	assert_verified(fixture);
}

LOST(an_agent_that_code_wrote_is_a_principal)
{
	assert_agent_of_code_is_restored(fixture, "alice");
}

/* The cell has one more member: "requested_by". */
LOST(an_agent_that_code_of_others_wrote_is_a_principal)
{
	assert_agent_of_code_is_restored(fixture, "bob");
}

LOST(the_principal_of_an_agent_is_not_gone)
{
	agent_behind_a_loss(fixture);
	copy_at(fixture, WFS_HEIGHT_HEAD);
	remove_copy(fixture, "reducers/sys.principal/bot");

	assert_copy_refused(fixture, "reducers/sys.principal/bot: is missing: record ");
}

LOST(the_principal_of_an_agent_has_the_maker_of_its_line)
{
	agent_behind_a_loss(fixture);
	copy_at(fixture, WFS_HEIGHT_HEAD);
	replace_in_copy(fixture, "reducers/sys.principal/bot", "\"created_by\":\"alice\"",
		"\"created_by\":\"bob\"");

	assert_copy_refused(fixture, "reducers/sys.principal/bot: is not what folding gives");
}

LOST(an_agent_that_no_line_made_is_not_added)
{
	agent_behind_a_loss(fixture);
	copy_at(fixture, WFS_HEIGHT_HEAD);
	put_copy_text(fixture, "reducers/sys.principal/forged",
		"{\"agent_of\":\"alice\",\"created_by\":\"alice\",\"id\":\"forged\"}\n");

	assert_copy_refused(fixture, "reducers/sys.principal/forged: is not what folding gives");
}

LOST(code_is_not_lost_by_a_write_of_something_else)
{
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'tool','executable':true,'code':'" CODE_1 "'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'tool','price':3"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'tool','content':'first'"));
	assert_done(fixture, "alice",
		ACTION("edit_artifact",
			"'artifact_id':'tool','old_string':'first','new_string':'second'"));
	copy_at(fixture, WFS_HEIGHT_HEAD);
	forge_text(fixture, "tool", "code", CODE_1, CODE_2);

	assert_copy_refused(fixture, "reducers/sys.artifact/tool: code_hash: expected \"sha256:");
}

LOST(a_text_behind_the_lost_one_is_that_of_its_line)
{
	assert_done(fixture, "alice", WRITE("'artifact_id':'lost','content':'zero'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'lost','content':'one'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'note','content':'proven'"));
	copy_behind_a_loss(fixture);
	forge_text(fixture, "note", "content", "proven", "forged");

	assert_copy_refused(
		fixture, "reducers/sys.artifact/note: content_hash: expected \"sha256:");
}

LOST(a_text_from_before_the_lost_one_is_what_it_was)
{
	assert_done(fixture, "alice", WRITE("'artifact_id':'note','content':'proven'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'given','content':'proven'"));
	copy_behind_a_loss(fixture);
	replace_in_copy(
		fixture, "reducers/sys.artifact/note", "\"owner\":\"alice\"", "\"owner\":\"bob\"");

	assert_copy_refused(fixture, "reducers/sys.artifact/note: is not what folding gives");
}

LOST(a_text_behind_an_invocation_is_that_of_its_line)
{
	live(fixture);
	assert_done(fixture, "alice", WRITE("'artifact_id':'note','content':'proven'"));
	copy_at(fixture, WFS_HEIGHT_HEAD);
	forge_text(fixture, "note", "content", "proven", "forged");

	assert_copy_refused(
		fixture, "reducers/sys.artifact/note: content_hash: expected \"sha256:");
}

LOST(an_artifact_without_content_has_none)
{
	assert_done(fixture, "alice", WRITE("'artifact_id':'lost','content':'zero'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'lost','content':'one'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'note'"));
	copy_behind_a_loss(fixture);
	forge_text(fixture, "note", "content", "", "forged");

	assert_copy_refused(
		fixture, "reducers/sys.artifact/note: content_hash: expected \"sha256:");
}

LOST(code_has_the_author_who_wrote_it)
{
	assert_done(fixture, "alice", WRITE("'artifact_id':'lost','content':'zero'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'lost','content':'one'"));
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'tool','executable':true,'code':'" CODE_1 "'"));
	copy_behind_a_loss(fixture);
	replace_in_copy(fixture, "reducers/sys.artifact/tool", "\"code_author\":\"alice\"",
		"\"code_author\":\"tester\"");

	assert_copy_refused(fixture,
		"reducers/sys.artifact/tool: code_author: expected \"alice\" (the journal), got "
		"\"tester\"");
}

LOST(who_made_code_executable_is_its_author)
{
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'tool','executable':false,'access':'public','code':"
		      "'function run() end'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'lost','content':'first'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'lost','content':'second'"));
	assert_done(fixture, "bob", WRITE("'artifact_id':'tool','executable':true"));
	copy_at(fixture, WFS_HEIGHT_HEAD);
	restore(fixture);

	WFS_AUTO_FREE char *tool = state_at(fixture, WFS_HEIGHT_HEAD, "sys.artifact", "tool");
	assert_non_null(strstr(tool, "\"code_author\":\"bob\""));
}

LOST(code_from_before_has_the_author_it_had)
{
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'tool','executable':true,'code':'" CODE_1 "'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'lost','content':'zero'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'tool','price':3"));
	copy_behind_a_loss(fixture);
	replace_in_copy(fixture, "reducers/sys.artifact/tool", "\"code_author\":\"alice\"",
		"\"code_author\":\"tester\"");

	assert_copy_refused(fixture, "reducers/sys.artifact/tool: code_author: expected \"alice\"");
}

LOST(a_record_is_still_what_folding_gives)
{
	char line[64];

	live(fixture);
	const uint64_t seq = height_of(fixture) - 1; /* caused by an event */
	copy_at(fixture, WFS_HEIGHT_HEAD);
	replace_in_record(fixture, seq, "\"n\":0", "\"n\":9");
	snprintf(line, sizeof(line), "journal/log.jsonl: %llu: is not the one that folding gives",
		(unsigned long long)seq);

	assert_copy_refused(fixture, line);
}

LOST(the_result_of_an_action_is_still_what_folding_gives)
{
	char line[64];

	live(fixture);
	const uint64_t seq = height_of(fixture);
	give_query(fixture);
	copy_at(fixture, WFS_HEIGHT_HEAD);
	replace_in_record(fixture, seq, "\"ok\":true", "\"more\":1,\"ok\":true");
	snprintf(line, sizeof(line), "journal/log.jsonl: %llu: is not the one that folding gives",
		(unsigned long long)seq);

	assert_copy_refused(fixture, line);
}

LOST(an_artifact_is_not_deleted_by_the_copy)
{
	assert_done(fixture, "alice", WRITE("'artifact_id':'note','content':'kept'"));
	copy_behind_a_loss(fixture);
	remove_copy(fixture, "reducers/sys.artifact/note");
	remove_copy_directory(fixture, "artifacts/note");
	put_copy_text(fixture, "reducers/sys.deleted/note",
		"{\"deleted_at\":1,\"deleted_by\":\"alice\"}\n");

	assert_copy_refused(fixture, "reducers/sys.deleted/note: is not what the journal says");
}
