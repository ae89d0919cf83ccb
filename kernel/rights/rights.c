/* SPDX-License-Identifier: Apache-2.0 */
/* Judging by grants and policy. */
#include "kernel/rights/rights.h"

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#include "kernel/base/array.h"
#include "kernel/base/json.h"
#include "kernel/manifest/document.h"
#include "kernel/manifest/grant.h"
#include "kernel/schema/schema.h"
#include "kernel/value/tool.h"

#define CAP_TYPE_QUERY "query" /* shows the tree */
#define CAP_TYPE_BLOB "blob"
#define CAP_TYPE_ADMIN "admin"
#define CAP_TYPE_TOOL "tool" /* shows the tools of outside servers */

/* One grant. */
struct grant {
	struct wfs_document_grant document;
	struct wfs_hash mark; /* wfs_grant_mark() */
	const struct wfs_cap_definition *cap;
	int64_t expires_at_ns;        /* INT64_MAX: never */
	struct wfs_scope *scope;      /* of paths; owned */
	struct wfs_scope *owned;      /* of ids of artifacts or agents, or names of tools; owned */
	const json_t *pinned;         /* {name of a tool: hash}: covers only these; NULL: all */
	const json_t *schema;         /* that arguments of tools must meet; NULL: none */
	struct wfs_schema *arguments; /* the same, compiled; owned */
	const json_t *actions;        /* names of effects; NULL: all */
	bool all_plans;               /* allows resuming and stopping plans of others */
	bool approves;
	json_t *givers;  /* principals that gave this grant, or one it was delegated from; owned */
	bool has_budget; /* this grant, or one that it was delegated from */
	bool spent;      /* nothing is left of one of these budgets */
};

struct wfs_rights {
	atomic_uint references;
	char *principal;
	struct wfs_manifest *manifest;
	size_t grant_count;
	struct grant *grants;
	bool sees_all;
};

/* --- reading grants --- */

static void grant_done(struct grant *grant)
{
	wfs_document_done(&grant->document);
	wfs_scope_free(grant->scope);
	wfs_scope_free(grant->owned);
	wfs_schema_free(grant->arguments);
	json_decref(grant->givers);
}

static bool actions_inside(const json_t *inner, const json_t *outer)
{
	const json_t *action;
	size_t i;

	if (!outer)
		return true;
	json_array_foreach(inner, i, action) {
		if (!wfs_json_has(outer, action))
			return false;
	}
	return inner != NULL;
}

/* Has the object @inner only members that @outer has, with equal values? @outer: NULL: any */
static bool members_inside(const json_t *inner, const json_t *outer)
{
	const char *name;
	json_t *value;

	if (!outer)
		return true;
	json_object_foreach((json_t *)(uintptr_t)inner, name, value)
		if (!json_equal(value, json_object_get(outer, name)))
			return false;
	return inner != NULL;
}

/* Does @whole allow everything that @part allows? Budgets are left aside: both are charged. */
static bool is_inside(const struct grant *part, const struct grant *whole)
{
	return part->cap == whole->cap && part->expires_at_ns <= whole->expires_at_ns &&
		wfs_scope_inside(part->scope, whole->scope) &&
		wfs_scope_inside(part->owned, whole->owned) &&
		actions_inside(part->actions, whole->actions) &&
		members_inside(part->pinned, whole->pinned) &&
		(!whole->schema || (part->schema && json_equal(part->schema, whole->schema))) &&
		part->all_plans <= whole->all_plans && part->approves <= whole->approves;
}

/* Reads @params into @grant, which the caller ends in any case. Return: 0, -EINVAL, or -ENOMEM. */
static int read_params(const json_t *params, struct grant *grant, struct wfs_error *error)
{
	const char *const owned = json_object_get(params, "agents") ? "agents"
		: json_object_get(params, "tools")                  ? "tools"
								    : "artifacts";
	json_t *const schema = json_object_get(params, "arguments");
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	int r = wfs_scope_new(json_object_get(params, "scope"), "scope", &grant->scope, error);

	if (!r && schema)
		r = wfs_schema_new(schema, NULL, "/arguments", &problems, &grant->arguments);
	if (r == -EINVAL && problems.count > 0)
		r = wfs_error_set(
			error, WFS_E_INVALID_ARGUMENT, "%.400s", wfs_buffer_text(&problems.lines));
	grant->actions = json_object_get(params, "actions");
	grant->pinned = json_object_get(params, "pinned");
	grant->schema = schema;
	grant->all_plans = strcmp(wfs_json_text(params, "plans"), "all") == 0;
	grant->approves = json_is_true(json_object_get(params, "approve"));
	return r ? r : wfs_scope_new(json_object_get(params, owned), owned, &grant->owned, error);
}

