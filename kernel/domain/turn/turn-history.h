/* SPDX-License-Identifier: Apache-2.0 */
/* Private to kernel/domain/turn/: the messages of a run that its files show. */
#pragma once

#include "kernel/domain/turn/turn-file.h"

/** turn_newest_messages() - read the newest groups of messages within WFS_TURN_FILE_MAX, but at
 *  least one
 *  @ret_messages: an array, oldest first; caller owns it
 *  @ret_left_out: how many older messages were left out
 *  Return: 0, -EIO, -ENOMEM. */
int turn_newest_messages(
	struct wfs_view *view, const json_t *state, json_t **ret_messages, size_t *ret_left_out);
