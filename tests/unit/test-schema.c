/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The schema validator: what each keyword accepts and refuses, what cannot be loaded, and that
 * neither hostile schemas nor hostile values make a check long.
 *
 * JSON in here is written with ' for ".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/clock.h"
#include "kernel/base/json.h"
#include "kernel/schema.h"

static json_t *json_of(const char *text)
{
	WFS_AUTO_FREE char *copy = strdup(text);
	struct wfs_error error = {0};
	json_t *json = NULL;

	assert_non_null(copy);
	for (char *at = copy; (at = strchr(at, '\''));)
		*at = '"';
	if (wfs_json_parse(copy, strlen(copy), &json, &error) != 0)
		fail_msg("%s: %s", text, error.message);
	return json;
}

static struct wfs_schema *schema_of_json(json_t *definition)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	struct wfs_schema *schema = NULL;

	if (wfs_schema_new(definition, NULL, "", &problems, &schema) != 0)
		fail_msg("%s", wfs_buffer_text(&problems.lines));
	return schema;
}

static struct wfs_schema *schema_of(const char *text)
{
	WFS_AUTO_JSON json_t *definition = json_of(text);

	return schema_of_json(definition);
}

/* @lines: all problems, as they are reported. */
static void assert_not_loaded(const char *text, const char *lines)
{
	WFS_AUTO_JSON json_t *definition = json_of(text);
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	struct wfs_schema *schema = NULL;

	if (wfs_schema_new(definition, NULL, "", &problems, &schema) != -EINVAL)
		fail_msg("%s: was loaded", text);
	assert_null(schema);
	assert_string_equal(wfs_buffer_text(&problems.lines), lines);
}

static void assert_fits(const char *schema_text, const char *value_text)
{
	WFS_AUTO_SCHEMA struct wfs_schema *schema = schema_of(schema_text);
	WFS_AUTO_JSON json_t *value = json_of(value_text);
	struct wfs_error error = {0};

	if (wfs_schema_check(schema, value, &error) != 0)
		fail_msg("%s with %s: %s", value_text, schema_text, error.message);
}

static void assert_violates(const char *schema_text, const char *value_text, const char *message)
{
	WFS_AUTO_SCHEMA struct wfs_schema *schema = schema_of(schema_text);
	WFS_AUTO_JSON json_t *value = json_of(value_text);
	struct wfs_error error = {0};

	if (wfs_schema_check(schema, value, &error) != -EINVAL)
		fail_msg("%s fits %s", value_text, schema_text);
	assert_int_equal(error.code, WFS_E_SCHEMA_VIOLATION);
	assert_string_equal(error.message, message);
	assert_int_equal(wfs_schema_check(schema, value, NULL), -EINVAL);
}

static void schema_true_fits_everything_and_false_nothing(void **state)
{
	(void)state;

	assert_fits("true", "[1]");
	assert_fits("{}", "null");
	assert_violates("false", "1", "at the top: expected nothing, got integer 1");
}

static void schema_check_names_pointer_expectation_and_value(void **state)
{
	(void)state;

	assert_violates("{'properties':{'versions':{'items':{'type':'string'}}}}",
		"{'versions':['a','b',5]}", "at /versions/2: expected string, got integer 5");
	assert_violates("{'type':'array'}", "{'a':1}",
		"at the top: expected array, got object with 1 member");
	assert_violates("{'properties':{'a/b~c':{'type':'null'}}}", "{'a/b~c':0.5}",
		"at /a~1b~0c: expected null, got number 0.5");
}

static void schema_check_shortens_what_came_at_a_character(void **state)
{
	(void)state;

	assert_violates("{'type':'null'}",
		"'0123456789012345678901234567890123456789012345678901234567890äöü tail'",
		"at the top: expected null, got string "
		"\"0123456789012345678901234567890123456789012345678901234567890ä\"…");
}

