/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Artifacts, principals, turns and plans: their files in the copy must equal what the world in the
 * stage shows. A copy of an early version has no such directories, or empty ones.
 */
#include "kernel/base/encode.h"
#include "kernel/base/json.h"
#include "kernel/copy/restore-impl.h"
#include "kernel/domain/memory/memory-file.h"
#include "kernel/domain/plan/plan-file.h"
#include "kernel/domain/principal/principal-file.h"
#include "kernel/domain/turn/turn-file.h"
#include "kernel/read/entity.h"

/* One of these directories, and the artifact, principal, turn or plan at hand. */
struct entities {
	struct restore *restore;
	struct wfs_view *view;
	enum wfs_entity entity;
	uint32_t reducer_id;
	int directory;          /* descriptor */
	struct wfs_buffer id;   /* of the one at hand */
	struct wfs_buffer name; /* of its directory */
	struct wfs_buffer wanted;
	struct wfs_buffer found;
};

static struct restore_path path_of(struct entities *entities, const char *file)
{
	return restore_path("%s/%s/%s", wfs_entity_directory(entities->entity),
		wfs_buffer_text(&entities->name), file);
}

/* Is the file compared as a whole? Content and code are compared as cells, and long files in
 * pieces. */
static bool is_written(enum wfs_entity_file file)
{
	switch (wfs_entity_file_form(file)) {
	case WFS_ENTITY_STATE:
	case WFS_ENTITY_MEMBER:
	case WFS_ENTITY_MADE:
	case WFS_ENTITY_GRANTS:
		return true;
	default:
		return false;
	}
}

/* Makes what a file must hold. Return: 0, -ENOENT (the file must not exist), … */
static int make(struct entities *entities, enum wfs_entity_file file)
{
	const struct wfs_bytes id = wfs_buffer_bytes(&entities->id);
	struct wfs_version version;
	uint64_t size_bytes;
	int64_t time_ns;

	wfs_buffer_reset(&entities->wanted);
	if (file == WFS_ENTITY_FILE_GRANTS)
		return wfs_principal_write_grants(entities->view, id, &entities->wanted, &time_ns);
	int r = wfs_entity_source(entities->view, file, id, &version);
	if (r || !is_written(file))
		return r;
	return wfs_entity_write(
		entities->view, file, &version, WFS_RANGE_ALL, &entities->wanted, &size_bytes);
}

/* Compares a file of the copy with what was made. */
static int compare_made(
	struct entities *entities, int directory, const char *name, const char *path)
{
	struct restore *const restore = entities->restore;

	wfs_buffer_reset(&entities->found);
	int r = restore_read(
		restore, directory, name, path, WFS_RESTORE_CELL_MAX, &entities->found);
	if (r <= 0)
		return r;
	const struct wfs_bytes wanted = wfs_buffer_bytes(&entities->wanted);
	const struct wfs_bytes found = wfs_buffer_bytes(&entities->found);
	if (wfs_bytes_equal(wanted, found) || restore->journal.last_older)
		return 0; /* the copy's program may have shown the cell in another way */
	const struct wfs_hash expected = wfs_hash_of(wanted.data, wanted.size);
	const struct wfs_hash came = wfs_hash_of(found.data, found.size);
	if (wanted.size == found.size)
		restore_same_size(restore);
	return restore_hash_noted(restore, path, "what its cell says", &expected, &came);
}

/* --- files that may be long --- */

/* A long file, which is compared piece by piece. */
struct pieces {
	struct entities *entities;
	enum wfs_entity_file file;
	uint64_t last;              /* events.jsonl: the newest record */
	struct wfs_version version; /* other files: the version that they are made from */
	uint64_t offset;
	uint64_t size_bytes;
	bool differ;
};

/* Makes a part of the file. @range: of size 0: only its size is wanted */
static int make_piece(struct pieces *pieces, struct wfs_range range)
{
	struct entities *const entities = pieces->entities;

	wfs_buffer_reset(&entities->wanted);
	return wfs_trace(pieces->file == WFS_ENTITY_FILE_EVENTS
			? wfs_turn_events(entities->view, wfs_buffer_bytes(&entities->id),
				  pieces->last, range, &entities->wanted, &pieces->size_bytes)
			: wfs_entity_write(entities->view, pieces->file, &pieces->version, range,
				  &entities->wanted, &pieces->size_bytes));
}

