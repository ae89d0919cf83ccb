/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cells from files of the copy: all of them, for a baseline; or, if a text is lost, those of
 * built-in reducers, which then replace the cells that folding gave.
 */
#include "kernel/base/encode.h"
#include "kernel/base/json.h"
#include "kernel/copy/restore-impl.h"
#include "kernel/domain/memory/memory-file.h"
#include "kernel/read/blob-read.h"
#include "kernel/read/entity.h"

/* Checks that Lua can take a document as a state. Return: 1, 0 (a problem was noted), or
 * -ENOMEM. */
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

/* Makes cells->key from a file name. Return: 1, 0 (a problem was noted), or -errno. */
static int decode_key(
	struct restore *restore, struct restore_cells *cells, const char *path, const char *name)
{
	wfs_buffer_reset(&cells->key);
	int r = wfs_name_decode(name, strlen(name), &cells->key);

	if (r == -ENOMEM)
		return wfs_error_from_errno(restore->error, r, "read '%s'", path);
	if (r || !wfs_utf8_valid(cells->key.data, cells->key.size))
		return restore_noted(restore, path, "is not the name of a key");
	if (!cells->reducer->keyed && cells->key.size > 0)
		return restore_noted(restore, path,
			"is not a file of a tree: the reducer has no keys, expected _");
	return 1;
}

/* Reads cells->state from a file. Return: 1, 0 (a problem was noted), or -errno. */
static int read_state(struct restore *restore, struct restore_cells *cells, int directory,
	const char *name, const char *path)
{
	WFS_AUTO_FD int fd = -1;

	wfs_buffer_reset(&cells->state);
	int r = restore_read(restore, directory, name, path, WFS_RESTORE_CELL_MAX, &cells->state);
	if (r > 0)
		r = restore_open(restore, directory, name, path, WFS_RESTORE_CELL_MAX, &fd);
	if (r <= 0)
		return r;
	const struct wfs_hash hash = wfs_hash_of(cells->state.data, cells->state.size);
	return restore_attribute(restore, fd, path, &hash);
}

/* Finds the cell in the store. Return: 1 if it has the state with this hash already, 0, or
 * -errno. */
static int find_cell(
	struct restore_cells *cells, const struct wfs_hash *hash, struct wfs_cell *ret_cell)
{
	struct wfs_head *const head = cells->batch.head;
	const struct wfs_bytes key = wfs_buffer_bytes(&cells->key);
	struct wfs_cell cell = {.cell_id = 0};
	struct wfs_version version;
	uint64_t cell_id;
	int r = wfs_cell_find(
		head->txn, head->reducers[cells->reducer->index].reducer_id, key, &cell_id);

	if (!r)
		r = wfs_cell_get(head->txn, cell_id, &cell);
	if (!r)
		r = wfs_version_get(head->txn, cell.head_vid, &version);
	if (r && (r != -ENOENT || cell.cell_id))
		return r;
	cell.key = key;
	*ret_cell = cell;
	return cell.live && wfs_hash_equal(&version.hash, hash);
}

/* Are cells of this reducer never changed? */
static bool is_final(enum wfs_builtin_reducer builtin)
{
	return builtin == WFS_BUILTIN_DELETED || builtin == WFS_BUILTIN_INVOCATION;
}

/* Compares the cell of the copy with what the journal says about it. Return: 1, 0 (a problem was
 * noted), -errno. */
static int check_proof(struct restore_cells *cells, const struct wfs_cell *folded, const char *path)
{
	struct restore *const restore = cells->batch.restore;
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	struct wfs_version version;
	struct wfs_bytes bytes;

	if (!restore_proof_knows(cells->builtin))
		return 1;
	if (folded->live) {
		int r = wfs_version_get(cells->batch.head->txn, folded->head_vid, &version);

		if (r)
			return restore_write_failed(restore, r);
		r = wfs_version_read(restore->store, &version, &text, restore->error);
		if (r)
			return wfs_trace(r);
		bytes = wfs_buffer_bytes(&text);
	}
	return wfs_trace(
		restore_proof_check(restore, cells->builtin, path, wfs_buffer_bytes(&cells->key),
			folded->live ? &bytes : NULL, wfs_buffer_bytes(&cells->state)));
}

