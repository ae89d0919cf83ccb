/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that models write: trimmed, cut to a length, checked. */
#pragma once

#include <jansson.h>

#include "kernel/base/buffer.h"

/** wfs_text_trimmed() - get a text without the white space (of ASCII) at its beginning and end;
 *  borrowed from @text. */
struct wfs_bytes wfs_text_trimmed(struct wfs_bytes text);

/** wfs_text_cut() - get at most the first @max characters of a text; borrowed from @text, which is
 *  valid UTF-8. */
struct wfs_bytes wfs_text_cut(struct wfs_bytes text, size_t max);

/** wfs_text_fit() - get a text trimmed, cut to @max characters, and trimmed again; borrowed from
 *  @text, which is valid UTF-8. */
struct wfs_bytes wfs_text_fit(struct wfs_bytes text, size_t max);

/** wfs_text_of() - get the bytes of a JSON string; empty for other values; borrowed from @json. */
struct wfs_bytes wfs_text_of(const json_t *json);

/** wfs_text_has_control() - does the text have a byte below 0x20, or 0x7f? */
bool wfs_text_has_control(struct wfs_bytes text);
