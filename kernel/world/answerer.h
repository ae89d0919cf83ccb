/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers effects that reducers ask for in a step. The judge of the world allows or refuses each;
 * the answer to an allowed one is read at the height of the request or, for mint.score, computed in
 * the fold.
 */
#pragma once

#include <pthread.h>

#include "kernel/fold/effects.h"

struct wfs_world;

/* The answer of a judge. Plain value; its pointers stay valid until `release` is called with it. */
struct wfs_judgement {
	const struct wfs_introspect_filter
		*filter;        /* allowed: what the reducer may see; NULL: everything */
	struct wfs_error error; /* refused: the reason */
	struct wfs_decision
		decision; /* refused: the members about grant and policy; the world sets others */
	void *context;    /* the judge's own */
};

/* Decides which effects reducers may have on behalf of a principal. Callback table. Thread: the
 * kernel thread. */
struct wfs_judge {
	/* Decide whether an intent may be answered. @ret_judgement: zeros before the call
	 * Return: 0 (allowed); with ret_judgement->error set, -EACCES (refused; the world records
	 * this), or another -errno, with which the request fails. */
	int (*judge)(struct wfs_judge *judge, const struct wfs_intent *intent,
		struct wfs_judgement *ret_judgement);
	/* Called once for each judgement, when it is not needed any more; may be NULL. */
	void (*release)(struct wfs_judge *judge, struct wfs_judgement *judgement);
};

/* An answerer for one world and its judge. Plain value; init, done. */
struct wfs_world_answerer {
	struct wfs_answerer answerer;
	struct wfs_world *world;
	pthread_mutex_t lock;    /* held while the judge is asked, and while the answer is read */
	struct wfs_judge *judge; /* lock: lock; NULL: every effect is refused */
};

void wfs_world_answerer_init(struct wfs_world_answerer *self, struct wfs_world *world);
void wfs_world_answerer_done(struct wfs_world_answerer *self);

/** wfs_world_answerer_judge() - set the judge, for wfs_world_judge() (kernel/world/world.h); waits
 *  while the judge before is being called. @judge: borrowed until this function is called again;
 *  NULL: every effect is refused */
void wfs_world_answerer_judge(struct wfs_world_answerer *self, struct wfs_judge *judge);
