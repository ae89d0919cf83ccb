/* SPDX-License-Identifier: Apache-2.0 */
/* agent migrate: what it writes, in which order and as which principal, and what a second run
 * finds. */
#include "tests/fixture/command.h"

#include "kernel/mind/form.h"

/* These agents are from worlds that an older program wrote, so their content was never checked. */
/* NOLINTBEGIN(readability-identifier-naming): the linker's names, see ld(1), --wrap */
bool __wrap_wfs_mind_form_has(const char *type);

bool __wrap_wfs_mind_form_has(const char *type)
{
	(void)type;
	return false;
}
/* NOLINTEND(readability-identifier-naming) */

#define WRITTEN                             \
	"A  prompt      al_personality\n"   \
	"A  prompt      al_acting_prompt\n" \
	"A  workflow    al_workflow\n"      \
	"M  agent       al\n"

static void invoke(struct world_fixture *fixture, const char *as, const char *action)
{
	WFS_AUTO_FREE char *text = json_text(action);
	AUTO_PRINTED struct printed printed = RUN_IN(fixture, "--as", as, "invoke", text);

	if (printed.status != WFS_EXIT_DONE)
		fail_msg("%s: %s", action, printed.err);
}

/* Makes a world with the agent `al`, which may do everything. Either it made its own artifact,
 * or the operator did. */
static void with_agent(struct world_fixture *fixture, const char *owner, const char *more)
{
	WFS_AUTO_BUFFER struct wfs_buffer action = {0};
	AUTO_PRINTED struct printed added = RUN_IN(fixture, "principal", "add", "al");
	AUTO_PRINTED struct printed act = RUN_IN(fixture, "grant", "al", "act");
	AUTO_PRINTED struct printed query = RUN_IN(fixture, "grant", "al", "query");

	assert_int_equal(added.status, WFS_EXIT_DONE);
	assert_int_equal(act.status, WFS_EXIT_DONE);
	assert_int_equal(query.status, WFS_EXIT_DONE);
	wfs_buffer_printf(&action,
		"{'action_type':'write_artifact','artifact_id':'al','type':'agent'%s,'content':"
		"{'prompt':'do','system_prompt':'be {agent_id}'}}",
		more);
	invoke(fixture, owner, wfs_buffer_text(&action));
}

static void assert_content(struct world_fixture *fixture, const char *id, const char *content)
{
	char path[200];

	snprintf(path, sizeof(path), "artifacts/%s/content", id);
	AUTO_PRINTED struct printed printed = RUN_IN(fixture, "fs", "cat", path);
	assert_prints(&printed, content);
}

static void assert_owner(
	struct world_fixture *fixture, const char *id, const char *owner, const char *access)
{
	AUTO_PRINTED struct printed printed = RUN_IN(fixture, "state", "sys.artifact", id);
	WFS_AUTO_JSON json_t *document = json_loads(printed.out, 0, NULL);

	assert_string_equal(wfs_json_text(document, "owner"), owner);
	assert_string_equal(wfs_json_text(document, "access"), access);
}

static void assert_height(struct world_fixture *fixture, const char *before)
{
	AUTO_PRINTED struct printed printed = RUN_IN(fixture, "head");

	assert_prints(&printed, before);
}

IN_FILLED_WORLD(parts_become_artifacts_that_belong_to_the_agent)
{
	with_agent(fixture, "operator", "");
	AUTO_PRINTED struct printed printed = RUN_IN(fixture, "agent", "migrate", "al");

	assert_prints(&printed, WRITTEN);
	assert_says(printed.err, "migrated");
	assert_content(fixture, "al",
		"{\"personality_prompt_artifact_id\":\"al_personality\",\"workflow_artifact_id\":"
		"\"al_workflow\"}\n");
	assert_content(
		fixture, "al_personality", "{\"template\":\"be {{agent_id}}\",\"variables\":[]}\n");
	assert_owner(fixture, "al_personality", "al", "freeware");
	assert_owner(fixture, "al_acting_prompt", "al", "freeware");
	assert_owner(fixture, "al_workflow", "al", "freeware");
}

IN_FILLED_WORLD(an_agent_migrates_itself)
{
	with_agent(fixture, "al", ",'access':'self_owned'");
	AUTO_PRINTED struct printed printed =
		RUN_IN(fixture, "--as", "al", "agent", "migrate", "al");

	assert_prints(&printed, WRITTEN);
	assert_owner(fixture, "al_workflow", "al", "private");
}

IN_FILLED_WORLD(what_costs_something_is_not_free_afterwards)
{
	with_agent(fixture, "operator", ",'policy':{'read_price':3}");
	AUTO_PRINTED struct printed printed = RUN_IN(fixture, "agent", "migrate", "al");

	assert_prints(&printed, WRITTEN);
	assert_owner(fixture, "al_personality", "al", "private");
}

IN_FILLED_WORLD(the_second_time_there_is_nothing_to_migrate)
{
	with_agent(fixture, "operator", "");
	AUTO_PRINTED struct printed once = RUN_IN(fixture, "agent", "migrate", "al");
	AUTO_PRINTED struct printed before = RUN_IN(fixture, "head");
	AUTO_PRINTED struct printed twice = RUN_IN(fixture, "agent", "migrate", "al");

	assert_prints(&once, WRITTEN);
	assert_prints(&twice, "");
	assert_says(twice.err, "there is nothing to migrate");
	assert_height(fixture, before.out);
}

