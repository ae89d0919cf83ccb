/* SPDX-License-Identifier: Apache-2.0 */
/* Tools of agents: their kinds, their names, and what a call of each kind does. */
#include "kernel/query/query.h"
#include "tests/fixture/agents.h"

#include "agents/prepare/tool.h"

static int make(struct agents_fixture *fixture, const char *names, json_t **ret_tools)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	WFS_AUTO_JSON json_t *list = json_of(names);

	assert_int_equal(wfs_view_open(fixture->world, WFS_HEIGHT_HEAD, &view, &fixture->error), 0);
	fixture->error = (struct wfs_error){0};
	const struct agents_catalog catalog = {fixture->operator, & view, &fixture_helpers};
	return agents_tools_make(&catalog, list, ret_tools, &fixture->error);
}

static void expect_made(struct agents_fixture *fixture, const char *names, const char *tools)
{
	json_t *made = NULL;

	if (make(fixture, names, &made))
		fail_msg("%s: %s", names, fixture->error.message);
	assert_json_is(made, tools);
}

static void expect_refused(struct agents_fixture *fixture, const char *names,
	enum wfs_error_code code, const char *message)
{
	json_t *made = NULL;

	print_message("%s\n", names);
	assert_int_equal(make(fixture, names, &made), -wfs_error_info(code)->number);
	assert_null(made);
	assert_int_equal(fixture->error.code, code);
	if (!strstr(fixture->error.message, message))
		fail_msg("%s", fixture->error.message);
}

static void write_code(struct agents_fixture *fixture, const char *id, const char *interface)
{
	json_t *const action = json_pack("{s:s, s:s, s:s, s:b}", "action_type", "write_artifact",
		"artifact_id", id, "code", "function run(a) return a end", "executable", 1);

	if (interface)
		json_object_set_new(action, "interface", json_of(interface));
	fixture_act(fixture, "ada", action);
}

/* The tool for this artifact, with description and parameters; caller owns it. */
static json_t *tool_of(struct agents_fixture *fixture, const char *id)
{
	WFS_AUTO_BUFFER struct wfs_buffer names = {0};
	WFS_AUTO_JSON json_t *tools = NULL;
	WFS_AUTO_JSON json_t *expanded = NULL;

	wfs_buffer_printf(&names, "['%s']", id);
	if (make(fixture, wfs_buffer_text(&names), &tools))
		fail_msg("%s: %s", id, fixture->error.message);
	assert_int_equal(
		agents_tools_expand(&fixture_helpers, tools, &expanded, &fixture->error), 0);
	return json_incref(json_array_get(expanded, 0));
}

/* --- kinds --- */

UNDRIVEN(every_kind_is_found_by_its_name)
{
	expect_made(fixture, "['write_artifact','fs_echo','submit_result']",
		"[{'kind':'action','name':'write_artifact'},{'kind':'read','name':'fs_echo'},"
		"{'kind':'result','name':'submit_result'}]");
	expect_made(fixture, "[]", "[]");
}

UNDRIVEN(an_artifact_with_an_object_takes_it)
{
	expect_made(fixture, "['sum']",
		"[{'artifact_id':'sum','description':'adds two','kind':'artifact','method':'run',"
		"'name':'sum','object':true,'parameters':{'type':'object','required':['a','b'],"
		"'properties':{'a':{'type':'integer'},'b':{'type':'integer'}}}}]");
}

UNDRIVEN(an_artifact_with_a_list_takes_args)
{
	expect_made(fixture, "['list.sum']",
		"[{'artifact_id':'list.sum','description':'adds all','kind':'artifact',"
		"'method':'run','name':'list_sum','object':false,'parameters':{'type':'object',"
		"'additionalProperties':false,'required':['args'],'properties':{'args':{'type':"
		"'array','items':{'type':'integer'}}}}}]");
}

UNDRIVEN(an_artifact_without_interface_takes_any_args)
{
	expect_made(fixture, "['bare']",
		"[{'artifact_id':'bare','description':'','kind':'artifact','method':'run','name':"
		"'bare','object':false,'parameters':{'type':'object','additionalProperties':false,"
		"'required':['args'],'properties':{'args':{'type':'array'}}}}]");
}

UNDRIVEN(properties_make_an_object)
{
	write_code(fixture, "loose",
		"{'description':'d','methods':[{'name':'run','input':{'properties':{'a':{}}}}]}");
	WFS_AUTO_JSON json_t *tool = tool_of(fixture, "loose");

	assert_true(json_is_true(json_object_get(tool, "object")));
	assert_string_equal(fixture_text(tool, "description"), "d");
}

