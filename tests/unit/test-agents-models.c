/* SPDX-License-Identifier: Apache-2.0 */
/* Models in host.json: which ones exist, and what is wrong with their entries. */
#include "tests/fixture/file.h"
#include "tests/fixture/json.h"

#include <sys/prctl.h>
#include <sys/wait.h>

#include "agents/host/models.h"

static char directory[64];

static int setup(void **state)
{
	(void)state;
	snprintf(directory, sizeof(directory), "/tmp/wfs-models-XXXXXX");
	return mkdtemp(directory) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	wfs_directory_remove(directory);
	return 0;
}

#define MODELS(name) TEST_WITH(name, void *state, setup, teardown)

static int find(const char *host, const char *name, json_t **ret_entry, struct wfs_error *error)
{
	WFS_AUTO_FREE char *text = json_text(host);

	put_file(directory, "host.json", text);
	put_file(directory, "data.mdb", "");
	(void)trust_host(directory, "1"); /* the file may be unreadable */
	return wfs_models_find(directory, name, ret_entry, error);
}

static void expect_entry(const char *entry)
{
	WFS_AUTO_BUFFER struct wfs_buffer host = {0};
	struct wfs_error error = {0};
	json_t *found = NULL;

	wfs_buffer_printf(&host, "{'models':{'m':%s}}", entry);
	if (find(wfs_buffer_text(&host), "m", &found, &error))
		fail_msg("%s: %s", entry, error.message);
	assert_json_is(found, entry);
}

static void expect_refused(const char *entry, const char *message)
{
	WFS_AUTO_BUFFER struct wfs_buffer host = {0};
	struct wfs_error error = {0};
	json_t *found = NULL;

	print_message("%s\n", entry);
	wfs_buffer_printf(&host, "{'models':{'m':%s}}", entry);
	assert_int_equal(find(wfs_buffer_text(&host), "m", &found, &error), -EINVAL);
	assert_null(found);
	assert_non_null(strstr(error.message, "host.json: /models/"));
	if (!strstr(error.message, message))
		fail_msg("%s", error.message);
}

#define OPENAI "'provider':'openai','base_url':'http://127.0.0.1/v1'"

MODELS(entries_of_both_providers_are_found)
{
	expect_entry("{'file':'s.jsonl','provider':'script'}");
	expect_entry("{" OPENAI "}");
	expect_entry("{" OPENAI ",'api_key_env':'KEY','connect_timeout_ms':1,'extra_body':{},"
		     "'first_byte_timeout_ms':2,'idle_timeout_ms':3,'max_tokens_name':'max_tokens',"
		     "'model':'gpt','profile':'vllm','stream':true,'total_timeout_ms':4}");
	expect_entry("{" OPENAI ",'dimensions':4096,'model':'e'}");
}

MODELS(an_unknown_model_is_told_which_there_are)
{
	struct wfs_error error = {0};
	json_t *entry = NULL;

	assert_int_equal(
		find("{'models':{'a':{" OPENAI "},'b':{" OPENAI "}}}", "default", &entry, &error),
		-ENOENT);
	assert_int_equal(error.code, WFS_E_NOT_FOUND);
	assert_non_null(strstr(error.message, "'default' (there are: a b)"));
	assert_int_equal(find("{}", "default", &entry, &error), -ENOENT);
	assert_non_null(strstr(error.message, "no host.json that names models"));
}

MODELS(a_host_without_host_json_has_no_models)
{
	struct wfs_error error = {0};
	json_t *entry = NULL;

	assert_int_equal(wfs_models_find(directory, "default", &entry, &error), -ENOENT);
	assert_non_null(strstr(error.message, "no host.json that names models"));
}

MODELS(a_host_json_that_is_none_is_refused)
{
	struct wfs_error error = {0};
	json_t *entry = NULL;

	assert_int_equal(find("{'models':", "m", &entry, &error), -EINVAL);
	assert_int_equal(error.code, WFS_E_INVALID_JSON);
	assert_non_null(strstr(error.message, "host.json"));
}

MODELS(wrong_entries_are_refused)
{
	expect_refused("5", "/models/m: expected an object");
	expect_refused("{'provider':'other'}", "/provider: expected one of: openai script");
	expect_refused("{'provider':'openai'}", "base_url");
	expect_refused("{" OPENAI ",'stream':'yes'}", "/stream: expected true or false");
}

/* --- servers of tools --- */

static int find_servers(const char *host, bool trusted, json_t **ret_tools, struct wfs_error *error)
{
	WFS_AUTO_FREE char *text = json_text(host);

	put_file(directory, "host.json", text);
	put_file(directory, "data.mdb", "");
	if (trusted)
		assert_int_equal(trust_host(directory, "1"), 0);
	return wfs_models_servers(directory, ret_tools, error);
}

MODELS(servers_of_a_trusted_file_are_found)
{
	json_t *tools = NULL;

	assert_int_equal(find_servers("{'tools':{'s':{'command':['ls']}}}", true, &tools, NULL), 0);
	assert_json_is(tools, "{'s':{'command':['ls']}}");
}

MODELS(a_file_without_servers_has_none)
{
	json_t *tools = NULL;

	assert_int_equal(find_servers("{}", true, &tools, NULL), 0);
	assert_null(tools);
}

MODELS(servers_of_a_file_that_is_not_trusted_are_refused)
{
	struct wfs_error error = {0};
	json_t *tools = NULL;

	assert_int_equal(
		find_servers("{'tools':{'s':{'command':['evil']}}}", false, &tools, &error),
		-EACCES);
	assert_int_equal(error.code, WFS_E_NOT_AUTHORIZED);
	assert_null(tools);
}

MODELS(servers_that_are_not_valid_are_refused)
{
	struct wfs_error error = {0};
	json_t *tools = NULL;

	assert_int_equal(find_servers("{'tools':{'s':{}}}", true, &tools, &error), -EINVAL);
	assert_non_null(strstr(error.message, "host.json: /tools/s"));
}

/* In a process of its own, because it stays guarded. Return: is it? */
static bool is_guarded(const char *host)
{
	WFS_AUTO_FREE char *text = json_text(host);
	int status = 0;

	put_file(directory, "host.json", text);
	put_file(directory, "data.mdb", "");
	assert_int_equal(trust_host(directory, "1"), 0);
	const pid_t child = fork();
	if (child == 0) {
		wfs_models_guard_keys(directory);
		_exit(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WEXITSTATUS(status) == 0;
}

MODELS(a_header_for_a_server_is_guarded_as_a_key_is)
{
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread looks at the environment */
	setenv("MODELS_TOKEN", "a token", 1);

	assert_true(is_guarded(
		"{'tools':{'s':{'url':'http://x','headers_env':{'A':'MODELS_TOKEN'}}}}"));
	assert_false(is_guarded(
		"{'tools':{'s':{'url':'http://x','headers_env':{'A':'MODELS_MISSING'}}}}"));
	assert_false(is_guarded("{'tools':{'s':{'url':'http://x'}}}"));
}
