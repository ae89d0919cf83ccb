/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/replica/identity.h"

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "kernel/base/encode.h"
#include "kernel/base/hash.h"

#define BEARER "Bearer "
/* RFC 5280 section 4.1.2.5: a certificate that has no end. */
#define FIRST_DAY "19700101000000Z"
#define LAST_DAY "99991231235959Z"

struct wfs_identity {
	char *certificate;
	char *key;
	char pin[WFS_IDENTITY_PIN_SIZE];
	char token[WFS_IDENTITY_TOKEN_SIZE];
};

static void wipe(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

void wfs_identity_free(struct wfs_identity *identity)
{
	if (!identity)
		return;
	wipe(identity->key);
	free(identity->certificate);
	explicit_bzero(identity->token, sizeof(identity->token));
	free(identity);
}

/* Return: what was written to @bio, as text; NULL: memory was short. Caller frees it. */
static char *text_of(BIO *bio)
{
	char *data = NULL;
	const long size = BIO_get_mem_data(bio, &data);

	return size > 0 ? strndup(data, (size_t)size) : NULL;
}

static char *key_text(EVP_PKEY *key)
{
	BIO *const bio = BIO_new(BIO_s_secmem());
	char *text = NULL;

	if (bio && PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL))
		text = text_of(bio);
	BIO_free(bio);
	return text;
}

static char *certificate_text(X509 *certificate)
{
	BIO *const bio = BIO_new(BIO_s_mem());
	char *text = NULL;

	if (bio && PEM_write_bio_X509(bio, certificate))
		text = text_of(bio);
	BIO_free(bio);
	return text;
}

/* Fills in a certificate of version 3 that names nobody. */
static bool fill(X509 *certificate, EVP_PKEY *key)
{
	X509_NAME *const name = X509_get_subject_name(certificate);
	uint32_t serial;

	return getrandom(&serial, sizeof(serial), 0) == (ssize_t)sizeof(serial) &&
		X509_set_version(certificate, X509_VERSION_3) &&
		ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), (uint64_t)serial + 1) &&
		ASN1_TIME_set_string(X509_getm_notBefore(certificate), FIRST_DAY) &&
		ASN1_TIME_set_string(X509_getm_notAfter(certificate), LAST_DAY) &&
		X509_NAME_add_entry_by_txt(
			name, "CN", MBSTRING_ASC, (const unsigned char *)"worldfs", -1, -1, 0) &&
		X509_set_issuer_name(certificate, name) && X509_set_pubkey(certificate, key) &&
		X509_sign(certificate, key, EVP_sha256()) > 0;
}

static bool write_certificate(struct wfs_identity *identity, EVP_PKEY *key)
{
	X509 *const certificate = X509_new();

	if (certificate && fill(certificate, key))
		identity->certificate = certificate_text(certificate);
	X509_free(certificate);
	return identity->certificate != NULL;
}

static bool write_pin(struct wfs_identity *identity, EVP_PKEY *key)
{
	WFS_AUTO_BUFFER struct wfs_buffer pin = {0};
	unsigned char *bytes = NULL;
	const int size = i2d_PUBKEY(key, &bytes);

	if (size <= 0)
		return false;
	const struct wfs_hash hash = wfs_hash_of(bytes, (size_t)size);
	OPENSSL_free(bytes);
	wfs_base64_append(&pin, hash.bytes, sizeof(hash.bytes));
	snprintf(identity->pin, sizeof(identity->pin), "sha256//%s", wfs_buffer_text(&pin));
	return !wfs_buffer_check(&pin);
}

static bool write_token(struct wfs_identity *identity)
{
	struct wfs_hash random;

	if (getrandom(random.bytes, sizeof(random.bytes), 0) != (ssize_t)sizeof(random.bytes))
		return false;
	wfs_hash_hex(&random, identity->token);
	explicit_bzero(&random, sizeof(random));
	return true;
}

int wfs_identity_new(struct wfs_identity **ret_identity, struct wfs_error *error)
{
	WFS_AUTO_IDENTITY struct wfs_identity *identity = calloc(1, sizeof(*identity));

	if (!identity)
		return wfs_error_from_errno(error, -ENOMEM, "make a key for other nodes");
	EVP_PKEY *const key = EVP_EC_gen("P-256");
	if (key && write_certificate(identity, key) && write_pin(identity, key) &&
		write_token(identity))
		identity->key = key_text(key);
	EVP_PKEY_free(key);
	if (!identity->key)
		return wfs_error_set(error, WFS_E_INTERNAL_ERROR,
			"libcrypto cannot make a key and a certificate for other nodes");
	*ret_identity = WFS_STEAL(identity);
	return 0;
}

const char *wfs_identity_pin(const struct wfs_identity *identity)
{
	return identity->pin;
}

const char *wfs_identity_token(const struct wfs_identity *identity)
{
	return identity->token;
}

const char *wfs_identity_certificate(const struct wfs_identity *identity)
{
	return identity->certificate;
}

const char *wfs_identity_key(const struct wfs_identity *identity)
{
	return identity->key;
}

bool wfs_identity_allows(const struct wfs_identity *identity, const char *authorization)
{
	const size_t skip = strlen(BEARER);

	return authorization && strncmp(authorization, BEARER, skip) == 0 &&
		strlen(authorization + skip) == WFS_IDENTITY_TOKEN_SIZE - 1 &&
		CRYPTO_memcmp(authorization + skip, identity->token, WFS_IDENTITY_TOKEN_SIZE - 1) ==
		0;
}
