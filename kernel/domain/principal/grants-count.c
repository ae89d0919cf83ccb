/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts, in the cell of each principal, the agents that it has made and the grants that it has
 * passed on. The world bounds the number of both, so each principal gets its own lower bound: one
 * alone cannot use up the world's.
 */
#include "kernel/base/json.h"
#include "kernel/domain/principal/grants.h"
#include "kernel/domain/principal/payer.h"
#include "kernel/domain/principal/principal-impl.h"
#include "kernel/manifest/grant.h"

static const struct counted {
	const char *member; /* of the cell */
	const char *what;
	int64_t max;
} counted[] = {
	[GRANTS_COUNT_AGENTS] = {"agents", "agents that are principals", WFS_PRINCIPAL_AGENTS_MAX},
	[GRANTS_COUNT_PASSED_ON] = {"passed_on", "grants that it passed on",
		WFS_PRINCIPAL_PASSED_ON_MAX},
};

int grants_count(struct wfs_fold *fold, const char *principal, enum grants_count what, int amount,
	struct wfs_error *error)
{
	const struct counted *const row = &counted[what];
	WFS_AUTO_JSON json_t *document = NULL;
	size_t cell;

	if (fold->input.partial) /* some grants and agents would be missing */
		return 0;
	int r = fold_load(fold, WFS_BUILTIN_PRINCIPAL, principal, &cell, &document, error);

	if (r || !document) /* principals of the kernel itself have no cell */
		return wfs_trace(r);
	const json_int_t count =
		json_integer_value(json_object_get(document, row->member)) + amount;
	if (amount > 0 && count > row->max)
		return wfs_error_set(error, WFS_E_QUOTA_EXCEEDED,
			"'%s' has %lld %s, which is the most that one principal may have",
			principal, (long long)row->max, row->what);
	r = count > 0 ? json_object_set_new(document, row->member, json_integer(count))
		      : (json_object_del(document, row->member), 0);
	return r < 0 ? fold_no_memory(error)
		     : wfs_trace(fold_set_document(fold, cell, document, error));
}

/* --- agents --- */

/* Sets `requested_by` of an agent that a request makes: the requester or, if an agent sent the
 * request, the principal that this agent acts for (wfs_payer_maker). So agents that make agents
 * get no journal quota of their own. */
static int note_requester(
	struct wfs_fold *fold, const char *payer, json_t *agent, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *asker = NULL;
	const char *id = fold->input.principal;
	size_t cell;
	int r = fold_load(fold, WFS_BUILTIN_PRINCIPAL, id, &cell, &asker, error);

	if (r)
		return wfs_trace(r);
	const char *const maker = wfs_payer_maker(asker);
	if (maker)
		id = maker;
	return strcmp(id, payer) != 0 &&
			json_object_set_new(agent, "requested_by", json_string(id)) < 0
		? fold_no_memory(error)
		: 0;
}

int grants_make_agent(struct wfs_fold *fold, const char *id, const char *maker, const char *payer,
	struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *document =
		json_pack("{s:s, s:s, s:s}", "agent_of", payer, "created_by", maker, "id", id);
	size_t cell;

	if (!document)
		return fold_no_memory(error);
	if (fold_live_count(fold, WFS_BUILTIN_PRINCIPAL) >= WFS_PRINCIPALS_MAX)
		return wfs_error_set(error, WFS_E_QUOTA_EXCEEDED,
			"the world has %d principals, which is the most that there may be",
			WFS_PRINCIPALS_MAX);
	int r = note_requester(fold, payer, document, error);
	if (!r)
		r = grants_count(fold, payer, GRANTS_COUNT_AGENTS, 1, error);
	if (!r)
		r = fold_touch(fold, fold_builtin(fold, WFS_BUILTIN_PRINCIPAL), wfs_bytes_text(id),
			&cell, error);
	return wfs_trace(r ? r : fold_set_document(fold, cell, document, error));
}

/* Finds the owner of an agent. The author of an artifact of type agent chooses its id, which
 * others may take for the name of somebody else.
 * @ret_owner: caller owns it; NULL: the principal was not made with an artifact */
static int owner_of_agent(
	struct wfs_fold *fold, const char *id, json_t **ret_owner, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *principal = NULL;
	WFS_AUTO_JSON json_t *artifact = NULL;
	size_t cell;
	int r = fold_load(fold, WFS_BUILTIN_PRINCIPAL, id, &cell, &principal, error);
	json_t *const maker = json_object_get(principal, "agent_of");

	if (!r && maker)
		r = fold_load(fold, WFS_BUILTIN_ARTIFACT, id, &cell, &artifact, error);
	if (r)
		return wfs_trace(r);
	json_t *const owner = json_object_get(artifact, "owner");
	*ret_owner = maker ? json_incref(owner ? owner : maker) : NULL;
	return 0;
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
