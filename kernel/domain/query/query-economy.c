/* SPDX-License-Identifier: Apache-2.0 */
/* Queries about principals: scrip, resources, quotas, the mint. */
#include "kernel/domain/query/query-impl.h"
#include "kernel/manifest/grant.h"
#include "kernel/manifest/manifest.h"
#include "kernel/read/index.h"
#include "kernel/store/row-name.h"

static const char *const resources[] = {
#define RESOURCE_NAME(constant, name) #name,
	WFS_RESOURCES(RESOURCE_NAME)
#undef RESOURCE_NAME
};

static json_t *scrip_of(const json_t *ledger)
{
	return json_integer(json_integer_value(json_object_get(ledger, "scrip")));
}

/* --- principals --- */

/* The first ids of principals, and how many there are. */
struct listing {
	uint64_t total;
	json_t *ids; /* owned */
};

static int list_principal(struct query_run *run, const struct wfs_entry *entry, void *context)
{
	struct listing *const listing = context;

	listing->total++;
	if (json_array_size(listing->ids) >= (size_t)run->query->principals.limit)
		return !run->sight; /* without a sight the reducer has the total */
	return json_array_append_new(listing->ids, query_text(entry->key)) < 0 ? -ENOMEM : 0;
}

int query_principals(struct query_run *run)
{
	WFS_AUTO_JSON json_t *ids = json_array();
	struct listing listing = {.ids = ids};
	struct wfs_reducer reducer;
	int r = ids ? wfs_view_builtin(run->view, WFS_BUILTIN_LEDGER, &reducer) : -ENOMEM;

	if (!r)
		r = query_each(run, WFS_QUERY_PART_PRINCIPAL, list_principal, &listing);
	if (!r)
		r = query_set(run, "total",
			json_integer(
				(json_int_t)(run->sight ? listing.total : reducer.live_count)));
	if (!r)
		r = query_set(run, "returned", json_integer((json_int_t)json_array_size(ids)));
	return wfs_trace(r ? r : query_set(run, "results", json_incref(ids)));
}

/* Sets whether an id is that of a principal, an artifact with an account, or one internal to the
 * kernel. */
static int type_of(struct query_run *run, const char *id, json_t **ret_type)
{
	WFS_AUTO_JSON json_t *artifact = NULL;
	int r = query_state(run, WFS_BUILTIN_ARTIFACT, id, &artifact);

	if (r && r != -ENOENT)
		return wfs_trace(r);
	if (!r)
		*ret_type = json_string("artifact");
	else
		*ret_type = json_string(wfs_id_internal(id) ? "internal" : "principal");
	return 0;
}

int query_principal_info(struct query_run *run)
{
	const char *const id = run->query->principal.principal_id;
	WFS_AUTO_JSON json_t *ledger = NULL;
	json_t *type = NULL;
	int r = query_principal(run, WFS_QUERY_PART_PRINCIPAL, id, &ledger);
	const bool exists = r == 0;

	if (r && r != -ENOENT)
		return wfs_trace(r);
	r = query_set(run, "principal_id", json_string(id));
	if (!r)
		r = query_set(run, "exists", json_boolean(exists));
	if (!r && exists)
		r = query_set(run, "scrip", scrip_of(ledger));
	if (!r && exists)
		r = type_of(run, id, &type);
	if (!r && exists)
		r = query_set(run, "type", type);
	return wfs_trace(r);
}

/* --- scrip --- */

static int add_balance(struct query_run *run, const struct wfs_entry *entry, void *context)
{
	WFS_AUTO_JSON json_t *ledger = NULL;
	WFS_AUTO_JSON json_t *id = query_text(entry->key);
	int r = id ? query_entry_state(run, entry, &ledger) : -ENOMEM;

	if (!r &&
		json_object_setn_new_nocheck(context, json_string_value(id), json_string_length(id),
			scrip_of(ledger)) < 0)
		r = -ENOMEM;
	return wfs_trace(r);
}

int query_balances(struct query_run *run)
{
	const char *const id = run->query->balances.principal_id;
	WFS_AUTO_JSON json_t *ledger = NULL;
	WFS_AUTO_JSON json_t *balances = NULL;
	int r;

	if (!id) {
		balances = json_object();
		r = query_each(run, WFS_QUERY_PART_PRINCIPAL, add_balance, balances);
		return wfs_trace(r ? r : query_set(run, "balances", json_incref(balances)));
	}
	r = query_principal(run, WFS_QUERY_PART_PRINCIPAL, id, &ledger);
	if (!r)
		r = query_set(run, "principal_id", json_string(id));
	return wfs_trace(r ? r : query_set(run, "scrip", scrip_of(ledger)));
}

