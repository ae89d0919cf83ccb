/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the node: its state, and which thread uses what. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "caps/replica.h"
#include "fs/replica/ids.h"
#include "fs/replica/log.h"
#include "fs/replica/node.h"
#include "fs/replica/roster.h"

/* A batch of which nobody knows whether it is in the log. */
struct node_unsure {
	bool set;
	struct wfs_log_head head;
	struct wfs_buffer batch;
};

/* Another node that is to become the owner. */
struct node_handover {
	char to[WFS_LOG_NODE_MAX + 1]; /* "": any */
	bool done;
	int result;
	struct wfs_error error;
};

/* A problem of the node, as other nodes see it. */
struct node_problem {
	enum wfs_error_code code; /* WFS_OK: nothing */
	uint64_t record;          /* of a divergence, and `cell` */
	char cell[sizeof(((struct wfs_followed_outcome *)0)->cell)];
	char message[WFS_ERROR_MESSAGE_SIZE];
};

struct wfs_node {
	struct wfs_carrier carrier; /* first: the callback casts back */
	struct wfs_authority *authority;
	struct wfs_replica *replica;
	struct wfs_ids *ids;             /* of requests that have records */
	struct wfs_node_options options; /* with texts of its own */
	char process[WFS_LOG_PROCESS_SIZE];

	/* The node's thread only. */
	struct wfs_etcd *etcd;
	struct wfs_roster *roster;
	struct wfs_log_place looked; /* what the log had in this round */
	int64_t learned;             /* up to which height ids are known; INT64_MAX: all */
	int64_t renew_ns;            /* when to renew, by wfs_clock_boottime_ns() */
	int64_t roster_ns;           /* likewise, to look at the roster */
	int64_t aside_ns;            /* since when requests wait */
	bool owning;                 /* the world folds */
	bool other_owned;            /* the epoch has named another node since this one owned */
	bool inherits;               /* likewise, before it began to own */
	bool refusing;
	bool lent;                    /* principals have their rights until the lease ends */
	struct wfs_replica_head head; /* while it follows */
	struct node_problem diverged; /* in this round; without a code */
	int64_t ahead_ms;             /* by how much this clock is ahead of the owner's */

	/* Of the kernel thread while the node owns, otherwise of the node's thread. */
	struct wfs_etcd *carrying;
	struct wfs_log_place place; /* the end of the log */
	struct node_unsure unsure;
	atomic_bool failed; /* nothing more may be carried */

	struct wfs_error barred; /* why the node never starts; WFS_OK: it does */

	pthread_t thread;
	pthread_t bell;
	bool thread_started, bell_started;
	struct wfs_etcd *watching; /* the bell's thread */
	atomic_bool stopping;

	pthread_mutex_t lock;
	pthread_cond_t woken;   /* the node's thread has something to do */
	pthread_cond_t changed; /* role, or the end of a handover */
	/* Lock for the following: lock. */
	bool rung;
	enum wfs_node_role role;
	bool running;                   /* the node's thread takes handovers */
	struct node_handover *handover; /* NULL: none is asked for */
	struct node_problem problem;
	json_t *nodes; /* of wfs_node_status() */
	struct wfs_node_port owner;
	struct wfs_node_peer *peers; /* of the last look at the roster; owned */
	size_t peer_count;
	int64_t peers_ns;  /* when that look began, by wfs_clock_boottime_ns() */
	bool peers_wanted; /* look again at once */
	int64_t epoch;
	int64_t log_height; /* as `looked` has it */
};

/* --- node.c --- */

/* Has the node's thread look again at once. Thread: any. */
void node_wake(struct wfs_node *node);

/* --- node-role.c: the node's thread --- */

/* The carrier of the world. */
int node_carry(struct wfs_carrier *carrier, uint64_t from, const struct wfs_replica_head *head,
	struct wfs_bytes batch, struct wfs_error *error);

void node_heard(struct wfs_carrier *carrier, const char *id, uint64_t seq);

/* Stops owning if the node must not own any more, whether etcd answers or not. */
int node_check_owning(struct wfs_node *node, struct wfs_error *error);

/* Does what node->looked and the roster ask for: follows, takes over, owns. Return: 0, or -errno
 * with @error; node->diverged says more of `diverged`. */
int node_step(struct wfs_node *node, struct wfs_error *error);

/* Does what a handover asks for. Return: 0, or -errno. */
int node_hand_over(struct wfs_node *node, const char *to, struct wfs_error *error);

/* Has the world all that the log had at the last look? */
bool node_is_current(const struct wfs_node *node);

/* While the node does not own: has requests wait for an owner to be, wait_ms at most, or fail. */
void node_refuse(struct wfs_node *node);
