/* SPDX-License-Identifier: Apache-2.0 */
/* Manifests: what a good one compiles to, and every refusal with its pointer. */
#include "tests/fixture/manifest.h"

TEST(manifest_hash_is_that_of_its_canonical_document)
{
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = manifest_good();
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_JSON json_t *document = good_document();
	struct wfs_hash hash;

	wfs_json_write_document(document, &text);
	hash = wfs_hash_of(text.data, text.size);

	assert_true(wfs_bytes_equal(wfs_manifest_document(manifest), wfs_buffer_bytes(&text)));
	assert_true(wfs_hash_equal(wfs_manifest_hash(manifest), &hash));
	assert_string_equal(wfs_manifest_name(manifest), "packages");
}

TEST(manifest_finds_schemas_by_name)
{
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = manifest_good();
	WFS_AUTO_JSON json_t *value = json_integer(1);

	assert_int_equal(
		wfs_schema_check(wfs_manifest_schema(manifest, "dpkg/Change@1"), value, NULL),
		-EINVAL);
	assert_int_equal(
		wfs_schema_check(wfs_manifest_schema(manifest, "dpkg/Alert@2"), value, NULL), 0);
	assert_null(wfs_manifest_schema(manifest, "dpkg/Change@2"));
}

TEST(manifest_finds_reducers_by_name_and_place)
{
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = manifest_good();
	const struct wfs_reducer_definition *package =
		wfs_manifest_reducer_find(manifest, "package");
	const struct wfs_reducer_definition *total = wfs_manifest_reducer_find(manifest, "total");
	char hash[WFS_HASH_TEXT_SIZE];

	assert_int_equal(wfs_manifest_reducer_count(manifest), 2 + WFS_BUILTIN_REDUCER_COUNT);
	assert_ptr_equal(wfs_manifest_reducer(manifest, 0), package);
	assert_ptr_equal(wfs_manifest_reducer(manifest, 1), total);
	assert_string_equal(package->name, "package");
	assert_int_equal(package->index, 0);
	assert_int_equal(total->index, 1);
	assert_true(package->keyed);
	assert_false(total->keyed);
	wfs_hash_text(&total->module, hash);
	assert_string_equal(hash, MODULE_B);
	assert_null(wfs_manifest_reducer_find(manifest, "other"));
}

TEST(manifest_routes_of_a_schema_stand_together_in_order)
{
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = manifest_good();
	const struct wfs_route *routes;
	size_t count = 7;

	routes = wfs_manifest_routes(manifest, "dpkg/Change@1", &count);
	assert_int_equal(count, 2);
	assert_string_equal(routes[0].reducer->name, "total");
	assert_null(routes[0].key_field);
	assert_string_equal(routes[1].reducer->name, "package");
	assert_string_equal(routes[1].key_field, "package.name");
	routes = wfs_manifest_routes(manifest, "dpkg/Alert@2", &count);
	assert_int_equal(count, 1);
	assert_string_equal(routes[0].reducer->name, "total");
	assert_null(wfs_manifest_routes(manifest, "dpkg/None@1", &count));
	assert_int_equal(count, 0);
}

TEST(manifest_knows_what_a_reducer_emits)
{
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = manifest_good();

	assert_true(wfs_manifest_emits(wfs_manifest_reducer(manifest, 0), "dpkg/Alert@2"));
	assert_true(wfs_manifest_emits(wfs_manifest_reducer(manifest, 0), "dpkg/Change@1"));
	assert_false(wfs_manifest_emits(wfs_manifest_reducer(manifest, 0), "dpkg/Other@1"));
	assert_false(wfs_manifest_emits(wfs_manifest_reducer(manifest, 1), "dpkg/Alert@2"));
}

TEST(manifest_lives_until_its_last_unref)
{
	struct wfs_manifest *manifest = manifest_good();
	struct wfs_manifest *second = wfs_manifest_ref(manifest);

	wfs_manifest_unref(manifest);
	assert_string_equal(wfs_manifest_name(second), "packages");
	wfs_manifest_unref(second);
	wfs_manifest_unref(NULL);
}

