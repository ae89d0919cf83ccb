/* SPDX-License-Identifier: Apache-2.0 */
/* Open intents: their cells, their records, and the domains that fold their answers. */
#include "kernel/fold/intent.h"

#include "kernel/base/json.h"

int wfs_intent_check_receipt(const struct wfs_body_receipt *receipt, struct wfs_error *error)
{
	static const char *const statuses[] = {
		"ok", "error", "timeout", "cancelled", WFS_INTENT_UNKNOWN};
	struct wfs_hash hash;
	int r = wfs_hash_parse(receipt->intent_id, strlen(receipt->intent_id), &hash, error);

	if (!r && !json_is_object(receipt->payload))
		r = wfs_error_set(error, WFS_E_INVALID_ARGUMENT, "'payload': expected an object");
	if (r)
		return r;
	for (size_t i = 0; i < WFS_ARRAY_COUNT(statuses); i++)
		if (strcmp(receipt->status, statuses[i]) == 0)
			return 0;
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
		"'status': expected ok, error, timeout, cancelled or unknown, got '%.60s'",
		receipt->status);
}

/* --- opening --- */

int intent_open(struct wfs_fold *fold, const struct intent *intent,
	char ret_id[static WFS_HASH_TEXT_SIZE], struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *params = intent->params;
	struct wfs_document_intent document = intent->document;
	const struct wfs_intent record = {
		.effect = intent->effect,
		.params = params,
		.reducer = wfs_builtin_reducer_name(intent->reducer),
		.key = wfs_bytes_text(intent->key ? intent->key : ""),
		.origin = document.origin,
		.id = wfs_intent_id(fold->head->height + fold->folding,
			fold_record_at(fold, fold->folding)->ask_count++),
	};

	if (!params)
		return fold_no_memory(error);
	wfs_hash_text(&record.id, ret_id);
	document.effect = wfs_effect_kind(intent->effect);
	document.state = "open";
	int r = fold_put_intent(fold, ret_id, &document, error);
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

int intent_load(struct wfs_fold *fold, const char *intent_id,
	struct wfs_document_intent *ret_intent, struct wfs_error *error)
{
	int r = fold_read_intent(fold, intent_id, ret_intent, error);

	if (r || ret_intent->own.json)
		return wfs_trace(r);
	/* A cell with an id was live before; one without an id never existed. */
	return fold_cell_at(fold, ret_intent->own.cell)->row.cell_id
		? wfs_error_set(
			  error, WFS_E_CONFLICT, "the intent %s is answered already", intent_id)
		: wfs_error_set(error, WFS_E_NOT_FOUND, "there is no intent %s", intent_id);
}

/* Deletes the cell of a wait (kernel/domain/timer/wait.h), if the intent has one. */
static int close_wait(struct wfs_fold *fold, const char *intent_id, struct wfs_error *error)
{
	const char *const name = wfs_builtin_reducer_name(WFS_BUILTIN_WAIT);
	const struct wfs_reducer_definition *const waits =
		wfs_manifest_reducer_find(fold->manifest, name);
	size_t cell;

	if (!waits || fold_live_count(fold, WFS_BUILTIN_WAIT) == 0)
		return 0;
	int r = fold_touch_unread(fold, waits->index, wfs_bytes_text(intent_id), &cell, error);
	return wfs_trace(r ? r : fold_delete(fold, cell, error));
}

int intent_close(struct wfs_fold *fold, const char *intent_id, struct wfs_error *error)
{
	size_t cell;
	int r = close_wait(fold, intent_id, error);

	if (!r)
		r = fold_touch_unread(fold, fold_builtin(fold, WFS_BUILTIN_INTENT),
			wfs_bytes_text(intent_id), &cell, error);

	return wfs_trace(r ? r : fold_delete(fold, cell, error));
}

int intent_cancel(struct wfs_fold *fold, const char *intent_id, struct wfs_error *error)
{
	const struct wfs_body_receipt body = {
		.adapter_id = WFS_INTENT_ADAPTER,
		.intent_id = intent_id,
		.payload = json_null(),
		.status = "cancelled",
	};

	wfs_buffer_reset(&fold->scratch);
	wfs_body_write_receipt(&fold->scratch, &body);
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
static int load_typed(struct wfs_fold *fold, const char *intent_id,
	struct wfs_document_intent *ret_intent, const struct wfs_intent_type **ret_type,
	struct wfs_error *error)
{
	int r = intent_load(fold, intent_id, ret_intent, error);

	*ret_type = r ? NULL : wfs_domain_intent(fold->domains, ret_intent);
	return r || *ret_type ? wfs_trace(r)
			      : wfs_error_set(error, WFS_E_INTERNAL_ERROR,
					"the intent %s names nothing that waits for it", intent_id);
}

int intent_fold_receipt(
	struct wfs_fold *fold, const struct wfs_body_receipt *receipt, struct wfs_error *error)
{
	const char *const id = receipt->intent_id;
	WFS_AUTO_DOCUMENT struct wfs_document_intent intent = {.own = {.json = NULL}};
	const struct wfs_intent_type *type;
	int r = wfs_intent_check_receipt(receipt, error);

	if (!r)
		r = load_typed(fold, id, &intent, &type, error);
	if (!r && strcmp(receipt->status, WFS_INTENT_UNKNOWN) == 0 && !type->takes_unknown)
		r = wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'status': the intent %s cannot become unknown", id);
	return wfs_trace(r ? r : type->fold_receipt(fold, &intent, receipt, error));
}

int intent_answer(
	struct wfs_fold *fold, const struct wfs_body_receipt *receipt, struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_intent intent = {.own = {.json = NULL}};
	const struct wfs_intent_type *type;
	int r = load_typed(fold, receipt->intent_id, &intent, &type, error);

	return wfs_trace(r ? r : type->fold_receipt(fold, &intent, receipt, error));
}

int intent_check_called(struct wfs_fold *fold, const char *intent_id, struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_intent intent = {.own = {.json = NULL}};
	int r = intent_load(fold, intent_id, &intent, error);

	if (r)
		return wfs_trace(r);
	if (strcmp(intent.effect, wfs_effect_kind(WFS_EFFECT_TOOL_CALL)) != 0 ||
		strcmp(intent.principal, fold->input.principal) != 0)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"the intent %s is no tool call of '%s'", intent_id, fold->input.principal);
	return 0;
}

/* A tool call begins one thing, once. */
static int set_began(struct wfs_fold *fold, const char *intent_id,
	struct wfs_document_intent *intent, const char *began, struct wfs_error *error)
{
	if (intent->began)
		return wfs_error_set(error, WFS_E_CONFLICT, "the intent %s has begun '%.200s'",
			intent_id, intent->began);
	intent->began = began;
	return wfs_trace(fold_write_intent(fold, intent, error));
}

int intent_pass_on(
	struct wfs_fold *fold, const char *intent_id, const char *to, struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_intent intent = {.own = {.json = NULL}};
	int r = intent_check_called(fold, intent_id, error);

	if (!r)
		r = intent_load(fold, intent_id, &intent, error);
	if (!r)
		r = set_began(fold, intent_id, &intent, to, error);
	return wfs_trace(r);
}

int intent_begin(struct wfs_fold *fold, const char *intent_id, const char *began,
	struct wfs_document_intent *ret_intent, struct wfs_error *error)
{
	const struct wfs_intent_type *type;
	int r = intent_check_called(fold, intent_id, error);

	if (!r)
		r = load_typed(fold, intent_id, ret_intent, &type, error);
	if (r)
		return wfs_trace(r);
	if (!type->fold_begun)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"the intent %s is a call of a plan, and runs and chats are begun by calls "
			"of runs",
			intent_id);
	r = set_began(fold, intent_id, ret_intent, began, error);
	return wfs_trace(r ? r : type->fold_begun(fold, intent_id, ret_intent, error));
}

int intent_call_of(
	struct wfs_fold *fold, const char *intent_id, json_t **ret_call, struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_intent intent = {.own = {.json = NULL}};
	const struct wfs_intent_type *type;
	int r = load_typed(fold, intent_id, &intent, &type, error);

	if (r || !type->describe)
		return wfs_trace(r);
	return wfs_trace(type->describe(fold, &intent, ret_call, error));
}

int intent_fold_called(struct wfs_fold *fold, const char *intent_id, struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_intent intent = {.own = {.json = NULL}};
	const struct wfs_intent_type *type;
	int r = load_typed(fold, intent_id, &intent, &type, error);

	fold->outcome.unrecorded = false;
	return wfs_trace(r ? r : type->fold_called(fold, intent_id, &intent, error));
}
