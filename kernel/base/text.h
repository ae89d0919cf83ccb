/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that models write: trimmed, cut to a length, checked.
 * All returned views borrow the text. / */
#pragma once

#include <jansson.h>

#include "kernel/base/buffer.h"

/** wfs_text_trimmed() - drop white space at both ends. */
struct wfs_bytes wfs_text_trimmed(struct wfs_bytes text);

/** wfs_text_cut() - keep at most the first @max characters. @text: valid UTF-8 */
struct wfs_bytes wfs_text_cut(struct wfs_bytes text, size_t max);

/** wfs_text_fit() - trim, keep at most @max characters, and trim again. */
struct wfs_bytes wfs_text_fit(struct wfs_bytes text, size_t max);

/** wfs_text_of() - get the bytes of a JSON string; empty for other values. */
struct wfs_bytes wfs_text_of(const json_t *json);

/** wfs_text_has_control() - does the text have a byte below 0x20, or 0x7f? */
bool wfs_text_has_control(struct wfs_bytes text);
