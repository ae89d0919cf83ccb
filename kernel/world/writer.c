/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel thread and the publisher thread, and the batches that they pass on. */
#include "kernel/base/clock.h"
#include "kernel/read/introspect.h"
#include "kernel/world/crashes.h"
#include "kernel/world/domains.h"
#include "kernel/world/embedder.h"
#include "kernel/world/writer-impl.h"

enum {
	BATCH_NS = 10 * 1000 * 1000, /* of work, after which a batch ends, as other requests wait */
	BATCH_COUNT_MAX = 1024,      /* requests of one commit */
	BATCH_BYTES_MAX = 16 << 20,  /* bytes of their bodies; see WFS_FOLD_BATCH_BYTES_MAX, too */
};

/* --- taking a request --- */

/* Stops code that runs for @urgent: always for administrators, a limited number of times for
 * others. Otherwise a principal could have its own code stopped so often that even an administrator
 * waits. Lock: writer->lock is held. */
static void interrupt(struct wfs_writer *writer, struct wfs_request *urgent)
{
	if (!writer->folding || writer->interrupted)
		return;
	if (writer->folding->put_back_count >= WFS_PUT_BACK_MAX) {
		urgent = writer->queues.urgent.first;
		while (urgent && !urgent->administers)
			urgent = urgent->next;
	}
	if (!urgent)
		return;
	writer->interrupted = true;
	writer->stopper = urgent;
	wfs_fold_interrupt(writer->fold);
}

static int refuse(struct wfs_request *request)
{
	request->undecided = true;
	return wfs_error_set(&request->error, WFS_E_UNAVAILABLE,
		"another node decides about changes of this world, and cannot be asked now: "
		"nothing was changed, try again");
}

static int enqueue(struct wfs_writer *writer, struct wfs_request *request)
{
	WFS_GUARD(&writer->lock);

	if (writer->stopping)
		return wfs_error_set(&request->error, WFS_E_BUSY, "the world is being closed");
	if (writer->refusing)
		return refuse(request);
	int r = writer_queues_add(&writer->queues, request);
	if (r)
		return wfs_trace(r);
	writer->requests_total++;
	if (request->urgent)
		interrupt(writer, request);
	if (writer->queues.waiting_count == 1)
		pthread_cond_signal(&writer->queued);
	return 0;
}

/* Releases what a request owns, but keeps its embeddings if it waits for another one. */
static void request_release(struct wfs_request *request)
{
	wfs_buffer_done(&request->body);
	if (request->kind == WFS_REQUEST_ACTION && !request->action.wanted)
		json_decref(WFS_STEAL(request->action.embeddings));
	else if (request->kind == WFS_REQUEST_EVENT)
		wfs_manifest_unref(WFS_STEAL(request->event.checked_by));
	else if (request->kind == WFS_REQUEST_MANIFEST)
		wfs_manifest_unref(WFS_STEAL(request->manifest.compiled));
}

int writer_submit(struct wfs_writer *writer, struct wfs_request *request)
{
	request->seq = UINT64_MAX;
	request->result = 0;
	request->answer = NULL;
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
		writer_list_init(&batch->requests);
	return batch;
}

static void batch_free(struct writer_batch *batch)
{
	if (!batch)
		return;
	wfs_gather_done(&batch->gather);
	free(batch);
}

/* A new batch; without memory the spare one, which the publisher gives back after it has answered
 * it. */
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
	wfs_gather_done(&batch->gather);
	*batch = (struct writer_batch){.next = NULL};
	writer_list_init(&batch->requests);
	writer->spare = batch;
	pthread_cond_signal(&writer->queued);
}

/* Takes as many requests as fit into a batch, by the time that they will probably take. */
static void take_in_turn(struct wfs_writer *writer, struct writer_batch *batch)
{
	struct wfs_request *request;
	size_t count = 0;
	size_t bytes = 0;
	int64_t time_ns = 0;

	while (count < BATCH_COUNT_MAX && bytes < BATCH_BYTES_MAX && time_ns < BATCH_NS &&
		(request = writer_queues_next(&writer->queues))) {
		/* A step of a collection cannot be done twice, and the manifest changes only
		 * between transactions, so both share none with other requests. */
		const bool alone = request->alone || request->kind == WFS_REQUEST_GC ||
			request->kind == WFS_REQUEST_MANIFEST;

		if (alone && count > 0)
			break;
		writer_list_add(&batch->requests, writer_queues_take(&writer->queues));
		bytes += request->body.size;
		time_ns += request->guess_ns;
		count++;
		if (alone)
			break;
	}
}

