/* SPDX-License-Identifier: Apache-2.0 */
/* Timers that a session sees (kernel/domain/timer/timer.h), for lists of them. */
#pragma once

#include <jansson.h>
#include <stdint.h>

struct wfs_session;
struct wfs_view;

/** wfs_session_timer_next() - find the next timer whose file the session sees, in the order in
 *  which timers were made
 *  @principal: id of the principal whose timers are wanted; NULL: all
 *  @cursor: number of the cell after which the search begins, 0: with the oldest; becomes that of
 *           the last cell that was looked at
 *  @left: how many timers may be looked at, those that are not seen included; decremented for each
 *  @ret_summary: {action_type, by?, catch_up, fired, id, next_ns, principal}; caller owns it; NULL
 *  if no timer was found
 *  Return: 1 (a timer was found; or, with NULL in @ret_summary, *@left has become 0: to search on,
 *  call again with a new *@left), 0 (no more timers), or -errno. */
int wfs_session_timer_next(const struct wfs_session *session, struct wfs_view *view,
	const char *principal, uint64_t *cursor, uint64_t *left, json_t **ret_summary);
