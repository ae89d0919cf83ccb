/* SPDX-License-Identifier: Apache-2.0 */
/* Methods about resources: the files of the tree. Source: MCP 2025-06-18, "Resources". */
#include <string.h>

#include "fs/mcp/mcp-impl.h"
#include "fs/mcp/uri.h"
#include "fs/tree/tree.h"
#include "kernel/base/encode.h"
#include "kernel/base/json.h"

/* Makes the address of a path. Return: new reference, NULL without memory. */
static json_t *uri_of(const char *path)
{
	WFS_AUTO_BUFFER struct wfs_buffer uri = {0};

	wfs_uri_append(&uri, path);
	return wfs_buffer_check(&uri) < 0 ? NULL : json_string(wfs_buffer_text(&uri));
}

/* States, manifests and records are JSON; other text may be of any kind. */
static const char *media_type(const char *path, bool text)
{
	path = wfs_tree_path_first(path);
	if (wfs_tree_path_names_height(path)) {
		path = strchr(path, '/');
		path = path && strchr(path + 1, '/') ? strchr(path + 1, '/') + 1 : "";
	}
	const size_t size = strlen(path);
	const bool json = strncmp(path, "reducers/", 9) == 0 || strcmp(path, "manifest") == 0 ||
		(size > 5 && strcmp(path + size - 5, ".json") == 0);

	if (!text)
		return "application/octet-stream";
	return json ? "application/json" : "text/plain";
}

/* Answers a failed task. @uri: that it was about; NULL: none */
static void refuse(struct wfs_mcp *mcp, const struct wfs_mcp_call *call, const char *uri)
{
	const struct wfs_error_info *const info = wfs_error_info(call->task.error.code);
	const bool missing = info->number == ENOENT;
	const bool wrong = strcmp(info->category, "validation") == 0;

	wfs_rpc_error(&mcp->output, call->id,
		missing         ? WFS_RPC_RESOURCE_NOT_FOUND
			: wrong ? WFS_RPC_INVALID_PARAMS
				: WFS_RPC_INTERNAL_ERROR,
		wfs_mcp_error_data(&call->task.error, call->task.meta, uri), "%s",
		call->task.error.message);
}

/* --- reading: what is it, then its bytes or its names --- */

enum { READ_STAT, READ_BYTES, READ_NAMES };

static int read_start(struct wfs_task *task)
{
	return wfs_task_ask(task, "fs-stat", wfs_task_path(task, wfs_task_text(task, "path")));
}

/* Sets the result. @value: taken; NULL: its caller had no memory. Return: 0, -ENOMEM. */
static int finish_contents(
	struct wfs_task *task, const char *type, const char *member, json_t *value)
{
	task->result = json_pack("{s:[{s:O, s:s, s:o}], s:{s:O*}}", "contents", "uri",
		json_object_get(task->arguments, "uri"), "mimeType", type, member, value, "_meta",
		"worldfs/meta", task->meta);
	return task->result ? 0 : -ENOMEM;
}

static int ask_bytes(struct wfs_task *task)
{
	json_t *const payload = wfs_task_path(task, wfs_task_text(task, "path"));

	if (json_object_set_new(payload, "offset", json_integer((json_int_t)task->bytes.size)) <
		0) {
		json_decref(payload);
		return -ENOMEM;
	}
	return wfs_task_ask(task, "fs-read", payload);
}

/* Asks for names. The notes are the directory's entries so far. @cursor: after which names begin;
 * borrowed; NULL: the first ones */
static int ask_names(struct wfs_task *task, json_t *cursor)
{
	const size_t room = WFS_MCP_RESOURCE_NAMES_MAX - json_array_size(task->notes);
	json_t *const payload = wfs_task_path(task, wfs_task_text(task, "path"));

	if (json_object_set_new(payload, "limit", json_integer((json_int_t)room)) < 0 ||
		(cursor && json_object_set(payload, "cursor", cursor) < 0)) {
		json_decref(payload);
		return -ENOMEM;
	}
	task->index = READ_NAMES;
	return wfs_task_ask(task, "fs-list", payload);
}