static void schema_check_shortens_a_long_pointer(void **state)
{
	(void)state;
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

static void type_accepts_each_of_its_names(void **state)
{
	(void)state;

	assert_fits("{'type':'null'}", "null");
	assert_fits("{'type':'boolean'}", "false");
	assert_fits("{'type':'integer'}", "7");
	assert_fits("{'type':'number'}", "7");
	assert_fits("{'type':'number'}", "7.5");
	assert_fits("{'type':'string'}", "''");
	assert_fits("{'type':'array'}", "[]");
	assert_fits("{'type':'object'}", "{}");
	assert_fits("{'type':['string','null']}", "null");
	assert_violates("{'type':['string','null']}", "1",
		"at the top: expected null or string, got integer 1");
}

static void type_integer_accepts_whole_numbers_only(void **state)
{
	(void)state;

	assert_fits("{'type':'integer'}", "3.0");
	assert_fits("{'type':'integer'}", "1e300");
	assert_violates(
		"{'type':'integer'}", "1.5", "at the top: expected integer, got number 1.5");
}

static void type_refuses_unknown_repeated_and_no_names(void **state)
{
	(void)state;

	assert_not_loaded(
		"{'type':'float'}", "/type: expected the name of a type, got string \"float\"\n");
	assert_not_loaded("{'type':['string','text','string']}",
		"/type/1: expected the name of a type, got string \"text\"\n"
		"/type/2: the type stands there twice\n");
	assert_not_loaded(
		"{'type':[]}", "/type: expected at least one type, got array of 0 items\n");
	assert_not_loaded("{'type':1}", "/type: expected the name of a type, got integer 1\n");
}

static void const_and_enum_compare_whole_values(void **state)
{
	(void)state;

	assert_fits("{'const':{'a':[1,'x']}}", "{'a':[1.0,'x']}");
	assert_violates("{'const':{'a':[1]}}", "{'a':[2]}",
		"at the top: expected {\"a\":[1]}, got object with 1 member");
	assert_fits("{'const':null}", "null");
	assert_violates("{'const':null}", "false", "at the top: expected null, got boolean false");
	assert_violates(
		"{'const':0}", "false", "at the top: expected integer 0, got boolean false");
	assert_fits("{'enum':['a',1,null]}", "null");
	assert_violates("{'enum':['a',1,null]}", "'b'",
		"at the top: expected string \"a\", integer 1 or null, got string \"b\"");
	assert_not_loaded("{'enum':[]}",
		"/enum: expected an array with at least one value, got array of 0 items\n");
}

static void bounds_of_numbers_are_checked(void **state)
{
	(void)state;

	assert_fits("{'minimum':1,'maximum':2}", "1");
	assert_fits("{'minimum':1,'maximum':2}", "2");
	assert_violates("{'minimum':1}", "0.5",
		"at the top: expected a number of at least 1, got number 0.5");
	assert_violates("{'maximum':2.5}", "3",
		"at the top: expected a number of at most 2.5, got integer 3");
	assert_violates("{'exclusiveMinimum':1}", "1",
		"at the top: expected a number above 1, got integer 1");
	assert_violates("{'exclusiveMaximum':2}", "2.0",
		"at the top: expected a number below 2, got integer 2");
	assert_fits("{'minimum':1}", "'not a number'");
	assert_not_loaded("{'minimum':'1'}", "/minimum: expected number, got string \"1\"\n");
}

static void integers_and_reals_compare_exactly(void **state)
{
	(void)state;

	/* 2^53 + 1 is 2^53 as a double. */
	assert_violates("{'maximum':9007199254740992}", "9007199254740993",
		"at the top: expected a number of at most 9007199254740992, got integer "
		"9007199254740993");
	assert_fits("{'maximum':1e300}", "9223372036854775807");
	assert_fits("{'minimum':-1e300}", "-9223372036854775808");
	assert_fits("{'exclusiveMinimum':1.5}", "2");
	assert_fits("{'exclusiveMaximum':-1.5}", "-2");
	assert_violates("{'minimum':-1.5}", "-2",
		"at the top: expected a number of at least -1.5, got integer -2");
	assert_violates("{'const':9007199254740993}", "9007199254740992",
		"at the top: expected integer 9007199254740993, got integer 9007199254740992");
}

static void multiple_of_counts_in_decimal(void **state)
{
	(void)state;

	assert_fits("{'multipleOf':3}", "9");
	assert_fits("{'multipleOf':3}", "-9");
	assert_fits("{'multipleOf':3}", "0");
	assert_fits("{'multipleOf':0.1}", "0.3");
	assert_fits("{'multipleOf':0.01}", "19.99");
	assert_fits("{'multipleOf':2.5}", "10");
	assert_fits("{'multipleOf':0.5}", "1e300");
	assert_fits("{'multipleOf':1}", "-9223372036854775808");
	assert_fits("{'multipleOf':1e-300}", "1");
	assert_violates("{'multipleOf':3}", "9223372036854775807",
		"at the top: expected a multiple of 3, got integer 9223372036854775807");
	assert_violates("{'multipleOf':0.1}", "0.35",
		"at the top: expected a multiple of 0.1, got number 0.35");
	assert_violates("{'multipleOf':1e300}", "1",
		"at the top: expected a multiple of 1e+300, got integer 1");
	assert_violates("{'multipleOf':1}", "1e-7",
		"at the top: expected a multiple of 1, got number 1e-7");
	assert_not_loaded(
		"{'multipleOf':0}", "/multipleOf: expected a number above 0, got integer 0\n");
}

static void lengths_count_code_points(void **state)
{
	(void)state;

	assert_fits("{'minLength':2,'maxLength':2}", "'äö'");
	assert_fits("{'minLength':1,'maxLength':1}", "'😀'");
	assert_violates("{'minLength':3}", "'äö'",
		"at the top: expected at least 3 characters (there are 2), got string \"äö\"");
	assert_violates("{'maxLength':1}", "'äö'",
		"at the top: expected at most 1 character (there are 2), got string \"äö\"");
	assert_not_loaded("{'minLength':-1,'maxLength':1.5}",
		"/minLength: expected an integer of at least 0, got integer -1\n"
		"/maxLength: expected an integer of at least 0, got number 1.5\n");
}

static void pattern_searches_unanchored_in_utf8(void **state)
{
	(void)state;

	assert_fits("{'pattern':'b+'}", "'abc'");
	assert_fits("{'pattern':'^.$'}", "'ä'");
	assert_fits("{'pattern':''}", "''");
	assert_violates("{'pattern':'^b'}", "'abc'",
		"at the top: expected a string that matches \"^b\", got string \"abc\"");
	assert_violates("{'pattern':'^a$'}", "'a\\n'",
		"at the top: expected a string that matches \"^a$\", got string \"a\\n\"");
	assert_fits("{'pattern':'^a$'}", "5");
}

static void pattern_that_does_not_compile_is_refused(void **state)
{
	(void)state;

	assert_not_loaded("{'pattern':'a('}",
		"/pattern: the pattern does not compile: missing closing parenthesis at byte 2\n");
	assert_not_loaded("{'pattern':5}", "/pattern: expected string, got integer 5\n");
	assert_not_loaded("{'pattern':'(*UCP)a'}",
		"/pattern: the pattern does not compile: using UCP is disabled by the application "
		"at "
		"byte 6\n");
}

static void pattern_stops_at_the_match_limit(void **state)
{
	(void)state;
	int64_t before = wfs_clock_monotonic_ns();

	assert_violates("{'pattern':'^(a+)+$'}", "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab'",
		"at the top: the pattern takes too much work on this string");
	assert_true(wfs_clock_monotonic_ns() - before < INT64_C(5000000000));
}

static void pattern_limit_is_no_answer_for_not_and_any_of(void **state)
{
	(void)state;

	assert_violates("{'not':{'pattern':'^(a+)+$'}}",
		"'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab'",
		"at the top: the pattern takes too much work on this string");
	assert_violates("{'anyOf':[{'pattern':'^(a+)+$'},true]}",
		"'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab'",
		"at the top: the pattern takes too much work on this string");
}

static json_t *string_of(char c, size_t size)
{
	WFS_AUTO_FREE char *text = malloc(size + 1);

	assert_non_null(text);
	memset(text, c, size);
	text[size] = '\0';
	return json_stringn(text, size);
}

static void pattern_of_quadratic_cost_is_refused_on_long_text(void **state)
{
	(void)state;
	WFS_AUTO_SCHEMA struct wfs_schema *schema = schema_of("{'pattern':'[^b]*+c'}");
	WFS_AUTO_JSON json_t *value = string_of('a', 1 << 20);
	struct wfs_error error = {0};

	assert_int_equal(wfs_schema_check(schema, value, &error), -EINVAL);
	assert_string_equal(
		error.message, "at the top: the pattern takes too much work on this string");
}

static void pattern_stops_at_the_depth_limit(void **state)
{
	(void)state;
	WFS_AUTO_SCHEMA struct wfs_schema *schema = schema_of("{'pattern':'^(?:(a)|b)*$'}");
	WFS_AUTO_JSON json_t *shallow = string_of('a', 1000);
	WFS_AUTO_JSON json_t *deep = string_of('a', 12000);
	struct wfs_error error = {0};

	assert_int_equal(wfs_schema_check(schema, shallow, NULL), 0);
	assert_int_equal(wfs_schema_check(schema, deep, &error), -EINVAL);
	assert_string_equal(
		error.message, "at the top: the pattern takes too much work on this string");
}

static void pattern_at_the_start_is_tried_on_long_text(void **state)
{
	(void)state;
	WFS_AUTO_SCHEMA struct wfs_schema *schema = schema_of("{'pattern':'^a*$'}");
	WFS_AUTO_JSON json_t *value = string_of('a', 8 << 20);

	assert_int_equal(wfs_schema_check(schema, value, NULL), 0);
}

static void pattern_size_and_count_are_bounded(void **state)
{
	(void)state;
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	WFS_AUTO_JSON json_t *longest =
		json_pack("{s:o}", "pattern", string_of('a', WFS_SCHEMA_PATTERN_MAX));
	WFS_AUTO_JSON json_t *too_long =
		json_pack("{s:o}", "pattern", string_of('a', WFS_SCHEMA_PATTERN_MAX + 1));
	WFS_AUTO_JSON json_t *many = json_pack("{s:[]}", "allOf");
	WFS_AUTO_SCHEMA struct wfs_schema *schema = NULL;
	struct wfs_schema *none = NULL;
	json_t *list = json_object_get(many, "allOf");

	schema = schema_of_json(longest);
	wfs_schema_free(WFS_STEAL(schema));
	assert_int_equal(wfs_schema_new(too_long, NULL, "", &problems, &none), -EINVAL);
	for (int i = 0; i < WFS_SCHEMA_PATTERNS_MAX; i++)
		json_array_append_new(list, json_pack("{s:s}", "pattern", "a"));
	schema = schema_of_json(many);
	json_array_append_new(list, json_pack("{s:s}", "pattern", "a"));
	wfs_schema_free(WFS_STEAL(schema));
	assert_int_equal(wfs_schema_new(many, NULL, "", &problems, &none), -EINVAL);

	assert_string_equal(wfs_buffer_text(&problems.lines),
		"/pattern: a pattern has at most 4096 bytes, this one has 4097\n"
		"/allOf/256/pattern: a schema has at most 256 patterns\n");
}

static void items_follow_prefix_items(void **state)
{
	(void)state;
	const char *schema = "{'prefixItems':[{'type':'string'}],'items':{'type':'integer'}}";

	assert_fits(schema, "['a',1,2]");
	assert_fits(schema, "[]");
	assert_violates(schema, "[1]", "at /0: expected string, got integer 1");
	assert_violates(schema, "['a','b']", "at /1: expected integer, got string \"b\"");
	assert_violates("{'prefixItems':[true],'items':false}", "[1,2]",
		"at /1: expected no item at this place, got integer 2");
	assert_not_loaded("{'items':[true]}",
		"/items: expected a schema (object or boolean), got array of 1 item\n");
	assert_not_loaded("{'prefixItems':[]}",
		"/prefixItems: expected an array with at least one schema, got array of 0 items\n");
}

static void counts_of_items_are_checked(void **state)
{
	(void)state;

	assert_fits("{'minItems':1,'maxItems':1}", "[1]");
	assert_violates("{'minItems':2}", "[1]",
		"at the top: expected at least 2 items, got array of 1 item");
	assert_violates("{'maxItems':1}", "[1,2]",
		"at the top: expected at most 1 item, got array of 2 items");
}

static void unique_items_finds_equal_ones(void **state)
{
	(void)state;

	assert_fits("{'uniqueItems':true}", "[1,'1',[1],{'a':1},null]");
	assert_fits("{'uniqueItems':false}", "[1,1]");
	assert_violates("{'uniqueItems':true}", "[1,2,{'a':1,'b':2},{'b':2,'a':1.0}]",
		"at the top: expected items that differ, got items 2 and 3 equal");
	assert_violates("{'uniqueItems':true}", "[1,2,3,4,5,6,7,8,9,10,{'a':[]},'3',{'a':[]}]",
		"at the top: expected items that differ, got items 10 and 12 equal");
	assert_not_loaded("{'uniqueItems':1}", "/uniqueItems: expected boolean, got integer 1\n");
}

static void unique_items_is_not_quadratic(void **state)
{
	(void)state;
	WFS_AUTO_SCHEMA struct wfs_schema *schema = schema_of("{'uniqueItems':true}");
	WFS_AUTO_JSON json_t *array = json_array();
	int64_t before;

	for (int i = 0; i < 300000; i++)
		json_array_append_new(array, json_integer(i));
	before = wfs_clock_monotonic_ns();

	assert_int_equal(wfs_schema_check(schema, array, NULL), 0);
	assert_true(wfs_clock_monotonic_ns() - before < INT64_C(10000000000));
}

static void required_members_must_be_there(void **state)
{
	(void)state;

	assert_fits("{'required':['a']}", "{'a':null}");
	assert_fits("{'required':['a']}", "7");
	assert_violates("{'required':['a','b'],'properties':{'b':true}}", "{'a':1}",
		"at the top: expected a member \"b\", got object with 1 member");
	assert_violates("{'properties':{'x':{'required':['a']}}}", "{'x':{}}",
		"at /x: expected a member \"a\", got object with 0 members");
	assert_not_loaded("{'required':['a',1,'a']}",
		"/required/1: expected the name of a member, got integer 1\n"
		"/required/2: expected each name once, got string \"a\"\n");
	assert_not_loaded("{'required':true}", "/required: expected array, got boolean true\n");
}

static void additional_properties_judge_the_unnamed_only(void **state)
{
	(void)state;
	const char *closed = "{'properties':{'a':true},'required':['b'],"
			     "'additionalProperties':false}";
	const char *typed = "{'properties':{'a':true},'additionalProperties':{'type':'string'}}";

	assert_fits(typed, "{'a':1,'b':'x'}");
	assert_violates(typed, "{'a':1,'b':2}", "at /b: expected string, got integer 2");
	assert_violates(
		closed, "{'a':1,'b':2}", "at /b: expected no member of this name, got integer 2");
	assert_fits("{'additionalProperties':false}", "{}");
}

static void counts_of_members_are_checked(void **state)
{
	(void)state;

	assert_violates("{'minProperties':1}", "{}",
		"at the top: expected at least 1 member, got object with 0 members");
	assert_violates("{'maxProperties':1}", "{'a':1,'b':2}",
		"at the top: expected at most 1 member, got object with 2 members");
}

static void properties_must_be_an_object_of_schemas(void **state)
{
	(void)state;

	assert_not_loaded(
		"{'properties':[]}", "/properties: expected object, got array of 0 items\n");
	assert_not_loaded("{'properties':{'a':1}}",
		"/properties/a: expected a schema (object or boolean), got integer 1\n");
	assert_not_loaded("{'$defs':1}", "/$defs: expected object, got integer 1\n");
}

static void all_of_reports_what_is_wrong_inside(void **state)
{
	(void)state;

	assert_fits("{'allOf':[{'minimum':1},{'maximum':3}]}", "2");
	assert_violates("{'allOf':[{'minimum':1},{'maximum':3}]}", "4",
		"at the top: expected a number of at most 3, got integer 4");
}

static void any_of_one_of_and_not_choose(void **state)
{
	(void)state;
	const char *any = "{'anyOf':[{'type':'string'},{'minimum':3}]}";
	const char *one = "{'oneOf':[{'type':'integer'},{'minimum':3}]}";

	assert_fits(any, "'a'");
	assert_fits(any, "5");
	assert_violates(any, "1",
		"at the top: expected a value that fits one of 2 schemas (anyOf), got integer 1");
	assert_fits(one, "1");
	assert_fits(one, "3.5");
	assert_violates(one, "5",
		"at the top: expected a value that fits exactly one of 2 schemas (oneOf, it fits "
		"two), "
		"got integer 5");
	assert_violates(one, "0.5",
		"at the top: expected a value that fits exactly one of 2 schemas (oneOf, it fits "
		"none), "
		"got number 0.5");
	assert_fits("{'not':{'type':'null'}}", "1");
	assert_violates("{'not':{'type':'null'}}", "null",
		"at the top: expected a value that does not fit (not), got null");
}

static void not_inside_any_of_stays_silent_and_the_next_error_is_reported(void **state)
{
	(void)state;

	assert_violates("{'anyOf':[{'not':{'type':'integer'}},true],'maximum':1,"
			"'allOf':[{'not':{'const':0}},{'minimum':1}]}",
		"0", "at the top: expected a value that does not fit (not), got integer 0");
}

static void ref_leads_to_any_schema_of_the_document(void **state)
{
	(void)state;

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

static void ref_to_the_top_describes_trees(void **state)
{
	(void)state;
	const char *tree = "{'type':'object','properties':{'left':{'$ref':'#'}},"
			   "'additionalProperties':false}";

	assert_fits(tree, "{'left':{'left':{}}}");
	assert_violates(
		tree, "{'left':{'left':1}}", "at /left/left: expected object, got integer 1");
}

static void ref_applies_together_with_its_neighbours(void **state)
{
	(void)state;

	assert_violates("{'$ref':'#/$defs/n','maximum':3,'$defs':{'n':{'type':'integer'}}}", "5",
		"at the top: expected a number of at most 3, got integer 5");
}

static void ref_that_leads_nowhere_is_refused(void **state)
{
	(void)state;
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
		"/$ref: expected a reference within the document (#/…), got string "
		"\"http://example.org/s\"\n");
	assert_not_loaded("{'$ref':1}",
		"/$ref: expected a reference within the document (#/…), got integer 1\n");
}

static void ref_that_comes_back_without_consuming_is_refused(void **state)
{
	(void)state;

	assert_not_loaded("{'$ref':'#'}", "/$ref: the reference leads back to itself\n");
	assert_not_loaded("{'$defs':{'a':{'$ref':'#/$defs/a'}}}",
		"/$defs/a/$ref: the reference leads back to itself\n");
	assert_not_loaded("{'anyOf':[{'not':{'$ref':'#'}},true]}",
		"/anyOf/0/not/$ref: the reference leads back to itself\n");
	assert_fits("{'items':{'$ref':'#'}}", "[[[]]]");
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

static void chain_of_references_is_bounded(void **state)
{
	(void)state;
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

static void doubling_references_run_out_of_steps(void **state)
{
	(void)state;
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

static void unknown_keywords_are_refused_all_at_once(void **state)
{
	(void)state;

	assert_not_loaded("{'patternProperties':{},'properties':{'a/b':{'if':true,'type':'x'}},"
			  "'dependentRequired':{}}",
		"/patternProperties: this keyword is not supported\n"
		"/properties/a~1b/if: this keyword is not supported\n"
		"/properties/a~1b/type: expected the name of a type, got string \"x\"\n"
		"/dependentRequired: this keyword is not supported\n");
}

static void problems_carry_file_and_prefix(void **state)
{
	(void)state;
	WFS_AUTO_JSON json_t *definition = json_of("{'bad':1}");
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	struct wfs_schema *schema = NULL;

	assert_int_equal(
		wfs_schema_new(definition, "change.json", "/schemas/0/schema", &problems, &schema),
		-EINVAL);
	assert_string_equal(wfs_buffer_text(&problems.lines),
		"change.json: /schemas/0/schema/bad: this keyword is not supported\n");
}

static void annotations_change_nothing_but_have_a_type(void **state)
{
	(void)state;

	assert_fits("{'$schema':'https://json-schema.org/draft/2020-12/schema','$id':'urn:x',"
		    "'title':'t','description':'d','default':{'a':1},'examples':[1],'$comment':'c',"
		    "'deprecated':true,'format':'date'}",
		"5");
	assert_not_loaded("{'title':1,'deprecated':'yes','examples':{}}",
		"/title: expected string, got integer 1\n"
		"/deprecated: expected boolean, got string \"yes\"\n"
		"/examples: expected array, got object with 0 members\n");
}

static void schema_and_id_that_would_change_the_meaning_are_refused(void **state)
{
	(void)state;

	assert_not_loaded("{'$schema':'http://json-schema.org/draft-07/schema#'}",
		"/$schema: expected \"https://json-schema.org/draft/2020-12/schema\", got string "
		"\"http://json-schema.org/draft-07/schema#\"\n");
	assert_not_loaded(
		"{'items':{'$id':'x'}}", "/items/$id: $id may stand only at the top of a schema\n");
	assert_not_loaded("{'$id':1}", "/$id: expected string, got integer 1\n");
}

static void schema_must_be_an_object_or_a_boolean(void **state)
{
	(void)state;

	assert_not_loaded("[]", "expected a schema (object or boolean), got array of 0 items\n");
}

static json_t *nested_schema(int depth)
{
	json_t *definition = json_true();

	for (int i = 1; i < depth; i++)
		definition = json_pack("{s:o}", "items", definition);
	return definition;
}

static void nesting_of_schemas_is_bounded(void **state)
{
	(void)state;
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

static void count_of_schemas_is_bounded(void **state)
{
	(void)state;
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

static void value_nested_too_deeply_for_a_recursive_schema_is_refused(void **state)
{
	(void)state;
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

static void steps_of_a_check_are_bounded(void **state)
{
	(void)state;
	WFS_AUTO_SCHEMA struct wfs_schema *schema =
		schema_of("{'items':{'allOf':[true,true,true,true,true,true,true]}}");
	WFS_AUTO_JSON json_t *array = json_array();
	struct wfs_error error = {0};

	while (json_array_size(array) < 1000000)
		json_array_append_new(array, json_null());

	assert_int_equal(wfs_schema_check(schema, array, &error), -EINVAL);
	assert_string_equal(error.message, "at /524287: the check takes too many steps");
}

static void describe_tells_missing_values_too(void **state)
{
	(void)state;
	WFS_AUTO_BUFFER struct wfs_buffer buffer = {0};

	wfs_schema_describe(NULL, &buffer);

	assert_string_equal(wfs_buffer_text(&buffer), "nothing");
}

static void pointer_append_keeps_a_report_on_one_line(void **state)
{
	(void)state;
	WFS_AUTO_BUFFER struct wfs_buffer buffer = {0};

	wfs_schema_pointer_append(&buffer, "a\n/~");

	assert_string_equal(wfs_buffer_text(&buffer), "/a\\u000a~1~0");
}

static void schema_free_takes_null(void **state)
{
	(void)state;

	wfs_schema_free(NULL);
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

static const char event_schema[] =
	"{'type':'object','properties':{'package':{'type':'string'},'version':{'type':'string'},"
	"'size':{'type':'integer','minimum':0},'time_ns':{'type':'integer'},"
	"'state':{'enum':['installed','removed']},'reason':{'type':['string','null']}},"
	"'required':['package','version','size'],'additionalProperties':false}";
static const char event_value[] = "{'package':'bash','version':'5.2','size':7,'time_ns':1,"
				  "'state':'installed','reason':null}";

static void check_runs_in_several_threads(void **state)
{
	(void)state;
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

static void check_of_a_small_event_is_quick(void **state)
{
	(void)state;
	WFS_AUTO_SCHEMA struct wfs_schema *schema = schema_of(event_schema);
	WFS_AUTO_JSON json_t *value = json_of(event_value);
	const int rounds = 200000;
	int64_t spent_ns = wfs_clock_monotonic_ns();

	for (int i = 0; i < rounds; i++)
		assert_int_equal(wfs_schema_check(schema, value, NULL), 0);
	spent_ns = (wfs_clock_monotonic_ns() - spent_ns) / rounds;
	print_message("one check: %lld ns\n", (long long)spent_ns);

	/* About 200 ns without sanitizers; the bound allows for those and for a busy machine. */
	assert_true(spent_ns < 20000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(schema_true_fits_everything_and_false_nothing),
		cmocka_unit_test(schema_check_names_pointer_expectation_and_value),
		cmocka_unit_test(schema_check_shortens_what_came_at_a_character),
		cmocka_unit_test(schema_check_shortens_a_long_pointer),
		cmocka_unit_test(type_accepts_each_of_its_names),
		cmocka_unit_test(type_integer_accepts_whole_numbers_only),
		cmocka_unit_test(type_refuses_unknown_repeated_and_no_names),
		cmocka_unit_test(const_and_enum_compare_whole_values),
		cmocka_unit_test(bounds_of_numbers_are_checked),
		cmocka_unit_test(integers_and_reals_compare_exactly),
		cmocka_unit_test(multiple_of_counts_in_decimal),
		cmocka_unit_test(lengths_count_code_points),
		cmocka_unit_test(pattern_searches_unanchored_in_utf8),
		cmocka_unit_test(pattern_that_does_not_compile_is_refused),
		cmocka_unit_test(pattern_stops_at_the_match_limit),
		cmocka_unit_test(pattern_limit_is_no_answer_for_not_and_any_of),
		cmocka_unit_test(pattern_of_quadratic_cost_is_refused_on_long_text),
		cmocka_unit_test(pattern_stops_at_the_depth_limit),
		cmocka_unit_test(pattern_at_the_start_is_tried_on_long_text),
		cmocka_unit_test(pattern_size_and_count_are_bounded),
		cmocka_unit_test(items_follow_prefix_items),
		cmocka_unit_test(counts_of_items_are_checked),
		cmocka_unit_test(unique_items_finds_equal_ones),
		cmocka_unit_test(unique_items_is_not_quadratic),
		cmocka_unit_test(required_members_must_be_there),
		cmocka_unit_test(additional_properties_judge_the_unnamed_only),
		cmocka_unit_test(counts_of_members_are_checked),
		cmocka_unit_test(properties_must_be_an_object_of_schemas),
		cmocka_unit_test(all_of_reports_what_is_wrong_inside),
		cmocka_unit_test(any_of_one_of_and_not_choose),
		cmocka_unit_test(not_inside_any_of_stays_silent_and_the_next_error_is_reported),
		cmocka_unit_test(ref_leads_to_any_schema_of_the_document),
		cmocka_unit_test(ref_to_the_top_describes_trees),
		cmocka_unit_test(ref_applies_together_with_its_neighbours),
		cmocka_unit_test(ref_that_leads_nowhere_is_refused),
		cmocka_unit_test(ref_that_comes_back_without_consuming_is_refused),
		cmocka_unit_test(chain_of_references_is_bounded),
		cmocka_unit_test(doubling_references_run_out_of_steps),
		cmocka_unit_test(unknown_keywords_are_refused_all_at_once),
		cmocka_unit_test(problems_carry_file_and_prefix),
		cmocka_unit_test(annotations_change_nothing_but_have_a_type),
		cmocka_unit_test(schema_and_id_that_would_change_the_meaning_are_refused),
		cmocka_unit_test(schema_must_be_an_object_or_a_boolean),
		cmocka_unit_test(nesting_of_schemas_is_bounded),
		cmocka_unit_test(count_of_schemas_is_bounded),
		cmocka_unit_test(value_nested_too_deeply_for_a_recursive_schema_is_refused),
		cmocka_unit_test(steps_of_a_check_are_bounded),
		cmocka_unit_test(describe_tells_missing_values_too),
		cmocka_unit_test(pointer_append_keeps_a_report_on_one_line),
		cmocka_unit_test(schema_free_takes_null),
		cmocka_unit_test(check_runs_in_several_threads),
		cmocka_unit_test(check_of_a_small_event_is_quick),
	};

	return cmocka_run_group_tests_name("schema", tests, NULL, NULL);
}
