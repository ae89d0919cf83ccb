/* SPDX-License-Identifier: Apache-2.0 */
/* Queue, kernel thread, publisher thread. */
#include "kernel/writer.h"

#include "kernel/base/array.h"
#include "kernel/base/clock.h"
#include "kernel/base/json.h"
#include "kernel/effects.h"
#include "kernel/fold.h"
#include "kernel/gc.h"
#include "kernel/grants.h"
#include "kernel/snapshot.h"
#include "kernel/world-impl.h"

enum {
	BATCH_COUNT_MAX = 1024,     /* requests of one commit */
	BATCH_BYTES_MAX = 16 << 20, /* bytes of their bodies; see WFS_FOLD_BATCH_BYTES_MAX, too */
};

/* Requests in order, first in, first out. */
struct request_list {
	struct wfs_request *first;
	struct wfs_request **last;
};

/* One commit on its way to the publisher. */
struct batch {
	struct batch *next;
	struct request_list requests;
	struct wfs_commit commit;
	bool rows_changed; /* without a record */
	size_t fold_bytes; /* that its events gave */
	uint64_t fold_work;
	struct wfs_change *changes;
	size_t change_capacity;
	struct wfs_buffer keys; /* what the changes' keys point into, once it is complete */
};

struct wfs_writer {
	struct wfs_world *world;
	pthread_t kernel_thread;
	pthread_t publisher_thread;

	pthread_mutex_t lock;
	pthread_cond_t queued;   /* a request, `stopping`, or `spare` */
	pthread_cond_t finished; /* a batch, or `kernel_done` */
	/* lock: lock */
	struct request_list queue;
	struct batch *batches;
	struct batch **batches_last;
	struct batch *spare; /* for when there is no memory for another one */
	bool stopping;
	bool kernel_done;
	size_t open_count; /* requests not answered */
	size_t open_bytes;
	uint64_t requests_total;
	uint64_t requests_failed;
	uint64_t batches_total;
	uint64_t height;

	pthread_mutex_t observers_lock; /* held while observers are called */
	struct wfs_observer *observers; /* lock: observers_lock */

	/* Kernel thread only. */
	struct wfs_head head;
	bool head_stale; /* only its height is right: a transaction failed after it was changed */
	struct wfs_fold *fold;
	struct wfs_world_answerer answerer;
	struct wfs_runtime *runtime;
	struct batch *current;
	size_t alone_count; /* of the next requests, each has a transaction of its own */
};

static void list_init(struct request_list *list)
{
	list->first = NULL;
	list->last = &list->first;
}

static void list_add(struct request_list *list, struct wfs_request *request)
{
	request->next = NULL;
	*list->last = request;
	list->last = &request->next;
}

/* Moves all of @front before what is in @list. */
static void list_put_before(struct request_list *list, struct request_list *front)
{
	if (!front->first)
		return;
	*front->last = list->first;
	if (!list->first)
		list->last = front->last;
	list->first = front->first;
	list_init(front);
}

/* --- checking a request, on the sender's thread --- */

static const char *charge_of(const struct wfs_request *request)
{
	return *request->charge ? request->charge : NULL;
}

static int check_event(struct wfs_world *world, struct wfs_request *request)
{
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = wfs_world_manifest(world);
	const struct wfs_schema *schema = wfs_manifest_schema(manifest, request->schema);

	if (!schema)
		return wfs_error_set(&request->error, WFS_E_NOT_FOUND,
			"the manifest has no schema '%s'", request->schema);
	int r = wfs_schema_check(schema, request->value, &request->error);
	if (r)
		return wfs_trace(r);
	wfs_fold_write_body(&request->body, charge_of(request), request->schema, request->value);
	request->checked_by = WFS_STEAL(manifest);
	const size_t values = wfs_json_count(request->body.data, request->body.size);
	request->queued_bytes = values * WFS_JSON_VALUE_BYTES;
	return wfs_json_check_count(values, &request->error);
}

static int check_action(struct wfs_world *world, struct wfs_request *request)
{
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = wfs_world_manifest(world);
	int r = wfs_action_check(manifest, request->action, &request->error);

	if (!r) /* for its size; folding finds the record's body */
		wfs_json_write(request->action, &request->body);
	return wfs_trace(r);
}

static void check_decision(struct wfs_request *request)
{
	wfs_require(request->error.code != WFS_OK);
	wfs_record_write_decision_body(
		&request->body, &request->decision, wfs_error_info(request->error.code)->name);
}

