/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timers that fire: the earliest due time is looked up in the world's index, and one timer of libuv
 * waits for it, whatever the number of timers. A few timers fire at once, each as a request of its
 * principal; what is due beyond these stays in the index.
 * Thread: engine->thread, unless a function says otherwise.
 */
#pragma once

#include "agents/engine/engine.h"

/** timers_start() - prepare engine->timers; then, unless the engine or the world's timers are
 *  paused, begin to fire what is due. */
void timers_start(struct engine *engine);

/** timers_changed() - have engine->thread call timers_look(), because a timer has changed. Thread:
 *  any. */
void timers_changed(struct engine *engine);

/** timers_look() - fire what is due, and set the timer of libuv to the next due time. */
void timers_look(struct engine *engine);

/** timers_drop_all() - fire no more timers, because the engine stops. Timers that wait to be tried
 *  again are dropped; their due times are found when the world is opened again. */
void timers_drop_all(struct engine *engine);

/** timers_close() - close the timer of libuv; called after the last firing has ended. */
void timers_close(struct engine *engine);
