/* SPDX-License-Identifier: Apache-2.0 */
/* Adds entries that a client has written: in the content of a store, or for `import`. */
#include <inttypes.h>
#include <math.h>

#include "kernel/base/encode.h"
#include "kernel/base/json.h"
#include "kernel/domain/action/invoke.h"
#include "kernel/domain/action/service.h"
#include "kernel/domain/memory/memory-file.h"
#include "kernel/domain/memory/memory.h"
#include "kernel/domain/principal/account.h"

#define EMBEDDER "genesis_embedder"
#define ID_PREFIX "mem_"

enum { WORK_OF_GIVEN = 500 }; /* per entry, in instructions of code that take as long */

/* One given entry. Plain value; given_done. */
struct given {
	struct memory_entry entry;  /* borrows from its JSON */
	struct embedding embedding; /* its vector is NULL when the text has to be embedded */
};

/* All given entries. Plain value; list_done. */
struct list {
	struct given *items;
	size_t count;
	int64_t to_embed;
};

static void list_done(struct list *list)
{
	for (size_t i = 0; i < list->count; i++)
		embedding_done(&list->items[i].embedding);
	free(list->items);
}

/* --- reading one --- */

int memory_check_tags(const json_t *tags, struct wfs_error *error)
{
	const json_t *tag;
	size_t i;

	if (tags && !json_is_array(tags))
		return wfs_error_set(
			error, WFS_E_INVALID_ARGUMENT, "'tags': expected a list of texts");
	if (json_array_size(tags) > MEMORY_TAGS_MAX)
		return wfs_error_set(error, WFS_E_TOO_LARGE,
			"'tags' has %zu of them, at most %d are taken", json_array_size(tags),
			MEMORY_TAGS_MAX);
	json_array_foreach(tags, i, tag) {
		if (!json_is_string(tag))
			return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				"'tags': number %zu: expected a text", i + 1);
		if (json_string_length(tag) > MEMORY_TAG_MAX)
			return wfs_error_set(error, WFS_E_TOO_LARGE,
				"'tags': number %zu has %zu bytes, at most %d are taken", i + 1,
				json_string_length(tag), MEMORY_TAG_MAX);
	}
	return 0;
}

int memory_read_importance(const json_t *value, double *ret_importance, struct wfs_error *error)
{
	const double importance = json_number_value(value);

	*ret_importance = 0.5;
	if (!value)
		return 0;
	if (!json_is_number(value) || !(importance >= 0 && importance <= 1))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'importance': expected a number from 0 to 1");
	*ret_importance = importance;
	return 0;
}

/* Gets a member; NULL if it is absent or null. */
static const json_t *member(const json_t *item, const char *name)
{
	const json_t *const value = json_object_get(item, name);

	return json_is_null(value) ? NULL : value;
}

/* Reads an id of `mem_` and 1 to 8 hex digits: `mem_001` means `mem_00000001`. */
static bool read_id(const char *id, uint32_t *ret_number)
{
	const size_t prefix = strlen(ID_PREFIX);
	const char *const digits = id + prefix;

	if (strncmp(id, ID_PREFIX, prefix) != 0 || !*digits || strlen(digits) > 8 ||
		digits[strspn(digits, "0123456789abcdef")] != '\0')
		return false;
	*ret_number = (uint32_t)strtoul(digits, NULL, 16);
	return true;
}

static bool is_usable(const struct embedding *embedding)
{
	bool is_zero = true;

	for (size_t i = 0; i < embedding->dims; i++) {
		if (!isfinite(embedding->vector[i]))
			return false;
		is_zero &= embedding->vector[i] == 0;
	}
	return !is_zero;
}

/* Reads an embedding that is a list of numbers. */
static int read_numbers(const json_t *numbers, const char *model, struct embedding *ret_embedding)
{
	struct embedding read = {.dims = json_array_size(numbers)};
	const json_t *number;
	size_t i;

	if (read.dims < 1 || read.dims > EMBEDDING_DIMS_MAX || strlen(model) > EMBEDDING_MODEL_MAX)
		return -EINVAL;
	json_array_foreach(numbers, i, number) {
		if (!json_is_number(number))
			return -EINVAL;
	}
	read.vector = malloc(read.dims * sizeof(*read.vector));
	if (!read.vector)
		return -ENOMEM;
	json_array_foreach(numbers, i, number)
		read.vector[i] = (float)json_number_value(number);
	snprintf(read.model, sizeof(read.model), "%s", model);
	*ret_embedding = read;
	return 0;
}

