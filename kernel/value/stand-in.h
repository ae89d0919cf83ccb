/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private texts: texts that not everybody may read for nothing, such as entries of a private memory
 * store, arguments of private code, or a content that costs. One table of the store has them. The
 * record, and every cell, event and message that repeats the text, has a stand-in:
 *
 *     {"hash":"sha256:…","of":[artifact id, …],"size":bytes}
 *
 * `of` names the artifacts that the text belongs to. `size` counts the bytes of the value's
 * canonical JSON. The hash covers 16 random bytes (the salt) and this JSON, so that a short text
 * cannot be found by trying. Only the table has the salt; folding a journal again takes it from
 * there.
 *
 * A principal may read a text if its own record brought the text into the world, if it is an
 * administrator, or if it may read the contents of all artifacts in `of`, which is not empty
 * (caps/session-text.c judges). So nobody else may read a text whose `of` is [].
 */
#pragma once

#include <jansson.h>

#include "kernel/base/hash.h"

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

/** wfs_text_hide() - add a value, with a new salt, to @texts, and make its stand-in
 *  @of: array of the ids of the artifacts that @value belongs to; the stand-in keeps a reference of
 *  its own. @value: any JSON value; copied, as text. @ret_stand_in: set on success; caller
 *  owns it
 *  Return: 0, -ENOMEM, -EIO (no random bytes); after a failure the caller releases @texts, which
 *  may have an incomplete item, with wfs_texts_done(). */
int wfs_text_hide(
	struct wfs_texts *texts, const json_t *of, const json_t *value, json_t **ret_stand_in);

/** wfs_text_hide_member() - put a stand-in in the place of the value of a member of @object, and
 *  add this value to @texts. Does nothing if the member is absent or null.
 *  @of: as for wfs_text_hide(). Return: 0 (also if nothing was done), or as wfs_text_hide(), with
 *  @error filled; a failure leaves @object unchanged. */
int wfs_text_hide_member(struct wfs_texts *texts, const json_t *of, json_t *object,
	const char *member, struct wfs_error *error);

/** wfs_text_is_hidden() - is @value a stand-in? @value: may be NULL. @ret_hash: if it is one: set
 *  to the hash in the stand-in; may be NULL */
bool wfs_text_is_hidden(const json_t *value, struct wfs_hash *ret_hash);

/** wfs_text_has_hidden() - is the value a stand-in, or does it contain one? */
bool wfs_text_has_hidden(const json_t *value);

/** wfs_text_value() - parse the value of a private text. @bytes: salt and JSON, as the table has
 *  them. @ret_value: caller owns it. Return: 0, -EIO (damaged: no JSON after a salt), -ENOMEM. */
int wfs_text_value(struct wfs_bytes bytes, json_t **ret_value);

/* Finds the value of @stand_in, which is borrowed. Return: 1, with @ret_value set to a new
 * reference to the value that replaces the stand-in; 0 to leave the stand-in; or -errno to end
 * wfs_text_reveal() with this error. */
typedef int wfs_text_reveal_fn(void *context, const json_t *stand_in, json_t **ret_value);

/** wfs_text_reveal() - copy a document, and in the copy replace stand-ins by the values that
 *  @reveal, called with @context, finds. @reveal is called on the caller's thread, once for
 *  each stand-in. @ret_copy: set on success to a new reference; to @document itself if this has no
 *  stand-in
 *  Return: 0, -ENOMEM, or the -errno of @reveal. */
int wfs_text_reveal(
	const json_t *document, wfs_text_reveal_fn *reveal, void *context, json_t **ret_copy);

/* Called for one stand-in, which is borrowed. Return: 0, or another number to end wfs_text_walk(),
 * which returns this number. */
typedef int wfs_text_each_fn(void *context, const json_t *stand_in);

/** wfs_text_walk() - call @each with @context for every stand-in in a value, on all levels
 *  Return: 0, or the number that @each returned to end the walk. */
int wfs_text_walk(const json_t *value, wfs_text_each_fn *each, void *context);
