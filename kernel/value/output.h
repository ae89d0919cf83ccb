/* SPDX-License-Identifier: Apache-2.0 */
/* What a model gets of a tool's output. */
#pragma once

#include "kernel/base/buffer.h"

enum { WFS_TURN_OUTPUT_MAX = 64 << 10 }; /* bytes of a tool's output that the model gets */

/** wfs_turn_cut() - cut a tool's output that is longer than WFS_TURN_OUTPUT_MAX bytes, between two
 *  characters, and append a line that says so; a shorter output is unchanged
 *  @output: valid UTF-8; the line that is appended is not counted in WFS_TURN_OUTPUT_MAX */
void wfs_turn_cut(struct wfs_buffer *output);
