/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folding a journal again, from genesis, into an empty store. Every line that folding writes must
 * be the line that was read: what was computed once must come out the same. Replay throws the
 * store away afterwards, restore keeps it.
 * Source: docs/design.md §5.
 */
#pragma once

#include "kernel/base/problems.h"
#include "kernel/check/baseline.h"
#include "kernel/domain/action/action.h"
#include "kernel/fold/effects.h"

/* One cell of a baseline. Plain value; borrowed until the next one is asked for. */
struct wfs_refold_cell {
	struct wfs_bytes reducer;
	struct wfs_bytes key;
	struct wfs_bytes bytes;
};

/* What is folded, and where that is found which is in no record. */
struct wfs_refold_source {
	const char *name;                  /* of the journal, for problems */
	struct wfs_manifest *manifest;     /* that of genesis */
	const struct wfs_genesis *genesis; /* of the world; its time and whether it
					    * gives cells are those of the record */
	uint64_t height;                   /* number of records */
	bool may_be_cut; /* it may end inside of a request, whose other records are then left out */
	void *context;

	/* The line of the record asked for last, or of the next one. Borrowed until the next call.
	 * Return: 0, -ENOENT behind the end, or another -errno with @error. */
	int (*line)(
		void *context, uint64_t seq, struct wfs_bytes *ret_line, struct wfs_error *error);
	/* Append the bytes of a Lua module. */
	int (*module)(void *context, struct wfs_txn *txn, const struct wfs_hash *hash,
		struct wfs_buffer *buffer, struct wfs_error *error);
	/* A manifest that a record brings into force; caller unrefs.
	 * Return: 0, -ENOENT (it is not there), or another -errno with @error. */
	int (*manifest_of)(void *context, struct wfs_txn *txn, const struct wfs_hash *hash,
		struct wfs_manifest **ret_manifest, struct wfs_error *error);
	/* Append what record @seq gave an artifact for its content or code.
	 * Return: 0, -ENODATA (it is lost, see struct wfs_refold_lost), -EINTR (cancelled), or
	 * another -errno, which is a problem of the record; with @error. */
	int (*text)(void *context, uint64_t seq, const struct wfs_action_text *text,
		struct wfs_buffer *buffer, struct wfs_error *error);
	/* Append salt and JSON of the private text with this hash (kernel/read/text.h).
	 * Return: 0, -ENODATA (it is not there), -EINTR (cancelled), or another -errno; with @error. */
	int (*hidden)(void *context, const struct wfs_hash *hash, struct wfs_buffer *buffer,
		struct wfs_error *error);
	/* An action that was done is not folded, because of a lost text; NULL: none is ever lost.
	 * Return: 0, or -errno with @error. */
	int (*unfolded)(
		void *context, const struct wfs_record_parsed *parsed, struct wfs_error *error);
	/* The row of a blob that a record puts, of which hash and size are set.
	 * Return: 0, or -errno with @error. */
	int (*blob)(
		void *context, struct wfs_txn *txn, struct wfs_blob *blob, struct wfs_error *error);
	/* The cell of the baseline that has version @vid; NULL: baselines cannot be folded.
	 * Return: 1, 0 behind the last, or -errno with @error. */
	int (*cell)(void *context, uint64_t vid, struct wfs_refold_cell *ret_cell,
		struct wfs_error *error);
};

/* Lines that were read before their turn came. Plain value. */
struct wfs_refold_ahead {
	uint64_t first_seq;
	size_t count;
	size_t capacity;
	void *lines; /* where each is in `text`; owned */
	struct wfs_buffer text;
};

/*
 * The first text that is kept nowhere any more. What its record did cannot be computed without it, and
 * so cannot what later actions did. From there on the lines of actions on artifacts are taken as they
 * are, and what is folded is right but for the cells of built-in reducers: no action changes others,
 * and no reducer is given those but in an answer, which is in the journal. Plain value.
 */
struct wfs_refold_lost {
	uint64_t seq; /* of the record that gave it; 0: none is lost */
	bool code;    /* or else it is content */
	char artifact_id[WFS_ARTIFACT_ID_MAX + 1];
	struct wfs_hash hash;
	uint64_t asked; /* the last record of an auction since then; 0: there is none */
};

/* Plain value; init, batch …, done. */
struct wfs_refold {
	struct wfs_answerer answerer; /* first: refold-answer.c casts back */
	struct wfs_refold_ahead ahead;
	const struct wfs_refold_source *source;
	struct wfs_store *store;
	struct wfs_problems *problems;
	bool differs;                /* a record was not as it should be */
	bool cut;                    /* it ended inside of a request */
	struct wfs_refold_lost lost; /* the first text that is not there */
	size_t folded_bytes;         /* by the events of this batch */
	struct wfs_runtime *runtime; /* of the manifest in force */
	struct wfs_fold *fold;
	struct wfs_head head;
};

/**
 * wfs_refold_init() - begin
 * @store: empty but for blob rows; nobody else writes to it
 * @problems: the first record that differs, if one does; folding ends there
 * All of them are borrowed until wfs_refold_done.
 */
int wfs_refold_init(struct wfs_refold *refold, struct wfs_store *store,
	const struct wfs_refold_source *source, struct wfs_problems *problems,
	struct wfs_error *error);

/**
 * wfs_refold_batch() - fold some records and commit; refold->head.height tells how far it is
 * Return: 0, or -errno when folding could not be finished.
 */
int wfs_refold_batch(struct wfs_refold *refold, struct wfs_error *error);

/** wfs_refold_differs() - note that record @seq is not as it should be. Return: 0. */
int wfs_refold_differs(struct wfs_refold *refold, uint64_t seq, const char *how);

/** wfs_refold_manifest() - the one in force where it is; borrowed until the next batch. */
const struct wfs_manifest *wfs_refold_manifest(const struct wfs_refold *refold);

void wfs_refold_done(struct wfs_refold *refold);
#define WFS_AUTO_REFOLD WFS_CLEANUP(wfs_refold_done)

/* --- for kernel/refold*.c --- */

/** wfs_refold_again() - fold a record again. @input: its parts; time, principal, charge are set here */
int wfs_refold_again(struct wfs_refold *refold, const struct wfs_record_parsed *parsed,
	struct wfs_fold_input *input, struct wfs_error *error);

/** wfs_refold_action() - the record of an action: folded again, or its line alone. */
int wfs_refold_action(
	struct wfs_refold *refold, const struct wfs_record_parsed *parsed, struct wfs_error *error);

/** wfs_refold_score() - the record of what an auction asked for, or of its answer, once a text is
 *  lost: its line alone. */
int wfs_refold_score(
	struct wfs_refold *refold, const struct wfs_record_parsed *parsed, struct wfs_error *error);

/** wfs_refold_apply() - write record @index of the last run, once a text is lost: its changes, and
 *  the line that the source has, which differs in the hash of these alone. */
int wfs_refold_apply(struct wfs_refold *refold, size_t index, struct wfs_error *error);

/** wfs_refold_hidden() - as source->hidden, compared with its hash. */
int wfs_refold_hidden(struct wfs_refold *refold, const struct wfs_hash *hash,
	struct wfs_buffer *buffer, struct wfs_error *error);

/** wfs_refold_line() - as source->line, of what was read ahead as well. */
int wfs_refold_line(struct wfs_refold *refold, uint64_t seq, struct wfs_bytes *ret_line,
	struct wfs_error *error);

/** wfs_refold_answers_init() - let the journal answer what reducers ask for. */
void wfs_refold_answers_init(struct wfs_refold *refold);
void wfs_refold_answers_done(struct wfs_refold *refold);
