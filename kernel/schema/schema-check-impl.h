/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of checks: what the files that check values share.
 *
 * The work of a check is bounded by a count of steps, whatever schema and value are, and the count
 * depends on nothing but the two, so that the same check ends the same way on every machine. When
 * it runs out the check as a whole fails: no `not` or `anyOf` may take that for an answer.
 */
#pragma once

#include "kernel/schema/schema-impl.h"

/*
 * Which items or members of the value have been looked at by the schemas that apply to it: what
 * unevaluatedItems and unevaluatedProperties leave out. Members count in the order of the object.
 */
struct schema_seen {
	bool all;
	uint64_t *words; /* owned; a bit for each */
	size_t count;
};

/* Where $dynamicRef looks: resources, in the order in which the check has entered them. */
struct schema_scope {
	unsigned *resources; /* owned; NULL: no reference asks for it */
	bool *entered;       /* owned; by index of resource */
	unsigned count;
};

struct schema_check {
	struct wfs_error *error;
	unsigned quiet;              /* above 0: the answer counts, nobody will read why */
	unsigned depth;              /* of the value's part in the value */
	unsigned chain;              /* schemas that this part is in the middle of */
	unsigned nested;             /* schemas that the check is in the middle of */
	uint64_t steps;              /* left */
	struct wfs_matcher *matcher; /* owned; NULL until there is a pattern to try */
	struct schema_seen *seen;    /* of this part; NULL: nobody asks */
	struct schema_scope scope;
};

/* Results of the functions below, besides 0 (fits), -EINVAL (does not) and -ENOMEM. */
enum { SCHEMA_CHECK_STOPPED = -E2BIG };

enum {
	SCHEMA_LOOKUPS_PER_STEP = 8,     /* of members by name */
	SCHEMA_SEEN_WORDS_PER_STEP = 16, /* of struct schema_seen, cleared and merged */
};

/** schema_violation() - the value does not fit: "<text>[, got <value>]". Return: -EINVAL, -ENOMEM. */
int schema_violation(struct schema_check *check, const struct schema_path *path,
	const json_t *value, const char *format, ...) __attribute__((format(printf, 4, 5)));

/** schema_stop() - a limit was hit. Return: SCHEMA_CHECK_STOPPED, -ENOMEM. */
int schema_stop(struct schema_check *check, const struct schema_path *path, const char *text);

/** schema_plural() - "s", but for 1 */
const char *schema_plural(uint64_t count);

/** schema_check_node() - all of a schema. */
int schema_check_node(struct schema_check *check, const struct schema_node *node,
	const json_t *value, const struct schema_path *path);

/** schema_check_inner() - a schema that a part of the value must fit. */
int schema_check_inner(struct schema_check *check, const struct schema_node *node,
	const json_t *value, const struct schema_path *path);

/** schema_check_equal() - `const` and `enum`. */
int schema_check_equal(struct schema_check *check, const struct schema_node *node,
	const json_t *value, const struct schema_path *path);
int schema_check_number(struct schema_check *check, const struct schema_node *node,
	const json_t *value, const struct schema_path *path);
int schema_check_string(struct schema_check *check, const struct schema_node *node,
	const json_t *value, const struct schema_path *path);
int schema_check_array(struct schema_check *check, const struct schema_node *node,
	const json_t *value, const struct schema_path *path);
int schema_check_object(struct schema_check *check, const struct schema_node *node,
	const json_t *value, const struct schema_path *path);

/** schema_check_unevaluated() - what is not in check->seen. */
int schema_check_unevaluated(struct schema_check *check, const struct schema_node *node,
	const json_t *value, const struct schema_path *path);

/** schema_match() - try a pattern on @text, which is at @path. Return: 1, 0, SCHEMA_CHECK_STOPPED, -ENOMEM. */
int schema_match(struct schema_check *check, const struct schema_pattern *pattern, const char *text,
	size_t size, const struct schema_path *path);
