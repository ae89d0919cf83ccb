/* SPDX-License-Identifier: Apache-2.0 */
/* Private to agents/intent/: the functions of the kinds of intents; see struct work_kind
 * (agents/engine/work.h). */
#pragma once

#include "agents/engine/work.h"

/* --- generate.c: a model is asked --- */

void generate_begin(struct work *work);
void generate_cancel(struct work *work);
int ask_run(struct work *work, struct work_question *question, struct wfs_error *error);
int take_run(struct work *work, json_t *completion, json_t **ret_payload, struct wfs_error *error);

/* --- prompt.c: what models are asked for plans --- */

void chat_begin(struct work *work);
int ask_chat(struct work *work, struct work_question *question, struct wfs_error *error);
int take_chat(struct work *work, json_t *completion, json_t **ret_payload, struct wfs_error *error);
int ask_step(struct work *work, struct work_question *question, struct wfs_error *error);
int take_step(struct work *work, json_t *completion, json_t **ret_payload, struct wfs_error *error);
int ask_answer(struct work *work, struct work_question *question, struct wfs_error *error);
int take_answer(
	struct work *work, json_t *completion, json_t **ret_payload, struct wfs_error *error);

/* --- advance.c: a workflow goes to its next state --- */

void advance_begin(struct work *work);
int ask_state(struct work *work, struct work_question *question, struct wfs_error *error);
int take_state(
	struct work *work, json_t *completion, json_t **ret_payload, struct wfs_error *error);

/** advance_log() - log which artifacts could not be used to choose the next state of a workflow,
 *  and that the agent stays in its state if none was chosen. @status, @payload: of the receipt */
void advance_log(const struct work *work, const char *status, const json_t *payload);

/* --- call.c: a tool is called for a turn --- */

void call_begin(struct work *work);
void call_cancel(struct work *work);
void call_take_output(struct work *work);

/** call_answer() - answer a tool call with @output, which wfs_turn_cut() (kernel/value/output.h)
 *  shortens, and which is hidden if the tool has read private texts. @session: the session that the
 *  tool read with, which has noted these texts (caps/session-text.h); @output: changed;
 *  @duration_ms: of the call, for the receipt */
void call_answer(struct work *work, const struct wfs_session *session, struct wfs_buffer *output,
	int64_t duration_ms);

/** call_read() - on a thread of libuv, run a tool that only reads; afterwards `take_output` of the
 *  work's kind is called, with the output in work->calling.output. If the tool fails, work_fail()
 *  is called instead. @tool: expanded (agents/prepare/tool.h), borrowed during the call;
 *  @arguments: copied; @limit_ms: after which the tool call fails; INT64_MAX: never
 *  Return: 0, or -errno with @error: nothing was begun, and the caller ends the work. */
int call_read(struct work *work, const json_t *tool, const json_t *arguments, int64_t limit_ms,
	struct wfs_error *error);

/* --- call-drive.c: tools that have others take turns --- */

/** drive_begin() - begin the turns or the chat that a tool call asks for; @work is answered when
 *  these end
 *  If the call needs an approval first, nothing is begun, and @work waits for it, see
 *  work_wait_for_approval() (agents/engine/work.h).
 *  @arguments: of the call, copied; @left_ms: time left for the turn that calls, after which the
 *  call fails; INT64_MAX: no limit
 *  Return: 0, or -errno with @error: nothing was begun, and the caller ends the work. */
int drive_begin(struct work *work, const char *tool_name, const json_t *arguments, int64_t left_ms,
	struct wfs_error *error);

/** drive_leave() - cancel the turns or the chat that drive_begin() began for @work; but not if the
 *  world is being closed, because they continue when it is opened again. */
void drive_leave(struct work *work);

/* --- outside-ask.c: a tool call that calls an outside tool --- */

/** ask_outside() - have a tool call call an outside tool, and wait for the answer; a failure ends
 *  the work
 *  @tool: of the kind `outside` (agents/prepare/tool.h); @arguments: a reference is kept
 *  @stored: the call as its turn keeps it, with stand-ins for private texts; NULL:
 *  work->calling.origin has the artifacts of these texts already; @limit_ms: after which the call
 *  is cancelled; INT64_MAX: never */
void ask_outside(struct work *work, const json_t *tool, json_t *arguments, const json_t *stored,
	int64_t limit_ms);
bool ask_outside_next(struct work *work, const json_t *answer);

/** ask_outside_list() - have the server of a tool list its tools, because the tool was not found;
 *  then `begin` of the work's kind is called again. A work does this once.
 *  @name: the tool's full name; NULL: have every server list its tools
 *  Return: false: nothing is waited for: the work has done this before, the server has listed its
 *  tools already, the principal may not call the tool, or host.json does not name the server. */
bool ask_outside_list(struct work *work, const char *name);
void ask_outside_done(struct work *work);

/** ask_outside_leave() - cancel the call that ask_outside() began for @work; but not if the world
 *  is being closed. */
void ask_outside_leave(struct work *work);

/* --- outside-call.c: the call of an outside tool --- */

void call_outside_begin(struct work *work);
void call_outside_cancel(struct work *work);
void call_outside_give_up(struct work *work, bool late);
void call_outside_recorded(struct work *work);
void call_outside_done(struct work *work);

/* --- step.c: a tool is called for a step of a plan --- */

void step_begin(struct work *work);
void step_take_output(struct work *work);

/** step_outcome() - make the outcome (agents/prepare/router.h) of a step whose call failed with
 *  @error; private texts in it are replaced by stand-ins and added to work->texts.
 *  Return: new reference, or NULL without memory. */
json_t *step_outcome(struct work *work, const struct wfs_error *error);

/** step_fill() - replace the placeholders in a step's arguments or prompt by results of other
 *  steps, in which private texts are revealed if the principal of work->session may read them
 *  @value: the arguments or the prompt; not changed
 *  @origin: gets the artifacts to which private results belong
 *  @ret_value: caller owns it
 *  Return: 0, -EINVAL (invalid_argument: a placeholder names no step, or one without a result), or
 *  another -errno of wfs_placeholder_fill() (agents/plan/placeholder.h) or of the store; with
 *  @error. */
int step_fill(const struct work *work, struct wfs_view *view, const json_t *value,
	struct agents_origin *origin, json_t **ret_value, struct wfs_error *error);

/* --- normalize.c: a plan is cut into steps --- */

void normalize_begin(struct work *work);
bool normalize_next(struct work *work, const json_t *answer);
void normalize_done(struct work *work);