/* Reads a grant without those that it was delegated from.
 * Return: 1 and a grant, 0 if it grants nothing, or -ENOMEM. */
static int grant_read(
	const struct wfs_manifest *manifest, json_t *document, struct grant *ret_grant)
{
	struct grant grant = {.cap = NULL};
	struct wfs_document_grant *const read = &grant.document;
	int r = wfs_document_read_grant(json_incref(document), read, NULL);

	if (!r)
		grant.cap = wfs_manifest_cap(manifest, read->cap);
	if (!grant.cap) {
		grant_done(&grant);
		return r == -ENOMEM ? r : 0;
	}
	grant.expires_at_ns = read->expires_at_ns >= 0 ? read->expires_at_ns : INT64_MAX;
	grant.has_budget = read->budget != NULL;
	grant.spent = wfs_grant_is_spent(read);
	r = read_params(read->params, &grant, NULL);
	grant.givers = json_pack("[s]", read->granted_by);
	if (!r && !grant.givers)
		r = -ENOMEM;
	if (!r)
		r = wfs_grant_mark(document, &grant.mark);
	if (r) {
		grant_done(&grant);
		return r == -EINVAL ? 0 : r;
	}
	*ret_grant = grant;
	return 1;
}

/*
 * Follows a grant to those that it was delegated from. It shares their budgets, and must not allow
 * more than they do: after the delegation, a grant can have been revoked, and a smaller one given
 * its name.
 * Return: 1, 0 if it grants nothing, or -ENOMEM.
 */
static int follow(const struct wfs_manifest *manifest, json_t *grants, struct grant *grant)
{
	WFS_CLEANUP(grant_done) struct grant below = {.cap = NULL};
	const char *from = grant->document.from;
	int r = 1;

	for (int i = 0; r > 0 && from; i++) {
		struct grant above = {.cap = NULL};

		r = i < WFS_GRANT_CHAIN_MAX
			? grant_read(manifest, json_object_get(grants, from), &above)
			: 0;
		if (r <= 0)
			break;
		r = is_inside(below.cap ? &below : grant, &above);
		grant->has_budget |= above.has_budget;
		grant->spent |= above.spent;
		if (json_array_extend(grant->givers, above.givers) < 0)
			r = -ENOMEM;
		from = above.document.from;
		grant_done(&below);
		below = above;
	}
	return r;
}

static int read_grants(struct wfs_rights *rights, json_t *grants)
{
	size_t capacity = 0;
	const char *name;
	json_t *document;

	json_object_foreach(grants, name, document) {
		const char *const to = json_string_value(json_object_get(document, "to"));
		struct grant *room;
		int r;

		if (!to || strcmp(to, rights->principal) != 0)
			continue;
		room = wfs_array_reserve(
			rights->grants, rights->grant_count, &capacity, sizeof(*room));
		if (!room)
			return -ENOMEM;
		rights->grants = room;
		room += rights->grant_count;
		r = grant_read(rights->manifest, document, room);
		if (r > 0) {
			r = follow(rights->manifest, grants, room);
			if (r <= 0)
				grant_done(room);
		}
		if (r < 0)
			return r;
		rights->grant_count += (size_t)r;
	}
	return 0;
}

/* --- grants --- */

static bool is_of_type(const struct grant *grant, const char *cap_type)
{
	return strcmp(grant->cap->cap_type, cap_type) == 0;
}

static bool is_live(const struct grant *grant, int64_t now_ns)
{
	return now_ns < grant->expires_at_ns;
}

bool wfs_rights_hold(const struct wfs_rights *rights, const char *cap_type, int64_t now_ns)
{
	for (size_t i = 0; i < rights->grant_count; i++)
		if (is_of_type(&rights->grants[i], cap_type) && is_live(&rights->grants[i], now_ns))
			return true;
	return false;
}

