/* SPDX-License-Identifier: Apache-2.0 */
/* The list of outside tools: what principals see of it, its numbers, and what a grant pins. */
#include "tests/fixture/outside-tools.h"
#include "tests/fixture/session.h"

#include "caps/authority.h"
#include "caps/session-tools.h"

static void set_list(struct at_work *work, const char *list)
{
	assert_int_equal(wfs_authority_set_tools(work->authority, json_of(list)), 0);
}

/* The names of what a session sees of the list, each followed by a space. */
static char *seen_by(const struct wfs_session *session, const char *member)
{
	WFS_AUTO_BUFFER struct wfs_buffer names = {0};
	WFS_AUTO_JSON json_t *list = NULL;
	json_t *row;
	size_t i;

	assert_int_equal(wfs_session_tools(session, &list), 0);
	json_array_foreach(json_object_get(list, member), i, row)
		wfs_buffer_printf(&names, "%s ", wfs_json_text(row, "name"));
	return strdup(wfs_buffer_text(&names));
}

static void assert_sees(const struct wfs_session *session, const char *member, const char *expected)
{
	WFS_AUTO_FREE char *names = seen_by(session, member);

	assert_string_equal(names, expected);
}

/* --- who sees what --- */

AT_WORK(a_principal_sees_the_tools_that_it_may_call)
{
	set_list(work, listed_tools);
	assert_sees(work->alice, "tools", "");
	assert_sees(work->alice, "servers", "");

	let(work, "{'to':'alice','cap':'sys/tool@1','params':{'tools':['git.l*']}}");

	assert_sees(work->alice, "tools", "git.log ");
	assert_sees(work->alice, "servers", "git ");
	assert_sees(work->operator, "tools", "fs.ls git.fail git.hang git.log git.many ");
	assert_sees(work->operator, "servers", "down fs git ");
}

AT_WORK(a_tool_is_found_if_it_is_seen)
{
	WFS_AUTO_JSON json_t *tool = NULL;
	json_t *none = NULL;

	set_list(work, listed_tools);
	assert_int_equal(wfs_session_tool(work->operator, "git.log", &tool), 0);
	assert_string_equal(wfs_json_text(tool, "hash"), LISTED_HASH("04"));
	assert_int_equal(wfs_session_tool(work->operator, "git.nothing", &none), -ENOENT);
	assert_int_equal(wfs_session_tool(work->alice, "git.log", &none), -ENOENT);
}

AT_WORK(without_a_list_there_is_nothing)
{
	struct wfs_listed_server server;
	json_t *none = NULL;

	assert_sees(work->operator, "tools", "");
	assert_int_equal(wfs_session_tool(work->operator, "git.log", &none), -ENOENT);
	assert_int_equal(wfs_session_server(work->operator, "git", &server), -ENOENT);
	assert_int_equal(wfs_session_server_from(work->operator, 0, &server), -ENOENT);
	assert_int_equal(wfs_session_tool_from(work->operator, "git", 0, &none), -ENOENT);
	assert_int_equal(wfs_session_tool_numbered(work->operator, 1, &none), -ENOENT);
}

static void assert_lists(struct at_work *work, enum wfs_error_code code)
{
	struct wfs_error error = {.code = WFS_OK};
	const int r = wfs_session_lists_tools(work->alice, &error);

	assert_int_equal(r == 0, code == WFS_OK);
	assert_int_equal(error.code, code);
}

AT_WORK(the_list_needs_a_grant)
{
	assert_lists(work, WFS_E_NOT_AUTHORIZED);
	let(work, "{'to':'alice','cap':'sys/query@1'}");
	assert_lists(work, WFS_E_NOT_AUTHORIZED);
	let(work, "{'to':'alice','cap':'sys/tool@1','params':{'tools':['git.*']}}");
	assert_lists(work, WFS_OK);
}

/* --- servers and tools by number --- */

AT_WORK(servers_come_in_the_order_of_their_numbers)
{
	struct wfs_listed_server server = {.number = 0};
	uint64_t before = 0;
	size_t count = 0;

	set_list(work, listed_tools);
	while (wfs_session_server_from(work->operator, before + 1, &server) == 0) {
		struct wfs_listed_server found;

		assert_true(server.number > before);
		assert_int_equal(wfs_session_server(work->operator, server.name, &found), 0);
		assert_true(found.number == server.number);
		before = server.number;
		count++;
	}
	assert_int_equal(count, 2); /* one has listed nothing */
}

