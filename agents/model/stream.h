/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A streamed completion: deltas, put together.
 *
 * Tool calls are told apart by index or by id, whatever the server sends of them: a delta belongs to
 * the call that has its id; else to the last call with its index; else, without an index, to the last
 * call. A new id, or a new index with a name, opens a call. Nothing is ever added to a call that has
 * another id. A stream that ends without a finish_reason is no completion.
 */
#pragma once

#include <stdbool.h>

#include "agents/model/completion.h"

struct wfs_stream;

/** wfs_stream_new() - Owner: caller, wfs_stream_free(). Return: 0, or -ENOMEM. */
int wfs_stream_new(struct wfs_stream **ret_stream);
void wfs_stream_free(struct wfs_stream *stream);
WFS_DEFINE_AUTO(stream, struct wfs_stream, wfs_stream_free)
#define WFS_AUTO_STREAM WFS_CLEANUP(wfs_auto_stream)

/**
 * wfs_stream_event() - take the data of one event
 * Return: 0, -EBADMSG (@failure says why this is the end: an error of the server, no JSON, too many
 * calls), -ENOMEM.
 */
int wfs_stream_event(
	struct wfs_stream *stream, struct wfs_bytes data, struct wfs_model_failure *failure);

/** wfs_stream_text() - content so far, whole characters; valid until the next event. */
struct wfs_bytes wfs_stream_text(const struct wfs_stream *stream);

/** wfs_stream_ended() - `[DONE]` came: the server has nothing more to say. */
bool wfs_stream_ended(const struct wfs_stream *stream);

/** wfs_stream_complete() - a finish_reason came: the answer is whole, wherever the stream ends. */
bool wfs_stream_complete(const struct wfs_stream *stream);

/**
 * wfs_stream_finish() - the completion
 * Return: 0, -EBADMSG (it is not complete), -ENOMEM.
 */
int wfs_stream_finish(const struct wfs_stream *stream, json_t **ret_completion,
	struct wfs_model_failure *failure);
