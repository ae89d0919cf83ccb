/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The local embedder: a text as a vector of unit length, so that texts which share words, or parts of
 * words, lie close together. It knows nothing of meaning: words that never look alike are strangers.
 *
 * What it gives is recorded and compared for ever, so the same text gives the same bytes on every
 * machine and under every compiler: features are counted in integers, and only the last step rounds.
 * Whoever changes a single bit of it gives the model another name.
 */
#pragma once

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"

#define WFS_EMBED_MODEL "local-1"

enum { WFS_EMBED_DIMS = 768 };

/**
 * wfs_embed_local() - the vector of a text
 * Time is linear in the text, no memory is allocated, 24 KiB of stack are used.
 * @text: should be UTF-8; bytes that are not separate words, as blanks do
 * Thread: any.
 * Return: 0, or -EINVAL (invalid_argument: the text has neither a letter nor a digit nor a symbol).
 */
int wfs_embed_local(
	struct wfs_bytes text, float ret_vector[static WFS_EMBED_DIMS], struct wfs_error *error);
