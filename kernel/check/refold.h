/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folding a journal again, from genesis into an empty store, or from the height of a store on.
 * Every line that folding writes must equal the line that was read. Replay deletes the store
 * afterwards; restore keeps it as that of the new world; a follower (kernel/follow/) goes on in the
 * store of its world. A batch is what one call of wfs_refold_batch() folds in one transaction; a
 * run is the folding of one request, which may give several records. Functions that return int
 * return 0, or -errno with @error filled.
 * Source: docs/design.md §5.
 */
#pragma once

#include "kernel/base/problems.h"
#include "kernel/check/baseline.h"
#include "kernel/domain/action/action.h"
#include "kernel/fold/effects.h"

/* One cell of a baseline. Plain value; borrowed until the next call of `cell`. */
struct wfs_refold_cell {
	struct wfs_bytes reducer;
	struct wfs_bytes key;
	struct wfs_bytes bytes;
};

/* The journal that is folded, and functions that find what its records do not have. */
struct wfs_refold_source {
	const char *name;                  /* of the journal, for problems */
	struct wfs_manifest *manifest;     /* of genesis, or in force where folding begins */
	const struct wfs_genesis *genesis; /* of the world: its id and entropy; the record has
					    * the other members */
	uint64_t height;                   /* number of records */
	bool may_be_cut; /* the journal may end between the records of one request */
	/* One batch takes all records up to `height`, however many, in one transaction, and commits
	 * nothing if one of them differs. */
	bool whole;
	void *context;

	/* Give the line of record @seq. @seq: that of the call before, or one more; in the first
	 * call, the height at which folding begins. The line is borrowed until the next call.
	 * Return: 0, -ENOENT (after the end), or another -errno with @error. */
	int (*line)(
		void *context, uint64_t seq, struct wfs_bytes *ret_line, struct wfs_error *error);
	/* Append the bytes of the Lua module with this hash to @buffer. Return: 0, or -errno. */
	int (*module)(void *context, struct wfs_txn *txn, const struct wfs_hash *hash,
		struct wfs_buffer *buffer, struct wfs_error *error);
	/* Find the manifest with this hash, which a record brings into force; the caller unrefs it.
	 * Return: 0, -ENOENT (it is missing), or another -errno with @error. */
	int (*manifest_of)(void *context, struct wfs_txn *txn, const struct wfs_hash *hash,
		struct wfs_manifest **ret_manifest, struct wfs_error *error);
	/* Append to @buffer the content or code that record @seq gave an artifact.
	 * Return: 0, -ENODATA (it is lost, see struct wfs_refold_lost), -EINTR (cancelled), or
	 * another -errno, which is a problem of the record; with @error. */
	int (*text)(void *context, uint64_t seq, const struct wfs_action_text *text,
		struct wfs_buffer *buffer, struct wfs_error *error);
	/* Append to @buffer salt and JSON of the private text with this hash (kernel/read/text.h).
	 * Return: 0, -ENODATA (it is missing), -EINTR (cancelled), or another -errno; with
	 * @error. */
	int (*hidden)(void *context, const struct wfs_hash *hash, struct wfs_buffer *buffer,
		struct wfs_error *error);
	/* Take note of an action that was done, but is not folded because of a lost text. Return:
	 * 0, or -errno with @error. The pointer is NULL if `text` never loses one. */
	int (*unfolded)(
		void *context, const struct wfs_record_parsed *parsed, struct wfs_error *error);
	/* Set the other members of @blob, which a record puts; its hash and size are set.
	 * Return: 0, or -errno with @error. */
	int (*blob)(
		void *context, struct wfs_txn *txn, struct wfs_blob *blob, struct wfs_error *error);
	/* Find the cell of the baseline whose version has the number @vid. Return: 1, 0 (@vid is
	 * above the last), or -errno with @error. The pointer is NULL if the source has no cells of
	 * baselines. */
	int (*cell)(void *context, uint64_t vid, struct wfs_refold_cell *ret_cell,
		struct wfs_error *error);
	/* Take note of a cell that a run has changed, as wfs_fold_changes() (kernel/fold/fold.h)
	 * gives it. @change: borrowed during the call. The pointer is NULL if the source does not
	 * need the changes. */
	void (*changed)(void *context, const struct wfs_change *change);
	/* Called before a batch is committed. Return: 0, or -errno with @error: the transaction is
	 * dropped. The pointer may be NULL. */
	int (*ending)(void *context, struct wfs_error *error);
};

/* Lines that were read ahead of the record that is being folded. Plain value. */
struct wfs_refold_ahead {
	uint64_t first_seq;
	size_t count;
	size_t capacity;
	void *lines; /* offset and size of each in `text`; owned */
	struct wfs_buffer text;
};

/*
 * The first text that is lost: nothing has its bytes any more. Without it, its record and later
 * actions on artifacts cannot be folded, so their lines are written as they are. All cells but
 * those of built-in reducers are still right: actions change no others, and other reducers see
 * cells of built-in ones only in answers, which the journal has. Plain value.
 */
struct wfs_refold_lost {
	uint64_t seq; /* of the record that needs it; 0: no text is lost */
	bool code;    /* false: content */
	char artifact_id[WFS_ARTIFACT_ID_MAX + 1];
	struct wfs_hash hash;
	uint64_t asked; /* seq of the last unfolded action that asked for mint.score; 0: none */
};

/* The first record that is not what folding gives. Plain value. */
struct wfs_refold_difference {
	uint64_t seq;
	/* of the first cell that the folded record changes; "" if it changes none, or could not be
	 * folded */
	char reducer[WFS_REDUCER_NAME_MAX + 1];
	struct wfs_buffer key; /* of this cell */
};

