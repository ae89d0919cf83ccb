/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Effects in a fold: after the events of a request were folded, the effects that its steps asked
 * for become records in the order in which they were asked for, each an intent and its answer.
 * Folding the answers may give more events and effects, whose records come after these.
 */
#include "kernel/base/json.h"
#include "kernel/fold/effects.h"
#include "kernel/fold/fold-work.h"

void wfs_fold_set_answerer(struct wfs_fold *fold, struct wfs_answerer *answerer)
{
	fold->answerer = answerer;
}

bool wfs_fold_unanswered(const struct wfs_fold *fold)
{
	return fold->unanswered;
}

static struct fold_ask *ask_at(const struct wfs_fold *fold, size_t i)
{
	return &((struct fold_ask *)fold->asks.items)[i];
}

void fold_asks_clear(struct wfs_fold *fold)
{
	for (size_t i = 0; i < fold->asks.count; i++)
		json_decref(ask_at(fold, i)->params);
	fold->asks.count = 0;
	fold->asks_done = 0;
	fold->unanswered = false;
}

int fold_ask(struct wfs_fold *fold, enum wfs_effect effect, json_t *params, size_t cell_index,
	struct wfs_error *error)
{
	struct fold_ask *const ask = fold_array_add(&fold->asks, sizeof(*ask));

	if (!ask)
		return fold_no_memory(error);
	ask->effect = effect;
	ask->params = json_incref(params);
	ask->record = fold->folding;
	ask->cell = cell_index;
	ask->index = fold_record_at(fold, fold->folding)->ask_count++;
	return 0;
}

int fold_effect(
	struct wfs_fold *fold, size_t ask_index, const json_t *answer, struct wfs_error *error)
{
	const struct fold_ask *const ask = ask_at(fold, ask_index);

	if (strcmp(wfs_json_text(answer, "status"), "ok") != 0)
		return 0;
	return wfs_trace(FOLD_CALL(fold, fold_effect, ask->effect, ask->params,
		json_object_get(answer, "payload"), error));
}

int fold_ask_all(struct wfs_fold *fold, size_t cell_index, struct wfs_error *error)
{
	const struct wfs_reducer_definition *reducer =
		fold_reducer_of(fold, fold_cell_at(fold, cell_index));
	size_t i;
	const json_t *item;

	json_array_foreach(fold->result.effects, i, item) {
		struct wfs_intent intent;
		int r = wfs_intent_read(reducer, item, &intent, error);

		if (r)
			return wfs_trace(r);
		if (fold->asks.count == WFS_EFFECTS_MAX)
			return wfs_error_set(error, WFS_E_RUNTIME_ERROR,
				"the event asked for more than %d effects", WFS_EFFECTS_MAX);
		r = fold_ask(fold, intent.effect, (json_t *)intent.params, cell_index, error);
		if (r)
			return wfs_trace(r);
	}
	return 0;
}

/* Adds the record of the answer, to be folded into the cell that asked. */
static int add_answer(struct wfs_fold *fold, const struct fold_ask *ask, size_t intent,
	const struct wfs_outcome *answer, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *derived =
		json_pack("{s:s, s:O}", "schema", WFS_RECEIPT_SCHEMA, "value", answer->event);

	if (!derived)
		return fold_no_memory(error);
	wfs_buffer_reset(&fold->scratch);
	wfs_buffer_append(&fold->scratch, answer->body.data, answer->body.size);
	int r = fold_add_record(fold, answer->kind, intent, derived, error);
	if (r)
		return wfs_trace(r);
	fold_record_at(fold, fold->records.count - 1)->cell = ask->cell;
	fold_record_at(fold, fold->records.count - 1)->ask = fold->asks_done + 1;
	return 0;
}

static struct wfs_intent intent_of(struct wfs_fold *fold, const struct fold_ask *ask)
{
	const struct fold_cell *cell = fold_cell_at(fold, ask->cell);

	return (struct wfs_intent){
		.effect = ask->effect,
		.params = ask->params,
		.principal = fold->input.principal,
		.reducer = fold_reducer_of(fold, cell)->name,
		.key = fold_bytes(fold, cell->key),
		.id = wfs_intent_id(fold->head->height + ask->record, ask->index),
		.fold = fold,
	};
}

/* Return: 0, 1 if the answer is not known, or -errno. */
static int get_answer(struct wfs_fold *fold, const struct fold_ask *ask, uint64_t seq,
	struct wfs_outcome *ret_answer, struct wfs_error *error)
{
	const struct wfs_intent intent = intent_of(fold, ask);
	struct wfs_error reason = {0};

	if (!fold->answerer)
		return wfs_error_set(error, WFS_E_NOT_ENABLED, "nobody answers '%s'",
			wfs_effect_kind(ask->effect));
	int r = fold->answerer->answer(
		fold->answerer, fold->head, seq, &intent, ret_answer, &reason);
	if (r >= 0)
		return r;
	if (reason.code == WFS_OK)
		return wfs_error_from_errno(error, r, "answer '%s'", wfs_effect_kind(ask->effect));
	*error = reason;
	return wfs_trace(r);
}

static int answer_one(struct wfs_fold *fold, const struct fold_ask *ask, struct wfs_error *error)
{
	WFS_AUTO_OUTCOME struct wfs_outcome answer = {0};
	const struct wfs_intent intent = intent_of(fold, ask);
	const size_t index = fold->records.count;

	wfs_buffer_reset(&fold->scratch);
	if (wfs_intent_write(&intent, &fold->scratch))
		return fold_no_memory(error);
	int r = fold_add_record(fold, WFS_RECORD_INTENT, ask->record, NULL, error);
	fold->folding = index + 1; /* the answerer may compute in the fold, and take that back */
	if (!r)
		r = get_answer(fold, ask, fold->head->height + index + 1, &answer, error);
	fold->unanswered = r > 0;
	if (r)
		return r > 0 ? 0 : wfs_trace(r);
	return wfs_trace(add_answer(fold, ask, index, &answer, error));
}

int fold_answer_asks(struct wfs_fold *fold, struct wfs_error *error)
{
	const size_t count = fold->asks.count;

	for (; fold->asks_done < count && !fold->unanswered; fold->asks_done++) {
		int r = answer_one(fold, ask_at(fold, fold->asks_done), error);

		if (r)
			return wfs_trace(r);
	}
	return 0;
}
