/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source directories: what a good one gives, and every problem with its file, pointer and reason.
 *
 * Each test writes its own directory. JSON in here is written with ' for ".
 */
#include "tests/fixture/source.h"

#include "kernel/box/box.h"
#include "kernel/manifest/builtin.h"
#include "kernel/manifest/manifest.h"

enum { OPERATOR_GRANTS = 8 }; /* the operator's grants come first */

/* The built-in reducers, to be appended to a list of others. */
#define DEFINITION(constant, name, hidden)                                                  \
	",{'$kind':'defreducer','effects':[],'emits':[],'keyed':true,'language':'builtin'," \
	"'name':'" name "'}"
#define DEFINITIONS WFS_BUILTIN_REDUCERS(DEFINITION)

static const char step_lua[] = "function step(state, event, ctx)\n  return event\nend\n";

/* Checks that the list @name of a manifest is @builtins, and removes it. */
static void take_builtin(json_t *manifest, const char *name, json_t *builtins)
{
	print_message("%s\n", name);
	assert_true(json_equal(json_object_get(manifest, name), builtins));
	json_object_del(manifest, name);
	json_decref(builtins);
}

/* The built-in schemas come after those of the source. */
static void take_builtin_schemas(json_t *schemas)
{
	WFS_AUTO_JSON json_t *builtins = wfs_builtin_schemas();

	for (size_t i = json_array_size(builtins); i-- > 0;) {
		const size_t last = json_array_size(schemas) - 1;

		assert_true(json_equal(json_array_get(schemas, last), json_array_get(builtins, i)));
		json_array_remove(schemas, last);
	}
}

static void take_builtins(json_t *manifest)
{
	take_builtin_schemas(json_object_get(manifest, "schemas"));
	take_builtin(manifest, "effects", wfs_builtin_effects());
	take_builtin(manifest, "caps", wfs_builtin_caps());
	take_builtin(manifest, "policies", wfs_builtin_policies());
}

IN_SOURCE(source_gives_a_manifest_in_normal_form)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	char path[256];

	put_json(fixture, "world.json",
		"{'name':'packages','schemas':[{'name':'a/B@1','schema':{'type':'object'}},"
		"{'name':'a/C@1','file':'c.json'}],"
		"'reducers':[{'name':'count','module':'lib/count.lua'},"
		"{'name':'each','module':'lib/count.lua','keyed':true,'emits':['a/C@1']}],"
		"'routing':[{'event':'a/B@1','reducer':'each','key_field':'k'}]}");
	put_json(fixture, "c.json", "{'type': 'string'}");
	path_of(fixture, "lib", path);
	assert_int_equal(mkdir(path, 0700), 0);
	put(fixture, "lib/count.lua", step_lua);

	assert_loads(fixture, NULL);

	take_builtins(fixture->source.manifest);
	wfs_json_write(fixture->source.manifest, &text);
	for (char *at = text.data; (at = memchr(at, '"', text.size - (size_t)(at - text.data)));)
		*at = '\'';
	assert_string_equal(wfs_buffer_text(&text),
		"{'grants':["
		"{'cap':'sys/query@1','name':'operator.query.1','params':{},'to':'operator'},"
		"{'cap':'sys/blob@1','name':'operator.blob.1','params':{},'to':'operator'},"
		"{'cap':'sys/act@1','name':'operator.act.1','params':{},'to':'operator'},"
		"{'cap':'sys/drive@1','name':'operator.drive.1','params':{},'to':'operator'},"
		"{'cap':'sys/llm@1','name':'operator.llm.1','params':{},'to':'operator'},"
		"{'cap':'sys/timer@1','name':'operator.timer.1','params':{},'to':'operator'},"
		"{'cap':'sys/tool@1','name':'operator.tool.1','params':{},'to':'operator'},"
		"{'cap':'sys/admin@1','name':'operator.admin.1','params':{},'to':'operator'}],"
		"'name':'packages',"
		"'policy':'sys/default@1','principals':[{'id':'operator'}],'reducers':["
		"{'$kind':'defreducer','effects':[],'emits':[],'keyed':false,'language':'lua',"
		"'module':'sha256:"
		"3e95c8a57fa1e58f9040e555b88ede567769148b4979ec3b0010452df7514e3f','name':'count'},"
		"{'$kind':'defreducer','effects':[],'emits':['a/"
		"C@1'],'keyed':true,'language':'lua',"
		"'module':'sha256:"
		"3e95c8a57fa1e58f9040e555b88ede567769148b4979ec3b0010452df7514e3f',"
		"'name':'each'}" DEFINITIONS
		"],'routing':[{'event':'a/B@1','key_field':'k','reducer':'each'}],"
		"'schemas':[{'$kind':'defschema','name':'a/B@1','schema':{'type':'object'}},"
		"{'$kind':'defschema','name':'a/C@1','schema':{'type':'string'}}],"
		"'world_version':1}");
}

