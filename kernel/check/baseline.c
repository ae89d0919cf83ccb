/* SPDX-License-Identifier: Apache-2.0 */
/* Baseline records, their cells, and the hashes of their `changes` and of their snapshot. */
#include "kernel/check/baseline.h"

#include <inttypes.h>

#include "kernel/base/hash-text.h"
#include "kernel/base/json.h"
#include "kernel/read/snapshot.h"

int wfs_baseline_cell(struct wfs_head *head, size_t reducer_index, struct wfs_bytes key,
	struct wfs_bytes bytes, int64_t at_ns)
{
	const struct wfs_state state = {
		.live = true, .bytes = bytes, .hash = wfs_hash_of(bytes.data, bytes.size)};
	struct wfs_cell cell = {.key = key};
	uint64_t present;
	int r = wfs_cell_find(head->txn, head->reducers[reducer_index].reducer_id, key, &present);

	if (r != -ENOENT)
		return r ? wfs_trace(r) : -EEXIST;
	return wfs_trace(
		wfs_head_set_cell(head, reducer_index, &cell, &state, head->height + 1, at_ns));
}

/* --- documents --- */

/* A walk over all live cells of the height, which go into one or both of the documents. */
struct hashing {
	struct wfs_snapshot_document snapshot; /* not written if it has no hasher */
	struct wfs_hasher *changes;
	struct wfs_buffer item;
	bool changed;
};

static int hash_cell(void *context, struct wfs_bytes reducer, struct wfs_bytes key,
	const struct wfs_version *version, struct wfs_error *error)
{
	struct hashing *hashing = context;
	int r = 0;

	wfs_buffer_reset(&hashing->item);
	wfs_changes_item(&hashing->item, !hashing->changed, reducer, key, &version->hash);
	hashing->changed = true;
	wfs_hasher_add(hashing->changes, hashing->item.data, hashing->item.size);
	if (hashing->snapshot.hasher)
		r = wfs_snapshot_document_add(&hashing->snapshot, reducer, key, &version->hash);
	if (!r)
		r = wfs_buffer_check(&hashing->item);
	return r ? wfs_error_from_errno(error, r, "hash a cell") : 0;
}

static int hash_all(struct wfs_view *view, struct hashing *hashing, struct wfs_error *error)
{
	const struct wfs_snapshot_walker walker = {.cell = hash_cell, .context = hashing};
	int r = wfs_hasher_new(&hashing->changes);

	if (r)
		return wfs_error_from_errno(error, r, "hash the cells");
	r = wfs_snapshot_walk(view, &walker, error);
	if (r)
		return wfs_trace(r);
	wfs_buffer_reset(&hashing->item);
	wfs_changes_end(&hashing->item);
	wfs_hasher_add(hashing->changes, hashing->item.data, hashing->item.size);
	return wfs_buffer_check(&hashing->item);
}

static void hashing_done(struct hashing *hashing)
{
	wfs_snapshot_document_done(&hashing->snapshot);
	wfs_hasher_free(hashing->changes);
	wfs_buffer_done(&hashing->item);
}

int wfs_baseline_changes(struct wfs_view *view, bool *ret_changed, struct wfs_hash *ret_changes,
	struct wfs_error *error)
{
	WFS_CLEANUP(hashing_done) struct hashing hashing = {.changed = false};
	int r = hash_all(view, &hashing, error);

	if (r)
		return wfs_trace(r);
	*ret_changed = hashing.changed;
	*ret_changes = wfs_hasher_end(hashing.changes);
	return 0;
}

/* --- the record --- */

static int write_body(struct wfs_buffer *body, const struct wfs_baseline *baseline,
	const struct wfs_hash *snapshot_hash)
{
	wfs_buffer_append_text(body, "{\"from_height\":");
	if (baseline->from_height)
		wfs_buffer_printf(body, "%" PRIu64, baseline->from_height);
	else
		wfs_buffer_append_text(body, "null");
	wfs_buffer_append_text(body, ",\"from_world_id\":");
	if (baseline->from_world_id[0])
		wfs_buffer_printf(body, "\"%s\"", baseline->from_world_id);
	else
		wfs_buffer_append_text(body, "null");
	wfs_buffer_printf(body, ",\"snapshot_hash\":\"%s\"}", WFS_HASH_TEXT(snapshot_hash));
	return wfs_buffer_check(body);
}

int wfs_baseline_append(struct wfs_head *head, const struct wfs_baseline *baseline,
	const char *principal, int64_t at_ns, struct wfs_hash *ret_snapshot_hash)
{
	WFS_CLEANUP(hashing_done) struct hashing hashing = {.changed = false};
	WFS_AUTO_BUFFER struct wfs_buffer body = {0};
	/* A view of the next height, within the transaction that writes it: the walk cannot open it
	 * again. */
	struct wfs_view view = {.txn = head->txn, .txn_borrowed = true, .height = head->height + 1};
	struct wfs_record record = {
		.at_ns = at_ns, .kind = WFS_RECORD_BASELINE, .principal = principal};
	struct wfs_version manifest;
	int r = wfs_view_manifest(&view, &manifest);

	wfs_require(head->height == WFS_BASELINE_SEQ);
	if (!r)
		r = wfs_snapshot_document_init(&hashing.snapshot, &manifest.hash);
	if (!r)
		r = hash_all(&view, &hashing, NULL);
	if (r)
		return wfs_trace(r);
	const struct wfs_hash snapshot_hash = wfs_snapshot_document_end(&hashing.snapshot);
	record.changed = hashing.changed;
	if (record.changed)
		record.changes = wfs_hasher_end(hashing.changes);
	r = write_body(&body, baseline, &snapshot_hash);
	record.body = wfs_buffer_bytes(&body);
	if (!r)
		r = wfs_head_append(head, &record);
	if (!r)
		r = wfs_head_set_snapshot(head, &snapshot_hash, at_ns);
	if (r)
		return wfs_trace(r);
	*ret_snapshot_hash = snapshot_hash;
	return 0;
}

int wfs_baseline_parse(const struct wfs_record_parsed *parsed, struct wfs_baseline *ret_baseline)
{
	const json_t *id = json_object_get(parsed->body_json, "from_world_id");
	const json_t *height = json_object_get(parsed->body_json, "from_height");
	struct wfs_baseline baseline = {.from_height = 0};

	if (parsed->record.kind != WFS_RECORD_BASELINE)
		return -EINVAL;
	if (json_is_string(id) && wfs_world_id_valid(json_string_value(id)))
		snprintf(baseline.from_world_id, sizeof(baseline.from_world_id), "%s",
			json_string_value(id));
	else if (!json_is_null(id))
		return -EINVAL;
	if (json_is_integer(height) && json_integer_value(height) > 0)
		baseline.from_height = (uint64_t)json_integer_value(height);
	else if (!json_is_null(height))
		return -EINVAL;
	*ret_baseline = baseline;
	return 0;
}