/* Replaces a cell of the store. Return: 1, 0 (not needed, or a problem was noted), or -errno. */
static int replace_cell(struct restore_cells *cells, const char *path)
{
	const struct wfs_bytes bytes = wfs_buffer_bytes(&cells->state);
	const struct wfs_state state = {
		.live = true, .bytes = bytes, .hash = wfs_hash_of(bytes.data, bytes.size)};
	struct wfs_cell cell = {.cell_id = 0};
	const int same = find_cell(cells, &state.hash, &cell);

	if (same < 0)
		return restore_write_failed(cells->batch.restore, same);
	int r = check_proof(cells, &cell, path);
	if (r <= 0 || same)
		return r < 0 ? r : 0;
	/* A cell can have only one version at a height. */
	if (cell.head_height == cells->height || (cell.live && is_final(cells->builtin)))
		return restore_noted(cells->batch.restore, path, "is not what folding gives");
	r = wfs_head_set_cell(cells->batch.head, cells->reducer->index, &cell, &state,
		cells->height, cells->at_ns);
	return r ? restore_write_failed(cells->batch.restore, r) : 1;
}

/* Adds a cell that the store must not have yet. Return: as replace_cell(). */
static int add_cell(struct restore_cells *cells, const char *path)
{
	int r = wfs_baseline_cell(cells->batch.head, cells->reducer->index,
		wfs_buffer_bytes(&cells->key), wfs_buffer_bytes(&cells->state), cells->at_ns);

	if (r == -EEXIST)
		return restore_noted(
			cells->batch.restore, path, "was listed twice: the copy is changing");
	return r ? restore_write_failed(cells->batch.restore, r) : 1;
}

/* Writes the cell with cells->key and cells->state. */
static int put_cell(struct restore *restore, struct restore_cells *cells, const char *path)
{
	int r = cells->replace ? replace_cell(cells, path) : add_cell(cells, path);

	if (r <= 0)
		return r;
	restore_progress(restore, "cells", ++cells->count, 0);
	return restore_batch_step(&cells->batch, cells->state.size);
}

static int take_cell(struct restore *restore, void *context, int directory, const char *name)
{
	struct restore_cells *const cells = context;
	const struct restore_path path = restore_path("reducers/%s/%s", cells->reducer->name, name);
	int r = decode_key(restore, cells, path.text, name);

	if (r > 0)
		r = read_state(restore, cells, directory, name, path.text);
	if (r > 0)
		r = check_document(restore, path.text, &cells->state);
	return r <= 0 ? r : put_cell(restore, cells, path.text);
}

/* Do cells of this reducer, of turns and plans, follow from records alone? These have the results
 * of tools. */
static bool is_of_runs(enum wfs_builtin_reducer builtin)
{
	return builtin >= WFS_BUILTIN_WAIT && builtin < WFS_BUILTIN_REDUCER_COUNT;
}

static int take_reducer(struct restore *restore, void *context, int directory, const char *name)
{
	struct restore_cells *const cells = context;
	const struct restore_path path = restore_path("reducers/%s", name);
	WFS_AUTO_FD int fd = -1;

	cells->builtin = wfs_builtin_reducer_find(name);
	cells->reducer = wfs_manifest_reducer_find(restore->manifest, name);
	if (cells->replace &&
		(!cells->reducer || !cells->reducer->builtin || is_of_runs(cells->builtin)))
		return 0; /* it was folded */
	if (!cells->reducer)
		return restore_noted(restore, path.text,
			"is not a file of a tree: the manifest does not have this reducer");
	int r = restore_directory(restore, directory, name, path.text, &fd);
	return r <= 0 ? r
		      : restore_list_sorted(
				restore, fd, restore_path("%s/", path.text).text, take_cell, cells);
}

/* Goes to a reducer whose cells are files of artifacts. Return: false if the manifest lacks it: the
 * copy then has no such files. */
static bool enter_hidden(struct restore_cells *cells, enum wfs_builtin_reducer builtin)
{
	cells->builtin = builtin;
	cells->reducer = wfs_manifest_reducer_find(
		cells->batch.restore->manifest, wfs_builtin_reducer_name(builtin));
	return cells->reducer != NULL;
}

/* Takes the content or code of an artifact, which may be any bytes. */
static int take_text(
	struct restore *restore, struct restore_cells *cells, int directory, const char *name)
{
	const struct restore_path path = restore_path("artifacts/%s/%s", cells->artifact, name);
	int r = decode_key(restore, cells, path.text, cells->artifact);

