/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to the relay. What goes from node to node is a document {"height":H,"requests":[{"id":…,
 * "payload":{…},"principal":…,"verb":…},…]}, where H is the height of the sender. Its answer has
 * the status 200 and is {"answers":[envelope or null,…],"height":H}, where null says that the
 * request was not done and may be sent again; or it has another status, which says so of all
 * requests: 409 because the receiver does not own the world, is behind the sender, or does one of
 * the requests already; 422 because it does not understand the document; 500 because it is short of
 * memory. The document {"reach":H} asks whether the mounts of a node show the height H: 200, or
 * 409.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "caps/authority.h"
#include "caps/nodes.h"
#include "fs/base/work.h"
#include "fs/relay/relay.h"
#include "kernel/base/json.h"
#include "kernel/value/batch.h"

enum {
	RELAY_BATCH_MAX = 256,           /* requests of one document */
	RELAY_BATCH_BYTES_MAX = 1 << 20, /* bytes of their payloads, unless the first has more */
	RELAY_COUNT_MAX = 16384,         /* requests that are not answered */
	/* JSON values of one document: one request may have as many as a client may send. */
	RELAY_VALUES_MAX = WFS_JSON_VALUES_MAX + 16 * RELAY_BATCH_MAX,
	RELAY_BYTES_MAX = 256 << 20, /* bytes of their payloads */
	RELAY_LONG_MAX = 48,         /* requests with threads of their own */
	RELAY_IN_THREADS = 4,        /* which begin what other nodes ask for */
	RELAY_CONNECT_MS = 1000,
	RELAY_AGAIN_MS = 20,   /* before a request is sent again */
	RELAY_REACH_MS = 1000, /* for a node to say what height it has */
	/* A node sees that its lease has ended by a round, which may wait for etcd. */
	RELAY_ROUND_MS = 3000,
};

/* A call on its way to the owner. */
struct relay_out {
	struct relay_out *next;
	struct wfs_relay *relay;
	struct wfs_call *call;
	char verb[32];
	char id[WFS_BATCH_ID_MAX + 1];
	size_t bytes;     /* of the payload */
	int64_t until_ns; /* monotonic clock: then it is given up */
	bool longer;      /* it may take turns: it has a thread, and is sent once */
	bool sent;        /* it may have been done */

	/* While this node's world does it: what the relay has put its own in place of. */
	void (*done)(struct wfs_call *call);
	void *context;

	json_t *envelope; /* the answer; owned; NULL: none yet */
	uint64_t height;  /* of the answer */
};

/* A list of these, the newest last. Plain value; zeros are an empty one. */
struct relay_list {
	struct relay_out *first;
	struct relay_out *last;
	size_t count;
};

void relay_list_add(struct relay_list *list, struct relay_out *out);
struct relay_out *relay_list_take(struct relay_list *list); /* NULL: it is empty */

struct relay_in;

/* A call that is done, and whose answer waits for other nodes. */
struct relay_waiter {
	struct relay_waiter *next;
	struct wfs_call *call;
	void (*done)(struct wfs_call *call);
};

struct wfs_relay {
	struct wfs_authority *authority;
	struct wfs_host *host;
	struct wfs_join *join;
	int64_t wait_ns; /* how long a request may wait */
	int64_t lease_ns;
	struct wfs_observer observer;
	struct wfs_nodes_source nodes; /* of /replication.json */
	struct wfs_work *in;           /* begins what other nodes ask for */
	pthread_t lane;                /* sends all that is not long, in order */
	pthread_t confirmer;           /* waits until other nodes have taken over revocations */
	bool lane_started, confirmer_started;
	atomic_uint_fast64_t id_count;
	atomic_bool stopping;

	pthread_mutex_t lock;
	pthread_cond_t changed; /* any of the following, or `stopping`; monotonic clock */
	/* Lock for the following: lock. */
	struct relay_list waiting; /* for the lane */
	struct relay_list arrived; /* answers that wait for the height of this node's world */
	size_t count;              /* calls that are not answered, and their bytes */
	size_t bytes;
	size_t long_count;
	uint64_t relayed_total; /* as in struct wfs_replica_figures; likewise the next */
	uint64_t unknown_total;
	uint64_t height;      /* of the world, whose mounts were told of it */
	struct relay_in *ins; /* documents under way */
	struct relay_waiter *waiters;
	json_t *busy; /* ids of their requests → true */
};

/* --- relay.c --- */

/* Waits, but not while the relay ends. */
void relay_pause(struct wfs_relay *relay, int64_t pause_ms);

/* --- relay-out.c --- */

/* A function of struct wfs_host. */
bool relay_take(struct wfs_host *host, struct wfs_call *call, const char *verb);

void *relay_lane(void *argument);

/* Answers what waits for @height. Thread: the publisher's. */
void relay_reach(struct wfs_relay *relay, uint64_t height);

/* --- relay-confirm.c --- */

/* Does the answer to a call wait until no other node shows what the call has taken away?
 * @again: it was done before, and its answer was lost */
bool relay_confirms(const struct wfs_call *call, const char *verb, bool again);

/* Waits for other nodes on a thread of its own, and then calls @done. Names those that have not
 * confirmed in the answer. */
void relay_confirm(
	struct wfs_relay *relay, struct wfs_call *call, void (*done)(struct wfs_call *call));

void *relay_confirm_main(void *argument);

/* --- relay-in.c --- */

/* Does a document of this node itself, and waits for it.
 * @driver: of turns; NULL: the host's
 * @ret_answer: {answers, height}; new reference. Return: the status, as from another node. */
int relay_do(struct wfs_relay *relay, const json_t *document, struct wfs_driver *driver,
	json_t **ret_answer);

/* Handlers of the port. @context: struct wfs_relay */
void relay_in_request(void *context, struct wfs_port_call *call, struct wfs_bytes body);
void relay_in_gone(void *context, struct wfs_port_call *call);
