/* SPDX-License-Identifier: Apache-2.0 */
/* The cells of a fold: reading them, changing them in memory, writing the changes. */
#include "kernel/base/array.h"
#include "kernel/base/json.h"
#include "kernel/fold/fold-work.h"
#include "kernel/read/blob-read.h"
#include "kernel/store/row-name.h"

enum { SLOTS_FIRST = 64 }; /* of the table of touched cells */

int fold_no_memory(struct wfs_error *error)
{
	return wfs_error_from_errno(error, -ENOMEM, "fold a record");
}

void *fold_array_add(struct fold_array *array, size_t item_size)
{
	void *const items =
		wfs_array_reserve(array->items, array->count, &array->capacity, item_size);

	if (!items)
		return NULL;
	array->items = items;
	return memset((char *)array->items + array->count++ * item_size, 0, item_size);
}

/* May @size bytes be added to `text`? */
static int check_text(const struct wfs_fold *fold, size_t size, struct wfs_error *error)
{
	if (size <= WFS_FOLD_BYTES_MAX && fold->text.size <= WFS_FOLD_BYTES_MAX - size)
		return 0;
	return wfs_error_set(error, WFS_E_RUNTIME_ERROR,
		"the states that the event reads and gives and the events that it causes have more "
		"than %d bytes",
		WFS_FOLD_BYTES_MAX);
}

int fold_add_text(struct wfs_fold *fold, struct wfs_bytes bytes, struct fold_span *ret_span,
	struct wfs_error *error)
{
	int r = check_text(fold, bytes.size, error);

	if (r)
		return r;
	*ret_span = (struct fold_span){.offset = fold->text.size, .size = bytes.size};
	wfs_buffer_append(&fold->text, bytes.data, bytes.size);
	return wfs_buffer_check(&fold->text) ? fold_no_memory(error) : 0;
}

/* --- reading --- */

const struct wfs_reducer_definition *fold_reducer_of(
	const struct wfs_fold *fold, const struct fold_cell *cell)
{
	return wfs_manifest_reducer(fold->manifest, cell->reducer_index);
}

size_t fold_builtin(const struct wfs_fold *fold, enum wfs_builtin_reducer reducer)
{
	const struct wfs_reducer_definition *definition =
		wfs_manifest_reducer_find(fold->manifest, wfs_builtin_reducer_name(reducer));

	wfs_require(definition != NULL); /* every manifest has the built-in reducers */
	return definition->index;
}

/* Reads the row of a cell from the store. Return: 1, 0 if the store has no such cell, or -errno. */
static int read_row(const struct wfs_fold *fold, size_t reducer_index, struct wfs_bytes key,
	struct wfs_cell *ret_row, struct wfs_error *error)
{
	struct wfs_txn *const txn = fold->head->txn;
	uint64_t cell_id;
	int r = wfs_cell_find(txn, fold->head->reducers[reducer_index].reducer_id, key, &cell_id);

	if (r == -ENOENT)
		return 0;
	if (!r)
		r = wfs_cell_get(txn, cell_id, ret_row);
	return r ? wfs_error_from_errno(error, wfs_row_needed(txn, r), "look a cell up") : 1;
}

int fold_is_live(struct wfs_fold *fold, enum wfs_builtin_reducer reducer, const char *key,
	struct wfs_error *error)
{
	struct wfs_cell cell = {.live = false};
	int r = read_row(fold, fold_builtin(fold, reducer), wfs_bytes_text(key), &cell, error);

	return r > 0 ? cell.live : r;
}

uint64_t fold_live_count(const struct wfs_fold *fold, enum wfs_builtin_reducer reducer)
{
	return fold->head->reducers[fold_builtin(fold, reducer)].live_count;
}

struct wfs_view fold_view(const struct wfs_fold *fold)
{
	return (struct wfs_view){
		.store = fold->head->store,
		.txn = fold->head->txn,
		.txn_borrowed = true,
		.height = fold->head->height,
		.head = true,
	};
}

/* --- cells that were read ahead --- */

static struct fold_cell *find_seen(struct wfs_fold *fold, const struct fold_cell *cell)
{
	struct fold_cell *const seen = fold->seen.items;

