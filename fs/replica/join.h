/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Being a node as the world's host.json says: the node, and the port at which others reach it.
 *
 * A replicated world changes only with its log. So a process that opens it joins the other nodes,
 * or changes nothing.
 * Source: worldfs-host(5), member `replication`.
 */
#pragma once

#include "caps/upkeep.h"
#include "fs/replica/node.h"
#include "fs/replica/port.h"
#include "kernel/base/host-form.h"

struct wfs_join;

/* Option struct: plain value. */
struct wfs_join_options {
	bool listens; /* other nodes can reach this one: not for a command that ends soon */
	/* Called on the node's thread, with `context`; each may be NULL. */
	void (*became)(void *context, enum wfs_node_role role);
	void (*lost)(void *context, const struct wfs_error *error);
	void *context;
	/* Requests of other nodes, as in struct wfs_port_handlers, with `request_context`. */
	void (*request)(void *context, struct wfs_port_call *call, struct wfs_bytes body);
	void (*gone)(void *context, struct wfs_port_call *call);
	void *request_context;
};

/** wfs_join_etcd() - set the options of a client of etcd from host.json; the password comes from
 *  the environment, and only if keys.json allows to send it to each end point
 *  @ret_etcd: borrows from @replication and the environment; timeout_ms is not set
 *  Return: 0, -EACCES (not_authorized), -EAGAIN (unavailable: the variable is not set), or another
 *  -errno. */
int wfs_join_etcd(const struct wfs_host_replication *replication, struct wfs_etcd_options *ret_etcd,
	struct wfs_error *error);

/** wfs_join_new() - make the node of a world, if host.json says that the world is replicated;
 *  wfs_node_start() starts it
 *  A world whose host.json is damaged, says something that is not valid, or was not agreed to by
 *  this user, gets a node that never starts (wfs_node_bar()), so that nothing changes it alone.
 *  @authority: of a world that is open, and not for reading only; must outlive the join
 *  @ret_join: caller frees it with wfs_join_free(); NULL if the world is not replicated
 *  Return: 0, -ENOMEM. */
int wfs_join_new(struct wfs_authority *authority, const struct wfs_join_options *options,
	struct wfs_join **ret_join, struct wfs_error *error);
void wfs_join_free(struct wfs_join *join);
WFS_DEFINE_AUTO(join, struct wfs_join, wfs_join_free)
#define WFS_AUTO_JOIN WFS_CLEANUP(wfs_auto_join)

/** wfs_join_node() - get the node; borrowed. */
struct wfs_node *wfs_join_node(const struct wfs_join *join);

/** wfs_join_wait_ms() - get wait_ms of host.json: how long a change may wait for the owner. */
int64_t wfs_join_wait_ms(const struct wfs_join *join);

/** wfs_join_lease_ms() - get lease_ms of host.json. */
int64_t wfs_join_lease_ms(const struct wfs_join *join);

/** wfs_join_fetch() - fill @directory with the world that a living node has, and with @host as its
 *  host.json, so that nothing changes this copy alone
 *  @host: accepted by wfs_host_check(); its replication has the name of the new node, which no
 *  living node has. @directory: missing or empty
 *  Return: 0, -ENOENT (not_found: the prefix has no world), -EBUSY (busy: the name), -EAGAIN
 *  (unavailable: etcd, or no node that lives can be reached), or as wfs_upkeep_fetch(). */
int wfs_join_fetch(const json_t *host, const char *directory,
	const struct wfs_backup_options *options, struct wfs_backup_figures *ret_figures,
	struct wfs_error *error);
