/* SPDX-License-Identifier: Apache-2.0 */
/* Private to agents/mind/: what messages are made of; predicates. */
#pragma once

#include <jansson.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"

/** mind_kind() - what a value is, for messages. @json: may be NULL */
const char *mind_kind(const json_t *json);

/** mind_list() - append the names of an object's members, or the texts of an array, with commas
 *  between; what does not fit into a message is counted only. "none", if there are none. */
void mind_list(const json_t *json, struct wfs_buffer *buffer);

/** mind_is_absent() - is there no such member, or null? */
static inline bool mind_is_absent(const json_t *value)
{
	return !value || json_is_null(value);
}

/** mind_has_nul() - of a JSON string. */
static inline bool mind_has_nul(const json_t *text)
{
	return strlen(json_string_value(text)) != json_string_length(text);
}

/* --- predicate.c --- */

/**
 * mind_predicate() - does a built-in predicate hold?
 * @text: of a condition
 * Return: 0; 1 (it is none: an expression); -EINVAL (invalid_argument), -ENOMEM (without a message).
 */
int mind_predicate(
	struct wfs_bytes text, const json_t *variables, bool *ret_holds, struct wfs_error *error);

/** mind_predicates() - those without an argument: object name → boolean. Return: NULL: no memory */
json_t *mind_predicates(const json_t *variables);
