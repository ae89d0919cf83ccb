/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The private texts of records, in the store: which a record brings, which principal may read
 * them, and that each stand-in (kernel/value/stand-in.h) has its text.
 *
 * In members that a record hides, a value that looks like a stand-in is hidden like other values.
 * In other members it may be a copy of a stand-in. A record is refused before it is stored if
 * wfs_text_each() finds a stand-in in it whose text is neither in the world nor stored with the
 * record (wfs_text_check).
 */
#pragma once

#include "kernel/read/record.h"
#include "kernel/store/tables.h"
#include "kernel/value/stand-in.h"

/** wfs_texts_put() - write texts to the store, as those of record @seq, which principal @to may
 *  read. */
int wfs_texts_put(struct wfs_txn *txn, const struct wfs_texts *texts, uint64_t seq, const char *to);

/** wfs_text_to() - the principal whose texts a record brings, and which may read them: the agent of
 *  a turn if the record begins one, otherwise @principal, of the record
 *  @action: of the record; may be NULL
 *  Return: borrowed from @action or @principal. */
const char *wfs_text_to(const json_t *action, const char *principal);

/**
 * wfs_text_check() - refuse a record if a stand-in in it has no text
 * @ours, @given: texts that will be stored with the record; @given may be NULL
 * Return: 0, -EINVAL (invalid_argument), -ENOMEM, or -errno of the store.
 */
int wfs_text_check(struct wfs_txn *txn, const struct wfs_texts *ours, const struct wfs_texts *given,
	const struct wfs_record *record, struct wfs_error *error);

/** wfs_text_each() - call @each for every stand-in that a record brings into the world. */
int wfs_text_each(const struct wfs_record_parsed *parsed, wfs_text_each_fn *each, void *context);
