/* SPDX-License-Identifier: Apache-2.0 */
/* Appending to the journal and setting cells. */
#include "kernel/fold/head.h"

#include "kernel/base/damage.h"
#include "kernel/base/formats.h"
#include "kernel/base/hash-text.h"
#include "kernel/read/snapshot.h"

void wfs_head_done(struct wfs_head *head)
{
	free(head->reducers);
	free(head->reducer_dirty);
	free(head->indexed);
	wfs_buffer_done(&head->line);
	head->reducers = NULL;
	head->reducer_dirty = NULL;
	head->indexed = NULL;
}

static int load_reducers(struct wfs_head *head, const struct wfs_manifest *manifest)
{
	size_t count = wfs_manifest_reducer_count(manifest);

	free(head->reducers);
	free(head->reducer_dirty);
	free(head->indexed);
	head->reducer_count = count;
	head->reducers = calloc(count + 1, sizeof(*head->reducers));
	head->reducer_dirty = calloc(count + 1, sizeof(*head->reducer_dirty));
	head->indexed = calloc(count + 1, sizeof(*head->indexed));
	if (!head->reducers || !head->reducer_dirty || !head->indexed)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const char *name = wfs_manifest_reducer(manifest, i)->name;
		int r = wfs_reducer_get(head->txn, name, strlen(name), &head->reducers[i]);

		head->indexed[i] = wfs_indexed_find(wfs_bytes_text(name));
		if (r && r != -ENOENT) /* -ENOENT: the world is being made */
			return wfs_trace(r);
	}
	return 0;
}

/* Checks that every reducer of the manifest in force has a row. */
static int check_reducers(const struct wfs_head *head, const struct wfs_manifest *manifest)
{
	for (size_t i = 0; i < head->reducer_count; i++)
		if (head->reducers[i].reducer_id == WFS_REDUCER_ID_KERNEL) {
			wfs_damage_note(
				"reducer '%s' is missing", wfs_manifest_reducer(manifest, i)->name);
			return -EIO;
		}
	return 0;
}

static int load_last_record(struct wfs_head *head)
{
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = {0};
	struct wfs_bytes line;
	uint64_t offset;
	int r = wfs_journal_get(head->txn, head->height - 1, &offset, &line);

	if (!r)
		r = wfs_record_parse(line, &parsed, NULL);
	if (r)
		return wfs_trace(r == -ENOENT ? -EIO : r);
	head->journal_bytes = offset + line.size;
	head->prev = wfs_record_next_prev(&parsed, line);
	head->at_ns = parsed.record.at_ns;
	return 0;
}

int wfs_head_load(struct wfs_head *head, struct wfs_store *store, struct wfs_txn *txn,
	const struct wfs_manifest *manifest)
{
	uint64_t last_vid;
	uint64_t last_listed_id;

	head->store = store;
	head->txn = txn;
	int r = wfs_journal_height(txn, &head->height);
	if (!r && head->height > 0)
		r = load_last_record(head);
	if (!r)
		r = wfs_version_last(txn, &last_vid);
	if (!r)
		r = wfs_blob_listing_last(txn, &last_listed_id);
	if (!r)
		r = load_reducers(head, manifest);
	if (!r && head->height > 0)
		r = check_reducers(head, manifest);
	if (r)
		return wfs_trace(r);
	head->next_vid = last_vid + 1;
	head->next_listed_id = last_listed_id + 1;
	return 0;
}

int wfs_head_append_line(struct wfs_head *head, struct wfs_bytes line, int64_t at_ns)
{
	wfs_require(at_ns >= head->at_ns);
	int r = wfs_journal_append(head->txn, head->height, head->journal_bytes, line);

	if (r)
		return wfs_trace(r);
	head->prev = wfs_hash_of(line.data, line.size);
	head->journal_bytes += line.size;
	head->at_ns = at_ns;
	head->height++;
	return 0;
}

int wfs_head_append(struct wfs_head *head, struct wfs_record *record)
{
	record->seq = head->height;
	record->prev = head->prev;
	wfs_buffer_reset(&head->line);
	wfs_record_write(&head->line, record);
	int r = wfs_buffer_check(&head->line);
	return wfs_trace(
		r ? r : wfs_head_append_line(head, wfs_buffer_bytes(&head->line), record->at_ns));
}