bool wfs_rights_administer(const struct wfs_rights *rights, int64_t now_ns)
{
	return wfs_rights_hold(rights, CAP_TYPE_ADMIN, now_ns);
}

static bool names_action(const struct grant *grant, enum wfs_effect effect)
{
	const char *const name = wfs_effect_granted_as(effect);
	const json_t *action;
	size_t i;

	if (!grant->actions)
		return true;
	json_array_foreach(grant->actions, i, action)
		if (json_is_string(action) && strcmp(json_string_value(action), name) == 0)
			return true;
	return false;
}

static bool owns_artifact(const struct grant *grant, const struct wfs_question *question)
{
	const struct wfs_bytes id =
		question->artifact ? wfs_bytes_text(question->artifact) : WFS_BYTES(NULL, 0);

	return question->of_any || !question->artifact ||
		wfs_scope_coverage(grant->owned, (struct wfs_path){&id, 1}) == WFS_COVERAGE_WHOLE;
}

/* What does the grant lack for this call? The later in enum wfs_tool_lack, the less. @error: gets
 * the reason why arguments are refused; may be NULL */
static enum wfs_tool_lack tool_lack(
	const struct grant *grant, const struct wfs_tool_asked *tool, struct wfs_error *error)
{
	const struct wfs_bytes name = tool ? wfs_bytes_text(tool->name) : WFS_BYTES(NULL, 0);
	struct wfs_error ignored;

	if (!tool)
		return WFS_TOOL_LACK_NONE;
	const json_t *const hash = json_object_get(grant->pinned, tool->name);
	if (wfs_scope_coverage(grant->owned, (struct wfs_path){&name, 1}) != WFS_COVERAGE_WHOLE ||
		(grant->pinned && !hash))
		return WFS_TOOL_LACK_NAME;
	if (hash && tool->hash && strcmp(json_string_value(hash), tool->hash) != 0)
		return WFS_TOOL_LACK_HASH;
	if (grant->arguments && tool->arguments &&
		wfs_schema_check(grant->arguments, tool->arguments, error ? error : &ignored))
		return WFS_TOOL_LACK_ARGUMENTS;
	return WFS_TOOL_LACK_NONE;
}

static bool comes_from_barred(const struct grant *grant, const struct wfs_question *question)
{
	const json_t *giver;
	size_t i;

	json_array_foreach(grant->givers, i, giver) {
		if (question->is_barred(question->barred_context, json_string_value(giver)))
			return true;
	}
	return false;
}

/* Is the capability of the grant enough for the claim of the question? See enum wfs_claim. */
static bool reaches(const struct grant *grant, const struct wfs_question *question)
{
	const bool by_cap = is_of_type(grant, wfs_effect_cap_type(question->effect));

	switch (question->claim) {
	case WFS_CLAIM_OWN:
		return by_cap ||
			(question->of_any &&
				wfs_effect_covered_by(question->effect, grant->cap->cap_type));
	case WFS_CLAIM_MADE:
		return by_cap || is_of_type(grant, CAP_TYPE_ADMIN);
	case WFS_CLAIM_OTHERS:
		return is_of_type(grant, CAP_TYPE_ADMIN) ||
			(by_cap &&
				(question->effect == WFS_EFFECT_AGENT_APPROVE ? grant->approves
									      : grant->all_plans));
	case WFS_CLAIM_ADMIN:
		return is_of_type(grant, CAP_TYPE_ADMIN);
	default:
		return false;
	}
}

static bool covers(const struct grant *grant, const struct wfs_question *question)
{
	return reaches(grant, question) && names_action(grant, question->effect) &&
		owns_artifact(grant, question) &&
		tool_lack(grant, question->tool, NULL) == WFS_TOOL_LACK_NONE &&
		!(question->is_barred && comes_from_barred(grant, question));
}

/* Finds what a principal that holds live grants of tools lacks for a call: the least that one of
 * them lacks. @ret_grant: this grant; not set if no grant covers the tool
 * Return: WFS_TOOL_LACK_NONE if the question is not about a tool, or the principal has no such
 * grant. */
