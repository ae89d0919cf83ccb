/* SPDX-License-Identifier: Apache-2.0 */
/* Folding a world's journal into a scratch store. */
#include "kernel/check/replay.h"

#include <inttypes.h>

#include "kernel/base/damage.h"
#include "kernel/base/hash-text.h"
#include "kernel/base/scratch.h"
#include "kernel/check/refold.h"
#include "kernel/check/seed.h"
#include "kernel/check/verify.h"
#include "kernel/domain/action/action.h"
#include "kernel/read/blob-read.h"
#include "kernel/store/rows.h"
#include "kernel/world/apply.h"
#include "kernel/world/world.h"

enum { LOOK_COUNT = 1024 }; /* cells between two calls of look() */

struct replay {
	struct wfs_world *world;
	uint64_t start;    /* the height at which folding begins */
	uint64_t next_vid; /* number of the first version after it */
	uint64_t first;    /* the oldest height that the world keeps; it may rise during replay */
	struct wfs_view
		view; /* of the world, at the height of the start; renewed with every batch */
	struct wfs_refold_source source;
	struct wfs_refold refold;
	struct wfs_journal_cut cut;    /* with which the journal begins */
	struct wfs_hash base_snapshot; /* of the height of this cut */
	struct wfs_manifest *newest;
	struct wfs_manifest *manifest; /* of genesis, or in force at the cut */
	struct wfs_genesis genesis;
	struct wfs_scratch place;
	struct wfs_store *scratch;
	struct wfs_buffer state; /* of a baseline's cell */
	uint64_t compared_vid;   /* versions up to this one are equal */
	wfs_progress_fn *progress;
	void *context;
};

/* Reports the progress. Return: 0, or -EINTR if replay is to end. */
static int look(struct replay *replay, const char *what, uint64_t done, uint64_t total,
	struct wfs_error *error)
{
	if (!replay->progress || replay->progress(replay->context, what, done, total))
		return 0;
	return wfs_error_set(error, WFS_E_CANCELLED, "interrupted: not all records were folded");
}

/* --- the source of the journal, see struct wfs_refold_source --- */

static int give_line(
	void *context, uint64_t seq, struct wfs_bytes *ret_line, struct wfs_error *error)
{
	struct replay *replay = context;
	int r = wfs_view_record(&replay->view, seq, ret_line);

	if (r == -ENOENT && seq < replay->source.height) {
		(void)wfs_error_set(error, WFS_E_HEIGHT_UNAVAILABLE,
			"record %" PRIu64 " was dropped during the replay: try again", seq);
		return -ESTALE; /* -ENOENT would say that the journal ends here */
	}
	return r && r != -ENOENT ? wfs_error_from_errno(error, r, "fold record %" PRIu64, seq) : r;
}

static int give_module(void *context, struct wfs_txn *txn, const struct wfs_hash *hash,
	struct wfs_buffer *buffer, struct wfs_error *error)
{
	struct replay *replay = context;

	(void)txn;
	return wfs_blob_read(wfs_world_store(replay->world), replay->view.txn, hash, buffer, error);
}

/* Gives the manifest in force, or one that was in force before, which is a blob since. */
static int give_manifest(void *context, struct wfs_txn *txn, const struct wfs_hash *hash,
	struct wfs_manifest **ret_manifest, struct wfs_error *error)
{
	struct replay *replay = context;

	(void)txn;
	if (!wfs_hash_equal(hash, wfs_manifest_hash(replay->newest)))
		return wfs_trace(wfs_apply_load(wfs_world_store(replay->world), replay->view.txn,
			hash, ret_manifest, error));
	*ret_manifest = wfs_manifest_ref(replay->newest);
	return 0;
}

/* Gives the bytes of the version that the record wrote. */
static int give_text(void *context, uint64_t seq, const struct wfs_action_text *text,
	struct wfs_buffer *buffer, struct wfs_error *error)
{
	struct replay *replay = context;
	struct wfs_txn *const txn = replay->view.txn;
	const size_t before = buffer->size;
	struct wfs_reducer reducer;
	struct wfs_version version;
	uint64_t cell_id;
	int r = wfs_view_builtin(
		&replay->view, text->code ? WFS_BUILTIN_CODE : WFS_BUILTIN_CONTENT, &reducer);

