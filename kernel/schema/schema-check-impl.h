/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to the schema validator: what the files that check values share.
 *
 * The work of a check is bounded by a number of steps, for any schema and value, and this number
 * depends on nothing but the two, so that a check ends in the same way on every machine. When no
 * steps are left the whole check fails: `not` and `anyOf` must not treat that as "does not fit".
 *
 * The functions return 0 (the value fits), -EINVAL (it does not; the error says why),
 * SCHEMA_CHECK_STOPPED (a limit was reached) or -ENOMEM, if their comment does not say otherwise.
 * @value is a part of the value that is checked, and @path the place of this part.
 */
#pragma once

#include "kernel/schema/schema-impl.h"

/*
 * Which items or members of the value other keywords have checked: unevaluatedItems and
 * unevaluatedProperties apply to the rest. Members are counted in the order of the object.
 */
struct schema_seen {
	bool all;        /* all were checked */
	uint64_t *words; /* owned; a bit for each item or member */
	size_t count;
};

/* Where $dynamicRef searches: resources, in the order in which the check has entered them. */
struct schema_scope {
	unsigned *resources; /* owned; NULL: the schema has no $dynamicRef that needs them */
	bool *entered;       /* owned; by index of resource */
	unsigned count;
};

struct schema_check {
	struct wfs_error *error;
	unsigned quiet;              /* above 0: only the result matters, not the message */
	unsigned depth;              /* nesting of the current part in the value */
	unsigned chain;              /* schemas that are being checked on this part */
	unsigned nested;             /* schemas that are being checked on all parts */
	uint64_t steps;              /* steps that are left */
	struct wfs_matcher *matcher; /* owned; NULL until a pattern is first matched */
	struct schema_seen *seen;    /* of this part; NULL: no unevaluated… keyword needs it */
	struct schema_scope scope;
};

enum { SCHEMA_CHECK_STOPPED = -E2BIG };

enum {
	SCHEMA_LOOKUPS_PER_STEP = 8,     /* look-ups of members by name */
	SCHEMA_SEEN_WORDS_PER_STEP = 16, /* words of struct schema_seen, cleared and merged */
};

/** schema_violation() - unless check->quiet, fill check->error with "<text>, got <value>" and the
 *  place @path
 *  @value: NULL: the error has only the text. @format: of the text, printf style
 *  Return: -EINVAL, or -ENOMEM. */
int schema_violation(struct schema_check *check, const struct schema_path *path,
	const json_t *value, const char *format, ...) __attribute__((format(printf, 4, 5)));

/** schema_stop() - fill check->error, because the check has reached a limit at @path, and must end.
 *  @text: names the limit. Return: SCHEMA_CHECK_STOPPED, -ENOMEM. */
int schema_stop(struct schema_check *check, const struct schema_path *path, const char *text);

/** schema_plural() - Return: the ending of a noun in messages: "" for a count of 1, otherwise "s";
 *  static. */
const char *schema_plural(uint64_t count);

/** schema_check_node() - check @value against all keywords of the schema @node. */
int schema_check_node(struct schema_check *check, const struct schema_node *node,
	const json_t *value, const struct schema_path *path);

/** schema_check_inner() - check @value, an item or member of the part that is being checked,
 *  against the schema @node. During this check check->depth is one more, check->chain begins at 0,
 *  and check->seen is NULL. */
int schema_check_inner(struct schema_check *check, const struct schema_node *node,
	const json_t *value, const struct schema_path *path);

/** schema_check_equal() - check @value against the keywords `const` and `enum`
 *  Each of the four functions after this one checks the keywords for one type of values; its @value
 *  must have this type. */
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

/** schema_check_unevaluated() - check the items or members of @value that are not in check->seen
 *  against unevaluatedItems or unevaluatedProperties. */
int schema_check_unevaluated(struct schema_check *check, const struct schema_node *node,
	const json_t *value, const struct schema_path *path);

/** schema_match() - match a pattern against @text, which is at @path. Return: 1 (it matches), 0,
 *  SCHEMA_CHECK_STOPPED, -ENOMEM. */
int schema_match(struct schema_check *check, const struct schema_pattern *pattern, const char *text,
	size_t size, const struct schema_path *path);
