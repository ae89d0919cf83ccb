/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notifying Linux of `steps` of plans and `entries` of memory stores after a commit: of each name
 * as it comes in the commit, and then of the listing.
 */
#include "fs/data/notify-impl.h"

static int look_for_inner(struct wfs_notify *notify, struct wfs_view *view, void *context)
{
	struct notify_inner *const inner = context;
	uint64_t number;
	int r = wfs_session_entity_number(notify->tree->session, view,
		wfs_entity_file_entity(inner->directory), inner->id, &number);

	if (!r && !wfs_tree_inner_ino(inner->directory, number, &inner->ino))
		inner->ino = 0;
	return notify_known(r);
}

int notify_inner_end(struct wfs_notify *notify, struct notify_inner *inner)
{
	const bool listing = inner->listing && inner->ino != 0;

	inner->listing = false;
	return listing ? notify_listing(notify, inner->ino) : 0;
}

/* Begins with a directory. If Linux does not know it, Linux knows no names in it either. */
static int begin(struct wfs_notify *notify, struct wfs_bytes id, struct notify_inner *inner)
{
	int r = 0;

	if (wfs_bytes_equal(id, inner->id))
		return 0;
	r = notify_inner_end(notify, inner);
	if (r)
		return r;
	*inner = (struct notify_inner){.directory = inner->directory, .id = id};
	r = notify_look(notify, WFS_HEIGHT_HEAD, look_for_inner, inner);
	if (r || inner->ino == 0)
		return r;
	r = wfs_teller_inode(notify->teller, inner->ino, WFS_TELLER_ATTRIBUTES);
	if (r)
		inner->ino = 0;
	return notify_known(r);
}

/* --- steps of plans --- */

static int look_for_step(struct wfs_notify *notify, struct wfs_view *view, void *context)
{
	const struct notify_inner *const steps = context;

	wfs_buffer_reset(&notify->name);
	return wfs_session_plan_step_name(notify->tree->session, view, steps->key, &notify->name);
}

int notify_step(
	struct wfs_notify *notify, const struct wfs_change *change, struct notify_inner *steps)
{
	struct wfs_bytes plan_id;
	int64_t index;

	if (!wfs_plan_step_key(change->key, &plan_id, &index))
		return 0;
	int r = begin(notify, plan_id, steps);
	if (r || steps->ino == 0)
		return r;
	steps->key = change->key;
	steps->listing |= notify_names_changed(change);
	r = notify_look(notify, WFS_HEIGHT_HEAD, look_for_step, steps);
	return notify_known(r ? r
			      : notify_name(notify, steps->ino, wfs_buffer_text(&notify->name),
					notify->name.size));
}

/* --- entries of memory stores --- */

int notify_entry(
	struct wfs_notify *notify, const struct wfs_change *change, struct notify_inner *entries)
{
	char name[WFS_MEMORY_NAME_SIZE];
	struct wfs_bytes artifact_id;
	uint32_t number;

	if (!wfs_memory_entry_key(change->key, &artifact_id, &number))
		return 0;
	int r = begin(notify, artifact_id, entries);
	if (r || entries->ino == 0)
		return r;
	entries->listing |= notify_names_changed(change);
	wfs_memory_entry_name(number, name);
	return notify_name(notify, entries->ino, name, strlen(name));
}

int notify_store(
	struct wfs_notify *notify, const struct wfs_change *change, struct notify_inner *entries)
{
	return begin(notify, change->key, entries); /* the directory's time has changed */
}

static int look_for_type(struct wfs_notify *notify, struct wfs_view *view, void *context)
{
	bool *const is_store = ((void **)context)[0];
	const struct wfs_bytes *const id = ((void **)context)[1];
	int r = wfs_session_is_store(notify->tree->session, view, *id);

	*is_store = r > 0;
	return r < 0 ? r : 0;
}

int notify_store_type(struct wfs_notify *notify, const struct wfs_commit *commit,
	struct wfs_bytes id, uint64_t artifact_ino)
{
	const char *const name = wfs_entity_file_name(WFS_ENTITY_FILE_ENTRIES);
	struct notify_inner inner = {.directory = WFS_ENTITY_FILE_ENTRIES};
	bool before = false;
	bool now = false;
	void *context_before[] = {&before, &id};
	void *context_now[] = {&now, &id};
	int r = notify_look(notify, WFS_HEIGHT_HEAD, look_for_type, context_now);

	if (!r)
		r = notify_look(notify, commit->from_height, look_for_type, context_before);
	if (r == -ENOENT) { /* the height was dropped since */
		before = !now;
		r = 0;
	}
	if (!r && (before || now)) /* an empty `entries` has the time of the artifact's cell */
		r = begin(notify, id, &inner);
	return r || before == now ? r : notify_name(notify, artifact_ino, name, strlen(name));
}
