/* SPDX-License-Identifier: Apache-2.0 */
/* Runs tasks in this thread, and those for which a driver takes turns. */
#include "fs/tool/helper.h"

#include "fs/tool/tool.h"
#include "fs/verb/verb.h"
#include "kernel/base/json.h"

/* Is the tool's verb answered only after turns were taken? */
static bool drives(const struct wfs_tool *tool)
{
	return tool->task.changes && !tool->action;
}

static json_t *definitions(void)
{
	WFS_AUTO_JSON json_t *all = json_array();
	int r = 0;

	for (size_t i = 0; i < wfs_tool_count; i++) {
		const struct wfs_tool *const tool = &wfs_tools[i];

		r |= json_array_append_new(all,
			json_pack("{s:b, s:s, s:b, s:s, s:o}", "acts", tool->action != NULL,
				"description", tool->description, "drives", drives(tool), "name",
				tool->name, "parameters", wfs_tool_schema(tool, false)));
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

static void take_answer(struct wfs_task *task, struct wfs_call *call)
{
	struct wfs_answer answer = {
		.status = call->status,
		.result = call->result,
		.meta = call->meta,
		.error = call->error,
		.details = call->error_details,
	};

	json_object_del(answer.result, "meta"); /* the answer has it as a member of its own */
	wfs_task_answer(task, &answer);
	wfs_call_done(call);
}

static int run(const struct wfs_session *session, const char *name, const json_t *arguments,
	struct wfs_buffer *output, json_t **ret_meta, struct wfs_error *error)
{
	const struct wfs_tool *const tool = wfs_tool_find(name);
	WFS_AUTO_TASK struct wfs_task task = {.kind = NULL};
	const char *verb;
	json_t *payload;

	wfs_require(tool && !drives(tool) && !tool->action);
	int r = wfs_tool_check(tool, arguments, error);
	if (r)
		return r;
	wfs_task_init(&task, &tool->task, json_incref((json_t *)arguments));
	/* Verbs of these tasks only read, and are answered when wfs_call_start() returns. */
	while (wfs_task_next(&task, &verb, &payload)) {
		struct wfs_call call = {.session = session, .payload = payload, .done = ignore};

		wfs_call_start(&call, verb);
		take_answer(&task, &call);
	}
	if (task.status) {
		*error = task.error;
		*ret_meta = json_incref(task.meta);
		return task.status;
	}
	wfs_json_write(task.result, output);
	return wfs_buffer_check(output);
}

/* --- calls that take turns --- */

struct driving {
	struct wfs_helper_call *asked;
	struct wfs_task task;
	struct wfs_call call;
};

static void end(struct wfs_helper_call *asked, int r, const struct wfs_error *error)
{
	asked->status = r;
	asked->error = *error;
	asked->done(asked);
}

static void go_on(struct driving *driving);

static void answered(struct wfs_call *call)
{
	struct driving *const driving = call->context;

	take_answer(&driving->task, call);
	go_on(driving);
}

static void go_on(struct driving *driving)
{
	struct wfs_helper_call *const asked = driving->asked;
	struct wfs_task *const task = &driving->task;
	const char *verb;
	json_t *payload;

	if (wfs_task_next(task, &verb, &payload)) {
		driving->call = (struct wfs_call){.session = asked->session,
			.driver = asked->driver,
			.payload = payload,
			.called_by = asked->called_by,
			.done = answered,
			.context = driving};
		wfs_call_start(&driving->call, verb);
		return;
	}
	asked->result = task->result;
	asked->details = task->error_details;
	asked->meta = task->meta;
	end(asked, task->status, &task->error);
}

static void begin(struct wfs_helper_call *asked)
{
	const struct wfs_tool *const tool = wfs_tool_find(asked->name);
	struct driving *const driving = calloc(1, sizeof(*driving));
	struct wfs_error error;

	wfs_require(tool && drives(tool));
	if (!driving) {
		end(asked, wfs_error_from_errno(&error, -ENOMEM, "call a tool"), &error);
		return;
	}
	asked->own = driving;
	driving->asked = asked;
	wfs_task_init(
		&driving->task, &tool->task, json_incref((json_t *)(uintptr_t)asked->arguments));
	go_on(driving);
}

static void abandon(struct wfs_helper_call *asked)
{
	struct driving *const driving = asked->own;

	if (driving && driving->call.context)
		wfs_call_abandon(&driving->call);
}

static void release(struct wfs_helper_call *asked)
{
	struct driving *const driving = WFS_STEAL(asked->own);

	if (driving)
		wfs_task_done(&driving->task);
	free(driving);
}

const struct wfs_helpers wfs_tool_helpers = {
	definitions, check, action, run, begin, abandon, release};
