/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to the schema validator: what schema.c compiles and schema-check.c walks.
 *
 * A compiled schema is a graph of nodes, one for each schema and subschema. Invariant after a
 * successful wfs_schema_new: every reference has its target, and no path of in-place edges
 * (targets, all_of, any_of, one_of, negated, if_fits, then_fits, else_fits, dependent_schemas) is
 * longer than WFS_SCHEMA_CHAIN_MAX. The target of a $dynamicRef is known during a check only, which
 * counts those paths itself.
 *
 * A resource is a schema with an identifier of its own: the document, each subschema with `$id`,
 * and each metaschema that the document refers to. Each node is part of one resource. To compile is
 * to read a schema's JSON into nodes; mistakes in it are added to compiler->problems.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/base/buffer.h"
#include "kernel/schema/pattern.h"
#include "kernel/schema/schema.h"

/* Types of values; a whole number is INTEGER and NUMBER. */
enum schema_types {
	SCHEMA_NULL = 1 << 0,
	SCHEMA_BOOLEAN = 1 << 1,
	SCHEMA_INTEGER = 1 << 2,
	SCHEMA_NUMBER = 1 << 3,
	SCHEMA_STRING = 1 << 4,
	SCHEMA_ARRAY = 1 << 5,
	SCHEMA_OBJECT = 1 << 6,
	SCHEMA_ANY = (1 << 7) - 1,
};

/* Groups of keywords that a node has, so that a check skips the absent ones at once. */
enum schema_checks {
	SCHEMA_CHECK_EQUAL = 1 << 0,
	SCHEMA_CHECK_NUMBER = 1 << 1,
	SCHEMA_CHECK_STRING = 1 << 2,
	SCHEMA_CHECK_ARRAY = 1 << 3,
	SCHEMA_CHECK_OBJECT = 1 << 4,
	SCHEMA_CHECK_IN_PLACE = 1 << 5, /* that apply schemas to the value itself, such as allOf */
};

struct schema_node;

struct schema_list {
	const struct schema_node **nodes; /* owned array of borrowed nodes */
	size_t count;
};

struct schema_pattern {
	struct wfs_pattern *compiled; /* owned */
	const char *text;             /* borrowed from the definition */
};

/* patternProperties: a schema for members whose names match a pattern. */
struct schema_group {
	struct schema_pattern pattern;
	const struct schema_node *node;
};

/* A schema with $dynamicAnchor. */
struct schema_dynamic {
	const char *name;
	unsigned resource;
	const struct schema_node *node;
};

/* $ref or $dynamicRef. A check replaces the target of $dynamicRef by the anchor of the same name in
 * the first resource that it has entered and that has one. */
struct schema_reference {
	const char *text; /* borrowed from the definition; NULL: the node has no such keyword */
	const struct schema_node *target;
	const struct schema_dynamic *dynamics; /* by resource; borrowed from the schema */
	size_t dynamic_count;

	/* While compiling only: */
	const char *dynamic_name; /* name of the target's $dynamicAnchor, if the reference has it */
	char *where;              /* JSON pointer of the keyword; owned */
};

struct schema_property {
	const char *name;               /* borrowed from the definition */
	const struct schema_node *node; /* NULL: the name is only required */
	bool required;
};

/* All borrowed pointers point into the definition, which the schema holds. */
struct schema_node {
	struct schema_node *next; /* list of all nodes of a schema */
	const json_t *definition;
	unsigned types;  /* enum schema_types, allowed ones */
	unsigned checks; /* enum schema_checks, present ones */
	bool never;      /* the schema `false` */

	const json_t *constant;
	const json_t *enumeration;

	const json_t *minimum;
	const json_t *maximum;
	const json_t *exclusive_minimum;
	const json_t *exclusive_maximum;
	const json_t *multiple_of;

	uint64_t length_min; /* code points */
	uint64_t length_max;
	struct schema_pattern pattern;

	uint64_t items_min;
	uint64_t items_max;
	bool items_unique;
	struct schema_list prefix_items;
	const struct schema_node *items;
	const struct schema_node *contains;
	uint64_t contains_min;
	uint64_t contains_max;
	const struct schema_node *unevaluated_items;

	uint64_t members_min;
	uint64_t members_max;
	struct schema_property *properties; /* owned; `properties`, then those only required */
	size_t property_count;
	struct schema_group *groups; /* owned; patternProperties */
	size_t group_count;
	const struct schema_node *additional;
	const struct schema_node *names;
	const json_t *dependent_required;
	const struct schema_node *unevaluated_members;

	struct schema_list all_of;
	struct schema_list any_of;
	struct schema_list one_of;
	const struct schema_node *negated;
	const struct schema_node *if_fits;
	const struct schema_node *then_fits;
	const struct schema_node *else_fits;
	struct schema_property *dependent_schemas; /* owned */
	size_t dependent_count;
	struct schema_reference reference;
	struct schema_reference dynamic_reference;

