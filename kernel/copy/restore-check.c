/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparing the world in the stage with the copy: each cell must be a file with its bytes, each
 * file a cell, and each blob must be listed. The hash of the copy's cells, as they are read here,
 * must be the world's snapshot hash.
 */
#include "kernel/base/encode.h"
#include "kernel/base/hash-text.h"
#include "kernel/copy/restore-impl.h"
#include "kernel/domain/memory/memory-file.h"
#include "kernel/read/entity.h"
#include "kernel/read/snapshot.h"

struct compare {
	struct restore *restore;
	struct wfs_world *world;
	struct wfs_view view;
	struct wfs_snapshot_document document; /* of the copy */
	int reducers;                          /* descriptor of reducers/; -1: missing */
	int directory;             /* of the reducer, artifact or entries at hand; -1: missing */
	struct wfs_buffer reducer; /* name of the reducer at hand */
	struct wfs_reducer row;    /* of this reducer */
	struct wfs_buffer store;   /* id of the artifact whose entries the directory has */
	struct wfs_buffer name;
	struct wfs_buffer key;
};

/* --- each cell must be a file --- */

static int enter_reducer(struct compare *compare, struct wfs_bytes reducer)
{
	wfs_auto_fd(&compare->directory);
	compare->directory = -1;
	wfs_buffer_reset(&compare->store);
	wfs_buffer_reset(&compare->reducer);
	wfs_buffer_append(&compare->reducer, reducer.data, reducer.size);
	if (wfs_buffer_check(&compare->reducer))
		return wfs_error_from_errno(compare->restore->error, -ENOMEM, "compare");
	if (compare->reducers < 0)
		return 0;
	const char *const name = wfs_buffer_text(&compare->reducer);
	int r = restore_directory(compare->restore, compare->reducers, name,
		restore_path("reducers/%s", name).text, &compare->directory);
	return r < 0 ? r : 0;
}

static int add_piece(void *context, const void *data, size_t size)
{
	wfs_hasher_add(context, data, size);
	return 0;
}

/* Hashes the file of a cell. Return: 1, 0 if it differs (a problem was noted), or -errno. */
static int hash_file(struct compare *compare, const char *path, const struct wfs_version *version,
	struct wfs_hash *ret_hash)
{
	struct restore *const restore = compare->restore;
	WFS_AUTO_HASHER struct wfs_hasher *hasher = NULL;
	WFS_AUTO_FD int fd = -1;
	struct stat st;

	if (compare->directory < 0)
		return restore_noted(restore, path, "is missing");
	int r = restore_open(restore, compare->directory, wfs_buffer_text(&compare->name), path,
		WFS_RESTORE_CELL_MAX, &fd);
	if (r <= 0)
		return r;
	if (fstat(fd, &st) == 0 && (uint64_t)st.st_size != version->size_bytes)
		return restore_noted(restore, path, "expected %llu bytes, got %llu",
			(unsigned long long)version->size_bytes, (unsigned long long)st.st_size);
	r = wfs_hasher_new(&hasher);
	if (r)
		return wfs_error_from_errno(restore->error, r, "compare");
	r = restore_pieces(restore, fd, path, add_piece, hasher);
	if (r > 0)
		*ret_hash = wfs_hasher_end(hasher);
	return r;
}

/* Opens the directory of an artifact, which has its content and code. */
static int enter_artifact(struct compare *compare, struct wfs_bytes id)
{
	wfs_auto_fd(&compare->directory);
	compare->directory = -1;
	const int r = restore_text_directory(compare->restore, id, &compare->directory);
	return r < 0 ? r : 0;
}