/* The folding of one journal. Plain value; init, batch …, done. */
struct wfs_refold {
	struct wfs_answerer answerer; /* first member: refold-answer.c casts it to the refold */
	struct wfs_refold_ahead ahead;
	const struct wfs_refold_source *source;
	struct wfs_store *store;
	struct wfs_problems *problems;
	bool differs;                            /* a record is not what folding gives */
	struct wfs_refold_difference difference; /* set if `differs` */
	bool cut;                      /* the journal ended between the records of a request */
	struct wfs_refold_lost lost;   /* the first text that is lost */
	size_t folded_bytes;           /* of this batch: sum of wfs_fold_bytes(), fold.h */
	uint64_t base_height;          /* of the baseline of a cut; 0: there was none */
	struct wfs_hash base_snapshot; /* its snapshot hash */
	struct wfs_runtime *runtime;   /* of the manifest in force */
	struct wfs_fold *fold;
	struct wfs_head head;
};

/** wfs_refold_init() - begin to fold a journal again
 *  @store: empty but for blob rows, or at the height at which folding begins; no other code may
 *  write to it
 *  @problems: gets the first record that differs, if one does; folding ends there
 *  The arguments are borrowed until wfs_refold_done(), which the caller calls also after a
 *  failure. */
int wfs_refold_init(struct wfs_refold *refold, struct wfs_store *store,
	const struct wfs_refold_source *source, struct wfs_problems *problems,
	struct wfs_error *error);

/** wfs_refold_batch() - fold the next records of the journal, in one transaction, and commit
 *  Sets refold->head.height to the seq of the next record to fold: source->height after the last.
 *  refold->differs is set if a record differs; what was folded up to there is committed, too,
 *  unless source->whole is set.
 *  Return: 0 (also if a record differs), or -errno if folding has failed. After a failure, and
 *  after a difference with source->whole, the caller can only call wfs_refold_done(). */
int wfs_refold_batch(struct wfs_refold *refold, struct wfs_error *error);

/** wfs_refold_differs() - add the problem that record @seq is not what folding gives, and set
 *  refold->differs, which ends folding. @how: for the message: what differs. Return: 0. */
int wfs_refold_differs(struct wfs_refold *refold, uint64_t seq, const char *how);

void wfs_refold_done(struct wfs_refold *refold);
#define WFS_AUTO_REFOLD WFS_CLEANUP(wfs_refold_done)

/* --- for kernel/check/refold*.c; 0 is returned also after wfs_refold_differs() was called --- */

/** wfs_refold_again() - fold the record @parsed again, and write the records that folding gives
 *  If folding fails, calls wfs_refold_differs() for the record. If it fails for the first time
 *  because a text is lost, sets refold->lost instead; nothing is written then.
 *  @input: the caller sets its members, except kind, time, principal and `partial`, which this
 *  function sets */
int wfs_refold_again(struct wfs_refold *refold, const struct wfs_record_parsed *parsed,
	struct wfs_fold_input *input, struct wfs_error *error);

/** wfs_refold_action() - fold the record @parsed of an action again
 *  The action is not folded if one of its texts is lost, or if an earlier text is lost
 *  (refold->lost) and the action was refused or its action_type names an effect (WFS_ACTIONS in
 *  kernel/manifest/effect.h). Then its record is written as the journal has it. If the action is a
 *  tool call, the answer to the intent of this call is folded, too; and if the action was done,
 *  source->unfolded is called. */
int wfs_refold_action(
	struct wfs_refold *refold, const struct wfs_record_parsed *parsed, struct wfs_error *error);

/** wfs_refold_score() - after a text is lost: write only the line of the record @parsed, which must
 *  be the intent mint.score that the record with the seq refold->lost.asked has caused, or the
 *  answer to that intent; for any other record, calls wfs_refold_differs(). */
int wfs_refold_score(
	struct wfs_refold *refold, const struct wfs_record_parsed *parsed, struct wfs_error *error);

/** wfs_refold_apply() - after a text is lost: write record @index of the last run to the store,
 *  with the line that the source has for it; calls wfs_refold_differs() instead if that line is
 *  missing, or differs from the folded one in more than the member `changes`. */
int wfs_refold_apply(struct wfs_refold *refold, size_t index, struct wfs_error *error);

/** wfs_refold_hidden() - append the salt and JSON of a private text to @buffer, by source->hidden,
 *  and check that they have the hash @hash. Return: as source->hidden, or -EIO (hash_mismatch; the
 *  bytes stay in @buffer). */
int wfs_refold_hidden(struct wfs_refold *refold, const struct wfs_hash *hash,
	struct wfs_buffer *buffer, struct wfs_error *error);

/** wfs_refold_line() - get the line of record @seq: one that was read ahead, or from source->line
 *  @ret_line: borrowed until the next call. Return: as source->line. */
int wfs_refold_line(struct wfs_refold *refold, uint64_t seq, struct wfs_bytes *ret_line,
	struct wfs_error *error);

/** wfs_refold_answer() - answer an effect of a reducer with the answer that the journal has; the
 *  function `answer` of refold->answerer, see struct wfs_answerer (kernel/fold/effects.h)
 *  @answerer: that member of a struct wfs_refold. Return: also 1 if the journal ends before the
 *  answer, or has another record there. */
int wfs_refold_answer(struct wfs_answerer *answerer, const struct wfs_head *head, uint64_t seq,
	const struct wfs_intent *intent, struct wfs_outcome *ret_outcome, struct wfs_error *error);
