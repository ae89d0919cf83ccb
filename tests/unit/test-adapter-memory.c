/* SPDX-License-Identifier: Apache-2.0 */
/* Adapters without memory: whichever allocation fails, the caller gets an error, and nothing
 * leaks. */
#include "tests/fixture/adapter.h"
#include "tests/fixture/malloc.h"

#include "agents/adapter/constraint.h"
#include "agents/adapter/format.h"
#include "agents/adapter/parser.h"

/* What a test repeats, and the objects that were made for it before. */
struct work {
	json_t *setup;
	json_t *entry;
	json_t *messages;
	json_t *completion;
};

static int format(const struct work *work)
{
	WFS_AUTO_JSON json_t *body = NULL;

	return wfs_format_request(work->setup, work->entry, work->messages, true, &body, NULL);
}

static int check(const struct work *work)
{
	return wfs_adapter_check(work->setup, work->entry, NULL);
}

static int parse(const struct work *work)
{
	WFS_AUTO_JSON json_t *parsed = NULL;

	return wfs_parser_parse(work->completion, json_object_get(work->setup, "offered"), &parsed);
}

static int check_answer(const struct work *work)
{
	const json_t *const settings = json_object_get(work->setup, "settings");

	return wfs_constraint_check_answer(
		json_object_get(settings, "constraint"), work->completion, NULL);
}

/* Calls @function with the first, second … allocation failing, until none fails any more. */
static void assert_survives(int (*function)(const struct work *work), const struct work *work)
{
	unsigned int failures = 0;
	unsigned int left = 0;

	do {
		const ptrdiff_t before = live_bytes;

		allocations_until_failure = ++failures;
		const int r = function(work);

		left = allocations_until_failure;
		allocations_until_failure = 0;
		if (live_bytes != before)
			fail_msg("allocation %u: %td bytes stay behind", failures,
				live_bytes - before);
		if (r != (left == 0 ? -ENOMEM : 0))
			fail_msg("allocation %u: %d", failures, r);
	} while (left == 0);
	assert_true(failures > 1);
}

static void with_constraint(int (*function)(const struct work *work), const char *profile,
	const char *constraint, const char *content)
{
	WFS_AUTO_BUFFER struct wfs_buffer settings = {0};
	WFS_AUTO_BUFFER struct wfs_buffer entry = {0};
	struct work work = {0};

	wfs_buffer_printf(&settings,
		"{'max_tokens':9,'temperature':0.5,'tool_choice':'%s','constraint':%s,"
		"'extra_body':{'seed':1}}",
		strstr(constraint, "tag") ? "auto" : "none", constraint);
	wfs_buffer_printf(&entry, "{'model':'m','profile':'%s','extra_body':{'seed':2}}", profile);
	work.setup = setup_of("['b','a']", wfs_buffer_text(&settings));
	work.entry = json_of(wfs_buffer_text(&entry));
	work.messages =
		json_of("[{'role':'system','content':'s'},{'role':'user','content':'u'},"
			"{'role':'assistant','content':'x'},{'role':'assistant','tool_calls':["
			"{'id':'c','name':'a','arguments':'{}'},{'id':'d','name':'b c'}]},"
			"{'role':'tool','tool_call_id':'c','content':'5'}]");
	work.completion = json_of(content);

	assert_survives(function, &work);

	json_decref(work.setup);
	json_decref(work.entry);
	json_decref(work.messages);
	json_decref(work.completion);
}

#define SCHEMA "{'kind':'json_schema','name':'n','schema':{'properties':{'k':{'items':{}}}}}"
#define CHOICE "{'kind':'choice','choices':['a','b']}"
#define TAG "{'kind':'structural_tag'}"

TEST(requests_survive)
{
	with_constraint(format, "vllm", SCHEMA, "{}");
	with_constraint(format, "openai", SCHEMA, "{}");
	with_constraint(format, "llamacpp", CHOICE, "{}");
	with_constraint(format, "sglang", CHOICE, "{}");
	with_constraint(format, "vllm", TAG, "{}");
}

TEST(checks_survive)
{
	with_constraint(check, "vllm", SCHEMA, "{}");
	with_constraint(check, "vllm", "{'kind':'regex','regex':'a'}", "{}");
	with_constraint(check, "sglang", TAG, "{}");
}

TEST(parsing_survives)
{
	with_constraint(parse, "openai", SCHEMA,
		"{'content':'x<tool_call>{\\'name\\':\\'a\\',\\'arguments\\':{}}</tool_call>"
		"<tool_call>{</tool_call><function=b>{}</function>'}");
	with_constraint(parse, "openai", SCHEMA,
		"{'content':'{\\'action_type\\':\\'a\\',\\'k\\':1,\\'l\\':[]}'}");
}

TEST(checks_of_answers_survive)
{
	with_constraint(check_answer, "openai", SCHEMA, "{'content':'{\\'k\\':[1]}'}");
	with_constraint(check_answer, "vllm", "{'kind':'regex','regex':'a'}", "{'content':'a'}");
}
