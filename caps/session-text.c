/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private texts, for a session. The principal of a text's record may read the text, and so may
 * a principal that may read the contents of all artifacts that the text belongs to.
 */
#include "caps/caps-impl.h"

#include "caps/session-text.h"
#include "caps/unjudged.h"
#include "kernel/base/json.h"
#include "kernel/read/text.h"

static int reads_all(const struct wfs_session *session, struct wfs_view *view, const json_t *of)
{
	const json_t *id;
	size_t i;
	int r = json_array_size(of) > 0;

	json_array_foreach(of, i, id) {
		if (r > 0)
			r = session_reads_artifact(session, view,
				WFS_BYTES(json_string_value(id), json_string_length(id)));
	}
	return r;
}

int session_reads_hidden(
	const struct wfs_session *session, struct wfs_view *view, const struct wfs_text *text)
{
	WFS_AUTO_JSON json_t *of = NULL;

	if (wfs_bytes_equal(text->to, wfs_bytes_text(wfs_session_principal(session))))
		return 1;
	int r = session_administers(session);
	if (r)
		return r;
	r = wfs_json_parse(text->of.data, text->of.size, &of, NULL);
	return r ? r : reads_all(session, view, of);
}

/* --- files --- */

static int sees_file(const struct wfs_session *session, const struct wfs_text *text)
{
	char hex[WFS_HASH_HEX_SIZE + 1];
	const struct wfs_bytes names[] = {
		WFS_BYTES("journal", 7), WFS_BYTES("texts", 5), WFS_BYTES(hex, WFS_HASH_HEX_SIZE)};

	wfs_hash_hex(&text->hash, hex);
	return wfs_session_sees(session, WFS_EFFECT_INTROSPECT_JOURNAL, (struct wfs_path){names, 3},
		WFS_COVERAGE_WHOLE, NULL);
}

static int judge_file(
	const struct wfs_session *session, struct wfs_view *view, const struct wfs_text *text)
{
	int r = text->seq < view->height ? sees_file(session, text) : -ENOENT;

	if (!r)
		r = session_reads_hidden(session, view, text);
	return r > 0 ? 0 : r < 0 ? r : -ENOENT;
}

int session_note_hidden(const struct wfs_session *session, const struct wfs_text *text)
{
	WFS_AUTO_JSON json_t *of = NULL;

	if (!session->notes)
		return 0;
	int r = wfs_json_parse(text->of.data, text->of.size, &of, NULL);
	return r ? r : session_note(session, of);
}

int wfs_session_text(const struct wfs_session *session, struct wfs_view *view, uint64_t number,
	struct wfs_text *ret_text)
{
	struct wfs_text text;
	int r = wfs_text_get(view->txn, number, &text);

	if (!r)
		r = judge_file(session, view, &text);
	if (!r)
		r = session_note_hidden(session, &text);
	if (!r)
		*ret_text = text;
	return r;
}

int wfs_session_text_find(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_hash *hash, struct wfs_text *ret_text)
{
	struct wfs_text text;
	int r = wfs_text_find(view->txn, hash, &text);

	if (!r)
		r = judge_file(session, view, &text);
	if (!r)
		*ret_text = text;
	return r;
}

int wfs_session_text_next(const struct wfs_session *session, struct wfs_view *view, uint64_t after,
	uint64_t *left, struct wfs_text *ret_text)
{
	struct wfs_text text = {.number = after};
	int r;

	do {
		if (*left == 0) {
			ret_text->number = text.number;
			return 1;
		}
		(*left)--;
		r = wfs_text_get(view->txn, text.number + 1, &text);
		if (r || text.seq >= view->height)
			return r ? r : -ENOENT;
		r = judge_file(session, view, &text);
	} while (r == -ENOENT);
	if (!r)
		*ret_text = text;
	return r;
}

int wfs_unjudged_has_texts(struct wfs_view *view)
{
	struct wfs_text text;
	int r = wfs_text_get(view->txn, 1, &text);

	return r == -ENOENT ? 0 : r ? r : text.seq < view->height;
}

/* --- documents --- */

/* The context of revealing a document's texts. */
struct revealing {
	const struct wfs_session *session;
	struct wfs_view *view;
};

static int reveal(void *context, const json_t *stand_in, json_t **ret_value)
{
	const struct revealing *const revealing = context;
	struct wfs_hash hash;
	struct wfs_text text;

	(void)wfs_text_is_hidden(stand_in, &hash);
	int r = wfs_text_find(revealing->view->txn, &hash, &text);
	if (r)
		return r == -ENOENT ? 0 : r;
	r = session_reads_hidden(revealing->session, revealing->view, &text);
	if (r <= 0)
		return r;
	r = wfs_text_value(text.bytes, ret_value);
	return r ? r : 1;
}

int wfs_session_reveal(const struct wfs_session *session, struct wfs_view *view,
	const json_t *document, json_t **ret_copy, struct wfs_error *error)
{
	struct revealing revealing = {session, view};
	int r = wfs_text_reveal(document, reveal, &revealing, ret_copy);

	return r ? wfs_error_from_errno(error, r, "read a private text") : 0;
}

/* --- noting --- */

int wfs_session_note_private(struct wfs_session *session)
{
	struct session_notes *const notes = calloc(1, sizeof(*notes));

	if (!notes)
		return -ENOMEM;
	pthread_mutex_init(&notes->lock, NULL);
	notes->of = json_array();
	session->notes = notes;
	return notes->of ? 0 : -ENOMEM;
}

void session_notes_free(struct session_notes *notes)
{
	if (!notes)
		return;
	json_decref(notes->of);
	pthread_mutex_destroy(&notes->lock);
	free(notes);
}

int session_note(const struct wfs_session *session, const json_t *of)
{
	struct session_notes *const notes = session->notes;

	if (!notes)
		return 0;
	WFS_GUARD(&notes->lock);
	notes->any = true;
	notes->nobodys |= json_array_size(of) == 0;
	return wfs_json_add_missing(notes->of, of);
}

static int note_stand_in(void *context, const json_t *stand_in, json_t **ret_value)
{
	(void)ret_value;
	return session_note(context, json_object_get(stand_in, "of"));
}

int wfs_session_note_hidden(const struct wfs_session *session, const json_t *document)
{
	WFS_AUTO_JSON json_t *same = NULL;

	return session->notes
		? wfs_text_reveal(document, note_stand_in, (void *)(uintptr_t)session, &same)
		: 0;
}

int wfs_session_noted(const struct wfs_session *session, json_t **ret_of)
{
	struct session_notes *const notes = session->notes;

	if (!notes)
		return 0;
	WFS_GUARD(&notes->lock);
	if (!notes->any)
		return 0;
	*ret_of = notes->nobodys ? json_array() : json_copy(notes->of);
	return *ret_of ? 1 : -ENOMEM;
}
