/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A world whose built-in cells a test writes itself, through the head, as the kernel does.
 *
 * Between `cells_begin` and `cells_commit` the world is closed; everything set in between is one
 * record.
 */
#pragma once

#include "tests/unit/world-fixture.h"

#include "kernel/fold/head.h"

struct cells {
	struct world_fixture *fixture;
	struct wfs_manifest *manifest;
	struct wfs_store *store;
	struct wfs_txn *txn;
	struct wfs_head head;
	int64_t at_ns;
};

static inline struct cells cells_begin(struct world_fixture *fixture)
{
	const struct wfs_store_options options = {0};
	struct cells cells = {.fixture = fixture};

	cells.manifest = wfs_world_manifest(fixture->world);
	world_fixture_close(fixture);
	assert_int_equal(wfs_store_open(fixture->directory, &options, &cells.store, NULL), 0);
	assert_int_equal(wfs_store_write(cells.store, &cells.txn), 0);
	assert_int_equal(wfs_head_load(&cells.head, cells.store, cells.txn, cells.manifest), 0);
	cells.at_ns = cells.head.at_ns + 1;
	return cells;
}

/* @bytes: NULL: it is deleted */
static inline void cells_put(
	struct cells *cells, const char *reducer, const char *key, const struct wfs_bytes *bytes)
{
	const struct wfs_reducer_definition *const definition =
		wfs_manifest_reducer_find(cells->manifest, reducer);
	struct wfs_state state = {.live = bytes != NULL};
	struct wfs_cell cell = {0};
	uint64_t cell_id;

	assert_non_null(definition);
	const struct wfs_bytes name = wfs_bytes_text(key);
	int r = wfs_cell_find(
		cells->txn, cells->head.reducers[definition->index].reducer_id, name, &cell_id);
	if (!r)
		r = wfs_cell_get(cells->txn, cell_id, &cell);
	assert_true(r == 0 || r == -ENOENT);
	/* The row's key is in the map, which the next put may move. */
	cell.key = name;
	if (bytes) {
		state.bytes = *bytes;
		state.hash = wfs_hash_of(bytes->data, bytes->size);
	}
	assert_int_equal(wfs_head_set_cell(&cells->head, definition->index, &cell, &state,
				 cells->head.height + 1, cells->at_ns),
		0);
}

/* @document: JSON with ' for " */
static inline void cells_set(
	struct cells *cells, const char *reducer, const char *key, const char *document)
{
	WFS_AUTO_JSON json_t *json = json_of(document);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_json_write_document(json, &text);
	const struct wfs_bytes bytes = wfs_buffer_bytes(&text);
	cells_put(cells, reducer, key, &bytes);
}

static inline void cells_delete(struct cells *cells, const char *reducer, const char *key)
{
	cells_put(cells, reducer, key, NULL);
}

/* What a record changed, read from the versions that were written for its height. */
static inline int cells_compare(const void *a, const void *b)
{
	return wfs_changes_compare(((const char *const *)a)[0],
		wfs_bytes_text(((const char *const *)a)[1]), ((const char *const *)b)[0],
		wfs_bytes_text(((const char *const *)b)[1]));
}

static inline struct wfs_hash cells_changes(struct cells *cells, uint64_t first_vid)
{
	const size_t count = (size_t)(cells->head.next_vid - first_vid);
	struct named {
		char *reducer;
		char *key;
		struct wfs_version version;
	} *items = calloc(count, sizeof(*items));
	WFS_AUTO_BUFFER struct wfs_buffer document = {0};

	for (size_t i = 0; i < count; i++) {
		struct wfs_bytes reducer;
		struct wfs_cell cell;

		assert_int_equal(wfs_version_get(cells->txn, first_vid + i, &items[i].version), 0);
		assert_int_equal(wfs_cell_get(cells->txn, items[i].version.cell_id, &cell), 0);
		assert_int_equal(
			wfs_reducer_name(cells->txn, wfs_cell_reducer(cell.cell_id), &reducer), 0);
		items[i].reducer = strndup(reducer.data, reducer.size);
		items[i].key = strndup(cell.key.data, cell.key.size);
	}
	qsort(items, count, sizeof(*items), cells_compare);
	for (size_t i = 0; i < count; i++) {
		wfs_changes_add(&document, items[i].reducer, wfs_bytes_text(items[i].key),
			items[i].version.tombstone ? NULL : &items[i].version.hash);
		free(items[i].reducer);
		free(items[i].key);
	}
	wfs_changes_end(&document);
	free(items);
	return wfs_hash_of(document.data, document.size);
}

/* Writes the record and opens the world again. Each cell may have been set once. */
static inline void cells_commit(struct cells *cells)
{
	struct world_fixture *const fixture = cells->fixture;
	struct wfs_record record = {
		.at_ns = cells->at_ns,
		.kind = WFS_RECORD_ACTION,
		.principal = "tester",
		.body = wfs_bytes_text("{}"),
	};
	uint64_t last_vid;
	struct wfs_version last;

	/* Versions of this record are those above the height that is. */
	assert_int_equal(wfs_version_last(cells->txn, &last_vid), 0);
	uint64_t first_vid = last_vid + 1;
	while (first_vid > 1 && wfs_version_get(cells->txn, first_vid - 1, &last) == 0 &&
		last.height == cells->head.height + 1)
		first_vid--;
	record.changed = first_vid <= last_vid;
	if (record.changed)
		record.changes = cells_changes(cells, first_vid);
	assert_int_equal(wfs_head_append(&cells->head, &record), 0);
	assert_int_equal(wfs_head_flush(&cells->head, cells->manifest), 0);
	assert_int_equal(wfs_txn_commit(cells->txn), 0);
	wfs_head_done(&cells->head);
	wfs_store_close(cells->store);
	wfs_manifest_unref(cells->manifest);
	assert_int_equal(world_fixture_open(fixture), 0);
}
