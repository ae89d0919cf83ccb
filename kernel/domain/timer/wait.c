/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/domain/timer/wait.h"

#include "kernel/base/hash-text.h"
#include "kernel/domain/timer/timer.h"
#include "kernel/read/index.h"

static int check_event(struct wfs_fold *fold, const char *schema, struct wfs_error *error)
{
	struct wfs_index_set set;
	struct wfs_index_sum sum;

	if (!wfs_manifest_schema(fold->manifest, schema))
		return wfs_error_set(error, WFS_E_NOT_FOUND,
			"'until_event': the manifest has no schema '%.80s'", schema);
	wfs_index_waiting(&set, wfs_bytes_text(schema));
	int r = wfs_index_sum_get(fold->head->txn, &set, &sum);
	if (r)
		return wfs_error_from_errno(error, r, "count waiting turns");
	return sum.count < WFS_WAITS_SCHEMA_MAX
		? 0
		: wfs_error_set(error, WFS_E_QUOTA_EXCEEDED,
			  "%d turns wait for events of '%.80s', which is the most that may",
			  WFS_WAITS_SCHEMA_MAX, schema);
}

int timer_wait_begin(
	struct wfs_fold *fold, const struct wfs_document_wait *wait, struct wfs_error *error)
{
	int r = timer_is_enabled(fold) ? 0
				       : wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
						 "the manifest of this world has no timers; apply "
						 "it again");

	if (!r && wait->until_event)
		r = check_event(fold, wait->until_event, error);
	return wfs_trace(r ? r : fold_put_wait(fold, wait->intent_id, wait, error));
}

int timer_wait_wake(struct wfs_fold *fold, const char *intent_id, const char *woken, int64_t seq,
	struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_wait wait = {.own = {.json = NULL}};
	int r = fold_read_wait(fold, intent_id, &wait, error);

	if (r || !wait.own.json || wait.woken)
		return wfs_trace(r);
	wait.next_ns = 0;
	wait.seq = seq;
	wait.woken = woken;
	r = fold_write_wait(fold, &wait, error);
	return r ? wfs_trace(r) : 1;
}

/* Wakes the turns that wait for record @index, an event. */
static int wake_for(struct wfs_fold *fold, size_t index, struct wfs_error *error)
{
	const char *const schema = fold_record_at(fold, index)->schema;
	const int64_t seq = (int64_t)(fold->head->height + index);
	WFS_AUTO_INDEX_WALK struct wfs_index_walk walk = {0};
	struct wfs_index_set set;
	struct wfs_cell cell;
	int r;

	wfs_index_waiting(&set, wfs_bytes_text(schema));
	r = wfs_index_walk_init(&walk, fold->head->txn, &set, false);
	while (!r && (r = wfs_index_walk_next(&walk, &cell.cell_id)) > 0) {
		char intent_id[WFS_HASH_TEXT_SIZE];

		r = wfs_cell_get(fold->head->txn, cell.cell_id, &cell);
		if (r)
			break;
		snprintf(intent_id, sizeof(intent_id), "%.*s", (int)cell.key.size,
			(const char *)cell.key.data);
		r = timer_wait_wake(fold, intent_id, "event", seq, error);
		if (r < 0)
			return wfs_trace(r);
		r = 0;
	}
	return r < 0 ? wfs_error_from_errno(error, r, "wake turns") : 0;
}

int timer_wait_end(struct wfs_fold *fold, struct wfs_error *error)
{
	int r = 0;

	if (!timer_is_enabled(fold) || fold->unanswered ||
		fold_live_count(fold, WFS_BUILTIN_WAIT) == 0)
		return 0;
	fold->folding = fold->records.count - 1;
	for (size_t i = 0; !r && i < fold->records.count; i++)
		if (fold_record_at(fold, i)->kind == WFS_RECORD_EVENT)
			r = wake_for(fold, i, error);
	return wfs_trace(r);
}
