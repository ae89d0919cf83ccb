/* SPDX-License-Identifier: Apache-2.0 */
/* Folding the journal again. */
#include "kernel/replay.h"

#include <inttypes.h>

#include "kernel/base/directory.h"
#include "kernel/base/encode.h"
#include "kernel/base/json.h"
#include "kernel/blob-read.h"
#include "kernel/record.h"
#include "kernel/world-impl.h"

enum { BATCH = 1000 }; /* records folded between two commits of the scratch store */

struct replay {
	struct wfs_world *world;
	struct wfs_problems *problems;
	uint64_t height;      /* of the world, fixed at the start */
	uint64_t first;       /* height that the world keeps; it may rise meanwhile */
	struct wfs_view view; /* of the world; renewed with every batch */
	struct wfs_manifest *manifest;
	struct wfs_runtime *runtime;
	struct wfs_fold *fold;
	char directory[sizeof("/tmp/worldfs-replay-XXXXXX") + 256];
	struct wfs_store *scratch;
	struct wfs_head head;
	uint64_t compared_vid; /* versions up to this one are known to be equal */
};

static int differs(struct replay *replay, uint64_t seq, const char *how)
{
	char pointer[sizeof("18446744073709551615")];

	snprintf(pointer, sizeof(pointer), "%" PRIu64, seq);
	wfs_problems_add(replay->problems, "journal", pointer, "%s", how);
	return 0;
}

/* --- one record --- */

static int replay_event(
	struct replay *replay, const struct wfs_record_parsed *parsed, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer body = {0};
	const char *schema = json_string_value(json_object_get(parsed->body_json, "schema"));
	const json_t *value = json_object_get(parsed->body_json, "value");

	if (!schema || !value || !wfs_manifest_schema(replay->manifest, schema))
		return differs(replay, parsed->record.seq, "is no event of a known schema");
	wfs_fold_write_body(&body, schema, value);
	if (wfs_buffer_check(&body))
		return wfs_error_from_errno(error, -ENOMEM, "fold a record");
	const struct wfs_fold_event event = {
		.schema = schema,
		.value = value,
		.body = wfs_buffer_bytes(&body),
		.principal = parsed->record.principal,
		.at_ns = parsed->record.at_ns,
	};
	struct wfs_error failure = {0};
	int r = wfs_fold_run(replay->fold, &replay->head, replay->runtime, &event, &failure);
	if (r == -ENOMEM)
		return wfs_error_from_errno(error, r, "fold a record");
	if (r)
		return differs(replay, parsed->record.seq, failure.message);
	r = wfs_fold_apply(replay->fold, &replay->head);
	return r ? wfs_error_from_errno(error, r, "write the scratch store") : 0;
}

static int replay_genesis(
	struct replay *replay, const struct wfs_record_parsed *parsed, struct wfs_error *error)
{
	struct wfs_genesis genesis = {.at_ns = parsed->record.at_ns};

	memcpy(genesis.world_id, replay->world->id, sizeof(genesis.world_id));
	memcpy(genesis.entropy, replay->world->entropy, sizeof(genesis.entropy));
	int r = wfs_genesis_write(&replay->head, &genesis, replay->manifest);
	for (size_t i = 0; !r && i < wfs_manifest_reducer_count(replay->manifest); i++) {
		WFS_AUTO_BUFFER struct wfs_buffer module = {0};

		r = wfs_blob_read(replay->world->store, replay->view.txn,
			&wfs_manifest_reducer(replay->manifest, i)->module, &module, error);
		if (r)
			return wfs_trace(r);
		r = wfs_genesis_module(&replay->head, &genesis, wfs_buffer_bytes(&module));
	}
	return r ? wfs_error_from_errno(error, r, "write the scratch store") : 0;
}

static int hash_member(const json_t *body, const char *name, struct wfs_hash *ret_hash)
{
	const json_t *member = json_object_get(body, name);

	return wfs_hash_parse(json_string_value(member) ? json_string_value(member) : "",
		json_string_length(member), ret_hash, NULL);
}

