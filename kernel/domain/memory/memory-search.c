/* SPDX-License-Identifier: Apache-2.0 */
/* Searches memory stores, and keeps the scores. */
#include "kernel/base/json.h"
#include "kernel/domain/memory/memory-impl.h"

/* Keeps the score of a hit in a store that is pruned by score. */
static int keep_hit(struct memory *memory, struct memory_mirror *mirror,
	const struct wfs_vectors_hit *hit, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *document = json_pack("{s:f}", "score", memory_told_score(hit));
	struct wfs_fold *const fold = memory->act->fold;
	char id[MEMORY_ID_SIZE];
	char key[MEMORY_KEY_SIZE];
	size_t cell;

	if (!document)
		return fold_no_memory(error);
	memory_id_text(hit->id, id);
	memory_key(memory->id, id, key);
	int r = fold_touch(fold, fold_builtin(fold, WFS_BUILTIN_MEMORY_HIT), wfs_bytes_text(key),
		&cell, error);
	if (!r)
		r = fold_set_document(fold, cell, document, error);
	if (r)
		return wfs_trace(r);
	const struct wfs_hash hash = fold_cell_at(fold, cell)->hash;
	memory_change_label(memory, '=', hit->id, &hash);
	memory_mirror_score(mirror, hit->id, memory_told_score(hit), memory->label);
	return 0;
}

static int add_result(struct memory *memory, const struct wfs_vectors_hit *hit, json_t *results,
	struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *entry = NULL;
	char id[MEMORY_ID_SIZE];
	char key[MEMORY_KEY_SIZE];
	size_t cell;

	memory_id_text(hit->id, id);
	memory_key(memory->id, id, key);
	int r = fold_load(memory->act->fold, WFS_BUILTIN_MEMORY, key, &cell, &entry, error);
	if (!r && !entry)
		return wfs_error_set(error, WFS_E_INTERNAL_ERROR,
			"the entry '%s' of '%s' is not there", id, memory->id);
	if (r)
		return wfs_trace(r);
	return json_array_append_new(results,
		       json_pack("{s:s, s:f, s:O, s:O, s:O}", "id", id, "score",
			       memory_told_score(hit), "tags", json_object_get(entry, "tags"),
			       "text", json_object_get(entry, "text"), "tick",
			       json_object_get(entry, "tick"))) < 0
		? fold_no_memory(error)
		: 0;
}

int memory_search(struct memory *memory, const struct embedding *query, size_t limit,
	json_t **ret_results, struct wfs_error *error)
{
	WFS_AUTO_FREE struct wfs_vectors_hit *hits = calloc(limit, sizeof(*hits));
	WFS_AUTO_JSON json_t *results = json_array();
	struct memory_mirror *mirror = NULL;
	int count = 0;

	if (!hits || !results)
		return fold_no_memory(error);
	int r = memory_check_model(memory, query, error);
	if (!r && memory_count(memory) > 0) {
		r = memory_mirror(memory, &mirror, error);
		if (!r)
			count = wfs_vectors_search(
				memory_mirror_vectors(mirror), query->vector, limit, hits, error);
		if (count < 0)
			r = count;
	}
	for (int i = 0; !r && i < count; i++) {
		r = add_result(memory, &hits[i], results, error);
		if (!r && memory->order == WFS_VECTORS_LOWEST_SCORE)
			r = keep_hit(memory, mirror, &hits[i], error);
	}
	if (!r && count > 0 && memory->order == WFS_VECTORS_LOWEST_SCORE)
		r = memory_store_state(memory, error);
	if (r)
		return wfs_trace(r);
	*ret_results = WFS_STEAL(results);
	return 0;
}
