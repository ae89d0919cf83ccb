/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to a world that this process has opened itself, because it has no owner: with the verbs
 * and answers of the socket.
 */
#pragma once

#include "fs/verb/answer.h"
#include "fs/verb/verb.h"

struct wfs_local;

/** wfs_local_new() - open the world in @directory
 *  @as: principal to act as; NULL: the operator
 *  @drive: starts the driver of agents with the first request that needs it; NULL: they are not
 *  driven
 *  Return: 0, -EBUSY (busy), or an error of wfs_world_open() or wfs_session_new(). */
int wfs_local_new(const char *directory, const char *as, const struct wfs_world_options *options,
	wfs_driver_start *drive, struct wfs_local **ret_local, struct wfs_error *error);
void wfs_local_free(struct wfs_local *local);
WFS_DEFINE_AUTO(local, struct wfs_local, wfs_local_free)
#define WFS_AUTO_LOCAL WFS_CLEANUP(wfs_auto_local)

/** wfs_local_post() - begin a request. @payload: taken; may be NULL. Return: 0, or -ENOMEM. */
int wfs_local_post(struct wfs_local *local, const char *verb, json_t *payload);

/** wfs_local_take() - take the next answer, in order
 *  Return: 1; 0: not answered yet or, with @wait, no request is open. */
int wfs_local_take(struct wfs_local *local, bool wait, struct wfs_answer *ret_answer);

/** wfs_local_beside() - open another way into the world of @local, with answers of its own order
 *  It must be freed before @local. Return: 0, -ENOMEM. */
int wfs_local_beside(struct wfs_local *local, struct wfs_local **ret_local);

/** wfs_local_abandon() - end a request whose answer is not wanted any more; its answer still has
 *  to be taken.
 *  @index: among the requests whose answers were not taken, in order */
void wfs_local_abandon(struct wfs_local *local, size_t index);

/** wfs_local_poll() - what to poll(2) for after wfs_local_take() gave no answer
 *  It becomes readable not at the next answer, but when half of the open requests are answered, so
 *  that many can be taken at once.
 *  Return: a descriptor, for POLLIN. */
int wfs_local_poll(const struct wfs_local *local);
