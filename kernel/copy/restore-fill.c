/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the copy into the store: first blobs, then a baseline of its cells, unless restore-fold.c
 * folds its journal. No other process sees the store before it is complete, so transactions may end
 * anywhere, and have a bounded size.
 */
#include "kernel/base/hash-text.h"
#include "kernel/copy/restore-impl.h"
#include "kernel/read/blob-read.h"
#include "kernel/read/snapshot.h"

enum {
	BATCH_COUNT_MAX = 4096,     /* rows of one transaction */
	BATCH_BYTES_MAX = 16 << 20, /* bytes of them */
};

int restore_write_failed(struct restore *restore, int r)
{
	return r ? wfs_error_from_errno(restore->error, r, "write the new world") : 0;
}

int restore_batch_begin(struct restore_batch *batch)
{
	int r = wfs_store_write(batch->restore->store, &batch->txn);

	if (batch->head)
		batch->head->txn = batch->txn;
	return restore_write_failed(batch->restore, r);
}

int restore_batch_commit(struct restore_batch *batch)
{
	int r = batch->head ? wfs_head_flush(batch->head, batch->restore->manifest) : 0;

	if (!r)
		r = wfs_txn_commit(WFS_STEAL(batch->txn));
	batch->count = 0;
	batch->bytes = 0;
	return restore_write_failed(batch->restore, r);
}

int restore_batch_step(struct restore_batch *batch, size_t size)
{
	batch->bytes += size;
	if (++batch->count < BATCH_COUNT_MAX && batch->bytes < BATCH_BYTES_MAX)
		return 0;
	int r = restore_batch_commit(batch);
	return r ? r : restore_batch_begin(batch);
}

void restore_batch_done(struct restore_batch *batch)
{
	wfs_txn_end(batch->txn);
	batch->txn = NULL;
}

/* --- blobs --- */

static int add_piece(void *context, const void *data, size_t size)
{
	return wfs_blob_writer_add(context, data, size);
}

int restore_blob(struct restore_batch *batch, int fd, const char *path, const char *named_by,
	const struct wfs_hash *hash)
{
	WFS_AUTO_BLOB_WRITER struct wfs_blob_writer *writer = NULL;
	struct restore *const restore = batch->restore;
	struct wfs_blob known;
	struct wfs_blob blob;
	int r = wfs_blob_writer_new(restore->store, &writer);

	if (r)
		return restore_write_failed(restore, r);
	r = restore_pieces(restore, fd, path, add_piece, writer);
	if (r <= 0)
		return r;
	r = wfs_blob_writer_finish(writer, &blob);
	if (r)
		return restore_write_failed(restore, r);
	if (!wfs_hash_equal(&blob.hash, hash))
		return restore_hash_noted(restore, path, named_by, hash, &blob.hash);
	r = wfs_blob_get(batch->txn, hash, &known);
	if (r != -ENOENT)
		return r ? restore_write_failed(restore, r) : 0;
	r = wfs_blob_put(batch->txn, &blob);
	return r ? restore_write_failed(restore, r) : restore_batch_step(batch, blob.bytes.size);
}

static int take_blob(struct restore *restore, void *context, int directory, const char *name)
{
	const struct restore_path path = restore_path("blob/%s", name);
	WFS_AUTO_FD int fd = -1;
	struct wfs_hash hash;

	if (strlen(name) != WFS_HASH_HEX_SIZE ||
		wfs_hash_parse(name, WFS_HASH_HEX_SIZE, &hash, NULL))
		return restore_noted(restore, path.text, "is not a file of a tree");
	int r = restore_open(restore, directory, name, path.text, WFS_BLOB_MAX, &fd);
	restore_progress(restore, "blobs", ++restore->told.done, 0);
	return r <= 0 ? r : restore_blob(context, fd, path.text, "its name", &hash);
}