static int compare_piece(void *context, const void *data, size_t size)
{
	struct pieces *const pieces = context;
	int r = make_piece(pieces, (struct wfs_range){pieces->offset, size});

	pieces->differ |= !wfs_bytes_equal(
		wfs_buffer_bytes(&pieces->entities->wanted), WFS_BYTES(data, size));
	pieces->offset += size;
	return r;
}

/* Compares a file of the copy piece by piece. @says: for messages: what the file follows from */
static int compare_pieces(
	struct pieces *pieces, int directory, const char *name, const char *path, const char *says)
{
	struct restore *const restore = pieces->entities->restore;
	WFS_AUTO_FD int fd = -1;
	int r = make_piece(pieces, (struct wfs_range){0});

	if (!r)
		r = restore_open(restore, directory, name, path, WFS_BLOB_MAX, &fd);
	if (r > 0)
		r = restore_pieces(restore, fd, path, compare_piece, pieces);
	if (r <= 0)
		return r;
	if (pieces->differ && pieces->offset == pieces->size_bytes)
		restore_same_size(restore);
	return pieces->differ || pieces->offset != pieces->size_bytes
		? restore_noted(restore, path, "is not what %s", says)
		: 0;
}

/* Compares events.jsonl, which has records. Without a journal, the world has none of them. */
static int compare_events(struct entities *entities, int directory)
{
	static const char name[] = "events.jsonl";
	struct pieces pieces = {.entities = entities, .file = WFS_ENTITY_FILE_EVENTS};

	if (!entities->restore->restored.history)
		return 0;
	int r = wfs_turn_last_event(entities->view, wfs_buffer_bytes(&entities->id), &pieces.last);
	if (r)
		return r == -ENOENT ? 0 : r;
	return compare_pieces(&pieces, directory, name, path_of(entities, name).text,
		"the records of the run say");
}

/* Compares a document that is made in parts. That of a plan has two names. */
static int compare_document(struct entities *entities, int directory, enum wfs_entity_file file)
{
	const char *const name = wfs_entity_file_name(file);
	const char *const suffix = wfs_entity_file_name(WFS_ENTITY_FILE_PLAN_BESIDE);
	const struct restore_path beside =
		restore_path("%s%s", wfs_buffer_text(&entities->name), suffix);
	const struct restore_path beside_path =
		restore_path("%s/%s", wfs_entity_directory(entities->entity), beside.text);
	static const char says[] = "its cell and those of its steps say";
	struct pieces pieces = {.entities = entities, .file = file};
	int r = wfs_entity_source(
		entities->view, file, wfs_buffer_bytes(&entities->id), &pieces.version);

	if (r)
		return wfs_trace(r);
	struct pieces again = pieces;
	r = compare_pieces(&pieces, directory, name, path_of(entities, name).text, says);
	return r || file != WFS_ENTITY_FILE_PLAN
		? r
		: compare_pieces(&again, entities->directory, beside.text, beside_path.text, says);
}

/* --- directories of an entity --- */

/* Such a directory, as `steps` of a plan. */
struct items {
	struct entities *entities;
	enum wfs_entity_file file;
};

static struct restore_path item_path(const struct items *items, const char *name)
{
	return restore_path(
		"%s/%s", path_of(items->entities, wfs_entity_file_name(items->file)).text, name);
}

static int find_item(struct restore *restore, void *context, int directory, const char *name)
{
	const struct items *const items = context;
	struct wfs_version version;
	uint64_t number;
	int r = wfs_entity_file_contents(items->file)
			->find(items->entities->view, wfs_buffer_bytes(&items->entities->id), name,
				&number, &version);

	(void)directory;
	return r == -ENOENT
		? restore_noted(restore, item_path(items, name).text, "is not a file of a tree")
		: r;
}

