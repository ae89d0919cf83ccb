/* SPDX-License-Identifier: Apache-2.0 */
/* Making batches: the lines of records, and what folding them needs besides. */
#include "kernel/follow/batch-make.h"

#include <inttypes.h>

#include "kernel/base/hash-text.h"
#include "kernel/base/json.h"
#include "kernel/domain/action/action.h"
#include "kernel/read/blob-read.h"
#include "kernel/read/text.h"
#include "kernel/read/view.h"
#include "kernel/world/apply.h"
#include "kernel/world/request.h"

/* The making of one batch, and the record that it is at. */
struct making {
	struct wfs_store *store;
	struct wfs_view view; /* of the height after the record, in a borrowed transaction */
	struct wfs_batch batch;
	struct wfs_buffer bytes; /* that are being attached */
	uint64_t seq;
	struct wfs_error *error;
};

static int attach(struct making *making, enum wfs_attached_kind kind)
{
	return wfs_trace(wfs_batch_attach(
		&making->batch, kind, wfs_buffer_bytes(&making->bytes), making->error));
}

static int lost(struct making *making, const char *what)
{
	return wfs_error_set(making->error, WFS_E_NOT_FOUND,
		"%s of record %" PRIu64 " is not kept any more", what, making->seq);
}

/* --- content and code --- */

static int read_text(struct making *making, const char *id, bool code)
{
	struct wfs_reducer reducer;
	struct wfs_version version;
	int r = wfs_view_builtin(
		&making->view, code ? WFS_BUILTIN_CODE : WFS_BUILTIN_CONTENT, &reducer);

	if (!r)
		r = wfs_view_cell(&making->view, reducer.reducer_id, wfs_bytes_text(id), &version);
	if (r == -ENOENT)
		return lost(making, code ? "the code" : "the content");
	if (r)
		return wfs_error_from_errno(making->error, r, "read a text of artifact '%s'", id);
	wfs_buffer_reset(&making->bytes);
	return wfs_trace(wfs_version_read(making->store, &version, &making->bytes, making->error));
}

/* Attaches content or code of an action, of which its record has hash and size. Empty code has no
 * cell, and is not asked for. */
static int attach_text(struct making *making, const json_t *action, bool code)
{
	const json_t *const member = json_object_get(action, code ? "code" : "content");
	const char *const id = wfs_action_artifact(action);
	const struct wfs_hash empty = wfs_hash_of("", 0);
	struct wfs_hash hash;

	if (!id || wfs_hash_member(member, "hash", &hash) || wfs_hash_equal(&hash, &empty))
		return 0;
	int r = read_text(making, id, code);
	if (r)
		return wfs_trace(r);
	if (!wfs_hash_fits(&hash, wfs_buffer_bytes(&making->bytes)))
		return lost(making, code ? "the code" : "the content");
	return wfs_trace(attach(making, code ? WFS_ATTACHED_CODE : WFS_ATTACHED_CONTENT));
}

/* The texts of a refused action are not stored, and not needed. */
static int attach_action(struct making *making, const struct wfs_body_action *body)
{
	if (wfs_action_effect(body->action) != WFS_EFFECT_ACTION_WRITE_ARTIFACT ||
		!json_is_true(json_object_get(body->result, "ok")))
		return 0;
	int r = attach_text(making, body->action, false);
	return wfs_trace(r ? r : attach_text(making, body->action, true));
}

/* --- private texts --- */

/* Attaches a private text, if this record is the first that mentions it. */
static int attach_hidden(void *context, const json_t *stand_in)
{
	struct making *const making = context;
	struct wfs_hash hash;
	struct wfs_text text;

	(void)wfs_text_is_hidden(stand_in, &hash);
	int r = wfs_text_find(making->view.txn, &hash, &text);
	if (r == -ENOENT)
		return lost(making, "a private text");
	if (r)
		return wfs_error_from_errno(making->error, r, "read a private text");
	if (text.seq != making->seq)
		return 0;
	return wfs_trace(
		wfs_batch_attach(&making->batch, WFS_ATTACHED_TEXT, text.bytes, making->error));
}

/* --- blobs, modules, manifests --- */

static int attach_blob(
	struct making *making, enum wfs_attached_kind kind, const struct wfs_hash *hash)
{
	wfs_buffer_reset(&making->bytes);
	int r = wfs_blob_read(making->store, making->view.txn, hash, &making->bytes, making->error);
	return wfs_trace(r ? r : attach(making, kind));
}