/* --- resources --- */

/* A principal's quota and use of one resource. */
struct share {
	bool limited;
	json_int_t quota;
	json_int_t used;
};

static struct share share_of(const json_t *state, const char *resource)
{
	const json_t *const entry = json_object_get(state, resource);
	const json_t *const quota = json_object_get(entry, "quota");

	return (struct share){
		.limited = json_is_integer(quota),
		.quota = json_integer_value(quota),
		.used = json_integer_value(json_object_get(entry, "used")),
	};
}

static json_t *used_of(const struct share *share)
{
	return share->limited ? json_pack("{s:I, s:I}", "used", share->used, "quota", share->quota)
			      : json_pack("{s:I, s:n}", "used", share->used, "quota");
}

static json_t *quota_of(const struct share *share)
{
	const json_int_t left = share->quota > share->used ? share->quota - share->used : 0;

	return share->limited
		? json_pack("{s:I, s:I, s:I}", "quota", share->quota, "used", share->used,
			  "available", left)
		: json_pack("{s:n, s:I, s:n}", "quota", "used", share->used, "available");
}

json_t *wfs_query_quotas(const json_t *state)
{
	WFS_AUTO_JSON json_t *quotas = json_object();

	for (size_t i = 0; i < WFS_ARRAY_COUNT(resources); i++) {
		const struct share share = share_of(state, resources[i]);

		if (json_object_set_new(quotas, resources[i], quota_of(&share)) < 0)
			return NULL;
	}
	return WFS_STEAL(quotas);
}

static bool is_resource(const char *name)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(resources); i++)
		if (strcmp(resources[i], name) == 0)
			return true;
	return false;
}

/* Reads the resources of a principal; one without a cell has used nothing. */
static int shares_state(struct query_run *run, const char *id, json_t **ret_state)
{
	int r = query_state(run, WFS_BUILTIN_RESOURCE, id, ret_state);

	return r == -ENOENT ? 0 : wfs_trace(r);
}

/* Answers `resources` and `quotas`, which differ only in @show. @resource: NULL: all of them */
static int set_shares(struct query_run *run, const char *id, const char *resource,
	const char *missing, json_t *(*show)(const struct share *share))
{
	WFS_AUTO_JSON json_t *ledger = NULL;
	WFS_AUTO_JSON json_t *state = NULL;
	WFS_AUTO_JSON json_t *shares = json_object();
	int r = query_principal(run, WFS_QUERY_PART_RESOURCE, id, &ledger);

	if (!r && resource && !is_resource(resource)) {
		WFS_AUTO_BUFFER struct wfs_buffer names = {0};

		for (size_t i = 0; i < WFS_ARRAY_COUNT(resources); i++)
			wfs_buffer_printf(&names, "%s%s", i > 0 ? ", " : "", resources[i]);
		r = wfs_error_set(run->error, WFS_E_NOT_FOUND,
			"%s '%.200s' not found. Available: %s", missing, resource,
			wfs_buffer_text(&names));
	}
	if (!r)
		r = shares_state(run, id, &state);
	for (size_t i = 0; !r && i < WFS_ARRAY_COUNT(resources); i++) {
		const struct share share = share_of(state, resources[i]);

		if (resource && strcmp(resource, resources[i]) != 0)
			continue;
		r = json_object_set_new(shares, resources[i], show(&share)) < 0 ? -ENOMEM : 0;
	}
	return wfs_trace(
		r ? r : query_set(run, wfs_query_name(run->query->type), json_incref(shares)));
}

int query_resources(struct query_run *run)
{
	return set_shares(run, run->query->resources.principal_id, run->query->resources.resource,
		"Resource", used_of);
}

int query_quotas(struct query_run *run)
{
	return set_shares(run, run->query->quotas.principal_id, run->query->quotas.resource,
		"Quota for", quota_of);
}

bool wfs_query_frozen(const json_t *state)
{
	const struct share share = share_of(state, "llm_tokens");

	return share.limited && share.used >= share.quota;
}

