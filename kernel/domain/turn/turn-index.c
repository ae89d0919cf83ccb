/* SPDX-License-Identifier: Apache-2.0 */
/* The index of the records of runs. */
#include "kernel/domain/turn/turn-index.h"

#include "kernel/domain/turn/turn-impl.h"
#include "kernel/read/index.h"

uint64_t wfs_turn_event_size(const char *schema, size_t body_size)
{
	static const char around[] = "{\"schema\":\"\",\"value\":}";
	const size_t others = schema ? sizeof(around) - 1 + strlen(schema) : 0;

	if (!schema || wfs_kernel_event_find(schema) == WFS_KERNEL_EVENT_COUNT ||
		body_size < others)
		return 0;
	return body_size - others + 1; /* and a newline */
}

int wfs_turn_index_add(struct wfs_txn *txn, const char *run_id, uint64_t seq, uint64_t event_size)
{
	struct wfs_index_set set;

	wfs_index_run(&set, wfs_bytes_text(run_id));
	int r = wfs_index_add(txn, &set, seq, event_size);
	return wfs_trace(r == -EEXIST ? -EIO : r);
}

int wfs_turn_walk_init(
	struct wfs_turn_walk *walk, struct wfs_view *view, struct wfs_bytes run_id, uint64_t from)
{
	const bool newest_first = from == UINT64_MAX;
	struct wfs_index_set set;

	wfs_index_run(&set, run_id);
	int r = wfs_index_walk_init(&walk->rows, view->txn, &set, newest_first);
	if (!r)
		r = wfs_journal_own_first(view->txn, &walk->first_seq);
	if (r)
		return wfs_trace(r);
	walk->height = view->height;
	if (!newest_first && from < walk->first_seq)
		from = walk->first_seq;
	walk->rows.start = newest_first ? view->height : from;
	return 0;
}

int wfs_turn_walk_next(struct wfs_turn_walk *walk, uint64_t *ret_seq, uint64_t *ret_event_size)
{
	uint64_t seq;
	int r = wfs_index_walk_next(&walk->rows, &seq);

	if (r <= 0)
		return wfs_trace(r);
	if (seq >= walk->height || seq < walk->first_seq)
		return 0;
	*ret_seq = seq;
	*ret_event_size = walk->rows.amount;
	return 1;
}

void wfs_turn_walk_done(struct wfs_turn_walk *walk)
{
	wfs_index_walk_done(&walk->rows);
}

/* --- of a fold --- */

void turn_note_run(struct wfs_fold *fold, const char *run_id)
{
	struct turn_kept *const kept = turn_kept(fold);

	for (size_t i = 0; i < kept->run_count; i++)
		if (strcmp(kept->runs[i], run_id) == 0)
			return;
	wfs_require(kept->run_count < TURN_RUNS_MAX && strlen(run_id) <= WFS_KEY_SIZE_MAX);
	snprintf(kept->runs[kept->run_count++], sizeof(kept->runs[0]), "%s", run_id);
}

int turn_index_record(struct wfs_fold *fold, struct wfs_head *head, size_t index)
{
	const struct turn_kept *const kept = turn_kept(fold);
	const struct fold_record *const record = fold_record_at(fold, index);
	const json_t *const run_id =
		json_object_get(json_object_get(record->derived, "value"), "run_id");
	int r = 0;

	for (size_t i = 0; !r && i < kept->run_count; i++) {
		const bool told = json_is_string(run_id) &&
			strcmp(json_string_value(run_id), kept->runs[i]) == 0;

		r = wfs_turn_index_add(head->txn, kept->runs[i], head->height - 1,
			told ? wfs_turn_event_size(record->schema, record->body.size) : 0);
	}
	return wfs_trace(r);
}