/* Compares the files that are made. Those that are cells are compared as such. */
static int compare_made_items(const struct items *items, int directory)
{
	const struct wfs_entity_contents *const contents = wfs_entity_file_contents(items->file);
	struct entities *const entities = items->entities;
	WFS_AUTO_BUFFER struct wfs_buffer name = {0};
	int r = 0;

	for (uint64_t i = 0; r >= 0; i++) {
		struct wfs_version version;
		uint64_t size_bytes;

		wfs_buffer_reset(&name);
		wfs_buffer_reset(&entities->wanted);
		r = restore_stopped(entities->restore);
		if (!r)
			r = contents->next(entities->view, wfs_buffer_bytes(&entities->id), &i,
				&name, &version);
		if (!r)
			r = wfs_entity_write(entities->view, items->file, &version, WFS_RANGE_ALL,
				&entities->wanted, &size_bytes);
		if (!r)
			r = compare_made(entities, directory, wfs_buffer_text(&name),
				item_path(items, wfs_buffer_text(&name)).text);
	}
	return r == -ENOENT ? 0 : r;
}

/* Has a directory of files that are made no file? Return: 1, 0, or -errno. */
static int is_empty(struct entities *entities, enum wfs_entity_file file)
{
	WFS_AUTO_BUFFER struct wfs_buffer name = {0};
	struct wfs_version version;
	uint64_t number = 0;
	int r = wfs_entity_file_contents(file)->next(
		entities->view, wfs_buffer_bytes(&entities->id), &number, &name, &version);

	return r == -ENOENT ? 1 : r;
}

/* Compares such a directory. It may be missing if it is empty, because many archives leave out
 * empty directories. */
static int compare_items(struct entities *entities, int of, enum wfs_entity_file file)
{
	const bool is_made = wfs_entity_file_form(file) == WFS_ENTITY_ITEMS;
	const char *const name = wfs_entity_file_name(file);
	const struct restore_path path = path_of(entities, name);
	struct items items = {.entities = entities, .file = file};
	WFS_AUTO_FD int directory = -1;
	int r = make(entities, file);

	if (!r)
		r = restore_directory(entities->restore, of, name, path.text, &directory);
	if (r >= 0 && file == WFS_ENTITY_FILE_RAW) /* compared by restore_raw() */
		return 0;
	if (r == 0 && is_made) {
		r = is_empty(entities, file);
		return r ? r > 0 ? 0 : r
			 : restore_noted(
				   entities->restore, path.text, "is missing, or not a directory");
	}
	if (r <= 0)
		return r == -ENOENT ? 0 : r;
	r = is_made ? compare_made_items(&items, directory) : 0;
	return r ? r
		 : restore_list(entities->restore, directory, restore_path("%s/", path.text).text,
			   find_item, &items);
}

/* --- entities --- */

/* Compares a file, or a directory of files, of the entity. @directory: that of the entity */
static int compare_file(struct entities *entities, int directory, enum wfs_entity_file file)
{
	const char *const name = wfs_entity_file_name(file);
	int r = restore_stopped(entities->restore);

	if (r)
		return r;
	switch (wfs_entity_file_form(file)) {
	case WFS_ENTITY_BYTES: /* compared as a cell */
	case WFS_ENTITY_BESIDE:
		return 0;
	case WFS_ENTITY_EVENTS:
		return compare_events(entities, directory);
	case WFS_ENTITY_PARTS:
		return compare_document(entities, directory, file);
	case WFS_ENTITY_ITEMS:
	case WFS_ENTITY_TEXTS:
		return compare_items(entities, directory, file);
	default:
		break;
	}
	r = make(entities, file);
	if (r)
		return r == -ENOENT ? 0 : r;
	return compare_made(entities, directory, name, path_of(entities, name).text);
}

static int find_file(struct restore *restore, void *context, int directory, const char *name)
{
	struct entities *const entities = context;
	const enum wfs_entity_file file = wfs_entity_file_find(entities->entity, name);
	int r = file == WFS_ENTITY_FILES_MAX ? -ENOENT : make(entities, file);

	(void)directory;
	return r == -ENOENT
		? restore_noted(restore, path_of(entities, name).text, "is not a file of a tree")
		: r;
}

