/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Constraints: what form an answer must have, how each server is asked for it, and whether the
 * answer has it.
 *
 * `{"kind":"json_schema","schema":…,"name"?,"strict"?}`, `{"kind":"regex","regex":…}`,
 * `{"kind":"choice","choices":[…]}`, `{"kind":"grammar","grammar":…}` (GBNF),
 * `{"kind":"structural_tag"}`: calls of the offered tools as `<function=NAME>{…}</function>`.
 *
 * There is no fallback from one kind to another: a server that cannot be asked for a kind is not
 * asked at all, the run is refused.
 * Source: spec 5, "Model client", Adapters.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "kernel/base/error.h"

struct wfs_adapter;

enum wfs_constraint_kind {
	WFS_CONSTRAINT_JSON_SCHEMA,
	WFS_CONSTRAINT_REGEX,
	WFS_CONSTRAINT_CHOICE,
	WFS_CONSTRAINT_GRAMMAR,
	WFS_CONSTRAINT_STRUCTURAL_TAG,
	WFS_CONSTRAINT_KIND_COUNT
};

/* How a server is asked for one kind. Plain value with static lifetime. */
struct wfs_grammar_form {
	const char *key;    /* member of the body; NULL: the server cannot be asked */
	const char *inside; /* member of the object there; NULL: the value stands at the key */
	/* New reference, or NULL when there is no memory. @tools: as they are offered. */
	json_t *(*value)(const json_t *constraint, const json_t *tools);
};

/* What a server knows of constraints. Plain value with static lifetime. */
struct wfs_grammar_config {
	struct wfs_grammar_form forms[WFS_CONSTRAINT_KIND_COUNT];
	const char *keys;           /* members of a body that constrain; the server takes one */
	const char *ignored;        /* prefix of members that it takes and ignores; may be NULL */
	const char *key_sans_tools; /* of the keys, the one it refuses beside tools; may be NULL */
	bool xgrammar;              /* some keywords of JSON Schema are refused */
	bool blocks_calls;          /* constraint and calls shut one another out */
};

/* The values that forms are made of. */
json_t *wfs_constraint_schema(const json_t *constraint, const json_t *tools);
json_t *wfs_constraint_response_format(const json_t *constraint, const json_t *tools);
json_t *wfs_constraint_regex(const json_t *constraint, const json_t *tools);
json_t *wfs_constraint_choices(const json_t *constraint, const json_t *tools);
json_t *wfs_constraint_choices_regex(const json_t *constraint, const json_t *tools);
json_t *wfs_constraint_choices_grammar(const json_t *constraint, const json_t *tools);
json_t *wfs_constraint_grammar(const json_t *constraint, const json_t *tools);
json_t *wfs_constraint_tag(const json_t *constraint, const json_t *tools);
json_t *wfs_constraint_tag_text(const json_t *constraint, const json_t *tools);

/**
 * wfs_constraint_check() - is this a constraint, and can the server be asked for it?
 * @adapter: of the server
 * @tools: as they are offered (wfs_format_offered)
 * @tool_choice: NULL is "auto"
 * Return: 0, -EINVAL (the message names kind and profile), -ENOMEM.
 */
int wfs_constraint_check(const json_t *constraint, const struct wfs_adapter *adapter,
	const json_t *tools, const json_t *tool_choice, struct wfs_error *error);

/** wfs_constraint_build() - the grammar_builder of all servers: by the form of the kind. */
int wfs_constraint_build(const struct wfs_grammar_config *config, const json_t *constraint,
	const json_t *tools, json_t *body);

/**
 * wfs_constraint_check_answer() - does an answer have the form that was asked for?
 *
 * For answers that came to their end (an answer that was cut is not one to judge). One with calls
 * is not the answer yet. A grammar cannot be checked here, and is not: that would take its parser.
 * Of a structural_tag it is checked that what its trigger began is a call; arguments are for the
 * schema of the tool.
 * @constraint: that passed wfs_constraint_check(); NULL and null: none
 * @completion: from wfs_parser_parse()
 * Return: 0, -EINVAL (schema_violation: what was asked and how the answer begins), -ENOMEM.
 */
int wfs_constraint_check_answer(
	const json_t *constraint, const json_t *completion, struct wfs_error *error);