static enum wfs_tool_lack find_lack(const struct wfs_rights *rights,
	const struct wfs_question *question, const struct grant **ret_grant,
	struct wfs_error *error)
{
	enum wfs_tool_lack least = WFS_TOOL_LACK_NONE;

	for (size_t i = 0; question->tool && i < rights->grant_count; i++) {
		const struct grant *const grant = &rights->grants[i];

		if (!is_of_type(grant, wfs_effect_cap_type(question->effect)) ||
			!is_live(grant, question->now_ns))
			continue;
		const enum wfs_tool_lack lack = tool_lack(grant, question->tool, error);
		if (lack > least)
			least = lack;
		if (lack == least && lack > WFS_TOOL_LACK_NAME)
			*ret_grant = grant;
	}
	return least;
}

/* How good a grant is for paying. Best is one that is not spent; then one that was not delegated,
 * as the principal that delegated it could revoke it at any time; then one without a budget. */
static int worth_of(const struct grant *grant)
{
	return (grant->spent ? 0 : 4) + (grant->document.from ? 0 : 2) +
		(grant->has_budget ? 0 : 1);
}

enum { WORTH_MAX = 4 + 2 + 1 };

/* Finds the first grant of the highest worth that covers the question. One of WORTH_MAX ends the
 * search. @ret_expired: if no grant is found, one that covered it until it expired */
static const struct grant *find_grant(const struct wfs_rights *rights,
	const struct wfs_question *question, const struct grant **ret_expired)
{
	const struct grant *best = NULL;
	int best_worth = -1;

	*ret_expired = NULL;
	for (size_t i = 0; i < rights->grant_count && best_worth < WORTH_MAX; i++) {
		const struct grant *const grant = &rights->grants[i];

		if (!covers(grant, question))
			continue;
		if (!is_live(grant, question->now_ns)) {
			*ret_expired = grant;
			continue;
		}
		const int worth = worth_of(grant);
		if (worth > best_worth) {
			best_worth = worth;
			best = grant;
		}
	}
	return best;
}

/* --- policy --- */

/* A rule that names reducers fits only questions about these. With of_any: could the rule fit for
 * some reducer? A rule that denies some reducers does not fit then, as others may be allowed. */
static bool reducer_fits(const struct wfs_policy_rule *rule, const struct wfs_question *question)
{
	if (rule->reducer && question->of_any && wfs_effect_has_reducer(question->effect))
		return rule->allow;
	return wfs_policy_fits(rule->reducer, question->reducer);
}

/* As reducer_fits(), for artifacts. */
static bool artifact_fits(const struct wfs_policy_rule *rule, const struct wfs_question *question)
{
	if (rule->artifact && question->of_any && !question->artifact &&
		wfs_effect_has_artifact(question->effect))
		return rule->allow || (rule->ask && question->approved);
	return wfs_policy_fits(rule->artifact, question->artifact);
}

/* As reducer_fits(), for the conditions on outside tools. */
static bool tool_fits(const struct wfs_policy_rule *rule, const struct wfs_question *question)
{
	const struct wfs_tool_asked *const tool = question->tool;
	char server[WFS_TOOL_SERVER_MAX + 1];

	if (!wfs_policy_rule_is_of_tools(rule))
		return true;
	if (!tool)
		return question->of_any && question->effect == WFS_EFFECT_TOOL_OUTSIDE &&
			(rule->allow || (rule->ask && question->approved));
	snprintf(server, sizeof(server), "%.*s", (int)strcspn(tool->name, "."), tool->name);
	if (!wfs_policy_fits(rule->tool, tool->name) || !wfs_policy_fits(rule->server, server))
		return false;
	for (int i = 0; rule->annotation && i < WFS_TOOL_HINT_COUNT; i++)
		if (strcmp(rule->annotation, wfs_tool_hint_name(i)) == 0)
			return (tool->hints & (1U << i)) != 0;
	return !rule->annotation;
}

static bool rule_fits(const struct wfs_policy_rule *rule, const char *principal,
	const struct wfs_question *question, const char *cap)
{
	return wfs_policy_fits(rule->effect, wfs_effect_kind(question->effect)) &&
		wfs_policy_fits(rule->cap, cap) && wfs_policy_fits(rule->principal, principal) &&
		wfs_policy_fits(rule->origin, wfs_origin_name(question->origin)) &&
		reducer_fits(rule, question) && artifact_fits(rule, question) &&
		tool_fits(rule, question);
}

