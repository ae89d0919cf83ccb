/* SPDX-License-Identifier: Apache-2.0 */
/* Adds and removes entries of memory stores. */
#include "kernel/domain/memory/memory-impl.h"

#include <endian.h>
#include <inttypes.h>

#include "kernel/base/json.h"
#include "kernel/domain/action/invoke.h"
#include "kernel/domain/principal/account.h"

/* --- settings of a store --- */

static const char *const order_names[] = {
	[WFS_VECTORS_OLDEST] = "oldest",
	[WFS_VECTORS_LOWEST_SCORE] = "lowest_score",
	[WFS_VECTORS_LOWEST_IMPORTANCE] = "lowest_importance",
};

static int read_order(
	const json_t *config, enum wfs_vectors_order *ret_order, struct wfs_error *error)
{
	const json_t *const value = json_object_get(config, "auto_prune");
	const char *const name = json_string_value(value);

	*ret_order = WFS_VECTORS_OLDEST;
	if (!value)
		return 0;
	for (size_t i = 0; name && i < WFS_ARRAY_COUNT(order_names); i++) {
		*ret_order = (enum wfs_vectors_order)i;
		if (strcmp(order_names[i], name) == 0)
			return 0;
	}
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
		"'content': config/auto_prune: expected oldest, lowest_score or lowest_importance");
}

/* Reads the settings of a store. @memory: gets its bound and order */
static int read_config(struct wfs_bytes content, struct memory *memory, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *document = NULL;
	struct wfs_error reason = {0};
	int r = content.size
		? wfs_json_parse_bounded(content.data, content.size, &document, &reason)
		: 0;

	memory->entries_max = MEMORY_ENTRIES_DEFAULT;
	memory->order = WFS_VECTORS_OLDEST;
	if (!r && document)
		r = wfs_json_members(document, "a memory_store", "config? entries?", &reason);
	const json_t *const entries = json_object_get(document, "entries");
	if (!r && entries && !json_is_array(entries))
		r = wfs_error_set(
			&reason, WFS_E_INVALID_ARGUMENT, "'entries': expected a list of entries");
	const json_t *const config = json_object_get(document, "config");
	if (!r && config)
		r = wfs_json_members(config, "config", "auto_prune? max_entries?", &reason);
	if (!r && config)
		r = wfs_json_get_integer(config, "max_entries", 1, MEMORY_ENTRIES_MAX,
			&memory->entries_max, &reason);
	if (r == -ENOMEM)
		return fold_no_memory(error);
	if (r)
		return wfs_error_set(
			error, WFS_E_INVALID_ARGUMENT, "'content': %.400s", reason.message);
	return read_order(config, &memory->order, error);
}

int memory_check(struct wfs_fold *fold, const struct wfs_document_artifact *artifact,
	struct wfs_error *error)
{
	struct wfs_bytes content;
	struct memory memory;

	if (!wfs_memory_is_store(artifact->type))
		return 0;
	int r = artifact_text(fold, WFS_BUILTIN_CONTENT, artifact->id, &content, error);
	return wfs_trace(r ? r : read_config(content, &memory, error));
}

/* --- a store --- */

void memory_done(struct memory *memory)
{
	wfs_document_done(&memory->state);
}

int memory_open(struct act *act, const struct wfs_document_artifact *artifact,
	struct memory *ret_memory, struct wfs_error *error)
{
	struct memory memory = {.act = act, .id = artifact->id};
	struct wfs_bytes content;

	if (!wfs_memory_is_store(artifact->type))
		return wfs_error_set(error, WFS_E_INVALID_TYPE,
			"Artifact '%s' is not a " WFS_ARTIFACT_TYPE_MEMORY " (type: %s)",
			artifact->id, artifact->type);
	int r = artifact_text(act->fold, WFS_BUILTIN_CONTENT, artifact->id, &content, error);
	if (!r)
		r = read_config(content, &memory, error);
	if (!r)
		r = fold_read_memory_store(act->fold, artifact->id, &memory.state, error);
	if (r)
		return wfs_trace(r);
	if (memory.state.own.json) {
		memory.label = strtoull(memory.state.label, NULL, 16);
		snprintf(memory.model, sizeof(memory.model), "%s", memory.state.model);
	} else {
		memory.state.left = memory.state.next = -1;
	}
	*ret_memory = memory;
	return 0;
}