	if (!r)
		r = wfs_cell_find(
			txn, reducer.reducer_id, wfs_bytes_text(text->artifact_id), &cell_id);
	if (!r)
		r = wfs_history_at(txn, cell_id, seq + 1, &version);
	if (r)
		return wfs_error_from_errno(error, r, "read the %s of artifact '%s'",
			text->code ? "code" : "content", text->artifact_id);
	r = wfs_version_read(wfs_world_store(replay->world), &version, buffer, error);
	if (r)
		return wfs_trace(r);
	return wfs_hash_fits(&text->hash, WFS_BYTES(buffer->data + before, buffer->size - before))
		? 0
		: wfs_error_set(error, WFS_E_HASH_MISMATCH,
			  "the %s that it gave artifact '%s' is not kept any more",
			  text->code ? "code" : "content", text->artifact_id);
}

static int give_hidden(void *context, const struct wfs_hash *hash, struct wfs_buffer *buffer,
	struct wfs_error *error)
{
	struct replay *replay = context;
	struct wfs_text text;
	int r = wfs_text_find(replay->view.txn, hash, &text);

	if (!r) {
		wfs_buffer_append(buffer, text.bytes.data, text.bytes.size);
		r = wfs_buffer_check(buffer);
	}
	return r ? wfs_error_from_errno(error, r, "read the private text %s", WFS_HASH_TEXT(hash))
		 : 0;
}

/* Gives the row of a blob. Its bytes are not read; `verify` checks them. */
static int give_blob(
	void *context, struct wfs_txn *txn, struct wfs_blob *blob, struct wfs_error *error)
{
	(void)context;
	(void)txn;
	(void)error;
	blob->in_file = true;
	return 0;
}

/* Gives the versions of the baseline's height, in the order in which they were written. */
static int give_cell(
	void *context, uint64_t vid, struct wfs_refold_cell *ret_cell, struct wfs_error *error)
{
	struct replay *replay = context;
	struct wfs_version version;
	int r = wfs_view_version(&replay->view, vid, &version);

	if (r == -ENOENT)
		return 0;
	if (!r &&
		(version.height != WFS_BASELINE_SEQ + 1 ||
			wfs_cell_reducer(version.cell_id) == WFS_REDUCER_ID_KERNEL))
		return 0;
	if (!r)
		r = wfs_view_name(&replay->view, &version, &ret_cell->reducer, &ret_cell->key);
	if (r)
		return wfs_error_from_errno(error, r, "read a cell of the baseline");
	wfs_buffer_reset(&replay->state);
	r = wfs_version_read(wfs_world_store(replay->world), &version, &replay->state, error);
	ret_cell->bytes = wfs_buffer_bytes(&replay->state);
	if (!r && vid % LOOK_COUNT == 0)
		r = look(replay, "cells", vid, 0, error);
	return r ? wfs_trace(r) : 1;
}

/* --- comparing --- */

static int open_view(struct replay *replay, struct wfs_error *error)
{
	int r = wfs_view_open(replay->world, replay->source.height, &replay->view, error);

	if (r)
		return wfs_trace(r);
	r = wfs_first_height_get(replay->view.txn, &replay->first);
	if (r)
		wfs_view_close(&replay->view);
	return r ? wfs_error_from_errno(error, r, "read the first height") : 0;
}

/* Are both the same cell? If the world has dropped a deleted cell before it was made again, its
 * number differs from that in the scratch store; then reducer and key are compared. */
static bool same_cell(
	struct replay *replay, struct wfs_txn *txn, uint64_t ours_id, uint64_t theirs_id)
{
	struct wfs_cell ours;
	struct wfs_cell theirs;

	if (ours_id == theirs_id)
		return true;
	return replay->first > 1 && wfs_cell_reducer(ours_id) == wfs_cell_reducer(theirs_id) &&
		wfs_cell_get(txn, ours_id, &ours) == 0 &&
		wfs_cell_get(replay->view.txn, theirs_id, &theirs) == 0 &&
		wfs_bytes_equal(ours.key, theirs.key);
}

