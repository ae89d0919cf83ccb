/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a node shows to other nodes: a key with a certificate, and a token.
 *
 * A process makes them when it starts and keeps them in memory only. Its key in etcd publishes the
 * pin of the certificate and the token, so users configure no certificates, and a process that can
 * read the prefix in etcd can talk to the nodes. No authority signs the certificate, and its dates
 * say nothing, because the clocks of two nodes may differ: other nodes check the pin alone.
 */
#pragma once

#include <stdbool.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/error.h"

enum {
	WFS_IDENTITY_PIN_SIZE = sizeof("sha256//") + 44, /* with NUL */
	WFS_IDENTITY_TOKEN_SIZE = 64 + 1,                /* 32 bytes in hexadecimal digits, NUL */
};

struct wfs_identity;

/** wfs_identity_new() - make a key, a certificate that it signs, and a token
 *  @ret_identity: caller frees it with wfs_identity_free(). It never changes.
 *  Thread: any. Return: 0, -ENOMEM, -EIO (internal_error: libcrypto has failed). */
int wfs_identity_new(struct wfs_identity **ret_identity, struct wfs_error *error);

/* Overwrites the key and the token before it frees them. */
void wfs_identity_free(struct wfs_identity *identity);
WFS_DEFINE_AUTO(identity, struct wfs_identity, wfs_identity_free)
#define WFS_AUTO_IDENTITY WFS_CLEANUP(wfs_auto_identity)

/* Each of the following: borrowed until wfs_identity_free(). */

/** wfs_identity_pin() - Return: `sha256//` and the base64 text of the public key's SHA-256.
 *  Source: CURLOPT_PINNEDPUBLICKEY(3), RFC 7469 section 2.4. */
const char *wfs_identity_pin(const struct wfs_identity *identity);

/** wfs_identity_token() - Return: 64 hexadecimal digits, which a client must send. */
const char *wfs_identity_token(const struct wfs_identity *identity);

/** wfs_identity_certificate() - Return: PEM. */
const char *wfs_identity_certificate(const struct wfs_identity *identity);

/** wfs_identity_key() - Return: the private key in PEM. */
const char *wfs_identity_key(const struct wfs_identity *identity);

/** wfs_identity_allows() - is @authorization, the value of a request's header of that name,
 *  `Bearer ` and the token? It takes equally long wherever the first wrong digit is.
 *  @authorization: may be NULL */
bool wfs_identity_allows(const struct wfs_identity *identity, const char *authorization);