static int replay_blob(
	struct replay *replay, const struct wfs_record_parsed *parsed, struct wfs_error *error)
{
	/* Only the row matters here; `verify` looks at the bytes. */
	struct wfs_blob blob = {
		.size_bytes =
			(uint64_t)json_integer_value(json_object_get(parsed->body_json, "size")),
		.in_file = true,
	};
	WFS_AUTO_BUFFER struct wfs_buffer body = {0};

	if (hash_member(parsed->body_json, "hash", &blob.hash))
		return differs(replay, parsed->record.seq, "names no blob");
	wfs_json_write(parsed->body_json, &body);
	if (wfs_buffer_check(&body))
		return wfs_error_from_errno(error, -ENOMEM, "fold a record");
	struct wfs_record record = {
		.at_ns = parsed->record.at_ns,
		.kind = WFS_RECORD_BLOB,
		.principal = parsed->record.principal,
		.body = wfs_buffer_bytes(&body),
	};
	int r = wfs_head_list_blob(
		&replay->head, &blob, replay->head.height + 1, parsed->record.at_ns);
	if (r > 0)
		return differs(replay, parsed->record.seq, "lists a blob that is listed already");
	if (!r)
		r = wfs_head_append(&replay->head, &record);
	return r ? wfs_error_from_errno(error, r, "write the scratch store") : 0;
}

static int replay_snapshot(
	struct replay *replay, const struct wfs_record_parsed *parsed, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer body = {0};
	struct wfs_hash hash;

	if (hash_member(parsed->body_json, "snapshot_hash", &hash))
		return differs(replay, parsed->record.seq, "holds no snapshot hash");
	wfs_json_write(parsed->body_json, &body);
	int r = wfs_buffer_check(&body);
	if (!r)
		r = wfs_head_append_snapshot(&replay->head, parsed->record.principal,
			parsed->record.at_ns, wfs_buffer_bytes(&body), &hash);
	return r ? wfs_error_from_errno(error, r, "write the scratch store") : 0;
}

static int replay_record(
	struct replay *replay, const struct wfs_record_parsed *parsed, struct wfs_error *error)
{
	if (parsed->record.seq != replay->head.height ||
		(parsed->record.kind == WFS_RECORD_GENESIS) != (parsed->record.seq == 0))
		return differs(replay, replay->head.height, "stands in the wrong place");
	if (parsed->record.at_ns < replay->head.at_ns)
		return differs(replay, replay->head.height, "is older than the record before it");
	switch (parsed->record.kind) {
	case WFS_RECORD_GENESIS:
		return replay_genesis(replay, parsed, error);
	case WFS_RECORD_EVENT:
		return replay_event(replay, parsed, error);
	case WFS_RECORD_BLOB:
		return replay_blob(replay, parsed, error);
	case WFS_RECORD_SNAPSHOT:
		return replay_snapshot(replay, parsed, error);
	default:
		return differs(
			replay, parsed->record.seq, "is of a kind that this version does not fold");
	}
}

/* --- comparing --- */

static int open_view(struct replay *replay, struct wfs_error *error)
{
	int r = wfs_view_open(replay->world, replay->height, &replay->view, error);

	if (r)
		return wfs_trace(r);
	r = wfs_first_height_get(replay->view.txn, &replay->first);
	if (r)
		wfs_view_close(&replay->view);
	return r ? wfs_error_from_errno(error, r, "read the first height") : 0;
}

/* The lines written since @from, against the world's. */
static int compare_lines(struct replay *replay, uint64_t from, struct wfs_error *error)
{
	for (uint64_t seq = from; seq < replay->head.height; seq++) {
		struct wfs_bytes ours;
		struct wfs_bytes line;
		uint64_t offset;
		int r = wfs_journal_get(replay->head.txn, seq, &offset, &ours);

		if (!r)
			r = wfs_view_record(&replay->view, seq, &line);
		if (r == -ENOENT)
			return differs(replay, seq, "is missing: folding gives one more record");
		if (r)
			return wfs_error_from_errno(error, r, "read the journal");
		if (!wfs_bytes_equal(ours, line))
			return differs(replay, seq, "differs from what folding gives");
	}
	return 0;
}

