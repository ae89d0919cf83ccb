/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts, in the cell of each principal, the agents that it has made, the grants that it has passed
 * on, and its calls of outside tools. The world bounds the number of each, so each principal gets
 * its own lower bound: one alone cannot use up the world's.
 */
#include "kernel/base/json.h"
#include "kernel/domain/principal/grants.h"
#include "kernel/domain/principal/payer.h"
#include "kernel/domain/principal/principal-impl.h"
#include "kernel/manifest/grant.h"

static const struct counted {
	const char *what;
	int64_t max;
} counted[] = {
	[GRANTS_COUNT_AGENTS] = {"agents that are principals", WFS_PRINCIPAL_AGENTS_MAX},
	[GRANTS_COUNT_PASSED_ON] = {"grants that it passed on", WFS_PRINCIPAL_PASSED_ON_MAX},
	[GRANTS_COUNT_OUTSIDE] = {"calls of outside tools that have no answer, or an unknown one",
		WFS_PRINCIPAL_OUTSIDE_MAX},
};

int grants_count(struct wfs_fold *fold, const char *principal, enum grants_count what, int amount,
	struct wfs_error *error)
{
	const struct counted *const row = &counted[what];
	WFS_AUTO_DOCUMENT struct wfs_document_principal document = {.own = {.json = NULL}};
	int64_t *const places[] = {[GRANTS_COUNT_AGENTS] = &document.agents,
		[GRANTS_COUNT_PASSED_ON] = &document.passed_on,
		[GRANTS_COUNT_OUTSIDE] = &document.outside};
	int64_t *const place = places[what];

	if (fold->input.partial) /* some grants and agents would be missing */
		return 0;
	int r = fold_read_principal(fold, principal, &document, error);

	if (r || !document.own.json) /* principals of the kernel itself have no cell */
		return wfs_trace(r);
	const int64_t count = (*place > 0 ? *place : 0) + amount;
	if (amount > 0 && count > row->max)
		return wfs_error_set(error, WFS_E_QUOTA_EXCEEDED,
			"'%s' has %lld %s, which is the most that one principal may have",
			principal, (long long)row->max, row->what);
	*place = count > 0 ? count : -1;
	return wfs_trace(fold_write_principal(fold, &document, error));
}

int grants_count_outside(
	struct wfs_fold *fold, const char *principal, int amount, struct wfs_error *error)
{
	return wfs_trace(grants_count(fold, principal, GRANTS_COUNT_OUTSIDE, amount, error));
}

/* --- agents --- */

/* Sets `requested_by` of an agent that a request makes: the requester or, if an agent sent the
 * request, the principal that this agent acts for (wfs_payer_maker). So agents that make agents
 * get no journal quota of their own. */
static int note_requester(struct wfs_fold *fold, struct wfs_document_principal *agent,
	char requester[static WFS_GRANT_NAME_MAX + 1], struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_principal asker;
	int r = fold_read_principal(fold, fold->input.principal, &asker, error);
	const char *const maker = wfs_payer_maker(&asker);

	snprintf(requester, WFS_GRANT_NAME_MAX + 1, "%s", maker ? maker : fold->input.principal);
	if (strcmp(requester, agent->agent_of) != 0)
		agent->requested_by = requester;
	return wfs_trace(r);
}

int grants_make_agent(struct wfs_fold *fold, const char *id, const char *maker, const char *payer,
	struct wfs_error *error)
{
	struct wfs_document_principal document = {.agent_of = payer,
		.agents = -1,
		.created_by = maker,
		.id = id,
		.outside = -1,
		.passed_on = -1};
	char requester[WFS_GRANT_NAME_MAX + 1];

	if (fold_live_count(fold, WFS_BUILTIN_PRINCIPAL) >= WFS_PRINCIPALS_MAX)
		return wfs_error_set(error, WFS_E_QUOTA_EXCEEDED,
			"the world has %d principals, which is the most that there may be",
			WFS_PRINCIPALS_MAX);
	int r = note_requester(fold, &document, requester, error);
	if (!r)
		r = grants_count(fold, payer, GRANTS_COUNT_AGENTS, 1, error);
	return wfs_trace(r ? r : fold_put_principal(fold, id, &document, error));
}

/* Finds the owner of an agent. The author of an artifact of type agent chooses its id, which
 * others may take for the name of somebody else.
 * @ret_owner: caller owns it; NULL: the principal was not made with an artifact */
static int owner_of_agent(
	struct wfs_fold *fold, const char *id, json_t **ret_owner, struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_principal principal;
	WFS_AUTO_DOCUMENT struct wfs_document_artifact artifact = {.own.json = NULL};
	int r = fold_read_principal(fold, id, &principal, error);

	if (!r && principal.agent_of)
		r = fold_read_artifact(fold, id, &artifact, error);
	if (r || !principal.agent_of)
		return wfs_trace(r);
	*ret_owner = json_string(artifact.owner ? artifact.owner : principal.agent_of);
	return *ret_owner ? 0 : fold_no_memory(error);
}

static bool is_requester(const struct wfs_fold *fold, const json_t *owner)
{
	return strcmp(json_string_value(owner), fold->input.principal) == 0;
}

int grants_check_agent(struct wfs_fold *fold, const json_t *grant, struct wfs_error *error)
{
	const char *const to = wfs_json_text(grant, "to");
	const json_t *const said = json_object_get(grant, "to_artifact_of");
	WFS_AUTO_JSON json_t *owner = NULL;
	int r = owner_of_agent(fold, to, &owner, error);

	if (r)
		return wfs_trace(r);
	if (!owner)
		return said ? wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				      "'to_artifact_of': the principal '%s' was not made with an "
				      "artifact",
				      to)
			    : 0;
	if (json_equal(owner, said) || (!said && is_requester(fold, owner)))
		return 0;
	return wfs_error_set(error, WFS_E_CONFLICT,
		"'%s' is an agent that belongs to '%s': to grant something to it say so with "
		"'to_artifact_of' (--to-artifact-of %s)",
		to, json_string_value(owner), json_string_value(owner));
}

int grants_check_declared(struct wfs_fold *fold, const char *id, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *owner = NULL;
	int r = owner_of_agent(fold, id, &owner, error);

	if (r || !owner || is_requester(fold, owner))
		return wfs_trace(r);
	return wfs_error_set(error, WFS_E_CONFLICT,
		"principals: '%s' is an agent that belongs to '%s', and only that owner can "
		"declare it: choose another id, or leave it out and grant with 'to_artifact_of' "
		"(worldfs grant --to-artifact-of %s)",
		id, json_string_value(owner), json_string_value(owner));
}
