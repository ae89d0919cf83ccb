/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tools: functions that a model can be given, so that it reads a world and acts in it.
 *
 * One table says which there are, which arguments they take and which task they are. Definitions,
 * checks of arguments and `worldfs tools` come from it; `worldfs mcp` runs the tasks.
 */
#pragma once

#include "fs/tool/task.h"

/* Bounds of one answer. */
enum {
	WFS_TOOL_READ_DEFAULT = 64 << 10, /* bytes of one fs_read */
	WFS_TOOL_READ_MAX = 1 << 20,      /* the same, when it asks for more */
	WFS_TOOL_DEPTH_MAX = 8,           /* levels of one fs_ls */
	WFS_TOOL_NAMES_MAX = 1000,        /* names of one fs_ls */
	WFS_TOOL_NAMES_DEEP_MAX = 100,    /* of each directory, when it lists several levels */
	WFS_TOOL_TURNS_MAX = 10000,       /* requests of a turn that one may ask for */
};

enum wfs_tool_type { WFS_TOOL_TEXT, WFS_TOOL_INTEGER, WFS_TOOL_OBJECT, WFS_TOOL_ARRAY };

/* An argument. Static lifetime. */
struct wfs_tool_argument {
	const char *name; /* NULL: behind the last one */
	enum wfs_tool_type type;
	bool required;
	int64_t minimum; /* of an integer */
	int64_t maximum;
	/* More of its schema: what an object or an array consists of, or which texts there are. May be NULL.
	 * @strict: as of wfs_tool_schema() */
	json_t *(*schema)(bool strict);
	const char *description; /* NULL: `schema` has it */
};

enum { WFS_TOOL_ARGUMENTS_MAX = 5 };

/* A row of the table. Static lifetime. */
struct wfs_tool {
	const char *name;
	const char *signature; /* for people */
	const char *summary;   /* for people */
	const char *description;
	struct wfs_tool_argument arguments[WFS_TOOL_ARGUMENTS_MAX + 1];
	struct wfs_task_kind task;
	/* Makes the action that a call of this tool by an agent is recorded as. The member is NULL for tools that are
	 * not actions. @arguments: were checked. Return: new reference, NULL without memory. */
	json_t *(*action)(const json_t *arguments);
};
extern const struct wfs_tool wfs_tools[];
extern const size_t wfs_tool_count;

/** wfs_tool_find() - the tool of that name, or NULL. */
const struct wfs_tool *wfs_tool_find(const char *name);

/**
 * wfs_tool_schema() - JSON Schema of the arguments: an object without further members
 * @strict: for interfaces that want every argument to be given: optional ones are required, and
 *          may be null
 * Return: new reference, NULL without memory.
 */
json_t *wfs_tool_schema(const struct wfs_tool *tool, bool strict);

/** wfs_tool_definitions() - all tools as function-calling definitions: an array; new reference, NULL
 *  without memory. */
json_t *wfs_tool_definitions(void);

/**
 * wfs_tool_check() - do these arguments fit? An optional one may be null.
 * @arguments: anything; NULL is as good as {}
 * Return: 0, -EINVAL (missing_argument or invalid_argument, naming it), or -ENOMEM.
 */
int wfs_tool_check(const struct wfs_tool *tool, const json_t *arguments, struct wfs_error *error);
