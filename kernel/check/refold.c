/* SPDX-License-Identifier: Apache-2.0 */
/* Folding a journal again, one record after the other, in batches. */
#include "kernel/check/refold.h"

#include <inttypes.h>

#include "kernel/base/formats.h"
#include "kernel/base/hash-text.h"
#include "kernel/base/json.h"
#include "kernel/read/text.h"
#include "kernel/world/apply.h"
#include "kernel/world/domains.h"

enum {
	BATCH_COUNT_MAX = 1000,     /* records between two commits */
	BATCH_BYTES_MAX = 16 << 20, /* bytes of their lines */
	CELLS_COUNT_MAX = 4096,     /* cells of a baseline between two commits */
	CELLS_BYTES_MAX = 16 << 20, /* bytes of them */
};

static const struct wfs_manifest *manifest_in_force(const struct wfs_refold *refold)
{
	return wfs_runtime_manifest(refold->runtime);
}

int wfs_refold_differs(struct wfs_refold *refold, uint64_t seq, const char *how)
{
	char pointer[sizeof("18446744073709551615")];

	refold->differs = true;
	refold->difference.seq = seq;
	snprintf(pointer, sizeof(pointer), "%" PRIu64, seq);
	wfs_problems_add(refold->problems, refold->source->name, pointer, "%s", how);
	return 0;
}

static int write_failed(int r, struct wfs_error *error)
{
	return r ? wfs_error_from_errno(error, r, "write the folded store") : 0;
}

/* --- transactions --- */

static int begin(struct wfs_refold *refold, struct wfs_error *error)
{
	return write_failed(wfs_store_write(refold->store, &refold->head.txn), error);
}

static void drop(struct wfs_refold *refold)
{
	wfs_txn_end(refold->head.txn);
	refold->head.txn = NULL;
}

static int commit(struct wfs_refold *refold, struct wfs_error *error)
{
	int r = wfs_head_flush(&refold->head, manifest_in_force(refold));

	if (!r)
		r = wfs_txn_commit(WFS_STEAL(refold->head.txn));
	return write_failed(r, error);
}

static int end(struct wfs_refold *refold, struct wfs_error *error)
{
	const struct wfs_refold_source *const source = refold->source;
	int r = source->ending ? source->ending(source->context, error) : 0;

	if (r || !refold->differs || !source->whole)
		return wfs_trace(r ? r : commit(refold, error));
	drop(refold);
	return 0;
}

/* --- the lines that were written, against those of the source --- */

static int compare_line(struct wfs_refold *refold, uint64_t seq, struct wfs_error *error)
{
	struct wfs_bytes ours;
	struct wfs_bytes line;
	uint64_t offset;
	int r = wfs_journal_get(refold->head.txn, seq, &offset, &ours);

	if (r)
		return wfs_error_from_errno(error, r, "read the folded store");
	r = wfs_refold_line(refold, seq, &line, error);
	if (r == -ENOENT)
		return wfs_refold_differs(refold, seq, "is missing: folding gives one more record");
	if (r)
		return wfs_trace(r);
	if (wfs_bytes_equal(ours, line))
		return 0;
	const struct wfs_hash ours_hash = wfs_hash_of(ours.data, ours.size);
	const struct wfs_hash line_hash = wfs_hash_of(line.data, line.size);
	char how[256];
	snprintf(how, sizeof(how), "differs from what folding gives: expected %s, got %s",
		WFS_HASH_TEXT(&ours_hash), WFS_HASH_TEXT(&line_hash));
	return wfs_refold_differs(refold, seq, how);
}

/* --- records that are folded --- */

/*
 * Is this the snapshot record that restoring writes if a copy is of a height between the records of
 * one request? The journal then lacks the other records of the request.
 */
static bool ends_request(const struct wfs_record_parsed *parsed)
{
	return parsed->record.kind == WFS_RECORD_SNAPSHOT && !parsed->record.derived &&
		strcmp(parsed->record.principal, "kernel") == 0 &&
		(uint64_t)parsed->body.snapshot.height == parsed->record.seq;
}

