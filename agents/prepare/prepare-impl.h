/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to agents/prepare/: a turn while it is put together, and reading as its agent.
 *
 * A *reflex* is Lua code of the agent that may give the turn's action in place of a model; a
 * *workflow* gives the agent states, each with a prompt and a rule for the next state (prepare.h).
 * Functions that return int return 0, or -errno with @error, unless their comment says otherwise.
 */
#pragma once

#include <jansson.h>

#include "agents/prepare/prepare.h"
#include "agents/prepare/private.h"
#include "kernel/base/buffer.h"
#include "kernel/base/error.h"

/* The artifact whose prompts are used when the agent names no others. */
#define PREPARE_LIBRARY "genesis_prompt_library"

/* Members of a configuration that name artifacts. */
#define PREPARE_PERSONALITY "personality_prompt_artifact_id"
#define PREPARE_WORKFLOW "workflow_artifact_id"
#define PREPARE_REFLEX "reflex_artifact_id"
#define PREPARE_WORKING_MEMORY "working_memory_artifact_id"
#define PREPARE_LONG_MEMORY "longterm_memory_artifact_id"

/* One turn while it is prepared. Plain value; JSON is owned unless a comment says otherwise. */
struct preparing {
	const struct wfs_session *session;
	const json_t *content; /* borrowed */
	const json_t *params;  /* borrowed */
	json_t *step;          /* borrowed */
	json_t *notes;
	json_t *variables;
	json_t *mind;
	json_t *read;  /* {id: artifact}: the artifacts that were read */
	json_t *place; /* the agent's cell of sys.workflow; NULL: it never had a state */
	json_t *workflow;
	json_t *messages;
	struct wfs_error reason;      /* why an artifact could not be read or used */
	struct agents_origin *origin; /* of the private texts that were read; borrowed */
};

/* --- prepare-read.c --- */

int prepare_no_memory(struct wfs_error *error);

/** prepare_note() - add a note to turn->notes. @stage: what an artifact was read for; @reference:
 *  to the artifact; @fallback: what is done instead of using it, which is logged; NULL: it is used;
 *  @format: the reason, printf style. Return: 0, or -ENOMEM with @error. */
int prepare_note(struct preparing *turn, const char *stage, const char *reference,
	const char *fallback, struct wfs_error *error, const char *format, ...)
	__attribute__((format(printf, 6, 7)));

/** prepare_not_quoted() - replace the message in @reason, because it may quote a private text
 *  Nothing is replaced if everyone may read every artifact that the turn has read so far, or if the
 *  failure has nothing to do with an artifact, see prepare_ends_all().
 *  @r: -errno of the failure; 0: nothing failed, and nothing is replaced
 *  Return: @r. */
int prepare_not_quoted(const struct preparing *turn, int r, struct wfs_error *reason);

/** prepare_act() - send an action as the agent, and wait for its answer
 *  @of: ids of the private artifacts that the arguments of an invocation were made from; []: hide
 *       the arguments from all but the agent; NULL: hide nothing
 *  @ret_data: `data` of the answer; caller owns it; the private artifacts to which it belongs are
 *             added to turn->origin
 *  Return: 0, or -errno with @error, also if the action is refused. */
int prepare_act(struct preparing *turn, const json_t *action, const json_t *of, json_t **ret_data,
	struct wfs_error *error);

/** prepare_ends_all() - does the failure @r, an -errno, to read an artifact have nothing to do with
 *  the artifact, such as a lack of memory? Then the turn does not begin. */
bool prepare_ends_all(int r);

/** prepare_missing() - add a note, with the reason in turn->reason, that the turn continues without
 *  an artifact that could not be read or used. @r: -errno of the failure; @stage, @reference,
 *  @fallback: as for prepare_note()
 *  Return: 0; -ENOMEM; or @r with @error, if the turn does not begin, see prepare_ends_all(). */
int prepare_missing(struct preparing *turn, int r, const char *stage, const char *reference,
	const char *fallback, struct wfs_error *error);

/** prepare_read_artifact() - read an artifact as the agent, which may have to pay for it; an
 *  artifact that the turn has read already is not read again. @ret_artifact: `artifact` in the
 *  answer to the action read_artifact; borrowed from turn->read. Return: 0, -ENOENT (no such
 *  artifact), -EACCES (the agent may not read it), or another -errno with which the action is
 *  refused; with @error. */
int prepare_read_artifact(struct preparing *turn, const char *id, const json_t **ret_artifact,
	struct wfs_error *error);

/** prepare_read_reference() - read the artifact of a reference, `ID` or `ID#NAME`; if no artifact
 *  has this ID, the one whose id is the whole reference.
 *  @ret_artifact: borrowed from turn->read; @ret_fragment: NAME, borrowed from @reference; NULL:
 *  the reference is to the whole artifact */
int prepare_read_reference(struct preparing *turn, const char *reference,
	const json_t **ret_artifact, const char **ret_fragment, struct wfs_error *error);

/** prepare_read_prompt() - read the prompt that a reference, `ID` or `ID#NAME`, leads to.
 *  @ret_prompt: as wfs_mind_prompt_read() (kernel/mind/prompt.h) gives it; caller owns it */
int prepare_read_prompt(struct preparing *turn, const char *reference, json_t **ret_prompt,
	struct wfs_error *error);

/** prepare_reference_of() - get the reference, `ID` or `ID#NAME`, in a member of @object; borrowed.
 *  NULL: the member is absent or empty. */
const char *prepare_reference_of(const json_t *object, const char *member);

/** prepare_set_variable() - set a variable that prompts, reflex and conditions of the turn can use.
 *  @value: taken, also on failure; NULL: memory for it was lacking. Return: 0, or -ENOMEM with
 *  @error. */
int prepare_set_variable(
	struct preparing *turn, const char *name, json_t *value, struct wfs_error *error);

/* --- prepare-state.c: what it is about --- */

/** prepare_reflex() - run the agent's reflex, if it has one; if that gives an action, turn->step
 *  gets it as `reflex`. Return: 0 (also without a reflex or an action, and if the reflex cannot be
 *  used, which a note says), or -errno with @error. */
int prepare_reflex(struct preparing *turn, struct wfs_error *error);

/** prepare_workflow() - read the agent's workflow, if it has one, into turn->workflow, and the
 *  agent's state and the names of all states into turn->mind and the variables current_state and
 *  available_states. Without a workflow, or if it cannot be used, which a note says, turn->workflow
 *  stays NULL, and current_state becomes "none". */
int prepare_workflow(struct preparing *turn, struct wfs_error *error);

/** prepare_transition() - put into turn->mind the next state of turn->workflow, which must not be
 *  NULL, or the conditions or the prompt by which the turn will choose it. */
int prepare_transition(struct preparing *turn, struct wfs_error *error);

/* --- prepare-say.c: its messages --- */

int prepare_working_memory(struct preparing *turn, struct wfs_error *error);

/** prepare_messages() - make `messages` of turn->step, for the model, from personality, memories
 *  and the caller's `message`; or, without one, the prompt of the workflow's state or of
 *  PREPARE_LIBRARY. If that prompt cannot be used, turn->step gets `failure` instead. */
int prepare_messages(struct preparing *turn, struct wfs_error *error);
