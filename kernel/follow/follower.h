/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A follower: a world that is filled by the records of another one.
 *
 * Each batch (kernel/value/batch.h) of the owner's records is folded again in the world's own
 * store, in one transaction. Every line must be byte for byte what folding gives here; so the
 * follower has the owner's cells, or stops. A batch that differs changes nothing. After the commit
 * the world's observers get the changes that the owner's got.
 * While a world is followed, it stands aside (kernel/world/aside.h).
 * Thread: one at a time.
 */
#pragma once

#include "kernel/base/encode.h"
#include "kernel/manifest/manifest.h"
#include "kernel/value/batch.h"
#include "kernel/world/world.h"

struct wfs_follower;

/* What became of a batch. */
enum wfs_followed {
	WFS_FOLLOWED_APPLIED,  /* it was folded and committed, and the observers know */
	WFS_FOLLOWED_PRESENT,  /* the world has these records, with the same bytes */
	WFS_FOLLOWED_AHEAD,    /* records before the batch are missing: the world has `seq` */
	WFS_FOLLOWED_OTHER,    /* the world has another line as record `seq` */
	WFS_FOLLOWED_DIVERGED, /* folding gives something else for record `seq` */
};

/* The outcome of a batch. Plain value. */
struct wfs_followed_outcome {
	enum wfs_followed followed;
	uint64_t seq;
	/* diverged: `reducer/key` of the first cell that the record, as folded here, changes (key:
	 * its file name); "" if the record changes none, or could not be folded */
	char cell[WFS_REDUCER_NAME_MAX + 1 + WFS_NAME_MAX + 1];
	char message[WFS_ERROR_MESSAGE_SIZE]; /* of all but applied and present: why */
};

/** wfs_follower_new() - begin to follow: let the world stand aside (kernel/world/aside.h) until
 *  batches come
 *  @world: open, and not for reading only; borrowed until wfs_follower_free()
 *  @ret_follower: caller frees it with wfs_follower_free(). Return: 0, -ENOMEM. */
int wfs_follower_new(
	struct wfs_world *world, struct wfs_follower **ret_follower, struct wfs_error *error);

/** wfs_follower_free() - end following; accepts NULL. The world still stands aside, until
 *  wfs_world_resume() (kernel/world/aside.h) lets this process be its owner. */
void wfs_follower_free(struct wfs_follower *follower);
WFS_DEFINE_AUTO(follower, struct wfs_follower, wfs_follower_free)
#define WFS_AUTO_FOLLOWER WFS_CLEANUP(wfs_auto_follower)

/* Called for a request that a batch lists. @id: of the request. @seq: of its first record */
typedef void wfs_follower_heard(void *context, const char *id, uint64_t seq);

/** wfs_follower_listen() - have @heard called with @context for each request that a batch lists
 *  wfs_follower_apply() calls @heard when the batch was applied or is present, before it returns.
 *  @heard: NULL, or none set yet: nothing is called */
void wfs_follower_listen(struct wfs_follower *follower, wfs_follower_heard *heard, void *context);

/** wfs_follower_apply() - fold a batch, commit it, and call the world's observers
 *  If the world has the first records of the batch already, with equal bytes, only the others are
 *  folded. @encoded: the batch, from wfs_batch_make() (batch-make.h); borrowed during the call.
 *  @ret_outcome: set on success only
 *  Return: 0 (see @ret_outcome), or, if nothing was committed, and the batch can be given again:
 *  -EINVAL (invalid_argument: @encoded is not a batch, is damaged, or lacks something that folding
 *  needs), -ENOENT (height_unavailable: the world has dropped records with which the batch must be
 *  compared), -EAGAIN (unavailable) or -EIO (code_crashed), because code could not run, -EIO (the
 *  store is damaged), -ENOSPC, -ENOMEM, … */
int wfs_follower_apply(struct wfs_follower *follower, struct wfs_bytes encoded,
	struct wfs_followed_outcome *ret_outcome, struct wfs_error *error);