/* Opens the directory of a store's entries. Cells of entries are sorted by store. */
static int enter_entries(struct compare *compare, struct wfs_bytes id)
{
	const char *const name = wfs_entity_file_name(WFS_ENTITY_FILE_ENTRIES);
	WFS_AUTO_FD int artifact = -1;

	if (wfs_bytes_equal(id, wfs_buffer_bytes(&compare->store)))
		return 0;
	int r = enter_artifact(compare, id);
	wfs_buffer_reset(&compare->store);
	wfs_buffer_append(&compare->store, id.data, id.size);
	if (r || wfs_buffer_check(&compare->store))
		return r ? r : wfs_buffer_check(&compare->store);
	artifact = WFS_STEAL_FD(compare->directory);
	if (artifact < 0)
		return 0;
	r = restore_directory(compare->restore, artifact, name,
		restore_path("artifacts/%.*s/%s", (int)id.size, (const char *)id.data, name).text,
		&compare->directory);
	return r < 0 ? r : 0;
}

/* Finds the file of an entry of a memory store; its name in the directory is left in
 * compare->name. */
static int find_entry_place(
	struct compare *compare, struct wfs_bytes key, struct restore_path *ret_path)
{
	char name[WFS_MEMORY_NAME_SIZE] = "";
	struct wfs_bytes id = key;
	uint32_t number;

	*ret_path = restore_place(WFS_BUILTIN_MEMORY, wfs_buffer_text(&compare->name));
	if (wfs_memory_entry_key(key, &id, &number))
		wfs_memory_entry_name(number, name);
	wfs_buffer_reset(&compare->name);
	wfs_buffer_append_text(&compare->name, name);
	const int r = wfs_buffer_check(&compare->name);
	return r ? r : enter_entries(compare, id);
}

/* Finds the file of a content or code; its name in the directory is left in compare->name. */
static int find_text_place(struct compare *compare, enum wfs_entity_file file, struct wfs_bytes key,
	struct restore_path *ret_path)
{
	*ret_path = restore_place(wfs_entity_file_reducer(file), wfs_buffer_text(&compare->name));
	const int r = enter_artifact(compare, key);
	wfs_buffer_reset(&compare->name);
	wfs_buffer_append_text(&compare->name, wfs_entity_file_name(file));
	return r ? r : wfs_buffer_check(&compare->name);
}

static bool is_of(struct wfs_bytes reducer, enum wfs_builtin_reducer builtin)
{
	return wfs_bytes_equal(reducer, wfs_bytes_text(wfs_builtin_reducer_name(builtin)));
}

/* Finds the file of a cell in the copy; its name in the directory is left in compare->name. */
static int find_place(struct compare *compare, struct wfs_bytes reducer, struct wfs_bytes key,
	struct restore_path *ret_path)
{
	if (is_of(reducer, WFS_BUILTIN_MEMORY))
		return find_entry_place(compare, key, ret_path);
	if (is_of(reducer, WFS_BUILTIN_CONTENT))
		return find_text_place(compare, WFS_ENTITY_FILE_CONTENT, key, ret_path);
	if (is_of(reducer, WFS_BUILTIN_CODE))
		return find_text_place(compare, WFS_ENTITY_FILE_CODE, key, ret_path);
	*ret_path = restore_path("reducers/%s/%s", wfs_buffer_text(&compare->reducer),
		wfs_buffer_text(&compare->name));
	return 0;
}

static int compare_cell(void *context, struct wfs_bytes reducer, struct wfs_bytes key,
	const struct wfs_version *version, struct wfs_error *error)
{
	struct compare *const compare = context;
	struct wfs_hash hash;
	int r = restore_stopped(compare->restore);

	if (!r && !wfs_bytes_equal(reducer, wfs_buffer_bytes(&compare->reducer)))
		r = enter_reducer(compare, reducer);
	if (r)
		return r;
	wfs_buffer_reset(&compare->name);
	wfs_name_append(&compare->name, key.data, key.size);
	if (wfs_buffer_check(&compare->name))
		return wfs_error_from_errno(error, -ENOMEM, "compare");
	struct restore_path path;
	r = find_place(compare, reducer, key, &path);
	if (r)
		return r;
	r = hash_file(compare, path.text, version, &hash);
	if (r <= 0)
		return r;
	if (!wfs_hash_equal(&hash, &version->hash)) {
		restore_same_size(compare->restore);
		restore_hash_noted(compare->restore, path.text, "the cell that folding gives",
			&version->hash, &hash);
	}
	r = wfs_snapshot_document_add(&compare->document, reducer, key, &hash);
	return r ? wfs_error_from_errno(error, r, "compare") : 0;
}