/* Does the journal lack the line of the next derived record? Return: 1, 0, or -errno. */
static int is_cut(struct wfs_refold *refold, struct wfs_error *error)
{
	const struct wfs_refold_source *source = refold->source;
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = {0};
	struct wfs_bytes line;
	int r = wfs_refold_line(refold, refold->head.height, &line, error);

	if (r == -ENOENT) {
		refold->cut = source->may_be_cut;
		return source->may_be_cut;
	}
	if (r)
		return wfs_trace(r);
	r = wfs_record_parse(line, &parsed, NULL);
	return r ? 0 : ends_request(&parsed); /* comparing the line will note the problem */
}

/* Notes a cell that record @index of the last run changes, by which users find the difference. */
static void note_cell(struct wfs_refold *refold, size_t index)
{
	struct wfs_refold_difference *const difference = &refold->difference;
	const char *reducer;
	struct wfs_bytes key;

	if (!wfs_fold_record_cell(refold->fold, index, &reducer, &key))
		return;
	snprintf(difference->reducer, sizeof(difference->reducer), "%s", reducer);
	wfs_buffer_reset(&difference->key);
	wfs_buffer_append(&difference->key, key.data, key.size);
}

static int apply_record(struct wfs_refold *refold, size_t index, struct wfs_error *error)
{
	if (refold->lost.seq)
		return wfs_trace(wfs_refold_apply(refold, index, error));
	int r = write_failed(
		wfs_fold_apply_record(refold->fold, &refold->head, index, NULL), error);

	if (!r)
		r = compare_line(refold, refold->head.height - 1, error);
	if (refold->differs)
		note_cell(refold, index);
	return wfs_trace(r);
}

/* Writes the records of the last run, one by one. */
static int apply_run(struct wfs_refold *refold, struct wfs_error *error)
{
	const size_t count = wfs_fold_record_count(refold->fold);

	for (size_t i = 0; i < count && !refold->differs; i++) {
		int r = i > 0 ? is_cut(refold, error) : 0;

		if (r)
			return r > 0 ? 0 : wfs_trace(r);
		r = apply_record(refold, i, error);
		if (r)
			return wfs_trace(r);
	}
	if (refold->differs || !wfs_fold_unanswered(refold->fold))
		return 0;
	int r = is_cut(refold, error);
	if (r)
		return r > 0 ? 0 : wfs_trace(r);
	return wfs_refold_differs(
		refold, refold->head.height, "does not answer the record before it");
}

int wfs_refold_again(struct wfs_refold *refold, const struct wfs_record_parsed *parsed,
	struct wfs_fold_input *input, struct wfs_error *error)
{
	const bool whole = refold->lost.seq == 0;
	struct wfs_error failure = {0};

	input->kind = parsed->record.kind;
	input->partial = !whole;
	input->principal = parsed->record.principal;
	input->at_ns = parsed->record.at_ns;
	input->fired = wfs_fired_of(parsed->record.kind, &parsed->body);
	int r = wfs_fold_run(refold->fold, &refold->head, refold->runtime, input, &failure);
	if (r == -ENOMEM)
		return wfs_error_from_errno(error, r, "fold a record");
	if (r == -EINTR) /* while a text was read */
		return wfs_error_set(error, WFS_E_CANCELLED, "%s", failure.message);
	if (failure.code == WFS_E_UNAVAILABLE || failure.code == WFS_E_CODE_CRASHED)
		/* The host has failed, which does not make the record wrong. */
		return wfs_error_set(error, failure.code, "fold record %" PRIu64 ": %s",
			parsed->record.seq, failure.message);
	if (r && whole && refold->lost.seq)
		return 0; /* the source of the text has noted the problem */
	if (r)
		return wfs_refold_differs(refold, parsed->record.seq, failure.message);
	refold->folded_bytes += wfs_fold_bytes(refold->fold);
	r = apply_run(refold, error);
	if (!r && !refold->differs && refold->source->changed)
		wfs_fold_changes(refold->fold, refold->source->changed, refold->source->context);
	return wfs_trace(r);
}

