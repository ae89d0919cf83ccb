/* SPDX-License-Identifier: Apache-2.0 */
/* Baseline records, their cells, and the hashes of their `changes` and of their snapshot. */
#include "kernel/check/baseline.h"

#include <inttypes.h>

#include "kernel/base/encode.h"
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
	struct wfs_hasher *versions; /* NULL: not hashed */
	struct wfs_buffer item;
	bool changed;
};

static void add_version(struct hashing *hashing, struct wfs_bytes reducer, struct wfs_bytes key,
	const struct wfs_version *version)
{
	wfs_buffer_reset(&hashing->item);
	wfs_buffer_append_text(&hashing->item, hashing->changed ? ",[\"" : "[[\"");
	wfs_buffer_append(&hashing->item, reducer.data, reducer.size);
	wfs_buffer_append_text(&hashing->item, "\",\"");
	wfs_base64_append(&hashing->item, key.data, key.size);
	wfs_buffer_printf(
		&hashing->item, "\",%" PRIu64 ",%" PRId64 "]", version->height, version->time_ns);
	wfs_hasher_add(hashing->versions, hashing->item.data, hashing->item.size);
}

static int hash_cell(void *context, struct wfs_bytes reducer, struct wfs_bytes key,
	const struct wfs_version *version, struct wfs_error *error)
{
	struct hashing *hashing = context;
	int r = 0;

	if (hashing->versions)
		add_version(hashing, reducer, key, version);
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
	wfs_hasher_free(hashing->versions);
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

/* --- the record with which a journal begins that was cut --- */

static void end_list(struct wfs_hasher *hasher, bool empty, struct wfs_hash *ret_hash)
{
	const char *const end = empty ? "[]\n" : "]\n";

	wfs_hasher_add(hasher, end, strlen(end));
	*ret_hash = wfs_hasher_end(hasher);
}

/* Hashes the blobs that the view's height lists. Their numbers rise with their heights. */
static int hash_blobs(struct wfs_view *view, struct wfs_hash *ret_hash)
{
	WFS_AUTO_HASHER struct wfs_hasher *hasher = NULL;
	WFS_AUTO_BUFFER struct wfs_buffer item = {0};
	struct wfs_blob_listing listing;
	uint64_t last = 0;
	uint64_t id = 1;
	int r = wfs_hasher_new(&hasher);

	if (!r)
		r = wfs_blob_listing_last(view->txn, &last);
	for (; !r && id <= last; id++) {
		r = wfs_blob_listing_get(view->txn, id, &listing);
		if (r || listing.height > view->height)
			break;
		wfs_buffer_reset(&item);
		wfs_buffer_printf(&item, "%s[\"%s\",%" PRIu64 ",%" PRId64 "]", id == 1 ? "[" : ",",
			WFS_HASH_TEXT(&listing.hash), listing.height, listing.time_ns);
		wfs_hasher_add(hasher, item.data, item.size);
		r = wfs_buffer_check(&item);
	}
	if (!r)
		end_list(hasher, id == 1, ret_hash);
	return wfs_trace(r == -ENOENT ? -EIO : r);
}

int wfs_baseline_facts(
	struct wfs_view *view, struct wfs_baseline_facts *ret_facts, struct wfs_error *error)
{
	WFS_CLEANUP(hashing_done) struct hashing hashing = {.changed = false};
	struct wfs_baseline_facts facts = {0};
	struct wfs_version manifest;
	int r = wfs_view_manifest(view, &manifest);

	if (!r) {
		facts.manifest = manifest.hash;
		r = wfs_snapshot_document_init(&hashing.snapshot, &facts.manifest);
	}
	if (!r)
		r = wfs_hasher_new(&hashing.versions);
	if (!r)
		r = hash_blobs(view, &facts.blobs);
	if (r)
		return wfs_error_from_errno(error, r, "hash the height %" PRIu64, view->height);
	r = hash_all(view, &hashing, error);
	if (r)
		return wfs_trace(r);
	facts.changed = hashing.changed;
	if (facts.changed)
		facts.changes = wfs_hasher_end(hashing.changes);
	facts.snapshot = wfs_snapshot_document_end(&hashing.snapshot);
	end_list(hashing.versions, !hashing.changed, &facts.versions);
	*ret_facts = facts;
	return 0;
}

const char *wfs_baseline_differs(
	const struct wfs_record_parsed *parsed, const struct wfs_baseline_facts *facts)
{
	const struct wfs_body_baseline *const body = &parsed->body.baseline;

	if (parsed->record.changed != facts->changed ||
		(facts->changed && !wfs_hash_equal(&parsed->record.changes, &facts->changes)))
		return "`changes` is not the hash of the cells of its height";
	if (!wfs_hash_equal(&body->snapshot_hash, &facts->snapshot))
		return "its snapshot hash is not that of its height";
	if (!wfs_hash_equal(&body->versions_hash, &facts->versions))
		return "`versions_hash` is not that of the versions of its height";
	if (!wfs_hash_equal(&body->blobs_hash, &facts->blobs))
		return "`blobs_hash` is not that of the blobs that its height lists";
	return wfs_hash_equal(&body->manifest_hash, &facts->manifest)
		? NULL
		: "`manifest_hash` is not that of the manifest in force at its height";
}

/* Gets what the oldest record says of genesis: record 0 itself, or the baseline of a cut. */
static int get_genesis(struct wfs_view *view, json_t **ret_genesis)
{
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = {0};
	struct wfs_bytes line;
	uint64_t first;
	int r = wfs_journal_first(view->txn, &first);

	if (!r)
		r = wfs_view_record(view, first, &line);
	if (!r)
		r = wfs_record_parse(line, &parsed, NULL);
	if (r)
		return wfs_trace(r);
	if (wfs_record_is_cut(&parsed) && json_is_object(parsed.body.baseline.genesis)) {
		*ret_genesis = json_incref(parsed.body.baseline.genesis);
		return 0;
	}
	if (parsed.record.kind != WFS_RECORD_GENESIS)
		return -EIO;
	WFS_AUTO_JSON json_t *genesis = json_copy(json_object_get(parsed.json, "body"));
	if (!genesis || json_object_set_new(genesis, "at_ns", json_integer(parsed.record.at_ns)))
		return -ENOMEM;
	*ret_genesis = WFS_STEAL(genesis);
	return 0;
}

int wfs_baseline_cut(struct wfs_view *view, uint64_t seq, const char *world_id,
	const struct wfs_baseline_facts *facts, struct wfs_buffer *line, int64_t *ret_genesis_ns)
{
	WFS_AUTO_BUFFER struct wfs_buffer body = {0};
	WFS_AUTO_JSON json_t *genesis = NULL;
	struct wfs_record record = {.seq = seq,
		.kind = WFS_RECORD_BASELINE,
		.principal = "kernel",
		.changed = facts->changed,
		.changes = facts->changes};
	struct wfs_bytes old;
	int r = get_genesis(view, &genesis);

	if (!r)
		r = wfs_view_record_time(view, seq, &record.at_ns);
	if (!r)
		r = wfs_view_record(view, seq, &old);
	if (r)
		return wfs_trace(r);
	const struct wfs_body_baseline members = {
		.blobs_hash = facts->blobs,
		.from_height = (int64_t)seq + 1,
		.from_world_id = world_id,
		.genesis = genesis,
		.manifest_hash = facts->manifest,
		.next_prev = wfs_hash_of(old.data, old.size),
		.snapshot_hash = facts->snapshot,
		.versions_hash = facts->versions,
	};
	wfs_body_write_baseline(&body, &members);
	record.body = wfs_buffer_bytes(&body);
	wfs_record_write(line, &record);
	*ret_genesis_ns = json_integer_value(json_object_get(genesis, "at_ns"));
	r = wfs_buffer_check(&body);
	return r ? r : wfs_buffer_check(line);
}