IN_SOURCE(source_hands_out_modules_in_the_order_of_reducers)
{
	const char other[] = "function step() return nil end";

	put_json(fixture, "world.json",
		"{'name':'w','reducers':[{'name':'a','module':'a.lua'},"
		"{'name':'b','module':'b.lua'},{'name':'c','module':'a.lua'}]}");
	put(fixture, "a.lua", step_lua);
	put(fixture, "b.lua", other);

	assert_loads(fixture, NULL);

	assert_int_equal(fixture->source.blob_count, 3);
	assert_string_equal(wfs_buffer_text(&fixture->source.blobs[0]), step_lua);
	assert_string_equal(wfs_buffer_text(&fixture->source.blobs[1]), other);
	assert_string_equal(wfs_buffer_text(&fixture->source.blobs[2]), step_lua);
}

IN_SOURCE(source_manifest_compiles)
{
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = NULL;

	put_json(fixture, "world.json", "{'name':'w','reducers':[{'name':'a','module':'a.lua'}]}");
	put(fixture, "a.lua", step_lua);

	assert_loads(fixture, NULL);

	assert_int_equal(
		wfs_manifest_new(fixture->source.manifest, &fixture->problems, &manifest), 0);
	assert_non_null(wfs_manifest_reducer_find(manifest, "a"));
}

IN_SOURCE(name_given_replaces_the_one_in_the_file)
{
	put_json(fixture, "world.json", "{'name':'old'}");

	assert_loads(fixture, "new");

	assert_string_equal(
		json_string_value(json_object_get(fixture->source.manifest, "name")), "new");
}

IN_SOURCE(name_given_is_checked_and_so_is_the_rest)
{
	put_json(fixture, "world.json", "{'name':'old','x':1}");

	assert_int_equal(
		wfs_source_load(fixture->directory, "a\nb", &fixture->problems, &fixture->source),
		-EINVAL);
	assert_string_equal(wfs_buffer_text(&fixture->problems.lines),
		"name: expected a name of 1 to 255 bytes without control characters, got string "
		"\"a\\nb\"\n"
		"world.json: /x: no such member is known\n");
}

IN_SOURCE(host_json_is_copied_in_canonical_form)
{
	put_json(fixture, "world.json", "{'name':'w'}");
	put_json(fixture, "host.json", "{ 'uids': {'1000': 'alice'}, 'models': {} }");

	assert_loads(fixture, NULL);

	assert_string_equal(wfs_buffer_text(&fixture->source.host),
		"{\"models\":{},\"uids\":{\"1000\":\"alice\"}}\n");
}

IN_SOURCE(host_json_may_be_absent)
{
	put_json(fixture, "world.json", "{'name':'w'}");

	assert_loads(fixture, NULL);

	assert_int_equal(fixture->source.host.size, 0);
}

IN_SOURCE(host_json_must_be_an_object)
{
	put_json(fixture, "world.json", "{'name':'w'}");
	put_json(fixture, "host.json", "[]");

	assert_problems(fixture, "host.json: expected object, got array of 0 items\n");
}

#define MODEL(name, file) "'" name "':{'provider':'script','file':'" file "'}"

