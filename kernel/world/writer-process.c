/* SPDX-License-Identifier: Apache-2.0 */
/* One request, on the kernel thread. */
#include "kernel/base/clock.h"
#include "kernel/base/damage.h"
#include "kernel/base/hash-text.h"
#include "kernel/base/json.h"
#include "kernel/domain/principal/grants.h"
#include "kernel/read/blob-read.h"
#include "kernel/rights/rights.h"
#include "kernel/store/row-name.h"
#include "kernel/value/bounds.h"
#include "kernel/world/apply.h"
#include "kernel/world/embedder.h"
#include "kernel/world/gc-step.h"
#include "kernel/world/writer-impl.h"

enum { AHEAD_BYTES_MAX = 1 << 20 }; /* of events whose code runs at once */

static int64_t now_ns(const struct wfs_writer *writer)
{
	const struct wfs_world_options *options = &writer->world->options;
	int64_t now = options->clock_ns ? options->clock_ns(options->clock_context)
					: wfs_clock_realtime_ns();

	return now > writer->head.at_ns ? now : writer->head.at_ns;
}

/* Events whose code ran ahead have the time that this code was given. */
static int64_t time_of(const struct wfs_writer *writer)
{
	if (writer->ahead_left == 0)
		return now_ns(writer);
	return writer->ahead_ns > writer->head.at_ns ? writer->ahead_ns : writer->head.at_ns;
}

/* The number of the reducer sys.grant, which each manifest has. */
static uint32_t grants_id(const struct wfs_writer *writer)
{
	const struct wfs_reducer_definition *const grants = wfs_manifest_reducer_find(
		wfs_runtime_manifest(writer->runtime), wfs_builtin_reducer_name(WFS_BUILTIN_GRANT));

	wfs_require(grants != NULL);
	return writer->head.reducers[grants->index].reducer_id;
}

/* Notes whether a request has ended a grant, which a manifest may do, too. @first: index of its
 * first change */
static void note_ended_grants(
	struct wfs_writer *writer, const struct wfs_request *request, size_t first)
{
	const struct writer_batch *const batch = writer->current;
	bool ended = request->kind == WFS_REQUEST_MANIFEST;

	for (size_t i = first; !ended && i < batch->gather.commit.change_count; i++)
		ended = !batch->gather.changes[i].is_live &&
			batch->gather.changes[i].reducer_id == grants_id(writer);
	if (ended)
		writer->grant_ended_height = writer->head.height;
}

/* --- requests that are folded --- */

/* Does the work of a request that comes before its record. Return: 0, 1 if nothing is to be
 * recorded, or -errno. */
static int before_record(struct wfs_writer *writer, struct wfs_request *request, int64_t at_ns)
{
	int r = 0;

	for (size_t i = 0;
		!r && request->kind == WFS_REQUEST_RECEIPT && i < request->receipt.raw_count; i++)
		r = wfs_head_put_bytes(&writer->head, request->receipt.raw[i]);
	if (r || request->kind != WFS_REQUEST_BLOB)
		return wfs_trace(r);
	return wfs_trace(
		wfs_head_list_blob(&writer->head, &request->blob, writer->head.height + 1, at_ns));
}

/* Puts a manifest into force. Until it is committed, the one before is kept. */
static int enter_manifest(struct wfs_writer *writer, struct wfs_manifest *to, int64_t at_ns)
{
	struct wfs_runtime *runtime = NULL;
	int r = wfs_apply_write(&writer->head, wfs_runtime_manifest(writer->runtime), to, at_ns);

	if (!r)
		r = wfs_runtime_new(to, wfs_runtime_limits(writer->runtime), &runtime);
	if (r)
		return wfs_trace(r);
	writer->runtime_before = writer->runtime;
	writer->runtime = runtime;
	return 0;
}

static int after_record(struct wfs_writer *writer, struct wfs_request *request, int64_t at_ns)
{
	if (request->kind == WFS_REQUEST_SNAPSHOT)
		return wfs_trace(
			wfs_head_set_snapshot(&writer->head, &request->snapshot.hash, at_ns));
	if (request->kind == WFS_REQUEST_MANIFEST)
		return wfs_trace(enter_manifest(writer, request->manifest.compiled, at_ns));
	return 0;
}

