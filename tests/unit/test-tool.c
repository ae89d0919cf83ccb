/* SPDX-License-Identifier: Apache-2.0 */
/* The table of tools: definitions, arguments, and what each makes of answers. These tests need
 * no world. */
#include "tests/fixture/json.h"

#include <string.h>

#include "fs/tool/helper.h"
#include "fs/tool/tool.h"
#include "kernel/base/encode.h"
#include "kernel/base/json.h"
#include "kernel/query/query.h"

/* --- definitions --- */

static const json_t *definition_of(const json_t *definitions, const char *name)
{
	const json_t *definition;
	size_t i;

	json_array_foreach(definitions, i, definition) {
		const json_t *const function = json_object_get(definition, "function");

		if (strcmp(json_string_value(json_object_get(function, "name")), name) == 0)
			return function;
	}
	fail_msg("no tool '%s'", name);
	return NULL;
}

static void assert_json(const json_t *json, const char *expected)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_FREE char *wanted = json_text(expected);

	assert_non_null(json);
	wfs_json_write(json, &text);
	assert_string_equal(wfs_buffer_text(&text), wanted);
}

TEST(definitions_are_an_array_of_strict_functions)
{
	WFS_AUTO_JSON json_t *definitions = wfs_tool_definitions();
	const json_t *definition;
	size_t i;

	assert_int_equal(json_array_size(definitions), wfs_tool_count);
	json_array_foreach(definitions, i, definition) {
		const json_t *const function = json_object_get(definition, "function");
		const json_t *const schema = json_object_get(function, "parameters");

		print_message("%s\n", wfs_tools[i].name);
		assert_json(json_object_get(definition, "type"), "'function'");
		assert_true(json_is_true(json_object_get(function, "strict")));
		assert_true(json_string_length(json_object_get(function, "description")) > 0);
		assert_json(json_object_get(schema, "type"), "'object'");
		assert_true(json_is_false(json_object_get(schema, "additionalProperties")));
		/* Interfaces with strict schemas require this. */
		assert_int_equal(json_array_size(json_object_get(schema, "required")),
			json_object_size(json_object_get(schema, "properties")));
	}
}

TEST(an_optional_argument_is_required_and_may_be_null_when_strict)
{
	WFS_AUTO_JSON json_t *definitions = wfs_tool_definitions();
	const json_t *const schema =
		json_object_get(definition_of(definitions, "fs_ls"), "parameters");
	const json_t *const properties = json_object_get(schema, "properties");

	assert_json(json_object_get(schema, "required"), "['path','depth']");
	assert_json(json_object_get(json_object_get(properties, "path"), "type"), "'string'");
	assert_json(json_object_get(json_object_get(properties, "depth"), "type"),
		"['integer','null']");
	assert_json(json_object_get(json_object_get(properties, "depth"), "maximum"), "8");
}

TEST(types_and_params_of_queries_come_from_their_table)
{
	WFS_AUTO_JSON json_t *schema = wfs_tool_schema(wfs_tool_find("query"), false);
	const json_t *const properties = json_object_get(schema, "properties");
	const json_t *const params = json_object_get(properties, "params");
	WFS_AUTO_JSON json_t *types = wfs_query_type_schema();
	WFS_AUTO_JSON json_t *wanted = wfs_query_params_schema(false);

	assert_json(json_object_get(schema, "required"), "['query_type']");
	assert_true(json_equal(json_object_get(properties, "query_type"), types));
	assert_true(json_equal(params, wanted));
}

TEST(it_may_be_left_out_otherwise)
{
	WFS_AUTO_JSON json_t *schema = wfs_tool_schema(wfs_tool_find("fs_read"), false);
	const json_t *const properties = json_object_get(schema, "properties");

	assert_json(json_object_get(schema, "required"), "['path']");
	assert_json(json_object_get(json_object_get(properties, "limit"), "type"), "'integer'");
	assert_json(json_object_get(json_object_get(properties, "limit"), "maximum"), "1048576");
}

TEST(what_is_no_tool_is_not_found)
{
	assert_null(wfs_tool_find("shutdown"));
	assert_non_null(wfs_tool_find("invoke"));
}

