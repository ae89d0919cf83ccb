/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a fold, for kernel/fold and kernel/domain: what it holds, how cells are read and
 * changed in it, and how effects become records. fold.h has the functions wfs_fold_…() and the
 * bounds WFS_FOLD_…
 *
 * A run folds one request: record 0 is the request's own record, and folding it can add further
 * records. Cells are named by their index in fold->cells: a cell gets an entry there when the run
 * first touches (reads or changes) it. Changes are made in the fold's memory only, until they are
 * applied (fold.h). Functions that return int return 0, or -errno with @error filled. A function
 * that fails may have made a part of its changes: the caller takes them back (fold_take_back()), or
 * fails the request, which drops all.
 */
#pragma once

#include "kernel/fold/effects.h"
#include "kernel/fold/fold-domain.h"
#include "kernel/fold/fold.h"
#include "kernel/manifest/document.h"
#include "kernel/read/text.h"

/* A part of fold->text: offset and size in bytes, because the text moves as it grows. */
struct fold_span {
	size_t offset;
	size_t size;
};

/* A cell that the run has touched, with its newest state. */
struct fold_cell {
	size_t reducer_index;
	struct fold_span key;
	uint64_t name_hash;  /* of reducer_index and key */
	struct wfs_cell row; /* as it is in the store; row.key is not used */
	bool stored_live;    /* was live before the request */
	bool live;
	bool loaded;          /* the state was read: `hash` and `state` are set, if live */
	bool changed;         /* by the request */
	size_t change_end;    /* 1 + index in fold->changes of its last change, or 0 */
	struct wfs_hash hash; /* of the state; zero when not live */
	struct fold_span state;
};

/* The state that a record gives a cell; `record` and `cell` are indices. */
struct fold_change {
	size_t record;
	size_t cell;
	bool live;
	struct wfs_hash hash;
	struct fold_span state;
};

/* The entry of a cell before it was changed or read, so that fold_take_back() can restore it. */
struct fold_undo {
	size_t cell; /* index */
	struct fold_cell cell_before;
	size_t change; /* index of the change that was added or replaced */
	bool made;     /* the change was added; false: it replaced change_before */
	struct fold_change change_before;
};

/* A record that the request gives: the first is the request's own. */
struct fold_record {
	enum wfs_record_kind kind;
	json_t *derived;    /* {schema, value, key?}, owned; NULL for the first and for intents */
	const char *schema; /* borrowed from `derived` or the request */
	struct fold_span body;   /* in fold->text; the first, unless an action, is in input.body */
	size_t cause;            /* index of the record that caused it */
	size_t cell;             /* of an answer: index of the cell that asked */
	size_t ask;              /* of an answer: 1 + index in fold->asks; otherwise 0 */
	size_t ask_count;        /* effects that folding this record asked for */
	bool changed;            /* the record changes cells */
	struct wfs_hash changes; /* hash of these changes */
};

/* An effect that a step asked for. */
struct fold_ask {
	enum wfs_effect effect;
	json_t *params; /* owned; may be NULL */
	size_t record;  /* index of the record whose folding asked */
	size_t index;   /* among the effects that folding the record asked for */
	size_t cell;    /* index of the cell that asked */
};

/* The outcome of an action. JSON is owned, and may be NULL. */
struct fold_outcome {
	struct wfs_error refusal; /* why it was not done */
	json_t *details;          /* of the refusal: {count} with not_unique */
	json_t *answer;           /* for the sender, if it was done */
	json_t *action;           /* as the record has it; NULL: as it was sent */
	json_t *result; /* members that the record's result has besides ok and error_code */
	/* {model, text} of an embedding that is needed before the action can be done */
	json_t *wanted;
	json_t *of; /* ids of the private artifacts whose texts the answer has; NULL: none */
	/* ids of the private artifacts to which the texts in the action belong (a refusal may quote
	 * these texts); []: only the sender may read them; NULL: everybody may */
	json_t *said_of;
	/* the action only read, or the event was seen before, so the request gets no record */
	bool unrecorded;
};

/* The state of a fold to which its changes can be taken back. Plain value. */
struct fold_mark {
	size_t undo_count;
	size_t cell_count;
	size_t record_count;
	size_t text_size; /* bytes */
};

/* A growing array: `items` are owned. */
struct fold_array {
	void *items;
	size_t count;
	size_t capacity;
};

