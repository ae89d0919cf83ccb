/* SPDX-License-Identifier: Apache-2.0 */
/* Schemas that refer to others, and to themselves. */
#include "tests/fixture/schema.h"

TEST(ref_leads_to_any_schema_of_the_document)
{
	assert_violates("{'$ref':'#/$defs/n','$defs':{'n':{'type':'null'}}}", "1",
		"at the top: expected null, got integer 1");
	assert_violates("{'properties':{'a':{'type':'null'},'b':{'$ref':'#/properties/a'}}}",
		"{'b':1}", "at /b: expected null, got integer 1");
	assert_violates("{'items':{'$ref':'#/allOf/0/not'},'allOf':[{'not':{'type':'null'}}]}",
		"[1]", "at /0: expected null, got integer 1");
	assert_violates("{'$ref':'#/$defs/a~1b%25','$defs':{'a/b%':false}}", "1",
		"at the top: expected nothing, got integer 1");
	assert_fits("{'$ref':'#/$defs/yes','$defs':{'yes':true}}", "1");
}

TEST(ref_to_the_top_describes_trees)
{
	const char *tree = "{'type':'object','properties':{'left':{'$ref':'#'}},"
			   "'additionalProperties':false}";

	assert_fits(tree, "{'left':{'left':{}}}");
	assert_violates(
		tree, "{'left':{'left':1}}", "at /left/left: expected object, got integer 1");
}

TEST(ref_applies_together_with_its_neighbours)
{
	assert_violates("{'$ref':'#/$defs/n','maximum':3,'$defs':{'n':{'type':'integer'}}}", "5",
		"at the top: expected a number of at most 3, got integer 5");
}

TEST(ref_that_leads_nowhere_is_refused)
{
	const char *reason = ": expected the place of a schema in this document, got string ";
	char line[160];

	snprintf(line, sizeof(line), "/$ref%s\"#/$defs/x\"\n", reason);
	assert_not_loaded("{'$ref':'#/$defs/x'}", line);
	snprintf(line, sizeof(line), "/$ref%s\"#/examples/0\"\n", reason);
	assert_not_loaded("{'$ref':'#/examples/0','examples':[true]}", line);
	snprintf(line, sizeof(line), "/$ref%s\"#/properties\"\n", reason);
	assert_not_loaded("{'$ref':'#/properties','properties':{}}", line);
	snprintf(line, sizeof(line), "/$ref%s\"#/allOf/00\"\n", reason);
	assert_not_loaded("{'$ref':'#/allOf/00','allOf':[true]}", line);
	snprintf(line, sizeof(line), "/$ref%s\"#name\"\n", reason);
	assert_not_loaded("{'$ref':'#name'}", line);
	snprintf(line, sizeof(line), "/$ref%s\"#/%%zz\"\n", reason);
	assert_not_loaded("{'$ref':'#/%zz'}", line);
	snprintf(line, sizeof(line), "/$ref%s\"#/$defs/~2\"\n", reason);
	assert_not_loaded("{'$ref':'#/$defs/~2','$defs':{'~2':true}}", line);
	assert_not_loaded("{'$ref':'http://example.org/s'}",
		"/$ref: expected a schema of this document (#/…, #name or its $id) or a metaschema "
		"of JSON "
		"Schema 2020-12, got string "
		"\"http://example.org/s\"\n");
	assert_not_loaded(
		"{'$ref':1}", "/$ref: expected a reference (#/…, #name or a URI), got integer 1\n");
}

TEST(ref_that_comes_back_without_consuming_is_refused)
{
	assert_not_loaded("{'$ref':'#'}", "/$ref: the reference leads back to itself\n");
	assert_not_loaded("{'$defs':{'a':{'$ref':'#/$defs/a'}}}",
		"/$defs/a/$ref: the reference leads back to itself\n");
	assert_not_loaded("{'anyOf':[{'not':{'$ref':'#'}},true]}",
		"/anyOf/0/not/$ref: the reference leads back to itself\n");
	assert_fits("{'items':{'$ref':'#'}}", "[[[]]]");
}

TEST(anchors_name_schemas_of_their_document)
{
	assert_violates("{'$ref':'#n','$defs':{'x':{'$anchor':'n','type':'null'}}}", "1",
		"at the top: expected null, got integer 1");
	assert_not_loaded("{'$anchor':'1'}",
		"/$anchor: expected a name of letters, digits, '_', '-' and '.', got string "
		"\"1\"\n");
	assert_not_loaded("{'$anchor':'a','items':{'$dynamicAnchor':'a'}}",
		"/items/$dynamicAnchor: expected a name that no other anchor has, got string "
		"\"a\"\n");
	assert_fits("{'items':{'$ref':'#a'},'$anchor':'a','$dynamicAnchor':'a'}", "[[]]");
	assert_fits("{'enum':[{'$anchor':'n'}],'$defs':{'x':{'$anchor':'n'}}}", "{'$anchor':'n'}");
}

TEST(identifiers_resolve_against_those_around_them)
{
	const char *inner = "{'$id':'http://a/b/c','$ref':'../d#/$defs/n','$defs':{"
			    "'x':{'$id':'/d','$defs':{'n':{'type':'null'}}}}}";

	assert_violates(inner, "1", "at the top: expected null, got integer 1");
	assert_fits("{'$ref':'n','$defs':{'x':{'$id':'n','type':'null'}}}", "null");
	assert_not_loaded("{'$id':1}", "/$id: expected string, got integer 1\n");
	assert_not_loaded(
		"{'$id':'a#b'}", "/$id: expected a URI without a fragment, got string \"a#b\"\n");
	assert_not_loaded("{'$id':'http://a/b','items':{'$id':'/b'}}",
		"/items/$id: expected a URI that no other schema has, got string \"/b\"\n");
}

