/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folding: what one request does to the cells.
 *
 * A fold reads through the write transaction but writes nothing: it computes the records and the
 * new states of one request in memory, derived events included, breadth first. The result is
 * either applied whole or dropped, so a request that fails has nothing to undo. The same fold
 * serves the writer and replay.
 * Source: docs/design.md §5.
 * Thread: the one that holds the write transaction.
 */
#pragma once

#include "kernel/fold/head.h"
#include "kernel/fold/runtime.h"
#include "kernel/world/world.h"

struct wfs_answerer;
struct wfs_domain;
struct wfs_fold;
struct wfs_texts;

enum {
	WFS_ENTROPY_SIZE = 32,               /* bytes of randomness in the genesis record */
	WFS_FOLD_BATCH_BYTES_MAX = 32 << 20, /* of wfs_fold_bytes, after which a transaction ends */
	WFS_FOLD_BATCH_WORK_MAX = 20000000,  /* of wfs_fold_work, the same: somebody waits for it */
};

/**
 * wfs_fold_new()
 * @entropy: WFS_ENTROPY_SIZE bytes of the world, for ctx.random(); copied
 * @domains: static; the last is NULL
 * Return: 0, -ENOMEM.
 */
int wfs_fold_new(const uint8_t *entropy, const struct wfs_domain *const *domains,
	struct wfs_fold **ret_fold);
void wfs_fold_free(struct wfs_fold *fold);
WFS_DEFINE_AUTO(fold, struct wfs_fold, wfs_fold_free)
#define WFS_AUTO_FOLD WFS_CLEANUP(wfs_auto_fold)

/* A content or code that a record names. Plain value; borrowed. */
struct wfs_action_text {
	const char *artifact_id;
	bool code; /* or else it is content */
	struct wfs_hash hash;
};

/* Where that is found which the record of an action has not. Embedded in what it works on. */
struct wfs_action_recorded {
	/**
	 * hidden() - append salt and JSON of a private text (kernel/read/text.h)
	 * Return: 0, or -errno with @error.
	 */
	int (*hidden)(struct wfs_action_recorded *recorded, const struct wfs_hash *hash,
		struct wfs_buffer *buffer, struct wfs_error *error);
	/**
	 * text() - append its bytes
	 * Return: 0, or -errno with @error.
	 */
	int (*text)(struct wfs_action_recorded *recorded, const struct wfs_action_text *text,
		struct wfs_buffer *buffer, struct wfs_error *error);
	const json_t *result; /* of the record; borrowed */
};

/* What is folded: a request's own record. Plain value; borrowed until wfs_fold_apply. */
struct wfs_fold_input {
	enum wfs_record_kind kind; /* any but intent and baseline */
	const char *schema;        /* event: known to the manifest, and `value` fits it */
	const json_t *value;       /* event */
	const json_t *key;         /* event: the sender's own, or NULL */
	const json_t *action;      /* action; see kernel/fold/fold-domain.h */
	/* action out of a journal, whose texts are hashes there; NULL: it is as it was sent */
	struct wfs_action_recorded *recorded;
	const char *
		intent_id; /* action: the tool call that it is, or NULL; see kernel/domain/turn/turn.h */
	/* invocation: its arguments have texts of these private artifacts; []: for the principal
	 * alone; NULL: it is not known that they have any. Not for one out of a journal. */
	const json_t *of;
	const json_t *receipt;               /* receipt: the record's body */
	const struct wfs_manifest *manifest; /* manifest: the one that comes into force */
	const char *charge; /* the grant that covers it, whose budget it is taken from, or NULL */
	bool unacted; /* a tool call whose texts are lost: what the record tells of it is believed */
	/* It is folded again behind a lost text: budgets and agents are not what they
	 * were, so nothing is charged, counted or judged by them. */
	bool partial;
	const char *
		embedder; /* action: the model of the host's embedder; NULL: it has the local one */
	const json_t
		*embeddings; /* action: what that has given; see kernel/domain/memory/embedding.h */
	const struct wfs_texts *texts; /* private texts that the record names, or NULL */
	struct wfs_bytes body; /* the record's, canonical; that of an action is found by folding */
	const char *principal;
	int64_t at_ns;
};

/** wfs_fold_write_body() - the canonical body of an event record. @charge: may be NULL */
void wfs_fold_write_body(
	struct wfs_buffer *buffer, const char *charge, const char *schema, const json_t *value);

/**
 * wfs_fold_run() - compute; whatever the fold held before is dropped
 * What is counted for WFS_FOLD_BYTES_MAX follows from the input and the state alone, so a request
 * that passed once passes again. Of instructions all steps have WFS_FOLD_STEPS_MAX times what the
 * limits of @runtime allow one.
 * Return: 0 (also for an action that is refused: see wfs_fold_outcome), or -errno: runtime_error,
 *         invalid_argument, key_too_long, schema_violation (of a derived event), not_found,
 *         hash_mismatch, quota_exceeded and not_authorized (of the charge) …
 */
