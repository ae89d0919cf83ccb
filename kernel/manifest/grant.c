/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the members of a grant, one after the other. */
#include "kernel/manifest/grant.h"

#include <assert.h>
#include <string.h>

#include "kernel/base/json.h"
#include "kernel/manifest/document.h"
#include "kernel/manifest/effect.h"
#include "kernel/manifest/manifest.h"
#include "kernel/schema/schema.h"

static int expected(
	struct wfs_error *error, enum wfs_error_code code, const char *what, const json_t *value)
{
	WFS_AUTO_BUFFER struct wfs_buffer came = {0};

	wfs_json_describe(value, &came);
	return wfs_error_set(error, code, "expected %s, got %s", what, wfs_buffer_text(&came));
}

static const char *text_of(const json_t *value)
{
	const char *text = json_string_value(value);

	return text && strlen(text) == json_string_length(value) ? text : NULL;
}

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool wfs_grant_name_valid(const char *text)
{
	static_assert(WFS_GRANT_NAME_MAX == 128, "WFS_GRANT_NAME_FORM names the bound");
	if (!is_alnum(*text))
		return false;
	for (const char *at = text; *at; at++) {
		if (!is_alnum(*at) && !strchr("._#@:-", *at))
			return false;
	}
	return strlen(text) <= WFS_GRANT_NAME_MAX;
}

bool wfs_id_internal(const char *id)
{
	return strcmp(id, WFS_PRINCIPAL_MINT) == 0 || strcmp(id, WFS_PRINCIPAL_GENESIS) == 0;
}

/* Worlds of 0.2, which had no timers, may have artifacts with the names of their actions. */
static bool is_action(const char *id)
{
	const enum wfs_effect effect = wfs_effect_find_action(id);

	return effect < WFS_EFFECT_COUNT && strcmp(wfs_effect_cap_type(effect), "timer") != 0;
}

bool wfs_id_reserved(const char *id)
{
	return is_action(id) || wfs_id_internal(id) ||
		strncmp(id, WFS_GENESIS_PREFIX, strlen(WFS_GENESIS_PREFIX)) == 0;
}

/* --- members --- */

typedef int check_fn(const struct wfs_manifest *manifest, const json_t *grant, const json_t *value,
	struct wfs_error *error);

static const struct wfs_cap_definition *cap_of(
	const struct wfs_manifest *manifest, const json_t *grant)
{
	const char *name = text_of(json_object_get(grant, "cap"));

	return name ? wfs_manifest_cap(manifest, name) : NULL;
}

static int check_cap(const struct wfs_manifest *manifest, const json_t *grant, const json_t *value,
	struct wfs_error *error)
{
	if (cap_of(manifest, grant))
		return 0;
	return expected(error, json_is_string(value) ? WFS_E_NOT_FOUND : WFS_E_INVALID_ARGUMENT,
		"the name of a capability of this world", value);
}

static int check_name(const struct wfs_manifest *manifest, const json_t *grant, const json_t *value,
	struct wfs_error *error)
{
	const char *text = text_of(value);

	(void)manifest;
	(void)grant;
	if (text && wfs_grant_name_valid(text))
		return 0;
	return expected(error, WFS_E_INVALID_ARGUMENT, WFS_GRANT_NAME_FORM, value);
}

/* Checks the JSON Schema that arguments of tools must meet. */
static int check_arguments(json_t *schema, struct wfs_error *error)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	WFS_AUTO_SCHEMA struct wfs_schema *compiled = NULL;
	int r = schema ? wfs_schema_new(schema, NULL, "/arguments", &problems, &compiled) : 0;

	if (r == -EINVAL)
		return wfs_error_set(
			error, WFS_E_INVALID_ARGUMENT, "%.400s", wfs_buffer_text(&problems.lines));
	return r ? wfs_error_from_errno(error, r, "check a grant") : 0;
}

static int check_params(const struct wfs_manifest *manifest, const json_t *grant,
	const json_t *value, struct wfs_error *error)
{
	const struct wfs_cap_definition *cap = cap_of(manifest, grant);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_json_write(value, &text);
	if (wfs_buffer_check(&text))
		return wfs_error_from_errno(error, -ENOMEM, "check a grant");
	if (text.size > WFS_GRANT_PARAMS_MAX)
		return wfs_error_set(error, WFS_E_TOO_LARGE,
			"the params of a grant have at most %d bytes, got %zu",
			WFS_GRANT_PARAMS_MAX, text.size);
	int r = cap ? wfs_schema_check(cap->params, value, error) : 0; /* check_cap reports that */
	return r ? r : check_arguments(json_object_get(value, "arguments"), error);
}

