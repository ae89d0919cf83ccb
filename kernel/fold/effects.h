/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What reducers ask for: from the item in a step's `effects` to the record of its answer. The built-in
 * reducer of the mint asks, too, for mint.score.
 *
 * Each effect is an `intent` record, and behind it stands its answer: a `receipt`, or a `decision`
 * when it was refused. The answer is folded into the cell that asked, as an event of the built-in
 * schema sys/Receipt@1, so that a refusal is told as well. The first time the world answers, under
 * the eyes of a judge; on replay the journal does: nothing is read again.
 * Source: spec 1, "Journal records", "Introspection"; seed 4, "Effect Handler Design".
 */
#pragma once

#include <pthread.h>

#include "kernel/fold/head.h"
#include "kernel/read/introspect.h"

struct wfs_fold;

#define WFS_RECEIPT_SCHEMA "sys/Receipt@1"

enum {
	WFS_EFFECTS_MAX = 32,           /* effects that one request may ask for */
	WFS_RECEIPT_SIZE_MAX = 1 << 20, /* bytes of the payload of one receipt, as JSON */
};

/* An effect that a step asked for. Plain value; borrowed. */
struct wfs_intent {
	enum wfs_effect effect;
	const json_t *params;
	const char *principal; /* of the request */
	const char *reducer;   /* which asked */
	struct wfs_bytes key;  /* of the cell that asked */
	struct wfs_hash id;
	struct wfs_fold *fold; /* that asks; NULL: it was only read */
};

/* The answer to an intent. Plain value; wfs_outcome_done releases it. */
struct wfs_outcome {
	enum wfs_record_kind kind; /* receipt or decision */
	struct wfs_buffer body;    /* of the record */
	json_t *event; /* of sys/Receipt@1: {effect, intent_id, payload, status}; owned */
};

void wfs_outcome_done(struct wfs_outcome *outcome);
#define WFS_AUTO_OUTCOME WFS_CLEANUP(wfs_outcome_done)

/* Who answers. Callback table. */
struct wfs_answerer {
	/*
	 * @head: inside of the transaction, as the request found it
	 * @seq: of the answer's record
	 * Return: 0, 1 when nobody knows the answer (the fold ends there), or -errno, which fails
	 * the request, with or without @error (which is not NULL).
	 */
	int (*answer)(struct wfs_answerer *answerer, const struct wfs_head *head, uint64_t seq,
		const struct wfs_intent *intent, struct wfs_outcome *ret_outcome,
		struct wfs_error *error);
};

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

/** wfs_intent_read() - the effect and params of an item of `effects`. @reducer: which asks.
 *  Return: 0, or -errno: runtime_error (no {effect, params?}, or not declared). */
int wfs_intent_read(const struct wfs_reducer_definition *reducer, const json_t *item,
	struct wfs_intent *ret_intent, struct wfs_error *error);

/** wfs_intent_id() - of the @index-th effect that folding record @cause asked for. */
struct wfs_hash wfs_intent_id(uint64_t cause, size_t index);

/** wfs_intent_write() - append the body of its record. Return: 0, or -ENOMEM. */
int wfs_intent_write(const struct wfs_intent *intent, struct wfs_buffer *buffer);

/**
 * wfs_outcome_read() - the answer to @intent out of its record, as replay finds it
 * Return: 0, -EINVAL (it is none, or not one to this intent), -ENOMEM.
 */
int wfs_outcome_read(const struct wfs_record_parsed *parsed, const struct wfs_intent *intent,
	struct wfs_outcome *ret_outcome);

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
