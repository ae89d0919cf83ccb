/* SPDX-License-Identifier: Apache-2.0 */
/* Queue, kernel thread, publisher thread. */
#include "kernel/crashes.h"
#include "kernel/writer-impl.h"

enum {
	BATCH_COUNT_MAX = 1024,     /* requests of one commit */
	BATCH_BYTES_MAX = 16 << 20, /* bytes of their bodies; see WFS_FOLD_BATCH_BYTES_MAX, too */
};

static void list_init(struct writer_list *list)
{
	list->first = NULL;
	list->last = &list->first;
}

static void list_add(struct writer_list *list, struct wfs_request *request)
{
	request->next = NULL;
	*list->last = request;
	list->last = &request->next;
}

/* Moves all of @front before what is in @list. */
static void list_put_before(struct writer_list *list, struct writer_list *front)
{
	if (!front->first)
		return;
	*front->last = list->first;
	if (!list->first)
		list->last = front->last;
	list->first = front->first;
	list_init(front);
}

/* --- taking a request --- */

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

/* What was embedded for it stays with it until it is answered. */
static void request_release(struct wfs_request *request)
{
	if (!request->wanted)
		json_decref(WFS_STEAL(request->embeddings));
	wfs_buffer_done(&request->body);
	wfs_manifest_unref(request->checked_by);
	wfs_manifest_unref(request->manifest);
	request->checked_by = NULL;
	request->manifest = NULL;
}

int wfs_writer_submit(struct wfs_writer *writer, struct wfs_request *request)
{
	request->seq = UINT64_MAX;
	request->result = 0;
	request->answer = NULL;
	request->manifest = NULL;
	request->queued_bytes = 0;
	int r = writer_check(writer->world, request);

	if (!r) {
		request->queued_bytes += request->body.size + sizeof(*request);
		r = enqueue(writer, request);
	}
	if (r)
		request_release(request);
	return wfs_trace(r);
}

/* --- the kernel thread: one batch --- */

static struct writer_batch *batch_new(void)
{
	struct writer_batch *batch = calloc(1, sizeof(*batch));

	if (batch)
		list_init(&batch->requests);
	return batch;
}

static void batch_free(struct writer_batch *batch)
{
	if (!batch)
		return;
	free(batch->changes);
	wfs_buffer_done(&batch->keys);
	free(batch);
}

/* A new one, or else the spare one, which the publisher gives back when it has answered it. */
static struct writer_batch *batch_get(struct wfs_writer *writer)
{
	struct writer_batch *batch = batch_new();

	if (batch)
		return batch;
	WFS_GUARD(&writer->lock);
	while (!writer->spare)
		pthread_cond_wait(&writer->queued, &writer->lock);
	return WFS_STEAL(writer->spare);
}

static void batch_give_back(struct wfs_writer *writer, struct writer_batch *batch)
{
	WFS_GUARD(&writer->lock);

	if (writer->spare) {
		batch_free(batch);
		return;
	}
	free(batch->changes);
	wfs_buffer_done(&batch->keys);
	*batch = (struct writer_batch){.next = NULL};
	list_init(&batch->requests);
	writer->spare = batch;
	pthread_cond_signal(&writer->queued);
}

