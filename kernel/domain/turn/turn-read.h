/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs, for those who look: drivers of the world, and people.
 *
 * A message is {content, role, tool_call_id?, tool_calls?[{arguments, id, name}]}, with arguments as the
 * text that came; how models want it is the business of agents/.
 * Thread: any.
 */
#pragma once

#include "kernel/domain/turn/turn.h"
#include "kernel/read/view.h"

/** wfs_turn_state() - of sys.turn; caller owns it. Return: 0, -ENOENT (not_found), … */
int wfs_turn_state(
	struct wfs_view *view, const char *run_id, json_t **ret_state, struct wfs_error *error);

/** wfs_turn_setup() - of sys.turn_setup; caller owns it. */
int wfs_turn_setup(
	struct wfs_view *view, const char *run_id, json_t **ret_setup, struct wfs_error *error);

/** wfs_turn_call() - of sys.tool_call; caller owns it. */
int wfs_turn_call(struct wfs_view *view, const char *run_id, int64_t turn, int64_t index,
	json_t **ret_call, struct wfs_error *error);

/** wfs_turn_group() - append a group of messages to an array: one, and those that answer its calls. */
int wfs_turn_group(struct wfs_view *view, const char *run_id, size_t group, json_t *messages,
	struct wfs_error *error);

/** wfs_turn_history() - all messages of a run, an array; caller owns it. @state: see above */
int wfs_turn_history(
	struct wfs_view *view, const json_t *state, json_t **ret_messages, struct wfs_error *error);

/** wfs_turn_sent() - the same of those that its model is sent in this turn; nothing else is read. */
int wfs_turn_sent(
	struct wfs_view *view, const json_t *state, json_t **ret_messages, struct wfs_error *error);

/**
 * wfs_turn_result() - what a run gave
 * @ret_result: {agent, error?, final_message, final_tool_result?, history, last_assistant_message?, ok,
 *              run_id, termination_reason, total_usage {completion_tokens, incomplete, prompt_tokens,
 *              total_tokens}, turn_count}; caller owns it
 * Return: 0, -ENOENT (not_found), -EBUSY (it has not ended), …
 */
int wfs_turn_result(
	struct wfs_view *view, const char *run_id, json_t **ret_result, struct wfs_error *error);

/** wfs_turn_compose() - the same of a run that has ended, with this history. NULL without memory. */
json_t *wfs_turn_compose(const json_t *state, json_t *history);
