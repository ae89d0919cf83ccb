/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of models without the key. */
#include "tests/unit/json-helper.h"

#include "agents/host/secret.h"

#define KEY "sk-0123456789abcdef"

static void expect(const char *value, const char *expected)
{
	WFS_AUTO_JSON json_t *json = json_of(value);

	assert_json_is(agents_secret_mask(json, KEY), expected);
}

static void the_key_is_masked_wherever_it_is(void **state)
{
	(void)state;
	expect("'" KEY "'", "'***'");
	expect("'a" KEY "b" KEY KEY "'", "'a***b******'");
	expect("{'" KEY "':1}", "{'***':1}");
	expect("{'content':'is " KEY "','tool_calls':[{'arguments':'{" KEY "}','id':'" KEY "'}]}",
		"{'content':'is ***','tool_calls':[{'arguments':'{***}','id':'***'}]}");
}

static void everything_else_is_as_it_was(void **state)
{
	static const char value[] =
		"{'a':[1,2.5,null,true,{}],'content':'sk-0123456789abcde','n':'x\\u0000y'}";

	(void)state;
	expect(value, value);
}

static void without_a_key_the_value_is_the_same(void **state)
{
	WFS_AUTO_JSON json_t *json = json_of("['EMPTY','']");
	json_t *masked;

	(void)state;
	masked = agents_secret_mask(json, NULL);
	assert_ptr_equal(masked, json);
	json_decref(masked);
	masked = agents_secret_mask(json, "");
	assert_ptr_equal(masked, json);
	json_decref(masked);
	masked = agents_secret_mask(json, "EMPTY"); /* a word, no key */
	assert_ptr_equal(masked, json);
	json_decref(masked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_key_is_masked_wherever_it_is),
		cmocka_unit_test(everything_else_is_as_it_was),
		cmocka_unit_test(without_a_key_the_value_is_the_same),
	};

	return cmocka_run_group_tests_name("agents-secret", tests, NULL, NULL);
}