	if (r > 0)
		r = read_state(restore, cells, directory, name, path.text);
	return r <= 0 ? r : put_cell(restore, cells, path.text);
}

/* Takes an entry of a memory store. Its key has the artifact's id and its own. */
static int take_entry(struct restore *restore, void *context, int directory, const char *name)
{
	const char *const entries = wfs_entity_file_name(WFS_ENTITY_FILE_ENTRIES);
	struct restore_cells *const cells = context;
	const struct restore_path path =
		restore_path("artifacts/%s/%s/%s", cells->artifact, entries, name);
	uint32_t number;

	if (!wfs_memory_entry_number(name, &number))
		return restore_noted(restore, path.text, "is not a file of a tree");
	int r = decode_key(restore, cells, path.text, cells->artifact);
	if (r > 0)
		r = read_state(restore, cells, directory, name, path.text);
	if (r > 0)
		r = check_document(restore, path.text, &cells->state);
	if (r <= 0)
		return r;
	wfs_buffer_append_byte(&cells->key, '/');
	wfs_buffer_append(&cells->key, name, strlen(name) - strlen(".json"));
	if (wfs_buffer_check(&cells->key))
		return wfs_error_from_errno(restore->error, -ENOMEM, "read '%s'", path.text);
	return put_cell(restore, cells, path.text);
}

static int take_entries(
	struct restore *restore, struct restore_cells *cells, int directory, const char *name)
{
	const struct restore_path path = restore_path("artifacts/%s/%s", cells->artifact, name);
	WFS_AUTO_FD int fd = -1;
	int r = restore_directory(restore, directory, name, path.text, &fd);

	return r <= 0
		? r
		: restore_list(restore, fd, restore_path("%s/", path.text).text, take_entry, cells);
}

/* Takes files of an artifact that are cells; its other files are made from cells. */
static int take_hidden(struct restore *restore, void *context, int directory, const char *name)
{
	struct restore_cells *const cells = context;

	switch (wfs_entity_file_find(WFS_ENTITY_ARTIFACT, name)) {
	case WFS_ENTITY_FILE_CONTENT:
		return enter_hidden(cells, WFS_BUILTIN_CONTENT)
			? take_text(restore, cells, directory, name)
			: 0;
	case WFS_ENTITY_FILE_CODE:
		return enter_hidden(cells, WFS_BUILTIN_CODE)
			? take_text(restore, cells, directory, name)
			: 0;
	case WFS_ENTITY_FILE_ENTRIES:
		return enter_hidden(cells, WFS_BUILTIN_MEMORY)
			? take_entries(restore, cells, directory, name)
			: 0;
	default:
		return 0;
	}
}

static int take_artifact(struct restore *restore, void *context, int directory, const char *name)
{
	struct restore_cells *const cells = context;
	const struct restore_path path = restore_path("artifacts/%s", name);
	WFS_AUTO_FD int fd = -1;
	int r = restore_directory(restore, directory, name, path.text, &fd);

	cells->artifact = name;
	return r <= 0 ? r
		      : restore_list(restore, fd, restore_path("%s/", path.text).text, take_hidden,
				cells);
}

/* The world lists cells in the order in which they were made. The copy does not have this order,
 * but for invocations, whose names show it. Content and code are never listed, and entries by their
 * ids. */
int restore_take_cells(struct restore_cells *cells)
{
	struct restore *const restore = cells->batch.restore;
	WFS_AUTO_FD int reducers = -1;
	WFS_AUTO_FD int artifacts = -1;
	int r = restore_directory(restore, restore->tree_fd, "reducers", "reducers", &reducers);

	if (r > 0)
		r = restore_list_sorted(restore, reducers, "reducers/", take_reducer, cells);
	if (!r)
		r = restore_directory(
			restore, restore->tree_fd, "artifacts", "artifacts", &artifacts);
	return r <= 0 ? r : restore_list(restore, artifacts, "artifacts/", take_artifact, cells);
}

void restore_cells_done(struct restore_cells *cells)
{
	restore_batch_done(&cells->batch);
	wfs_buffer_done(&cells->key);
	wfs_buffer_done(&cells->state);
}

