/* SPDX-License-Identifier: Apache-2.0 */
/* Plans and their steps, for a session. */
#include "caps/session-impl.h"
#include "kernel/base/json.h"

int wfs_session_plan(const struct wfs_session *session, struct wfs_view *view,
	struct wfs_bytes plan_id, json_t **ret_summary)
{
	WFS_AUTO_JSON json_t *state = NULL;
	struct wfs_version version;
	int r = wfs_session_entity_file(
		session, view, WFS_ENTITY_FILE_PLAN_STATUS, plan_id, &version);

	if (!r)
		r = wfs_view_state(view, &version, &state);
	if (r)
		return r;
	*ret_summary = wfs_plan_summary(state);
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

/* --- steps --- */

int wfs_session_plan_step_count(const struct wfs_session *session, struct wfs_view *view,
	struct wfs_bytes plan_id, uint64_t *ret_count)
{
	WFS_AUTO_JSON json_t *state = NULL;
	struct wfs_version version;
	int r = wfs_entity_source(view, WFS_ENTITY_FILE_PLAN_STEPS, plan_id, &version);

	(void)session;
	if (!r)
		r = wfs_view_state(view, &version, &state);
	if (r)
		return r;
	const json_int_t count = json_integer_value(json_object_get(state, "defined"));
	*ret_count = count > 0 ? (uint64_t)count : 0;
	return 0;
}

int session_sees_step(
	const struct wfs_session *session, struct wfs_view *view, const struct wfs_version *version)
{
	WFS_AUTO_BUFFER struct wfs_buffer name = {0};
	struct wfs_bytes plan_id;
	struct wfs_bytes reducer;
	struct wfs_bytes key;
	int64_t index;

	if (wfs_session_sees_all(session))
		return 0;
	int r = wfs_view_name(view, version, &reducer, &key);
	if (!r && !wfs_plan_step_key(key, &plan_id, &index))
		r = -ENOENT;
	if (!r)
		r = wfs_plan_step_name(view, version, index, &name);
	return r ? r
		 : session_sees_inner(
			   session, WFS_ENTITY_FILE_PLAN_STEPS, plan_id, wfs_buffer_bytes(&name));
}

int wfs_session_plan_step(const struct wfs_session *session, struct wfs_view *view,
	struct wfs_bytes plan_id, uint64_t index, struct wfs_buffer *name,
	struct wfs_version *ret_version)
{
	const size_t begin = name->size;
	struct wfs_version version;

	if (index >= WFS_PLAN_STEPS_MAX)
		return -ENOENT;
	int r = wfs_plan_step_at(view, plan_id, (int64_t)index, &version);
	if (!r)
		r = wfs_plan_step_name(view, &version, (int64_t)index, name);
	if (!r)
		r = session_sees_inner(session, WFS_ENTITY_FILE_PLAN_STEPS, plan_id,
			WFS_BYTES(name->data + begin, name->size - begin));
	if (!r)
		*ret_version = version;
	return r;
}

/* --- for dropping cached files --- */

int wfs_session_plan_step_name(const struct wfs_session *session, struct wfs_view *view,
	struct wfs_bytes key, struct wfs_buffer *buffer)
{
	struct wfs_version version;
	struct wfs_bytes plan_id;
	int64_t index;

	(void)session;
	if (!wfs_plan_step_key(key, &plan_id, &index))
		return -ENOENT;
	int r = wfs_plan_step_at(view, plan_id, index, &version);
	return r ? r : wfs_plan_step_name(view, &version, index, buffer);
}
