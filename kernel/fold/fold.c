/* SPDX-License-Identifier: Apache-2.0 */
/* Folding one request and what it causes. */
#include "kernel/fold/fold-work.h"
#include "kernel/fold/intent.h"
#include "kernel/fold/seen.h"

enum { KEPT_BYTES = 4 << 20 }; /* of memory that is kept from one run to the next */

int wfs_fold_new(
	const uint8_t *entropy, const struct wfs_domain *const *domains, struct wfs_fold **ret_fold)
{
	WFS_AUTO_FOLD struct wfs_fold *fold = calloc(1, sizeof(*fold));
	size_t count = 0;

	while (domains[count])
		count++;
	if (!fold || !(fold->kept = calloc(count + 1, sizeof(*fold->kept))))
		return -ENOMEM;
	fold->domains = domains;
	for (size_t i = 0; i < count; i++)
		if (!(fold->kept[i] = calloc(1, domains[i]->kept_size + 1)))
			return -ENOMEM;
	memcpy(fold->entropy, entropy, sizeof(fold->entropy));
	if (wfs_box_new(&fold->box) < 0)
		return -ENOMEM;
	*ret_fold = WFS_STEAL(fold);
	return 0;
}

void fold_trim(struct wfs_buffer *buffer)
{
	wfs_buffer_reset(buffer);
	wfs_buffer_trim(buffer, KEPT_BYTES);
}

void wfs_fold_clear(struct wfs_fold *fold)
{
	for (size_t i = 0; i < fold->records.count; i++)
		json_decref(fold_record_at(fold, i)->derived);
	fold_asks_clear(fold);
	fold->records.count = 0;
	fold_forget_cells(fold, 0);
	fold->changes.count = 0;
	fold->applied_count = 0;
	fold->steps = 0;
	fold->value_count = 0;
	fold->undos.count = 0;
	fold->mark_count = 0;
	FOLD_TELL(fold, clear);
	json_decref(fold->outcome.details);
	json_decref(fold->outcome.answer);
	json_decref(fold->outcome.action);
	json_decref(fold->outcome.result);
	json_decref(fold->outcome.wanted);
	json_decref(fold->outcome.of);
	json_decref(fold->outcome.said_of);
	wfs_texts_done(&fold->texts);
	fold->outcome = (struct fold_outcome){.unrecorded = false};
	fold_trim(&fold->text);
	fold_trim(&fold->scratch);
	fold_trim(&fold->result.state);
	json_decref(WFS_STEAL(fold->result.events));
	json_decref(WFS_STEAL(fold->result.effects));
}

uint64_t wfs_fold_work(const struct wfs_fold *fold)
{
	return fold->budget.used;
}

size_t wfs_fold_bytes(const struct wfs_fold *fold)
{
	return fold->text.size;
}

void wfs_fold_set_quarantine(struct wfs_fold *fold, struct wfs_quarantine *quarantine)
{
	wfs_box_quarantine(fold->box, quarantine);
}

void wfs_fold_free(struct wfs_fold *fold)
{
	if (!fold)
		return;
	if (fold->box) /* otherwise nothing was folded, and domains may have no memory yet */
		wfs_fold_clear(fold);
	free(fold->records.items);
	free(fold->cells.items);
	free(fold->seen.items);
	free(fold->slots);
	free(fold->changes.items);
	free(fold->undos.items);
	free(fold->asks.items);
	wfs_buffer_done(&fold->text);
	wfs_buffer_done(&fold->seen_text);
	wfs_buffer_done(&fold->scratch);
	wfs_code_result_done(&fold->result);
	/* Domains may keep code, which must be freed before the box. */
	for (size_t i = 0; fold->domains && fold->domains[i]; i++) {
		if (fold->kept[i] && fold->domains[i]->done)
			fold->domains[i]->done(fold->kept[i]);
		free(fold->kept[i]);
	}
	free(fold->kept);
	wfs_box_free(fold->box);
	free(fold);
}

static int fold_own(struct wfs_fold *fold, struct wfs_error *error)
{
	switch (fold->input.kind) {
	case WFS_RECORD_EVENT:
		return wfs_trace(fold_event(fold, 0, error));
	case WFS_RECORD_ACTION:
		return wfs_trace(fold_action(fold, error));
	case WFS_RECORD_RECEIPT:
		return wfs_trace(intent_fold_receipt(fold, fold->input.receipt, error));
	case WFS_RECORD_GENESIS:
		return fold->manifest ? wfs_trace(FOLD_CALL(fold, fold_manifest, NULL, error)) : 0;
	case WFS_RECORD_MANIFEST:
		return wfs_trace(FOLD_CALL(fold, fold_manifest, fold->input.manifest, error));
	default:
		return 0; /* a blob or a snapshot changes no cell */
	}
}