UNDRIVEN(each_kind_is_described_when_it_is_expanded)
{
	static const char *const names[] = {
		"write_artifact", "query_kernel", "fs_echo", "submit_result", "sum"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(names); i++) {
		WFS_AUTO_JSON json_t *tool = tool_of(fixture, names[i]);

		print_message("%s\n", names[i]);
		assert_string_equal(fixture_text(tool, "name"), names[i]);
		assert_true(json_string_length(json_object_get(tool, "description")) > 0);
		assert_string_equal(
			fixture_text(json_object_get(tool, "parameters"), "type"), "object");
	}
}

UNDRIVEN(a_query_is_offered_with_all_types_and_params)
{
	WFS_AUTO_JSON json_t *tool = tool_of(fixture, "query_kernel");
	const json_t *const properties =
		json_object_get(json_object_get(tool, "parameters"), "properties");
	WFS_AUTO_JSON json_t *types = wfs_query_type_schema();
	WFS_AUTO_JSON json_t *params = wfs_query_params_schema(false);

	assert_true(json_equal(json_object_get(properties, "query_type"), types));
	assert_true(json_equal(json_object_get(properties, "params"), params));
}

/* The error lists the queries that exist, and names a similar one. */
UNDRIVEN(what_is_wrong_with_a_query_is_left_to_the_kernel)
{
	WFS_AUTO_JSON json_t *tool = tool_of(fixture, "query_kernel");
	WFS_AUTO_JSON json_t *unknown = json_of("{'query_type':'artefacts','params':{'x':1}}");
	WFS_AUTO_JSON json_t *text = json_of("'artifacts'");
	struct wfs_error error = {0};

	assert_int_equal(agents_tool_check(&fixture_helpers, tool, unknown, &error), 0);
	assert_int_equal(agents_tool_check(&fixture_helpers, tool, text, &error), -EINVAL);
}

/* --- what is refused --- */

UNDRIVEN(unknown_tools_are_refused)
{
	expect_refused(fixture, "['fs_none']", WFS_E_NOT_FOUND, "unknown tool 'fs_none'");
	expect_refused(fixture, "['sum','none']", WFS_E_NOT_FOUND, "unknown tool 'none'");
	expect_refused(fixture, "['']", WFS_E_NOT_FOUND, "unknown tool ''");
}

UNDRIVEN(artifacts_that_cannot_be_called_are_refused)
{
	expect_refused(fixture, "['page']", WFS_E_INVALID_TYPE, "not executable");
	expect_refused(fixture, "['ada']", WFS_E_INVALID_TYPE, "not executable");
}

UNDRIVEN(names_that_are_no_texts_are_refused)
{
	expect_refused(fixture, "[5]", WFS_E_INVALID_ARGUMENT, "expected an array of names");
	expect_refused(fixture, "['sum',null]", WFS_E_INVALID_ARGUMENT, "array of names");
}

UNDRIVEN(two_tools_of_one_name_are_refused)
{
	expect_refused(
		fixture, "['sum','sum']", WFS_E_INVALID_ARGUMENT, "two tools have the name 'sum'");
	expect_refused(fixture, "['fs_echo','noop','fs_echo']", WFS_E_INVALID_ARGUMENT,
		"two tools have the name 'fs_echo'");
}

UNDRIVEN(two_ids_that_servers_cannot_tell_apart_are_refused)
{
	char first[80];
	char second[82];
	WFS_AUTO_BUFFER struct wfs_buffer names = {0};

	write_code(fixture, "list_sum", NULL);
	expect_refused(fixture, "['list.sum','list_sum']", WFS_E_INVALID_ARGUMENT,
		"two tools have the name 'list_sum'");
	memset(first, 'x', sizeof(first));
	first[70] = '\0';
	snprintf(second, sizeof(second), "%sy", first);
	write_code(fixture, first, NULL);
	write_code(fixture, second, NULL);
	wfs_buffer_printf(&names, "['%s','%s']", first, second);
	expect_refused(fixture, wfs_buffer_text(&names), WFS_E_INVALID_ARGUMENT,
		"two tools have the name 'xxxx");
}

UNDRIVEN(a_long_id_becomes_a_name_that_servers_take)
{
	char id[101];

	memset(id, 'a', sizeof(id) - 1);
	id[sizeof(id) - 1] = '\0';
	write_code(fixture, id, NULL);
	WFS_AUTO_JSON json_t *tool = tool_of(fixture, id);

	assert_int_equal(json_string_length(json_object_get(tool, "name")), 64);
	assert_string_equal(fixture_text(tool, "artifact_id"), id);
}

