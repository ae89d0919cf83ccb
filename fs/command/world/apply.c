/* SPDX-License-Identifier: Apache-2.0 */
/* The command apply: changes the manifest of a world. */
#include <string.h>

#include "fs/command/world/commands.h"
#include "kernel/base/encode.h"
#include "kernel/base/hash-text.h"
#include "kernel/manifest/source.h"

static int load(struct wfs_run *run, struct wfs_source *ret_source)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {.count = 0};
	int r = wfs_source_load(run->arguments[0], NULL, &problems, ret_source);

	if (problems.lines.size > 0)
		(void)fwrite(problems.lines.data, 1, problems.lines.size, run->err);
	if (r && problems.count > 0)
		return wfs_error_set(&run->error, WFS_E_INVALID_ARGUMENT,
			"'%s' has %zu problem%s, nothing was applied", run->arguments[0],
			problems.count, problems.count == 1 ? "" : "s");
	return r;
}

/* Stores a module, unless the world has it. */
static int put_module(struct wfs_run *run, const struct wfs_buffer *module)
{
	const struct wfs_hash hash = wfs_hash_of(module->data, module->size);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_JSON json_t *found = NULL;
	WFS_AUTO_JSON json_t *put = NULL;
	int r = wfs_run_call(
		run, "blob-stat", json_pack("{s:s}", "hash_hex", WFS_HASH_TEXT(&hash)), &found);
	if (r != -ENOENT)
		return r;
	run->error = (struct wfs_error){0};
	wfs_base64_append(&text, module->data, module->size);
	if (wfs_buffer_check(&text))
		return -ENOMEM;
	return wfs_run_call(
		run, "put-blob", json_pack("{s:s}", "data_b64", wfs_buffer_text(&text)), &put);
}

/* Finds the hash of the manifest that the new one replaces. @ret_base: new reference */
static int find_base(struct wfs_run *run, json_t **ret_base)
{
	WFS_AUTO_JSON json_t *head = NULL;
	const char *const given = run->options[WFS_OPTION_BASE];
	int r = given ? 0 : wfs_run_call(run, "journal-head", NULL, &head);

	if (r)
		return r;
	*ret_base = json_string(given ? given : wfs_json_text(head, "manifest_hash"));
	return *ret_base ? 0 : -ENOMEM;
}

static const char *kind_of(const char *list)
{
	static const struct {
		const char *list;
		const char *kind;
	} kinds[] = {
		{"schemas", "schema"},
		{"reducers", "reducer"},
		{"effects", "effect"},
		{"caps", "capability"},
		{"policies", "policy"},
		{"principals", "principal"},
		{"grants", "grant"},
		{"", "world"},
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(kinds); i++)
		if (strcmp(kinds[i].list, list) == 0)
			return kinds[i].kind;
	return list;
}

static void print_items(
	const struct wfs_run *run, const json_t *result, const char *how, char letter)
{
	size_t i;
	json_t *item;

	json_array_foreach(json_object_get(result, how), i, item)
		fprintf(run->out, "%c  %-10s  %s\n", letter, kind_of(wfs_json_text(item, "list")),
			wfs_json_text(item, "name"));
}

static int print_changes(struct wfs_run *run, const json_t *result)
{
	print_items(run, result, "added", 'A');
	print_items(run, result, "changed", 'M');
	print_items(run, result, "removed", 'D');
	wfs_run_notice(run, "%s %s",
		run->options[WFS_OPTION_DRY_RUN] ? "nothing was changed; the new manifest would be"
						 : "applied",
		wfs_json_text(result, "manifest_hash"));
	return 0;
}

int wfs_run_apply(struct wfs_run *run)
{
	const bool dry_run = run->options[WFS_OPTION_DRY_RUN];
	WFS_AUTO_SOURCE struct wfs_source source = {.manifest = NULL};
	WFS_AUTO_JSON json_t *base = NULL;
	int r = load(run, &source);

	if (!r)
		r = find_base(run, &base);
	for (size_t i = 0; !r && !dry_run && i < source.blob_count; i++)
		r = put_module(run, &source.blobs[i]);
	if (r)
		return r;
	return wfs_run_show(run, "apply",
		json_pack("{s:O, s:O, s:b}", "manifest", source.manifest, "base_manifest_hash",
			base, "dry_run", (int)dry_run),
		print_changes);
}
