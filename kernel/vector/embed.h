/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The local embedder: turns a text into a vector of unit length, so that texts which share words,
 * or parts of words, lie close together. It knows nothing of meaning: words that look unlike are
 * unrelated.
 *
 * Its vectors are recorded and compared for ever, so a text must give the same bytes on every
 * machine and with every compiler: features are counted in integers, and only the last step rounds.
 * If a change of the code changes a single bit of a vector, WFS_EMBED_MODEL must change, too.
 */
#pragma once

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"

#define WFS_EMBED_MODEL "local-1"

enum { WFS_EMBED_DIMS = 768 };

/** wfs_embed_local() - compute the vector of a text
 *  Time is linear in the text; allocates nothing, and uses 24 KiB of stack.
 *  @text: UTF-8; bytes that are not UTF-8 separate words, like blanks
 *  Thread: any.
 *  Return: 0, or -EINVAL (invalid_argument: the text has no letter, digit or symbol, or the vector
 *  would be zero, because the counts of its features cancel out; @ret_vector is not written). */
int wfs_embed_local(
	struct wfs_bytes text, float ret_vector[static WFS_EMBED_DIMS], struct wfs_error *error);