int64_t memory_count(const struct memory *memory)
{
	return memory->state.count;
}

const char *memory_model(const struct memory *memory)
{
	return memory_count(memory) > 0 ? memory->model : NULL;
}

/* The label depends on all changes of the store, in order. It is hashed with the world's entropy:
 * so nobody who sees the label, but not the journal, finds a short text by trying. */
void memory_change_label(struct memory *memory, char kind, uint32_t id, const struct wfs_hash *hash)
{
	struct {
		uint8_t entropy[WFS_ENTROPY_SIZE];
		uint64_t label;
		uint64_t id;
		char kind[8];
		struct wfs_hash hash;
	} bytes = {.label = htobe64(memory->label), .id = htobe64(id), .kind = {kind}};

	memcpy(bytes.entropy, memory->act->fold->entropy, sizeof(bytes.entropy));
	if (hash)
		bytes.hash = *hash;
	const struct wfs_hash next = wfs_hash_of(&bytes, sizeof(bytes));
	memory->label = 0;
	for (size_t i = 0; i < sizeof(memory->label); i++)
		memory->label = memory->label << 8 | next.bytes[i];
}

int memory_store_state(struct memory *memory, struct wfs_error *error)
{
	char label[17];

	snprintf(label, sizeof(label), "%016" PRIx64, memory->label);
	memory->state.label = label;
	memory->state.model = memory->model;
	return wfs_trace(fold_write_memory_store(memory->act->fold, &memory->state, error));
}

/* --- ids and keys --- */

void memory_key(const char *artifact_id, const char *entry_id, char ret_key[static MEMORY_KEY_SIZE])
{
	snprintf(ret_key, MEMORY_KEY_SIZE, "%.128s/%.12s", artifact_id, entry_id);
}

bool memory_is_of(struct wfs_bytes key, const char *artifact_id)
{
	const size_t size = strlen(artifact_id);

	return key.size == size + 1 + MEMORY_ID_SIZE - 1 &&
		memcmp(key.data, artifact_id, size) == 0 && ((const char *)key.data)[size] == '/';
}

static int touch_entry(
	struct memory *memory, const char *entry_id, size_t *ret_cell, struct wfs_error *error)
{
	char key[MEMORY_KEY_SIZE];

	memory_key(memory->id, entry_id, key);
	return wfs_trace(
		fold_touch(memory->act->fold, fold_builtin(memory->act->fold, WFS_BUILTIN_MEMORY),
			wfs_bytes_text(key), ret_cell, error));
}

/* Makes an id that no entry has, from the text, its place and the world's entropy. The id of a
 * removed entry may come again; otherwise ids would depend on what was collected. */
static int new_id(struct memory *memory, const char *text, uint32_t *ret_id, size_t *ret_cell,
	struct wfs_error *error)
{
	struct {
		uint8_t entropy[WFS_ENTROPY_SIZE];
		uint64_t label;
		uint64_t seq;
		uint64_t attempt;
		struct wfs_hash text;
	} from = {
		.label = htobe64(memory->label),
		.seq = htobe64(memory->act->fold->head->height),
		.text = wfs_hash_of(text, strlen(text)),
	};

	memcpy(from.entropy, memory->act->fold->entropy, sizeof(from.entropy));
	for (uint64_t attempt = 0;; from.attempt = htobe64(++attempt)) {
		const struct wfs_hash hash = wfs_hash_of(&from, sizeof(from));
		char id[MEMORY_ID_SIZE];

		*ret_id = (uint32_t)hash.bytes[0] << 24 | (uint32_t)hash.bytes[1] << 16 |
			(uint32_t)hash.bytes[2] << 8 | hash.bytes[3];
		memory_id_text(*ret_id, id);
		int r = touch_entry(memory, id, ret_cell, error);
		if (r)
			return wfs_trace(r);
		if (!fold_cell_at(memory->act->fold, *ret_cell)->live)
			return 0;
	}
}