static void show_cells(void *context, uint64_t done, uint64_t total)
{
	const struct compare *compare = context;

	restore_progress(compare->restore, "files", done, total);
}

/* --- each file must be a cell --- */

static int find_cell(struct restore *restore, void *context, int directory, const char *name)
{
	struct compare *const compare = context;
	struct wfs_version version;

	(void)directory;
	wfs_buffer_reset(&compare->key);
	int r = wfs_name_decode(name, strlen(name), &compare->key);
	if (!r)
		r = wfs_view_cell(&compare->view, compare->row.reducer_id,
			wfs_buffer_bytes(&compare->key), &version);
	if (wfs_builtin_reducer_hidden(compare->reducer.data, compare->reducer.size))
		r = -ENOENT; /* cells of this reducer are files of artifacts */
	if (r == -ENOENT)
		return restore_noted(restore,
			restore_path("reducers/%s/%s", wfs_buffer_text(&compare->reducer), name)
				.text,
			"is not a cell of the world");
	return r ? wfs_error_from_errno(restore->error, r, "look a cell up") : 0;
}

static int find_reducer(struct restore *restore, void *context, int directory, const char *name)
{
	const struct restore_path path = restore_path("reducers/%s", name);
	struct compare *const compare = context;
	int r = wfs_view_reducer(&compare->view, name, strlen(name), &compare->row);

	(void)directory;
	if (r == -ENOENT)
		return restore_noted(restore, path.text,
			"is not a file of a tree: the manifest does not have this reducer");
	if (r)
		return wfs_error_from_errno(restore->error, r, "look a reducer up");
	r = enter_reducer(compare, wfs_bytes_text(name));
	if (r || compare->directory < 0)
		return r ? r : restore_noted(restore, path.text, "expected a directory");
	return restore_list(restore, compare->directory, restore_path("%s/", path.text).text,
		find_cell, compare);
}

/* --- blobs --- */

/* Notes blobs of the copy that no record lists. */
static int find_blobs(struct compare *compare)
{
	const struct wfs_hash *after = NULL;
	struct wfs_hash last;
	struct wfs_blob blob;
	int r;

	while ((r = wfs_blob_next(compare->view.txn, after, &blob)) == 0) {
		last = blob.hash;
		after = &last;
		const struct restore_path path = restore_path("blob/%s", WFS_HASH_HEX(&last));

		/* those from `raw` of turns have no file there */
		if (!blob.listed_id && restore_has(compare->restore, path.text))
			restore_noted(compare->restore, path.text,
				"is not a file of the tree: neither the journal nor the manifest "
				"names it");
	}
	return r == -ENOENT ? 0 : wfs_error_from_errno(compare->restore->error, r, "read a blob");
}

/* --- private texts --- */

static int find_text(struct restore *restore, void *context, int directory, const char *name)
{
	const struct restore_path path = restore_path(RESTORE_TEXTS "/%s", name);
	struct compare *const compare = context;
	struct wfs_hash hash;
	struct wfs_text text;
	int r = strlen(name) == WFS_HASH_HEX_SIZE &&
			wfs_hash_parse(name, WFS_HASH_HEX_SIZE, &hash, NULL) == 0
		? wfs_text_find(compare->view.txn, &hash, &text)
		: -ENOENT;

	(void)directory;
	if (r == -ENOENT)
		return restore_noted(restore, path.text,
			"is not a file of the tree: no record of the journal names it");
	return r ? wfs_error_from_errno(restore->error, r, "look a private text up") : 0;
}

