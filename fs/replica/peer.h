/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client of another node's port (fs/replica/port.h), known by its address, pin and token.
 *
 * TLS 1.3 is always spoken, and the other side must have the key of the pin; its certificate, its
 * name and its dates do not count. Connections are used again.
 *
 * Functions that return int return 0, or with @error filled:
 *  -EAGAIN (unavailable): nothing was done. Of a request: it was not sent, or the node has refused
 *   it before its handler heard of it, because of too many others, or because the node ends
 *  -ETIMEDOUT (timeout): of a request only: it may have been done, but its answer did not come, is
 *   too large, or does not fit into memory
 *  -EACCES (not_authorized): the node has another key, or refuses the token
 *  -EFBIG (too_large): the request or the blob has too many bytes
 *  -ENOENT (not_found): the node does not have what is asked for
 *  -EINVAL (invalid_argument): the node does not understand the request
 *  -ENOMEM
 * Thread: one at a time; a thread that must not wait for another's transfer has a peer of its own.
 * The process ignores SIGPIPE, which writing to a connection that has ended may send.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"
#include "kernel/base/hash.h"

enum { WFS_PEER_ANSWER_MAX = 80 << 20 }; /* bytes of the answer to a request */

struct wfs_peer;

/* Plain value; borrowed until wfs_peer_new() returns. */
struct wfs_peer_options {
	const char *address; /* HOST:PORT or [ADDRESS]:PORT */
	const char *pin;     /* as wfs_identity_pin() gives it */
	const char *token;   /* as wfs_identity_token() gives it */
	/* All above 0, but for transfer_ms. */
	int64_t connect_ms;  /* to connect, TLS included */
	int64_t request_ms;  /* of a request, until its whole answer is there */
	int64_t transfer_ms; /* of a blob or a backup; 0: as long as bytes come */
	int64_t progress_ms; /* of a blob or a backup without a byte; rounded up to seconds */
};

/** wfs_peer_new() - make a client, which connects with its first request
 *  @ret_peer: caller frees it with wfs_peer_free()
 *  Return: 0, -EINVAL (invalid_argument: address, pin or token do not have their form), -ENOMEM. */
int wfs_peer_new(const struct wfs_peer_options *options, struct wfs_peer **ret_peer,
	struct wfs_error *error);
void wfs_peer_free(struct wfs_peer *peer);
WFS_DEFINE_AUTO(peer, struct wfs_peer, wfs_peer_free)
#define WFS_AUTO_PEER WFS_CLEANUP(wfs_auto_peer)

/** wfs_peer_request() - send a request, and wait for the answer of the node's handler
 *
 *  The node's handler gets the request once at most. libcurl by itself sends a request again when a
 *  connection that it has used before ends without an answer. It must read the body a second time
 *  for that, which is refused here, so that the caller hears of it, by -ETIMEDOUT; a request whose
 *  body was not begun is not done. And a connection is not used again when it was idle for nearly
 *  as long as the node keeps it, so that this is rare.
 *
 *  @body: 1 to WFS_PORT_BODY_MAX bytes
 *  @ret_status: of the answer: a `code` of wfs_port_answer()
 *  @answer: emptied, then gets the body of the answer; its contents after a failure do not count
 *  Source: libcurl's Curl_retry_request() and Curl_readrewind(). */
int wfs_peer_request(struct wfs_peer *peer, struct wfs_bytes body, int *ret_status,
	struct wfs_buffer *answer, struct wfs_error *error);

/** wfs_peer_blob() - get a blob, by its hash
 *  @size_max: bytes that it may have
 *  @fd: of a file; it gets the bytes at its position. After a failure it may have some of them.
 *  Return: also -ENOENT (not_found: the node does not have it), -EIO (hash_mismatch: the bytes that
 *  came do not have the hash), or what write(2) has given. */
int wfs_peer_blob(struct wfs_peer *peer, const struct wfs_hash *hash, uint64_t size_max, int fd,
	struct wfs_error *error);

/** wfs_peer_backup() - get a backup
 *  @size_max: bytes that it may have
 *  @fd: of a file or a pipe; it gets the bytes. After a failure it may have some of them.
 *  Return: also -EAGAIN (the node could not finish it), -ENOENT (not_found: the node makes none
 *  now), or what write(2) has given. */
int wfs_peer_backup(struct wfs_peer *peer, uint64_t size_max, int fd, struct wfs_error *error);

/* A caller's function. @done_bytes: of the answer, the blob or the backup, so far. Return: false to
 * stop. */
typedef bool wfs_peer_watch_fn(void *context, uint64_t done_bytes);

/** wfs_peer_watch() - have a function called during all later functions: at least once a second,
 *  also while the peer connects, or no byte comes
 *  If it stops a blob or a backup, that fails with -EINTR (cancelled); a request that it stops has
 *  no answer.
 *  @each: called with @context; NULL: nothing is called, as at first */
void wfs_peer_watch(struct wfs_peer *peer, wfs_peer_watch_fn *each, void *context);
