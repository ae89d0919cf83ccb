/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiles schemas: first every keyword of every subschema, then references are resolved, then the
 * in-place paths are measured. All problems are collected. A keyword that does not compile is left
 * out, which does no harm, because a schema with problems is not returned.
 */
#include "kernel/schema/schema.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/json.h"
#include "kernel/schema/schema-impl.h"

static const char *const type_names[] = {
	"null", "boolean", "integer", "number", "string", "array", "object"};

void schema_type_names(unsigned types, struct wfs_buffer *buffer)
{
	const char *separator = "";

	for (size_t i = 0; i < WFS_ARRAY_COUNT(type_names); i++) {
		if (!(types & 1U << i))
			continue;
		wfs_buffer_append_text(buffer, separator);
		wfs_buffer_append_text(buffer, type_names[i]);
		separator = " or ";
	}
}

unsigned schema_type_find(const json_t *name)
{
	if (!json_is_string(name))
		return 0;
	for (size_t i = 0; i < WFS_ARRAY_COUNT(type_names); i++) {
		if (strcmp(json_string_value(name), type_names[i]) == 0)
			return 1U << i;
	}
	return 0;
}

size_t schema_cut(const char *text, size_t size, size_t max)
{
	if (size <= max)
		return size;
	while (max > 0 && ((unsigned char)text[max] & 0xc0) == 0x80)
		max--;
	return max;
}

void schema_path_append(struct wfs_buffer *buffer, const struct schema_path *path)
{
	if (!path)
		return;
	schema_path_append(buffer, path->parent);
	if (path->name)
		wfs_json_pointer_append(buffer, path->name);
	else
		wfs_buffer_printf(buffer, "/%zu", path->index);
}

/* Notes "<expected>, got <value>", or only the text when @value is NULL. */
void schema_problem(struct schema_compiler *compiler, const struct schema_path *path,
	const json_t *value, const char *format, ...)
{
	WFS_AUTO_BUFFER struct wfs_buffer pointer = {0};
	WFS_AUTO_BUFFER struct wfs_buffer came = {0};
	char text[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	wfs_buffer_append_text(&pointer, compiler->prefix);
	schema_path_append(&pointer, path);
	if (value) {
		wfs_buffer_append_text(&came, ", got ");
		wfs_json_describe(value, &came);
	}
	wfs_problems_add(compiler->problems, compiler->file, wfs_buffer_text(&pointer), "%s%s",
		text, wfs_buffer_text(&came));
}

static int node_new(struct schema_compiler *compiler, const json_t *definition,
	const struct schema_path *path, struct schema_node **ret_node)
{
	struct wfs_schema *schema = compiler->schema;
	struct schema_node *node;

	if (schema->node_count >= WFS_SCHEMA_COUNT_MAX) {
		schema_problem(compiler, path, NULL, "a schema has at most %d schemas in it",
			WFS_SCHEMA_COUNT_MAX);
		return -E2BIG;
	}
	node = calloc(1, sizeof(*node));
	if (!node)
		return -ENOMEM;
	node->definition = definition;
	node->types = SCHEMA_ANY;
	node->length_max = UINT64_MAX;
	node->items_max = UINT64_MAX;
	node->members_max = UINT64_MAX;
	node->contains_min = 1;
	node->contains_max = UINT64_MAX;
	if (schema->last_node)
		schema->last_node->next = node;
	else
		schema->nodes = node;
	schema->last_node = node;
	schema->node_count++;
	*ret_node = node;
	return 0;
}

static int compile_keywords(struct schema_compiler *compiler, json_t *definition,
	struct schema_node *node, const struct schema_path *path)
{
	const char *name;
	json_t *value;

	json_object_foreach(definition, name, value) {
		struct schema_path inner = {.parent = path, .name = name};
		const struct schema_keyword *keyword = schema_keyword_find(name);
		int r;

		if (!keyword) {
			schema_problem(compiler, &inner, NULL, "this keyword is not supported");
			continue;
		}
		node->checks |= keyword->checks;
		r = keyword->compile(compiler, node, keyword, value, &inner);
		if (r < 0)
			return r;
	}
	return schema_merge_required(node);
}

int schema_compile_node(struct schema_compiler *compiler, json_t *definition,
	const struct schema_path *path, const struct schema_node **ret_node)
{
	const unsigned around = compiler->resource;
	struct schema_node *node = NULL;
	int r;

	*ret_node = NULL;
	if (compiler->depth >= WFS_SCHEMA_DEPTH_MAX) {
		schema_problem(compiler, path, NULL, "schemas are nested deeper than %d",
			WFS_SCHEMA_DEPTH_MAX);
		return 0;
	}
	if (!json_is_object(definition) && !json_is_boolean(definition)) {
		schema_problem(compiler, path, definition, "expected a schema (object or boolean)");
		return 0;
	}
	r = node_new(compiler, definition, path, &node);
	if (r < 0)
		return r;
	*ret_node = node;
	node->never = json_is_false(definition);
	r = schema_resource_enter(compiler, node, path);
	compiler->depth++;
	if (!r && json_is_object(definition))
		r = compile_keywords(compiler, definition, node, path);
	compiler->depth--;
	compiler->resource = around;
	return r;
}

static int schema_compile(struct schema_compiler *compiler, json_t *definition)
{
	size_t before = compiler->problems->count;
	int r;

	r = schema_compile_node(compiler, definition, NULL, &compiler->schema->root);
	if (r == 0)
		r = schema_resolve_references(compiler);
	if (r < 0 && r != -E2BIG)
		return wfs_trace(r);
	if (compiler->problems->count != before)
		return -EINVAL;
	schema_check_chains(compiler);
	return compiler->problems->count == before ? 0 : -EINVAL;
}

static void compiler_done(struct schema_compiler *compiler)
{
	for (unsigned i = 0; i < compiler->schema->resource_count; i++)
		free(compiler->resources[i].uri);
	free(compiler->resources);
	free(compiler->anchors);
	free(compiler->sorted);
	json_decref(compiler->resource_of);
	json_decref(compiler->anchor_of);
}

int wfs_schema_new(json_t *definition, const char *file, const char *pointer,
	struct wfs_problems *problems, struct wfs_schema **ret_schema)
{
	WFS_AUTO_SCHEMA struct wfs_schema *schema = calloc(1, sizeof(*schema));
	struct schema_compiler compiler = {
		.schema = schema, .file = file, .prefix = pointer, .problems = problems};
	int r;

	if (!schema)
		return -ENOMEM;
	schema->documents = json_array();
	if (!schema->documents || json_array_append(schema->documents, definition) < 0)
		return -ENOMEM;
	r = schema_compile(&compiler, definition);
	compiler_done(&compiler);
	if (r < 0)
		return r;
	*ret_schema = WFS_STEAL(schema);
	return 0;
}

static void node_free(struct schema_node *node)
{
	free(node->prefix_items.nodes);
	free(node->all_of.nodes);
	free(node->any_of.nodes);
	free(node->one_of.nodes);
	free(node->properties);
	free(node->dependent_schemas);
	for (size_t i = 0; i < node->group_count; i++)
		wfs_pattern_free(node->groups[i].pattern.compiled);
	free(node->groups);
	free(node->reference.where);
	free(node->dynamic_reference.where);
	wfs_pattern_free(node->pattern.compiled);
	free(node);
}

void wfs_schema_free(struct wfs_schema *schema)
{
	if (!schema)
		return;
	while (schema->nodes) {
		struct schema_node *node = schema->nodes;

		schema->nodes = node->next;
		node_free(node);
	}
	free(schema->dynamics);
	json_decref(schema->documents);
	free(schema);
}