/* Chooses the id that the entry asks for, if it is free; otherwise a new one. */
static int choose_id(struct memory *memory, const struct memory_entry *entry, uint32_t *ret_id,
	size_t *ret_cell, struct wfs_error *error)
{
	char id[MEMORY_ID_SIZE];

	if (!entry->named)
		return wfs_trace(new_id(memory, entry->text, ret_id, ret_cell, error));
	memory_id_text(entry->number, id);
	int r = touch_entry(memory, id, ret_cell, error);
	if (r)
		return wfs_trace(r);
	*ret_id = entry->number;
	return fold_cell_at(memory->act->fold, *ret_cell)->live
		? wfs_trace(new_id(memory, entry->text, ret_id, ret_cell, error))
		: 0;
}

int memory_charge(const struct memory *memory, const struct wfs_document_artifact *artifact,
	int64_t bytes, struct wfs_error *error)
{
	return wfs_trace(
		account_use(memory->act->fold, artifact->charged_to, ACCOUNT_DISK, bytes, error));
}

/* --- removing entries --- */

int memory_remove(struct memory *memory, const struct wfs_document_artifact *artifact,
	const char *entry_id, struct wfs_error *error)
{
	struct memory_mirror *mirror = NULL;
	char key[MEMORY_KEY_SIZE];
	uint32_t number;
	size_t cell = 0;
	int r = memory_id_number(entry_id, &number) ? touch_entry(memory, entry_id, &cell, error)
						    : -ENOENT;

	if (r == -ENOENT || (!r && !fold_cell_at(memory->act->fold, cell)->live))
		return wfs_error_set(error, WFS_E_NOT_FOUND, "Entry '%.80s' not found in '%s'",
			entry_id, memory->id);
	if (!r && memory_left(memory) == 0) /* otherwise there is no mirror */
		r = memory_mirror(memory, &mirror, error);
	if (r)
		return wfs_trace(r);
	const int64_t bytes = (int64_t)fold_cell_at(memory->act->fold, cell)->state.size;
	r = memory_charge(memory, artifact, -bytes, error);
	if (!r)
		r = fold_delete(memory->act->fold, cell, error);
	memory_key(memory->id, entry_id, key);
	if (!r)
		r = fold_touch_unread(memory->act->fold,
			fold_builtin(memory->act->fold, WFS_BUILTIN_MEMORY_HIT),
			wfs_bytes_text(key), &cell, error);
	if (!r)
		r = fold_delete(memory->act->fold, cell, error);
	if (r)
		return wfs_trace(r);
	memory->state.bytes -= bytes;
	memory->state.count--;
	memory_change_label(memory, '-', number, NULL);
	if (mirror)
		memory_mirror_remove(mirror, number, memory->label);
	memory_looked_away(memory, number);
	return wfs_trace(memory_store_state(memory, error));
}

/* Is the entry being added pruned before this one? Of two equal ones the older is pruned, and it
 * is the newest. */
static bool goes_itself(const struct memory *memory, const struct memory_entry *entry,
	const struct wfs_vectors *vectors, uint32_t lowest)
{
	struct wfs_vectors_row row;

	return memory->order == WFS_VECTORS_LOWEST_IMPORTANCE &&
		wfs_vectors_find(vectors, lowest, &row) == 0 && entry->importance < row.importance;
}

/* Makes room for one more entry. The new entry counts as already added, so it may be the one that
 * is pruned. When the bound was lowered, entries are pruned over several actions. @ret_stored:
 * false: the new entry is pruned */
