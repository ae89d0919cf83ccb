/* SPDX-License-Identifier: Apache-2.0 */
/* Computing the hashes of snapshot documents. */
#include "kernel/read/snapshot.h"

#include <inttypes.h>

#include "kernel/base/encode.h"
#include "kernel/base/hash-text.h"
#include "kernel/base/json.h"
#include "kernel/read/record.h"

enum { RENEW_COUNT = 4096 }; /* cells between two renewals of the view */

/* One pass over the world. */
struct pass {
	struct wfs_view *view;
	const struct wfs_snapshot_walker *walker;
	struct wfs_buffer key;  /* of the last cell; outlives a renewal of the view */
	struct wfs_buffer name; /* of the reducer at hand */
	uint64_t done;
	uint64_t total;
};

/* --- documents --- */

int wfs_snapshot_document_init(
	struct wfs_snapshot_document *document, const struct wfs_hash *manifest_hash)
{
	*document = (struct wfs_snapshot_document){.hasher = NULL};
	int r = wfs_hasher_new(&document->hasher);
	if (r)
		return wfs_trace(r);
	wfs_buffer_printf(&document->line, "{\"manifest_hash\":\"%s\",\"world_version\":1}\n",
		WFS_HASH_TEXT(manifest_hash));
	wfs_hasher_add(document->hasher, document->line.data, document->line.size);
	return wfs_buffer_check(&document->line);
}

int wfs_snapshot_document_add(struct wfs_snapshot_document *document, struct wfs_bytes reducer,
	struct wfs_bytes key, const struct wfs_hash *hash)
{
	struct wfs_buffer *const line = &document->line;

	wfs_buffer_reset(line);
	wfs_buffer_append_text(line, "{\"key_b64\":\"");
	wfs_base64_append(line, key.data, key.size);
	wfs_buffer_append_text(line, "\",\"reducer\":");
	wfs_json_write_string(line, reducer.data, reducer.size);
	wfs_buffer_printf(line, ",\"state_hash\":\"%s\"}\n", WFS_HASH_TEXT(hash));
	wfs_hasher_add(document->hasher, line->data, line->size);
	return wfs_buffer_check(line);
}

struct wfs_hash wfs_snapshot_document_end(struct wfs_snapshot_document *document)
{
	return wfs_hasher_end(document->hasher);
}

void wfs_snapshot_document_done(struct wfs_snapshot_document *document)
{
	wfs_hasher_free(document->hasher);
	wfs_buffer_done(&document->line);
	document->hasher = NULL;
}

/* --- the walk --- */

static int renew(struct pass *pass, struct wfs_error *error)
{
	struct wfs_store *const store = pass->view->store;
	const uint64_t height = pass->view->height;

	if (pass->view->txn_borrowed)
		return 0;
	wfs_view_close(pass->view);
	return wfs_view_of(store, height, pass->view, error);
}

static int walk_reducer(
	struct pass *pass, const struct wfs_reducer *reducer, struct wfs_error *error)
{
	const struct wfs_snapshot_walker *const walker = pass->walker;
	const struct wfs_bytes *after = NULL;
	struct wfs_bytes last;

	for (;;) {
		struct wfs_version version;
		struct wfs_bytes key;
		int r = wfs_view_next_key(pass->view, reducer->reducer_id, after, &key, &version);

		if (r == -ENOENT)
			return 0;
		if (r)
			return wfs_error_from_errno(error, r, "read a cell");
		wfs_buffer_reset(&pass->key);
		wfs_buffer_append(&pass->key, key.data, key.size);
		if (wfs_buffer_check(&pass->key))
			return wfs_error_from_errno(error, -ENOMEM, "read a cell");
		last = wfs_buffer_bytes(&pass->key);
		after = &last;
		r = walker->cell(
			walker->context, wfs_buffer_bytes(&pass->name), last, &version, error);
		if (r)
			return wfs_trace(r);
		if (++pass->done % RENEW_COUNT == 0) {
			if (walker->progress)
				walker->progress(walker->context, pass->done, pass->total);
			r = renew(pass, error);
			if (r)
				return wfs_trace(r);
		}
	}
}

