/* SPDX-License-Identifier: Apache-2.0 */
/* Keywords that apply schemas to parts of a value, or under a condition; and that their work is
 * bounded. */
#include "tests/fixture/schema.h"

#include "kernel/base/clock.h"

TEST(contains_counts_the_items_that_fit)
{
	const char *two = "{'contains':{'type':'string'},'minContains':2,'maxContains':3}";

	assert_fits(two, "['a',1,'b']");
	assert_fits("{'contains':{'type':'string'},'minContains':0}", "[]");
	assert_fits("{'minContains':2}", "[]");
	assert_violates("{'contains':{'type':'string'}}", "[1]",
		"at the top: expected at least 1 item that fits (contains; 0 do), got array of 1 "
		"item");
	assert_violates(two, "['a',1]",
		"at the top: expected at least 2 items that fit (contains; 1 does), got array of 2 "
		"items");
	assert_violates(two, "['a','b','c','d']",
		"at the top: expected at most 3 items that fit (contains; more do), got array of 4 "
		"items");
}

TEST(members_by_pattern_fit_the_schema_of_each)
{
	const char *schema = "{'properties':{'xa':{'minimum':0}},'patternProperties':{"
			     "'^x':{'type':'integer'},'b$':{'maximum':9},'^no':false},"
			     "'additionalProperties':{'type':'null'}}";

	assert_fits(schema, "{'xa':1,'xb':2,'b':0.5,'q':null}");
	assert_violates(schema, "{'xa':'a'}", "at /xa: expected integer, got string \"a\"");
	assert_violates(
		schema, "{'xb':10}", "at /xb: expected a number of at most 9, got integer 10");
	assert_violates(schema, "{'q':1}", "at /q: expected null, got integer 1");
	assert_violates(
		schema, "{'no':1}", "at /no: expected no member of this name, got integer 1");
	assert_not_loaded("{'patternProperties':{'(':true}}",
		"/patternProperties/(: the pattern does not compile: missing closing parenthesis "
		"at byte 1\n");
}

TEST(names_of_members_fit_a_schema)
{
	const char *schema = "{'propertyNames':{'pattern':'^[a-z]+$'}}";

	assert_fits(schema, "{'a':1,'bc':2}");
	assert_violates(schema, "{'a':1,'B':2}", "at /B: expected another name (propertyNames)");
}

TEST(members_bring_others_with_them)
{
	const char *names = "{'dependentRequired':{'card':['address','name']}}";
	const char *schemas = "{'dependentSchemas':{'card':{'required':['name']}}}";

	assert_fits(names, "{'address':1}");
	assert_violates(names, "{'card':1,'address':1}",
		"at the top: expected a member \"name\", got object with 2 members");
	assert_fits(schemas, "{'name':1}");
	assert_violates(schemas, "{'card':1}",
		"at the top: expected a member \"name\", got object with 1 member");
	assert_not_loaded("{'dependentRequired':{'a':['b','b'],'c':1}}",
		"/dependentRequired/a/1: expected each name once, got string \"b\"\n"
		"/dependentRequired/c: expected array, got integer 1\n");
	assert_not_loaded("{'dependentRequired':1,'dependentSchemas':1}",
		"/dependentRequired: expected object, got integer 1\n"
		"/dependentSchemas: expected object, got integer 1\n");
}

TEST(a_condition_chooses_what_applies)
{
	const char *schema = "{'if':{'type':'string'},'then':{'minLength':2},'else':{'minimum':2}}";

	assert_fits(schema, "'ab'");
	assert_fits(schema, "2");
	assert_violates(schema, "'a'",
		"at the top: expected at least 2 characters (there are 1), got string \"a\"");
	assert_violates(schema, "1", "at the top: expected a number of at least 2, got integer 1");
	assert_fits("{'then':false,'else':false}", "1");
}