static int prune(struct memory *memory, const struct wfs_document_artifact *artifact,
	const struct memory_entry *entry, bool *ret_stored, struct wfs_error *error)
{
	int r = 0;

	*ret_stored = true;
	for (; !r && memory->pruned < MEMORY_PRUNED_MAX &&
		memory_count(memory) + *ret_stored > memory->entries_max;
		memory->pruned++) {
		struct memory_mirror *mirror = NULL;
		char id[MEMORY_ID_SIZE];
		uint32_t number;

		r = memory_mirror(memory, &mirror, error);
		if (r || wfs_vectors_lowest(memory_mirror_vectors(mirror), memory->order, &number))
			break;
		if (*ret_stored &&
			goes_itself(memory, entry, memory_mirror_vectors(mirror), number)) {
			*ret_stored = false;
			continue;
		}
		memory_id_text(number, id);
		r = memory_remove(memory, artifact, id, error);
	}
	return wfs_trace(r);
}

/* --- adding --- */

int memory_check_model(
	const struct memory *memory, const struct embedding *embedding, struct wfs_error *error)
{
	const char *const model = memory_model(memory);
	const int64_t dims = memory->state.dims;

	if (!model || (strcmp(model, embedding->model) == 0 && dims == (int64_t)embedding->dims))
		return 0;
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
		"the entries of '%s' have embeddings of '%s' (%" PRId64
		" dimensions), this one is of '%s' (%zu)",
		memory->id, model, dims, embedding->model, embedding->dims);
}

int memory_check_ready(const struct memory *memory, struct wfs_error *error)
{
	const char *const model = memory_model(memory);

	if (memory_left(memory) > 0)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"%" PRId64 " of the %" PRId64
			" entries of '%s' have no embedding of '%.128s' yet: "
			"'worldfs memory reembed %s', or the method reembed of genesis_memory, "
			"goes on",
			memory_left(memory), memory_count(memory), memory->id, model, memory->id);
	if (!model || strcmp(model, WFS_EMBED_MODEL) == 0 ||
		strcmp(model, embedding_host_model(memory->act)) == 0)
		return 0;
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
		"the entries of '%s' have embeddings of '%.128s', and this host has the model "
		"'%.128s': "
		"'worldfs memory reembed %s', or the method reembed of genesis_memory, makes them "
		"anew",
		memory->id, model, embedding_host_model(memory->act), memory->id);
}

double memory_told_score(const struct wfs_vectors_hit *hit)
{
	return hit->score < 1 ? hit->score : 1;
}

/* Finds an entry that is nearly equal. @ret_similarity: 0: not found */
static int find_same(struct memory *memory, const struct embedding *embedding, uint32_t *ret_id,
	double *ret_similarity, struct wfs_error *error)
{
	struct memory_mirror *mirror = NULL;
	struct wfs_vectors_hit hit = {.id = 0};

	*ret_similarity = 0;
	if (memory_count(memory) == 0)
		return 0;
	int r = memory_mirror(memory, &mirror, error);
	if (!r)
		r = wfs_vectors_search(
			memory_mirror_vectors(mirror), embedding->vector, 1, &hit, error);
	if (r > 0 && hit.score > MEMORY_SAME) {
		*ret_id = hit.id;
		*ret_similarity = memory_told_score(&hit);
	}
	return r < 0 ? wfs_trace(r) : 0;
}

static int64_t tick_of(const struct memory *memory, const struct memory_entry *entry)
{
	return entry->tick == MEMORY_TICK_NOW ? (int64_t)memory->act->fold->head->height
					      : entry->tick;
}

static json_t *entry_document(
	const struct memory *memory, const struct memory_entry *entry, const char *id)
{
	json_t *const tags =
		entry->tags ? json_incref((json_t *)(uintptr_t)entry->tags) : json_array();
	WFS_AUTO_JSON json_t *document = json_pack("{s:s, s:f, s:I, s:o, s:s, s:I}", "id", id,
		"importance", entry->importance, "place", (json_int_t)memory->state.added, "tags",
		tags, "text", entry->text, "tick", (json_int_t)tick_of(memory, entry));

	return document && !embedding_write(entry->embedding, document) ? WFS_STEAL(document)
									: NULL;
}

