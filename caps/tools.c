/* SPDX-License-Identifier: Apache-2.0 */
#include "caps/tools.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "caps/session-tools.h"
#include "kernel/base/hash.h"
#include "kernel/base/json.h"

/* Only `references` changes. */
struct wfs_tools {
	atomic_uint references;
	json_t *list;
	struct wfs_tool_place *tools;   /* sorted by server, then by number */
	struct wfs_tool_place *servers; /* that have tools, sorted by number */
	size_t tool_count;
	size_t server_count;
};

size_t wfs_tool_server_size(const char *name)
{
	return strcspn(name, ".");
}

static uint64_t number_of(const void *data, size_t size)
{
	const struct wfs_hash hash = wfs_hash_of(data, size);
	uint64_t number = 0;

	for (size_t i = 0; i < WFS_LISTED_BITS / 8; i++)
		number = number << 8 | hash.bytes[i];
	return number ? number : 1;
}

uint64_t wfs_tool_number(const json_t *tool)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_json_write(tool, &text);
	return wfs_buffer_check(&text) < 0 ? 0 : number_of(text.data, text.size);
}

static int compare_numbers(const void *a, const void *b)
{
	const uint64_t one = ((const struct wfs_tool_place *)a)->number;
	const uint64_t other = ((const struct wfs_tool_place *)b)->number;

	return (one > other) - (one < other);
}

static int compare_tools(const void *a, const void *b)
{
	const char *const one = ((const struct wfs_tool_place *)a)->name;
	const char *const other = ((const struct wfs_tool_place *)b)->name;
	const size_t size = wfs_tool_server_size(one);
	const size_t other_size = wfs_tool_server_size(other);
	const int order = memcmp(one, other, size < other_size ? size : other_size);

	return order                 ? order
		: size != other_size ? (size > other_size) - (size < other_size)
				     : compare_numbers(a, b);
}

static bool same_server(const struct wfs_tool_place *a, const struct wfs_tool_place *b)
{
	const size_t size = wfs_tool_server_size(a->name);

	return size == wfs_tool_server_size(b->name) && memcmp(a->name, b->name, size) == 0;
}

/* Sorts the tools, and finds their servers. */
static int make_places(struct wfs_tools *tools)
{
	const json_t *const rows = json_object_get(tools->list, "tools");
	const size_t count = json_array_size(rows);

	tools->tools = calloc(count + 1, sizeof(*tools->tools));
	tools->servers = calloc(count + 1, sizeof(*tools->servers));
	if (!tools->tools || !tools->servers)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const json_t *const row = json_array_get(rows, i);
		const struct wfs_tool_place place = {.number = wfs_tool_number(row),
			.name = wfs_json_text(row, "name"),
			.row = row};

		if (!place.number)
			return -ENOMEM;
		if (wfs_tool_name_valid(place.name))
			tools->tools[tools->tool_count++] = place;
	}
	qsort(tools->tools, tools->tool_count, sizeof(*tools->tools), compare_tools);
	for (size_t i = 0; i < tools->tool_count; i++) {
		const struct wfs_tool_place *const tool = &tools->tools[i];

		if (i == 0 || !same_server(tool, tool - 1))
			tools->servers[tools->server_count++] = (struct wfs_tool_place){
				.number = number_of(tool->name, wfs_tool_server_size(tool->name)),
				.name = tool->name,
				.begin = i};
		tools->servers[tools->server_count - 1].end = i + 1;
	}
	qsort(tools->servers, tools->server_count, sizeof(*tools->servers), compare_numbers);
	return 0;
}

struct wfs_tools *wfs_tools_new(json_t *list)
{
	struct wfs_tools *const tools = calloc(1, sizeof(*tools));

	if (!tools) {
		json_decref(list);
		return NULL;
	}
	atomic_init(&tools->references, 1);
	tools->list = list;
	if (make_places(tools)) {
		wfs_tools_unref(tools);
		return NULL;
	}
	return tools;
}

struct wfs_tools *wfs_tools_ref(struct wfs_tools *tools)
{
	if (tools)
		atomic_fetch_add(&tools->references, 1);
	return tools;
}

void wfs_tools_unref(struct wfs_tools *tools)
{
	if (!tools || atomic_fetch_sub(&tools->references, 1) > 1)
		return;
	json_decref(tools->list);
	free(tools->tools);
	free(tools->servers);
	free(tools);
}

const json_t *wfs_tools_list(const struct wfs_tools *tools)
{
	return tools ? tools->list : NULL;
}

const struct wfs_tool_place *wfs_tools_places(const struct wfs_tools *tools, size_t *ret_count)
{
	*ret_count = tools ? tools->tool_count : 0;
	return tools ? tools->tools : NULL;
}

const struct wfs_tool_place *wfs_tools_servers(const struct wfs_tools *tools, size_t *ret_count)
{
	*ret_count = tools ? tools->server_count : 0;
	return tools ? tools->servers : NULL;
}
