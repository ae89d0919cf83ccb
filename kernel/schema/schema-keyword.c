/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keywords of a schema, one row each in a table. A keyword fills members of its node; unknown
 * keywords are refused.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/json.h"
#include "kernel/schema/schema-impl.h"

#define FIELD(node, keyword, type) ((type *)((char *)(node) + (keyword)->offset))

static int compile_annotation(struct schema_compiler *compiler, struct schema_node *node,
	const struct schema_keyword *keyword, json_t *value, const struct schema_path *path)
{
	WFS_AUTO_BUFFER struct wfs_buffer names = {0};
	unsigned type;

	(void)node;
	if (json_is_string(value))
		type = SCHEMA_STRING;
	else if (json_is_boolean(value))
		type = SCHEMA_BOOLEAN;
	else if (json_is_array(value))
		type = SCHEMA_ARRAY;
	else
		type = json_is_object(value) ? SCHEMA_OBJECT : SCHEMA_NULL;
	if (keyword->types == SCHEMA_ANY || (keyword->types & type))
		return 0;
	schema_type_names(keyword->types, &names);
	schema_problem(compiler, path, value, "expected %s", wfs_buffer_text(&names));
	return 0;
}

/* For keywords that schema_resource_enter() has read. */
static int compile_nothing(struct schema_compiler *compiler, struct schema_node *node,
	const struct schema_keyword *keyword, json_t *value, const struct schema_path *path)
{
	(void)compiler;
	(void)node;
	(void)keyword;
	(void)value;
	(void)path;
	return 0;
}

static int compile_dialect(struct schema_compiler *compiler, struct schema_node *node,
	const struct schema_keyword *keyword, json_t *value, const struct schema_path *path)
{
	static const char dialect[] = "https://json-schema.org/draft/2020-12/schema";
	const char *text = json_string_value(value);

	(void)keyword;
	if (path->parent && compiler->resources[node->resource].root != node)
		schema_problem(compiler, path, NULL,
			"$schema may stand only at the top of a schema, or beside $id");
	else if (!text)
		schema_problem(compiler, path, value, "expected string");
	else if (strcmp(text, dialect) != 0)
		schema_problem(compiler, path, value, "expected \"%s\"", dialect);
	return 0;
}

static int compile_type(struct schema_compiler *compiler, struct schema_node *node,
	const struct schema_keyword *keyword, json_t *value, const struct schema_path *path)
{
	unsigned types = 0;
	size_t index;
	json_t *item;

	(void)keyword;
	if (!json_is_array(value)) {
		types = schema_type_find(value);
		if (!types)
			schema_problem(compiler, path, value, "expected the name of a type");
		node->types = types;
		return 0;
	}
	if (json_array_size(value) == 0)
		schema_problem(compiler, path, value, "expected at least one type");
	json_array_foreach(value, index, item) {
		struct schema_path inner = {.parent = path, .index = index};
		unsigned type = schema_type_find(item);

		if (!type)
			schema_problem(compiler, &inner, item, "expected the name of a type");
		else if (types & type)
			schema_problem(compiler, &inner, NULL, "the type stands there twice");
		types |= type;
	}
	node->types = types;
	return 0;
}

static int compile_constant(struct schema_compiler *compiler, struct schema_node *node,
	const struct schema_keyword *keyword, json_t *value, const struct schema_path *path)
{
	(void)compiler;
	(void)keyword;
	(void)path;
	node->constant = value;
	return 0;
}

static int compile_enumeration(struct schema_compiler *compiler, struct schema_node *node,
	const struct schema_keyword *keyword, json_t *value, const struct schema_path *path)
{
	(void)keyword;
	if (!json_is_array(value))
		schema_problem(compiler, path, value, "expected array");
	else
		node->enumeration = value;
	return 0;
}