static int apply(struct wfs_writer *writer, struct wfs_request *request, int64_t at_ns)
{
	int r = before_record(writer, request, at_ns);

	if (r)
		return wfs_trace(r < 0 ? r : 0);
	request->seq = writer->head.height;
	r = wfs_fold_apply(writer->fold, &writer->head);
	if (r)
		return wfs_trace(r);
	const size_t before = writer->current->gather.commit.change_count;
	wfs_fold_changes(writer->fold, wfs_gather_change, &writer->current->gather);
	note_ended_grants(writer, request, before);
	writer->current->fold_bytes += wfs_fold_bytes(writer->fold);
	writer->current->gather.commit.blobs_listed |=
		request->kind == WFS_REQUEST_BLOB || request->kind == WFS_REQUEST_MANIFEST;
	writer->current->gather.commit.manifest_changed |= request->kind == WFS_REQUEST_MANIFEST;
	return wfs_trace(after_record(writer, request, at_ns));
}

/* The model of the host's embedder, in @buffer. Return: NULL if there is no embedder. */
static const char *embedder_of(struct wfs_writer *writer, char *buffer, size_t size)
{
	WFS_GUARD(&writer->embedder_lock);

	if (!writer->embedder)
		return NULL;
	snprintf(buffer, size, "%s", writer->embedder->model);
	return buffer;
}

/* @embedder: the model of the host's embedder, or NULL */
static struct wfs_fold_input input_of(const struct wfs_request *request, enum wfs_record_kind kind,
	const char *embedder, int64_t at_ns)
{
	struct wfs_fold_input input = {
		.kind = kind,
		.charge = writer_charge(request),
		.body = wfs_buffer_bytes(&request->body),
		.principal = request->principal,
		.at_ns = at_ns,
		.fired = request->fired,
	};

	if (kind == WFS_RECORD_EVENT) {
		input.schema = request->event.schema;
		input.value = request->event.value;
		input.key = request->event.key;
		input.dedup = request->event.dedup;
	} else if (kind == WFS_RECORD_ACTION) {
		input.action = request->action.document;
		input.intent_id = request->action.intent_id;
		input.of = request->action.of;
		input.texts = request->action.texts;
		input.embedder = embedder;
		input.embeddings = request->action.embeddings;
	} else if (kind == WFS_RECORD_RECEIPT) {
		input.receipt = &request->receipt.body;
		input.texts = request->receipt.texts;
	} else if (kind == WFS_RECORD_MANIFEST) {
		input.manifest = request->manifest.compiled;
	}
	return input;
}

static int run_request(struct wfs_writer *writer, struct wfs_request *request,
	enum wfs_record_kind kind, bool *ret_fatal)
{
	char model[WFS_EMBEDDER_MODEL_MAX + 1];
	const char *const embedder =
		kind == WFS_RECORD_ACTION ? embedder_of(writer, model, sizeof(model)) : NULL;
	const struct wfs_fold_input input = input_of(request, kind, embedder, time_of(writer));
	int r = wfs_fold_run(writer->fold, &writer->head, writer->runtime, &input, &request->error);

	/* Until here, the request can be stopped and done again; now it is done, or has failed. */
	const int stopped = writer_fold_end(writer);
	if (stopped < 0)
		return wfs_error_set(&request->error, WFS_E_CANCELLED,
			"the world is being closed: the request was stopped, and nothing was "
			"changed");
	if (stopped > 0) {
		request->put_back = true;
		return -EINTR;
	}
	if (kind == WFS_RECORD_ACTION) { /* with what it wants, it will be done again */
		json_decref(request->action.wanted);
		request->action.wanted =
			json_incref((json_t *)(uintptr_t)wfs_fold_wanted(writer->fold));
	}
	if (r || (kind == WFS_RECORD_MANIFEST && request->manifest.dry_run))
		return wfs_trace(r);
	if (wfs_fold_unrecorded(writer->fold))
		return wfs_trace(wfs_fold_outcome(writer->fold, &request->answer, &request->error));
	r = wfs_fold_check_texts(writer->fold, &writer->head, &request->error);
	if (r)
		return wfs_trace(r);
	r = apply(writer, request, input.at_ns);
	*ret_fatal = r != 0;
	if (r || kind != WFS_RECORD_ACTION)
		return wfs_trace(r);
	return wfs_trace(wfs_fold_outcome(writer->fold, &request->answer, &request->error));
}