static int check_request(struct wfs_world *world, struct wfs_request *request)
{
	int r = 0;

	switch (request->kind) {
	case WFS_REQUEST_EVENT:
		r = check_event(world, request);
		break;
	case WFS_REQUEST_BLOB:
		wfs_record_write_blob_body(&request->body, charge_of(request), &request->blob.hash,
			request->blob.size_bytes);
		break;
	case WFS_REQUEST_SNAPSHOT:
		wfs_snapshot_body(&request->body, charge_of(request), request->snapshot_height,
			&request->snapshot_hash);
		break;
	case WFS_REQUEST_ACTION:
		r = check_action(world, request);
		break;
	case WFS_REQUEST_DECISION:
		check_decision(request);
		break;
	case WFS_REQUEST_GC:
		break;
	}
	if (r)
		return r;
	r = wfs_buffer_check(&request->body);
	if (r)
		return wfs_error_from_errno(&request->error, r, "queue a request");
	if (request->body.size > WFS_REQUEST_SIZE_MAX)
		return wfs_error_set(&request->error, WFS_E_TOO_LARGE,
			"the request has %zu bytes, at most %d are taken", request->body.size,
			WFS_REQUEST_SIZE_MAX);
	return 0;
}

static int enqueue(struct wfs_writer *writer, struct wfs_request *request)
{
	WFS_GUARD(&writer->lock);

	if (writer->stopping)
		return wfs_error_set(&request->error, WFS_E_BUSY, "the world is being closed");
	if (writer->open_count >= WFS_QUEUE_COUNT_MAX ||
		writer->open_bytes + request->queued_bytes > WFS_QUEUE_BYTES_MAX)
		return wfs_error_set(&request->error, WFS_E_OVERLOADED,
			"%zu requests are waiting already, try again", writer->open_count);
	writer->open_count++;
	writer->open_bytes += request->queued_bytes;
	writer->requests_total++;
	bool was_empty = !writer->queue.first;
	list_add(&writer->queue, request);
	if (was_empty)
		pthread_cond_signal(&writer->queued);
	return 0;
}

static void request_release(struct wfs_request *request)
{
	wfs_buffer_done(&request->body);
	wfs_manifest_unref(request->checked_by);
	request->checked_by = NULL;
}

int wfs_writer_submit(struct wfs_writer *writer, struct wfs_request *request)
{
	request->seq = UINT64_MAX;
	request->result = 0;
	request->answer = NULL;
	request->queued_bytes = 0;
	int r = check_request(writer->world, request);

	if (!r) {
		request->queued_bytes += request->body.size + sizeof(*request);
		r = enqueue(writer, request);
	}
	if (r)
		request_release(request);
	return wfs_trace(r);
}

/* --- the kernel thread: one request --- */

static int64_t now_ns(const struct wfs_writer *writer)
{
	const struct wfs_world_options *options = &writer->world->options;
	int64_t now = options->clock_ns ? options->clock_ns(options->clock_context)
					: wfs_clock_realtime_ns();

	return now > writer->head.at_ns ? now : writer->head.at_ns;
}

