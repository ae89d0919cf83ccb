/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that wait, in queues of their principals.
 *
 * A queue has a virtual time: the time of the kernel thread that its requests have taken. The queue
 * whose next request would end first in virtual time is served next. So a principal that asks for
 * little waits for hardly more than the request under way, however much others ask for, and
 * principals that ask for more than there is get equal shares. The virtual time of the world is
 * that of the queue that was served last; a queue that was idle begins there, so time cannot be
 * saved up. The time of a request is guessed from the requests before it, and corrected when it is
 * known.
 * Source: self-clocked fair queueing (Golestani 1994).
 */
#include <string.h>

#include "kernel/base/array.h"
#include "kernel/world/writer-impl.h"

enum {
	GUESS_NS = 1000 * 1000, /* of the first request of a queue */
	/* bound of a guess: how far shorter requests can get ahead */
	GUESS_MAX_NS = 100 * 1000 * 1000,
	DEBT_MAX_NS = 1000 * 1000000, /* a queue is at most so far ahead of the world */
};

#define NO_PLACE SIZE_MAX

/* The unanswered requests of one principal, or of one connection of the operator. It stays while it
 * has any, and until its virtual time has come. */
struct writer_queue {
	struct writer_queue *next_named; /* in its bucket */
	size_t place;                    /* in the heap; NO_PLACE: not in it */
	bool urgent_waits;               /* one of its requests is in the list of urgent ones */
	struct writer_list waiting;
	size_t open_count; /* unanswered requests */
	size_t open_bytes;
	int64_t time_ns;  /* virtual */
	int64_t guess_ns; /* the time that its next request will take */
	char name[];      /* ended by a zero byte */
};

void writer_list_init(struct writer_list *list)
{
	list->first = NULL;
	list->last = &list->first;
}

void writer_list_add(struct writer_list *list, struct wfs_request *request)
{
	request->next = NULL;
	*list->last = request;
	list->last = &request->next;
}

static void list_add_first(struct writer_list *list, struct wfs_request *request)
{
	request->next = list->first;
	if (!list->first)
		list->last = &request->next;
	list->first = request;
}

static struct wfs_request *list_take(struct writer_list *list)
{
	struct wfs_request *const request = list->first;

	list->first = request->next;
	if (!list->first)
		list->last = &list->first;
	request->next = NULL;
	return request;
}

/* --- the heap: the queue whose next request would end first is first --- */

static int64_t end_of(const struct writer_queue *queue)
{
	return queue->time_ns + (queue->guess_ns < GUESS_MAX_NS ? queue->guess_ns : GUESS_MAX_NS);
}

static void heap_set(struct writer_queues *queues, size_t place, struct writer_queue *queue)
{
	queues->heap[place] = queue;
	queue->place = place;
}

static void heap_up(struct writer_queues *queues, struct writer_queue *queue)
{
	size_t place = queue->place;

	while (place > 0 && end_of(queue) < end_of(queues->heap[(place - 1) / 2])) {
		heap_set(queues, place, queues->heap[(place - 1) / 2]);
		place = (place - 1) / 2;
	}
	heap_set(queues, place, queue);
}

static void heap_down(struct writer_queues *queues, struct writer_queue *queue)
{
	size_t place = queue->place;

	for (;;) {
		size_t least = 2 * place + 1;

		if (least + 1 < queues->heap_count &&
			end_of(queues->heap[least + 1]) < end_of(queues->heap[least]))
			least++;
		if (least >= queues->heap_count || end_of(queues->heap[least]) >= end_of(queue))
			break;
		heap_set(queues, place, queues->heap[least]);
		place = least;
	}
	heap_set(queues, place, queue);
}

static void heap_remove_first(struct writer_queues *queues)
{
	struct writer_queue *const last = queues->heap[--queues->heap_count];

	queues->heap[0]->place = NO_PLACE;
	if (queues->heap_count == 0)
		return;
	heap_set(queues, 0, last);
	heap_down(queues, last);
}

/* Adds @more_ns, which may be negative or 0, to the queue's time, and moves it to its place in the
 * heap, which has room for each queue. */
static void heap_charge(struct writer_queues *queues, struct writer_queue *queue, int64_t more_ns)
{
	queue->time_ns += more_ns;
	if (queue->time_ns > queues->now_ns + DEBT_MAX_NS)
		queue->time_ns = queues->now_ns + DEBT_MAX_NS;
	if (queue->place == NO_PLACE)
		heap_set(queues, queues->heap_count++, queue);
	heap_up(queues, queue);
	heap_down(queues, queue);
}