static int differs_damaged(struct replay *replay, uint64_t seq)
{
	char how[WFS_ERROR_MESSAGE_SIZE];

	snprintf(how, sizeof(how), "left a version that cannot be compared: %.400s",
		wfs_damage_noted());
	return wfs_refold_differs(&replay->refold, seq, how);
}

static int compare_versions(struct replay *replay, struct wfs_error *error)
{
	const uint64_t next_vid = replay->refold.head.next_vid;
	WFS_AUTO_TXN struct wfs_txn *txn = NULL;
	int r = wfs_store_read(replay->scratch, &txn);

	if (r)
		return wfs_error_from_errno(error, r, "read the scratch store");
	for (uint64_t vid = replay->compared_vid + 1; vid < next_vid; vid++) {
		struct wfs_version ours;
		struct wfs_version version;

		r = wfs_version_get(txn, vid, &ours);
		if (r)
			return wfs_error_from_errno(error, r, "read the scratch store");
		r = wfs_view_version(&replay->view, vid, &version);
		if (r == -EIO)
			return differs_damaged(replay, ours.height - 1);
		if (r && r != -ENOENT)
			return wfs_error_from_errno(error, r, "read a version");
		/* It may have been dropped; compare_first() checks those that must be kept. */
		if (r && ours.height <= replay->first && replay->first > 1)
			continue;
		if (r || !same_cell(replay, txn, ours.cell_id, version.cell_id) ||
			ours.height != version.height || ours.size_bytes != version.size_bytes ||
			ours.time_ns != version.time_ns || ours.tombstone != version.tombstone ||
			!wfs_hash_equal(&ours.hash, &version.hash))
			return wfs_refold_differs(&replay->refold, ours.height - 1,
				"left a version that differs from what folding gives");
	}
	replay->compared_vid = next_vid - 1;
	return 0;
}

/* Checks that the world has the version of a cell that the first height shows. */
static int compare_cell(
	struct replay *replay, struct wfs_txn *txn, uint64_t cell_id, struct wfs_error *error)
{
	struct wfs_version ours;
	struct wfs_version version;
	int r = wfs_history_at(txn, cell_id, replay->first, &ours);

	if (r == -ENOENT || (!r && ours.tombstone))
		return 0;
	if (r)
		return wfs_error_from_errno(error, r, "read the scratch store");
	r = wfs_view_version(&replay->view, ours.vid, &version);
	if (r == -EIO)
		return differs_damaged(replay, ours.height - 1);
	if (r && r != -ENOENT)
		return wfs_error_from_errno(error, r, "read a version");
	return r ? wfs_refold_differs(&replay->refold, ours.height - 1,
			   "left a version that the first height shows, and that is missing")
		 : 0;
}

static int compare_cells(
	struct replay *replay, struct wfs_txn *txn, uint32_t reducer_id, struct wfs_error *error)
{
	WFS_AUTO_CELL_WALK struct wfs_cell_walk walk = {0};
	struct wfs_cell cell;
	int r = wfs_cell_walk_init(&walk, txn, reducer_id, 0);

	while (!r && replay->refold.problems->count == 0) {
		r = wfs_cell_walk_next(&walk, &cell);
		if (r <= 0)
			break;
		r = compare_cell(replay, txn, cell.cell_id, error);
		if (r)
			return wfs_trace(r);
	}
	return r ? wfs_error_from_errno(error, r, "read the scratch store") : 0;
}

/* Checks what the first height shows, because compare_versions() takes versions that are missing
 * below it for dropped ones. */
static int compare_first(struct replay *replay, struct wfs_error *error)
{
	WFS_AUTO_TXN struct wfs_txn *txn = NULL;
	struct wfs_reducer reducer = {.reducer_id = WFS_REDUCER_ID_KERNEL};
	struct wfs_bytes name;

	if (replay->first == 1)
		return 0;
	int r = open_view(replay, error);
	if (r)
		return wfs_trace(r);
	r = wfs_store_read(replay->scratch, &txn);
	if (r)
		return wfs_error_from_errno(error, r, "read the scratch store");
	do
		r = compare_cells(replay, txn, reducer.reducer_id, error);
	while (!r && replay->refold.problems->count == 0 &&
		wfs_reducer_next(txn, reducer.reducer_id, &name, &reducer) == 0);
	wfs_view_close(&replay->view);
	return wfs_trace(r);
}

