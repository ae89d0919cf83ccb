/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks: the part that all kinds share. */
#include "fs/tool/task.h"

#include <string.h>

#include "fs/tree/tree.h"
#include "kernel/base/encode.h"
#include "kernel/base/json.h"

void wfs_task_init(struct wfs_task *task, const struct wfs_task_kind *kind, json_t *arguments)
{
	*task = (struct wfs_task){.kind = kind, .arguments = arguments ? arguments : json_object()};
}

void wfs_task_done(struct wfs_task *task)
{
	json_decref(WFS_STEAL(task->arguments));
	json_decref(WFS_STEAL(task->payload));
	json_decref(WFS_STEAL(task->notes));
	json_decref(WFS_STEAL(task->result));
	json_decref(WFS_STEAL(task->meta));
	json_decref(WFS_STEAL(task->error_details));
	wfs_buffer_done(&task->bytes);
}

/* Ends the task if @r is negative. */
static void end_if_failed(struct wfs_task *task, int r)
{
	if (!r)
		return;
	if (task->error.code == WFS_OK)
		wfs_error_from_errno(&task->error, r, "use what the world answered");
	wfs_task_fail(task, r, &task->error);
}

bool wfs_task_next(struct wfs_task *task, const char **ret_verb, json_t **ret_payload)
{
	if (!task->started) {
		task->started = true;
		end_if_failed(task, task->kind->start(task));
	}
	if (!task->verb)
		return false;
	*ret_verb = WFS_STEAL(task->verb);
	*ret_payload = WFS_STEAL(task->payload);
	return true;
}

void wfs_task_answer(struct wfs_task *task, const struct wfs_answer *answer)
{
	if (answer->meta) {
		json_decref(task->meta);
		task->meta = json_incref(answer->meta);
	}
	if (answer->status) {
		if (answer->details && task->kind->failed)
			task->kind->failed(task, answer->details);
		else
			task->error_details = json_incref(answer->details);
		wfs_task_fail(task, answer->status, &answer->error);
		return;
	}
	int r = task->kind->answered(task, answer->result);
	if (!r && !task->verb && !task->result)
		r = -ENOMEM; /* no memory for the result */
	end_if_failed(task, r);
}

void wfs_task_fail(struct wfs_task *task, int r, const struct wfs_error *error)
{
	task->started = true;
	task->status = r;
	task->error = *error;
	task->verb = NULL;
	json_decref(WFS_STEAL(task->payload));
	json_decref(WFS_STEAL(task->result));
}

int wfs_task_ask(struct wfs_task *task, const char *verb, json_t *payload)
{
	if (!payload)
		return -ENOMEM;
	task->verb = verb;
	task->payload = payload;
	return 0;
}

json_t *wfs_task_path(const struct wfs_task *task, const char *path)
{
	WFS_AUTO_JSON json_t *at = NULL;
	const json_t *const height = json_object_get(task->meta, "journal_height");

	if (height && !wfs_tree_path_is_live(path)) {
		at = json_sprintf("exact:%" JSON_INTEGER_FORMAT, json_integer_value(height));
		if (!at)
			return NULL;
	}
	return json_pack("{s:s, s:O*}", "path", path, "at", at);
}

const char *wfs_task_text(const struct wfs_task *task, const char *name)
{
	return json_string_value(json_object_get(task->arguments, name));
}

int64_t wfs_task_integer(const struct wfs_task *task, const char *name, int64_t otherwise)
{
	const json_t *const value = json_object_get(task->arguments, name);

	return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

int wfs_task_decode(struct wfs_task *task, const json_t *result, const char *name)
{
	const char *const text = json_string_value(json_object_get(result, name));

	return text ? wfs_base64_decode(text, strlen(text), &task->bytes, &task->error) : 0;
}
