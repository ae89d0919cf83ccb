/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folding: computes what one request does to the cells.
 *
 * A fold reads through the write transaction, and computes the records and new states of one
 * request in memory, those of derived events included (breadth first). The result is then applied
 * as a whole, or dropped, so a request that fails has nothing to undo. The writer and replay use
 * the same code. One call of wfs_fold_run() is a run; "the last run" is its newest call.
 * Source: docs/design.md §5.
 * Thread: the one that holds the write transaction.
 */
#pragma once

#include "kernel/fold/change.h"
#include "kernel/fold/head.h"
#include "kernel/fold/runtime.h"
#include "kernel/manifest/builtin.h"

struct wfs_answerer;
struct wfs_domain;
struct wfs_fold;
struct wfs_texts;

enum {
	WFS_ENTROPY_SIZE = 32, /* bytes of randomness in the genesis record */
	/* bytes of wfs_fold_bytes(), summed over requests, after which a transaction ends */
	WFS_FOLD_BATCH_BYTES_MAX = 32 << 20,
	/* instructions of wfs_fold_work(), summed over requests, after which a transaction ends */
	WFS_FOLD_BATCH_WORK_MAX = 20000000,
	WFS_DERIVED_COUNT_MAX = 1024, /* derived events of one record */
	/* all steps of one event may take this many times the instructions that one step may */
	WFS_FOLD_STEPS_MAX = 10,
	/* bytes of the states that one event reads and gives, and of the events that it causes */
	WFS_FOLD_BYTES_MAX = 64 << 20,
	WFS_EMBEDDINGS_MAX = 64, /* embeddings that one action may need from the host's embedder */
};

/** wfs_fold_new() - make a fold, which can fold any number of requests, one after the other
 *  @entropy: WFS_ENTROPY_SIZE bytes, random for each world, from which ctx.random() follows; copied
 *  @domains: static; the last is NULL. @ret_fold: caller frees it with wfs_fold_free()
 *  Return: 0, -ENOMEM. */
int wfs_fold_new(const uint8_t *entropy, const struct wfs_domain *const *domains,
	struct wfs_fold **ret_fold);
void wfs_fold_free(struct wfs_fold *fold);
WFS_DEFINE_AUTO(fold, struct wfs_fold, wfs_fold_free)
#define WFS_AUTO_FOLD WFS_CLEANUP(wfs_auto_fold)

/* A content or code that a record names. Plain value; borrowed. */
struct wfs_action_text {
	const char *artifact_id;
	bool code; /* false: content */
	struct wfs_hash hash;
};

/* Finds texts that the record of an action names only by their hashes. Its maker embeds it in a
 * struct of its own, and sets the functions. */
struct wfs_action_recorded {
	/** hidden() - append to @buffer salt and JSON of the private text whose stand-in has @hash
	 *  (kernel/read/text.h)
	 *  Return: 0, or -errno with @error. */
	int (*hidden)(struct wfs_action_recorded *recorded, const struct wfs_hash *hash,
		struct wfs_buffer *buffer, struct wfs_error *error);
	/** text() - append to @buffer the bytes of the content or code that @text names
	 *  Return: 0, or -errno with @error. */
	int (*text)(struct wfs_action_recorded *recorded, const struct wfs_action_text *text,
		struct wfs_buffer *buffer, struct wfs_error *error);
	const json_t *result; /* the member `result` of the record's body; borrowed */
};

/* The input of a fold: a request's own record. Plain value; borrowed until wfs_fold_apply(). */
struct wfs_fold_input {
	enum wfs_record_kind kind; /* any but intent and baseline */
	const char *schema;        /* event: known to the manifest, and `value` fits it */
	const json_t *value;       /* event */
	const json_t *key;         /* event: the sender's own, or NULL */
	const char *dedup;         /* event: see kernel/fold/seen.h; or NULL */
	const json_t *action;      /* action; see kernel/fold/fold-domain.h */
	/* action: comes from a journal, which has hashes of its texts; NULL: it is as it was
	 * sent */
	struct wfs_action_recorded *recorded;
	/* action: id of the intent whose tool call it is, or NULL; see kernel/fold/intent.h */
	const char *intent_id;
	/* invocation: ids of the private artifacts whose texts are in its arguments; []: the
	 * arguments are for the principal alone; NULL: they have no private texts that are known.
	 * Not for an action from a journal. */
	const json_t *of;
	struct wfs_fired fired; /* action, event, decision: the timer whose request it is */
	const struct wfs_body_receipt *receipt; /* receipt: the record's body */
	const struct wfs_manifest *manifest;    /* manifest: the one that comes into force */
	const char *charge;                     /* the grant whose budget pays, or NULL */
	/* action: it is a tool call whose texts are lost, so it is not done, and its outcome is
	 * taken from its record */
	bool unacted;
	/* An earlier text is lost, so budgets and agents are not what they were when the request
	 * was first folded: nothing is charged, counted or judged by them. */
	bool partial;
	const char *
		embedder; /* action: the model of the host's embedder; NULL: the local embedder's */
	const json_t
		*embeddings; /* action: by the embedder; see kernel/domain/memory/embedding.h */
	const struct wfs_texts *texts; /* private texts that the record names, or NULL */
	struct wfs_bytes body; /* of the record, canonical; not of an action: folding makes it */
	const char *principal; /* that sent the request */
	int64_t at_ns;         /* time of the record, since 1970 */
};