static void add_change(void *context, const struct wfs_change *change)
{
	struct batch *batch = context;
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
		.charge = charge_of(request),
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

/* Return: 0 or -errno of this request; @ret_fatal: the transaction cannot go on. */
static int process(struct wfs_writer *writer, struct wfs_request *request, bool *ret_fatal)
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

/* --- the kernel thread: one batch --- */

static struct batch *batch_new(void)
{
	struct batch *batch = calloc(1, sizeof(*batch));

	if (batch)
		list_init(&batch->requests);
	return batch;
}

static void batch_free(struct batch *batch)
{
	if (!batch)
		return;
	free(batch->changes);
	wfs_buffer_done(&batch->keys);
	free(batch);
}

/* A new one, or else the spare one, which the publisher gives back when it has answered it. */
static struct batch *batch_get(struct wfs_writer *writer)
{
	struct batch *batch = batch_new();

	if (batch)
		return batch;
	WFS_GUARD(&writer->lock);
	while (!writer->spare)
		pthread_cond_wait(&writer->queued, &writer->lock);
	return WFS_STEAL(writer->spare);
}

static void batch_give_back(struct wfs_writer *writer, struct batch *batch)
{
	WFS_GUARD(&writer->lock);

	if (writer->spare) {
		batch_free(batch);
		return;
	}
	free(batch->changes);
	wfs_buffer_done(&batch->keys);
	*batch = (struct batch){.next = NULL};
	list_init(&batch->requests);
	writer->spare = batch;
	pthread_cond_signal(&writer->queued);
}

/* Waits for requests. Return: false when there are none and none will come. */
static bool take_requests(struct wfs_writer *writer, struct batch *batch)
{
	WFS_GUARD(&writer->lock);
	const size_t count_max = writer->alone_count ? 1 : BATCH_COUNT_MAX;
	size_t count = 0;
	size_t bytes = 0;

	while (!writer->queue.first && !writer->stopping)
		pthread_cond_wait(&writer->queued, &writer->lock);
	while (writer->queue.first && count < count_max && bytes < BATCH_BYTES_MAX) {
		struct wfs_request *request = writer->queue.first;
		/* A step of a collection cannot be done twice, so it shares no transaction. */
		bool alone = request->kind == WFS_REQUEST_GC;

		if (alone && count > 0)
			break;
		writer->queue.first = request->next;
		if (!writer->queue.first)
			writer->queue.last = &writer->queue.first;
		list_add(&batch->requests, request);
		bytes += request->body.size;
		count++;
		if (alone)
			break;
	}
	if (writer->alone_count)
		writer->alone_count--;
	return count > 0;
}

/* What is behind @last waits for the next batch. */
static void end_batch(struct wfs_writer *writer, struct batch *batch, struct wfs_request *last)
{
	struct request_list rest = {.first = last->next, .last = batch->requests.last};
	WFS_GUARD(&writer->lock);

	last->next = NULL;
	batch->requests.last = &last->next;
	list_put_before(&writer->queue, &rest);
}

static int fold_all(struct wfs_writer *writer, struct batch *batch)
{
	for (struct wfs_request *request = batch->requests.first; request;
		request = request->next) {
		bool fatal = false;

		request->result = process(writer, request, &fatal);
		if (fatal)
			return request->result;
		request->height = writer->head.height;
		if (batch->fold_bytes >= WFS_FOLD_BATCH_BYTES_MAX ||
			batch->fold_work >= WFS_FOLD_BATCH_WORK_MAX)
			end_batch(writer, batch, request);
	}
	return wfs_buffer_check(&batch->keys);
}

static int refresh_head(struct wfs_writer *writer)
{
	if (!writer->head_stale)
		return 0;
	int r = wfs_head_load(&writer->head, writer->world->store, writer->head.txn,
		wfs_runtime_manifest(writer->runtime));
	writer->head_stale = r != 0;
	return wfs_trace(r);
}

static int fill(struct wfs_writer *writer, struct batch *batch)
{
	int r = fold_all(writer, batch);

	batch->commit.to_height = writer->head.height;
	if (!r)
		r = wfs_head_flush(&writer->head, wfs_runtime_manifest(writer->runtime));
	return wfs_trace(r);
}

/* @ret_filling: it failed for what is in the batch, before it was committed. */
static int commit(struct wfs_writer *writer, struct batch *batch, bool *ret_filling)
{
	struct wfs_txn *txn;

	batch->commit.from_height = batch->commit.to_height = writer->head.height;
	int r = wfs_store_write(writer->world->store, &txn);
	if (r)
		return wfs_trace(r);
	writer->head.txn = txn;
	r = refresh_head(writer);
	if (!r) {
		r = fill(writer, batch);
		*ret_filling = r != 0;
	}
	bool changed = batch->commit.to_height > batch->commit.from_height || batch->rows_changed;
	if (r || !changed) {
		wfs_txn_end(txn);
		return wfs_trace(r);
	}
	return wfs_trace(wfs_txn_commit(txn));
}

/* Nothing of the batch was stored. What is known of the head is read again by the next one, because
 * now there may be no memory for it. */
static void forget_batch(struct wfs_writer *writer, struct batch *batch)
{
	writer->head_stale = true;
	writer->head.height = batch->commit.from_height;
}

/* Its record was not stored. */
static void forget_answer(struct wfs_request *request)
{
	request->seq = UINT64_MAX;
	json_decref(WFS_STEAL(request->answer));
}

/* One of several requests failed all of them: each is done again, in a transaction of its own, so
 * that only that one fails. */
static void split_batch(struct wfs_writer *writer, struct batch *batch)
{
	forget_batch(writer, batch);
	for (struct wfs_request *request = batch->requests.first; request;
		request = request->next) {
		request->result = 0;
		if (request->kind != WFS_REQUEST_DECISION)
			request->error = (struct wfs_error){0};
		forget_answer(request);
		writer->alone_count++;
	}
	WFS_GUARD(&writer->lock);
	list_put_before(&writer->queue, &batch->requests);
}

/* Everyone is told. */
static void fail_batch(struct wfs_writer *writer, struct batch *batch, int failure)
{
	forget_batch(writer, batch);
	for (struct wfs_request *request = batch->requests.first; request;
		request = request->next) {
		forget_answer(request);
		if (request->result && request->error.code != WFS_OK)
			continue; /* failed for a reason of its own */
		request->result =
			wfs_error_from_errno(&request->error, failure, "store the change");
	}
	batch->commit = (struct wfs_commit){
		.from_height = writer->head.height, .to_height = writer->head.height};
}

static void seal(struct batch *batch)
{
	for (size_t i = 0; i < batch->commit.change_count; i++) {
		struct wfs_change *change = &batch->changes[i];

		if (change->key.size) /* else there may be no buffer */
			change->key.data = batch->keys.data + (uintptr_t)change->key.data;
	}
	batch->commit.changes = batch->changes;
}

static void hand_over(struct wfs_writer *writer, struct batch *batch)
{
	WFS_GUARD(&writer->lock);

	writer->batches_total++;
	writer->height = writer->head.height;
	*writer->batches_last = batch;
	writer->batches_last = &batch->next;
	pthread_cond_signal(&writer->finished);
}

static void *kernel_main(void *argument)
{
	struct wfs_writer *writer = argument;

	pthread_setname_np(pthread_self(), "wfs-kernel");
	for (;;) {
		struct batch *batch = batch_get(writer);

		if (!take_requests(writer, batch)) {
			batch_give_back(writer, batch);
			break;
		}
		writer->current = batch;
		bool filling = false;
		int r = commit(writer, batch, &filling);
		if (filling && batch->requests.first->next) {
			split_batch(writer, batch);
			batch_give_back(writer, batch);
			continue;
		}
		if (r)
			fail_batch(writer, batch, r);
		seal(batch);
		hand_over(writer, batch);
	}
	WFS_GUARD(&writer->lock);
	writer->kernel_done = true;
	pthread_cond_signal(&writer->finished);
	return NULL;
}

/* --- the publisher thread --- */

static struct batch *take_batch(struct wfs_writer *writer)
{
	WFS_GUARD(&writer->lock);

	while (!writer->batches && !writer->kernel_done)
		pthread_cond_wait(&writer->finished, &writer->lock);
	struct batch *batch = writer->batches;
	if (batch) {
		writer->batches = batch->next;
		if (!writer->batches)
			writer->batches_last = &writer->batches;
	}
	return batch;
}

static void notify(struct wfs_writer *writer, const struct wfs_commit *done)
{
	WFS_GUARD(&writer->observers_lock);

	for (struct wfs_observer *observer = writer->observers; observer; observer = observer->next)
		observer->committed(observer, done);
}

static void answer(struct wfs_writer *writer, struct batch *batch)
{
	size_t count = 0;
	size_t bytes = 0;
	size_t failed = 0;

	/* `done` may free the request, so everything is counted and released before it. */
	for (struct wfs_request *request = batch->requests.first; request;
		request = request->next) {
		count++;
		bytes += request->queued_bytes;
		failed += request->result != 0;
		request_release(request);
	}
	pthread_mutex_lock(&writer->lock);
	writer->open_count -= count;
	writer->open_bytes -= bytes;
	writer->requests_failed += failed;
	pthread_mutex_unlock(&writer->lock);
	for (struct wfs_request *request = batch->requests.first; request;) {
		struct wfs_request *next = request->next;

		request->done(request);
		request = next;
	}
}

static void *publisher_main(void *argument)
{
	struct wfs_writer *writer = argument;
	struct batch *batch;

	pthread_setname_np(pthread_self(), "wfs-publisher");
	while ((batch = take_batch(writer))) {
		if (batch->commit.to_height > batch->commit.from_height ||
			batch->commit.dropped_to > 0)
			notify(writer, &batch->commit);
		answer(writer, batch);
		batch_give_back(writer, batch);
	}
	return NULL;
}

/* --- life --- */

static int load(struct wfs_writer *writer, struct wfs_error *error)
{
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = wfs_world_manifest(writer->world);
	WFS_AUTO_TXN struct wfs_txn *txn = NULL;
	int r = wfs_store_read(writer->world->store, &txn);

	if (!r)
		r = wfs_head_load(&writer->head, writer->world->store, txn, manifest);
	if (!r)
		r = wfs_fold_new(writer->world->entropy, &writer->fold);
	if (!r)
		wfs_fold_set_answerer(writer->fold, &writer->answerer.answerer);
	if (!r)
		r = wfs_runtime_new(manifest, &WFS_LUA_LIMITS_DEFAULT, &writer->runtime);
	writer->height = writer->head.height;
	return r ? wfs_error_from_errno(error, r, "read the head of the world") : 0;
}

static void writer_release(struct wfs_writer *writer)
{
	wfs_runtime_free(writer->runtime);
	wfs_fold_free(writer->fold);
	wfs_head_done(&writer->head);
	batch_free(writer->spare);
	wfs_world_answerer_done(&writer->answerer);
	pthread_mutex_destroy(&writer->lock);
	pthread_mutex_destroy(&writer->observers_lock);
	pthread_cond_destroy(&writer->queued);
	pthread_cond_destroy(&writer->finished);
	free(writer);
}

int wfs_writer_new(struct wfs_world *world, struct wfs_writer **ret_writer, struct wfs_error *error)
{
	struct wfs_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return wfs_error_from_errno(error, -ENOMEM, "start the kernel thread");
	writer->world = world;
	list_init(&writer->queue);
	writer->batches_last = &writer->batches;
	wfs_world_answerer_init(&writer->answerer, world);
	pthread_mutex_init(&writer->lock, NULL);
	pthread_mutex_init(&writer->observers_lock, NULL);
	pthread_cond_init(&writer->queued, NULL);
	pthread_cond_init(&writer->finished, NULL);
	writer->spare = batch_new();
	int r = writer->spare ? load(writer, error)
			      : wfs_error_from_errno(error, -ENOMEM, "start the kernel thread");
	if (!r) {
		r = -pthread_create(&writer->kernel_thread, NULL, kernel_main, writer);
		if (!r && pthread_create(&writer->publisher_thread, NULL, publisher_main, writer)) {
			writer->stopping = true;
			pthread_cond_signal(&writer->queued);
			pthread_join(writer->kernel_thread, NULL);
			r = -EAGAIN;
		}
		if (r)
			wfs_error_from_errno(error, r, "start the kernel thread");
	}
	if (r) {
		writer_release(writer);
		return wfs_trace(r);
	}
	*ret_writer = writer;
	return 0;
}

void wfs_writer_free(struct wfs_writer *writer)
{
	if (!writer)
		return;
	pthread_mutex_lock(&writer->lock);
	writer->stopping = true;
	pthread_cond_signal(&writer->queued);
	pthread_mutex_unlock(&writer->lock);
	pthread_join(writer->kernel_thread, NULL);
	pthread_join(writer->publisher_thread, NULL);
	wfs_require(!writer->observers);
	writer_release(writer);
}

void wfs_writer_observe(struct wfs_writer *writer, struct wfs_observer *observer)
{
	WFS_GUARD(&writer->observers_lock);

	struct wfs_observer **last = &writer->observers;

	while (*last)
		last = &(*last)->next;
	observer->next = NULL;
	*last = observer;
}

void wfs_writer_unobserve(struct wfs_writer *writer, struct wfs_observer *observer)
{
	WFS_GUARD(&writer->observers_lock);

	for (struct wfs_observer **at = &writer->observers; *at; at = &(*at)->next) {
		if (*at == observer) {
			*at = observer->next;
			break;
		}
	}
}

void wfs_writer_figures(struct wfs_writer *writer, struct wfs_world_figures *ret_figures)
{
	WFS_GUARD(&writer->lock);

	ret_figures->height = writer->height;
	ret_figures->queue_count = writer->open_count;
	ret_figures->queue_bytes = writer->open_bytes;
	ret_figures->requests_total = writer->requests_total;
	ret_figures->requests_failed = writer->requests_failed;
	ret_figures->batches_total = writer->batches_total;
}

void wfs_writer_judge(struct wfs_writer *writer, struct wfs_judge *judge)
{
	wfs_world_answerer_judge(&writer->answerer, judge);
}
