/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two threads of an owned world: the kernel thread folds and commits, the publisher calls the
 * observers and answers.
 *
 * The order is a promise: commit, then notify, then answer. The kernel thread works on the next
 * batch while the publisher works on the last. If a request cannot be stored, all requests of its
 * batch are done again, each in a transaction of its own, so that only this one fails. An urgent
 * request, such as a revocation, goes ahead of the others: code that runs is stopped for it, and
 * run again later. Requests wait in queues; each queue is charged for the time of the kernel thread
 * that its requests take, and the one with the least charge is served next.
 * Source: docs/design.md §7.
 *
 * Private to kernel/world: the queues (writer-queue.c), the batches (writer.c), checks on the
 * sender's thread (writer-check.c), one request on the kernel thread (writer-process.c), standing
 * aside (writer-aside.c), counts of refusals (writer-refusals.c).
 * Functions that return int return 0 or -errno. Callers of writer_queues_…() hold writer->lock.
 */
#pragma once

#include <pthread.h>

#include "kernel/fold/fold.h"
#include "kernel/world/answerer.h"
#include "kernel/world/aside.h"
#include "kernel/world/gather.h"
#include "kernel/world/world-impl.h"

/* Requests in order, first in, first out. */
struct writer_list {
	struct wfs_request *first;
	struct wfs_request **last;
};

enum { WRITER_BUCKETS = 256 };

struct writer_queue;

/* All unanswered requests. Zero-initialise, then writer_queues_init(). */
struct writer_queues {
	struct writer_queue *buckets[WRITER_BUCKETS]; /* by the hash of the principal; owned */
	size_t queue_count;
	/* queues with waiting requests; owned, has room for all queues */
	struct writer_queue **heap;
	size_t heap_count;
	size_t heap_capacity;
	int64_t now_ns;            /* the virtual time of the world */
	struct writer_list urgent; /* urgent requests, at most one of each principal */
	size_t waiting_count;      /* requests that are not in a batch */
	size_t open_count;         /* unanswered requests */
	size_t open_bytes;
};

enum {
	WRITER_REFUSALS_MAX = 1024,     /* rows of principals */
	WRITER_REFUSALS_OWNER_MAX = 64, /* rows of agents that one principal owns */
	WRITER_REFUSALS_REST = 128,     /* rows of effects, for all other refusals */
};

/* Counts refused requests of one effect by one principal, within a second or a little more. So many
 * refusals give two records: of the first, and of the count of the others. */
struct writer_refusal {
	char *principal;    /* owned */
	char *owner;        /* of the principal, if it is an agent, or NULL; owned */
	const char *effect; /* of static lifetime */
	enum wfs_error_code code;
	int64_t end_ns;      /* end of the second; monotonic clock */
	uint64_t more_count; /* refusals after the first one, which has a record */
	bool begun;          /* this transaction has added the row */
	bool written;        /* this transaction has written the count */
};

struct writer_refusals {
	struct writer_refusal rows[WRITER_REFUSALS_MAX + WRITER_REFUSALS_REST];
	size_t count;
};

/* One commit, from the kernel thread to the publisher. */
struct writer_batch {
	struct writer_batch *next;
	struct writer_list requests;
	struct wfs_gather gather; /* for the observers */
	bool rows_changed;        /* rows without a record were changed */
	size_t fold_bytes;        /* sum of wfs_fold_bytes() of its requests */
	uint64_t fold_work;       /* sum of wfs_fold_work() of its requests */
	/* Set when observers were called. Not NULL: a thread waits for this, and owns `told` and
	 * the batch; NULL: the writer owns the batch. Lock: writer->lock */
	bool *told;
};

struct wfs_writer {
	struct wfs_world *world;
	pthread_t kernel_thread;
	pthread_t publisher_thread;

	pthread_mutex_t lock;
	pthread_cond_t queued;   /* signals a request, `stopping`, or `spare` */
	pthread_cond_t finished; /* signals a batch, or `kernel_done` */
	pthread_cond_t settled;  /* signals `parked`, or that observers were called */
	/* The lock of these is `lock`. */
	struct writer_queues queues;
	bool urgent_before;           /* the last batch had the urgent requests */
	struct wfs_request *folding;  /* the request whose code can be stopped, or NULL */
	bool interrupted;             /* the code of `folding` was stopped */
	struct wfs_request *stopper;  /* the urgent request for which it was stopped, or NULL */
	struct writer_batch *batches; /* committed, for the publisher */
	struct writer_batch **batches_last;
	struct writer_batch *spare; /* used if there is no memory for another one */
	bool stopping;
	bool kernel_done;
	bool aside;          /* the kernel thread must begin nothing */
	bool parked;         /* the kernel thread has ended what it had begun */
	bool refusing;       /* while aside: requests fail */
	int64_t code_end_ns; /* argument of wfs_fold_end(); INT64_MAX: not called yet */
	uint64_t requests_total;
	uint64_t requests_failed;
	uint64_t batches_total;
	uint64_t height;

