/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory stores of the copy: each entry is a cell, and the store has a cell with their count and
 * size. If no record proves these cells, they are compared with each other.
 */
#include <inttypes.h>

#include "kernel/base/encode.h"
#include "kernel/base/json.h"
#include "kernel/copy/restore-impl.h"
#include "kernel/domain/memory/embedding.h"
#include "kernel/domain/memory/memory-file.h"
#include "kernel/read/entity.h"

/* A memory store. Plain value; store_done. */
struct store {
	struct restore *restore;
	struct wfs_view *view;
	struct wfs_bytes id;    /* of the artifact */
	struct wfs_buffer name; /* its id as a file name */
	json_t *state;          /* of its cell of sys.memory_store, or NULL; owned */
	int64_t count;          /* number of its entries */
	int64_t bytes;          /* of its entries */
};

static void store_done(struct store *store)
{
	wfs_buffer_done(&store->name);
	json_decref(store->state);
}

static struct restore_path cell_path(struct store *store)
{
	return restore_place(WFS_BUILTIN_MEMORY_STORE, wfs_buffer_text(&store->name));
}

/* Reads the state of a cell. Return: 0, -ENOENT, … */
static int load(struct wfs_view *view, enum wfs_builtin_reducer builtin, struct wfs_bytes key,
	json_t **ret_state)
{
	struct wfs_reducer reducer;
	struct wfs_version version;
	int r = wfs_view_builtin(view, builtin, &reducer);

	if (!r)
		r = wfs_view_cell(view, reducer.reducer_id, key, &version);
	return r ? r : wfs_view_state(view, &version, ret_state);
}

/* --- one store --- */

/* Is the entry right for the store? Return: 1, 0, or -ENOMEM. */
static int is_right(const struct store *store, const json_t *entry, const char *name)
{
	EMBEDDING_AUTO struct embedding embedding = {.vector = NULL};
	const char *const id = wfs_json_text(entry, "id");
	struct wfs_error reason = {0};

	if (strncmp(name, id, strlen(id)) != 0 || strcmp(name + strlen(id), ".json") != 0)
		return 0;
	int r = embedding_read(entry, &embedding, &reason);
	if (r)
		return r == -ENOMEM ? r : 0;
	/* While a store changes its model, its entries have vectors of two models. */
	if (json_object_get(store->state, "left"))
		return 1;
	return strcmp(embedding.model, wfs_json_text(store->state, "model")) == 0 &&
		(json_int_t)embedding.dims ==
		json_integer_value(json_object_get(store->state, "dims"));
}

static int compare_entry(struct store *store, uint32_t number, const struct wfs_entry *entry)
{
	WFS_AUTO_JSON json_t *state = NULL;
	char name[WFS_MEMORY_NAME_SIZE];
	struct wfs_version version;
	int r = wfs_view_version(store->view, entry->vid, &version);

	if (!r)
		r = wfs_view_state(store->view, &version, &state);
	wfs_memory_entry_name(number, name);
	if (!r)
		r = is_right(store, state, name);
	store->count++;
	store->bytes += (int64_t)entry->size_bytes;
	if (r)
		return r > 0 ? 0 : r;
	return restore_noted(store->restore,
		restore_path("artifacts/%s/%s/%s", wfs_buffer_text(&store->name),
			wfs_entity_file_name(WFS_ENTITY_FILE_ENTRIES), name)
			.text,
		"is not an entry of this store, by its cell");
}

static int compare_number(struct store *store, const char *member, int64_t expected)
{
	const int64_t came = json_integer_value(json_object_get(store->state, member));

	return came == expected ? 0
				: restore_noted(store->restore, cell_path(store).text,
					  "%s: expected %" PRId64 " (its entries), got %" PRId64,
					  member, expected, came);
}