/* What the kernel thread does next. */
enum taken {
	TAKEN_END,     /* no request waits, and none will come */
	TAKEN_NOTHING, /* look again */
	TAKEN_REFUSED, /* answer the batch, whose requests were refused */
	TAKEN_BATCH,
};

/* Waits while the world stands aside, or takes requests that are refused then. Lock: writer->lock
 * is held. */
static enum taken take_aside(struct wfs_writer *writer, struct writer_batch *batch)
{
	struct writer_queues *const queues = &writer->queues;

	while (writer->aside && !writer->stopping &&
		!(writer->refusing && queues->waiting_count > 0)) {
		writer->parked = true;
		pthread_cond_broadcast(&writer->settled);
		pthread_cond_wait(&writer->queued, &writer->lock);
	}
	if (!writer->aside)
		return TAKEN_NOTHING;
	if (queues->waiting_count == 0)
		return TAKEN_END;
	take_in_turn(writer, batch);
	while (queues->urgent.first)
		writer_list_add(&batch->requests, writer_queues_take_urgent(queues));
	for (struct wfs_request *request = batch->requests.first; request;
		request = request->next) {
		writer_queues_took(queues, request, 0);
		request->result = refuse(request);
	}
	return TAKEN_REFUSED;
}

/* Waits for requests. After a batch of urgent requests, one of other requests comes, if any
 * wait. */
static enum taken take_requests(struct wfs_writer *writer, struct writer_batch *batch)
{
	WFS_GUARD(&writer->lock);
	struct writer_queues *const queues = &writer->queues;

	const int64_t due_ns = writer_refusals_due_ns(&writer->refusals);
	const struct timespec due = {due_ns / 1000000000, due_ns % 1000000000};

	while (queues->waiting_count == 0 && !writer->stopping && !writer->due && !writer->aside) {
		if (due_ns == INT64_MAX)
			pthread_cond_wait(&writer->queued, &writer->lock);
		else
			writer->due = pthread_cond_timedwait(
					      &writer->queued, &writer->lock, &due) == ETIMEDOUT;
	}
	if (writer->aside) {
		writer->due = false;
		return take_aside(writer, batch);
	}
	writer->last = writer->stopping && queues->waiting_count == 0;
	if (writer->urgent_before || !queues->urgent.first)
		take_in_turn(writer, batch);
	writer->urgent_before = !batch->requests.first;
	while (writer->urgent_before && queues->urgent.first)
		writer_list_add(&batch->requests, writer_queues_take_urgent(queues));
	const bool due_now = writer->due || (writer->last && due_ns != INT64_MAX);
	writer->due = false;
	return batch->requests.first || due_now ? TAKEN_BATCH : TAKEN_END;
}

/* Ends a batch: puts @from, and the requests after it, back to wait for the next batch. */
static void end_batch(
	struct wfs_writer *writer, struct writer_batch *batch, struct wfs_request **from)
{
	struct wfs_request *rest = *from;
	struct wfs_request *turned = NULL; /* the last one is put back first */
	WFS_GUARD(&writer->lock);

	*from = NULL;
	batch->requests.last = from;
	while (rest) {
		struct wfs_request *const next = rest->next;

		rest->next = turned;
		turned = rest;
		rest = next;
	}
	while (turned) {
		struct wfs_request *const next = turned->next;

		writer_queues_put_back(&writer->queues, turned);
		turned = next;
	}
}

int writer_fold_end(struct wfs_writer *writer)
{
	WFS_GUARD(&writer->lock);
	const bool interrupted = writer->interrupted;

	writer->folding = NULL;
	writer->interrupted = false;
	if (!wfs_fold_resume(writer->fold))
		return 0;
	return interrupted ? 1 : -EINTR;
}

static void fold_begin(struct wfs_writer *writer, struct wfs_request *request)
{
	WFS_GUARD(&writer->lock);

	if (request->urgent)
		return;
	writer->folding = request;
	if (writer->queues.urgent.first) /* it came while the last batch was stored */
		interrupt(writer, writer->queues.urgent.first);
}

