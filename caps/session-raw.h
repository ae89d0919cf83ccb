/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What models were sent for a turn, and sent back (kernel/domain/turn/raw.h), for a session that
 * may read it, and whether it may ask a model that again.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/base/buffer.h"

struct wfs_error;
struct wfs_session;
struct wfs_view;

/** wfs_session_raw_next() - find the first request of a turn from number *@number on, from 1, that
 *  is kept and that the principal may read, append its bytes to @buffer, and set *@number to its
 *  number
 *  Return: 0, -ENOENT (no more), … */
int wfs_session_raw_next(const struct wfs_session *session, struct wfs_view *view,
	const char *turn_id, uint64_t *number, struct wfs_buffer *buffer);

/** wfs_session_raw_answer() - append to @buffer the bytes that came back to request @number of a
 *  turn. Return: 0, -ENOENT (nothing came, it is not kept, or the principal may not read it), … */
int wfs_session_raw_answer(const struct wfs_session *session, struct wfs_view *view,
	const char *turn_id, uint64_t number, struct wfs_buffer *buffer);

/** wfs_session_may_ask_again() - may the principal ask a model what a turn of @agent was asked? It
 *  must be allowed to have the agent take a turn, and to ask models, by grants without a budget:
 *  nothing is recorded, so no budget could be charged. A refusal is not recorded either.
 *  Return: 0, or -errno with @error. */
int wfs_session_may_ask_again(
	const struct wfs_session *session, const char *agent, struct wfs_error *error);