/* Folds a record with the body that it has. Bodies of other records follow from their parts.
 * @input: as for wfs_refold_again(), but without the body */
static int fold_as_read(struct wfs_refold *refold, const struct wfs_record_parsed *parsed,
	struct wfs_fold_input input, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer body = {0};

	wfs_body_write(&body, parsed->record.kind, &parsed->body);
	if (wfs_buffer_check(&body))
		return wfs_error_from_errno(error, -ENOMEM, "fold a record");
	input.body = wfs_buffer_bytes(&body);
	return wfs_trace(wfs_refold_again(refold, parsed, &input, error));
}

static int fold_event(
	struct wfs_refold *refold, const struct wfs_record_parsed *parsed, struct wfs_error *error)
{
	const struct wfs_body_event *const body = &parsed->body.event;
	const struct wfs_fold_input input = {.charge = body->grant,
		.schema = body->schema,
		.value = body->value,
		.dedup = body->dedup};

	if (!wfs_manifest_schema(manifest_in_force(refold), body->schema))
		return wfs_refold_differs(
			refold, parsed->record.seq, "is not an event of a known schema");
	return wfs_trace(fold_as_read(refold, parsed, input, error));
}

static int fold_receipt(
	struct wfs_refold *refold, const struct wfs_record_parsed *parsed, struct wfs_error *error)
{
	const struct wfs_body_receipt *const body = &parsed->body.receipt;
	const struct wfs_fold_input input = {.charge = body->grant, .receipt = body};

	return wfs_trace(fold_as_read(refold, parsed, input, error));
}

/* --- other records --- */

static int fold_genesis(
	struct wfs_refold *refold, const struct wfs_record_parsed *parsed, struct wfs_error *error)
{
	const struct wfs_refold_source *source = refold->source;
	struct wfs_genesis genesis = *refold->source->genesis;
	int r;

	genesis.at_ns = parsed->record.at_ns;
	genesis.store_format = parsed->body.genesis.store_format;
	genesis.fold_version = parsed->body.genesis.fold_version;
	genesis.cells = parsed->record.changed;
	r = wfs_genesis_write(&refold->head, &genesis, refold->source->manifest);
	for (size_t i = 0; !r && i < wfs_manifest_reducer_count(refold->source->manifest); i++) {
		const struct wfs_reducer_definition *reducer =
			wfs_manifest_reducer(refold->source->manifest, i);
		WFS_AUTO_BUFFER struct wfs_buffer module = {0};

		if (reducer->builtin)
			continue;
		r = source->module(
			source->context, refold->head.txn, &reducer->module, &module, error);
		if (r)
			return wfs_trace(r);
		r = wfs_genesis_module(&refold->head, &genesis, wfs_buffer_bytes(&module));
	}
	return write_failed(r, error);
}

static int fold_blob(
	struct wfs_refold *refold, const struct wfs_record_parsed *parsed, struct wfs_error *error)
{
	const struct wfs_body_blob *const body = &parsed->body.blob;
	struct wfs_blob blob = {.hash = body->hash, .size_bytes = (uint64_t)body->size};
	const struct wfs_fold_input input = {.charge = body->grant};
	int r = refold->source->blob(refold->source->context, refold->head.txn, &blob, error);

	if (r)
		return wfs_trace(r);
	r = wfs_head_list_blob(&refold->head, &blob, refold->head.height + 1, parsed->record.at_ns);
	if (r > 0)
		return wfs_refold_differs(
			refold, parsed->record.seq, "lists a blob that is listed already");
	return r ? write_failed(r, error) : wfs_trace(fold_as_read(refold, parsed, input, error));
}

static int fold_snapshot(
	struct wfs_refold *refold, const struct wfs_record_parsed *parsed, struct wfs_error *error)
{
	const struct wfs_body_snapshot *const body = &parsed->body.snapshot;
	const struct wfs_fold_input input = {.charge = body->grant};
	int r = fold_as_read(refold, parsed, input, error);

