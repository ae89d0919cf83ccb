/* SPDX-License-Identifier: Apache-2.0 */
/*
 * genesis_embedder, genesis_memory, and two services that each have one method of it: make vectors
 * of texts, and store them. An embedding that fails is an error, and costs nothing.
 */
#include "kernel/domain/memory/memory.h"

#include <inttypes.h>

#include "kernel/base/json.h"
#include "kernel/domain/service/service-domain.h"

enum {
	LIST_DEFAULT = 20,
	REEMBED_DEFAULT = 100,
};

/* Costs of these methods, in instructions of code that take as long. */
enum {
	WORK_OF_ENTRY = 100,  /* an entry that is listed or skipped */
	NUMBERS_OF_WORK = 32, /* numbers of vectors compared in the time of one instruction */
};

static int work_to_embed(struct service_call *call, const char *text, struct wfs_error *error)
{
	return wfs_trace(service_work(call, strlen(text) * MEMORY_WORK_OF_BYTE, error));
}

static int work_to_search(
	struct service_call *call, const struct memory *memory, struct wfs_error *error)
{
	return wfs_trace(service_work(
		call, (uint64_t)memory_count(memory) * WFS_EMBED_DIMS / NUMBERS_OF_WORK, error));
}

/* Charges the work of adding @count entries: each may be a duplicate, and entries that are pruned
 * are searched for. */
static int work_to_add(struct service_call *call, const struct memory *memory, size_t count,
	struct wfs_error *error)
{
	const int64_t more = memory_count(memory) + (int64_t)count - memory->entries_max;
	const int64_t pruned = more < 0 ? 0 : more > MEMORY_PRUNED_MAX ? MEMORY_PRUNED_MAX : more;
	int r = work_to_search(call, memory, error);

	return wfs_trace(
		r ? r
		  : service_work(call, (uint64_t)(pruned * memory_count(memory)) / NUMBERS_OF_WORK,
			    error));
}

/* --- genesis_embedder --- */

static int embed(struct service_call *call, struct wfs_error *error)
{
	EMBEDDING_AUTO struct embedding embedding = {.vector = NULL};
	const char *const text = service_text(call, "text");
	int r = work_to_embed(call, text, error);

	if (!r)
		r = embedding_make(call->act, NULL, text, &embedding, error);

	if (r)
		return wfs_trace(r);
	call->result = json_object();
	return embedding_write(&embedding, call->result) ? fold_no_memory(error) : 0;
}

static int get_config(struct service_call *call, struct wfs_error *error)
{
	const char *const model = embedding_host_model(call->act);
	const bool local = strcmp(model, WFS_EMBED_MODEL) == 0;

	call->result = json_pack("{s:i, s:o, s:s}", "cost_per_embedding", 1, "dims",
		local ? json_integer(WFS_EMBED_DIMS) : json_null(), "model", model);
	return call->result ? 0 : fold_no_memory(error);
}

/* --- a store that is used --- */

/* Plain value; store_done. */
struct store {
	struct wfs_document_artifact artifact;
	struct memory memory;
};

static void store_done(struct store *store)
{
	memory_done(&store->memory);
	wfs_document_done(&store->artifact);
}
#define STORE_AUTO WFS_CLEANUP(store_done)

static int open_store(struct service_call *call, enum artifact_use use, struct store *ret_store,
	struct wfs_error *error)
{
	const char *const id = service_text(call, "memory");
	const bool reads = use == ARTIFACT_USE_READ;
	int r = service_may(call,
		reads ? WFS_EFFECT_ACTION_READ_ARTIFACT : WFS_EFFECT_ACTION_WRITE_ARTIFACT, id,
		error);

	if (!r)
		r = act_artifact(call->act, id, &ret_store->artifact, error);
	if (!r)
		r = artifact_permit(call->act, &ret_store->artifact, use, error);
	if (!r)
		r = memory_open(call->act, &ret_store->artifact, &ret_store->memory, error);
	/* A reader other than the owner pays as for any other reading. */
	return wfs_trace(r || !reads ? r
				     : artifact_pay_to_read(call->act, &ret_store->artifact,
					       &call->price_paid, error));
}

static int check_limit(const char *name, int64_t limit, int64_t minimum, struct wfs_error *error)
{
	return limit >= minimum && limit <= MEMORY_LIMIT_MAX
		? 0
		: wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			  "'%s': expected %" PRId64 " to %d, got %" PRId64, name, minimum,
			  MEMORY_LIMIT_MAX, limit);
}

/* --- create --- */

/* Names a new store `memory_<caller>_<height>.<number>`, with at most 80 bytes of the caller's
 * id. */
