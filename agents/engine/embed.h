/* SPDX-License-Identifier: Apache-2.0 */
/* Embeddings of texts that actions need, made by a server for the engine (engine.h). */
#pragma once

struct engine;

/** embed_start() - have the engine make the world's embeddings from now on, with the model
 *  WFS_EMBEDDING_MODEL of host.json, if it has one; to be called again after host.json has changed
 *  If that model cannot be used, the reason is logged, and embeddings are computed locally.
 *  Thread: the engine's, or the one that starts the engine. */
void embed_start(struct engine *engine);

/** embed_stop() - have the engine make no more of the world's embeddings: it gets no more requests
 *  for one.
 *  Thread: any. */
void embed_stop(struct engine *engine);

/** embed_drop_all() - make the actions that wait for an embedding fail with the error `cancelled`,
 *  because the engine stops. */
void embed_drop_all(struct engine *engine);
