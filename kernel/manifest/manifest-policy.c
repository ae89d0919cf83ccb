/* SPDX-License-Identifier: Apache-2.0 */
/* Policies: rules that are tried in order; the first that matches decides. */
#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/json.h"
#include "kernel/manifest/manifest-impl.h"
#include "kernel/value/tool.h"

/* --- conditions of rules --- */

bool wfs_policy_fits(const char *pattern, const char *text)
{
	const size_t size = pattern ? strlen(pattern) : 0;

	if (!pattern)
		return true;
	if (!text)
		return false;
	if (size > 0 && pattern[size - 1] == '*')
		return strncmp(pattern, text, size - 1) == 0;
	return strcmp(pattern, text) == 0;
}

const char *wfs_origin_name(enum wfs_origin origin)
{
	static const char *const names[] = {
#define ORIGIN_NAME(constant, name) name,
		WFS_ORIGINS(ORIGIN_NAME)
#undef ORIGIN_NAME
	};

	return names[origin];
}

/* --- rules --- */

/* The conditions of a rule. */
static const struct {
	const char *name;
	size_t offset; /* in struct wfs_policy_rule */
	bool always;   /* every question has a text for it */
} conditions[] = {
#define CONDITION(member, always)                                           \
	{                                                                   \
#member, offsetof(struct wfs_policy_rule, member), (always) \
	}
	CONDITION(effect, true),
	CONDITION(cap, true),
	CONDITION(principal, true),
	CONDITION(origin, true),
	CONDITION(reducer, false),
	CONDITION(artifact, false),
	CONDITION(tool, false),
	CONDITION(server, false),
	CONDITION(annotation, false),
#undef CONDITION
};

static bool is_pattern(const char *text)
{
	const size_t size = strlen(text);
	const char *star = strchr(text, '*');

	return size > 0 && size <= WFS_POLICY_PATTERN_MAX && (!star || !star[1]);
}

bool wfs_policy_rule_is_of_tools(const struct wfs_policy_rule *rule)
{
	return rule->tool || rule->server || rule->annotation;
}

/* A rule with any other word would never match. */
static void check_annotation(const struct manifest_reader *reader, struct wfs_place place,
	const json_t *when, const char *annotation)
{
	int i = 0;

	while (i < WFS_TOOL_HINT_COUNT && annotation &&
		strcmp(annotation, wfs_tool_hint_name(i)) != 0)
		i++;
	if (annotation && i == WFS_TOOL_HINT_COUNT)
		manifest_expected(reader, wfs_place_at("%s/annotation", place.text),
			"readOnlyHint, destructiveHint, idempotentHint or openWorldHint",
			json_object_get(when, "annotation"));
}

static void read_when(const struct manifest_reader *reader, struct wfs_place place,
	const json_t *when, struct wfs_policy_rule *rule)
{
	static const char *const none[] = {NULL};
	const char *optional[WFS_ARRAY_COUNT(conditions) + 1] = {NULL};

	static_assert(WFS_POLICY_PATTERN_MAX == 255, "the message names the bound");
	for (size_t i = 0; i < WFS_ARRAY_COUNT(conditions); i++)
		optional[i] = conditions[i].name;
	if (!manifest_check_members(reader, place, when, none, optional))
		return;
	for (size_t i = 0; i < WFS_ARRAY_COUNT(conditions); i++) {
		const json_t *value = json_object_get(when, conditions[i].name);
		const char *text = manifest_text(value);

		if (value && (!text || !is_pattern(text)))
			manifest_expected(reader,
				wfs_place_at("%s/%s", place.text, conditions[i].name),
				"text of 1 to 255 bytes, with no * but at its end", value);
		*(const char **)((char *)rule + conditions[i].offset) = text;
	}
	check_annotation(reader, place, when, rule->annotation);
}

static void read_rule(const struct manifest_reader *reader, struct wfs_place place,
	const json_t *item, struct wfs_policy_rule *rule)
{
	static const char *const names[] = {"when", "decision", NULL};
	const json_t *decision = json_object_get(item, "decision");
	const json_t *when = json_object_get(item, "when");
	const char *text = manifest_text(decision);

	if (!manifest_check_members(reader, place, item, names, NULL))
		return;
	if (when)
		read_when(reader, wfs_place_at("%s/when", place.text), when, rule);
	rule->allow = text && strcmp(text, "allow") == 0;
	rule->ask = text && strcmp(text, "ask") == 0;
	if (decision && !rule->allow && !rule->ask && (!text || strcmp(text, "deny") != 0))
		manifest_expected(reader, wfs_place_at("%s/decision", place.text),
			"\"allow\", \"ask\" or \"deny\"", decision);
}

