/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names and hints of tools of outside servers. A tool's full name is its server's name, which has
 * no dot, then a dot, and the tool's name on the server: `git.status`. MCP is the Model Context
 * Protocol.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

enum {
	WFS_TOOL_SERVER_MAX = 64, /* bytes of a server's name */
	WFS_TOOL_OWN_MAX = 128,   /* bytes of a tool's name on its server */
	WFS_TOOL_NAME_MAX = WFS_TOOL_SERVER_MAX + 1 + WFS_TOOL_OWN_MAX, /* of a full name */
	WFS_TOOL_MODEL_NAME_MAX = 64, /* of the name by which a model calls a tool */
};

/* X(constant, name in MCP): what a server says about a tool (the tool's annotations). */
#define WFS_TOOL_HINTS(X)                 \
	X(READ_ONLY, "readOnlyHint")      \
	X(DESTRUCTIVE, "destructiveHint") \
	X(IDEMPOTENT, "idempotentHint")   \
	X(OPEN_WORLD, "openWorldHint")

enum wfs_tool_hint_index {
#define WFS_TOOL_HINT_INDEX(constant, name) WFS_TOOL_HINT_INDEX_##constant,
	WFS_TOOL_HINTS(WFS_TOOL_HINT_INDEX)
#undef WFS_TOOL_HINT_INDEX
		WFS_TOOL_HINT_COUNT
};

enum wfs_tool_hint {
#define WFS_TOOL_HINT_FLAG(constant, name) \
	WFS_TOOL_HINT_##constant = 1 << WFS_TOOL_HINT_INDEX_##constant,
	WFS_TOOL_HINTS(WFS_TOOL_HINT_FLAG)
#undef WFS_TOOL_HINT_FLAG
};

/** wfs_tool_name_valid() - is @name the full name of a tool: `[A-Za-z0-9_-]{1,64}`, a dot, and
 *  `[A-Za-z0-9_.-]{1,128}`? */
bool wfs_tool_name_valid(const char *name);

/** wfs_tool_hint_name() - Return: the name of a hint in MCP, such as "readOnlyHint"; static
 *  @index: enum wfs_tool_hint_index; the hint's flag is 1 << @index */
const char *wfs_tool_hint_name(int index);

/** wfs_tool_hints() - Return: the hints of a tool that are true, flags of enum wfs_tool_hint. A
 *  hint that is missing or not a boolean has the default of MCP, so a tool without hints is
 *  destructive. If readOnlyHint is true, the tool counts as not destructive and as idempotent,
 *  whatever its other hints are. @annotations: of the tool; NULL: none */
unsigned int wfs_tool_hints(const json_t *annotations);

/** wfs_tool_model_name() - make the name by which a model calls a tool, in
 *  `[A-Za-z0-9_-]{1,64}`: every other byte becomes `_`, and a longer name is cut
 *  @name: the full name of the tool, not empty. @ret_name: with NUL */
void wfs_tool_model_name(const char *name, char ret_name[WFS_TOOL_MODEL_NAME_MAX + 1]);

/** wfs_tool_model_names() - make the names by which a model calls tools, no two of which are equal:
 *  of tools whose names would be equal, the second gets a name that ends in `_2`, and so on
 *  @tools: array of objects with the member `name`, a full name; the numbers follow its order
 *  @taken: object with a member for each name that another tool of the model has; NULL: none
 *  @ret_names: object, {name for the model: full name}, in the order of @tools; set on success;
 *  caller owns it
 *  Return: 0, -ENOMEM. */
int wfs_tool_model_names(const json_t *tools, const json_t *taken, json_t **ret_names);
