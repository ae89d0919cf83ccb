/* SPDX-License-Identifier: Apache-2.0 */
#include "caps/session-tools.h"
#include "caps/caps-impl.h"

#include "caps/session-outside.h"
#include "caps/tools.h"
#include "kernel/base/json.h"
#include "kernel/rights/scope.h"

int wfs_authority_set_tools(struct wfs_authority *authority, json_t *list)
{
	struct wfs_tools *const tools = list ? wfs_tools_new(list) : NULL;

	if (list && !tools)
		return -ENOMEM;
	wfs_tools_unref(wfs_authority_swap_tools(authority, tools));
	return 0;
}

/* Return: 1, 0, -ENOMEM. */
static int sees(const struct wfs_session *session, const json_t *tool)
{
	const struct wfs_session_tool asked = {.name = wfs_json_text(tool, "name"),
		.hash = wfs_json_text(tool, "hash"),
		.annotations = json_object_get(tool, "annotations")};

	return wfs_session_sees_tool(session, &asked);
}

/* Is the tool called @name one of the server @server? */
static bool is_of(const char *name, const char *server)
{
	const size_t size = strlen(server);

	return strncmp(name, server, size) == 0 && name[size] == '.';
}

/* May the session know that this server is there? @tools: those that it sees */
static int knows(const struct wfs_session *session, const json_t *server, const json_t *tools)
{
	const char *const name = wfs_json_text(server, "name");
	char every[WFS_TOOL_NAME_MAX + 1];
	size_t i;
	const json_t *tool;

	json_array_foreach(tools, i, tool)
		if (is_of(wfs_json_text(tool, "name"), name))
			return 1;
	snprintf(every, sizeof(every), "%s.*", name);
	return wfs_session_sees_tool(session, &(struct wfs_session_tool){.name = every});
}

static int take(json_t *to, const json_t *row)
{
	return json_array_append_new(to, json_deep_copy(row)) == 0 ? 0 : -ENOMEM;
}

int wfs_session_tools(const struct wfs_session *session, json_t **ret_list)
{
	WFS_AUTO_TOOLS struct wfs_tools *tools = wfs_authority_tools(session->authority);
	json_t *const seen_servers = json_array();
	json_t *const seen_tools = json_array();
	WFS_AUTO_JSON json_t *list =
		json_pack("{s:o, s:o}", "servers", seen_servers, "tools", seen_tools);
	size_t i;
	const json_t *row;
	int r = list ? 0 : -ENOMEM;

	json_array_foreach(json_object_get(wfs_tools_list(tools), "tools"), i, row) {
		r = r ? r : sees(session, row);
		if (r > 0)
			r = take(seen_tools, row);
	}
	json_array_foreach(json_object_get(wfs_tools_list(tools), "servers"), i, row) {
		r = r ? r : knows(session, row, seen_tools);
		if (r > 0)
			r = take(seen_servers, row);
	}
	if (!r)
		*ret_list = WFS_STEAL(list);
	return r;
}

static const struct wfs_tool_place *find_tool(const struct wfs_tools *tools, const char *name)
{
	size_t count;
	const struct wfs_tool_place *const places = wfs_tools_places(tools, &count);

	for (size_t i = 0; i < count; i++)
		if (strcmp(places[i].name, name) == 0)
			return &places[i];
	return NULL;
}

static int copy_row(const struct wfs_tool_place *place, json_t **ret_tool)
{
	*ret_tool = json_deep_copy(place->row);
	return *ret_tool ? 0 : -ENOMEM;
}

int wfs_authority_tool(struct wfs_authority *authority, const char *name, json_t **ret_tool)
{
	WFS_AUTO_TOOLS struct wfs_tools *tools = wfs_authority_tools(authority);
	const struct wfs_tool_place *const place = find_tool(tools, name);

	return place ? copy_row(place, ret_tool) : -ENOENT;
}