static bool policy_allows(const struct wfs_manifest *manifest, const char *principal,
	const struct wfs_question *question, const char *cap, struct wfs_verdict *verdict)
{
	size_t count;
	const struct wfs_policy_rule *const rules =
		wfs_manifest_policy(manifest, &verdict->policy, &count);

	verdict->rule_index = SIZE_MAX;
	for (size_t i = 0; i < count; i++) {
		if (!rule_fits(&rules[i], principal, question, cap))
			continue;
		verdict->rule_index = i;
		verdict->asks = rules[i].ask;
		return rules[i].allow || (rules[i].ask && question->approved);
	}
	return false;
}

/* --- seeing all --- */

static bool holds_whole_tree(const struct wfs_rights *rights)
{
	const struct wfs_path root = {.count = 0};

	for (size_t i = 0; i < rights->grant_count; i++)
		if (is_of_type(&rights->grants[i], CAP_TYPE_QUERY) &&
			rights->grants[i].expires_at_ns == INT64_MAX &&
			wfs_scope_coverage(rights->grants[i].scope, root) == WFS_COVERAGE_WHOLE)
			return true;
	return false;
}

/* Do all rules that could be the first to fit @effect allow it, whatever the effect is about? */
static bool policy_always_allows(const struct wfs_rights *rights, enum wfs_effect effect)
{
	const char *name;
	size_t count;
	const struct wfs_policy_rule *const rules =
		wfs_manifest_policy(rights->manifest, &name, &count);

	for (size_t i = 0; i < count; i++) {
		if (!wfs_policy_fits(rules[i].effect, wfs_effect_kind(effect)) ||
			!wfs_policy_fits(rules[i].principal, rights->principal) ||
			wfs_policy_rule_is_of_tools(&rules[i]))
			continue;
		if (!rules[i].allow)
			return false;
		if (!rules[i].cap && !rules[i].origin && !rules[i].reducer && !rules[i].artifact)
			return true;
	}
	return false;
}

static bool policy_hides_nothing(const struct wfs_rights *rights)
{
	for (int effect = 0; effect < WFS_EFFECT_COUNT; effect++)
		if (strcmp(wfs_effect_cap_type((enum wfs_effect)effect), CAP_TYPE_QUERY) == 0 &&
			!policy_always_allows(rights, (enum wfs_effect)effect))
			return false;
	return true;
}

bool wfs_rights_see_all(const struct wfs_rights *rights)
{
	return rights->sees_all;
}

/* --- life --- */

int wfs_rights_new(const char *principal, struct wfs_manifest *manifest, json_t *grants,
	struct wfs_rights **ret_rights)
{
	WFS_AUTO_RIGHTS struct wfs_rights *rights = calloc(1, sizeof(*rights));

	if (!rights)
		return -ENOMEM;
	atomic_init(&rights->references, 1);
	rights->manifest = wfs_manifest_ref(manifest);
	rights->principal = strdup(principal);
	int r = rights->principal ? read_grants(rights, grants) : -ENOMEM;
	if (r)
		return r;
	rights->sees_all = holds_whole_tree(rights) && policy_hides_nothing(rights);
	*ret_rights = WFS_STEAL(rights);
	return 0;
}

const char *wfs_rights_principal(const struct wfs_rights *rights)
{
	return rights->principal;
}

struct wfs_rights *wfs_rights_ref(struct wfs_rights *rights)
{
	atomic_fetch_add_explicit(&rights->references, 1, memory_order_relaxed);
	return rights;
}

void wfs_rights_unref(struct wfs_rights *rights)
{
	if (!rights || atomic_fetch_sub_explicit(&rights->references, 1, memory_order_acq_rel) > 1)
		return;
	for (size_t i = 0; i < rights->grant_count; i++)
		grant_done(&rights->grants[i]);
	free(rights->grants);
	wfs_manifest_unref(rights->manifest);
	free(rights->principal);
	free(rights);
}

/* --- judging --- */

