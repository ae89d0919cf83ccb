/* SPDX-License-Identifier: Apache-2.0 */
/* Words of messages about JSON values: the kind of a value, and lists of known names. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <string.h>

#include "kernel/base/buffer.h"

/** wfs_mind_kind() - get words for the kind of a JSON value, such as "an object", "a text" or
 *  "null", for messages; static. @json: NULL, an absent value, gives "nothing" */
const char *wfs_mind_kind(const json_t *json);

/** wfs_mind_list() - append to @buffer the names of an object's members, or the texts of an array,
 *  separated by commas; "none" if @json is empty. Names that do not fit into a message are only
 *  counted. */
void wfs_mind_list(const json_t *json, struct wfs_buffer *buffer);

/** wfs_mind_is_absent() - is @value, a member of an object, absent (NULL) or JSON's null? */
static inline bool wfs_mind_is_absent(const json_t *value)
{
	return !value || json_is_null(value);
}

/** wfs_mind_has_nul() - does @text, a JSON string and not NULL, contain a NUL character? */
static inline bool wfs_mind_has_nul(const json_t *text)
{
	return strlen(json_string_value(text)) != json_string_length(text);
}