	unsigned resource;                   /* index */
	const struct schema_node *annotated; /* contentSchema, which no check uses */

	/* While compiling only: */
	unsigned chain; /* nodes of the longest in-place path from here; 0: not known yet */
	bool visiting;
};

struct wfs_schema {
	json_t *documents; /* array, owned: the definition, and metaschemas */
	struct schema_node *nodes;
	struct schema_node *last_node;
	size_t node_count;
	const struct schema_node *root;
	unsigned resource_count;
	struct schema_dynamic *dynamics; /* owned; by name, then by resource */
	size_t dynamic_count;
	bool has_scopes; /* a check needs to know which resources it has entered */
};

/* State while a schema is compiled. */
struct schema_compiler {
	struct wfs_schema *schema;
	const char *file;   /* for problems; may be NULL */
	const char *prefix; /* of every JSON pointer in problems */
	struct wfs_problems *problems;
	size_t depth; /* schemas around the current one */
	size_t pattern_count;
	unsigned resource;                 /* index of the current one */
	struct schema_resource *resources; /* owned; as many as the schema has */
	json_t *resource_of;               /* owned: identifier → index */
	json_t *anchor_of;                 /* owned: index of a resource # name → index below */
	struct schema_anchor *anchors;     /* owned */
	size_t anchor_count;
	const struct schema_node **sorted; /* owned: nodes by definition, then by resource */
	size_t sorted_count;
};

struct schema_resource {
	char *uri; /* owned; empty when the document has no identifier */
	const struct schema_node *root;
};

struct schema_anchor {
	const char *name; /* borrowed from the definition */
	const struct schema_node *node;
	bool dynamic;
};

/* A place in a document: a list on the stack, from the inside out. */
struct schema_path {
	const struct schema_path *parent; /* NULL: this is the first step below the root */
	const char *name;                 /* of a member; NULL: an item, at `index` */
	size_t index;
};

/** schema_path_append() - append @path as a JSON pointer to @buffer. @path: NULL: the root, for
 *  which nothing is appended */
void schema_path_append(struct wfs_buffer *buffer, const struct schema_path *path);

/** schema_cut() - Return: the largest number of bytes, at most @max, after which @text can be cut
 *  without splitting a character. @text: UTF-8. @size: its bytes */
size_t schema_cut(const char *text, size_t size, size_t max);

/** schema_type_names() - append the names of @types, bits of enum schema_types, joined by " or ",
 *  to @buffer. */
void schema_type_names(unsigned types, struct wfs_buffer *buffer);

/** schema_type_find() - Return: the bit of enum schema_types for the type with the name @name, such
 *  as "array"; 0: @name is not the name of a type. */
unsigned schema_type_find(const json_t *name);

/* How the value of a keyword contains subschemas; references may lead only through these. */
enum schema_shape {
	SCHEMA_SHAPE_PLAIN,  /* not at all */
	SCHEMA_SHAPE_SCHEMA, /* the value is a schema */
	SCHEMA_SHAPE_LIST,   /* array of schemas */
	SCHEMA_SHAPE_MAP,    /* object of schemas */
};

struct schema_keyword {
	const char *name;
	/* Read the keyword's @value, which is at @path, into @node; add problems for mistakes in
	 * @value. @keyword: this row. Return: 0 (also if problems were added), -E2BIG (stop, a
	 * problem was added), -ENOMEM. */
	int (*compile)(struct schema_compiler *compiler, struct schema_node *node,
		const struct schema_keyword *keyword, json_t *value,
		const struct schema_path *path);
	size_t offset;   /* in struct schema_node, of the member to fill */
	unsigned checks; /* enum schema_checks, to set in the node */
	unsigned types;  /* of a keyword that no check uses: the allowed types of its value */
	enum schema_shape shape;
};

/** schema_problem() - add the problem "<text>, got <value>" at @path to compiler->problems. @value:
 *  NULL: the problem is only the text. @format: of the text, printf style */
void schema_problem(struct schema_compiler *compiler, const struct schema_path *path,
	const json_t *value, const char *format, ...) __attribute__((format(printf, 4, 5)));

/** schema_compile_node() - compile a schema and its subschemas
 *  @definition: the schema's JSON, borrowed by the node; @path: its place in the document
 *  @ret_node: owned by compiler->schema; set to NULL if mistakes in @definition prevent a node;
 *  must not be used after a failure
 *  Return: 0 (also if problems were added), -E2BIG (stop, a problem was added), -ENOMEM. */
int schema_compile_node(struct schema_compiler *compiler, json_t *definition,
	const struct schema_path *path, const struct schema_node **ret_node);

/** schema_keyword_find() - Return: the row for the keyword @name, static; NULL: @name is not a
 *  keyword of JSON Schema. */