AT_WORK(tools_come_in_the_order_of_their_numbers)
{
	uint64_t before = 0;
	size_t count = 0;
	json_t *tool = NULL;

	set_list(work, listed_tools);
	while (wfs_session_tool_from(work->operator, "git", before + 1, &tool) == 0) {
		const uint64_t number = wfs_tool_number(tool);
		json_t *found = NULL;

		assert_true(number > before && number >> WFS_LISTED_BITS == 0);
		assert_int_equal(wfs_session_tool_numbered(work->operator, number, &found), 0);
		assert_true(json_equal(tool, found));
		assert_int_equal(wfs_session_tool_numbered(work->alice, number, &found), -ENOENT);
		json_decref(found);
		json_decref(WFS_STEAL(tool));
		before = number;
		count++;
	}
	assert_int_equal(count, 4);
}

static uint64_t number_of(struct at_work *work, const char *name)
{
	WFS_AUTO_JSON json_t *tool = NULL;

	assert_int_equal(wfs_session_tool(work->operator, name, &tool), 0);
	return wfs_tool_number(tool);
}

AT_WORK(a_tool_that_changes_gets_another_number)
{
	WFS_AUTO_JSON json_t *list = json_of(listed_tools);
	json_t *const tools = json_object_get(list, "tools");

	set_list(work, listed_tools);
	const uint64_t fail = number_of(work, "git.fail");
	const uint64_t hang = number_of(work, "git.hang");
	json_array_remove(tools, 0);
	json_object_set_new(json_array_get(tools, 0), "description", json_string("Other."));
	assert_int_equal(wfs_authority_set_tools(work->authority, json_deep_copy(list)), 0);

	assert_true(number_of(work, "git.fail") != fail);
	assert_true(number_of(work, "git.hang") == hang);
}

/* --- watchers --- */

struct watching {
	struct wfs_rights_watcher watcher;
	sem_t listed;
};

static void nothing_changed(struct wfs_rights_watcher *watcher)
{
	(void)watcher;
}

static void was_listed(struct wfs_rights_watcher *watcher)
{
	sem_post(&((struct watching *)watcher)->listed);
}

AT_WORK(watchers_learn_of_a_list)
{
	struct watching watching = {.watcher = {.changed = nothing_changed, .listed = was_listed}};

	sem_init(&watching.listed, 0, 0);
	assert_int_equal(wfs_session_watch(work->alice, &watching.watcher), 0);
	set_list(work, listed_tools);
	while (sem_wait(&watching.listed) != 0)
		;
	wfs_session_unwatch(work->alice, &watching.watcher);
	sem_destroy(&watching.listed);
}

/* --- pinning --- */

static int pin(const char *params, json_t **ret_pinned, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *list = json_of(listed_tools);
	WFS_AUTO_JSON json_t *given = json_of(params);

	return wfs_tools_pin(given, list, ret_pinned, error);
}

static void assert_pins(const char *params, const char *expected)
{
	WFS_AUTO_JSON json_t *wanted = json_of(expected);
	WFS_AUTO_JSON json_t *pinned = NULL;
	struct wfs_error error;

	assert_int_equal(pin(params, &pinned, &error), 0);
	assert_true(json_equal(pinned, wanted));
}

static void assert_no_pin(const char *params, enum wfs_error_code code, const char *says)
{
	json_t *pinned = NULL;
	struct wfs_error error = {.code = WFS_OK};

	print_message("%s\n", params);
	assert_true(pin(params, &pinned, &error) < 0);
	assert_int_equal(error.code, code);
	assert_non_null(strstr(error.message, says));
}

TEST(the_tools_that_patterns_match_are_pinned)
{
	assert_pins("{'tools':['git.l*','fs.ls']}",
		"{'git.log':'" LISTED_HASH("04") "','fs.ls':'" LISTED_HASH("01") "'}");
	assert_pins("{'tools':'git.fail'}", "{'git.fail':'" LISTED_HASH("02") "'}");
}

TEST(a_grant_that_covers_nothing_is_not_pinned)
{
	assert_no_pin("{'tools':['git.nothing']}", WFS_E_NOT_FOUND, "no tool");
	assert_no_pin("{'tools':['gi']}", WFS_E_NOT_FOUND, "no tool");
}

TEST(a_server_that_has_failed_must_not_be_needed)
{
	static const char *const needing[] = {"{}", "{'tools':[]}", "{'tools':['*']}",
		"{'tools':['git.log','d*']}", "{'tools':['down.*']}", "{'tools':['down.x']}",
		"{'tools':'do*.x'}"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(needing); i++)
		assert_no_pin(needing[i], WFS_E_UNAVAILABLE, "'down' has listed no tools: it has");
}

TEST(a_pattern_that_is_wrong_is_refused)
{
	assert_no_pin("{'tools':[5]}", WFS_E_INVALID_ARGUMENT, "tools");
}
