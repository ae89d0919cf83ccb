/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of models without the key. */
#include "tests/fixture/json.h"

#include "agents/host/secret.h"

#define KEY "sk-0123456789abcdef"

static void expect(const char *value, const char *expected)
{
	WFS_AUTO_JSON json_t *json = json_of(value);

	assert_json_is(agents_secret_mask(json, KEY), expected);
}

TEST(the_key_is_masked_wherever_it_is)
{
	expect("'" KEY "'", "'***'");
	expect("'a" KEY "b" KEY KEY "'", "'a***b******'");
	expect("{'" KEY "':1}", "{'***':1}");
	expect("{'content':'is " KEY "','tool_calls':[{'arguments':'{" KEY "}','id':'" KEY "'}]}",
		"{'content':'is ***','tool_calls':[{'arguments':'{***}','id':'***'}]}");
}

TEST(everything_else_is_as_it_was)
{
	static const char value[] =
		"{'a':[1,2.5,null,true,{}],'content':'sk-0123456789abcde','n':'x\\u0000y'}";

	expect(value, value);
}

TEST(without_a_key_the_value_is_the_same)
{
	WFS_AUTO_JSON json_t *json = json_of("['EMPTY','']");
	json_t *masked;

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
