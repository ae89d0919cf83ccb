/* SPDX-License-Identifier: Apache-2.0 */
/* Walking the tree at one height. */
#include "fs/command/frame/walk.h"

#include <inttypes.h>
#include <string.h>

#include "fs/tree/tree.h"
#include "kernel/base/encode.h"

int wfs_walk_init(struct wfs_walk *walk, struct wfs_run *run, const char *path)
{
	*walk = (struct wfs_walk){.run = run};
	if (run->options[WFS_OPTION_AT] && wfs_tree_path_names_height(path))
		return wfs_run_misuse(
			run, "'%.60s' names a height, and --at names another one", path);
	return wfs_run_at(run, &walk->at);
}

void wfs_walk_done(struct wfs_walk *walk)
{
	free(walk->at);
	walk->at = NULL;
}

json_t *wfs_walk_payload(const struct wfs_walk *walk, const char *path)
{
	/* Pages after the first are of its height, which only `--at` may give to a live path. */
	const bool live = wfs_tree_path_names_height(path) ||
		(wfs_tree_path_is_live(path) && !walk->run->options[WFS_OPTION_AT]);

	return json_pack("{s:s, s:s*}", "path", path, "at", live ? NULL : walk->at);
}

int wfs_walk_call(struct wfs_walk *walk, const char *verb, json_t *payload, json_t **ret_result)
{
	int r = wfs_run_call(walk->run, verb, payload, ret_result);

	return r ? r : wfs_run_pin(walk->run, &walk->at);
}

bool wfs_walk_is(const json_t *entry, const char *type)
{
	return strcmp(wfs_json_text(entry, "type"), type) == 0;
}

/* Joins a directory and a name; in the root, the path is the name. */
static void path_join(struct wfs_buffer *buffer, const char *directory, const char *name)
{
	size_t size = strlen(directory);

	while (size > 0 && directory[size - 1] == '/')
		size--;
	wfs_buffer_reset(buffer);
	wfs_buffer_append(buffer, directory, size);
	if (size > 0)
		wfs_buffer_append_byte(buffer, '/');
	wfs_buffer_append_text(buffer, name);
}

int wfs_walk_names(struct wfs_walk *walk, const char *path,
	int (*each)(void *context, const char *path, const json_t *entry), void *context)
{
	WFS_AUTO_JSON json_t *cursor = NULL;
	int r = 0;

	do {
		WFS_AUTO_BUFFER struct wfs_buffer child = {0};
		WFS_AUTO_JSON json_t *page = NULL;
		json_t *const payload = wfs_walk_payload(walk, path);
		const json_t *entry;
		size_t i;

		if (cursor)
			json_object_set(payload, "cursor", cursor);
		r = wfs_walk_call(walk, "fs-list", payload, &page);
		json_array_foreach(json_object_get(page, "entries"), i, entry) {
			if (r)
				return r;
			path_join(&child, path, wfs_json_text(entry, "name"));
			r = each(context, wfs_buffer_text(&child), entry);
		}
		json_decref(cursor);
		cursor = json_incref(json_object_get(page, "next_cursor"));
	} while (!r && cursor);
	return r;
}

int wfs_walk_read(struct wfs_walk *walk, const char *path,
	int (*each)(void *context, struct wfs_bytes part), void *context)
{
	uint64_t offset = 0;
	bool ended = false;

	while (!ended) {
		WFS_AUTO_BUFFER struct wfs_buffer part = {0};
		WFS_AUTO_JSON json_t *result = NULL;
		json_t *const payload = wfs_walk_payload(walk, path);
		int r;

		json_object_set_new(payload, "offset", json_integer((json_int_t)offset));
		r = wfs_walk_call(walk, "fs-read", payload, &result);
		if (!r)
			r = wfs_run_decode(walk->run, result, "data_b64", &part);
		if (!r)
			r = each(context, wfs_buffer_bytes(&part));
		if (r)
			return r;
		offset += part.size;
		ended = part.size == 0 || json_is_true(json_object_get(result, "eof"));
	}
	return 0;
}

int wfs_walk_write(void *context, struct wfs_bytes part)
{
	return fwrite(part.data, 1, part.size, context) == part.size ? 0 : -errno;
}

int wfs_walk_keep(void *context, struct wfs_bytes part)
{
	wfs_buffer_append(context, part.data, part.size);
	return wfs_buffer_check(context);
}

int wfs_walk_print(struct wfs_walk *walk, const char *path)
{
	WFS_AUTO_BUFFER struct wfs_buffer all = {0};
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	int r;

	if (!walk->run->options[WFS_OPTION_JSON])
		return wfs_walk_read(walk, path, wfs_walk_write, walk->run->out);
	r = wfs_walk_read(walk, path, wfs_walk_keep, &all);
	if (r)
		return r;
	wfs_base64_append(&text, all.data, all.size);
	return wfs_run_json(walk->run,
		json_pack("{s:s, s:I}", "data_b64", wfs_buffer_text(&text), "size",
			(json_int_t)all.size));
}