static int add_frozen(struct query_run *run, const struct wfs_entry *entry, void *context)
{
	WFS_AUTO_JSON json_t *state = NULL;
	int r = query_entry_state(run, entry, &state);

	if (!r && wfs_query_frozen(state) &&
		json_array_append_new(context, query_text(entry->key)) < 0)
		r = -ENOMEM;
	return wfs_trace(r);
}

int query_frozen(struct query_run *run)
{
	const char *const id = run->query->frozen.agent_id;
	WFS_AUTO_JSON json_t *ledger = NULL;
	WFS_AUTO_JSON json_t *state = NULL;
	WFS_AUTO_JSON json_t *agents = NULL;
	int r;

	if (!id) {
		agents = json_array();
		r = query_each(run, WFS_QUERY_PART_RESOURCE, add_frozen, agents);
		return wfs_trace(r ? r : query_set(run, "frozen_agents", json_incref(agents)));
	}
	r = query_principal(run, WFS_QUERY_PART_RESOURCE, id, &ledger);
	if (!r)
		r = shares_state(run, id, &state);
	if (!r)
		r = query_set(run, "agent_id", json_string(id));
	return wfs_trace(r ? r : query_set(run, "frozen", json_boolean(wfs_query_frozen(state))));
}

/* --- the mint --- */

/* Reads a bid if the artifact that it is for is seen. Return: 1, 0, -errno. */
static int bid_at(
	struct query_run *run, uint64_t cell_id, struct wfs_cell *ret_cell, json_t **ret_state)
{
	WFS_AUTO_JSON json_t *state = NULL;
	int r = wfs_cell_get(run->view->txn, cell_id, ret_cell);
	const struct wfs_entry entry = {.vid = r ? 0 : ret_cell->head_vid};

	if (!r)
		r = query_entry_state(run, &entry, &state);
	if (r)
		return wfs_trace(wfs_row_needed(run->view->txn, r));
	const json_t *const id = json_object_get(state, "artifact_id");
	if (!query_sees_listed(run, WFS_QUERY_PART_BID,
		    WFS_BYTES(json_string_value(id), json_string_length(id))))
		return 0;
	*ret_state = WFS_STEAL(state);
	return 1;
}

/* Bids are sealed: the answer has only their number. */
static int set_current(struct query_run *run, const struct wfs_index_set *set)
{
	WFS_AUTO_INDEX_WALK struct wfs_index_walk walk = {0};
	struct wfs_index_sum sum;
	uint64_t cell_id;
	int r = wfs_index_sum_get(run->view->txn, set, &sum);

	if (!r && run->sight) {
		sum.count = 0;
		r = wfs_index_walk_init(&walk, run->view->txn, set, true);
		while (!r && (r = wfs_index_walk_next(&walk, &cell_id)) > 0) {
			WFS_AUTO_JSON json_t *state = NULL;
			struct wfs_cell cell;

			r = bid_at(run, cell_id, &cell, &state);
			sum.count += r > 0;
			r = r < 0 ? r : 0;
		}
	}
	return wfs_trace(
		r ? r
		  : query_set(run, "current_auction",
			    json_pack("{s:I}", "pending_submissions", (json_int_t)sum.count)));
}

static int set_history(struct query_run *run, const struct wfs_index_set *set)
{
	WFS_AUTO_INDEX_WALK struct wfs_index_walk walk = {0};
	WFS_AUTO_JSON json_t *history = json_array();
	uint64_t cell_id;
	int r = history ? wfs_index_walk_init(&walk, run->view->txn, set, true) : -ENOMEM;

	while (!r && json_array_size(history) < (size_t)run->query->mint.limit &&
		(r = wfs_index_walk_next(&walk, &cell_id)) > 0) {
		WFS_AUTO_JSON json_t *state = NULL;
		struct wfs_cell cell;

		r = bid_at(run, cell_id, &cell, &state);
		if (r > 0 &&
			(json_object_set_new(state, "submission_id", query_text(cell.key)) < 0 ||
				json_array_append(history, state) < 0))
			r = -ENOMEM;
		r = r < 0 ? r : 0;
	}
	return wfs_trace(r ? r : query_set(run, "history", json_incref(history)));
}

int query_mint(struct query_run *run)
{
	const bool history = run->query->mint.history > 0;
	struct wfs_index_set set;
	int r = 0;

	if (run->query->mint.status > 0 || !history) {
		wfs_index_bids(&set, true);
		r = set_current(run, &set);
	}
	if (!r && history) {
		wfs_index_bids(&set, false);
		r = set_history(run, &set);
	}
	return wfs_trace(r);
}
