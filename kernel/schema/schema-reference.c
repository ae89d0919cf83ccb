/* SPDX-License-Identifier: Apache-2.0 */
/*
 * $ref: finding what it names, and making sure that following references comes to an end.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/json.h"
#include "kernel/schema/schema-impl.h"

enum { POINTER_TEXT_MAX = 512 }; /* bytes of a $ref's pointer that are kept for a message */

/* Takes one token off a JSON pointer. Return: 0, -EINVAL (not a pointer), -ENOMEM. */
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

/*
 * Walks @pointer, passing through keywords that hold schemas only: `#/examples/0` names a value,
 * not a schema. *ret_definition is NULL when it leads nowhere.
 */
static int reference_walk(json_t *root, const char *pointer, json_t **ret_definition)
{
	WFS_AUTO_BUFFER struct wfs_buffer token = {0};
	enum schema_shape shape = SCHEMA_SHAPE_SCHEMA;
	json_t *at = root;

	*ret_definition = NULL;
	while (at && *pointer) {
		const struct schema_keyword *keyword;
		const char *name;
		int r = pointer_token(&pointer, &token);

		if (r < 0)
			return r == -EINVAL ? 0 : r;
		name = wfs_buffer_text(&token);
		if (shape == SCHEMA_SHAPE_LIST) {
			at = list_item(at, name);
			shape = SCHEMA_SHAPE_SCHEMA;
			continue;
		}
		if (shape == SCHEMA_SHAPE_SCHEMA) {
			keyword = schema_keyword_find(name);
			shape = keyword ? keyword->shape : SCHEMA_SHAPE_PLAIN;
			if (shape == SCHEMA_SHAPE_PLAIN)
				return 0;
		} else {
			shape = SCHEMA_SHAPE_SCHEMA;
		}
		at = json_object_get(at, name);
	}
	if (shape == SCHEMA_SHAPE_SCHEMA && (json_is_object(at) || json_is_boolean(at)))
		*ret_definition = at;
	return 0;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* A fragment is percent-encoded (RFC 6901 section 6). Return: 0, -EINVAL, -ENOMEM. */
static int fragment_decode(const char *fragment, struct wfs_buffer *pointer)
{
	for (; *fragment; fragment++) {
		int high, low;

		if (*fragment != '%') {
			wfs_buffer_append_byte(pointer, *fragment);
			continue;
		}
		high = hex_digit(fragment[1]);
		low = high < 0 ? -1 : hex_digit(fragment[2]);
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
	WFS_AUTO_BUFFER struct wfs_buffer pointer = {0};
	const char *text = json_string_value(value);
	json_t *definition = NULL;
	int r = 0;

	(void)keyword;
	if (!text || text[0] != '#' || strlen(text) != json_string_length(value)) {
		schema_problem(
			compiler, path, value, "expected a reference within the document (#/…)");
		return 0;
	}
	r = fragment_decode(text + 1, &pointer);
	if (r == 0)
		r = reference_walk(
			compiler->schema->definition, wfs_buffer_text(&pointer), &definition);
	if (r < 0 && r != -EINVAL)
		return r;
	if (!definition) {
		schema_problem(
			compiler, path, value, "expected the place of a schema in this document");
		return 0;
	}
	node->target_definition = definition;
	wfs_buffer_reset(&pointer);
	wfs_buffer_append_text(&pointer, compiler->prefix);
	schema_path_append(&pointer, path);
	text = wfs_buffer_text(&pointer);
	node->target_where = strndup(text, schema_cut(text, pointer.size, POINTER_TEXT_MAX));
	return node->target_where ? 0 : -ENOMEM;
}

static int compare_nodes(const void *a, const void *b)
{
	uintptr_t left = (uintptr_t)(*(struct schema_node *const *)a)->definition;
	uintptr_t right = (uintptr_t)(*(struct schema_node *const *)b)->definition;

	return (left > right) - (left < right);
}

/*
 * Two places may share one jansson value (the booleans always do); then either node will do, for
 * they say the same.
 */
int schema_resolve_references(struct wfs_schema *schema)
{
	WFS_AUTO_FREE struct schema_node **sorted = NULL;
	size_t count = 0;

	sorted = calloc(schema->node_count, sizeof(struct schema_node *));
	if (!sorted)
		return -ENOMEM;
	for (struct schema_node *node = schema->nodes; node; node = node->next)
		sorted[count++] = node;
	qsort(sorted, count, sizeof(struct schema_node *), compare_nodes);
	for (struct schema_node *node = schema->nodes; node; node = node->next) {
		struct schema_node wanted = {.definition = node->target_definition};
		struct schema_node *key = &wanted;
		struct schema_node **found;

		if (!node->target_definition)
			continue;
		found = bsearch(&key, sorted, count, sizeof(struct schema_node *), compare_nodes);
		wfs_require(found != NULL);
		node->target = *found;
	}
	return 0;
}

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

/*
 * The number of schemas on the longest in-place path from a node. One that comes back to itself
 * does so through a $ref, where it is reported. One that is too long is only said to be so: its
 * end is not looked for, which bounds the recursion.
 */
static unsigned chain_measure(
	struct schema_compiler *compiler, const struct schema_node *const_node, unsigned depth)
{
	struct schema_node *node = (struct schema_node *)const_node;
	unsigned longest = 0;
	unsigned chain = 0;

	if (!node || node->chain)
		return node ? node->chain : 0;
	if (depth > WFS_SCHEMA_CHAIN_MAX)
		return depth;
	node->visiting = true;
	longest = chain_of_list(compiler, &node->all_of, depth + 1, longest);
	longest = chain_of_list(compiler, &node->any_of, depth + 1, longest);
	longest = chain_of_list(compiler, &node->one_of, depth + 1, longest);
	chain = chain_measure(compiler, node->negated, depth + 1);
	longest = chain > longest ? chain : longest;
	chain = 0;
	if (node->target && node->target->visiting)
		wfs_problems_add(compiler->problems, compiler->file, node->target_where,
			"the reference leads back to itself");
	else
		chain = chain_measure(compiler, node->target, depth + 1);
	longest = chain > longest ? chain : longest;
	node->visiting = false;
	node->chain = longest + 1;
	return node->chain;
}

/* Every path that is too long has a $ref in it: the nesting of schemas is bounded below that. */
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
		if (node->target && (!tallest || node->chain > tallest->chain))
			tallest = node;
	}
	wfs_require(tallest != NULL);
	wfs_problems_add(compiler->problems, compiler->file, tallest->target_where,
		"more than %d schemas would apply to one value", WFS_SCHEMA_CHAIN_MAX);
}