IN_SOURCE(scripts_that_host_json_names_are_loaded_once)
{
	put_json(fixture, "world.json", "{'name':'w'}");
	put_json(fixture, "host.json",
		"{'models':{" MODEL("a", "one.jsonl") "," MODEL("b", "one.jsonl") "," MODEL(
			"c", "/no/such.jsonl") ",'d':{'provider':'openai','file':'x'}}}");
	put(fixture, "one.jsonl", "{}\n");

	assert_loads(fixture, NULL);

	assert_int_equal(fixture->source.file_count, 1);
	assert_string_equal(fixture->source.files[0].name, "one.jsonl");
	assert_string_equal(wfs_buffer_text(&fixture->source.files[0].bytes), "{}\n");
}

IN_SOURCE(scripts_that_cannot_be_copied_are_problems)
{
	put_json(fixture, "world.json", "{'name':'w'}");
	put_json(fixture, "host.json",
		"{'models':{" MODEL("a", "none.jsonl") "," MODEL("b", "../out.jsonl") "," MODEL(
			"c", "data.mdb") "}}");

	assert_problems(fixture,
		"host.json: /models/a/file: cannot read 'none.jsonl': No such file or directory\n"
		"host.json: /models/b/file: expected an absolute path, or the name of a file "
		"beside this one that ends in .jsonl, got '../out.jsonl'\n"
		"host.json: /models/c/file: expected an absolute path, or the name of a file "
		"beside this one that ends in .jsonl, got 'data.mdb'\n");
}

IN_SOURCE(world_json_must_be_there)
{
	put_json(fixture, "host.json", "1");

	assert_int_equal(
		wfs_source_load(fixture->directory, NULL, &fixture->problems, &fixture->source),
		-ENOENT);
	assert_string_equal(wfs_buffer_text(&fixture->problems.lines),
		"world.json: cannot be read: No such file or directory\n"
		"host.json: expected object, got integer 1\n");
}

IN_SOURCE(directory_must_be_there)
{
	assert_int_equal(
		wfs_source_load("/tmp/wfs-source-none", NULL, &fixture->problems, &fixture->source),
		-ENOENT);
	assert_string_equal(wfs_buffer_text(&fixture->problems.lines),
		"/tmp/wfs-source-none: cannot be opened: No such file or directory\n");
}

IN_SOURCE(directory_must_be_one)
{
	char path[256];
	char line[512];

	put(fixture, "file", "");
	path_of(fixture, "file", path);

	assert_int_equal(
		wfs_source_load(path, NULL, &fixture->problems, &fixture->source), -EINVAL);
	snprintf(line, sizeof(line), "%s: cannot be opened: Not a directory\n", path);
	assert_string_equal(wfs_buffer_text(&fixture->problems.lines), line);
}

IN_SOURCE(world_json_must_be_an_object)
{
	assert_world_refused(fixture, "5", "world.json: expected object, got integer 5\n");
}

IN_SOURCE(invalid_json_does_not_stop_the_checks_of_other_files)
{
	put_json(fixture, "world.json",
		"{'name':'w','schemas':[{'name':'a/B@1','file':'b.json'},"
		"{'name':'a/C@1','file':'c.json'}],"
		"'reducers':[{'name':'r','module':'r.lua'}],'x':1}");
	put(fixture, "b.json", "{\"type\":");
	put_json(fixture, "c.json", "{'items':{'iff':1}}");
	put(fixture, "r.lua", "function step()\n  return +\nend\n");
	put(fixture, "host.json", "");

	assert_int_equal(
		wfs_source_load(fixture->directory, NULL, &fixture->problems, &fixture->source),
		-EINVAL);

	assert_int_equal(fixture->problems.count, 5);
	assert_non_null(strstr(wfs_buffer_text(&fixture->problems.lines),
		"world.json: /x: no such member is known\nb.json: line 1 column 8: "));
	assert_non_null(strstr(wfs_buffer_text(&fixture->problems.lines),
		"\nc.json: /items/iff: this keyword is not supported\nr.lua: line 2: "));
	assert_non_null(strstr(wfs_buffer_text(&fixture->problems.lines), "\nhost.json: line 1"));
}

