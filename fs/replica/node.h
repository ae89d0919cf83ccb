/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node of a replicated world: the thread that decides whether it owns the world or follows, and
 * that keeps the world equal to the log (fs/replica/log.h).
 *
 * The node enters the roster (fs/replica/roster.h), and follows the log. It owns the world when the
 * epoch names its own process: because it has put the epoch itself, after the owner before has left
 * the roster, or because that owner has handed the world over. An owner stops owning when its
 * lease has ended, when it finds another epoch, or while it does not know what became of a batch;
 * then it follows. Nothing here waits for etcd but the node's own threads, and the kernel thread
 * while it has a batch carried.
 * Source: docs/decisions/0038-followers.md.
 */
#pragma once

#include <jansson.h>

#include "fs/replica/etcd.h"
#include "fs/replica/identity.h"
#include "fs/replica/roster.h"

struct wfs_authority;
struct wfs_ids;
struct wfs_node;

/* X(constant, name) */
#define WFS_NODE_ROLES(X)                                               \
	X(NONE, "none")         /* no lease: nothing is known of now */ \
	X(FOLLOWER, "follower") /* another node owns the world */       \
	X(OWNER, "owner")

enum wfs_node_role {
#define WFS_NODE_ENUM(constant, name) WFS_NODE_##constant,
	WFS_NODE_ROLES(WFS_NODE_ENUM)
#undef WFS_NODE_ENUM
		WFS_NODE_ROLE_COUNT
};

/** wfs_node_role_name() - get the name of a role; static. */
const char *wfs_node_role_name(enum wfs_node_role role);

/* Option struct: plain value; its texts are borrowed until wfs_node_new() returns. */
struct wfs_node_options {
	struct wfs_etcd_options etcd; /* timeout_ms is set by the node */
	const char *name;             /* wfs_log_node_valid() */
	const char *address;          /* of its port, with `pin` and `token`; NULL: none */
	const char *pin;
	const char *token;
	bool no_owner;    /* it never takes over */
	int64_t lease_ms; /* at least 2000, rounded up to seconds */
	int64_t wait_ms;  /* how long a change may wait for etcd */
	/* The role has changed. Called on the node's thread. */
	void (*became)(void *context, enum wfs_node_role role);
	/* Another living process has the name: this one must end. Called once, on the node's
	 * thread. */
	void (*lost)(void *context, const struct wfs_error *error);
	void *context;
};

/** wfs_node_new() - make a node of a world
 *  From this call on the world folds its own requests only while the node owns it. The world must
 *  have been begun in etcd, or filled from another node.
 *  @authority: of a world that is open, and not for reading only; must outlive the node
 *  @ret_node: caller frees it with wfs_node_free(). Return: 0, -EINVAL (invalid_argument),
 *  -ENOMEM. */
int wfs_node_new(struct wfs_authority *authority, const struct wfs_node_options *options,
	struct wfs_node **ret_node, struct wfs_error *error);

/** wfs_node_bar() - make a node that never starts, for a world that is replicated but cannot join:
 *  its requests fail with @reason. Parameters and return as for wfs_node_new(). */
int wfs_node_bar(struct wfs_authority *authority, const struct wfs_error *reason,
	struct wfs_node **ret_node, struct wfs_error *error);

/** wfs_node_start() - begin to be a node, unless it has begun
 *  Returns at once, whether etcd answers or not. Return: 0, -EAGAIN (overloaded: no thread), or the
 *  reason of wfs_node_bar(). */
int wfs_node_start(struct wfs_node *node, struct wfs_error *error);

/** wfs_node_end() - leave the roster, and end: the role is none, the world folds nothing, and its
 *  requests fail (unavailable). The functions below that any thread may call still work, until
 *  wfs_node_free(). Thread: that of wfs_node_new(). */
void wfs_node_end(struct wfs_node *node);

/** wfs_node_free() - wfs_node_end(), and free; accepts NULL. */
void wfs_node_free(struct wfs_node *node);
WFS_DEFINE_AUTO(node, struct wfs_node, wfs_node_free)
#define WFS_AUTO_NODE WFS_CLEANUP(wfs_auto_node)

/** wfs_node_ids() - get the list (fs/replica/ids.h) of the ids of the newest requests that have
 *  records; the node adds to this list as its height rises. Borrowed until wfs_node_free().
 *  Thread: any. */