/* --- calls --- */

static void expect_action(
	struct agents_fixture *fixture, const char *name, const char *arguments, const char *action)
{
	WFS_AUTO_JSON json_t *tool = tool_of(fixture, name);
	WFS_AUTO_JSON json_t *given = json_of(arguments);

	json_t *made = NULL;

	assert_int_equal(
		agents_tool_action(&fixture_helpers, tool, given, &made, &fixture->error), 0);
	assert_json_is(made, action);
	assert_json_is(json_incref(given), arguments); /* the content is unchanged */
}

UNDRIVEN(a_call_is_an_action)
{
	expect_action(fixture, "noop", "{}", "{'action_type':'noop'}");
	expect_action(fixture, "sum", "{'a':1,'b':2}",
		"{'action_type':'invoke_artifact','args':[{'a':1,'b':2}],'artifact_id':'sum',"
		"'method':'run'}");
	expect_action(fixture, "list.sum", "{'args':[1,2]}",
		"{'action_type':'invoke_artifact','args':[1,2],'artifact_id':'list.sum','method':"
		"'run'}");
}

UNDRIVEN(a_helper_that_acts_is_the_action_that_it_makes)
{
	WFS_AUTO_JSON json_t *tool = tool_of(fixture, "perform");
	WFS_AUTO_JSON json_t *wrong = json_of("{'x':1}");

	assert_string_equal(fixture_text(tool, "kind"), "act");
	assert_null(json_object_get(tool, "acts"));
	expect_action(
		fixture, "perform", "{'action':{'action_type':'noop'}}", "{'action_type':'noop'}");
	assert_int_equal(
		agents_tool_check(&fixture_helpers, tool, wrong, &fixture->error), -EINVAL);
	assert_int_equal(fixture->error.code, WFS_E_MISSING_ARGUMENT);
}

/* The caller must be able to see whose texts these are. */
UNDRIVEN(members_that_stand_beside_the_action_are_asked_for_too)
{
	WFS_AUTO_JSON json_t *tool = tool_of(fixture, "perform");
	WFS_AUTO_JSON json_t *beside = json_of("{'artifact_id':'x','content':'c'}");
	WFS_AUTO_JSON json_t *within = json_of("{'action':{'artifact_id':'x'}}");
	WFS_AUTO_JSON json_t *untyped = json_of("{'action':{'action_type':null,'args':['s']}}");
	WFS_AUTO_JSON json_t *asked = agents_tool_asked(tool, within);
	WFS_AUTO_JSON json_t *invoked = agents_tool_asked(tool, untyped);

	assert_string_equal(fixture_text(invoked, "action_type"), "invoke_artifact");
	assert_json_is(agents_tool_asked(tool, beside),
		"{'action_type':'invoke_artifact','artifact_id':'x','content':'c'}");
	assert_string_equal(fixture_text(asked, "action_type"), "invoke_artifact");
	assert_string_equal(fixture_text(asked, "artifact_id"), "x");
}

UNDRIVEN(an_action_type_among_the_arguments_does_not_count)
{
	expect_action(
		fixture, "noop", "{'action_type':'delete_artifact'}", "{'action_type':'noop'}");
}

static void expect_refusal(
	struct agents_fixture *fixture, const char *name, const char *arguments, const char *says)
{
	WFS_AUTO_JSON json_t *tool = tool_of(fixture, name);
	WFS_AUTO_JSON json_t *given = json_of(arguments);

	print_message("%s\n", arguments);
	assert_int_equal(
		agents_tool_check(&fixture_helpers, tool, given, &fixture->error), -EINVAL);
	if (!strstr(fixture->error.message, says))
		fail_msg("%s", fixture->error.message);
}

static void expect_unfit(
	struct agents_fixture *fixture, const char *name, const char *arguments, const char *where)
{
	expect_refusal(fixture, name, arguments, where);
	assert_non_null(strstr(fixture->error.message, "do not fit the interface of '"));
}

UNDRIVEN(optional_arguments_of_an_action_may_be_null)
{
	WFS_AUTO_JSON json_t *tool = tool_of(fixture, "write_artifact");
	WFS_AUTO_JSON json_t *given = json_of("{'artifact_id':'x','type':null,'price':null}");

	assert_int_equal(agents_tool_check(&fixture_helpers, tool, given, &fixture->error), 0);
	expect_refusal(fixture, "write_artifact", "{'artifact_id':null}",
		"'artifact_id': expected a string, got null");
}