static int read_manifest(struct making *making, uint64_t height, struct wfs_manifest **ret_manifest)
{
	struct wfs_view view = making->view;
	struct wfs_version version;

	view.height = height;
	int r = wfs_view_manifest(&view, &version);
	if (r == -ENOENT)
		return lost(making, "the manifest");
	if (r)
		return wfs_error_from_errno(making->error, r, "read a manifest");
	wfs_buffer_reset(&making->bytes);
	r = wfs_version_read(making->store, &version, &making->bytes, making->error);
	return wfs_trace(
		r ? r
		  : wfs_apply_parse(wfs_buffer_bytes(&making->bytes), ret_manifest, making->error));
}

static int attach_manifest(struct making *making, const struct wfs_body_manifest *body)
{
	WFS_AUTO_MANIFEST struct wfs_manifest *from = NULL;
	WFS_AUTO_MANIFEST struct wfs_manifest *to = NULL;
	int r = read_manifest(making, making->seq, &from);

	if (!r)
		r = read_manifest(making, making->seq + 1, &to); /* stays in making->bytes */
	if (r)
		return wfs_trace(r);
	if (!wfs_hash_equal(wfs_manifest_hash(to), &body->manifest_hash))
		return lost(making, "the manifest");
	r = attach(making, WFS_ATTACHED_MANIFEST);
	for (size_t i = 0; !r && i < wfs_manifest_reducer_count(to); i++) {
		const struct wfs_reducer_definition *const reducer = wfs_manifest_reducer(to, i);

		if (!reducer->builtin && !wfs_apply_has_module(from, &reducer->module))
			r = attach_blob(making, WFS_ATTACHED_MODULE, &reducer->module);
	}
	return wfs_trace(r);
}

/* --- records --- */

static int attach_for(struct making *making, const struct wfs_record_parsed *parsed)
{
	int r = 0;

	if (parsed->record.kind == WFS_RECORD_ACTION)
		r = attach_action(making, &parsed->body.action);
	else if (parsed->record.kind == WFS_RECORD_MANIFEST)
		r = attach_manifest(making, &parsed->body.manifest);
	else if (parsed->record.kind == WFS_RECORD_BLOB &&
		parsed->body.blob.size <= WFS_BATCH_BLOB_MAX)
		r = attach_blob(making, WFS_ATTACHED_BLOB, &parsed->body.blob.hash);
	return wfs_trace(r ? r : wfs_text_each(parsed, attach_hidden, making));
}

static int add_record(struct making *making)
{
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = {0};
	struct wfs_bytes line;
	uint64_t offset;
	int r = wfs_journal_get(making->view.txn, making->seq, &offset, &line);

	if (r == -ENOENT)
		return lost(making, "the line");
	if (r)
		return wfs_error_from_errno(making->error, r, "read record %" PRIu64, making->seq);
	r = wfs_record_parse(line, &parsed, making->error);
	if (!r)
		r = wfs_batch_add_line(&making->batch, line, making->error);
	if (r)
		return wfs_trace(r);
	if (making->seq == making->batch.from)
		making->batch.prev = parsed.record.prev;
	making->view.height = making->seq + 1;
	return wfs_trace(attach_for(making, &parsed));
}

static void making_done(struct making *making)
{
	wfs_batch_done(&making->batch);
	wfs_buffer_done(&making->bytes);
}

/* Lists the requests that have an id and a record. */
static int add_requests(struct making *making, const struct wfs_request *requests)
{
	int r = 0;

	for (const struct wfs_request *request = requests; !r && request; request = request->next)
		if (request->id && request->result == 0 && request->seq >= making->batch.from &&
			request->seq < making->batch.to)
			r = wfs_batch_add_request(
				&making->batch, request->id, request->seq, making->error);
	return wfs_trace(r);
}

int wfs_batch_make(struct wfs_store *store, struct wfs_txn *txn, const struct wfs_batch_of *of,
	struct wfs_buffer *buffer, struct wfs_error *error)
{
	WFS_CLEANUP(making_done)
	struct making making = {
		.store = store,
		.view = {.store = store, .txn = txn, .txn_borrowed = true},
		.batch = {.from = of->from, .to = of->to},
		.error = error,
	};
	int r = 0;

	wfs_require(of->from > 0 && of->from < of->to);
	for (making.seq = of->from; !r && making.seq < of->to; making.seq++)
		r = add_record(&making);
	if (!r)
		r = add_requests(&making, of->requests);
	return wfs_trace(r ? r : wfs_batch_encode(&making.batch, buffer, error));
}
