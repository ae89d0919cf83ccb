/* SPDX-License-Identifier: Apache-2.0 */
/* Answers queries. An answer shows what the files of the tree show to the same principal. */
#include "caps/caps-impl.h"

#include "caps/session-query.h"
#include "kernel/domain/action/action.h"
#include "kernel/domain/query/query-run.h"

static bool sees(void *context, const struct wfs_query_row *row)
{
	const struct wfs_sight *const sight = context;
	const struct wfs_question asks = {.effect = WFS_EFFECT_ACTION_QUERY_KERNEL,
		.origin = sight->origin,
		.now_ns = sight->now_ns,
		.of_any = true};

	return wfs_query_shows(sight->rights, &asks, row);
}

static int reads(void *context, const struct wfs_document_artifact *artifact)
{
	const struct wfs_sight *const sight = context;

	return wfs_rights_administer(sight->rights, sight->now_ns) ||
		wfs_artifact_reads(artifact, wfs_rights_principal(sight->rights));
}

static int goes_on(const void *context, struct wfs_error *error)
{
	const atomic_bool *const gone = context;

	return gone && atomic_load(gone)
		? wfs_error_set(error, WFS_E_CANCELLED,
			  "the client does not wait for the answer any more")
		: 0;
}

int wfs_session_query(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_session_query *query, json_t **ret_result, struct wfs_error *error)
{
	WFS_AUTO_SIGHT struct wfs_sight sight = {.rights = NULL};
	const struct wfs_query_sight limited = {.sees = sees, .reads = reads, .context = &sight};
	struct wfs_query_work work = {
		.most = UINT64_MAX, .goes_on = goes_on, .context = query->gone};
	struct wfs_query checked;
	int r = wfs_session_judge(session, WFS_EFFECT_ACTION_QUERY_KERNEL, error);

	if (!r)
		r = wfs_query_check(query->type, query->params, &checked, error);
	if (r)
		return r;
	r = session_look(session, &sight);
	if (r)
		return wfs_error_from_errno(error, r, "answer a query");
	return wfs_trace(wfs_query_run(view, &checked,
		wfs_rights_see_all(sight.rights) ? NULL : &limited, &work, ret_result, error));
}
