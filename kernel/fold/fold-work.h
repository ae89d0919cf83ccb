/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For those who compute in a fold (kernel/fold*.c, kernel/grants*.c, kernel/domain/action/): what it holds,
 * how cells are read and changed in it, and how effects become records.
 */
#pragma once

#include "kernel/fold/effects.h"
#include "kernel/fold/fold-domain.h"
#include "kernel/fold/fold.h"
#include "kernel/manifest/builtin.h"
#include "kernel/read/text.h"

/* A stretch of fold->text: offsets, because the text moves as it grows. */
struct fold_span {
	size_t offset;
	size_t size;
};

/* A cell that the request has touched, with its newest state. */
struct fold_cell {
	size_t reducer_index;
	struct fold_span key;
	uint64_t name_hash;  /* of these two */
	struct wfs_cell row; /* as it is in the store; its key is not used */
	bool stored_live;    /* before the request */
	bool live;
	bool loaded;          /* `hash` and `state` are those of it, if it is live */
	bool changed;         /* by the request */
	size_t change_end;    /* index behind its last change, 0: there is none */
	struct wfs_hash hash; /* of the state; zero when not live */
	struct fold_span state;
};

/* A state that a record gave a cell. */
struct fold_change {
	size_t record;
	size_t cell;
	bool live;
	struct wfs_hash hash;
	struct fold_span state;
};

/* What a change, or the reading of a state, took the place of, so that it can be taken back. */
struct fold_undo {
	size_t cell;
	struct fold_cell cell_before;
	size_t change; /* index of the change that was made, or made another */
	bool made;     /* there was none before */
	struct fold_change change_before;
};

/* A record of the request: the first is the request's own. */
struct fold_record {
	enum wfs_record_kind kind;
	json_t *derived;    /* {schema, value, key?}, owned; NULL for the first and for intents */
	const char *schema; /* borrowed from `derived` or the request */
	struct fold_span body; /* in text; of the first: in input.body, unless it is an action */
	size_t cause;          /* index of the record that caused it */
	size_t cell;           /* of an answer: index of the cell that asked */
	size_t ask_count;      /* effects that folding it asked for */
	bool changed;
	struct wfs_hash changes;
};

/* An effect that a step asked for. */
struct fold_ask {
	enum wfs_effect effect;
	json_t *params; /* owned; may be NULL */
	size_t record;  /* whose folding asked */
	size_t index;   /* of the effects that it asked for */
	size_t cell;    /* that asked */
};

/* What became of an action. JSON is owned, and may be NULL. */
struct fold_outcome {
	struct wfs_error refusal; /* why it was not done */
	json_t *details;          /* of the refusal */
	json_t *answer;           /* what it gives, when it was done */
	json_t *action;           /* as the record has it; NULL: as it came */
	json_t *result; /* members that the record's result has beside ok and error_code */
	json_t *wanted; /* the embedding without which nothing was done; owned */
	json_t *of;     /* the private artifacts that what it gives belongs to; NULL: none */
	/* the private artifacts that what it says belongs to, which a refusal may quote; []: it is for
	 * the sender alone; NULL: for everybody */
	json_t *said_of;
	bool unrecorded; /* nothing changed that anybody could want to know of */
};

/* Where a fold stood. Plain value. */
struct fold_mark {
	size_t undo_count;
	size_t cell_count;
	size_t text_size; /* bytes */
};

/* A growing array: `items` are owned. */
struct fold_array {
	void *items;
	size_t count;
	size_t capacity;
};

