/* SPDX-License-Identifier: Apache-2.0 */
/* What each keyword of a schema accepts and refuses. */
#include "tests/fixture/schema.h"

#include "kernel/base/clock.h"
#include "kernel/schema/pattern.h"

TEST(type_accepts_each_of_its_names)
{
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

TEST(type_integer_accepts_whole_numbers_only)
{
	assert_fits("{'type':'integer'}", "3.0");
	assert_fits("{'type':'integer'}", "1e300");
	assert_violates(
		"{'type':'integer'}", "1.5", "at the top: expected integer, got number 1.5");
}

TEST(type_refuses_unknown_repeated_and_no_names)
{
	assert_not_loaded(
		"{'type':'float'}", "/type: expected the name of a type, got string \"float\"\n");
	assert_not_loaded("{'type':['string','text','string']}",
		"/type/1: expected the name of a type, got string \"text\"\n"
		"/type/2: the type stands there twice\n");
	assert_not_loaded(
		"{'type':[]}", "/type: expected at least one type, got array of 0 items\n");
	assert_not_loaded("{'type':1}", "/type: expected the name of a type, got integer 1\n");
}

TEST(const_and_enum_compare_whole_values)
{
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
	assert_violates("{'enum':[]}", "null", "at the top: expected nothing, got null");
	assert_not_loaded("{'enum':'a'}", "/enum: expected array, got string \"a\"\n");
}

TEST(bounds_of_numbers_are_checked)
{
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

TEST(integers_and_reals_compare_exactly)
{
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

TEST(multiple_of_counts_in_decimal)
{
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

TEST(lengths_count_code_points)
{
	assert_fits("{'minLength':2,'maxLength':2}", "'äö'");
	assert_fits("{'minLength':1,'maxLength':1}", "'😀'");
	assert_fits("{'minLength':1.0,'maxLength':1e300}", "'ä'");
	assert_violates("{'minLength':3}", "'äö'",
		"at the top: expected at least 3 characters (there are 2), got string \"äö\"");
	assert_violates("{'maxLength':1}", "'äö'",
		"at the top: expected at most 1 character (there are 2), got string \"äö\"");
	assert_not_loaded("{'minLength':-1,'maxLength':1.5}",
		"/minLength: expected an integer of at least 0, got integer -1\n"
		"/maxLength: expected an integer of at least 0, got number 1.5\n");
}

TEST(pattern_searches_unanchored_in_utf8)
{
	assert_fits("{'pattern':'b+'}", "'abc'");
	assert_fits("{'pattern':'^.$'}", "'ä'");
	assert_fits("{'pattern':''}", "''");
	assert_violates("{'pattern':'^b'}", "'abc'",
		"at the top: expected a string that matches \"^b\", got string \"abc\"");
	assert_violates("{'pattern':'^a$'}", "'a\\n'",
		"at the top: expected a string that matches \"^a$\", got string \"a\\n\"");
	assert_fits("{'pattern':'^a$'}", "5");
	assert_fits("{'pattern':'^\\\\p{Letter}\\\\s$'}", "'é\xe2\x80\x83'");
}

TEST(pattern_that_does_not_compile_is_refused)
{
	assert_not_loaded("{'pattern':'a('}",
		"/pattern: the pattern does not compile: missing closing parenthesis at byte 2\n");
	assert_not_loaded("{'pattern':5}", "/pattern: expected string, got integer 5\n");
	assert_not_loaded("{'pattern':'(*UCP)a'}",
		"/pattern: the pattern does not compile: the quantifier has nothing to repeat at "
		"byte 1\n");
}

TEST(pattern_stops_at_the_match_limit)
{
	int64_t before = wfs_clock_monotonic_ns();

	assert_violates("{'pattern':'^(a+)+$'}", "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab'",
		"at the top: the pattern takes too much work on this string");
	assert_true(wfs_clock_monotonic_ns() - before < INT64_C(5000000000));
}

TEST(pattern_limit_is_no_answer_for_not_and_any_of)
{
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

TEST(pattern_of_quadratic_cost_is_refused_on_long_text)
{
	WFS_AUTO_SCHEMA struct wfs_schema *schema = schema_of("{'pattern':'[^b]*c'}");
	WFS_AUTO_JSON json_t *value = string_of('a', 1 << 20);
	struct wfs_error error = {0};

	assert_int_equal(wfs_schema_check(schema, value, &error), -EINVAL);
	assert_string_equal(
		error.message, "at the top: the pattern takes too much work on this string");
}

TEST(pattern_stops_at_the_depth_limit)
{
	WFS_AUTO_SCHEMA struct wfs_schema *schema = schema_of("{'pattern':'^(?:(a)|b)*$'}");
	WFS_AUTO_JSON json_t *shallow = string_of('a', 1000);
	WFS_AUTO_JSON json_t *deep = string_of('a', 12000);
	struct wfs_error error = {0};

	assert_int_equal(wfs_schema_check(schema, shallow, NULL), 0);
	assert_int_equal(wfs_schema_check(schema, deep, &error), -EINVAL);
	assert_string_equal(
		error.message, "at the top: the pattern takes too much work on this string");
}

TEST(pattern_at_the_start_is_tried_on_long_text)
{
	WFS_AUTO_SCHEMA struct wfs_schema *schema = schema_of("{'pattern':'^a*$'}");
	WFS_AUTO_JSON json_t *value = string_of('a', 8 << 20);

	assert_int_equal(wfs_schema_check(schema, value, NULL), 0);
}

TEST(pattern_size_and_count_are_bounded)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	WFS_AUTO_JSON json_t *longest =
		json_pack("{s:o}", "pattern", string_of('a', WFS_PATTERN_SIZE_MAX));
	WFS_AUTO_JSON json_t *too_long =
		json_pack("{s:o}", "pattern", string_of('a', WFS_PATTERN_SIZE_MAX + 1));
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

TEST(items_follow_prefix_items)
{
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

TEST(counts_of_items_are_checked)
{
	assert_fits("{'minItems':1,'maxItems':1}", "[1]");
	assert_violates("{'minItems':2}", "[1]",
		"at the top: expected at least 2 items, got array of 1 item");
	assert_violates("{'maxItems':1}", "[1,2]",
		"at the top: expected at most 1 item, got array of 2 items");
}

TEST(unique_items_finds_equal_ones)
{
	assert_fits("{'uniqueItems':true}", "[1,'1',[1],{'a':1},null]");
	assert_fits("{'uniqueItems':false}", "[1,1]");
	assert_violates("{'uniqueItems':true}", "[1,2,{'a':1,'b':2},{'b':2,'a':1.0}]",
		"at the top: expected items that differ, got items 2 and 3 equal");
	assert_violates("{'uniqueItems':true}", "[1,2,3,4,5,6,7,8,9,10,{'a':[]},'3',{'a':[]}]",
		"at the top: expected items that differ, got items 10 and 12 equal");
	assert_not_loaded("{'uniqueItems':1}", "/uniqueItems: expected boolean, got integer 1\n");
}

TEST(unique_items_is_not_quadratic)
{
	WFS_AUTO_SCHEMA struct wfs_schema *schema = schema_of("{'uniqueItems':true}");
	WFS_AUTO_JSON json_t *array = json_array();
	int64_t before;

	for (int i = 0; i < 300000; i++)
		json_array_append_new(array, json_integer(i));
	before = wfs_clock_monotonic_ns();

	assert_int_equal(wfs_schema_check(schema, array, NULL), 0);
	assert_true(wfs_clock_monotonic_ns() - before < INT64_C(10000000000));
}

TEST(required_members_must_be_there)
{
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

TEST(additional_properties_judge_the_unnamed_only)
{
	const char *closed = "{'properties':{'a':true},'required':['b'],"
			     "'additionalProperties':false}";
	const char *typed = "{'properties':{'a':true},'additionalProperties':{'type':'string'}}";

	assert_fits(typed, "{'a':1,'b':'x'}");
	assert_violates(typed, "{'a':1,'b':2}", "at /b: expected string, got integer 2");
	assert_violates(
		closed, "{'a':1,'b':2}", "at /b: expected no member of this name, got integer 2");
	assert_fits("{'additionalProperties':false}", "{}");
}

TEST(counts_of_members_are_checked)
{
	assert_violates("{'minProperties':1}", "{}",
		"at the top: expected at least 1 member, got object with 0 members");
	assert_violates("{'maxProperties':1}", "{'a':1,'b':2}",
		"at the top: expected at most 1 member, got object with 2 members");
}

TEST(properties_must_be_an_object_of_schemas)
{
	assert_not_loaded(
		"{'properties':[]}", "/properties: expected object, got array of 0 items\n");
	assert_not_loaded("{'properties':{'a':1}}",
		"/properties/a: expected a schema (object or boolean), got integer 1\n");
	assert_not_loaded("{'$defs':1}", "/$defs: expected object, got integer 1\n");
}

TEST(all_of_reports_what_is_wrong_inside)
{
	assert_fits("{'allOf':[{'minimum':1},{'maximum':3}]}", "2");
	assert_violates("{'allOf':[{'minimum':1},{'maximum':3}]}", "4",
		"at the top: expected a number of at most 3, got integer 4");
}

TEST(any_of_one_of_and_not_choose)
{
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

TEST(not_inside_any_of_stays_silent_and_the_next_error_is_reported)
{
	assert_violates("{'anyOf':[{'not':{'type':'integer'}},true],'maximum':1,"
			"'allOf':[{'not':{'const':0}},{'minimum':1}]}",
		"0", "at the top: expected a value that does not fit (not), got integer 0");
}
