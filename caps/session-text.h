/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private texts (kernel/read/text.h): the files of those that a principal may read, and documents
 * that have stand-ins for them.
 */
#pragma once

#include "kernel/read/text.h"

struct wfs_session;
struct wfs_view;

/** wfs_session_text() - find the private text with the number @number, for its file in
 *  journal/texts, and note it if the session notes private texts. @ret_text: set on success; its
 *  bytes are borrowed until the view is closed. Return: 0, -ENOENT (no such text in the view, or
 *  the principal may not read it), … */
int wfs_session_text(const struct wfs_session *session, struct wfs_view *view, uint64_t number,
	struct wfs_text *ret_text);
/** wfs_session_text_find() - find the private text with the hash @hash, without noting it.
 *  @ret_text, Return: as of wfs_session_text(). */
int wfs_session_text_find(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_hash *hash, struct wfs_text *ret_text);
/** wfs_session_text_next() - find the first private text that the principal may read, of those with
 *  a number above @after; does not note the text
 *  @left: how many texts may be looked at, unreadable ones included; decremented for each
 *  Return: 0, -ENOENT (no more), 1 (@left is 0; only ret_text->number is set, to that of the last
 *          text that was looked at), … */
int wfs_session_text_next(const struct wfs_session *session, struct wfs_view *view, uint64_t after,
	uint64_t *left, struct wfs_text *ret_text);

/** wfs_session_note_private() - have the session note, for wfs_session_noted(), which private texts
 *  are read through it; called once, before anything is read. Return: 0, -ENOMEM. */
int wfs_session_note_private(struct wfs_session *session);

/** wfs_session_note_hidden() - if the session notes private texts, note those whose stand-ins are
 *  in @document. Return: 0, -ENOMEM. */
int wfs_session_note_hidden(const struct wfs_session *session, const json_t *document);

/** wfs_session_noted() - was any private text read since wfs_session_note_private() was called?
 *  @ret_of: ids of the artifacts to which the texts belong; [] if one of the texts is for its
 *  principal alone; caller owns it; set only if the answer is 1
 *  Return: 1, 0 (also if the session does not note private texts), -ENOMEM. */
int wfs_session_noted(const struct wfs_session *session, json_t **ret_of);

/** wfs_session_reveal() - copy a document, and replace stand-ins by those private texts that the
 *  principal may read (kernel/read/text.h), without noting them; other stand-ins stay. @ret_copy:
 *  set on success; a new reference, maybe to @document itself. Return: 0, or -errno with @error. */
int wfs_session_reveal(const struct wfs_session *session, struct wfs_view *view,
	const json_t *document, json_t **ret_copy, struct wfs_error *error);