int wfs_head_add_reducer(struct wfs_head *head, const struct wfs_reducer_definition *reducer,
	uint64_t height, int64_t at_ns)
{
	struct wfs_bytes name;
	struct wfs_reducer last;
	uint32_t id = 1;
	int r;

	while ((r = wfs_reducer_next(head->txn, id - 1, &name, &last)) == 0)
		id = last.reducer_id + 1;
	if (r != -ENOENT)
		return wfs_trace(r);
	if (id > WFS_REDUCER_ID_MAX)
		return -ENOSPC;
	head->reducers[reducer->index] = (struct wfs_reducer){
		.reducer_id = id,
		.keyed = reducer->keyed,
		.created_height = height,
		.names_ns = at_ns,
	};
	return wfs_reducer_put(head->txn, reducer->name, &head->reducers[reducer->index]);
}

static int flush_reducers(struct wfs_head *head, const struct wfs_manifest *manifest)
{
	for (size_t i = 0; i < head->reducer_count; i++) {
		if (!head->reducer_dirty[i])
			continue;
		int r = wfs_reducer_put(
			head->txn, wfs_manifest_reducer(manifest, i)->name, &head->reducers[i]);
		if (r)
			return wfs_trace(r);
		head->reducer_dirty[i] = false;
	}
	return 0;
}

int wfs_head_set_manifest(struct wfs_head *head, const struct wfs_manifest *from,
	const struct wfs_manifest *to, int64_t at_ns)
{
	int r = flush_reducers(head, from);

	if (!r)
		r = load_reducers(head, to);
	for (size_t i = 0; !r && i < head->reducer_count; i++) {
		const struct wfs_reducer_definition *reducer = wfs_manifest_reducer(to, i);
		struct wfs_reducer *row = &head->reducers[i];

		if (!row->reducer_id) {
			r = wfs_head_add_reducer(head, reducer, head->height, at_ns);
		} else if (row->keyed != reducer->keyed) {
			row->keyed = reducer->keyed;
			head->reducer_dirty[i] = true;
		}
	}
	return wfs_trace(r);
}

/* Writes a large value to a file; a small one will be in its row. */
static int store_bytes(struct wfs_head *head, struct wfs_bytes bytes, bool *ret_in_file)
{
	WFS_AUTO_BLOB_WRITER struct wfs_blob_writer *writer = NULL;
	struct wfs_blob blob;

	*ret_in_file = bytes.size >= WFS_BLOB_FILE_MIN;
	if (!*ret_in_file)
		return 0;
	int r = wfs_blob_writer_new(head->store, &writer);
	if (!r)
		r = wfs_blob_writer_add(writer, bytes.data, bytes.size);
	if (!r)
		r = wfs_blob_writer_finish(writer, &blob);
	return wfs_trace(r);
}

static int put_version(struct wfs_head *head, struct wfs_cell *cell, const struct wfs_state *state,
	uint64_t height, int64_t at_ns)
{
	bool in_file = false;
	int r = store_bytes(head, state->bytes, &in_file);

	if (r)
		return r;
	const struct wfs_version version = {
		.vid = head->next_vid,
		.cell_id = cell->cell_id,
		.prev_vid = cell->head_vid,
		.height = height,
		.time_ns = at_ns,
		.size_bytes = state->bytes.size,
		.hash = state->hash,
		.tombstone = !state->live,
		.in_file = in_file,
		.bytes = in_file ? WFS_BYTES(NULL, 0) : state->bytes,
	};
	r = wfs_version_put(head->txn, &version);
	if (!r && (cell->version_count + 1) % WFS_HISTORY_STRIDE == 0)
		r = wfs_history_put(head->txn, cell->cell_id, height, version.vid);
	if (r)
		return wfs_trace(r);
	head->next_vid++;
	return 0;
}