/* Reads the vector of an entry if it is of the model that the store has, or will have. A vector
 * without a model is ignored: examples have vectors that were cut short. */
static int read_vector(const json_t *item, const char *model, struct embedding *ret_embedding,
	struct wfs_error *error)
{
	const json_t *const value = member(item, "embedding");
	const char *const own = wfs_json_text(item, "model");
	struct embedding read = {.vector = NULL};
	struct wfs_error reason = {0};

	if (!value || !*own)
		return 0;
	int r = json_is_array(value) ? read_numbers(value, own, &read)
				     : embedding_read(item, &read, &reason);
	if (!r &&
		(!is_usable(&read) ||
			(strcmp(own, WFS_EMBED_MODEL) == 0 && read.dims != WFS_EMBED_DIMS)))
		r = -EINVAL;
	if (!r && strcmp(own, model) == 0)
		*ret_embedding = read;
	else
		embedding_done(&read);
	if (r == -ENOMEM)
		return fold_no_memory(error);
	return r ? wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			   "'embedding': expected a list of 1 to %d numbers that are not all 0, or "
			   "base64 of 'dims' numbers as float32; of '" WFS_EMBED_MODEL
			   "' %d numbers",
			   EMBEDDING_DIMS_MAX, WFS_EMBED_DIMS)
		 : 0;
}

static int read_text(const json_t *item, const char **ret_text, struct wfs_error *error)
{
	const json_t *const text = json_object_get(item, "text");

	if (!json_is_string(text) || strlen(json_string_value(text)) != json_string_length(text))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'text': expected a text without NUL characters");
	*ret_text = json_string_value(text);
	return wfs_trace(embedding_check_text(*ret_text, error));
}

static int read_members(const json_t *item, struct memory_entry *entry, struct wfs_error *error)
{
	const json_t *const id = member(item, "id");
	int r = wfs_json_members(item, "an entry",
		"dims? embedding? id? importance? model? place? tags? text tick?", error);

	if (!r && id && !json_is_string(id))
		r = wfs_error_set(error, WFS_E_INVALID_ARGUMENT, "'id': expected a text");
	if (!r)
		r = read_text(item, &entry->text, error);
	entry->tags = member(item, "tags");
	if (!r)
		r = memory_check_tags(entry->tags, error);
	if (!r)
		r = memory_read_importance(member(item, "importance"), &entry->importance, error);
	entry->tick = MEMORY_TICK_NOW;
	if (!r && member(item, "tick"))
		r = wfs_json_get_integer(item, "tick", 0, MEMORY_TICK_MAX, &entry->tick, error);
	entry->named = !r && id && read_id(json_string_value(id), &entry->number);
	return wfs_trace(r);
}

static int read_one(const struct memory *memory, const json_t *item, size_t index,
	struct list *list, struct wfs_error *error)
{
	struct given *const given = &list->items[list->count++];
	const char *const own = memory_model(memory);
	struct wfs_error reason = {0};
	int r = read_members(item, &given->entry, &reason);

	if (!r)
		r = read_vector(item, own ? own : embedding_host_model(memory->act),
			&given->embedding, &reason);
	if (r)
		return r == -ENOMEM
			? fold_no_memory(error)
			: wfs_error_set(error, reason.code, "'entries': number %zu: %.400s",
				  index + 1, reason.message);
	list->to_embed += given->embedding.vector == NULL;
	return 0;
}

static int read_list(const struct memory *memory, const json_t *entries, struct list *list,
	struct wfs_error *error)
{
	const size_t count = json_array_size(entries);
	const json_t *item;
	size_t i;
	int r = 0;

