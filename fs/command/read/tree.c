/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that show the tree without a mount: fs ls, cat, stat, tree. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "fs/command/frame/walk.h"
#include "fs/command/read/commands.h"

#define SECOND_NS (INT64_C(1000) * 1000 * 1000)

enum { INDENT = 2 }; /* columns per level of `fs tree` */

/* Gets PATH, or the root. */
static const char *path_given(const struct wfs_run *run)
{
	return run->argument_count > 0 ? run->arguments[0] : "/";
}

/* --- ls --- */

static void print_name(struct wfs_run *run, const json_t *entry)
{
	const time_t seconds = (time_t)(wfs_run_integer(entry, "mtime_ns") / SECOND_NS);
	struct tm local;
	char date[32] = "";

	if (run->options[WFS_OPTION_LONG]) {
		if (localtime_r(&seconds, &local))
			(void)strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &local);
		fprintf(run->out, "%-9s %10" PRId64 " %s ", wfs_json_text(entry, "type"),
			wfs_run_integer(entry, "size"), date);
	}
	fprintf(run->out, "%s\n", wfs_json_text(entry, "name"));
}

struct names_printer {
	struct wfs_run *run;
	json_t *all; /* for --json; otherwise NULL */
};

static int take_name(void *context, const char *path, const json_t *entry)
{
	struct names_printer *const printer = context;

	(void)path;
	if (printer->all)
		return json_array_append(printer->all, (json_t *)entry) < 0 ? -ENOMEM : 0;
	print_name(printer->run, entry);
	return 0;
}

int wfs_run_fs_ls(struct wfs_run *run)
{
	const bool json = run->options[WFS_OPTION_JSON];
	WFS_AUTO_WALK struct wfs_walk walk = {0};
	WFS_AUTO_JSON json_t *all = json ? json_array() : NULL;
	struct names_printer printer = {run, all};
	int r = wfs_walk_init(&walk, run, path_given(run));

	if (!r)
		r = wfs_walk_names(&walk, path_given(run), take_name, &printer);
	if (!r && json)
		r = wfs_run_json(run, json_pack("{s:O}", "entries", all));
	return r;
}

/* --- cat and stat --- */

int wfs_run_fs_cat(struct wfs_run *run)
{
	WFS_AUTO_WALK struct wfs_walk walk = {0};
	int r = wfs_walk_init(&walk, run, run->arguments[0]);

	return r ? r : wfs_walk_print(&walk, run->arguments[0]);
}

int wfs_run_fs_stat(struct wfs_run *run)
{
	const char *const path = run->arguments[0];
	WFS_AUTO_WALK struct wfs_walk walk = {0};
	WFS_AUTO_JSON json_t *result = NULL;
	int r = wfs_walk_init(&walk, run, path);

	if (!r)
		r = wfs_walk_call(&walk, "fs-stat", wfs_walk_payload(&walk, path), &result);
	if (r)
		return r;
	if (run->options[WFS_OPTION_JSON])
		return wfs_run_json(run, WFS_STEAL(result));
	return wfs_run_print_document(run, result);
}

/* --- tree --- */

struct tree_printer {
	struct wfs_walk *walk;
	int depth;
	json_t *all; /* for --json; otherwise NULL */
};

static int take_node(void *context, const char *path, const json_t *entry)
{
	struct tree_printer *const printer = context;
	FILE *const out = printer->walk->run->out;
	const bool directory = wfs_walk_is(entry, "directory");
	int r = 0;

	if (printer->all)
		json_array_append_new(printer->all,
			json_pack("{s:s, s:O, s:O}", "path", path, "size",
				json_object_get(entry, "size"), "type",
				json_object_get(entry, "type")));
	else
		fprintf(out, "%*s%s%s\n", printer->depth * INDENT, "", wfs_json_text(entry, "name"),
			directory ? "/" : "");
	if (directory) {
		printer->depth++;
		r = wfs_walk_names(printer->walk, path, take_node, printer);
		printer->depth--;
	}
	return r;
}

int wfs_run_fs_tree(struct wfs_run *run)
{
	const bool json = run->options[WFS_OPTION_JSON];
	WFS_AUTO_WALK struct wfs_walk walk = {0};
	WFS_AUTO_JSON json_t *all = json ? json_array() : NULL;
	struct tree_printer printer = {.walk = &walk, .all = all};
	int r = wfs_walk_init(&walk, run, path_given(run));

	if (!r)
		r = wfs_walk_names(&walk, path_given(run), take_node, &printer);
	if (!r && json)
		r = wfs_run_json(run, json_pack("{s:O}", "entries", all));
	return r;
}
