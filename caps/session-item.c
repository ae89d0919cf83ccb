/* SPDX-License-Identifier: Apache-2.0 */
/* Files in a directory of an entity, such as `steps` of a plan, for a session. */
#include "caps/caps-impl.h"

#include "caps/session-entity.h"
#include "caps/unjudged.h"
#include "kernel/domain/turn/raw.h"

static const struct wfs_entity_contents *contents_of(enum wfs_entity_file directory)
{
	return wfs_entity_file_contents(directory);
}

/* May the principal read a file in `raw` of a turn, whose bytes may have a private text in them? It
 * may read others like the rest of the turn. @noted: the text is noted, too
 * Return: 0 (yes), -ENOENT (no), … */
static int reads_item(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity_file directory, const struct wfs_version *version, bool noted)
{
	struct wfs_text text;

	if (directory != WFS_ENTITY_FILE_RAW)
		return 0;
	int r = wfs_raw_find(view, version, NULL, &text);
	if (r || text.number == 0)
		return r;
	r = session_reads_hidden(session, view, &text);
	if (r <= 0)
		return r ? r : -ENOENT;
	return noted ? session_note_hidden(session, &text) : 0;
}

int wfs_session_item(const struct wfs_session *session, struct wfs_view *view, const char *name,
	struct wfs_session_item *item)
{
	int r = session_sees_inner(session, item->directory, item->id, wfs_bytes_text(name));

	if (!r)
		r = contents_of(item->directory)
			    ->find(view, item->id, name, &item->number, &item->version);
	return r ? r : reads_item(session, view, item->directory, &item->version, true);
}

int wfs_session_item_next(const struct wfs_session *session, struct wfs_view *view, uint64_t *left,
	struct wfs_session_item *item, struct wfs_buffer *name)
{
	for (; *left > 0; item->number++) {
		wfs_buffer_reset(name);
		int r = contents_of(item->directory)
				->next(view, item->id, &item->number, name, &item->version);

		(*left)--;
		if (r)
			return r;
		r = session_sees_inner(session, item->directory, item->id, wfs_buffer_bytes(name));
		if (!r)
			r = reads_item(session, view, item->directory, &item->version, false);
		if (r != -ENOENT)
			return r;
	}
	return 1;
}

int wfs_unjudged_item_count(struct wfs_view *view, enum wfs_entity_file directory,
	struct wfs_bytes id, uint64_t *ret_count)
{
	return contents_of(directory)->count(view, id, ret_count);
}

int session_sees_item(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity_file directory, const struct wfs_version *version)
{
	WFS_AUTO_BUFFER struct wfs_buffer name = {0};
	struct wfs_bytes reducer;
	struct wfs_bytes key;
	struct wfs_bytes id;

	int r = reads_item(session, view, directory, version, true);
	if (r || wfs_session_sees_all(session))
		return r;
	r = wfs_view_name(view, version, &reducer, &key);
	if (!r)
		r = contents_of(directory)->name(view, key, version, &id, &name);
	return r ? r : session_sees_inner(session, directory, id, wfs_buffer_bytes(&name));
}

/* --- for dropping cached files --- */

int wfs_unjudged_item_name(struct wfs_view *view, enum wfs_entity_file directory,
	struct wfs_bytes key, struct wfs_bytes *ret_id, struct wfs_buffer *name)
{
	return contents_of(directory)->name(view, key, NULL, ret_id, name);
}
