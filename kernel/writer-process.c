/* SPDX-License-Identifier: Apache-2.0 */
/* One request, on the kernel thread. */
#include "kernel/base/array.h"
#include "kernel/base/clock.h"
#include "kernel/gc.h"
#include "kernel/writer-impl.h"

static int64_t now_ns(const struct wfs_writer *writer)
{
	const struct wfs_world_options *options = &writer->world->options;
	int64_t now = options->clock_ns ? options->clock_ns(options->clock_context)
					: wfs_clock_realtime_ns();

	return now > writer->head.at_ns ? now : writer->head.at_ns;
}

static void add_change(void *context, const struct wfs_change *change)
{
	struct writer_batch *batch = context;
	struct wfs_commit *commit = &batch->commit;

	struct wfs_change *const changes = wfs_array_reserve(
		batch->changes, commit->change_count, &batch->change_capacity, sizeof(*changes));

	if (!changes) {
		batch->keys.failed = true;
		return;
	}
	batch->changes = changes;
	struct wfs_change *added = &batch->changes[commit->change_count++];
	*added = *change;
	/* An offset for now: the buffer may move while it grows. */
	added->key.data = (const void *)(uintptr_t)batch->keys.size;
	wfs_buffer_append(&batch->keys, change->key.data, change->key.size);
}

/* --- requests that are folded --- */

/* What comes before and behind the record in its transaction. Return: 0, 1 when there is nothing to
 * record, or -errno. */
static int before_record(struct wfs_writer *writer, struct wfs_request *request, int64_t at_ns)
{
	if (request->kind != WFS_REQUEST_BLOB)
		return 0;
	return wfs_trace(
		wfs_head_list_blob(&writer->head, &request->blob, writer->head.height + 1, at_ns));
}

static int after_record(struct wfs_writer *writer, struct wfs_request *request, int64_t at_ns)
{
	if (request->kind != WFS_REQUEST_SNAPSHOT)
		return 0;
	return wfs_trace(wfs_head_set_snapshot(&writer->head, &request->snapshot_hash, at_ns));
}

static int apply(struct wfs_writer *writer, struct wfs_request *request, int64_t at_ns)
{
	int r = before_record(writer, request, at_ns);

	if (r)
		return wfs_trace(r < 0 ? r : 0);
	request->seq = writer->head.height;
	r = wfs_fold_apply(writer->fold, &writer->head);
	if (!r)
		r = after_record(writer, request, at_ns);
	if (r)
		return wfs_trace(r);
	wfs_fold_changes(writer->fold, add_change, writer->current);
	writer->current->fold_bytes += wfs_fold_bytes(writer->fold);
	writer->current->commit.blobs_listed |= request->kind == WFS_REQUEST_BLOB;
	return 0;
}

static int run_request(struct wfs_writer *writer, struct wfs_request *request,
	enum wfs_record_kind kind, bool *ret_fatal)
{
	struct wfs_fold_input input = {
		.kind = kind,
		.schema = request->schema,
		.value = request->value,
		.key = request->key,
		.action = request->action,
		.charge = writer_charge(request),
		.body = wfs_buffer_bytes(&request->body),
		.principal = request->principal,
		.at_ns = now_ns(writer),
	};
	int r = wfs_fold_run(writer->fold, &writer->head, writer->runtime, &input, &request->error);

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

/* --- other requests --- */

/* The refusal is the answer; what fails here is another one. */
static int put_decision(struct wfs_writer *writer, struct wfs_request *request, bool *ret_fatal)
{
	struct wfs_record record = {
		.at_ns = now_ns(writer),
		.kind = WFS_RECORD_DECISION,
		.principal = request->principal,
		.body = wfs_buffer_bytes(&request->body),
	};
	int r = wfs_head_append(&writer->head, &record);

	*ret_fatal = r != 0;
	if (r)
		return wfs_trace(r);
	request->seq = record.seq;
	return -wfs_error_info(request->error.code)->number;
}

static int collect(struct wfs_writer *writer, struct wfs_request *request, bool *ret_fatal)
{
	struct wfs_commit *commit = &writer->current->commit;
	struct wfs_gc_step *step = request->gc;
	int r = wfs_gc_step_run(step, &writer->head, ret_fatal, &request->error);

	if (step->dropped_to > step->dropped_from) {
		if (commit->dropped_to == 0)
			commit->dropped_from = step->dropped_from;
		commit->dropped_to = step->dropped_to;
	}
	writer->current->rows_changed |= step->rows_changed;
	return wfs_trace(r);
}

int writer_process(struct wfs_writer *writer, struct wfs_request *request, bool *ret_fatal)
{
	switch (request->kind) {
	case WFS_REQUEST_EVENT:
		return fold_request(writer, request, WFS_RECORD_EVENT, ret_fatal);
	case WFS_REQUEST_BLOB:
		return fold_request(writer, request, WFS_RECORD_BLOB, ret_fatal);
	case WFS_REQUEST_SNAPSHOT:
		return fold_request(writer, request, WFS_RECORD_SNAPSHOT, ret_fatal);
	case WFS_REQUEST_ACTION:
		return fold_request(writer, request, WFS_RECORD_ACTION, ret_fatal);
	case WFS_REQUEST_DECISION:
		return put_decision(writer, request, ret_fatal);
	case WFS_REQUEST_GC:
		return collect(writer, request, ret_fatal);
	}
	return 0;
}