struct wfs_fold {
	uint8_t entropy[WFS_ENTROPY_SIZE]; /* the world's, for ctx.random() */
	struct wfs_head *head;             /* borrowed during a run */
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
	size_t folding;                /* index of the record that is being folded */
	struct fold_array undos;       /* struct fold_undo; empty if mark_count is 0 */
	size_t mark_count;             /* marks (fold_mark()) that have not ended */
	struct fold_array asks;        /* struct fold_ask */
	size_t asks_done;              /* asks that have records */
	size_t applied_count;          /* changes written so far */
	struct wfs_answerer *answerer; /* borrowed; NULL: effects fail the request */
	bool unanswered;               /* the run ended at an intent whose answer is not known */
	struct wfs_code_result result; /* of the last step */
	uint64_t steps; /* steps of this run so far; part of the seed of ctx.random() */
	struct wfs_lua_budget budget;
	size_t value_count;          /* JSON values in the derived events */
	struct fold_outcome outcome; /* of the action that is folded */
	struct wfs_texts texts;      /* private texts that the action has brought */
	struct wfs_box *box;         /* runs code; owned */
	size_t ahead_count;          /* steps that wfs_fold_ahead() last sent */
	size_t ahead_pause;          /* calls of wfs_fold_ahead() that will send no steps */
	struct fold_array seen;      /* struct fold_cell, from fold_see(); not changed since */
	struct wfs_buffer seen_text; /* keys and states of these cells */
	const struct wfs_domain *const *domains; /* static; the last is NULL */
	void **kept;                             /* memory of each domain, in their order; owned */
};

/* Calls the function @hook of each domain that has it, in their order, until one fails.
 * Value: 0, or -errno. */
#define FOLD_CALL(fold, hook, ...)                                                            \
	({                                                                                    \
		int result_ = 0;                                                              \
		for (const struct wfs_domain *const *at_ = (fold)->domains; !result_ && *at_; \
			at_++)                                                                \
			if ((*at_)->hook)                                                     \
				result_ = (*at_)->hook(fold, __VA_ARGS__);                    \
		result_;                                                                      \
	})