	pthread_mutex_t observers_lock; /* held while observers are called */
	struct wfs_observer *observers; /* lock: observers_lock */

	pthread_mutex_t embedder_lock; /* held while the embedder is called */
	struct wfs_embedder *embedder; /* lock: embedder_lock */

	pthread_mutex_t committer_lock;  /* held while the committer is called */
	struct wfs_committer *committer; /* lock: committer_lock */

	/* Kernel thread only, and wfs_world_resume() while it is parked; but wfs_fold_interrupt()
	 * and wfs_fold_end() are called with `lock`, with which `fold` is replaced. */
	struct wfs_head head;
	bool head_stale; /* only head.height is right: a transaction that changed it has failed */
	struct wfs_fold *fold;
	struct wfs_world_answerer answerer;
	struct wfs_runtime *runtime;
	struct wfs_runtime *runtime_before; /* of the manifest before, until it is committed */
	size_t ahead_left;     /* requests whose code ran ahead, and that are still to be folded */
	int64_t ahead_ns;      /* time of their records */
	int64_t ahead_took_ns; /* how long their code ran */
	uint64_t ahead_work;   /* instructions of their code */
	struct writer_batch *current;
	struct writer_refusals refusals;
	/* The last height at which a grant ended, or a manifest may have replaced one, even if its
	 * transaction failed; 0: none since the world was opened. */
	uint64_t grant_ended_height;
	struct wfs_error dropped; /* why the committer dropped the batch, or zeros */
	bool due;                 /* counts of refusals are to be written */
	bool last;                /* this is the last batch */
};

/** wfs_writer_new() - read the head of a world and start both threads. @ret_writer: caller frees it
 *  with wfs_writer_free(). Return: 0, -EIO, -ENOMEM, … */
int wfs_writer_new(
	struct wfs_world *world, struct wfs_writer **ret_writer, struct wfs_error *error);

/** wfs_writer_free() - refuse new requests, fold, store and answer the queued ones as usual, then
 *  stop both threads and free the writer; accepts NULL. */
void wfs_writer_free(struct wfs_writer *writer);

/** writer_charge() - Return: the name of the grant whose budget pays for a request, borrowed from
 *  @request; NULL: no grant pays. */
static inline const char *writer_charge(const struct wfs_request *request)
{
	return *request->charge ? request->charge : NULL;
}

/** writer_wanted() - Return: {model, text} of the embedding that a request waits for, borrowed from
 *  @request; NULL: the request waits for none. */
static inline json_t *writer_wanted(const struct wfs_request *request)
{
	return request->kind == WFS_REQUEST_ACTION ? request->action.wanted : NULL;
}

/** writer_gone() - has the client that sent the request gone away? */
static inline bool writer_gone(const struct wfs_request *request)
{
	return request->gone && atomic_load(request->gone);
}

/** writer_load() - read the head from the store, and load the code of the world's manifest; the
 *  kernel thread must not be running, or must be parked. Return: 0, or -errno, with the writer
 *  unchanged. */
int writer_load(struct wfs_writer *writer, struct wfs_error *error);

/** writer_hand_over() - give a batch, whose commit is complete, to the publisher. @height: of the
 *  world after this commit. Caller holds writer->lock. */
void writer_hand_over(struct wfs_writer *writer, struct writer_batch *batch, uint64_t height);

/** writer_submit() - do wfs_world_submit() (world.h) for the writer's world. Return: as
 *  wfs_world_submit(). */
int writer_submit(struct wfs_writer *writer, struct wfs_request *request);

/** writer_check() - check what can be checked before a request is folded, and write the body of its
 *  record to request->body
 *  For an action, the body is only its document, by whose size the request is counted; for a
 *  manifest, a step of a collection and a `lift`, it stays empty. The caller releases the body,
 *  `checked_by` of an event and `compiled` of a manifest, after a failure, too.
 *  Return: 0, or -errno with request->error. */
int writer_check(struct wfs_world *world, struct wfs_request *request);

/** writer_check_event() - check an event against the schema that @manifest has for it
 *  Return: 0, or -errno with request->error. Thread: any. */
int writer_check_event(const struct wfs_manifest *manifest, struct wfs_request *request);

/** writer_ahead() - run the code of reducers ahead (wfs_fold_ahead() in kernel/fold/fold.h): all at
 *  once for the events that come next in the current batch, from @first on; folding an event later
 *  takes the results of its code
 *  Does nothing if only one event comes next, or if @first is not an event. */
void writer_ahead(struct wfs_writer *writer, const struct wfs_request *first);

/** writer_ahead_share_ns() - get a request's share, in nanoseconds, of the time for which code ran
 *  ahead; its queue is charged for this share
 *  The share is in proportion to the request's part of all instructions that ran ahead, so that a
 *  principal does not pay for code of others whose events are in the same batch. @work:
 *  instructions of the request. Return: the share; 0 if @work is 0 (the request was not folded), or
 *  its code did not run ahead. */