TEST(manifest_must_be_an_object)
{
	WFS_AUTO_JSON json_t *document = json_of("[]");

	assert_document_refused(document, "expected object, got array of 0 items\n");
}

TEST(unknown_members_are_refused_everywhere)
{
	assert_edit_refused("", "{'a/b':1}", "/a~1b: no such member is known\n");
	assert_edit_refused("schemas/0", "{'x':1}", "/schemas/0/x: no such member is known\n");
	assert_edit_refused("reducers/1", "{'x':1}", "/reducers/1/x: no such member is known\n");
	assert_edit_refused("routing/2", "{'x':1}", "/routing/2/x: no such member is known\n");
}

TEST(missing_members_are_named)
{
	WFS_AUTO_JSON json_t *document = json_of("{'schemas':[{}],'reducers':[{}],'routing':[{}]}");

	assert_document_refused(document,
		"/world_version: missing\n"
		"/name: missing\n"
		"/effects: missing\n"
		"/caps: missing\n"
		"/policies: missing\n"
		"/policy: missing\n"
		"/principals: missing\n"
		"/grants: missing\n"
		"/schemas/0/name: missing\n"
		"/schemas/0/schema: missing\n"
		"/schemas/0/$kind: expected \"defschema\", got nothing\n"
		"/reducers/0/name: missing\n"
		"/reducers/0/language: missing\n"
		"/reducers/0/module: missing\n"
		"/reducers/0/keyed: missing\n"
		"/reducers/0/emits: missing\n"
		"/reducers/0/effects: missing\n"
		"/reducers/0/$kind: expected \"defreducer\", got nothing\n"
		"/reducers: the built-in reducer sys.principal is missing\n"
		"/reducers: the built-in reducer sys.grant is missing\n"
		"/reducers: the built-in reducer sys.ledger is missing\n"
		"/reducers: the built-in reducer sys.resource is missing\n"
		"/reducers: the built-in reducer sys.artifact is missing\n"
		"/reducers: the built-in reducer sys.deleted is missing\n"
		"/reducers: the built-in reducer sys.content is missing\n"
		"/reducers: the built-in reducer sys.code is missing\n"
		"/reducers: the built-in reducer sys.mint is missing\n"
		"/reducers: the built-in reducer sys.invocation is missing\n"
		"/reducers: the built-in reducer sys.memory is missing\n"
		"/reducers: the built-in reducer sys.memory_store is missing\n"
		"/reducers: the built-in reducer sys.memory_hit is missing\n"
		"/reducers: the built-in reducer sys.escrow is missing\n"
		"/reducers: the built-in reducer sys.turn is missing\n"
		"/reducers: the built-in reducer sys.turn_setup is missing\n"
		"/reducers: the built-in reducer sys.message is missing\n"
		"/reducers: the built-in reducer sys.tool_call is missing\n"
		"/reducers: the built-in reducer sys.intent is missing\n"
		"/reducers: the built-in reducer sys.chat is missing\n"
		"/reducers: the built-in reducer sys.chat_message is missing\n"
		"/reducers: the built-in reducer sys.plan is missing\n"
		"/reducers: the built-in reducer sys.plan_source is missing\n"
		"/reducers: the built-in reducer sys.plan_step is missing\n"
		"/reducers: the built-in reducer sys.plan_edge is missing\n"
		"/reducers: the built-in reducer sys.plan_block is missing\n"
		"/reducers: the built-in reducer sys.plan_result is missing\n"
		"/reducers: the built-in reducer sys.workflow is missing\n"
		"/reducers: the built-in reducer sys.agent is missing\n"
		"/routing/0/event: missing\n"
		"/routing/0/reducer: missing\n");
	assert_deletion_refused("", "schemas",
		"/schemas: missing\n"
		"/reducers/0/emits/0: expected the name of a schema of this manifest, got string "
		"\"dpkg/Alert@2\"\n"
		"/reducers/0/emits/1: expected the name of a schema of this manifest, got string "
		"\"dpkg/Change@1\"\n"
		"/routing/0/event: expected the name of a schema of this manifest, got string "
		"\"dpkg/Change@1\"\n"
		"/routing/1/event: expected the name of a schema of this manifest, got string "
		"\"dpkg/Alert@2\"\n"
		"/routing/2/event: expected the name of a schema of this manifest, got string "
		"\"dpkg/Change@1\"\n");
}