/* --- arguments --- */

static int check(const char *tool, const char *arguments, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *json = arguments ? json_of(arguments) : NULL;

	*error = (struct wfs_error){.code = WFS_OK};
	return wfs_tool_check(wfs_tool_find(tool), json, error);
}

static void assert_fits(const char *tool, const char *arguments)
{
	struct wfs_error error;

	if (check(tool, arguments, &error) != 0)
		fail_msg("%s %s: %s", tool, arguments, error.message);
}

static void assert_refused(
	const char *tool, const char *arguments, const char *code, const char *says)
{
	struct wfs_error error;

	assert_int_equal(check(tool, arguments, &error), -EINVAL);
	assert_string_equal(wfs_error_info(error.code)->name, code);
	if (!strstr(error.message, says))
		fail_msg("'%s' does not say '%s'", error.message, says);
}

TEST(arguments_that_fit_are_taken)
{
	assert_fits("fs_read_manifest", NULL);
	assert_fits("fs_read_manifest", "{}");
	assert_fits("fs_read_reducer", "{'name':'cell'}");
	assert_fits("fs_read_reducer", "{'name':'cell','key':null}");
	assert_fits("fs_ls", "{'path':'/','depth':8}");
	assert_fits("fs_read", "{'path':'README','offset':0,'limit':1048576}");
	assert_fits("invoke", "{'action':{'action_type':'noop'}}");
}

TEST(a_missing_argument_is_named)
{
	assert_refused("fs_stat", "{}", "missing_argument", "'path'");
	assert_refused("fs_stat", NULL, "missing_argument", "'path'");
	assert_refused("invoke", "{}", "missing_argument", "'action'");
}

TEST(an_unknown_argument_is_named)
{
	assert_refused("fs_read_manifest", "{'x':1}", "invalid_argument",
		"unknown member 'x' (fs_read_manifest takes: consistency?)");
	assert_refused(
		"fs_stat", "{'path':'/','at':5}", "invalid_argument", "(fs_stat takes: path)");
}

TEST(an_argument_of_the_wrong_type_is_named)
{
	assert_refused("fs_stat", "[]", "invalid_argument", "expected an object");
	assert_refused("fs_stat", "{'path':7}", "invalid_argument", "'path': expected a string");
	assert_refused("fs_stat", "{'path':null}", "invalid_argument", "'path': expected a string");
	assert_refused("fs_stat", "{'path':'a\\u0000b'}", "invalid_argument", "NUL");
	assert_refused("fs_ls", "{'path':'/','depth':'2'}", "invalid_argument", "'depth'");
	assert_refused("fs_ls", "{'path':'/','depth':1.5}", "invalid_argument", "'depth'");
	assert_refused("invoke", "{'action':'noop'}", "invalid_argument", "'action'");
	assert_refused("invoke", "{'action':null}", "invalid_argument", "'action'");
}

TEST(a_number_out_of_bounds_is_refused_with_them)
{
	assert_refused("fs_ls", "{'path':'/','depth':0}", "invalid_argument", "from 1 to 8");
	assert_refused("fs_ls", "{'path':'/','depth':9}", "invalid_argument", "from 1 to 8");
	assert_refused("fs_read", "{'path':'/','limit':1048577}", "invalid_argument", "1048576");
	assert_refused("fs_read", "{'path':'/','offset':-1}", "invalid_argument", "from 0");
}

/* A text that is too long for a request gets the error of the request. */
TEST(a_long_text_is_taken)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_buffer_append_text(&text, "{'path':'");
	for (int i = 0; i < 100000; i++)
		wfs_buffer_append_byte(&text, 'x');
	wfs_buffer_append_text(&text, "'}");
	assert_fits("fs_stat", wfs_buffer_text(&text));
}

/* --- tools of agents --- */