/* --- cells that actions changed, after a text that is lost --- */

/* Can an action have deleted the cell? Checks of artifacts and stores find missing texts and
 * entries. */
static bool may_be_gone(
	const struct restore_cells *cells, enum wfs_builtin_reducer builtin, const char *name)
{
	switch (builtin) {
	case WFS_BUILTIN_MEMORY_STORE:
	case WFS_BUILTIN_ARTIFACT: {
		const struct restore_path deleted = restore_place(WFS_BUILTIN_DELETED, name);

		return restore_has(cells->batch.restore, deleted.text);
	}
	case WFS_BUILTIN_CONTENT:
	case WFS_BUILTIN_CODE:
	case WFS_BUILTIN_MEMORY:
	case WFS_BUILTIN_MEMORY_HIT:
		return true;
	case WFS_BUILTIN_ESCROW: /* by a service */
		return cells->batch.restore->proof.invoked;
	default:
		return false;
	}
}

/* Deletes a cell of the store that the copy lacks. @cell: live; its key is cells->key */
static int delete_missing(
	struct restore_cells *cells, enum wfs_builtin_reducer builtin, struct wfs_cell *cell)
{
	static const struct wfs_state deleted = {.live = false};
	WFS_AUTO_BUFFER struct wfs_buffer name = {0};

	wfs_name_append(&name, cell->key.data, cell->key.size);
	if (wfs_buffer_check(&name))
		return -ENOMEM;
	const struct restore_path path = restore_place(builtin, wfs_buffer_text(&name));
	if (restore_has(cells->batch.restore, path.text))
		return 0;
	if (cell->head_height == cells->height ||
		!may_be_gone(cells, builtin, wfs_buffer_text(&name)))
		return restore_noted(cells->batch.restore, path.text, "is missing");
	return wfs_head_set_cell(cells->batch.head, cells->reducer->index, cell, &deleted,
		cells->height, cells->at_ns);
}

static int look_at_cell(
	struct restore_cells *cells, enum wfs_builtin_reducer builtin, uint64_t cell_id)
{
	struct wfs_cell cell;
	int r = wfs_cell_get(cells->batch.head->txn, cell_id, &cell);

	if (r || !cell.live)
		return r;
	/* The cell's key is borrowed from the map, which is about to be written to. */
	wfs_buffer_reset(&cells->key);
	wfs_buffer_append(&cells->key, cell.key.data, cell.key.size);
	cell.key = wfs_buffer_bytes(&cells->key);
	r = wfs_buffer_check(&cells->key);
	return r ? r : delete_missing(cells, builtin, &cell);
}

static int delete_cells(struct restore_cells *cells, enum wfs_builtin_reducer builtin)
{
	struct restore *const restore = cells->batch.restore;
	const struct wfs_head *const head = cells->batch.head;

	cells->reducer =
		wfs_manifest_reducer_find(restore->manifest, wfs_builtin_reducer_name(builtin));
	if (!cells->reducer)
		return 0;
	const struct wfs_reducer row = head->reducers[cells->reducer->index];
	for (uint64_t i = 1; i <= row.cell_count; i++) {
		int r = look_at_cell(cells, builtin, wfs_cell_id(row.reducer_id, i));

		if (r)
			return restore_write_failed(restore, r);
		r = restore_batch_step(&cells->batch, 0);
		if (!r)
			r = restore_stopped(restore);
		if (r)
			return r;
	}
	return 0;
}

int restore_take_builtin(struct restore *restore, struct wfs_head *head)
{
	WFS_CLEANUP(restore_cells_done)
	struct restore_cells cells = {
		.batch = {.restore = restore, .head = head},
		.height = head->height,
		.at_ns = head->at_ns,
		.replace = true,
	};
	int r = restore_batch_begin(&cells.batch);

	for (int i = 0; !r && i < wfs_builtin_reducer_count(); i++)
		if (!is_of_runs((enum wfs_builtin_reducer)i))
			r = delete_cells(&cells, (enum wfs_builtin_reducer)i);
	if (!r)
		r = restore_take_cells(&cells);
	if (!r)
		r = restore_write_failed(
			restore, wfs_first_height_put(cells.batch.txn, head->height));
	restore->restored.first_height = head->height;
	return wfs_trace(r ? r : restore_batch_commit(&cells.batch));
}
