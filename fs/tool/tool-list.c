/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fs_ls: lists names below a directory, level by level, so that of a tree that is too large at
 * least the upper levels are given.
 *
 * The notes are the directories found so far; task->index is the one being listed. at/ has the
 * whole tree again for each height, so it is listed only for a path within it.
 */
#include <string.h>

#include "fs/tool/tool-impl.h"
#include "kernel/base/json.h"

static json_t *entries_of(const struct wfs_task *task)
{
	return json_object_get(task->result, "entries");
}

/* How many more names of the current directory may the answer have? */
static json_int_t room_of(const struct wfs_task *task)
{
	const json_t *const directory = json_array_get(task->notes, task->index);
	const json_int_t room = WFS_TOOL_NAMES_MAX - (json_int_t)json_array_size(entries_of(task));
	const json_int_t deep_room =
		WFS_TOOL_NAMES_DEEP_MAX - json_integer_value(json_object_get(directory, "listed"));

	return wfs_task_integer(task, "depth", 1) > 1 && deep_room < room ? deep_room : room;
}

/* Asks for names. @cursor: after which they begin; borrowed; NULL: the first ones */
static int ask_next(struct wfs_task *task, json_t *cursor)
{
	const json_t *const directory = json_array_get(task->notes, task->index);
	const char *const path = json_string_value(json_object_get(directory, "path"));
	json_t *const payload = wfs_task_path(task, path);

	if (json_object_set_new(payload, "limit", json_integer(room_of(task))) < 0 ||
		(cursor && json_object_set(payload, "cursor", cursor) < 0)) {
		json_decref(payload);
		return -ENOMEM;
	}
	return wfs_task_ask(task, "fs-list", payload);
}

int wfs_tool_list_start(struct wfs_task *task)
{
	const char *const path = wfs_task_text(task, "path");

	task->notes = json_pack("[{s:s, s:i}]", "path", path, "level", 1);
	task->result = json_pack("{s:s, s:[], s:b}", "path", path, "entries", "more", 0);
	return task->notes && task->result ? ask_next(task, NULL) : -ENOMEM;
}

/* Joins a path from the root, without the `/` with which the directory may begin and end. */
static json_t *path_below(const char *directory, const char *name)
{
	size_t size;

	directory += strspn(directory, "/");
	size = strlen(directory);
	while (size > 0 && directory[size - 1] == '/')
		size--;
	return json_sprintf("%.*s%s%s", (int)size, directory, size > 0 ? "/" : "", name);
}

/* Adds an entry of the directory @parent of the notes. */
static int add(struct wfs_task *task, const json_t *parent, const json_t *entry)
{
	const char *const directory = json_string_value(json_object_get(parent, "path"));
	const json_int_t level = json_integer_value(json_object_get(parent, "level"));
	const char *const type = json_string_value(json_object_get(entry, "type"));
	WFS_AUTO_JSON json_t *path =
		path_below(directory, json_string_value(json_object_get(entry, "name")));
	const char *const text = json_string_value(path);

	if (!text || !type ||
		json_array_append_new(entries_of(task),
			json_pack("{s:O, s:O, s:O}", "path", path, "size",
				json_object_get(entry, "size"), "type",
				json_object_get(entry, "type"))) < 0)
		return -ENOMEM;
	if (strcmp(type, "directory") != 0 || level >= wfs_task_integer(task, "depth", 1) ||
		strcmp(text, "at") == 0)
		return 0;
	return json_array_append_new(task->notes,
		       json_pack("{s:O, s:I, s:I}", "path", path, "level", level + 1, "entry",
			       (json_int_t)json_array_size(entries_of(task)) - 1)) < 0
		? -ENOMEM
		: 0;
}

/* Notes that not all names of directory @index of the notes are given. */
static int note_more(struct wfs_task *task, size_t index)
{
	const json_t *const place = json_object_get(json_array_get(task->notes, index), "entry");
	json_t *const entry = json_array_get(
		entries_of(task), place ? (size_t)json_integer_value(place) : SIZE_MAX);

	if (entry && json_object_set_new(entry, "more", json_true()) < 0)
		return -ENOMEM;
	return json_object_set_new(task->result, "more", json_true());
}

static int finish(struct wfs_task *task)
{
	int r = 0;

	for (; !r && task->index < json_array_size(task->notes); task->index++)
		r = note_more(task, task->index);
	if (!r)
		r = json_object_set(task->result, "meta", task->meta);
	return r ? -ENOMEM : 0;
}

int wfs_tool_list_answered(struct wfs_task *task, const json_t *result)
{
	json_t *const directory = json_array_get(task->notes, task->index);
	json_t *const cursor = json_object_get(result, "next_cursor");
	json_int_t listed = json_integer_value(json_object_get(directory, "listed"));
	const json_t *entry;
	size_t i;
	int r = 0;

	json_array_foreach(json_object_get(result, "entries"), i, entry) {
		r = add(task, directory, entry);
		if (r)
			return r;
		listed++;
	}
	if (json_object_set_new(directory, "listed", json_integer(listed)) < 0)
		return -ENOMEM;
	/* A page that is not full may still have more after it: it counts hidden names, too. */
	if (cursor && room_of(task) > 0)
		return ask_next(task, cursor);
	if (cursor)
		r = note_more(task, task->index);
	task->index++;
	if (r)
		return -ENOMEM;
	if (task->index == json_array_size(task->notes) ||
		json_array_size(entries_of(task)) >= WFS_TOOL_NAMES_MAX)
		return finish(task);
	return ask_next(task, NULL);
}
