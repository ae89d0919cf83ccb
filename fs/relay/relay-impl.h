/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to the relay. A body between nodes is {"height":H,"requests":[{"id":…,"payload":{…},
 * "principal":…,"verb":…},…]}, where H is the follower's height. Its answer has the status 200 and is
 * {"answers":[envelope,…],"height":H}; or it has the status 409: nothing of it was done, because this
 * node does not own the world, is behind the follower, or does one of the requests already.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "fs/base/work.h"
#include "fs/relay/relay.h"
#include "fs/replica/ids.h"
#include "fs/replica/peer.h"
#include "fs/replica/port.h"
#include "kernel/value/batch.h"

enum {
	RELAY_BATCH_MAX = 256,           /* requests of one body */
	RELAY_BATCH_BYTES_MAX = 8 << 20, /* bytes of payloads after which a body ends */
	RELAY_LONG_MAX = 8,              /* threads for turns and plans */
	RELAY_LONG_COUNT_MAX = 1024,     /* of these, under way or waiting */
	RELAY_CONNECT_MS = 1000,
	RELAY_SHORT_MS = 30 * 1000,           /* for the answer to a body */
	RELAY_LONG_MS = 24 * 60 * 60 * 1000,  /* for the answer to a turn or plan */
	RELAY_AGAIN_MS = 20,                  /* before a request is sent again */
};

/* A call on its way to the owner. */
struct relay_out {
	struct wfs_work_task task; /* first: of a long one; the callback casts back */
	struct relay_out *next;
	struct wfs_relay *relay;
	struct wfs_call *call;
	char verb[32];
	char id[WFS_BATCH_ID_MAX + 1];
	int64_t until_ns; /* monotonic clock */
	bool sent;        /* it may have been done */
	json_t *envelope; /* the answer; NULL: none yet */
};

struct wfs_relay {
	struct wfs_authority *authority;
	struct wfs_host *host;
	struct wfs_join *join;
	struct wfs_session *session; /* operator's, to read the height */
	atomic_bool stopping;
	atomic_uint_fast64_t counter; /* of ids */

	struct wfs_observer observer; /* tells of heights */
	pthread_t lane;               /* sends what is short, in order */
	bool lane_started;
	struct wfs_work *longer; /* what takes turns */
	struct wfs_work *in;     /* requests of other nodes */

	pthread_mutex_t lock;
	pthread_cond_t changed; /* the list, the height, or `stopping` */
	/* Lock for the following: lock. */
	struct relay_out *first;
	struct relay_out **last;
	size_t long_count;
	uint64_t height; /* of the world, whose mounts were told */
	struct relay_in *ins; /* under way */
};

/* --- relay-out.c --- */

void *relay_lane(void *relay);

/* --- relay-in.c --- */

/* A handler of the port; @context: struct wfs_relay. */
void relay_in_request(void *context, struct wfs_port_call *call, struct wfs_bytes body);
void relay_in_gone(void *context, struct wfs_port_call *call);