struct wfs_verdict wfs_rights_judge(
	const struct wfs_rights *rights, const struct wfs_question *question)
{
	struct wfs_verdict verdict = {.code = WFS_E_NOT_AUTHORIZED};
	const struct grant *expired;

	if (!wfs_manifest_effect(rights->manifest, question->effect)) {
		verdict.code = WFS_E_NOT_ENABLED;
		return verdict;
	}
	const struct grant *const grant = find_grant(rights, question, &expired);

	if (!grant) {
		const struct grant *lacking = NULL;

		verdict.lack = find_lack(rights, question, &lacking, NULL);
		verdict.grant = lacking ? lacking->document.name : NULL;
		if (verdict.lack == WFS_TOOL_LACK_NAME)
			verdict.code = WFS_E_NOT_FOUND;
	}
	if (!grant && expired && verdict.lack <= WFS_TOOL_LACK_NAME) {
		verdict.code = WFS_E_EXPIRED;
		verdict.grant = expired->document.name;
	}
	if (!grant)
		return verdict;
	verdict.grant = grant->document.name;
	verdict.until_ns = grant->expires_at_ns;
	verdict.mark = &grant->mark;
	verdict.charged = grant->has_budget;
	if (grant->spent)
		verdict.code = WFS_E_QUOTA_EXCEEDED;
	else if (policy_allows(
			 rights->manifest, rights->principal, question, grant->cap->name, &verdict))
		verdict.code = WFS_OK;
	else
		verdict.code = WFS_E_POLICY_DENIED;
	return verdict;
}

static int explain_expiry(
	const struct wfs_rights *rights, const struct wfs_verdict *verdict, struct wfs_error *error)
{
	int64_t expires_at_ns = 0;
	char text[sizeof("2026-11-21T20:46:37Z")] = "";
	struct tm tm;

	for (size_t i = 0; i < rights->grant_count; i++)
		if (strcmp(rights->grants[i].document.name, verdict->grant) == 0)
			expires_at_ns = rights->grants[i].expires_at_ns;
	const time_t seconds = expires_at_ns / 1000000000;
	if (gmtime_r(&seconds, &tm))
		(void)strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return wfs_error_set(error, WFS_E_EXPIRED, "the grant '%s' of '%s' expired at %s",
		verdict->grant, rights->principal, text);
}

/* The message does not tell whether the turn or plan belongs to another principal or is missing. */
static int explain_claim(const struct wfs_rights *rights, const struct wfs_question *question,
	struct wfs_error *error)
{
	if (question->claim == WFS_CLAIM_NEVER)
		return wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
			"'%s' is the agent of this turn, or belongs to it: somebody else may "
			"approve",
			rights->principal);
	if (question->effect == WFS_EFFECT_AGENT_APPROVE)
		return wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
			"'%s' may not approve: that takes sys/admin@1 or, for a turn that another "
			"principal began, sys/drive@1 with {\"approve\":true}, for the agent if "
			"it has 'agents'; a grant that comes from the agent does not count",
			rights->principal);
	if (question->effect == WFS_EFFECT_INTENT_RESOLVE)
		return wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
			"'%s' needs sys/admin@1 to say how a call of another principal ended",
			rights->principal);
	if (question->claim == WFS_CLAIM_ADMIN)
		return wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
			"'%s' needs sys/admin@1 to %s a turn that it did not begin",
			rights->principal,
			question->effect == WFS_EFFECT_AGENT_WAKE ? "wake" : "cancel");
	return wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
		"'%s' needs sys/admin@1, or sys/drive@1 with {\"plans\":\"all\"}, to resume or "
		"stop a plan that it did not make",
		rights->principal);
}

static int explain_policy(const char *principal, const struct wfs_question *question,
	const struct wfs_verdict *verdict, struct wfs_error *error)
{
	const char *const kind = wfs_effect_kind(question->effect);

	if (verdict->rule_index == SIZE_MAX)
		return wfs_error_set(error, WFS_E_POLICY_DENIED,
			"no rule of the policy '%s' allows %s to '%s'", verdict->policy, kind,
			principal);
	if (verdict->asks)
		return wfs_error_set(error, WFS_E_POLICY_DENIED,
			"rule %zu of the policy '%s' lets '%s' do %s only in a tool call "
			"that somebody approves of",
			verdict->rule_index, verdict->policy, principal, kind);
	return wfs_error_set(error, WFS_E_POLICY_DENIED,
		"rule %zu of the policy '%s' denies %s to '%s'", verdict->rule_index,
		verdict->policy, kind, principal);
}