TEST(world_version_is_one)
{
	assert_edit_refused("", "{'world_version':2}",
		"/world_version: expected 1, the version this program knows, got integer 2\n");
	assert_edit_refused("", "{'world_version':'1'}",
		"/world_version: expected 1, the version this program knows, got string \"1\"\n");
}

TEST(name_of_the_world_is_short_text)
{
	const char *form =
		"/name: expected a name of 1 to 255 bytes without control characters, got";
	WFS_AUTO_JSON json_t *document = good_document();
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = NULL;
	char name[WFS_MANIFEST_NAME_MAX + 2];
	char line[256];

	memset(name, 'n', sizeof(name));
	name[WFS_MANIFEST_NAME_MAX] = '\0';
	json_object_set_new(document, "name", json_string(name));
	manifest = manifest_of(document);
	name[WFS_MANIFEST_NAME_MAX] = 'n';
	name[WFS_MANIFEST_NAME_MAX + 1] = '\0';
	json_object_set_new(document, "name", json_string(name));

	snprintf(line, sizeof(line), "%s string \"%.64s\"…\n", form, name);
	assert_document_refused(document, line);
	snprintf(line, sizeof(line), "%s string \"\"\n", form);
	assert_edit_refused("", "{'name':''}", line);
	snprintf(line, sizeof(line), "%s string \"a\\n\"\n", form);
	assert_edit_refused("", "{'name':'a\\n'}", line);
	snprintf(line, sizeof(line), "%s string \"a\\u0000\"\n", form);
	assert_edit_refused("", "{'name':'a\\u0000'}", line);
	snprintf(line, sizeof(line), "%s integer 5\n", form);
	assert_edit_refused("", "{'name':5}", line);
}

TEST(lists_must_be_lists)
{
	assert_edit_refused("", "{'routing':{},'grants':1}",
		"/routing: expected array, got object with 0 members\n"
		"/grants: expected array, got integer 1\n");
	assert_edit_refused("reducers/1", "{'emits':'x','effects':{}}",
		"/reducers/1/effects: expected array, got object with 0 members\n"
		"/reducers/1/emits: expected array, got string \"x\"\n");
	assert_edit_refused("", "{'routing':[null]}", "/routing/0: expected object, got null\n");
}

TEST(reducers_ask_for_effects_of_the_manifest_that_are_for_them)
{
	assert_edit_refused("reducers/0", "{'effects':['http',5,'introspect.status']}",
		"/reducers/0/effects/0: expected an effect of this manifest that reducers may ask "
		"for, got string \"http\"\n"
		"/reducers/0/effects/1: expected an effect of this manifest that reducers may ask "
		"for, got integer 5\n"
		"/reducers/0/effects/2: expected an effect of this manifest that reducers may ask "
		"for, got string \"introspect.status\"\n");
	assert_edit_refused("reducers/0",
		"{'effects':['introspect.manifest','introspect.manifest']}",
		"/reducers/0/effects/1: expected each name once, got string "
		"\"introspect.manifest\"\n");
}

TEST(kinds_and_language_are_fixed)
{
	assert_edit_refused("schemas/0", "{'$kind':'defreducer'}",
		"/schemas/0/$kind: expected \"defschema\", got string \"defreducer\"\n");
	assert_edit_refused("reducers/0", "{'$kind':7,'language':'js','keyed':1}",
		"/reducers/0/$kind: expected \"defreducer\", got integer 7\n"
		"/reducers/0/language: expected \"lua\", got string \"js\"\n"
		"/reducers/0/keyed: expected boolean, got integer 1\n");
}

static void assert_schema_name(const char *name, bool good_name)
{
	WFS_AUTO_JSON json_t *document = good_document();
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = NULL;
	WFS_AUTO_JSON json_t *schema =
		json_pack("{s:s, s:s, s:b}", "$kind", "defschema", "name", name, "schema", 1);

	json_array_append(json_object_get(document, "schemas"), schema);
	if (wfs_manifest_new(document, &problems, &manifest) != (good_name ? 0 : -EINVAL))
		fail_msg("name '%s': %s", name, wfs_buffer_text(&problems.lines));
	if (good_name)
		return;
	assert_int_equal(problems.count, 1);
	assert_non_null(strstr(wfs_buffer_text(&problems.lines),
		"/schemas/2/name: expected a name like ns/Name@1, got string"));
}