static int put_cell(struct wfs_head *head, struct wfs_cell *cell, const struct wfs_state *state,
	uint64_t height, int64_t at_ns)
{
	int r = put_version(head, cell, state, height, at_ns);

	if (r)
		return r;
	if (cell->version_count++ == 0)
		cell->created_height = height;
	cell->head_vid = head->next_vid - 1;
	cell->head_height = height;
	cell->size_bytes = state->bytes.size;
	cell->time_ns = at_ns;
	cell->live = state->live;
	return wfs_trace(wfs_cell_put(head->txn, cell));
}

/* Gives a new cell its number and its name. */
static int name_cell(struct wfs_head *head, struct wfs_reducer *reducer, struct wfs_cell *cell)
{
	cell->cell_id = wfs_cell_id(reducer->reducer_id, reducer->cell_count + 1);
	if (wfs_cell_reducer(cell->cell_id) != reducer->reducer_id)
		return -ENOSPC;
	int r = wfs_cell_name_put(head->txn, reducer->reducer_id, cell->key, cell->cell_id);
	if (!r)
		reducer->cell_count++;
	return wfs_trace(r);
}

int wfs_head_set_cell(struct wfs_head *head, size_t reducer_index, struct wfs_cell *cell,
	const struct wfs_state *state, uint64_t height, int64_t at_ns)
{
	struct wfs_reducer *reducer = &head->reducers[reducer_index];
	const enum wfs_indexed indexed = head->indexed[reducer_index];
	WFS_AUTO_INDEX_PLACES struct wfs_index_places from = {0};
	WFS_AUTO_INDEX_PLACES struct wfs_index_places to = {0};
	bool was_live = cell->live;

	wfs_require(reducer->reducer_id != WFS_REDUCER_ID_KERNEL);
	int r = wfs_index_places_now(head->store, head->txn, indexed, cell, &from);
	if (!r && state->live)
		r = wfs_index_places_of(indexed, state->bytes, &to);
	if (!r && !cell->cell_id) {
		r = name_cell(head, reducer, cell);
		head->reducer_dirty[reducer_index] = true;
	}
	if (!r)
		r = put_cell(head, cell, state, height, at_ns);
	if (!r)
		r = wfs_index_move(head->txn, cell->cell_id, &from, &to);
	if (r)
		return wfs_trace(r);
	if (was_live != state->live) {
		reducer->live_count += state->live ? 1 : (uint64_t)-1;
		reducer->names_ns = at_ns;
		head->reducer_dirty[reducer_index] = true;
	}
	return 0;
}

int wfs_head_set_kernel(struct wfs_head *head, enum wfs_kernel_cell kernel_cell,
	struct wfs_bytes bytes, uint64_t height, int64_t at_ns)
{
	const struct wfs_state state = {
		.live = true, .bytes = bytes, .hash = wfs_hash_of(bytes.data, bytes.size)};
	uint64_t cell_id = wfs_cell_id(WFS_REDUCER_ID_KERNEL, kernel_cell);
	struct wfs_cell cell = {0};
	int r = wfs_cell_get(head->txn, cell_id, &cell);

	if (r && r != -ENOENT)
		return wfs_trace(r);
	cell.cell_id = cell_id;
	cell.key = WFS_BYTES(NULL, 0);
	return wfs_trace(put_cell(head, &cell, &state, height, at_ns));
}

int wfs_head_set_snapshot(struct wfs_head *head, const struct wfs_hash *hash, int64_t at_ns)
{
	return wfs_trace(wfs_head_set_kernel(head, WFS_KERNEL_CELL_SNAPSHOT,
		wfs_bytes_text(WFS_HASH_TEXT(hash)), head->height, at_ns));
}

/* Computes the snapshot hash of the cells as they are now. */
static int hash_cells(
	struct wfs_head *head, const struct wfs_hash *manifest_hash, struct wfs_hash *ret_hash)
{
	WFS_AUTO_SNAPSHOT_DOCUMENT struct wfs_snapshot_document document = {0};
	/* A view within the transaction: the walk cannot open it again. */
	struct wfs_view view = {.txn = head->txn, .txn_borrowed = true, .height = head->height};
	int r = wfs_snapshot_document_init(&document, manifest_hash);

	return wfs_trace(r ? r : wfs_snapshot_document_walk(&document, &view, ret_hash, NULL));
}

/* Appends a record of the kernel with a snapshot hash, which becomes that of the newest
 * snapshot. */