static int compile_number(struct schema_compiler *compiler, struct schema_node *node,
	const struct schema_keyword *keyword, json_t *value, const struct schema_path *path)
{
	if (!json_is_number(value))
		schema_problem(compiler, path, value, "expected number");
	else if (keyword->offset == offsetof(struct schema_node, multiple_of) &&
		json_number_value(value) <= 0)
		schema_problem(compiler, path, value, "expected a number above 0");
	else
		*FIELD(node, keyword, const json_t *) = value;
	return 0;
}

static int compile_count(struct schema_compiler *compiler, struct schema_node *node,
	const struct schema_keyword *keyword, json_t *value, const struct schema_path *path)
{
	const double real = json_number_value(value);
	uint64_t *const count = FIELD(node, keyword, uint64_t);

	if (!json_is_number(value) || real < 0 || floor(real) != real)
		schema_problem(compiler, path, value, "expected an integer of at least 0");
	else if (json_is_integer(value))
		*count = (uint64_t)json_integer_value(value);
	else
		*count = real < 0x1p63 ? (uint64_t)real : UINT64_MAX;
	return 0;
}

static int compile_flag(struct schema_compiler *compiler, struct schema_node *node,
	const struct schema_keyword *keyword, json_t *value, const struct schema_path *path)
{
	if (!json_is_boolean(value))
		schema_problem(compiler, path, value, "expected boolean");
	else
		*FIELD(node, keyword, bool) = json_is_true(value);
	return 0;
}

static int compile_regex(struct schema_compiler *compiler, struct schema_pattern *pattern,
	const char *text, size_t size, const struct schema_path *where)
{
	struct wfs_error reason;
	int r;

	if (++compiler->pattern_count > WFS_SCHEMA_PATTERNS_MAX) {
		schema_problem(compiler, where, NULL, "a schema has at most %d patterns",
			WFS_SCHEMA_PATTERNS_MAX);
		return -E2BIG;
	}
	r = wfs_pattern_new(text, size, WFS_PATTERN_ECMA, &pattern->compiled, &reason);
	if (r == -EINVAL) {
		schema_problem(compiler, where, NULL, "%s", reason.message);
		return 0;
	}
	pattern->text = text;
	return r;
}

static int compile_pattern(struct schema_compiler *compiler, struct schema_node *node,
	const struct schema_keyword *keyword, json_t *value, const struct schema_path *path)
{
	(void)keyword;
	if (json_is_string(value))
		return compile_regex(compiler, &node->pattern, json_string_value(value),
			json_string_length(value), path);
	schema_problem(compiler, path, value, "expected string");
	return 0;
}

static int compile_schema(struct schema_compiler *compiler, struct schema_node *node,
	const struct schema_keyword *keyword, json_t *value, const struct schema_path *path)
{
	return schema_compile_node(
		compiler, value, path, FIELD(node, keyword, const struct schema_node *));
}

static int compile_list(struct schema_compiler *compiler, struct schema_node *node,
	const struct schema_keyword *keyword, json_t *value, const struct schema_path *path)
{
	struct schema_list *list = FIELD(node, keyword, struct schema_list);
	size_t index;
	json_t *item;

	if (!json_is_array(value) || json_array_size(value) == 0) {
		schema_problem(compiler, path, value, "expected an array with at least one schema");
		return 0;
	}
	list->nodes = calloc(json_array_size(value), sizeof(struct schema_node *));
	if (!list->nodes)
		return -ENOMEM;
	json_array_foreach(value, index, item) {
		struct schema_path inner = {.parent = path, .index = index};
		int r = schema_compile_node(compiler, item, &inner, &list->nodes[index]);

		if (r < 0)
			return r;
		list->count++;
	}
	return 0;
}

/* Compiles an object of schemas. @more: how many further properties the array must have room for.
 * @ret_properties: owned by the caller, also on failure */
