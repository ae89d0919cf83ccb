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

/** wfs_access_new() - connect to the owner of a world, or open the world; caller frees
 *  @ret_access with wfs_access_free()
 *  Return: 0, -ENOENT (not_found: no world in the directory), -EBUSY (busy: another process has the
 *  world open for changes, and no socket), -ETIMEDOUT (timeout: its owner does not react), … */
int wfs_access_new(const struct wfs_access_options *options, struct wfs_access **ret_access,
	struct wfs_error *error);
void wfs_access_free(struct wfs_access *access);
WFS_DEFINE_AUTO(access, struct wfs_access, wfs_access_free)
#define WFS_AUTO_ACCESS WFS_CLEANUP(wfs_auto_access)

/** wfs_access_has_owner() - do requests go to a running owner? */
bool wfs_access_has_owner(const struct wfs_access *access);

/** wfs_access_post() - send a request, without waiting for its answer. @payload: taken, also
 *  on failure; NULL: {}. Return: 0, -ENOMEM. */
int wfs_access_post(struct wfs_access *access, const char *verb, json_t *payload);

/** wfs_access_take() - take the answer to the oldest request
 *  If the owner ends before it has read the first request, and no other was posted, the request is
 *  sent to the world's next owner, or done by this process.
 *  @ret_answer: caller releases it with wfs_answer_done()
 *  @wait: wait for the answer; a request must be open. @error: set only if -errno is returned
 *  Return: 1 (also if the answer is an error); 0: not answered yet, and @wait is false; -errno: no
 *  more answers will come. */
int wfs_access_take(struct wfs_access *access, bool wait, struct wfs_answer *ret_answer,
	struct wfs_error *error);

/** wfs_access_abandon() - end a request whose answer is not wanted any more; its answer still has
 *  to be taken. @index: place of the request, from 0, among those whose answers were not taken yet;
 *  with a larger number nothing ends. Return: 0, -ENOMEM. */
int wfs_access_abandon(struct wfs_access *access, size_t index);

/** wfs_access_beside() - open a second access to the world of @access, as its principal; requests
 *  through one do not wait for those through the other. If this process has opened the world, the
 *  second access has no driver.
 *  @ret_access: caller frees it, before @access
 *  Return: 0, -ENOMEM, or the error of reaching the owner. */
int wfs_access_beside(struct wfs_access *access, struct wfs_access **ret_access);

/** wfs_access_poll() - get what to poll(2) for before the next wfs_access_take(), when the last one
 *  gave no answer. @ret_events: POLLIN and so on. Return: the descriptor, borrowed. */
int wfs_access_poll(const struct wfs_access *access, short *ret_events);
