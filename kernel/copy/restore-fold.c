/* SPDX-License-Identifier: Apache-2.0 */
/* Folding the journal of the copy into the store. */
#include <fcntl.h>
#include <inttypes.h>

#include "kernel/base/encode.h"
#include "kernel/base/hash-text.h"
#include "kernel/check/refold.h"
#include "kernel/copy/restore-impl.h"
#include "kernel/domain/action/action.h"
#include "kernel/read/blob-read.h"
#include "kernel/world/apply.h"

struct folding {
	struct restore *restore;
	struct restore_lines lines;
	struct wfs_buffer blob;        /* bytes of the last one */
	struct wfs_manifest *manifest; /* of genesis */
};

static int give_line(
	void *context, uint64_t seq, struct wfs_bytes *ret_line, struct wfs_error *error)
{
	struct folding *folding = context;

	(void)error; /* the same as restore->error */
	if (seq == folding->lines.count) {
		int r = restore_lines_next(&folding->lines);

		if (r <= 0)
			return r ? r : -ENOENT;
	}
	wfs_require(seq + 1 == folding->lines.count);
	*ret_line = wfs_buffer_bytes(&folding->lines.line);
	return 0;
}

static int give_module(void *context, struct wfs_txn *txn, const struct wfs_hash *hash,
	struct wfs_buffer *buffer, struct wfs_error *error)
{
	struct folding *folding = context;

	return wfs_blob_read(folding->restore->store, txn, hash, buffer, error);
}

/* Gives the manifest of the copy, or one that was in force before, which is one of its blobs. */
static int give_manifest(void *context, struct wfs_txn *txn, const struct wfs_hash *hash,
	struct wfs_manifest **ret_manifest, struct wfs_error *error)
{
	struct restore *const restore = ((struct folding *)context)->restore;

	if (wfs_hash_equal(hash, wfs_manifest_hash(restore->manifest))) {
		*ret_manifest = wfs_manifest_ref(restore->manifest);
		return 0;
	}
	int r = wfs_apply_load(restore->store, txn, hash, ret_manifest, error);
	if (r == -ENOENT)
		restore_no_blob(restore, hash, "the journal names it as a manifest");
	return wfs_trace(r);
}

/* Gives the artifact's present text, if it is the one that is wanted. Return: 1, 0, or -errno. */
static int give_own_text(
	struct restore *restore, const struct wfs_action_text *text, struct wfs_buffer *buffer)
{
	const char *const name = text->code ? "code" : "content";
	const struct restore_path path = restore_path("artifacts/%s/%s", text->artifact_id, name);
	WFS_AUTO_BUFFER struct wfs_buffer bytes = {0};
	WFS_AUTO_FD int directory = -1;
	int r = restore_text_directory(restore, wfs_bytes_text(text->artifact_id), &directory);

	if (r <= 0 || faccessat(directory, name, F_OK, AT_SYMLINK_NOFOLLOW))
		return r < 0 ? r : 0;
	r = restore_read(restore, directory, name, path.text, WFS_RESTORE_CELL_MAX, &bytes);
	if (r <= 0)
		return r;
	if (!wfs_hash_fits(&text->hash, wfs_buffer_bytes(&bytes)))
		return 0;
	wfs_buffer_append(buffer, bytes.data, bytes.size);
	return wfs_buffer_check(buffer) ? -ENOMEM : 1;
}

/* Gives a text from the blobs of the copy, or from the artifact. */
static int give_text(void *context, uint64_t seq, const struct wfs_action_text *text,
	struct wfs_buffer *buffer, struct wfs_error *error)
{
	struct restore *const restore = ((struct folding *)context)->restore;
	WFS_AUTO_TXN struct wfs_txn *txn = NULL;
	struct wfs_blob blob;
	int r = wfs_store_read(restore->store, &txn);

	if (!r)
		r = wfs_blob_get(txn, &text->hash, &blob);
	if (!r)
		return wfs_trace(wfs_blob_read(restore->store, txn, &text->hash, buffer, error));
	if (r != -ENOENT)
		return wfs_error_from_errno(error, r, "look a blob up");
	r = give_own_text(restore, text, buffer);
	if (r == -EINTR)
		return wfs_error_set(error, WFS_E_CANCELLED, "%s", restore->error->message);
	if (r)
		return r > 0 ? 0 : wfs_error_from_errno(error, r, "look an artifact up");
	wfs_error_set(error, WFS_E_NOT_FOUND,
		"the %s that record %llu gave artifact '%s' is not in the copy",
		text->code ? "code" : "content", (unsigned long long)seq, text->artifact_id);
	return -ENODATA;
}

