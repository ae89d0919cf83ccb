/* SPDX-License-Identifier: Apache-2.0 */
/* Plans and their steps, for a session. */
#include "caps/caps-impl.h"
#include "caps/seen.h"
#include "caps/session-entity.h"
#include "caps/session-query.h"
#include "kernel/domain/plan/plan-read.h"

int wfs_session_plan(const struct wfs_session *session, struct wfs_view *view,
	struct wfs_bytes plan_id, json_t **ret_summary)
{
	WFS_AUTO_DOCUMENT struct wfs_document_plan plan = {.own = {.json = NULL}};
	struct wfs_seen seen;
	int r = wfs_session_entity_file(session, view, WFS_ENTITY_FILE_PLAN_STATUS, plan_id, &seen);

	if (!r)
		r = wfs_view_read_plan_version(view, &seen.version, &plan, NULL);
	if (r)
		return r;
	*ret_summary = wfs_plan_summary(&plan);
	return *ret_summary ? 0 : -ENOMEM;
}

int wfs_session_gets_plan(const struct wfs_session *session, const char *plan_id)
{
	struct wfs_question question = {.effect = WFS_EFFECT_PLAN_RUN};
	struct wfs_error ignored = {0};
	int r = session_claim_plan(session, plan_id, &question, &ignored);

	if (r || question.claim == WFS_CLAIM_MADE)
		return r ? wfs_trace(r) : 1;
	r = session_sees_file(session, WFS_ENTITY_FILE_PLAN_STATUS, wfs_bytes_text(plan_id));
	return r == -ENOENT ? 0 : r ? wfs_trace(r) : 1;
}
