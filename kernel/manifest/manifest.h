/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The manifest: the document that says what a world is made of.
 *
 * Its identity is the hash of its canonical document. A parsed manifest is immutable and shared by
 * reference count; what its functions return is borrowed from it, until its last unref.
 * Source: docs/design.md §4.
 * Thread: any.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"
#include "kernel/base/hash.h"
#include "kernel/base/problems.h"
#include "kernel/manifest/effect.h"
#include "kernel/schema/schema.h"

enum {
	WFS_MANIFEST_REDUCERS_MAX = 4096,
	WFS_MANIFEST_SCHEMAS_MAX = 4096,
	WFS_MANIFEST_ROUTES_MAX = 16384,
	WFS_MANIFEST_POLICIES_MAX = 256,
	WFS_MANIFEST_RULES_MAX = 1024, /* of one policy */
	WFS_MANIFEST_NAME_MAX = 255,   /* bytes of the world's name; no control characters */
	WFS_SCHEMA_NAME_MAX = 255,     /* bytes; `ns/Name@N` */
	WFS_ROUTE_KEY_FIELD_MAX = 255, /* bytes; names joined by dots */
	WFS_REDUCER_NAME_MAX = 128,    /* bytes; `[a-z][a-z0-9_.-]*` */
	WFS_POLICY_PATTERN_MAX = 255,  /* bytes */
};

#define WFS_PRINCIPAL_OPERATOR "operator" /* in every new world; has every capability */
/* The kernel's own principals, as which nobody acts: the holder of bids,
 * and the owner of the genesis artifacts. */
#define WFS_PRINCIPAL_MINT "mint"
#define WFS_PRINCIPAL_GENESIS "genesis"

/* Resources that can be limited, by name. X(constant, name) */
#define WFS_RESOURCES(X)          \
	X(DISK, disk)             \
	X(JOURNAL, journal)       \
	X(LLM_BUDGET, llm_budget) \
	X(LLM_TOKENS, llm_tokens)

/* A reducer of a manifest. Borrowed from it; plain value. */
struct wfs_reducer_definition {
	const char *name;
	struct wfs_hash module; /* blob with the Lua source; zero when built in */
	bool keyed;             /* events give it keys; false: it has one cell */
	bool builtin;           /* the kernel itself changes its cells; no Lua, no events */
	size_t index;           /* position in the manifest */
};

/* One routing row: events of a schema go to a reducer. Borrowed; plain value. */
struct wfs_route {
	const struct wfs_reducer_definition *reducer;
	const char *
		key_field; /* dotted path into the event's value; NULL for a reducer without keys */
};

/* A capability that can be granted. Borrowed; plain value. */
struct wfs_cap_definition {
	const char *name;                /* "sys/query@1" */
	const char *cap_type;            /* "query" */
	const struct wfs_schema *params; /* of grants of it */
};

/* From where a principal asks; a policy's `origin`. X(constant, name) */
#define WFS_ORIGINS(X)                                                  \
	X(HOST, "host")       /* mount, control socket, command line */ \
	X(REDUCER, "reducer") /* an effect that a reducer asked for */  \
	X(CODE, "code")       /* of artifacts */

enum wfs_origin {
#define WFS_ORIGIN_ENUM(constant, name) WFS_ORIGIN_##constant,
	WFS_ORIGINS(WFS_ORIGIN_ENUM)
#undef WFS_ORIGIN_ENUM
		WFS_ORIGIN_COUNT
};

/** wfs_origin_name() - Return: the word for an origin in rules of policies, e.g. "host"; static. */
const char *wfs_origin_name(enum wfs_origin origin);

/** wfs_policy_fits() - does @pattern, a condition of a rule, match @text, a member of a question
 *  (kernel/rights/rights.h)?
 *  @pattern: a `*` at its end matches any rest; NULL: the rule does not have the condition, so
 *  every text matches
 *  @text: NULL: the question has no such text, so only a @pattern of NULL matches */
bool wfs_policy_fits(const char *pattern, const char *text);

/*
 * One rule of a policy. Members that are NULL match everything; a `*` at the end of one matches any
 * rest. Borrowed; plain value.
 */
