/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Constraints: the form that an answer must have, how each server is asked for it, and whether an
 * answer has it.
 *
 * `{"kind":"json_schema","schema":…,"name"?,"strict"?}`, `{"kind":"regex","regex":…}`,
 * `{"kind":"choice","choices":[…]}`, `{"kind":"grammar","grammar":…}` (GBNF),
 * `{"kind":"structural_tag"}`: calls of the offered tools as `<function=NAME>{…}</function>`.
 *
 * No kind is replaced by another one: if a server cannot be asked for a kind, the turn is refused.
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
	const char *inside; /* the value is this member of an object at the key; NULL: at the key */
	const char *member; /* the value is this member of the constraint; NULL: call `value` */
	/* Makes the value. @tools: the offered ones. Return: new reference, or NULL without
	 * memory. */
	json_t *(*value)(const json_t *constraint, const json_t *tools);
};

/* What a server supports of constraints. Plain value with static lifetime. */
struct wfs_grammar_config {
	struct wfs_grammar_form forms[WFS_CONSTRAINT_KIND_COUNT];
	const char *keys;           /* members of which a body may have one, separated by spaces */
	const char *ignored;        /* prefix of members that the server ignores; may be NULL */
	const char *key_sans_tools; /* member that it refuses together with tools; may be NULL */
	bool xgrammar;              /* some keywords of JSON Schema are refused */
	bool blocks_calls;          /* constraint and calls exclude each other */
};

/* Functions for `value` of struct wfs_grammar_form. */
json_t *wfs_constraint_response_format(const json_t *constraint, const json_t *tools);
json_t *wfs_constraint_choices_regex(const json_t *constraint, const json_t *tools);
json_t *wfs_constraint_choices_grammar(const json_t *constraint, const json_t *tools);
json_t *wfs_constraint_tag(const json_t *constraint, const json_t *tools);
json_t *wfs_constraint_tag_text(const json_t *constraint, const json_t *tools);

/** wfs_constraint_check() - check a constraint, and that the server can be asked for it
 *  @constraint: any value; NULL and null are refused
 *  @adapter: of the server
 *  @tools: the offered ones, from wfs_format_offered() (format.h)
 *  @tool_choice: the setting; NULL: "auto"
 *  Return: 0, -EINVAL (the constraint is wrong, or the server cannot be asked for it: the message
 *  names kind and profile), -ENOMEM. */
int wfs_constraint_check(const json_t *constraint, const struct wfs_adapter *adapter,
	const json_t *tools, const json_t *tool_choice, struct wfs_error *error);

/** wfs_constraint_build() - set the members of @body that ask the server for @constraint, as
 *  @config->forms says; the grammar_builder of all servers, see struct wfs_adapter
 *  @constraint, @tools: accepted by wfs_constraint_check() for the server. Return: 0, or
 *  -ENOMEM. */
int wfs_constraint_build(const struct wfs_grammar_config *config, const json_t *constraint,
	const json_t *tools, json_t *body);

/**
 * wfs_constraint_check_answer() - check that an answer has the requested form
 *
 * To be called for complete answers only. An answer with calls is accepted, because the turn
 * continues after them. Grammars are not checked, which would take a parser of them. For a
 * structural_tag, an answer without calls must not have the text `<function=`, which then begins a
 * tag that is not closed; arguments are checked later, by the schema of the tool.
 * @constraint: accepted by wfs_constraint_check(); NULL and null: none
 * @completion: from wfs_parser_parse() (parser.h)
 * Return: 0, -EINVAL (schema_violation: the answer has another form; the message says what was
 * requested and how the answer begins), -ENOMEM.
 */
int wfs_constraint_check_answer(
	const json_t *constraint, const json_t *completion, struct wfs_error *error);