static int walk_all(struct pass *pass, struct wfs_error *error)
{
	struct wfs_reducer reducer;
	struct wfs_bytes name;
	int r;

	for (uint32_t id = 0; wfs_view_reducer_next(pass->view, id, &name, &reducer) == 0;
		id = reducer.reducer_id)
		pass->total += reducer.live_count;
	while ((r = wfs_view_reducer_next_name(
			pass->view, wfs_buffer_bytes(&pass->name), &name, &reducer)) == 0) {
		wfs_buffer_reset(&pass->name);
		wfs_buffer_append(&pass->name, name.data, name.size);
		if (wfs_buffer_check(&pass->name))
			return wfs_error_from_errno(error, -ENOMEM, "read the reducers");
		r = walk_reducer(pass, &reducer, error);
		if (r)
			return wfs_trace(r);
	}
	return r == -ENOENT ? 0 : wfs_error_from_errno(error, r, "read the reducers");
}

static void pass_done(struct pass *pass)
{
	wfs_buffer_done(&pass->key);
	wfs_buffer_done(&pass->name);
}

int wfs_snapshot_walk(
	struct wfs_view *view, const struct wfs_snapshot_walker *walker, struct wfs_error *error)
{
	WFS_CLEANUP(pass_done)
	struct pass pass = {.view = view, .walker = walker};

	return wfs_trace(walk_all(&pass, error));
}

/* --- hashes of heights --- */

struct hashing {
	struct wfs_snapshot_document *document;
	void (*progress)(void *context, uint64_t done, uint64_t total);
	void *context;
};

static int hash_cell(void *context, struct wfs_bytes reducer, struct wfs_bytes key,
	const struct wfs_version *version, struct wfs_error *error)
{
	const struct hashing *hashing = context;
	int r = wfs_snapshot_document_add(hashing->document, reducer, key, &version->hash);

	return r ? wfs_error_from_errno(error, r, "write a snapshot") : 0;
}

static void show_progress(void *context, uint64_t done, uint64_t total)
{
	const struct hashing *hashing = context;

	if (hashing->progress)
		hashing->progress(hashing->context, done, total);
}

static int hash_view(struct hashing *hashing, struct wfs_view *view, struct wfs_hash *ret_hash,
	struct wfs_error *error)
{
	const struct wfs_snapshot_walker walker = {hash_cell, show_progress, hashing};
	int r = wfs_snapshot_walk(view, &walker, error);

	if (!r)
		*ret_hash = wfs_snapshot_document_end(hashing->document);
	return wfs_trace(r);
}

int wfs_snapshot_document_walk(struct wfs_snapshot_document *document, struct wfs_view *view,
	struct wfs_hash *ret_hash, struct wfs_error *error)
{
	struct hashing hashing = {.document = document};

	return wfs_trace(hash_view(&hashing, view, ret_hash, error));
}

int wfs_snapshot_hash(struct wfs_store *store, uint64_t height,
	void (*progress)(void *context, uint64_t done, uint64_t total), void *context,
	struct wfs_hash *ret_hash, struct wfs_error *error)
{
	WFS_AUTO_SNAPSHOT_DOCUMENT struct wfs_snapshot_document document = {0};
	struct hashing hashing = {&document, progress, context};
	WFS_AUTO_VIEW struct wfs_view view = {0};
	struct wfs_version manifest;
	int r = wfs_view_of(store, height, &view, error);

	if (r)
		return wfs_trace(r);
	r = wfs_view_manifest(&view, &manifest);
	if (!r)
		r = wfs_snapshot_document_init(&document, &manifest.hash);
	if (r)
		return wfs_error_from_errno(error, r, "write a snapshot");
	return wfs_trace(hash_view(&hashing, &view, ret_hash, error));
}
