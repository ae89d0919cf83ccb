/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans: steps that depend on one another, made by a model, and the chats that ask for them.
 *
 * A plan is a state machine over records, like the turn of an agent (kernel/domain/turn/): no
 * thread waits for it, each commit is a checkpoint, and every start continues what was open. A
 * chat asks a model for a plan (`llm.generate`). The model's text is kept as it came; the driver
 * cuts it into steps (`plan.normalize`), and gives these in parts. Then steps are run, a batch at
 * a time: the first steps whose dependencies are done, in plan order, several at once. After the
 * last step a model is asked for the answer.
 *
 *   sys.chat, key chat: {created_ns, messages, principal, session_id}; a chat is a session of one
 *       principal, with the key `principal+session_id`
 *   sys.chat_message, key chat.n: {content, plan_id?, role}; a question also has {batch_size,
 *       blob?, error?, max_concurrency, model, open?, reply?, rerun?, resume?, status}; status:
 *       planning, normalizing, then answered, planned, failed or cancelled; or resumed, if it
 *       continues a plan
 *   sys.plan_source, key chat.n: {text}: the plan as the model wrote it
 *   sys.plan, key plan id: {batch{next, steps[], tools}, batch_size, batches, chat_id, created_ns,
 *       defined, done, draft?, error?, failed, final?, goal, in_order?, max_concurrency, model,
 *       open[{intent_id, step?}], phase, plan_id, principal, ready, results_bytes, results_count,
 *       retry?, session_id, skipped, source_id, status, steps_bytes, tool_batches, tool_calls,
 *       total, updated_ns}; phase: defining, running, answering, ended; status: running,
 *       cancelled, failed_normalize, done, partial, failed; retry: after the action `resume`,
 *       index of the first step that was not looked at yet, to reopen it if it has failed or was
 *       skipped; source_id: the message that the plan
 *       was made for; chat_id: the newest message about the plan; draft: what the model wrote
 *       before the plan; final: the answer; in_order: true: run one step after the other
 *   sys.plan_step, key plan.n: {attempts, depends_on[], id, max_attempts, prompt, reason?,
 *       result_ref, status, title, tool, type}: the step as plan.json shows it; status: pending,
 *       ready (in the batch), running, done, failed, skipped
 *   sys.plan_edge, key plan.n: {next[]?, refs{}?}: indices of the steps that wait for this one,
 *       and of those that its placeholders name
 *   sys.plan_block, key plan.b: {bytes, doomed{}, waiting[]} of WFS_PLAN_BLOCK steps. bytes: of
 *       their documents; doomed: steps with a failed dependency, and its id; waiting: for each
 *       step, how many dependencies it waits for (-1: it was taken into a batch; -1 - n: it was
 *       imported as failed or skipped while n dependencies were pending)
 *   sys.plan_result, key plan.n: {_step_id, asked, details, error, method, name, ok, result}
 *
 *   {action_type "chat", message, session_id, batch_size, max_concurrency, model, called_by?,
 *       plan_id?} -> {chat_id, plan_id?}; called_by: intent of the tool call that chats
 *   {action_type "import", blob, session_id, batch_size, max_concurrency, model, rerun?, resume?}
 *       -> {chat_id}; resume: true: run the plan at once, otherwise it waits, cancelled; rerun:
 *       true: run steps again that are done but have no result in the blob
 *   {action_type "resume", plan_id, retry_failed?} -> {chat_id, plan_id}
 *   {action_type "stop", plan_id or chat_id} -> {plan_id} or {chat_id}
 *
 * The intents (kernel/fold/intent.h) have {chat_id}, or {not_before_ns?, plan_id, step?}. When a
 * step ends, its own two cells, its block, the blocks of steps that wait for it, and the plan's
 * cell are written: a small record, however long the plan is.
 * Source: docs/design.md §12.
 */
#pragma once

#include "kernel/fold/fold.h"
#include "kernel/manifest/entity-name.h"
#include "kernel/value/bounds.h"

/** wfs_chat_session_valid() - is @session_id valid as the id of a session of a chat: a name by
 *  wfs_grant_name_valid() (kernel/manifest/grant.h) of at most WFS_CHAT_SESSION_MAX bytes? */
bool wfs_chat_session_valid(const char *session_id);

extern const struct wfs_domain wfs_plan_domain;