TEST(names_of_schemas_have_one_form)
{
	char name[WFS_SCHEMA_NAME_MAX + 2] = "a/";

	assert_schema_name("a/B@1", true);
	assert_schema_name("a9_.-b/b9_.-B@10", true);
	assert_schema_name("", false);
	assert_schema_name("B@1", false);
	assert_schema_name("A/b@1", false);
	assert_schema_name("/B@1", false);
	assert_schema_name("a/9@1", false);
	assert_schema_name("a/B", false);
	assert_schema_name("a/B@", false);
	assert_schema_name("a/B@0", false);
	assert_schema_name("a/B@01", false);
	assert_schema_name("a/B@1x", false);
	assert_schema_name("a/B/C@1", false);
	memset(name + 2, 'x', sizeof(name) - 2);
	memcpy(name + WFS_SCHEMA_NAME_MAX - 2, "@1", 3);
	assert_schema_name(name, true);
	memcpy(name + WFS_SCHEMA_NAME_MAX - 2, "x@1", 4);
	assert_schema_name(name, false);
}

TEST(contents_codes_and_memories_are_hidden)
{
	WFS_AUTO_BUFFER struct wfs_buffer hidden = {0};

	for (int i = 0; i < WFS_BUILTIN_REDUCER_COUNT; i++) {
		const char *const name = wfs_builtin_reducer_name((enum wfs_builtin_reducer)i);

		if (wfs_builtin_reducer_hidden(name, strlen(name)))
			wfs_buffer_printf(&hidden, "%s ", name);
	}
	assert_string_equal(wfs_buffer_text(&hidden), "sys.content sys.code sys.memory ");
	assert_false(wfs_builtin_reducer_hidden("sys.mem", strlen("sys.mem")));
}

static void assert_reducer_name(const char *name, bool good_name)
{
	WFS_AUTO_JSON json_t *document = good_document();
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = NULL;

	json_object_set_new(value_at(document, "reducers/0"), "name", json_string(name));
	json_object_set_new(value_at(document, "routing/2"), "reducer", json_string(name));
	if (wfs_manifest_new(document, &problems, &manifest) != (good_name ? 0 : -EINVAL))
		fail_msg("name '%s': %s", name, wfs_buffer_text(&problems.lines));
	if (good_name)
		return;
	assert_int_equal(problems.count, 1);
	assert_non_null(strstr(wfs_buffer_text(&problems.lines),
		"/reducers/0/name: expected a name of [a-z][a-z0-9_.-]*, at most 128 bytes, got"));
}

TEST(names_of_reducers_have_one_form)
{
	char name[WFS_REDUCER_NAME_MAX + 2];

	assert_reducer_name("a", true);
	assert_reducer_name("sysa.a-b_9", true);
	assert_reducer_name("", false);
	assert_reducer_name("A", false);
	assert_reducer_name("aB", false);
	assert_reducer_name("9a", false);
	assert_reducer_name(".a", false);
	assert_reducer_name("a/b", false);
	memset(name, 'a', sizeof(name));
	name[WFS_REDUCER_NAME_MAX] = '\0';
	assert_reducer_name(name, true);
	name[WFS_REDUCER_NAME_MAX] = 'a';
	name[WFS_REDUCER_NAME_MAX + 1] = '\0';
	assert_reducer_name(name, false);
}

TEST(names_are_taken_once)
{
	assert_edit_refused("",
		"{'schemas':[{'$kind':'defschema','name':'dpkg/Change@1','schema':true},"
		"{'$kind':'defschema','name':'dpkg/Alert@2','schema':true},"
		"{'$kind':'defschema','name':'dpkg/Change@1','schema':true}]}",
		"/schemas/2/name: the name is taken by the item at index 0\n");
	assert_edit_refused("reducers/1", "{'name':'package'}",
		"/reducers/1/name: the name is taken by the item at index 0\n"
		"/routing/0/reducer: expected the name of a reducer of this manifest, got string "
		"\"total\"\n"
		"/routing/1/reducer: expected the name of a reducer of this manifest, got string "
		"\"total\"\n");
}