static void name_store(struct service_call *call, char *buffer, size_t size)
{
	snprintf(buffer, size, "memory_%.80s_%" PRIu64 ".%zu", call->act->actor,
		call->act->fold->head->height, call->act->nest->count);
}

static int create(struct service_call *call, struct wfs_error *error)
{
	const json_t *const given = json_object_get(call->args, "id");
	const json_t *const access = json_object_get(call->args, "access");
	json_t *const config = json_object_get(call->args, "config");
	char name[WFS_ARTIFACT_ID_MAX + 1];
	const char *id = json_string_value(given);

	if (!id) {
		name_store(call, name, sizeof(name));
		id = name;
	}
	int r = artifact_exists(call->act->fold, id, error);
	if (r > 0)
		return wfs_error_set(
			error, WFS_E_ALREADY_EXISTS, "Memory artifact '%.140s' already exists", id);
	if (!r)
		r = service_may(call, WFS_EFFECT_ACTION_WRITE_ARTIFACT, id, error);
	if (r)
		return wfs_trace(r);
	r = service_act(call, call->act->actor,
		json_pack("{s:s, s:s, s:s, s:o, s:s}", "action_type", "write_artifact",
			"artifact_id", id, "type", WFS_ARTIFACT_TYPE_MEMORY, "content",
			json_pack("{s:o}", "config", config ? json_incref(config) : json_object()),
			"access", access ? json_string_value(access) : "private"),
		NULL, error);
	if (r)
		return wfs_trace(r);
	call->result =
		json_pack("{s:s, s:s}", "created_by", call->act->actor, "memory_artifact_id", id);
	return call->result ? 0 : fold_no_memory(error);
}

/* --- add --- */

static int read_entry(
	const struct service_call *call, struct memory_entry *ret_entry, struct wfs_error *error)
{
	struct memory_entry entry = {
		.text = service_text(call, "text"),
		.tags = json_object_get(call->args, "tags"),
		.tick = MEMORY_TICK_NOW,
	};
	int r = memory_read_importance(
		json_object_get(call->args, "importance"), &entry.importance, error);

	if (!r)
		r = memory_check_tags(entry.tags, error);
	if (!r)
		*ret_entry = entry;
	return r;
}

static int add(struct service_call *call, struct wfs_error *error)
{
	STORE_AUTO struct store store = {.artifact.own.json = NULL};
	EMBEDDING_AUTO struct embedding embedding = {.vector = NULL};
	struct memory_entry entry;
	struct memory_added added;
	int r = read_entry(call, &entry, error);

	if (!r)
		r = open_store(call, ARTIFACT_USE_WRITE, &store, error);
	if (!r)
		r = memory_check_ready(&store.memory, error);
	if (!r)
		r = work_to_embed(call, entry.text, error);
	if (!r)
		r = work_to_add(call, &store.memory, 1, error);
	if (!r)
		r = embedding_make(
			call->act, memory_model(&store.memory), entry.text, &embedding, error);
	entry.embedding = &embedding;
	if (!r)
		r = memory_add(&store.memory, &store.artifact, &entry, &added, error);
	if (r)
		return wfs_trace(r);
	call->result = json_pack("{s:b, s:s, s:s, s:b, s:b}", "deduplicated", added.similarity > 0,
		"entry_id", added.id, "memory_artifact_id", store.artifact.id, "stored",
		added.stored, "success", 1);
	if (!call->result ||
		(added.similarity > 0 &&
			json_object_set_new(
				call->result, "similarity", json_real(added.similarity)) < 0))
		return fold_no_memory(error);
	return 0;
}

/* --- search, list, delete --- */

static int search(struct service_call *call, struct wfs_error *error)
{
	const int64_t limit = service_number(call, "limit", MEMORY_LIMIT_DEFAULT);
	STORE_AUTO struct store store = {.artifact.own.json = NULL};
	EMBEDDING_AUTO struct embedding embedding = {.vector = NULL};
	WFS_AUTO_JSON json_t *results = NULL;
	int r = check_limit("limit", limit, 1, error);

	if (!r)
		r = open_store(call, ARTIFACT_USE_READ, &store, error);
	if (!r)
		r = memory_check_ready(&store.memory, error);
	if (!r)
		r = work_to_embed(call, service_text(call, "query"), error);
	if (!r)
		r = work_to_search(call, &store.memory, error);
	if (!r)
		r = embedding_make(call->act, memory_model(&store.memory),
			service_text(call, "query"), &embedding, error);
	if (!r)
		r = memory_search(&store.memory, &embedding, (size_t)limit, &results, error);
	if (r)
		return wfs_trace(r);
	call->result = json_pack("{s:I, s:s, s:O, s:I}", "count",
		(json_int_t)json_array_size(results), "memory_artifact_id", store.artifact.id,
		"results", results, "total_entries", (json_int_t)memory_count(&store.memory));
	return call->result ? 0 : fold_no_memory(error);
}

