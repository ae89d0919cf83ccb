/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tools: functions with which a model can read a world and act in it.
 *
 * One table has all tools, their arguments and their tasks. Definitions, checks of arguments and
 * `worldfs tools` come from it; `worldfs mcp` runs the tasks.
 */
#pragma once

#include "fs/tool/task.h"
#include "kernel/base/form.h"

/* Bounds of one answer. */
enum {
	WFS_TOOL_READ_DEFAULT = 64 << 10, /* bytes of one fs_read */
	WFS_TOOL_READ_MAX = 1 << 20,      /* bytes of one fs_read that asks for more */
	WFS_TOOL_DEPTH_MAX = 8,           /* levels of one fs_ls */
	WFS_TOOL_NAMES_MAX = 1000,        /* names of one fs_ls */
	WFS_TOOL_NAMES_DEEP_MAX = 100, /* names of each directory, if several levels are listed */
	WFS_TOOL_TURNS_MAX = 10000,    /* largest `max_turns` of a turn */
};

enum { WFS_TOOL_ARGUMENTS_MAX = 5 };

/* A row of the table. Static lifetime. */
struct wfs_tool {
	const char *name;
	const char *signature; /* for people */
	const char *summary;   /* for people */
	const char *description;
	struct wfs_field arguments[WFS_TOOL_ARGUMENTS_MAX + 1]; /* ended by one without name */
	struct wfs_task_kind task;
	/* Makes the action as which an agent's call of this tool is recorded. NULL for tools that
	 * are not actions. @arguments: checked. Return: new reference, NULL without memory. */
	json_t *(*action)(const json_t *arguments);
};
extern const struct wfs_tool wfs_tools[];
extern const size_t wfs_tool_count;

/** wfs_tool_find() - find the tool with the name @name; NULL: no tool has this name. */
const struct wfs_tool *wfs_tool_find(const char *name);

/**
 * wfs_tool_schema() - make the JSON Schema of a tool's arguments: an object without further members
 * @strict: true: for interfaces in which every argument must be given: optional ones are required,
 *          and may be null; false: optional ones may be left out
 * Return: new reference, NULL without memory.
 */
json_t *wfs_tool_schema(const struct wfs_tool *tool, bool strict);

/** wfs_tool_definitions() - make [{type: "function", function: {name, description, parameters,
 *  strict}}] of all tools; `parameters` is what wfs_tool_schema() makes with @strict.
 *  Return: new reference, NULL without memory. */
json_t *wfs_tool_definitions(void);

/** wfs_tool_check() - are these arguments valid for a tool? An optional one may be null.
 *  @arguments: any JSON; NULL means {}
 *  Return: 0, -EINVAL (missing_argument or invalid_argument; the message names the argument), or
 *  -ENOMEM. */
int wfs_tool_check(const struct wfs_tool *tool, const json_t *arguments, struct wfs_error *error);
