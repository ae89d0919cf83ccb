/* SPDX-License-Identifier: Apache-2.0 */
/* What makes embeddings for a world. */
#pragma once

struct wfs_request;

/*
 * Makes embeddings that the world cannot make itself. If an action needs one, the embedder gets the
 * request, and gives it back with the vector or with an error. Then the action is done again from
 * its beginning. Callback table.
 */
struct wfs_embedder {
	const char *model; /* name of its model; must live as long as the world has the embedder */
	/* Begin to make the embedding request->action.wanted. When it is made or has failed, the
	 * embedder calls wfs_world_embedded() or wfs_world_unembedded(), once. On the publisher
	 * thread; must not block. */
	void (*embed)(struct wfs_embedder *embedder, struct wfs_request *request);
};
