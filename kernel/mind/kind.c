/* SPDX-License-Identifier: Apache-2.0 */
/* Words of messages about JSON values. */
#include "kernel/mind/kind.h"

enum {
	NAME_SHOWN_BYTES = 64,
	LIST_SHOWN_BYTES = 240, /* of the roughly 500 of a message */
};

const char *wfs_mind_kind(const json_t *json)
{
	static const char *const kinds[] = {
		[JSON_OBJECT] = "an object",
		[JSON_ARRAY] = "an array",
		[JSON_STRING] = "a text",
		[JSON_INTEGER] = "an integer",
		[JSON_REAL] = "a number",
		[JSON_TRUE] = "a boolean",
		[JSON_FALSE] = "a boolean",
		[JSON_NULL] = "null",
	};

	return json ? kinds[json_typeof(json)] : "nothing";
}

/* Return: was there room for the name? */
static bool add(struct wfs_buffer *list, const char *name)
{
	if (list->size > LIST_SHOWN_BYTES)
		return false;
	wfs_buffer_printf(
		list, "%s%.*s", list->size > 0 ? ", " : "", NAME_SHOWN_BYTES, name ? name : "?");
	return true;
}

void wfs_mind_list(const json_t *json, struct wfs_buffer *buffer)
{
	WFS_AUTO_BUFFER struct wfs_buffer list = {0};
	const char *name;
	size_t more = 0;
	size_t i;
	json_t *item;

	json_object_foreach((json_t *)json, name, item) {
		more += !add(&list, name);
	}
	json_array_foreach(json, i, item) {
		more += !add(&list, json_string_value(item));
	}
	wfs_buffer_append_text(buffer, list.size > 0 ? wfs_buffer_text(&list) : "none");
	if (more > 0)
		wfs_buffer_printf(buffer, " and %zu more", more);
}
