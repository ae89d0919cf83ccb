/* SPDX-License-Identifier: Apache-2.0 */
/* The server, and the table of methods. */
#include "fs/mcp/mcp.h"

#include <string.h>

#include "fs/mcp/mcp-impl.h"
#include "kernel/base/json.h"

/* Supported revisions of the protocol, newest first. Older ones do not know structuredContent, and
 * may ignore it. */
static const char *const revisions[] = {"2025-06-18", "2025-03-26", "2024-11-05"};

static const char instructions[] =
	"A world: a journal of events, and the state that follows from them, as a "
	"tree of files. Begin with fs_read of 'README' or fs_ls of '/'. Everything "
	"that is read comes with 'meta', which has the journal height that was read.";

int wfs_mcp_new(
	const char *directory, const char *as, wfs_driver_start *drive, struct wfs_mcp **ret_mcp)
{
	struct wfs_mcp *const mcp = calloc(1, sizeof(*mcp));

	if (!mcp)
		return -ENOMEM;
	mcp->options =
		(struct wfs_access_options){.directory = directory, .as = as, .drive = drive};
	*ret_mcp = mcp;
	return 0;
}

void wfs_mcp_set_wait(struct wfs_mcp *mcp, unsigned int wait_ms)
{
	mcp->options.wait_ms = wait_ms;
}

void wfs_mcp_set_outside(struct wfs_mcp *mcp, bool outside)
{
	mcp->outside = outside;
}

void wfs_mcp_free(struct wfs_mcp *mcp)
{
	if (!mcp)
		return;
	json_decref(mcp->outside_names);
	wfs_mcp_calls_free(mcp);
	wfs_buffer_done(&mcp->output);
	free(mcp);
}

bool wfs_mcp_is_busy(const struct wfs_mcp *mcp)
{
	return mcp->count > 0;
}

bool wfs_mcp_is_full(const struct wfs_mcp *mcp)
{
	return mcp->count >= WFS_MCP_CALLS_MAX || mcp->output.size >= WFS_MCP_OUTPUT_MAX;
}

struct wfs_buffer *wfs_mcp_output(struct wfs_mcp *mcp)
{
	return &mcp->output;
}

bool wfs_mcp_refuse_cursor(struct wfs_mcp *mcp, const struct wfs_rpc_message *message)
{
	if (!json_object_get(message->params, "cursor"))
		return false;
	wfs_rpc_error(&mcp->output, message->id, WFS_RPC_INVALID_PARAMS, NULL,
		"'cursor': this list has only one page, so expected no cursor");
	return true;
}

/* --- methods of the protocol itself --- */

static void initialize(struct wfs_mcp *mcp, const struct wfs_rpc_message *message)
{
	const char *version = NULL;
	const char *spoken = revisions[0];
	struct wfs_error error;

	if (mcp->initialized) {
		wfs_rpc_error(&mcp->output, message->id, WFS_RPC_INVALID_REQUEST, NULL,
			"'initialize' was answered already");
		return;
	}
	if (wfs_json_get_string(message->params, "protocolVersion", &version, &error) < 0) {
		wfs_rpc_error(&mcp->output, message->id, WFS_RPC_INVALID_PARAMS, NULL, "%s",
			error.message);
		return;
	}
	for (size_t i = 0; i < WFS_ARRAY_COUNT(revisions); i++)
		if (strcmp(revisions[i], version) == 0)
			spoken = revisions[i];
	mcp->initialized = true;
	wfs_rpc_result(&mcp->output, message->id,
		json_pack("{s:{s:{}, s:{}}, s:s, s:s, s:{s:s, s:s, s:s}}", "capabilities",
			"resources", "tools", "instructions", instructions, "protocolVersion",
			spoken, "serverInfo", "name", "worldfs", "title", "WorldFS", "version",
			WFS_VERSION));
}

static void ping(struct wfs_mcp *mcp, const struct wfs_rpc_message *message)
{
	wfs_rpc_result(&mcp->output, message->id, json_object());
}

/* Cancels a call. The world still answers it, turns of agents at once, and the answer is
 * dropped. */
static void cancelled(struct wfs_mcp *mcp, const struct wfs_rpc_message *message)
{
	const json_t *const id = json_object_get(message->params, "requestId");
	struct wfs_mcp_call *const call = id ? wfs_mcp_call_find(mcp, id) : NULL;

	if (call)
		wfs_mcp_call_cancel(mcp, call);
}

/* Ignores a message. */
static void nothing(struct wfs_mcp *mcp, const struct wfs_rpc_message *message)
{
	(void)mcp;
	(void)message;
}

/* --- the table --- */

static const struct method {
	const char *name;
	bool notification;
	bool early; /* allowed before `initialize` */
	void (*run)(struct wfs_mcp *mcp, const struct wfs_rpc_message *message);
} methods[] = {
	{.name = "initialize", .early = true, .run = initialize},
	{.name = "ping", .early = true, .run = ping},
	{.name = "tools/list", .run = wfs_mcp_tools_list},
	{.name = "tools/call", .run = wfs_mcp_tools_call},
	{.name = "resources/list", .run = wfs_mcp_resources_list},
	{.name = "resources/templates/list", .run = wfs_mcp_resources_templates},
	{.name = "resources/read", .run = wfs_mcp_resources_read},
	{.name = "notifications/initialized", .notification = true, .run = nothing},
	{.name = "notifications/cancelled", .notification = true, .run = cancelled},
};

static const struct method *method_find(const char *name, bool notification)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(methods); i++)
		if (methods[i].notification == notification && strcmp(methods[i].name, name) == 0)
			return &methods[i];
	return NULL;
}

static void take_request(struct wfs_mcp *mcp, const struct wfs_rpc_message *message)
{
	const struct method *const method = method_find(message->method, false);

	if (!mcp->initialized && !(method && method->early))
		wfs_rpc_error(&mcp->output, message->id, WFS_RPC_INVALID_REQUEST, NULL,
			"'%.60s' came before 'initialize'", message->method);
	else if (!method)
		wfs_rpc_error(&mcp->output, message->id, WFS_RPC_METHOD_NOT_FOUND, NULL,
			"no method '%.60s'", message->method);
	else if (wfs_mcp_call_find(mcp, message->id))
		wfs_rpc_error(&mcp->output, message->id, WFS_RPC_INVALID_REQUEST, NULL,
			"'id': a request with this id is under way");
	else
		method->run(mcp, message);
}

void wfs_mcp_take(struct wfs_mcp *mcp, struct wfs_bytes line)
{
	WFS_AUTO_RPC_MESSAGE struct wfs_rpc_message message = {.method = NULL};
	const struct method *method;

	if (!wfs_rpc_read(line, &message, &mcp->output))
		return;
	if (message.id) {
		take_request(mcp, &message);
		return;
	}
	method = method_find(message.method, true);
	if (method) /* other messages are ignored */
		method->run(mcp, &message);
}

void wfs_mcp_refuse_long(struct wfs_mcp *mcp)
{
	wfs_rpc_error(&mcp->output, NULL, WFS_RPC_INVALID_REQUEST, NULL,
		"a message has more than %d bytes", (int)WFS_MCP_MESSAGE_MAX);
}