IN_FILLED_WORLD(a_dry_run_changes_nothing)
{
	with_agent(fixture, "operator", "");
	AUTO_PRINTED struct printed before = RUN_IN(fixture, "head");
	AUTO_PRINTED struct printed printed =
		RUN_IN(fixture, "agent", "migrate", "al", "--dry-run");

	assert_prints(&printed, WRITTEN);
	assert_says(printed.err, "nothing was changed");
	assert_height(fixture, before.out);
}

IN_FILLED_WORLD(json_has_what_is_written)
{
	with_agent(fixture, "operator", "");
	AUTO_PRINTED struct printed printed =
		RUN_IN(fixture, "agent", "migrate", "al", "--dry-run", "--json");
	WFS_AUTO_JSON json_t *document = json_loads(printed.out, 0, NULL);
	json_t *const data = json_object_get(document, "data");

	assert_int_equal(printed.status, WFS_EXIT_DONE);
	assert_json_is(json_incref(json_array_get(json_object_get(data, "artifacts"), 0)),
		"{'artifact_id':'al_personality','content':{'template':'be {{agent_id}}',"
		"'variables':[]},'there':false,'type':'prompt'}");
	assert_true(json_is_false(json_object_get(data, "changed")));
	assert_string_equal(wfs_json_text(data, "agent_id"), "al");
}

/* As if the command had been killed before the last record, and before one artifact was given
 * away. */
IN_FILLED_WORLD(what_an_interrupted_one_has_written_is_taken)
{
	with_agent(fixture, "operator", "");

	invoke(fixture, "operator",
		"{'action_type':'write_artifact','artifact_id':'al_personality','type':'prompt',"
		"'content':{'variables':[],'template':'be {{agent_id}}'}}");
	invoke(fixture, "al",
		"{'action_type':'write_artifact','artifact_id':'al_acting_prompt','type':'prompt',"
		"'content':{'template':'do','variables':[]}}");
	AUTO_PRINTED struct printed printed = RUN_IN(fixture, "agent", "migrate", "al");

	assert_prints(&printed,
		"=  prompt      al_personality\n=  prompt      al_acting_prompt\n"
		"A  workflow    al_workflow\nM  agent       al\n");
	assert_owner(fixture, "al_personality", "al", "freeware");
	assert_owner(fixture, "al_acting_prompt", "al", "freeware");
}

IN_FILLED_WORLD(an_artifact_with_another_content_is_an_error)
{
	with_agent(fixture, "operator", "");

	invoke(fixture, "al",
		"{'action_type':'write_artifact','artifact_id':'al_workflow','type':'workflow',"
		"'content':{'states':['x'],'steps':[]}}");
	AUTO_PRINTED struct printed before = RUN_IN(fixture, "head");
	AUTO_PRINTED struct printed printed = RUN_IN(fixture, "agent", "migrate", "al");

	assert_failed(&printed,
		"worldfs: already_exists: the artifact 'al_workflow' exists with another content; "
		"nothing was changed");
	assert_height(fixture, before.out);
}

IN_FILLED_WORLD(an_artifact_of_somebody_else_is_an_error)
{
	with_agent(fixture, "al", "");

	invoke(fixture, "operator",
		"{'action_type':'write_artifact','artifact_id':'al_personality','type':'prompt',"
		"'content':{'template':'be {{agent_id}}','variables':[]}}");
	AUTO_PRINTED struct printed printed =
		RUN_IN(fixture, "--as", "al", "agent", "migrate", "al");

	assert_failed(&printed, "the artifact 'al_personality' exists and belongs to 'operator'");
}

IN_FILLED_WORLD(an_agent_of_somebody_else_is_left_as_it_is)
{
	with_agent(fixture, "al", "");
	AUTO_PRINTED struct printed before = RUN_IN(fixture, "head");
	AUTO_PRINTED struct printed printed = RUN_IN(fixture, "agent", "migrate", "al");

	assert_failed(&printed,
		"worldfs: not_authorized: only its owner can change the agent 'al': use --as al");
	assert_height(fixture, before.out);
}

IN_FILLED_WORLD(what_is_no_agent_is_refused)
{
	invoke(fixture, "operator",
		"{'action_type':'write_artifact','artifact_id':'page','content':'{}'}");
	invoke(fixture, "operator",
		"{'action_type':'write_artifact','artifact_id':'odd','type':'agent','content':"
		"'text'}");
	AUTO_PRINTED struct printed page = RUN_IN(fixture, "agent", "migrate", "page");
	AUTO_PRINTED struct printed odd = RUN_IN(fixture, "agent", "migrate", "odd");
	AUTO_PRINTED struct printed none = RUN_IN(fixture, "agent", "migrate", "none");

	assert_failed(&page, "worldfs: invalid_type: ");
	assert_failed(&odd, "worldfs: invalid_json: the content of the agent 'odd'");
	assert_failed(&none, "worldfs: not_found: ");
}
