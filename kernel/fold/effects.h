/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Effects that reducers ask for: from the item in a step's `effects` to the record of its answer.
 * The built-in reducer of the mint asks for an effect, too: mint.score.
 *
 * Each effect becomes an `intent` record, and its answer the record after it: a `receipt`, or a
 * `decision` if it was refused. The answer is folded into the cell that asked, as an event of the
 * built-in schema sys/Receipt@1, so the reducer learns of a refusal, too. The first time, the world
 * answers if grants and policy allow the effect; on replay the journal answers, and nothing is read
 * again.
 * Source: docs/design.md §5.
 */
#pragma once

#include "kernel/fold/head.h"
#include "kernel/read/introspect.h"

struct wfs_fold;

#define WFS_RECEIPT_SCHEMA "sys/Receipt@1"
#define WFS_MINT_ADAPTER "kernel.mint"   /* adapter_id of the receipts of mint.score, */
#define WFS_TIMER_ADAPTER "kernel.timer" /* and of timer.schedule */

enum {
	WFS_EFFECTS_MAX = 32,           /* effects that one request may ask for */
	WFS_RECEIPT_SIZE_MAX = 1 << 20, /* bytes of the payload of one receipt, as JSON */
};

/* An effect that a step asked for. Plain value; borrowed. */
struct wfs_intent {
	enum wfs_effect effect;
	const json_t *params;  /* NULL: none */
	const char *principal; /* whose request the step belongs to */
	const char *reducer;   /* name of the reducer that asked */
	struct wfs_bytes key;  /* of the cell that asked */
	json_t *origin;        /* what asked, for the record; NULL: the reducer and the key */
	struct wfs_hash id;
	struct wfs_fold *fold; /* the fold that ran the step; NULL: the intent is from a journal */
};

/* The answer to an intent. Plain value; wfs_outcome_done releases it. */
struct wfs_outcome {
	enum wfs_record_kind kind; /* receipt or decision */
	struct wfs_buffer body;    /* of the answer's record; owned */
	json_t *event; /* of sys/Receipt@1: {effect, intent_id, payload, status}; owned */
};

void wfs_outcome_done(struct wfs_outcome *outcome);
#define WFS_AUTO_OUTCOME WFS_CLEANUP(wfs_outcome_done)

/* Answers intents, on the thread that folds. Callback table. */
struct wfs_answerer {
	/*
	 * answer() - answer one intent
	 * @head: the end of the journal as it was before the request
	 * @seq: the number that the answer's record will have
	 * @ret_outcome: zeros before; the caller ends it with wfs_outcome_done(), also on failure
	 * @error: not NULL; may be left unset on failure
	 * Return: 0 (also for a refusal: @ret_outcome is a decision), 1 if the answer is not known
	 * (folding the request ends at this intent), or -errno, which fails the request.
	 */
	int (*answer)(struct wfs_answerer *answerer, const struct wfs_head *head, uint64_t seq,
		const struct wfs_intent *intent, struct wfs_outcome *ret_outcome,
		struct wfs_error *error);
};

/** wfs_intent_read() - read the effect and the params of an item of `effects`
 *  @reducer: the reducer that asks for the effect
 *  @ret_intent: only its effect and params are set, borrowed from @item
 *  Return: 0, or -errno: runtime_error (@item is not {effect, params?}, or @reducer does not
 *  declare the effect). */
int wfs_intent_read(const struct wfs_reducer_definition *reducer, const json_t *item,
	struct wfs_intent *ret_intent, struct wfs_error *error);

/** wfs_intent_id() - make the id of an intent: a hash of @cause and @index
 *  @cause: seq of the record whose folding asked for the effect. @index: of the effect, from 0,
 *  among all effects that folding this record asked for */
struct wfs_hash wfs_intent_id(uint64_t cause, size_t index);

/** wfs_intent_write() - append the body of the `intent` record of @intent to @buffer. Return: 0, or
 *  -ENOMEM. */
int wfs_intent_write(const struct wfs_intent *intent, struct wfs_buffer *buffer);

/** wfs_outcome_read() - read the answer to @intent from a record of the journal, for replay
 *  @ret_outcome: set only on success; the caller ends it with wfs_outcome_done()
 *  Return: 0, -EINVAL (the record is not an answer, or not to this intent), -ENOMEM. */
int wfs_outcome_read(const struct wfs_record_parsed *parsed, const struct wfs_intent *intent,
	struct wfs_outcome *ret_outcome);

/** wfs_effect_adapter() - get the `adapter_id` that receipts for this effect have; static text. */
const char *wfs_effect_adapter(enum wfs_effect effect);

/** wfs_outcome_init() - begin the answer to @intent: set outcome->kind, and make outcome->event,
 *  which the reducer that asked will fold. The caller appends the record's body to outcome->body.
 *  @outcome: overwritten; caller ends it with wfs_outcome_done(), also on failure; borrows nothing
 *  @kind: receipt or decision. @status: member of the event: "ok", or "error" after a failure or
 *  refusal. @payload: member of the event, which keeps a reference of its own; NULL: the caller had
 *  no memory for it, and the function returns -ENOMEM
 *  Return: 0, -ENOMEM. */
int wfs_outcome_init(struct wfs_outcome *outcome, enum wfs_record_kind kind,
	const struct wfs_intent *intent, const char *status, json_t *payload);

/** wfs_outcome_init_refusal() - do wfs_outcome_init() for a decision that refuses @intent with the
 *  error @code. The caller appends the record's body to outcome->body.
 *  The event follows from @code and @intent alone, so replay makes an equal event.
 *  @outcome: overwritten; caller ends it with wfs_outcome_done(), also on failure; borrows nothing
 *  Return: 0, -ENOMEM. */
int wfs_outcome_init_refusal(struct wfs_outcome *outcome, const struct wfs_intent *intent,
	const struct wfs_error_info *code);