int wfs_fold_run(struct wfs_fold *fold, struct wfs_head *head, struct wfs_runtime *runtime,
	const struct wfs_fold_input *input, struct wfs_error *error);

/**
 * wfs_fold_ahead() - have the code run that the next requests will probably need, all at once
 *
 * A later wfs_fold_run() of one of @inputs takes the result if nothing has come between, and runs the code again
 * otherwise. Drops what the last run gave, and forgets what ran ahead before.
 * @inputs: events in the order in which they will be folded, at most WFS_CODE_AHEAD_MAX; what they borrow must
 *          live until they were folded. Fewer than two: none runs ahead
 * Return: the work of the code that ran, of which wfs_fold_work() will give each request its part.
 */
uint64_t wfs_fold_ahead(struct wfs_fold *fold, struct wfs_head *head, struct wfs_runtime *runtime,
	const struct wfs_fold_input *inputs, size_t input_count);

/** wfs_fold_interrupt() - have code fail that runs, or is to run, until wfs_fold_resume(). Thread: any. */
void wfs_fold_interrupt(struct wfs_fold *fold);

/** wfs_fold_end() - have no code run any more from @time_ns on, by the monotonic clock. Thread: any. */
void wfs_fold_end(struct wfs_fold *fold, int64_t time_ns);

/** wfs_fold_resume() - not beside wfs_fold_interrupt(). Return: has code failed for that? Then the run must be
 *  dropped, whatever became of it: code may catch the failure of other code. */
bool wfs_fold_resume(struct wfs_fold *fold);

/** wfs_fold_run_genesis() - the same for record 0, which gives the declared principals and grants of
 *  @manifest their cells; none when it is NULL. @input: of this kind */
int wfs_fold_run_genesis(struct wfs_fold *fold, struct wfs_head *head,
	const struct wfs_manifest *manifest, const struct wfs_fold_input *input,
	struct wfs_error *error);

/**
 * wfs_fold_outcome() - what became of the action of the last run
 * @ret_answer: what it gives, or details of the refusal, or NULL; a new reference
 * Return: 0, or the -errno of the refusal that stands in the record.
 */
int wfs_fold_outcome(const struct wfs_fold *fold, json_t **ret_answer, struct wfs_error *error);

/** wfs_fold_wanted() - did the last run end because it needs an embedding? {model, text}, borrowed; NULL: it
 *  did not. */
const json_t *wfs_fold_wanted(const struct wfs_fold *fold);

/** wfs_fold_unrecorded() - was the last run one that is not applied, because it only read? */
bool wfs_fold_unrecorded(const struct wfs_fold *fold);

/**
 * wfs_fold_set_answerer() - who answers what reducers ask for; see effects.h
 * @answerer: kept; NULL (as at first): an effect that is asked for fails the request, not_enabled
 */
void wfs_fold_set_answerer(struct wfs_fold *fold, struct wfs_answerer *answerer);

/** wfs_fold_set_quarantine() - code that is refused, and where crashes are noted; borrowed. Without it none is refused. */
void wfs_fold_set_quarantine(struct wfs_fold *fold, struct wfs_quarantine *quarantine);

/** wfs_fold_unanswered() - did the last run end at an intent whose answer nobody knew? */
bool wfs_fold_unanswered(const struct wfs_fold *fold);

/** wfs_fold_clear() - drop what the last run gave, and memory beyond what most runs need. */
void wfs_fold_clear(struct wfs_fold *fold);

/** wfs_fold_bytes() - how much the last run holds: its keys, states and derived events. */
size_t wfs_fold_bytes(const struct wfs_fold *fold);

/** wfs_fold_work() - instructions that the last run took, also one that failed. */
uint64_t wfs_fold_work(const struct wfs_fold *fold);

/** wfs_fold_record() - record @index of the last run as it is written next; borrowed until another. */
struct wfs_record wfs_fold_record(
	const struct wfs_fold *fold, const struct wfs_head *head, size_t index);

/** wfs_fold_check_texts() - wfs_text_check() of each record of the last run. */
int wfs_fold_check_texts(
	const struct wfs_fold *fold, const struct wfs_head *head, struct wfs_error *error);

/** wfs_fold_apply() - write the records and versions of the last run. Return: 0, -ENOSPC, -EIO. */
int wfs_fold_apply(struct wfs_fold *fold, struct wfs_head *head);

/** wfs_fold_apply_record() - the same of one record of them, 0 first, each once and in order. */
int wfs_fold_apply_record(struct wfs_fold *fold, struct wfs_head *head, size_t index);

/** wfs_fold_apply_line() - the same with @line in the place of the record's own. */
int wfs_fold_apply_line(
	struct wfs_fold *fold, struct wfs_head *head, size_t index, struct wfs_bytes line);

/** wfs_fold_record_count() - records of the last run: 1 and its derived ones. */
size_t wfs_fold_record_count(const struct wfs_fold *fold);

/**
 * wfs_fold_changes() - the cells that the last run changed, one call a cell
 * The change's key is borrowed until the next run.
 */
void wfs_fold_changes(const struct wfs_fold *fold,
	void (*each)(void *context, const struct wfs_change *change), void *context);
