/* SPDX-License-Identifier: Apache-2.0 */
/* The table of effects: definitions, and decoding of params. */
#include "kernel/manifest/effect.h"

#include <string.h>

#include "kernel/base/json.h"

static const struct wfs_form consistency_shape = {
	.kind = WFS_FORM_TEXT,
	.comment = "head | exact:<h> | at_least:<h>; when absent: head",
};
static const struct wfs_form object_shape = {.kind = WFS_FORM_OBJECT, .ref = "sys/Object@1"};
static const struct wfs_form texts_shape = {.kind = WFS_FORM_LIST, .of = &wfs_form_text};
static const struct wfs_form values_shape = {.kind = WFS_FORM_LIST, .of = &wfs_form_value};

#define SHAPE_TEXT &wfs_form_text
#define SHAPE_CONSISTENCY &consistency_shape
#define SHAPE_NAT &wfs_form_nat
#define SHAPE_BOOL &wfs_form_bool
#define SHAPE_VALUE &wfs_form_value
#define SHAPE_OBJECT &object_shape
#define SHAPE_TEXTS &texts_shape
#define SHAPE_VALUES &values_shape
#define NEED_REQUIRED 0
#define NEED_OPTIONAL WFS_OPTIONAL

#define PARAM_ROW(effect, type, name, need, help) \
	{#name, SHAPE_##type, NEED_##need, help, offsetof(struct wfs_params, effect.name)},
#define PARAM_ROWS(constant, member, kind_, cap_type, scope, receipt, params, help) \
	static const struct wfs_field member##_params[] = {params(PARAM_ROW, member){NULL}};
WFS_EFFECTS(PARAM_ROWS)

static const struct {
	const char *member; /* of struct wfs_params */
	const char *kind;
	const char *cap_type;
	const char *origin_scope;
	const char *help;
	struct wfs_form params;
} effects[] = {
#define EFFECT_ROW(constant, member, kind_, cap_type, scope, receipt, params_, help_) \
	{#member, (kind_), (cap_type), (scope), (help_),                              \
		{.kind = WFS_FORM_RECORD, .fields = member##_params}},
	WFS_EFFECTS(EFFECT_ROW)
#undef EFFECT_ROW
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

const struct wfs_form *wfs_effect_params(enum wfs_effect effect)
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
	const struct wfs_field *member = wfs_effect_params(effect)->fields;

	for (; member->name; member++)
		if (strcmp(member->name, "artifact_id") == 0)
			return true;
	return effect == WFS_EFFECT_AGENT_STEP || effect == WFS_EFFECT_AGENT_APPROVE;
}

bool wfs_effect_covered_by(enum wfs_effect effect, const char *cap_type)
{
	const bool owned = effect == WFS_EFFECT_PLAN_RUN || effect == WFS_EFFECT_PLAN_CANCEL ||
		effect == WFS_EFFECT_AGENT_CANCEL || effect == WFS_EFFECT_AGENT_WAKE ||
		effect == WFS_EFFECT_AGENT_APPROVE || effect == WFS_EFFECT_INTENT_RESOLVE;

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

json_t *wfs_effect_definition(enum wfs_effect effect)
{
	wfs_require(effect < WFS_EFFECT_COUNT);
	return json_pack("{s:s, s:s, s:o, s:o, s:s, s:s}", "$kind", "defeffect", "name",
		effects[effect].kind, "params", wfs_shape_document(&effects[effect].params),
		"receipt", wfs_shape_document(wfs_effect_receipt(effect)), "origin_scope",
		effects[effect].origin_scope, "cap_type", effects[effect].cap_type);
}

json_t *wfs_effect_params_schema(enum wfs_effect effect)
{
	wfs_require(effect < WFS_EFFECT_COUNT);
	return wfs_form_schema(&effects[effect].params, false);
}

/* --- params and receipts --- */

void wfs_effect_drop_nulls(enum wfs_effect effect, json_t *params)
{
	wfs_form_drop_nulls(wfs_effect_params(effect), params);
}

int wfs_effect_decode(enum wfs_effect effect, const json_t *params, struct wfs_params *ret_params,
	struct wfs_error *error)
{
	struct wfs_params decoded = {.effect = effect};
	int r = wfs_form_read(
		wfs_effect_params(effect), wfs_effect_kind(effect), params, &decoded, error);

	if (!r)
		*ret_params = decoded;
	return r;
}

int wfs_effect_check_receipt(enum wfs_effect effect, const json_t *receipt, struct wfs_error *error)
{
	struct wfs_error reason = {0};
	int r = wfs_form_check(wfs_effect_receipt(effect), receipt, &reason);

	if (r == -EINVAL)
		return wfs_error_set(error, WFS_E_INTERNAL_ERROR,
			"the receipt of %s is not as defined: %.300s", wfs_effect_kind(effect),
			reason.message);
	return r ? wfs_error_from_errno(error, r, "check a receipt") : 0;
}