/* --- rules that never match --- */

/* Is the effect one that only turns and plans cause? The kernel asks a driver for it without
 * judging a principal. */
static bool follows(enum wfs_effect effect)
{
	return effect == WFS_EFFECT_TOOL_CALL || effect == WFS_EFFECT_WORKFLOW_ADVANCE ||
		effect == WFS_EFFECT_PLAN_NORMALIZE || effect == WFS_EFFECT_PLAN_ADVANCE;
}

/* Is this effect ever judged for this origin? */
static bool comes_from(enum wfs_effect effect, enum wfs_origin origin)
{
	if (follows(effect))
		return false;
	switch (origin) {
	case WFS_ORIGIN_REDUCER:
		return wfs_effect_of_reducers(effect) || effect == WFS_EFFECT_MINT_SCORE;
	case WFS_ORIGIN_CODE:
		/* Queries of code are judged by the last three effects, see wfs_query_shows(). */
		return wfs_effect_action(effect) || effect == WFS_EFFECT_INTROSPECT_REDUCER_STATE ||
			effect == WFS_EFFECT_INTROSPECT_LIST_CELLS ||
			effect == WFS_EFFECT_INTROSPECT_JOURNAL;
	default:
		return effect != WFS_EFFECT_MINT_SCORE;
	}
}

static bool origin_may_match(const struct wfs_policy_rule *rule, enum wfs_effect effect)
{
	for (int i = 0; i < WFS_ORIGIN_COUNT; i++)
		if (wfs_policy_fits(rule->origin, wfs_origin_name((enum wfs_origin)i)) &&
			comes_from(effect, (enum wfs_origin)i))
			return true;
	return false;
}

static bool cap_may_match(const struct manifest_reader *reader, const struct wfs_policy_rule *rule,
	enum wfs_effect effect)
{
	const struct wfs_manifest *const manifest = reader->manifest;

	for (size_t i = 0; i < manifest->cap_count; i++) {
		const struct wfs_cap_definition *const cap = &manifest->caps[i].definition;

		/* Delegating a part of a grant is judged by the capability of that part. */
		if (wfs_policy_fits(rule->cap, cap->name) &&
			(wfs_effect_covered_by(effect, cap->cap_type) ||
				effect == WFS_EFFECT_WORLD_GRANT))
			return true;
	}
	return false;
}

static bool may_match(const struct manifest_reader *reader, const struct wfs_policy_rule *rule)
{
	for (int i = 0; i < WFS_EFFECT_COUNT; i++) {
		const enum wfs_effect effect = (enum wfs_effect)i;

		if (wfs_policy_fits(rule->effect, wfs_effect_kind(effect)) &&
			cap_may_match(reader, rule, effect) && origin_may_match(rule, effect) &&
			(!rule->reducer || wfs_effect_has_reducer(effect)) &&
			(!rule->artifact || wfs_effect_has_artifact(effect)) &&
			(!wfs_policy_rule_is_of_tools(rule) || effect == WFS_EFFECT_TOOL_OUTSIDE))
			return true;
	}
	return false;
}

/* Does the condition @before match everything that @after matches? A question about no reducer or
 * artifact only matches rules without such a condition. @always: every question has a text for
 * it */
static bool takes_all(const char *before, const char *after, bool always)
{
	const size_t size = before ? strlen(before) : 0;

	if (!before)
		return true;
	if (!after)
		return always && strcmp(before, "*") == 0;
	return before[size - 1] == '*' ? strncmp(before, after, size - 1) == 0
				       : strcmp(before, after) == 0;
}

static bool hides(const struct wfs_policy_rule *before, const struct wfs_policy_rule *after)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(conditions); i++) {
		const size_t offset = conditions[i].offset;

		if (!takes_all(*(const char *const *)((const char *)before + offset),
			    *(const char *const *)((const char *)after + offset),
			    conditions[i].always))
			return false;
	}
	return true;
}

/* Are all effects that the rule names caused by turns and plans only? */
static bool names_what_follows(const struct wfs_policy_rule *rule)
{
	bool any = false;

	for (int i = 0; i < WFS_EFFECT_COUNT; i++) {
		if (!wfs_policy_fits(rule->effect, wfs_effect_kind((enum wfs_effect)i)))
			continue;
		if (!follows((enum wfs_effect)i))
			return false;
		any = true;
	}
	return any;
}