IN_SOURCE(unknown_members_are_named_everywhere)
{
	put(fixture, "r.lua", step_lua);

	assert_world_refused(fixture,
		"{'name':'w','grants':[],'schemas':[{'name':'a/B@1','schema':true,'$kind':'x'}],"
		"'reducers':[{'name':'r','module':'r.lua','language':'lua'}],"
		"'routing':[{'event':'a/B@1','reducer':'r','a/b':1}]}",
		"world.json: /grants: no such member is known\n"
		"world.json: /schemas/0/$kind: no such member is known\n"
		"world.json: /reducers/0/language: no such member is known\n"
		"world.json: /routing/0/a~1b: no such member is known\n");
}

IN_SOURCE(problems_of_the_manifest_point_into_world_json)
{
	put(fixture, "r.lua", step_lua);

	assert_world_refused(fixture,
		"{'schemas':[7,{'name':'B','schema':{'if: x':1}}],"
		"'reducers':[{'name':'R','module':'r.lua','keyed':1,'emits':['a/B@1']},null],"
		"'routing':[{'event':'B','reducer':'none'}],'policies':[1],'policy':5}",
		"world.json: /name: missing\n"
		"world.json: /schemas/0: expected object, got integer 7\n"
		"world.json: /schemas/1/name: expected a name like ns/Name@1, got string \"B\"\n"
		"world.json: /schemas/1/schema/if: x: this keyword is not supported\n"
		"world.json: /reducers/0/name: expected a name of [a-z][a-z0-9_.-]*, at most 128 "
		"bytes, got string \"R\"\n"
		"world.json: /reducers/0/keyed: expected boolean, got integer 1\n"
		"world.json: /reducers/0/emits/0: expected the name of a schema of this manifest, "
		"got string \"a/B@1\"\n"
		"world.json: /reducers/1: expected object, got null\n"
		"world.json: /routing/0/reducer: expected the name of a reducer of this manifest, "
		"got string \"none\"\n"
		"world.json: /policies/0: expected object, got integer 1\n"
		"world.json: /policy: expected the name of a policy of this manifest, got integer "
		"5\n");
}

IN_SOURCE(lists_that_are_none_are_refused)
{
	assert_world_refused(fixture, "{'name':'w','schemas':{},'reducers':1,'principals':{}}",
		"world.json: /principals: expected array, got object with 0 members\n"
		"world.json: /schemas: expected array, got object with 0 members\n"
		"world.json: /reducers: expected array, got integer 1\n");
}

/* Checks that the manifest's list @name, from the item at @first on, is @expected. */
static void assert_list(
	const struct fixture *fixture, const char *name, size_t first, const char *expected)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_JSON json_t *list = json_copy(json_object_get(fixture->source.manifest, name));

	while (first--)
		json_array_remove(list, 0);
	wfs_json_write(list, &text);
	for (char *at = text.data; (at = memchr(at, '"', text.size - (size_t)(at - text.data)));)
		*at = '\'';
	assert_string_equal(wfs_buffer_text(&text), expected);
}

IN_SOURCE(principals_and_their_grants_become_two_lists)
{
	put_json(fixture, "world.json",
		"{'name':'w','principals':[{'id':'alice','grants':["
		"{'cap':'sys/query@1','params':{'scope':'manifest'}},"
		"{'cap':'sys/act@1','params':{},'name':'writer','expires_at_ns':7,"
		"'budget':{'calls':3}}]},{'id':'bob','scrip':5,'quotas':{'disk':7}}]}");

	assert_loads(fixture, NULL);

	assert_list(fixture, "principals", 1,
		"[{'id':'alice'},{'id':'bob','quotas':{'disk':7},'scrip':5}]");
	assert_list(fixture, "grants", OPERATOR_GRANTS,
		"[{'cap':'sys/query@1','name':'alice.query.1','params':{'scope':'manifest'},"
		"'to':'alice'},"
		"{'budget':{'calls':3},'cap':'sys/act@1','expires_at_ns':7,'name':'writer',"
		"'params':{},'to':'alice'}]");
}

