/* SPDX-License-Identifier: Apache-2.0 */
/* Checks arrays and objects, and the values in them. */
#include <string.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/json.h"
#include "kernel/schema/schema-check-impl.h"

static void mark(struct schema_seen *seen, size_t index)
{
	seen->words[index / 64] |= UINT64_C(1) << index % 64;
}

static int check_unique(
	struct schema_check *check, const json_t *value, const struct schema_path *path)
{
	size_t first = 0;
	size_t second = 0;
	int r = schema_find_repeated(&check->steps, value, &first, &second);

	if (r <= 0)
		return r;
	return schema_violation(check, path, NULL,
		"expected items that differ, got items %zu and %zu equal", first, second);
}

static int check_items(struct schema_check *check, const struct schema_node *node,
	const json_t *value, const struct schema_path *path)
{
	const size_t count = json_array_size(value);
	size_t i;

	for (i = 0; i < count; i++) {
		struct schema_path inner = {.parent = path, .index = i};
		const struct schema_node *item_node =
			i < node->prefix_items.count ? node->prefix_items.nodes[i] : node->items;
		int r;

		if (!item_node)
			break;
		if (item_node->never)
			return schema_violation(check, &inner, json_array_get(value, i),
				"expected no item at this place");
		r = schema_check_inner(check, item_node, json_array_get(value, i), &inner);
		if (r < 0)
			return r;
	}
	while (check->seen && i > 0)
		mark(check->seen, --i);
	return 0;
}

/* Does an item fit the schema of `contains`? Return: 1, 0, or negative. */
static int contains_item(struct schema_check *check, const struct schema_node *node,
	const json_t *value, size_t index, const struct schema_path *path)
{
	const struct schema_path inner = {.parent = path, .index = index};
	int r;

	check->quiet++;
	r = schema_check_inner(check, node->contains, json_array_get(value, index), &inner);
	check->quiet--;
	if (r == 0 && check->seen)
		mark(check->seen, index);
	if (r == -EINVAL)
		return 0;
	return r == 0 ? 1 : r;
}

/* Stops when the answer is known,
 * unless an unevaluated… keyword needs to know all items that fit. */
static int check_contains(struct schema_check *check, const struct schema_node *node,
	const json_t *value, const struct schema_path *path)
{
	const uint64_t min = node->contains_min;
	const uint64_t max = node->contains_max;
	const size_t size = json_array_size(value);
	uint64_t count = 0;

	for (size_t i = 0; i < size && count <= max; i++) {
		const int r = contains_item(check, node, value, i, path);

		if (r < 0)
			return r;
		count += (uint64_t)r;
		if (count >= min && max == UINT64_MAX && !check->seen)
			return 0;
	}
	if (count < min)
		return schema_violation(check, path, value,
			"expected at least %llu item%s that fit%s (contains; %llu do%s)",
			(unsigned long long)min, schema_plural(min), min == 1 ? "s" : "",
			(unsigned long long)count, count == 1 ? "es" : "");
	if (count > max)
		return schema_violation(check, path, value,
			"expected at most %llu item%s that fit%s (contains; more do)",
			(unsigned long long)max, schema_plural(max), max == 1 ? "s" : "");
	return 0;
}

int schema_check_array(struct schema_check *check, const struct schema_node *node,
	const json_t *value, const struct schema_path *path)
{
	size_t count = json_array_size(value);
	int r;

	if (count < node->items_min)
		return schema_violation(check, path, value, "expected at least %llu item%s",
			(unsigned long long)node->items_min, schema_plural(node->items_min));
	if (count > node->items_max)
		return schema_violation(check, path, value, "expected at most %llu item%s",
			(unsigned long long)node->items_max, schema_plural(node->items_max));
	r = check_items(check, node, value, path);
	if (!r && node->contains)
		r = check_contains(check, node, value, path);
	return r || !node->items_unique ? r : check_unique(check, value, path);
}

static int member_missing(struct schema_check *check, const char *wanted, const json_t *value,
	const struct schema_path *path)
{
	WFS_AUTO_BUFFER struct wfs_buffer name = {0};
	WFS_AUTO_JSON json_t *text = NULL;

	if (check->quiet > 0)
		return -EINVAL;
	text = json_string(wanted);
	if (!text)
		return -ENOMEM;
	wfs_json_describe(text, &name);
	/* wfs_json_describe() begins with "string ", which a name does not need. */
	return schema_violation(check, path, value, "expected a member %s",
		wfs_buffer_text(&name) + strlen("string "));
}

/* Checks a member against the patternProperties that its name matches.
 * Return: 1 (it matches one), 0 (it matches none), or negative. */
static int check_groups(struct schema_check *check, const struct schema_node *node,
	const char *name, const json_t *item, const struct schema_path *path)
{
	int found = 0;

	for (size_t i = 0; i < node->group_count; i++) {
		const struct schema_group *const group = &node->groups[i];
		int r = schema_match(check, &group->pattern, name, strlen(name), path);

		if (r == 0)
			continue;
		found = 1;
		if (r > 0 && group->node->never)
			r = schema_violation(check, path, item, "expected no member of this name");
		else if (r > 0)
			r = schema_check_inner(check, group->node, item, path);
		if (r < 0)
			return r;
	}
	return found;
}

/* Checks members against patternProperties;
 * the others that `properties` does not name, against additionalProperties. */
