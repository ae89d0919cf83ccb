/* SPDX-License-Identifier: Apache-2.0 */
/* Embeddings of texts that actions need, made by a server. */
#pragma once

struct engine;

/** embed_start() - become the world's embedder, if host.json has a model for that. Logs what is
 * wrong with that model. Thread: the one that starts the engine. */
void embed_start(struct engine *engine);

/** embed_stop() - take no more texts. Thread: any. */
void embed_stop(struct engine *engine);

/** embed_drop_all() - the engine stops: refuse the requests that wait for an embedding. */
void embed_drop_all(struct engine *engine);
