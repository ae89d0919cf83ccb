/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/engine/tool.h"

#include "agents/engine/outside.h"
#include "agents/engine/work.h"
#include "agents/prepare/tool.h"
#include "caps/session-tools.h"
#include "kernel/base/json.h"

#define CLOSING "the world is being closed; the call goes on, or its outcome is unknown"
#define LOST "the answer of the call could not be recorded: see 'worldfs intents'"

#define no_memory(error) wfs_error_from_errno(error, -ENOMEM, "call an outside tool")

static void fail(struct wait *wait, int r, struct wfs_error *error)
{
	wait_tell(wait, r, NULL, error);
}

/* --- a call --- */

/* A caller that calls a tool. */
struct tool_wait {
	struct wait wait;
	struct outside_wanted wanted;
};

static void done_call(struct wait *wait)
{
	outside_wanted_done(&((struct tool_wait *)wait)->wanted);
}

/* A tool that the caller may not see is not checked: judging refuses it. */
static int check(const struct tool_wait *tool, struct wfs_error *error)
{
	const struct outside_wanted *const wanted = &tool->wanted;
	WFS_AUTO_JSON json_t *described =
		json_pack("{s:s, s:s, s:O*}", "kind", WFS_TOOL_KIND_OUTSIDE, "outside",
			wanted->name, "parameters", json_object_get(wanted->tool, "schema"));

	if (!described)
		return no_memory(error);
	return wanted->tool && wfs_session_sees_tool(wanted->session, &wanted->call.tool) > 0
		? agents_tool_check(tool->wait.engine->helpers, described, wanted->arguments, error)
		: 0;
}

static void find(struct tool_wait *tool)
{
	struct wait *const wait = &tool->wait;
	struct wfs_error error = {0};
	int r = outside_find(wait->engine, &tool->wanted, &error);

	if (r > 0)
		return;
	if (!r && wait->abandoned)
		r = wfs_error_set(&error, WFS_E_CANCELLED, "the caller has gone");
	if (!r)
		r = check(tool, &error);
	if (!r) {
		struct wfs_request *const request = wait_send(wait);

		r = wfs_session_outside_begin(
			wait->drive->session, &tool->wanted.call, NULL, request);
		if (r)
			error = request->error;
	}
	if (r)
		wait_fail(wait, r, &error);
}

static void listed(struct outside_wait *listing)
{
	find(CONTAINER_OF(listing, struct tool_wait, wanted.listing));
}

static void start_call(struct wait *wait)
{
	struct tool_wait *const tool = (struct tool_wait *)wait;
	const char *const name = wfs_json_text(wait->drive->params, "name");
	json_t *const arguments = json_object_get(wait->drive->params, "arguments");
	struct wfs_error error = {0};
	int r = 0;

	tool->wanted.listing.then = listed;
	tool->wanted.session = wait->drive->session;
	tool->wanted.arguments = arguments ? json_deep_copy(arguments) : json_object();
	if (!tool->wanted.arguments)
		r = no_memory(&error);
	else if (!wfs_tool_name_valid(name))
		r = wfs_error_set(&error, WFS_E_INVALID_ARGUMENT,
			"'name': expected the name of a tool, as server.tool, got '%.60s'", name);
	if (r) {
		wait_fail(wait, r, &error);
		return;
	}
	snprintf(tool->wanted.name, sizeof(tool->wanted.name), "%s", name);
	find(tool);
}

/* The intent is open: the server is asked, and its answer comes by tool_tell(). */
static void begun_call(struct wait *wait, json_t *answer)
{
	const char *const intent_id = wfs_json_text(answer, "intent_id");
	struct wfs_error error = wait->request.error;
	int r = wait->request.result;

	if (!r) {
		r = wait_watch(wait, intent_id, &error);
		work_look_begun(wait->engine, intent_id);
	}
	if (r)
		wait_fail(wait, r, &error);
}

static void tell(struct wait *wait, const json_t *payload)
{
	const char *const name = wfs_json_text(payload, "code");
	const enum wfs_error_code code = wfs_error_find(name);
	struct wfs_error error = {0};
	json_t *const result = json_deep_copy(payload);
	int r = result ? 0 : no_memory(&error);

	if (!r && *name)
		r = wfs_error_set(&error, code == WFS_OK ? WFS_E_EFFECT_FAILED : code, "%s",
			wfs_json_text(payload, "message"));
	if (!r || result)
		wait_tell(wait, r, result, r ? &error : NULL);
	else
		wait_fail(wait, r, &error);
}

void tool_tell(struct engine *engine, const char *intent_id, const json_t *payload)
{
	struct wait *const wait = wait_find(engine, intent_id);
	struct wfs_error error = {0};

	if (!wait)
		return;
	if (payload)
		tell(wait, payload);
	else
		wait_fail(wait, wfs_error_set(&error, WFS_E_INTERNAL_ERROR, LOST), &error);
}

/* The answer does not come from a cell. */
static void look(struct wait *wait)
{
	(void)wait;
}

/* The receipt of the cancelled call ends the wait. */
static json_t *cancelled_call(const struct wait *wait)
{
	(void)work_give_up(wait->engine, wait->id, false);
	return NULL;
}

const struct wait_kind wait_for_tool = {
	.size = sizeof(struct tool_wait),
	.doing = "call an outside tool",
	.closing = CLOSING,
	.start = start_call,
	.begun = begun_call,
	.look = look,
	.fail = fail,
	.cancelled = cancelled_call,
	.done = done_call,
};

/* --- the list --- */

struct list_wait {
	struct wait wait;
	struct outside_wait listing;
};

static void done_list(struct wait *wait)
{
	outside_unwait(&((struct list_wait *)wait)->listing);
}

static void tell_list(struct list_wait *list)
{
	struct wait *const wait = &list->wait;
	struct wfs_error error = {0};
	json_t *tools = NULL;
	const int r = wfs_session_tools(wait->drive->session, &tools);

	if (r)
		wait_fail(wait, r, &error);
	else
		wait_tell(wait, 0, tools, NULL);
}

static void all_listed(struct outside_wait *listing)
{
	tell_list(CONTAINER_OF(listing, struct list_wait, listing));
}

static void start_list(struct wait *wait)
{
	struct list_wait *const list = (struct list_wait *)wait;

	list->listing.then = all_listed;
	if (!outside_list(wait->engine, wait->drive->session, NULL, &list->listing))
		tell_list(list);
}

const struct wait_kind wait_for_tools = {
	.size = sizeof(struct list_wait),
	.doing = "list outside tools",
	.closing = CLOSING,
	.start = start_list,
	.look = look,
	.fail = fail,
	.done = done_list,
};
