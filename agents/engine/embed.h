/* SPDX-License-Identifier: Apache-2.0 */
/* Embeddings of texts that actions need, made by a server for the engine (engine.h). */
#pragma once

struct engine;

/** embed_start() - make the engine the world's embedder, if host.json has a model for embeddings;
 *  again, after host.json was changed
 *  If something is wrong with that model, this is logged, and the world makes its own embeddings.
 *  Thread: the engine's, or the one that starts it. */
void embed_start(struct engine *engine);

/** embed_stop() - end being the world's embedder: no request for an embedding comes any more.
 *  Thread: any. */
void embed_stop(struct engine *engine);

/** embed_drop_all() - answer the requests that wait for an embedding with the error `cancelled`,
 *  because the engine stops. */
void embed_drop_all(struct engine *engine);
