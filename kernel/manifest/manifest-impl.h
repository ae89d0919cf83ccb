/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to the manifest: the struct, and what the functions that read a document share.
 *
 * Those report mistakes in the document by adding to reader->problems, each with its place (a JSON
 * pointer), leave the wrong part out, and go on.
 */
#pragma once

#include <stdatomic.h>

#include "kernel/manifest/builtin.h"
#include "kernel/manifest/effect.h"
#include "kernel/manifest/manifest.h"

struct manifest_schema {
	struct wfs_schema *schema;
	size_t route_first; /* index in wfs_manifest.routes of this schema's first row */
	size_t route_count;
};

struct manifest_reducer {
	struct wfs_reducer_definition definition; /* first, because manifest.c casts from it */
	const char **emits; /* names of the schemas of its events, sorted; owned */
	size_t emit_count;
	bool asks[WFS_EFFECT_COUNT]; /* the effects that it may ask for */
};

struct manifest_cap {
	struct wfs_cap_definition definition;
	struct wfs_schema *params; /* the definition's, owned */
};

struct wfs_manifest {
	atomic_uint references;
	json_t *document;
	struct wfs_buffer text; /* of the file `/manifest` */
	struct wfs_hash hash;   /* of `text` */
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

/* State while a document is read. */
struct manifest_reader {
	struct wfs_manifest *manifest;
	struct wfs_problems *problems;
	bool *keyed_known; /* by index of a reducer: was the `keyed` of its definition set? */
};

/** manifest_compare_text() - compare `const char *` items, for qsort and bsearch. */
int manifest_compare_text(const void *a, const void *b);

/* --- manifest-read.c --- */

/** manifest_read() - check the document of reader->manifest, and fill in the manifest's other
 *  members except `text` and `hash`
 *  Makes reader->keyed_known, which the caller frees, also after a failure.
 *  Return: 0 (also if problems were added), -ENOMEM. */
int manifest_read(struct manifest_reader *reader);

/* --- manifest-caps.c --- */

/** manifest_read_effects() - read the list of effects; called before the reducers, which name them,
 *  are read. Return: 0 (also if problems were added), -ENOMEM. */
int manifest_read_effects(const struct manifest_reader *reader);

/** manifest_read_caps() - read the lists of capabilities, policies, principals and grants
 *  Return: 0 (also if problems were added), -ENOMEM. */
int manifest_read_caps(const struct manifest_reader *reader);

/* --- manifest-policy.c --- */

/** manifest_read_policies() - read the list of policies; called after the capabilities, which their
 *  rules name, were read. Return: 0 (also if problems were added), -ENOMEM. */
int manifest_read_policies(const struct manifest_reader *reader);

/* --- manifest-check.c --- */

/** manifest_expected() - add the problem "expected @what, got @value" at @place. @value: NULL is
 *  shown as "nothing" */
void manifest_expected(const struct manifest_reader *reader, struct wfs_place place,
	const char *what, const json_t *value);

/** manifest_text() - Return: the text of a JSON string without NUL characters, borrowed; NULL for
 *  other values. */
const char *manifest_text(const json_t *value);

/** manifest_check_members() - check that @value is an object with these members; adds problems
 *  @names: required members; the last is NULL. A missing `$kind` is not reported here, but by
 *  manifest_check_kind()
 *  @optional: further members that are allowed; the last is NULL; NULL: none
 *  Return: false if @value is not an object; true also after other problems. */
bool manifest_check_members(const struct manifest_reader *reader, struct wfs_place place,
	const json_t *value, const char *const *names, const char *const *optional);

/** manifest_list() - get the list @name of the document, borrowed
 *  @max: how many items the list may have besides @builtin_count built-in ones
 *  Return: the list; NULL if the member is not a list or too long (a problem was added), or missing
 *  (manifest_check_members() adds that problem). */
const json_t *manifest_list(
	const struct manifest_reader *reader, const char *name, size_t max, size_t builtin_count);

/** manifest_check_kind() - check that the member `$kind` of the definition @item, which is at
 *  @place, is @wanted; otherwise add a problem. */
void manifest_check_kind(const struct manifest_reader *reader, struct wfs_place place,
	const json_t *item, const char *wanted);

/** manifest_check_text() - check that @value is the string @wanted; otherwise add a problem. NULL,
 *  a missing member, is no problem here. */
void manifest_check_text(const struct manifest_reader *reader, struct wfs_place place,
	const json_t *value, const char *wanted);

/** manifest_is_reducer_name() - is @text the name of a reducer: `[a-z][a-z0-9_.-]*`, at most
 *  WFS_REDUCER_NAME_MAX bytes (manifest.h)? */
bool manifest_is_reducer_name(const char *text);

/** manifest_is_definition_name() - has @text the form `ns/Name@N` of the names of schemas,
 *  capabilities and policies? */
bool manifest_is_definition_name(const char *text);

/* The rules for the names of a kind of definition. */
struct manifest_naming {
	bool (*fits)(const char *); /* does a name have the right form? */
	const char *form;           /* words for that form, for the message */
	json_t *index_of;           /* {name: index in its list} so far */
	const char *reserved;       /* prefix of built-in names; NULL: any name may be used */
};

/** manifest_enter() - add a definition's name @value, with its index in its list, to
 *  naming->index_of; if the list has the name already, add a problem instead
 *  A name of the wrong form is a problem, but is added to naming->index_of, too, so that references
 *  to the name are not reported as well. @value: NULL (a missing member) is not reported here
 *  @ret_name: borrowed from @value; NULL if no name was added. Return: 0 (also if problems were
 *  added), -ENOMEM. */
int manifest_enter(const struct manifest_reader *reader, struct wfs_place place,
	const json_t *value, size_t index, const struct manifest_naming *naming,
	const char **ret_name);

/** manifest_check_builtin() - check that @item, at @place of a manifest, is the built-in definition
 *  @builtin, or the one of this name that an earlier version of the program had
 *  Return: 1 (it is), 0 (a problem was added), -ENOMEM. */
int manifest_check_builtin(const struct manifest_reader *reader, struct wfs_place place,
	const json_t *item, const json_t *builtin);

/** manifest_read_builtin() - check that item @index of the document's list @name is one of
 *  @builtins, an array of definitions, or was one in an earlier version of the program, and that no
 *  earlier item of the list has its name
 *  @seen: {name: index in the list} of the items so far; this item is added, if it is right
 *  Return: 1 (it is right), 0 (a problem was added), -ENOMEM. */
int manifest_read_builtin(const struct manifest_reader *reader, const char *name, size_t index,
	const json_t *builtins, json_t *seen);

/** manifest_find_named() - Return: the item of @list with this `name`, borrowed; NULL: none has
 *  it, or @name is NULL. */
json_t *manifest_find_named(const json_t *list, const json_t *name);
