/* SPDX-License-Identifier: Apache-2.0 */
/* The table of effects: definitions, and decoding of params. */
#include "kernel/manifest/effect.h"

#include <string.h>

#include "kernel/base/json.h"
#include "kernel/manifest/effect-impl.h"

static const struct wfs_shape consistency_shape = {
	.kind = WFS_SHAPE_TEXT,
	.comment = "head | exact:<h> | at_least:<h>; when absent: head",
};
static const struct wfs_shape object_shape = {.kind = WFS_SHAPE_OBJECT, .ref = "sys/Object@1"};
static const struct wfs_shape value_shape = {.kind = WFS_SHAPE_VALUE, .ref = "sys/Value@1"};
static const struct wfs_shape texts_shape = {.kind = WFS_SHAPE_LIST, .item = &wfs_shape_text};
static const struct wfs_shape values_shape = {.kind = WFS_SHAPE_LIST, .item = &value_shape};

#define SHAPE_TEXT &wfs_shape_text
#define SHAPE_CONSISTENCY &consistency_shape
#define SHAPE_NAT &wfs_shape_nat
#define SHAPE_BOOL &wfs_shape_bool
#define SHAPE_VALUE &value_shape
#define SHAPE_OBJECT &object_shape
#define SHAPE_TEXTS &texts_shape
#define SHAPE_VALUES &values_shape
#define NEED_REQUIRED false
#define NEED_OPTIONAL true
#define MARK_REQUIRED ""
#define MARK_OPTIONAL "?"

