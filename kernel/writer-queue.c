/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that wait, in queues of their principals.
 *
 * A queue has credit, which the time of its requests is taken from. A queue without credit gets some and
 * goes behind the others, so over time every principal with requests has an equal share of the kernel
 * thread. A principal that asked for nothing lately is served first. What a request will take is guessed
 * from the requests before it, and made right when it is known.
 * Source: spec 14, "Fair"; the order is that of FQ-CoDel (RFC 8290, 4.1), with time in the place of bytes.
 */
#include <string.h>

#include "kernel/writer-impl.h"

enum {
	CREDIT_NS = 10 * 1000 * 1000, /* what a queue gets in its turn */
	GUESS_NS = 1000 * 1000,       /* of the first request of a queue */
	DEBT_MAX_NS = 1000 * 1000000, /* beyond that a queue owes nothing */
};

/* The requests of one principal, or of one connection of the operator, that are not answered. It stays while it has any, and until its turn after that. */
struct writer_queue {
	struct writer_queue *next_named; /* of the same bucket */
	struct writer_queue *next;       /* in turn; NULL: the last one, or out of turn */
	bool in_turn;
	bool urgent_waits; /* one of its requests is in the list of urgent ones */
	struct writer_list waiting;
	size_t open_count; /* not answered */
	size_t open_bytes;
	int64_t credit_ns;
	int64_t guess_ns; /* what its next request takes */
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

/* --- turns --- */

static void turn_add(struct writer_turn *turn, struct writer_queue *queue)
{
	queue->next = NULL;
	queue->in_turn = true;
	if (turn->first)
		turn->last->next = queue;
	else
		turn->first = queue;
	turn->last = queue;
}

static struct writer_queue *turn_take(struct writer_turn *turn)
{
	struct writer_queue *const queue = turn->first;

	turn->first = queue->next;
	queue->next = NULL;
	queue->in_turn = false;
	return queue;
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
	queue = calloc(1, sizeof(*queue) + strlen(name) + 1);
	if (!queue)
		return NULL;
	memcpy(queue->name, name, strlen(name) + 1);
	writer_list_init(&queue->waiting);
	queue->credit_ns = CREDIT_NS;
	queue->guess_ns = GUESS_NS;
	queue->next_named = *bucket;
	*bucket = queue;
	return queue;
}

static void drop_if_idle(struct writer_queues *queues, struct writer_queue *queue)
{
	struct writer_queue **at = bucket_of(queues, queue->name);

	if (queue->open_count > 0 || queue->in_turn)
		return;
	while (*at != queue)
		at = &(*at)->next_named;
	*at = queue->next_named;
	free(queue);
}

static int check_room(const struct writer_queues *queues, const struct writer_queue *queue,
	struct wfs_request *request)
{
	if (queues->open_count >= WFS_QUEUE_COUNT_MAX ||
		queues->open_bytes + request->queued_bytes > WFS_QUEUE_BYTES_MAX)
		return wfs_error_set(&request->error, WFS_E_OVERLOADED,
			"%zu requests are waiting already, try again", queues->open_count);
	if (queue->open_count >= WFS_QUEUE_PRINCIPAL_COUNT_MAX ||
		queue->open_bytes + request->queued_bytes > WFS_QUEUE_PRINCIPAL_BYTES_MAX)
		return wfs_error_set(&request->error, WFS_E_OVERLOADED,
			"%zu requests of '%s' are waiting already, try again", queue->open_count,
			request->principal ? request->principal : "");
	return 0;
}

static void wait_in_turn(struct writer_queues *queues, struct writer_queue *queue)
{
	if (!queue->in_turn)
		turn_add(&queues->fresh, queue);
	queues->waiting_count++;
}

/* Does an earlier request of its connection wait? */
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

/* The queue whose turn it is. @queues: something waits in one. Return: NULL: none has a request */
static struct writer_queue *next_queue(struct writer_queues *queues)
{
	for (;;) {
		struct writer_turn *const turn =
			queues->fresh.first ? &queues->fresh : &queues->others;
		struct writer_queue *const queue = turn->first;

		if (!queue)
			return NULL;
		if (queue->credit_ns > 0 && queue->waiting.first)
			return queue;
		/* One that has no request is not fresh again at once when the next one comes. */
		turn_take(turn);
		if (queue->credit_ns <= 0 || (turn == &queues->fresh && queues->others.first)) {
			queue->credit_ns += queue->credit_ns <= 0 ? CREDIT_NS : 0;
			turn_add(&queues->others, queue);
			continue;
		}
		queue->credit_ns = CREDIT_NS;
		drop_if_idle(queues, queue);
	}
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
	request->guess_ns = queue->guess_ns;
	queue->credit_ns -= request->guess_ns;
	return request;
}

struct wfs_request *writer_queues_take_urgent(struct writer_queues *queues)
{
	struct wfs_request *const request = list_take(&queues->urgent);

	queues->waiting_count--;
	request->queue->urgent_waits = false;
	return request;
}

void writer_queues_put_back(struct writer_queues *queues, struct wfs_request *request)
{
	struct writer_queue *const queue = request->queue;

	queue->credit_ns += request->guess_ns;
	request->guess_ns = 0;
	if (request->urgent && !queue->urgent_waits) {
		queue->urgent_waits = true;
		queues->waiting_count++;
		list_add_first(&queues->urgent, request);
		return;
	}
	list_add_first(&queue->waiting, request);
	wait_in_turn(queues, queue);
}

static void limit_debt(struct writer_queue *queue)
{
	if (queue->credit_ns < -DEBT_MAX_NS)
		queue->credit_ns = -DEBT_MAX_NS;
}

void writer_queues_took(struct wfs_request *request, int64_t time_ns)
{
	struct writer_queue *const queue = request->queue;
	const int64_t less = queue->guess_ns / 2;

	queue->credit_ns += request->guess_ns - time_ns;
	request->guess_ns = 0;
	limit_debt(queue);
	queue->guess_ns = time_ns > less ? time_ns : less;
}

void writer_queues_stopped(
	struct writer_queues *queues, struct wfs_request *stopper, int64_t time_ns)
{
	struct writer_queue *const queue = stopper->queue;

	queue->credit_ns -= time_ns;
	limit_debt(queue);
	if (!queue->in_turn) /* else the debt is forgotten with the queue */
		turn_add(&queues->others, queue);
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
}
