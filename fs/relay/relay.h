/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The relay of a replicated world: requests that change it go from a follower to the owner, and
 * their answers come back.
 *
 * A follower neither judges nor does such a request: it goes to the port of the owner
 * (fs/replica/port.h), with the principal that asks. The caller gets the owner's answer when the
 * follower's own world has reached the height of the answer, and its mounts were told; so a change
 * that was answered is seen in every mount of this machine. Requests go in the order in which they
 * were begun, many at a time; those that take turns of agents go on threads of their own.
 * Each request has an id. If an answer is lost, the request is sent again with its id, perhaps to
 * another owner, and each owner knows the ids that have records (fs/replica/ids.h).
 * Source: docs/decisions/0038-followers.md.
 */
#pragma once

#include "fs/replica/join.h"
#include "fs/verb/verb.h"

struct wfs_relay;

/** wfs_relay_new() - join the other nodes, if the world is replicated, and relay requests
 *  @authority: as for wfs_join_new(). @host: of calls that come from other nodes; must outlive the
 *  relay. @options: as for wfs_join_new()
 *  @ret_relay: caller frees it with wfs_relay_free(); NULL if the world is not replicated
 *  Return: 0, -EAGAIN (overloaded: no thread), -ENOMEM. */
int wfs_relay_new(struct wfs_authority *authority, struct wfs_host *host,
	const struct wfs_join_options *options, struct wfs_relay **ret_relay,
	struct wfs_error *error);

/** wfs_relay_free() - answer requests that are under way (unavailable, or unknown if they were
 *  sent), and leave the other nodes; accepts NULL. */
void wfs_relay_free(struct wfs_relay *relay);
WFS_DEFINE_AUTO(relay, struct wfs_relay, wfs_relay_free)
#define WFS_AUTO_RELAY WFS_CLEANUP(wfs_auto_relay)

struct wfs_node *wfs_relay_node(const struct wfs_relay *relay);

/** wfs_relay_forward() - send a call to the owner, unless this node owns the world
 *  @call: its payload was checked. @verb: its name
 *  Return: 0: do it here; 1: the relay finishes the call; -ENOMEM. */
int wfs_relay_forward(struct wfs_relay *relay, struct wfs_call *call, const char *verb);
