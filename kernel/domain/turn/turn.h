/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns of agents. Code and comments here call a turn a *run*, and each request to the model
 * within it a *turn*.
 *
 * A run is a state machine: its state is cells, and its steps are records. So no thread waits for
 * it, and a crash after any record neither loses nor repeats anything that was answered.
 *
 * A run begins with the action `step`, which has everything that the run depends on. What the run
 * wants from outside is an intent: an answer of a model (`llm.generate`), or a tool call
 * (`tool.call`). The driver finds intents as cells of sys.intent, does what they ask for, and
 * answers each once: by a receipt or, if the tool is an action, by the action itself. Such an
 * action names the intent, so that one record has its changes and the answer. Folding the answer
 * gives what comes next.
 *
 *   sys.turn, key run id: {advanced?, agent, asked_by, below?, called_by?, calls {count, done,
 *       errors, next}, depth?, ending?, error?, event_seq, final? {call, result}, from, groups[],
 *       last_action?, last_assistant?, max_turns, model,
 *       open[{asked?, began?, call?, intent_id, waits?}], pins[], reason?, reflex?, raw?, retried,
 *       run_id, started_ns, ended_ns?, status, tool_calls?,
 *       top?, turn, usage{…}, usage_incomplete}; status: running, ended; asked_by: principal that
 *       sent the step; groups: how many messages each group (turn-impl.h) has; pins: groups that
 *       each request to the model has; from: first of the others that it has; final: what the tool
 *       of kind `result` was given; reflex: its first call is the agent's reflex; ending: why the
 *       run ends, while a model chooses the next state; advanced: it has chosen
 *   sys.turn_setup, key run id: the `setup` of its step
 *   sys.message, key run id.n: {content, role, results[]?, tool_calls[]?} of the history that the
 *       run began with; or, of a model's answer with calls, {content, raw_content?, role,
 *       tool_call_count, turn}: raw_content is the content as it came, if calls were found in it
 *   sys.tool_call, key run id.turn.n: {arguments, duration_ms?, id, is_error?, name, output?,
 *       output_size?, problem?, status}; status: waiting (also while it runs), asked, approved,
 *       done; problem: why the call is not made
 *
 *   sys.workflow, key agent's id: {current_state, entered_at_seq, history[{reason, seq, state}]}
 *       of an agent that has had a workflow
 *   sys.agent, key agent's id: {failure_count, last_action? {result, success, type}, runs,
 *       same_state_for} of an agent whose setup has `mind`
 *
 * A setup has {asked_model?, mind?, model, offered, settings, tools}. `model` is the name of an
 * entry in host.json, and `asked_model` what that entry called the model when the run was made.
 * `mind` is {entered?, mode?, next?, state?, states?, transition_reference?, …} and says how the
 * run's workflow goes on (mind.c); its other members are for the driver.
 *
 * The intents of a run (kernel/fold/intent.h) have {call?, run_id, turn}, and `began` if the call
 * is of the tool `step` or `chat` and another run or a chat has begun for it. Such a run has
 * `called_by`, the intent; `depth`, the number of runs above it; and `top`, the topmost of these. A
 * run that no tool call has begun has `below` instead: how many open calls have begun a run or a
 * chat, counted over its own calls and those of all runs that name it as `top`.
 *
 * A run reports what it does by records of sys/KernelStart@1 and so on (events.h).
 * Source: docs/design.md §11.
 */
#pragma once

#include "kernel/fold/fold.h"
#include "kernel/mind/turn-bounds.h"
#include "kernel/value/output.h"

extern const struct wfs_domain wfs_turn_domain;
