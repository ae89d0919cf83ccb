/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of tools: what a server says of them, bounded, and without what cannot be used. */
#include <string.h>

#include "agents/outside/outside-impl.h"
#include "kernel/base/array.h"
#include "kernel/base/encode.h"
#include "kernel/base/json.h"
#include "kernel/base/log.h"
#include "kernel/base/text.h"

enum { CURSOR_MAX = 4096 };

static void tool_done(struct wfs_outside_tool *tool)
{
	free((char *)tool->name);
	free((char *)tool->description);
	json_decref(tool->input_schema);
	json_decref(tool->output_schema);
	json_decref(tool->annotations);
}

void outside_tools_done(struct outside_tools *tools)
{
	for (size_t i = 0; i < tools->count; i++)
		tool_done(&tools->tools[i]);
	free(tools->tools);
	*tools = (struct outside_tools){0};
}

const struct wfs_outside_tool *outside_tools_find(
	const struct outside_tools *tools, const char *name)
{
	for (size_t i = 0; i < tools->count; i++)
		if (strcmp(tools->tools[i].name, name) == 0)
			return &tools->tools[i];
	return NULL;
}

static bool same(const json_t *a, const json_t *b)
{
	return a == b || json_equal(a, b); /* NULL does not equal itself there */
}

bool outside_tools_same(const struct outside_tools *a, const struct outside_tools *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (strcmp(a->tools[i].name, b->tools[i].name) != 0 ||
			!wfs_hash_equal(&a->tools[i].hash, &b->tools[i].hash) ||
			!same(a->tools[i].output_schema, b->tools[i].output_schema) ||
			!same(a->tools[i].annotations, b->tools[i].annotations))
			return false;
	return true;
}

/* --- one tool --- */

static bool is_name(struct wfs_bytes name)
{
	const char *const text = name.data;

	for (size_t i = 0; i < name.size; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-",
			    text[i]) ||
			!text[i])
			return false;
	return name.size > 0 && name.size <= WFS_OUTSIDE_NAME_MAX;
}

/* The hints that the protocol defines, which have their types. */
static json_t *annotations_of(const json_t *entry)
{
	static const char *const hints[] = {
		"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"};
	const json_t *const said = json_object_get(entry, "annotations");
	WFS_AUTO_JSON json_t *annotations = json_object();

	for (size_t i = 0; i < WFS_ARRAY_COUNT(hints); i++) {
		json_t *const hint = json_object_get(said, hints[i]);

		if (json_is_boolean(hint) && json_object_set(annotations, hints[i], hint) < 0)
			return NULL;
	}
	return WFS_STEAL(annotations);
}

/* Hashes what a grant can pin: the description, uncut, and the schema.
 * @ret_size: of its text. Return: 0, -ENOMEM. */
static int hash_of(json_t *description, json_t *schema, struct wfs_hash *ret_hash, size_t *ret_size)
{
	WFS_AUTO_JSON json_t *pinned =
		json_pack("{s:O*, s:O}", "description", description, "inputSchema", schema);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	if (!pinned)
		return -ENOMEM;
	wfs_json_write_document(pinned, &text);
	*ret_hash = wfs_hash_of(text.data, text.size);
	*ret_size = text.size;
	return wfs_buffer_check(&text);
}

static char *description_of(struct wfs_bytes said)
{
	const char *const text = said.size > 0 ? said.data : "";
	const size_t size = said.size <= WFS_OUTSIDE_DESCRIPTION_MAX
		? said.size
		: wfs_utf8_cut(text, WFS_OUTSIDE_DESCRIPTION_MAX);
	char *const description = strndup(text, size);

	if (description)
		wfs_terminal_clean(description, strlen(description));
	return description;
}

/* Why a schema cannot be used; NULL: it can. */
static const char *schema_fault(const json_t *schema)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	if (!json_is_object(schema))
		return "its input or output schema is not an object";
	wfs_json_write(schema, &text);
	return wfs_buffer_check(&text) || text.size > WFS_OUTSIDE_SCHEMA_MAX
		? "its input or output schema is too large"
		: NULL;
}

/* Return: NULL: no memory */
static json_t *schema_of(json_t *said)
{
	json_t *const schema = json_copy(said);

	json_object_del(schema, "$schema");
	return schema;
}