TEST(agents_have_all_tools_each_as_what_it_is)
{
	WFS_AUTO_JSON json_t *definitions = wfs_tool_helpers.definitions();
	WFS_AUTO_BUFFER struct wfs_buffer names = {0};
	const json_t *definition;
	size_t i;

	json_array_foreach(definitions, i, definition)
		wfs_buffer_printf(&names, "%s%s ", wfs_json_text(definition, "name"),
			json_is_true(json_object_get(definition, "acts"))             ? "!"
				: json_is_true(json_object_get(definition, "drives")) ? "+"
										      : "");
	assert_string_equal(wfs_buffer_text(&names),
		"fs_read_manifest fs_read_reducer fs_ls fs_stat fs_read query! invoke! step+ "
		"chat+ ");
}

static void assert_action(const char *tool, const char *arguments, const char *action)
{
	WFS_AUTO_JSON json_t *given = json_of(arguments);
	WFS_AUTO_JSON json_t *made = NULL;
	struct wfs_error error = {0};

	assert_int_equal(wfs_tool_helpers.action(tool, given, &made, &error), 0);
	assert_json(made, action);
}

TEST(a_call_of_an_agent_is_an_action)
{
	WFS_AUTO_JSON json_t *wrong = json_of("{'action':5}");
	json_t *made = NULL;
	struct wfs_error error = {0};

	assert_action("invoke", "{'action':{'action_type':'noop','artifact_id':null}}",
		"{'action_type':'noop'}");
	assert_action("invoke", "{'action':{'artifact_id':'x'}}",
		"{'action_type':'invoke_artifact','artifact_id':'x'}");
	assert_action("query", "{'query_type':'mint','params':{'limit':1,'owner':null}}",
		"{'action_type':'query_kernel','params':{'limit':1},'query_type':'mint'}");
	assert_action("query", "{'query_type':'frozen','params':null}",
		"{'action_type':'query_kernel','params':{},'query_type':'frozen'}");
	assert_int_equal(wfs_tool_helpers.action("invoke", wrong, &made, &error), -EINVAL);
}

/* --- tasks --- */

static void begin(struct wfs_task *task, const char *tool, const char *arguments)
{
	wfs_task_init(task, &wfs_tool_find(tool)->task, arguments ? json_of(arguments) : NULL);
}

/* The task must ask @verb with @payload next; it gets the answer @result, at @height. */
static void give(struct wfs_task *task, const char *verb, const char *payload, const char *result,
	int height)
{
	WFS_AUTO_ANSWER struct wfs_answer answer = {
		.result = json_of(result), .meta = json_pack("{s:i}", "journal_height", height)};
	WFS_AUTO_JSON json_t *asked = NULL;
	const char *name = NULL;

	assert_true(wfs_task_next(task, &name, &asked));
	assert_string_equal(name, verb);
	assert_json(asked, payload);
	wfs_task_answer(task, &answer);
}

static void assert_result(struct wfs_task *task, const char *result)
{
	WFS_AUTO_JSON json_t *asked = NULL;
	const char *name = NULL;

	assert_false(wfs_task_next(task, &name, &asked));
	if (task->status)
		fail_msg("%s", task->error.message);
	assert_json(task->result, result);
}

#define RESULTS(name, tool, arguments, verb, payload, answer, result) \
	TEST(name)                                                    \
	{                                                             \
		WFS_AUTO_TASK struct wfs_task task;                   \
		begin(&task, tool, arguments);                        \
		give(&task, verb, payload, answer, 7);                \
		assert_result(&task, result);                         \
	}

RESULTS(a_manifest_comes_with_meta, "fs_read_manifest", NULL, "manifest-read", "{}",
	"{'journal_height':7,'manifest':{'name':'x'}}",
	"{'manifest':{'name':'x'},'meta':{'journal_height':7}}")
RESULTS(a_state_is_a_value, "fs_read_reducer", "{'name':'cell','key':'b/c'}", "query-state",
	"{'key_b64':'Yi9j','reducer':'cell'}", "{'state_b64':'eyJuIjozfQo='}",
	"{'found':true,'meta':{'journal_height':7},'state':{'n':3}}")

