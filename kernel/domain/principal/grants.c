/* SPDX-License-Identifier: Apache-2.0 */
/* Folds the actions that make principals and make or revoke grants; charges budgets of grants. */
#include "kernel/domain/principal/grants.h"

#include <inttypes.h>

#include "kernel/base/json.h"
#include "kernel/domain/principal/account.h"
#include "kernel/domain/principal/principal-impl.h"
#include "kernel/fold/fold-work.h"
#include "kernel/manifest/builtin.h"
#include "kernel/manifest/grant.h"
#include "kernel/read/blob-read.h"

/* --- the form of an action --- */

static int in_member(
	const char *member, int r, const struct wfs_error *reason, struct wfs_error *error)
{
	return r == -ENOMEM
		? wfs_error_from_errno(error, r, "check an action")
		: wfs_error_set(error, reason->code, "'%s': %.400s", member, reason->message);
}

static int check_name(const json_t *action, const char *member, struct wfs_error *error)
{
	const char *text;
	int r = wfs_json_get_string(action, member, &text, error);

	if (r || wfs_grant_name_valid(text))
		return r;
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT, "'%s': expected %s, got '%.80s'",
		member, WFS_GRANT_NAME_FORM, text);
}

int grants_check_grant(
	const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error)
{
	static const char *const names[] = {"action_type", "budget", "cap", "expires_at_ns", "from",
		"name", "params", "to", "to_artifact_of", NULL};
	const char *member;
	int r = wfs_json_only(action, names, error);

	if (!r && json_object_get(action, "to_artifact_of"))
		r = check_name(action, "to_artifact_of", error);
	for (size_t i = 0; !r && (member = wfs_grant_member(i)); i++) {
		struct wfs_error reason = {0};

		r = wfs_grant_check_member(manifest, action, i, &reason);
		if (r)
			r = in_member(member, r, &reason, error);
	}
	return r || !json_object_get(action, "from") ? r : check_name(action, "from", error);
}

int grants_check_revoke(
	const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error)
{
	static const char *const names[] = {"action_type", "name", NULL};
	int r = wfs_json_only(action, names, error);

	(void)manifest;
	return r ? r : check_name(action, "name", error);
}

int grants_check_principal(
	const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error)
{
	static const char *const names[] = {"action_type", "id", "quotas", "scrip", NULL};
	int r = wfs_json_only(action, names, error);

	const char *member;

	(void)manifest;
	if (!r)
		r = check_name(action, "id", error);
	if (!r && wfs_id_reserved(json_string_value(json_object_get(action, "id"))))
		r = wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'id': '%s' is a word of the kernel's own",
			json_string_value(json_object_get(action, "id")));
	for (size_t i = 0; !r && (member = wfs_account_member(i)); i++) {
		struct wfs_error reason = {0};

		r = wfs_account_check_member(action, i, &reason);
		if (r)
			r = in_member(member, r, &reason, error);
	}
	return r;
}

/* --- reading --- */

static int no_such(const char *what, const char *name, struct wfs_error *error)
{
	return wfs_error_set(error, WFS_E_NOT_FOUND, "there is no %s '%s'", what, name);
}

/* --- writing --- */

int grants_make_principal(struct wfs_fold *fold, const json_t *principal, struct wfs_error *error)
{
	const char *const id = json_string_value(json_object_get(principal, "id"));
	const struct wfs_document_principal document = {.created_by = fold->input.principal,
		.id = id,
		.agents = -1,
		.outside = -1,
		.passed_on = -1};
	int r = fold_put_principal(fold, id, &document, error);

	return wfs_trace(r ? r : account_open(fold, id, principal, error));
}

int grants_make_grant(
	struct wfs_fold *fold, const char *name, const json_t *from, struct wfs_error *error)
{
	static const char *const members[] = {
		"budget", "cap", "expires_at_ns", "from", "params", "to"};
	WFS_AUTO_JSON json_t *document =
		json_pack("{s:s, s:s}", "granted_by", fold->input.principal, "name", name);

