/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The private texts of records, in the store: which a record brings, which principal may read
 * them, and that each stand-in (kernel/value/stand-in.h), which a record has in place of a private
 * text, has its text.
 *
 * In members whose values a record hides, a value that looks like a stand-in is hidden like other
 * values. In other members, such a value may be a copy of a stand-in. A record is refused before it
 * is stored if wfs_text_each() finds a stand-in in it whose text is neither in the world nor stored
 * with the record (wfs_text_check).
 */
#pragma once

#include "kernel/read/record.h"
#include "kernel/store/tables.h"
#include "kernel/value/stand-in.h"

/** wfs_texts_put() - write texts that record @seq brings to the store; they get the next numbers
 *  of the table `text`. @to: id of the principal that may read them. Return: 0, or -errno. */
int wfs_texts_put(struct wfs_txn *txn, const struct wfs_texts *texts, uint64_t seq, const char *to);

/** wfs_text_to() - get the principal that may read the texts that a record brings: the agent of a
 *  turn if the record begins one, otherwise the record's principal
 *  @action: document of the record's action; NULL: the record has none. @principal: of the record
 *  Return: the id of the agent or principal, borrowed from @action or @principal. */
const char *wfs_text_to(const json_t *action, const char *principal);

/** wfs_text_check() - check that the text of each stand-in in a record is in the store, or will be
 *  stored with the record, because it is in @ours or @given
 *  @ours: texts that folding has hidden. @given: texts that came with the request; may be NULL
 *  Return: 0, -EINVAL (invalid_argument: a text is missing), -ENOMEM, or -errno of the store. */
int wfs_text_check(struct wfs_txn *txn, const struct wfs_texts *ours, const struct wfs_texts *given,
	const struct wfs_record *record, struct wfs_error *error);

/** wfs_text_each() - call @each (kernel/value/stand-in.h) with @context for every stand-in in those
 *  members of a record in which private texts are replaced
 *  Only actions and receipts have such members. Stand-ins in other members are copies, and skipped.
 *  Return: 0, or the number that @each returned to end the walk. */
int wfs_text_each(const struct wfs_record_parsed *parsed, wfs_text_each_fn *each, void *context);