static int list(struct service_call *call, struct wfs_error *error)
{
	const int64_t limit = service_number(call, "limit", LIST_DEFAULT);
	const int64_t skip = service_number(call, "offset", 0);
	const int64_t offset = skip < MEMORY_ENTRIES_MAX ? skip : MEMORY_ENTRIES_MAX;
	STORE_AUTO struct store store = {.artifact.own.json = NULL};
	WFS_AUTO_JSON json_t *entries = NULL;
	int r = check_limit("limit", limit, 0, error);

	if (!r)
		r = open_store(call, ARTIFACT_USE_READ, &store, error);
	if (!r)
		r = service_work(call, (uint64_t)(limit + offset) * WORK_OF_ENTRY, error);
	if (!r)
		r = memory_list(&store.memory, (size_t)limit, (size_t)offset, &entries, error);
	if (r)
		return wfs_trace(r);
	call->result = json_pack("{s:I, s:O, s:I}", "count", (json_int_t)json_array_size(entries),
		"entries", entries, "total", (json_int_t)memory_count(&store.memory));
	return call->result ? 0 : fold_no_memory(error);
}

static int delete_entry(struct service_call *call, struct wfs_error *error)
{
	const char *const entry = service_text(call, "entry");
	STORE_AUTO struct store store = {.artifact.own.json = NULL};
	int r = open_store(call, ARTIFACT_USE_WRITE, &store, error);

	if (!r)
		r = memory_remove(&store.memory, &store.artifact, entry, error);
	if (r)
		return wfs_trace(r);
	call->result = json_pack("{s:s, s:I}", "deleted_entry_id", entry, "remaining_entries",
		(json_int_t)memory_count(&store.memory));
	return call->result ? 0 : fold_no_memory(error);
}

/* --- import, reembed --- */

/* Finds the items that the store does not have yet with that id and text.
 * @ret_missing: caller owns it */
static int find_missing(
	struct memory *memory, const json_t *entries, json_t **ret_missing, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *missing = json_array();
	json_t *item;
	size_t i;

	json_array_foreach(entries, i, item) {
		const int r = memory_has(memory, item, error);

		if (r < 0)
			return wfs_trace(r);
		if (r == 0 && json_array_append(missing, item) < 0)
			return fold_no_memory(error);
	}
	*ret_missing = WFS_STEAL(missing);
	return *ret_missing ? 0 : fold_no_memory(error);
}

static int import(struct service_call *call, struct wfs_error *error)
{
	STORE_AUTO struct store store = {.artifact.own.json = NULL};
	WFS_CLEANUP(memory_given_done) struct memory_given given = {.ids = NULL};
	const json_t *const entries = json_object_get(call->args, "entries");
	WFS_AUTO_JSON json_t *missing = NULL;
	int r = open_store(call, ARTIFACT_USE_WRITE, &store, error);

	if (!r && json_array_size(entries) > MEMORY_GIVEN_MAX)
		r = wfs_error_set(error, WFS_E_TOO_LARGE,
			"'entries' has %zu of them, at most %d are taken at once",
			json_array_size(entries), MEMORY_GIVEN_MAX);
	if (!r)
		r = find_missing(&store.memory, entries, &missing, error);
	if (!r)
		r = work_to_add(call, &store.memory, json_array_size(missing), error);
	if (!r)
		r = memory_give(&store.memory, &store.artifact, missing, &given, error);
	if (r)
		return wfs_trace(r);
	call->price_paid += given.price_paid;
	call->result = json_pack("{s:I, s:O, s:s, s:I, s:b, s:I}", "added", (json_int_t)given.added,
		"entry_ids", given.ids, "memory_artifact_id", store.artifact.id, "present",
		(json_int_t)(json_array_size(entries) - json_array_size(missing)), "success", 1,
		"total_entries", (json_int_t)memory_count(&store.memory));
	return call->result ? 0 : fold_no_memory(error);
}

