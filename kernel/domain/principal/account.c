/* SPDX-License-Identifier: Apache-2.0 */
/* Scrip, and resources with their quotas. */
#include "kernel/domain/principal/account.h"

#include <inttypes.h>

#include "kernel/base/json.h"
#include "kernel/manifest/grant.h"

/* --- scrip --- */

int account_exists(struct wfs_fold *fold, const char *id, struct wfs_error *error)
{
	int r = fold_is_live(fold, WFS_BUILTIN_PRINCIPAL, id, error);

	if (r == 0)
		r = fold_lives(fold, WFS_BUILTIN_ARTIFACT, id, error);
	return r == 0 ? strcmp(id, WFS_PRINCIPAL_MINT) == 0 : r;
}

int account_scrip(
	struct wfs_fold *fold, const char *id, int64_t *ret_scrip, struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_ledger ledger;
	int r = fold_read_ledger(fold, id, &ledger, error);

	if (!r)
		*ret_scrip = ledger.scrip;
	return wfs_trace(r);
}

int account_add(struct wfs_fold *fold, const char *id, int64_t amount, struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_ledger ledger;
	int64_t sum;
	int r = fold_read_ledger(fold, id, &ledger, error);

	if (r)
		return wfs_trace(r);
	if (__builtin_add_overflow(ledger.scrip, amount, &sum))
		return wfs_error_set(error, WFS_E_QUOTA_EXCEEDED,
			"'%s' would hold more scrip than can be counted", id);
	if (sum < 0)
		return wfs_error_set(error, WFS_E_INSUFFICIENT_FUNDS,
			"'%s' has %" PRId64 " scrip, %" PRId64 " needed", id, ledger.scrip,
			-amount);
	ledger.scrip = sum;
	return wfs_trace(fold_write_ledger(fold, &ledger, error));
}

int account_move(struct wfs_fold *fold, const char *from, const char *to, int64_t amount,
	struct wfs_error *error)
{
	int r = account_add(fold, from, -amount, error);

	return wfs_trace(r ? r : account_add(fold, to, amount, error));
}

/* --- resources --- */

static const char *const resource_names[] = {
#define RESOURCE_NAME(constant, name) [ACCOUNT_##constant] = #name,
	WFS_RESOURCES(RESOURCE_NAME)
#undef RESOURCE_NAME
};

enum account_resource account_resource_find(const char *name)
{
	for (size_t i = 0; i < ACCOUNT_RESOURCE_COUNT; i++)
		if (strcmp(resource_names[i], name) == 0)
			return (enum account_resource)i;
	return ACCOUNT_RESOURCE_COUNT;
}

/* The resources of one account. `one` is the resource that load_resources() was asked for, added
 * if it was missing. */
struct resources {
	json_t *document; /* owned */
	json_t *one;      /* borrowed from it */
	size_t cell;
};

static void resources_done(struct resources *resources)
{
	json_decref(resources->document);
}

static int load_resources(struct wfs_fold *fold, const char *id, enum account_resource resource,
	struct resources *ret_resources, struct wfs_error *error)
{
	const char *const name = resource_names[resource];
	struct resources resources = {.document = NULL};
	int r = fold_load(
		fold, WFS_BUILTIN_RESOURCE, id, &resources.cell, &resources.document, error);

	if (r)
		return wfs_trace(r);
	if (!resources.document)
		resources.document = json_object();
	resources.one = json_object_get(resources.document, name);
	if (!resources.one) {
		resources.one = json_pack("{s:i}", "used", 0);
		r = json_object_set_new(resources.document, name, resources.one);
	}
	*ret_resources = resources;
	return r ? fold_no_memory(error) : 0;
}

static int64_t number(const json_t *object, const char *member)
{
	return json_integer_value(json_object_get(object, member));
}

static int set_number(struct wfs_fold *fold, const struct resources *resources, const char *member,
	int64_t value, struct wfs_error *error)
{
	if (json_object_set_new(resources->one, member, json_integer(value)) < 0)
		return fold_no_memory(error);
	return wfs_trace(fold_set_document(fold, resources->cell, resources->document, error));
}