static int explain_not_enabled(const struct wfs_question *question, struct wfs_error *error)
{
	return wfs_error_set(error, WFS_E_NOT_ENABLED, "the world's manifest does not have %s",
		wfs_effect_kind(question->effect));
}

static int explain_lack(const struct wfs_rights *rights, const struct wfs_question *question,
	const struct wfs_verdict *verdict, struct wfs_error *error)
{
	const struct grant *grant = NULL;
	struct wfs_error reason = {0};

	if (verdict->lack == WFS_TOOL_LACK_HASH)
		return wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
			"the description or the schema of the tool '%s' has changed since the "
			"grant '%s' of '%s' was made: a new grant is needed",
			question->tool->name, verdict->grant, rights->principal);
	(void)find_lack(rights, question, &grant, &reason);
	return wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
		"the grant '%s' of '%s' does not allow these arguments of '%s': %.300s",
		verdict->grant, rights->principal, question->tool->name, reason.message);
}

int wfs_policy_check(const struct wfs_manifest *manifest, const char *principal,
	const struct wfs_question *question, const char *cap, struct wfs_error *error)
{
	struct wfs_verdict verdict = {.code = WFS_E_POLICY_DENIED};

	if (!wfs_manifest_effect(manifest, question->effect))
		return explain_not_enabled(question, error);
	return policy_allows(manifest, principal, question, cap, &verdict)
		? 0
		: explain_policy(principal, question, &verdict, error);
}

int wfs_rights_explain(const struct wfs_rights *rights, const struct wfs_question *question,
	const struct wfs_verdict *verdict, struct wfs_error *error)
{
	const char *const kind = wfs_effect_kind(question->effect);

	switch (verdict->code) {
	case WFS_OK:
		return 0;
	case WFS_E_EXPIRED:
		return explain_expiry(rights, verdict, error);
	case WFS_E_POLICY_DENIED:
		return explain_policy(rights->principal, question, verdict, error);
	case WFS_E_QUOTA_EXCEEDED:
		return wfs_error_set(error, WFS_E_QUOTA_EXCEEDED,
			"the budget of the grant '%s' of '%s' is used up", verdict->grant,
			rights->principal);
	case WFS_E_NOT_ENABLED:
		return explain_not_enabled(question, error);
	case WFS_E_NOT_FOUND:
		return wfs_error_set(error, WFS_E_NOT_FOUND, "there is no tool '%.200s'",
			question->tool ? question->tool->name : "");
	default:
		if (verdict->lack != WFS_TOOL_LACK_NONE)
			return explain_lack(rights, question, verdict, error);
		if (question->claim != WFS_CLAIM_OWN && question->claim != WFS_CLAIM_MADE)
			return explain_claim(rights, question, error);
		return wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
			"'%s' holds no grant of type '%s' that covers %s%s%.140s",
			rights->principal, wfs_effect_cap_type(question->effect), kind,
			question->artifact ? " of " : "",
			question->artifact ? question->artifact : "");
	}
}

struct wfs_decision wfs_verdict_decision(
	const struct wfs_verdict *verdict, const struct wfs_question *question)
{
	return (struct wfs_decision){
		.effect = wfs_effect_kind(question->effect),
		.grant = verdict->grant,
		.policy = verdict->policy,
		.rule_known = verdict->policy && verdict->rule_index != SIZE_MAX,
		.rule_index = verdict->rule_index,
	};
}

enum wfs_coverage wfs_rights_coverage(
	const struct wfs_rights *rights, struct wfs_path path, int64_t now_ns)
{
	enum wfs_coverage best = WFS_COVERAGE_NONE;

	for (size_t i = 0; i < rights->grant_count && best < WFS_COVERAGE_WHOLE; i++) {
		const struct grant *const grant = &rights->grants[i];

		if (!is_of_type(grant, CAP_TYPE_QUERY) || !is_live(grant, now_ns))
			continue;
		const enum wfs_coverage here = wfs_scope_coverage(grant->scope, path);
		if (here > best)
			best = here;
	}
	return best;
}

