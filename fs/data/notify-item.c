/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notifying Linux of directories within that of an entity, such as `steps` of plans and `entries`
 * of memory stores, after a commit: of each name as it comes in the commit, and then of the
 * listing.
 */
#include "fs/data/notify-impl.h"

#include "caps/unjudged.h"

static int look_for_directory(struct wfs_notify *notify, struct wfs_view *view, void *context)
{
	struct notify_items *const items = context;
	uint64_t number;
	int r = wfs_unjudged_entity_number(
		view, wfs_entity_file_entity(items->directory), items->id, &number);

	(void)notify;
	if (!r && !wfs_tree_items_ino(items->directory, number, &items->ino))
		items->ino = 0;
	return notify_known(r);
}

int notify_items_end(struct wfs_notify *notify, struct notify_items *items)
{
	const bool listing = items->listing && items->ino != 0;

	items->listing = false;
	return listing ? notify_listing(notify, items->ino) : 0;
}

/* If Linux does not know the directory, Linux knows no names in it either. */
int notify_items_begin(struct wfs_notify *notify, struct wfs_bytes id, struct notify_items *items)
{
	int r = 0;

	if (wfs_bytes_equal(id, items->id))
		return 0;
	r = notify_items_end(notify, items);
	if (r)
		return r;
	*items = (struct notify_items){.directory = items->directory, .id = id};
	r = notify_look(notify, WFS_HEIGHT_HEAD, look_for_directory, items);
	if (r || items->ino == 0)
		return r;
	r = wfs_teller_inode(notify->teller, items->ino, WFS_TELLER_ATTRIBUTES);
	if (r)
		items->ino = 0;
	return notify_known(r);
}

/* The file whose cell has changed. Plain value. */
struct item {
	enum wfs_entity_file directory;
	struct wfs_bytes key; /* of its cell */
	struct wfs_bytes id;  /* of its entity, borrowed from `key` */
};

/* @view: NULL: finds only the entity */
static int look_for_item(struct wfs_notify *notify, struct wfs_view *view, void *context)
{
	struct item *const item = context;

	wfs_buffer_reset(&notify->name);
	return wfs_unjudged_item_name(view, item->directory, item->key, &item->id, &notify->name);
}

int notify_item(
	struct wfs_notify *notify, const struct wfs_change *change, struct notify_items *items)
{
	struct item item = {.directory = items->directory, .key = change->key};
	int r = look_for_item(notify, NULL, &item);

	if (!r)
		r = notify_items_begin(notify, item.id, items);
	if (r || items->ino == 0)
		return notify_known(r);
	items->listing |= notify_names_changed(change);
	r = notify_look(notify, WFS_HEIGHT_HEAD, look_for_item, &item);
	return notify_known(r ? r
			      : notify_name(notify, items->ino, wfs_buffer_text(&notify->name),
					notify->name.size));
}

/* --- memory stores --- */

static int look_for_type(struct wfs_notify *notify, struct wfs_view *view, void *context)
{
	bool *const is_store = ((void **)context)[0];
	const struct wfs_bytes *const id = ((void **)context)[1];
	int r = wfs_unjudged_is_store(view, *id);

	(void)notify;
	*is_store = r > 0;
	return r < 0 ? r : 0;
}

int notify_store_type(struct wfs_notify *notify, const struct wfs_commit *commit,
	struct wfs_bytes id, uint64_t artifact_ino)
{
	const char *const name = wfs_entity_file_name(WFS_ENTITY_FILE_ENTRIES);
	struct notify_items items = {.directory = WFS_ENTITY_FILE_ENTRIES};
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
		r = notify_items_begin(notify, id, &items);
	return r || before == now ? r : notify_name(notify, artifact_ino, name, strlen(name));
}