static int check_expiry(const struct wfs_manifest *manifest, const json_t *grant,
	const json_t *value, struct wfs_error *error)
{
	(void)manifest;
	(void)grant;
	if (json_is_integer(value) && json_integer_value(value) >= 0)
		return 0;
	return expected(error, WFS_E_INVALID_ARGUMENT,
		"a time in nanoseconds since 1970, an integer", value);
}

static int check_budget(const struct wfs_manifest *manifest, const json_t *grant,
	const json_t *value, struct wfs_error *error)
{
	static const char *const names[] = {"calls", "tokens", NULL};
	const struct wfs_cap_definition *cap = cap_of(manifest, grant);
	int64_t count;
	int r = wfs_json_only(value, names, error);

	for (const char *const *name = names; !r && *name; name++)
		r = wfs_json_get_integer(value, *name, 0, INT64_MAX, &count, error);
	if (r)
		return r;
	if (json_object_size(value) == 0)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"expected calls, tokens or both, got neither");
	if (cap && strcmp(cap->cap_type, "query") == 0)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"a query capability has no budget: reading is not recorded");
	return 0;
}

static const struct {
	const char *name;
	bool required;
	check_fn *check;
} members[] = {
	{"name", false, check_name},
	{"cap", true, check_cap},
	{"to", true, check_name},
	{"params", true, check_params},
	{"expires_at_ns", false, check_expiry},
	{"budget", false, check_budget},
};

const char *wfs_grant_member(size_t index)
{
	return index < WFS_ARRAY_COUNT(members) ? members[index].name : NULL;
}

int wfs_grant_check_member(const struct wfs_manifest *manifest, const json_t *grant, size_t index,
	struct wfs_error *error)
{
	const json_t *value = json_object_get(grant, members[index].name);

	if (value)
		return members[index].check(manifest, grant, value, error);
	return members[index].required ? wfs_error_set(error, WFS_E_MISSING_ARGUMENT, "missing")
				       : 0;
}

/* --- accounts --- */

#define QUOTAS "quotas"

static const char *const account_members[] = {"scrip", QUOTAS,
#define QUOTA_POINTER(constant, name) QUOTAS "/" #name,
	WFS_RESOURCES(QUOTA_POINTER)
#undef QUOTA_POINTER
};

const char *wfs_account_member(size_t index)
{
	return index < WFS_ARRAY_COUNT(account_members) ? account_members[index] : NULL;
}

static int check_amount(const json_t *value, struct wfs_error *error)
{
	static_assert(WFS_ACCOUNT_START_MAX == 9007199254740992, "the message names the bound");
	if (!value ||
		(json_is_integer(value) && json_integer_value(value) >= 0 &&
			json_integer_value(value) <= WFS_ACCOUNT_START_MAX))
		return 0;
	return expected(
		error, WFS_E_INVALID_ARGUMENT, "an integer from 0 to 9007199254740992", value);
}

int wfs_account_check_member(const json_t *account, size_t index, struct wfs_error *error)
{
	static const char *const names[] = {
#define RESOURCE_NAME(constant, name) #name,
		WFS_RESOURCES(RESOURCE_NAME)
#undef RESOURCE_NAME
			NULL};
	const char *const member = account_members[index];
	const char *const slash = strchr(member, '/');
	const json_t *const quotas = json_object_get(account, QUOTAS);

	if (slash)
		return check_amount(json_object_get(quotas, slash + 1), error);
	if (strcmp(member, QUOTAS) == 0)
		return quotas ? wfs_json_only(quotas, names, error) : 0;
	return check_amount(json_object_get(account, member), error);
}

bool wfs_grant_is_spent(const struct wfs_document_grant *grant)
{
	static const char *const names[] = {"calls", "tokens"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(names); i++) {
		const json_t *const limit = json_object_get(grant->budget, names[i]);
		const json_t *const used = json_object_get(grant->used, names[i]);

		if (limit && json_integer_value(used) >= json_integer_value(limit))
			return true;
	}
	return false;
}

int wfs_grant_mark(const json_t *grant, struct wfs_hash *ret_mark)
{
	WFS_AUTO_JSON json_t *lasting = wfs_json_copy(grant);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	if (!lasting)
		return -ENOMEM;
	(void)json_object_del(lasting, "used");
	wfs_json_write(lasting, &text);
	int r = wfs_buffer_check(&text);
	if (!r)
		*ret_mark = wfs_hash_of(text.data, text.size);
	return r;
}
