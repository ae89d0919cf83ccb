/* SPDX-License-Identifier: Apache-2.0 */
/* Checks values against a compiled schema. The first violation is reported. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/json.h"
#include "kernel/schema/schema-check-impl.h"

static bool is_whole(const json_t *value)
{
	double real;

	if (json_is_integer(value))
		return true;
	real = json_real_value(value);
	return isfinite(real) && floor(real) == real;
}

static unsigned types_of(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_NULL:
		return SCHEMA_NULL;
	case JSON_TRUE:
	case JSON_FALSE:
		return SCHEMA_BOOLEAN;
	case JSON_INTEGER:
		return SCHEMA_INTEGER | SCHEMA_NUMBER;
	case JSON_REAL:
		return is_whole(value) ? SCHEMA_INTEGER | SCHEMA_NUMBER : SCHEMA_NUMBER;
	case JSON_STRING:
		return SCHEMA_STRING;
	case JSON_ARRAY:
		return SCHEMA_ARRAY;
	case JSON_OBJECT:
		return SCHEMA_OBJECT;
	}
	return 0;
}

/* --- items and members that keywords have checked --- */

static size_t seen_words(const struct schema_seen *seen)
{
	return seen->count / 64 + 1;
}

/* Charges @check for clearing and merging @seen. */
static int seen_init(struct schema_check *check, size_t count, struct schema_seen *seen)
{
	*seen = (struct schema_seen){.count = count};
	schema_spend(&check->steps, seen_words(seen) / SCHEMA_SEEN_WORDS_PER_STEP);
	seen->words = calloc(seen_words(seen), sizeof(*seen->words));
	return seen->words ? 0 : -ENOMEM;
}

static void seen_merge(struct schema_seen *into, const struct schema_seen *from)
{
	into->all = into->all || from->all;
	for (size_t i = 0; i < seen_words(into) && !into->all; i++)
		into->words[i] |= from->words[i];
}

/* --- schemas in place --- */

/* Checks a schema of `anyOf`, `if` …: without a message,
 * and marking items and members only if it fits. */
static int check_branch(struct schema_check *check, const struct schema_node *node,
	const json_t *value, const struct schema_path *path)
{
	struct schema_seen *const outer = check->seen;
	struct schema_seen seen = {0};
	int r = outer ? seen_init(check, outer->count, &seen) : 0;

	if (r < 0)
		return r;
	if (outer)
		check->seen = &seen;
	check->quiet++;
	r = schema_check_node(check, node, value, path);
	check->quiet--;
	check->seen = outer;
	if (r == 0 && outer)
		seen_merge(outer, &seen);
	free(seen.words);
	return r;
}

/* Counts the schemas of a list that fit, up to @enough. Return: the count, or negative. */
static int count_fitting(struct schema_check *check, const struct schema_list *list,
	const json_t *value, const struct schema_path *path, int enough)
{
	int count = 0;

	for (size_t i = 0; i < list->count && count < enough; i++) {
		int r = check_branch(check, list->nodes[i], value, path);

		if (r < 0 && r != -EINVAL)
			return r;
		count += r == 0;
	}
	return count;
}

static int check_choices(struct schema_check *check, const struct schema_node *node,
	const json_t *value, const struct schema_path *path)
{
	int count;

	if (node->any_of.count > 0) {
		/* For unevaluated… keywords try all,
		 * because each that fits marks items or members. */
		count = count_fitting(check, &node->any_of, value, path, check->seen ? INT_MAX : 1);
		if (count < 0)
			return count;
		if (count == 0)
			return schema_violation(check, path, value,
				"expected a value that fits one of %zu schemas (anyOf)",
				node->any_of.count);
	}
	if (node->one_of.count > 0) {
		count = count_fitting(check, &node->one_of, value, path, 2);
		if (count < 0)
			return count;
		if (count != 1)
			return schema_violation(check, path, value,
				"expected a value that fits exactly one of %zu schemas (oneOf, %s)",
				node->one_of.count, count == 0 ? "it fits none" : "it fits two");
	}
	return 0;
}

static int check_not(struct schema_check *check, const struct schema_node *node,
	const json_t *value, const struct schema_path *path)
{
	struct schema_seen *const outer = check->seen;
	int r;

	if (!node->negated)
		return 0;
	check->seen = NULL;
	r = check_branch(check, node->negated, value, path);
	check->seen = outer;
	if (r == -EINVAL)
		return 0;
	return r < 0
		? r
		: schema_violation(check, path, value, "expected a value that does not fit (not)");
}

