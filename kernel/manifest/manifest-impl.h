/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the manifest: the struct, and what its readers share. */
#pragma once

#include <stdatomic.h>

#include "kernel/manifest/builtin.h"
#include "kernel/manifest/effect.h"
#include "kernel/manifest/manifest.h"

struct manifest_schema {
	struct wfs_schema *schema;
	size_t route_first; /* index of its first row in struct wfs_manifest.routes */
	size_t route_count;
};

struct manifest_reducer {
	struct wfs_reducer_definition definition; /* first, because manifest.c casts back */
	const char **emits;                       /* sorted */
	size_t emit_count;
	bool asks[WFS_EFFECT_COUNT];
};

struct manifest_cap {
	struct wfs_cap_definition definition;
	struct wfs_schema *params; /* the definition's, owned */
};

struct wfs_manifest {
	atomic_uint references;
	json_t *document;
	struct wfs_buffer text;
	struct wfs_hash hash;
	struct manifest_schema *schemas;
	size_t schema_count;
	json_t *schema_index; /* name: index in schemas */
	struct manifest_reducer *reducers;
	size_t reducer_count;
	json_t *reducer_index;    /* name: index in reducers */
	struct wfs_route *routes; /* by schema; rows of one schema in manifest order */
	size_t route_count;
	bool effects[WFS_EFFECT_COUNT]; /* enabled */
	struct manifest_cap *caps;
	size_t cap_count;
	json_t *cap_index;             /* name: index in caps */
	const char *policy;            /* name of the policy in force */
	struct wfs_policy_rule *rules; /* of that policy */
	size_t rule_count;
};

/* State while a document is read; wrong parts are left out. */
struct manifest_reader {
	struct wfs_manifest *manifest;
	struct wfs_problems *problems;
	bool *keyed_known; /* by reducer: its `keyed` is valid */
};

/** manifest_compare_text() - compare `const char *` items, for qsort and bsearch. */
int manifest_compare_text(const void *a, const void *b);

/* --- manifest-read.c --- */

/**
 * manifest_read() - check the document and fill in everything except text and hash
 * Return: 0 (also if problems were added), -ENOMEM.
 */
int manifest_read(struct manifest_reader *reader);

/* --- manifest-caps.c --- */

/** manifest_read_effects() - read the effects; before the reducers, which name them.
 *  Return: as above. */
int manifest_read_effects(const struct manifest_reader *reader);

/** manifest_read_caps() - read capabilities, policies, principals and grants. Return: as above. */
int manifest_read_caps(const struct manifest_reader *reader);

/* --- manifest-policy.c --- */

/** manifest_read_policies() - read the policies; after the capabilities, which their rules name.
 *  Return: as above. */
int manifest_read_policies(const struct manifest_reader *reader);

/* --- manifest-check.c --- */

/** manifest_expected() - add the problem "expected <what>, got <value>". */
void manifest_expected(const struct manifest_reader *reader, struct wfs_place place,
	const char *what, const json_t *value);

/** manifest_text() - Return: the text of a string without NUL bytes, NULL for other values. */
const char *manifest_text(const json_t *value);

/**
 * manifest_check_members() - check that @value is an object with these members
 * @names: NULL-terminated; all are required
 * @optional: NULL-terminated; NULL: none
 * Return: false if it is not an object; other problems are only added.
 */
bool manifest_check_members(const struct manifest_reader *reader, struct wfs_place place,
	const json_t *value, const char *const *names, const char *const *optional);

/**
 * manifest_list() - get the list @name of the document
 * @max: bound of its items, besides @builtin_count built-in ones
 * Return: NULL if it is not a list (a problem is added) or missing (which was added before).
 */
const json_t *manifest_list(
	const struct manifest_reader *reader, const char *name, size_t max, size_t builtin_count);

/** manifest_check_kind() - check that the member `$kind` of a definition is @wanted. */
void manifest_check_kind(const struct manifest_reader *reader, struct wfs_place place,
	const json_t *item, const char *wanted);

/** manifest_check_text() - check that @value is the string @wanted. */
void manifest_check_text(const struct manifest_reader *reader, struct wfs_place place,
	const json_t *value, const char *wanted);

/** manifest_is_reducer_name() - is it `[a-z][a-z0-9_.-]*`? */
bool manifest_is_reducer_name(const char *text);

/** manifest_is_definition_name() - is it `ns/Name@N`? */
bool manifest_is_definition_name(const char *text);

/* The rules for the names of a kind of definition. */
struct manifest_naming {
	bool (*fits)(const char *);
	const char *form; /* for the message */
	json_t *index_of;
	const char *reserved; /* prefix of built-in names; NULL: any name may be used */
};

/**
 * manifest_enter() - add a definition's name, with its index, to naming->index_of
 *
 * Adds a name of the wrong form, too, so that references to it are not reported as well.
 * @ret_name: NULL if nothing was added
 * Return: 0, -ENOMEM.
 */
int manifest_enter(const struct manifest_reader *reader, struct wfs_place place,
	const json_t *value, size_t index, const struct manifest_naming *naming,
	const char **ret_name);

/**
 * manifest_read_builtin() - check that item @index of the list @name is one of @builtins
 * Its name must not be one of @seen.
 * @seen: names so far
 * Return: 1, 0 (a problem was added), -ENOMEM.
 */
int manifest_read_builtin(const struct manifest_reader *reader, const char *name, size_t index,
	const json_t *builtins, json_t *seen);

/** manifest_find_named() - Return: the item of @list with this `name`, borrowed, or NULL. */
json_t *manifest_find_named(const json_t *list, const json_t *name);
