/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs about outside tools: what they pass to the driver, and whom they refuse before. */
#include "tests/fixture/outside-tools.h"
#include "tests/fixture/verb.h"

#define GIT "'cap':'sys/tool@1','params':{'tools':['git.*']}"

/* Asks with a driver. */
static void ask_driven(struct world_fixture *fixture, const char *principal, const char *verb,
	const char *payload, struct asked *asked)
{
	struct wfs_driver *driver = NULL;
	struct wfs_error error;
	struct wfs_host host = {.driver = NULL};

	assert_int_equal(outside_tools_start(NULL, NULL, false, &driver, &error), 0);
	host.driver = driver;
	ask_verb_for(fixture, &host, principal, verb, payload, asked);
	driver->free(driver);
}

static void assert_fails(struct world_fixture *fixture, const char *principal, const char *verb,
	const char *payload, enum wfs_error_code code)
{
	AUTO_ASKED struct asked asked;

	ask_driven(fixture, principal, verb, payload, &asked);
	assert_int_equal(asked.call.error.code, code);
}

IN_WORLD(a_call_is_handed_to_the_driver)
{
	AUTO_ASKED struct asked asked;

	ask_driven(fixture, WFS_PRINCIPAL_OPERATOR, "tool",
		"{'name':'git.log','arguments':{'a':1}}", &asked);

	assert_int_equal(asked.call.status, 0);
	assert_string_equal(text_of(&asked, "output"), "{\"a\":1}");
	assert_null(result_of(&asked, "meta")); /* as of all changes */
}

IN_WORLD(a_failure_is_that_of_the_tool)
{
	AUTO_ASKED struct asked asked;

	ask_driven(fixture, WFS_PRINCIPAL_OPERATOR, "tool", "{'name':'git.fail'}", &asked);

	assert_int_equal(asked.call.error.code, WFS_E_EFFECT_FAILED);
	assert_string_equal(asked.call.error.message, "this is not a repository");
}

IN_WORLD(a_payload_that_is_wrong_is_refused)
{
	assert_verb_refused(fixture, "tool", "{}", WFS_E_MISSING_ARGUMENT, "'name'");
	assert_verb_refused(fixture, "tool", "{'name':'git.log','arguments':[]}",
		WFS_E_INVALID_ARGUMENT, "'arguments'");
	assert_verb_refused(
		fixture, "tool", "{'name':'git.log','more':1}", WFS_E_INVALID_ARGUMENT, "'more'");
	assert_verb_refused(fixture, "tools", "{'more':1}", WFS_E_INVALID_ARGUMENT, "'more'");
}

IN_WORLD(without_a_driver_no_tool_is_called)
{
	assert_verb_refused(
		fixture, "tool", "{'name':'git.log'}", WFS_E_NOT_ENABLED, "no process runs");
	assert_verb_refused(fixture, "tools", "{}", WFS_E_NOT_ENABLED, "no process runs");
}

IN_WORLD(a_principal_without_a_grant_does_not_reach_the_driver)
{
	make_alice(fixture, "'cap':'sys/query@1'");
	const uint64_t height = height_of(fixture);

	outside_tools_begun = 0;
	assert_fails(fixture, "alice", "tool", "{'name':'git.log'}", WFS_E_NOT_AUTHORIZED);
	assert_fails(fixture, "alice", "tools", "{}", WFS_E_NOT_AUTHORIZED);

	assert_int_equal(outside_tools_begun, 0);
	assert_int_equal(height_of(fixture), height + 1); /* the refused call is recorded */
}

IN_WORLD(a_principal_with_a_grant_reaches_the_driver_which_judges)
{
	make_alice(fixture, GIT);

	outside_tools_begun = 0;
	assert_fails(fixture, "alice", "tool", "{'name':'git.nothing'}", WFS_E_NOT_FOUND);
	assert_int_equal(outside_tools_begun, 1);
}

IN_WORLD(tools_that_may_need_an_approval_are_listed)
{
	AUTO_ASKED struct asked asked;

	make_alice(fixture, GIT);
	ask_driven(fixture, "alice", "tools", "{}", &asked);

	assert_int_equal(asked.call.status, 0);
	assert_non_null(result_of(&asked, "tools"));
	assert_non_null(result_of(&asked, "servers"));
}

TEST(calls_and_lists_can_be_interrupted)
{
	assert_true(wfs_verb_interruptible("tool"));
	assert_true(wfs_verb_interruptible("tools"));
}