/* Checks that a record names each file in journal/texts; folding has compared its bytes with its
 * name. Without a journal the world has no private texts. */
static int find_texts(struct compare *compare)
{
	struct restore *const restore = compare->restore;
	WFS_AUTO_FD int directory = -1;

	if (!restore->restored.history)
		return 0;
	int r = restore_texts(restore, &directory);
	return r > 0 ? restore_list(restore, directory, RESTORE_TEXTS "/", find_text, compare)
		     : wfs_trace(r);
}

/* --- the whole copy --- */

static int compare_hashes(struct compare *compare)
{
	struct restore *const restore = compare->restore;
	const struct restore_journal *const journal = &restore->journal;
	const struct wfs_hash came = wfs_snapshot_document_end(&compare->document);
	struct wfs_hash *const hash = &restore->restored.snapshot_hash;
	int r = wfs_snapshot_hash(wfs_world_store(compare->world), compare->view.height, NULL, NULL,
		hash, restore->error);

	if (r)
		return wfs_trace(r);
	if (restore->problems->count == 0 && !wfs_hash_equal(hash, &came))
		restore_hash_noted(restore, "reducers", "the snapshot of the world", hash, &came);
	/* The journal may have the hash of the cells, although it was not folded as a whole. */
	if (!restore_is_proven(restore) && journal->snapshot_height > 0 &&
		journal->last_change_height <= journal->snapshot_height &&
		!wfs_hash_equal(hash, &journal->meta.snapshot_hash))
		restore_hash_noted(restore, "reducers", "the newest snapshot in the journal",
			&journal->meta.snapshot_hash, hash);
	return 0;
}

static int compare_all(struct compare *compare)
{
	struct restore *const restore = compare->restore;
	const struct wfs_snapshot_walker walker = {compare_cell, show_cells, compare};
	int r = wfs_snapshot_walk(&compare->view, &walker, restore->error);

	if (!r && restore->restored.history && compare->reducers >= 0)
		r = restore_list(restore, compare->reducers, "reducers/", find_reducer, compare);
	if (!r)
		r = restore_compare_entities(restore, &compare->view);
	if (!r)
		r = restore_compare_texts(restore, &compare->view);
	if (!r && !restore_is_proven(restore))
		r = restore_compare_stores(restore, &compare->view);
	if (!r)
		r = find_blobs(compare);
	if (!r)
		r = find_texts(compare);
	if (!r)
		r = compare_hashes(compare);
	restore->restored.height = compare->view.height;
	return wfs_trace(r);
}

static void compare_done(struct compare *compare)
{
	wfs_view_close(&compare->view);
	wfs_world_close(compare->world);
	wfs_snapshot_document_done(&compare->document);
	wfs_auto_fd(&compare->reducers);
	wfs_auto_fd(&compare->directory);
	wfs_buffer_done(&compare->reducer);
	wfs_buffer_done(&compare->store);
	wfs_buffer_done(&compare->name);
	wfs_buffer_done(&compare->key);
}

int restore_compare(struct restore *restore)
{
	WFS_CLEANUP(compare_done)
	struct compare compare = {.restore = restore, .reducers = -1, .directory = -1};
	const struct wfs_world_options options = {.read_only = true,
		.written_here = true,
		.map_size_bytes = restore->options->map_size_bytes};
	int r = wfs_world_open(restore->stage.path, &options, &compare.world, restore->error);

	if (!r)
		r = wfs_view_open(compare.world, WFS_HEIGHT_HEAD, &compare.view, restore->error);
	if (r)
		return wfs_trace(r);
	r = wfs_snapshot_document_init(&compare.document, wfs_manifest_hash(restore->manifest));
	if (r)
		return wfs_error_from_errno(restore->error, r, "compare");
	r = restore_directory(restore, restore->tree_fd, "reducers", "reducers", &compare.reducers);
	return r < 0 ? wfs_trace(r) : wfs_trace(compare_all(&compare));
}