	if (count > MEMORY_GIVEN_MAX)
		return wfs_error_set(error, WFS_E_TOO_LARGE,
			"'entries': %zu are new, at most %d are taken at once", count,
			MEMORY_GIVEN_MAX);
	list->items = calloc(count + 1, sizeof(*list->items));
	if (!list->items)
		return fold_no_memory(error);
	json_array_foreach(entries, i, item) {
		r = read_one(memory, item, i, list, error);
		if (r)
			break;
	}
	return wfs_trace(r);
}

/* --- paying --- */

/* Pays for embeddings by the host as for calls of genesis_embedder, if the world has that. */
static int pay(struct act *act, int64_t count, int64_t *ret_price, struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_artifact embedder = {.own.json = NULL};
	char earner[WFS_ARTIFACT_ID_MAX + 1];
	int r = artifact_exists(act->fold, EMBEDDER, error);

	*ret_price = 0;
	if (r <= 0 || count == 0)
		return r < 0 ? wfs_trace(r) : 0;
	r = artifact_get(act->fold, EMBEDDER, &embedder, error);
	if (r || artifact_is_free(act, &embedder))
		return wfs_trace(r);
	const int64_t price = count * service_find(act->fold->domains, EMBEDDER)->methods[0].price;
	r = artifact_check_payer(act, &embedder, price, error);
	if (!r)
		r = artifact_earner(act->fold, &embedder, earner, error);
	if (!r)
		r = account_move(act->fold, act->payer, earner, price, error);
	if (!r)
		*ret_price = price;
	return wfs_trace(r);
}

/* --- adding --- */

static int add_one(struct memory *memory, const struct wfs_document_artifact *artifact,
	struct given *given, struct memory_given *to, struct wfs_error *error)
{
	const bool embedded = given->embedding.vector != NULL;
	struct wfs_lua_budget *const budget = &memory->act->fold->budget;
	struct memory_added added;
	int r = 0;

	budget->used +=
		WORK_OF_GIVEN + (embedded ? 0 : strlen(given->entry.text) * MEMORY_WORK_OF_BYTE);
	if (budget->used > budget->instructions)
		r = wfs_error_set(error, WFS_E_RUNTIME_ERROR,
			"'entries' would take more than the %" PRIu64
			" instructions that one record may",
			budget->instructions);

	if (!r && !embedded)
		r = embedding_make(memory->act, memory_model(memory), given->entry.text,
			&given->embedding, error);
	given->entry.embedding = &given->embedding;
	if (!r)
		r = memory_put(memory, artifact, &given->entry, &added, error);
	if (r)
		return wfs_trace(r);
	to->added += added.stored;
	return json_array_append_new(to->ids, json_string(added.id)) < 0 ? fold_no_memory(error)
									 : 0;
}

void memory_given_done(struct memory_given *given)
{
	json_decref(given->ids);
}

int memory_give(struct memory *memory, const struct wfs_document_artifact *artifact,
	const json_t *entries, struct memory_given *ret_given, struct wfs_error *error)
{
	WFS_CLEANUP(list_done) struct list list = {.items = NULL};
	WFS_CLEANUP(memory_given_done) struct memory_given given = {.ids = json_array()};
	int r = given.ids ? memory_check_ready(memory, error) : fold_no_memory(error);

	if (!r)
		r = read_list(memory, entries, &list, error);
	if (!r)
		r = pay(memory->act, list.to_embed, &given.price_paid, error);
	for (size_t i = 0; !r && i < list.count; i++)
		r = add_one(memory, artifact, &list.items[i], &given, error);
	if (r)
		return wfs_trace(r);
	*ret_given = given;
	given.ids = NULL;
	return 0;
}

int memory_has(struct memory *memory, const json_t *item, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *entry = NULL;
	char key[MEMORY_KEY_SIZE];
	char id[MEMORY_ID_SIZE];
	uint32_t number;
	size_t cell;

	if (!read_id(wfs_json_text(item, "id"), &number))
		return 0;
	memory_id_text(number, id);
	memory_key(memory->id, id, key);
	int r = fold_load(memory->act->fold, WFS_BUILTIN_MEMORY, key, &cell, &entry, error);
	if (r)
		return wfs_trace(r);
	return entry && strcmp(wfs_json_text(entry, "text"), wfs_json_text(item, "text")) == 0;
}

/* --- in the content of a store --- */

