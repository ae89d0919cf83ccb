/* SPDX-License-Identifier: Apache-2.0 */
/* Artifacts of source directories: the actions that they become, and errors in their form. */
#include "tests/fixture/source.h"

static void assert_artifacts(const struct fixture *fixture, const char *expected)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_json_write(fixture->source.artifacts, &text);
	for (char *at = text.data; (at = memchr(at, '"', text.size - (size_t)(at - text.data)));)
		*at = '\'';
	assert_string_equal(wfs_buffer_text(&text), expected);
}

IN_SOURCE(a_source_without_artifacts_has_none)
{
	put_json(fixture, "world.json", "{'name':'w'}");
	assert_loads(fixture, NULL);
	assert_null(fixture->source.artifacts);
	wfs_source_done(&fixture->source);

	put_json(fixture, "world.json", "{'name':'w','artifacts':[]}");
	assert_loads(fixture, NULL);
	assert_artifacts(fixture, "[]");
}

IN_SOURCE(artifacts_become_the_actions_that_make_them)
{
	put(fixture, "add.lua", "function run(a, b) return a + b end\n");
	put(fixture, "empty", "");
	put_json(fixture, "world.json",
		"{'name':'w','principals':[{'id':'alice'}],'artifacts':["
		"{'id':'add','created_by':'alice','type':'service','code_file':'add.lua',"
		"'price':5,'access':'public','executable':true,'interface':{},"
		"'reasoning':['why']},"
		"{'id':'doc','content':{'b':1,'a':null},'depends_on':['add'],'metadata':{'k':2},"
		"'policy':{'read_price':1}},"
		"{'id':'nil','content_file':'empty','code':'x'}]}");

	assert_loads(fixture, NULL);

	assert_artifacts(fixture,
		"[{'action':{'access':'public','action_type':'write_artifact','artifact_id':'add',"
		"'code':'function run(a, b) return a + b end\\n','executable':true,'interface':{},"
		"'price':5,'reasoning':['why'],'type':'service'},'code_file':'add.lua',"
		"'created_by':'alice','id':'add'},"
		"{'action':{'action_type':'write_artifact','artifact_id':'doc',"
		"'content':{'a':null,'b':1},'depends_on':['add'],'metadata':{'k':2},"
		"'policy':{'read_price':1}},'created_by':'operator','id':'doc'},"
		"{'action':{'action_type':'write_artifact','artifact_id':'nil','code':'x',"
		"'content':''},'created_by':'operator','id':'nil'}]");
}

/* As assert_world_refused, but for problems that are found when the artifacts are made. */
static void assert_artifacts_refused(struct fixture *fixture, const char *world, const char *lines)
{
	put_json(fixture, "world.json", world);
	wfs_problems_done(&fixture->problems);
	wfs_source_done(&fixture->source);
	assert_int_equal(
		wfs_source_load(fixture->directory, NULL, &fixture->problems, &fixture->source),
		-EINVAL);
	assert_string_equal(wfs_buffer_text(&fixture->problems.lines), lines);
	assert_non_null(fixture->source.manifest);
}

IN_SOURCE(wrong_members_of_artifacts_are_refused)
{
	assert_artifacts_refused(fixture,
		"{'name':'w','artifacts':[5,{'content':''},{'id':'a b'},{'id':7},"
		"{'id':'a','created_by':'nobody','price':-1,'code':5,'executable':'yes',"
		"'metadata':[],'more':1,'artifact_id':'a'},"
		"{'id':'a','created_by':3}]}",
		"world.json: /artifacts/0: expected object, got integer 5\n"
		"world.json: /artifacts/1/id: missing\n"
		"world.json: /artifacts/2/id: expected a name of letters, digits and ._#@:-, a "
		"letter or digit first, at most 128 bytes, got string \"a b\"\n"
		"world.json: /artifacts/3/id: expected a name of letters, digits and ._#@:-, a "
		"letter or digit first, at most 128 bytes, got integer 7\n"
		"world.json: /artifacts/4/more: no such member is known\n"
		"world.json: /artifacts/4/artifact_id: it is called id here\n"
		"world.json: /artifacts/4/created_by: expected the id of a principal of this "
		"world, "
		"got string \"nobody\"\n"
		"world.json: /artifacts/4/code: expected text, got integer 5\n"
		"world.json: /artifacts/4/executable: expected true or false, got string \"yes\"\n"
		"world.json: /artifacts/4/price: expected an integer from 0, got integer -1\n"
		"world.json: /artifacts/4/metadata: expected an object, got array of 0 items\n"
		"world.json: /artifacts/5/id: the name is taken by the item at index 4\n"
		"world.json: /artifacts/5/created_by: expected the id of a principal of this "
		"world, got integer 3\n");
	assert_artifacts(fixture, "[{},{},{'id':'a b'},{'id':7},{'id':'a'},{'id':'a'}]");
}

