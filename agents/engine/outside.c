/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/engine/outside.h"

#include "agents/host/models.h"
#include "caps/authority.h"
#include "caps/session-tools.h"
#include "caps/session.h"
#include "kernel/base/hash-text.h"
#include "kernel/base/json.h"
#include "kernel/base/log.h"

struct outside_client {
	struct wfs_outside *outside;
	struct engine *engine;
	json_t *table;     /* of host.json; owned */
	size_t call_count; /* under way */
};

struct outside_call {
	struct outside_client *client;
	struct wfs_outside_call *call;
	struct wfs_outside_request request; /* whose functions and context are called */
	bool dropped;
};

/* --- the list --- */

static const char *const state_names[] = {
	[WFS_OUTSIDE_DOWN] = "down",
	[WFS_OUTSIDE_STARTING] = "starting",
	[WFS_OUTSIDE_LISTING] = "listing",
	[WFS_OUTSIDE_READY] = "ready",
	[WFS_OUTSIDE_WAITING] = "waiting",
};

static int add_tools(json_t *tools, const struct wfs_outside_server *server)
{
	int r = 0;

	for (size_t i = 0; !r && i < server->tool_count; i++) {
		const struct wfs_outside_tool *const tool = &server->tools[i];

		r = json_array_append_new(tools,
			json_pack("{s:o, s:s, s:s, s:o, s:o}", "annotations",
				json_deep_copy(tool->annotations), "description", tool->description,
				"hash", WFS_HASH_TEXT(&tool->hash), "name",
				json_sprintf("%s.%s", server->name, tool->name), "schema",
				json_deep_copy(tool->input_schema)));
	}
	return r;
}

static json_t *list_of(const struct outside_client *client)
{
	json_t *const servers = json_array();
	json_t *const tools = json_array();
	WFS_AUTO_JSON json_t *list = json_pack("{s:o, s:o}", "servers", servers, "tools", tools);
	int r = 0;

	for (size_t i = 0; list && !r && i < wfs_outside_count(client->outside); i++) {
		struct wfs_outside_server server;

		wfs_outside_server(client->outside, i, &server);
		r = json_array_append_new(servers,
			json_pack("{s:s, s:s, s:s}", "name", server.name, "reason", server.reason,
				"state", state_names[server.state]));
		if (!r)
			r = add_tools(tools, &server);
	}
	return r ? NULL : WFS_STEAL(list);
}

static void publish(struct engine *engine)
{
	json_t *const list = engine->outside ? list_of(engine->outside) : NULL;

	if ((engine->outside && !list) || wfs_authority_set_tools(engine->authority, list))
		wfs_log(WFS_LOG_AGENTS, WFS_LOG_ERR, "no memory for the list of outside tools");
}

/* --- waiting for it --- */

void outside_unwait(struct outside_wait *wait)
{
	if (wait->waits)
		LIST_REMOVE(wait, all);
	wait->waits = false;
}

static bool is_complete(const struct engine *engine, const char *server)
{
	return !engine->outside ||
		wfs_outside_is_settled(engine->outside->outside, *server ? server : NULL);
}

static struct outside_wait *next_wait(const struct engine *engine)
{
	struct outside_wait *wait;

	LIST_FOREACH(wait, &engine->outside_waits, all)
		if (is_complete(engine, wait->server))
			break;
	return wait;
}

/* A caller that asks again may find the list incomplete: then it waits for the next change. */
static void tell_waits(struct engine *engine)
{
	struct outside_wait *wait;

	while ((wait = next_wait(engine)) != NULL) {
		outside_unwait(wait);
		wait->then(wait);
	}
}

/* Principals that may call no tool of a server do not have it started. The verb that lists all has
 * been judged. */
static bool may_list(const struct wfs_session *session, const char *name)
{
	return !name || wfs_session_covers_tool(session, name) > 0;
}

bool outside_list(struct engine *engine, const struct wfs_session *session, const char *server,
	struct outside_wait *wait)
{
	const size_t size = server ? strcspn(server, ".") : 0;

	snprintf(wait->server, sizeof(wait->server), "%.*s", (int)size, server ? server : "");
	if (!engine->outside || size >= sizeof(wait->server) ||
		!may_list(session, size ? server : NULL))
		return false;
	wfs_outside_list(engine->outside->outside, size ? wait->server : NULL);
	if (is_complete(engine, wait->server))
		return false;
	LIST_INSERT_HEAD(&engine->outside_waits, wait, all);
	wait->waits = true;
	return true;
}

/* --- tools that are to be called --- */

void outside_wanted_done(struct outside_wanted *wanted)
{
	outside_unwait(&wanted->listing);
	wfs_session_outside_done(&wanted->call);
	json_decref(WFS_STEAL(wanted->tool));
	json_decref(WFS_STEAL(wanted->arguments));
}

/* Has the server of the tool listed nothing, because it failed? Only a session that might call the
 * tool learns that. */
static int check_server(
	const struct engine *engine, const struct outside_wanted *wanted, struct wfs_error *error)
{
	const struct wfs_session_tool tool = {.name = wanted->name};
	const size_t size = strcspn(wanted->name, ".");
	struct wfs_outside_server server = {.listed = true};
	size_t i = engine->outside ? wfs_outside_count(engine->outside->outside) : 0;
	bool found = false;

	while (!found && i-- > 0) {
		wfs_outside_server(engine->outside->outside, i, &server);
		found = strlen(server.name) == size && memcmp(server.name, wanted->name, size) == 0;
	}
	return found && !server.listed && *server.reason &&
			wfs_session_sees_tool(wanted->session, &tool) > 0
		? wfs_error_set(error, WFS_E_UNAVAILABLE,
			  "the server '%s' has not listed its tools: %s", server.name,
			  server.reason)
		: 0;
}

