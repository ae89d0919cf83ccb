/* SPDX-License-Identifier: Apache-2.0 */
/* What a model gets of a tool's output. */
#pragma once

#include "kernel/base/buffer.h"

enum { WFS_TURN_OUTPUT_MAX = 64 << 10 }; /* bytes of a tool's output that the model gets */

/** wfs_turn_cut() - cut a tool's output to WFS_TURN_OUTPUT_MAX bytes, at a character, and append a
 *  mark
 *  @output: valid UTF-8 */
void wfs_turn_cut(struct wfs_buffer *output);
