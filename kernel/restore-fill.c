/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the copy into the store: blobs, then a baseline of its cells, unless restore-fold.c folds its
 * journal. Nobody sees the store before it is whole, so it is written in transactions of a bounded
 * size.
 */
#include <fcntl.h>

#include "kernel/base/encode.h"
#include "kernel/base/json.h"
#include "kernel/blob-read.h"
#include "kernel/restore-impl.h"
#include "kernel/snapshot.h"

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

static int put_blob(
	struct restore_batch *batch, int fd, const char *path, const struct wfs_hash *hash)
{
	WFS_AUTO_BLOB_WRITER struct wfs_blob_writer *writer = NULL;
	struct restore *const restore = batch->restore;
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
		return restore_hash_noted(restore, path, "its name", hash, &blob.hash);
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
		return restore_noted(restore, path.text, "is no file of a tree");
	int r = restore_open(restore, directory, name, path.text, WFS_BLOB_MAX, &fd);
	restore_progress(restore, "blobs", ++restore->told.done, 0);
	return r <= 0 ? r : put_blob(context, fd, path.text, &hash);
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
	char hex[WFS_HASH_HEX_SIZE + 1];

	wfs_hash_hex(hash, hex);
	const struct restore_path path = restore_path("blob/%s", hex);
	if (faccessat(restore->tree_fd, path.text, F_OK, AT_SYMLINK_NOFOLLOW))
		restore_noted(restore, path.text, "is missing: %s", whose);
}

/* Is it the module of a reducer before this one, too? */
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
	struct wfs_txn *txn;
	int r = wfs_store_write(restore->store, &txn);

	if (r)
		return restore_write_failed(restore, r);
	r = wfs_genesis_meta(genesis, txn);
	if (r)
		wfs_txn_end(txn);
	else
		r = wfs_txn_commit(txn);
	return restore_write_failed(restore, r);
}

/* --- without a journal --- */

struct baseline {
	struct restore_batch batch;
	struct wfs_head head;
	struct wfs_genesis genesis;
	const struct wfs_reducer_definition *reducer; /* whose directory is being read */
	const char *artifact;                         /* the same */
	struct wfs_buffer key;
	struct wfs_buffer state;
	uint64_t cells;
};

/* Lua must be able to take it as a state. Return: 1, 0 when it was noted that not, or -ENOMEM. */
static int check_document(struct restore *restore, const char *path, const struct wfs_buffer *text)
{
	WFS_AUTO_BUFFER struct wfs_buffer canonical = {0};
	WFS_AUTO_JSON json_t *document = NULL;
	struct wfs_error reason = {0};
	int r = wfs_json_parse(text->size ? text->data : "", text->size, &document, &reason);

	if (r == -EINVAL)
		return restore_noted(restore, path, "%s", reason.message);
	if (!r) {
		wfs_json_write_document(document, &canonical);
		r = wfs_buffer_check(&canonical);
	}
	if (r)
		return wfs_error_from_errno(restore->error, r, "read '%s'", path);
	if (wfs_bytes_equal(wfs_buffer_bytes(&canonical), wfs_buffer_bytes(text)))
		return 1;
	const struct wfs_hash expected = wfs_hash_of(canonical.data, canonical.size);
	const struct wfs_hash came = wfs_hash_of(text->data, text->size);
	return restore_hash_noted(restore, path, "its canonical form", &expected, &came);
}

/* baseline->key from a file name. Return: 1, 0 when it was noted that it is none, or -errno. */
static int decode_key(
	struct restore *restore, struct baseline *baseline, const char *path, const char *name)
{
	wfs_buffer_reset(&baseline->key);
	int r = wfs_name_decode(name, strlen(name), &baseline->key);

	if (r == -ENOMEM)
		return wfs_error_from_errno(restore->error, r, "read '%s'", path);
	if (r || !wfs_utf8_valid(baseline->key.data, baseline->key.size))
		return restore_noted(restore, path, "is not the name of a key");
	if (!baseline->reducer->keyed && baseline->key.size > 0)
		return restore_noted(
			restore, path, "is no file of a tree: the reducer has no keys, expected _");
	return 1;
}