static int ask_after_stat(struct wfs_task *task, const json_t *stat)
{
	const char *const path = wfs_task_text(task, "path");
	const char *const type = wfs_json_text(stat, "type");
	const json_int_t size = json_integer_value(json_object_get(stat, "size"));

	if (strcmp(type, "directory") == 0) {
		task->notes = json_array();
		return ask_names(task, NULL);
	}
	if (strcmp(type, "file") != 0)
		return wfs_error_set(
			&task->error, WFS_E_INVALID_ARGUMENT, "'%.300s' is a symbolic link", path);
	if (size > WFS_MCP_RESOURCE_MAX)
		return wfs_error_set(&task->error, WFS_E_TOO_LARGE,
			"'%.300s' has %" JSON_INTEGER_FORMAT
			" bytes, more than the %d of a resource; the tool fs_read reads parts",
			path, size, (int)WFS_MCP_RESOURCE_MAX);
	task->index = READ_BYTES;
	return ask_bytes(task);
}

static int finish_bytes(struct wfs_task *task)
{
	WFS_AUTO_BUFFER struct wfs_buffer base64 = {0};
	const struct wfs_buffer *const bytes = &task->bytes;
	const char *const path = wfs_task_text(task, "path");

	if (wfs_utf8_valid(bytes->data, bytes->size))
		return finish_contents(task, media_type(path, true), "text",
			json_stringn(bytes->size > 0 ? bytes->data : "", bytes->size));
	wfs_base64_append(&base64, bytes->data, bytes->size);
	return finish_contents(
		task, media_type(path, false), "blob", json_string(wfs_buffer_text(&base64)));
}

static int take_bytes(struct wfs_task *task, const json_t *result)
{
	const size_t before = task->bytes.size;
	int r = wfs_task_decode(task, result, "data_b64");

	if (r)
		return r;
	if (json_is_true(json_object_get(result, "eof")) || task->bytes.size == before)
		return finish_bytes(task);
	return ask_bytes(task);
}

/* Takes a page of names. More may follow even if it has few or none: a page counts hidden names,
 * too. */
static int take_names(struct wfs_task *task, const json_t *result)
{
	json_t *const cursor = json_object_get(result, "next_cursor");
	const json_t *entry;
	size_t i;

	if (json_array_extend(task->notes, json_object_get(result, "entries")) < 0)
		return -ENOMEM;
	if (cursor && json_array_size(task->notes) < WFS_MCP_RESOURCE_NAMES_MAX)
		return ask_names(task, cursor);
	json_array_foreach(task->notes, i, entry)
		wfs_buffer_printf(&task->bytes, "%s%s\n", wfs_json_text(entry, "name"),
			strcmp(wfs_json_text(entry, "type"), "directory") == 0 ? "/" : "");
	if (cursor)
		wfs_buffer_append_text(&task->bytes, "(there are more)\n");
	return wfs_buffer_check(&task->bytes) < 0
		? -ENOMEM
		: finish_contents(task, "inode/directory", "text",
			  json_string(wfs_buffer_text(&task->bytes)));
}

static int read_answered(struct wfs_task *task, const json_t *result)
{
	switch (task->index) {
	case READ_STAT:
		return ask_after_stat(task, result);
	case READ_BYTES:
		return take_bytes(task, result);
	default:
		return take_names(task, result);
	}
}

static const struct wfs_task_kind read_kind = {.start = read_start, .answered = read_answered};

static void finish_read(struct wfs_mcp *mcp, const struct wfs_mcp_call *call)
{
	if (call->task.status)
		refuse(mcp, call, wfs_task_text(&call->task, "uri"));
	else
		wfs_rpc_result(&mcp->output, call->id, json_incref(call->task.result));
}

void wfs_mcp_resources_read(struct wfs_mcp *mcp, const struct wfs_rpc_message *message)
{
	WFS_AUTO_BUFFER struct wfs_buffer path = {0};
	struct wfs_error error;
	const char *uri;
	int r = wfs_json_get_string(message->params, "uri", &uri, &error);

	if (r) {
		wfs_rpc_error(&mcp->output, message->id, WFS_RPC_INVALID_PARAMS, NULL, "%s",
			error.message);
		return;
	}
	r = wfs_uri_path(uri, &path);
	if (r && r != -EINVAL)
		wfs_rpc_error(
			&mcp->output, message->id, WFS_RPC_INTERNAL_ERROR, NULL, "out of memory");
	else if (r)
		wfs_rpc_error(&mcp->output, message->id, WFS_RPC_RESOURCE_NOT_FOUND,
			json_pack("{s:s}", "uri", uri),
			"no resource '%.300s', expected worldfs:///PATH", uri);
	else
		wfs_mcp_call_begin(mcp, message->id, &read_kind,
			json_pack("{s:s, s:s}", "path", wfs_buffer_text(&path), "uri", uri),
			finish_read);
}

