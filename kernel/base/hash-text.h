/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes in messages and documents. */
#pragma once

#include <jansson.h>

#include "kernel/base/hash.h"

/* A hash as text. Plain value. */
struct wfs_hash_text {
	char text[WFS_HASH_TEXT_SIZE];
};

/** wfs_hash_text_of() - make the text `sha256:…` of a hash; for WFS_HASH_TEXT() and WFS_HASH_HEX(),
 *  which shorten calls. */
static inline struct wfs_hash_text wfs_hash_text_of(const struct wfs_hash *hash)
{
	struct wfs_hash_text text;

	wfs_hash_text(hash, text.text);
	return text;
}

/* The text of a hash, with and without `sha256:`; valid until the end of the expression. */
#define WFS_HASH_TEXT(hash) (wfs_hash_text_of(hash).text)
#define WFS_HASH_HEX(hash) (WFS_HASH_TEXT(hash) + WFS_HASH_TEXT_SIZE - 1 - WFS_HASH_HEX_SIZE)

/** wfs_hash_fits() - is @hash the SHA-256 of @bytes? */
static inline bool wfs_hash_fits(const struct wfs_hash *hash, struct wfs_bytes bytes)
{
	const struct wfs_hash found = wfs_hash_of(bytes.data, bytes.size);

	return wfs_hash_equal(&found, hash);
}

/** wfs_hash_member() - read the hash whose text is the member @name of @object
 *  Return: 0, or -EINVAL (@object has no such member, or its value is not the text of a hash). */
static inline int wfs_hash_member(const json_t *object, const char *name, struct wfs_hash *ret_hash)
{
	const json_t *const member = json_object_get(object, name);

	return json_is_string(member) ? wfs_hash_parse(json_string_value(member),
						json_string_length(member), ret_hash, NULL)
				      : -EINVAL;
}