/* Compares the artifact, principal, turn or plan whose id and name are set. */
static int compare_entity(struct entities *entities)
{
	struct restore *const restore = entities->restore;
	const char *const name = wfs_buffer_text(&entities->name);
	const struct restore_path path =
		restore_path("%s/%s", wfs_entity_directory(entities->entity), name);
	WFS_AUTO_FD int directory = -1;
	int r = restore_directory(restore, entities->directory, name, path.text, &directory);

	if (r == 0)
		return restore_noted(restore, path.text, "is missing, or not a directory");
	if (r < 0)
		return r;
	r = 0;
	for (int i = 0; !r && i < wfs_entity_file_count(); i++)
		if (wfs_entity_file_entity((enum wfs_entity_file)i) == entities->entity)
			r = compare_file(entities, directory, (enum wfs_entity_file)i);
	return r ? r
		 : restore_list(restore, directory, restore_path("%s/", path.text).text, find_file,
			   entities);
}

static int compare_each(struct entities *entities)
{
	WFS_AUTO_ENTRY_WALK struct wfs_entry_walk walk = {0};
	struct wfs_entry entry;
	int r = wfs_entry_walk_init(&walk, entities->view, entities->reducer_id, 0);

	while (!r && (r = wfs_entry_walk_next(&walk, &entry)) > 0) {
		wfs_buffer_reset(&entities->id);
		wfs_buffer_append(&entities->id, entry.key.data, entry.key.size);
		wfs_buffer_reset(&entities->name);
		wfs_name_append(&entities->name, entry.key.data, entry.key.size);
		r = wfs_buffer_check(&entities->id);
		if (!r)
			r = wfs_buffer_check(&entities->name);
		if (!r)
			r = compare_entity(entities);
	}
	return r;
}

/* Finds the artifact, principal, turn or plan of a name. */
static int find_name(struct entities *entities, const char *name, size_t size)
{
	struct wfs_version version;

	wfs_buffer_reset(&entities->id);
	int r = wfs_name_decode(name, size, &entities->id);
	return r ? r
		 : wfs_view_cell(entities->view, entities->reducer_id,
			   wfs_buffer_bytes(&entities->id), &version);
}

/* Checks a name in the directory: it must be of an artifact, principal, turn or plan, or of a file
 * that is beside these. */
static int find_entity(struct restore *restore, void *context, int directory, const char *name)
{
	const char *const suffix = wfs_entity_file_name(WFS_ENTITY_FILE_PLAN_BESIDE);
	struct entities *const entities = context;
	const size_t size = strlen(name);
	int r = find_name(entities, name, size);

	(void)directory;
	if (r == -ENOENT && entities->entity == WFS_ENTITY_PLAN && size > strlen(suffix) &&
		strcmp(name + size - strlen(suffix), suffix) == 0)
		r = find_name(entities, name, size - strlen(suffix));
	return r == -ENOENT
		? restore_noted(restore,
			  restore_path("%s/%s", wfs_entity_directory(entities->entity), name).text,
			  "is not in the world")
		: r;
}

static int count_name(struct restore *restore, void *context, int directory, const char *name)
{
	(void)restore, (void)directory, (void)name;
	++*(size_t *)context;
	return 0;
}

static void entities_done(struct entities *entities)
{
	wfs_auto_fd(&entities->directory);
	wfs_buffer_done(&entities->id);
	wfs_buffer_done(&entities->name);
	wfs_buffer_done(&entities->wanted);
	wfs_buffer_done(&entities->found);
}

static int compare_all(struct restore *restore, struct wfs_view *view, enum wfs_entity entity)
{
	WFS_CLEANUP(entities_done)
	struct entities entities = {
		.restore = restore, .view = view, .entity = entity, .directory = -1};
	const char *const name = wfs_entity_directory(entity);
	const struct restore_path path = restore_path("%s/", name);
	struct wfs_reducer reducer;
	size_t count = 0;
	int r = restore_directory(restore, restore->tree_fd, name, name, &entities.directory);

	if (r > 0)
		r = restore_list(restore, entities.directory, path.text, count_name, &count);
	if (!r)
		r = wfs_view_builtin(view, wfs_entity_reducer(entity), &reducer);
	if (r)
		return r;
	/* If no record proves the cells, their other files must, and so cannot be missing. */
	if (count == 0 && restore->restored.lost.seq && reducer.live_count > 0)
		return restore_noted(restore, name, "is missing or empty");
	if (count == 0)
		return 0;
	entities.reducer_id = reducer.reducer_id;
	r = compare_each(&entities);
	return r ? r : restore_list(restore, entities.directory, path.text, find_entity, &entities);
}