	if (r || refold->differs)
		return wfs_trace(r);
	/* A cut of the journal appends this record, because no other one proves the baseline. */
	if (refold->base_height > 0 && (uint64_t)body->height == refold->base_height &&
		!wfs_hash_equal(&body->snapshot_hash, &refold->base_snapshot))
		return wfs_refold_differs(refold, parsed->record.seq,
			"has another hash than the baseline with which the journal begins");
	return write_failed(
		wfs_head_set_snapshot(&refold->head, &body->snapshot_hash, parsed->record.at_ns),
		error);
}

/* Stores the bytes of a module, which steps read; a blob that was put may have only a row. */
static int store_module(
	struct wfs_refold *refold, const struct wfs_hash *hash, struct wfs_error *error)
{
	const struct wfs_refold_source *source = refold->source;
	WFS_AUTO_BLOB_WRITER struct wfs_blob_writer *writer = NULL;
	WFS_AUTO_BUFFER struct wfs_buffer module = {0};
	struct wfs_blob row;
	struct wfs_blob blob;
	int r = wfs_blob_get(refold->head.txn, hash, &row);

	if (r == -ENOENT || (!r && !row.listed_id))
		return wfs_refold_differs(refold, refold->head.height,
			"has a module that is not a blob of the world");
	if (!r)
		r = source->module(source->context, refold->head.txn, hash, &module, error);
	if (r)
		return wfs_trace(r);
	r = wfs_blob_writer_new(refold->store, &writer);
	if (!r)
		r = wfs_blob_writer_add(writer, module.data, module.size);
	if (!r)
		r = wfs_blob_writer_finish(writer, &blob);
	blob.listed_id = row.listed_id;
	return write_failed(r ? r : wfs_blob_put(refold->head.txn, &blob), error);
}

/* Folds a manifest record as the writer did. @to: the manifest that it brings */
static int fold_manifest_to(struct wfs_refold *refold, const struct wfs_record_parsed *parsed,
	struct wfs_manifest *to, struct wfs_error *error)
{
	const struct wfs_manifest *const from = manifest_in_force(refold);
	struct wfs_body_manifest body = parsed->body.manifest;
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_JSON json_t *diff = NULL;
	struct wfs_error failure = {0};
	struct wfs_runtime *runtime = NULL;

	if (wfs_apply_check(&refold->head, from, to, &diff, &failure))
		return wfs_refold_differs(refold, parsed->record.seq, failure.message);
	body.base_manifest_hash = *wfs_manifest_hash(from);
	wfs_body_write_manifest(&text, &body);
	if (wfs_buffer_check(&text))
		return wfs_error_from_errno(error, -ENOMEM, "fold a record");
	struct wfs_fold_input input = {
		.manifest = to, .charge = body.grant, .body = wfs_buffer_bytes(&text)};
	int r = wfs_refold_again(refold, parsed, &input, error);
	if (r || refold->differs)
		return wfs_trace(r);
	r = wfs_apply_write(&refold->head, from, to, parsed->record.at_ns);
	if (!r)
		r = wfs_runtime_new(to, wfs_runtime_limits(refold->runtime), &runtime);
	if (r)
		return write_failed(r, error);
	wfs_runtime_free(refold->runtime);
	refold->runtime = runtime;
	return 0;
}

static int fold_manifest(
	struct wfs_refold *refold, const struct wfs_record_parsed *parsed, struct wfs_error *error)
{
	const struct wfs_refold_source *source = refold->source;
	const struct wfs_hash *const hash = &parsed->body.manifest.manifest_hash;
	WFS_AUTO_MANIFEST struct wfs_manifest *to = NULL;
	int r = source->manifest_of(source->context, refold->head.txn, hash, &to, error);

