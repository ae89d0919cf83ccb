/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The roster of a replicated world in etcd: its nodes, and which of them live.
 *
 * Keys, below the prefix of the client:
 *  member/<name>  {}: a node that has ever entered; lasts
 *  node/<name>    struct wfs_roster_entry: what a living node says of itself; goes with its lease
 *
 * A node renews its key by a transaction that compares that the key is still its own, each time
 * with a new lease. Its right to own and to show the world counts from the moment before that
 * transaction was sent, by the clock that goes on while a machine sleeps, so that the right ends
 * before anybody sees the key go.
 * Thread: that of the client.
 * Source: docs/decisions/0038-followers.md.
 */
#pragma once

#include "fs/replica/etcd.h"
#include "fs/replica/log.h"
#include "kernel/base/form.h"

enum {
	WFS_ROSTER_NODES_MAX = 256,    /* of a world */
	WFS_ROSTER_ADDRESS_MAX = 263,  /* bytes of an address: a name, or [ADDRESS], and :PORT */
	WFS_ROSTER_LEASE_MIN_MS = 2000 /* etcd rounds shorter ones up */
};

/* What a node says of itself; sorted by name. `height`: of its world. `at_ms`: its time of day.
 * `address`, `pin`, `token`: of its port (fs/replica/port.h), "" without one. `problem`: {code,
 * message, …}, or NULL. `serves`: it may serve mounts until its lease ends. */
#define WFS_ROSTER_MEMBERS(M)                             \
	M(wfs_roster_entry, TEXT, address, 0)             \
	M(wfs_roster_entry, NAT, at_ms, 0)                \
	M(wfs_roster_entry, NAT, bytes, 0)                \
	M(wfs_roster_entry, NAT, height, 0)               \
	M(wfs_roster_entry, BOOL, no_owner, WFS_OPTIONAL) \
	M(wfs_roster_entry, TEXT, pin, 0)                 \
	M(wfs_roster_entry, VALUE, problem, WFS_OPTIONAL) \
	M(wfs_roster_entry, TEXT, process, 0)             \
	M(wfs_roster_entry, TEXT, role, 0)                \
	M(wfs_roster_entry, BOOL, serves, WFS_OPTIONAL)   \
	M(wfs_roster_entry, TEXT, token, 0)

struct wfs_roster_entry {
	WFS_ROSTER_MEMBERS(WFS_MEMBER)
};

/* A node as it was looked at last. Plain value. */
struct wfs_roster_node {
	char name[WFS_LOG_NODE_MAX + 1];
	bool lives;                    /* its key is there */
	struct wfs_roster_entry entry; /* if it lives; borrows from `document` */
	json_t *document;
	int64_t revision;
	int64_t renewed_ns; /* when a renewal was seen last, by wfs_clock_boottime_ns() */
};

struct wfs_roster;

/** wfs_roster_new() - make the view of one node on the roster
 *  @name: of the node, valid; @process: of its process; both borrowed
 *  @lease_ms: at least WFS_ROSTER_LEASE_MIN_MS; rounded up to seconds
 *  @ret_roster: caller frees it with wfs_roster_free(). Return: 0, -ENOMEM. */
int wfs_roster_new(const char *name, const char *process, int64_t lease_ms,
	struct wfs_roster **ret_roster, struct wfs_error *error);
void wfs_roster_free(struct wfs_roster *roster);
WFS_DEFINE_AUTO(roster, struct wfs_roster, wfs_roster_free)
#define WFS_AUTO_ROSTER WFS_CLEANUP(wfs_auto_roster)

/** wfs_roster_renew() - enter, or renew the key; if entry->serves is false, the right to own and to
 *  show the world ends, although the key is renewed
 *  Return: 0; -EBUSY (busy: another living process has the name: this one must end); -EAGAIN
 *  (unavailable: the key of an earlier process is still there, or the own one has gone: again);
 *  or as wfs_etcd functions do, and then the right goes on until the lease ends. */
int wfs_roster_renew(struct wfs_roster *roster, struct wfs_etcd *etcd,
	const struct wfs_roster_entry *entry, struct wfs_error *error);

/** wfs_roster_until_ns() - get the moment at which the right to own and to show the world ends, by
 *  wfs_clock_boottime_ns(); 0: it was never given, or lost. Thread: any. */
int64_t wfs_roster_until_ns(const struct wfs_roster *roster);

/** wfs_roster_look() - read the nodes. Return: 0, -EFBIG (there are too many), -EIO (a key does not
 *  have its form), or as wfs_etcd functions do. */
int wfs_roster_look(struct wfs_roster *roster, struct wfs_etcd *etcd, struct wfs_error *error);

/** wfs_roster_nodes() - get the nodes of the last look, in the order of their names; borrowed until
 *  the next. */
const struct wfs_roster_node *wfs_roster_nodes(const struct wfs_roster *roster, size_t *ret_count);

/** wfs_roster_find() - find a node of the last look. Return: borrowed, or NULL. */
const struct wfs_roster_node *wfs_roster_find(const struct wfs_roster *roster, const char *name);

/** wfs_roster_leave() - remove the key, so that nobody waits for the end of its lease. Return: 0,
 *  or as wfs_etcd functions do. */
int wfs_roster_leave(struct wfs_roster *roster, struct wfs_etcd *etcd, struct wfs_error *error);
