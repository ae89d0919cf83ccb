/* SPDX-License-Identifier: Apache-2.0 */
/* The router: one name for each tool, and the answers of calls. */
#include "agents/prepare/router.h"
#include "kernel/value/bounds.h"
#include "tests/fixture/agents.h"

static json_t *canonical(const char *text)
{
	WFS_AUTO_JSON json_t *call = json_of(text);
	json_t *const made = agents_router_canonical(call);

	assert_non_null(made);
	return made;
}

static void assert_canonical(const char *call, const char *expected)
{
	print_message("%s\n", call);
	assert_json_is(canonical(call), expected);
}

TEST(aliases_have_one_name)
{
	assert_canonical("{'name':'file','method':'ls','args':{'path':'x'}}",
		"{'args':{'path':'x'},'method':'','name':'fs_ls'}");
	assert_canonical(
		"{'name':'file.cat','args':{}}", "{'args':{},'method':'','name':'fs_read'}");
	assert_canonical("{'name':' artifact ','method':' write ','args':{}}",
		"{'args':{},'method':'','name':'write_artifact'}");
	assert_canonical("{'name':'memory','method':'add','args':{'memory':'m','text':'t'}}",
		"{'args':{'memory':'m','text':'t'},'method':'','name':'genesis_memory_add'}");
	assert_string_equal(agents_tool_alias("kernel.query", ""), "query_kernel");
	assert_string_equal(agents_tool_alias("memory.search", ""), "genesis_memory_search");
}

TEST(what_is_no_alias_stays_as_it_is)
{
	assert_canonical("{'name':'add','method':'run','args':{}}",
		"{'args':{},'method':'run','name':'add'}");
	assert_canonical("{'name':'file','method':'fly','args':{}}",
		"{'args':{},'method':'fly','name':'file'}");
	assert_canonical(
		"{'name':'File.ls','args':{}}", "{'args':{},'method':'','name':'File.ls'}");
	assert_canonical(
		"{'name':'my.tool','args':{}}", "{'args':{},'method':'','name':'my.tool'}");
	assert_null(agents_tool_alias("fs_ls", ""));
}

TEST(what_is_canonical_is_that_again)
{
	static const char *const calls[] = {"{'name':'file','method':'ls','args':{}}",
		"{'name':' add ','method':' run','args':{}}", "{'name':7,'args':[1]}", "{}"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(calls); i++) {
		WFS_AUTO_JSON json_t *once = canonical(calls[i]);

		print_message("%s\n", calls[i]);
		WFS_AUTO_JSON json_t *twice = agents_router_canonical(once);
		assert_true(json_equal(once, twice));
	}
}

TEST(an_outcome_has_all_its_members)
{
	WFS_AUTO_JSON json_t *call = json_of("{'args':{},'method':'m','name':'n'}");

	assert_json_is(agents_router_done(call, json_true()),
		"{'details':null,'error':null,'method':'m','name':'n','ok':true,'result':true}");
	assert_json_is(agents_router_failed(call, WFS_TOOL_TIMEOUT, "timeout", "too late"),
		"{'details':{'message':'too late','type':'timeout'},'error':'TOOL_TIMEOUT',"
		"'method':'m','name':'n','ok':false,'result':null}");
}

TEST(a_tool_that_says_that_it_failed_has)
{
	WFS_AUTO_JSON json_t *call = json_of("{'args':{},'method':'','name':'n'}");
	WFS_AUTO_JSON json_t *said = json_of("{'ok':false,'error':'broken'}");

	assert_json_is(agents_router_done(call, said),
		"{'details':{'message':'broken','type':'reported'},'error':'TOOL_EXCEPTION',"
		"'method':'','name':'n','ok':false,'result':{'error':'broken','ok':false}}");
}

TEST(names_are_sorted)
{
	WFS_AUTO_JSON json_t *names = agents_router_names(&fixture_helpers);

	assert_true(json_array_size(names) > 10);
	for (size_t i = 1; i < json_array_size(names); i++)
		assert_true(strcmp(json_string_value(json_array_get(names, i - 1)),
				    json_string_value(json_array_get(names, i))) < 0);
}

/* --- finding --- */

/* The error for a call that is not made; NULL if it is made. */
static json_t *found(struct agents_fixture *fixture, const char *text, json_t **ret_tool)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	WFS_AUTO_JSON json_t *call = json_of(text);
	json_t *outcome = NULL;
	struct wfs_error error = {0};

	assert_int_equal(wfs_view_open(fixture->world, WFS_HEIGHT_HEAD, &view, &error), 0);
	const struct agents_catalog catalog = {fixture->operator, & view, &fixture_helpers};
	const int r = agents_router_find(&catalog, call, ret_tool, &outcome, &error);
	assert_true(r == 0 ? *ret_tool && !outcome : !*ret_tool && outcome);
	return outcome;
}