	if (r == -ENOENT)
		return wfs_refold_differs(
			refold, parsed->record.seq, "names a manifest that does not exist");
	for (size_t i = 0; !r && !refold->differs && i < wfs_manifest_reducer_count(to); i++) {
		const struct wfs_reducer_definition *reducer = wfs_manifest_reducer(to, i);

		if (!reducer->builtin &&
			!wfs_apply_has_module(manifest_in_force(refold), &reducer->module))
			r = store_module(refold, &reducer->module, error);
	}
	return wfs_trace(r || refold->differs ? r : fold_manifest_to(refold, parsed, to, error));
}

/* --- a baseline --- */

static int put_cell(struct wfs_refold *refold, const struct wfs_refold_cell *cell, int64_t at_ns)
{
	char name[WFS_REDUCER_NAME_MAX + 1];

	snprintf(name, sizeof(name), "%.*s", (int)cell->reducer.size,
		(const char *)cell->reducer.data);
	const struct wfs_reducer_definition *reducer =
		wfs_manifest_reducer_find(manifest_in_force(refold), name);
	if (!reducer)
		return -EIO;
	return wfs_trace(
		wfs_baseline_cell(&refold->head, reducer->index, cell->key, cell->bytes, at_ns));
}

/* Writes the cells of a baseline, in several transactions if they are many. */
static int put_cells(struct wfs_refold *refold, int64_t at_ns, struct wfs_error *error)
{
	const struct wfs_refold_source *source = refold->source;
	struct wfs_refold_cell cell;
	size_t count = 0;
	size_t bytes = 0;
	int r;

	while ((r = source->cell(source->context, refold->head.next_vid, &cell, error)) > 0) {
		r = write_failed(put_cell(refold, &cell, at_ns), error);
		count++;
		bytes += cell.bytes.size;
		if (!r && (count == CELLS_COUNT_MAX || bytes >= CELLS_BYTES_MAX)) {
			count = bytes = 0;
			r = commit(refold, error);
			if (!r)
				r = begin(refold, error);
		}
		if (r)
			return wfs_trace(r);
	}
	return wfs_trace(r);
}

static int fold_baseline(
	struct wfs_refold *refold, const struct wfs_record_parsed *parsed, struct wfs_error *error)
{
	struct wfs_baseline baseline;
	struct wfs_hash snapshot_hash;

	if (parsed->record.seq != WFS_BASELINE_SEQ)
		return wfs_refold_differs(refold, parsed->record.seq, "is in the wrong place");
	if (!refold->source->cell)
		return wfs_refold_differs(
			refold, parsed->record.seq, "has cells that are in no record");
	if (wfs_baseline_parse(parsed, &baseline))
		return wfs_refold_differs(
			refold, parsed->record.seq, "does not say where it comes from");
	int r = put_cells(refold, parsed->record.at_ns, error);
	if (r)
		return wfs_trace(r);
	return write_failed(wfs_baseline_append(&refold->head, &baseline, parsed->record.principal,
				    parsed->record.at_ns, &snapshot_hash),
		error);
}

/* --- an epoch --- */

/* Folds the record with which folding begins, because records before it were folded by another
 * version. */
static int fold_epoch(
	struct wfs_refold *refold, const struct wfs_record_parsed *parsed, struct wfs_error *error)
{
	const struct wfs_body_epoch *const body = &parsed->body.epoch;

	if (body->fold_to != WFS_FOLD_VERSION)
		return wfs_refold_differs(
			refold, parsed->record.seq, "brings another fold version than this one");
	return write_failed(
		wfs_head_append_epoch(&refold->head, (int)body->fold_from, parsed->record.at_ns,
			wfs_manifest_hash(manifest_in_force(refold))),
		error);
}