/* Folds the answer to an effect that a cell of a built-in reducer asked for. */
static int fold_answer(
	struct wfs_fold *fold, size_t cell, const json_t *answer, struct wfs_error *error)
{
	const size_t reducer = fold_cell_at(fold, cell)->reducer_index;
	int r = 0;

	for (const struct wfs_domain *const *domain = fold->domains; !r && *domain; domain++)
		if ((*domain)->fold_answer && fold_builtin(fold, (*domain)->asker) == reducer)
			r = (*domain)->fold_answer(fold, cell, answer, error);
	return wfs_trace(r);
}

/* Folds record @index, which is not the request's own. */
static int fold_derived(struct wfs_fold *fold, size_t index, struct wfs_error *error)
{
	const struct fold_record *record = fold_record_at(fold, index);

	if (record->kind == WFS_RECORD_EVENT)
		return wfs_trace(fold_event(fold, index, error));
	if (record->kind == WFS_RECORD_INTENT)
		return 0; /* an intent: only its answer changes cells */
	if (!record->derived)
		return 0; /* the receipt of an intent that was cancelled */
	const json_t *const answer = json_object_get(record->derived, "value");
	const size_t cell = record->cell;
	int r = record->ask > 0 ? fold_effect(fold, record->ask - 1, answer, error) : 0;
	if (r)
		return wfs_trace(r);
	return wfs_trace(fold_reducer_of(fold, fold_cell_at(fold, cell))->builtin
			? fold_answer(fold, cell, answer, error)
			: fold_run_step(fold, index, cell, answer, error));
}

static int fold_record(struct wfs_fold *fold, size_t index, struct wfs_error *error)
{
	fold->folding = index;
	return wfs_trace(index == 0 ? fold_own(fold, error) : fold_derived(fold, index, error));
}

static int run(struct wfs_fold *fold, struct wfs_head *head, const struct wfs_fold_input *input,
	struct wfs_error *error)
{
	wfs_fold_clear(fold);
	fold->head = head;
	fold->input = *input;
	fold->folding = 0;
	struct fold_record *own = fold_array_add(&fold->records, sizeof(*own));
	if (!own)
		return fold_no_memory(error);
	own->kind = input->kind;
	own->schema = input->schema;
	int r = input->dedup ? seen_note(fold, error) : 0;
	if (r || fold->outcome.unrecorded)
		return wfs_trace(r);
	r = FOLD_CALL(fold, begin, error);
	/* The list grows while it is walked: breadth first. Effects come after all events. */
	for (size_t i = 0; !r && i < fold->records.count; i++) {
		r = fold_record(fold, i, error);
		if (!r && i + 1 == fold->records.count)
			r = fold_answer_asks(fold, error);
	}
	if (!r)
		r = FOLD_CALL(fold, end, error);
	if (r)
		return wfs_trace(r);
	return fold_hash_changes(fold) ? fold_no_memory(error) : 0;
}

void fold_refresh_budget(struct wfs_fold *fold)
{
	fold->budget = (struct wfs_lua_budget){
		.instructions =
			wfs_runtime_limits(fold->runtime)->instructions * WFS_FOLD_STEPS_MAX};
}

int wfs_fold_run(struct wfs_fold *fold, struct wfs_head *head, struct wfs_runtime *runtime,
	const struct wfs_fold_input *input, struct wfs_error *error)
{
	fold->runtime = runtime;
	fold->manifest = wfs_runtime_manifest(runtime);
	fold_refresh_budget(fold);
	return wfs_trace(run(fold, head, input, error));
}

void wfs_fold_interrupt(struct wfs_fold *fold)
{
	wfs_box_interrupt(fold->box);
}

void wfs_fold_end(struct wfs_fold *fold, int64_t time_ns)
{
	wfs_box_end(fold->box, time_ns);
}

bool wfs_fold_resume(struct wfs_fold *fold)
{
	return wfs_box_resume(fold->box);
}

int wfs_fold_run_genesis(struct wfs_fold *fold, struct wfs_head *head,
	const struct wfs_manifest *manifest, const struct wfs_fold_input *input,
	struct wfs_error *error)
{
	wfs_require(input->kind == WFS_RECORD_GENESIS);
	fold->runtime = NULL;
	fold->manifest = manifest;
	return wfs_trace(run(fold, head, input, error));
}

