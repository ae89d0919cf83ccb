/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks in this thread. */
#include "fs/tool/helper.h"

#include "fs/tool/tool.h"
#include "fs/verb/verb.h"
#include "kernel/base/json.h"

/* Those that have others take turns are not for agents. */
static bool is_helper(const struct wfs_tool *tool)
{
	return tool->action || !tool->task.changes;
}

static json_t *definitions(void)
{
	WFS_AUTO_JSON json_t *all = json_array();
	int r = 0;

	for (size_t i = 0; i < wfs_tool_count; i++) {
		const struct wfs_tool *const tool = &wfs_tools[i];

		if (is_helper(tool))
			r |= json_array_append_new(all,
				json_pack("{s:b, s:s, s:s, s:o}", "acts", tool->action != NULL,
					"description", tool->description, "name", tool->name,
					"parameters", wfs_tool_schema(tool, false)));
	}
	return r ? NULL : WFS_STEAL(all);
}

static int check(const char *name, const json_t *arguments, struct wfs_error *error)
{
	const struct wfs_tool *const tool = wfs_tool_find(name);

	wfs_require(tool);
	return wfs_tool_check(tool, arguments, error);
}

static int action(
	const char *name, const json_t *arguments, json_t **ret_action, struct wfs_error *error)
{
	const struct wfs_tool *const tool = wfs_tool_find(name);

	wfs_require(tool && tool->action);
	int r = wfs_tool_check(tool, arguments, error);
	if (r)
		return r;
	*ret_action = tool->action(arguments);
	return *ret_action ? 0 : wfs_error_from_errno(error, -ENOMEM, "call a tool");
}

static void ignore(struct wfs_call *call)
{
	(void)call;
}

/* Verbs of these tasks read, and are done when they have been started. */
static void ask(
	const struct wfs_session *session, struct wfs_task *task, const char *verb, json_t *payload)
{
	struct wfs_call call = {.session = session, .payload = payload, .done = ignore};

	wfs_call_start(&call, verb);
	struct wfs_answer answer = {
		.status = call.status,
		.result = call.result,
		.meta = call.meta,
		.error = call.error,
	};
	json_object_del(answer.result, "meta"); /* it stands beside it here */
	wfs_task_answer(task, &answer);
	wfs_call_done(&call);
}

static int run(const struct wfs_session *session, const char *name, const json_t *arguments,
	struct wfs_buffer *output, json_t **ret_meta, struct wfs_error *error)
{
	const struct wfs_tool *const tool = wfs_tool_find(name);
	WFS_AUTO_TASK struct wfs_task task = {.kind = NULL};
	const char *verb;
	json_t *payload;

	wfs_require(tool && is_helper(tool) && !tool->action);
	int r = wfs_tool_check(tool, arguments, error);
	if (r)
		return r;
	wfs_task_init(&task, &tool->task, json_incref((json_t *)arguments));
	while (wfs_task_next(&task, &verb, &payload))
		ask(session, &task, verb, payload);
	if (task.status) {
		*error = task.error;
		*ret_meta = json_incref(task.meta);
		return task.status;
	}
	wfs_json_write(task.result, output);
	return wfs_buffer_check(output);
}

const struct wfs_helpers wfs_tool_helpers = {definitions, check, action, run};