struct wfs_ids *wfs_node_ids(struct wfs_node *node);

/** wfs_node_role() - get the role. Thread: any. */
enum wfs_node_role wfs_node_role(struct wfs_node *node);

/* How a node is reached, as this one saw it last. Plain value. */
struct wfs_node_port {
	char name[WFS_LOG_NODE_MAX + 1];
	bool lives; /* its lease has not ended */
	char address[WFS_ROSTER_ADDRESS_MAX +
		1]; /* of its port; "": it has none, or does not live */
	char pin[WFS_IDENTITY_PIN_SIZE];
	char token[WFS_IDENTITY_TOKEN_SIZE];
};

/* A node that has entered the roster. Plain value. */
struct wfs_node_peer {
	struct wfs_node_port port;
	bool self;
	int64_t renewed_ns; /* when its lease was seen to be renewed last, by
			     * wfs_clock_boottime_ns(); 0: never */
};

/** wfs_node_owner() - find the port of the node that owns the world; if it does not live, only the
 *  name of the node that owned it last. Thread: any. */
void wfs_node_owner(struct wfs_node *node, struct wfs_node_port *ret_owner);

/** wfs_node_lives() - does the process whose port this is still live, as this node saw it last?
 *  Thread: any. */
bool wfs_node_lives(struct wfs_node *node, const struct wfs_node_port *port);

/** wfs_node_peers() - list all nodes that have ever entered, this one among them, by a look at the
 *  roster that began after this call. Waits for that, at most @wait_ms
 *  @ret_peers: caller frees it
 *  Return: 0, -EAGAIN (unavailable: etcd does not answer), -ENOMEM. Thread: any but the node's. */
int wfs_node_peers(struct wfs_node *node, int64_t wait_ms, struct wfs_node_peer **ret_peers,
	size_t *ret_count);

/** wfs_node_process() - get the random name of this process among all processes of nodes; borrowed
 *  until wfs_node_free(). */
const char *wfs_node_process(const struct wfs_node *node);

/** wfs_node_inherits() - did another node own the world just before this one, which owns it?
 *  Thread: that of struct wfs_node_options.became. */
bool wfs_node_inherits(const struct wfs_node *node);

/** wfs_node_wait() - wait until the node has @role, at most @wait_ms. Return: false: it has not.
 *  Thread: any but the node's. */
bool wfs_node_wait(struct wfs_node *node, enum wfs_node_role role, int64_t wait_ms);

/** wfs_node_status() - make the document of /replication.json: {epoch, node, nodes: [{address,
 *  height, lag_records, last_contact_ms, name, role, …}], owner, problem, role}. Return: new
 *  reference, NULL without memory. Thread: any. */
json_t *wfs_node_status(struct wfs_node *node);

/* Figures of a node. Plain value. */
struct wfs_node_figures {
	enum wfs_node_role role;
	int64_t epoch;
	int64_t log_height; /* of the log, when the node looked last */
	int64_t lease_ms;   /* how long its lease goes on; 0: it has none */
};

/** wfs_node_figures() - get figures of the node. Thread: any. */
void wfs_node_figures(struct wfs_node *node, struct wfs_node_figures *ret_figures);

/** wfs_node_handover() - make another node the owner, after the changes that are under way
 *  @to: name of the node; NULL: the living one with the greatest height
 *  Return: 0, -ENOENT (not_found: no such node lives, or it never owns; nothing has changed),
 *  -EAGAIN (unavailable: this node does not own the world, or etcd does not answer), -ETIMEDOUT
 *  (timeout: the epoch may have changed), -ENOMEM. Thread: any but the node's. */
int wfs_node_handover(struct wfs_node *node, const char *to, struct wfs_error *error);

/** wfs_node_begin() - make the log of a world that is not replicated yet, so that nodes can follow
 *  @authority: of the world, which nothing else uses during the call
 *  @options: timeout_ms is how long to try
 *  @name: of the node that will own the world first
 *  Return: 0, -EEXIST (already_exists: the prefix has a world), -EINVAL, -EAGAIN (unavailable: etcd
 *  does not answer; nothing was made), -ETIMEDOUT (unknown: it may have been made), -ENOMEM, … */
int wfs_node_begin(struct wfs_authority *authority, const struct wfs_etcd_options *options,
	const char *name, struct wfs_error *error);