/* Services of genesis cost scrip, and no other principal has scrip to give. */
IN_SOURCE(the_operator_begins_with_scrip_where_services_cost)
{
	static const struct {
		const char *world;
		const char *principals;
	} cases[] = {
		{"{'name':'w'}", "[{'id':'operator'}]"},
		{"{'name':'w','genesis':true}", "[{'id':'operator','scrip':1000}]"},
		{"{'name':'w','genesis':true,'principals':[{'id':'a'},{'id':'operator','scrip':0,"
		 "'quotas':{'disk':9}}]}",
			"[{'id':'operator','quotas':{'disk':9},'scrip':0},{'id':'a'}]"},
		{"{'name':'w','principals':[{'id':'operator','scrip':5}]}",
			"[{'id':'operator','scrip':5}]"},
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(cases); i++) {
		print_message("%s\n", cases[i].world);
		put_json(fixture, "world.json", cases[i].world);
		assert_loads(fixture, NULL);
		assert_list(fixture, "principals", 0, cases[i].principals);
		wfs_source_done(&fixture->source);
	}
}

IN_SOURCE(there_is_one_operator)
{
	assert_world_refused(fixture,
		"{'name':'w','principals':[{'id':'operator'},{'id':'operator'}]}",
		"world.json: /principals/1/id: the name is taken already\n");
}

IN_SOURCE(grants_without_a_name_get_the_lowest_that_is_free)
{
	put_json(fixture, "world.json",
		"{'name':'w','principals':[{'id':'a','grants':["
		"{'cap':'sys/blob@1','params':{}},{'cap':'sys/blob@1','params':{}},"
		"{'cap':'sys/query@1','params':{}}]},"
		"{'id':'b','grants':[{'cap':'sys/blob@1','params':{},'name':'a.blob.1'}]}]}");

	assert_loads(fixture, NULL);

	assert_list(fixture, "grants", OPERATOR_GRANTS,
		"[{'cap':'sys/blob@1','name':'a.blob.2','params':{},'to':'a'},"
		"{'cap':'sys/blob@1','name':'a.blob.3','params':{},'to':'a'},"
		"{'cap':'sys/query@1','name':'a.query.1','params':{},'to':'a'},"
		"{'cap':'sys/blob@1','name':'a.blob.1','params':{},'to':'b'}]");
}

IN_SOURCE(problems_of_principals_point_into_world_json)
{
	assert_world_refused(fixture,
		"{'name':'w','principals':[5,{'id':'operator','scrip':'','grants':[],'more':1},"
		"{'grants':[]},"
		"{'id':'a b','grants':[{'cap':'sys/none@1'},{'cap':'sys/act@1','params':{'x':1}}]},"
		"{'id':'c','scrip':-1,'quotas':{'disk':''},'more':1,'grants':[7,"
		"{'cap':'sys/blob@1','params':{},'to':'x'}]},"
		"{'id':'c','grants':{}},"
		"{'id':'d','grants':[{'cap':'sys/act@1','params':{},'name':'operator.act.1'}]}]}",
		"world.json: /principals/0: expected object, got integer 5\n"
		"world.json: /principals/1/more: no such member is known\n"
		"world.json: /principals/1/grants: the operator of every world has every "
		"capability, and no other grants\n"
		"world.json: /principals/4/more: no such member is known\n"
		"world.json: /principals/4/grants/0: expected object, got integer 7\n"
		"world.json: /principals/4/grants/1/to: no such member is known\n"
		"world.json: /principals/5/grants: expected array, got object with 0 members\n"
		"world.json: /principals/1/scrip: expected an integer from 0 to 9007199254740992, "
		"got string \"\"\n"
		"world.json: /principals/2/id: missing\n"
		"world.json: /principals/3/id: expected a name of letters, digits and ._#@:-, a "
		"letter or digit first, at most 128 bytes, got string \"a b\"\n"
		"world.json: /principals/4/scrip: expected an integer from 0 to 9007199254740992, "
		"got integer -1\n"
		"world.json: /principals/4/quotas/disk: expected an integer from 0 to "
		"9007199254740992, got string \"\"\n"
		"world.json: /principals/5/id: the name is taken already\n"
		"world.json: /principals/3/grants/0/params: missing\n"
		"world.json: /principals/3/grants/0/cap: expected the name of a capability of this "
		"world, got string \"sys/none@1\"\n"
		"world.json: /principals/3/grants/1/params: at /x: expected no member of this "
		"name, got integer 1\n"
		"world.json: /principals/6/grants/0/name: the name is taken already\n");
}