/* --- queues --- */

static struct writer_queue **bucket_of(struct writer_queues *queues, const char *name)
{
	uint32_t hash = 2166136261; /* FNV-1a */

	for (const char *at = name; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 16777619;
	return &queues->buckets[hash % WRITER_BUCKETS];
}

static struct writer_queue *find(struct writer_queues *queues, const char *name)
{
	struct writer_queue **const bucket = bucket_of(queues, name);
	struct writer_queue *queue = *bucket;

	while (queue && strcmp(queue->name, name) != 0)
		queue = queue->next_named;
	if (queue)
		return queue;
	struct writer_queue **const heap = wfs_array_reserve(queues->heap, queues->queue_count,
		&queues->heap_capacity, sizeof(struct writer_queue *));
	if (!heap)
		return NULL;
	queues->heap = heap;
	queue = calloc(1, sizeof(*queue) + strlen(name) + 1);
	if (!queue)
		return NULL;
	memcpy(queue->name, name, strlen(name) + 1);
	writer_list_init(&queue->waiting);
	queue->place = NO_PLACE;
	queue->guess_ns = GUESS_NS;
	queue->next_named = *bucket;
	*bucket = queue;
	queues->queue_count++;
	return queue;
}

static void drop_if_idle(struct writer_queues *queues, struct writer_queue *queue)
{
	struct writer_queue **at = bucket_of(queues, queue->name);

	if (queue->open_count > 0 || queue->place != NO_PLACE)
		return;
	while (*at != queue)
		at = &(*at)->next_named;
	*at = queue->next_named;
	queues->queue_count--;
	free(queue);
}

/* Checks that there is room for a request. Two principals can fill the queues; others still have
 * room for a few requests. */
static int check_room(const struct writer_queues *queues, const struct writer_queue *queue,
	struct wfs_request *request)
{
	const bool few = queue->open_count < WFS_QUEUE_FEW_COUNT &&
		queue->open_bytes + request->queued_bytes <= WFS_QUEUE_FEW_BYTES;
	const size_t more_count = few ? WFS_QUEUE_SPARE_COUNT : 0;
	const size_t more_bytes = few ? WFS_QUEUE_SPARE_BYTES : 0;

	if (queues->open_count >= WFS_QUEUE_COUNT_MAX + more_count ||
		queues->open_bytes + request->queued_bytes > WFS_QUEUE_BYTES_MAX + more_bytes)
		return wfs_error_set(&request->error, WFS_E_OVERLOADED,
			"too many requests are waiting already, try again");
	if (queue->open_count >= WFS_QUEUE_PRINCIPAL_COUNT_MAX ||
		queue->open_bytes + request->queued_bytes > WFS_QUEUE_PRINCIPAL_BYTES_MAX)
		return wfs_error_set(&request->error, WFS_E_OVERLOADED,
			"%zu requests of '%s' are waiting already, try again", queue->open_count,
			request->principal ? request->principal : "");
	return 0;
}

/* Gives a queue its place in the heap after a request was added to it. */
static void wait_in_turn(struct writer_queues *queues, struct writer_queue *queue)
{
	if (queue->place == NO_PLACE && queue->time_ns < queues->now_ns)
		queue->time_ns = queues->now_ns;
	heap_charge(queues, queue, 0);
	queues->waiting_count++;
}

/* Does an earlier request of this request's connection wait? */
static bool has_earlier(const struct writer_queue *queue, const struct wfs_request *request)
{
	const struct wfs_request *earlier = request->connection ? queue->waiting.first : NULL;

	while (earlier && earlier->connection != request->connection)
		earlier = earlier->next;
	return earlier != NULL;
}

int writer_queues_add(struct writer_queues *queues, struct wfs_request *request)
{
	const char *const principal = request->principal ? request->principal : "";
	struct writer_queue *const queue =
		find(queues, request->queued_as ? request->queued_as : principal);

	if (!queue)
		return wfs_error_from_errno(&request->error, -ENOMEM, "queue a request");
	int r = check_room(queues, queue, request);
	if (r) {
		drop_if_idle(queues, queue);
		return r;
	}
	request->queue = queue;
	request->guess_ns = 0;
	request->put_back_count = 0;
	request->alone = false;
	queue->open_count++;
	queue->open_bytes += request->queued_bytes;
	queues->open_count++;
	queues->open_bytes += request->queued_bytes;
	request->urgent &= !queue->urgent_waits && !has_earlier(queue, request);
	if (request->urgent) {
		queue->urgent_waits = true;
		queues->waiting_count++;
		writer_list_add(&queues->urgent, request);
		return 0;
	}
	writer_list_add(&queue->waiting, request);
	wait_in_turn(queues, queue);
	return 0;
}

/* The queue whose turn it is. Return: NULL if no queue has a request. */
static struct writer_queue *next_queue(struct writer_queues *queues)
{
	while (queues->heap_count > 0) {
		struct writer_queue *const queue = queues->heap[0];

		if (queue->waiting.first)
			return queue;
		heap_remove_first(queues);
		drop_if_idle(queues, queue);
	}
	return NULL;
}

struct wfs_request *writer_queues_next(struct writer_queues *queues)
{
	struct writer_queue *const queue = next_queue(queues);