/* The answer has the code and the message that a client of the control socket gets. */
UNDRIVEN(arguments_of_an_action_are_checked_as_those_of_other_callers)
{
	expect_refusal(fixture, "read_artifact", "{}",
		"'artifact_id' is missing (action.read_artifact takes: artifact_id reasoning?)");
	assert_int_equal(fixture->error.code, WFS_E_MISSING_ARGUMENT);
	expect_refusal(fixture, "read_artifact", "{'artifact_id':7}",
		"'artifact_id': expected a string, got an integer");
	expect_refusal(fixture, "noop", "{'action_type':'noop'}", "unknown member 'action_type'");
	expect_refusal(fixture, "noop", "[]", "expected a JSON object");
}

UNDRIVEN(arguments_are_checked_against_parameters)
{
	WFS_AUTO_JSON json_t *tool = tool_of(fixture, "sum");
	WFS_AUTO_JSON json_t *fine = json_of("{'a':1,'b':2}");

	assert_int_equal(agents_tool_check(&fixture_helpers, tool, fine, &fixture->error), 0);
	expect_unfit(fixture, "sum", "{'a':'x','b':2}", "/a");
	expect_unfit(fixture, "sum", "{'a':1}", "b");
	expect_refusal(fixture, "list.sum", "{}", "'args' is missing (list_sum takes: args)");
	expect_unfit(fixture, "list.sum", "{'args':['x']}", "of 'list.sum': at /0:");
	expect_refusal(fixture, "list.sum", "{'args':[],'more':1}", "unknown member 'more'");
	expect_refusal(fixture, "list.sum", "{'args':1}", "'args': expected a");
	expect_refusal(fixture, "submit_result", "{}", "'result' is missing");
}

/* --- services --- */

GENESIS(tools_of_memory_have_aliases)
{
	json_t *made = NULL;

	assert_int_equal(make(fixture, "['memory.add','memory.search']", &made), 0);
	assert_string_equal(
		fixture_text(json_array_get(made, 0), "artifact_id"), "genesis_memory_add");
	assert_string_equal(
		fixture_text(json_array_get(made, 1), "artifact_id"), "genesis_memory_search");
	json_decref(made);
	expect_refused(fixture, "['memory.add','genesis_memory_add']", WFS_E_INVALID_ARGUMENT,
		"two tools have the name 'genesis_memory_add'");
}

/* As servers require: an object at the top, and each member has a type or a description. */
static void assert_is_described(const json_t *tool)
{
	json_t *const parameters = json_object_get(tool, "parameters");
	const char *name;
	json_t *member;

	assert_true(strlen(fixture_text(tool, "description")) > 20);
	assert_true(strlen(fixture_text(tool, "description")) <= 1024);
	assert_string_equal(fixture_text(parameters, "type"), "object");
	assert_true(json_is_false(json_object_get(parameters, "additionalProperties")));
	json_object_foreach(json_object_get(parameters, "properties"), name, member) {
		print_message("  %s\n", name);
		assert_true(
			json_object_get(member, "type") || json_object_get(member, "description"));
	}
}

GENESIS(services_are_described_for_models)
{
	static const char *const names[] = {"genesis_embedder", "genesis_escrow", "genesis_ledger",
		"genesis_memory", "genesis_memory_add", "genesis_memory_search",
		"genesis_prompt_library", "genesis_workflow_templates"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(names); i++) {
		print_message("%s\n", names[i]);
		WFS_AUTO_JSON json_t *tool = tool_of(fixture, names[i]);
		assert_is_described(tool);
	}
}

GENESIS(a_service_of_many_methods_tells_what_each_takes)
{
	WFS_AUTO_JSON json_t *tool = tool_of(fixture, "genesis_escrow");
	json_t *const properties =
		json_object_get(json_object_get(tool, "parameters"), "properties");

	if (!strstr(fixture_text(tool, "description"), "deposit(artifact, price): "))
		fail_msg("%s", fixture_text(tool, "description"));
	if (!strstr(fixture_text(tool, "description"), "list_active(limit?): "))
		fail_msg("%s", fixture_text(tool, "description"));
	assert_json_is(json_incref(json_object_get(properties, "method")),
		"{'description':'which one is called','enum':['deposit','purchase','cancel',"
		"'check','list_active'],'type':'string'}");
	assert_string_equal(fixture_text(json_object_get(properties, "price"), "type"), "integer");
}