	if (!document)
		return fold_no_memory(error);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(members); i++) {
		json_t *value = json_object_get(from, members[i]);

		if (value && json_object_set(document, members[i], value) < 0)
			return fold_no_memory(error);
	}
	return wfs_trace(fold_put(fold, WFS_BUILTIN_GRANT, name, document, error));
}

int grants_check_id(struct wfs_fold *fold, const char *id, struct wfs_error *error)
{
	int r = fold_is_live(fold, WFS_BUILTIN_ARTIFACT, id, error);

	if (r == 0)
		r = fold_is_live(fold, WFS_BUILTIN_DELETED, id, error);
	if (r < 0)
		return wfs_trace(r);
	if (r)
		return wfs_error_set(error, WFS_E_ALREADY_EXISTS, "'%s' is taken", id);
	return 0;
}

/* --- action_type principal --- */

int grants_fold_principal(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error)
{
	const char *id = json_string_value(json_object_get(action, "id"));
	int r = fold_is_live(fold, WFS_BUILTIN_PRINCIPAL, id, error);

	if (r < 0)
		return wfs_trace(r);
	if (r)
		return wfs_error_set(
			error, WFS_E_ALREADY_EXISTS, "there is a principal '%s' already", id);
	r = grants_check_id(fold, id, error);
	if (r)
		return wfs_trace(r);
	if (fold_live_count(fold, WFS_BUILTIN_PRINCIPAL) >= WFS_PRINCIPALS_MAX)
		return wfs_error_set(error, WFS_E_QUOTA_EXCEEDED,
			"a world has at most %d principals", WFS_PRINCIPALS_MAX);
	r = grants_make_principal(fold, action, error);
	if (r)
		return wfs_trace(r);
	*ret_answer = json_pack("{s:s}", "id", id);
	return *ret_answer ? 0 : fold_no_memory(error);
}

/* --- action_type grant --- */

/* Is the name `<to>.<cap type>.<n>` taken? @name: set to it. Return: 1, 0, or -errno. */
static int is_taken(struct wfs_fold *fold, const json_t *action, uint64_t number,
	struct wfs_buffer *name, struct wfs_error *error)
{
	const char *to = json_string_value(json_object_get(action, "to"));
	const struct wfs_cap_definition *cap =
		wfs_manifest_cap(fold->manifest, json_string_value(json_object_get(action, "cap")));

	wfs_buffer_reset(name);
	wfs_buffer_printf(name, "%s.%s.%" PRIu64, to, cap->cap_type, number);
	if (wfs_buffer_check(name))
		return fold_no_memory(error);
	if (!wfs_grant_name_valid(wfs_buffer_text(name)))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'%.140s' is too long for a name: give one of at most %d bytes",
			wfs_buffer_text(name), WFS_GRANT_NAME_MAX);
	return fold_is_live(fold, WFS_BUILTIN_GRANT, wfs_buffer_text(name), error);
}

/* Finds the lowest free number, if the taken numbers have no gap. There may be very many: the
 * search doubles its steps until a number is free, and then halves the interval. */
static int find_name(struct wfs_fold *fold, const json_t *action, struct wfs_buffer *name,
	struct wfs_error *error)
{
	uint64_t taken = 0;
	uint64_t free_one = 1;
	int r = is_taken(fold, action, free_one, name, error);

	while (r > 0) {
		taken = free_one;
		free_one *= 2;
		r = is_taken(fold, action, free_one, name, error);
	}
	while (r >= 0 && taken + 1 < free_one) {
		const uint64_t middle = taken + (free_one - taken) / 2;

		r = is_taken(fold, action, middle, name, error);
		if (r > 0)
			taken = middle;
		else
			free_one = middle;
	}
	if (r >= 0)
		r = is_taken(fold, action, free_one, name, error);
	return wfs_trace(r);
}

static int choose_name(struct wfs_fold *fold, const json_t *action, struct wfs_buffer *name,
	struct wfs_error *error)
{
	const char *given = json_string_value(json_object_get(action, "name"));