/* Does one request. Return: the nanoseconds that it took, with its share of code that ran ahead. */
static int64_t fold_one(struct wfs_writer *writer, struct wfs_request *request, bool *ret_fatal)
{
	const uint64_t work_before = writer->current->fold_work;
	int64_t start = wfs_clock_monotonic_ns();
	int64_t share = 0;

	if (writer_gone(request) && request->kind != WFS_REQUEST_DECISION) {
		request->result = wfs_error_set(&request->error, WFS_E_CANCELLED,
			"the client went away, or read no answers, before the request was begun");
	} else {
		fold_begin(writer, request);
		if (writer->ahead_left == 0) {
			writer_ahead(writer, request);
			start = wfs_clock_monotonic_ns();
		}
		request->result = writer_process(writer, request, ret_fatal);
		if (request->result == -EIO) /* notes of damage are kept by thread */
			(void)wfs_read_describe(&request->error, request->result);
		share = writer_ahead_share_ns(writer, writer->current->fold_work - work_before);
		(void)writer_fold_end(writer);
	}
	writer->ahead_left -= writer->ahead_left > 0;
	return wfs_clock_monotonic_ns() - start + share;
}

/* Charges a request for its time. Return: must the batch end after it? */
static bool fold_charge(struct wfs_writer *writer, const struct writer_batch *batch,
	struct wfs_request *request, int64_t time_ns, int64_t batch_ns)
{
	WFS_GUARD(&writer->lock);

	struct wfs_request *const stopper = WFS_STEAL(writer->stopper);

	if (request->put_back && stopper)
		writer_queues_stopped(&writer->queues, stopper, time_ns);
	else
		writer_queues_took(&writer->queues, request, time_ns);
	return batch->fold_bytes >= WFS_FOLD_BATCH_BYTES_MAX ||
		batch->fold_work >= WFS_FOLD_BATCH_WORK_MAX || batch_ns >= BATCH_NS ||
		writer->queues.urgent.first;
}

static int fold_all(struct wfs_writer *writer, struct writer_batch *batch)
{
	const int64_t start = wfs_clock_monotonic_ns();

	/* Cells that were read ahead may come from a transaction that was given up. */
	(void)wfs_fold_ahead(writer->fold, &writer->head, writer->runtime, NULL, 0);
	writer->ahead_left = 0;
	for (struct wfs_request **at = &batch->requests.first; *at; at = &(*at)->next) {
		struct wfs_request *const request = *at;
		bool fatal = false;

		const int64_t took = fold_one(writer, request, &fatal);
		if (fatal)
			return request->result;
		if (fold_charge(writer, batch, request, took, wfs_clock_monotonic_ns() - start))
			end_batch(writer, batch, &request->next);
		if (request->put_back) {
			request->error = (struct wfs_error){0};
			request->put_back_count++;
			end_batch(writer, batch, at);
			break;
		}
		request->height = writer->head.height;
	}
	return wfs_buffer_check(&batch->gather.keys);
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

	if (!r) /* after the requests of this batch, whose refusals count, too */
		r = writer_refusals_write(&writer->refusals, writer, writer->last);
	batch->gather.commit.to_height = writer->head.height;
	if (!r)
		r = wfs_crashes_keep(
			writer->head.txn, writer->world->quarantine, &batch->rows_changed);
	if (!r)
		r = wfs_head_flush(&writer->head, wfs_runtime_manifest(writer->runtime));
	return wfs_trace(r);
}

/* Keeps the manifest that a batch brought, or goes back to the one before. */
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

/* Asks the committer about the records of a batch. Return: 0, or -errno with writer->dropped. */
static int decide(struct wfs_writer *writer, struct writer_batch *batch)
{
	const struct wfs_commit *const commit = &batch->gather.commit;
	WFS_GUARD(&writer->committer_lock);

	if (!writer->committer || commit->to_height == commit->from_height)
		return 0;
	int r = writer->committer->decide(writer->committer, writer->head.txn, commit->from_height,
		commit->to_height, batch->requests.first, &writer->dropped);
	if (r && writer->dropped.code == WFS_OK)
		wfs_error_from_errno(&writer->dropped, r, "decide about the change");
	return wfs_trace(r);
}

/* Commits a batch. @ret_filling: the failure was caused by a request of the batch, before the
 * commit. */
static int commit(struct wfs_writer *writer, struct writer_batch *batch, bool *ret_filling)
{
	struct wfs_txn *txn;

	writer->dropped = (struct wfs_error){0};
	batch->gather.commit.from_height = batch->gather.commit.to_height = writer->head.height;
	int r = wfs_store_write(writer->world->store, &txn);
	if (r) {
		writer_refusals_settle(&writer->refusals, false, writer->last);
		return wfs_trace(r);
	}
	writer->head.txn = txn;
	r = refresh_head(writer);
	if (!r) {
		r = fill(writer, batch);
		*ret_filling = r != 0;
	}
	if (!r)
		r = decide(writer, batch);
	const bool changed = batch->gather.commit.to_height > batch->gather.commit.from_height ||
		batch->rows_changed;
	if (r || !changed)
		wfs_txn_end(txn);
	else
		r = wfs_txn_commit(txn);
	settle_manifest(writer, r == 0);
	writer_refusals_settle(&writer->refusals, r == 0, writer->last);
	wfs_quarantine_settle(writer->world->quarantine, r == 0);
	return wfs_trace(r);
}