/* --- comparing --- */

static bool shows(const struct wfs_rights *rights, const struct wfs_cap_definition *cap)
{
	return strcmp(cap->cap_type, CAP_TYPE_BLOB) == 0 ||
		strcmp(cap->cap_type, CAP_TYPE_ADMIN) == 0 ||
		strcmp(cap->cap_type, CAP_TYPE_TOOL) == 0 ||
		(strcmp(cap->cap_type, CAP_TYPE_QUERY) == 0 && !rights->sees_all);
}

bool wfs_rights_grant_shows(const struct wfs_rights *rights, const json_t *grant)
{
	const char *const cap = json_string_value(json_object_get(grant, "cap"));
	const struct wfs_cap_definition *const definition =
		cap ? wfs_manifest_cap(rights->manifest, cap) : NULL;

	return definition && shows(rights, definition);
}

/* Return: NULL after the last. */
static const struct grant *next_that_shows(const struct wfs_rights *rights, size_t *at)
{
	while (*at < rights->grant_count) {
		const struct grant *const grant = &rights->grants[(*at)++];

		if (shows(rights, grant->cap))
			return grant;
	}
	return NULL;
}

/* Compares two grants without their budgets, which do not change what is seen. */
static bool grants_equal(const struct grant *a, const struct grant *b)
{
	return a->cap == b->cap && a->expires_at_ns == b->expires_at_ns &&
		json_equal(a->document.params, b->document.params) &&
		strcmp(a->document.name, b->document.name) == 0;
}

bool wfs_rights_see_the_same(const struct wfs_rights *a, const struct wfs_rights *b)
{
	const struct grant *of_a = NULL;
	const struct grant *of_b = NULL;
	size_t at_a = 0;
	size_t at_b = 0;

	if (a->manifest != b->manifest || a->sees_all != b->sees_all)
		return false;
	do {
		of_a = next_that_shows(a, &at_a);
		of_b = next_that_shows(b, &at_b);
	} while (of_a && of_b && grants_equal(of_a, of_b));
	return !of_a && !of_b;
}

/* --- checking new grants --- */

int wfs_rights_check_params(const json_t *params, struct wfs_error *error)
{
	WFS_CLEANUP(grant_done) struct grant grant = {.cap = NULL};

	return read_params(params, &grant, error);
}

int wfs_rights_cover(const struct wfs_rights *rights, const struct wfs_question *question,
	const json_t *grant, struct wfs_verdict *ret_verdict, const char **ret_from,
	struct wfs_error *error)
{
	const char *const cap = json_string_value(json_object_get(grant, "cap"));
	const json_t *const expires = json_object_get(grant, "expires_at_ns");
	WFS_CLEANUP(grant_done)
	struct grant part = {
		.cap = cap ? wfs_manifest_cap(rights->manifest, cap) : NULL,
		.expires_at_ns = expires ? json_integer_value(expires) : INT64_MAX,
	};
	struct wfs_verdict verdict = {.code = WFS_E_NOT_AUTHORIZED};
	int r = read_params(json_object_get(grant, "params"), &part, error);

	for (size_t i = 0; !r && i < rights->grant_count; i++) {
		if (!is_live(&rights->grants[i], question->now_ns) ||
			!is_inside(&part, &rights->grants[i]))
			continue;
		verdict.grant = rights->grants[i].document.name;
		verdict.until_ns = rights->grants[i].expires_at_ns;
		verdict.mark = &rights->grants[i].mark;
		if (policy_allows(rights->manifest, rights->principal, question, part.cap->name,
			    &verdict)) {
			verdict.code = WFS_OK;
			*ret_verdict = verdict;
			*ret_from = verdict.grant;
			return 0;
		}
		verdict.code = WFS_E_POLICY_DENIED;
	}
	if (r)
		return r;
	*ret_verdict = verdict;
	if (verdict.code == WFS_E_POLICY_DENIED)
		return wfs_rights_explain(rights, question, &verdict, error);
	return wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
		"'%s' holds no grant of '%.128s' that covers all of what is to be passed on",
		rights->principal, cap ? cap : "");
}
