/* SPDX-License-Identifier: Apache-2.0 */
/* Scripts of models: files that host.json names, which are copied as they are. */
#include <stdlib.h>
#include <string.h>

#include "kernel/base/array.h"
#include "kernel/base/cleanup.h"
#include "kernel/base/host-file.h"
#include "kernel/manifest/source-impl.h"

#define HOST_FILE "host.json"

static bool is_loaded(const struct wfs_source *source, const char *name)
{
	for (size_t i = 0; i < source->file_count; i++)
		if (strcmp(source->files[i].name, name) == 0)
			return true;
	return false;
}

/* Return: 0, also if a problem was added, or -ENOMEM. */
static int load_script(const struct source_loader *loader, const struct wfs_place *place,
	const char *name, struct wfs_source *source)
{
	WFS_AUTO_FREE char *copy = strdup(name);
	struct wfs_source_file *const files = wfs_array_reserve(
		source->files, source->file_count, &source->file_capacity, sizeof(*files));
	struct wfs_buffer bytes = {0};

	if (files)
		source->files = files;
	if (!files || !copy)
		return -ENOMEM;
	const int r = source_file_read(loader->directory, name, &bytes);
	if (!r) {
		files[source->file_count++] =
			(struct wfs_source_file){.name = WFS_STEAL(copy), .bytes = bytes};
		return 0;
	}
	wfs_buffer_done(&bytes);
	if (r != -ENOMEM)
		wfs_problems_add(loader->problems, HOST_FILE, place->text, "cannot read '%s': %s",
			name, source_file_reason(r));
	return r == -ENOMEM ? r : 0;
}

int source_scripts(
	const struct source_loader *loader, const json_t *host, struct wfs_source *source)
{
	json_t *const models = json_object_get(host, "models");
	const char *model;
	json_t *entry;
	int r = 0;

	json_object_foreach(models, model, entry) {
		const char *const name = wfs_host_script(entry);
		const struct wfs_place place = wfs_place_at("/models/%.60s/file", model);

		if (r || !name || is_loaded(source, name))
			continue;
		if (wfs_host_script_name_valid(name))
			r = load_script(loader, &place, name, source);
		else
			wfs_problems_add(loader->problems, HOST_FILE, place.text,
				"expected an absolute path, or the name of a file beside this one "
				"that ends in .jsonl, got '%.60s'",
				name);
	}
	return r;
}
