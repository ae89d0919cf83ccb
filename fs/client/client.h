/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client of the control socket, for one thread.
 *
 * Requests are posted without waiting, and their answers taken in order, so that many can be open
 * at once.
 *
 * A request may take hours, so the time until its answer says nothing. When no bytes have come for
 * a while, the client asks the owner something on another connection, which a working owner
 * answers at once; an owner that does not, because it was stopped or hangs, is given up.
 * Source: worldfs-control(5).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "fs/verb/answer.h"

enum {
	WFS_CLIENT_ANSWER_MAX = 64 << 20, /* bytes of one answer */
	WFS_CLIENT_DESCRIPTORS_MAX = 4,
	WFS_CLIENT_WAIT_MS = 10000, /* default wait for an owner that does not react */
	WFS_CLIENT_WAIT_MIN_MS = 10,
};

struct wfs_client;

/** wfs_client_new() - connect to the owner of the world in @directory
 *  @as: principal to act as, must outlive the client; NULL: the operator
 *  @wait_ms: how long the owner may show no reaction before the client gives it up; at least
 *            WFS_CLIENT_WAIT_MIN_MS
 *  @ret_client: set on success; caller frees it with wfs_client_free()
 *  Return: 0, or as wfs_socket_connect() (fs/base/socket.h): -ENOENT or -ECONNREFUSED (no owner;
 *  @error is not set), …; -ETIMEDOUT (timeout: the owner does not react; @error is set) */
int wfs_client_new(const char *directory, const char *as, unsigned int wait_ms,
	struct wfs_client **ret_client, struct wfs_error *error);
void wfs_client_free(struct wfs_client *client);
WFS_DEFINE_AUTO(client, struct wfs_client, wfs_client_free)
#define WFS_AUTO_CLIENT WFS_CLEANUP(wfs_auto_client)

/** wfs_client_post() - queue a request, which wfs_client_take() sends. @verb, @payload: copied;
 *  @payload: NULL: {}. Return: 0, or -ENOMEM. */
int wfs_client_post(struct wfs_client *client, const char *verb, const json_t *payload);

/** wfs_client_attach() - send descriptors with the request that is posted next. @fds: borrowed
 *  until the answer to that request is taken; @count: at most WFS_CLIENT_DESCRIPTORS_MAX */
void wfs_client_attach(struct wfs_client *client, const int *fds, size_t count);

/** wfs_client_take() - send and receive what is possible, and take the answer to the oldest request
 *  whose answer was not taken yet
 *  @wait: true: wait until the answer has come; then there must be such a request
 *  @ret_answer: set if the answer is 1; caller releases it with wfs_answer_done()
 *  (fs/verb/answer.h)
 *  Return: 1 (also if the answer is an error); 0: no answer yet; -EINTR (cancelled: the owner has
 *  gone), -ECONNRESET (the owner has gone before it read the only request of this client, which can
 *  be sent to another owner), -ETIMEDOUT (timeout: the owner does not react), -EFBIG (too_large: an
 *  answer has more than WFS_CLIENT_ANSWER_MAX bytes), or another -errno; all with @error, and the
 *  caller can then only free the client. */
int wfs_client_take(struct wfs_client *client, bool wait, struct wfs_answer *ret_answer,
	struct wfs_error *error);

/** wfs_client_abandon() - end a request whose answer is not wanted any more; the caller must still
 *  take the answer. The next wfs_client_take() tells the owner.
 *  @index: place of the request, from 0, among those whose answers were not taken yet, in the order
 *  in which they were posted; a larger number ends nothing
 *  Return: 0, or -ENOMEM. */
int wfs_client_abandon(struct wfs_client *client, size_t index);

/** wfs_client_poll() - get what to poll(2) for until wfs_client_take() can send or receive
 *  A caller that waits for an answer must poll with a timeout and then call wfs_client_take(),
 *  which alone notices an owner that has stopped.
 *  Return: the descriptor of the socket, borrowed; @ret_events: POLLIN and so on. */
int wfs_client_poll(const struct wfs_client *client, short *ret_events);