/* Forgets a batch that was not stored. The next batch reads the head again, because now there may
 * be not enough memory. */
static void forget_batch(struct wfs_writer *writer, struct writer_batch *batch)
{
	writer->head_stale = true;
	writer->head.height = batch->gather.commit.from_height;
}

/* Takes the answer out of a request whose record was not stored. */
static void forget_answer(struct wfs_request *request)
{
	request->seq = UINT64_MAX;
	json_decref(WFS_STEAL(request->answer));
}

/* One request has failed the whole batch. Each is done again, in a transaction of its own, so that
 * only this one fails. */
static void split_batch(struct wfs_writer *writer, struct writer_batch *batch)
{
	forget_batch(writer, batch);
	for (struct wfs_request *request = batch->requests.first; request;
		request = request->next) {
		request->result = 0;
		if (request->kind != WFS_REQUEST_DECISION)
			request->error = (struct wfs_error){0};
		forget_answer(request);
		request->alone = true;
	}
	end_batch(writer, batch, &batch->requests.first);
}

/* Sets the failure of a batch in each of its requests. */
static void fail_batch(struct wfs_writer *writer, struct writer_batch *batch, int failure)
{
	forget_batch(writer, batch);
	for (struct wfs_request *request = batch->requests.first; request;
		request = request->next) {
		forget_answer(request);
		if (request->result && request->error.code != WFS_OK)
			continue; /* it has failed for a reason of its own */
		request->result =
			wfs_error_from_errno(&request->error, failure, "store the change");
		if (writer->dropped.code != WFS_OK) {
			request->error = writer->dropped;
			request->undecided = true;
		}
	}
	batch->gather.commit = (struct wfs_commit){
		.from_height = writer->head.height, .to_height = writer->head.height};
}

void writer_hand_over(struct wfs_writer *writer, struct writer_batch *batch, uint64_t height)
{
	writer->batches_total++;
	writer->height = height;
	*writer->batches_last = batch;
	writer->batches_last = &batch->next;
	pthread_cond_signal(&writer->finished);
}

static void hand_over(struct wfs_writer *writer, struct writer_batch *batch, uint64_t height)
{
	wfs_gather_finish(&batch->gather);
	WFS_GUARD(&writer->lock);

	writer_hand_over(writer, batch, height);
}