static int read_cell(struct restore *restore, struct baseline *baseline, int directory,
	const char *name, const char *path)
{
	WFS_AUTO_FD int fd = -1;

	wfs_buffer_reset(&baseline->state);
	int r = restore_read(
		restore, directory, name, path, WFS_RESTORE_CELL_MAX, &baseline->state);
	if (r > 0)
		r = restore_open(restore, directory, name, path, WFS_RESTORE_CELL_MAX, &fd);
	if (r <= 0)
		return r;
	const struct wfs_hash hash = wfs_hash_of(baseline->state.data, baseline->state.size);
	r = restore_attribute(restore, fd, path, &hash);
	return r <= 0 ? r : check_document(restore, path, &baseline->state);
}

/* What key and state are. */
static int put_cell(struct restore *restore, struct baseline *baseline, const char *path)
{
	int r = wfs_baseline_cell(&baseline->head, baseline->reducer->index,
		wfs_buffer_bytes(&baseline->key), wfs_buffer_bytes(&baseline->state),
		baseline->genesis.at_ns);

	if (r == -EEXIST)
		return restore_noted(restore, path, "was listed twice: the copy is changing");
	if (r)
		return restore_write_failed(restore, r);
	restore_progress(restore, "cells", ++baseline->cells, 0);
	return restore_batch_step(&baseline->batch, baseline->state.size);
}

static int take_cell(struct restore *restore, void *context, int directory, const char *name)
{
	struct baseline *const baseline = context;
	const struct restore_path path =
		restore_path("reducers/%s/%s", baseline->reducer->name, name);
	int r = decode_key(restore, baseline, path.text, name);

	if (r > 0)
		r = read_cell(restore, baseline, directory, name, path.text);
	return r <= 0 ? r : put_cell(restore, baseline, path.text);
}

static int take_reducer(struct restore *restore, void *context, int directory, const char *name)
{
	struct baseline *const baseline = context;
	const struct restore_path path = restore_path("reducers/%s", name);
	WFS_AUTO_FD int fd = -1;

	baseline->reducer = wfs_manifest_reducer_find(restore->manifest, name);
	if (!baseline->reducer)
		return restore_noted(restore, path.text,
			"is no file of a tree: the manifest has no such reducer");
	int r = restore_directory(restore, directory, name, path.text, &fd);
	return r <= 0 ? r
		      : restore_list(restore, fd, restore_path("%s/", path.text).text, take_cell,
				baseline);
}

/* Content or code of an artifact, which may be any bytes. Its other files are made from cells. */
static int take_text(struct restore *restore, void *context, int directory, const char *name)
{
	struct baseline *const baseline = context;
	const bool is_text = strcmp(name, "content") == 0 || strcmp(name, "code") == 0;
	char reducer[sizeof("sys.content")];

	if (!is_text)
		return 0;
	snprintf(reducer, sizeof(reducer), "sys.%s", name);
	baseline->reducer = wfs_manifest_reducer_find(restore->manifest, reducer);
	if (!baseline->reducer) /* then no file in the directory is known */
		return 0;
	const struct restore_path path = restore_path("artifacts/%s/%s", baseline->artifact, name);
	int r = decode_key(restore, baseline, path.text, baseline->artifact);
	wfs_buffer_reset(&baseline->state);
	if (r > 0)
		r = restore_read(restore, directory, name, path.text, WFS_RESTORE_CELL_MAX,
			&baseline->state);
	return r <= 0 ? r : put_cell(restore, baseline, path.text);
}

static int take_artifact(struct restore *restore, void *context, int directory, const char *name)
{
	struct baseline *const baseline = context;
	const struct restore_path path = restore_path("artifacts/%s", name);
	WFS_AUTO_FD int fd = -1;
	int r = restore_directory(restore, directory, name, path.text, &fd);

	baseline->artifact = name;
	return r <= 0 ? r
		      : restore_list(restore, fd, restore_path("%s/", path.text).text, take_text,
				baseline);
}

