/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs (turns of agents, see turn.h), for readers outside of folding, such as the driver and the
 * tree. The documents are those of cells at the height of @view; turn.h has their members.
 *
 * A message is {content, role, tool_call_id?, tool_calls?[{arguments, id, name}]}, with arguments
 * as the text that came from the model. agents/ converts messages to the form that a model wants.
 * wfs_document_done() is in kernel/manifest/document.h. -EIO says that a cell is missing or
 * damaged. After a failure results that the caller owns are to be
 * ignored, and need not be freed. @error may be NULL.
 * Thread: any.
 */
#pragma once

#include "kernel/domain/turn/turn.h"
#include "kernel/manifest/document.h"
#include "kernel/read/view.h"

/** wfs_turn_state() - read the document of sys.turn of a run
 *  @ret_run: caller ends it with wfs_document_done(), also on failure. Return: 0, -ENOENT
 *  (not_found: no such run), -EIO, … */
int wfs_turn_state(struct wfs_view *view, const char *run_id, struct wfs_document_turn *ret_run,
	struct wfs_error *error);

/** wfs_turn_version() - read a version of a run's cell of sys.turn
 *  @ret_run: caller ends it with wfs_document_done(), also on failure. Return: 0, -ENOENT (the
 *  version is a deletion), -EIO, -ENOMEM. */
int wfs_turn_version(struct wfs_view *view, const struct wfs_version *version,
	struct wfs_document_turn *ret_run);

/** wfs_turn_setup() - read the document of sys.turn_setup of a run. @ret_setup: caller owns it.
 *  Return: 0, -EIO (also if the run does not exist), … */
int wfs_turn_setup(
	struct wfs_view *view, const char *run_id, json_t **ret_setup, struct wfs_error *error);

/** wfs_turn_call() - read the document of sys.tool_call of call @index (from 0) in turn @turn (from
 *  1) of a run. @ret_call: caller ends it with wfs_document_done(), also on failure
 *  Return: 0, -EIO (also if the call does not exist), … */
int wfs_turn_call(struct wfs_view *view, const char *run_id, int64_t turn, int64_t index,
	struct wfs_document_tool_call *ret_call, struct wfs_error *error);

/** wfs_turn_group() - append one group of a run's history to the array @messages: a message, and
 *  the messages with the results of its calls. @group: index, from 0, below the length of `groups`
 *  in the run's document (wfs_turn_state()). After a failure a part of the group may have
 *  been appended. Return: 0, -EIO (also if no such group exists), … */
int wfs_turn_group(struct wfs_view *view, const char *run_id, size_t group, json_t *messages,
	struct wfs_error *error);

/** wfs_turn_history() - read all messages of a run. @run: from wfs_turn_state()
 *  @ret_messages: an array, oldest first; caller owns it. Return: 0, -EIO, -ENOMEM. */
int wfs_turn_history(struct wfs_view *view, const struct wfs_document_turn *run,
	json_t **ret_messages, struct wfs_error *error);

/** wfs_turn_sent() - read only the messages of a run that the present request to the model has
 *  @run: from wfs_turn_state(). @ret_messages: an array, oldest first; caller owns it
 *  Return: 0, -EIO, -ENOMEM. */
int wfs_turn_sent(struct wfs_view *view, const struct wfs_document_turn *run, json_t **ret_messages,
	struct wfs_error *error);

/** wfs_turn_result() - read the result of an ended run
 *  @ret_result: {agent, error?, final_message, final_tool_result?, history,
 *  last_assistant_message?, ok, run_id, termination_reason, total_usage {completion_tokens,
 *  incomplete, prompt_tokens, total_tokens}, turn_count}; caller owns it. final_message: the last
 *  message of history, or an empty one of the assistant if history is empty;
 *  last_assistant_message: set if final_message is a tool's; final_tool_result: the member `result`
 *  of `final` (turn.h)
 *  Return: 0, -ENOENT (not_found: no such run), -EBUSY (busy: the run has not ended), … */
int wfs_turn_result(
	struct wfs_view *view, const char *run_id, json_t **ret_result, struct wfs_error *error);

/** wfs_turn_compose() - make the document of wfs_turn_result() from parts
 *  @run: document of sys.turn of an ended run; @history: its messages, borrowed
 *  Return: new reference, NULL without memory. */
json_t *wfs_turn_compose(const struct wfs_document_turn *run, json_t *history);