#define PARAM_ROW(effect, type, name, need, help) \
	{#name, SHAPE_##type, NEED_##need, offsetof(struct wfs_params, effect.name), help},
#define PARAM_ROWS(constant, member, kind_, cap_type, scope, receipt, params, help) \
	static const struct wfs_shape_member member##_params[] = {params(PARAM_ROW, member){NULL}};
WFS_EFFECTS(PARAM_ROWS)

static const struct {
	const char *member; /* of struct wfs_params */
	const char *kind;
	const char *cap_type;
	const char *origin_scope;
	const char *help;
	struct wfs_shape params;
	const char *members; /* separated by spaces, with one in front */
} effects[] = {
#define PARAM_WORD(effect, type, name, need, help) " " #name MARK_##need
#define EFFECT_ROW(constant, member, kind_, cap_type, scope, receipt, params_, help_) \
	{#member, (kind_), (cap_type), (scope), (help_),                              \
		{.kind = WFS_SHAPE_RECORD, .members = member##_params},               \
		"" params_(PARAM_WORD, member)},
	WFS_EFFECTS(EFFECT_ROW)
#undef EFFECT_ROW
#undef PARAM_WORD
};

const char *wfs_effect_kind(enum wfs_effect effect)
{
	wfs_require(effect < WFS_EFFECT_COUNT);
	return effects[effect].kind;
}

const char *wfs_effect_action(enum wfs_effect effect)
{
	static const char prefix[] = "action_";

	wfs_require(effect < WFS_EFFECT_COUNT);
	return strncmp(effects[effect].member, prefix, strlen(prefix)) == 0
		? effects[effect].member + strlen(prefix)
		: NULL;
}

enum wfs_effect wfs_effect_find_action(const char *name)
{
	for (int i = 0; i < WFS_EFFECT_COUNT; i++) {
		const char *const action = wfs_effect_action((enum wfs_effect)i);

		if (action && strcmp(action, name) == 0)
			return (enum wfs_effect)i;
	}
	return WFS_EFFECT_COUNT;
}

enum wfs_effect wfs_action_effect(const json_t *action)
{
	const char *const name = json_string_value(json_object_get(action, "action_type"));

	return name ? wfs_effect_find_action(name) : WFS_EFFECT_COUNT;
}

bool wfs_introspects(enum wfs_effect effect)
{
	return effect == WFS_EFFECT_INTROSPECT_MANIFEST ||
		effect == WFS_EFFECT_INTROSPECT_REDUCER_STATE ||
		effect == WFS_EFFECT_INTROSPECT_JOURNAL_HEAD ||
		effect == WFS_EFFECT_INTROSPECT_LIST_CELLS;
}

json_t *wfs_action_params(const json_t *action)
{
	const enum wfs_effect effect = wfs_action_effect(action);
	json_t *const params = wfs_json_copy(action);

	if (params)
		(void)json_object_del(params, "action_type");
	if (params && effect < WFS_EFFECT_COUNT)
		wfs_effect_drop_nulls(effect, params);
	return params;
}

int wfs_action_check_form(const json_t *action, struct wfs_error *error)
{
	const enum wfs_effect effect = wfs_action_effect(action);
	WFS_AUTO_JSON json_t *params = wfs_action_params(action);
	struct wfs_params decoded;

	wfs_require(effect < WFS_EFFECT_COUNT);
	if (!params)
		return wfs_error_from_errno(error, -ENOMEM, "check an action");
	return wfs_effect_decode(effect, params, &decoded, error);
}

const char *wfs_effect_granted_as(enum wfs_effect effect)
{
	const char *const action = wfs_effect_action(effect);

	return action ? action : wfs_effect_kind(effect);
}

const char *wfs_effect_cap_type(enum wfs_effect effect)
{
	wfs_require(effect < WFS_EFFECT_COUNT);
	return effects[effect].cap_type;
}

const char *wfs_effect_help(enum wfs_effect effect)
{
	wfs_require(effect < WFS_EFFECT_COUNT);
	return effects[effect].help;
}

const struct wfs_shape *wfs_effect_params(enum wfs_effect effect)
{
	wfs_require(effect < WFS_EFFECT_COUNT);
	return &effects[effect].params;
}

bool wfs_effect_acts(enum wfs_effect effect)
{
	return effect != WFS_EFFECT_BLOB_GET && strcmp(wfs_effect_cap_type(effect), "query") != 0;
}

bool wfs_effect_has_reducer(enum wfs_effect effect)
{
	return effect == WFS_EFFECT_INTROSPECT_REDUCER_STATE ||
		effect == WFS_EFFECT_INTROSPECT_LIST_CELLS;
}

bool wfs_effect_has_artifact(enum wfs_effect effect)
{
	const struct wfs_shape_member *member = wfs_effect_params(effect)->members;

	for (; member->name; member++)
		if (strcmp(member->name, "artifact_id") == 0)
			return true;
	return effect == WFS_EFFECT_AGENT_STEP || effect == WFS_EFFECT_AGENT_APPROVE;
}

bool wfs_effect_covered_by(enum wfs_effect effect, const char *cap_type)
{
	const bool owned = effect == WFS_EFFECT_PLAN_RUN || effect == WFS_EFFECT_PLAN_CANCEL ||
		effect == WFS_EFFECT_AGENT_CANCEL || effect == WFS_EFFECT_AGENT_APPROVE;

	return strcmp(cap_type, wfs_effect_cap_type(effect)) == 0 ||
		(owned && strcmp(cap_type, "admin") == 0);
}

enum wfs_effect wfs_effect_find(const char *kind)
{
	for (int i = 0; i < WFS_EFFECT_COUNT; i++)
		if (strcmp(effects[i].kind, kind) == 0)
			return (enum wfs_effect)i;
	return WFS_EFFECT_COUNT;
}

bool wfs_effect_of_reducers(enum wfs_effect effect)
{
	wfs_require(effect < WFS_EFFECT_COUNT);
	return strcmp(effects[effect].origin_scope, "both") == 0;
}

const char *wfs_effect_members(enum wfs_effect effect)
{
	wfs_require(effect < WFS_EFFECT_COUNT);
	return effects[effect].members + strspn(effects[effect].members, " ");
}

json_t *wfs_effect_definition(enum wfs_effect effect)
{
	wfs_require(effect < WFS_EFFECT_COUNT);
	return json_pack("{s:s, s:s, s:o, s:o, s:s, s:s}", "$kind", "defeffect", "name",
		effects[effect].kind, "params", wfs_shape_document(&effects[effect].params),
		"receipt", wfs_shape_document(effect_receipt(effect)), "origin_scope",
		effects[effect].origin_scope, "cap_type", effects[effect].cap_type);
}

json_t *wfs_effect_params_schema(enum wfs_effect effect)
{
	wfs_require(effect < WFS_EFFECT_COUNT);
	return wfs_shape_schema(&effects[effect].params);
}

/* --- params and receipts --- */

/* Checks JSON that is passed on as it came. */
static int check_json(
	const json_t *value, const struct wfs_shape_member *member, struct wfs_error *error)
{
	const struct wfs_shape *const shape = member->shape;
	size_t i;
	const json_t *item;

	if (shape->kind == WFS_SHAPE_OBJECT && !json_is_object(value))
		return wfs_error_set(
			error, WFS_E_INVALID_ARGUMENT, "'%s': expected an object", member->name);
	if (shape->kind != WFS_SHAPE_LIST)
		return 0;
	if (!json_is_array(value))
		return wfs_error_set(
			error, WFS_E_INVALID_ARGUMENT, "'%s': expected an array", member->name);
	json_array_foreach(value, i, item) if (shape->item->kind == WFS_SHAPE_TEXT &&
		!json_is_string(item)) return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
		"'%s': expected an array of texts", member->name);
	return 0;
}

static int read_flag(
	const json_t *params, const char *name, bool *ret_flag, struct wfs_error *error)
{
	const json_t *const value = json_object_get(params, name);

	if (value && !json_is_boolean(value))
		return wfs_error_set(
			error, WFS_E_INVALID_ARGUMENT, "'%s': expected true or false", name);
	*ret_flag = json_is_true(value);
	return 0;
}

/* Decodes one member into its place in the struct at @base. */
static int decode_member(const json_t *params, const struct wfs_shape_member *member, char *base,
	struct wfs_error *error)
{
	const json_t *const value = json_object_get(params, member->name);
	void *const place = base + member->offset;

	switch (member->shape->kind) {
	case WFS_SHAPE_TEXT:
		*(const char **)place = NULL;
		return value ? wfs_json_get_string(params, member->name, place, error) : 0;
	case WFS_SHAPE_NAT:
		*(int64_t *)place = -1;
		return wfs_json_get_integer(params, member->name, 0, INT64_MAX, place, error);
	case WFS_SHAPE_BOOL:
		return read_flag(params, member->name, place, error);
	default:
		*(const json_t **)place = value;
		return value ? check_json(value, member, error) : 0;
	}
}

void wfs_effect_drop_nulls(enum wfs_effect effect, json_t *params)
{
	wfs_require(effect < WFS_EFFECT_COUNT);
	for (const struct wfs_shape_member *member = effects[effect].params.members; member->name;
		member++)
		if (member->optional && member->shape->kind != WFS_SHAPE_VALUE &&
			json_is_null(json_object_get(params, member->name)))
			(void)json_object_del(params, member->name);
}

int wfs_effect_decode(enum wfs_effect effect, const json_t *params, struct wfs_params *ret_params,
	struct wfs_error *error)
{
	struct wfs_params decoded = {.effect = effect};
	int r = wfs_json_members(
		params, wfs_effect_kind(effect), wfs_effect_members(effect), error);

	for (const struct wfs_shape_member *member = effects[effect].params.members;
		!r && member->name; member++)
		r = decode_member(params, member, (char *)&decoded, error);
	if (!r)
		*ret_params = decoded;
	return r;
}

int wfs_effect_check_receipt(enum wfs_effect effect, const json_t *receipt, struct wfs_error *error)
{
	struct wfs_error reason = {0};
	int r = wfs_shape_check(effect_receipt(effect), receipt, &reason);

	if (r == -EINVAL)
		return wfs_error_set(error, WFS_E_INTERNAL_ERROR,
			"the receipt of %s is not as defined: %.300s", wfs_effect_kind(effect),
			reason.message);
	return r ? wfs_error_from_errno(error, r, "check a receipt") : 0;
}
