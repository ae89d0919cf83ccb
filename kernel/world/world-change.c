/* SPDX-License-Identifier: Apache-2.0 */
/* Changing and observing a world, and what its owner's threads count. */
#include "kernel/base/clock.h"
#include "kernel/base/json.h"
#include "kernel/world/writer-impl.h"

void wfs_world_end_code(struct wfs_world *world, unsigned int delay_ms)
{
	struct wfs_writer *const writer = world->writer;

	if (!writer)
		return;
	WFS_GUARD(&writer->lock);
	writer->code_end_ns = wfs_clock_monotonic_ns() + (int64_t)delay_ms * 1000000;
	wfs_fold_end(writer->fold, writer->code_end_ns);
}

int wfs_world_submit(struct wfs_world *world, struct wfs_request *request)
{
	if (!world->writer && wfs_store_older(world->store))
		return wfs_trace(wfs_store_refuse_older(world->store, &request->error));
	if (!world->writer)
		return wfs_error_set(
			&request->error, WFS_E_READ_ONLY, "the world was opened for reading");
	return wfs_trace(writer_submit(world->writer, request));
}

/* A thread that waits for one answer. */
struct waiter {
	pthread_mutex_t lock;
	pthread_cond_t answered;
	bool done; /* lock: lock */
};

static void wake(struct wfs_request *request)
{
	struct waiter *waiter = request->context;
	WFS_GUARD(&waiter->lock);

	waiter->done = true;
	pthread_cond_signal(&waiter->answered);
}

int wfs_world_call(struct wfs_world *world, struct wfs_request *request)
{
	struct waiter waiter = {
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.answered = PTHREAD_COND_INITIALIZER,
	};

	request->done = wake;
	request->context = &waiter;
	int r = wfs_world_submit(world, request);
	if (r)
		return wfs_trace(r);
	pthread_mutex_lock(&waiter.lock);
	while (!waiter.done)
		pthread_cond_wait(&waiter.answered, &waiter.lock);
	pthread_mutex_unlock(&waiter.lock);
	return wfs_trace(request->result);
}

void wfs_world_judge(struct wfs_world *world, struct wfs_judge *judge)
{
	wfs_require(world->writer != NULL);
	wfs_world_answerer_judge(&world->writer->answerer, judge);
}

void wfs_world_set_embedder(struct wfs_world *world, struct wfs_embedder *embedder)
{
	wfs_require(world->writer != NULL);
	WFS_GUARD(&world->writer->embedder_lock);

	world->writer->embedder = embedder;
}

/* Return: 0, or -ENOMEM. */
static int take_embedding(struct wfs_request *request, json_t *embedding)
{
	const json_t *const text = json_object_get(request->action.wanted, "text");
	const struct wfs_hash hash = wfs_hash_of(json_string_value(text), json_string_length(text));

	if (!request->action.embeddings)
		request->action.embeddings = json_array();
	return !embedding || wfs_json_set_hash(embedding, "hash", &hash) ||
			json_object_set(embedding, "model",
				json_object_get(request->action.wanted, "model")) < 0 ||
			json_array_append(request->action.embeddings, embedding) < 0
		? -ENOMEM
		: 0;
}

static void end_request(struct wfs_request *request, int r)
{
	json_decref(WFS_STEAL(request->action.wanted));
	json_decref(WFS_STEAL(request->action.embeddings));
	request->result = r;
	request->done(request);
}

void wfs_world_embedded(struct wfs_world *world, struct wfs_request *request, json_t *embedding)
{
	WFS_AUTO_JSON json_t *owned = embedding;
	int r = take_embedding(request, owned);

	json_decref(WFS_STEAL(request->action.wanted));
	request->error = (struct wfs_error){0};
	if (r)
		r = wfs_error_from_errno(&request->error, r, "take an embedding");
	else if (json_array_size(request->action.embeddings) > WFS_EMBEDDINGS_MAX)
		/* Code that asks for another text each time would never end. */
		r = wfs_error_set(&request->error, WFS_E_TOO_LARGE,
			"more than %d embeddings for one action", WFS_EMBEDDINGS_MAX);
	else
		r = wfs_world_submit(world, request);
	if (r)
		end_request(request, r);
}

void wfs_world_unembedded(struct wfs_request *request, const struct wfs_error *error)
{
	request->error = *error;
	end_request(request, -wfs_error_info(error->code)->number);
}

void wfs_world_observe(struct wfs_world *world, struct wfs_observer *observer)
{
	struct wfs_writer *const writer = world->writer;

	if (!writer)
		return;
	WFS_GUARD(&writer->observers_lock);
	struct wfs_observer **last = &writer->observers;
	while (*last)
		last = &(*last)->next;
	observer->next = NULL;
	*last = observer;
}

void wfs_world_unobserve(struct wfs_world *world, struct wfs_observer *observer)
{
	struct wfs_writer *const writer = world->writer;

	if (!writer)
		return;
	WFS_GUARD(&writer->observers_lock);
	struct wfs_observer **at = &writer->observers;
	while (*at && *at != observer)
		at = &(*at)->next;
	if (*at)
		*at = observer->next;
}

void wfs_world_figures(struct wfs_world *world, struct wfs_world_figures *ret_figures)
{
	struct wfs_writer *const writer = world->writer;

	*ret_figures = (struct wfs_world_figures){
		.store_format = wfs_store_format(world->store),
		.fold_version = wfs_store_fold_version(world->store),
	};
	if (writer) {
		WFS_GUARD(&writer->lock);

		ret_figures->height = writer->height;
		ret_figures->queue_count = writer->queues.open_count;
		ret_figures->queue_bytes = writer->queues.open_bytes;
		ret_figures->requests_total = writer->requests_total;
		ret_figures->requests_failed = writer->requests_failed;
		ret_figures->batches_total = writer->batches_total;
	}
	wfs_store_figures(world->store, &ret_figures->store);
	WFS_AUTO_TXN struct wfs_txn *txn = NULL;
	if (wfs_store_read(world->store, &txn))
		return;
	(void)wfs_first_height_get(txn, &ret_figures->first_height);
	if (!writer)
		(void)wfs_journal_height(txn, &ret_figures->height);
}
