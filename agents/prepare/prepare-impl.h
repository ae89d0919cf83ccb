/* SPDX-License-Identifier: Apache-2.0 */
/* Private to agents/prepare/: a turn while it is put together, and reading as its agent. */
#pragma once

#include "agents/prepare/prepare.h"
#include "agents/prepare/private.h"

/* Has the prompts that are used when nothing else is said. */
#define PREPARE_LIBRARY "genesis_prompt_library"

/* Members of a configuration that refer to something. */
#define PREPARE_PERSONALITY "personality_prompt_artifact_id"
#define PREPARE_WORKFLOW "workflow_artifact_id"
#define PREPARE_REFLEX "reflex_artifact_id"
#define PREPARE_WORKING_MEMORY "working_memory_artifact_id"
#define PREPARE_LONG_MEMORY "longterm_memory_artifact_id"

/* One turn. Plain value; JSON is owned unless it says otherwise. */
struct preparing {
	const struct wfs_session *session;
	const json_t *content; /* borrowed */
	const json_t *params;  /* borrowed */
	json_t *step;          /* borrowed */
	json_t *notes;
	json_t *variables;
	json_t *mind;
	json_t *read;  /* {artifact id: what reading it gave} */
	json_t *place; /* sys.workflow's cell of the agent; NULL: it has been in no state */
	json_t *workflow;
	json_t *messages;
	struct agents_origin *origin; /* of what it is put together with; borrowed */
};

/* --- prepare-read.c --- */

int prepare_no_memory(struct wfs_error *error);

/** prepare_note() - @fallback: what is done instead; NULL: nothing has to be */
int prepare_note(struct preparing *turn, const char *stage, const char *reference,
	const char *fallback, struct wfs_error *error, const char *format, ...)
	__attribute__((format(printf, 6, 7)));

/**
 * prepare_not_quoted() - replace the reason of a failure, which may quote a private text, unless all of what was read so
 * far is open
 * @r: of the failure
 * Return: @r.
 */
int prepare_not_quoted(const struct preparing *turn, int r, struct wfs_error *reason);

/**
 * prepare_act() - take an action as the agent, and wait; its answer becomes part of the turn
 * @of: ids of the private artifacts that the arguments of an invocation are made of; [] hides them
 *      for the agent alone, NULL not at all
 * @ret_data: what it gives; caller owns it
 */
int prepare_act(struct preparing *turn, const json_t *action, const json_t *of, json_t **ret_data,
	struct wfs_error *error);

/** prepare_ends_all() - is it no fault of what was referred to, so that the turn is not begun? */
bool prepare_ends_all(int r);

/** prepare_read_artifact() - once a turn: it may cost. @ret_artifact: borrowed from turn->read */
int prepare_read_artifact(struct preparing *turn, const char *id, const json_t **ret_artifact,
	struct wfs_error *error);

/** prepare_read_reference() - an artifact, or a name in one. @ret_fragment: NULL: all of it; borrows
 *  @reference */
int prepare_read_reference(struct preparing *turn, const char *reference,
	const json_t **ret_artifact, const char **ret_fragment, struct wfs_error *error);

/** prepare_content_of() - of an artifact that was read. */
struct wfs_bytes prepare_content_of(const json_t *artifact);

/** prepare_read_prompt() - @ret_prompt: as wfs_mind_prompt_read gives it; caller owns it */
int prepare_read_prompt(struct preparing *turn, const char *reference, json_t **ret_prompt,
	struct wfs_error *error);

/** prepare_reference_of() - NULL: there is none, or it is empty. */
const char *prepare_reference_of(const json_t *object, const char *member);

/** prepare_set_variable() - @value: taken; NULL: there was no memory for it */
int prepare_set_variable(
	struct preparing *turn, const char *name, json_t *value, struct wfs_error *error);

/* --- prepare-state.c: what it is about --- */

/** prepare_reflex() - does one act? Then the step has `reflex`. */
int prepare_reflex(struct preparing *turn, struct wfs_error *error);

/** prepare_workflow() - its workflow, if there is one, and the state that it is in. */
int prepare_workflow(struct preparing *turn, struct wfs_error *error);

/** prepare_transition() - what the state that comes next is found by. */
int prepare_transition(struct preparing *turn, struct wfs_error *error);

/* --- prepare-say.c: what the model is told --- */

int prepare_working_memory(struct preparing *turn, struct wfs_error *error);

/** prepare_messages() - personality, memories, the prompt of the state; without that the step has `failure`. */
int prepare_messages(struct preparing *turn, struct wfs_error *error);
