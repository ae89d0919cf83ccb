/* SPDX-License-Identifier: Apache-2.0 */
/* Open intents: their cells, their records, and the domains that fold their answers. */
#include "kernel/fold/intent.h"

#include "kernel/base/json.h"

int wfs_intent_check_receipt(const json_t *receipt, struct wfs_error *error)
{
	static const char *const statuses[] = {"ok", "error", "timeout", "cancelled"};
	struct wfs_hash hash;
	const char *text;
	int r = wfs_json_members(
		receipt, "a receipt", "adapter_id intent_id payload status cost? grant?", error);

	if (!r)
		r = wfs_json_get_string(receipt, "adapter_id", &text, error);
	if (!r)
		r = wfs_json_get_string(receipt, "intent_id", &text, error);
	if (!r)
		r = wfs_hash_parse(text, strlen(text), &hash, error);
	if (!r)
		r = wfs_json_get_string(receipt, "status", &text, error);
	if (!r && !json_is_object(json_object_get(receipt, "payload")))
		r = wfs_error_set(error, WFS_E_INVALID_ARGUMENT, "'payload': expected an object");
	if (r)
		return r;
	for (size_t i = 0; i < WFS_ARRAY_COUNT(statuses); i++)
		if (strcmp(text, statuses[i]) == 0)
			return 0;
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
		"'status': expected ok, error, timeout or cancelled, got '%.60s'", text);
}

/* --- opening --- */

static int make_cell(struct wfs_fold *fold, const struct intent *intent, const char *id,
	json_t *document, struct wfs_error *error)
{
	if (json_object_set_new(document, "effect", json_string(wfs_effect_kind(intent->effect))) <
			0 ||
		json_object_set_new(document, "state", json_string("open")) < 0)
		return fold_no_memory(error);
	return wfs_trace(fold_put(fold, WFS_BUILTIN_INTENT, id, document, error));
}

int intent_open(struct wfs_fold *fold, const struct intent *intent,
	char ret_id[static WFS_HASH_TEXT_SIZE], struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *params = intent->params;
	WFS_AUTO_JSON json_t *document = intent->document;
	const struct wfs_intent record = {
		.effect = intent->effect,
		.params = params,
		.reducer = wfs_builtin_reducer_name(intent->reducer),
		.key = wfs_bytes_text(intent->key),
		.id = wfs_intent_id(fold->head->height + fold->folding,
			fold_record_at(fold, fold->folding)->ask_count++),
	};

	if (!params || !document)
		return fold_no_memory(error);
	wfs_hash_text(&record.id, ret_id);
	int r = make_cell(fold, intent, ret_id, document, error);
	if (r)
		return wfs_trace(r);
	wfs_buffer_reset(&fold->scratch);
	if (wfs_intent_write(&record, &fold->scratch))
		return fold_no_memory(error);
	return wfs_trace(fold_add_record(fold, WFS_RECORD_INTENT, fold->folding, NULL, error));
}

int intent_check_room(const struct wfs_fold *fold, struct wfs_error *error)
{
	return fold_live_count(fold, WFS_BUILTIN_INTENT) < WFS_INTENTS_MAX
		? 0
		: wfs_error_set(error, WFS_E_OVERLOADED,
			  "%d effects are in flight, which is the most that there may be",
			  WFS_INTENTS_MAX);
}

/* --- closing --- */

int intent_load(struct wfs_fold *fold, const char *intent_id, size_t *ret_cell,
	json_t **ret_document, struct wfs_error *error)
{
	size_t cell;
	int r = fold_load(fold, WFS_BUILTIN_INTENT, intent_id, &cell, ret_document, error);

	if (!r && ret_cell)
		*ret_cell = cell;
	if (r || *ret_document)
		return wfs_trace(r);
	/* A cell with an id was live before; one without an id never existed. */
	return fold_cell_at(fold, cell)->row.cell_id
		? wfs_error_set(
			  error, WFS_E_CONFLICT, "the intent %s is answered already", intent_id)
		: wfs_error_set(error, WFS_E_NOT_FOUND, "there is no intent %s", intent_id);
}

int intent_close(struct wfs_fold *fold, const char *intent_id, struct wfs_error *error)
{
	size_t cell;
	int r = fold_touch_unread(fold, fold_builtin(fold, WFS_BUILTIN_INTENT),
		wfs_bytes_text(intent_id), &cell, error);

	return wfs_trace(r ? r : fold_delete(fold, cell, error));
}