IN_SOURCE(policies_are_taken_over)
{
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = NULL;
	const char *name;
	size_t count;

	put_json(fixture, "world.json",
		"{'name':'w','policies':[{'$kind':'defpolicy','name':'my/own@1','rules':[]}],"
		"'policy':'my/own@1'}");

	assert_loads(fixture, NULL);

	assert_int_equal(json_array_size(json_object_get(fixture->source.manifest, "policies")), 2);
	assert_int_equal(
		wfs_manifest_new(fixture->source.manifest, &fixture->problems, &manifest), 0);
	wfs_manifest_policy(manifest, &name, &count);
	assert_string_equal(name, "my/own@1");
	assert_int_equal(count, 0);
}

IN_SOURCE(schema_or_file_must_be_given)
{
	assert_world_refused(fixture,
		"{'name':'w','schemas':[{'name':'a/B@1'},"
		"{'name':'a/C@1','schema':true,'file':'c.json'},{'file':5}]}",
		"world.json: /schemas/0: expected a member schema or file, got neither\n"
		"world.json: /schemas/1/file: only one of schema and file can be given\n"
		"world.json: /schemas/2/file: expected the name of a file in this directory or "
		"below "
		"it, at most 1024 bytes, got integer 5\n"
		"world.json: /schemas/2/name: missing\n");
}

IN_SOURCE(problems_of_a_file_named_twice_are_reported_once)
{
	put_json(fixture, "s.json", "{'iff':1}");
	put(fixture, "r.lua", "x = ");

	put_json(fixture, "world.json",
		"{'name':'w','schemas':[{'name':'a/B@1','file':'s.json'},"
		"{'name':'a/C@1','file':'s.json'}],"
		"'reducers':[{'name':'a','module':'r.lua'},{'name':'b','module':'r.lua'}]}");
	assert_int_equal(
		wfs_source_load(fixture->directory, NULL, &fixture->problems, &fixture->source),
		-EINVAL);
	assert_int_equal(fixture->problems.count, 2);
}

IN_SOURCE(module_must_be_given_and_be_readable)
{
	assert_world_refused(fixture,
		"{'name':'w','reducers':[{'name':'a'},{'name':'b','module':'none.lua'}]}",
		"world.json: /reducers/0/module: missing\n"
		"world.json: /reducers/1/module: cannot read 'none.lua': No such file or "
		"directory\n");
}

IN_SOURCE(module_must_define_step)
{
	put(fixture, "r.lua", "x = 1\n");
	put_json(fixture, "world.json", "{'name':'w','reducers':[{'name':'a','module':'r.lua'}]}");

	assert_int_equal(
		wfs_source_load(fixture->directory, NULL, &fixture->problems, &fixture->source),
		-EINVAL);
	assert_int_equal(fixture->problems.count, 1);
	assert_non_null(strstr(wfs_buffer_text(&fixture->problems.lines), "r.lua: "));
	assert_non_null(strstr(wfs_buffer_text(&fixture->problems.lines), "step"));
}

IN_SOURCE(module_that_fails_when_run_is_refused_with_its_line)
{
	put(fixture, "r.lua", "\nerror('no good')\n");
	put_json(fixture, "world.json", "{'name':'w','reducers':[{'name':'a','module':'r.lua'}]}");

	assert_int_equal(
		wfs_source_load(fixture->directory, NULL, &fixture->problems, &fixture->source),
		-EINVAL);
	assert_non_null(
		strstr(wfs_buffer_text(&fixture->problems.lines), "r.lua: line 2: no good"));
}