int wfs_fold_outcome(const struct wfs_fold *fold, json_t **ret_answer, struct wfs_error *error)
{
	const struct fold_outcome *const outcome = &fold->outcome;
	const bool done = outcome->refusal.code == WFS_OK;

	*ret_answer = json_incref(done ? outcome->answer : outcome->details);
	if (done)
		return 0;
	*error = outcome->refusal;
	return -wfs_error_info(error->code)->number;
}

const json_t *wfs_fold_wanted(const struct wfs_fold *fold)
{
	return fold->outcome.wanted;
}

bool wfs_fold_unrecorded(const struct wfs_fold *fold)
{
	return fold->outcome.unrecorded && !fold->input.fired.timer;
}

/* --- applying --- */

struct wfs_record wfs_fold_record(
	const struct wfs_fold *fold, const struct wfs_head *head, size_t index)
{
	const struct fold_record *record = fold_record_at(fold, index);
	const bool in_text = index > 0 || fold->input.kind == WFS_RECORD_ACTION;

	return (struct wfs_record){
		.seq = head->height,
		.prev = head->prev,
		.at_ns = fold->input.at_ns,
		.kind = record->kind,
		.principal = fold->input.principal,
		.derived = index > 0,
		.cause = head->height - index + record->cause,
		.changed = record->changed,
		.changes = record->changes,
		.body = in_text ? fold_bytes(fold, record->body) : fold->input.body,
	};
}

int wfs_fold_check_texts(
	const struct wfs_fold *fold, const struct wfs_head *head, struct wfs_error *error)
{
	int r = 0;

	for (size_t i = 0; !r && i < fold->records.count; i++) {
		const struct wfs_record record = wfs_fold_record(fold, head, i);

		r = wfs_text_check(head->txn, &fold->texts, fold->input.texts, &record, error);
	}
	return wfs_trace(r);
}

int wfs_fold_apply_record(
	struct wfs_fold *fold, struct wfs_head *head, size_t index, const struct wfs_bytes *line)
{
	const struct wfs_fold_input *const input = &fold->input;
	const char *const to = wfs_text_to(input->action, input->principal);
	struct wfs_record record = wfs_fold_record(fold, head, index);

	FOLD_TELL(fold, applying, head);
	int r = line ? wfs_head_append_line(head, *line, record.at_ns)
		     : wfs_head_append(head, &record);
	if (!r && index == 0) /* the request's own record, which names private texts */
		r = wfs_texts_put(head->txn, &fold->texts, record.seq, to);
	if (!r && index == 0 && input->texts)
		r = wfs_texts_put(head->txn, input->texts, record.seq, to);
	if (!r)
		r = fold_apply_changes(fold, head, index, head->height);
	return wfs_trace(r ? r : FOLD_CALL(fold, apply, head, index));
}

int wfs_fold_apply(struct wfs_fold *fold, struct wfs_head *head)
{
	for (size_t i = 0; i < fold->records.count; i++) {
		int r = wfs_fold_apply_record(fold, head, i, NULL);

		if (r)
			return wfs_trace(r);
	}
	return 0;
}

size_t wfs_fold_record_count(const struct wfs_fold *fold)
{
	return fold->records.count;
}

bool wfs_fold_record_cell(const struct wfs_fold *fold, size_t index, const char **ret_reducer,
	struct wfs_bytes *ret_key)
{
	size_t i = 0;

	while (i < fold->changes.count && fold_change_at(fold, i)->record != index)
		i++;
	if (i == fold->changes.count)
		return false;
	const struct fold_cell *const cell = fold_cell_at(fold, fold_change_at(fold, i)->cell);
	*ret_reducer = fold_reducer_of(fold, cell)->name;
	*ret_key = fold_bytes(fold, cell->key);
	return true;
}

void wfs_fold_changes(const struct wfs_fold *fold,
	void (*each)(void *context, const struct wfs_change *change), void *context)
{
	for (size_t i = 0; i < fold->cells.count; i++) {
		const struct fold_cell *cell = fold_cell_at(fold, i);
		struct wfs_change change = {
			.reducer_id = fold->head->reducers[cell->reducer_index].reducer_id,
			.key = fold_bytes(fold, cell->key),
			.was_live = cell->stored_live,
			.is_live = cell->live,
		};

		if (cell->changed && (cell->stored_live || cell->live))
			each(context, &change);
	}
}
