/* SPDX-License-Identifier: Apache-2.0 */
/* Listings, for a session. */
#include "caps/session-list.h"

#include "caps/caps-impl.h"

/* Begins a walk over the cells of the reducer. @walk: its name and entity are set; ended if this
 * fails */
static int walk_begin(const struct wfs_session *session, struct wfs_view *view, uint32_t reducer_id,
	uint64_t after_id, struct wfs_session_walk *walk, struct wfs_error *error)
{
	struct wfs_question question = {.height = 0};

	walk->sight = calloc(1, sizeof(*walk->sight));
	int r = walk->sight ? session_look(session, walk->sight) : -ENOMEM;
	if (!r) {
		const struct wfs_verdict verdict =
			wfs_sight_listing(walk->sight, walk->reducer, &question);
		r = session_refused(session, walk->sight->rights, &question, &verdict, error);
	}
	if (!r)
		r = wfs_entry_walk_init(&walk->entries, view, reducer_id, after_id);
	if (r)
		wfs_session_walk_done(walk);
	return r;
}

int wfs_session_cells(const struct wfs_session *session, struct wfs_view *view, uint32_t reducer_id,
	uint64_t after_id, struct wfs_session_walk *ret_walk, struct wfs_error *error)
{
	struct wfs_session_walk walk = {.entity = WFS_ENTITIES_MAX};
	int r = session_reducer_name(view, reducer_id, &walk.reducer);

	if (!r)
		r = walk_begin(session, view, reducer_id, after_id, &walk, error);
	if (!r)
		*ret_walk = walk;
	return r;
}

int wfs_session_entities(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity entity, uint64_t after_id, struct wfs_session_walk *ret_walk,
	struct wfs_error *error)
{
	const enum wfs_builtin_reducer builtin = wfs_entity_reducer(entity);
	struct wfs_session_walk walk = {
		.entity = entity, .reducer = wfs_bytes_text(wfs_builtin_reducer_name(builtin))};
	struct wfs_reducer reducer;
	int r = wfs_view_builtin(view, builtin, &reducer);

	if (!r)
		r = walk_begin(session, view, reducer.reducer_id, after_id, &walk, error);
	if (!r)
		*ret_walk = walk;
	return r;
}

int wfs_session_lists(
	const struct wfs_session *session, enum wfs_entity_file directory, struct wfs_error *error)
{
	const char *const name = wfs_builtin_reducer_name(wfs_entity_file_reducer(directory));
	WFS_AUTO_SIGHT struct wfs_sight sight = {.rights = NULL};
	struct wfs_question question = {.height = 0};
	int r = session_look(session, &sight);

	if (r)
		return r;
	const struct wfs_verdict verdict =
		wfs_sight_listing(&sight, wfs_bytes_text(name), &question);
	return session_refused(session, sight.rights, &question, &verdict, error);
}

/* Is any part of the entry seen? Return: 1, 0, or -ENOMEM. */
static int sees_entry(struct wfs_session_walk *walk, struct wfs_bytes key)
{
	int beside = 0;
	int r;

	if (walk->entity == WFS_ENTITIES_MAX)
		return wfs_sight_cell(walk->sight, walk->reducer, key);
	r = wfs_sight_entity(walk->sight, walk->entity, key);
	if (r >= 0 && walk->entity == WFS_ENTITY_PLAN)
		beside = wfs_sight_entity_file(walk->sight, WFS_ENTITY_FILE_PLAN_BESIDE, key);
	walk->sees_directory = r > 0;
	walk->sees_beside = beside > 0;
	return r ? r : beside;
}

int wfs_session_walk_next(struct wfs_session_walk *walk, struct wfs_entry *ret_entry)
{
	int r = 0;

	while (!wfs_session_walk_cut(walk) &&
		(r = wfs_entry_walk_next(&walk->entries, ret_entry)) > 0) {
		walk->looked_at++;
		walk->cell_id = ret_entry->cell_id;
		r = sees_entry(walk, ret_entry->key);
		if (r)
			return r;
	}
	return r;
}

void wfs_session_walk_done(struct wfs_session_walk *walk)
{
	wfs_entry_walk_done(&walk->entries);
	if (walk->sight)
		wfs_sight_done(walk->sight);
	free(walk->sight);
}