TEST(problems_of_schemas_point_into_the_manifest)
{
	assert_edit_refused("schemas/1", "{'schema':{'items':{'iff':1}}}",
		"/schemas/1/schema/items/iff: this keyword is not supported\n");
}

TEST(module_is_a_hash)
{
	assert_edit_refused("reducers/0", "{'module':'package.lua'}",
		"/reducers/0/module: expected the hash of a blob (sha256:…), got string "
		"\"package.lua\"\n");
	assert_edit_refused("reducers/0", "{'module':null}",
		"/reducers/0/module: expected the hash of a blob (sha256:…), got null\n");
}

TEST(emits_names_known_schemas_once)
{
	assert_edit_refused("reducers/1",
		"{'emits':['dpkg/None@1','dpkg/Alert@2','dpkg/Alert@2',3]}",
		"/reducers/1/emits/0: expected the name of a schema of this manifest, got string "
		"\"dpkg/None@1\"\n"
		"/reducers/1/emits/2: expected each name once, got string \"dpkg/Alert@2\"\n"
		"/reducers/1/emits/3: expected the name of a schema of this manifest, got integer "
		"3\n");
}

TEST(routing_refers_to_what_is_there)
{
	assert_edit_refused("routing/0", "{'event':'dpkg/None@1','reducer':'none'}",
		"/routing/0/event: expected the name of a schema of this manifest, got string "
		"\"dpkg/None@1\"\n"
		"/routing/0/reducer: expected the name of a reducer of this manifest, got string "
		"\"none\"\n");
	assert_edit_refused("routing/1", "{'event':'dpkg/Change@1'}",
		"/routing/1: the events of this schema go to this reducer already\n");
}

TEST(key_field_belongs_to_keyed_reducers)
{
	assert_deletion_refused(
		"routing/2", "key_field", "/routing/2/key_field: missing: the reducer is keyed\n");
	assert_edit_refused("routing/0", "{'key_field':'a'}",
		"/routing/0/key_field: expected nothing: the reducer is not keyed, got string "
		"\"a\"\n");
}

TEST(key_field_is_a_dotted_path)
{
	const char *form =
		"/routing/2/key_field: expected a dotted path of member names, at most 255 "
		"bytes, got";
	WFS_AUTO_JSON json_t *document = good_document();
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = NULL;
	char path[WFS_ROUTE_KEY_FIELD_MAX + 2];
	char line[256];

	memset(path, 'a', sizeof(path));
	path[WFS_ROUTE_KEY_FIELD_MAX] = '\0';
	json_object_set_new(value_at(document, "routing/2"), "key_field", json_string(path));
	manifest = manifest_of(document);
	path[WFS_ROUTE_KEY_FIELD_MAX] = 'a';
	path[WFS_ROUTE_KEY_FIELD_MAX + 1] = '\0';
	json_object_set_new(value_at(document, "routing/2"), "key_field", json_string(path));

	snprintf(line, sizeof(line), "%s string \"%.64s\"…\n", form, path);
	assert_document_refused(document, line);
	snprintf(line, sizeof(line), "%s string \"\"\n", form);
	assert_edit_refused("routing/2", "{'key_field':''}", line);
	snprintf(line, sizeof(line), "%s string \".a\"\n", form);
	assert_edit_refused("routing/2", "{'key_field':'.a'}", line);
	snprintf(line, sizeof(line), "%s string \"a.\"\n", form);
	assert_edit_refused("routing/2", "{'key_field':'a.'}", line);
	snprintf(line, sizeof(line), "%s string \"a..b\"\n", form);
	assert_edit_refused("routing/2", "{'key_field':'a..b'}", line);
	snprintf(line, sizeof(line), "%s integer 1\n", form);
	assert_edit_refused("routing/2", "{'key_field':1}", line);
}

