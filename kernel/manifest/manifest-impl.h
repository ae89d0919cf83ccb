/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the manifest: what is filled while reading, and what manifest.c hands out. */
#pragma once

#include <stdatomic.h>

#include "kernel/manifest/builtin.h"
#include "kernel/manifest/effect.h"
#include "kernel/manifest/manifest.h"

struct manifest_schema {
	struct wfs_schema *schema;
	size_t route_first; /* its rows in struct wfs_manifest.routes */
	size_t route_count;
};

struct manifest_reducer {
	struct wfs_reducer_definition definition; /* first: manifest.c casts back */
	const char **emits;                       /* sorted */
	size_t emit_count;
	bool asks[WFS_EFFECT_COUNT];
};

struct manifest_cap {
	struct wfs_cap_definition definition;
	struct wfs_schema *params; /* that of the definition, owned */
};

struct wfs_manifest {
	atomic_uint references;
	json_t *document;
	struct wfs_buffer text;
	struct wfs_hash hash;
	struct manifest_schema *schemas;
	size_t schema_count;
	json_t *schema_index; /* name: place in schemas */
	struct manifest_reducer *reducers;
	size_t reducer_count;
	json_t *reducer_index;    /* name: place in reducers */
	struct wfs_route *routes; /* by schema; rows of one schema in manifest order */
	size_t route_count;
	bool effects[WFS_EFFECT_COUNT]; /* enabled */
	struct manifest_cap *caps;
	size_t cap_count;
	json_t *cap_index;             /* name: place in caps */
	const char *policy;            /* name of the one in force */
	struct wfs_policy_rule *rules; /* of it */
	size_t rule_count;
};

/* What is known while reading; a wrong part is left out, not guessed. */
struct manifest_reader {
	struct wfs_manifest *manifest;
	struct wfs_problems *problems;
	bool *keyed_known; /* per reducer: its `keyed` could be read */
};

/** manifest_compare_text() - order of `const char *` items, for qsort and bsearch. */
int manifest_compare_text(const void *a, const void *b);

/* --- manifest-read.c --- */

/**
 * manifest_read() - check the document and fill everything but text and hash
 * Return: 0 (problems are added to the list), -ENOMEM.
 */
int manifest_read(struct manifest_reader *reader);

/* --- manifest-caps.c --- */

/** manifest_read_effects() - the same for effects; before reducers, which name them. */
int manifest_read_effects(const struct manifest_reader *reader);

/** manifest_read_caps() - the same for capabilities, policies, principals and grants. */
int manifest_read_caps(const struct manifest_reader *reader);

/* --- manifest-policy.c --- */

/** manifest_read_policies() - the same for policies; after capabilities, which their rules name. */
int manifest_read_policies(const struct manifest_reader *reader);

/* --- manifest-check.c --- */

/** manifest_expected() - note "expected <what>, got <value>". */
void manifest_expected(const struct manifest_reader *reader, struct wfs_place place,
	const char *what, const json_t *value);

/** manifest_text() - text of a string without NUL bytes, else NULL. */
const char *manifest_text(const json_t *value);

/**
 * manifest_check_members() - is @value an object of these members?
 * @names: NULL-ended; all of them must be there
 * @optional: NULL-ended; these may be there; NULL: none
 * Return: false when it is no object; other problems are only noted.
 */
bool manifest_check_members(const struct manifest_reader *reader, struct wfs_place place,
	const json_t *value, const char *const *names, const char *const *optional);

/**
 * manifest_list() - the list @name of the document
 * @max: how many items it may have besides @builtin_count built-in ones
 * Return: NULL when it is none (noted) or missing (noted before).
 */
const json_t *manifest_list(
	const struct manifest_reader *reader, const char *name, size_t max, size_t builtin_count);

/** manifest_check_kind() - the member `$kind` of a definition must be there, and be @wanted. */
void manifest_check_kind(const struct manifest_reader *reader, struct wfs_place place,
	const json_t *item, const char *wanted);

/** manifest_check_text() - is @value the string @wanted? */
void manifest_check_text(const struct manifest_reader *reader, struct wfs_place place,
	const json_t *value, const char *wanted);

/** manifest_is_reducer_name() - `[a-z][a-z0-9_.-]*` */
bool manifest_is_reducer_name(const char *text);

/** manifest_is_definition_name() - `ns/Name@N` */
bool manifest_is_definition_name(const char *text);

/* How a kind of definition is named. */
struct manifest_naming {
	bool (*fits)(const char *);
	const char *form; /* for the message */
	json_t *index_of;
	const char *reserved; /* begins the names of built-in ones, NULL: any name may be taken */
};

/**
 * manifest_enter() - enter a definition's name under its place
 *
 * A name of the wrong form is entered too, so that what refers to it is not reported as well.
 * @ret_name: NULL when there is no name to be entered
 * Return: 0, -ENOMEM.
 */
int manifest_enter(const struct manifest_reader *reader, struct wfs_place place,
	const json_t *value, size_t index, const struct manifest_naming *naming,
	const char **ret_name);

/**
 * manifest_read_builtin() - is item @index of the list @name one of @builtins, and the only one of its name?
 * @seen: by name
 * Return: 1, 0 when it was noted that not, -ENOMEM.
 */
int manifest_read_builtin(const struct manifest_reader *reader, const char *name, size_t index,
	const json_t *builtins, json_t *seen);

/** manifest_find_named() - the item of @list with this `name`, or NULL. */
json_t *manifest_find_named(const json_t *list, const json_t *name);