static int reembed(struct service_call *call, struct wfs_error *error)
{
	const int64_t limit = service_number(call, "limit", REEMBED_DEFAULT);
	STORE_AUTO struct store store = {.artifact.own.json = NULL};
	size_t done = 0;
	int r = check_limit("limit", limit, 1, error);

	if (!r)
		r = open_store(call, ARTIFACT_USE_WRITE, &store, error);
	if (!r)
		r = memory_reembed(&store.memory, &store.artifact, (size_t)limit, &done, error);
	if (r)
		return wfs_trace(r);
	const char *const model = memory_model(&store.memory);
	call->result = json_pack("{s:I, s:s, s:s?, s:I, s:I}", "left",
		(json_int_t)memory_left(&store.memory), "memory_artifact_id", store.artifact.id,
		"model", model, "reembedded", (json_int_t)done, "total_entries",
		(json_int_t)memory_count(&store.memory));
	return call->result ? 0 : fold_no_memory(error);
}

/* --- the tables --- */

static const struct wfs_form texts = {.kind = WFS_FORM_LIST, .of = &wfs_form_text};
static const struct wfs_form object = {.kind = WFS_FORM_OBJECT, .ref = "sys/MemoryConfig@1"};

#define MEMORY                                                          \
	{                                                               \
		"memory", &wfs_form_text, 0, "the id of a memory_store" \
	}

static const struct wfs_field embed_params[] = {
	{"text", &wfs_form_text, 0, "at most 16 KiB"},
	{NULL},
};
static const struct wfs_field no_params[] = {{NULL}};
static const struct wfs_field create_params[] = {
	{"id", &wfs_form_text, WFS_OPTIONAL, "its id; one is made when absent"},
	{"config", &object, WFS_OPTIONAL,
		"{max_entries?: 1 to 100000, auto_prune?: oldest, lowest_score or "
		"lowest_importance}"},
	{"access", &wfs_form_text, WFS_OPTIONAL,
		"who may use it, such as freeware; private when absent"},
	{NULL},
};
static const struct wfs_field add_params[] = {
	MEMORY,
	{"text", &wfs_form_text, 0, "what is to be remembered, at most 16 KiB"},
	{"tags", &texts, WFS_OPTIONAL, "words about it, at most 32"},
	{"importance", &wfs_form_value, WFS_OPTIONAL, "a number from 0 to 1; 0.5 when absent"},
	{NULL},
};
static const struct wfs_field search_params[] = {
	MEMORY,
	{"query", &wfs_form_text, 0, "a text that is like what is sought"},
	{"limit", &wfs_form_nat, WFS_OPTIONAL, "at most so many, 5 when absent"},
	{NULL},
};
static const struct wfs_field list_params[] = {
	MEMORY,
	{"limit", &wfs_form_nat, WFS_OPTIONAL, "at most so many, 20 when absent"},
	{"offset", &wfs_form_nat, WFS_OPTIONAL, "so many are left out"},
	{NULL},
};
static const struct wfs_field delete_params[] = {
	MEMORY,
	{"entry", &wfs_form_text, 0, "its id, mem_ and 8 hex digits"},
	{NULL},
};

static const struct wfs_form entry = {.kind = WFS_FORM_OBJECT, .ref = "sys/MemoryEntry@1"};
static const struct wfs_form entries = {.kind = WFS_FORM_LIST, .of = &entry};
static const struct wfs_field import_params[] = {
	MEMORY,
	{"entries", &entries, 0,
		"at most 256 of {text, embedding?, id?, importance?, model?, tags?, tick?}"},
	{NULL},
};
static const struct wfs_field reembed_params[] = {
	MEMORY,
	{"limit", &wfs_form_nat, WFS_OPTIONAL, "at most so many, 100 when absent"},
	{NULL},
};

#define ADD                                                                                \
	{                                                                                  \
		"add", 1, add, add_params,                                                 \
			"adds a text to a memory_store; what says the same is stored once" \
	}
#define SEARCH                                                                          \
	{                                                                               \
		"search", 1, search, search_params,                                     \
			"finds the entries of a memory_store that are most like a text" \
	}

const struct service_method embedder_methods[] = {
	{"embed", 1, embed, embed_params, "gives {dims, embedding, model} of a text"},
	{"get_config", 0, get_config, no_params, "tells which model embeds texts"},
	{NULL},
};
const struct service_method memory_methods[] = {
	{"create", 5, create, create_params, "makes a memory_store for who calls"},
	ADD,
	SEARCH,
	{"delete", 0, delete_entry, delete_params, "takes an entry out of a memory_store"},
	{"list", 0, list, list_params, "lists the entries of a memory_store, by id"},
	{"import", 0, import, import_params,
		"adds entries as they are; 1 scrip for each that has no embedding of the model"},
	{"reembed", 0, reembed, reembed_params,
		"makes embeddings anew when the model is another one"},
	{NULL},
};
const struct service_method memory_search_methods[] = {SEARCH, {NULL}};
const struct service_method memory_add_methods[] = {ADD, {NULL}};
