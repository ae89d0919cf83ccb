/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that all parts of the source reader use. */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "kernel/base/json.h"
#include "kernel/manifest/source-impl.h"
#include "kernel/schema/schema.h"

void source_expected(const struct source_loader *loader, struct wfs_place place, const char *what,
	const json_t *value)
{
	WFS_AUTO_BUFFER struct wfs_buffer came = {0};

	wfs_json_describe(value, &came);
	wfs_problems_add(loader->problems, WORLD_FILE, place.text, "expected %s, got %s", what,
		wfs_buffer_text(&came));
}

void source_check_members(const struct source_loader *loader, struct wfs_place place,
	const json_t *object, const char *const *names)
{
	const char *name;
	json_t *member;

	json_object_foreach((json_t *)object, name, member) {
		WFS_AUTO_BUFFER struct wfs_buffer pointer = {0};
		const char *const *known = names;

		while (*known && strcmp(*known, name) != 0)
			known++;
		if (*known)
			continue;
		wfs_buffer_append_text(&pointer, place.text);
		wfs_json_pointer_append(&pointer, name);
		wfs_problems_add(loader->problems, WORLD_FILE, wfs_buffer_text(&pointer),
			"no such member is known");
	}
}

int source_set(json_t *object, const char *name, json_t *value)
{
	if (!value)
		return 0;
	return json_object_set(object, name, value) < 0 ? -ENOMEM : 0;
}

int source_set_new(json_t *object, const char *name, json_t *value)
{
	return json_object_set_new(object, name, value) < 0 ? -ENOMEM : 0;
}

const char *source_file_name(
	const struct source_loader *loader, struct wfs_place place, const json_t *value)
{
	const char *name = json_string_value(value);

	static_assert(WFS_SOURCE_FILE_NAME_MAX == 1024, "the message names the bound");
	if (name && strlen(name) == json_string_length(value) && source_file_name_valid(name))
		return name;
	source_expected(loader, place,
		"the name of a file in this directory or below it, at most 1024 bytes", value);
	return NULL;
}

int source_named_file_read(const struct source_loader *loader, struct wfs_place place,
	const char *name, struct wfs_buffer *buffer)
{
	int r = source_file_read(loader->directory, name, buffer);

	if (r == 0)
		return 1;
	if (r == -ENOMEM)
		return r;
	wfs_problems_add(loader->problems, WORLD_FILE, place.text, "cannot read '%s': %s", name,
		source_file_reason(r));
	return 0;
}

int source_charge(struct source_loader *loader, struct wfs_place place, size_t bytes)
{
	static_assert(WFS_SOURCE_TOTAL_MAX == 64 << 20, "the message names the bound");
	if (loader->total_bytes > WFS_SOURCE_TOTAL_MAX)
		return 0;
	loader->total_bytes += bytes;
	if (loader->total_bytes <= WFS_SOURCE_TOTAL_MAX)
		return 1;
	wfs_problems_add(loader->problems, WORLD_FILE, place.text,
		"this file and those before it have more than 64 MiB");
	return 0;
}
