/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and frees clients, and looks at their servers. */
#include "agents/outside/outside.h"

#include <string.h>

#include "agents/model/multi.h"
#include "agents/outside/outside-impl.h"

void outside_handle_closed(struct wfs_outside *outside)
{
	if (--outside->handle_count > 0)
		return;
	for (size_t i = 0; i < outside->count; i++) {
		struct outside_server *const server = &outside->servers[i];

		outside_tools_done(&server->tools);
		outside_tools_done(&server->listing);
		json_decref(server->secrets);
	}
	if (outside->image_fd >= 0)
		close(outside->image_fd);
	free(outside->servers);
	json_decref(outside->table);
	free(outside);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names of the table, in order. @ret_names: caller frees it */
static size_t names_of(json_t *table, const char ***ret_names)
{
	const char **const names = calloc(json_object_size(table) + 1, sizeof(*names));
	size_t count = 0;
	const char *name;
	json_t *entry;

	if (names) {
		json_object_foreach(table, name, entry)
			names[count++] = name;
		qsort(names, count, sizeof(*names), by_name);
	}
	*ret_names = names;
	return count;
}

static int add_servers(struct wfs_outside *outside, struct wfs_error *error)
{
	WFS_AUTO_FREE const char **names = NULL;
	const size_t count = names_of(outside->table, &names);

	outside->servers = calloc(count + 1, sizeof(*outside->servers));
	if (!names || !outside->servers)
		return wfs_error_from_errno(error, -ENOMEM, "prepare servers of tools");
	for (size_t i = 0; i < count; i++) {
		struct outside_server *const server = &outside->servers[i];

		*server = (struct outside_server){.outside = outside, .index = i, .name = names[i]};
		const int r = outside_server_init(server, error);
		outside->count = i + 1;
		if (r)
			return r;
	}
	return 0;
}

static void on_over(void *ended, CURLcode result)
{
	outside_http_over(ended, (int)result);
}

static void on_multi_closed(void *context)
{
	outside_handle_closed(context);
}

int wfs_outside_new(uv_loop_t *loop, json_t *tools, const struct wfs_outside_callbacks *callbacks,
	struct wfs_outside **ret_outside, struct wfs_error *error)
{
	struct wfs_outside *const outside = calloc(1, sizeof(*outside));
	const char *name;
	json_t *entry;
	bool remote = false;

	if (!outside)
		return wfs_error_from_errno(error, -ENOMEM, "prepare servers of tools");
	*outside = (struct wfs_outside){
		.loop = loop,
		.table = tools ? json_incref(tools) : json_object(),
		.callbacks = *callbacks,
		.image_fd = -1,
		.handle_count = 1, /* of the owner of the client */
	};
	int r = outside->table ? 0 : -ENOMEM;
	json_object_foreach(outside->table, name, entry) {
		if (!r)
			r = wfs_form_read(&wfs_host_server_form, name, entry, NULL, error);
		remote |= json_object_get(entry, "url") != NULL;
	}
	if (!r && remote) {
		r = wfs_multi_new(loop, on_over, on_multi_closed, outside, &outside->multi);
		outside->handle_count += !r;
	}
	if (!r)
		r = add_servers(outside, error);
	if (!r)
		*ret_outside = outside;
	else
		wfs_outside_free(outside);
	return r;
}

void wfs_outside_free(struct wfs_outside *outside)
{
	if (!outside || outside->freed)
		return;
	outside->freed = true;
	for (size_t i = 0; i < outside->count; i++)
		outside_server_close(&outside->servers[i]);
	outside_http_release(outside);
	outside_handle_closed(outside);
}

size_t wfs_outside_count(const struct wfs_outside *outside)
{
	return outside->count;
}

void wfs_outside_server(
	const struct wfs_outside *outside, size_t index, struct wfs_outside_server *ret_server)
{
	const struct outside_server *const server = &outside->servers[index];

	*ret_server = (struct wfs_outside_server){
		.name = server->name,
		.state = server->state,
		.reason = server->reason,
		.tools = server->tools.tools,
		.tool_count = server->tools.count,
		.listed = server->listed,
	};
}

static struct outside_server *find(const struct wfs_outside *outside, const char *name)
{
	for (size_t i = 0; i < outside->count; i++)
		if (strcmp(outside->servers[i].name, name) == 0)
			return &outside->servers[i];
	return NULL;
}

const struct wfs_outside_tool *wfs_outside_tool_find(
	const struct wfs_outside *outside, const char *server, const char *tool)
{
	const struct outside_server *const found = find(outside, server);

	return found ? outside_tools_find(&found->tools, tool) : NULL;
}

static bool is_named(const struct outside_server *server, const char *name)
{
	return !name || strcmp(server->name, name) == 0;
}

void wfs_outside_list(struct wfs_outside *outside, const char *server)
{
	for (size_t i = 0; i < outside->count; i++)
		if (is_named(&outside->servers[i], server)) {
			outside->servers[i].wanted = true;
			outside_soon(&outside->servers[i]);
		}
}

bool wfs_outside_is_settled(const struct wfs_outside *outside, const char *server)
{
	for (size_t i = 0; i < outside->count; i++) {
		const struct outside_server *const one = &outside->servers[i];

		if (is_named(one, server) &&
			(one->state == WFS_OUTSIDE_STARTING || one->state == WFS_OUTSIDE_LISTING ||
				(one->state == WFS_OUTSIDE_DOWN && one->wanted)))
			return false;
	}
	return true;
}

int wfs_outside_call_start(struct wfs_outside *outside, const struct wfs_outside_request *request,
	struct wfs_outside_call **ret_call, struct wfs_error *error)
{
	struct outside_server *const server = find(outside, request->server);

	return server ? outside_call_new(server, request, ret_call, error)
		      : wfs_error_set(error, WFS_E_NOT_FOUND, "no server of tools '%.64s'",
				request->server);
}
