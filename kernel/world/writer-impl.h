/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to kernel/writer*.c: the queues (writer-queue.c), the batches (writer.c), what the sender's thread
 * checks (writer-check.c), what the kernel thread does with one request (writer-process.c), how refusals are
 * counted (writer-refusals.c).
 */
#pragma once

#include <pthread.h>

#include "kernel/fold/fold.h"
#include "kernel/world/answerer.h"
#include "kernel/world/world-impl.h"
#include "kernel/world/writer.h"

/* Requests in order, first in, first out. */
struct writer_list {
	struct wfs_request *first;
	struct wfs_request **last;
};

enum { WRITER_BUCKETS = 256 };

struct writer_queue;

/* All requests that are not answered. Zero-initialise, then writer_queues_init(). */
struct writer_queues {
	struct writer_queue *buckets[WRITER_BUCKETS]; /* by the hash of the principal; owned */
	size_t queue_count;
	struct writer_queue **heap; /* queues in turn; owned, has room for all queues */
	size_t heap_count;
	size_t heap_capacity;
	int64_t now_ns;            /* the virtual time of the world */
	struct writer_list urgent; /* at most one of each principal */
	size_t waiting_count;      /* requests that no batch has */
	size_t open_count;         /* requests not answered */
	size_t open_bytes;
};

enum {
	WRITER_REFUSALS_MAX = 1024,     /* rows of principals */
	WRITER_REFUSALS_OWNER_MAX = 64, /* of them, those of agents that one principal has */
	WRITER_REFUSALS_REST = 128,     /* rows of effects, for the rest */
};

/* Refusals of a principal and an effect within a second, or a little more. */
struct writer_refusal {
	char *principal;    /* owned */
	char *owner;        /* of the agent that it is, or NULL; owned */
	const char *effect; /* of static lifetime */
	enum wfs_error_code code;
	int64_t end_ns;      /* of the second; monotonic clock */
	uint64_t more_count; /* behind the first one, which is a record */
	bool begun;          /* by this transaction */
	bool written;        /* the same */
};

struct writer_refusals {
	struct writer_refusal rows[WRITER_REFUSALS_MAX + WRITER_REFUSALS_REST];
	size_t count;
};

/* One commit on its way to the publisher. */
struct writer_batch {
	struct writer_batch *next;
	struct writer_list requests;
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
	struct writer_queues queues;
	bool urgent_before;          /* the last batch was of urgent requests */
	struct wfs_request *folding; /* its code can be stopped */
	bool interrupted;            /* and was */
	struct wfs_request *stopper; /* for this urgent one, which waits still; or NULL */
	struct writer_batch *batches;
	struct writer_batch **batches_last;
	struct writer_batch *spare; /* for when there is no memory for another one */
	bool stopping;
	bool kernel_done;
	uint64_t requests_total;
	uint64_t requests_failed;
	uint64_t batches_total;
	uint64_t height;

	pthread_mutex_t observers_lock; /* held while observers are called */
	struct wfs_observer *observers; /* lock: observers_lock */

	pthread_mutex_t embedder_lock; /* held while the embedder is called */
	struct wfs_embedder *embedder; /* lock: embedder_lock */

	/* Kernel thread only. */
	struct wfs_head head;
	bool head_stale; /* only its height is right: a transaction failed after it was changed */
	struct wfs_fold *fold;
	struct wfs_world_answerer answerer;
	struct wfs_runtime *runtime;
	struct wfs_runtime *runtime_before; /* of the manifest before, until it is committed */
	size_t ahead_left; /* requests of the batch whose code ran ahead, and that were not folded yet */
	int64_t ahead_ns;      /* their time */
	int64_t ahead_took_ns; /* to run it */
	uint64_t ahead_work;   /* of that code */
	struct writer_batch *current;
	struct writer_refusals refusals;
	/* Height at which a grant ended, or a manifest may have replaced one, for the last time; also when that was not
	 * stored. 0: not since the world was opened. */
	uint64_t grant_ended_height;
	bool due;  /* counts of refusals are to be written */
	bool last; /* no batch comes behind this one */
};

/** writer_charge() - the grant that covers a request, whose budget pays, or NULL. */
static inline const char *writer_charge(const struct wfs_request *request)
{
	return *request->charge ? request->charge : NULL;
}