static int compare_entries(struct store *store)
{
	struct wfs_entry entry;
	uint64_t next = 0;
	int r = 0;

	while (!r) {
		uint32_t number;

		r = restore_stopped(store->restore);
		if (!r)
			r = wfs_memory_entry_next(store->view, store->id, next, &number, &entry);
		if (r)
			break;
		r = compare_entry(store, number, &entry);
		next = (uint64_t)number + 1;
	}
	if (r != -ENOENT)
		return r;
	r = compare_number(store, "count", store->count);
	return r ? r : compare_number(store, "bytes", store->bytes);
}

static int compare_store(struct restore *restore, struct wfs_view *view, struct wfs_bytes id)
{
	WFS_CLEANUP(store_done) struct store store = {.restore = restore, .view = view, .id = id};
	int r = load(view, WFS_BUILTIN_MEMORY_STORE, id, &store.state);

	wfs_name_append(&store.name, id.data, id.size);
	if (r && r != -ENOENT)
		return r;
	r = wfs_buffer_check(&store.name);
	return r ? r : compare_entries(&store);
}

/* --- all stores --- */

typedef int each_fn(struct restore *restore, struct wfs_view *view, const struct wfs_entry *entry);

static int walk(struct restore *restore, struct wfs_view *view, enum wfs_builtin_reducer builtin,
	each_fn *each)
{
	WFS_AUTO_ENTRY_WALK struct wfs_entry_walk cells = {0};
	struct wfs_reducer reducer;
	struct wfs_entry entry;
	int r = wfs_view_builtin(view, builtin, &reducer);

	if (!r)
		r = wfs_entry_walk_init(&cells, view, reducer.reducer_id, 0);
	while (!r && (r = wfs_entry_walk_next(&cells, &entry)) > 0)
		r = each(restore, view, &entry);
	return r;
}

static int is_store(struct wfs_view *view, struct wfs_bytes id)
{
	struct wfs_version version;
	int r = wfs_entity_source(view, WFS_ENTITY_FILE_ENTRIES, id, &version);

	return r == -ENOENT ? 0 : r ? r : 1;
}

static int look_at_artifact(
	struct restore *restore, struct wfs_view *view, const struct wfs_entry *entry)
{
	int r = is_store(view, entry->key);

	return r <= 0 ? r : compare_store(restore, view, entry->key);
}

static int note_cell(struct restore *restore, enum wfs_builtin_reducer builtin,
	struct wfs_bytes key, const char *what)
{
	WFS_AUTO_BUFFER struct wfs_buffer name = {0};

	wfs_name_append(&name, key.data, key.size);
	if (wfs_buffer_check(&name))
		return -ENOMEM;
	return restore_noted(
		restore, restore_place(builtin, wfs_buffer_text(&name)).text, "%s", what);
}

static int look_at_store(
	struct restore *restore, struct wfs_view *view, const struct wfs_entry *entry)
{
	int r = is_store(view, entry->key);

	return r ? (r > 0 ? 0 : r)
		 : note_cell(restore, WFS_BUILTIN_MEMORY_STORE, entry->key,
			   "its artifact is not a memory_store");
}

static int look_at_hit(
	struct restore *restore, struct wfs_view *view, const struct wfs_entry *entry)
{
	struct wfs_reducer entries;
	struct wfs_version version;
	int r = wfs_view_builtin(view, WFS_BUILTIN_MEMORY, &entries);

	if (!r)
		r = wfs_view_cell(view, entries.reducer_id, entry->key, &version);
	return r == -ENOENT ? note_cell(restore, WFS_BUILTIN_MEMORY_HIT, entry->key,
				      "is of an entry that does not exist")
			    : r;
}

int restore_compare_stores(struct restore *restore, struct wfs_view *view)
{
	int r = walk(restore, view, WFS_BUILTIN_ARTIFACT, look_at_artifact);

	if (!r)
		r = walk(restore, view, WFS_BUILTIN_MEMORY_STORE, look_at_store);
	if (!r)
		r = walk(restore, view, WFS_BUILTIN_MEMORY_HIT, look_at_hit);
	return r && restore->error->code == WFS_OK
		? wfs_error_from_errno(restore->error, r, "compare memory stores")
		: wfs_trace(r);
}
