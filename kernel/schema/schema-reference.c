/* SPDX-License-Identifier: Apache-2.0 */
/*
 * $ref and $dynamicRef: finds their targets, and refuses references that never come to an end.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/encode.h"
#include "kernel/base/json.h"
#include "kernel/schema/schema-impl.h"

enum {
	POINTER_TEXT_MAX = 512,   /* bytes of a $ref's pointer that messages can show */
	REFERENCE_SHOWN_MAX = 64, /* bytes of a reference in a message */
};

/* Reads one token of a JSON pointer. Return: 0, -EINVAL (not a pointer), -ENOMEM. */
static int pointer_token(const char **pointer, struct wfs_buffer *token)
{
	const char *at = *pointer;

	if (*at++ != '/')
		return -EINVAL;
	wfs_buffer_reset(token);
	for (; *at && *at != '/'; at++) {
		if (*at != '~') {
			wfs_buffer_append_byte(token, *at);
			continue;
		}
		at++;
		if (*at != '0' && *at != '1')
			return -EINVAL;
		wfs_buffer_append_byte(token, *at == '0' ? '~' : '/');
	}
	*pointer = at;
	return wfs_buffer_check(token);
}

static json_t *list_item(json_t *list, const char *index)
{
	size_t digits = strspn(index, "0123456789");

	if (digits == 0 || digits > 9 || index[digits] || (index[0] == '0' && digits > 1))
		return NULL;
	return json_array_get(list, strtoul(index, NULL, 10));
}

/* Decodes the percent-encoding of a fragment (RFC 6901 section 6). Return: 0, -EINVAL, -ENOMEM. */
static int fragment_decode(const char *fragment, struct wfs_buffer *pointer)
{
	for (; *fragment; fragment++) {
		int high, low;

		if (*fragment != '%') {
			wfs_buffer_append_byte(pointer, *fragment);
			continue;
		}
		high = wfs_hex_value(fragment[1]);
		low = high < 0 ? -1 : wfs_hex_value(fragment[2]);
		if (low < 0 || high * 16 + low == 0)
			return -EINVAL;
		wfs_buffer_append_byte(pointer, (char)(high * 16 + low));
		fragment += 2;
	}
	return wfs_buffer_check(pointer);
}

int schema_compile_reference(struct schema_compiler *compiler, struct schema_node *node,
	const struct schema_keyword *keyword, json_t *value, const struct schema_path *path)
{
	struct schema_reference *const reference =
		(struct schema_reference *)((char *)node + keyword->offset);
	WFS_AUTO_BUFFER struct wfs_buffer where = {0};
	const char *const text = json_string_value(value);

	if (!text || strlen(text) != json_string_length(value)) {
		schema_problem(compiler, path, value, "expected a reference (#/…, #name or a URI)");
		return 0;
	}
	wfs_buffer_append_text(&where, compiler->prefix);
	schema_path_append(&where, path);
	const char *const pointer = wfs_buffer_text(&where);

	reference->text = text;
	reference->where = strndup(pointer, schema_cut(pointer, where.size, POINTER_TEXT_MAX));
	return reference->where ? 0 : -ENOMEM;
}

/* --- finding nodes --- */

static int compare_places(const struct schema_node *a, const void *definition, unsigned resource)
{
	const uintptr_t left = (uintptr_t)a->definition;
	const uintptr_t right = (uintptr_t)definition;

	if (left != right)
		return left < right ? -1 : 1;
	return (a->resource > resource) - (a->resource < resource);
}

static int compare_nodes(const void *a, const void *b)
{
	const struct schema_node *const right = *(const struct schema_node *const *)b;

	return compare_places(
		*(const struct schema_node *const *)a, right->definition, right->resource);
}

static int sort_nodes(struct schema_compiler *compiler)
{
	const size_t count = compiler->schema->node_count;
	size_t i = 0;

	if (compiler->sorted_count == count)
		return 0;
	free(compiler->sorted);
	compiler->sorted_count = 0;
	compiler->sorted = calloc(count, sizeof(struct schema_node *));
	if (!compiler->sorted)
		return -ENOMEM;
	for (const struct schema_node *node = compiler->schema->nodes; node; node = node->next)
		compiler->sorted[i++] = node;
	compiler->sorted_count = count;
	qsort(compiler->sorted, count, sizeof(struct schema_node *), compare_nodes);
	return 0;
}

