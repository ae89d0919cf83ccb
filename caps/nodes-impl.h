/* SPDX-License-Identifier: Apache-2.0 */
/* Private to caps/: what an authority keeps for caps/nodes.h. */
#pragma once

#include <pthread.h>

#include "caps/nodes.h"

/* A document that can still be read. */
struct nodes_kept {
	struct nodes_kept *next; /* made later */
	struct wfs_nodes_document document;
	int64_t made_ns; /* by wfs_clock_monotonic_ns() */
	char text[];     /* of document.size_bytes */
};

/* Made by wfs_nodes_init(). */
struct wfs_nodes {
	pthread_mutex_t lock;
	/* Lock for the following: lock. */
	struct wfs_nodes_source *source; /* NULL: none */
	struct nodes_kept *first;
	struct nodes_kept *last;
	uint64_t bytes;
	uint64_t number; /* of the newest document; 0: none was made */
};

void wfs_nodes_init(struct wfs_nodes *nodes);
void wfs_nodes_done(struct wfs_nodes *nodes);

/** wfs_authority_kept_nodes() - get what an authority keeps; borrowed. */
struct wfs_nodes *wfs_authority_kept_nodes(struct wfs_authority *authority);