int account_use(struct wfs_fold *fold, const char *id, enum account_resource resource,
	int64_t amount, struct wfs_error *error)
{
	WFS_CLEANUP(resources_done) struct resources resources = {.document = NULL};
	int r = load_resources(fold, id, resource, &resources, error);

	if (r)
		return wfs_trace(r);
	const json_t *const quota = json_object_get(resources.one, "quota");
	const int64_t used = number(resources.one, "used");
	int64_t sum;
	/* The store may be damaged, so the number that was read is checked. */
	if (used < 0 || __builtin_add_overflow(used, amount, &sum) || sum < 0)
		return wfs_error_set(error, WFS_E_HASH_MISMATCH,
			"the cell of sys.resource of '%s' is damaged: %" PRId64
			" of %s are used, and %" PRId64 " more are to be",
			id, used, resource_names[resource], amount);
	if (amount > 0 && quota && used > json_integer_value(quota) - amount)
		return wfs_error_set(error, WFS_E_QUOTA_EXCEEDED,
			"'%s' has %" PRId64 " of its %s left, %" PRId64 " needed", id,
			(int64_t)json_integer_value(quota) - used, resource_names[resource],
			amount);
	return wfs_trace(set_number(fold, &resources, "used", sum, error));
}

int account_spend(struct wfs_fold *fold, const char *id, enum account_resource resource,
	int64_t amount, struct wfs_error *error)
{
	WFS_CLEANUP(resources_done) struct resources resources = {.document = NULL};
	int64_t sum;
	int r = load_resources(fold, id, resource, &resources, error);

	if (r)
		return wfs_trace(r);
	wfs_require(amount >= 0);
	if (__builtin_add_overflow(number(resources.one, "used"), amount, &sum))
		sum = INT64_MAX;
	return wfs_trace(set_number(fold, &resources, "used", sum, error));
}

static int check_limited(const struct resources *resources, const char *id,
	enum account_resource resource, struct wfs_error *error)
{
	if (json_object_get(resources->one, "quota"))
		return 0;
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
		"'%s' has no quota of %s: nothing limits it", id, resource_names[resource]);
}

int account_move_quota(struct wfs_fold *fold, const char *from, const char *to,
	enum account_resource resource, int64_t amount, struct wfs_error *error)
{
	WFS_CLEANUP(resources_done) struct resources giver = {.document = NULL};
	WFS_CLEANUP(resources_done) struct resources taker = {.document = NULL};
	int r = load_resources(fold, from, resource, &giver, error);

	if (!r)
		r = check_limited(&giver, from, resource, error);
	if (r)
		return wfs_trace(r);
	const int64_t left = number(giver.one, "quota") - number(giver.one, "used");
	if (amount > left)
		return wfs_error_set(error, WFS_E_QUOTA_EXCEEDED,
			"'%s' has %" PRId64 " of its %s left, %" PRId64 " needed", from, left,
			resource_names[resource], amount);
	r = set_number(fold, &giver, "quota", number(giver.one, "quota") - amount, error);
	if (!r)
		r = load_resources(fold, to, resource, &taker, error);
	if (!r)
		r = check_limited(&taker, to, resource, error);
	if (r)
		return wfs_trace(r);
	int64_t sum;
	if (__builtin_add_overflow(number(taker.one, "quota"), amount, &sum))
		return wfs_error_set(error, WFS_E_QUOTA_EXCEEDED,
			"'%s' would have more %s than can be counted", to,
			resource_names[resource]);
	return wfs_trace(set_number(fold, &taker, "quota", sum, error));
}

/* --- both --- */

int account_open(
	struct wfs_fold *fold, const char *id, const json_t *account, struct wfs_error *error)
{
	const struct wfs_document_ledger ledger = {
		.scrip = json_integer_value(json_object_get(account, "scrip"))};
	WFS_AUTO_JSON json_t *resources = json_object();
	const char *name;
	json_t *quota;

	json_object_foreach(json_object_get(account, "quotas"), name, quota) {
		if (json_object_set_new(resources, name,
			    json_pack("{s:O, s:i}", "quota", quota, "used", 0)) < 0)
			return fold_no_memory(error);
	}
	if (!resources)
		return fold_no_memory(error);
	int r = fold_put_ledger(fold, id, &ledger, error);
	if (!r && json_object_size(resources) > 0)
		r = fold_put(fold, WFS_BUILTIN_RESOURCE, id, resources, error);
	return wfs_trace(r);
}