int64_t writer_ahead_share_ns(const struct wfs_writer *writer, uint64_t work);

/** writer_process() - do a request, in the transaction of the current batch
 *  @ret_fatal: false before the call; set to true if the transaction must be given up
 *  Return: 0; or -errno with request->error, which is of this request alone unless *@ret_fatal.
 *  -EINTR with request->put_back set: the request's code was stopped for an urgent request, and the
 *  request must be done again. */
int writer_process(struct wfs_writer *writer, struct wfs_request *request, bool *ret_fatal);

/** writer_decide() - append a record of the kind `decision`, about requests that policy or grants
 *  refused. @principal: sender of these requests. @fired: the timer whose request was refused, or
 *  zeros. @body: of the record
 *  Return: 0, 1 (nothing was written: the principal's quota `journal` is used up), or -errno, after
 *  which the transaction must be given up. */
int writer_decide(struct wfs_writer *writer, const char *principal, const struct wfs_fired *fired,
	struct wfs_bytes body);

/** writer_fold_end() - end the folding of writer->folding, whose code cannot be stopped from now on
 *  Return: 0 (its code was not stopped), 1 (its code was stopped for an urgent request), -EINTR
 *  (its code was stopped because the world is being closed). */
int writer_fold_end(struct wfs_writer *writer);

void writer_list_init(struct writer_list *list);
void writer_list_add(struct writer_list *list, struct wfs_request *request);

void writer_queues_init(struct writer_queues *queues);
/** writer_queues_done() - free the queues. The caller has answered every request. */
void writer_queues_done(struct writer_queues *queues);

/** writer_queues_add() - put a request at the end of its queue (request->queued_as) or, if it is
 *  urgent, at the end of queues->urgent
 *  But `urgent` is set to false if another request of its queue is in queues->urgent, or an earlier
 *  request of its connection waits. Return: 0; if the request was not queued, -EAGAIN (overloaded)
 *  or -ENOMEM. */
int writer_queues_add(struct writer_queues *queues, struct wfs_request *request);

/** writer_queues_next() - Return: the request that writer_queues_take() would take; NULL: no
 *  requests wait, or only urgent ones. */
struct wfs_request *writer_queues_next(struct writer_queues *queues);
/** writer_queues_take() - take the request that is served next, as writer-queue.c says, out of its
 *  queue; at least one request must wait that is not urgent. */
struct wfs_request *writer_queues_take(struct writer_queues *queues);
/** writer_queues_take_urgent() - take the first request out of queues->urgent, which must not be
 *  empty. */
struct wfs_request *writer_queues_take_urgent(struct writer_queues *queues);

/** writer_queues_put_back() - put back a request that was taken, but was not begun or was stopped:
 *  to the front of queues->urgent if it is urgent and no other request of its queue is there,
 *  otherwise to the front of its queue
 *  If the request was not begun and is put into its queue, an urgent request that its connection
 *  has sent after it stops being urgent, and waits after it. */
void writer_queues_put_back(struct writer_queues *queues, struct wfs_request *request);

/** writer_queues_stopped() - charge the queue of @stopper, an urgent request, for the time of code
 *  that was stopped for @stopper and must run again. @time_ns: how long this code had run */
void writer_queues_stopped(
	struct writer_queues *queues, struct wfs_request *stopper, int64_t time_ns);

/** writer_queues_took() - charge the queue of a request for @time_ns, the time that the kernel
 *  thread took to do the request. */
void writer_queues_took(struct writer_queues *queues, struct wfs_request *request, int64_t time_ns);

/** writer_queues_answered() - subtract a request from the counts of its queue, right before it is
 *  answered. */
void writer_queues_answered(struct writer_queues *queues, struct wfs_request *request);

/** writer_refusal_counted() - count a refused request, unless it is the first of its effect and
 *  principal within a second
 *  @request: of the kind decision. @owner: of the principal, if this is an agent; NULL: it is not
 *  Return: true: the request was counted; false: the caller must write a record about the request,
 *  and refusals within the next second will be counted. */
bool writer_refusal_counted(
	struct writer_refusals *refusals, const struct wfs_request *request, const char *owner);

/** writer_refusals_due_ns() - Return: the time, by the monotonic clock, when the next count must be
 *  written; INT64_MAX: no refusals are counted. */
int64_t writer_refusals_due_ns(const struct writer_refusals *refusals);

/** writer_refusals_write() - write a record for each count whose second has ended. @all: also for
 *  counts whose second has not ended. Return: 0, or -errno, after which the transaction must be
 *  given up. */
int writer_refusals_write(struct writer_refusals *refusals, struct wfs_writer *writer, bool all);

/** writer_refusals_settle() - tell @refusals that a transaction has ended. @committed: true: drop
 *  the counts that the transaction has written; false: undo what the transaction has changed in
 *  @refusals. @last: the writer ends, so drop all counts */
void writer_refusals_settle(struct writer_refusals *refusals, bool committed, bool last);
void writer_refusals_done(struct writer_refusals *refusals);
