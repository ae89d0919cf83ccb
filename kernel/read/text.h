/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private texts. What a record takes from something that not everybody may read for nothing (the texts
 * of a private memory store, arguments of code that is private, a content that costs) is kept in one
 * table of the store. The record, and every cell, event and message that repeats the text, has a
 * stand-in:
 *
 *     {"hash":"sha256:…","of":[artifact id, …],"size":bytes}
 *
 * `of` names the artifacts that the text belongs to. `size` counts the value's canonical JSON. The hash
 * is over 16 random bytes and that JSON, so that a short text cannot be found by trying. The random
 * bytes are in the table only; folding a journal again takes them from there.
 *
 * A principal may read a text if its own record brought the text into the world, or if it may read the
 * contents of all artifacts in `of` (caps/session-text.c judges).
 *
 * Where a record hides texts, a value of a principal that looks like a stand-in is hidden like any other value.
 * Elsewhere in a record it may be a copy of a stand-in. A record is refused before it is stored if wfs_text_each() finds
 * a stand-in whose text is not in the world and does not come with the record (wfs_text_check).
 */
#pragma once

#include <jansson.h>

#include "kernel/read/record.h"
#include "kernel/store/tables.h"

enum { WFS_TEXT_SALT_SIZE = 16 };

/* A text that a request brings. Owned by its list. */
struct wfs_text_new {
	struct wfs_hash hash;
	struct wfs_buffer of;    /* JSON array */
	struct wfs_buffer bytes; /* salt and JSON */
};

/* Texts that are written with one record. Plain value; zero-initialised is empty. */
struct wfs_texts {
	struct wfs_text_new *items;
	size_t count;
	size_t capacity;
};
void wfs_texts_done(struct wfs_texts *texts);

/** wfs_texts_put() - write all of them to the store, as texts of record @seq of the principal @to. */
int wfs_texts_put(struct wfs_txn *txn, const struct wfs_texts *texts, uint64_t seq, const char *to);

/**
 * wfs_text_hide() - add a value to @texts
 * @of: array of artifact ids
 * @ret_stand_in: caller owns it
 * Return: 0, -ENOMEM, -EIO (no random bytes).
 */
int wfs_text_hide(
	struct wfs_texts *texts, const json_t *of, const json_t *value, json_t **ret_stand_in);

/**
 * wfs_text_hide_member() - put a stand-in in the place of a member of @object; nothing when it is absent or null
 * @of: as above
 * Return: 0, -ENOMEM, -EIO.
 */
int wfs_text_hide_member(struct wfs_texts *texts, const json_t *of, json_t *object,
	const char *member, struct wfs_error *error);

/** wfs_text_is_hidden() - is the value a stand-in? @ret_hash: may be NULL */
bool wfs_text_is_hidden(const json_t *value, struct wfs_hash *ret_hash);

/** wfs_text_has_hidden() - is the value a stand-in, or does it have one in it? */
bool wfs_text_has_hidden(const json_t *value);

/** wfs_text_value() - the value of a text. @bytes: salt and JSON. Return: 0, -EIO, -ENOMEM. */
int wfs_text_value(struct wfs_bytes bytes, json_t **ret_value);

/* What becomes of a stand-in: 1 and the value that takes its place (a new reference), 0 when it stays,
 * or -errno that ends the walk. */
typedef int wfs_text_reveal_fn(void *context, const json_t *stand_in, json_t **ret_value);

/**
 * wfs_text_reveal() - a copy of a document with values in the place of stand-ins
 * @ret_copy: @document itself when nothing was replaced; a new reference either way
 */
int wfs_text_reveal(
	const json_t *document, wfs_text_reveal_fn *reveal, void *context, json_t **ret_copy);

/** wfs_text_to() - the principal that may read what a record hides, because it said it or got it: the
 *  record's; of a run's beginning the agent. @action: of the record; may be NULL. Borrowed. */
const char *wfs_text_to(const json_t *action, const char *principal);

/**
 * wfs_text_check() - does every stand-in that a record would bring stand for a text?
 * @ours, @given: texts that would be stored with the record; @given may be NULL
 * Return: 0, -EINVAL (invalid_argument), -ENOMEM, or -errno of the store.
 */
int wfs_text_check(struct wfs_txn *txn, const struct wfs_texts *ours, const struct wfs_texts *given,
	const struct wfs_record *record, struct wfs_error *error);

/* One stand-in. Return: 0, or what ends the walk and is returned. */
typedef int wfs_text_each_fn(void *context, const json_t *stand_in);

/** wfs_text_each() - every stand-in that a record brings into the world. */
int wfs_text_each(const struct wfs_record_parsed *parsed, wfs_text_each_fn *each, void *context);