/* Calls the function @hook, which cannot fail, of each domain that has it. */
#define FOLD_TELL(fold, hook, ...)                                                              \
	do {                                                                                    \
		for (const struct wfs_domain *const *at_ = (fold)->domains; at_ && *at_; at_++) \
			if ((*at_)->hook)                                                       \
				(*at_)->hook(fold, ##__VA_ARGS__);                              \
	} while (0)

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

/** fold_no_memory() - fill @error: memory has run out. Return: -ENOMEM. */
int fold_no_memory(struct wfs_error *error);

/** fold_array_add() - add an item of @item_size zero bytes to @array
 *  Return: the item, borrowed until the next item is added; NULL without memory. */
void *fold_array_add(struct fold_array *array, size_t item_size);

/** fold_add_text() - copy @bytes to the end of fold->text. @ret_span: where they are
 *  Return: 0, -EIO (runtime_error: the text would have more than WFS_FOLD_BYTES_MAX), -ENOMEM. */
int fold_add_text(struct wfs_fold *fold, struct wfs_bytes bytes, struct fold_span *ret_span,
	struct wfs_error *error);

/** fold_reducer_of() - get the definition of the reducer that @cell belongs to; borrowed from the
 *  manifest. */
const struct wfs_reducer_definition *fold_reducer_of(
	const struct wfs_fold *fold, const struct fold_cell *cell);

/** fold_builtin() - get the index that the built-in reducer @reducer has in fold->manifest. */
size_t fold_builtin(const struct wfs_fold *fold, enum wfs_builtin_reducer reducer);

/** fold_is_live() - did the built-in reducer @reducer have a live cell with the key @key before the
 *  request? Return: 1, 0, or -errno. */
int fold_is_live(struct wfs_fold *fold, enum wfs_builtin_reducer reducer, const char *key,
	struct wfs_error *error);

/** fold_lives() - does the built-in reducer @reducer have a live cell with the key @id, after the
 *  changes that the run has made so far? Return: 1, 0, or -errno. */
int fold_lives(struct wfs_fold *fold, enum wfs_builtin_reducer reducer, const char *id,
	struct wfs_error *error);

/** fold_live_count() - count the live cells that a built-in reducer has in the store, that is,
 *  before the request. */
uint64_t fold_live_count(const struct wfs_fold *fold, enum wfs_builtin_reducer reducer);

/** fold_view() - make a view of the world before the request; the view is borrowed from the fold's
 *  transaction, so the caller does not close it. */
struct wfs_view fold_view(const struct wfs_fold *fold);

/** fold_touch() - get the index of a cell in the fold
 *  When the run touches the cell for the first time, an entry is made, and the cell and its state
 *  are read from the store. @reducer_index: of the cell's reducer in the manifest. @key: copied
 *  @ret_index: of the cell in fold->cells. Return: 0, -EIO, -ENOMEM, … */
int fold_touch(struct wfs_fold *fold, size_t reducer_index, struct wfs_bytes key, size_t *ret_index,
	struct wfs_error *error);

/** fold_see() - move all touched cells to fold->seen, so that later runs need not read them from
 *  the store
 *  None of the touched cells may be changed. A cell stays in fold->seen until a run changes it, at
 *  most until the next wfs_fold_ahead(). */
void fold_see(struct wfs_fold *fold);

/** fold_forget_cells() - drop all entries of cells but the first @count; none of the dropped may be
 *  changed. */
void fold_forget_cells(struct wfs_fold *fold, size_t count);

/** fold_set() - give a cell a new state, as a change of the record that is being folded
 *  Does nothing if the cell has this state already, as read by fold_touch() or set by the run.
 *  @cell_index: in fold->cells. @bytes: copied */
int fold_set(
	struct wfs_fold *fold, size_t cell_index, struct wfs_bytes bytes, struct wfs_error *error);

/** fold_delete() - delete a cell, if it is live, as a change of the record that is being folded. */
int fold_delete(struct wfs_fold *fold, size_t cell_index, struct wfs_error *error);

/** fold_touch_unread() - get the index of a cell in the fold, as fold_touch() does, but do not read
 *  the cell's state. */
int fold_touch_unread(struct wfs_fold *fold, size_t reducer_index, struct wfs_bytes key,
	size_t *ret_index, struct wfs_error *error);

/** fold_load() - touch a cell of a built-in reducer, and parse its document
 *  @ret_index: of the cell in the fold
 *  @ret_document: caller owns it; NULL: the cell is not live, or the function fails */
int fold_load(struct wfs_fold *fold, enum wfs_builtin_reducer reducer, const char *key,
	size_t *ret_index, json_t **ret_document, struct wfs_error *error);

/** fold_set_document() - do fold_set() with the canonical text and newline of @document, which is
 *  borrowed, and not NULL. */
int fold_set_document(
	struct wfs_fold *fold, size_t cell_index, const json_t *document, struct wfs_error *error);

/** fold_put() - set the document of a cell of a built-in reducer without reading the old state
 *  @document: borrowed; NULL: the caller had no memory for it, and the function returns -ENOMEM */
int fold_put(struct wfs_fold *fold, enum wfs_builtin_reducer reducer, const char *key,
	const json_t *document, struct wfs_error *error);

/** fold_read() - touch a cell of a built-in reducer, and read its document into the struct of the
 *  reducer (kernel/manifest/document.h)
 *  Callers use fold_read_<name>(), and end the struct with wfs_document_done().
 *  @ret_document: also written on failure; its `own.json` is NULL if the cell is not live
 *  Return: 0, -EIO (internal_error: the document has another form), … */
int fold_read(struct wfs_fold *fold, enum wfs_builtin_reducer reducer, const char *key,
	void *ret_document, struct wfs_error *error);

/** fold_write() - set the document of a cell to that of the struct of its reducer
 *  Callers use fold_write_<name>(), or fold_put_<name>() for a cell that was not read.
 *  @key: of the cell; NULL: the cell is the one that fold_read() has read into @document */
int fold_write(struct wfs_fold *fold, enum wfs_builtin_reducer reducer, const char *key,
	const void *document, struct wfs_error *error);

#define FOLD_DOCUMENT_FUNCTIONS(constant, name)                                           \
	static inline int fold_read_##name(struct wfs_fold *fold, const char *key,        \
		struct wfs_document_##name *ret_document, struct wfs_error *error)        \
	{                                                                                 \
		return fold_read(fold, WFS_BUILTIN_##constant, key, ret_document, error); \
	}                                                                                 \
	static inline int fold_write_##name(struct wfs_fold *fold,                        \
		const struct wfs_document_##name *document, struct wfs_error *error)      \
	{                                                                                 \
		return fold_write(fold, WFS_BUILTIN_##constant, NULL, document, error);   \
	}                                                                                 \
	static inline int fold_put_##name(struct wfs_fold *fold, const char *key,         \
		const struct wfs_document_##name *document, struct wfs_error *error)      \
	{                                                                                 \
		return fold_write(fold, WFS_BUILTIN_##constant, key, document, error);    \
	}
WFS_DOCUMENTS(FOLD_DOCUMENT_FUNCTIONS)

/** fold_mark() - set a mark: changes of cells, and records, that are made later can be taken back
 *  Marks nest. fold_keep() or fold_take_back() ends each of them, the newest first.
 *  Return: the mark, for the function that ends it. */
struct fold_mark fold_mark(struct wfs_fold *fold);

/** fold_keep() - end a mark: all changes and records since fold_mark() stay. */
void fold_keep(struct wfs_fold *fold, const struct fold_mark *mark);

/** fold_take_back() - end a mark: take back all changes of cells, and all records, since
 *  fold_mark()
 *  Entries of cells that were touched since are dropped, too; their bytes no longer count for
 *  WFS_FOLD_BYTES_MAX. */
void fold_take_back(struct wfs_fold *fold, const struct fold_mark *mark);

/** fold_hash_changes() - set `changed` and `changes` of each record of the run from what the record
 *  changes (fold->changes). Return: 0, or -ENOMEM. */
int fold_hash_changes(struct wfs_fold *fold);

/** fold_apply_changes() - write the changes of record @record to the store, visible from @height
 *  on; called for the records in their order. Return: 0, -ENOSPC, -EIO. */
int fold_apply_changes(
	struct wfs_fold *fold, struct wfs_head *head, size_t record, uint64_t height);

/* --- fold.c --- */

/** fold_trim() - empty a buffer, and free its memory if it has more than the fold keeps between
 *  runs. */
void fold_trim(struct wfs_buffer *buffer);

/** fold_refresh_budget() - reset fold->budget to all instructions that one request may use. */
void fold_refresh_budget(struct wfs_fold *fold);

/* --- fold-action.c --- */

/** fold_action() - do the action of the request, and write the body of its record
 *  Return: 0, also if the action is refused, or -errno that fails the request. */
int fold_action(struct wfs_fold *fold, struct wfs_error *error);

/* --- fold-event.c --- */

/** fold_add_record() - append a record to those of the run, after the caller has written its body
 *  to fold->scratch, which stays as it is. @cause: index of the record that caused the new one
 *  @derived: for an event: {schema, value, key?}, to which the fold keeps a reference of its own;
 *  for others NULL */
int fold_add_record(struct wfs_fold *fold, enum wfs_record_kind kind, size_t cause, json_t *derived,
	struct wfs_error *error);

/** fold_event() - fold the event of record @index: run the step of each reducer to which the
 *  manifest routes it. */
int fold_event(struct wfs_fold *fold, size_t index, struct wfs_error *error);

/** fold_run_step() - run the step of a cell's reducer, give the cell its new state, and add the
 *  events and effects that the step asks for
 *  @record: index of the record that is folded. @cell_index: of the cell in the fold
 *  @value: the value of the event, or the answer to an effect */
int fold_run_step(struct wfs_fold *fold, size_t record, size_t cell_index, const json_t *value,
	struct wfs_error *error);

/* --- fold-effects.c --- */

/** fold_ask() - ask for an effect, on behalf of the record that is being folded
 *  @params: of the effect; the fold keeps a reference of its own; NULL: none
 *  @cell_index: in fold->cells, the cell into which the answer will be folded */
int fold_ask(struct wfs_fold *fold, enum wfs_effect effect, json_t *params, size_t cell_index,
	struct wfs_error *error);

/** fold_effect() - have the domains do an effect that was asked for (wfs_domain.fold_effect), if
 *  its answer has the status ok. @ask_index: in fold->asks. @answer: an event of sys/Receipt@1 */
int fold_effect(
	struct wfs_fold *fold, size_t ask_index, const json_t *answer, struct wfs_error *error);

/** fold_ask_all() - ask, by fold_ask(), for each effect in the last step's result (fold->result)
 *  @cell_index: in fold->cells, the cell on which the step ran */
int fold_ask_all(struct wfs_fold *fold, size_t cell_index, struct wfs_error *error);

/** fold_answer_asks() - for each effect that was asked for and has no records yet, add two: an
 *  intent and its answer. If an answer is not known, set fold->unanswered, and stop.
 *  Return: 0 (also if an answer is not known), or -errno. */
int fold_answer_asks(struct wfs_fold *fold, struct wfs_error *error);

/** fold_asks_clear() - forget all effects that were asked for. */
void fold_asks_clear(struct wfs_fold *fold);
