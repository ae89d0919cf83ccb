/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a command reaches a world: through the socket of its owner, or, when nobody owns it, by
 * opening it. Requests and answers are the same both ways.
 */
#pragma once

#include <stdbool.h>

#include "caps/drive.h"
#include "fs/verb/answer.h"

struct wfs_access;

/* Plain value. */
struct wfs_access_options {
	const char *directory; /* of the world; kept */
	const char *as;        /* principal to act as, kept; NULL: the operator */
	/* Requests may change the world, so without an owner this process becomes it for a while, and
	 * waits up to WFS_OPEN_WAIT_MS for another one that does the same. */
	bool change;
	wfs_driver_start
		*drive;       /* of agents when nobody owns the world; NULL: they are not driven */
	unsigned int wait_ms; /* as of wfs_client_new(); 0: WFS_CLIENT_WAIT_MS */
};

/**
 * wfs_access_new() - open a way into a world
 * Return: 0, -ENOENT (not_found: no world there), -EBUSY (busy), -ETIMEDOUT (timeout: its owner shows no
 *         reaction), …
 */
int wfs_access_new(const struct wfs_access_options *options, struct wfs_access **ret_access,
	struct wfs_error *error);
void wfs_access_free(struct wfs_access *access);
WFS_DEFINE_AUTO(access, struct wfs_access, wfs_access_free)
#define WFS_AUTO_ACCESS WFS_CLEANUP(wfs_auto_access)

/** wfs_access_has_owner() - do requests go to a running owner? */
bool wfs_access_has_owner(const struct wfs_access *access);

/** wfs_access_post() - begin a request; takes @payload, which may be NULL. Return: 0, -ENOMEM. */
int wfs_access_post(struct wfs_access *access, const char *verb, json_t *payload);

/**
 * wfs_access_take() - the answer to the oldest request
 * When the owner ends before it has read the first request, and no other was posted, that one is
 * done by whoever owns the world next, or here.
 * Return: 1, 0 when there is none yet and @wait is false, or -errno (with @error: no answer will
 *         come any more).
 */
int wfs_access_take(struct wfs_access *access, bool wait, struct wfs_answer *ret_answer,
	struct wfs_error *error);

/** wfs_access_abandon() - have a request ended that nobody waits for any more; its answer comes all
 *  the same. @index: of those whose answers were not taken, in order. Return: 0, -ENOMEM. */
int wfs_access_abandon(struct wfs_access *access, size_t index);

/** wfs_access_beside() - another way into the same world, whose answers do not wait for those of
 *  @access; it ends before that. Return: 0, -ENOMEM, or why the owner cannot be reached. */
int wfs_access_beside(struct wfs_access *access, struct wfs_access **ret_access);

/** wfs_access_poll() - the descriptor and events to wait for after a take that gave nothing. */
int wfs_access_poll(const struct wfs_access *access, short *ret_events);
