/* SPDX-License-Identifier: Apache-2.0 */
/* Copying a store while it is in use. */
#include <fcntl.h>

#include "kernel/store/store-impl.h"

enum { COPY_PIECE_SIZE = 1 << 20 }; /* bytes between two calls of the caller's function */

/* LMDB writes to a pipe on a thread of its own; this thread counts what comes, and can stop it. */
struct copy {
	struct wfs_store *store;
	pthread_t thread;
	int in; /* the pipe's ends */
	int out;
	int result; /* of LMDB; valid when the thread has ended */
};

static void *copy_main(void *argument)
{
	struct copy *copy = argument;

	copy->result = mdb_env_copyfd2(copy->store->env, copy->in, MDB_CP_COMPACT);
	close(copy->in);
	return NULL;
}

static int copy_begin(struct wfs_store *store, struct copy *copy)
{
	int ends[2];

	copy->store = store;
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	copy->out = ends[0];
	copy->in = ends[1];
	(void)fcntl(copy->out, F_SETPIPE_SZ, COPY_PIECE_SIZE); /* for speed only */
	int r = -pthread_create(&copy->thread, NULL, copy_main, copy);
	if (r) {
		close(copy->in);
		close(copy->out);
	}
	return r;
}

static int copy_pieces(struct copy *copy, int fd, wfs_store_copy_fn *each, void *context)
{
	uint64_t done_bytes = 0;

	for (;;) {
		const ssize_t size = splice(copy->out, NULL, fd, NULL, COPY_PIECE_SIZE, 0);

		if (size == 0)
			return 0;
		if (size < 0 && errno != EINTR)
			return -errno;
		done_bytes += size > 0 ? (uint64_t)size : 0;
		if (each && !each(context, done_bytes))
			return -EINTR;
	}
}

int wfs_store_copy(struct wfs_store *store, int fd, wfs_store_copy_fn *each, void *context)
{
	struct copy copy = {0};
	int r = copy_begin(store, &copy);

	if (r)
		return wfs_trace(r);
	r = copy_pieces(&copy, fd, each, context);
	close(copy.out); /* a writer still at work gets EPIPE; LMDB blocks the signal */
	pthread_join(copy.thread, NULL);
	return wfs_trace(r ? r : wfs_store_error(copy.result));
}
