/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a command reaches a world: through the socket of its owner or, without an owner, by opening
 * it. Requests and answers are the same both ways.
 */
#pragma once

#include <stdbool.h>

#include "caps/drive.h"
#include "fs/verb/answer.h"

struct wfs_access;

/* Plain value. */
struct wfs_access_options {
	const char *directory; /* of the world; must outlive the access */
	const char *as; /* principal to act as, must outlive the access; NULL: the operator */
	/* Requests may change the world. So, if the world has no owner, this process becomes its
	 * owner until the access is freed. It waits up to WFS_OPEN_WAIT_MS while another process
	 * has the world open for changes, but no socket. */
	bool change;
	wfs_driver_start
		*drive;       /* if no owner runs: starts the driver; NULL: agents are not driven */
	unsigned int wait_ms; /* see fs/client/client.h; 0: WFS_CLIENT_WAIT_MS */
};

/** wfs_access_new() - connect to the owner of a world or, if it has no owner, open the world
 *  @options: copied, but not the texts. @ret_access: set on success; caller frees it with
 *  wfs_access_free()
 *  Return: 0, -ENOENT (not_found: no world in the directory, or no such principal), -EBUSY (busy:
 *  another process has the world open for changes, and no socket), -ETIMEDOUT (timeout: its owner
 *  does not react), … */
int wfs_access_new(const struct wfs_access_options *options, struct wfs_access **ret_access,
	struct wfs_error *error);
void wfs_access_free(struct wfs_access *access);
WFS_DEFINE_AUTO(access, struct wfs_access, wfs_access_free)
#define WFS_AUTO_ACCESS WFS_CLEANUP(wfs_auto_access)

/** wfs_access_has_owner() - do requests go to a running owner? */
bool wfs_access_has_owner(const struct wfs_access *access);

/** wfs_access_post() - begin a request, or queue it to be sent by wfs_access_take(), without
 *  waiting for its answer. @verb: name of the verb. @payload: taken, also on failure; NULL: {}.
 *  Return: 0, -ENOMEM. */
int wfs_access_post(struct wfs_access *access, const char *verb, json_t *payload);

/** wfs_access_take() - take the answer to the oldest request whose answer was not taken yet
 *  If only one request was ever posted through @access, and the owner ends before it has read this
 *  request, the request is sent to the world's next owner, or done by this process.
 *  @wait: true: wait for the answer; then there must be such a request
 *  @ret_answer: set if the answer is 1; caller releases it with wfs_answer_done()
 *  (fs/verb/answer.h). @error: set only if -errno is returned
 *  Return: 1 (also if the answer is an error); 0: not answered yet, and @wait is false; -errno: no
 *  more answers will come. */
int wfs_access_take(struct wfs_access *access, bool wait, struct wfs_answer *ret_answer,
	struct wfs_error *error);

/** wfs_access_abandon() - end a request whose answer is not wanted any more; the answer must still
 *  be taken. @index: place of the request, from 0, among those whose answers were not taken yet, in
 *  the order in which they were posted; a larger number ends nothing. Return: 0,
 *  -ENOMEM. */
int wfs_access_abandon(struct wfs_access *access, size_t index);

/** wfs_access_beside() - open a second access to the world of @access, as the same principal;
 *  requests through one do not wait for those through the other. If this process has opened the
 *  world, the second access has no driver.
 *  @ret_access: set on success; caller frees it with wfs_access_free(), before @access
 *  Return: 0, -ENOMEM, or as wfs_client_new() (fs/client/client.h) or wfs_local_beside()
 *  (fs/client/local.h). */
int wfs_access_beside(struct wfs_access *access, struct wfs_access **ret_access);

/** wfs_access_poll() - get what to poll(2) for after wfs_access_take() has returned 0, before it is
 *  called again. @ret_events: POLLIN and so on. Return: the descriptor, borrowed until then. */
int wfs_access_poll(const struct wfs_access *access, short *ret_events);
