/* SPDX-License-Identifier: Apache-2.0 */
/* Adapters: profiles, and which settings a turn may have. (Numbers such as "case 58" are those
 * of our research on model servers.) */
#include "tests/fixture/adapter.h"

#include "kernel/base/host-form.h"

#define ENTRY "{'provider':'openai','base_url':'http://x/v1','model':'m'}"
#define NAMED(name) "{'tool_choice':{'type':'function','function':{'name':'" name "'}}}"

static const struct wfs_adapter *adapter_of(const char *entry_text)
{
	WFS_AUTO_JSON json_t *entry = json_of(entry_text);
	const struct wfs_adapter *adapter = NULL;
	struct wfs_error error = {0};

	if (wfs_adapter_get(entry, &adapter, &error) != 0)
		fail_msg("%s", error.message);
	return adapter;
}

TEST(a_model_has_the_adapter_of_its_profile)
{
	static const char *const names[] = {"openai", "vllm", "llamacpp", "sglang"};
	char entry[64];

	for (size_t i = 0; i < WFS_ARRAY_COUNT(names); i++) {
		print_message("%s\n", names[i]);
		snprintf(entry, sizeof(entry), "{'profile':'%s'}", names[i]);
		assert_string_equal(adapter_of(entry)->name, names[i]);
	}
	assert_string_equal(adapter_of(ENTRY)->name, "openai");
}

TEST(an_adapter_of_a_server_has_the_five_members_of_the_seed)
{
	const struct wfs_adapter *const adapter = adapter_of("{'profile':'sglang'}");

	assert_non_null(adapter->format_messages);
	assert_non_null(adapter->format_tools);
	assert_non_null(adapter->response_parser);
	assert_non_null(adapter->grammar_builder);
	assert_non_null(adapter->grammar_config);
}

TEST(a_script_may_stand_for_a_server)
{
	assert_null(adapter_of("{'provider':'script'}")->grammar_builder);
	assert_string_equal(adapter_of("{'provider':'script','profile':'vllm'}")->name, "vllm");
}

TEST(an_unknown_profile_is_refused)
{
	assert_refuses("{'profile':'ollama'}", "[]", "{}",
		"agent 'clerk': 'profile': expected one of openai, vllm, llamacpp, sglang, got "
		"'ollama'");
	assert_refuses("{'profile':7}", "[]", "{}",
		"agent 'clerk': 'profile': expected a string, got an integer");
	assert_refuses("{'profile':'script'}", "[]", "{}",
		"agent 'clerk': 'profile': expected one of openai, vllm, llamacpp, sglang, got "
		"'script'");
}

TEST(settings_of_a_run_are_taken)
{
	assert_taken(ENTRY, "['a','b']",
		"{'max_turns':20,'max_history_messages':50,'max_concurrency':1,'max_tokens':4096,"
		"'temperature':0.1,'tool_choice':'auto','tool_timeout_ms':1,'run_timeout_ms':1}");
	assert_taken(ENTRY, "[]", "{}");
}

/* Case 58. */
TEST(numbers_out_of_range_are_refused)
{
	assert_refuses(ENTRY, "[]", "{'max_history_messages':1}",
		"agent 'clerk': 'max_history_messages': expected 0 (no limit) or at least 2, got "
		"1");
	assert_refuses(ENTRY, "[]", "{'max_tokens':0}",
		"agent 'clerk': 'max_tokens': expected an integer from 1 to 2147483647, got 0");
	assert_refuses(ENTRY, "[]", "{'temperature':2.5}",
		"agent 'clerk': 'temperature': expected a number from 0 to 2");
	assert_refuses(ENTRY, "[]", "{'temperature':'hot'}",
		"agent 'clerk': 'temperature': expected a number from 0 to 2");
	assert_refuses("{'max_tokens_name':'n_predict'}", "[]", "{}",
		"agent 'clerk': 'max_tokens_name': expected max_tokens or max_completion_tokens, "
		"got 'n_predict'");
}

TEST(a_choice_that_is_none_is_refused)
{
	static const char expected[] =
		"agent 'clerk': 'tool_choice': expected \"auto\", \"none\", \"required\" or "
		"{\"type\":\"function\",\"function\":{\"name\":…}}, got '%s'";
	char message[256];

	snprintf(message, sizeof(message), expected, "any");
	assert_refuses(ENTRY, "['a']", "{'tool_choice':'any'}", message);
	snprintf(message, sizeof(message), expected, "something else");
	assert_refuses(ENTRY, "['a']", "{'tool_choice':{'name':'a'}}", message);
	assert_refuses(ENTRY, "['a']", "{'tool_choice':{'function':{'name':'a'}}}", message);
	assert_refuses(ENTRY, "['a']", "{'extra_body':{'tool_choice':[]}}", message);
}