TEST(identifiers_have_a_size_at_most)
{
	char id[WFS_SCHEMA_URI_MAX + 2];
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	WFS_AUTO_JSON json_t *definition = NULL;
	struct wfs_schema *schema = NULL;
	memset(id, 'a', sizeof(id));
	id[WFS_SCHEMA_URI_MAX] = '\0';

	definition = json_pack("{s:s}", "$id", id);
	schema = schema_of_json(definition);
	wfs_schema_free(WFS_STEAL(schema));
	id[WFS_SCHEMA_URI_MAX] = 'a';
	id[WFS_SCHEMA_URI_MAX + 1] = '\0';
	json_object_set_new(definition, "$id", json_string(id));

	assert_int_equal(wfs_schema_new(definition, NULL, "", &problems, &schema), -EINVAL);
	assert_non_null(strstr(wfs_buffer_text(&problems.lines),
		"/$id: a URI has at most 1024 bytes, this one has 1025"));
}

TEST(the_metaschema_is_in_the_program_and_no_other_document)
{
	const char *meta = "{'$ref':'https://json-schema.org/draft/2020-12/schema'}";

	assert_fits(meta, "{'properties':{'a':{'minLength':1}}}");
	assert_violates(meta, "{'properties':{'a':{'minLength':-1}}}",
		"at /properties/a/minLength: expected a number of at least 0, got integer -1");
	assert_not_loaded("{'$dynamicRef':'https://json-schema.org/draft/2019-09/schema'}",
		"/$dynamicRef: expected a schema of this document (#/…, #name or its $id) or a "
		"metaschema of JSON "
		"Schema 2020-12, got string "
		"\"https://json-schema.org/draft/2019-09/schema\"\n");
}

TEST(dynamic_ref_leads_to_the_outermost_anchor)
{
	const char *numbers = "{'$id':'numbers','$ref':'list','$defs':{"
			      "'n':{'$dynamicAnchor':'item','type':'number'},"
			      "'l':{'$id':'list','items':{'$dynamicRef':'#item'},"
			      "'$defs':{'any':{'$dynamicAnchor':'item'}}}}}";

	assert_violates(numbers, "['a']", "at /0: expected number, got string \"a\"");
}

TEST(dynamic_refs_in_a_circle_are_refused_or_end)
{
	assert_not_loaded("{'$dynamicAnchor':'a','$dynamicRef':'#a'}",
		"/$dynamicRef: the reference leads back to itself\n");
	assert_violates("{'$dynamicAnchor':'a','anyOf':[{'$dynamicRef':'#a'},true],"
			"'$defs':{'b':{'$id':'b','$dynamicAnchor':'a'}}}",
		"1", "at the top: too many schemas apply inside one another");
}

static json_t *chain_of_references(size_t count)
{
	json_t *definition = json_pack("{s:s, s:{}}", "$ref", "#/$defs/0", "$defs");
	json_t *definitions = json_object_get(definition, "$defs");
	char name[32];
	char target[32];

	for (size_t i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%zu", i);
		snprintf(target, sizeof(target), "#/$defs/%zu", i + 1);
		json_object_set_new(definitions, name,
			i + 1 < count ? json_pack("{s:s}", "$ref", target) : json_true());
	}
	return definition;
}

TEST(chain_of_references_is_bounded)
{
	WFS_AUTO_JSON json_t *longest = chain_of_references(WFS_SCHEMA_CHAIN_MAX - 1);
	WFS_AUTO_JSON json_t *too_long = chain_of_references(WFS_SCHEMA_CHAIN_MAX);
	WFS_AUTO_JSON json_t *huge = chain_of_references(WFS_SCHEMA_COUNT_MAX - 1);
	WFS_AUTO_SCHEMA struct wfs_schema *schema = schema_of_json(longest);
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	WFS_AUTO_JSON json_t *value = json_integer(1);
	struct wfs_schema *none = NULL;

	assert_int_equal(wfs_schema_check(schema, value, NULL), 0);
	assert_int_equal(wfs_schema_new(too_long, NULL, "", &problems, &none), -EINVAL);
	assert_string_equal(wfs_buffer_text(&problems.lines),
		"/$ref: more than 128 schemas would apply to one value\n");
	assert_int_equal(wfs_schema_new(huge, NULL, "", &problems, &none), -EINVAL);
	assert_int_equal(problems.count, 2);
}

TEST(doubling_references_run_out_of_steps)
{
	WFS_AUTO_JSON json_t *definition = json_pack("{s:s, s:{}}", "$ref", "#/$defs/0", "$defs");
	WFS_AUTO_SCHEMA struct wfs_schema *schema = NULL;
	WFS_AUTO_JSON json_t *value = json_integer(1);
	struct wfs_error error = {0};
	char name[32];
	char target[32];

	for (int i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "%d", i);
		snprintf(target, sizeof(target), "#/$defs/%d", i + 1);
		json_object_set_new(json_object_get(definition, "$defs"), name,
			json_pack("{s:[{s:s}, {s:s}]}", "allOf", "$ref", target, "$ref", target));
	}
	json_object_set_new(json_object_get(definition, "$defs"), "50", json_true());
	schema = schema_of_json(definition);

	assert_int_equal(wfs_schema_check(schema, value, &error), -EINVAL);
	assert_string_equal(error.message, "at the top: the check takes too many steps");
}
