/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to a world that this process opened itself: the same verbs and the same answers as over
 * the socket, when nobody owns the world.
 */
#pragma once

#include "fs/verb/answer.h"
#include "fs/verb/verb.h"

struct wfs_local;

/**
 * wfs_local_new() - open the world in @directory
 * @as: principal to act as; NULL: the operator
 * @drive: how agents are driven, from the first request on that wants it; NULL: they are not
 * Return: 0, -EBUSY (busy), or what wfs_world_open and wfs_session_new give.
 */
int wfs_local_new(const char *directory, const char *as, const struct wfs_world_options *options,
	wfs_driver_start *drive, struct wfs_local **ret_local, struct wfs_error *error);
void wfs_local_free(struct wfs_local *local);
WFS_DEFINE_AUTO(local, struct wfs_local, wfs_local_free)
#define WFS_AUTO_LOCAL WFS_CLEANUP(wfs_auto_local)

/** wfs_local_post() - begin a request; takes @payload, which may be NULL. Return: 0, or -ENOMEM. */
int wfs_local_post(struct wfs_local *local, const char *verb, json_t *payload);

/**
 * wfs_local_take() - the next answer, in order
 * Return: 1, or 0 when there is none yet (with @wait: none is under way).
 */
int wfs_local_take(struct wfs_local *local, bool wait, struct wfs_answer *ret_answer);

/** wfs_local_beside() - another way into the same world, whose answers do not wait for those of
 *  @local; it ends before that. Return: 0, -ENOMEM. */
int wfs_local_beside(struct wfs_local *local, struct wfs_local **ret_local);

/** wfs_local_abandon() - have a request ended that nobody waits for any more; its answer comes all the
 *  same. @index: of those whose answers were not taken, in order */
void wfs_local_abandon(struct wfs_local *local, size_t index);

/**
 * wfs_local_poll() - becomes readable some time after a take that gave nothing
 * Not with the very next answer: with half of those that are under way, so that many are taken at
 * once.
 */
int wfs_local_poll(const struct wfs_local *local);
