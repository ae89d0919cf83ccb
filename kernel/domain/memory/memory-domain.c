/* SPDX-License-Identifier: Apache-2.0 */
/* Memory stores as a domain, with the functions for artifacts of their type. */
#include "kernel/domain/memory/memory.h"

#include "kernel/base/json.h"
#include "kernel/domain/memory/memory-file.h"
#include "kernel/read/entity.h"

static const struct artifact_holding holding = {
	.check = memory_check,
	.entries = memory_content_entries,
	.take_content = memory_take_content,
	.bytes = memory_bytes,
	.delete_all = memory_delete_all,
};

static void done(void *kept)
{
	memory_mirrors_free(*(struct memory_mirrors **)kept);
}

/* --- files --- */

/* Finds the source of the directory `entries`. @artifact: version of its cell */
static int find_entries(struct wfs_view *view, struct wfs_bytes id,
	const struct wfs_version *artifact, struct wfs_version *ret_version)
{
	WFS_AUTO_JSON json_t *state = NULL;
	int r = wfs_view_state(view, artifact, &state);

	if (!r && !wfs_memory_is_store(wfs_json_text(state, "type")))
		r = -ENOENT;
	if (r)
		return r;
	r = wfs_entity_live_cell(view, WFS_BUILTIN_MEMORY_STORE, id, ret_version);
	if (r == -ENOENT) { /* the store never had an entry */
		*ret_version = *artifact;
		r = 0;
	}
	return r;
}

static int find_entry(struct wfs_view *view, struct wfs_bytes id, const char *name,
	uint64_t *ret_number, struct wfs_version *ret_version)
{
	uint32_t number;

	if (!wfs_memory_entry_number(name, &number))
		return -ENOENT;
	*ret_number = number;
	return wfs_memory_entry(view, id, number, ret_version);
}

static int next_entry(struct wfs_view *view, struct wfs_bytes id, uint64_t *number,
	struct wfs_buffer *name, struct wfs_version *ret_version)
{
	char text[WFS_MEMORY_NAME_SIZE];
	struct wfs_entry entry;
	uint32_t found;
	int r = wfs_memory_entry_next(view, id, *number, &found, &entry);

	if (r)
		return r;
	*number = found;
	*ret_version = (struct wfs_version){
		.vid = entry.vid, .size_bytes = entry.size_bytes, .time_ns = entry.time_ns};
	wfs_memory_entry_name(found, text);
	wfs_buffer_append_text(name, text);
	return wfs_buffer_check(name);
}

static int name_entry(struct wfs_view *view, struct wfs_bytes key,
	const struct wfs_version *version, struct wfs_bytes *ret_id, struct wfs_buffer *name)
{
	char text[WFS_MEMORY_NAME_SIZE];
	uint32_t number;

	(void)version; /* the name is in the key */
	if (!wfs_memory_entry_key(key, ret_id, &number))
		return -ENOENT;
	if (!view)
		return 0;
	wfs_memory_entry_name(number, text);
	wfs_buffer_append_text(name, text);
	return wfs_buffer_check(name);
}

static const struct wfs_entity_provider files[] = {
	{WFS_ENTITY_FILE_ENTRIES,
		{.source = find_entries,
			.find = find_entry,
			.next = next_entry,
			.count = wfs_memory_entry_count,
			.name = name_entry}},
};

const struct wfs_domain wfs_memory_domain = {
	.name = "memory",
	.holding = &holding,
	.files = files,
	.file_count = WFS_ARRAY_COUNT(files),
	.kept_size = sizeof(struct memory_mirrors *),
	.done = done,
};