int outside_find(struct engine *engine, struct outside_wanted *wanted, struct wfs_error *error)
{
	int r = wfs_authority_tool(engine->authority, wanted->name, &wanted->tool);

	if (r == -ENOENT && !wanted->listed) {
		wanted->listed = true;
		if (outside_list(engine, wanted->session, wanted->name, &wanted->listing))
			return 1;
	}
	if (r && r != -ENOENT)
		return wfs_error_from_errno(error, r, "find an outside tool");
	r = r ? check_server(engine, wanted, error) : 0;
	if (r)
		return r;
	wanted->call.tool = (struct wfs_session_tool){
		.name = wanted->name,
		.hash = json_string_value(json_object_get(wanted->tool, "hash")),
		.annotations = json_object_get(wanted->tool, "annotations"),
	};
	wanted->call.arguments = wanted->arguments;
	return 0;
}

/* Readers get what a server lists, and why it failed, not how it comes there. */
static void changed(void *context, size_t index)
{
	struct outside_client *const client = context;
	struct engine *const engine = client->engine;
	struct wfs_outside_server server;

	if (client != engine->outside)
		return;
	wfs_outside_server(client->outside, index, &server);
	if (server.state == WFS_OUTSIDE_STARTING || server.state == WFS_OUTSIDE_LISTING)
		return;
	publish(engine);
	tell_waits(engine);
}

/* --- the client --- */

static void end_client(struct outside_client *client)
{
	if (client == client->engine->outside || client->call_count > 0)
		return;
	wfs_outside_free(client->outside);
	json_decref(client->table);
	free(client);
}

/* @table: taken */
static struct outside_client *make_client(
	struct engine *engine, json_t *table, struct wfs_error *error)
{
	struct outside_client *const client = calloc(1, sizeof(*client));
	const struct wfs_outside_callbacks callbacks = {.context = client, .changed = changed};

	if (!client) {
		json_decref(table);
		(void)wfs_error_from_errno(error, -ENOMEM, "call outside tools");
		return NULL;
	}
	client->engine = engine;
	client->table = table;
	if (wfs_outside_new(&engine->loop, table, &callbacks, &client->outside, error) == 0)
		return client;
	json_decref(table);
	free(client);
	return NULL;
}

static void replace(struct engine *engine, struct outside_client *client)
{
	struct outside_client *const before = engine->outside;

	engine->outside = client;
	if (before)
		end_client(before);
	publish(engine);
	tell_waits(engine);
}

void outside_start(struct engine *engine)
{
	struct outside_client *client = NULL;
	struct wfs_error error = {0};
	json_t *table = NULL;
	int r = 0;

	if (engine_trusts(engine, NULL)) /* the agents of a world without trust do nothing */
		r = wfs_models_servers(wfs_authority_directory(engine->authority), &table, &error);
	if (!r && table && engine->outside && json_equal(table, engine->outside->table)) {
		json_decref(table);
		return;
	}
	if (!r && table)
		client = make_client(engine, table, &error);
	if (r || (table && !client))
		wfs_log(WFS_LOG_AGENTS, WFS_LOG_WARNING, "no outside tools are called: %s",
			error.message);
	replace(engine, client);
}

void outside_stop(struct engine *engine)
{
	replace(engine, NULL);
}

/* --- calls --- */

static void on_progress(void *context, double progress, double total, const char *message)
{
	const struct outside_call *const call = context;

	if (!call->dropped && call->request.progress)
		call->request.progress(call->request.context, progress, total, message);
}

static void on_done(void *context, const struct wfs_outside_result *result)
{
	struct outside_call *const call = context;
	struct outside_client *const client = call->client;
	struct engine *const engine = client->engine;

	if (!call->dropped)
		call->request.done(call->request.context, result);
	free(call);
	client->call_count--;
	end_client(client);
	engine_one_less(engine);
}

int outside_call(struct engine *engine, const struct wfs_outside_request *request,
	struct outside_call **ret_call, struct wfs_error *error)
{
	struct outside_client *const client = engine->outside;
	struct wfs_outside_request own = *request;

	if (!client)
		return wfs_error_set(error, WFS_E_NOT_FOUND,
			"host.json names no server '%.64s' of tools", request->server);
	WFS_AUTO_FREE struct outside_call *call = calloc(1, sizeof(*call));
	if (!call)
		return wfs_error_from_errno(error, -ENOMEM, "call an outside tool");
	call->client = client;
	call->request = *request;
	own.context = call;
	own.progress = on_progress;
	own.done = on_done;
	int r = wfs_outside_call_start(client->outside, &own, &call->call, error);
	if (r)
		return r;
	client->call_count++;
	engine->open_count++;
	*ret_call = WFS_STEAL(call);
	return 0;
}

void outside_cancel(struct outside_call *call)
{
	wfs_outside_call_cancel(call->call);
}

void outside_drop(struct outside_call *call)
{
	call->dropped = true;
	wfs_outside_call_cancel(call->call);
}
