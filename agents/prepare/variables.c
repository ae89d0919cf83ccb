/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/prepare/variables.h"

#include "caps/driving.h"
#include "caps/session-query.h"
#include "caps/session.h"
#include "kernel/base/json.h"

enum { ARTIFACTS_MAX = 50 };

#define NONE "none"
#define UNLIMITED "unlimited"

#define no_memory(error) wfs_error_from_errno(error, -ENOMEM, "make the variables of a turn")

/* An empty document if the cell does not exist. */
static int read_own(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_builtin_reducer reducer, json_t **ret_document, struct wfs_error *error)
{
	int r = wfs_driving_own(session, view, reducer, ret_document, error);

	if (r != -ENOENT)
		return wfs_trace(r);
	*ret_document = json_object();
	return *ret_document ? 0 : no_memory(error);
}

/* Asks for a page of the artifacts that the agent owns. @ret_total: the number of all. Gives
 * nothing if the agent may not query. */
static int ask_artifacts(const struct wfs_session *session, struct wfs_view *view, int64_t offset,
	int64_t *ret_total, json_t **ret_rows, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *params = json_pack("{s:i, s:I, s:s}", "limit", ARTIFACTS_MAX,
		"offset", (json_int_t)offset, "owner", wfs_session_principal(session));
	WFS_AUTO_JSON json_t *result = NULL;
	const struct wfs_session_query query = {.type = "artifacts", .params = params};
	int r = params ? wfs_session_query(session, view, &query, &result, error)
		       : no_memory(error);

	*ret_total = json_integer_value(json_object_get(result, "total"));
	*ret_rows = json_incref(json_object_get(result, "results"));
	return r == -EACCES || r == -EOPNOTSUPP ? 0 : wfs_trace(r);
}

/* @ret_list: [{id, type}], the newest first; caller owns it */
static int list_artifacts(const struct wfs_session *session, struct wfs_view *view,
	json_t **ret_list, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *list = json_array();
	WFS_AUTO_JSON json_t *rows = NULL;
	int64_t total = 0;
	int r = list ? ask_artifacts(session, view, 0, &total, &rows, error) : no_memory(error);

	if (!r && total > ARTIFACTS_MAX) {
		json_decref(WFS_STEAL(rows));
		r = ask_artifacts(session, view, total - ARTIFACTS_MAX, &total, &rows, error);
	}
	if (r)
		return wfs_trace(r);
	for (size_t i = json_array_size(rows); i > 0; i--) {
		const json_t *const row = json_array_get(rows, i - 1);

		if (json_array_append_new(list,
			    json_pack("{s:O, s:O}", "id", json_object_get(row, "id"), "type",
				    json_object_get(row, "type"))) < 0)
			return no_memory(error);
	}
	*ret_list = WFS_STEAL(list);
	return 0;
}

/* NULL without memory. */
static json_t *remaining(const json_t *resources, const char *name)
{
	const json_t *const one = json_object_get(resources, name);
	const json_t *const quota = json_object_get(one, "quota");
	const json_int_t left =
		json_integer_value(quota) - json_integer_value(json_object_get(one, "used"));

	if (!quota)
		return json_string(UNLIMITED);
	return json_integer(left > 0 ? left : 0);
}

static json_t *or_none(json_t *value)
{
	return value && !json_is_null(value) ? json_incref(value) : json_string(NONE);
}

static json_t *number_of(const json_t *document, const char *member)
{
	return json_integer(json_integer_value(json_object_get(document, member)));
}

/* Documents that the variables are made from. Plain value; owned. */
struct facts {
	json_t *ledger;
	json_t *resources;
	json_t *agent;
	json_t *artifacts;
};

static void facts_done(struct facts *facts)
{
	json_decref(facts->ledger);
	json_decref(facts->resources);
	json_decref(facts->agent);
	json_decref(facts->artifacts);
}

static json_t *make(
	const struct facts *facts, const char *id, const struct wfs_view *view, const json_t *mind)
{
	const json_t *const action = json_object_get(facts->agent, "last_action");
	json_t *const states = json_object_get(mind, "states");

	return json_pack(
		"{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:O, s:s, s:o, s:I, s:o}",
		"agent_id", id, "available_states", states ? json_incref(states) : json_array(),
		"balance", number_of(facts->ledger, "scrip"), "current_state",
		or_none(json_object_get(mind, "state")), "disk_remaining",
		remaining(facts->resources, "disk"), "failure_count",
		number_of(facts->agent, "failure_count"), "last_action_result",
		or_none(json_object_get(action, "result")), "last_action_success",
		or_none(json_object_get(action, "success")), "last_action_type",
		or_none(json_object_get(action, "type")), "llm_tokens_remaining",
		remaining(facts->resources, "llm_tokens"), "my_artifacts", facts->artifacts,
		"recent_memories", NONE, "same_state_for",
		number_of(facts->agent, "same_state_for"), "tick", (json_int_t)view->height,
		"working_memory", or_none(json_object_get(mind, "working_memory")));
}

/* The result of the last action may be a private text. */
static int reveal_agent(const struct wfs_session *session, struct wfs_view *view,
	struct agents_origin *origin, json_t **agent, struct wfs_error *error)
{
	json_t *revealed;

	if (agents_origin_add_hidden(origin, *agent))
		return no_memory(error);
	int r = agents_reveal(session, view, *agent, &revealed, error);
	if (r)
		return r;
	json_decref(*agent);
	*agent = revealed;
	return 0;
}

int agents_variables(const struct wfs_session *session, struct wfs_view *view, const json_t *mind,
	struct agents_origin *origin, json_t **ret_variables, struct wfs_error *error)
{
	const char *const id = wfs_session_principal(session);
	WFS_CLEANUP(facts_done) struct facts facts = {.ledger = NULL};
	int r = read_own(session, view, WFS_BUILTIN_LEDGER, &facts.ledger, error);

	if (!r)
		r = read_own(session, view, WFS_BUILTIN_RESOURCE, &facts.resources, error);
	if (!r)
		r = read_own(session, view, WFS_BUILTIN_AGENT, &facts.agent, error);
	if (!r)
		r = reveal_agent(session, view, origin, &facts.agent, error);
	if (!r)
		r = list_artifacts(session, view, &facts.artifacts, error);
	if (r)
		return wfs_trace(r);
	*ret_variables = make(&facts, id, view, mind);
	return *ret_variables ? 0 : no_memory(error);
}
