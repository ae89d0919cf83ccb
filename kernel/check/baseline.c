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
	const bool height_known = baseline->from_height > 0;
	const struct wfs_body_baseline members = {
		.from_height = height_known ? (int64_t)baseline->from_height : -1,
		.from_world_id = *baseline->from_world_id ? baseline->from_world_id : NULL,
		.snapshot_hash = snapshot_hash,
	};
	wfs_body_write_baseline(&body, &members);
	record.body = wfs_buffer_bytes(&body);
	r = wfs_buffer_check(&body);
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
	const struct wfs_body_baseline *const body = &parsed->body.baseline;
	struct wfs_baseline baseline = {.from_height = 0};

	if (parsed->record.kind != WFS_RECORD_BASELINE || body->from_height == 0 ||
		(body->from_world_id && !wfs_world_id_valid(body->from_world_id)))
		return -EINVAL;
	if (body->from_world_id)
		snprintf(baseline.from_world_id, sizeof(baseline.from_world_id), "%s",
			body->from_world_id);
	if (body->from_height > 0)
		baseline.from_height = (uint64_t)body->from_height;
	*ret_baseline = baseline;
	return 0;
}
