/* SPDX-License-Identifier: Apache-2.0 */
/* Plans without memory: whichever allocation fails, the caller gets an error, and nothing leaks. */
#include "tests/fixture/malloc.h"
#include "tests/fixture/normalize.h"

#include "agents/plan/placeholder.h"
#include "agents/plan/reply.h"

/* Calls @function with the first, second … allocation failing, until none fails any more.
 * @expected: its result without failures */
static void assert_survives(int (*function)(const char *text), const char *quoted, int expected)
{
	WFS_AUTO_FREE char *text = json_text(quoted);
	unsigned int failures = 0;
	unsigned int left = 0;

	(void)function(text); /* allocates what is allocated once and stays */
	do {
		const ptrdiff_t before = live_bytes;

		allocations_until_failure = ++failures;
		const int r = function(text);

		left = allocations_until_failure;
		allocations_until_failure = 0;
		if (live_bytes != before)
			fail_msg("%s: allocation %u: %td bytes stay behind", quoted, failures,
				live_bytes - before);
		if (r != (left == 0 ? -ENOMEM : expected))
			fail_msg("%s: allocation %u: %d", quoted, failures, r);
	} while (left == 0);
	assert_true(failures > 1);
}

static int normalize_as(const char *text, bool imported)
{
	const struct wfs_plan_origin origin = {
		.chat_id = CHAT_ID, .goal = "g", .imported = imported};
	ATTEMPT_AUTO struct attempt made = attempt_bytes(&origin, wfs_bytes_text(text));
	size_t count;

	if (made.status == 0) {
		WFS_AUTO_JSON json_t *payload = wfs_plan_payload(&made.plan, 0, &count);

		return payload ? 0 : -ENOMEM;
	}
	return made.status;
}

static int normalize(const char *text)
{
	return normalize_as(text, false);
}

static int import(const char *text)
{
	return normalize_as(text, true);
}

static int reply(const char *text)
{
	WFS_AUTO_JSON json_t *found = NULL;
	bool is_plan;

	return wfs_plan_reply(text, &is_plan, &found, NULL);
}

static int answer(const char *text)
{
	WFS_AUTO_JSON json_t *found = NULL;

	return wfs_plan_answer(text, &found, NULL);
}

static int resolve(void *context, const char *step_id, json_t **ret_value, struct wfs_error *error)
{
	(void)context;
	if (strcmp(step_id, "a") != 0)
		return -ENOENT;
	*ret_value = json_pack("{s:[i]}", "x", 1);
	return *ret_value ? 0 : wfs_error_from_errno(error, -ENOMEM, "resolve");
}

static int fill(const char *text)
{
	WFS_AUTO_JSON json_t *value = NULL;
	WFS_AUTO_JSON json_t *filled = NULL;
	int r = wfs_json_parse(text, strlen(text), &value, NULL);

	return r ? r : wfs_placeholder_fill(value, resolve, NULL, &filled, NULL);
}

TEST(plans_survive)
{
	assert_survives(normalize,
		"{'steps':[{'id':7,'tool':{'name':'x','args':{'p':'${b.c}'}}},{'id':'b',"
		"'depends_on':[7,7],'prompt':'${7}'},{'depends_on':'b'},{'id':2.5,'title':3}],"
		"'final':'F'}",
		0);
	assert_survives(normalize,
		"{'tool_calls':[{'function':{'name':'a','arguments':'{\\'x\\':[1]}'}},"
		"{'name':'b','arguments':'x'},{'name':'c','arguments':''}],'final':'F'}",
		0);
}

TEST(refusals_survive)
{
	assert_survives(normalize, "[", -EINVAL);
	assert_survives(normalize, "7", -EINVAL);
	assert_survives(normalize, "{'steps':5}", -EINVAL);
	assert_survives(normalize, "{'steps':[{'id':'a'},{'id':'a'}]}", -EINVAL);
	assert_survives(normalize, "{'steps':[{'id':'a','depends_on':['b']}]}", -EINVAL);
	assert_survives(normalize,
		"{'steps':[{'id':'a','depends_on':['b']},{'id':'b','depends_on':['a']}]}", -EINVAL);
	assert_survives(normalize, "{'steps':[{'type':'x'}]}", -EINVAL);
}

#define DOCUMENT                                                                             \
	"'plan_id':'p','goal':'g','created_utc':'2026-11-21T20:46:37Z','updated_utc':"       \
	"'2026-11-21T20:46:37Z','plan':{'final':'F','steps':[{'id':'a','tool':'x','status':" \
	"'done','result_ref':{}},{'id':'b','status':'failed','reason':'r'},"                 \
	"{'depends_on':['a','b']}]},'tool_results':[{'_step_id':'a','ok':true}]"

TEST(imports_survive)
{
	assert_survives(import, "{'schema_version':1,'status':'partial'," DOCUMENT "}", 0);
	assert_survives(import, "{'schema_version':2,'status':'partial'," DOCUMENT "}", -EINVAL);
	assert_survives(import, "{'schema_version':1,'status':'new'," DOCUMENT "}", -EINVAL);
	assert_survives(import,
		"{'schema_version':1,'status':'done','tool_results_ref':{'sha256':''}," DOCUMENT
		"}",
		-EINVAL);
}

TEST(replies_survive)
{
	assert_survives(reply, "x {{'a':[{'steps':[1]}", 0);
	assert_survives(reply, "{'steps':[1]}", 0);
	assert_survives(reply, "{'final':'F'}", 0);
	assert_survives(reply, "text", 0);
}

TEST(answers_survive)
{
	assert_survives(answer, "{'final':{'a':[1,2,3]}}", 0);
	assert_survives(answer, "text", 0);
}

TEST(placeholders_survive)
{
	assert_survives(fill, "{'p':['${a}','${a.x} and ${a.x.0}','$${',1]}", 0);
	assert_survives(fill, "['${b}']", -EINVAL);
}
