/* SPDX-License-Identifier: Apache-2.0 */
/* Restoring: checks the copy, fills a stage, compares both, and publishes the stage as the
 * world. */
#include "kernel/copy/restore.h"

#include <fcntl.h>
#include <inttypes.h>

#include "kernel/base/trust.h"
#include "kernel/base/world-file.h"
#include "kernel/copy/restore-impl.h"

/* Checks what needs no store. @ret_sound: the manifest and the lines of the journal are right, so
 * the rest of the copy can be compared with what they give */
static int look(struct restore *restore, bool *ret_sound)
{
	int r = restore_root(restore);

	if (!r)
		r = restore_manifest(restore);
	const size_t problems = restore->problems->count;
	if (!r)
		r = restore_journal_check(restore);
	*ret_sound = restore->manifest &&
		(restore_has_journal(restore) ? !restore->journal.broken
					      : restore->problems->count == problems);
	return wfs_trace(r);
}

/* Timers of a copy do not fire beside those of the original. */
static int pause_timers(struct restore *restore)
{
	const char *const name = wfs_builtin_reducer_name(WFS_BUILTIN_TIMER);
	struct wfs_reducer timers = {.live_count = 0};
	WFS_AUTO_TXN struct wfs_txn *txn = NULL;
	int r = wfs_store_read(restore->store, &txn);

	if (!r)
		r = wfs_reducer_get(txn, name, strlen(name), &timers);
	if (r && r != -ENOENT)
		return wfs_error_from_errno(restore->error, r, "look for timers");
	return timers.live_count > 0 ? wfs_timers_pause(restore->stage.path, restore->error) : 0;
}

static int build(struct restore *restore)
{
	/* A crash before the world is published costs nothing: it is synced as a whole then. */
	const struct wfs_store_options options = {
		.create = true,
		.scratch = true,
		.map_size_bytes = restore->options->map_size_bytes,
	};
	bool sound = false;
	int r = look(restore, &sound);

	restore->restored.journal = restore_has_journal(restore);
	restore->restored.older = restore->journal.older;
	restore->restored.history =
		restore->restored.journal && !restore->journal.baseline && !restore->journal.older;
	if (!r)
		r = wfs_store_open(restore->stage.path, &options, &restore->store, restore->error);
	if (!r)
		r = restore_blobs(restore);
	if (!r && sound)
		r = restore->restored.history ? restore_fold(restore) : restore_baseline(restore);
	if (!r && sound && restore->filled)
		r = restore_raw(restore);
	if (!r && sound)
		r = pause_timers(restore);
	wfs_store_close(WFS_STEAL(restore->store));
	if (!r && restore->filled)
		r = restore_compare(restore);
	return wfs_trace(r);
}

/* Does the whole world follow from the journal, so that files that differ can be made from it? */
static bool may_be_repaired(const struct restore *restore)
{
	return restore->filled && restore_is_proven(restore) && restore->grave_count == 0;
}

/* A guess of what has happened to the copy, for the message. */
static const char *cause(const struct restore *restore)
{
	const bool repairable = may_be_repaired(restore);

	if (repairable && restore->same_size_count == restore->problems->count)
		return "; the journal is complete, and all files that differ have the right size, "
		       "as when rsync copied into an older copy without -c or --modify-window=-1: "
		       "'restore --repair' makes the world that the journal gives";
	if (repairable)
		return "; the journal is complete, so 'restore --repair' makes the world that it "
		       "gives";
	if (restore->restored.journal && !restore->journal.broken)
		return "; if the tree changed while it was copied, copy at/head, which does not "
		       "change";
	return "";
}

static void restore_done(struct restore *restore)
{
	wfs_store_close(restore->store);
	wfs_manifest_unref(restore->manifest);
	restore_proof_done(&restore->proof);
	wfs_stage_done(&restore->stage);
	wfs_auto_fd(&restore->tree_fd);
}

int wfs_restore(const char *tree, const char *directory, const struct wfs_restore_options *options,
	struct wfs_problems *problems, struct wfs_restored *ret_restored, struct wfs_error *error)
{
	WFS_CLEANUP(restore_done)
	struct restore restore = {
		.options = options,
		.problems = problems,
		.error = error,
		.tree_fd = -1,
		.told = {.what = "files"},
		.restored = {.first_height = 1},
	};

	restore.tree_fd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (restore.tree_fd < 0)
		return wfs_error_from_errno(error, -errno, "open '%s'", tree);
	int r = wfs_stage_init(&restore.stage, directory, error);
	if (!r)
		r = build(&restore);
	restore.restored.repaired = problems->count;
	if (!r && problems->count > 0 && !(options->repair && may_be_repaired(&restore)))
		r = wfs_error_set(error, WFS_E_HASH_MISMATCH,
			"'%.150s' is not a complete and unchanged copy of a tree: %zu problem%s, "
			"nothing was made%s",
			tree, problems->count, problems->count == 1 ? "" : "s", cause(&restore));
	if (!r)
		r = restore_stopped(&restore);
	if (!r)
		r = wfs_stage_publish(&restore.stage, "data.mdb", error);
	if (r)
		return wfs_trace(r);
	wfs_trust_made(directory, restore.restored.world_id);
	*ret_restored = restore.restored;
	return 0;
}