/* Checks that each row of the world is as it was written, because folding compares only some of
 * them. */
static int check_rows(struct replay *replay, struct wfs_problems *problems, struct wfs_error *error)
{
	struct wfs_rows rows = {0};
	uint64_t total = 0;
	int r = 1;

	while (r > 0) {
		r = open_view(replay, error);
		if (r)
			return wfs_trace(r);
		r = wfs_rows_total(replay->view.txn, &total);
		if (!r)
			r = wfs_rows_check(&rows, replay->view.txn, LOOK_COUNT, problems);
		wfs_view_close(&replay->view);
		if (r < 0)
			return wfs_error_from_errno(error, r, "read all rows");
		const int stop = look(replay, "rows", rows.done, total, error);
		if (stop)
			return wfs_trace(stop);
	}
	return 0;
}

/* --- the run --- */

static int run_batch(struct replay *replay, struct wfs_error *error)
{
	int r = open_view(replay, error);

	if (r)
		return wfs_trace(r);
	r = wfs_refold_batch(&replay->refold, error);
	if (!r && replay->refold.problems->count == 0)
		r = compare_versions(replay, error);
	wfs_view_close(&replay->view);
	return wfs_trace(r);
}

static int make_scratch(struct replay *replay, struct wfs_error *error)
{
	const struct wfs_store_options options = {.create = true, .scratch = true};
	int r = wfs_scratch_init(&replay->place, "worldfs-replay", error);

	if (r)
		return wfs_trace(r);
	return wfs_trace(wfs_store_open(replay->place.path, &options, &replay->scratch, error));
}

/* Does folding begin with the baseline of a cut? */
static bool begins_with_cut(const struct replay *replay)
{
	return replay->cut.count > 0 && replay->start == replay->cut.first_seq + 1;
}

/* Finds the manifest that was in force at replay->start. */
static int find_manifest_at(struct replay *replay, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_VIEW struct wfs_view view = {0};
	struct wfs_version version;
	int r = wfs_view_open(replay->world, replay->start, &view, error);

	if (!r)
		r = wfs_view_manifest(&view, &version);
	if (!r)
		r = wfs_version_read(wfs_world_store(replay->world), &version, &text, error);
	return wfs_trace(
		r ? r : wfs_apply_parse(wfs_buffer_bytes(&text), &replay->manifest, error));
}

/* Finds the manifest that record 0 names. */
static int find_manifest(struct replay *replay, struct wfs_error *error)
{
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = {0};
	struct wfs_genesis genesis;
	struct wfs_hash hash;
	struct wfs_bytes line;
	int r = wfs_view_record(&replay->view, replay->cut.first_seq, &line);

	if (!r)
		r = wfs_record_parse(line, &parsed, NULL);
	if (!r && wfs_record_is_cut(&parsed))
		hash = parsed.body.baseline.manifest_hash;
	else if (!r)
		r = wfs_genesis_parse(&parsed, &genesis, &hash);
	/* Folding will report what is wrong with the record. */
	if (r == -EINVAL || r == -EIO || r == -ENOENT)
		hash = *wfs_manifest_hash(replay->newest);
	else if (r)
		return wfs_error_from_errno(error, r, "read the journal");
	r = give_manifest(replay, replay->view.txn, &hash, &replay->manifest, error);
	if (r != -ENOENT)
		return wfs_trace(r);
	replay->manifest = wfs_manifest_ref(replay->newest);
	return 0;
}

static int look_at_rows(void *context, uint64_t done, struct wfs_error *error)
{
	return look(context, "rows of the first height", done, 0, error);
}

/* Copies the state with which folding begins into the scratch store. If the journal begins with it,
 * the baseline proves it. */