const struct schema_keyword *schema_keyword_find(const char *name);

/** schema_merge_required() - set `required` in node->properties for each name in the keyword
 *  `required` of @node, and add the names that node->properties lacks; called after all keywords of
 *  @node were compiled. Return: 0, -ENOMEM. */
int schema_merge_required(struct schema_node *node);

/** schema_compile_reference() - compile the keyword $ref or $dynamicRef of @node. Parameters and
 *  results: as for `compile` in struct schema_keyword. */
int schema_compile_reference(struct schema_compiler *compiler, struct schema_node *node,
	const struct schema_keyword *keyword, json_t *value, const struct schema_path *path);

/** schema_compile_anchor() - compile the keyword $anchor or $dynamicAnchor of @node. Parameters and
 *  results: as for `compile` in struct schema_keyword. */
int schema_compile_anchor(struct schema_compiler *compiler, struct schema_node *node,
	const struct schema_keyword *keyword, json_t *value, const struct schema_path *path);

/** schema_resource_enter() - if @node begins a resource (the root of a document, or a subschema
 *  with `$id`): make this resource the current one (compiler->resource). In any case, set
 *  node->resource to the current one.
 *  The caller sets compiler->resource back after @node was compiled. @path: of @node; NULL: root
 *  Return: 0 (also if problems were added), -ENOMEM. */
int schema_resource_enter(
	struct schema_compiler *compiler, struct schema_node *node, const struct schema_path *path);

/** schema_resource_find() - find the resource that a reference names
 *  @base: index of the resource that contains the reference
 *  @text: the reference without its fragment, @size bytes; empty: the resource @base is meant. At
 *  the first reference to a metaschema, this function compiles the metaschema. @ret_resource: index
 *  of the resource, if the function returns 1
 *  Return: 1 (found), 0 (no resource has this URI), -ENOMEM, -E2BIG (stop, a problem was added). */
int schema_resource_find(struct schema_compiler *compiler, unsigned base, const char *text,
	size_t size, unsigned *ret_resource);

/** schema_anchor_find() - find an anchor by its name in a resource. @resource: index
 *  @ret_anchor: borrowed until the next anchor is compiled; NULL: the resource has no such anchor
 *  Return: 0, -ENOMEM. */
int schema_anchor_find(struct schema_compiler *compiler, unsigned resource, const char *name,
	const struct schema_anchor **ret_anchor);

/** schema_metaschema() - Return: the text of the metaschema with the identifier @uri, static; NULL:
 *  @uri is not the identifier of a metaschema. */
const char *schema_metaschema(const char *uri);

/** schema_uri_resolve() - append to @out the URI that a reference means in a resource
 *  @base: URI of the resource. @text: the reference without its fragment, @size bytes
 *  Return: 0, -ENOMEM. */
int schema_uri_resolve(const char *base, const char *text, size_t size, struct wfs_buffer *out);

/** schema_resolve_references() - after all nodes were compiled: set the targets of all references
 *  Return: 0 (also if problems were added), -E2BIG (stop, a problem was added), -ENOMEM. */
int schema_resolve_references(struct schema_compiler *compiler);

/** schema_check_chains() - after schema_resolve_references(): add problems for paths of in-place
 *  edges (see the top of this header) that are circular or too long. */
void schema_check_chains(struct schema_compiler *compiler);

/*
 * Comparing values, exactly. Functions with @steps subtract their work from *@steps. When *@steps
 * is 0 the budget is used up, and the result of the function must not be used (schema-check.c).
 */

/** schema_compare_numbers() - compare two JSON numbers. Return: below 0 if @a < @b, 0 if they are
 *  equal, above 0 if @a > @b. */
int schema_compare_numbers(const json_t *a, const json_t *b);

/** schema_is_multiple() - is @value a multiple of @divisor as a decimal number, as 0.3 is of 0.1?
 *  Return: 1, 0, -ENOMEM. */
int schema_is_multiple(const json_t *value, const json_t *divisor);

/** schema_values_equal() - are @a and @b equal JSON values? 1 and 1.0 are equal. */
bool schema_values_equal(uint64_t *steps, const json_t *a, const json_t *b);

/** schema_find_repeated() - find two equal items of an array. @ret_first, @ret_second: their
 *  indices, if the function returns 1. Return: 1 (found), 0 (all items differ), -ENOMEM. */
int schema_find_repeated(
	uint64_t *steps, const json_t *array, size_t *ret_first, size_t *ret_second);

/** schema_spend() - subtract @count from *@steps, but not below 0. */
static inline void schema_spend(uint64_t *steps, uint64_t count)
{
	*steps = *steps > count ? *steps - count : 0;
}

enum { SCHEMA_TEXT_BYTES_PER_STEP = 64 }; /* compared bytes that cost a step */
