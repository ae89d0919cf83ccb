/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the vectors of memory stores in memory for the next search.
 *
 * A mirror has the label of the store whose vectors it has. Each change by a fold is made to store
 * and mirror. If the labels differ later, the changes of that fold were dropped, and the mirror
 * undoes its last changes until the labels agree. If they never do, all vectors are read again.
 */
#include <inttypes.h>

#include "kernel/base/json.h"
#include "kernel/domain/memory/memory.h"

enum {
	WORK_OF_READING = 200, /* per entry, in instructions of code that take as long */
	CHANGES_MAX = 64,      /* changes of a mirror that can be undone */
	MIRRORS_MAX = 64,      /* mirrors of a world */
	MIRRORS_BYTES_MAX = MEMORY_VECTORS_MAX, /* of all mirrors except the one in use */
};

/* A change that can be undone. */
struct undo {
	char kind;                  /* + - = */
	uint64_t label_before;      /* of the mirror */
	struct wfs_vectors_row row; /* added, removed (vector is owned), or with this score */
};

struct memory_mirror {
	char store[MEMORY_KEY_SIZE]; /* id of the artifact */
	struct wfs_vectors *vectors; /* owned; NULL: unused */
	uint64_t label;
	size_t dims;
	uint64_t used; /* value of `use_count` at the last use */
	struct undo undos[CHANGES_MAX];
	size_t undo_first;
	size_t undo_count;
};

struct memory_mirrors {
	struct memory_mirror mirrors[MIRRORS_MAX];
	uint64_t use_count;
};

/* --- what can be undone --- */

static struct undo *undo_at(struct memory_mirror *mirror, size_t index)
{
	return &mirror->undos[(mirror->undo_first + index) % CHANGES_MAX];
}

static void undo_forget(struct undo *undo)
{
	if (undo->kind == '-')
		free((void *)(uintptr_t)undo->row.vector);
	*undo = (struct undo){.kind = '\0'};
}

static void note(struct memory_mirror *mirror, char kind, const struct wfs_vectors_row *row)
{
	if (mirror->undo_count == CHANGES_MAX) {
		undo_forget(undo_at(mirror, 0));
		mirror->undo_first = (mirror->undo_first + 1) % CHANGES_MAX;
		mirror->undo_count--;
	}
	*undo_at(mirror, mirror->undo_count++) =
		(struct undo){.kind = kind, .label_before = mirror->label, .row = *row};
}

static void drop(struct memory_mirror *mirror)
{
	while (mirror->undo_count > 0)
		undo_forget(undo_at(mirror, --mirror->undo_count));
	wfs_vectors_free(mirror->vectors);
	mirror->vectors = NULL;
}

void memory_mirrors_free(struct memory_mirrors *mirrors)
{
	for (size_t i = 0; mirrors && i < MIRRORS_MAX; i++)
		drop(&mirrors->mirrors[i]);
	free(mirrors);
}

/* Undoes the last change. Return: 0, or -errno: the mirror has to be read again. */
static int undo_last(struct memory_mirror *mirror)
{
	struct undo *const undo = undo_at(mirror, --mirror->undo_count);
	int r = 0;

	if (undo->kind == '+')
		r = wfs_vectors_remove(mirror->vectors, undo->row.id);
	else if (undo->kind == '-')
		r = wfs_vectors_add(mirror->vectors, &undo->row, NULL);
	else
		r = wfs_vectors_set_score(mirror->vectors, undo->row.id, undo->row.score);
	mirror->label = undo->label_before;
	undo_forget(undo);
	return r;
}

/* Undoes changes until the mirror has this label. Return: false: it never had. */
static bool go_back(struct memory_mirror *mirror, uint64_t label)
{
	size_t i = mirror->undo_count;

	while (i > 0 && undo_at(mirror, i - 1)->label_before != label)
		i--;
	if (i == 0)
		return false;
	while (mirror->label != label)
		if (undo_last(mirror))
			return false;
	return true;
}

/* --- what is done --- */

struct wfs_vectors *memory_mirror_vectors(const struct memory_mirror *mirror)
{
	return mirror->vectors;
}

int memory_mirror_add(struct memory_mirror *mirror, const struct wfs_vectors_row *row,
	uint64_t label, struct wfs_error *error)
{
	int r = wfs_vectors_add(mirror->vectors, row, error);

	if (r)
		return wfs_trace(r);
	note(mirror, '+', row);
	mirror->label = label;
	return 0;
}

void memory_mirror_remove(struct memory_mirror *mirror, uint32_t id, uint64_t label)
{
	const size_t size = mirror->dims * sizeof(float);
	float *const copy = malloc(size);
	struct wfs_vectors_row row;

	if (wfs_vectors_find(mirror->vectors, id, &row) || !copy) {
		free(copy);
		drop(mirror); /* it is read again next time */
		return;
	}
	memcpy(copy, row.vector, size);
	row.vector = copy;
	(void)wfs_vectors_remove(mirror->vectors, id);
	note(mirror, '-', &row);
	mirror->label = label;
}

