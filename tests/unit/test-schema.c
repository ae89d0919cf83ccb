/* SPDX-License-Identifier: Apache-2.0 */
/* Which schemas cannot be loaded, what reports say, and that neither hostile schemas nor hostile
 * values make a check slow. */
#include "tests/fixture/schema.h"

#include <pthread.h>

TEST(schema_true_fits_everything_and_false_nothing)
{
	assert_fits("true", "[1]");
	assert_fits("{}", "null");
	assert_violates("false", "1", "at the top: expected nothing, got integer 1");
}

TEST(schema_check_names_pointer_expectation_and_value)
{
	assert_violates("{'properties':{'versions':{'items':{'type':'string'}}}}",
		"{'versions':['a','b',5]}", "at /versions/2: expected string, got integer 5");
	assert_violates("{'type':'array'}", "{'a':1}",
		"at the top: expected array, got object with 1 member");
	assert_violates("{'properties':{'a/b~c':{'type':'null'}}}", "{'a/b~c':0.5}",
		"at /a~1b~0c: expected null, got number 0.5");
}

TEST(schema_check_shortens_what_came_at_a_character)
{
	assert_violates("{'type':'null'}",
		"'0123456789012345678901234567890123456789012345678901234567890äöü tail'",
		"at the top: expected null, got string "
		"\"0123456789012345678901234567890123456789012345678901234567890ä\"…");
}

TEST(schema_check_shortens_a_long_pointer)
{
	WFS_AUTO_SCHEMA struct wfs_schema *schema = schema_of("{'additionalProperties':false}");
	WFS_AUTO_JSON json_t *value = json_object();
	struct wfs_error error = {0};
	char name[301];

	memset(name, 'n', 300);
	name[300] = '\0';
	json_object_set_new(value, name, json_null());

	assert_int_equal(wfs_schema_check(schema, value, &error), -EINVAL);
	assert_int_equal(strlen(error.message),
		strlen("at ") + 200 + strlen("…: expected no member of this name, got null"));
}

TEST(unknown_keywords_are_refused_all_at_once)
{
	assert_not_loaded("{'dependencies':{},'properties':{'a/b':{'iff':true,'type':'x'}},"
			  "'definitions':{}}",
		"/dependencies: this keyword is not supported\n"
		"/properties/a~1b/iff: this keyword is not supported\n"
		"/properties/a~1b/type: expected the name of a type, got string \"x\"\n"
		"/definitions: this keyword is not supported\n");
}

TEST(problems_carry_file_and_prefix)
{
	WFS_AUTO_JSON json_t *definition = json_of("{'bad':1}");
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	struct wfs_schema *schema = NULL;

	assert_int_equal(
		wfs_schema_new(definition, "change.json", "/schemas/0/schema", &problems, &schema),
		-EINVAL);
	assert_string_equal(wfs_buffer_text(&problems.lines),
		"change.json: /schemas/0/schema/bad: this keyword is not supported\n");
}

TEST(annotations_change_nothing_but_have_a_type)
{
	assert_fits("{'$schema':'https://json-schema.org/draft/2020-12/schema','$id':'urn:x',"
		    "'title':'t','description':'d','default':{'a':1},'examples':[1],'$comment':'c',"
		    "'deprecated':true,'format':'date'}",
		"5");
	assert_not_loaded("{'title':1,'deprecated':'yes','examples':{}}",
		"/title: expected string, got integer 1\n"
		"/deprecated: expected boolean, got string \"yes\"\n"
		"/examples: expected array, got object with 0 members\n");
}

TEST(a_dialect_is_named_where_a_schema_has_an_identifier)
{
	assert_not_loaded("{'$schema':'http://json-schema.org/draft-07/schema#'}",
		"/$schema: expected \"https://json-schema.org/draft/2020-12/schema\", got string "
		"\"http://json-schema.org/draft-07/schema#\"\n");
	assert_not_loaded("{'items':{'$schema':'https://json-schema.org/draft/2020-12/schema'}}",
		"/items/$schema: $schema may stand only at the top of a schema, or beside $id\n");
	assert_fits(
		"{'items':{'$id':'x','$schema':'https://json-schema.org/draft/2020-12/schema'}}",
		"[1]");
	assert_not_loaded("{'$schema':1}", "/$schema: expected string, got integer 1\n");
}

TEST(schema_must_be_an_object_or_a_boolean)
{
	assert_not_loaded("[]", "expected a schema (object or boolean), got array of 0 items\n");
}

static json_t *nested_schema(int depth)
{
	json_t *definition = json_true();

	for (int i = 1; i < depth; i++)
		definition = json_pack("{s:o}", "items", definition);
	return definition;
}