TEST(a_manifest_and_a_state_of_an_older_height_are_asked_for)
{
	WFS_AUTO_TASK struct wfs_task manifest;
	WFS_AUTO_TASK struct wfs_task reducer;

	begin(&manifest, "fs_read_manifest", "{'consistency':'exact:5'}");
	give(&manifest, "manifest-read", "{'consistency':'exact:5'}", "{'manifest':{}}", 5);
	begin(&reducer, "fs_read_reducer", "{'name':'cell','consistency':'at_least:6'}");
	give(&reducer, "query-state", "{'consistency':'at_least:6','key_b64':'','reducer':'cell'}",
		"{}", 7);

	assert_result(&manifest, "{'manifest':{},'meta':{'journal_height':5}}");
	assert_result(&reducer, "{'found':false,'meta':{'journal_height':7},'state':null}");
}

RESULTS(a_state_that_is_not_there_is_told, "fs_read_reducer", "{'name':'cell','key':null}",
	"query-state", "{'key_b64':'','reducer':'cell'}", "{}",
	"{'found':false,'meta':{'journal_height':7},'state':null}")

/* Reads all of @arguments' file, of which the part @data_b64 comes. */
static void read_part(struct wfs_task *task, const char *arguments, const char *payload,
	const char *data_b64, bool eof)
{
	WFS_AUTO_JSON json_t *result =
		json_pack("{s:s, s:b, s:i}", "data_b64", data_b64, "eof", (int)eof, "size", 100);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	begin(task, "fs_read", arguments);
	wfs_json_write(result, &text);
	give(task, "fs-read", payload, wfs_buffer_text(&text), 7);
}

TEST(text_is_read_as_text)
{
	WFS_AUTO_TASK struct wfs_task task;

	read_part(&task, "{'path':'README'}", "{'limit':65536,'offset':0,'path':'README'}", "YWJj",
		true);

	assert_result(&task,
		"{'bytes':3,'eof':true,'meta':{'journal_height':7},'offset':0,'path':'README',"
		"'size':100,'text':'abc'}");
	assert_string_equal(wfs_buffer_text(&task.bytes), "abc");
}

TEST(a_part_of_text_ends_with_a_whole_character)
{
	WFS_AUTO_TASK struct wfs_task task;

	/* a, b, and the first byte of é */
	read_part(&task, "{'path':'f','offset':5,'limit':3}", "{'limit':3,'offset':5,'path':'f'}",
		"YWLD", false);

	assert_result(&task,
		"{'bytes':2,'eof':false,'meta':{'journal_height':7},'next_offset':7,'offset':5,"
		"'path':'f','size':100,'text':'ab'}");
}

TEST(bytes_that_are_no_text_come_in_base64)
{
	WFS_AUTO_TASK struct wfs_task task;

	read_part(&task, "{'path':'f'}", "{'limit':65536,'offset':0,'path':'f'}", "YWLD", true);

	assert_result(&task,
		"{'bytes':3,'data_b64':'YWLD','eof':true,'meta':{'journal_height':7},'offset':0,"
		"'path':'f','size':100}");
	assert_int_equal(task.bytes.size, 0);
}

/* Otherwise the reader would make no progress. */
TEST(half_a_character_alone_comes_in_base64)
{
	WFS_AUTO_TASK struct wfs_task task;

	read_part(&task, "{'path':'f','limit':1}", "{'limit':1,'offset':0,'path':'f'}",
		"ww==", false);

	assert_result(&task,
		"{'bytes':1,'data_b64':'ww==','eof':false,'meta':{'journal_height':7},"
		"'next_offset':1,'offset':0,'path':'f','size':100}");
}

TEST(an_empty_file_is_empty_text)
{
	WFS_AUTO_TASK struct wfs_task task;

	read_part(&task, "{'path':'f'}", "{'limit':65536,'offset':0,'path':'f'}", "", true);

	assert_result(&task,
		"{'bytes':0,'eof':true,'meta':{'journal_height':7},'offset':0,'path':'f',"
		"'size':100,'text':''}");
}

#define ENTRY(name, type) "{'name':'" name "','size':1,'type':'" type "'}"