void memory_mirror_score(struct memory_mirror *mirror, uint32_t id, double score, uint64_t label)
{
	struct wfs_vectors_row row;

	if (wfs_vectors_find(mirror->vectors, id, &row)) {
		drop(mirror);
		return;
	}
	row.vector = NULL;
	note(mirror, '=', &row);
	(void)wfs_vectors_set_score(mirror->vectors, id, score);
	mirror->label = label;
}

/* --- reading all --- */

static int add_document(
	struct memory_mirror *mirror, const json_t *document, double score, struct wfs_error *error)
{
	EMBEDDING_AUTO struct embedding embedding = {.vector = NULL};
	struct wfs_vectors_row row = {
		.tick = json_integer_value(json_object_get(document, "tick")),
		.place = (uint64_t)json_integer_value(json_object_get(document, "place")),
		.importance = json_number_value(json_object_get(document, "importance")),
		.score = score,
	};
	int r = embedding_read(document, &embedding, error);

	if (!r &&
		(!memory_id_number(wfs_json_text(document, "id"), &row.id) ||
			embedding.dims != mirror->dims))
		r = wfs_error_set(error, WFS_E_INTERNAL_ERROR,
			"an entry of '%s' is not of its form", mirror->store);
	row.vector = embedding.vector;
	return wfs_trace(r ? r : wfs_vectors_add(mirror->vectors, &row, error));
}

/* Reads cells of the store without the fold, because they are many. */
struct reading {
	struct wfs_fold *fold;
	struct memory_mirror *mirror;
	struct wfs_buffer state;
	struct wfs_error *error;
};

/* Reads a cell's document from the store. @ret_document: NULL: not live; caller owns it */
static int read_cell(struct reading *reading, uint64_t cell_id, json_t **ret_document)
{
	struct wfs_head *const head = reading->fold->head;
	struct wfs_version version;
	struct wfs_cell cell;
	int r = wfs_cell_get(head->txn, cell_id, &cell);

	*ret_document = NULL;
	if (r || !cell.live)
		return r;
	r = wfs_version_get(head->txn, cell.head_vid, &version);
	wfs_buffer_reset(&reading->state);
	if (!r)
		r = wfs_version_read(head->store, &version, &reading->state, reading->error);
	if (!r)
		r = wfs_json_parse(
			reading->state.data, reading->state.size, ret_document, reading->error);
	return wfs_trace(r);
}

static int stored_score(struct reading *reading, struct wfs_bytes key, double *ret_score)
{
	const struct wfs_head *const head = reading->fold->head;
	WFS_AUTO_JSON json_t *hit = NULL;
	uint64_t cell_id;
	int r = wfs_cell_find(head->txn,
		head->reducers[fold_builtin(reading->fold, WFS_BUILTIN_MEMORY_HIT)].reducer_id, key,
		&cell_id);

	if (!r)
		r = read_cell(reading, cell_id, &hit);
	*ret_score = json_number_value(json_object_get(hit, "score"));
	return r == -ENOENT ? 0 : wfs_trace(r);
}

static int read_stored(struct reading *reading)
{
	const struct wfs_head *const head = reading->fold->head;
	const uint32_t reducer_id =
		head->reducers[fold_builtin(reading->fold, WFS_BUILTIN_MEMORY)].reducer_id;
	char from[MEMORY_KEY_SIZE];
	uint64_t cell_id;
	int r = 0;

	memory_key(reading->mirror->store, "", from);
	struct wfs_bytes key = wfs_bytes_text(from);
	while (!r && !(r = wfs_cell_find_next(head->txn, reducer_id, &key, &key, &cell_id)) &&
		memory_is_of(key, reading->mirror->store)) {
		WFS_AUTO_JSON json_t *document = NULL;
		double score = 0;

		r = read_cell(reading, cell_id, &document);
		if (!r && document)
			r = stored_score(reading, key, &score);
		if (!r && document)
			r = add_document(reading->mirror, document, score, reading->error);
	}
	return r == -ENOENT ? 0 : wfs_trace(r);
}

/* Applies a change that the fold has made so far. @key: of the entry */
static int take_change(struct reading *reading, const struct fold_cell *cell, bool is_hit)
{
	const struct wfs_bytes key = fold_bytes(reading->fold, cell->key);
	const struct wfs_bytes state = fold_bytes(reading->fold, cell->state);
	char id[MEMORY_ID_SIZE];
	WFS_AUTO_JSON json_t *document = NULL;
	uint32_t number;
	int r = cell->live ? wfs_json_parse(state.data, state.size, &document, reading->error) : 0;

	snprintf(id, sizeof(id), "%.*s", MEMORY_ID_SIZE - 1,
		(const char *)key.data + strlen(reading->mirror->store) + 1);
	if (r || !memory_id_number(id, &number))
		return wfs_trace(r);
	if (is_hit) {
		(void)wfs_vectors_set_score(reading->mirror->vectors, number,
			json_number_value(json_object_get(document, "score")));
		return 0;
	}
	(void)wfs_vectors_remove(reading->mirror->vectors, number);
	return document ? wfs_trace(add_document(reading->mirror, document, 0, reading->error)) : 0;
}

