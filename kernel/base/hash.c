/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 through libcrypto. Several small hashes are taken per event, so the digest is looked up
 * once for the process and the context once for each thread; fetching either per call costs more
 * than hashing a short record.
 */
#include "kernel/base/hash.h"

#include <assert.h>
#include <openssl/evp.h>
#include <pthread.h>
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

static pthread_once_t setup_once = PTHREAD_ONCE_INIT;
static EVP_MD *sha256; /* written under setup_once */
static pthread_key_t context_key;
static _Thread_local EVP_MD_CTX *thread_context;

static void thread_context_free(void *context)
{
	thread_context = NULL;
	EVP_MD_CTX_free(context);
}

static void setup(void)
{
	sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
	wfs_require(sha256 && EVP_MD_get_size(sha256) == WFS_HASH_SIZE);
	wfs_require(pthread_key_create(&context_key, thread_context_free) == 0);
}

/* The calling thread's context; freed by the key's destructor when the thread ends. */
static EVP_MD_CTX *thread_context_new(void)
{
	EVP_MD_CTX *context = NULL;

	wfs_require(pthread_once(&setup_once, setup) == 0);
	context = EVP_MD_CTX_new();
	wfs_require(context && pthread_setspecific(context_key, context) == 0);
	thread_context = context;
	return context;
}

struct wfs_hash wfs_hash_of(const void *data, size_t size)
{
	EVP_MD_CTX *const context = thread_context ? thread_context : thread_context_new();
	struct wfs_hash hash;

	wfs_require(EVP_DigestInit_ex2(context, sha256, NULL) == 1);
	wfs_require(EVP_DigestUpdate(context, data, size) == 1);
	wfs_require(EVP_DigestFinal_ex(context, hash.bytes, NULL) == 1);
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
	EVP_MD_CTX *context;
	bool started;
};

int wfs_hasher_new(struct wfs_hasher **ret_hasher)
{
	WFS_AUTO_HASHER struct wfs_hasher *hasher = calloc(1, sizeof(*hasher));

	wfs_require(pthread_once(&setup_once, setup) == 0);
	if (!hasher)
		return -ENOMEM;
	hasher->context = EVP_MD_CTX_new();
	/* Started once here, because the first start allocates and so may fail. */
	if (!hasher->context || EVP_DigestInit_ex2(hasher->context, sha256, NULL) != 1)
		return -ENOMEM;
	hasher->started = true;
	*ret_hasher = WFS_STEAL(hasher);
	return 0;
}

static void hasher_start(struct wfs_hasher *hasher)
{
	if (hasher->started)
		return;
	wfs_require(EVP_DigestInit_ex2(hasher->context, sha256, NULL) == 1);
	hasher->started = true;
}

void wfs_hasher_add(struct wfs_hasher *hasher, const void *data, size_t size)
{
	hasher_start(hasher);
	wfs_require(EVP_DigestUpdate(hasher->context, data, size) == 1);
}

struct wfs_hash wfs_hasher_end(struct wfs_hasher *hasher)
{
	struct wfs_hash hash;

	hasher_start(hasher);
	wfs_require(EVP_DigestFinal_ex(hasher->context, hash.bytes, NULL) == 1);
	hasher->started = false;
	return hash;
}

void wfs_hasher_free(struct wfs_hasher *hasher)
{
	if (!hasher)
		return;
	EVP_MD_CTX_free(hasher->context);
	free(hasher);
}