static void assert_file_name_refused(struct fixture *fixture, const char *name)
{
	WFS_AUTO_JSON json_t *world = json_pack(
		"{s:s, s:[{s:s, s:s}]}", "name", "w", "schemas", "name", "a/B@1", "file", name);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_json_write_document(world, &text);
	put(fixture, "world.json", wfs_buffer_text(&text));
	wfs_problems_done(&fixture->problems);
	assert_int_equal(
		wfs_source_load(fixture->directory, NULL, &fixture->problems, &fixture->source),
		-EINVAL);
	assert_int_equal(fixture->problems.count, 1);
	if (!strstr(wfs_buffer_text(&fixture->problems.lines),
		    "world.json: /schemas/0/file: expected the name of a file in this directory or "
		    "below it"))
		fail_msg("'%s': %s", name, wfs_buffer_text(&fixture->problems.lines));
}

IN_SOURCE(file_names_may_not_leave_the_directory)
{
	char name[WFS_SOURCE_FILE_NAME_MAX + 2];

	assert_file_name_refused(fixture, "");
	assert_file_name_refused(fixture, "/etc/passwd");
	assert_file_name_refused(fixture, "../b.json");
	assert_file_name_refused(fixture, "a/../../b.json");
	assert_file_name_refused(fixture, "..");
	assert_file_name_refused(fixture, ".");
	assert_file_name_refused(fixture, "./b.json");
	assert_file_name_refused(fixture, "a//b.json");
	assert_file_name_refused(fixture, "a/");
	assert_file_name_refused(fixture, "a\nb");
	memset(name, 'a', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	assert_file_name_refused(fixture, name);
}

IN_SOURCE(links_are_not_followed)
{
	char path[256];

	path_of(fixture, "link.json", path);
	assert_int_equal(symlink("/etc/hostname", path), 0);
	path_of(fixture, "out", path);
	assert_int_equal(symlink("/etc", path), 0);

	assert_world_refused(fixture,
		"{'name':'w','schemas':[{'name':'a/B@1','file':'link.json'},"
		"{'name':'a/C@1','file':'out/hostname'}]}",
		"world.json: /schemas/0/file: cannot read 'link.json': a symbolic link, which is "
		"not "
		"followed\n"
		"world.json: /schemas/1/file: cannot read 'out/hostname': Not a directory\n");
}

IN_SOURCE(only_regular_files_are_read)
{
	char path[256];

	path_of(fixture, "pipe", path);
	assert_int_equal(mkfifo(path, 0600), 0);
	path_of(fixture, "folder", path);
	assert_int_equal(mkdir(path, 0700), 0);

	assert_world_refused(fixture,
		"{'name':'w','schemas':[{'name':'a/B@1','file':'pipe'},"
		"{'name':'a/C@1','file':'folder'}]}",
		"world.json: /schemas/0/file: cannot read 'pipe': not a regular file\n"
		"world.json: /schemas/1/file: cannot read 'folder': not a regular file\n");
}

/* Appends @text, and spaces up to @size bytes. */
static void put_padded(
	const struct fixture *fixture, const char *name, const char *text, size_t size)
{
	WFS_AUTO_BUFFER struct wfs_buffer padded = {0};

	wfs_buffer_append_text(&padded, text);
	assert_int_equal(wfs_buffer_reserve(&padded, size), 0);
	memset(padded.data + padded.size, ' ', size - padded.size);
	put_bytes(fixture, name, padded.data, size);
}

IN_SOURCE(files_are_bounded)
{
	put_json(
		fixture, "world.json", "{'name':'w','schemas':[{'name':'a/B@1','file':'b.json'}]}");
	put_padded(fixture, "b.json", "true", WFS_SOURCE_FILE_MAX);
	assert_loads(fixture, NULL);
	wfs_source_done(&fixture->source);
	put_padded(fixture, "b.json", "true", WFS_SOURCE_FILE_MAX + 1);

	assert_problems(
		fixture, "world.json: /schemas/0/file: cannot read 'b.json': larger than 16 MiB\n");
}

IN_SOURCE(modules_together_are_bounded)
{
	WFS_AUTO_JSON json_t *world = json_pack("{s:s, s:[]}", "name", "w", "reducers");
	WFS_AUTO_BUFFER struct wfs_buffer document = {0};
	const int module_bytes = WFS_LUA_SOURCE_MAX;
	const int fitting = WFS_SOURCE_TOTAL_MAX / module_bytes;
	char line[160];

	put_padded(fixture, "r.lua", step_lua, module_bytes);
	for (int i = 0; i < fitting + 2; i++) {
		char name[16];

		snprintf(name, sizeof(name), "r%d", i);
		json_array_append_new(json_object_get(world, "reducers"),
			json_pack("{s:s, s:s}", "name", name, "module", "r.lua"));
	}
	wfs_json_write_document(world, &document);
	put(fixture, "world.json", wfs_buffer_text(&document));

	snprintf(line, sizeof(line),
		"world.json: /reducers/%d/module: this file and those before it have more than "
		"64 "
		"MiB\n",
		fitting);
	assert_problems(fixture, line);
}

IN_SOURCE(reducers_are_bounded_before_their_files_are_read)
{
	WFS_AUTO_JSON json_t *world = json_pack("{s:s, s:[]}", "name", "w", "reducers");
	WFS_AUTO_BUFFER struct wfs_buffer document = {0};

	for (int i = 0; i <= WFS_MANIFEST_REDUCERS_MAX; i++)
		json_array_append_new(json_object_get(world, "reducers"), json_object());
	wfs_json_write_document(world, &document);
	put(fixture, "world.json", wfs_buffer_text(&document));

	assert_problems(fixture, "world.json: /reducers: at most 4096 are allowed, got 4097\n");
}

IN_SOURCE(problems_beyond_the_bound_are_counted)
{
	WFS_AUTO_JSON json_t *world = json_pack("{s:s, s:[]}", "name", "w", "routing");
	WFS_AUTO_BUFFER struct wfs_buffer document = {0};

	for (int i = 0; i < WFS_PROBLEMS_MAX + 5; i++)
		json_array_append_new(json_object_get(world, "routing"), json_null());
	wfs_json_write_document(world, &document);
	put(fixture, "world.json", wfs_buffer_text(&document));

	assert_int_equal(
		wfs_source_load(fixture->directory, NULL, &fixture->problems, &fixture->source),
		-EINVAL);
	assert_int_equal(fixture->problems.count, WFS_PROBLEMS_MAX + 5);
}

IN_SOURCE(source_empty_makes_a_world_without_own_reducers)
{
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = NULL;
	struct wfs_error error = {0};

	assert_int_equal(wfs_source_empty("w", &fixture->source, &error), 0);
	assert_int_equal(
		wfs_manifest_new(fixture->source.manifest, &fixture->problems, &manifest), 0);
	assert_string_equal(wfs_manifest_name(manifest), "w");
	assert_int_equal(wfs_manifest_reducer_count(manifest), WFS_BUILTIN_REDUCER_COUNT);
	assert_int_equal(json_array_size(wfs_manifest_grants(manifest)), OPERATOR_GRANTS);
	assert_list(fixture, "principals", 0, "[{'id':'operator','scrip':1000}]");
	assert_true(fixture->source.genesis && fixture->source.handbook);
	assert_int_equal(fixture->source.blob_count, 0);
	assert_int_equal(fixture->source.host.size, 0);
}

IN_SOURCE(source_empty_checks_the_name)
{
	struct wfs_error error = {0};

	assert_int_equal(wfs_source_empty("", &fixture->source, &error), -EINVAL);
	assert_int_equal(error.code, WFS_E_INVALID_ARGUMENT);
	assert_string_equal(error.message,
		"name: expected a name of 1 to 255 bytes without control characters, got string "
		"\"\"");
	assert_int_equal(wfs_source_empty("\xff", &fixture->source, &error), -EINVAL);
	assert_string_equal(error.message, "the name is not valid UTF-8");
}

IN_SOURCE(source_done_can_be_repeated)
{
	wfs_source_done(&fixture->source);
	wfs_source_done(&fixture->source);
}
