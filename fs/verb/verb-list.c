/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs that list turns and plans: a summary of each, page by page. */
#include "caps/session-list.h"
#include "caps/session-query.h"
#include "caps/session-read.h"
#include "fs/verb/verb-impl.h"
#include "kernel/base/json.h"

/* Describes a list: turns or plans. */
struct kind {
	enum wfs_entity entity;
	const char *name;   /* of the list in the result */
	const char *member; /* of the payload: only summaries with an equal member are listed */
	int (*read)(const struct wfs_session *session, struct wfs_view *view, struct wfs_bytes id,
		json_t **ret_summary);
};

/* A page of the list. */
struct page {
	const struct kind *kind;
	struct wfs_call *call;
	struct wfs_view *view;
	const char *wanted; /* value of the member; NULL: any */
	json_t *summaries;  /* borrowed from the call's result */
	uint64_t limit;
	uint64_t cursor; /* after the last turn or plan that was looked at */
};

/* Adds a turn or plan to the page, unless it does not match, or the session may not see its
 * status. */
static int add(struct page *page, struct wfs_bytes id)
{
	WFS_AUTO_JSON json_t *summary = NULL;
	int r = page->kind->read(page->call->session, page->view, id, &summary);

	if (r)
		return r == -ENOENT ? 0 : r;
	if (page->wanted && strcmp(wfs_json_text(summary, page->kind->member), page->wanted) != 0)
		return 0;
	return json_array_append(page->summaries, summary) < 0 ? -ENOMEM : 0;
}

/* Fills the page. Return: 1 if more may follow, 0 at the end, or -errno. */
static int walk(struct page *page)
{
	WFS_AUTO_SESSION_WALK struct wfs_session_walk walk = {.entity = page->kind->entity};
	struct wfs_call *const call = page->call;
	struct wfs_entry entry;
	int r = wfs_session_entities(
		call->session, page->view, page->kind->entity, page->cursor, &walk, &call->error);

	walk.look_max = WFS_VERB_SCAN_MAX;
	while (!r && (r = wfs_session_walk_next(&walk, &entry)) > 0) {
		if (json_array_size(page->summaries) >= page->limit)
			return 1;
		page->cursor = entry.cell_id;
		r = add(page, entry.key);
	}
	if (!r && wfs_session_walk_cut(&walk)) {
		page->cursor = walk.cell_id;
		return 1;
	}
	return r;
}

static int list(struct wfs_call *call, const struct kind *kind)
{
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	struct page page = {.kind = kind, .call = call, .view = &view};
	int r = wfs_verb_limit(call, WFS_VERB_PAGE_MAX, &page.limit);

	page.wanted = wfs_verb_text(call, kind->member);
	if (!r)
		r = wfs_verb_cursor(call, &page.cursor);
	if (!r)
		r = wfs_verb_view(call, NULL, &view);
	if (r)
		return r;
	page.summaries = json_array();
	call->result = json_pack("{s:o}", kind->name, page.summaries);
	if (!call->result)
		return -ENOMEM;
	r = walk(&page);
	return r > 0 ? wfs_verb_cursor_set(call, page.cursor) : r;
}

int wfs_verb_turns(struct wfs_call *call)
{
	static const struct kind turns = {WFS_ENTITY_TURN, "turns", "agent", wfs_session_turn};

	return list(call, &turns);
}

int wfs_verb_plans(struct wfs_call *call)
{
	static const struct kind plans = {WFS_ENTITY_PLAN, "plans", "session_id", wfs_session_plan};

	return list(call, &plans);
}