TEST(a_listing_goes_down_level_by_level_at_one_height)
{
	WFS_AUTO_TASK struct wfs_task task;

	begin(&task, "fs_ls", "{'path':'/','depth':2}");
	give(&task, "fs-list", "{'limit':100,'path':'/'}",
		"{'entries':[" ENTRY("a", "directory") "," ENTRY("at", "directory") "," ENTRY(
			"b", "file") "]}",
		7);
	give(&task, "fs-list", "{'at':'exact:7','limit':100,'path':'a'}",
		"{'entries':[" ENTRY("c", "directory") "]}", 7);

	/* Neither at/, which would list everything again, nor the third level. */
	assert_result(&task,
		"{'entries':[{'path':'a','size':1,'type':'directory'},"
		"{'path':'at','size':1,'type':'directory'},{'path':'b','size':1,'type':'file'},"
		"{'path':'a/c','size':1,'type':'directory'}],'meta':{'journal_height':7},"
		"'more':false,'path':'/'}");
}

/* @count directories from d0 on. @more: the directory has further ones. Caller frees. */
static char *many_entries(int count, bool more)
{
	struct wfs_buffer text = {0};

	for (int i = 0; i < count; i++)
		wfs_buffer_printf(&text, "%s{'name':'d%d','size':0,'type':'directory'}",
			i > 0 ? "," : "{'entries':[", i);
	wfs_buffer_append_text(&text, more ? "],'next_cursor':'9'}" : "]}");
	(void)wfs_buffer_text(&text);
	return text.data;
}

TEST(a_directory_with_more_names_says_so)
{
	WFS_AUTO_TASK struct wfs_task task;
	WFS_AUTO_FREE char *entries = many_entries(WFS_TOOL_NAMES_DEEP_MAX, true);

	begin(&task, "fs_ls", "{'path':'at/5/','depth':2}");
	give(&task, "fs-list", "{'limit':100,'path':'at/5/'}",
		"{'entries':[" ENTRY("a", "directory") "]}", 7);
	/* A path below at/ states its height itself. */
	give(&task, "fs-list", "{'limit':100,'path':'at/5/a'}", entries, 7);
	assert_false(wfs_task_next(&task, &(const char *){NULL}, &(json_t *){NULL}));

	assert_int_equal(json_array_size(json_object_get(task.result, "entries")),
		1 + WFS_TOOL_NAMES_DEEP_MAX);
	assert_true(json_is_true(json_object_get(task.result, "more")));
	assert_true(json_is_true(json_object_get(
		json_array_get(json_object_get(task.result, "entries"), 0), "more")));
}

TEST(a_listing_of_one_level_may_have_a_thousand_names)
{
	WFS_AUTO_TASK struct wfs_task task;
	WFS_AUTO_FREE char *entries = many_entries(WFS_TOOL_NAMES_MAX, true);

	begin(&task, "fs_ls", "{'path':'a'}");
	give(&task, "fs-list", "{'limit':1000,'path':'a'}", entries, 7);
	assert_false(wfs_task_next(&task, &(const char *){NULL}, &(json_t *){NULL}));

	assert_int_equal(
		json_array_size(json_object_get(task.result, "entries")), WFS_TOOL_NAMES_MAX);
	assert_true(json_is_true(json_object_get(task.result, "more")));
}

/* fs-list may end a page after 10,000 hidden names. */
TEST(a_listing_goes_on_behind_a_page_that_is_not_full)
{
	WFS_AUTO_TASK struct wfs_task task;

	begin(&task, "fs_ls", "{'path':'a'}");
	give(&task, "fs-list", "{'limit':1000,'path':'a'}",
		"{'entries':[" ENTRY("c", "file") "],'next_cursor':'9'}", 7);
	give(&task, "fs-list", "{'at':'exact:7','cursor':'9','limit':999,'path':'a'}",
		"{'entries':[],'next_cursor':'20'}", 7);
	give(&task, "fs-list", "{'at':'exact:7','cursor':'20','limit':999,'path':'a'}",
		"{'entries':[" ENTRY("d", "file") "]}", 7);

	assert_result(&task,
		"{'entries':[{'path':'a/c','size':1,'type':'file'},"
		"{'path':'a/d','size':1,'type':'file'}],'meta':{'journal_height':7},"
		"'more':false,'path':'a'}");
}