struct wfs_fold {
	uint8_t entropy[WFS_ENTROPY_SIZE];
	struct wfs_head *head; /* during a run */
	const struct wfs_manifest *manifest;
	struct wfs_runtime *runtime; /* NULL for genesis */
	struct wfs_fold_input input;
	struct wfs_buffer text; /* keys and states */
	struct wfs_buffer scratch;
	struct fold_array cells;       /* struct fold_cell */
	uint32_t *slots;               /* of a hash table: 1 + index of a cell, or 0; owned */
	size_t slot_count;             /* a power of two, more than twice the cells; or 0 */
	struct fold_array changes;     /* struct fold_change; those of one record are adjacent */
	struct fold_array records;     /* struct fold_record */
	size_t folding;                /* index of the record that changes are made by */
	struct fold_array undos;       /* struct fold_undo; while there are marks */
	size_t mark_count;             /* that have not ended */
	struct fold_array asks;        /* struct fold_ask */
	size_t asks_done;              /* that have records */
	size_t applied_count;          /* changes written so far */
	struct wfs_answerer *answerer; /* borrowed; NULL: nobody answers */
	bool unanswered;               /* the run ended at an intent whose answer nobody knows */
	struct wfs_code_result result;
	uint64_t steps; /* in this run; part of the random seed */
	struct wfs_lua_budget budget;
	size_t value_count;          /* of JSON, in the derived events */
	struct fold_outcome outcome; /* of an action */
	struct wfs_texts texts;      /* private texts that the action has brought */
	struct wfs_box *box;         /* that code runs in; owned */
	size_t ahead_count;          /* steps that were sent ahead last */
	size_t ahead_pause;          /* how many times more none are sent */
	struct fold_array seen;      /* struct fold_cell, as they were read ahead and are still */
	struct wfs_buffer seen_text; /* their keys and states */
	const struct wfs_domain *const *domains; /* static; the last is NULL */
	void **kept;                             /* of each domain, in their order; owned */
};

static inline struct fold_cell *fold_cell_at(const struct wfs_fold *fold, size_t i)
{
	return &((struct fold_cell *)fold->cells.items)[i];
}

static inline struct fold_change *fold_change_at(const struct wfs_fold *fold, size_t i)
{
	return &((struct fold_change *)fold->changes.items)[i];
}

static inline struct fold_record *fold_record_at(const struct wfs_fold *fold, size_t i)
{
	return &((struct fold_record *)fold->records.items)[i];
}

static inline struct wfs_bytes fold_bytes_of(const struct wfs_buffer *text, struct fold_span span)
{
	return WFS_BYTES(span.size ? text->data + span.offset : "", span.size);
}

static inline struct wfs_bytes fold_bytes(const struct wfs_fold *fold, struct fold_span span)
{
	return fold_bytes_of(&fold->text, span);
}

/* --- fold-cells.c --- */

/** fold_no_memory() - Return: -ENOMEM, with @error set. */
int fold_no_memory(struct wfs_error *error);

/** fold_array_add() - one more item, of zeros. Return: NULL when there is no memory. */
void *fold_array_add(struct fold_array *array, size_t item_size);

/** fold_add_text() - Return: 0, -EIO (runtime_error: the fold holds too much), -ENOMEM. */
int fold_add_text(struct wfs_fold *fold, struct wfs_bytes bytes, struct fold_span *ret_span,
	struct wfs_error *error);

const struct wfs_reducer_definition *fold_reducer_of(
	const struct wfs_fold *fold, const struct fold_cell *cell);

/** fold_builtin() - the index of a built-in reducer. */
size_t fold_builtin(const struct wfs_fold *fold, enum wfs_builtin_reducer reducer);

/** fold_is_live() - has a built-in reducer a live cell of this key in the store? Return: 1, 0, -errno. */
int fold_is_live(struct wfs_fold *fold, enum wfs_builtin_reducer reducer, const char *key,
	struct wfs_error *error);

/** fold_lives() - has a built-in reducer a live cell of this key, as the fold has left it? Return: 1, 0, -errno. */
int fold_lives(struct wfs_fold *fold, enum wfs_builtin_reducer reducer, const char *id,
	struct wfs_error *error);