TEST(a_tool_that_is_chosen_must_be_offered)
{
	assert_taken(ENTRY, "['a']", NAMED("a"));
	assert_refuses(ENTRY, "['a']", NAMED("b"),
		"agent 'clerk': 'tool_choice': 'b' is not an offered tool");
}

TEST(llamacpp_does_not_get_a_choice_that_it_would_ignore)
{
	assert_refuses("{'profile':'llamacpp'}", "['a']", NAMED("a"),
		"agent 'clerk': 'tool_choice': a server of profile 'llamacpp' does not "
		"support a named tool, it would use \"auto\" instead");
}

#define MAY_COST_MORE " may cost more, expected it in the extra_body of the model in host.json"

TEST(extra_members_of_an_agent_cannot_cost_more)
{
	assert_refuses(ENTRY, "[]", "{'extra_body':{'n':100}}",
		"agent 'clerk': 'extra_body' of the agent: 'n'" MAY_COST_MORE);
	assert_refuses(ENTRY, "[]", "{'extra_body':{'max_tokens':1000000}}",
		"agent 'clerk': 'extra_body' of the agent: 'max_tokens'" MAY_COST_MORE);
	assert_refuses(ENTRY, "[]", "{'extra_body':{'models':['dear']}}",
		"agent 'clerk': 'extra_body' of the agent: 'models'" MAY_COST_MORE);
}

/* Case 104. */
TEST(extra_members_cannot_replace_what_makes_the_request)
{
	assert_refuses(ENTRY, "[]", "{'extra_body':{'messages':[]}}",
		"agent 'clerk': 'extra_body' of the agent: 'messages' cannot be replaced");
	assert_refuses(ENTRY, "[]", "{'extra_body':{'model':'n'}}",
		"agent 'clerk': 'extra_body' of the agent: 'model' cannot be replaced");
	assert_refuses(ENTRY, "[]", "{'extra_body':{'tools':[]}}",
		"agent 'clerk': 'extra_body' of the agent: 'tools' cannot be replaced");
	assert_refuses("{'extra_body':{'stream':true}}", "[]", "{}",
		"agent 'clerk': 'extra_body' of the model: 'stream' cannot be replaced");
	assert_refuses(ENTRY, "[]", "{'extra_body':[]}",
		"agent 'clerk': 'extra_body' of the agent: expected an object");
}

TEST(tools_must_be_there_once_to_be_offered)
{
	assert_refuses(ENTRY, "['zzz']", "{}",
		"agent 'clerk': 'zzz' is offered, expected each name once and of a tool that the "
		"agent has");
	assert_refuses(ENTRY, "['a','a']", "{}",
		"agent 'clerk': 'a' is offered, expected each name once and of a tool that the "
		"agent has");
}

static int check_tools(const char *tools, struct wfs_error *error)
{
	json_t *const setup = json_of("{'agent':'clerk','offered':[],'settings':{}}");

	json_object_set_new(setup, "tools", json_of(tools));
	return check_of(setup, json_of(ENTRY), error);
}

TEST(tools_need_names_of_their_own_that_servers_take)
{
	struct wfs_error error = {0};

	assert_int_equal(check_tools("[{'name':'a'},{'name':'a'}]", &error), -EINVAL);
	assert_string_equal(error.message, "agent 'clerk': two tools have the name 'a'");
	assert_int_equal(check_tools("[{'name':'fs.read'}]", &error), -EINVAL);
	assert_string_equal(error.message,
		"agent 'clerk': the name of a tool: expected 1 to 64 of a-z A-Z 0-9 _ -, got "
		"'fs.read'");
	assert_int_equal(check_tools("[{}]", &error), -EINVAL);
}

/* The form of host.json knows no adapter, and each adapter one word of the form. */
TEST(every_profile_has_an_adapter)
{
	const struct wfs_field *field = wfs_host_model_form.fields;
	size_t count = 0;

	while (strcmp(field->name, "profile") != 0)
		field++;
	for (const char *word = field->form->words; *word; count++) {
		const int size = (int)strcspn(word, " ");
		WFS_AUTO_JSON json_t *entry =
			json_pack("{s:s, s:s#}", "provider", "openai", "profile", word, size);
		const struct wfs_adapter *adapter = NULL;

		assert_int_equal(wfs_adapter_get(entry, &adapter, NULL), 0);
		assert_int_equal(strncmp(adapter->name, word, (size_t)size), 0);
		word += size + strspn(word + size, " ");
	}
	assert_int_equal(count, 4);
}
