/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/value/tool.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kernel/base/error.h"
#include "kernel/base/json.h"

static bool is_letter(char c, bool dots)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		c == '_' || c == '-' || (dots && c == '.');
}

bool wfs_tool_name_valid(const char *name)
{
	size_t server = 0;
	size_t size = 0;

	while (is_letter(name[server], false))
		server++;
	const char *const tool = name + server + 1;
	if (server == 0 || server > WFS_TOOL_SERVER_MAX || name[server] != '.')
		return false;
	while (is_letter(tool[size], true))
		size++;
	return size > 0 && size <= WFS_TOOL_OWN_MAX && !tool[size];
}

static const char *const hint_names[] = {
#define HINT_NAME(constant, name) name,
	WFS_TOOL_HINTS(HINT_NAME)
#undef HINT_NAME
};

const char *wfs_tool_hint_name(int index)
{
	wfs_require(index >= 0 && index < WFS_TOOL_HINT_COUNT);
	return hint_names[index];
}

unsigned int wfs_tool_hints(const json_t *annotations)
{
	unsigned int hints = WFS_TOOL_HINT_DESTRUCTIVE | WFS_TOOL_HINT_OPEN_WORLD;

	for (int i = 0; i < WFS_TOOL_HINT_COUNT; i++) {
		const json_t *const given = json_object_get(annotations, hint_names[i]);

		if (json_is_boolean(given))
			hints = (hints & ~(1U << i)) | (json_is_true(given) ? 1U << i : 0);
	}
	if (hints & WFS_TOOL_HINT_READ_ONLY) {
		hints &= ~(unsigned int)WFS_TOOL_HINT_DESTRUCTIVE;
		hints |= WFS_TOOL_HINT_IDEMPOTENT;
	}
	return hints;
}

/* --- names for models --- */

void wfs_tool_model_name(const char *name, char ret_name[WFS_TOOL_MODEL_NAME_MAX + 1])
{
	size_t size = 0;

	for (; name[size] && size < WFS_TOOL_MODEL_NAME_MAX; size++)
		ret_name[size] = name[size];
	ret_name[size] = '\0';
	for (size_t i = 0; i < size; i++)
		if (!is_letter(ret_name[i], false))
			ret_name[i] = '_';
}

/* Writes @number to the end of @name, whose own end is cut if both do not fit. */
static void add_number(
	const char *name, unsigned int number, char ret_name[WFS_TOOL_MODEL_NAME_MAX + 1])
{
	char end[sizeof("_4294967295")];
	const int size = snprintf(end, sizeof(end), "_%u", number);

	snprintf(ret_name, WFS_TOOL_MODEL_NAME_MAX + 1, "%.*s%s", WFS_TOOL_MODEL_NAME_MAX - size,
		name, end);
}

int wfs_tool_model_names(const json_t *tools, const json_t *taken, json_t **ret_names)
{
	WFS_AUTO_JSON json_t *names = json_object();
	WFS_AUTO_JSON json_t *last = json_object(); /* {name: the last number that it got} */
	size_t i;
	const json_t *tool;
	int r = names && last ? 0 : -ENOMEM;

	json_array_foreach(tools, i, tool) {
		const char *const full = wfs_json_text(tool, "name");
		char name[WFS_TOOL_MODEL_NAME_MAX + 1];
		char own[WFS_TOOL_MODEL_NAME_MAX + 1];

		wfs_tool_model_name(full, name);
		json_int_t number = json_integer_value(json_object_get(last, name));
		for (memcpy(own, name, sizeof(own));
			json_object_get(taken, own) || json_object_get(names, own);
			add_number(name, (unsigned int)number, own))
			number = number < 2 ? 2 : number + 1;
		if (r || json_object_set_new(last, name, json_integer(number)) < 0 ||
			json_object_set_new(names, own, json_string(full)) < 0)
			return -ENOMEM;
	}
	if (!r)
		*ret_names = WFS_STEAL(names);
	return r;
}
