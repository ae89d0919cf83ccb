/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 through libcrypto. The functions of openssl/sha.h are deprecated in favour of EVP, but
 * EVP allocates for every hash (OpenSSL 3.0: EVP_DigestInit_ex2), and so every hash could fail.
 * These functions need no memory and no set-up, and cannot fail.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "kernel/base/hash.h"

#include <assert.h>
#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/error.h"

#define HASH_PREFIX "sha256:"

enum {
	HASH_PREFIX_SIZE = sizeof(HASH_PREFIX) - 1,
	SHOWN_MAX_BYTES = 100, /* of a refused text, in messages */
};

static_assert(WFS_HASH_TEXT_SIZE == HASH_PREFIX_SIZE + WFS_HASH_HEX_SIZE + 1, "prefix, hex, NUL");

static_assert(WFS_HASH_SIZE == SHA256_DIGEST_LENGTH, "SHA-256");

struct wfs_hash wfs_hash_of(const void *data, size_t size)
{
	struct wfs_hash hash;
	SHA256_CTX context;

	wfs_require(SHA256_Init(&context) == 1);
	wfs_require(SHA256_Update(&context, data, size) == 1);
	wfs_require(SHA256_Final(hash.bytes, &context) == 1);
	return hash;
}

bool wfs_hash_equal(const struct wfs_hash *a, const struct wfs_hash *b)
{
	return memcmp(a->bytes, b->bytes, WFS_HASH_SIZE) == 0;
}

void wfs_hash_hex(const struct wfs_hash *hash, char ret_hex[static WFS_HASH_HEX_SIZE + 1])
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < WFS_HASH_SIZE; i++) {
		ret_hex[2 * i] = digits[hash->bytes[i] >> 4];
		ret_hex[2 * i + 1] = digits[hash->bytes[i] & 15];
	}
	ret_hex[WFS_HASH_HEX_SIZE] = '\0';
}

void wfs_hash_text(const struct wfs_hash *hash, char ret_text[static WFS_HASH_TEXT_SIZE])
{
	memcpy(ret_text, HASH_PREFIX, HASH_PREFIX_SIZE);
	wfs_hash_hex(hash, ret_text + HASH_PREFIX_SIZE);
}

static int hex_value(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	return -1;
}

static int hex_parse(const char *hex, size_t size, struct wfs_hash *ret_hash)
{
	struct wfs_hash hash;

	if (size != WFS_HASH_HEX_SIZE)
		return -EINVAL;
	for (size_t i = 0; i < WFS_HASH_SIZE; i++) {
		const int high = hex_value(hex[2 * i]);
		const int low = hex_value(hex[2 * i + 1]);

		if (high < 0 || low < 0)
			return -EINVAL;
		hash.bytes[i] = (uint8_t)(high << 4 | low);
	}
	*ret_hash = hash;
	return 0;
}

int wfs_hash_parse(
	const char *text, size_t size, struct wfs_hash *ret_hash, struct wfs_error *error)
{
	const char *hex = text;
	size_t hex_size = size;

	if (size >= HASH_PREFIX_SIZE && memcmp(text, HASH_PREFIX, HASH_PREFIX_SIZE) == 0) {
		hex += HASH_PREFIX_SIZE;
		hex_size -= HASH_PREFIX_SIZE;
	}
	if (hex_parse(hex, hex_size, ret_hash) == 0)
		return 0;
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
		"expected a hash, sha256: and 64 lower-case hex digits, got '%.*s'%s",
		(int)(size < SHOWN_MAX_BYTES ? size : SHOWN_MAX_BYTES), size > 0 ? text : "",
		size > SHOWN_MAX_BYTES ? " (cut)" : "");
}

struct wfs_hasher {
	SHA256_CTX context;
};

int wfs_hasher_new(struct wfs_hasher **ret_hasher)
{
	struct wfs_hasher *hasher = calloc(1, sizeof(*hasher));

	if (!hasher)
		return -ENOMEM;
	wfs_require(SHA256_Init(&hasher->context) == 1);
	*ret_hasher = hasher;
	return 0;
}

void wfs_hasher_add(struct wfs_hasher *hasher, const void *data, size_t size)
{
	wfs_require(SHA256_Update(&hasher->context, data, size) == 1);
}

struct wfs_hash wfs_hasher_end(struct wfs_hasher *hasher)
{
	struct wfs_hash hash;

	wfs_require(SHA256_Final(hash.bytes, &hasher->context) == 1);
	wfs_require(SHA256_Init(&hasher->context) == 1);
	return hash;
}

void wfs_hasher_free(struct wfs_hasher *hasher)
{
	free(hasher);
}