/* Reports rules without effect, which are mistakes. Does so only when nothing else is wrong. */
static void check_rules(const struct manifest_reader *reader, struct wfs_place place,
	const struct wfs_policy_rule *rules, size_t count)
{
	for (size_t i = 0; i < count && reader->problems->count == 0; i++) {
		const struct wfs_place at = wfs_place_at("%s/%zu", place.text, i);
		size_t before = 0;

		while (before < i && !hides(&rules[before], &rules[i]))
			before++;
		if (names_what_follows(&rules[i]))
			wfs_problems_add(reader->problems, NULL, at.text,
				"never matches: '%s' follows from agent.step or plan.run, and is "
				"not judged; what tools do is judged as action.*, introspect.*, "
				"blob.get or tool.outside",
				rules[i].effect);
		else if (!may_match(reader, &rules[i]))
			wfs_problems_add(reader->problems, NULL, at.text,
				"never matches: no effect fits all of its conditions");
		else if (before < i)
			wfs_problems_add(reader->problems, NULL, at.text,
				"never matches: rule %zu matches first", before);
	}
}

/* --- policies --- */

/* Reads the rules of policy @index. @ret_rules: caller frees. */
static int read_rules(const struct manifest_reader *reader, const json_t *list, size_t index,
	struct wfs_policy_rule **ret_rules)
{
	struct wfs_place place = wfs_place_at("/policies/%zu/rules", index);
	size_t count = json_array_size(list);
	struct wfs_policy_rule *rules;

	if (list && !json_is_array(list))
		manifest_expected(reader, place, "array", list);
	if (count > WFS_MANIFEST_RULES_MAX) {
		wfs_problems_add(reader->problems, NULL, place.text,
			"at most %d are allowed, got %zu", WFS_MANIFEST_RULES_MAX, count);
		count = 0;
	}
	rules = calloc(count + 1, sizeof(*rules));
	if (!rules)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		read_rule(reader, wfs_place_at("%s/%zu", place.text, i), json_array_get(list, i),
			&rules[i]);
	check_rules(reader, place, rules, count);
	*ret_rules = rules;
	return 0;
}

static int read_policy(const struct manifest_reader *reader, const json_t *builtins,
	const json_t *item, size_t index, json_t *seen)
{
	static const char *const names[] = {"$kind", "name", "rules", NULL};
	const json_t *builtin = manifest_find_named(builtins, json_object_get(item, "name"));
	const struct manifest_naming naming = {manifest_is_definition_name, "a name like ns/Name@1",
		seen, builtin ? NULL : "sys/"};
	struct wfs_place place = wfs_place_at("/policies/%zu", index);
	struct wfs_manifest *manifest = reader->manifest;
	WFS_AUTO_FREE struct wfs_policy_rule *rules = NULL;
	const json_t *list = json_object_get(item, "rules");
	const char *name;
	int r;

	if (!manifest_check_members(reader, place, item, names, NULL))
		return 0;
	r = builtin ? manifest_check_builtin(reader, place, item, builtin) : 0;
	if (r < 0)
		return r;
	manifest_check_kind(reader, place, item, "defpolicy");
	r = manifest_enter(reader, wfs_place_at("%s/name", place.text),
		json_object_get(item, "name"), index, &naming, &name);
	if (r == 0)
		r = read_rules(reader, list, index, &rules);
	if (r < 0 || !name || !manifest->policy || strcmp(name, manifest->policy) != 0)
		return r;
	manifest->rules = WFS_STEAL(rules);
	manifest->rule_count = json_array_size(list);
	return 0;
}

int manifest_read_policies(const struct manifest_reader *reader)
{
	const json_t *list = manifest_list(
		reader, "policies", WFS_MANIFEST_POLICIES_MAX, WFS_BUILTIN_POLICY_COUNT);
	const json_t *policy = json_object_get(reader->manifest->document, "policy");
	WFS_AUTO_JSON json_t *builtins = wfs_builtin_policies();
	WFS_AUTO_JSON json_t *seen = json_object();

	if (!builtins || !seen)
		return -ENOMEM;
	reader->manifest->policy = manifest_text(policy);
	for (size_t i = 0; i < json_array_size(list); i++) {
		int r = read_policy(reader, builtins, json_array_get(list, i), i, seen);

		if (r < 0)
			return r;
	}
	if (list && policy &&
		(!reader->manifest->policy || !json_object_get(seen, reader->manifest->policy)))
		manifest_expected(reader, wfs_place_at("/policy"),
			"the name of a policy of this manifest", policy);
	return 0;
}