static void assert_refused(struct agents_fixture *fixture, const char *call, const char *code)
{
	json_t *tool = NULL;
	WFS_AUTO_JSON json_t *outcome = found(fixture, call, &tool);

	print_message("%s\n", call);
	assert_non_null(outcome);
	assert_string_equal(fixture_text(outcome, "error"), code);
}

DRIVEN(tools_are_found_by_their_names)
{
	static const char *const calls[] = {
		"{'args':{'x':1},'method':'','name':'fs_echo'}",
		"{'args':{},'method':'','name':'noop'}",
		"{'args':{'a':1,'b':2},'method':'','name':'sum'}",
		"{'args':{'a':1,'b':2},'method':'run','name':'sum'}",
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(calls); i++) {
		WFS_AUTO_JSON json_t *tool = NULL;

		print_message("%s\n", calls[i]);
		WFS_AUTO_JSON json_t *outcome = found(fixture, calls[i], &tool);
		assert_null(outcome);
	}
}

DRIVEN(a_tool_that_there_is_not_is_told_with_those_there_are)
{
	json_t *tool = NULL;
	WFS_AUTO_JSON json_t *outcome =
		found(fixture, "{'args':{},'method':'','name':'nope'}", &tool);
	WFS_AUTO_JSON json_t *names = agents_router_names(&fixture_helpers);

	assert_string_equal(fixture_text(outcome, "error"), WFS_TOOL_UNKNOWN);
	assert_true(json_equal(
		json_object_get(json_object_get(outcome, "details"), "available"), names));
}

DRIVEN(what_cannot_be_called_is_refused)
{
	assert_refused(fixture, "{'args':{},'method':'','name':''}", WFS_TOOL_INVALID_CALL);
	assert_refused(fixture, "{'args':[1],'method':'','name':'noop'}", WFS_TOOL_INVALID_CALL);
	assert_refused(fixture, "{'args':null,'method':'','name':'noop'}", WFS_TOOL_INVALID_CALL);
	assert_refused(fixture, "{'args':{'a':'x','b':2},'method':'','name':'sum'}",
		WFS_TOOL_INVALID_CALL);
	assert_refused(fixture, "{'args':{},'method':'fly','name':'noop'}", WFS_TOOL_UNKNOWN);
	assert_refused(fixture, "{'args':{},'method':'fly','name':'sum'}", WFS_TOOL_UNKNOWN);
	assert_refused(fixture, "{'args':{},'method':'','name':'submit_result'}", WFS_TOOL_UNKNOWN);
	assert_refused(fixture, "{'args':{},'method':'','name':'ada'}", WFS_TOOL_UNKNOWN);
}

GENESIS(memory_is_a_tool_where_there_is_genesis)
{
	static const char *const calls[] = {
		"{'args':{'memory':'m','text':'t','importance':0.5},'name':'genesis_memory_add'}",
		"{'args':{'memory':'m','query':'q','limit':3},'name':'genesis_memory_search'}",
		"{'args':{'memory_artifact_id':'m','query':'q'},'name':'genesis_memory_search'}",
		"{'args':{'text':'t'},'name':'genesis_embedder'}",
		"{'args':{'method':'create','id':'m'},'method':'','name':'genesis_memory'}",
		"{'args':{'id':'m'},'method':'create','name':'genesis_memory'}",
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(calls); i++) {
		WFS_AUTO_JSON json_t *tool = NULL;

		print_message("%s\n", calls[i]);
		WFS_AUTO_JSON json_t *outcome = found(fixture, calls[i], &tool);
		assert_null(outcome);
		assert_true(json_is_true(json_object_get(tool, "object")));
	}
	assert_refused(fixture, "{'args':{'memory':'m'},'method':'','name':'genesis_memory_add'}",
		WFS_TOOL_INVALID_CALL);
	assert_refused(fixture, "{'args':{'method':'fly'},'method':'','name':'genesis_memory'}",
		WFS_TOOL_INVALID_CALL);
}

DRIVEN(memory_is_no_tool_where_there_is_no_genesis)
{
	assert_refused(
		fixture, "{'args':{},'method':'','name':'genesis_memory_add'}", WFS_TOOL_UNKNOWN);
}