	if (!given)
		return wfs_trace(find_name(fold, action, name, error));
	wfs_buffer_append_text(name, given);
	if (wfs_buffer_check(name))
		return fold_no_memory(error);
	int r = fold_is_live(fold, WFS_BUILTIN_GRANT, given, error);
	if (r <= 0)
		return wfs_trace(r);
	return wfs_error_set(error, WFS_E_ALREADY_EXISTS, "there is a grant '%s' already", given);
}

/* Checks the grant that a new one is passed on from: it has the capability of the new one, and the
 * chain is not too long. */
static int check_from(struct wfs_fold *fold, const json_t *action, struct wfs_error *error)
{
	const char *const cap = wfs_json_text(action, "cap");
	const char *from = json_string_value(json_object_get(action, "from"));
	WFS_AUTO_DOCUMENT struct wfs_document_grant grant = {.own = {.json = NULL}};

	for (size_t count = 1; from; count++) {
		struct wfs_document_grant above;
		int r = fold_read_grant(fold, from, &above, error);

		if (r)
			return wfs_trace(r);
		if (!above.own.json)
			return no_such("grant", from, error);
		wfs_document_done(&grant); /* `from` was borrowed from it */
		grant = above;
		if (strcmp(grant.cap, cap) != 0)
			return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				"'%s' is a grant of %s, of which no %s can be passed on", from,
				grant.cap, cap);
		if (count > WFS_GRANT_CHAIN_MAX)
			return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				"a grant can be passed on %d times, not more", WFS_GRANT_CHAIN_MAX);
		from = grant.from;
	}
	return 0;
}

static int check_state(struct wfs_fold *fold, const json_t *action, struct wfs_error *error)
{
	const char *to = json_string_value(json_object_get(action, "to"));
	const json_t *expiry = json_object_get(action, "expires_at_ns");
	int r = fold_is_live(fold, WFS_BUILTIN_PRINCIPAL, to, error);

	if (r < 0)
		return wfs_trace(r);
	if (!r && !fold->input.partial)
		return no_such("principal", to, error);
	if (expiry && json_integer_value(expiry) <= fold->input.at_ns)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'expires_at_ns': %lld is not later than now, %" PRId64,
			(long long)json_integer_value(expiry), fold->input.at_ns);
	if (fold_live_count(fold, WFS_BUILTIN_GRANT) >= WFS_GRANTS_MAX)
		return wfs_error_set(error, WFS_E_QUOTA_EXCEEDED, "a world has at most %d grants",
			WFS_GRANTS_MAX);
	r = fold->input.partial ? 0 : grants_check_agent(fold, action, error);
	return wfs_trace(r ? r : check_from(fold, action, error));
}

int grants_fold_grant(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer name = {0};
	int r = check_state(fold, action, error);

	if (!r)
		r = choose_name(fold, action, &name, error);
	if (!r && json_object_get(action, "from"))
		r = grants_count(fold, fold->input.principal, GRANTS_COUNT_PASSED_ON, 1, error);
	if (!r)
		r = grants_make_grant(fold, wfs_buffer_text(&name), action, error);
	if (r)
		return wfs_trace(r);
	*ret_answer = json_pack("{s:s}", "name", wfs_buffer_text(&name));
	return *ret_answer ? 0 : fold_no_memory(error);
}

/* --- action_type revoke --- */

static int remove_one(struct wfs_fold *fold, const char *name, struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_grant grant;
	int r = fold_read_grant(fold, name, &grant, error);

	if (!r)
		r = fold_delete(fold, grant.own.cell, error);
	if (!r && grant.from)
		r = grants_count(fold, grant.granted_by, GRANTS_COUNT_PASSED_ON, -1, error);
	return wfs_trace(r);
}

int grants_remove(struct wfs_fold *fold, json_t *names, size_t *ret_count, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *removed = json_object();
	const json_t *passed_on;
	int r = removed ? grants_passed_on(fold, &passed_on, error) : fold_no_memory(error);

	/* The list grows during the loop, and may contain a name twice. */
	for (size_t i = 0; !r && i < json_array_size(names); i++) {
		const char *name = json_string_value(json_array_get(names, i));
		const char *child;
		json_t *value;

		if (json_object_get(removed, name))
			continue;
		r = remove_one(fold, name, error);
		if (!r && json_object_set_new(removed, name, json_true()) < 0)
			r = fold_no_memory(error);
		json_object_foreach(json_object_get(passed_on, name), child, value) {
			if (!r && json_array_append_new(names, json_string(child)) < 0)
				r = fold_no_memory(error);
		}
	}
	*ret_count = json_object_size(removed);
	return wfs_trace(r);
}