static int check_condition(struct schema_check *check, const struct schema_node *node,
	const json_t *value, const struct schema_path *path)
{
	const struct schema_node *next;
	int r;

	if (!node->if_fits)
		return 0;
	r = check_branch(check, node->if_fits, value, path);
	if (r < 0 && r != -EINVAL)
		return r;
	next = r == 0 ? node->then_fits : node->else_fits;
	return next ? schema_check_node(check, next, value, path) : 0;
}

static int check_dependent(struct schema_check *check, const struct schema_node *node,
	const json_t *value, const struct schema_path *path)
{
	int r = 0;

	schema_spend(&check->steps, node->dependent_count / SCHEMA_LOOKUPS_PER_STEP);
	for (size_t i = 0; !r && i < node->dependent_count; i++) {
		const struct schema_property *const dependent = &node->dependent_schemas[i];

		if (json_object_get(value, dependent->name))
			r = schema_check_node(check, dependent->node, value, path);
	}
	return r;
}

/* Finds the dynamic anchor in the first entered resource that has one; otherwise the target. */
static const struct schema_node *dynamic_target(
	struct schema_check *check, const struct schema_reference *reference)
{
	for (unsigned i = 0; reference->dynamic_count > 0 && i < check->scope.count; i++) {
		size_t first = 0;
		size_t end = reference->dynamic_count;

		schema_spend(&check->steps, i % SCHEMA_LOOKUPS_PER_STEP == 0);
		while (first < end) {
			const size_t middle = first + (end - first) / 2;

			if (reference->dynamics[middle].resource < check->scope.resources[i])
				first = middle + 1;
			else
				end = middle;
		}
		if (first < reference->dynamic_count &&
			reference->dynamics[first].resource == check->scope.resources[i])
			return reference->dynamics[first].node;
	}
	return reference->target;
}

static int check_reference(struct schema_check *check, const struct schema_reference *reference,
	const json_t *value, const struct schema_path *path)
{
	return reference->target
		? schema_check_node(check, dynamic_target(check, reference), value, path)
		: 0;
}

static int check_in_place(struct schema_check *check, const struct schema_node *node,
	const json_t *value, const struct schema_path *path)
{
	int r = check_reference(check, &node->reference, value, path);

	if (r == 0)
		r = check_reference(check, &node->dynamic_reference, value, path);
	for (size_t i = 0; r == 0 && i < node->all_of.count; i++)
		r = schema_check_node(check, node->all_of.nodes[i], value, path);
	if (r == 0)
		r = check_choices(check, node, value, path);
	if (r == 0)
		r = check_not(check, node, value, path);
	if (r == 0)
		r = check_condition(check, node, value, path);
	if (r == 0)
		r = check_dependent(check, node, value, path);
	return r;
}

/* --- a schema --- */

static int check_type(struct schema_check *check, const struct schema_node *node,
	const json_t *value, const struct schema_path *path)
{
	WFS_AUTO_BUFFER struct wfs_buffer names = {0};

	if (check->quiet > 0)
		return -EINVAL;
	schema_type_names(node->types, &names);
	return schema_violation(check, path, value, "expected %s", wfs_buffer_text(&names));
}

static int check_keywords(struct schema_check *check, const struct schema_node *node,
	const json_t *value, const struct schema_path *path)
{
	int r = 0;

	if (node->checks & SCHEMA_CHECK_EQUAL)
		r = schema_check_equal(check, node, value, path);
	if (r < 0)
		return r;
	if (json_is_number(value) && (node->checks & SCHEMA_CHECK_NUMBER))
		r = schema_check_number(check, node, value, path);
	else if (json_is_string(value) && (node->checks & SCHEMA_CHECK_STRING))
		r = schema_check_string(check, node, value, path);
	else if (json_is_array(value) && (node->checks & SCHEMA_CHECK_ARRAY))
		r = schema_check_array(check, node, value, path);
	else if (json_is_object(value) && (node->checks & SCHEMA_CHECK_OBJECT))
		r = schema_check_object(check, node, value, path);
	if (r < 0 || !(node->checks & SCHEMA_CHECK_IN_PLACE))
		return r;
	return check_in_place(check, node, value, path);
}