static int check_members(struct schema_check *check, const struct schema_node *node,
	const json_t *value, const struct schema_path *path)
{
	const json_t *known = json_object_get(node->definition, "properties");
	const char *name;
	size_t index = 0;
	json_t *item;

	schema_spend(&check->steps, json_object_size(value) / SCHEMA_LOOKUPS_PER_STEP);
	json_object_foreach((json_t *)value, name, item) {
		const struct schema_path inner = {.parent = path, .name = name};
		int r = check_groups(check, node, name, item, &inner);
		bool found = r > 0 || json_object_get(known, name);

		if (r >= 0 && !found && node->additional) {
			if (node->additional->never)
				return schema_violation(
					check, &inner, item, "expected no member of this name");
			r = schema_check_inner(check, node->additional, item, &inner);
			found = true;
		}
		if (r < 0)
			return r;
		if (found && check->seen)
			mark(check->seen, index);
		index++;
	}
	return 0;
}

static int check_member_names(struct schema_check *check, const struct schema_node *node,
	const json_t *value, const struct schema_path *path)
{
	const char *name;
	json_t *item;

	json_object_foreach((json_t *)value, name, item) {
		const struct schema_path inner = {.parent = path, .name = name};
		WFS_AUTO_JSON json_t *text = json_string(name);
		int r;

		if (!text)
			return -ENOMEM;
		check->quiet++;
		r = schema_check_inner(check, node->names, text, &inner);
		check->quiet--;
		if (r == -EINVAL)
			return schema_violation(
				check, &inner, NULL, "expected another name (propertyNames)");
		if (r < 0)
			return r;
	}
	return 0;
}

static int check_dependent_required(struct schema_check *check, const struct schema_node *node,
	const json_t *value, const struct schema_path *path)
{
	const char *name;
	size_t index;
	json_t *names;
	json_t *needed;

	json_object_foreach((json_t *)node->dependent_required, name, names) {
		schema_spend(&check->steps, 1);
		if (!json_object_get(value, name))
			continue;
		schema_spend(&check->steps, json_array_size(names) / SCHEMA_LOOKUPS_PER_STEP);
		json_array_foreach(names, index, needed) {
			if (!json_object_get(value, json_string_value(needed)))
				return member_missing(
					check, json_string_value(needed), value, path);
		}
	}
	return 0;
}

static int check_properties(struct schema_check *check, const struct schema_node *node,
	const json_t *value, const struct schema_path *path, size_t *ret_known)
{
	size_t known = 0;

	schema_spend(&check->steps, node->property_count / SCHEMA_LOOKUPS_PER_STEP);
	for (size_t i = 0; i < node->property_count; i++) {
		const struct schema_property *property = &node->properties[i];
		struct schema_path inner = {.parent = path, .name = property->name};
		const json_t *item = json_object_get(value, property->name);
		int r;

		if (!item) {
			if (property->required)
				return member_missing(check, property->name, value, path);
			continue;
		}
		if (!property->node)
			continue;
		known++;
		r = schema_check_inner(check, property->node, item, &inner);
		if (r < 0)
			return r;
	}
	*ret_known = known;
	return 0;
}

int schema_check_object(struct schema_check *check, const struct schema_node *node,
	const json_t *value, const struct schema_path *path)
{
	size_t size = json_object_size(value);
	size_t known = 0;
	int r;

	if (size < node->members_min)
		return schema_violation(check, path, value, "expected at least %llu member%s",
			(unsigned long long)node->members_min, schema_plural(node->members_min));
	if (size > node->members_max)
		return schema_violation(check, path, value, "expected at most %llu member%s",
			(unsigned long long)node->members_max, schema_plural(node->members_max));
	r = check_properties(check, node, value, path, &known);
	if (!r && node->names)
		r = check_member_names(check, node, value, path);
	if (!r && node->dependent_required)
		r = check_dependent_required(check, node, value, path);
	if (r < 0)
		return r;
	if (node->group_count == 0 && !check->seen && (!node->additional || known == size))
		return 0;
	return check_members(check, node, value, path);
}

/* --- unevaluatedItems, unevaluatedProperties --- */

static bool is_marked(const struct schema_seen *seen, size_t index)
{
	return seen->all || seen->words[index / 64] >> index % 64 & 1;
}

static int check_rest_of_items(struct schema_check *check, const struct schema_node *node,
	const json_t *value, const struct schema_path *path)
{
	int r = 0;

	for (size_t i = 0; !r && i < check->seen->count; i++) {
		const struct schema_path inner = {.parent = path, .index = i};
		const json_t *const item = json_array_get(value, i);

		if (is_marked(check->seen, i))
			continue;
		r = node->unevaluated_items->never
			? schema_violation(check, &inner, item, "expected no item at this place")
			: schema_check_inner(check, node->unevaluated_items, item, &inner);
	}
	return r;
}

static int check_rest_of_members(struct schema_check *check, const struct schema_node *node,
	const json_t *value, const struct schema_path *path)
{
	const char *name;
	size_t index = 0;
	json_t *item;

	json_object_foreach((json_t *)value, name, item) {
		const struct schema_path inner = {.parent = path, .name = name};
		int r = 0;

		if (is_marked(check->seen, index++))
			continue;
		r = node->unevaluated_members->never
			? schema_violation(check, &inner, item, "expected no member of this name")
			: schema_check_inner(check, node->unevaluated_members, item, &inner);
		if (r < 0)
			return r;
	}
	return 0;
}

int schema_check_unevaluated(struct schema_check *check, const struct schema_node *node,
	const json_t *value, const struct schema_path *path)
{
	schema_spend(&check->steps, check->seen->count / SCHEMA_LOOKUPS_PER_STEP);
	return json_is_array(value) ? check_rest_of_items(check, node, value, path)
				    : check_rest_of_members(check, node, value, path);
}