static int put_entry(struct memory *memory, const struct wfs_document_artifact *artifact,
	const struct memory_entry *entry, char ret_id[static MEMORY_ID_SIZE],
	struct wfs_error *error)
{
	struct wfs_fold *const fold = memory->act->fold;
	struct memory_mirror *mirror = NULL;
	struct wfs_vectors_row row = {
		.tick = tick_of(memory, entry),
		.place = (uint64_t)memory->state.added,
		.importance = entry->importance,
		.vector = entry->embedding->vector,
	};
	size_t cell = 0;
	/* Get the mirror first: one that is read afterwards would have the entry already. */
	int r = memory_count(memory) > 0 ? memory_mirror(memory, &mirror, error) : 0;

	if (!r)
		r = choose_id(memory, entry, &row.id, &cell, error);
	if (r)
		return wfs_trace(r);
	memory_id_text(row.id, ret_id);
	WFS_AUTO_JSON json_t *document = entry_document(memory, entry, ret_id);
	r = document ? fold_set_document(fold, cell, document, error) : fold_no_memory(error);
	if (r)
		return wfs_trace(r);
	const int64_t bytes = (int64_t)fold_cell_at(fold, cell)->state.size;
	const struct wfs_hash hash = fold_cell_at(fold, cell)->hash;
	r = memory_charge(memory, artifact, bytes, error);
	if (r)
		return wfs_trace(r);
	memory->state.added++;
	memory->state.bytes += bytes;
	memory->state.count++;
	memory->state.dims = (int64_t)entry->embedding->dims;
	snprintf(memory->model, sizeof(memory->model), "%s", entry->embedding->model);
	memory_change_label(memory, '+', row.id, &hash);
	if (mirror)
		r = memory_mirror_add(mirror, &row, memory->label, error);
	return wfs_trace(r ? r : memory_store_state(memory, error));
}

int memory_put(struct memory *memory, const struct wfs_document_artifact *artifact,
	const struct memory_entry *entry, struct memory_added *ret_added, struct wfs_error *error)
{
	struct memory_added added = {.stored = true};
	uint32_t number;
	size_t cell;
	int r = memory_check_model(memory, entry->embedding, error);

	if (!r)
		r = prune(memory, artifact, entry, &added.stored, error);
	const int64_t bytes =
		(memory_count(memory) + 1) * (int64_t)(entry->embedding->dims * sizeof(float));
	if (!r && added.stored && bytes > MEMORY_VECTORS_MAX)
		r = wfs_error_set(error, WFS_E_QUOTA_EXCEEDED,
			"the embeddings of '%s' would take %" PRId64
			" bytes, at most %d are kept of a store",
			memory->id, bytes, MEMORY_VECTORS_MAX);
	if (!r && added.stored)
		r = put_entry(memory, artifact, entry, added.id, error);
	else if (!r) /* an entry that was pruned at once gets the id that it would have had */
		r = choose_id(memory, entry, &number, &cell, error);
	if (r)
		return wfs_trace(r);
	if (!added.stored)
		memory_id_text(number, added.id);
	*ret_added = added;
	return 0;
}

int memory_add(struct memory *memory, const struct wfs_document_artifact *artifact,
	const struct memory_entry *entry, struct memory_added *ret_added, struct wfs_error *error)
{
	struct memory_added same = {.stored = true};
	uint32_t number = 0;
	int r = memory_check_model(memory, entry->embedding, error);

	if (!r)
		r = find_same(memory, entry->embedding, &number, &same.similarity, error);
	if (r || same.similarity == 0)
		return wfs_trace(r ? r : memory_put(memory, artifact, entry, ret_added, error));
	memory_id_text(number, same.id);
	*ret_added = same;
	return 0;
}