	return queue ? queue->waiting.first : NULL;
}

struct wfs_request *writer_queues_take(struct writer_queues *queues)
{
	struct writer_queue *const queue = next_queue(queues);
	struct wfs_request *const request = list_take(&queue->waiting);

	queues->waiting_count--;
	if (queues->now_ns < queue->time_ns)
		queues->now_ns = queue->time_ns;
	request->put_back = false;
	request->guess_ns = queue->guess_ns;
	heap_charge(queues, queue, request->guess_ns);
	return request;
}

struct wfs_request *writer_queues_take_urgent(struct writer_queues *queues)
{
	struct wfs_request *const request = list_take(&queues->urgent);

	queues->waiting_count--;
	request->queue->urgent_waits = false;
	return request;
}

/* Takes the urgent request of a queue out of the list of urgent ones. */
static struct wfs_request *take_urgent_of(struct writer_queues *queues, struct writer_queue *queue)
{
	struct wfs_request **at = &queues->urgent.first;

	while ((*at)->queue != queue)
		at = &(*at)->next;
	struct wfs_request *const urgent = *at;
	*at = urgent->next;
	if (!*at)
		queues->urgent.last = at;
	urgent->next = NULL;
	queues->waiting_count--;
	queue->urgent_waits = false;
	return urgent;
}

/* A request that was not begun goes back to its queue. An urgent request that its connection has
 * sent since must wait after it. */
static void keep_order(struct writer_queues *queues, const struct wfs_request *request)
{
	struct writer_queue *const queue = request->queue;
	struct wfs_request *urgent = queues->urgent.first;

	if (!queue->urgent_waits || !request->connection || request->put_back)
		return;
	while (urgent->queue != queue)
		urgent = urgent->next;
	if (urgent->connection != request->connection)
		return;
	urgent = take_urgent_of(queues, queue);
	urgent->urgent = false;
	list_add_first(&queue->waiting, urgent);
	wait_in_turn(queues, queue);
}

void writer_queues_put_back(struct writer_queues *queues, struct wfs_request *request)
{
	struct writer_queue *const queue = request->queue;

	heap_charge(queues, queue, -request->guess_ns);
	request->guess_ns = 0;
	if (request->urgent && !queue->urgent_waits) {
		queue->urgent_waits = true;
		queues->waiting_count++;
		list_add_first(&queues->urgent, request);
		return;
	}
	keep_order(queues, request);
	list_add_first(&queue->waiting, request);
	wait_in_turn(queues, queue);
}

void writer_queues_took(struct writer_queues *queues, struct wfs_request *request, int64_t time_ns)
{
	struct writer_queue *const queue = request->queue;
	const int64_t less = queue->guess_ns / 2;

	queue->guess_ns = time_ns > less ? time_ns : less;
	heap_charge(queues, queue, time_ns - request->guess_ns);
	request->guess_ns = 0;
}

void writer_queues_stopped(
	struct writer_queues *queues, struct wfs_request *stopper, int64_t time_ns)
{
	heap_charge(queues, stopper->queue, time_ns);
}

void writer_queues_answered(struct writer_queues *queues, struct wfs_request *request)
{
	struct writer_queue *const queue = request->queue;

	queue->open_count--;
	queue->open_bytes -= request->queued_bytes;
	queues->open_count--;
	queues->open_bytes -= request->queued_bytes;
	request->queue = NULL;
	drop_if_idle(queues, queue);
}

void writer_queues_init(struct writer_queues *queues)
{
	writer_list_init(&queues->urgent);
}

void writer_queues_done(struct writer_queues *queues)
{
	for (size_t i = 0; i < WRITER_BUCKETS; i++) {
		while (queues->buckets[i]) {
			struct writer_queue *const queue = queues->buckets[i];

			wfs_require(queue->open_count == 0);
			queues->buckets[i] = queue->next_named;
			free(queue);
		}
	}
	free(queues->heap);
}