/* Gives a tool if the session sees it. Return: 0, -ENOENT, -ENOMEM. */
static int give_tool(
	const struct wfs_session *session, const struct wfs_tool_place *place, json_t **ret_tool)
{
	const int r = sees(session, place->row);

	if (r <= 0)
		return r ? r : -ENOENT;
	return copy_row(place, ret_tool);
}

int wfs_session_tool(const struct wfs_session *session, const char *name, json_t **ret_tool)
{
	WFS_AUTO_TOOLS struct wfs_tools *tools = wfs_authority_tools(session->authority);
	const struct wfs_tool_place *const place = find_tool(tools, name);

	return place ? give_tool(session, place, ret_tool) : -ENOENT;
}

int wfs_session_lists_tools(const struct wfs_session *session, struct wfs_error *error)
{
	WFS_AUTO_RIGHTS struct wfs_rights *rights = NULL;
	struct wfs_question question = {
		.effect = WFS_EFFECT_TOOL_OUTSIDE, .of_any = true, .approved = true};
	int r = session_rights(session, &rights, &question);

	if (r)
		return wfs_error_from_errno(error, r, "judge a request");
	const struct wfs_verdict verdict = wfs_rights_judge(rights, &question);
	return verdict.code == WFS_E_QUOTA_EXCEEDED
		? 0
		: session_refused(session, rights, &question, &verdict, error);
}

/* --- as a tree --- */

/* Gives the server if the session sees one of its tools. Return: 0, -ENOENT, -ENOMEM. */
static int give_server(const struct wfs_session *session, const struct wfs_tools *tools,
	const struct wfs_tool_place *server, struct wfs_listed_server *ret_server)
{
	size_t count;
	const struct wfs_tool_place *const places = wfs_tools_places(tools, &count);
	int r = 0;

	for (size_t i = server->begin; r == 0 && i < server->end; i++)
		r = sees(session, places[i].row);
	if (r <= 0)
		return r ? r : -ENOENT;
	ret_server->number = server->number;
	snprintf(ret_server->name, sizeof(ret_server->name), "%.*s",
		(int)wfs_tool_server_size(server->name), server->name);
	return 0;
}

static const struct wfs_tool_place *find_server(const struct wfs_tools *tools, const char *name)
{
	size_t count;
	const struct wfs_tool_place *const servers = wfs_tools_servers(tools, &count);
	const size_t size = strlen(name);

	for (size_t i = 0; i < count; i++)
		if (wfs_tool_server_size(servers[i].name) == size &&
			memcmp(servers[i].name, name, size) == 0)
			return &servers[i];
	return NULL;
}

int wfs_session_server(
	const struct wfs_session *session, const char *name, struct wfs_listed_server *ret_server)
{
	WFS_AUTO_TOOLS struct wfs_tools *tools = wfs_authority_tools(session->authority);
	const struct wfs_tool_place *const server = find_server(tools, name);

	return server ? give_server(session, tools, server, ret_server) : -ENOENT;
}

int wfs_session_server_from(
	const struct wfs_session *session, uint64_t number, struct wfs_listed_server *ret_server)
{
	WFS_AUTO_TOOLS struct wfs_tools *tools = wfs_authority_tools(session->authority);
	size_t count;
	const struct wfs_tool_place *const servers = wfs_tools_servers(tools, &count);
	int r = -ENOENT;

	for (size_t i = 0; r == -ENOENT && i < count; i++)
		if (servers[i].number >= number)
			r = give_server(session, tools, &servers[i], ret_server);
	return r;
}

int wfs_session_tool_from(
	const struct wfs_session *session, const char *server, uint64_t number, json_t **ret_tool)
{
	WFS_AUTO_TOOLS struct wfs_tools *tools = wfs_authority_tools(session->authority);
	size_t count;
	const struct wfs_tool_place *const places = wfs_tools_places(tools, &count);
	const struct wfs_tool_place *const found = find_server(tools, server);
	int r = -ENOENT;

	for (size_t i = found ? found->begin : 0; r == -ENOENT && found && i < found->end; i++)
		if (places[i].number >= number)
			r = give_tool(session, &places[i], ret_tool);
	return r;
}

