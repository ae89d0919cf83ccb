/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client of one bucket of an S3-compatible service, for objects that are named by their hash.
 *
 * An object is put and got whole. Its name is PREFIX/KIND/HASH, where HASH is the SHA-256 of its
 * bytes: putting an object again does no harm, and no other bytes than those of the hash are ever
 * sent or returned. The client knows nothing of worlds. It follows no redirect.
 *
 * Requests are signed with AWS Signature Version 4, which includes the hash of the bytes, so the
 * secret is never sent. Blobs are: http:// is accepted for this machine only, or with `plain`.
 * Whether a secret may be used for a host is for the caller to judge (wfs_trust_key()). Proxies of
 * the environment are used, but not for this machine.
 *
 * If the service asks for less (SlowDown, status 429 or 503) or fails (500, 502, 504), the client
 * repeats the request after a pause with jitter, within the time of the call. A connection that
 * breaks ends the call. The message of an error has the service's own code and message.
 *
 * Functions that return int return 0, or with @error filled:
 *  -EAGAIN (unavailable): nothing was stored: no connection, or the service asks for less
 *  -ETIMEDOUT (timeout): no whole answer, or the service failed; a put may have been done
 *  -EACCES (not_authorized): the service refuses key, secret, region or this machine's clock, or
 *   its certificate is refused here
 *  -ENOSPC (store_full): the service says that a quota or its disks are full
 *  -EFBIG (too_large): the service takes no object, or the caller no answer, of this size
 *  -EINVAL (invalid_argument): the bucket does not exist, the service redirects, or it refuses the
 *   request for another reason
 *  -EIO (internal_error): the answer is not one of S3
 *  -EIO (hash_mismatch): the bytes do not have their hash
 *  -EINTR (cancelled): `stop` returned true
 *  -ENOMEM
 * Thread: one at a time; a thread that must not wait for another's request has a client of its own.
 * Source: https://docs.aws.amazon.com/AmazonS3/latest/API/ (Operations, ErrorResponses, sigv4).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/error.h"
#include "kernel/base/hash.h"

enum {
	WFS_BUCKET_URL_MAX = 255,       /* bytes */
	WFS_BUCKET_REGION_MAX = 63,     /* bytes */
	WFS_BUCKET_KEY_MAX = 128,       /* bytes of an access key, and of a secret */
	WFS_BUCKET_ANSWER_MAX = 65536,  /* bytes of an answer that is not an object */
	WFS_BUCKET_CONNECT_MS = 10000,  /* until a connection, TLS included */
	WFS_BUCKET_STALL_MS = 30000,    /* without progress, after which a transfer ends */
	WFS_BUCKET_PAUSE_MS = 100,      /* before the first repetition; then twice as long */
	WFS_BUCKET_PAUSE_MAX_MS = 5000, /* before a repetition */
};

/* Bytes of an object: S3 takes no more with one request. */
#define WFS_BUCKET_OBJECT_MAX (UINT64_C(5) << 30)

enum wfs_bucket_kind {
	WFS_BUCKET_BLOB,    /* blob/<hash> */
	WFS_BUCKET_SEGMENT, /* segment/<hash> */
};

struct wfs_bucket;

/* Plain value; texts are borrowed until wfs_bucket_new() returns. */
struct wfs_bucket_options {
	const char *url;    /* https://HOST[:PORT]/BUCKET[/PREFIX] */
	const char *region; /* such as us-east-1 */
	const char *access_key;
	const char *secret;
	const char *ca;     /* PEM file of the authorities; NULL: those of the system */
	bool plain;         /* http:// to other machines, too: networks in between see the bytes */
	int64_t timeout_ms; /* of a call, with its repetitions; at least 1 */
	int64_t stall_ms;   /* 0: WFS_BUCKET_STALL_MS */
	/* Asked about once a second, by the thread of the call; true: end the call. NULL: never.
	 * @context must stay valid as long as the client. */
	bool (*stop)(void *context);
	void *context;
};

/** wfs_bucket_new() - make a client, which connects with its first request
 *  @ret_bucket: caller frees it with wfs_bucket_free()
 *  Return: 0, -EINVAL (invalid_argument: URL, region, keys or times), -ENOMEM. */
int wfs_bucket_new(const struct wfs_bucket_options *options, struct wfs_bucket **ret_bucket,
	struct wfs_error *error);
void wfs_bucket_free(struct wfs_bucket *bucket);
WFS_DEFINE_AUTO(bucket, struct wfs_bucket, wfs_bucket_free)
#define WFS_AUTO_BUCKET WFS_CLEANUP(wfs_auto_bucket)

/* The bytes of an object to put. Plain value; borrowed for the call. */
struct wfs_bucket_source {
	const void *data; /* NULL: the file @fd, from its beginning; its position stays */
	int fd;
	uint64_t size; /* bytes, at most WFS_BUCKET_OBJECT_MAX */
};

/** wfs_bucket_put() - store an object; it is durable when 0 is returned
 *  Bytes that do not have the hash are found before the last of them is sent, so that the service
 *  stores nothing.
 *  Return: as above; also another -errno if @source cannot be read. */
int wfs_bucket_put(struct wfs_bucket *bucket, enum wfs_bucket_kind kind,
	const struct wfs_hash *hash, const struct wfs_bucket_source *source,
	struct wfs_error *error);

/** wfs_bucket_get() - write an object to the file @fd, at its position, which moves to the end of
 *  the object
 *  After a failure the file is cut where the object began, so that it never keeps bytes that were
 *  not checked. The file is not synced.
 *  @size_max: most bytes that the object may have
 *  Return: as above; -ENOENT (not_found); -ENOSPC or another -errno if @fd cannot be written. */
int wfs_bucket_get(struct wfs_bucket *bucket, enum wfs_bucket_kind kind,
	const struct wfs_hash *hash, int fd, uint64_t size_max, struct wfs_error *error);

/** wfs_bucket_has() - is there such an object?
 *  A service may answer with "access denied" instead of "not found" if the key does not have the
 *  right to list the bucket (s3:ListBucket).
 *  @ret_size: bytes. Return: as above; -ENOENT (not_found). */
int wfs_bucket_has(struct wfs_bucket *bucket, enum wfs_bucket_kind kind,
	const struct wfs_hash *hash, uint64_t *ret_size, struct wfs_error *error);