	for (size_t i = 0; i < fold->seen.count; i++)
		if (seen[i].name_hash == cell->name_hash &&
			seen[i].reducer_index == cell->reducer_index &&
			wfs_bytes_equal(fold_bytes_of(&fold->seen_text, seen[i].key),
				fold_bytes(fold, cell->key)))
			return &seen[i];
	return NULL;
}

void fold_see(struct wfs_fold *fold)
{
	const struct fold_array spare = fold->seen;
	const struct wfs_buffer spare_text = fold->seen_text;

	fold->seen = fold->cells;
	fold_forget_cells(fold, 0);
	fold->seen_text = fold->text;
	fold->cells = (struct fold_array){.items = spare.items, .capacity = spare.capacity};
	fold->text = spare_text;
	wfs_buffer_reset(&fold->text);
}

/* Reads the head version of a live cell into `text`. */
static int load_state(struct wfs_fold *fold, struct fold_cell *cell, struct wfs_error *error)
{
	const struct fold_cell *const seen = find_seen(fold, cell);
	struct wfs_version version;
	int r = 0;

	if (seen && seen->loaded) {
		cell->loaded = true;
		cell->hash = seen->hash;
		return wfs_trace(fold_add_text(
			fold, fold_bytes_of(&fold->seen_text, seen->state), &cell->state, error));
	}
	r = wfs_version_get(fold->head->txn, cell->row.head_vid, &version);
	if (r)
		return wfs_error_from_errno(
			error, wfs_row_needed(fold->head->txn, r), "read a cell");
	r = check_text(fold, version.size_bytes, error);
	if (r)
		return wfs_trace(r);
	cell->loaded = true;
	cell->hash = version.hash;
	cell->state = (struct fold_span){.offset = fold->text.size, .size = version.size_bytes};
	r = wfs_version_read(fold->head->store, &version, &fold->text, error);
	return wfs_trace(r == -EIO
			? wfs_row_name_error(fold->head->txn, WFS_TABLE_VERSION, version.vid, error)
			: r);
}

/* --- taking changes back --- */

struct fold_mark fold_mark(struct wfs_fold *fold)
{
	fold->mark_count++;
	return (struct fold_mark){
		.undo_count = fold->undos.count,
		.cell_count = fold->cells.count,
		.record_count = fold->records.count,
		.text_size = fold->text.size,
	};
}

void fold_keep(struct wfs_fold *fold, const struct fold_mark *mark)
{
	wfs_require(fold->mark_count > 0 && mark->undo_count <= fold->undos.count);
	if (--fold->mark_count == 0)
		fold->undos.count = 0;
}

void fold_take_back(struct wfs_fold *fold, const struct fold_mark *mark)
{
	while (fold->undos.count > mark->undo_count) {
		const struct fold_undo *undo =
			&((struct fold_undo *)fold->undos.items)[--fold->undos.count];

		*fold_cell_at(fold, undo->cell) = undo->cell_before;
		if (undo->made)
			fold->changes.count = undo->change;
		else
			*fold_change_at(fold, undo->change) = undo->change_before;
	}
	fold_forget_cells(fold, mark->cell_count);
	while (fold->records.count > mark->record_count)
		json_decref(fold_record_at(fold, --fold->records.count)->derived);
	fold->text.size = mark->text_size;
	fold_keep(fold, mark);
}

/* The change that the record being folded has made to a cell, or NULL. A record that changes a cell
 * twice gives one version. */
static struct fold_change *change_of(const struct wfs_fold *fold, const struct fold_cell *cell)
{
	struct fold_change *last =
		cell->change_end ? fold_change_at(fold, cell->change_end - 1) : NULL;

	return last && last->record == fold->folding && fold_cell_at(fold, last->cell) == cell
		? last
		: NULL;
}

/* Keeps the cell's entry as it is, before the cell is changed or read. */
static int note_undo(struct wfs_fold *fold, size_t cell_index)
{
	struct fold_undo *const undo =
		fold->mark_count ? fold_array_add(&fold->undos, sizeof(*undo)) : NULL;
	const struct fold_cell *const cell = fold_cell_at(fold, cell_index);
	const struct fold_change *const change = change_of(fold, cell);

	if (!undo)
		return fold->mark_count ? -ENOMEM : 0;
	*undo = (struct fold_undo){
		.cell = cell_index,
		.cell_before = *cell,
		.change = change ? cell->change_end - 1 : fold->changes.count,
		.made = !change,
	};
	if (change)
		undo->change_before = *change;
	return 0;
}