/* Gives a private text from its file in journal/texts. */
static int give_hidden(void *context, const struct wfs_hash *hash, struct wfs_buffer *buffer,
	struct wfs_error *error)
{
	struct restore *const restore = ((struct folding *)context)->restore;
	const struct restore_path path = restore_path(RESTORE_TEXTS "/%s", WFS_HASH_HEX(hash));
	const char *const hex = path.text + sizeof(RESTORE_TEXTS "/") - 1;
	WFS_AUTO_FD int directory = -1;

	if (!restore_has(restore, path.text)) {
		wfs_error_set(error, WFS_E_NOT_FOUND,
			"names the private text %s, which is not in the copy: expected %s", hex,
			path.text);
		return -ENODATA;
	}
	int r = restore_texts(restore, &directory);
	if (r > 0)
		r = restore_read(restore, directory, hex, path.text, WFS_RESTORE_CELL_MAX, buffer);
	if (r < 0)
		return wfs_error_from_errno(error, r, "read %s", path.text);
	return r > 0 ? 0
		     : wfs_error_set(error, WFS_E_INTERNAL_ERROR,
			       "names a private text that cannot be read: %s", path.text);
}

/* Return: 0. */
static int check_made(struct restore *restore, struct restore_path path, uint64_t seq)
{
	return restore_has(restore, path.text)
		? 0
		: restore_noted(restore, path.text, "is missing: record %" PRIu64 " made it", seq);
}

/* Takes an action that is not folded: checks what it must have left in the copy, whatever came
 * after it, and adds its line to restore->proof. */
static int take_unfolded(
	void *context, const struct wfs_record_parsed *parsed, struct wfs_error *error)
{
	struct restore *const restore = ((struct folding *)context)->restore;
	const json_t *const action = parsed->body.action.action;
	const char *const id = wfs_action_artifact(action);
	WFS_AUTO_BUFFER struct wfs_buffer name = {0};
	struct restore_path path;

	wfs_name_append(&name, id ? id : "", id ? strlen(id) : 0);
	if (wfs_buffer_check(&name))
		return wfs_error_from_errno(error, -ENOMEM, "look for what an action left");
	if (restore_proof_add(&restore->proof, parsed))
		return wfs_error_from_errno(error, -ENOMEM, "note what an action did");
	path = restore_place(WFS_BUILTIN_DELETED, wfs_buffer_text(&name));
	switch (wfs_action_effect(action)) {
	case WFS_EFFECT_ACTION_INVOKE_ARTIFACT:
		path = restore_path("reducers/%s/%" PRIu64 ".0",
			wfs_builtin_reducer_name(WFS_BUILTIN_INVOCATION), parsed->record.seq);
		break;
	case WFS_EFFECT_ACTION_WRITE_ARTIFACT:
		if (restore_makes_agent(action))
			(void)check_made(restore,
				restore_place(WFS_BUILTIN_PRINCIPAL, wfs_buffer_text(&name)),
				parsed->record.seq);
		if (!restore_has(restore, path.text))
			path = restore_place(WFS_BUILTIN_ARTIFACT, wfs_buffer_text(&name));
		break;
	case WFS_EFFECT_ACTION_DELETE_ARTIFACT:
		break;
	default:
		return 0;
	}
	return check_made(restore, path, parsed->record.seq);
}

/* Gives the row that restore_blobs() wrote. If the blob is missing, this notes a problem, and
 * folding goes on, so that the rest is compared, too. */
