/* SPDX-License-Identifier: Apache-2.0 */
/* Tools that are one verb each. */
#include <string.h>

#include "fs/tool/tool-impl.h"
#include "kernel/base/encode.h"
#include "kernel/base/json.h"

int wfs_tool_plain_answered(struct wfs_task *task, const json_t *result)
{
	task->result = wfs_json_copy(result);
	return json_object_set(task->result, "meta", task->meta) < 0 ? -ENOMEM : 0;
}

int wfs_tool_stat_start(struct wfs_task *task)
{
	return wfs_task_ask(task, "fs-stat", wfs_task_path(task, wfs_task_text(task, "path")));
}

/* --- the manifest --- */

int wfs_tool_manifest_start(struct wfs_task *task)
{
	return wfs_task_ask(task, "manifest-read",
		json_pack("{s:s*}", "consistency", wfs_task_text(task, "consistency")));
}

int wfs_tool_manifest_answered(struct wfs_task *task, const json_t *result)
{
	task->result = json_pack(
		"{s:O, s:O*}", "manifest", json_object_get(result, "manifest"), "meta", task->meta);
	return task->result ? 0 : -ENOMEM;
}

/* --- the state of a reducer --- */

int wfs_tool_reducer_start(struct wfs_task *task)
{
	WFS_AUTO_BUFFER struct wfs_buffer key = {0};
	const char *const text = wfs_task_text(task, "key");

	wfs_base64_append(&key, text, text ? strlen(text) : 0);
	if (wfs_buffer_check(&key) < 0)
		return -ENOMEM;
	return wfs_task_ask(task, "query-state",
		json_pack("{s:s*, s:s, s:s}", "consistency", wfs_task_text(task, "consistency"),
			"key_b64", wfs_buffer_text(&key), "reducer", wfs_task_text(task, "name")));
}

/* A missing key is a valid answer. */
int wfs_tool_reducer_answered(struct wfs_task *task, const json_t *result)
{
	const bool found = json_object_get(result, "state_b64") != NULL;
	WFS_AUTO_JSON json_t *state = found ? NULL : json_null();
	int r = wfs_task_decode(task, result, "state_b64");

	if (!r && found)
		r = wfs_json_parse(task->bytes.data, task->bytes.size, &state, &task->error);
	wfs_buffer_reset(&task->bytes); /* it is part of the result */
	if (r)
		return r;
	task->result = json_pack(
		"{s:b, s:O, s:O*}", "found", (int)found, "state", state, "meta", task->meta);
	return task->result ? 0 : -ENOMEM;
}

/* --- bytes of a file --- */

int wfs_tool_read_start(struct wfs_task *task)
{
	json_t *const payload = wfs_task_path(task, wfs_task_text(task, "path"));
	const int64_t limit = wfs_task_integer(task, "limit", WFS_TOOL_READ_DEFAULT);

	if (json_object_set_new(
		    payload, "offset", json_integer(wfs_task_integer(task, "offset", 0))) < 0 ||
		json_object_set_new(payload, "limit", json_integer(limit)) < 0) {
		json_decref(payload);
		return -ENOMEM;
	}
	return wfs_task_ask(task, "fs-read", payload);
}

/* Cuts text after a whole character, if it has one; the next part begins with the rest. */
static bool cut_to_text(struct wfs_buffer *bytes, bool eof)
{
	const size_t whole = eof ? bytes->size : wfs_utf8_cut(bytes->data, bytes->size);

	if ((whole == 0 && bytes->size > 0) || !wfs_utf8_valid(bytes->data, whole))
		return false;
	bytes->size = whole;
	return true;
}

int wfs_tool_read_answered(struct wfs_task *task, const json_t *result)
{
	const int64_t offset = wfs_task_integer(task, "offset", 0);
	const bool eof = json_is_true(json_object_get(result, "eof"));
	int r = wfs_task_decode(task, result, "data_b64");

	if (r)
		return r;
	const bool is_text = cut_to_text(&task->bytes, eof);
	const json_int_t end = offset + (int64_t)task->bytes.size;
	task->result =
		json_pack("{s:s, s:I, s:I, s:b, s:O, s:O*}", "path", wfs_task_text(task, "path"),
			"offset", (json_int_t)offset, "bytes", (json_int_t)task->bytes.size, "eof",
			(int)eof, "size", json_object_get(result, "size"), "meta", task->meta);
	if (!eof)
		r |= json_object_set_new(task->result, "next_offset", json_integer(end));
	if (is_text) {
		r |= json_object_set_new(task->result, "text",
			json_stringn(task->bytes.data ? task->bytes.data : "", task->bytes.size));
		return r ? -ENOMEM : 0;
	}
	wfs_buffer_reset(&task->bytes);
	r |= json_object_set(task->result, "data_b64", json_object_get(result, "data_b64"));
	return r ? -ENOMEM : 0;
}
