/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the files of constraints. */
#pragma once

#include "agents/adapter/constraint.h"
#include "kernel/schema/pattern.h"
#include "kernel/schema/schema.h"

/* The beginning of a structural tag; the parser of answers (parser.h) looks for it, too. */
#define CONSTRAINT_TAG_TRIGGER "<function="

/** constraint_kind() - look up the member `kind` of a constraint.
 *  Return: WFS_CONSTRAINT_KIND_COUNT if it is missing or unknown. */
enum wfs_constraint_kind constraint_kind(const json_t *constraint);

const char *constraint_kind_name(enum wfs_constraint_kind kind);

/** constraint_schema_new() - compile the member `schema` of a constraint; caller frees @ret_schema
 *  with wfs_schema_free() (kernel/schema/schema.h).
 *  Return: 0, -EINVAL (invalid_argument: not a valid schema), -ENOMEM. */
int constraint_schema_new(
	const json_t *constraint, struct wfs_schema **ret_schema, struct wfs_error *error);

/** constraint_pattern_new() - compile a pattern that matches a text if @regex matches the whole
 *  text; caller frees @ret_pattern with wfs_pattern_free() (kernel/schema/pattern.h). Return: 0,
 *  -EINVAL (not a valid expression), -ENOMEM. */
int constraint_pattern_new(
	const char *regex, struct wfs_pattern **ret_pattern, struct wfs_error *error);

/** constraint_check_xgrammar() - refuse a JSON Schema with keywords that xgrammar (the library that
 *  some servers use for constraints) does not enforce
 *  @profile: name of the server's profile, for messages
 *  Source: vLLM 0.15.1, has_xgrammar_unsupported_json_features().
 *  Return: 0, -EINVAL (the message names the keyword and its place), -ENOMEM. */
int constraint_check_xgrammar(const json_t *schema, const char *profile, struct wfs_error *error);
