/* SPDX-License-Identifier: Apache-2.0 */
#include "caps/session-timer.h"

#include "caps/caps-impl.h"
#include "caps/session-entity.h"
#include "kernel/base/json.h"
#include "kernel/domain/timer/timer.h"
#include "kernel/read/view-document.h"

static json_t *summary_of(const struct wfs_document_timer *timer)
{
	const char *const type = wfs_json_text(timer->action, "action_type");

	return json_pack("{s:s, s:s*, s:s, s:I, s:s, s:I, s:s}", "action_type",
		*type ? type : "private", "by", timer->by, "catch_up", timer->catch_up, "fired",
		(json_int_t)timer->fired, "id", timer->id, "next_ns", (json_int_t)timer->next_ns,
		"principal", timer->principal);
}

/* Return: 1, 0 (the session does not see it, or it is another principal's), or -errno. */
static int look_at(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_entry *entry, const char *principal, json_t **ret_summary)
{
	WFS_AUTO_DOCUMENT struct wfs_document_timer timer = {.own = {.json = NULL}};
	char name[WFS_TIMER_ID_MAX + sizeof(".json")];
	struct wfs_version version;
	int r = wfs_view_version(view, entry->vid, &version);

	if (!r)
		r = wfs_view_read_timer_version(view, &version, &timer, NULL);
	if (r || (principal && strcmp(principal, timer.principal) != 0))
		return r;
	struct wfs_session_item item = {
		.directory = WFS_ENTITY_FILE_TIMERS, .id = wfs_bytes_text(timer.principal)};
	snprintf(name, sizeof(name), "%s.json", timer.id);
	r = wfs_session_item(session, view, name, &item);
	if (r)
		return r == -ENOENT ? 0 : r;
	*ret_summary = summary_of(&timer);
	return *ret_summary ? 1 : -ENOMEM;
}

int wfs_session_timer_next(const struct wfs_session *session, struct wfs_view *view,
	const char *principal, uint64_t *cursor, uint64_t *left, json_t **ret_summary)
{
	WFS_AUTO_ENTRY_WALK struct wfs_entry_walk walk = {0};
	struct wfs_reducer reducer;
	struct wfs_entry entry;
	int r = wfs_view_builtin(view, WFS_BUILTIN_TIMER, &reducer);

	*ret_summary = NULL;
	if (!r)
		r = wfs_entry_walk_init(&walk, view, reducer.reducer_id, *cursor);
	if (r)
		return r == -ENOENT ? 0 : r; /* the manifest has no timers */
	while (*left > 0 && (r = wfs_entry_walk_next(&walk, &entry)) > 0) {
		(*left)--;
		*cursor = entry.cell_id;
		r = look_at(session, view, &entry, principal, ret_summary);
		if (r)
			return r;
	}
	return r < 0 ? r : *left == 0;
}