TEST(what_no_schema_looked_at_is_unevaluated)
{
	const char *members = "{'allOf':[{'properties':{'a':true}}],'anyOf':[{'required':['b'],"
			      "'properties':{'b':true}},true],'unevaluatedProperties':false}";
	const char *items = "{'prefixItems':[true],'contains':{'type':'string'},"
			    "'unevaluatedItems':{'type':'null'}}";

	assert_fits(members, "{'a':1,'b':2}");
	assert_violates(
		members, "{'a':1,'c':2}", "at /c: expected no member of this name, got integer 2");
	assert_fits(items, "[1,'a',null]");
	assert_violates(items, "[1,'a',2]", "at /2: expected null, got integer 2");
	assert_violates("{'not':{'properties':{'a':false}},'unevaluatedProperties':false}",
		"{'a':1}", "at /a: expected no member of this name, got integer 1");
}

static void assert_ends(json_t *definition, const json_t *value, int expected)
{
	WFS_AUTO_JSON json_t *owned = definition;
	WFS_AUTO_SCHEMA struct wfs_schema *schema = schema_of_json(owned);
	const int64_t before = wfs_clock_monotonic_ns();

	assert_int_equal(wfs_schema_check(schema, value, NULL), expected);

	assert_true(wfs_clock_monotonic_ns() - before < INT64_C(20000000000));
}

/* Each branch keeps its own list of the items that it evaluated. */
TEST(accounts_of_many_branches_are_steps)
{
	WFS_AUTO_JSON json_t *array = json_array();
	json_t *definition = json_pack("{s:[], s:b}", "anyOf", "unevaluatedItems", 0);
	json_t *branches = json_object_get(definition, "anyOf");
	for (int i = 0; i < 500000; i++)
		json_array_append_new(array, json_null());
	for (int i = 0; i < WFS_SCHEMA_COUNT_MAX - 4; i++)
		json_array_append_new(branches, json_true());
	json_array_append_new(branches, json_pack("{s:b}", "items", 1));

	assert_ends(definition, array, -EINVAL);
}

/* Each pattern is tried on each name. */
TEST(patterns_of_names_are_steps)
{
	WFS_AUTO_JSON json_t *object = json_object();
	json_t *definition = json_pack("{s:{}}", "patternProperties");
	json_t *groups = json_object_get(definition, "patternProperties");
	char name[32];
	for (int i = 0; i < 100000; i++) {
		snprintf(name, sizeof(name), "member-%d", i);
		json_object_set_new(object, name, json_null());
	}
	for (int i = 0; i < WFS_SCHEMA_PATTERNS_MAX; i++) {
		snprintf(name, sizeof(name), "(a|b)*%d", i);
		json_object_set_new(groups, name, json_true());
	}

	assert_ends(definition, object, -EINVAL);
}

TEST(patterns_of_names_count_as_patterns)
{
	WFS_AUTO_JSON json_t *definition = json_pack("{s:{}}", "patternProperties");
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	json_t *groups = json_object_get(definition, "patternProperties");
	struct wfs_schema *schema = NULL;
	char name[32];
	for (int i = 0; i <= WFS_SCHEMA_PATTERNS_MAX; i++) {
		snprintf(name, sizeof(name), "%d", i);
		json_object_set_new(groups, name, json_true());
	}

	assert_int_equal(wfs_schema_new(definition, NULL, "", &problems, &schema), -EINVAL);
	assert_string_equal(wfs_buffer_text(&problems.lines),
		"/patternProperties/256: a schema has at most 256 patterns\n");
}

/* The value needs a hundred nested schemas at each of a hundred levels. */
TEST(schemas_inside_one_another_are_bounded)
{
	json_t *definition = json_pack("{s:{s:s}}", "items", "$ref", "#");
	WFS_AUTO_JSON json_t *array = json_array();
	for (int i = 0; i < 60; i++)
		definition = json_pack("{s:[o]}", "allOf", definition);
	for (int i = 0; i < 100; i++)
		array = json_pack("[o]", array);

	assert_ends(definition, array, -EINVAL);
}
