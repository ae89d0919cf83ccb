/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identifiers of schemas: $id, $anchor, $dynamicAnchor. Nothing is fetched: a reference can name
 * parts of the document, and the metaschemas of JSON Schema 2020-12, which are built in.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/json.h"
#include "kernel/schema/schema-impl.h"

/* Return: the index of @key in @map, or negative. */
static json_int_t map_find(const json_t *map, const char *key)
{
	const json_t *const index = json_object_get(map, key);

	return index ? json_integer_value(index) : -1;
}

static int map_add(json_t **map, const char *key, size_t index)
{
	if (!*map)
		*map = json_object();
	return json_object_set_new(*map, key, json_integer((json_int_t)index)) < 0 ? -ENOMEM : 0;
}

/* --- resources --- */

/* Makes room for one more item when @count is a power of two or zero. */
static int grow(void **items, size_t count, size_t item_bytes)
{
	void *more;

	if (count & (count - 1) && count > 0)
		return 0;
	more = reallocarray(*items, count > 0 ? count * 2 : 1, item_bytes);
	if (!more)
		return -ENOMEM;
	*items = more;
	return 0;
}

/* Adds a resource, which becomes the current one. Takes @uri. */
static int resource_add(struct schema_compiler *compiler, const struct schema_node *root, char *uri)
{
	WFS_AUTO_FREE char *owned = uri;
	const unsigned index = compiler->schema->resource_count;
	int r = owned ? 0 : -ENOMEM;

	if (!r)
		r = grow((void **)&compiler->resources, index, sizeof(*compiler->resources));
	if (!r)
		r = map_add(&compiler->resource_of, owned, index);
	if (r < 0)
		return r;
	compiler->resources[index] =
		(struct schema_resource){.uri = WFS_STEAL(owned), .root = root};
	compiler->schema->resource_count++;
	compiler->resource = index;
	return 0;
}

static int enter_named(struct schema_compiler *compiler, struct schema_node *node, const json_t *id,
	const struct schema_path *path)
{
	const struct schema_path inner = {.parent = path, .name = "$id"};
	WFS_AUTO_BUFFER struct wfs_buffer uri = {0};
	const char *const text = json_string_value(id);
	const char *const fragment = text ? strchr(text, '#') : NULL;

	if (!text || strlen(text) != json_string_length(id)) {
		schema_problem(compiler, &inner, id, "expected string");
		return 0;
	}
	if (fragment && fragment[1]) {
		schema_problem(compiler, &inner, id, "expected a URI without a fragment");
		return 0;
	}
	const int r = schema_uri_resolve(path ? compiler->resources[compiler->resource].uri : "",
		text, strcspn(text, "#"), &uri);

	if (r < 0)
		return r;
	if (uri.size > WFS_SCHEMA_URI_MAX)
		schema_problem(compiler, &inner, id, "a URI has at most %d bytes, this one has %zu",
			WFS_SCHEMA_URI_MAX, uri.size);
	else if (map_find(compiler->resource_of, wfs_buffer_text(&uri)) >= 0)
		schema_problem(compiler, &inner, id, "expected a URI that no other schema has");
	else
		return resource_add(compiler, node, strdup(wfs_buffer_text(&uri)));
	return 0;
}

int schema_resource_enter(
	struct schema_compiler *compiler, struct schema_node *node, const struct schema_path *path)
{
	const json_t *const id = json_object_get(node->definition, "$id");
	const unsigned count = compiler->schema->resource_count;
	int r = 0;

	if (id)
		r = enter_named(compiler, node, id, path);
	if (!r && !path && count == compiler->schema->resource_count)
		r = resource_add(compiler, node, strdup(""));
	node->resource = compiler->resource;
	return r;
}