static int read_folded(struct reading *reading, enum wfs_builtin_reducer reducer)
{
	const size_t index = fold_builtin(reading->fold, reducer);
	int r = 0;

	for (size_t i = 0; !r && i < reading->fold->cells.count; i++) {
		const struct fold_cell *const cell = fold_cell_at(reading->fold, i);

		if (cell->reducer_index == index && cell->changed &&
			memory_is_of(fold_bytes(reading->fold, cell->key), reading->mirror->store))
			r = take_change(reading, cell, reducer == WFS_BUILTIN_MEMORY_HIT);
	}
	return wfs_trace(r);
}

static void reading_done(struct reading *reading)
{
	wfs_buffer_done(&reading->state);
}

static int read_all(struct memory *memory, struct memory_mirror *mirror, struct wfs_error *error)
{
	WFS_CLEANUP(reading_done)
	struct reading reading = {.fold = memory->act->fold, .mirror = mirror, .error = error};

	drop(mirror);
	snprintf(mirror->store, sizeof(mirror->store), "%s", memory->id);
	mirror->dims = (size_t)memory->state.dims;
	int r = mirror->dims > 0 && mirror->dims <= EMBEDDING_DIMS_MAX ? 0 : -EIO;
	if (!r)
		r = wfs_vectors_new(mirror->dims, &mirror->vectors, error);
	if (!r)
		r = read_stored(&reading);
	if (!r)
		r = read_folded(&reading, WFS_BUILTIN_MEMORY);
	if (!r)
		r = read_folded(&reading, WFS_BUILTIN_MEMORY_HIT);
	if (r) {
		drop(mirror);
		return error->code != WFS_OK
			? wfs_trace(r)
			: wfs_error_from_errno(error, r, "read the entries of '%s'", memory->id);
	}
	mirror->label = memory->label;
	return 0;
}

/* --- finding --- */

/* Finds the mirror of a store, or drops the least recently used one. */
static struct memory_mirror *find_place(struct memory_mirrors *mirrors, const char *store)
{
	struct memory_mirror *place = &mirrors->mirrors[0];

	for (size_t i = 0; i < MIRRORS_MAX; i++) {
		struct memory_mirror *const mirror = &mirrors->mirrors[i];

		if (mirror->vectors && strcmp(mirror->store, store) == 0)
			return mirror;
		if (place->vectors && (!mirror->vectors || mirror->used < place->used))
			place = mirror;
	}
	drop(place);
	return place;
}

/* Drops mirrors other than @kept, the least recently used first, until the others fit. */
static void keep_bound(struct memory_mirrors *mirrors, const struct memory_mirror *kept)
{
	for (;;) {
		struct memory_mirror *oldest = NULL;
		size_t bytes = 0;

		for (size_t i = 0; i < MIRRORS_MAX; i++) {
			struct memory_mirror *const mirror = &mirrors->mirrors[i];

			if (mirror == kept || !mirror->vectors)
				continue;
			bytes += wfs_vectors_size_bytes(mirror->vectors);
			if (!oldest || mirror->used < oldest->used)
				oldest = mirror;
		}
		if (!oldest || bytes <= MIRRORS_BYTES_MAX)
			return;
		drop(oldest);
	}
}

int memory_mirror(struct memory *memory, struct memory_mirror **ret_mirror, struct wfs_error *error)
{
	struct memory_mirrors **const kept = fold_kept(memory->act->fold, "memory");

	if (!*kept)
		*kept = calloc(1, sizeof(**kept));
	if (!*kept)
		return fold_no_memory(error);
	struct memory_mirrors *const mirrors = *kept;
	struct memory_mirror *const mirror = find_place(mirrors, memory->id);
	const bool alike = mirror->vectors &&
		(mirror->label == memory->label || go_back(mirror, memory->label));
	/* This work depends on what was read before. So it is charged only when a record is folded
	 * for the first time, which records what a bound has ended. */
	if (!alike && !memory->act->fold->input.recorded)
		memory->act->fold->budget.used += (uint64_t)memory_count(memory) * WORK_OF_READING;
	int r = alike ? 0 : read_all(memory, mirror, error);
	if (r)
		return wfs_trace(r);
	mirror->used = ++mirrors->use_count;
	keep_bound(mirrors, mirror);
	*ret_mirror = mirror;
	return 0;
}
