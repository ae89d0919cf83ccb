/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The requests of turns to models, and the answers to them, byte for byte
 * (kernel/domain/turn/raw.h): reading them, and whether a session may send a request again.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/base/buffer.h"

struct wfs_error;
struct wfs_session;
struct wfs_view;

/** wfs_session_raw_next() - find, among the requests of a turn with numbers from *@number on, the
 *  first that is kept and that the session's principal may read, and append its bytes to @buffer
 *  @number: at least 1; becomes the number of the request that was found
 *  Return: 0, -ENOENT (no such request), … */
int wfs_session_raw_next(const struct wfs_session *session, struct wfs_view *view,
	const char *turn_id, uint64_t *number, struct wfs_buffer *buffer);

/** wfs_session_raw_answer() - append to @buffer the bytes of the answer to request @number of a
 *  turn. Return: 0, -ENOENT (no answer came, the answer is not kept, or the session's principal may
 *  not read it), … */
int wfs_session_raw_answer(const struct wfs_session *session, struct wfs_view *view,
	const char *turn_id, uint64_t number, struct wfs_buffer *buffer);

/** wfs_session_may_ask_again() - may the session's principal send a request of an old turn of
 *  @agent to a model again? The principal must be allowed to have the agent take a turn, and to ask
 *  models, by grants without a budget: nothing is recorded, so no budget could be charged. It must
 *  also have tokens for models left. A refusal is counted, but not recorded. Return: 0 (yes),
 *  -EACCES (not_authorized, policy_denied, expired), -EDQUOT (quota_exceeded: its tokens are used
 *  up), or another -errno; with @error. */
int wfs_session_may_ask_again(
	const struct wfs_session *session, const char *agent, struct wfs_error *error);
