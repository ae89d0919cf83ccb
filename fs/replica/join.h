/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Being a node as the world's host.json says.
 *
 * A replicated world changes only with its log. So a process that opens it joins the other nodes,
 * or changes nothing.
 * Source: worldfs-host(5), member `replication`.
 */
#pragma once

#include "fs/replica/node.h"
#include "kernel/base/host-form.h"

/* Functions of the process that joins, called on the node's thread; each may be NULL. Plain
 * value. */
struct wfs_join_handlers {
	void (*became)(void *context, enum wfs_node_role role);
	void (*lost)(void *context, const struct wfs_error *error);
	void *context;
};

/** wfs_join_etcd() - set the options of a client of etcd from host.json; the password comes from
 *  the environment, and only if keys.json allows to send it to each end point
 *  @ret_etcd: borrows from @replication and the environment; timeout_ms is not set
 *  Return: 0, -EACCES (not_authorized), -EINVAL (invalid_argument: the URL), -EAGAIN (unavailable:
 *  the variable is not set), -ENOMEM. */
int wfs_join_etcd(const struct wfs_host_replication *replication, struct wfs_etcd_options *ret_etcd,
	struct wfs_error *error);

/** wfs_join() - make the node of a world, if host.json says that the world is replicated
 *  A world whose host.json is damaged, says something that is not valid, or was not agreed to by
 *  this user, gets a node that never starts (wfs_node_bar()), so that nothing changes it alone.
 *  @authority: of a world that is open, and not for reading only; must outlive the node
 *  @ret_node: caller frees it with wfs_node_free(); NULL if the world is not replicated
 *  Return: 0, -ENOMEM. */
int wfs_join(struct wfs_authority *authority, const struct wfs_join_handlers *handlers,
	struct wfs_node **ret_node, struct wfs_error *error);