/* A cell that was deleted, dropped and made again has another number than one that was not
 * dropped: then its name tells. */
static bool same_cell(struct replay *replay, uint64_t ours_id, uint64_t theirs_id)
{
	struct wfs_cell ours;
	struct wfs_cell theirs;

	if (ours_id == theirs_id)
		return true;
	return replay->first > 1 && wfs_cell_reducer(ours_id) == wfs_cell_reducer(theirs_id) &&
		wfs_cell_get(replay->head.txn, ours_id, &ours) == 0 &&
		wfs_cell_get(replay->view.txn, theirs_id, &theirs) == 0 &&
		wfs_bytes_equal(ours.key, theirs.key);
}

static bool same_version(
	struct replay *replay, const struct wfs_version *a, const struct wfs_version *b)
{
	return same_cell(replay, a->cell_id, b->cell_id) && a->height == b->height &&
		a->size_bytes == b->size_bytes && a->time_ns == b->time_ns &&
		a->tombstone == b->tombstone && wfs_hash_equal(&a->hash, &b->hash);
}

static int compare_versions(struct replay *replay, struct wfs_error *error)
{
	for (uint64_t vid = replay->compared_vid + 1; vid < replay->head.next_vid; vid++) {
		struct wfs_version ours;
		struct wfs_version version;
		int r = wfs_version_get(replay->head.txn, vid, &ours);

		if (r)
			return wfs_error_from_errno(error, r, "read the scratch store");
		r = wfs_view_version(&replay->view, vid, &version);
		if (r && r != -ENOENT)
			return wfs_error_from_errno(error, r, "read a version");
		/* It may have been dropped; compare_first looks for those that must not. */
		if (r && ours.height <= replay->first && replay->first > 1)
			continue;
		if (r || !same_version(replay, &ours, &version))
			return differs(replay, ours.height - 1,
				"left a version that differs from what folding gives");
	}
	replay->compared_vid = replay->head.next_vid - 1;
	return 0;
}

/* What the first height shows of a cell must be there. */
static int compare_cell(struct replay *replay, uint64_t cell_id, struct wfs_error *error)
{
	struct wfs_version ours;
	struct wfs_version version;
	int r = wfs_history_at(replay->head.txn, cell_id, replay->first, &ours);

	if (r == -ENOENT || (!r && ours.tombstone))
		return 0;
	if (r)
		return wfs_error_from_errno(error, r, "read the scratch store");
	r = wfs_view_version(&replay->view, ours.vid, &version);
	if (r && r != -ENOENT)
		return wfs_error_from_errno(error, r, "read a version");
	return r ? differs(replay, ours.height - 1,
			   "left a version that the first height shows, and that is missing")
		 : 0;
}

static int compare_cells(struct replay *replay, uint32_t reducer_id, struct wfs_error *error)
{
	WFS_AUTO_CELL_WALK struct wfs_cell_walk walk = {0};
	struct wfs_cell cell;
	int r = wfs_cell_walk_init(&walk, replay->head.txn, reducer_id, 0);

	while (!r && replay->problems->count == 0) {
		r = wfs_cell_walk_next(&walk, &cell);
		if (r <= 0)
			break;
		r = compare_cell(replay, cell.cell_id, error);
		if (r)
			return wfs_trace(r);
	}
	return r ? wfs_error_from_errno(error, r, "read the scratch store") : 0;
}

/* compare_versions takes what is missing below the first height for dropped. */
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
	replay->head.txn = txn;
	do
		r = compare_cells(replay, reducer.reducer_id, error);
	while (!r && replay->problems->count == 0 &&
		wfs_reducer_next(txn, reducer.reducer_id, &name, &reducer) == 0);
	wfs_view_close(&replay->view);
	return wfs_trace(r);
}

/* --- the run --- */