/** fold_live_count() - live cells of a built-in reducer in the store. */
uint64_t fold_live_count(const struct wfs_fold *fold, enum wfs_builtin_reducer reducer);

/** fold_view() - the world as it was before the request; nothing need be closed. */
struct wfs_view fold_view(const struct wfs_fold *fold);

/** fold_touch() - the cell's entry in this fold, read from the store at its first touch. */
int fold_touch(struct wfs_fold *fold, size_t reducer_index, struct wfs_bytes key, size_t *ret_index,
	struct wfs_error *error);

/** fold_see() - keep the cells that were touched, none of which was changed, for the runs to come: until the next
 *  wfs_fold_ahead(), and each of them until it is changed. */
void fold_see(struct wfs_fold *fold);

/** fold_forget_cells() - drop the entries behind the first @count, which nothing has changed. */
void fold_forget_cells(struct wfs_fold *fold, size_t count);

/** fold_set() - the record that is folded gives a cell this state; the bytes that it has change
 *  nothing. */
int fold_set(
	struct wfs_fold *fold, size_t cell_index, struct wfs_bytes bytes, struct wfs_error *error);

/** fold_delete() - it deletes a cell. */
int fold_delete(struct wfs_fold *fold, size_t cell_index, struct wfs_error *error);

/** fold_touch_unread() - the same, for who does not look at its state, which is not read. */
int fold_touch_unread(struct wfs_fold *fold, size_t reducer_index, struct wfs_bytes key,
	size_t *ret_index, struct wfs_error *error);

/** fold_load() - the document of a built-in reducer's cell. @ret_document: NULL: there is none; else
 *  caller owns it */
int fold_load(struct wfs_fold *fold, enum wfs_builtin_reducer reducer, const char *key,
	size_t *ret_index, json_t **ret_document, struct wfs_error *error);

/** fold_set_document() - the same with a document. */
int fold_set_document(
	struct wfs_fold *fold, size_t cell_index, const json_t *document, struct wfs_error *error);

/**
 * fold_mark() - from here on what is changed can be taken back
 * Marks nest; each is ended by one of the next two, the newest first.
 */
struct fold_mark fold_mark(struct wfs_fold *fold);

/** fold_keep() - end a mark. */
void fold_keep(struct wfs_fold *fold, const struct fold_mark *mark);

/** fold_take_back() - end a mark; the fold is as it was there: neither changes since nor what was
 *  touched and read for them are held any more, or count. */
void fold_take_back(struct wfs_fold *fold, const struct fold_mark *mark);

/** fold_hash_changes() - end all records: each gets the hash of its changes. Return: 0, or -ENOMEM. */
int fold_hash_changes(struct wfs_fold *fold);

/** fold_apply_changes() - write those of record @record, visible at @height. */
int fold_apply_changes(
	struct wfs_fold *fold, struct wfs_head *head, size_t record, uint64_t height);

/* --- fold.c --- */

/**
 * fold_add_record() - a record behind those that there are; its body is in `scratch`
 * @derived: a reference is kept; may be NULL
 * @ret_record: valid until the next one is added
 */
int fold_add_record(struct wfs_fold *fold, size_t cause, json_t *derived,
	struct fold_record **ret_record, struct wfs_error *error);

/* --- fold-effects.c --- */

/** fold_ask() - the record that is folded asks for an effect; the answer is folded into this cell.
 *  @params: a reference is kept; NULL: none */
int fold_ask(struct wfs_fold *fold, enum wfs_effect effect, json_t *params, size_t cell_index,
	struct wfs_error *error);

/** fold_ask_all() - keep what a step in this cell asked for. */
int fold_ask_all(struct wfs_fold *fold, size_t cell_index, struct wfs_error *error);

/** fold_answer_asks() - make the records of what was asked for and has none yet. */
int fold_answer_asks(struct wfs_fold *fold, struct wfs_error *error);

void fold_asks_clear(struct wfs_fold *fold);