/* Why a tool is left out; NULL: it is not. */
static const char *fault_of(const struct outside_tools *tools, const json_t *entry)
{
	const struct wfs_bytes name = wfs_text_of(json_object_get(entry, "name"));
	const json_t *const description = json_object_get(entry, "description");
	const json_t *const output = json_object_get(entry, "outputSchema");
	const char *fault = NULL;

	if (!is_name(name))
		return "its name has other characters than A-Z, a-z, 0-9, '_', '.', '-', or too "
		       "many";
	if (outside_tools_find(tools, json_string_value(json_object_get(entry, "name"))))
		return "another tool has its name";
	if (description && !json_is_string(description))
		return "its description is not a text";
	fault = schema_fault(json_object_get(entry, "inputSchema"));
	if (!fault && output)
		fault = schema_fault(output);
	if (fault)
		return fault;
	return tools->count >= WFS_OUTSIDE_TOOLS_MAX ? "the server has too many tools" : NULL;
}

static int add(struct outside_tools *tools, const json_t *entry)
{
	json_t *const schema = json_object_get(entry, "inputSchema");
	json_t *const output = json_object_get(entry, "outputSchema");
	json_t *const description = json_object_get(entry, "description");
	struct wfs_outside_tool tool = {.input_schema = NULL};
	size_t size = 0;
	struct wfs_outside_tool *const moved = wfs_array_reserve(
		tools->tools, tools->count, &tools->capacity, sizeof(*tools->tools));

	if (!moved)
		return -ENOMEM;
	tools->tools = moved;
	int r = hash_of(description, schema, &tool.hash, &size);
	if (r)
		return r;
	tool.name = strdup(wfs_json_text(entry, "name"));
	tool.description = description_of(wfs_text_of(description));
	tool.input_schema = schema_of(schema);
	tool.output_schema = schema_of(output);
	tool.annotations = annotations_of(entry);
	if (!tool.name || !tool.description || !tool.input_schema ||
		(output && !tool.output_schema) || !tool.annotations) {
		tool_done(&tool);
		return -ENOMEM;
	}
	tools->bytes += size;
	tools->tools[tools->count++] = tool;
	return 0;
}

/* --- a page --- */

int outside_tools_add(const struct outside_server *server, struct outside_tools *tools,
	const json_t *result, const char **ret_cursor, struct wfs_error *error)
{
	const json_t *const page = json_object_get(result, "tools");
	const json_t *const cursor = json_object_get(result, "nextCursor");
	size_t i;
	json_t *entry;

	if (!json_is_array(page) || (cursor && !json_is_string(cursor) && !json_is_null(cursor)) ||
		json_string_length(cursor) > CURSOR_MAX) {
		wfs_error_set(error, WFS_E_EFFECT_FAILED,
			"expected an array 'tools', and a text 'nextCursor' of at most %d bytes",
			CURSOR_MAX);
		return -EBADMSG;
	}
	json_array_foreach(page, i, entry) {
		const char *const fault = fault_of(tools, entry);
		char name[WFS_OUTSIDE_NAME_MAX + 1];

		outside_line(name, sizeof(name), wfs_text_of(json_object_get(entry, "name")));
		if (fault)
			wfs_log(WFS_LOG_AGENTS, WFS_LOG_WARNING,
				"server of tools: a tool is left out: '%s.%s': %s", server->name,
				name, fault);
		const int r = fault ? 0 : add(tools, entry);
		if (r)
			return r;
		if (tools->bytes > WFS_OUTSIDE_LIST_MAX) {
			wfs_error_set(error, WFS_E_TOO_LARGE,
				"they have more than %d bytes together", WFS_OUTSIDE_LIST_MAX);
			return -EBADMSG;
		}
	}
	if (json_is_string(cursor) && ++tools->pages >= WFS_OUTSIDE_PAGES_MAX) {
		wfs_error_set(error, WFS_E_TOO_LARGE, "the list has more than %d pages",
			WFS_OUTSIDE_PAGES_MAX);
		return -EBADMSG;
	}
	*ret_cursor = json_string_value(cursor);
	return 0;
}
