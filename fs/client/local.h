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

/** wfs_local_new() - open the world in @directory; caller frees @ret_local with wfs_local_free()
 *  @as: principal to act as; NULL: the operator; @options: how to open it (kernel/world/world.h);
 *  both are used only by this call
 *  @drive: starts the driver of agents with the first request that needs it; NULL: they are not
 *  driven
 *  Return: 0, -EBUSY (busy: it has an owner), -ENOENT (not_found: no world, or no such principal),
 *  … */
int wfs_local_new(const char *directory, const char *as, const struct wfs_world_options *options,
	wfs_driver_start *drive, struct wfs_local **ret_local, struct wfs_error *error);
void wfs_local_free(struct wfs_local *local);
WFS_DEFINE_AUTO(local, struct wfs_local, wfs_local_free)
#define WFS_AUTO_LOCAL WFS_CLEANUP(wfs_auto_local)

/** wfs_local_post() - begin a request, or let it wait for those before it (fs/verb/order.h).
 *  @payload: taken, also on failure; NULL: {}. Return: 0, or -ENOMEM. */
int wfs_local_post(struct wfs_local *local, const char *verb, json_t *payload);

/** wfs_local_take() - take the answer to the oldest request whose answer was not taken yet
 *  @wait: wait until there is one
 *  @ret_answer: caller releases it with wfs_answer_done()
 *  Return: 1; 0: not answered yet or, with @wait, no request is open. */
int wfs_local_take(struct wfs_local *local, bool wait, struct wfs_answer *ret_answer);

/** wfs_local_beside() - open a second access to the world of @local, as its principal; requests
 *  through one do not wait for those through the other. The second access has no driver.
 *  @ret_local: caller frees it, before @local
 *  Return: 0, -ENOMEM, -EMFILE (too many descriptors are open), … */
int wfs_local_beside(struct wfs_local *local, struct wfs_local **ret_local);

/** wfs_local_abandon() - end a request whose answer is not wanted any more; its answer still has
 *  to be taken. @index: place of the request, from 0, among those whose answers were not taken;
 *  with a larger number the function does nothing */
void wfs_local_abandon(struct wfs_local *local, size_t index);

/** wfs_local_poll() - get what to poll(2) for after wfs_local_take() gave no answer
 *  Return: a descriptor, for POLLIN; borrowed. It becomes readable when half of the open requests
 *  are answered, so that many can be taken at once; but at each answer while a request waits to
 *  begin. */
int wfs_local_poll(const struct wfs_local *local);
