/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The relay of a replicated world: requests that change it go from a follower to the owner, and
 * their answers come back.
 *
 * A follower neither judges nor does such a request: it sends it to the port of the owner
 * (fs/replica/port.h), with the id of the principal that asks. The caller gets the owner's answer
 * when the follower's own world has reached the height of that answer, and its mounts have dropped
 * their older copies; so a change that was answered is seen in every mount of this machine.
 * Requests go in the order in which they were begun, many at a time; those that take turns of
 * agents go on threads of their own.
 *
 * Each request has an id, also one that the owner's own callers make. If an answer is lost, or the
 * owner stops owning before it has done the request, the request is sent again with its id, perhaps
 * to another owner; each owner knows the ids that have records (fs/replica/ids.h).
 * Source: docs/decisions/0038-followers.md.
 */
#pragma once

#include "fs/replica/join.h"
#include "fs/verb/verb.h"

struct wfs_relay;

/** wfs_relay_new() - prepare to join the other nodes, if the world is replicated
 *  @authority: as for wfs_join_new()
 *  @host: of calls; gets its functions for replicated worlds. It must outlive the relay, and its
 *  driver must be set before wfs_node_start(), and outlive the relay, too.
 *  @options: without handlers of requests, which are the relay's
 *  @ret_relay: caller frees it with wfs_relay_free(); NULL if the world is not replicated
 *  Return: 0, -ENOENT, -EIO (the world cannot be read), -EAGAIN (overloaded: no thread), -ENOMEM.
 *  */
int wfs_relay_new(struct wfs_authority *authority, struct wfs_host *host,
	const struct wfs_join_options *options, struct wfs_relay **ret_relay,
	struct wfs_error *error);

/** wfs_relay_cease() - have the calls that are on their way to another node answered (unavailable,
 *  or unknown if they were sent), and refuse later ones (unavailable). Returns at once; any thread
 *  may call it. */
void wfs_relay_cease(struct wfs_relay *relay);

/** wfs_relay_free() - wfs_relay_cease(), leave the other nodes, and free; accepts NULL. The caller
 *  makes sure that nothing uses the host any more. */
void wfs_relay_free(struct wfs_relay *relay);
WFS_DEFINE_AUTO(relay, struct wfs_relay, wfs_relay_free)
#define WFS_AUTO_RELAY WFS_CLEANUP(wfs_auto_relay)

/** wfs_relay_node() - get the node, which the caller starts; borrowed. */
struct wfs_node *wfs_relay_node(const struct wfs_relay *relay);

/** wfs_relay_heir_wait_ms() - get how long this node, which has just begun to own the world, waits
 *  before it goes on with turns, plans and calls that had begun: a lease if another node owned the
 *  world before, which may still wait for an answer of the outside; otherwise 0 */
int64_t wfs_relay_heir_wait_ms(const struct wfs_relay *relay);

/** wfs_relay_settle() - wait, at most about @wait_ms, until this node owns the world, or another
 *  node does whose lease has not ended. Return: true: this node owns the world; false: it does
 *  not. */
bool wfs_relay_settle(struct wfs_relay *relay, int64_t wait_ms);
