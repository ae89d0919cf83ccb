/* SPDX-License-Identifier: Apache-2.0 */
/* Finds entries of memory stores by the names of their files. */
#include "kernel/domain/memory/memory-file.h"

#include <assert.h>

#include "kernel/base/json.h"
#include "kernel/domain/memory/memory.h"
#include "kernel/store/row-name.h"

bool wfs_memory_is_store(const char *type)
{
	return strcmp(type, WFS_ARTIFACT_TYPE_MEMORY) == 0;
}

/* --- keys and names --- */

/* Writes the key of an entry. @entry_id: "" writes the prefix of all keys of the store. Return:
 * false: no artifact can have this id. */
static bool key_of(
	struct wfs_bytes artifact_id, const char *entry_id, char ret_key[static MEMORY_KEY_SIZE])
{
	char artifact[WFS_ARTIFACT_ID_MAX + 1];

	if (artifact_id.size >= sizeof(artifact))
		return false;
	memcpy(artifact, artifact_id.data, artifact_id.size);
	artifact[artifact_id.size] = '\0';
	memory_key(artifact, entry_id, ret_key);
	return true;
}

/* --- entries --- */

int wfs_memory_entry(struct wfs_view *view, struct wfs_bytes artifact_id, uint32_t number,
	struct wfs_version *ret_version)
{
	char key[MEMORY_KEY_SIZE];
	char id[MEMORY_ID_SIZE];
	struct wfs_reducer reducer;

	memory_id_text(number, id);
	int r = key_of(artifact_id, id, key) ? 0 : -ENOENT;
	if (!r)
		r = wfs_view_builtin(view, WFS_BUILTIN_MEMORY, &reducer);
	return r ? r : wfs_view_cell(view, reducer.reducer_id, wfs_bytes_text(key), ret_version);
}

/* Finds the first cell of the store from entry @number on, live or not. */
static int next_cell(struct wfs_view *view, struct wfs_bytes artifact_id, uint64_t number,
	uint32_t *ret_number, struct wfs_bytes *ret_key, uint64_t *ret_cell_id)
{
	char before_id[MEMORY_ID_SIZE] = "";
	char before[MEMORY_KEY_SIZE];
	struct wfs_reducer reducer;
	struct wfs_bytes id;

	if (number > UINT32_MAX)
		return -ENOENT;
	if (number > 0)
		memory_id_text((uint32_t)number - 1, before_id);
	int r = key_of(artifact_id, before_id, before) ? 0 : -ENOENT;
	if (!r)
		r = wfs_view_builtin(view, WFS_BUILTIN_MEMORY, &reducer);
	if (r)
		return r;
	struct wfs_bytes key = wfs_bytes_text(before);
	r = wfs_cell_find_next(view->txn, reducer.reducer_id, &key, &key, ret_cell_id);
	if (!r &&
		(!wfs_memory_entry_key(key, &id, ret_number) || !wfs_bytes_equal(id, artifact_id)))
		r = -ENOENT;
	if (!r)
		*ret_key = key;
	return r;
}

int wfs_memory_entry_next(struct wfs_view *view, struct wfs_bytes artifact_id, uint64_t number,
	uint32_t *ret_number, struct wfs_entry *ret_entry)
{
	for (;;) {
		struct wfs_bytes key;
		uint64_t cell_id;
		uint32_t found = 0;
		int r = next_cell(view, artifact_id, number, &found, &key, &cell_id);

		if (!r)
			r = wfs_row_needed(view->txn, wfs_view_entry(view, cell_id, ret_entry));
		if (r < 0)
			return r;
		if (r > 0) {
			*ret_number = found;
			return 0;
		}
		number = (uint64_t)found + 1;
	}
}

int wfs_memory_entry_ever(struct wfs_view *view, struct wfs_bytes artifact_id, uint64_t number,
	uint32_t *ret_number, struct wfs_bytes *ret_key)
{
	uint64_t cell_id;

	return next_cell(view, artifact_id, number, ret_number, ret_key, &cell_id);
}

int wfs_memory_entry_count(struct wfs_view *view, struct wfs_bytes artifact_id, uint64_t *ret_count)
{
	WFS_AUTO_JSON json_t *state = NULL;
	struct wfs_reducer reducer;
	struct wfs_version version;
	int r = wfs_view_builtin(view, WFS_BUILTIN_MEMORY_STORE, &reducer);

	if (!r)
		r = wfs_view_cell(view, reducer.reducer_id, artifact_id, &version);
	if (!r)
		r = wfs_view_state(view, &version, &state);
	if (r && r != -ENOENT)
		return r;
	const json_int_t count = json_integer_value(json_object_get(state, "count"));
	*ret_count = count > 0 ? (uint64_t)count : 0;
	return 0;
}
