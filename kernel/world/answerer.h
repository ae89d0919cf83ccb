/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answers of a world to what steps ask for: its judge allows or refuses each, and what is
 * allowed is read at the height of the request or, for mint.score, computed in the fold.
 */
#pragma once

#include <pthread.h>

#include "kernel/fold/effects.h"

struct wfs_world;

/* What a judge says. Plain value; its pointers are the judge's until `release`. */
struct wfs_judgement {
	const struct wfs_introspect_filter
		*filter;              /* allowed: what may be seen; NULL: everything */
	struct wfs_error error;       /* refused: why */
	struct wfs_decision decision; /* refused: by what; its effect and intent are known */
	void *context;                /* the judge's own */
};

/* Says what reducers may have on behalf of whom. Callback table. Thread: the kernel's. */
struct wfs_judge {
	/* Return: 0, or -EACCES with @ret_judgement->error. */
	int (*judge)(struct wfs_judge *judge, const struct wfs_intent *intent,
		struct wfs_judgement *ret_judgement);
	/* The judgement is not needed any more; may be NULL. */
	void (*release)(struct wfs_judge *judge, struct wfs_judgement *judgement);
};

/* An answerer that asks a world and its judge. Plain value; init, done. */
struct wfs_world_answerer {
	struct wfs_answerer answerer;
	struct wfs_world *world;
	pthread_mutex_t lock;    /* held while the judge is asked and what it allows is read */
	struct wfs_judge *judge; /* lock: lock; NULL: everything is refused */
};

void wfs_world_answerer_init(struct wfs_world_answerer *self, struct wfs_world *world);
void wfs_world_answerer_done(struct wfs_world_answerer *self);

/** wfs_world_answerer_judge() - see wfs_world_judge. */
void wfs_world_answerer_judge(struct wfs_world_answerer *self, struct wfs_judge *judge);