static int fold_request(struct wfs_writer *writer, struct wfs_request *request,
	enum wfs_record_kind kind, bool *ret_fatal)
{
	int r = run_request(writer, request, kind, ret_fatal);

	writer->current->fold_work += wfs_fold_work(writer->fold);
	wfs_fold_clear(writer->fold);
	return r;
}

/* --- a manifest --- */

static int check_base(const struct wfs_manifest *from, struct wfs_request *request)
{
	const struct wfs_hash *hash = wfs_manifest_hash(from);

	if (request->manifest.based && !wfs_hash_equal(hash, &request->manifest.base))
		return wfs_error_set(&request->error, WFS_E_CONFLICT,
			"expected the manifest in force to be base_manifest_hash, got %s",
			WFS_HASH_TEXT(hash));
	if (wfs_hash_equal(hash, wfs_manifest_hash(request->manifest.compiled)))
		return wfs_error_set(&request->error, WFS_E_NO_CHANGE,
			"this manifest is in force already: %s", WFS_HASH_TEXT(hash));
	return 0;
}

/* Folds a manifest. A dry run ends after the fold. */
static int fold_manifest(struct wfs_writer *writer, struct wfs_request *request, bool *ret_fatal)
{
	const struct wfs_manifest *from = wfs_runtime_manifest(writer->runtime);
	const struct wfs_hash *const to = wfs_manifest_hash(request->manifest.compiled);
	const struct wfs_body_manifest body = {
		.base_manifest_hash = *wfs_manifest_hash(from),
		.grant = writer_charge(request),
		.manifest_hash = *to,
		.reason = request->manifest.reason,
	};
	WFS_AUTO_JSON json_t *diff = NULL;
	int r = check_base(from, request);

	if (!r)
		r = wfs_apply_check(
			&writer->head, from, request->manifest.compiled, &diff, &request->error);
	if (r)
		return wfs_trace(r);
	wfs_buffer_reset(&request->body);
	wfs_body_write_manifest(&request->body, &body);
	r = wfs_buffer_check(&request->body);
	if (!r && json_object_set_new(diff, "dry_run", json_boolean(request->manifest.dry_run)) < 0)
		r = -ENOMEM;
	if (!r)
		r = wfs_json_set_hash(diff, "base_manifest_hash", wfs_manifest_hash(from));
	if (!r)
		r = wfs_json_set_hash(diff, "manifest_hash", to);
	if (r)
		return wfs_error_from_errno(&request->error, r, "apply a manifest");
	r = fold_request(writer, request, WFS_RECORD_MANIFEST, ret_fatal);
	if (!r)
		request->answer = WFS_STEAL(diff);
	return wfs_trace(r);
}

/* --- other requests --- */

int writer_decide(struct wfs_writer *writer, const char *principal, const struct wfs_fired *fired,
	struct wfs_bytes body)
{
	const struct wfs_fold_input input = {
		.kind = WFS_RECORD_DECISION,
		.body = body,
		.principal = principal,
		.at_ns = now_ns(writer),
		.fired = *fired,
	};
	struct wfs_error failure = {0};
	int r = wfs_fold_run(writer->fold, &writer->head, writer->runtime, &input, &failure);

	if (!r)
		r = wfs_fold_apply(writer->fold, &writer->head);
	if (!r)
		wfs_fold_changes(writer->fold, wfs_gather_change, &writer->current->gather);
	wfs_fold_clear(writer->fold);
	return failure.code == WFS_E_QUOTA_EXCEEDED ? 1 : wfs_trace(r);
}

/* Counts a refusal, if it is not the first. The cell of the principal names its owner; if it cannot
 * be read, the principal counts as having none. Return: was it counted? */
static bool is_counted(struct wfs_writer *writer, const struct wfs_request *request)
{
	struct wfs_view view = {.store = writer->world->store,
		.txn = writer->head.txn,
		.txn_borrowed = true,
		.height = writer->head.height};
	WFS_AUTO_JSON json_t *principal = NULL;
	struct wfs_error ignored = {0};

	(void)wfs_view_document(
		&view, WFS_BUILTIN_PRINCIPAL, request->principal, &principal, &ignored);
	return writer_refusal_counted(&writer->refusals, request,
		json_string_value(json_object_get(principal, "agent_of")));
}