static int fold_record(
	struct wfs_refold *refold, const struct wfs_record_parsed *parsed, struct wfs_error *error)
{
	if (parsed->record.seq != refold->head.height ||
		(parsed->record.kind == WFS_RECORD_GENESIS) != (parsed->record.seq == 0))
		return wfs_refold_differs(refold, refold->head.height, "is in the wrong place");
	if (parsed->record.at_ns < refold->head.at_ns)
		return wfs_refold_differs(
			refold, refold->head.height, "is older than the record before it");
	if (refold->lost.seq && parsed->record.derived)
		return wfs_refold_score(refold, parsed, error);
	switch (parsed->record.kind) {
	case WFS_RECORD_GENESIS:
		return fold_genesis(refold, parsed, error);
	case WFS_RECORD_BASELINE:
		return fold_baseline(refold, parsed, error);
	case WFS_RECORD_EPOCH:
		return fold_epoch(refold, parsed, error);
	case WFS_RECORD_EVENT:
		return fold_event(refold, parsed, error);
	case WFS_RECORD_ACTION:
		return wfs_refold_action(refold, parsed, error);
	case WFS_RECORD_RECEIPT:
		return fold_receipt(refold, parsed, error);
	case WFS_RECORD_DECISION: /* counts for its principal's quota; no budget pays for it */
		return fold_as_read(refold, parsed, (struct wfs_fold_input){0}, error);
	case WFS_RECORD_BLOB:
		return fold_blob(refold, parsed, error);
	case WFS_RECORD_MANIFEST:
		return fold_manifest(refold, parsed, error);
	case WFS_RECORD_SNAPSHOT:
		return fold_snapshot(refold, parsed, error);
	default:
		return wfs_refold_differs(
			refold, parsed->record.seq, "is of a kind that this version does not fold");
	}
}

/* --- private texts --- */

int wfs_refold_hidden(struct wfs_refold *refold, const struct wfs_hash *hash,
	struct wfs_buffer *buffer, struct wfs_error *error)
{
	const struct wfs_refold_source *const source = refold->source;
	const size_t before = buffer->size;
	int r = source->hidden(source->context, hash, buffer, error);

	if (r)
		return wfs_trace(r);
	return wfs_hash_fits(hash, WFS_BYTES(buffer->data + before, buffer->size - before))
		? 0
		: wfs_error_set(error, WFS_E_HASH_MISMATCH,
			  "the private text %s that it names does not have its hash",
			  WFS_HASH_TEXT(hash));
}

/* A record whose private texts are stored. */
struct keeping {
	struct wfs_refold *refold;
	const struct wfs_record_parsed *parsed;
	struct wfs_error *error;
};

static int put_text(const struct keeping *keeping, struct wfs_text *text, const json_t *stand_in)
{
	const struct wfs_record *const record = &keeping->parsed->record;
	const bool acted = record->kind == WFS_RECORD_ACTION;
	const json_t *const action = acted ? keeping->parsed->body.action.action : NULL;
	struct wfs_txn *const txn = keeping->refold->head.txn;
	WFS_AUTO_BUFFER struct wfs_buffer of = {0};
	int r = wfs_text_last(txn, &text->number);

	wfs_json_write(json_object_get(stand_in, "of"), &of);
	if (!r)
		r = wfs_buffer_check(&of);
	text->number++;
	text->seq = record->seq;
	text->of = wfs_buffer_bytes(&of);
	text->to = wfs_bytes_text(wfs_text_to(action, record->principal));
	return write_failed(r ? r : wfs_text_put(txn, text), keeping->error);
}

static int keep_text(void *context, const json_t *stand_in)
{
	const struct keeping *const keeping = context;
	struct wfs_refold *const refold = keeping->refold;
	const uint64_t seq = keeping->parsed->record.seq;
	WFS_AUTO_BUFFER struct wfs_buffer bytes = {0};
	struct wfs_error failure = {0};
	struct wfs_text text;

	(void)wfs_text_is_hidden(stand_in, &text.hash);
	int r = wfs_text_find(refold->head.txn, &text.hash, &text);
	if (r != -ENOENT)
		return write_failed(r, keeping->error);
	r = wfs_refold_hidden(refold, &text.hash, &bytes, &failure);
	if (r == -EINTR || r == -ENOMEM) {
		*keeping->error = failure;
		return wfs_trace(r);
	}
	if (r)
		return wfs_refold_differs(refold, seq, failure.message);
	text.bytes = wfs_buffer_bytes(&bytes);
	return put_text(keeping, &text, stand_in);
}

