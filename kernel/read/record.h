/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of the journal: each is one line of canonical JSON, and has the hash of the line before.
 *
 * A line is put together from parts that are canonical already, so nothing is serialised twice. The
 * hash of a line covers its bytes with the newline; the next record has it as `prev`. Functions
 * that append to a buffer and return nothing mark it as failed without memory (wfs_buffer_check()).
 * Source: worldfs-journal(5).
 */
#pragma once

#include <stdbool.h>

#include "kernel/read/body.h"
#include "kernel/value/fired.h"

enum {
	WFS_BASELINE_SEQ = 1
}; /* seq of the baseline; its cells are visible from the next height on */

/* A record. Plain value; pointers are borrowed. */
struct wfs_record {
	uint64_t seq;
	struct wfs_hash prev;
	int64_t at_ns;
	enum wfs_record_kind kind;
	const char *principal;
	bool derived; /* `cause` is set: folding record `cause` gave this one */
	uint64_t cause;
	bool changed;            /* the record changes cells, and `changes` is set */
	struct wfs_hash changes; /* hash of its `changes` document, below */
	struct wfs_bytes body;   /* canonical JSON text without newline */
};

const char *wfs_record_kind_name(enum wfs_record_kind kind);

/** wfs_record_write() - append the line of a record to @buffer, newline included. */
void wfs_record_write(struct wfs_buffer *buffer, const struct wfs_record *record);

/** wfs_fired_of() - get the timer that sent the request of a record. @body: of the record. Return:
 *  borrows from @body; its `timer` is NULL if no timer sent the request. */
struct wfs_fired wfs_fired_of(enum wfs_record_kind kind, const union wfs_body *body);

/* A refusal, and its reason. Plain value; pointers are borrowed. */
struct wfs_decision {
	struct wfs_fired fired; /* of a timer, or zeros */
	const char *effect;     /* the kind of request that was refused */
	const char *intent_id;  /* of the intent that was refused, if a reducer asked; or NULL */
	const char *grant;      /* the grant that would have covered the request, or NULL */
	const char *policy;     /* the policy that denied it, or NULL */
	bool rule_known;        /* `rule_index` is set */
	uint64_t rule_index;    /* of the rule that denied it */
	uint64_t count; /* refusals that the record sums up, without grant and rule; 0: only one */
};

/** wfs_record_write_decision_body() - append the whole body of a `decision` record
 *  @code: the name of the error code that the client gets */
void wfs_record_write_decision_body(
	struct wfs_buffer *buffer, const struct wfs_decision *decision, const char *code);

/* A parsed line: `record` and `body` borrow from `json`; record.body stays empty. */
struct wfs_record_parsed {
	struct wfs_record record;
	union wfs_body body; /* its member of record.kind is set */
	json_t *json;        /* the whole line, owned */
};

/** wfs_record_parse() - parse the line of a record
 *  @line: need not stay valid after the call
 *  @ret: set on success only; the caller ends it with wfs_record_parsed_done()
 *  Return: 0, -EIO (internal_error: the line is not a record of this version, or its body does not
 *  have the form of its kind), -ENOMEM. */
int wfs_record_parse(struct wfs_bytes line, struct wfs_record_parsed *ret, struct wfs_error *error);
void wfs_record_parsed_done(struct wfs_record_parsed *parsed);

/** wfs_record_is_cut() - is the record the baseline with which a journal begins after a cut? */
bool wfs_record_is_cut(const struct wfs_record_parsed *parsed);

/** wfs_record_next_prev() - compute the `prev` of the record after @parsed: the hash of @line, the
 *  line of @parsed; for the baseline of a cut, the `next_prev` in its body. */
struct wfs_hash wfs_record_next_prev(const struct wfs_record_parsed *parsed, struct wfs_bytes line);
#define WFS_AUTO_RECORD WFS_CLEANUP(wfs_record_parsed_done)

/*
 * The `changes` document of a record: `[[reducer,key_b64,state_hash|null],…]`, sorted by reducer,
 * then by the bytes of the key. The caller begins with an empty buffer, adds items in this order,
 * and ends the document.
 */

/** wfs_changes_compare() - compare two cells, a and b, by the order of the `changes` document: by
 *  reducer, then by key. Return: below, equal to or above 0, as memcmp(). */
int wfs_changes_compare(const char *reducer_a, struct wfs_bytes key_a, const char *reducer_b,
	struct wfs_bytes key_b);

/** wfs_changes_item() - append one item of the `changes` document to @buffer, which need not have
 *  the items before: for callers that hash the document in pieces
 *  @first: true: this is the document's first item, so its `[` is written before the item; false:
 *  a comma is written before the item
 *  @hash: of the cell's new state; NULL: the cell was deleted */
void wfs_changes_item(struct wfs_buffer *buffer, bool first, struct wfs_bytes reducer,
	struct wfs_bytes key, const struct wfs_hash *hash);

/** wfs_changes_add() - append the next item to the `changes` document in @buffer
 *  @hash: of the cell's new state; NULL: the cell was deleted */
void wfs_changes_add(struct wfs_buffer *buffer, const char *reducer, struct wfs_bytes key,
	const struct wfs_hash *hash);
void wfs_changes_end(struct wfs_buffer *buffer);
