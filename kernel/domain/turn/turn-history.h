/* SPDX-License-Identifier: Apache-2.0 */
/* Private to kernel/domain/turn/: the messages of a run that its files show. */
#pragma once

#include "kernel/domain/turn/turn-file.h"

/** turn_file_read() - read the document of sys.turn that a file is made from
 *  @json: borrowed. @ret_run: caller ends it with wfs_document_done(), also on failure. Return: 0,
 *  -EIO (the document is damaged), -ENOMEM. */
static inline int turn_file_read(const json_t *json, struct wfs_document_turn *ret_run)
{
	return wfs_document_read_turn(json_incref((json_t *)json), ret_run, NULL);
}

/** turn_newest_messages() - read the newest messages of a run that have at most WFS_TURN_FILE_MAX
 *  bytes, in whole groups (a message and the results of its calls), but at least one group
 *  The bytes of contents and arguments count. @run: document of sys.turn
 *  @ret_messages: an array, oldest first; caller owns it
 *  @ret_left_out: how many older messages were left out
 *  Return: 0, -EIO (a cell is missing or damaged), -ENOMEM. */
int turn_newest_messages(struct wfs_view *view, const struct wfs_document_turn *run,
	json_t **ret_messages, size_t *ret_left_out);