int grants_fold_revoke(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error)
{
	const char *name = json_string_value(json_object_get(action, "name"));
	WFS_AUTO_JSON json_t *names = json_pack("[s]", name);
	size_t count = 0;
	int r = fold_is_live(fold, WFS_BUILTIN_GRANT, name, error);

	if (r == 0)
		return no_such("grant", name, error);
	if (!names)
		return fold_no_memory(error);
	if (r > 0)
		r = grants_remove(fold, names, &count, error);
	if (r)
		return wfs_trace(r);
	*ret_answer = json_pack("{s:I}", "removed", (json_int_t)count);
	return *ret_answer ? 0 : fold_no_memory(error);
}

/* --- budgets --- */

/* Adds calls and tokens to the use of a grant that has a budget. */
static int add_used(struct wfs_fold *fold, struct wfs_document_grant *grant, int64_t calls,
	int64_t tokens, struct wfs_error *error)
{
	int64_t all_calls = json_integer_value(json_object_get(grant->used, "calls"));
	int64_t all_tokens = json_integer_value(json_object_get(grant->used, "tokens"));

	if (!grant->budget)
		return 0;
	if (__builtin_add_overflow(all_calls, calls, &all_calls) ||
		__builtin_add_overflow(all_tokens, tokens, &all_tokens))
		return 0; /* the budget stays spent */
	WFS_AUTO_JSON json_t *used = json_pack(
		"{s:I, s:I}", "calls", (json_int_t)all_calls, "tokens", (json_int_t)all_tokens);
	if (!used)
		return fold_no_memory(error);
	grant->used = used;
	return wfs_trace(fold_write_grant(fold, grant, error));
}

/* A charge to a grant and to each grant above it. @spent: the cost has arisen already, so no
 * budget can refuse it, and a grant of the chain may be gone */
struct charge {
	int64_t calls;
	int64_t tokens;
	bool spent;
};

static int fold_charge(struct wfs_fold *fold, const char *name, const struct charge *charge,
	struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_grant grant = {.own = {.json = NULL}};

	while (name) {
		struct wfs_document_grant above;
		int r = fold_read_grant(fold, name, &above, error);

		if (r)
			return wfs_trace(r);
		if (!above.own.json && charge->spent)
			return 0;
		if (!above.own.json)
			return wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
				"grant '%s', which covered this, is no more", name);
		if (!charge->spent && wfs_grant_is_spent(&above))
			r = wfs_error_set(error, WFS_E_QUOTA_EXCEEDED,
				"the budget of grant '%s' is spent", name);
		if (!r)
			r = add_used(fold, &above, charge->calls, charge->tokens, error);
		wfs_document_done(&grant); /* `name` may be borrowed from it */
		grant = above;
		if (r)
			return wfs_trace(r);
		name = grant.from;
	}
	return 0;
}

int grants_fold_charge(struct wfs_fold *fold, const char *name, struct wfs_error *error)
{
	const struct charge call = {.calls = 1};

	return wfs_trace(fold_charge(fold, name, &call, error));
}

int grants_charge_receipt(
	struct wfs_fold *fold, const struct wfs_body_receipt *receipt, struct wfs_error *error)
{
	const struct wfs_fold_input *const input = &fold->input;
	const json_t *const usage = json_object_get(receipt->payload, "usage");
	const int64_t tokens = json_integer_value(json_object_get(usage, "total_tokens"));
	const struct charge answer = {.calls = 1, .tokens = tokens > 0 ? tokens : 0, .spent = true};

	return input->charge && !input->partial
		? wfs_trace(fold_charge(fold, input->charge, &answer, error))
		: 0;
}
