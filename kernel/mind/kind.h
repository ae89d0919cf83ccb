/* SPDX-License-Identifier: Apache-2.0 */
/* What messages say of JSON values: what kind of value came, and which names there are. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <string.h>

#include "kernel/base/buffer.h"

/** wfs_mind_kind() - what a value is, for messages. @json: may be NULL */
const char *wfs_mind_kind(const json_t *json);

/** wfs_mind_list() - append the names of an object's members, or the texts of an array, with commas
 *  between; what does not fit into a message is counted only. "none", if there are none. */
void wfs_mind_list(const json_t *json, struct wfs_buffer *buffer);

/** wfs_mind_is_absent() - is there no such member, or null? */
static inline bool wfs_mind_is_absent(const json_t *value)
{
	return !value || json_is_null(value);
}

/** wfs_mind_has_nul() - of a JSON string. */
static inline bool wfs_mind_has_nul(const json_t *text)
{
	return strlen(json_string_value(text)) != json_string_length(text);
}