struct wfs_policy_rule {
	const char *effect, *cap, *principal, *origin, *reducer, *artifact;
	/* Of an outside tool: its full name, its server, and a hint that is true of it. */
	const char *tool, *server, *annotation;
	bool allow;
	bool ask; /* a tool call of a turn waits for an approval; anything else is denied */
};

/** wfs_policy_rule_is_of_tools() - does the rule have a condition that only a call of an outside
 *  tool can fulfil (tool, server or annotation)? */
bool wfs_policy_rule_is_of_tools(const struct wfs_policy_rule *rule);

struct wfs_manifest;

/** wfs_manifest_new() - check and compile a manifest document
 *  @document: the manifest keeps a reference of its own. @problems: gets every problem, with its
 *  JSON pointer
 *  @ret_manifest: caller unrefs it; not set after a failure. Return: 0, -EINVAL (problems were
 *  added), -ENOMEM. */
int wfs_manifest_new(
	json_t *document, struct wfs_problems *problems, struct wfs_manifest **ret_manifest);
struct wfs_manifest *wfs_manifest_ref(struct wfs_manifest *manifest);
void wfs_manifest_unref(struct wfs_manifest *manifest);
WFS_DEFINE_AUTO(manifest, struct wfs_manifest, wfs_manifest_unref)
#define WFS_AUTO_MANIFEST WFS_CLEANUP(wfs_auto_manifest)

const char *wfs_manifest_name(const struct wfs_manifest *manifest);

/** wfs_manifest_document() - Return: the exact bytes of the file `/manifest`, newline included. */
struct wfs_bytes wfs_manifest_document(const struct wfs_manifest *manifest);

/** wfs_manifest_hash() - Return: the hash of wfs_manifest_document(). */
const struct wfs_hash *wfs_manifest_hash(const struct wfs_manifest *manifest);

/** wfs_manifest_schema() - Return: the compiled schema with this name (`ns/Name@N`); NULL for an
 *  unknown name, and for the name of a built-in schema, which no event has. */
const struct wfs_schema *wfs_manifest_schema(
	const struct wfs_manifest *manifest, const char *schema);

/** wfs_manifest_routes() - Return: the rows of `routing` for a schema, in the manifest's order.
 *  @ret_count: their number; 0 for a schema without rows or an unknown one */
const struct wfs_route *wfs_manifest_routes(
	const struct wfs_manifest *manifest, const char *schema, size_t *ret_count);

size_t wfs_manifest_reducer_count(const struct wfs_manifest *manifest);
const struct wfs_reducer_definition *wfs_manifest_reducer(
	const struct wfs_manifest *manifest, size_t index);
const struct wfs_reducer_definition *wfs_manifest_reducer_find(
	const struct wfs_manifest *manifest, const char *name);

/** wfs_manifest_emits() - does the reducer's definition allow it to emit events of @schema? */
bool wfs_manifest_emits(const struct wfs_reducer_definition *reducer, const char *schema);

/** wfs_manifest_asks() - does the reducer's definition allow it to ask for @effect? */
bool wfs_manifest_asks(const struct wfs_reducer_definition *reducer, enum wfs_effect effect);

/** wfs_manifest_effect() - is the effect enabled in worlds with this manifest, because it is in the
 *  list of effects? */
bool wfs_manifest_effect(const struct wfs_manifest *manifest, enum wfs_effect effect);

/** wfs_manifest_cap() - Return: the capability with this name, e.g. "sys/query@1"; NULL: the
 *  manifest does not have it. */
const struct wfs_cap_definition *wfs_manifest_cap(
	const struct wfs_manifest *manifest, const char *name);

/** wfs_manifest_policy() - Return: the rules of the policy in force, in order
 *  @ret_name: of the policy. @ret_count: of the rules; may be 0 */
const struct wfs_policy_rule *wfs_manifest_policy(
	const struct wfs_manifest *manifest, const char **ret_name, size_t *ret_count);

/** wfs_manifest_principals() - Return: the principals that the manifest declares, an array of
 *  objects; each has an `id`. */
const json_t *wfs_manifest_principals(const struct wfs_manifest *manifest);

/** wfs_manifest_grants() - Return: the grants that the manifest declares, an array of objects; each
 *  has a `name`. */
const json_t *wfs_manifest_grants(const struct wfs_manifest *manifest);