/* Compiles a metaschema. Return: 1, 0 (no metaschema has this URI), -ENOMEM, -E2BIG. */
static int load_metaschema(struct schema_compiler *compiler, const char *uri)
{
	WFS_AUTO_JSON json_t *document = NULL;
	const char *const text = schema_metaschema(uri);
	const struct schema_node *root;
	int r;

	if (!text)
		return 0;
	r = wfs_json_parse(text, strlen(text), &document, NULL);
	if (r < 0)
		return r;
	if (json_array_append(compiler->schema->documents, document) < 0)
		return -ENOMEM;
	r = schema_compile_node(compiler, document, NULL, &root);
	return r < 0 ? r : 1;
}

int schema_resource_find(struct schema_compiler *compiler, unsigned base, const char *text,
	size_t size, unsigned *ret_resource)
{
	WFS_AUTO_BUFFER struct wfs_buffer uri = {0};
	json_int_t index;
	int r = 1;

	if (size == 0) {
		*ret_resource = base;
		return 1;
	}
	if (schema_uri_resolve(compiler->resources[base].uri, text, size, &uri) < 0)
		return -ENOMEM;
	index = map_find(compiler->resource_of, wfs_buffer_text(&uri));
	if (index < 0) {
		r = load_metaschema(compiler, wfs_buffer_text(&uri));
		index = map_find(compiler->resource_of, wfs_buffer_text(&uri));
	}
	if (r > 0 && index >= 0)
		*ret_resource = (unsigned)index;
	return r > 0 ? index >= 0 : r;
}

/* --- anchors --- */

static int anchor_key(unsigned resource, const char *name, struct wfs_buffer *key)
{
	wfs_buffer_printf(key, "%u#", resource);
	wfs_buffer_append_text(key, name);
	return wfs_buffer_check(key);
}

/* Source: JSON Schema 2020-12, 8.2.2. */
static bool is_anchor_name(const char *name)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";

	return strspn(name, letters) > 0 &&
		name[strspn(name,
			"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789.-")] ==
		'\0';
}

int schema_compile_anchor(struct schema_compiler *compiler, struct schema_node *node,
	const struct schema_keyword *keyword, json_t *value, const struct schema_path *path)
{
	WFS_AUTO_BUFFER struct wfs_buffer key = {0};
	const char *const name = json_string_value(value);
	json_int_t known;

	if (!name || strlen(name) != json_string_length(value) || !is_anchor_name(name)) {
		schema_problem(compiler, path, value,
			"expected a name of letters, digits, '_', '-' and '.'");
		return 0;
	}
	if (anchor_key(node->resource, name, &key) < 0)
		return -ENOMEM;
	known = map_find(compiler->anchor_of, wfs_buffer_text(&key));
	if (known >= 0 && compiler->anchors[known].node != node) {
		schema_problem(compiler, path, value, "expected a name that no other anchor has");
		return 0;
	}
	if (known >= 0 && strcmp(keyword->name, "$anchor") == 0)
		return 0; /* a $dynamicAnchor of the same schema and name serves both */
	if (grow((void **)&compiler->anchors, compiler->anchor_count, sizeof(*compiler->anchors)) <
			0 ||
		map_add(&compiler->anchor_of, wfs_buffer_text(&key), compiler->anchor_count) < 0)
		return -ENOMEM;
	compiler->anchors[compiler->anchor_count++] = (struct schema_anchor){.name = name,
		.node = node,
		.dynamic = strcmp(keyword->name, "$dynamicAnchor") == 0};
	return 0;
}

int schema_anchor_find(struct schema_compiler *compiler, unsigned resource, const char *name,
	const struct schema_anchor **ret_anchor)
{
	WFS_AUTO_BUFFER struct wfs_buffer key = {0};
	json_int_t index;

	if (anchor_key(resource, name, &key) < 0)
		return -ENOMEM;
	index = map_find(compiler->anchor_of, wfs_buffer_text(&key));
	*ret_anchor = index >= 0 ? &compiler->anchors[index] : NULL;
	return 0;
}
