/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs about chats and plans. */
#include "fs/verb/verb-impl.h"
#include "kernel/base/json.h"

/* --- asking for a plan --- */

/* Where the tree is mounted; a mount of the same principal before others. @mounts: of the host's status */
static const char *mounted_at(const json_t *mounts, const char *principal)
{
	const char *directory = NULL;
	size_t i;
	const json_t *mount;

	json_array_foreach(mounts, i, mount)
	{
		if (strcmp(wfs_json_text(mount, "principal"), principal) == 0)
			return wfs_json_text(mount, "directory");
		if (!directory)
			directory = wfs_json_text(mount, "directory");
	}
	return directory;
}

/* The path of a checkpoint is that of its file, when there is a mount that shows it. */
static void set_path(const struct wfs_call *call, json_t *response)
{
	json_t *const checkpoint = json_object_get(response, "checkpoint");
	WFS_AUTO_JSON json_t *status = json_pack("{s:[]}", "mounts");
	const char *directory;

	if (!json_is_object(checkpoint) || !call->host || !call->host->status || !status)
		return;
	call->host->status(call->host, status);
	directory =
		mounted_at(json_object_get(status, "mounts"), wfs_session_principal(call->session));
	if (directory)
		(void)json_object_set_new(checkpoint, "path",
			json_sprintf("%s/plans/%s.json", directory,
				wfs_json_text(checkpoint, "plan_id")));
}

static void planned(struct wfs_drive *drive)
{
	set_path(drive->context, drive->result);
	wfs_verb_driven(drive);
}

int wfs_verb_chat(struct wfs_call *call)
{
	return wfs_verb_drive(call, WFS_DRIVE_CHAT, planned);
}

int wfs_verb_plan_import(struct wfs_call *call)
{
	return wfs_verb_drive(call, WFS_DRIVE_IMPORT, planned);
}

int wfs_verb_plan_resume(struct wfs_call *call)
{
	return wfs_verb_drive(call, WFS_DRIVE_RESUME, planned);
}

int wfs_verb_plan_cancel(struct wfs_call *call)
{
	return wfs_verb_order(call, wfs_session_plan_stop);
}

/* --- what there is --- */

/* A page of plans. */
struct plans_page {
	struct wfs_call *call;
	struct wfs_view *view;
	const char *session_id; /* NULL: of any */
	json_t *plans;          /* borrowed from the call's result */
	uint64_t limit;
	uint64_t cursor; /* behind the last that was looked at */
	size_t looked;   /* at plans, listed or not */
};

/* One of another session, or whose status is not seen, is passed over. */
static int add_plan(struct plans_page *page, struct wfs_bytes plan_id)
{
	WFS_AUTO_JSON json_t *summary = NULL;
	int r = wfs_session_plan(page->call->session, page->view, plan_id, &summary);

	if (r)
		return r == -ENOENT ? 0 : r;
	if (page->session_id && strcmp(wfs_json_text(summary, "session_id"), page->session_id) != 0)
		return 0;
	return json_array_append(page->plans, summary) < 0 ? -ENOMEM : 0;
}

/* Return: 1 when there is more, 0 at the end, or -errno. */
static int walk(struct plans_page *page)
{
	WFS_AUTO_SESSION_WALK struct wfs_session_walk walk = {.entity = WFS_ENTITY_PLAN};
	struct wfs_call *const call = page->call;
	struct wfs_entry entry;
	int r = wfs_session_entities(
		call->session, page->view, WFS_ENTITY_PLAN, page->cursor, &walk, &call->error);

	while (!r && (r = wfs_session_walk_next(&walk, &entry)) > 0) {
		if (json_array_size(page->plans) >= page->limit ||
			page->looked++ == WFS_VERB_SCAN_MAX)
			return 1;
		page->cursor = entry.cell_id;
		r = add_plan(page, entry.key);
	}
	return r;
}

int wfs_verb_plans(struct wfs_call *call)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	struct plans_page page = {.call = call, .view = &view};
	int r = wfs_verb_text(call, "session_id", &page.session_id);

	if (!r)
		r = wfs_verb_limit(call, WFS_VERB_PAGE_MAX, &page.limit);
	if (!r)
		r = wfs_verb_cursor(call, &page.cursor);
	if (!r)
		r = wfs_verb_view(call, NULL, &view);
	if (r)
		return r;
	page.plans = json_array();
	call->result = json_pack("{s:o}", "plans", page.plans);
	if (!call->result)
		return -ENOMEM;
	r = walk(&page);
	return r > 0 ? wfs_verb_cursor_set(call->result, page.cursor) : r;
}

/* What the principal's own session is about: the newest thing that was said in it. */
static int of_session(struct wfs_call *call, struct wfs_view *view, const char *session_id)
{
	int r = wfs_session_judge(call->session, WFS_EFFECT_PLAN_RUN, &call->error);

	if (!r)
		r = wfs_session_chat_status(call->session, view, session_id, &call->result);
	return r == -ENOENT ? wfs_error_set(&call->error, WFS_E_NOT_FOUND,
				      "Session '%.100s' not found", session_id)
			    : r;
}

int wfs_verb_plan_status(struct wfs_call *call)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	const char *plan_id = NULL;
	const char *session_id = NULL;
	int r = wfs_verb_text(call, "plan_id", &plan_id);

	if (!r)
		r = wfs_verb_text(call, "session_id", &session_id);
	if (!r && !plan_id == !session_id)
		return wfs_error_set(&call->error, WFS_E_INVALID_ARGUMENT,
			"expected one of 'plan_id' and 'session_id'");
	if (!r)
		r = wfs_verb_view(call, NULL, &view);
	if (r)
		return r;
	if (session_id)
		return of_session(call, &view, session_id);
	r = wfs_session_judge(call->session, WFS_EFFECT_INTROSPECT_REDUCER_STATE, &call->error);
	if (!r)
		r = wfs_session_plan(call->session, &view, wfs_bytes_text(plan_id), &call->result);
	return r == -ENOENT
		? wfs_error_set(&call->error, WFS_E_NOT_FOUND, "Plan '%.64s' not found", plan_id)
		: r;
}