int restore_compare_entities(struct restore *restore, struct wfs_view *view)
{
	int r = 0;

	for (int i = 0; !r && i < wfs_entity_count(); i++)
		r = compare_all(restore, view, (enum wfs_entity)i);
	return r && restore->error->code == WFS_OK
		? wfs_error_from_errno(
			  restore->error, r, "compare artifacts, principals, turns and plans")
		: wfs_trace(r);
}

/* --- content and code --- */

int restore_text_directory(struct restore *restore, struct wfs_bytes id, int *ret_fd)
{
	WFS_AUTO_BUFFER struct wfs_buffer name = {0};
	WFS_AUTO_FD int artifacts = -1;

	/* An id from a journal may be anything; as a file name it cannot lead out of the
	 * directory. */
	wfs_name_append(&name, id.data, id.size);
	if (wfs_buffer_check(&name))
		return wfs_error_from_errno(restore->error, -ENOMEM, "look for an artifact");
	const char *const id_name = wfs_buffer_text(&name);
	int r = restore_directory(restore, restore->tree_fd, "artifacts", "artifacts", &artifacts);

	return r <= 0 ? r
		      : restore_directory(restore, artifacts, id_name,
				restore_path("artifacts/%s", id_name).text, ret_fd);
}

/* Compares a content or code of the copy with the hash in the artifact's cell. */
static int compare_text(struct restore *restore, struct wfs_view *view, struct wfs_bytes id,
	const json_t *state, enum wfs_entity_file file)
{
	const bool code = file == WFS_ENTITY_FILE_CODE;
	const json_t *const member = json_object_get(state, code ? "code_hash" : "content_hash");
	struct wfs_hash expected = wfs_hash_of("", 0); /* empty code has no cell */
	struct wfs_hash came = expected;
	WFS_AUTO_BUFFER struct wfs_buffer name = {0};
	struct wfs_version version;
	int r = wfs_entity_source(view, file, id, &version);

	wfs_name_append(&name, id.data, id.size);
	if ((r && r != -ENOENT) || wfs_buffer_check(&name))
		return wfs_error_from_errno(restore->error, r ? r : -ENOMEM, "compare artifacts");
	const bool missing = r != 0;
	const struct restore_path path =
		restore_path("artifacts/%s/%s", wfs_buffer_text(&name), wfs_entity_file_name(file));
	if (member &&
		wfs_hash_parse(json_string_value(member) ? json_string_value(member) : "",
			json_string_length(member), &expected, NULL))
		return restore_noted(
			restore, path.text, "the cell of its artifact has no hash of it");
	if (!missing)
		came = version.hash;
	if (wfs_hash_equal(&expected, &came) && (code || !missing))
		return 0;
	return missing ? restore_noted(restore, path.text, "is missing")
		       : restore_hash_noted(
				 restore, path.text, "the cell of its artifact", &expected, &came);
}

int restore_compare_texts(struct restore *restore, struct wfs_view *view)
{
	WFS_AUTO_ENTRY_WALK struct wfs_entry_walk walk = {0};
	struct wfs_reducer reducer;
	struct wfs_entry entry;
	int r = wfs_view_builtin(view, WFS_BUILTIN_ARTIFACT, &reducer);

	if (!r)
		r = wfs_entry_walk_init(&walk, view, reducer.reducer_id, 0);
	while (!r && (r = wfs_entry_walk_next(&walk, &entry)) > 0) {
		WFS_AUTO_JSON json_t *state = NULL;
		struct wfs_version version;

		r = wfs_view_version(view, entry.vid, &version);
		if (!r)
			r = wfs_view_state(view, &version, &state);
		if (!r)
			r = compare_text(restore, view, entry.key, state, WFS_ENTITY_FILE_CONTENT);
		if (!r)
			r = compare_text(restore, view, entry.key, state, WFS_ENTITY_FILE_CODE);
	}
	return r && restore->error->code == WFS_OK
		? wfs_error_from_errno(restore->error, r, "compare artifacts")
		: wfs_trace(r);
}