static int take_cells(struct restore *restore, struct baseline *baseline)
{
	WFS_AUTO_FD int reducers = -1;
	WFS_AUTO_FD int artifacts = -1;
	int r = restore_directory(restore, restore->tree_fd, "reducers", "reducers", &reducers);

	if (r > 0)
		r = restore_list(restore, reducers, "reducers/", take_reducer, baseline);
	if (!r)
		r = restore_directory(
			restore, restore->tree_fd, "artifacts", "artifacts", &artifacts);
	return r <= 0 ? r : restore_list(restore, artifacts, "artifacts/", take_artifact, baseline);
}

static int write_genesis(struct restore *restore, struct baseline *baseline)
{
	int r = wfs_head_load(
		&baseline->head, restore->store, baseline->batch.txn, restore->manifest);

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
		r = wfs_blob_read(restore->store, baseline->batch.txn, &reducer->module, &module,
			restore->error);
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

	wfs_buffer_append(&bytes, found->bytes.data, found->bytes.size);
	blob.bytes = wfs_buffer_bytes(&bytes);
	wfs_record_write_blob_body(&body, NULL, &blob.hash, blob.size_bytes);
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

/* Blobs besides the modules were put by somebody once, and are put again. */
static int record_blobs(struct restore *restore, struct baseline *baseline)
{
	const struct wfs_hash *after = NULL;
	struct wfs_hash last;
	struct wfs_blob blob;
	int r;

	while ((r = wfs_blob_next(baseline->batch.txn, after, &blob)) == 0) {
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
			&baseline->batch, blob.in_file ? 0 : (size_t)blob.size_bytes);
		if (r)
			return r;
	}
	return r == -ENOENT ? 0 : restore_write_failed(restore, r);
}

static int write_baseline(struct restore *restore, struct baseline *baseline)
{
	struct wfs_baseline from = {.from_height = restore->journal.height};
	struct wfs_hash snapshot_hash;

	if (restore_has_journal(restore))
		snprintf(from.from_world_id, sizeof(from.from_world_id), "%s",
			restore->journal.genesis.world_id);
	return restore_write_failed(restore,
		wfs_baseline_append(
			&baseline->head, &from, "kernel", baseline->genesis.at_ns, &snapshot_hash));
}

static void baseline_done(struct baseline *baseline)
{
	restore_batch_done(&baseline->batch);
	wfs_head_done(&baseline->head);
	wfs_buffer_done(&baseline->key);
	wfs_buffer_done(&baseline->state);
}

int restore_baseline(struct restore *restore)
{
	WFS_CLEANUP(baseline_done) struct baseline baseline = {.batch = {.restore = restore}};
	int r = restore_modules(restore, restore->manifest);

	if (r <= 0)
		return wfs_trace(r);
	r = wfs_genesis_draw(
		restore->options->clock_ns, restore->options->clock_context, &baseline.genesis);
	if (r)
		return wfs_error_from_errno(restore->error, r, "draw random bytes");
	baseline.genesis.cells = false;
	baseline.batch.head = &baseline.head;
	r = restore_batch_begin(&baseline.batch);
	if (!r)
		r = write_genesis(restore, &baseline);
	if (!r)
		r = take_cells(restore, &baseline);
	if (!r && restore->problems->count > 0)
		return 0; /* what there is to tell has been told */
	if (!r)
		r = write_baseline(restore, &baseline);
	if (!r)
		r = record_blobs(restore, &baseline);
	if (!r)
		r = restore_batch_commit(&baseline.batch);
	if (!r)
		r = restore_put_meta(restore, &baseline.genesis);
	snprintf(restore->restored.world_id, sizeof(restore->restored.world_id), "%s",
		baseline.genesis.world_id);
	restore->filled = r == 0;
	return wfs_trace(r);
}
