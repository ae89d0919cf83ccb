/* SPDX-License-Identifier: Apache-2.0 */
/* Names of outside tools: which are valid, and by which names models call them. */
#include "tests/fixture/test.h"

#include "kernel/base/json.h"
#include "kernel/value/tool.h"

TEST(a_name_has_a_server_and_a_tool)
{
	assert_true(wfs_tool_name_valid("git.status"));
	assert_true(wfs_tool_name_valid("git.status.short"));
	assert_false(wfs_tool_name_valid("git"));
	assert_false(wfs_tool_name_valid("git."));
	assert_false(wfs_tool_name_valid(".status"));
	assert_false(wfs_tool_name_valid("git.sta tus"));
}

TEST(a_model_gets_letters_digits_and_lines_alone)
{
	char name[WFS_TOOL_MODEL_NAME_MAX + 1];

	wfs_tool_model_name("my-git.log.short_2", name);
	assert_string_equal(name, "my-git_log_short_2");
}

TEST(a_model_gets_at_most_64_bytes)
{
	char name[WFS_TOOL_MODEL_NAME_MAX + 1];

	wfs_tool_model_name(
		"server.ttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt", name);
	assert_string_equal(
		name, "server_ttttttttttttttttttttttttttttttttttttttttttttttttttttttttt");
}

/* Names the tools of @full, an array of names, for a model whose other tools are @taken. */
static json_t *named(const char *full, const char *taken)
{
	WFS_AUTO_JSON json_t *names = json_loads(full, 0, NULL);
	WFS_AUTO_JSON json_t *others = json_loads(taken, 0, NULL);
	WFS_AUTO_JSON json_t *tools = json_array();
	json_t *result = NULL;
	json_t *name;
	size_t i;

	json_array_foreach(names, i, name)
		json_array_append_new(tools, json_pack("{s:O}", "name", name));
	assert_int_equal(wfs_tool_model_names(tools, others, &result), 0);
	return result;
}

TEST(names_that_would_be_the_same_get_numbers)
{
	WFS_AUTO_JSON json_t *names =
		named("[\"a.b.c\", \"a.b_c\", \"a.b_c_2\", \"a_b.c\", \"x.y\"]", "{}");

	assert_int_equal(json_object_size(names), 5);
	assert_string_equal(wfs_json_text(names, "a_b_c"), "a.b.c");
	assert_string_equal(wfs_json_text(names, "a_b_c_2"), "a.b_c");
	assert_string_equal(wfs_json_text(names, "a_b_c_2_2"), "a.b_c_2");
	assert_string_equal(wfs_json_text(names, "a_b_c_3"), "a_b.c");
	assert_string_equal(wfs_json_text(names, "x_y"), "x.y");
}

TEST(other_tools_keep_their_names)
{
	WFS_AUTO_JSON json_t *names =
		named("[\"fs.read\"]", "{\"fs_read\": {}, \"fs_read_2\": {}}");

	assert_int_equal(json_object_size(names), 1);
	assert_string_equal(wfs_json_text(names, "fs_read_3"), "fs.read");
}

TEST(a_number_replaces_the_end_of_a_long_name)
{
	WFS_AUTO_JSON json_t *names =
		named("[\"s.ttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt\","
		      " \"s.tttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt\"]",
			"{}");

	assert_string_equal(
		wfs_json_text(
			names, "s_tttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt_2"),
		"s.tttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt");
}

TEST(tools_are_as_many_as_servers_can_list)
{
	enum { COUNT = 64 * 1024 };
	WFS_AUTO_JSON json_t *tools = json_array();
	json_t *names = NULL;

	for (int i = 0; i < COUNT; i++) /* all have one name, but for its end, which is cut */
		json_array_append_new(
			tools, json_pack("{s:o}", "name", json_sprintf("server.%080d", i)));
	assert_int_equal(wfs_tool_model_names(tools, NULL, &names), 0);
	assert_int_equal(json_object_size(names), COUNT);
	json_decref(names);
}