/* Checks the keywords, and then unevaluatedItems or unevaluatedProperties
 * with what they have marked. */
static int check_with_rest(struct schema_check *check, const struct schema_node *node,
	const json_t *value, const struct schema_path *path)
{
	struct schema_seen *const outer = check->seen;
	struct schema_seen seen;
	int r = seen_init(check,
		json_is_array(value) ? json_array_size(value) : json_object_size(value), &seen);

	if (r < 0)
		return r;
	check->seen = &seen;
	r = check_keywords(check, node, value, path);
	if (r == 0)
		r = schema_check_unevaluated(check, node, value, path);
	check->seen = outer;
	if (r == 0 && outer)
		outer->all = true;
	free(seen.words);
	return r;
}

/* Enters a resource. Return: false if the check is inside of it already;
 * otherwise leave it later. */
static bool scope_enter(struct schema_check *check, unsigned resource)
{
	struct schema_scope *const scope = &check->scope;

	if (!scope->resources || scope->entered[resource])
		return false;
	scope->entered[resource] = true;
	scope->resources[scope->count++] = resource;
	return true;
}

static int check_nested(struct schema_check *check, const struct schema_node *node,
	const json_t *value, const struct schema_path *path)
{
	const bool has_rest = (node->unevaluated_items && json_is_array(value)) ||
		(node->unevaluated_members && json_is_object(value));
	bool entered;
	int r;

	if (check->chain >= WFS_SCHEMA_CHAIN_MAX || check->nested >= WFS_SCHEMA_NESTED_MAX)
		return schema_stop(check, path, "too many schemas apply inside one another");
	entered = scope_enter(check, node->resource);
	check->chain++;
	check->nested++;
	r = has_rest ? check_with_rest(check, node, value, path)
		     : check_keywords(check, node, value, path);
	check->chain--;
	check->nested--;
	if (entered) {
		check->scope.entered[node->resource] = false;
		check->scope.count--;
	}
	return r;
}

int schema_check_node(struct schema_check *check, const struct schema_node *node,
	const json_t *value, const struct schema_path *path)
{
	if (check->steps == 0)
		return schema_stop(check, path, "the check takes too many steps");
	check->steps--;
	if (node->never)
		return schema_violation(check, path, value, "expected nothing");
	if (node->types != SCHEMA_ANY && !(node->types & types_of(value)))
		return check_type(check, node, value, path);
	return node->checks == 0 ? 0 : check_nested(check, node, value, path);
}

int schema_check_inner(struct schema_check *check, const struct schema_node *node,
	const json_t *value, const struct schema_path *path)
{
	struct schema_seen *const seen = check->seen;
	const unsigned chain = check->chain;
	int r;

	if (check->depth >= WFS_JSON_DEPTH_MAX)
		return schema_stop(check, path, "the value is nested too deeply");
	check->depth++;
	check->chain = 0;
	check->seen = NULL;
	r = schema_check_node(check, node, value, path);
	check->seen = seen;
	check->chain = chain;
	check->depth--;
	return r;
}

static int scope_init(const struct wfs_schema *schema, struct schema_scope *scope)
{
	if (!schema->has_scopes)
		return 0;
	scope->resources = calloc(schema->resource_count, sizeof(*scope->resources));
	scope->entered = calloc(schema->resource_count, sizeof(*scope->entered));
	return scope->resources && scope->entered ? 0 : -ENOMEM;
}

int wfs_schema_check_counted(const struct wfs_schema *schema, const json_t *value, uint64_t *steps,
	struct wfs_error *error)
{
	struct schema_check check = {.error = error, .steps = WFS_SCHEMA_STEPS_MAX};
	int r = scope_init(schema, &check.scope);

	if (!r)
		r = schema_check_node(&check, schema->root, value, NULL);
	wfs_matcher_free(check.matcher);
	free(check.scope.resources);
	free(check.scope.entered);
	*steps += WFS_SCHEMA_STEPS_MAX - check.steps;
	return r == SCHEMA_CHECK_STOPPED ? -EINVAL : r;
}

int wfs_schema_check(const struct wfs_schema *schema, const json_t *value, struct wfs_error *error)
{
	uint64_t steps = 0;

	return wfs_schema_check_counted(schema, value, &steps, error);
}