IN_SOURCE(files_of_artifacts_are_texts_of_the_directory)
{
	put_bytes(fixture, "bytes", "\xff\xfe", 2);
	assert_artifacts_refused(fixture,
		"{'name':'w','artifacts':[{'id':'a','content_file':'../etc/passwd'},"
		"{'id':'b','code_file':'none.lua'},"
		"{'id':'c','content':'','content_file':'x','code':'','code_file':5},"
		"{'id':'d','content_file':'bytes'},{'id':'e','content_file':['x']}]}",
		"world.json: /artifacts/0/content_file: expected the name of a file in this "
		"directory or below it, at most 1024 bytes, got string \"../etc/passwd\"\n"
		"world.json: /artifacts/1/code_file: cannot read 'none.lua': No such file or "
		"directory\n"
		"world.json: /artifacts/2/content_file: only one of content and content_file can "
		"be given\n"
		"world.json: /artifacts/2/code_file: only one of code and code_file can be given\n"
		"world.json: /artifacts/3/content_file: 'bytes' is not UTF-8 text\n"
		"world.json: /artifacts/4/content_file: expected the name of a file in this "
		"directory or below it, at most 1024 bytes, got array of 1 item\n");
}

IN_SOURCE(artifacts_depend_on_those_before_them)
{
	assert_artifacts_refused(fixture,
		"{'name':'w','artifacts':[{'id':'a','depends_on':['b','a','c',1]},"
		"{'id':'b','depends_on':['a']},{'id':'d','depends_on':'a'}]}",
		"world.json: /artifacts/0/depends_on/3: expected text, got integer 1\n"
		"world.json: /artifacts/0/depends_on/0: 'b' is not there yet: artifacts are made "
		"in their order, and it is the item at index 1\n"
		"world.json: /artifacts/0/depends_on/1: 'a' is not there yet: artifacts are made "
		"in their order, and it is the item at index 0\n"
		"world.json: /artifacts/0/depends_on/2: expected the id of an artifact of this "
		"file, got string \"c\"\n"
		"world.json: /artifacts/2/depends_on: expected an array, got string \"a\"\n");
}

IN_SOURCE(a_handbook_is_wanted_or_not)
{
	put_json(fixture, "world.json", "{'name':'w','handbook':true}");
	assert_loads(fixture, NULL);
	assert_true(fixture->source.handbook);
	assert_null(json_object_get(fixture->source.manifest, "handbook"));
	wfs_source_done(&fixture->source);

	put_json(fixture, "world.json",
		"{'name':'w','handbook':false,'artifacts':[{'id':'handbook_mine'}]}");
	assert_loads(fixture, NULL);
	assert_false(fixture->source.handbook);
	wfs_source_done(&fixture->source);

	assert_artifacts_refused(fixture,
		"{'name':'w','handbook':true,'artifacts':[{'id':'handbook_mine'}]}",
		"world.json: /artifacts/0/id: names that begin with handbook_ are the "
		"handbook's\n");
	wfs_source_done(&fixture->source);
	assert_world_refused(fixture, "{'name':'w','handbook':'yes'}",
		"world.json: /handbook: expected true or false, got string \"yes\"\n");
}

IN_SOURCE(a_list_of_artifacts_is_a_list_and_bounded)
{
	WFS_AUTO_BUFFER struct wfs_buffer world = {0};

	assert_artifacts_refused(fixture, "{'name':'w','artifacts':{}}",
		"world.json: /artifacts: expected array, got object with 0 members\n");

	wfs_buffer_append_text(&world, "{'name':'w','artifacts':[0");
	for (int i = 0; i < WFS_SOURCE_ARTIFACTS_MAX; i++)
		wfs_buffer_append_text(&world, ",0");
	wfs_buffer_append_text(&world, "]}");
	assert_artifacts_refused(fixture, wfs_buffer_text(&world),
		"world.json: /artifacts: at most 4096 are allowed, got 4097\n");
}

IN_SOURCE(what_is_wrong_elsewhere_hands_nothing_out)
{
	assert_world_refused(fixture, "{'name':5,'artifacts':[{}]}",
		"world.json: /name: expected a name of 1 to 255 bytes without control characters, "
		"got integer 5\n"
		"world.json: /artifacts/0/id: missing\n");
}
