/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs as files: what is in `/turns/<id>/`.
 *
 * All but `events.jsonl` are made from one version of the run's cell, and cells of its messages and
 * calls as they were then; `events.jsonl` is made from records, up to one of them. So nothing of a
 * file changes. A history that is longer than WFS_TURN_FILE_MAX is not shown whole: the oldest messages
 * are left out, and a mark says so.
 * Source: worldfs-tree(5).
 * Thread: any.
 */
#pragma once

#include "kernel/domain/turn/turn-read.h"

struct wfs_range;

enum {
	WFS_TURN_FILE_MAX =
		4 << 20, /* bytes of contents and arguments of messages that are shown */
};

/*
 * Each appends a file. @view: of the height of the run's version; @state: its document.
 * Return: 0, -EIO (a cell is missing), -ENOMEM.
 */

/** wfs_turn_write_status() - a word: `running`, `waiting` (for approvals) or why it ended; then what of
 *  its turns it is in, the error if there is one, and the calls that wait. */
int wfs_turn_write_status(struct wfs_view *view, const json_t *state, struct wfs_buffer *buffer);

/** wfs_turn_write_messages() - an array of its messages. */
int wfs_turn_write_messages(struct wfs_view *view, const json_t *state, struct wfs_buffer *buffer);

/** wfs_turn_write_transcript() - the same, to be read. */
int wfs_turn_write_transcript(
	struct wfs_view *view, const json_t *state, struct wfs_buffer *buffer);

/** wfs_turn_write_result() - as wfs_turn_result. Return: the same, or -ENOENT: it has not ended. */
int wfs_turn_write_result(struct wfs_view *view, const json_t *state, struct wfs_buffer *buffer);

/** wfs_turn_summary() - {agent, asked_by, ended_ns?, max_turns, model, started_ns, status, tool_calls,
 *  total_tokens, turn, turn_id}; status: the word above. NULL without memory; caller owns it. */
json_t *wfs_turn_summary(const json_t *state);

/* --- events --- */

/** wfs_turn_last_event() - the record of the newest event in the view. Return: 0, -ENOENT: there is
 *  none, … */
int wfs_turn_last_event(struct wfs_view *view, struct wfs_bytes run_id, uint64_t *ret_seq);

/** wfs_turn_event_run() - append the id of the run whose event a record is. Return: 0, -ENOENT, … */
int wfs_turn_event_run(
	struct wfs_view *view, uint64_t seq, struct wfs_buffer *run_id, int64_t *ret_time_ns);

/**
 * wfs_turn_events() - append a part of the events of a run up to one of them, whose file that is
 * Only events within the part are read.
 * @ret_size_bytes: of the whole file
 */
int wfs_turn_events(struct wfs_view *view, struct wfs_bytes run_id, uint64_t last,
	struct wfs_range range, struct wfs_buffer *buffer, uint64_t *ret_size_bytes);