/* Records a refusal. Its client gets the refusal as the answer, or the failure of recording it. */
static int put_decision(struct wfs_writer *writer, struct wfs_request *request, bool *ret_fatal)
{
	/* The count stays if the transaction is given up and its requests are done again one by
	 * one. */
	if (!request->decision.counted && !request->fired.timer)
		request->decision.counted = is_counted(writer, request);
	if (request->decision.counted)
		return -wfs_error_info(request->error.code)->number;
	const uint64_t seq = writer->head.height;
	int r = writer_decide(
		writer, request->principal, &request->fired, wfs_buffer_bytes(&request->body));

	*ret_fatal = r < 0;
	if (r < 0)
		return wfs_trace(r);
	if (r == 0)
		request->seq = seq;
	return -wfs_error_info(request->error.code)->number;
}

static int collect(struct wfs_writer *writer, struct wfs_request *request, bool *ret_fatal)
{
	struct wfs_commit *commit = &writer->current->gather.commit;
	struct wfs_gc_step *step = request->gc;
	int r = wfs_gc_step_run(step, &writer->head, ret_fatal, &request->error);

	if (step->dropped_to > step->dropped_from) {
		if (commit->dropped_to == 0)
			commit->dropped_from = step->dropped_from;
		commit->dropped_to = step->dropped_to;
	}
	commit->raw_dropped |= step->raw_dropped;
	commit->journal_cut |= step->was_cut;
	writer->current->rows_changed |= step->rows_changed;
	return wfs_trace(r);
}

static int lift(struct wfs_writer *writer, struct wfs_request *request)
{
	if (wfs_quarantine_lift(writer->world->quarantine, &request->lift))
		return 0;
	return wfs_error_set(&request->error, WFS_E_NOT_FOUND,
		"no code with the hash %s ended the process that runs code",
		WFS_HASH_TEXT(&request->lift));
}

void writer_ahead(struct wfs_writer *writer, const struct wfs_request *first)
{
	const struct wfs_manifest *const manifest = wfs_runtime_manifest(writer->runtime);
	const int64_t at_ns = now_ns(writer);
	struct wfs_fold_input inputs[WFS_CODE_AHEAD_MAX];
	size_t count = 0;
	size_t bytes = 0;

	for (const struct wfs_request *request = first; request &&
		request->kind == WFS_REQUEST_EVENT && request->event.checked_by == manifest &&
		!writer_gone(request) && count < WFS_CODE_AHEAD_MAX && bytes < AHEAD_BYTES_MAX;
		request = request->next) {
		inputs[count++] = input_of(request, WFS_RECORD_EVENT, NULL, at_ns);
		bytes += request->body.size;
	}
	const int64_t start = wfs_clock_monotonic_ns();

	writer->ahead_work =
		wfs_fold_ahead(writer->fold, &writer->head, writer->runtime, inputs, count);
	writer->ahead_left = count;
	writer->ahead_ns = at_ns;
	writer->ahead_took_ns = wfs_clock_monotonic_ns() - start;
}

int64_t writer_ahead_share_ns(const struct wfs_writer *writer, uint64_t work)
{
	if (writer->ahead_left == 0 || work == 0)
		return 0;
	if (work >= writer->ahead_work)
		return writer->ahead_took_ns;
	return (int64_t)((double)writer->ahead_took_ns * (double)work / (double)writer->ahead_work);
}

static int was_revoked(struct wfs_request *request)
{
	return wfs_error_set(&request->error, WFS_E_NOT_AUTHORIZED,
		"the grant '%s' was revoked while the request waited", request->granted);
}

/* Reads the document of a live grant. @ret_grant: caller owns it */
static int read_grant(struct wfs_writer *writer, const struct wfs_cell *cell, json_t **ret_grant,
	struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	struct wfs_version version;
	int r = wfs_version_get(writer->head.txn, cell->head_vid, &version);

	if (r)
		return wfs_error_from_errno(
			error, wfs_row_needed(writer->head.txn, r), "read a grant");
	r = wfs_version_read(writer->world->store, &version, &text, error);
	return wfs_trace(r ? r : wfs_json_parse(text.data, text.size, ret_grant, error));
}

