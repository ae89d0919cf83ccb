/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The view of a history that is sent: not longer than a limit, and such that servers take it.
 *
 * Pinned are the leading system and developer messages and the latest user message. Of the rest an
 * assistant message with the results of its calls is one group, any other message is one. The
 * newest groups that fit are sent, in their order; a group is sent whole or not at all, the newest
 * always. A result without its call is left out, a call without its result gets one that says so:
 * every view that is sent is paired, whatever the history is. The history is never changed.
 *
 * Only what is sent is read, and one group more: the cost of a turn does not grow with the history.
 * Source: spec 5, "Rules", History; research, section 8.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/base/error.h"

#define WFS_VIEW_NO_USER SIZE_MAX

/* A history, read message by message. Plain value. */
struct wfs_view_source {
	size_t count;      /* messages */
	size_t user_index; /* of the latest user message, or WFS_VIEW_NO_USER */

	/** read() - one message in the neutral form; caller owns @ret_message. Return: 0, or what
	 *  wfs_view_read() is to return. */
	int (*read)(void *context, size_t index, json_t **ret_message, struct wfs_error *error);
	void *context; /* borrowed */
};

/* What became of it. Plain value. */
struct wfs_view_report {
	size_t dropped_count; /* groups left out because of @drop_count */
	bool too_long;        /* more messages than the limit: what is always sent is longer */
};

/** wfs_view_check_max() - is it a limit? 0 is none; with 1 there would be no room for an answer.
 *  Return: 0, or -EINVAL. */
int wfs_view_check_max(int64_t max, struct wfs_error *error);

/**
 * wfs_view_read() - the messages to send
 * @max_count: messages; 0: no limit
 * @drop_count: groups to leave out besides, oldest first: after a server said that the context is
 *              too long
 * Return: 0, -ENOMEM, or what @source gave; caller owns @ret_messages.
 */
int wfs_view_read(const struct wfs_view_source *source, size_t max_count, size_t drop_count,
	json_t **ret_messages, struct wfs_view_report *ret_report, struct wfs_error *error);

/** wfs_view_source_array() - the source that an array of messages is. @messages: borrowed. */
struct wfs_view_source wfs_view_source_array(json_t *messages);
