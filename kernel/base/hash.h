/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 and its one text form, `sha256:` + 64 lower-case hex digits.
 * The only user of libcrypto.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"

enum {
	WFS_HASH_SIZE = 32,
	WFS_HASH_HEX_SIZE = 64,
	WFS_HASH_TEXT_SIZE = 7 + WFS_HASH_HEX_SIZE + 1, /* with prefix and NUL */
};

/* Plain value. For a hash that does not exist, such as that of the line before record 0, all bytes
 * are 0. */
struct wfs_hash {
	uint8_t bytes[WFS_HASH_SIZE];
};

/** wfs_hash_of() - compute the SHA-256 of @size bytes; allocates nothing, and so cannot fail.
 *  Thread: any. */
struct wfs_hash wfs_hash_of(const void *data, size_t size);

bool wfs_hash_equal(const struct wfs_hash *a, const struct wfs_hash *b);

/** wfs_hash_hex() - write a hash as 64 lower-case hexadecimal digits and a NUL. */
void wfs_hash_hex(const struct wfs_hash *hash, char ret_hex[static WFS_HASH_HEX_SIZE + 1]);

/** wfs_hash_text() - write a hash as `sha256:`, 64 hexadecimal digits and a NUL. */
void wfs_hash_text(const struct wfs_hash *hash, char ret_text[static WFS_HASH_TEXT_SIZE]);

/** wfs_hash_parse() - read 64 lower-case hexadecimal digits, with or without `sha256:` in front
 *  Return: 0, or -EINVAL (invalid_argument: it has another form; the message shows the text). */
int wfs_hash_parse(
	const char *text, size_t size, struct wfs_hash *ret_hash, struct wfs_error *error);

/* Hashing in pieces (large files). */
struct wfs_hasher;
/** wfs_hasher_new() - begin to hash bytes that come in pieces. @ret_hasher: caller frees it
 *  with wfs_hasher_free(). Return: 0, or -ENOMEM. */
int wfs_hasher_new(struct wfs_hasher **ret_hasher);
void wfs_hasher_add(struct wfs_hasher *hasher, const void *data, size_t size);
/** wfs_hasher_end() - get the hash of all bytes that were added, and make the hasher empty, so that
 *  it can be used again. */
struct wfs_hash wfs_hasher_end(struct wfs_hasher *hasher);
void wfs_hasher_free(struct wfs_hasher *hasher);
WFS_DEFINE_AUTO(hasher, struct wfs_hasher, wfs_hasher_free)
#define WFS_AUTO_HASHER WFS_CLEANUP(wfs_auto_hasher)