/* Waits for requests. Return: false when there are none and none will come. */
static bool take_requests(struct wfs_writer *writer, struct writer_batch *batch)
{
	WFS_GUARD(&writer->lock);
	const size_t count_max = writer->alone_count ? 1 : BATCH_COUNT_MAX;
	size_t count = 0;
	size_t bytes = 0;

	while (!writer->queue.first && !writer->stopping)
		pthread_cond_wait(&writer->queued, &writer->lock);
	while (writer->queue.first && count < count_max && bytes < BATCH_BYTES_MAX) {
		struct wfs_request *request = writer->queue.first;
		/* A step of a collection cannot be done twice, so it shares no transaction. The
		 * manifest changes between two of them. */
		bool alone =
			request->kind == WFS_REQUEST_GC || request->kind == WFS_REQUEST_MANIFEST;

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
static void end_batch(
	struct wfs_writer *writer, struct writer_batch *batch, struct wfs_request *last)
{
	struct writer_list rest = {.first = last->next, .last = batch->requests.last};
	WFS_GUARD(&writer->lock);

	last->next = NULL;
	batch->requests.last = &last->next;
	list_put_before(&writer->queue, &rest);
}

static int fold_all(struct wfs_writer *writer, struct writer_batch *batch)
{
	writer->ahead_left = 0;
	for (struct wfs_request *request = batch->requests.first; request;
		request = request->next) {
		bool fatal = false;

		if (writer->ahead_left == 0)
			writer_ahead(writer, request);
		request->result = writer_process(writer, request, &fatal);
		writer->ahead_left -= writer->ahead_left > 0;
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

static int fill(struct wfs_writer *writer, struct writer_batch *batch)
{
	int r = fold_all(writer, batch);

	batch->commit.to_height = writer->head.height;
	if (!r)
		r = wfs_crashes_keep(
			writer->head.txn, writer->world->quarantine, &batch->rows_changed);
	if (!r)
		r = wfs_head_flush(&writer->head, wfs_runtime_manifest(writer->runtime));
	return wfs_trace(r);
}

/* The manifest that the batch brought is in force, or it never was. */
static void settle_manifest(struct wfs_writer *writer, bool committed)
{
	struct wfs_runtime *const before = WFS_STEAL(writer->runtime_before);

	if (!before)
		return;
	wfs_runtime_free(committed ? before : writer->runtime);
	if (committed)
		wfs_world_manifest_set(
			writer->world, wfs_manifest_ref(wfs_runtime_manifest(writer->runtime)));
	else
		writer->runtime = before;
}

/* @ret_filling: it failed for what is in the batch, before it was committed. */
static int commit(struct wfs_writer *writer, struct writer_batch *batch, bool *ret_filling)
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
	if (r || !changed)
		wfs_txn_end(txn);
	else
		r = wfs_txn_commit(txn);
	settle_manifest(writer, r == 0);
	return wfs_trace(r);
}

/* Nothing of the batch was stored. What is known of the head is read again by the next one, because
 * now there may be no memory for it. */
static void forget_batch(struct wfs_writer *writer, struct writer_batch *batch)
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
static void split_batch(struct wfs_writer *writer, struct writer_batch *batch)
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
static void fail_batch(struct wfs_writer *writer, struct writer_batch *batch, int failure)
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

static void seal(struct writer_batch *batch)
{
	for (size_t i = 0; i < batch->commit.change_count; i++) {
		struct wfs_change *change = &batch->changes[i];

		if (change->key.size) /* else there may be no buffer */
			change->key.data = batch->keys.data + (uintptr_t)change->key.data;
	}
	batch->commit.changes = batch->changes;
}

static void hand_over(struct wfs_writer *writer, struct writer_batch *batch)
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
		struct writer_batch *batch = batch_get(writer);

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

static struct writer_batch *take_batch(struct wfs_writer *writer)
{
	WFS_GUARD(&writer->lock);

	while (!writer->batches && !writer->kernel_done)
		pthread_cond_wait(&writer->finished, &writer->lock);
	struct writer_batch *batch = writer->batches;
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
		if (observer->committed)
			observer->committed(observer, done);
	for (struct wfs_observer *observer = writer->observers; observer; observer = observer->next)
		if (observer->told)
			observer->told(observer, done);
}

/* It comes again with what it wants. Return: false: there is nobody who makes that. */
static bool embed(struct wfs_writer *writer, struct wfs_request *request)
{
	WFS_GUARD(&writer->embedder_lock);

	if (writer->embedder) {
		writer->embedder->embed(writer->embedder, request);
		return true;
	}
	json_decref(WFS_STEAL(request->wanted));
	json_decref(WFS_STEAL(request->embeddings));
	request->result = wfs_error_set(&request->error, WFS_E_CANCELLED,
		"the world is being closed: nobody makes embeddings any more");
	return false;
}

static void answer(struct wfs_writer *writer, struct writer_batch *batch)
{
	size_t count = 0;
	size_t bytes = 0;
	size_t failed = 0;

	/* `done` may free the request, so everything is counted and released before it. */
	for (struct wfs_request *request = batch->requests.first; request;
		request = request->next) {
		count++;
		bytes += request->queued_bytes;
		failed += request->result != 0 && !request->wanted;
		request_release(request);
	}
	pthread_mutex_lock(&writer->lock);
	writer->open_count -= count;
	writer->open_bytes -= bytes;
	writer->requests_failed += failed;
	pthread_mutex_unlock(&writer->lock);
	for (struct wfs_request *request = batch->requests.first; request;) {
		struct wfs_request *next = request->next;

		if (!request->wanted || !embed(writer, request))
			request->done(request);
		request = next;
	}
}

static void *publisher_main(void *argument)
{
	struct wfs_writer *writer = argument;
	struct writer_batch *batch;

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
		wfs_fold_set_quarantine(writer->fold, writer->world->quarantine);
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
	pthread_mutex_destroy(&writer->embedder_lock);
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
	pthread_mutex_init(&writer->embedder_lock, NULL);
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

void wfs_writer_set_embedder(struct wfs_writer *writer, struct wfs_embedder *embedder)
{
	WFS_GUARD(&writer->embedder_lock);

	writer->embedder = embedder;
}

void wfs_writer_judge(struct wfs_writer *writer, struct wfs_judge *judge)
{
	wfs_world_answerer_judge(&writer->answerer, judge);
}
