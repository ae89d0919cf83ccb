/* SPDX-License-Identifier: Apache-2.0 */
/* diff: prints the paths that differ between two heights, by the hashes of their states. */
#include <inttypes.h>
#include <string.h>

#include "fs/command/frame/walk.h"
#include "fs/command/read/commands.h"
#include "kernel/base/encode.h"

/* The tree at one height: {path: hash}. */
struct side {
	struct wfs_run *run;
	const char *consistency;
	const char *reducer; /* reducer whose cells are being added */
	json_t *hashes;
};

static int add_cell(void *context, const json_t *cell)
{
	struct side *const side = context;
	WFS_AUTO_BUFFER struct wfs_buffer key = {0};
	WFS_AUTO_BUFFER struct wfs_buffer path = {0};
	int r = wfs_run_decode(side->run, cell, "key_b64", &key);

	if (r)
		return r;
	wfs_buffer_printf(&path, "reducers/%s/", side->reducer);
	wfs_name_append(&path, key.data, key.size);
	if (wfs_buffer_check(&path) < 0 ||
		json_object_set(side->hashes, wfs_buffer_text(&path),
			json_object_get(cell, "state_hash")) < 0)
		return -ENOMEM;
	return 0;
}

static int add_reducer(void *context, const char *path, const json_t *entry)
{
	struct side *const side = context;

	(void)path;
	side->reducer = wfs_json_text(entry, "name");
	return wfs_run_each_cell(side->run, side->reducer, side->consistency, add_cell, side);
}

static int read_side(struct wfs_run *run, const char *height_text, json_t *hashes)
{
	WFS_AUTO_WALK struct wfs_walk walk = {.run = run};
	WFS_AUTO_FREE char *consistency = NULL;
	struct side side = {.run = run, .hashes = hashes};
	uint64_t height;
	int r = wfs_run_number(run, "height", height_text, &height);

	if (!r && asprintf(&consistency, "exact:%" PRIu64, height) < 0) {
		consistency = NULL;
		r = -ENOMEM;
	}
	if (r)
		return r;
	side.consistency = consistency;
	walk.at = strdup(consistency);
	r = walk.at ? wfs_walk_names(&walk, "reducers", add_reducer, &side) : -ENOMEM;
	if (!r && json_object_set(hashes, "manifest", json_object_get(run->meta, "manifest_hash")))
		r = -ENOMEM;
	return r;
}

/* A path that differs. Plain value; `path` is borrowed. */
struct difference {
	const char *path;
	char what; /* A, M or D */
};

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct difference *)a)->path, ((const struct difference *)b)->path);
}

/* Finds paths of @one that are missing or different in @other. @missing: letter for missing ones */
static size_t compare(json_t *one, json_t *other, char missing, struct difference *differences)
{
	const char *path;
	json_t *hash;
	size_t count = 0;

	json_object_foreach(one, path, hash) {
		const json_t *const other_hash = json_object_get(other, path);

		if (!other_hash)
			differences[count++] = (struct difference){path, missing};
		else if (missing == 'D' && !json_equal(hash, other_hash))
			differences[count++] = (struct difference){path, 'M'};
	}
	return count;
}

static int print_differences(
	struct wfs_run *run, const struct difference *differences, size_t count)
{
	WFS_AUTO_JSON json_t *all = json_array();

	for (size_t i = 0; i < count; i++) {
		const char what[2] = {differences[i].what, '\0'};

		if (!run->options[WFS_OPTION_JSON])
			fprintf(run->out, "%s %s\n", what, differences[i].path);
		else if (json_array_append_new(all,
				 json_pack("{s:s, s:s}", "change", what, "path",
					 differences[i].path)) < 0)
			return -ENOMEM;
	}
	if (run->options[WFS_OPTION_JSON])
		return wfs_run_json(run, json_pack("{s:O}", "differences", all));
	wfs_run_notice(
		run, "%zu path%s differ%s", count, count == 1 ? "" : "s", count == 1 ? "s" : "");
	return 0;
}

int wfs_run_diff(struct wfs_run *run)
{
	WFS_AUTO_JSON json_t *old = json_object();
	WFS_AUTO_JSON json_t *new = json_object();
	WFS_AUTO_FREE struct difference *differences = NULL;
	size_t count;
	int r = read_side(run, run->arguments[0], old);

	if (!r)
		r = read_side(run, run->arguments[1], new);
	if (r)
		return r;
	differences =
		calloc(json_object_size(old) + json_object_size(new) + 1, sizeof(*differences));
	if (!differences)
		return -ENOMEM;
	count = compare(old, new, 'D', differences);
	count += compare(new, old, 'A', differences + count);
	qsort(differences, count, sizeof(*differences), by_path);
	return print_differences(run, differences, count);
}