/** wfs_fold_run() - fold one request in memory; the result of the run before is dropped
 *  The bytes that count for WFS_FOLD_BYTES_MAX follow from the input and the state alone, so a
 *  request that was within this bound once is so again in a replay. All steps together may take
 *  WFS_FOLD_STEPS_MAX times the instructions that the limits of @runtime allow one step.
 *  @head, @runtime, @input: borrowed until the result is applied or dropped
 *  Return: 0 (also for an action that is refused: see wfs_fold_outcome()), or the -errno of a code:
 *  runtime_error (Lua code failed, asked for something that it may not, or hit a bound),
 *  invalid_argument (the event lacks the member with the key, or has another key than input->key),
 *  key_too_long (a key's file name would have too many bytes), not_found (the intent that a receipt
 *  or a tool call answers never existed), conflict (it was answered before), hash_mismatch (a row
 *  or module is damaged), quota_exceeded (the budget of the grant input->charge is used up),
 *  not_authorized (that grant has ended), … */
int wfs_fold_run(struct wfs_fold *fold, struct wfs_head *head, struct wfs_runtime *runtime,
	const struct wfs_fold_input *input, struct wfs_error *error);

/**
 * wfs_fold_ahead() - run the code that the next requests will probably need, all at once
 *
 * The code runs on the cells as they are now, after the changes of earlier @inputs. A later
 * wfs_fold_run() of one of @inputs takes the result if no other request has changed the cell since,
 * and runs the code again otherwise. This function drops the result of the last run, and all
 * results of an earlier wfs_fold_ahead().
 * @inputs: events in the order in which they will be folded, at most WFS_CODE_AHEAD_MAX
 *          (kernel/box/box.h); what they borrow must live until they were folded. If fewer than
 *          two, no code runs
 * Return: the instructions of the code that ran; 0: no code ran, which is not a failure: there was
 * no memory, or the call did nothing because fewer than half of the results of an earlier call were
 * taken. After a run that takes a result, wfs_fold_work() includes the instructions of the result.
 */
uint64_t wfs_fold_ahead(struct wfs_fold *fold, struct wfs_head *head, struct wfs_runtime *runtime,
	const struct wfs_fold_input *inputs, size_t input_count);

/** wfs_fold_interrupt() - make all Lua code that @fold runs fail, also code that runs now, until
 *  wfs_fold_resume(). Thread: any. */
void wfs_fold_interrupt(struct wfs_fold *fold);

/** wfs_fold_end() - make all Lua code of the fold fail from a point in time on; wfs_fold_resume()
 *  does not undo this. @time_ns: the time, by CLOCK_MONOTONIC. Thread: any. */
void wfs_fold_end(struct wfs_fold *fold, int64_t time_ns);

/** wfs_fold_resume() - let Lua code run again after wfs_fold_interrupt(); no thread may call that
 *  function at this moment
 *  Return: true if code has failed because of an interruption. The caller must then drop the result
 *  of the run, even if wfs_fold_run() succeeded: code can catch the failure of other code. */
bool wfs_fold_resume(struct wfs_fold *fold);

/** wfs_fold_run_genesis() - do wfs_fold_run() for record 0 of a journal, which makes the cells of
 *  the principals and grants that a manifest declares. @manifest: NULL: no cells are made
 *  @input: of the kind genesis. Return: as wfs_fold_run(). */
int wfs_fold_run_genesis(struct wfs_fold *fold, struct wfs_head *head,
	const struct wfs_manifest *manifest, const struct wfs_fold_input *input,
	struct wfs_error *error);

/** wfs_fold_outcome() - get the outcome of the action that the last run folded
 *  @ret_answer: if it was done, the answer that its domain has made, or NULL; if it was refused,
 *  {count} with not_unique, otherwise NULL; caller owns it
 *  Return: 0: the action was done, or the request was no action; or the -errno of the action's
 *  refusal, with @error. */
