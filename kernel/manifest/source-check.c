/* SPDX-License-Identifier: Apache-2.0 */
/* Small parts that all of the source reader uses. */
#include <errno.h>
#include <string.h>

#include "kernel/base/json.h"
#include "kernel/manifest/source-impl.h"
#include "kernel/schema/schema.h"

void source_expected(const struct source_loader *loader, struct wfs_place place, const char *what,
	const json_t *value)
{
	WFS_AUTO_BUFFER struct wfs_buffer came = {0};

	wfs_schema_describe(value, &came);
	wfs_problems_add(loader->problems, WORLD_FILE, place.text, "expected %s, got %s", what,
		wfs_buffer_text(&came));
}

void source_check_members(const struct source_loader *loader, struct wfs_place place,
	const json_t *object, const char *const *names)
{
	const char *name;
	json_t *member;

	json_object_foreach((json_t *)object, name, member)
	{
		WFS_AUTO_BUFFER struct wfs_buffer pointer = {0};
		const char *const *known = names;

		while (*known && strcmp(*known, name) != 0)
			known++;
		if (*known)
			continue;
		wfs_buffer_append_text(&pointer, place.text);
		wfs_schema_pointer_append(&pointer, name);
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