TEST(pages_of_one_directory_share_its_hundred_names)
{
	WFS_AUTO_TASK struct wfs_task task;
	WFS_AUTO_FREE char *entries = many_entries(WFS_TOOL_NAMES_DEEP_MAX - 1, true);

	begin(&task, "fs_ls", "{'path':'/','depth':2}");
	give(&task, "fs-list", "{'limit':100,'path':'/'}", entries, 7);
	give(&task, "fs-list", "{'at':'exact:7','cursor':'9','limit':1,'path':'/'}",
		"{'entries':[" ENTRY("e", "file") "],'next_cursor':'20'}", 7);
	give(&task, "fs-list", "{'at':'exact:7','limit':100,'path':'d0'}",
		"{'entries':[" ENTRY("c", "file") "],'next_cursor':'9'}", 7);
	give(&task, "fs-list", "{'at':'exact:7','cursor':'9','limit':99,'path':'d0'}",
		"{'entries':[]}", 7);

	const json_t *const found = json_object_get(task.result, "entries");
	assert_int_equal(json_array_size(found), WFS_TOOL_NAMES_DEEP_MAX + 1);
	assert_true(json_is_true(json_object_get(task.result, "more")));
	assert_null(json_object_get(json_array_get(found, 0), "more"));
}

TEST(a_listing_ends_with_a_thousand_names)
{
	WFS_AUTO_TASK struct wfs_task task;
	WFS_AUTO_FREE char *entries = many_entries(100, false);
	char payload[80];

	begin(&task, "fs_ls", "{'path':'/','depth':8}");
	give(&task, "fs-list", "{'limit':100,'path':'/'}", entries, 7);
	for (int i = 0; i < 9; i++) {
		snprintf(payload, sizeof(payload), "{'at':'exact:7','limit':100,'path':'d%d'}", i);
		give(&task, "fs-list", payload, entries, 7);
	}
	assert_false(wfs_task_next(&task, &(const char *){NULL}, &(json_t *){NULL}));

	const json_t *const found = json_object_get(task.result, "entries");
	assert_int_equal(json_array_size(found), WFS_TOOL_NAMES_MAX);
	assert_true(json_is_true(json_object_get(task.result, "more")));
	/* d8 was listed, d9 was not. */
	assert_null(json_object_get(json_array_get(found, 8), "more"));
	assert_true(json_is_true(json_object_get(json_array_get(found, 9), "more")));
}

TEST(a_refusal_ends_a_task_and_keeps_its_meta)
{
	WFS_AUTO_TASK struct wfs_task task;
	WFS_AUTO_JSON json_t *payload = NULL;
	struct wfs_answer refused = {.status = -ENOENT,
		.meta = json_of("{'journal_height':9}"),
		.error = {.code = WFS_E_NOT_FOUND, .message = "no 'x' in the tree"}};
	const char *verb;

	begin(&task, "fs_stat", "{'path':'x'}");
	assert_true(wfs_task_next(&task, &verb, &payload));
	wfs_task_answer(&task, &refused);
	wfs_answer_done(&refused);

	assert_false(wfs_task_next(&task, &verb, &payload));
	assert_int_equal(task.status, -ENOENT);
	assert_int_equal(task.error.code, WFS_E_NOT_FOUND);
	assert_json(task.meta, "{'journal_height':9}");
	assert_null(task.result);
}

TEST(an_answer_that_does_not_decode_is_an_error)
{
	WFS_AUTO_TASK struct wfs_task task;

	read_part(&task, "{'path':'f'}", "{'limit':65536,'offset':0,'path':'f'}", "*", true);

	assert_false(wfs_task_next(&task, &(const char *){NULL}, &(json_t *){NULL}));
	assert_int_equal(task.status, -EINVAL);
	assert_null(task.result);
}

TEST(invoke_hands_the_action_on)
{
	WFS_AUTO_TASK struct wfs_task task;

	begin(&task, "invoke", "{'action':{'action_type':'noop','reasoning':'why not'}}");
	assert_true(task.kind->changes);
	give(&task, "invoke", "{'action':{'action_type':'noop','reasoning':'why not'}}",
		"{'ok':true}", 7);

	assert_result(&task, "{'meta':{'journal_height':7},'ok':true}");
}