/* --- the run --- */

static int fold_next(struct wfs_refold *refold, struct wfs_error *error)
{
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = {0};
	const uint64_t from = refold->head.height;
	struct wfs_bytes line;
	int r = wfs_refold_line(refold, from, &line, error);

	if (r)
		return r == -ENOENT ? wfs_error_from_errno(error, r, "read the journal")
				    : wfs_trace(r);
	r = wfs_record_parse(line, &parsed, error);
	if (r == -ENOMEM)
		return wfs_trace(r);
	if (r)
		return wfs_refold_differs(refold, from, "is not a record");
	r = fold_record(refold, &parsed, error);
	/* Records of these kinds are not written by a fold, which compares its lines. */
	if (!r && !refold->differs &&
		(parsed.record.kind == WFS_RECORD_GENESIS ||
			parsed.record.kind == WFS_RECORD_BASELINE ||
			parsed.record.kind == WFS_RECORD_EPOCH))
		r = compare_line(refold, from, error);
	struct keeping keeping = {refold, &parsed, error};
	if (!r && !refold->differs)
		r = wfs_text_each(&parsed, keep_text, &keeping);
	return wfs_trace(r);
}

/* Does the batch end here? @count: records that it has; @bytes: of their lines */
static bool is_full(const struct wfs_refold *refold, size_t count, uint64_t bytes)
{
	return refold->head.height >= refold->source->height ||
		(!refold->source->whole &&
			(count >= BATCH_COUNT_MAX || bytes >= BATCH_BYTES_MAX ||
				refold->folded_bytes >= WFS_FOLD_BATCH_BYTES_MAX));
}

int wfs_refold_batch(struct wfs_refold *refold, struct wfs_error *error)
{
	const uint64_t bytes = refold->head.journal_bytes;
	int r = begin(refold, error);

	refold->folded_bytes = 0;
	for (size_t i = 0;
		!r && !refold->differs && !is_full(refold, i, refold->head.journal_bytes - bytes);
		i++)
		r = fold_next(refold, error);
	if (!r)
		r = end(refold, error);
	if (r)
		drop(refold);
	return wfs_trace(r);
}

int wfs_refold_init(struct wfs_refold *refold, struct wfs_store *store,
	const struct wfs_refold_source *source, struct wfs_problems *problems,
	struct wfs_error *error)
{
	struct wfs_lua_limits limits = WFS_LUA_LIMITS_DEFAULT;
	WFS_AUTO_TXN struct wfs_txn *txn = NULL;

	*refold = (struct wfs_refold){.answerer = {wfs_refold_answer},
		.source = source,
		.store = store,
		.problems = problems};
	limits.instructions *=
		2; /* but not the memory, see limits_of() in kernel/domain/action/program.c */
	int r = wfs_store_read(store, &txn);
	if (!r)
		r = wfs_head_load(&refold->head, store, txn, source->manifest);
	refold->head.txn = NULL;
	if (!r)
		r = wfs_runtime_new(source->manifest, &limits, &refold->runtime);
	if (!r)
		r = wfs_fold_new(source->genesis->entropy, wfs_domains, &refold->fold);
	if (!r)
		wfs_fold_set_answerer(refold->fold, &refold->answerer);
	return r ? wfs_error_from_errno(error, r, "prepare to fold the journal") : 0;
}

void wfs_refold_done(struct wfs_refold *refold)
{
	drop(refold);
	wfs_fold_free(refold->fold);
	wfs_runtime_free(refold->runtime);
	wfs_head_done(&refold->head);
	wfs_buffer_done(&refold->difference.key);
	wfs_buffer_done(&refold->ahead.text);
	free(refold->ahead.lines);
	refold->ahead = (struct wfs_refold_ahead){0};
}