int wfs_session_tool_numbered(const struct wfs_session *session, uint64_t number, json_t **ret_tool)
{
	WFS_AUTO_TOOLS struct wfs_tools *tools = wfs_authority_tools(session->authority);
	size_t count;
	const struct wfs_tool_place *const places = wfs_tools_places(tools, &count);

	for (size_t i = 0; i < count; i++)
		if (places[i].number == number)
			return give_tool(session, &places[i], ret_tool);
	return -ENOENT;
}

/* --- pinning --- */

/* Could the pattern match a tool of the server? */
static bool may_match(const char *pattern, const char *server)
{
	char begin[WFS_TOOL_SERVER_MAX + 2];
	const size_t fixed = strcspn(pattern, "*");

	snprintf(begin, sizeof(begin), "%s.", server);
	return strncmp(pattern, begin, fixed < strlen(begin) ? fixed : strlen(begin)) == 0;
}

/* @patterns: an array of patterns, or one pattern; NULL: everything */
static bool any_may_match(const json_t *patterns, const char *server)
{
	size_t i;
	const json_t *pattern;

	json_array_foreach(patterns, i, pattern)
		if (may_match(json_string_value(pattern), server))
			return true;
	return json_is_string(patterns) ? may_match(json_string_value(patterns), server)
					: json_array_size(patterns) == 0;
}

/* Refuses to leave out the tools of a server that might be covered. */
static int need_servers(const json_t *params, const json_t *list, struct wfs_error *error)
{
	size_t i;
	const json_t *server;

	json_array_foreach(json_object_get(list, "servers"), i, server) {
		const char *const reason = wfs_json_text(server, "reason");
		const char *const name = wfs_json_text(server, "name");

		if (*reason && any_may_match(json_object_get(params, "tools"), name))
			return wfs_error_set(error, WFS_E_UNAVAILABLE,
				"the server '%s' has listed no tools: %.300s", name, reason);
	}
	return 0;
}

int wfs_tools_pin(
	const json_t *params, const json_t *list, json_t **ret_pinned, struct wfs_error *error)
{
	WFS_AUTO_SCOPE struct wfs_scope *scope = NULL;
	WFS_AUTO_JSON json_t *pinned = json_object();
	size_t i;
	const json_t *tool;
	int r = wfs_scope_new(json_object_get(params, "tools"), "tools", &scope, error);

	if (!r)
		r = need_servers(params, list, error);
	if (r)
		return r;
	json_array_foreach(json_object_get(list, "tools"), i, tool) {
		const struct wfs_bytes name = wfs_bytes_text(wfs_json_text(tool, "name"));

		if (wfs_scope_coverage(scope, (struct wfs_path){&name, 1}) == WFS_COVERAGE_WHOLE &&
			json_object_set(pinned, name.data, json_object_get(tool, "hash")) < 0)
			return wfs_error_from_errno(error, -ENOMEM, "pin tools");
	}
	if (json_object_size(pinned) == 0)
		return wfs_error_set(error, WFS_E_NOT_FOUND,
			"the grant would cover no tool that is listed, so none can be pinned");
	*ret_pinned = WFS_STEAL(pinned);
	return 0;
}

int wfs_session_is_tool(const struct wfs_session *session, const char *name)
{
	WFS_AUTO_TOOLS struct wfs_tools *tools = wfs_authority_tools(session->authority);
	const json_t *const rows = json_object_get(wfs_tools_list(tools), "servers");
	size_t i;
	const json_t *row;

	json_array_foreach(rows, i, row)
		if (is_of(name, wfs_json_text(row, "name")))
			return wfs_session_covers_tool(session, name);
	return 0;
}