static int compile_map(struct schema_compiler *compiler, json_t *value,
	const struct schema_path *path, size_t more, struct schema_property **ret_properties,
	size_t *ret_count)
{
	const char *name;
	json_t *item;

	if (!json_is_object(value)) {
		schema_problem(compiler, path, value, "expected object");
		return 0;
	}
	*ret_properties = calloc(json_object_size(value) + more + 1, sizeof(**ret_properties));
	if (!*ret_properties)
		return -ENOMEM;
	json_object_foreach(value, name, item) {
		struct schema_property *const property = &(*ret_properties)[(*ret_count)++];
		const struct schema_path inner = {.parent = path, .name = name};
		const int r = schema_compile_node(compiler, item, &inner, &property->node);

		if (r < 0)
			return r;
		property->name = name;
	}
	return 0;
}

/* $defs: compiled to find problems; references find the nodes by their definition. */
static int compile_definitions(struct schema_compiler *compiler, struct schema_node *node,
	const struct schema_keyword *keyword, json_t *value, const struct schema_path *path)
{
	WFS_AUTO_FREE struct schema_property *unused = NULL;
	size_t count = 0;

	(void)node;
	(void)keyword;
	return compile_map(compiler, value, path, 0, &unused, &count);
}

static int compile_properties(struct schema_compiler *compiler, struct schema_node *node,
	const struct schema_keyword *keyword, json_t *value, const struct schema_path *path)
{
	const size_t required = json_array_size(json_object_get(node->definition, "required"));

	(void)keyword;
	return compile_map(
		compiler, value, path, required, &node->properties, &node->property_count);
}

