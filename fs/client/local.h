/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to a world that this process has opened itself, because it has no owner: with the verbs
 * and answers of the socket.
 */
#pragma once

#include "fs/verb/answer.h"
#include "fs/verb/verb.h"

struct wfs_local;
struct wfs_world_options;

/** wfs_local_new() - open the world in @directory
 *  @as: principal to act as; NULL: the operator; @options: how to open the world
 *  (kernel/world/world.h); both are borrowed for the call
 *  @drive: called to start the driver of agents, with the first request that needs it; NULL: agents
 *          are not driven
 *  @ret_local: set on success; caller frees it with wfs_local_free()
 *  Return: 0, -EBUSY (busy: the world has an owner), -ENOENT (not_found: no world, or no such
 *  principal), … */
int wfs_local_new(const char *directory, const char *as, const struct wfs_world_options *options,
	wfs_driver_start *drive, struct wfs_local **ret_local, struct wfs_error *error);
void wfs_local_free(struct wfs_local *local);
WFS_DEFINE_AUTO(local, struct wfs_local, wfs_local_free)
#define WFS_AUTO_LOCAL WFS_CLEANUP(wfs_auto_local)

/** wfs_local_post() - begin a request, or queue it if it must wait for earlier ones
 *  (fs/verb/order.h). @payload: taken, also on failure; NULL: {}. Return: 0, or -ENOMEM. */
int wfs_local_post(struct wfs_local *local, const char *verb, json_t *payload);

/** wfs_local_take() - take the answer to the oldest request whose answer was not taken yet
 *  @wait: true: wait until the request is answered
 *  @ret_answer: set if the answer is 1; caller releases it with wfs_answer_done()
 *  (fs/verb/answer.h)
 *  Return: 1 (also if the answer is an error); 0: all answers were taken or, without @wait, the
 *  oldest request is not answered yet. */
int wfs_local_take(struct wfs_local *local, bool wait, struct wfs_answer *ret_answer);

/** wfs_local_beside() - open a second access to the world of @local, as the same principal;
 *  requests through one do not wait for those through the other. The second access has no driver.
 *  @ret_local: set on success; caller frees it with wfs_local_free(), before @local
 *  Return: 0, -ENOMEM, -EMFILE (too many descriptors are open), … */
int wfs_local_beside(struct wfs_local *local, struct wfs_local **ret_local);

/** wfs_local_abandon() - end a request whose answer is not wanted any more; the answer must still
 *  be taken. @index: place of the request, from 0, among those whose answers were not taken yet, in
 *  the order in which they were posted; a larger number ends nothing */
void wfs_local_abandon(struct wfs_local *local, size_t index);

/** wfs_local_poll() - get what to poll(2) for after wfs_local_take() has returned 0
 *  Return: a descriptor, for POLLIN; borrowed from @local. It becomes readable when half of the
 *  unanswered requests are answered, so that many answers can be taken at once; but if a request
 *  still waits to begin, at the next answer. */
int wfs_local_poll(const struct wfs_local *local);