/* --- the list: the files of the root, and the reducers --- */

enum { LIST_ROOT, LIST_REDUCERS };

static int ask_reducers(struct wfs_task *task)
{
	task->index = LIST_REDUCERS;
	return wfs_task_ask(task, "fs-list",
		json_pack("{s:s, s:i, s:s*}", "path", "reducers", "limit",
			(int)WFS_MCP_RESOURCES_PAGE, "cursor", wfs_task_text(task, "cursor")));
}

static int list_start(struct wfs_task *task)
{
	task->notes = json_array();
	if (!task->notes)
		return -ENOMEM;
	if (wfs_task_text(task, "cursor"))
		return ask_reducers(task);
	return wfs_task_ask(task, "fs-list", json_pack("{s:s}", "path", "/"));
}

static int add_file(struct wfs_task *task, const json_t *entry)
{
	const char *const name = wfs_json_text(entry, "name");

	return json_array_append_new(task->notes,
		json_pack("{s:s, s:s, s:O, s:o}", "mimeType", media_type(name, true), "name", name,
			"size", json_object_get(entry, "size"), "uri", uri_of(name)));
}

static int add_reducer(struct wfs_task *task, const json_t *entry)
{
	const char *const name = wfs_json_text(entry, "name");
	WFS_AUTO_JSON json_t *path = json_sprintf("reducers/%s", name);
	const char *const text = json_string_value(path);

	if (!text)
		return -ENOMEM;
	return json_array_append_new(task->notes,
		json_pack("{s:s, s:s, s:O, s:o}", "description",
			"the keys of a reducer; below it, the state of each", "mimeType",
			"inode/directory", "name", path, "uri", uri_of(text)));
}

static int list_answered(struct wfs_task *task, const json_t *result)
{
	const bool root = task->index == LIST_ROOT;
	bool reducers = false;
	const json_t *entry;
	size_t i;
	int r = 0;

	json_array_foreach(json_object_get(result, "entries"), i, entry) {
		reducers |= strcmp(wfs_json_text(entry, "name"), "reducers") == 0;
		if (!root)
			r |= add_reducer(task, entry);
		else if (strcmp(wfs_json_text(entry, "type"), "file") == 0)
			r |= add_file(task, entry);
	}
	if (r)
		return -ENOMEM;
	if (root && reducers)
		return ask_reducers(task);
	task->result = json_pack("{s:O, s:O*, s:{s:O*}}", "resources", task->notes, "nextCursor",
		json_object_get(result, "next_cursor"), "_meta", "worldfs/meta", task->meta);
	return task->result ? 0 : -ENOMEM;
}

static const struct wfs_task_kind list_kind = {.start = list_start, .answered = list_answered};

static void finish_list_call(struct wfs_mcp *mcp, const struct wfs_mcp_call *call)
{
	if (call->task.status)
		refuse(mcp, call, NULL);
	else
		wfs_rpc_result(&mcp->output, call->id, json_incref(call->task.result));
}

void wfs_mcp_resources_list(struct wfs_mcp *mcp, const struct wfs_rpc_message *message)
{
	const json_t *const cursor = json_object_get(message->params, "cursor");

	if (cursor && !json_is_string(cursor))
		wfs_rpc_error(&mcp->output, message->id, WFS_RPC_INVALID_PARAMS, NULL,
			"'cursor': expected the nextCursor of an earlier answer");
	else
		wfs_mcp_call_begin(mcp, message->id, &list_kind,
			json_pack("{s:O*}", "cursor", cursor), finish_list_call);
}

void wfs_mcp_resources_templates(struct wfs_mcp *mcp, const struct wfs_rpc_message *message)
{
	if (wfs_mcp_refuse_cursor(mcp, message))
		return;
	wfs_rpc_result(&mcp->output, message->id,
		json_pack("{s:[{s:s, s:s, s:s}, {s:s, s:s, s:s}]}", "resourceTemplates",
			"description", "a file or directory of the world as it is now", "name",
			"path", "uriTemplate", "worldfs:///{+path}", "description",
			"a file or directory of the world after that many journal records", "name",
			"path at a height", "uriTemplate", "worldfs:///at/{height}/{+path}"));
}