TEST(step_tells_what_an_agent_said_and_not_its_history)
{
	WFS_AUTO_TASK struct wfs_task task;

	begin(&task, "step", "{'agent':'ada','message':'hi'}");
	assert_true(task.kind->changes);
	give(&task, "step", "{'agent':'ada','message':'hi'}",
		"{'agent':'ada','final_message':{'content':'yes'},'history':[1,2]}", 7);

	assert_result(&task,
		"{'agent':'ada','final_message':{'content':'yes'},'meta':{'journal_height':7},'"
		"omitted':['history']}");
}

TEST(step_tells_what_came_of_a_turn_that_failed)
{
	WFS_AUTO_TASK struct wfs_task task;
	WFS_AUTO_ANSWER struct wfs_answer answer = {.status = -EIO};
	const char *verb;
	json_t *payload;

	begin(&task, "step",
		"{'agent':'ada','max_turns':2,'message':null,'messages':[{'content':'hi','role':"
		"'user'}],'tools':['look']}");
	assert_true(wfs_task_next(&task, &verb, &payload));
	assert_json(payload,
		"{'agent':'ada','max_turns':2,'messages':[{'content':'hi','role':'user'}],"
		"'tools':['look']}");
	json_decref(payload);
	answer.details = json_pack("{s:s, s:[]}", "run_id", "ada.7", "history");
	wfs_task_answer(&task, &answer);

	assert_int_equal(task.status, -EIO);
	assert_json(task.error_details, "{'run_id':'ada.7'}");
}

TEST(chat_tells_the_answer_and_not_the_plan)
{
	WFS_AUTO_TASK struct wfs_task task;

	begin(&task, "chat", "{'message':'hi','session_id':null}");
	assert_true(task.kind->changes);
	give(&task, "chat", "{'message':'hi'}",
		"{'checkpoint':{'plan_id':'p'},'final':'yes','plan':{'steps':[]},"
		"'tool_results':[1]}",
		7);

	assert_result(&task,
		"{'checkpoint':{'plan_id':'p'},'final':'yes','meta':{'journal_height':7},"
		"'omitted':['plan','tool_results']}");
}

RESULTS(chat_goes_on_with_a_plan, "chat", "{'message':'go on','session_id':'s','plan_id':'p'}",
	"chat", "{'message':'go on','plan_id':'p','session_id':'s'}",
	"{'final':'yes','plan':null,'tool_results':[]}",
	"{'final':'yes','meta':{'journal_height':7}}")

TEST(chat_tells_why_it_failed)
{
	WFS_AUTO_TASK struct wfs_task task;
	WFS_AUTO_ANSWER struct wfs_answer answer = {.status = -EIO};
	const char *verb;
	json_t *payload;

	begin(&task, "chat", "{'message':'hi','session_id':'s'}");
	assert_true(wfs_task_next(&task, &verb, &payload));
	assert_json(payload, "{'message':'hi','session_id':'s'}");
	json_decref(payload);
	answer.details = json_pack("{s:s, s:{s:s}}", "error", "PLAN_FAILED", "plan", "goal", "g");
	wfs_task_answer(&task, &answer);

	assert_int_equal(task.status, -EIO);
	assert_json(task.error_details, "{'error':'PLAN_FAILED','omitted':['plan']}");
}

TEST(members_that_are_null_are_left_out)
{
	WFS_AUTO_TASK struct wfs_task act;
	WFS_AUTO_TASK struct wfs_task ask;

	begin(&act, "invoke",
		"{'action':{'action_type':'transfer','to':'bob','amount':1,'bid':null}}");
	give(&act, "invoke", "{'action':{'action_type':'transfer','amount':1,'to':'bob'}}",
		"{'ok':true}", 7);
	begin(&ask, "query", "{'query_type':'balances','params':{'principal_id':null}}");
	assert_false(ask.kind->changes);
	give(&ask, "query", "{'params':{},'query_type':'balances'}", "{'balances':{}}", 7);

	assert_result(&ask, "{'balances':{},'meta':{'journal_height':7}}");
}

TEST(a_task_that_never_began_is_released)
{
	WFS_AUTO_TASK struct wfs_task task;

	begin(&task, "fs_stat", "{'path':'x'}");
}