static int append_hash(struct wfs_head *head, enum wfs_record_kind kind, int64_t at_ns,
	const union wfs_body *members, const struct wfs_hash *hash)
{
	WFS_AUTO_BUFFER struct wfs_buffer body = {0};
	struct wfs_record record = {.at_ns = at_ns, .kind = kind, .principal = "kernel"};

	wfs_body_write(&body, kind, members);
	record.body = wfs_buffer_bytes(&body);
	int r = wfs_buffer_check(&body);
	if (!r)
		r = wfs_head_append(head, &record);
	return wfs_trace(r ? r : wfs_head_set_snapshot(head, hash, at_ns));
}

int wfs_head_append_snapshot(struct wfs_head *head, const struct wfs_hash *manifest_hash)
{
	union wfs_body body = {.snapshot.height = (int64_t)head->height};
	int r = hash_cells(head, manifest_hash, &body.snapshot.snapshot_hash);

	return wfs_trace(r ? r
			   : append_hash(head, WFS_RECORD_SNAPSHOT, head->at_ns, &body,
				     &body.snapshot.snapshot_hash));
}

int wfs_head_append_epoch(
	struct wfs_head *head, int fold_from, int64_t at_ns, const struct wfs_hash *manifest_hash)
{
	union wfs_body body = {.epoch = {.fold_from = fold_from, .fold_to = WFS_FOLD_VERSION}};
	int r = hash_cells(head, manifest_hash, &body.epoch.snapshot_hash);

	return wfs_trace(
		r ? r
		  : append_hash(head, WFS_RECORD_EPOCH, at_ns, &body, &body.epoch.snapshot_hash));
}

int wfs_head_list_blob(
	struct wfs_head *head, const struct wfs_blob *blob, uint64_t height, int64_t at_ns)
{
	struct wfs_blob row = *blob;
	struct wfs_blob present;
	int r = wfs_blob_get(head->txn, &blob->hash, &present);

	if (r && r != -ENOENT)
		return wfs_trace(r);
	if (!r && present.listed_id)
		return 1;
	row.listed_id = head->next_listed_id;
	struct wfs_blob_listing listing = {
		.listed_id = row.listed_id,
		.hash = blob->hash,
		.height = height,
		.time_ns = at_ns,
	};
	r = wfs_blob_put(head->txn, &row);
	if (!r)
		r = wfs_blob_listing_put(head->txn, &listing);
	if (r)
		return wfs_trace(r);
	head->next_listed_id++;
	return 0;
}

int wfs_head_list_bytes(
	struct wfs_head *head, struct wfs_bytes bytes, uint64_t height, int64_t at_ns)
{
	WFS_AUTO_BLOB_WRITER struct wfs_blob_writer *writer = NULL;
	struct wfs_blob blob;
	int r = wfs_blob_writer_new(head->store, &writer);

	if (!r)
		r = wfs_blob_writer_add(writer, bytes.data, bytes.size);
	if (!r)
		r = wfs_blob_writer_finish(writer, &blob);
	return wfs_trace(r ? r : wfs_head_list_blob(head, &blob, height, at_ns));
}

int wfs_head_put_bytes(struct wfs_head *head, struct wfs_bytes bytes)
{
	const struct wfs_hash hash = wfs_hash_of(bytes.data, bytes.size);
	struct wfs_blob blob = {.hash = hash, .size_bytes = bytes.size, .bytes = bytes};
	int r = wfs_blob_get(head->txn, &hash, &(struct wfs_blob){.size_bytes = 0});

	if (r != -ENOENT)
		return wfs_trace(r);
	r = store_bytes(head, bytes, &blob.in_file);
	if (blob.in_file)
		blob.bytes = WFS_BYTES(NULL, 0);
	return wfs_trace(r ? r : wfs_blob_put(head->txn, &blob));
}

int wfs_head_flush(struct wfs_head *head, const struct wfs_manifest *manifest)
{
	int r = flush_reducers(head, manifest);

	return wfs_trace(r ? r
			   : wfs_meta_put(head->txn, WFS_META_HEAD_HASH,
				     WFS_BYTES(head->prev.bytes, WFS_HASH_SIZE)));
}
