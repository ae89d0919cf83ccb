/* SPDX-License-Identifier: Apache-2.0 */
/* Private to agents/intent/: the functions of the kinds of intents; see struct work_kind. */
#pragma once

#include "agents/engine/work.h"

/* --- generate.c: a model is asked --- */

void generate_begin(struct work *work);
void generate_cancel(struct work *work);
int ask_run(struct work *work, struct work_question *question, struct wfs_error *error);
int take_run(struct work *work, json_t *completion, json_t **ret_payload, struct wfs_error *error);

/* --- prompt.c: what models are asked for plans --- */

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

/** advance_log() - log each thing that was missing for the answer. */
void advance_log(const struct work *work, const char *status, const json_t *payload);

/* --- call.c: a tool is called for a run --- */

void call_begin(struct work *work);
void call_take_output(struct work *work);

/** call_read() - have a helper read. @arguments: borrowed. Return: 0, or -errno with @error. */
int call_read(struct work *work, const json_t *tool, const json_t *arguments, int64_t limit_ms,
	struct wfs_error *error);

/* --- call-drive.c: tools that have others take turns --- */

/** drive_begin() - have the agents take their turns; their end answers @work. @arguments:
 * borrowed. @left_ms: time left for the calling turn. Return: 0, or -errno with @error. */
int drive_begin(struct work *work, const char *tool_name, const json_t *arguments, int64_t left_ms,
	struct wfs_error *error);

/** drive_leave() - end what was begun for the call, unless the world is being closed. */
void drive_leave(struct work *work);

/* --- step.c: a tool is called for a step of a plan --- */

void step_begin(struct work *work);
void step_take_output(struct work *work);

/** step_outcome() - make the outcome of a failed call. Texts that it hides are added to the
 * work's texts. */
json_t *step_outcome(struct work *work, const struct wfs_error *error);

/**
 * step_fill() - @value of a step with the results that its placeholders name
 * @origin: gets the artifacts that private results belong to
 * Return: 0, -EINVAL (a placeholder names nothing), …
 */
int step_fill(const struct work *work, struct wfs_view *view, const json_t *value,
	struct agents_origin *origin, json_t **ret_value, struct wfs_error *error);

/* --- normalize.c: a plan is cut into steps --- */

void normalize_begin(struct work *work);
bool normalize_next(struct work *work);
void normalize_done(struct work *work);
