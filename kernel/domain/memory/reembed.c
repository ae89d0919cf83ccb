/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes new embeddings for the entries of a store, when the host has another model. This takes
 * several records. Until the last one nothing can be added or searched, because embeddings of two
 * models cannot be compared.
 *
 * During this time the state of the store has the new model, `next`, the number of the first entry
 * that was not looked at, and `left`, how many were not looked at.
 */
#include "kernel/base/json.h"
#include "kernel/domain/memory/memory-impl.h"

enum {
	LOOKED_AT_MAX = 1000, /* entries in one record; most may have the model already */
	WORK_OF_ENTRY = 500,  /* per entry, in instructions of code that take as long */
};

/* The work of one record. Plain value. */
struct reembedding {
	struct memory *memory;
	const struct wfs_document_artifact *artifact;
	const char *model; /* of the new embeddings */
	size_t limit;      /* number of embeddings */
	size_t done;
	struct wfs_error *error;
};

int64_t memory_left(const struct memory *memory)
{
	return memory->state.left > 0 ? memory->state.left : 0;
}

void memory_looked_away(struct memory *memory, uint32_t number)
{
	if (memory_left(memory) > 0 && (int64_t)number >= memory->state.next)
		memory->state.left--;
}

/* All embeddings have as many dimensions as the first, whatever the server gives later. */
static int check_dims(struct reembedding *work, size_t dims)
{
	struct memory *const memory = work->memory;
	const int64_t known = memory->state.dims;
	const int64_t bytes = memory_count(memory) * (int64_t)(dims * sizeof(float));

	if (known > 0 && known != (int64_t)dims)
		return wfs_error_set(work->error, WFS_E_EFFECT_FAILED,
			"an embedding of '%.128s' has %zu dimensions, expected %" PRId64
			" as of the ones before",
			work->model, dims, known);
	if (bytes > MEMORY_VECTORS_MAX)
		return wfs_error_set(work->error, WFS_E_QUOTA_EXCEEDED,
			"the embeddings of '%s' would take %" PRId64
			" bytes, at most %d are kept of a store",
			memory->id, bytes, MEMORY_VECTORS_MAX);
	memory->state.dims = (int64_t)dims;
	return 0;
}

static int put(struct reembedding *work, size_t cell, json_t *entry, uint32_t number)
{
	struct wfs_fold *const fold = work->memory->act->fold;
	const int64_t before = (int64_t)fold_cell_at(fold, cell)->state.size;
	int r = fold_set_document(fold, cell, entry, work->error);

	if (r)
		return wfs_trace(r);
	const int64_t more = (int64_t)fold_cell_at(fold, cell)->state.size - before;
	const struct wfs_hash hash = fold_cell_at(fold, cell)->hash;
	r = memory_charge(work->memory, work->artifact, more, work->error);
	if (r)
		return wfs_trace(r);
	work->memory->state.bytes += more;
	memory_change_label(work->memory, '~', number, &hash);
	return 0;
}

static int embed(struct reembedding *work, size_t cell, json_t *entry, uint32_t number)
{
	EMBEDDING_AUTO struct embedding embedding = {.vector = NULL};
	struct act *const act = work->memory->act;
	const char *const text = wfs_json_text(entry, "text");

	act->fold->budget.used += WORK_OF_ENTRY + strlen(text) * MEMORY_WORK_OF_BYTE;
	int r = embedding_make(act, work->model, text, &embedding, work->error);
	if (!r)
		r = check_dims(work, embedding.dims);
	if (!r && embedding_write(&embedding, entry))
		r = fold_no_memory(work->error);
	if (!r)
		r = put(work, cell, entry, number);
	work->done += !r;
	return wfs_trace(r);
}

/* Gives an entry a new embedding, if it needs one. @number: of an entry that was in the store
 * before the record, and may be removed by now */
static int look_at(struct reembedding *work, uint32_t number)
{
	struct memory *const memory = work->memory;
	WFS_AUTO_JSON json_t *entry = NULL;
	char id[MEMORY_ID_SIZE];
	char key[MEMORY_KEY_SIZE];
	size_t cell;

	memory_id_text(number, id);
	memory_key(memory->id, id, key);
	int r = fold_load(memory->act->fold, WFS_BUILTIN_MEMORY, key, &cell, &entry, work->error);
	if (r || !entry)
		return wfs_trace(r);
	if (strcmp(wfs_json_text(entry, "model"), work->model) != 0)
		r = embed(work, cell, entry, number);
	else if (memory->state.dims == 0)
		r = check_dims(work, (size_t)json_integer_value(json_object_get(entry, "dims")));
	memory->state.left--;
	memory->state.next = (int64_t)number + 1;
	return wfs_trace(r);
}

/* Ends the work or, if the record has added entries, begins again with all of them. */
static void end(struct memory *memory)
{
	const bool again = memory_left(memory) > 0;

	memory->state.left = again ? memory->state.count : -1;
	memory->state.next = again ? 0 : -1;
}

static int go_on(struct reembedding *work)
{
	struct memory *const memory = work->memory;
	struct wfs_view view = fold_view(memory->act->fold);
	uint64_t next = (uint64_t)memory->state.next;

	for (int i = 0; i < LOOKED_AT_MAX && work->done < work->limit; i++) {
		struct wfs_entry found;
		uint32_t number;
		int r = memory_left(memory) > 0
			? wfs_memory_entry_next(
				  &view, wfs_bytes_text(memory->id), next, &number, &found)
			: -ENOENT;

		if (r == -ENOENT) {
			end(memory);
			return 0;
		}
		if (!r)
			r = look_at(work, number);
		if (r)
			return work->error->code != WFS_OK
				? wfs_trace(r)
				: wfs_error_from_errno(
					  work->error, r, "read the entries of '%s'", memory->id);
		next = (uint64_t)number + 1;
	}
	if (memory_left(memory) == 0)
		end(memory);
	return 0;
}

int memory_reembed(struct memory *memory, const struct wfs_document_artifact *artifact,
	size_t limit, size_t *ret_done, struct wfs_error *error)
{
	const char *const host = embedding_host_model(memory->act);
	const bool local = strcmp(host, WFS_EMBED_MODEL) == 0;
	struct reembedding work = {
		.memory = memory,
		.artifact = artifact,
		.model = host,
		.limit = local || limit < WFS_EMBEDDINGS_MAX ? limit : WFS_EMBEDDINGS_MAX,
		.error = error,
	};
	const bool other = strcmp(memory->model, host) != 0;

	*ret_done = 0;
	if (memory_count(memory) == 0 || (!other && memory_left(memory) == 0))
		return 0;
	if (other) {
		memory->state.left = memory->state.count;
		memory->state.next = memory->state.dims = 0;
		snprintf(memory->model, sizeof(memory->model), "%s", host);
	}
	int r = go_on(&work);
	if (!r)
		r = memory_store_state(memory, error);
	*ret_done = work.done;
	return wfs_trace(r);
}