/** writer_gone() - has the client of a request gone away? Then nobody gets the answer. */
static inline bool writer_gone(const struct wfs_request *request)
{
	return request->gone && atomic_load(request->gone);
}

/** writer_check() - write the request's body; what can be judged from it alone is judged here. */
int writer_check(struct wfs_world *world, struct wfs_request *request);

/** writer_check_event() - the part of it that depends on a manifest. Thread: any. */
int writer_check_event(const struct wfs_manifest *manifest, struct wfs_request *request);

/** writer_ahead() - have the code of @first and of the events after it run, if they are several. */
void writer_ahead(struct wfs_writer *writer, const struct wfs_request *first);

/**
 * writer_ahead_share_ns() - the part of that code's time that a request is charged
 * Otherwise a principal would pay for the code of others whose events are in the same batch.
 * @work: of the request; 0: it was refused before it was folded
 */
int64_t writer_ahead_share_ns(const struct wfs_writer *writer, uint64_t work);

/**
 * writer_process() - do a request, in the transaction of the current batch
 * @ret_fatal: the transaction cannot go on
 * Return: 0 or -errno of this request.
 */
int writer_process(struct wfs_writer *writer, struct wfs_request *request, bool *ret_fatal);

/** writer_decide() - write a record of refusals. Return: 0, 1 (the principal's quota `journal` has no room for it, so there
 *  is no record), or -errno, which fails the transaction. */
int writer_decide(struct wfs_writer *writer, const char *principal, struct wfs_bytes body);

/** writer_fold_end() - the request that was being folded is not any more. Return: 0, or why its code was stopped: 1 (for
 *  an urgent request), -EINTR (the world is being closed). */
int writer_fold_end(struct wfs_writer *writer);

void writer_list_init(struct writer_list *list);
void writer_list_add(struct writer_list *list, struct wfs_request *request);

void writer_queues_init(struct writer_queues *queues);
/** writer_queues_done() - every request was answered. */
void writer_queues_done(struct writer_queues *queues);

/** writer_queues_add() - the last one of its principal. Return: 0, -EAGAIN (overloaded), -ENOMEM. */
int writer_queues_add(struct writer_queues *queues, struct wfs_request *request);

/** writer_queues_next() - the request that writer_queues_take() takes. NULL: none waits, but perhaps urgent ones. */
struct wfs_request *writer_queues_next(struct writer_queues *queues);
/** writer_queues_take() - take it out of its queue; there must be one. */
struct wfs_request *writer_queues_take(struct writer_queues *queues);
/** writer_queues_take_urgent() - take the first of queues->urgent; there must be one. */
struct wfs_request *writer_queues_take_urgent(struct writer_queues *queues);

/** writer_queues_put_back() - a request that was taken is the next one of its principal. */
void writer_queues_put_back(struct writer_queues *queues, struct wfs_request *request);

/** writer_queues_stopped() - code was stopped for the urgent request @stopper, whose queue is charged the time that it ran. */
void writer_queues_stopped(
	struct writer_queues *queues, struct wfs_request *stopper, int64_t time_ns);

/** writer_queues_took() - what a request that was taken has taken of the kernel thread's time. */
void writer_queues_took(struct writer_queues *queues, struct wfs_request *request, int64_t time_ns);

/** writer_queues_answered() - a request was answered, or is about to be, and leaves its queue. */
void writer_queues_answered(struct writer_queues *queues, struct wfs_request *request);

/**
 * writer_refusal_counted() - is a refusal one of many, and needs no record of its own? It is counted then, or
 * else those of the next second are.
 * @owner: whose agent the principal is, or NULL
 */
bool writer_refusal_counted(
	struct writer_refusals *refusals, const struct wfs_request *request, const char *owner);

/** writer_refusals_due_ns() - when a count is to be written, by the monotonic clock; INT64_MAX: none is. */
int64_t writer_refusals_due_ns(const struct writer_refusals *refusals);

/** writer_refusals_write() - write records of the counts whose second has ended; with @all of every count. */
int writer_refusals_write(struct writer_refusals *refusals, struct wfs_writer *writer, bool all);

/** writer_refusals_settle() - the transaction has ended. @last: none comes behind it */
void writer_refusals_settle(struct writer_refusals *refusals, bool committed, bool last);
void writer_refusals_done(struct writer_refusals *refusals);

/** writer_now_ns() - the time of a record. */
int64_t writer_now_ns(const struct wfs_writer *writer);
