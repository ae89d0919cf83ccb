/* SPDX-License-Identifier: Apache-2.0 */
/* The verb that lists turns. */
#include "fs/verb/verb-impl.h"
#include "kernel/base/json.h"

/* A page of turns. */
struct turns_page {
	struct wfs_call *call;
	struct wfs_view *view;
	const char *agent; /* NULL: of any */
	json_t *turns;     /* borrowed from the call's result */
	uint64_t limit;
	uint64_t cursor; /* behind the last that was looked at */
	size_t looked;   /* at turns, listed or not */
};

/* One that is of somebody else, or whose status is not seen, is passed over. */
static int add_turn(struct turns_page *page, struct wfs_bytes turn_id)
{
	WFS_AUTO_JSON json_t *summary = NULL;
	int r = wfs_session_turn(page->call->session, page->view, turn_id, &summary);

	if (r)
		return r == -ENOENT ? 0 : r;
	if (page->agent &&
		strcmp(json_string_value(json_object_get(summary, "agent")), page->agent) != 0)
		return 0;
	return json_array_append(page->turns, summary) < 0 ? -ENOMEM : 0;
}

/* Return: 1 when there is more, 0 at the end, or -errno. */
static int walk(struct turns_page *page)
{
	WFS_AUTO_SESSION_WALK struct wfs_session_walk walk = {.entity = WFS_ENTITY_TURN};
	struct wfs_call *const call = page->call;
	struct wfs_entry entry;
	int r = wfs_session_entities(
		call->session, page->view, WFS_ENTITY_TURN, page->cursor, &walk, &call->error);

	while (!r && (r = wfs_session_walk_next(&walk, &entry)) > 0) {
		if (json_array_size(page->turns) >= page->limit ||
			page->looked++ == WFS_VERB_SCAN_MAX)
			return 1;
		page->cursor = entry.cell_id;
		r = add_turn(page, entry.key);
	}
	return r;
}

int wfs_verb_turns(struct wfs_call *call)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	struct turns_page page = {.call = call, .view = &view};
	int r = wfs_verb_text(call, "agent", &page.agent);

	if (!r)
		r = wfs_verb_limit(call, WFS_VERB_PAGE_MAX, &page.limit);
	if (!r)
		r = wfs_verb_cursor(call, &page.cursor);
	if (!r)
		r = wfs_verb_view(call, NULL, &view);
	if (r)
		return r;
	page.turns = json_array();
	call->result = json_pack("{s:o}", "turns", page.turns);
	if (!call->result)
		return -ENOMEM;
	r = walk(&page);
	return r > 0 ? wfs_verb_cursor_set(call->result, page.cursor) : r;
}