/* Asks the policy in force the question that was put to the policy when the request was judged. */
static int check_policy(struct wfs_writer *writer, const json_t *grant, struct wfs_request *request)
{
	const struct wfs_policed *const policed = &request->policed;
	const struct wfs_tool_asked tool = {.name = policed->tool, .hints = policed->hints};
	const struct wfs_question question = {.effect = policed->effect,
		.origin = WFS_ORIGIN_HOST,
		.of_any = policed->of_any,
		.approved = policed->approved,
		.artifact = *policed->artifact ? policed->artifact : NULL,
		.tool = *policed->tool ? &tool : NULL};
	struct wfs_error reason = {0};

	if (!policed->asked)
		return 0;
	int r = wfs_policy_check(wfs_runtime_manifest(writer->runtime), request->principal,
		&question, wfs_json_text(grant, "cap"), &reason);
	return r ? wfs_error_set(&request->error, reason.code,
			   "%.400s, by a manifest that was applied while the request waited",
			   reason.message)
		 : 0;
}

/* Checks that the grant in a live cell is still the one that the request was judged by, and that
 * the policy still allows the request. */
static int judge_again(
	struct wfs_writer *writer, const struct wfs_cell *cell, struct wfs_request *request)
{
	WFS_AUTO_JSON json_t *grant = NULL;
	struct wfs_hash mark;
	int r = read_grant(writer, cell, &grant, &request->error);

	if (r)
		return wfs_trace(r);
	r = wfs_grant_mark(grant, &mark);
	if (r)
		return wfs_error_from_errno(&request->error, r, "read a grant");
	return wfs_hash_equal(&mark, &request->granted_mark)
		? wfs_trace(check_policy(writer, grant, request))
		: was_revoked(request);
}

/* Checks again that a request is granted, because it was judged before it waited: a revocation goes
 * ahead of waiting requests, and stops code that runs, and another grant, perhaps a smaller one,
 * may then have got the name. Most requests need no look at the grant's document and the policy,
 * because no grant has ended, and no manifest was applied, since they were judged. */
static int check_granted(struct wfs_writer *writer, struct wfs_request *request)
{
	struct wfs_cell cell = {.live = false};
	uint64_t cell_id;

	if (!*request->granted)
		return 0;
	int r = wfs_cell_find(
		writer->head.txn, grants_id(writer), wfs_bytes_text(request->granted), &cell_id);
	if (!r)
		r = wfs_cell_get(writer->head.txn, cell_id, &cell);
	if (r && r != -ENOENT)
		return wfs_error_from_errno(&request->error, r, "look for a grant");
	if (!cell.live)
		return was_revoked(request);
	r = writer->grant_ended_height > request->granted_height
		? judge_again(writer, &cell, request)
		: 0;
	if (r)
		return wfs_trace(r);
	return wfs_clock_realtime_ns() < request->granted_until_ns
		? 0
		: wfs_error_set(&request->error, WFS_E_EXPIRED,
			  "the grant '%s' expired while the request waited", request->granted);
}

int writer_process(struct wfs_writer *writer, struct wfs_request *request, bool *ret_fatal)
{
	const struct wfs_manifest *const manifest = wfs_runtime_manifest(writer->runtime);

	wfs_damage_forget(); /* a request before this one may have found damage */
	int r = check_granted(writer, request);
	if (r)
		return wfs_trace(r);
	switch (request->kind) {
	case WFS_REQUEST_EVENT: /* perhaps checked by a manifest that is not in force any more */
		if (request->event.checked_by != manifest)
			r = writer_check_event(manifest, request);
		return r ? wfs_trace(r)
			 : fold_request(writer, request, WFS_RECORD_EVENT, ret_fatal);
	case WFS_REQUEST_MANIFEST:
		return fold_manifest(writer, request, ret_fatal);
	case WFS_REQUEST_BLOB:
		return fold_request(writer, request, WFS_RECORD_BLOB, ret_fatal);
	case WFS_REQUEST_SNAPSHOT:
		return fold_request(writer, request, WFS_RECORD_SNAPSHOT, ret_fatal);
	case WFS_REQUEST_ACTION:
		return fold_request(writer, request, WFS_RECORD_ACTION, ret_fatal);
	case WFS_REQUEST_RECEIPT:
		return fold_request(writer, request, WFS_RECORD_RECEIPT, ret_fatal);
	case WFS_REQUEST_DECISION:
		return put_decision(writer, request, ret_fatal);
	case WFS_REQUEST_GC:
		return collect(writer, request, ret_fatal);
	case WFS_REQUEST_LIFT:
		return lift(writer, request);
	}
	return 0;
}