static int replay_batch(struct replay *replay, struct wfs_error *error)
{
	for (size_t i = 0; i < BATCH && replay->head.height < replay->height; i++) {
		WFS_AUTO_RECORD struct wfs_record_parsed parsed = {0};
		uint64_t from = replay->head.height;
		struct wfs_bytes line;
		int r = wfs_view_record(&replay->view, from, &line);

		if (r)
			return wfs_error_from_errno(error, r, "read the journal");
		r = wfs_record_parse(line, &parsed, error);
		if (r == -ENOMEM)
			return wfs_trace(r);
		if (r)
			return differs(replay, from, "is not a record");
		r = replay_record(replay, &parsed, error);
		if (!r && replay->problems->count == 0)
			r = compare_lines(replay, from, error);
		if (r || replay->problems->count > 0)
			return wfs_trace(r);
	}
	return compare_versions(replay, error);
}

static int run_batch(struct replay *replay, struct wfs_error *error)
{
	struct wfs_txn *txn;
	int r = open_view(replay, error);

	if (r)
		return wfs_trace(r);
	r = wfs_store_write(replay->scratch, &txn);
	if (r) {
		wfs_view_close(&replay->view);
		return wfs_error_from_errno(error, r, "write the scratch store");
	}
	replay->head.txn = txn;
	r = replay_batch(replay, error);
	wfs_view_close(&replay->view);
	if (!r)
		r = wfs_head_flush(&replay->head, replay->manifest);
	if (r) {
		wfs_txn_end(txn);
		return wfs_trace(r);
	}
	r = wfs_txn_commit(txn);
	return r ? wfs_error_from_errno(error, r, "write the scratch store") : 0;
}

static int make_scratch(struct replay *replay, struct wfs_error *error)
{
	const struct wfs_store_options options = {.create = true, .scratch = true};
	const char *parent = secure_getenv("TMPDIR");

	snprintf(replay->directory, sizeof(replay->directory), "%.255s/worldfs-replay-XXXXXX",
		parent && *parent ? parent : "/tmp");
	if (!mkdtemp(replay->directory)) {
		int r = wfs_error_from_errno(error, -errno, "make '%s'", replay->directory);

		replay->directory[0] = '\0';
		return r;
	}
	return wfs_trace(wfs_store_open(replay->directory, &options, &replay->scratch, error));
}

static int prepare(struct replay *replay, struct wfs_error *error)
{
	struct wfs_lua_limits limits = WFS_LUA_LIMITS_DEFAULT;
	WFS_AUTO_TXN struct wfs_txn *txn = NULL;
	int r = make_scratch(replay, error);

	limits.instructions *= 2;
	limits.memory_bytes *= 2;
	if (r)
		return wfs_trace(r);
	replay->manifest = wfs_world_manifest(replay->world);
	r = wfs_store_read(replay->scratch, &txn);
	if (!r)
		r = wfs_head_load(&replay->head, replay->scratch, txn, replay->manifest);
	if (!r)
		r = wfs_runtime_new(replay->manifest, &limits, &replay->runtime);
	if (!r)
		r = wfs_fold_new(replay->world->entropy, &replay->fold);
	if (!r)
		r = wfs_view_open(replay->world, WFS_HEIGHT_HEAD, &replay->view, error);
	if (r)
		return wfs_error_from_errno(error, r, "prepare the replay");
	replay->height = replay->view.height;
	wfs_view_close(&replay->view);
	return 0;
}

static void replay_done(struct replay *replay)
{
	wfs_view_close(&replay->view);
	wfs_fold_free(replay->fold);
	wfs_runtime_free(replay->runtime);
	wfs_head_done(&replay->head);
	wfs_manifest_unref(replay->manifest);
	wfs_store_close(replay->scratch);
	if (replay->directory[0])
		wfs_directory_remove(replay->directory);
}

int wfs_replay(struct wfs_world *world, struct wfs_problems *problems, wfs_progress_fn *progress,
	void *context, struct wfs_error *error)
{
	WFS_CLEANUP(replay_done)
	struct replay replay = {.world = world, .problems = problems};
	int r = prepare(&replay, error);

	while (!r && replay.head.height < replay.height && problems->count == 0) {
		r = run_batch(&replay, error);
		if (!r && progress)
			progress(context, "records", replay.head.height, replay.height);
	}
	if (!r && problems->count == 0)
		r = compare_first(&replay, error);
	return wfs_trace(r);
}