TEST(wrong_definition_is_not_reported_again_where_it_is_used)
{
	assert_edit_refused("reducers/0", "{'keyed':'yes'}",
		"/reducers/0/keyed: expected boolean, got string \"yes\"\n");
	assert_edit_refused("schemas/1", "{'schema':5}",
		"/schemas/1/schema: expected a schema (object or boolean), got integer 5\n");
}

/* The good manifest with @count items in the list @name, named by their numbers. */
static json_t *document_with(const char *name, size_t count, json_t *(*make)(size_t))
{
	json_t *document = good_document();
	json_t *list = json_object_get(document, name);

	for (size_t i = json_array_size(list); i < count; i++)
		json_array_append_new(list, make(i));
	return document;
}

static json_t *schema_number(size_t number)
{
	char name[32];

	snprintf(name, sizeof(name), "many/S%zu@1", number);
	return json_pack("{s:s, s:s, s:b}", "$kind", "defschema", "name", name, "schema", 1);
}

static json_t *reducer_number(size_t number)
{
	char name[32];

	snprintf(name, sizeof(name), "many%zu", number);
	return json_pack("{s:s, s:s, s:s, s:s, s:b, s:[], s:[]}", "$kind", "defreducer", "name",
		name, "language", "lua", "module", MODULE_A, "keyed", 0, "emits", "effects");
}

TEST(schemas_are_bounded)
{
	WFS_AUTO_JSON json_t *most =
		document_with("schemas", WFS_MANIFEST_SCHEMAS_MAX, schema_number);
	WFS_AUTO_JSON json_t *more =
		document_with("schemas", WFS_MANIFEST_SCHEMAS_MAX + 1, schema_number);
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = manifest_of(most);
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	struct wfs_manifest *none = NULL;

	assert_non_null(wfs_manifest_schema(manifest, "many/S4095@1"));
	assert_int_equal(wfs_manifest_new(more, &problems, &none), -EINVAL);
	assert_non_null(strstr(wfs_buffer_text(&problems.lines),
		"/schemas: at most 4096 are allowed, got 4097\n"));
}

TEST(reducers_are_bounded)
{
	WFS_AUTO_JSON json_t *most = document_with(
		"reducers", WFS_MANIFEST_REDUCERS_MAX + WFS_BUILTIN_REDUCER_COUNT, reducer_number);
	WFS_AUTO_JSON json_t *more = document_with("reducers",
		WFS_MANIFEST_REDUCERS_MAX + WFS_BUILTIN_REDUCER_COUNT + 1, reducer_number);
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = manifest_of(most);
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	struct wfs_manifest *none = NULL;

	assert_int_equal(wfs_manifest_reducer_find(manifest, "many4095")->index, 4095);
	assert_int_equal(wfs_manifest_new(more, &problems, &none), -EINVAL);
	assert_non_null(strstr(wfs_buffer_text(&problems.lines),
		"/reducers: at most 4096 are allowed, got 4097\n"));
}

static json_t *route_number(size_t number)
{
	static const char *const events[] = {
		"dpkg/Change@1", "dpkg/Alert@2", "many/S2@1", "many/S3@1", "many/S4@1"};
	char reducer[32];

	snprintf(reducer, sizeof(reducer), "many%zu", number % 4000 + 2);
	return json_pack("{s:s, s:s}", "event", events[number / 4000], "reducer", reducer);
}

TEST(routes_are_bounded)
{
	WFS_AUTO_JSON json_t *most =
		document_with("routing", WFS_MANIFEST_ROUTES_MAX, route_number);
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = NULL;
	size_t count = 0;

	for (size_t i = 2; i < 5; i++)
		json_array_append_new(json_object_get(most, "schemas"), schema_number(i));
	for (size_t i = 2; i < 4002; i++)
		json_array_append_new(json_object_get(most, "reducers"), reducer_number(i));
	manifest = manifest_of(most);
	wfs_manifest_routes(manifest, "many/S4@1", &count);
	assert_int_equal(count, WFS_MANIFEST_ROUTES_MAX - 16000);
	wfs_manifest_unref(WFS_STEAL(manifest));
	json_array_append_new(
		json_object_get(most, "routing"), route_number(WFS_MANIFEST_ROUTES_MAX));

	assert_document_refused(most, "/routing: at most 16384 are allowed, got 16385\n");
}