int restore_blobs(struct restore *restore)
{
	WFS_CLEANUP(restore_batch_done) struct restore_batch batch = {.restore = restore};
	WFS_AUTO_FD int directory = -1;
	int r = restore_directory(restore, restore->tree_fd, "blob", "blob", &directory);

	if (r <= 0)
		return wfs_trace(r);
	restore_progress(restore, "blobs", 0, 0);
	r = restore_batch_begin(&batch);
	if (!r)
		r = restore_list(restore, directory, "blob/", take_blob, &batch);
	return wfs_trace(r ? r : restore_batch_commit(&batch));
}

void restore_no_blob(struct restore *restore, const struct wfs_hash *hash, const char *whose)
{
	const struct restore_path path = restore_path("blob/%s", WFS_HASH_HEX(hash));

	if (!restore_has(restore, path.text))
		restore_noted(restore, path.text, "is missing: %s", whose);
}

/* Has a reducer before this one the same module? */
static bool is_known_module(const struct wfs_manifest *manifest, size_t index)
{
	const struct wfs_hash *module = &wfs_manifest_reducer(manifest, index)->module;

	for (size_t i = 0; i < index; i++)
		if (wfs_hash_equal(&wfs_manifest_reducer(manifest, i)->module, module))
			return true;
	return false;
}

int restore_modules(struct restore *restore, const struct wfs_manifest *manifest)
{
	WFS_AUTO_TXN struct wfs_txn *txn = NULL;
	int all = 1;
	int r = wfs_store_read(restore->store, &txn);

	for (size_t i = 0; !r && i < wfs_manifest_reducer_count(manifest); i++) {
		const struct wfs_reducer_definition *reducer = wfs_manifest_reducer(manifest, i);
		struct wfs_blob blob;

		if (reducer->builtin)
			continue;
		r = wfs_blob_get(txn, &reducer->module, &blob);
		if (r != -ENOENT)
			continue;
		if (!is_known_module(manifest, i))
			restore_no_blob(restore, &reducer->module,
				restore_path("the module of reducer '%s'", reducer->name).text);
		all = 0;
		r = 0;
	}
	return r ? wfs_error_from_errno(restore->error, r, "look for the modules") : all;
}

int restore_put_meta(struct restore *restore, const struct wfs_genesis *genesis)
{
	WFS_AUTO_TXN struct wfs_txn *txn = NULL;
	int r = wfs_store_write(restore->store, &txn);

	if (!r)
		r = wfs_genesis_meta(genesis, txn);
	if (!r)
		r = wfs_txn_commit(WFS_STEAL(txn));
	return restore_write_failed(restore, r);
}

/* --- without a journal --- */

struct baseline {
	struct restore_cells cells;
	struct wfs_head head;
	struct wfs_genesis genesis;
};

static int write_genesis(struct restore *restore, struct baseline *baseline)
{
	int r = wfs_head_load(
		&baseline->head, restore->store, baseline->cells.batch.txn, restore->manifest);

	if (!r)
		r = wfs_genesis_write(&baseline->head, &baseline->genesis, restore->manifest);
	if (r)
		return restore_write_failed(restore, r);
	for (size_t i = 0; i < wfs_manifest_reducer_count(restore->manifest); i++) {
		const struct wfs_reducer_definition *reducer =
			wfs_manifest_reducer(restore->manifest, i);
		WFS_AUTO_BUFFER struct wfs_buffer module = {0};

		if (reducer->builtin)
			continue;
		r = wfs_blob_read(restore->store, baseline->cells.batch.txn, &reducer->module,
			&module, restore->error);
		if (r)
			return wfs_trace(r);
		r = wfs_genesis_module(
			&baseline->head, &baseline->genesis, wfs_buffer_bytes(&module));
		if (r)
			return restore_write_failed(restore, r);
	}
	return 0;
}

