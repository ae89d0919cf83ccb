/* SPDX-License-Identifier: Apache-2.0 */
/* Folds the principals and grants that the first manifest declares, and the changes that later
 * manifests make to them. */
#include "kernel/base/json.h"
#include "kernel/domain/principal/grants.h"
#include "kernel/domain/principal/principal-impl.h"
#include "kernel/fold/fold-work.h"
#include "kernel/manifest/builtin.h"
#include "kernel/manifest/grant.h"

static const char *text_of(const json_t *item, const char *member)
{
	return json_string_value(json_object_get(item, member));
}

int grants_fold_declared(struct wfs_fold *fold, struct wfs_error *error)
{
	const json_t *principals = wfs_manifest_principals(fold->manifest);
	const json_t *grants = wfs_manifest_grants(fold->manifest);
	int r = 0;

	for (size_t i = 0; !r && i < json_array_size(principals); i++)
		r = grants_make_principal(fold, json_array_get(principals, i), error);
	for (size_t i = 0; !r && i < json_array_size(grants); i++) {
		const json_t *grant = json_array_get(grants, i);

		r = grants_make_grant(
			fold, json_string_value(json_object_get(grant, "name")), grant, error);
	}
	return wfs_trace(r);
}

/* --- from one manifest to the next --- */

/* Indexes a list by @member of its items: {name: item}. Return: new reference, NULL without
 * memory. */
static json_t *by_member(const json_t *list, const char *member)
{
	WFS_AUTO_JSON json_t *index = json_object();
	size_t i;
	json_t *item;

	json_array_foreach(list, i, item) {
		if (!index || json_object_set(index, text_of(item, member), item) < 0)
			return NULL;
	}
	return WFS_STEAL(index);
}

static int quota(const char *what, int maximum, struct wfs_error *error)
{
	return wfs_error_set(
		error, WFS_E_QUOTA_EXCEEDED, "a world has at most %d %s", maximum, what);
}

/* Makes the declared principals that the world does not have yet. Other principals stay and keep
 * their accounts: a manifest declares only what an account begins with. */
static int add_principals(
	struct wfs_fold *fold, const json_t *base, const json_t *declared, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *before = by_member(base, "id");
	uint64_t count = fold_live_count(fold, WFS_BUILTIN_PRINCIPAL);
	int r = before ? 0 : fold_no_memory(error);

	for (size_t i = 0; !r && i < json_array_size(declared); i++) {
		const char *id = text_of(json_array_get(declared, i), "id");

		if (json_object_get(before, id))
			continue;
		r = fold_is_live(fold, WFS_BUILTIN_PRINCIPAL, id, error);
		if (r > 0) {
			/* An action has made this principal already, and the principal keeps its
			 * account. */
			r = fold->input.partial ? 0 : grants_check_declared(fold, id, error);
			continue;
		}
		if (!r)
			r = grants_check_id(fold, id, error);
		if (!r && count++ >= WFS_PRINCIPALS_MAX)
			r = quota("principals", WFS_PRINCIPALS_MAX, error);
		if (!r)
			r = grants_make_principal(fold, json_array_get(declared, i), error);
	}
	return wfs_trace(r);
}

/* Removes the grants that the new manifest leaves out or declares differently, and those passed on
 * from them. */
static int remove_grants(struct wfs_fold *fold, const json_t *base, const json_t *after,
	size_t *ret_count, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *names = json_array();
	size_t i;
	json_t *grant;

	*ret_count = 0;
	json_array_foreach(base, i, grant) {
		const char *name = text_of(grant, "name");
		const json_t *next = json_object_get(after, name);
		int r = next && json_equal(next, grant)
			? 0
			: fold_is_live(fold, WFS_BUILTIN_GRANT, name, error);

		if (r < 0)
			return wfs_trace(r);
		if (r && json_array_append_new(names, json_string(name)) < 0)
			return fold_no_memory(error);
	}
	if (json_array_size(names) == 0)
		return names ? 0 : fold_no_memory(error);
	return wfs_trace(grants_remove(fold, names, ret_count, error));
}

/* Makes a grant that is new in the manifest, or differs from the one before. */
static int add_grant(struct wfs_fold *fold, const json_t *grant, struct wfs_error *error)
{
	const size_t reducer = fold_builtin(fold, WFS_BUILTIN_GRANT);
	const char *name = text_of(grant, "name");
	size_t cell;
	int r = fold_touch_unread(fold, reducer, wfs_bytes_text(name), &cell, error);

	if (r)
		return wfs_trace(r);
	if (fold_cell_at(fold, cell)->live)
		return wfs_error_set(error, WFS_E_ALREADY_EXISTS,
			"there is a grant '%s' already, which no manifest declares: revoke it or "
			"name this one otherwise",
			name);
	return wfs_trace(grants_make_grant(fold, name, grant, error));
}

static int add_grants(struct wfs_fold *fold, const json_t *before, const json_t *declared,
	uint64_t count, struct wfs_error *error)
{
	size_t i;
	json_t *grant;

	json_array_foreach(declared, i, grant) {
		const json_t *old = json_object_get(before, text_of(grant, "name"));
		int r = 0;

		if (old && json_equal(old, grant))
			continue; /* unchanged, also if it was revoked since */
		if (count++ >= WFS_GRANTS_MAX)
			r = quota("grants", WFS_GRANTS_MAX, error);
		if (!r)
			r = add_grant(fold, grant, error);
		if (r)
			return wfs_trace(r);
	}
	return 0;
}

int grants_fold_manifest(
	struct wfs_fold *fold, const struct wfs_manifest *to, struct wfs_error *error)
{
	const json_t *base = wfs_manifest_grants(fold->manifest);
	const json_t *declared = wfs_manifest_grants(to);
	WFS_AUTO_JSON json_t *before = by_member(base, "name");
	WFS_AUTO_JSON json_t *after = by_member(declared, "name");
	size_t removed = 0;
	int r = before && after ? 0 : fold_no_memory(error);

	if (!r)
		r = remove_grants(fold, base, after, &removed, error);
	if (!r)
		r = add_principals(fold, wfs_manifest_principals(fold->manifest),
			wfs_manifest_principals(to), error);
	if (!r)
		r = add_grants(fold, before, declared,
			fold_live_count(fold, WFS_BUILTIN_GRANT) - removed, error);
	return wfs_trace(r);
}