static void *kernel_main(void *argument)
{
	struct wfs_writer *writer = argument;

	pthread_setname_np(pthread_self(), "wfs-kernel");
	for (;;) {
		struct writer_batch *batch = batch_get(writer);

		const enum taken taken = take_requests(writer, batch);
		if (taken == TAKEN_REFUSED) {
			hand_over(writer, batch, writer->height);
			continue;
		}
		if (taken != TAKEN_BATCH) {
			batch_give_back(writer, batch);
			if (taken == TAKEN_END)
				break;
			continue;
		}
		writer->current = batch;
		bool filling = false;
		int r = commit(writer, batch, &filling);
		if (filling && batch->requests.first && batch->requests.first->next) {
			split_batch(writer, batch);
			batch_give_back(writer, batch);
			continue;
		}
		if (r)
			fail_batch(writer, batch, r);
		hand_over(writer, batch, writer->head.height);
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

/* Gives a request to the embedder, which gives it back with the embedding. Return: false if there
 * is no embedder. */
static bool embed(struct wfs_writer *writer, struct wfs_request *request)
{
	WFS_GUARD(&writer->embedder_lock);

	if (writer->embedder) {
		writer->embedder->embed(writer->embedder, request);
		return true;
	}
	json_decref(WFS_STEAL(request->action.wanted));
	json_decref(WFS_STEAL(request->action.embeddings));
	request->result = wfs_error_set(&request->error, WFS_E_CANCELLED,
		"the world is being closed: no more embeddings are made");
	return false;
}

static void answer(struct wfs_writer *writer, struct writer_batch *batch)
{
	/* `done` may free the request, so everything is counted and released before it. */
	pthread_mutex_lock(&writer->lock);
	for (struct wfs_request *request = batch->requests.first; request;
		request = request->next) {
		writer_queues_answered(&writer->queues, request);
		writer->requests_failed += request->result != 0 && !writer_wanted(request);
	}
	pthread_mutex_unlock(&writer->lock);
	for (struct wfs_request *request = batch->requests.first; request; request = request->next)
		request_release(request);
	for (struct wfs_request *request = batch->requests.first; request;) {
		struct wfs_request *next = request->next;

		if (!writer_wanted(request) || !embed(writer, request))
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
		if (batch->gather.commit.to_height > batch->gather.commit.from_height ||
			batch->gather.commit.dropped_to > 0 || batch->gather.commit.raw_dropped)
			notify(writer, &batch->gather.commit);
		answer(writer, batch);
		if (!batch->told) {
			batch_give_back(writer, batch);
			continue;
		}
		WFS_GUARD(&writer->lock);
		*batch->told = true; /* the batch is gone as soon as the lock is */
		pthread_cond_broadcast(&writer->settled);
	}
	return NULL;
}

/* --- life --- */

int writer_load(struct wfs_writer *writer, struct wfs_error *error)
{
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = wfs_world_manifest(writer->world);
	WFS_AUTO_TXN struct wfs_txn *txn = NULL;
	WFS_AUTO_HEAD struct wfs_head head = {.store = NULL};
	WFS_AUTO_FOLD struct wfs_fold *fold = NULL;
	struct wfs_runtime *runtime = NULL;
	int r = wfs_store_read(writer->world->store, &txn);

	if (!r)
		r = wfs_head_load(&head, writer->world->store, txn, manifest);
	if (!r)
		r = wfs_fold_new(writer->world->entropy, wfs_domains, &fold);
	if (!r)
		r = wfs_runtime_new(manifest, &WFS_LUA_LIMITS_DEFAULT, &runtime);
	if (r)
		return wfs_error_from_errno(error, r, "read the head of the world");
	wfs_fold_set_answerer(fold, &writer->answerer.answerer);
	wfs_fold_set_quarantine(fold, writer->world->quarantine);
	WFS_GUARD(&writer->lock);

	if (writer->code_end_ns != INT64_MAX)
		wfs_fold_end(fold, writer->code_end_ns);
	wfs_head_done(&writer->head);
	wfs_runtime_free(writer->runtime);
	wfs_fold_free(writer->fold);
	writer->head = head;
	head = (struct wfs_head){.store = NULL};
	writer->head_stale = false;
	writer->runtime = runtime;
	writer->fold = WFS_STEAL(fold);
	writer->height = writer->head.height;
	return 0;
}

static void writer_release(struct wfs_writer *writer)
{
	wfs_runtime_free(writer->runtime);
	wfs_fold_free(writer->fold);
	wfs_head_done(&writer->head);
	batch_free(writer->spare);
	writer_queues_done(&writer->queues);
	writer_refusals_done(&writer->refusals);
	wfs_world_answerer_done(&writer->answerer);
	pthread_mutex_destroy(&writer->lock);
	pthread_mutex_destroy(&writer->observers_lock);
	pthread_mutex_destroy(&writer->embedder_lock);
	pthread_mutex_destroy(&writer->committer_lock);
	pthread_cond_destroy(&writer->queued);
	pthread_cond_destroy(&writer->finished);
	pthread_cond_destroy(&writer->settled);
	free(writer);
}

int wfs_writer_new(struct wfs_world *world, struct wfs_writer **ret_writer, struct wfs_error *error)
{
	struct wfs_writer *writer = calloc(1, sizeof(*writer));
	pthread_condattr_t monotonic;

	if (!writer)
		return wfs_error_from_errno(error, -ENOMEM, "start the kernel thread");
	writer->world = world;
	writer_queues_init(&writer->queues);
	writer->batches_last = &writer->batches;
	writer->code_end_ns = INT64_MAX;
	wfs_world_answerer_init(&writer->answerer, world);
	pthread_mutex_init(&writer->lock, NULL);
	pthread_mutex_init(&writer->observers_lock, NULL);
	pthread_mutex_init(&writer->embedder_lock, NULL);
	pthread_mutex_init(&writer->committer_lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&writer->queued, &monotonic);
	pthread_condattr_destroy(&monotonic);
	pthread_cond_init(&writer->finished, NULL);
	pthread_cond_init(&writer->settled, NULL);
	writer->spare = batch_new();
	int r = writer->spare ? writer_load(writer, error)
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
