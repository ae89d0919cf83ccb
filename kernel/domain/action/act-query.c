/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries within an action: code gets what its author sees, a principal what it sees itself. They
 * answer about the world before the record, because the indexes do not have the record's changes
 * yet.
 */
#include "kernel/domain/action/invoke.h"

/* Ends the query when the nest has taken as long as code may. */
static int goes_on(const void *context, struct wfs_error *error)
{
	const struct act *const act = context;
	const char *const name = act->within ? act->within->id : "query_kernel";
	int r = wfs_box_check(act->fold->box, name, error);

	return r ? r : nest_check_time(act, name, error);
}

/* Counts the query's work as instructions of the record, because it takes the thread that all
 * clients wait for. */
static int run_query(struct act *act, struct wfs_view *view, const struct wfs_query *query,
	const struct wfs_query_sight *sight, json_t **ret_result, struct wfs_error *error)
{
	struct wfs_lua_budget *const budget = &act->fold->budget;
	struct wfs_query_work work = {
		.most = budget->used < budget->instructions ? budget->instructions - budget->used
							    : 0,
		.goes_on = goes_on,
		.context = act,
	};
	int r = wfs_query_run(view, query, sight, &work, ret_result, error);

	budget->used += work.done;
	if (act->within && work.given_up)
		act->within->stopped = true;
	return wfs_trace(r);
}

int act_query(struct act *act, const char *type, const json_t *params, json_t **ret_result,
	struct wfs_error *error)
{
	struct wfs_fold *const fold = act->fold;
	struct wfs_view view = fold_view(fold);
	const struct invocation host = {
		.act = act, .id = "", .author = act->payer, .is_host = true};
	struct author_sight sight;
	struct wfs_query query;
	int r = wfs_query_check(type, params, &query, error);

	if (!r && act->within)
		r = author_may(act->within, WFS_EFFECT_ACTION_QUERY_KERNEL, NULL, error);
	if (!r)
		r = author_sight_init(&sight, act->within ? act->within : &host, error);
	if (r)
		return r;
	/* Otherwise the answer would depend on which records are committed together. */
	r = wfs_head_flush(fold->head, fold->manifest);
	if (r)
		return wfs_error_from_errno(error, r, "ask about the world");
	return wfs_trace(run_query(act, &view, &query,
		wfs_rights_see_all(sight.rights) ? NULL : &sight.sight, ret_result, error));
}

int act_action_query_kernel(struct act *act, struct wfs_error *error)
{
	const char *const type = act->params.action_query_kernel.query_type;
	int r = act_query(act, type, act->params.action_query_kernel.params, &act->data, error);

	act->unrecorded = true;
	if (!r)
		snprintf(act->message, sizeof(act->message), "Asked for %s", type);
	return wfs_trace(r);
}
