/* SPDX-License-Identifier: Apache-2.0 */
/* Queries of the kernel, of which everybody is told what his scope covers. */
#include "caps/session-impl.h"

#include "kernel/query-run.h"

static bool sees(void *context, const char *directory, const char *name)
{
	const struct wfs_session *const session = context;
	const struct wfs_bytes names[] = {wfs_bytes_text(directory), wfs_bytes_text(name)};

	return wfs_session_sees(session, WFS_EFFECT_ACTION_QUERY_KERNEL,
		       (struct wfs_path){names, WFS_ARRAY_COUNT(names)}, WFS_COVERAGE_WHOLE,
		       NULL) == 0;
}

int wfs_session_query(const struct wfs_session *session, struct wfs_view *view,
	const char *query_type, const json_t *params, json_t **ret_result, struct wfs_error *error)
{
	const struct wfs_query_sight sight = {.sees = sees, .context = (void *)session};
	struct wfs_query query;
	int r = wfs_session_judge(session, WFS_EFFECT_ACTION_QUERY_KERNEL, error);

	if (!r)
		r = wfs_query_check(query_type, params, &query, error);
	if (r)
		return r;
	return wfs_trace(wfs_query_run(
		view, &query, wfs_session_sees_all(session) ? NULL : &sight, ret_result, error));
}