static int record_blob(struct baseline *baseline, const struct wfs_blob *found)
{
	const int64_t at_ns = baseline->genesis.at_ns;
	WFS_AUTO_BUFFER struct wfs_buffer bytes = {0};
	WFS_AUTO_BUFFER struct wfs_buffer body = {0};
	struct wfs_blob blob = *found;
	const struct wfs_body_blob members = {
		.hash = blob.hash,
		.size = (int64_t)blob.size_bytes,
	};

	wfs_buffer_append(&bytes, found->bytes.data, found->bytes.size);
	blob.bytes = wfs_buffer_bytes(&bytes);
	wfs_body_write_blob(&body, &members);
	struct wfs_record record = {
		.at_ns = at_ns,
		.kind = WFS_RECORD_BLOB,
		.principal = "kernel",
		.body = wfs_buffer_bytes(&body),
	};
	if (wfs_buffer_check(&bytes) || wfs_buffer_check(&body))
		return -ENOMEM;
	int r = wfs_head_list_blob(&baseline->head, &blob, baseline->head.height + 1, at_ns);
	return wfs_trace(r ? r : wfs_head_append(&baseline->head, &record));
}

/* Lists the blobs that are not modules, each by a `blob` record. */
static int record_blobs(struct restore *restore, struct baseline *baseline)
{
	const struct wfs_hash *after = NULL;
	struct wfs_hash last;
	struct wfs_blob blob;
	int r;

	while ((r = wfs_blob_next(baseline->cells.batch.txn, after, &blob)) == 0) {
		last = blob.hash;
		after = &last;
		if (blob.listed_id)
			continue;
		r = restore_stopped(restore);
		if (r)
			return r;
		r = record_blob(baseline, &blob);
		if (r)
			return restore_write_failed(restore, r);
		r = restore_batch_step(
			&baseline->cells.batch, blob.in_file ? 0 : (size_t)blob.size_bytes);
		if (r)
			return r;
	}
	return r == -ENOENT ? 0 : restore_write_failed(restore, r);
}

static void baseline_done(struct baseline *baseline)
{
	restore_cells_done(&baseline->cells);
	wfs_head_done(&baseline->head);
}

int restore_baseline(struct restore *restore)
{
	WFS_CLEANUP(baseline_done)
	struct baseline baseline = {.cells = {.batch = {.restore = restore}}};
	struct wfs_baseline from = {.from_height = restore->journal.height};
	struct wfs_hash snapshot_hash;
	int r = restore_modules(restore, restore->manifest);

	if (r <= 0)
		return wfs_trace(r);
	r = wfs_genesis_draw(
		restore->options->clock_ns, restore->options->clock_context, &baseline.genesis);
	if (r)
		return wfs_error_from_errno(restore->error, r, "draw random bytes");
	baseline.genesis.cells = false;
	baseline.cells.batch.head = &baseline.head;
	r = restore_batch_begin(&baseline.cells.batch);
	if (!r)
		r = write_genesis(restore, &baseline);
	baseline.cells.at_ns = baseline.genesis.at_ns;
	if (!r)
		r = restore_take_cells(&baseline.cells);
	if (!r && restore->problems->count > 0)
		return 0; /* problems were noted */
	if (!r && restore_has_journal(restore))
		snprintf(from.from_world_id, sizeof(from.from_world_id), "%s",
			restore->journal.genesis.world_id);
	if (!r)
		r = restore_write_failed(restore,
			wfs_baseline_append(&baseline.head, &from, "kernel", baseline.genesis.at_ns,
				&snapshot_hash));
	if (!r)
		r = record_blobs(restore, &baseline);
	if (!r)
		r = restore_batch_commit(&baseline.cells.batch);
	if (!r)
		r = restore_put_meta(restore, &baseline.genesis);
	snprintf(restore->restored.world_id, sizeof(restore->restored.world_id), "%s",
		baseline.genesis.world_id);
	restore->filled = r == 0;
	return wfs_trace(r);
}