/* --- finding --- */

/* Users choose names: a user whose names have equal hashes slows down only their own requests. */
static uint64_t hash_of(size_t reducer_index, struct wfs_bytes key)
{
	const uint8_t *const bytes = key.data;
	uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ reducer_index; /* FNV-1a, RFC 9923 */

	for (size_t i = 0; i < key.size; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return hash ^ hash >> 32;
}

static void put_in_slot(struct wfs_fold *fold, size_t index)
{
	const size_t mask = fold->slot_count - 1;
	size_t slot = fold_cell_at(fold, index)->name_hash & mask;

	while (fold->slots[slot])
		slot = (slot + 1) & mask;
	fold->slots[slot] = (uint32_t)index + 1;
}

/* Makes room in the hash table for one more cell. Return: 0, or -ENOMEM. */
static int make_slots(struct wfs_fold *fold)
{
	const size_t wanted = fold->slot_count ? fold->slot_count * 2 : SLOTS_FIRST;

	if (2 * (fold->cells.count + 1) < fold->slot_count)
		return 0;
	uint32_t *const slots = calloc(wanted, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(fold->slots);
	fold->slots = slots;
	fold->slot_count = wanted;
	for (size_t i = 0; i < fold->cells.count; i++)
		put_in_slot(fold, i);
	return 0;
}

static bool find(
	const struct wfs_fold *fold, size_t reducer_index, struct wfs_bytes key, size_t *ret_index)
{
	const uint64_t hash = hash_of(reducer_index, key);
	const size_t mask = fold->slot_count - 1;

	if (fold->cells.count == 0)
		return false;
	for (size_t slot = hash & mask; fold->slots[slot]; slot = (slot + 1) & mask) {
		const struct fold_cell *const cell = fold_cell_at(fold, fold->slots[slot] - 1);

		if (cell->name_hash == hash && cell->reducer_index == reducer_index &&
			wfs_bytes_equal(fold_bytes(fold, cell->key), key)) {
			*ret_index = fold->slots[slot] - 1;
			return true;
		}
	}
	return false;
}

/* Drops the newest first: a slot may be emptied only if no later entry was put after it. */
void fold_forget_cells(struct wfs_fold *fold, size_t count)
{
	const size_t mask = fold->slot_count - 1;

	while (fold->cells.count > count) {
		const size_t number = fold->cells.count--;
		size_t slot = fold_cell_at(fold, number - 1)->name_hash & mask;

		while (fold->slots[slot] != number)
			slot = (slot + 1) & mask;
		fold->slots[slot] = 0;
	}
}

/* Reads the row of a cell from the store. @cell: its name is set */
static int look_up(struct wfs_fold *fold, struct fold_cell *cell, struct wfs_error *error)
{
	const struct fold_cell *const seen = find_seen(fold, cell);
	int r;

	if (seen) {
		cell->row = seen->row;
		cell->live = cell->stored_live = seen->stored_live;
		return 0;
	}
	r = read_row(fold, cell->reducer_index, fold_bytes(fold, cell->key), &cell->row, error);
	if (r > 0)
		cell->live = cell->stored_live = cell->row.live;
	return r < 0 ? r : 0;
}

static int add(struct wfs_fold *fold, size_t reducer_index, struct wfs_bytes key, size_t *ret_index,
	struct wfs_error *error)
{
	struct fold_cell cell = {
		.reducer_index = reducer_index, .name_hash = hash_of(reducer_index, key)};
	int r = make_slots(fold) ? fold_no_memory(error)
				 : fold_add_text(fold, key, &cell.key, error);

	if (!r)
		r = look_up(fold, &cell, error);
	if (r)
		return wfs_trace(r);
	struct fold_cell *const added = fold_array_add(&fold->cells, sizeof(*added));
	if (!added)
		return fold_no_memory(error);
	*added = cell;
	*ret_index = fold->cells.count - 1;
	put_in_slot(fold, *ret_index);
	return 0;
}

int fold_touch_unread(struct wfs_fold *fold, size_t reducer_index, struct wfs_bytes key,
	size_t *ret_index, struct wfs_error *error)
{
	if (find(fold, reducer_index, key, ret_index))
		return 0;
	return wfs_trace(add(fold, reducer_index, key, ret_index, error));
}

int fold_touch(struct wfs_fold *fold, size_t reducer_index, struct wfs_bytes key, size_t *ret_index,
	struct wfs_error *error)
{
	const size_t count = fold->cells.count;
	int r = fold_touch_unread(fold, reducer_index, key, ret_index, error);

	if (r || !fold_cell_at(fold, *ret_index)->live || fold_cell_at(fold, *ret_index)->loaded)
		return wfs_trace(r);
	if (*ret_index < count && note_undo(fold, *ret_index))
		return fold_no_memory(error);
	return wfs_trace(load_state(fold, fold_cell_at(fold, *ret_index), error));
}

int fold_load(struct wfs_fold *fold, enum wfs_builtin_reducer reducer, const char *key,
	size_t *ret_index, json_t **ret_document, struct wfs_error *error)
{
	int r = fold_touch(
		fold, fold_builtin(fold, reducer), wfs_bytes_text(key), ret_index, error);

	*ret_document = NULL;
	if (r || !fold_cell_at(fold, *ret_index)->live)
		return wfs_trace(r);
	const struct wfs_bytes state = fold_bytes(fold, fold_cell_at(fold, *ret_index)->state);
	return wfs_trace(wfs_json_parse(state.data, state.size, ret_document, error));
}

int fold_read(struct wfs_fold *fold, enum wfs_builtin_reducer reducer, const char *key,
	void *ret_document, struct wfs_error *error)
{
	json_t *json;
	size_t cell = 0;
	int r = fold_load(fold, reducer, key, &cell, &json, error);
	const int read = wfs_document_read(reducer, json, ret_document, r ? NULL : error);

	((struct wfs_document *)ret_document)->cell = cell;
	return wfs_trace(r ? r : read);
}

/* --- changing --- */

static struct fold_change *add_change(struct wfs_fold *fold, size_t cell_index)
{
	struct fold_change *const added = fold_array_add(&fold->changes, sizeof(*added));

	if (!added)
		return NULL;
	fold_cell_at(fold, cell_index)->change_end = fold->changes.count;
	added->record = fold->folding;
	added->cell = cell_index;
	return added;
}

static int change(struct wfs_fold *fold, size_t cell_index, const struct fold_change *state,
	struct wfs_error *error)
{
	struct fold_cell *cell = fold_cell_at(fold, cell_index);

	if (note_undo(fold, cell_index))
		return fold_no_memory(error);
	struct fold_change *noted = change_of(fold, cell);
	if (!noted)
		noted = add_change(fold, cell_index);
	if (!noted)
		return fold_no_memory(error);
	noted->live = cell->live = state->live;
	noted->hash = cell->hash = state->hash;
	noted->state = cell->state = state->state;
	cell->changed = cell->loaded = true;
	return 0;
}

int fold_set(
	struct wfs_fold *fold, size_t cell_index, struct wfs_bytes bytes, struct wfs_error *error)
{
	const struct fold_cell *cell = fold_cell_at(fold, cell_index);
	struct fold_change state = {.live = true, .hash = wfs_hash_of(bytes.data, bytes.size)};

	if (cell->live && wfs_hash_equal(&cell->hash, &state.hash))
		return 0;
	int r = fold_add_text(fold, bytes, &state.state, error);
	if (r)
		return wfs_trace(r);
	return wfs_trace(change(fold, cell_index, &state, error));
}

int fold_set_document(
	struct wfs_fold *fold, size_t cell_index, const json_t *document, struct wfs_error *error)
{
	wfs_buffer_reset(&fold->scratch);
	wfs_json_write_document(document, &fold->scratch);
	if (wfs_buffer_check(&fold->scratch))
		return fold_no_memory(error);
	return wfs_trace(fold_set(fold, cell_index, wfs_buffer_bytes(&fold->scratch), error));
}

int fold_put(struct wfs_fold *fold, enum wfs_builtin_reducer reducer, const char *key,
	const json_t *document, struct wfs_error *error)
{
	size_t cell;

	if (!document)
		return fold_no_memory(error);
	int r = fold_touch_unread(
		fold, fold_builtin(fold, reducer), wfs_bytes_text(key), &cell, error);
	return wfs_trace(r ? r : fold_set_document(fold, cell, document, error));
}

int fold_write(struct wfs_fold *fold, enum wfs_builtin_reducer reducer, const char *key,
	const void *document, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *json = wfs_document_write(reducer, document);

	return wfs_trace(key || !json
			? fold_put(fold, reducer, key, json, error)
			: fold_set_document(fold, ((const struct wfs_document *)document)->cell,
				  json, error));
}

int fold_delete(struct wfs_fold *fold, size_t cell_index, struct wfs_error *error)
{
	const struct fold_change state = {.live = false};

	if (!fold_cell_at(fold, cell_index)->live)
		return 0;
	return wfs_trace(change(fold, cell_index, &state, error));
}

static int compare_changes(const void *a, const void *b, void *context)
{
	const struct wfs_fold *fold = context;
	const struct fold_cell *x = fold_cell_at(fold, ((const struct fold_change *)a)->cell);
	const struct fold_cell *y = fold_cell_at(fold, ((const struct fold_change *)b)->cell);

	return wfs_changes_compare(fold_reducer_of(fold, x)->name, fold_bytes(fold, x->key),
		fold_reducer_of(fold, y)->name, fold_bytes(fold, y->key));
}

/* Hashes the changes of @record: @count of them, from index @first on. */
static int hash_changes(struct wfs_fold *fold, size_t record, size_t first, size_t count)
{
	if (count > 1)
		qsort_r(fold_change_at(fold, first), count, sizeof(struct fold_change),
			compare_changes, fold);
	wfs_buffer_reset(&fold->scratch);
	for (size_t i = 0; i < count; i++) {
		const struct fold_change *const change = fold_change_at(fold, first + i);
		const struct fold_cell *const cell = fold_cell_at(fold, change->cell);

		wfs_changes_add(&fold->scratch, fold_reducer_of(fold, cell)->name,
			fold_bytes(fold, cell->key), change->live ? &change->hash : NULL);
	}
	wfs_changes_end(&fold->scratch);
	fold_record_at(fold, record)->changed = true;
	fold_record_at(fold, record)->changes = wfs_hash_of(fold->scratch.data, fold->scratch.size);
	return wfs_buffer_check(&fold->scratch);
}

int fold_hash_changes(struct wfs_fold *fold)
{
	size_t first = 0;
	int r = 0;

	while (!r && first < fold->changes.count) {
		const size_t record = fold_change_at(fold, first)->record;
		size_t end = first + 1;

		while (end < fold->changes.count && fold_change_at(fold, end)->record == record)
			end++;
		r = hash_changes(fold, record, first, end - first);
		first = end;
	}
	return r;
}

/* --- writing --- */

static int apply_change(struct wfs_fold *fold, struct wfs_head *head,
	const struct fold_change *change, uint64_t height)
{
	struct fold_cell *cell = fold_cell_at(fold, change->cell);
	const struct wfs_reducer_definition *const reducer = fold_reducer_of(fold, cell);
	const struct wfs_state state = {
		.live = change->live,
		.bytes = change->live ? fold_bytes(fold, change->state) : WFS_BYTES(NULL, 0),
		.hash = change->hash,
	};

	struct fold_cell *const seen = find_seen(fold, cell);
	if (seen) /* a wrong hash: the entry is not found any more, and the cell is read again */
		seen->name_hash = ~cell->name_hash;
	cell->row.key = fold_bytes(fold, cell->key);
	if (reducer->builtin)
		FOLD_TELL(fold, changed, reducer->name, cell->row.key, &state);
	return wfs_head_set_cell(
		head, cell->reducer_index, &cell->row, &state, height, fold->input.at_ns);
}

int fold_apply_changes(struct wfs_fold *fold, struct wfs_head *head, size_t record, uint64_t height)
{
	for (; fold->applied_count < fold->changes.count; fold->applied_count++) {
		const struct fold_change *change = fold_change_at(fold, fold->applied_count);

		if (change->record != record)
			break;
		int r = apply_change(fold, head, change, height);
		if (r)
			return wfs_trace(r);
	}
	return 0;
}

int fold_lives(struct wfs_fold *fold, enum wfs_builtin_reducer reducer, const char *id,
	struct wfs_error *error)
{
	size_t cell;
	int r = fold_touch(fold, fold_builtin(fold, reducer), wfs_bytes_text(id), &cell, error);

	return r ? wfs_trace(r) : fold_cell_at(fold, cell)->live;
}