static int compile_groups(struct schema_compiler *compiler, struct schema_node *node,
	const struct schema_keyword *keyword, json_t *value, const struct schema_path *path)
{
	const char *name;
	json_t *item;

	(void)keyword;
	if (!json_is_object(value)) {
		schema_problem(compiler, path, value, "expected object");
		return 0;
	}
	node->groups = calloc(json_object_size(value) + 1, sizeof(*node->groups));
	if (!node->groups)
		return -ENOMEM;
	json_object_foreach(value, name, item) {
		struct schema_group *const group = &node->groups[node->group_count++];
		const struct schema_path inner = {.parent = path, .name = name};
		int r = compile_regex(compiler, &group->pattern, name, strlen(name), &inner);

		if (!r)
			r = schema_compile_node(compiler, item, &inner, &group->node);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Checks a list of unique member names. Return: 0 (also if problems were added), -ENOMEM. */
static int check_names(
	struct schema_compiler *compiler, const json_t *value, const struct schema_path *path)
{
	WFS_AUTO_JSON json_t *seen = json_object();
	size_t index;
	json_t *item;

	if (!seen)
		return -ENOMEM;
	if (!json_is_array(value)) {
		schema_problem(compiler, path, value, "expected array");
		return 0;
	}
	json_array_foreach(value, index, item) {
		struct schema_path inner = {.parent = path, .index = index};
		const char *name = json_string_value(item);

		if (!name || strlen(name) != json_string_length(item))
			schema_problem(compiler, &inner, item, "expected the name of a member");
		else if (json_object_get(seen, name))
			schema_problem(compiler, &inner, item, "expected each name once");
		else if (json_object_set_new(seen, name, json_null()) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int compile_required(struct schema_compiler *compiler, struct schema_node *node,
	const struct schema_keyword *keyword, json_t *value, const struct schema_path *path)
{
	(void)node;
	(void)keyword;
	return check_names(compiler, value, path);
}

static int compile_dependent_required(struct schema_compiler *compiler, struct schema_node *node,
	const struct schema_keyword *keyword, json_t *value, const struct schema_path *path)
{
	const char *name;
	json_t *item;

	(void)keyword;
	if (!json_is_object(value))
		schema_problem(compiler, path, value, "expected object");
	json_object_foreach(value, name, item) {
		const struct schema_path inner = {.parent = path, .name = name};
		const int r = check_names(compiler, item, &inner);

		if (r < 0)
			return r;
	}
	node->dependent_required = value;
	return 0;
}

static int compile_dependent_schemas(struct schema_compiler *compiler, struct schema_node *node,
	const struct schema_keyword *keyword, json_t *value, const struct schema_path *path)
{
	(void)keyword;
	return compile_map(
		compiler, value, path, 0, &node->dependent_schemas, &node->dependent_count);
}

/* Called when all keywords of the node are compiled. */
int schema_merge_required(struct schema_node *node)
{
	const json_t *required = json_object_get(node->definition, "required");
	WFS_AUTO_JSON json_t *index_of = NULL;
	size_t index;
	json_t *item;

	if (!json_is_array(required))
		return 0;
	index_of = json_object();
	if (!node->properties)
		node->properties =
			calloc(json_array_size(required) + 1, sizeof(struct schema_property));
	if (!index_of || !node->properties)
		return -ENOMEM;
	for (size_t i = 0; i < node->property_count; i++) {
		if (json_object_set_new(
			    index_of, node->properties[i].name, json_integer((json_int_t)i)) < 0)
			return -ENOMEM;
	}
	json_array_foreach(required, index, item) {
		const char *name = json_string_value(item);
		const json_t *at = name ? json_object_get(index_of, name) : NULL;
		size_t place = at ? (size_t)json_integer_value(at) : node->property_count;

		if (!name)
			continue; /* reported already */
		if (!at)
			node->properties[node->property_count++].name = name;
		node->properties[place].required = true;
	}
	return 0;
}

#define AT(member) .offset = offsetof(struct schema_node, member)
#define NOTE(name_, types_)                                  \
	{                                                    \
		name_, compile_annotation, .types = (types_) \
	}

/* All keywords that a schema may have. */
static const struct schema_keyword keywords[] = {
	{"type", compile_type},
	{"properties", compile_properties, .checks = SCHEMA_CHECK_OBJECT,
		.shape = SCHEMA_SHAPE_MAP},
	{"required", compile_required, .checks = SCHEMA_CHECK_OBJECT},
	{"additionalProperties", compile_schema, AT(additional), SCHEMA_CHECK_OBJECT,
		.shape = SCHEMA_SHAPE_SCHEMA},
	{"patternProperties", compile_groups, .checks = SCHEMA_CHECK_OBJECT,
		.shape = SCHEMA_SHAPE_MAP},
	{"propertyNames", compile_schema, AT(names), SCHEMA_CHECK_OBJECT,
		.shape = SCHEMA_SHAPE_SCHEMA},
	{"dependentRequired", compile_dependent_required, .checks = SCHEMA_CHECK_OBJECT},
	{"dependentSchemas", compile_dependent_schemas, .checks = SCHEMA_CHECK_IN_PLACE,
		.shape = SCHEMA_SHAPE_MAP},
	{"unevaluatedProperties", compile_schema, AT(unevaluated_members), SCHEMA_CHECK_OBJECT,
		.shape = SCHEMA_SHAPE_SCHEMA},
	{"minProperties", compile_count, AT(members_min), SCHEMA_CHECK_OBJECT},
	{"maxProperties", compile_count, AT(members_max), SCHEMA_CHECK_OBJECT},
	{"items", compile_schema, AT(items), SCHEMA_CHECK_ARRAY, .shape = SCHEMA_SHAPE_SCHEMA},
	{"prefixItems", compile_list, AT(prefix_items), SCHEMA_CHECK_ARRAY,
		.shape = SCHEMA_SHAPE_LIST},
	{"contains", compile_schema, AT(contains), SCHEMA_CHECK_ARRAY,
		.shape = SCHEMA_SHAPE_SCHEMA},
	{"minContains", compile_count, AT(contains_min), SCHEMA_CHECK_ARRAY},
	{"maxContains", compile_count, AT(contains_max), SCHEMA_CHECK_ARRAY},
	{"unevaluatedItems", compile_schema, AT(unevaluated_items), SCHEMA_CHECK_ARRAY,
		.shape = SCHEMA_SHAPE_SCHEMA},
	{"minItems", compile_count, AT(items_min), SCHEMA_CHECK_ARRAY},
	{"maxItems", compile_count, AT(items_max), SCHEMA_CHECK_ARRAY},
	{"uniqueItems", compile_flag, AT(items_unique), SCHEMA_CHECK_ARRAY},
	{"enum", compile_enumeration, .checks = SCHEMA_CHECK_EQUAL},
	{"const", compile_constant, .checks = SCHEMA_CHECK_EQUAL},
	{"minimum", compile_number, AT(minimum), SCHEMA_CHECK_NUMBER},
	{"maximum", compile_number, AT(maximum), SCHEMA_CHECK_NUMBER},
	{"exclusiveMinimum", compile_number, AT(exclusive_minimum), SCHEMA_CHECK_NUMBER},
	{"exclusiveMaximum", compile_number, AT(exclusive_maximum), SCHEMA_CHECK_NUMBER},
	{"multipleOf", compile_number, AT(multiple_of), SCHEMA_CHECK_NUMBER},
	{"minLength", compile_count, AT(length_min), SCHEMA_CHECK_STRING},
	{"maxLength", compile_count, AT(length_max), SCHEMA_CHECK_STRING},
	{"pattern", compile_pattern, .checks = SCHEMA_CHECK_STRING},
	{"allOf", compile_list, AT(all_of), SCHEMA_CHECK_IN_PLACE, .shape = SCHEMA_SHAPE_LIST},
	{"anyOf", compile_list, AT(any_of), SCHEMA_CHECK_IN_PLACE, .shape = SCHEMA_SHAPE_LIST},
	{"oneOf", compile_list, AT(one_of), SCHEMA_CHECK_IN_PLACE, .shape = SCHEMA_SHAPE_LIST},
	{"not", compile_schema, AT(negated), SCHEMA_CHECK_IN_PLACE, .shape = SCHEMA_SHAPE_SCHEMA},
	{"if", compile_schema, AT(if_fits), SCHEMA_CHECK_IN_PLACE, .shape = SCHEMA_SHAPE_SCHEMA},
	{"then", compile_schema, AT(then_fits), SCHEMA_CHECK_IN_PLACE,
		.shape = SCHEMA_SHAPE_SCHEMA},
	{"else", compile_schema, AT(else_fits), SCHEMA_CHECK_IN_PLACE,
		.shape = SCHEMA_SHAPE_SCHEMA},
	{"$ref", schema_compile_reference, AT(reference), SCHEMA_CHECK_IN_PLACE},
	{"$dynamicRef", schema_compile_reference, AT(dynamic_reference), SCHEMA_CHECK_IN_PLACE},
	{"$anchor", schema_compile_anchor},
	{"$dynamicAnchor", schema_compile_anchor},
	{"$defs", compile_definitions, .shape = SCHEMA_SHAPE_MAP},
	{"$schema", compile_dialect},
	{"$id", compile_nothing},
	{"contentSchema", compile_schema, AT(annotated), .shape = SCHEMA_SHAPE_SCHEMA},
	NOTE("contentEncoding", SCHEMA_STRING),
	NOTE("contentMediaType", SCHEMA_STRING),
	NOTE("$vocabulary", SCHEMA_OBJECT),
	NOTE("title", SCHEMA_STRING),
	NOTE("description", SCHEMA_STRING),
	NOTE("$comment", SCHEMA_STRING),
	NOTE("format", SCHEMA_STRING),
	NOTE("deprecated", SCHEMA_BOOLEAN),
	NOTE("readOnly", SCHEMA_BOOLEAN),
	NOTE("writeOnly", SCHEMA_BOOLEAN),
	NOTE("secret", SCHEMA_BOOLEAN),
	NOTE("examples", SCHEMA_ARRAY),
	NOTE("default", SCHEMA_ANY),
};

const struct schema_keyword *schema_keyword_find(const char *name)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(keywords); i++) {
		if (strcmp(keywords[i].name, name) == 0)
			return &keywords[i];
	}
	return NULL;
}
