/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts the deltas of a streamed completion together.
 *
 * Servers identify tool calls by index, id, or neither. A delta belongs to the call with its id;
 * otherwise to the last call with its index; otherwise, without an index, to the last call. A new
 * id, or a new index with a name, begins a call. Nothing is ever added to a call that has another
 * id. A stream without a finish_reason is not a completion.
 */
#pragma once

#include <stdbool.h>

#include "agents/model/completion.h"

struct wfs_stream;

/** wfs_stream_new() - make a reader for one streamed completion; caller frees it with
 *  wfs_stream_free(). Return: 0, or -ENOMEM. */
int wfs_stream_new(struct wfs_stream **ret_stream);
void wfs_stream_free(struct wfs_stream *stream);
WFS_DEFINE_AUTO(stream, struct wfs_stream, wfs_stream_free)
#define WFS_AUTO_STREAM WFS_CLEANUP(wfs_auto_stream)

/** wfs_stream_event() - add one event of the stream
 *  @data: of the event: JSON, or `[DONE]`, after which events are ignored
 *  Return: 0, -EBADMSG (@failure says why the stream ends here: an error of the server, not JSON,
 *  too many calls), -ENOMEM. */
int wfs_stream_event(
	struct wfs_stream *stream, struct wfs_bytes data, struct wfs_model_failure *failure);

/** wfs_stream_text() - get the completion's content so far, whole characters; borrowed until the
 *  next wfs_stream_event(). */
struct wfs_bytes wfs_stream_text(const struct wfs_stream *stream);

/** wfs_stream_ended() - has `[DONE]` come, after which the server sends nothing? */
bool wfs_stream_ended(const struct wfs_stream *stream);

/** wfs_stream_complete() - has a finish_reason come, so that the answer is whole? */
bool wfs_stream_complete(const struct wfs_stream *stream);

/** wfs_stream_finish() - get the completion; caller owns it
 *  Return: 0, -EBADMSG (no finish_reason has come: @failure says so), -ENOMEM. */
int wfs_stream_finish(const struct wfs_stream *stream, json_t **ret_completion,
	struct wfs_model_failure *failure);