int intent_cancel(struct wfs_fold *fold, const char *intent_id, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *body = json_pack("{s:s, s:s, s:n, s:s}", "adapter_id",
		WFS_INTENT_ADAPTER, "intent_id", intent_id, "payload", "status", "cancelled");

	if (!body)
		return fold_no_memory(error);
	wfs_buffer_reset(&fold->scratch);
	wfs_json_write(body, &fold->scratch);
	int r = fold_add_record(fold, WFS_RECORD_RECEIPT, fold->folding, NULL, error);
	return wfs_trace(r ? r : intent_close(fold, intent_id, error));
}

void intent_forget(json_t *list, const char *intent_id)
{
	size_t i;
	const json_t *item;

	json_array_foreach(list, i, item) {
		if (strcmp(wfs_json_text(item, "intent_id"), intent_id) != 0)
			continue;
		json_array_remove(list, i);
		return;
	}
}

/* --- answers --- */

/* Loads an intent, and finds its row in a domain's table. A cell that fits no row is a damaged
 * store. */
static int load_typed(struct wfs_fold *fold, const char *intent_id, size_t *ret_cell,
	json_t **ret_document, const struct wfs_intent_type **ret_type, struct wfs_error *error)
{
	int r = intent_load(fold, intent_id, ret_cell, ret_document, error);

	*ret_type = r ? NULL : wfs_domain_intent(fold->domains, *ret_document);
	return r || *ret_type ? wfs_trace(r)
			      : wfs_error_set(error, WFS_E_INTERNAL_ERROR,
					"the intent %s names nothing that waits for it", intent_id);
}

int intent_fold_receipt(struct wfs_fold *fold, const json_t *receipt, struct wfs_error *error)
{
	const char *const id = wfs_json_text(receipt, "intent_id");
	WFS_AUTO_JSON json_t *document = NULL;
	const struct wfs_intent_type *type;
	int r = wfs_intent_check_receipt(receipt, error);

	if (!r)
		r = load_typed(fold, id, NULL, &document, &type, error);
	return wfs_trace(r ? r : type->fold_receipt(fold, document, receipt, error));
}

int intent_check_called(struct wfs_fold *fold, const char *intent_id, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *document = NULL;
	int r = intent_load(fold, intent_id, NULL, &document, error);

	if (r)
		return wfs_trace(r);
	if (strcmp(wfs_json_text(document, "effect"), wfs_effect_kind(WFS_EFFECT_TOOL_CALL)) != 0 ||
		strcmp(wfs_json_text(document, "principal"), fold->input.principal) != 0)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"the intent %s is no tool call of '%s'", intent_id, fold->input.principal);
	return 0;
}

int intent_begin(struct wfs_fold *fold, const char *intent_id, const char *began,
	json_t **ret_document, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *document = NULL;
	const struct wfs_intent_type *type;
	size_t cell;
	int r = intent_check_called(fold, intent_id, error);

	if (!r)
		r = load_typed(fold, intent_id, &cell, &document, &type, error);
	if (r)
		return wfs_trace(r);
	if (!type->fold_begun)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"the intent %s is a call of a plan, and runs and chats are begun by calls "
			"of runs",
			intent_id);
	if (json_object_get(document, "began"))
		return wfs_error_set(error, WFS_E_CONFLICT, "the intent %s has begun '%.200s'",
			intent_id, wfs_json_text(document, "began"));
	if (json_object_set_new(document, "began", json_string(began)) < 0)
		return fold_no_memory(error);
	r = fold_set_document(fold, cell, document, error);
	if (!r)
		r = type->fold_begun(fold, intent_id, document, error);
	if (!r && ret_document)
		*ret_document = WFS_STEAL(document);
	return wfs_trace(r);
}

int intent_call_of(
	struct wfs_fold *fold, const char *intent_id, json_t **ret_call, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *document = NULL;
	const struct wfs_intent_type *type;
	int r = load_typed(fold, intent_id, NULL, &document, &type, error);

	if (r || !type->describe)
		return wfs_trace(r);
	return wfs_trace(type->describe(fold, document, ret_call, error));
}

int intent_fold_called(struct wfs_fold *fold, const char *intent_id, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *document = NULL;
	const struct wfs_intent_type *type;
	int r = load_typed(fold, intent_id, NULL, &document, &type, error);

	fold->outcome.unrecorded = false;
	return wfs_trace(r ? r : type->fold_called(fold, intent_id, document, error));
}