static int copy_state(struct replay *replay, struct wfs_problems *problems, struct wfs_error *error)
{
	const struct wfs_seed seed = {.view = &replay->view,
		.scratch = replay->scratch,
		.height = replay->start,
		.manifest = replay->manifest,
		.look = look_at_rows,
		.context = replay};
	struct wfs_journal_cut now;
	int r = open_view(replay, error);

	if (r)
		return wfs_trace(r);
	r = wfs_journal_cut_get(replay->view.txn, &now);
	if (!r && now.count != replay->cut.count)
		r = wfs_error_set(error, WFS_E_HEIGHT_UNAVAILABLE,
			"the journal was cut during the replay: try again");
	if (!r)
		r = wfs_seed(&seed, &replay->next_vid, error);
	wfs_view_close(&replay->view);
	if (r || !begins_with_cut(replay))
		return wfs_trace(r);
	replay->next_vid = replay->cut.next_vid;
	return wfs_trace(wfs_seed_check(
		replay->scratch, &replay->cut, problems, &replay->base_snapshot, error));
}

static int prepare(struct replay *replay, struct wfs_problems *problems, struct wfs_error *error)
{
	int r = wfs_view_open(replay->world, WFS_HEIGHT_HEAD, &replay->view, error);

	if (r)
		return wfs_trace(r);
	r = wfs_journal_cut_get(replay->view.txn, &replay->cut);
	if (r)
		return wfs_error_from_errno(error, r, "read where the journal was cut");
	replay->newest = wfs_world_manifest(replay->world);
	r = wfs_seed_find(&replay->view, &replay->cut, &replay->start, error);
	if (!r)
		r = replay->start && !begins_with_cut(replay) ? find_manifest_at(replay, error)
							      : find_manifest(replay, error);
	if (r)
		return wfs_trace(r);
	wfs_world_genesis(replay->world, &replay->genesis);
	replay->source = (struct wfs_refold_source){
		.name = "journal",
		.manifest = replay->manifest,
		.genesis = &replay->genesis,
		.height = replay->view.height,
		.context = replay,
		.line = give_line,
		.module = give_module,
		.manifest_of = give_manifest,
		.text = give_text,
		.hidden = give_hidden,
		.blob = give_blob,
		.cell = give_cell,
	};
	wfs_view_close(&replay->view);
	r = make_scratch(replay, error);
	if (!r && replay->start)
		r = copy_state(replay, problems, error);
	if (!r)
		r = wfs_refold_init(
			&replay->refold, replay->scratch, &replay->source, problems, error);
	if (!r && replay->start) {
		replay->refold.head.next_vid = replay->next_vid;
		replay->compared_vid = replay->next_vid - 1;
	}
	if (!r && begins_with_cut(replay)) {
		replay->refold.base_height = replay->start;
		replay->refold.base_snapshot = replay->base_snapshot;
	}
	return wfs_trace(r);
}

static void replay_done(struct replay *replay)
{
	wfs_view_close(&replay->view);
	wfs_refold_done(&replay->refold);
	wfs_manifest_unref(replay->manifest);
	wfs_manifest_unref(replay->newest);
	wfs_store_close(replay->scratch);
	wfs_buffer_done(&replay->state);
	wfs_scratch_done(&replay->place);
}

int wfs_replay(struct wfs_world *world, struct wfs_problems *problems, wfs_progress_fn *progress,
	void *context, struct wfs_error *error)
{
	WFS_CLEANUP(replay_done)
	struct replay replay = {.world = world, .progress = progress, .context = context};
	int r = prepare(&replay, problems, error);

	/* What records left that are not folded is compared with their hashes. */
	if (!r && replay.start && !begins_with_cut(&replay))
		r = wfs_verify(world, problems, progress, context, error);
	while (!r && replay.refold.head.height < replay.source.height && problems->count == 0) {
		r = run_batch(&replay, error);
		if (!r)
			r = look(&replay, "records", replay.refold.head.height,
				replay.source.height, error);
	}
	if (!r && problems->count == 0)
		r = compare_first(&replay, error);
	if (!r && problems->count == 0)
		r = check_rows(&replay, problems, error);
	return wfs_trace(r);
}