/* Return: the index in `sorted` of the first node that
 * is not before this definition and resource. */
static size_t node_bound(
	const struct schema_compiler *compiler, const json_t *definition, unsigned resource)
{
	size_t first = 0;
	size_t end = compiler->sorted_count;

	while (first < end) {
		const size_t middle = first + (end - first) / 2;

		if (compare_places(compiler->sorted[middle], definition, resource) < 0)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

/*
 * Finds the node of @definition in @resource. Places that share one jansson value mean the same in
 * one resource, so any node of that value will do; the nodes of `true` and `false` do so in every
 * resource.
 */
static const struct schema_node *node_find(
	const struct schema_compiler *compiler, const json_t *definition, unsigned resource)
{
	const bool any = json_is_boolean(definition);
	const size_t place = node_bound(compiler, definition, any ? 0 : resource);
	const struct schema_node *node;

	if (place == compiler->sorted_count)
		return NULL;
	node = compiler->sorted[place];
	return node->definition == definition && (any || node->resource == resource) ? node : NULL;
}

/* --- following pointers --- */

/* Where a pointer leads. */
struct place {
	json_t *at; /* NULL: nowhere */
	unsigned resource;
	enum schema_shape shape; /* what is at the place: a schema, or a list or map of schemas */
};

/* Sets place->resource if a resource begins at @place. */
static void enter_resource(const struct schema_compiler *compiler, struct place *place)
{
	const size_t first = json_object_get(place->at, "$id") ? node_bound(compiler, place->at, 0)
							       : compiler->sorted_count;
	const struct schema_node *node;

	if (first == compiler->sorted_count)
		return;
	node = compiler->sorted[first];
	if (node->definition == place->at && compiler->resources[node->resource].root == node)
		place->resource = node->resource;
}

/* Makes one step, only through keywords that hold schemas: `#/examples/0` is a value,
 * not a schema. */
static void reference_step(
	const struct schema_compiler *compiler, struct place *place, const char *name)
{
	const struct schema_keyword *keyword;

	switch (place->shape) {
	case SCHEMA_SHAPE_SCHEMA:
		keyword = schema_keyword_find(name);
		place->shape = keyword ? keyword->shape : SCHEMA_SHAPE_PLAIN;
		place->at = place->shape != SCHEMA_SHAPE_PLAIN ? json_object_get(place->at, name)
							       : NULL;
		break;
	case SCHEMA_SHAPE_LIST:
		place->at = list_item(place->at, name);
		place->shape = SCHEMA_SHAPE_SCHEMA;
		break;
	default:
		place->at = json_object_get(place->at, name);
		place->shape = SCHEMA_SHAPE_SCHEMA;
		break;
	}
	if (place->shape == SCHEMA_SHAPE_SCHEMA)
		enter_resource(compiler, place);
}

/* Follows a pointer. Return: 0 (place->at is NULL if it leads nowhere), -ENOMEM. */
static int reference_walk(
	const struct schema_compiler *compiler, const char *pointer, struct place *place)
{
	WFS_AUTO_BUFFER struct wfs_buffer token = {0};

	while (place->at && *pointer) {
		const int r = pointer_token(&pointer, &token);

		if (r == -ENOMEM)
			return r;
		if (r < 0)
			place->at = NULL;
		else
			reference_step(compiler, place, wfs_buffer_text(&token));
	}
	if (place->shape != SCHEMA_SHAPE_SCHEMA)
		place->at = NULL;
	return 0;
}

/* --- following references --- */

static void reference_problem(struct schema_compiler *compiler,
	const struct schema_reference *reference, const char *expected)
{
	const size_t shown =
		schema_cut(reference->text, strlen(reference->text), REFERENCE_SHOWN_MAX);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_json_write_string(&text, reference->text, shown);
	wfs_problems_add(compiler->problems, compiler->file, reference->where,
		"expected %s, got string %s%s", expected, wfs_buffer_text(&text),
		reference->text[shown] ? "…" : "");
}

/* Sets the target to the schema at @pointer in a resource.
 * Return: 0 (target NULL: none), -E2BIG, -ENOMEM. */
static int resolve_pointer(struct schema_compiler *compiler, struct schema_reference *reference,
	unsigned resource, const char *pointer)
{
	struct place place = {.resource = resource, .shape = SCHEMA_SHAPE_SCHEMA};
	int r = sort_nodes(compiler);

	place.at = (json_t *)compiler->resources[resource].root->definition;
	if (r == 0)
		r = reference_walk(compiler, pointer, &place);
	if (r == 0 && place.at)
		reference->target = node_find(compiler, place.at, place.resource);
	return r;
}

static int resolve_anchor(struct schema_compiler *compiler, struct schema_reference *reference,
	unsigned resource, const char *name)
{
	const struct schema_anchor *anchor;
	const int r = schema_anchor_find(compiler, resource, name, &anchor);

	if (r < 0 || !anchor)
		return r;
	reference->target = anchor->node;
	reference->dynamic_name = anchor->dynamic ? anchor->name : NULL;
	return 0;
}

static int resolve(
	struct schema_compiler *compiler, unsigned base, struct schema_reference *reference)
{
	WFS_AUTO_BUFFER struct wfs_buffer fragment = {0};
	const char *const text = reference->text;
	const size_t size = strcspn(text, "#");
	unsigned resource;
	int r = schema_resource_find(compiler, base, text, size, &resource);

	if (r < 0)
		return r;
	if (r == 0) {
		reference_problem(compiler, reference,
			"a schema of this document (#/…, #name or its $id) or a metaschema of JSON "
			"Schema 2020-12");
		return 0;
	}
	r = text[size] ? fragment_decode(text + size + 1, &fragment) : 0;
	if (r == 0 && (fragment.size == 0 || wfs_buffer_text(&fragment)[0] == '/'))
		r = resolve_pointer(compiler, reference, resource, wfs_buffer_text(&fragment));
	else if (r == 0)
		r = resolve_anchor(compiler, reference, resource, wfs_buffer_text(&fragment));
	if (r < 0 && r != -EINVAL)
		return r;
	if (!reference->target)
		reference_problem(compiler, reference, "the place of a schema in this document");
	return 0;
}

/* --- dynamic anchors --- */

static int compare_dynamics(const void *a, const void *b)
{
	const struct schema_dynamic *const left = a;
	const struct schema_dynamic *const right = b;
	const int order = strcmp(left->name, right->name);

	return order ? order
		     : (left->resource > right->resource) - (left->resource < right->resource);
}

static int list_dynamics(struct schema_compiler *compiler)
{
	struct wfs_schema *const schema = compiler->schema;

	schema->dynamics = calloc(compiler->anchor_count + 1, sizeof(*schema->dynamics));
	if (!schema->dynamics)
		return -ENOMEM;
	for (size_t i = 0; i < compiler->anchor_count; i++) {
		const struct schema_anchor *const anchor = &compiler->anchors[i];

		if (anchor->dynamic)
			schema->dynamics[schema->dynamic_count++] =
				(struct schema_dynamic){.name = anchor->name,
					.resource = anchor->node->resource,
					.node = anchor->node};
	}
	qsort(schema->dynamics, schema->dynamic_count, sizeof(*schema->dynamics), compare_dynamics);
	return 0;
}

/* The index of the first anchor whose name is not before @name, or, with @after, comes after it. */
static size_t dynamics_bound(const struct wfs_schema *schema, const char *name, bool after)
{
	size_t first = 0;
	size_t end = schema->dynamic_count;

	while (first < end) {
		const size_t middle = first + (end - first) / 2;

		if (strcmp(schema->dynamics[middle].name, name) < (after ? 1 : 0))
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

/* Finds the anchors that a check may use in the place of the target, if others have its name. */
static void find_dynamics(struct wfs_schema *schema, struct schema_reference *reference)
{
	const size_t first = dynamics_bound(schema, reference->dynamic_name, false);
	const size_t end = dynamics_bound(schema, reference->dynamic_name, true);

	if (end - first < 2)
		return;
	reference->dynamics = &schema->dynamics[first];
	reference->dynamic_count = end - first;
	schema->has_scopes = true;
}

/* References of metaschemas that are loaded here are added at the end of the list,
 * and resolved, too. */
int schema_resolve_references(struct schema_compiler *compiler)
{
	struct wfs_schema *const schema = compiler->schema;
	int r = 0;

	for (struct schema_node *node = schema->nodes; !r && node; node = node->next) {
		if (node->reference.text)
			r = resolve(compiler, node->resource, &node->reference);
		if (!r && node->dynamic_reference.text)
			r = resolve(compiler, node->resource, &node->dynamic_reference);
	}
	if (!r)
		r = list_dynamics(compiler);
	for (struct schema_node *node = schema->nodes; !r && node; node = node->next) {
		if (node->dynamic_reference.dynamic_name)
			find_dynamics(schema, &node->dynamic_reference);
	}
	return r;
}

/* --- in-place paths: those that stay at one part of the value --- */

static unsigned chain_measure(
	struct schema_compiler *compiler, const struct schema_node *const_node, unsigned depth);

static unsigned chain_of_list(struct schema_compiler *compiler, const struct schema_list *list,
	unsigned depth, unsigned longest)
{
	for (size_t i = 0; i < list->count; i++) {
		unsigned chain = chain_measure(compiler, list->nodes[i], depth);

		longest = chain > longest ? chain : longest;
	}
	return longest;
}

static unsigned chain_longer(struct schema_compiler *compiler, const struct schema_node *node,
	unsigned depth, unsigned longest)
{
	const unsigned chain = chain_measure(compiler, node, depth);

	return chain > longest ? chain : longest;
}

static unsigned chain_of_reference(struct schema_compiler *compiler,
	const struct schema_reference *reference, unsigned depth, unsigned longest)
{
	if (!reference->target || reference->dynamic_count > 0)
		return longest; /* a check counts this path itself */
	if (!reference->target->visiting)
		return chain_longer(compiler, reference->target, depth, longest);
	wfs_problems_add(compiler->problems, compiler->file, reference->where,
		"the reference leads back to itself");
	return longest;
}

/*
 * The number of schemas on the longest in-place path from a node. A circular path is reported at a
 * $ref of it. A path that is too long is not followed to its end, which bounds the recursion.
 */
static unsigned chain_measure(
	struct schema_compiler *compiler, const struct schema_node *const_node, unsigned depth)
{
	struct schema_node *node = (struct schema_node *)const_node;
	unsigned longest = 0;

	if (!node || node->chain)
		return node ? node->chain : 0;
	if (depth > WFS_SCHEMA_CHAIN_MAX)
		return depth;
	node->visiting = true;
	longest = chain_of_list(compiler, &node->all_of, depth + 1, longest);
	longest = chain_of_list(compiler, &node->any_of, depth + 1, longest);
	longest = chain_of_list(compiler, &node->one_of, depth + 1, longest);
	longest = chain_longer(compiler, node->negated, depth + 1, longest);
	longest = chain_longer(compiler, node->if_fits, depth + 1, longest);
	longest = chain_longer(compiler, node->then_fits, depth + 1, longest);
	longest = chain_longer(compiler, node->else_fits, depth + 1, longest);
	for (size_t i = 0; i < node->dependent_count; i++)
		longest =
			chain_longer(compiler, node->dependent_schemas[i].node, depth + 1, longest);
	longest = chain_of_reference(compiler, &node->reference, depth + 1, longest);
	longest = chain_of_reference(compiler, &node->dynamic_reference, depth + 1, longest);
	node->visiting = false;
	node->chain = longest + 1;
	return node->chain;
}

/* Every path that is too long contains a $ref,
 * because the nesting of schemas is bounded below that. */
void schema_check_chains(struct schema_compiler *compiler)
{
	const struct schema_node *tallest = NULL;
	unsigned longest = 0;

	static_assert(WFS_SCHEMA_DEPTH_MAX < WFS_SCHEMA_CHAIN_MAX, "a long path has a $ref");
	for (struct schema_node *node = compiler->schema->nodes; node; node = node->next) {
		unsigned chain = chain_measure(compiler, node, 1);

		longest = chain > longest ? chain : longest;
	}
	if (longest <= WFS_SCHEMA_CHAIN_MAX)
		return;
	for (struct schema_node *node = compiler->schema->nodes; node; node = node->next) {
		if ((node->reference.target || node->dynamic_reference.target) &&
			(!tallest || node->chain > tallest->chain))
			tallest = node;
	}
	wfs_require(tallest != NULL);
	wfs_problems_add(compiler->problems, compiler->file,
		tallest->reference.where ? tallest->reference.where
					 : tallest->dynamic_reference.where,
		"more than %d schemas would apply to one value", WFS_SCHEMA_CHAIN_MAX);
}
