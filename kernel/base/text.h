/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that models write: without the white space around them, and no longer than they may be. */
#pragma once

#include <jansson.h>

#include "kernel/base/buffer.h"

/** wfs_text_trimmed() - without white space at both ends. */
struct wfs_bytes wfs_text_trimmed(struct wfs_bytes text);

/** wfs_text_cut() - at most the first @max characters. @text: valid UTF-8 */
struct wfs_bytes wfs_text_cut(struct wfs_bytes text, size_t max);

/** wfs_text_fit() - trimmed, cut, and trimmed again: what fits is as it was. */
struct wfs_bytes wfs_text_fit(struct wfs_bytes text, size_t max);

/** wfs_text_of() - the bytes of a JSON string; none of any other value. */
struct wfs_bytes wfs_text_of(const json_t *json);

/** wfs_text_has_control() - is there a byte below 0x20, or 0x7f? */
bool wfs_text_has_control(struct wfs_bytes text);
