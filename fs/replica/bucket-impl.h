/* SPDX-License-Identifier: Apache-2.0 */
/* Options, calls, and what a service's answers mean. Private to the client of buckets. */
#pragma once

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "fs/replica/bucket.h"
#include "kernel/base/buffer.h"

enum {
	WFS_BUCKET_WHAT_SIZE = 320, /* of what a call asks for */
	WFS_BUCKET_HASH_SHOWN = 12, /* digits, in messages */
	WFS_BUCKET_NS_PER_MS = 1000000,
};

/** wfs_bucket_check() - check all options
 *  @ret_bucket_size: bytes of the URL up to the prefix
 *  @ret_here: is the service on this machine?
 *  Return: 0, -EINVAL (invalid_argument), -ENOMEM. */
int wfs_bucket_check(const struct wfs_bucket_options *options, size_t *ret_bucket_size,
	bool *ret_here, struct wfs_error *error);

/* All but `answer` and `reason`, which each try sets, lasts as long as the client. */
struct wfs_bucket {
	CURL *easy;
	char *base;         /* of the URL: the bucket with its prefix */
	size_t bucket_size; /* bytes of `base` up to the prefix */
	int64_t timeout_ms;
	int64_t stall_ms;
	bool (*stop)(void *context);
	void *context;
	bool known; /* the bucket exists, or did */
	struct wfs_hasher *hasher;
	struct wfs_buffer answer; /* scratch: what is not an object */
	char reason[CURL_ERROR_SIZE];
};

enum wfs_bucket_method { WFS_BUCKET_PUT, WFS_BUCKET_GET, WFS_BUCKET_HEAD };

/* A call, with all its tries. */
struct wfs_bucket_call {
	struct wfs_bucket *bucket;
	enum wfs_bucket_method method;
	const char *url;
	char what[WFS_BUCKET_WHAT_SIZE];    /* for messages */
	const struct wfs_hash *hash;        /* of the object */
	const struct wfs_hash *signed_hash; /* of the bytes of the request */
	int64_t end_ns;
	struct wfs_error *error;
	int failure; /* why a callback has ended the transfer, with `error` filled; 0: it has not */
	int64_t moved_bytes; /* at the last progress */
	int64_t moved_ns;
	/* put */
	const struct wfs_bucket_source *source;
	uint64_t sent;
	/* get */
	int fd;
	off_t begin; /* position of the object in the file */
	uint64_t size_max;
	uint64_t got;
};

/** wfs_bucket_set_options() - set what all requests of a client have in common
 *  @here: is the service on this machine? Return: 0, -ENOMEM. */
int wfs_bucket_set_options(
	struct wfs_bucket *bucket, const struct wfs_bucket_options *options, bool here);

/** wfs_bucket_run() - send the request of a call, and send it again as long as that may help
 *  Return: as fs/replica/bucket.h says, with the error of the call filled. */
int wfs_bucket_run(struct wfs_bucket_call *call);

/** wfs_bucket_check_source() - check that the bytes that were read to be put have their hash
 *  Return: 0, or -EIO (hash_mismatch). */
int wfs_bucket_check_source(struct wfs_bucket_call *call);

/** wfs_bucket_no_memory() - fill @error. Return: -ENOMEM. */
int wfs_bucket_no_memory(struct wfs_error *error);

/* An answer that is not 200. Plain value; borrows. */
struct wfs_bucket_answer {
	long status;           /* of HTTP */
	struct wfs_bytes body; /* XML, or what a proxy writes */
	bool head;             /* the answer to HEAD, which has no body */
	int64_t clock_s;       /* of the service, seconds since 1970; negative: unknown */
};

/** wfs_bucket_refused() - make an error of an answer
 *  @what: was asked for, for the message
 *  @ret_again: may another try succeed?
 *  Return: negative, as fs/replica/bucket.h says; -ENOENT (not_found) for a missing object. */
int wfs_bucket_refused(const struct wfs_bucket_answer *answer, const char *what, bool *ret_again,
	struct wfs_error *error);
