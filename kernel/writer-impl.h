/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to kernel/writer*.c: the queue and the batches (writer.c), what the sender's thread checks
 * (writer-check.c), what the kernel thread does with one request (writer-process.c).
 */
#pragma once

#include <pthread.h>

#include "kernel/effects.h"
#include "kernel/fold.h"
#include "kernel/world-impl.h"
#include "kernel/writer.h"

/* Requests in order, first in, first out. */
struct writer_list {
	struct wfs_request *first;
	struct wfs_request **last;
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
	struct writer_list queue;
	struct writer_batch *batches;
	struct writer_batch **batches_last;
	struct writer_batch *spare; /* for when there is no memory for another one */
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
	int64_t ahead_ns; /* their time */
	struct writer_batch *current;
	size_t alone_count; /* of the next requests, each has a transaction of its own */
};

/** writer_charge() - the grant that covers a request, whose budget pays, or NULL. */
static inline const char *writer_charge(const struct wfs_request *request)
{
	return *request->charge ? request->charge : NULL;
}

/** writer_check() - write the request's body; what can be judged from it alone is judged here. */
int writer_check(struct wfs_world *world, struct wfs_request *request);

/** writer_check_event() - the part of it that depends on a manifest. Thread: any. */
int writer_check_event(const struct wfs_manifest *manifest, struct wfs_request *request);

/** writer_ahead() - have the code of @first and of the events after it run, if they are several. */
void writer_ahead(struct wfs_writer *writer, const struct wfs_request *first);

/**
 * writer_process() - do a request, in the transaction of the current batch
 * @ret_fatal: the transaction cannot go on
 * Return: 0 or -errno of this request.
 */
int writer_process(struct wfs_writer *writer, struct wfs_request *request, bool *ret_fatal);