static int give_blob(
	void *context, struct wfs_txn *txn, struct wfs_blob *blob, struct wfs_error *error)
{
	struct folding *folding = context;
	const uint64_t size_bytes = blob->size_bytes;
	struct wfs_blob found;
	int r = wfs_blob_get(txn, &blob->hash, &found);

	if (r == -ENOENT) {
		restore_no_blob(folding->restore, &blob->hash, "the journal names it");
		blob->in_file = true;
		return 0;
	}
	if (r)
		return wfs_error_from_errno(error, r, "look a blob up");
	*blob = found;
	/* Copies the bytes: they are in the row that is about to be written again. */
	wfs_buffer_reset(&folding->blob);
	wfs_buffer_append(&folding->blob, found.bytes.data, found.bytes.size);
	if (wfs_buffer_check(&folding->blob))
		return wfs_error_from_errno(error, -ENOMEM, "look a blob up");
	blob->bytes = wfs_buffer_bytes(&folding->blob);
	if (found.size_bytes == size_bytes)
		return 0;
	return restore_noted(folding->restore,
		restore_path("blob/%s", WFS_HASH_HEX(&blob->hash)).text,
		"expected %llu bytes (the journal), got %llu", (unsigned long long)size_bytes,
		(unsigned long long)found.size_bytes);
}

/* The copy is of a height between the records of one request: a snapshot record marks its end. */
static int record_cut(struct restore *restore, struct wfs_head *head)
{
	WFS_CLEANUP(restore_batch_done)
	struct restore_batch batch = {.restore = restore, .head = head};
	int r = restore_batch_begin(&batch);

	if (r)
		return wfs_trace(r);
	r = wfs_head_append_snapshot(head, wfs_manifest_hash(restore->manifest));
	return r ? restore_write_failed(restore, r) : restore_batch_commit(&batch);
}

static int fold_all(struct folding *folding)
{
	struct restore *const restore = folding->restore;
	const struct wfs_refold_source source = {
		.name = restore->journal.log ? "journal/log.jsonl" : "journal",
		.manifest = folding->manifest,
		.genesis = &restore->journal.genesis,
		.height = restore->journal.height,
		.may_be_cut = true,
		.context = folding,
		.line = give_line,
		.module = give_module,
		.manifest_of = give_manifest,
		.text = give_text,
		.hidden = give_hidden,
		.unfolded = take_unfolded,
		.blob = give_blob,
	};
	WFS_AUTO_REFOLD struct wfs_refold refold = {.store = NULL};
	int r = wfs_refold_init(
		&refold, restore->store, &source, restore->problems, restore->error);

	while (!r && !refold.differs && refold.head.height < source.height) {
		r = wfs_refold_batch(&refold, restore->error);
		restore_progress(restore, "records", refold.head.height, source.height);
		if (!r)
			r = restore_stopped(restore);
	}
	if (!r && !refold.differs && refold.lost.seq)
		r = restore_take_builtin(restore, &refold.head);
	if (!r && refold.cut)
		r = record_cut(restore, &refold.head);
	refold.head.txn = NULL;
	restore->filled = !r && !refold.differs;
	restore->restored.lost = refold.lost;
	return wfs_trace(r);
}

static void folding_done(struct folding *folding)
{
	wfs_manifest_unref(folding->manifest);
	restore_lines_done(&folding->lines);
	wfs_buffer_done(&folding->blob);
}

/* Finds the manifest of genesis. Return: 1, 0 if it is missing (a problem was noted), or -errno. */
static int find_manifest(struct folding *folding)
{
	struct restore *const restore = folding->restore;
	WFS_AUTO_TXN struct wfs_txn *txn = NULL;
	int r = wfs_store_read(restore->store, &txn);

	if (r)
		return wfs_error_from_errno(restore->error, r, "look for the first manifest");
	r = give_manifest(folding, txn, &restore->journal.genesis_manifest, &folding->manifest,
		restore->error);
	return r == -ENOENT ? 0 : r ? wfs_trace(r) : 1;
}

int restore_fold(struct restore *restore)
{
	WFS_CLEANUP(folding_done)
	struct folding folding = {.restore = restore, .lines = {.directory = -1, .log = -1}};
	int r = find_manifest(&folding);

	if (r > 0)
		r = restore_modules(restore, folding.manifest);
	if (r > 0)
		r = restore_lines_init(&folding.lines, restore);
	if (r <= 0)
		return wfs_trace(r);
	r = fold_all(&folding);
	if (!r)
		r = restore_put_meta(restore, &restore->journal.genesis);
	snprintf(restore->restored.world_id, sizeof(restore->restored.world_id), "%s",
		restore->journal.genesis.world_id);
	return wfs_trace(r);
}
