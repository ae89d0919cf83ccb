/* SPDX-License-Identifier: Apache-2.0 */
/* Private to kernel/domain/turn/: the messages of a run that its files show. */
#pragma once

#include "kernel/domain/turn/turn-file.h"

/** turn_newest_messages() - read the newest messages of a run that have at most WFS_TURN_FILE_MAX
 *  bytes, in whole groups (a message and the results of its calls), but at least one group
 *  @state: document of sys.turn. @ret_messages: an array, oldest first; caller owns it
 *  @ret_left_out: how many older messages were left out. Return: 0, -EIO, -ENOMEM. */
int turn_newest_messages(
	struct wfs_view *view, const json_t *state, json_t **ret_messages, size_t *ret_left_out);