int wfs_fold_outcome(const struct wfs_fold *fold, json_t **ret_answer, struct wfs_error *error);

/** wfs_fold_wanted() - if wfs_fold_run() has failed with -EBUSY: get the text for which the host
 *  must provide an embedding before the last run's action can be done
 *  Return: {model, text}, borrowed until the next run; NULL: no embedding is missing. */
const json_t *wfs_fold_wanted(const struct wfs_fold *fold);

/** wfs_fold_unrecorded() - does the request of the last run get no record, because its action only
 *  read, or its event was seen before (kernel/fold/seen.h)? */
bool wfs_fold_unrecorded(const struct wfs_fold *fold);

/** wfs_fold_set_answerer() - set the object that answers the effects that steps ask for (effects.h)
 *  @answerer: borrowed until the next call of this function or wfs_fold_free(); NULL, or none set
 *  yet: a request whose steps ask for an effect fails (not_enabled) */
void wfs_fold_set_answerer(struct wfs_fold *fold, struct wfs_answerer *answerer);

/** wfs_fold_set_quarantine() - set the list of code that is refused because its process has crashed
 *  before
 *  The fold adds code that crashes to the list. @quarantine: borrowed until the next call of this
 *  function or wfs_fold_free(); NULL: no code is refused */
void wfs_fold_set_quarantine(struct wfs_fold *fold, struct wfs_quarantine *quarantine);

/** wfs_fold_unanswered() - did the last run end early, at an effect for which the answerer's
 *  function answer() (effects.h) returned 1 (the answer is not known)? */
bool wfs_fold_unanswered(const struct wfs_fold *fold);

/** wfs_fold_clear() - drop the result of the last run, and memory that most runs do not need. */
void wfs_fold_clear(struct wfs_fold *fold);

/** wfs_fold_bytes() - get the bytes of keys, states and events that the fold holds for the last
 *  run. */
size_t wfs_fold_bytes(const struct wfs_fold *fold);

/** wfs_fold_work() - get the instructions that code took for the last run, also if the run
 *  failed. */
uint64_t wfs_fold_work(const struct wfs_fold *fold);

/** wfs_fold_record() - get record @index of the last run, as it would be written at @head
 *  @head: the end of the journal after the run's earlier records
 *  Return: the record, whose pointers are borrowed until the next run. */
struct wfs_record wfs_fold_record(
	const struct wfs_fold *fold, const struct wfs_head *head, size_t index);

/** wfs_fold_check_texts() - check that each stand-in in the records of the last run has its private
 *  text (kernel/read/text.h) in the store, or among the texts that are stored with the records
 *  @head: where the records will be written. Return: 0, -EINVAL (a text is missing), -ENOMEM, … */
int wfs_fold_check_texts(
	const struct wfs_fold *fold, const struct wfs_head *head, struct wfs_error *error);

/** wfs_fold_apply() - write the records of the last run, and the versions of cells that they make,
 *  to the store. @head: the end of the journal, which moves. Return: 0, -ENOSPC, -EIO; after a
 *  failure the caller gives up the transaction, and loads @head again. */
int wfs_fold_apply(struct wfs_fold *fold, struct wfs_head *head);

/** wfs_fold_apply_record() - do wfs_fold_apply() for record @index of the last run only
 *  The caller writes each record once, in order, from 0 on.
 *  @line: the line that the journal gets, which the caller has checked; NULL: the line that the
 *  fold makes. Return: 0, -ENOSPC, -EIO; after a failure as wfs_fold_apply(). */
int wfs_fold_apply_record(
	struct wfs_fold *fold, struct wfs_head *head, size_t index, const struct wfs_bytes *line);

/** wfs_fold_record_count() - count the records of the last run: the request's own, and those that
 *  it caused. */
size_t wfs_fold_record_count(const struct wfs_fold *fold);

/** wfs_fold_record_cell() - get the first cell that record @index of the last run changes, in the
 *  order of its `changes`
 *  @ret_reducer, @ret_key: borrowed until the next run. Return: false, and both are not set, if the
 *  record changes no cell. */
bool wfs_fold_record_cell(const struct wfs_fold *fold, size_t index, const char **ret_reducer,
	struct wfs_bytes *ret_key);

/** wfs_fold_changes() - call @each with @context for each cell that the last run changed, before
 *  returning
 *  @change: change->key is borrowed until the next run */
void wfs_fold_changes(const struct wfs_fold *fold,
	void (*each)(void *context, const struct wfs_change *change), void *context);
