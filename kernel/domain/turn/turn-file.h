/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs (turns of agents, see turn.h) as files: the contents of `/turns/<id>/`.
 *
 * `events.jsonl` is made from records, up to one of them. All other files are made from one
 * version of the run's cell, and cells of its messages and calls at that height. So a version of a
 * file never changes. If a history has more than WFS_TURN_FILE_MAX bytes, the oldest messages are
 * left out, and a mark says so.
 * wfs_turn_state() and wfs_turn_result() are in turn-read.h. -EIO says that a cell or record is
 * missing or damaged.
 * Source: worldfs-tree(5).
 * Thread: any.
 */
#pragma once

#include "kernel/domain/turn/turn-read.h"

struct wfs_range;

enum {
	WFS_TURN_FILE_MAX = 4 << 20, /* bytes of contents and arguments in the shown messages */
};

/*
 * The next four functions each append a file to @buffer, which after a failure may have a part of
 * it. @view: at the height of a version of the run's cell; @state: the document of this version,
 * borrowed during the call.
 */

/** wfs_turn_write_status() - append the file `status` to @buffer: a word, the number of the present
 *  turn and max_turns, an error, and the calls that wait for an approval. The word is `running`,
 *  `waiting` (for an approval, a time or an event) or the reason why the run has ended.
 *  @state: document of sys.turn. Return: 0, -EIO, -ENOMEM. */
int wfs_turn_write_status(struct wfs_view *view, const json_t *state, struct wfs_buffer *buffer);

/** wfs_turn_write_messages() - append the run's messages to @buffer as a JSON array.
 *  @state: document of sys.turn. Return: 0, -EIO, -ENOMEM. */
int wfs_turn_write_messages(struct wfs_view *view, const json_t *state, struct wfs_buffer *buffer);

/** wfs_turn_write_transcript() - append the run's messages to @buffer as Markdown.
 *  @state: document of sys.turn. Return: 0, -EIO, -ENOMEM. */
int wfs_turn_write_transcript(
	struct wfs_view *view, const json_t *state, struct wfs_buffer *buffer);

/** wfs_turn_write_result() - append the document of wfs_turn_result() to @buffer, its history
 *  bounded by WFS_TURN_FILE_MAX. @state: document of sys.turn. Return: 0, -ENOENT (the run has not
 *  ended), -EIO, -ENOMEM. */
int wfs_turn_write_result(struct wfs_view *view, const json_t *state, struct wfs_buffer *buffer);

/** wfs_turn_summary() - make {agent, asked_by, ended_ns?, max_turns, model, started_ns, status,
 *  tool_calls, total_tokens, turn, turn_id}; status: the word of wfs_turn_write_status(); turn: the
 *  number of the newest turn, from 1; 0: none has begun. @run: from wfs_turn_state(); borrowed
 *  Return: new reference; NULL without memory. */
json_t *wfs_turn_summary(const struct wfs_document_turn *run);

/* --- events --- */

/** wfs_turn_first_event() - find the oldest event (events.h) of a run in the view, which lacks
 *  records that a cut has dropped. @ret_seq: of the event's record. Return: 0, -ENOENT (the view
 *  has no event of the run), … */
int wfs_turn_first_event(struct wfs_view *view, struct wfs_bytes run_id, uint64_t *ret_seq);

/** wfs_turn_last_event() - find the newest event of a run in the view. @ret_seq, Return: as for
 *  wfs_turn_first_event(). */
int wfs_turn_last_event(struct wfs_view *view, struct wfs_bytes run_id, uint64_t *ret_seq);

/** wfs_turn_event_run() - append to the buffer @run_id the id of the run that the event record @seq
 *  is about. @ret_time_ns: time of the record, since 1970. Return: 0, -ENOENT (the view does not
 *  have the record, or it is not an event of a run), … */
int wfs_turn_event_run(
	struct wfs_view *view, uint64_t seq, struct wfs_buffer *run_id, int64_t *ret_time_ns);

/** wfs_turn_events() - append to @buffer the part @range of a run's file `events.jsonl`, as it was
 *  when event record @last gave its last line
 *  Only the events in @range are read. @range: in bytes; what is beyond the file's end is left out
 *  @ret_size_bytes: of the whole file. Return: 0, or -errno. */
int wfs_turn_events(struct wfs_view *view, struct wfs_bytes run_id, uint64_t last,
	struct wfs_range range, struct wfs_buffer *buffer, uint64_t *ret_size_bytes);