int memory_content_entries(struct wfs_fold *fold, const struct wfs_document_artifact *artifact,
	json_t **ret_entries, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *document = NULL;
	struct wfs_bytes content;

	*ret_entries = NULL;
	if (!wfs_memory_is_store(artifact->type))
		return 0;
	int r = artifact_text(fold, WFS_BUILTIN_CONTENT, artifact->id, &content, error);
	if (!r && content.size > 0)
		r = wfs_json_parse_bounded(content.data, content.size, &document, error);
	if (!r)
		*ret_entries = json_incref(json_object_get(document, "entries"));
	return wfs_trace(r);
}

static json_t *text_of(const json_t *item)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_json_write(item, &text);
	return wfs_buffer_check(&text) ? NULL : json_stringn(text.data, text.size);
}

/* Makes an object whose members are the items of a list, as text. Return: new reference, NULL
 * without memory. */
static json_t *index_of(const json_t *entries)
{
	WFS_AUTO_JSON json_t *index = json_object();
	const json_t *item;
	size_t i;

	json_array_foreach(entries, i, item) {
		WFS_AUTO_JSON json_t *text = text_of(item);

		if (!text || json_object_set_new(index, json_string_value(text), json_true()) < 0)
			return NULL;
	}
	return WFS_STEAL(index);
}

/* Finds the items of @entries that are not in @index of another list. Return: new reference, NULL
 * without memory. */
static json_t *others(json_t *entries, const json_t *index)
{
	WFS_AUTO_JSON json_t *found = json_array();
	json_t *item;
	size_t i;

	json_array_foreach(entries, i, item) {
		WFS_AUTO_JSON json_t *text = text_of(item);

		if (!text ||
			(!json_object_get(index, json_string_value(text)) &&
				json_array_append(found, item) < 0))
			return NULL;
	}
	return WFS_STEAL(found);
}

/* Removes entries that were removed from the content, or changed in it. An entry with the id of
 * one of these, but another text, stays: it had the id first, so the entry of the list got another
 * id. */
static int remove_all(struct memory *memory, const struct wfs_document_artifact *artifact,
	const json_t *entries, struct wfs_error *error)
{
	const json_t *item;
	size_t i;

	json_array_foreach(entries, i, item) {
		char id[MEMORY_ID_SIZE];
		uint32_t number;
		int r = memory_has(memory, item, error);

		if (r > 0 && read_id(wfs_json_text(item, "id"), &number)) {
			memory_id_text(number, id);
			r = memory_remove(memory, artifact, id, error);
		}
		if (r < 0)
			return wfs_trace(r);
	}
	return 0;
}

static int change(struct act *act, const struct wfs_document_artifact *artifact, json_t *gone,
	json_t *come, struct wfs_error *error)
{
	MEMORY_AUTO struct memory memory = {.act = NULL};
	WFS_CLEANUP(memory_given_done) struct memory_given given = {.ids = NULL};

	if (!gone || !come)
		return fold_no_memory(error);
	if (json_array_size(gone) + json_array_size(come) == 0)
		return 0;
	int r = memory_open(act, artifact, &memory, error);
	if (!r)
		r = remove_all(&memory, artifact, gone, error);
	if (!r && json_array_size(come) > 0)
		r = memory_give(&memory, artifact, come, &given, error);
	if (!r && given.price_paid > 0)
		act->price_paid = (act->price_paid > 0 ? act->price_paid : 0) + given.price_paid;
	return wfs_trace(r);
}

int memory_take_content(struct act *act, const struct wfs_document_artifact *artifact,
	json_t *before, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *entries = NULL;
	int r = memory_content_entries(act->fold, artifact, &entries, error);

	if (r || !wfs_memory_is_store(artifact->type) || (!before && !entries))
		return wfs_trace(r);
	WFS_AUTO_JSON json_t *old = index_of(before);
	WFS_AUTO_JSON json_t *new = index_of(entries);
	if (!old || !new)
		return fold_no_memory(error);
	WFS_AUTO_JSON json_t *gone = others(before, new);
	WFS_AUTO_JSON json_t *come = others(entries, old);
	return wfs_trace(change(act, artifact, gone, come, error));
}