TEST(nesting_of_schemas_is_bounded)
{
	WFS_AUTO_JSON json_t *deepest = nested_schema(WFS_SCHEMA_DEPTH_MAX);
	WFS_AUTO_JSON json_t *too_deep = nested_schema(WFS_SCHEMA_DEPTH_MAX + 1);
	WFS_AUTO_SCHEMA struct wfs_schema *schema = NULL;
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	struct wfs_schema *none = NULL;

	schema = schema_of_json(deepest);
	assert_non_null(schema);
	assert_int_equal(wfs_schema_new(too_deep, NULL, "", &problems, &none), -EINVAL);
	assert_non_null(strstr(wfs_buffer_text(&problems.lines), "nested deeper than 64"));
	assert_int_equal(problems.count, 1);
}

TEST(count_of_schemas_is_bounded)
{
	WFS_AUTO_JSON json_t *definition = json_pack("{s:[]}", "anyOf");
	json_t *list = json_object_get(definition, "anyOf");
	WFS_AUTO_SCHEMA struct wfs_schema *schema = NULL;
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	struct wfs_schema *none = NULL;

	for (int i = 1; i < WFS_SCHEMA_COUNT_MAX; i++)
		json_array_append_new(list, json_true());
	schema = schema_of_json(definition);
	wfs_schema_free(WFS_STEAL(schema));
	json_array_append_new(list, json_true());
	json_array_append_new(list, json_true());

	assert_int_equal(wfs_schema_new(definition, NULL, "", &problems, &none), -EINVAL);
	assert_string_equal(wfs_buffer_text(&problems.lines),
		"/anyOf/9999: a schema has at most 10000 schemas in it\n");
}

TEST(value_nested_too_deeply_for_a_recursive_schema_is_refused)
{
	WFS_AUTO_SCHEMA struct wfs_schema *schema = schema_of("{'items':{'$ref':'#'}}");
	WFS_AUTO_JSON json_t *value = json_array();
	struct wfs_error error = {0};

	for (int i = 1; i < WFS_JSON_DEPTH_MAX; i++)
		value = json_pack("[o]", value);
	assert_int_equal(wfs_schema_check(schema, value, &error), 0);
	value = json_pack("[[o]]", value);
	assert_int_equal(wfs_schema_check(schema, value, &error), -EINVAL);
	assert_non_null(strstr(error.message, "the value is nested too deeply"));
}

TEST(steps_of_a_check_are_bounded)
{
	WFS_AUTO_SCHEMA struct wfs_schema *schema =
		schema_of("{'items':{'allOf':[true,true,true,true,true,true,true]}}");
	WFS_AUTO_JSON json_t *array = json_array();
	struct wfs_error error = {0};

	while (json_array_size(array) < 1000000)
		json_array_append_new(array, json_null());

	assert_int_equal(wfs_schema_check(schema, array, &error), -EINVAL);
	assert_string_equal(error.message, "at /524287: the check takes too many steps");
}

TEST(describe_tells_missing_values_too)
{
	WFS_AUTO_BUFFER struct wfs_buffer buffer = {0};

	wfs_json_describe(NULL, &buffer);

	assert_string_equal(wfs_buffer_text(&buffer), "nothing");
}

TEST(pointer_append_keeps_a_report_on_one_line)
{
	WFS_AUTO_BUFFER struct wfs_buffer buffer = {0};

	wfs_json_pointer_append(&buffer, "a\n/~");

	assert_string_equal(wfs_buffer_text(&buffer), "/a\\u000a~1~0");
}

struct worker {
	const struct wfs_schema *schema;
	const json_t *value;
	int failures;
};

static void *check_often(void *argument)
{
	struct worker *worker = argument;

	for (int i = 0; i < 2000; i++)
		worker->failures += wfs_schema_check(worker->schema, worker->value, NULL) != 0;
	return NULL;
}

TEST(check_runs_in_several_threads)
{
	WFS_AUTO_SCHEMA struct wfs_schema *schema =
		schema_of("{'items':{'pattern':'^a+$'},'uniqueItems':true}");
	WFS_AUTO_JSON json_t *value = json_of("['a','aa','aaa']");
	struct worker workers[4];
	pthread_t threads[4];

	for (size_t i = 0; i < WFS_ARRAY_COUNT(threads); i++) {
		workers[i] = (struct worker){.schema = schema, .value = value};
		assert_int_equal(pthread_create(&threads[i], NULL, check_often, &workers[i]), 0);
	}
	for (size_t i = 0; i < WFS_ARRAY_COUNT(threads); i++)
		pthread_join(threads[i], NULL);

	for (size_t i = 0; i < WFS_ARRAY_COUNT(threads); i++)
		assert_int_equal(workers[i].failures, 0);
}
