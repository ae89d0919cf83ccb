/* SPDX-License-Identifier: Apache-2.0 */
/* Lists, counts and deletes all entries of a memory store. */
#include "kernel/base/json.h"
#include "kernel/domain/memory/memory.h"

/* Appends the members of an entry that a list shows. */
static int append_entry(struct memory *memory, uint64_t cell_id, json_t *entries)
{
	struct wfs_view view = fold_view(memory->act->fold);
	WFS_AUTO_JSON json_t *entry = NULL;
	struct wfs_version version;
	struct wfs_cell cell;
	int r = wfs_cell_get(memory->act->fold->head->txn, cell_id, &cell);

	if (r || !cell.live)
		return r;
	r = wfs_version_get(memory->act->fold->head->txn, cell.head_vid, &version);
	if (!r)
		r = wfs_view_state(&view, &version, &entry);
	if (r)
		return r;
	(void)json_object_del(entry, "embedding");
	return json_array_append(entries, entry) < 0 ? -ENOMEM : 0;
}

static int walk_entries(struct memory *memory, size_t limit, size_t offset, json_t *entries)
{
	struct wfs_head *const head = memory->act->fold->head;
	const uint32_t reducer_id =
		head->reducers[fold_builtin(memory->act->fold, WFS_BUILTIN_MEMORY)].reducer_id;
	char from[MEMORY_KEY_SIZE];
	uint64_t cell_id;

	memory_key(memory->id, "", from);
	struct wfs_bytes key = wfs_bytes_text(from);
	int r = 0;
	while (!r && json_array_size(entries) < limit &&
		!(r = wfs_cell_find_next(head->txn, reducer_id, &key, &key, &cell_id)) &&
		memory_is_of(key, memory->id)) {
		struct wfs_cell cell;

		r = wfs_cell_get(head->txn, cell_id, &cell);
		if (!r && cell.live && offset > 0)
			offset--;
		else if (!r)
			r = append_entry(memory, cell_id, entries);
	}
	return r == -ENOENT ? 0 : r;
}

int memory_list(struct memory *memory, size_t limit, size_t offset, json_t **ret_entries,
	struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *entries = json_array();
	int r = entries ? walk_entries(memory, limit, offset, entries) : -ENOMEM;

	if (r)
		return wfs_error_from_errno(error, r, "list the entries of '%s'", memory->id);
	*ret_entries = WFS_STEAL(entries);
	return 0;
}

int memory_bytes(
	struct wfs_fold *fold, const char *artifact_id, int64_t *ret_bytes, struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_memory_store state;
	int r = fold_read_memory_store(fold, artifact_id, &state, error);

	*ret_bytes = state.bytes;
	return wfs_trace(r);
}

/* Deletes the entries or hits in the store, and those that this fold has made. */
static int delete_cells(struct wfs_fold *fold, enum wfs_builtin_reducer reducer,
	const char *artifact_id, struct wfs_error *error)
{
	const size_t index = fold_builtin(fold, reducer);
	const uint32_t reducer_id = fold->head->reducers[index].reducer_id;
	char from[MEMORY_KEY_SIZE];
	uint64_t cell_id;
	size_t touched;
	int r = 0;
	memory_key(artifact_id, "", from);
	struct wfs_bytes key = wfs_bytes_text(from);
	while (!r && !(r = wfs_cell_find_next(fold->head->txn, reducer_id, &key, &key, &cell_id)) &&
		memory_is_of(key, artifact_id)) {
		r = fold_touch_unread(fold, index, key, &touched, error);
		if (!r)
			r = fold_delete(fold, touched, error);
	}
	if (r && r != -ENOENT)
		return error->code != WFS_OK ? wfs_trace(r)
					     : wfs_error_from_errno(error, r, "delete entries");
	r = 0;
	for (size_t i = 0; !r && i < fold->cells.count; i++) {
		const struct fold_cell *const cell = fold_cell_at(fold, i);

		if (cell->reducer_index == index && cell->live &&
			memory_is_of(fold_bytes(fold, cell->key), artifact_id))
			r = fold_delete(fold, i, error);
	}
	return wfs_trace(r);
}

int memory_delete_all(struct wfs_fold *fold, const char *artifact_id, struct wfs_error *error)
{
	size_t cell;
	int r = fold_touch_unread(fold, fold_builtin(fold, WFS_BUILTIN_MEMORY_STORE),
		wfs_bytes_text(artifact_id), &cell, error);

	if (r || !fold_cell_at(fold, cell)->live)
		return wfs_trace(r);
	r = fold_delete(fold, cell, error);
	if (!r)
		r = delete_cells(fold, WFS_BUILTIN_MEMORY_HIT, artifact_id, error);
	return wfs_trace(r ? r : delete_cells(fold, WFS_BUILTIN_MEMORY, artifact_id, error));
}
