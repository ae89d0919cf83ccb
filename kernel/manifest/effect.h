/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of effects: everything that a principal can ask of a world.
 *
 * Every call of a session names an effect and is judged by it. For each effect the table has the
 * members of its params, and effect-receipt.c the form (kernel/base/form.h) of its receipt. The
 * definitions in manifests, the typed params, the members of verbs, and the checks of params and
 * receipts are made from it.
 * Source: docs/design.md §2.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/base/buffer.h"
#include "kernel/manifest/shape.h"

/*
 * P(effect, type, member, OPTIONAL or REQUIRED, what it is)
 * Types: TEXT, CONSISTENCY (text), NAT, BOOL, VALUE and OBJECT (JSON as it came), TEXTS and VALUES
 * (arrays of them).
 */
#define WFS_PARAMS_NONE(P, effect)
#define WFS_PARAMS_MANIFEST(P, effect)                \
	P(effect, CONSISTENCY, consistency, OPTIONAL, \
		"height to read at: head, exact:N or at_least:N; by default head")
#define WFS_PARAMS_REDUCER_STATE(P, effect)                                                       \
	P(effect, TEXT, reducer, REQUIRED, "name of the reducer")                                 \
	P(effect, TEXT, key_b64, OPTIONAL, "base64 of the key's bytes; by default the empty key") \
	P(effect, CONSISTENCY, consistency, OPTIONAL,                                             \
		"height to read at: head, exact:N or at_least:N; by default head")
#define WFS_PARAMS_LIST_CELLS(P, effect)                                           \
	P(effect, TEXT, reducer, REQUIRED, "name of the reducer")                  \
	P(effect, CONSISTENCY, consistency, OPTIONAL,                              \
		"height to read at: head, exact:N or at_least:N; by default head") \
	P(effect, TEXT, cursor, OPTIONAL, "next_cursor of the page before")        \
	P(effect, NAT, limit, OPTIONAL, "cells of a page, at most: 1 to 1000; by default 1000")
#define WFS_PARAMS_JOURNAL(P, effect)                                                             \
	P(effect, NAT, from, REQUIRED, "seq of the first record to read")                         \
	P(effect, NAT, limit, OPTIONAL, "records of a page, at most: 1 to 1000; by default 1000") \
	P(effect, TEXT, turn, OPTIONAL, "only records of this turn")
#define WFS_PARAMS_BLOB_GET(P, effect) \
	P(effect, TEXT, hash_hex, REQUIRED, "SHA-256 of the bytes, 64 hexadecimal digits")
#define WFS_PARAMS_BLOB_PUT(P, effect) P(effect, TEXT, data_b64, REQUIRED, "base64 of the bytes")
#define WFS_PARAMS_EVENT(P, effect)                                                             \
	P(effect, TEXT, schema, REQUIRED, "name of the schema, ns/Name@N")                      \
	P(effect, VALUE, value, REQUIRED, "value of the event")                                 \
	P(effect, VALUE, key, OPTIONAL, "must equal the key that routing takes from the value") \
	P(effect, TEXT, dedup, OPTIONAL,                                                        \
		"dotted path of a member of the value; the event is not recorded if its "       \
		"principal has sent one of this schema with the same value of this member")
#define WFS_PARAMS_GC(P, effect)                                                             \
	P(effect, NAT, keep_heights, OPTIONAL,                                               \
		"number of newest heights to keep; either this or since")                    \
	P(effect, NAT, since, OPTIONAL, "first height to keep; either this or keep_heights") \
	P(effect, BOOL, journal, OPTIONAL,                                                   \
		"drop the records before the first height that is kept, too")                \
	P(effect, NAT, raw_before, OPTIONAL,                                                 \
		"drop the files in turns/TURN/raw of turns that began before this height")   \
	P(effect, TEXT, cursor, OPTIONAL, "next_cursor of the call before")                  \
	P(effect, NAT, limit, OPTIONAL,                                                      \
		"about how many versions to look at, at most 1048576; when absent, all")
#define WFS_PARAMS_CODE(P, effect)      \
	P(effect, TEXT, lift, OPTIONAL, \
		"SHA-256 of code that may run again from now on, 64 hexadecimal digits")
#define WFS_PARAMS_MOUNT(P, effect)                                                           \
	P(effect, TEXT, dir, REQUIRED,                                                        \
		"absolute path of the directory that the tree is mounted on")                 \
	P(effect, TEXT, as, OPTIONAL,                                                         \
		"principal that the mount belongs to; by default that of the client")         \
	P(effect, TEXT, ctl, REQUIRED,                                                        \
		"absolute path of the directory that the control files are mounted on")       \
	P(effect, BOOL, allow_other, OPTIONAL, "whether other users may use the mount")       \
	P(effect, BOOL, act, OPTIONAL,                                                        \
		"whether other users, too, act as the principal of the mount")                \
	P(effect, BOOL, nest_ctl, OPTIONAL,                                                   \
		"whether the control files are mounted inside of the tree, at ctl")           \
	P(effect, NAT, uid, OPTIONAL,                                                         \
		"number of the user who made the mount, in the user namespace of the client") \
	P(effect, NAT, gid, OPTIONAL, "number of the group of this user, in the same namespace")
#define WFS_PARAMS_GRANT(P, effect)                                                             \
	P(effect, TEXT, cap, REQUIRED, "capability, e.g. sys/query@1")                          \
	P(effect, TEXT, to, REQUIRED, "principal that gets the grant")                          \
	P(effect, OBJECT, params, OPTIONAL,                                                     \
		"parameters of the capability, such as scope; see worldfs(1)")                  \
	P(effect, TEXT, name, OPTIONAL, "name of the grant; one is made when absent")           \
	P(effect, NAT, expires_at_ns, OPTIONAL,                                                 \
		"time at which the grant ends, ns since 1970; when absent, it does not end by " \
		"time")                                                                         \
	P(effect, OBJECT, budget, OPTIONAL,                                                     \
		"{calls?, tokens?}: after how many recorded calls or tokens of a model the "    \
		"grant ends")                                                                   \
	P(effect, TEXT, to_artifact_of, OPTIONAL,                                               \
		"owner of the agent that gets the grant; needed if another principal owns it")
#define WFS_PARAMS_REVOKE(P, effect) P(effect, TEXT, name, REQUIRED, "name of the grant")
#define WFS_PARAMS_PRINCIPAL(P, effect)                              \
	P(effect, TEXT, id, REQUIRED, "name of the principal")       \
	P(effect, NAT, scrip, OPTIONAL, "scrip that it begins with") \
	P(effect, OBJECT, quotas, OPTIONAL,                          \
		"{disk?, journal?, llm_budget?, llm_tokens?}: how much the principal may use")
#define WFS_PARAMS_APPLY(P, effect)                                                             \
	P(effect, OBJECT, manifest, REQUIRED, "the new manifest")                               \
	P(effect, TEXT, base_manifest_hash, OPTIONAL,                                           \
		"hash of the manifest to replace; if another one is in force, nothing changes") \
	P(effect, TEXT, reason, OPTIONAL, "why the manifest is applied; kept in the record")    \
	P(effect, BOOL, dry_run, OPTIONAL,                                                      \
		"whether to change nothing, and only tell what would change")

/* Actions: each may have `reasoning`, which is kept in its record. */
#define WFS_PARAMS_NOOP(P, effect) \
	P(effect, VALUE, reasoning, OPTIONAL, "why you take this action; kept in its record")
#define WFS_PARAMS_READ_ARTIFACT(P, effect)                          \
	P(effect, TEXT, artifact_id, REQUIRED, "id of the artifact") \
	P(effect, VALUE, reasoning, OPTIONAL, "why you take this action; kept in its record")
#define WFS_PARAMS_WRITE_ARTIFACT(P, effect)                                                   \
	P(effect, TEXT, artifact_id, REQUIRED,                                                 \
		"id of the artifact; a new id makes a new artifact")                           \
	P(effect, TEXT, type, OPTIONAL, "a word of your choice; data when absent")             \
	P(effect, VALUE, content, OPTIONAL, "text, or a JSON value")                           \
	P(effect, TEXT, code, OPTIONAL, "Lua that defines run(...) or check(...)")             \
	P(effect, BOOL, executable, OPTIONAL,                                                  \
		"whether it can be invoked; when absent, true if it has code")                 \
	P(effect, NAT, price, OPTIONAL, "scrip for an invocation; 0 when absent")              \
	P(effect, OBJECT, policy, OPTIONAL, "{read_price?, invoke_price?} instead of price")   \
	P(effect, OBJECT, interface, OPTIONAL,                                                 \
		"how it is invoked: {description?, methods: [{name, input}]}")                 \
	P(effect, TEXTS, depends_on, OPTIONAL, "ids of artifacts that its code needs")         \
	P(effect, OBJECT, metadata, OPTIONAL, "members of your choice")                        \
	P(effect, TEXT, access, OPTIONAL,                                                      \
		"freeware (when absent), transferable_freeware, self_owned, private, public, " \
		"or the id of a contract")                                                     \
	P(effect, VALUE, reasoning, OPTIONAL, "why you take this action; kept in its record")
#define WFS_PARAMS_EDIT_ARTIFACT(P, effect)                                              \
	P(effect, TEXT, artifact_id, REQUIRED, "id of the artifact")                     \
	P(effect, TEXT, old_string, REQUIRED,                                            \
		"text to replace, which occurs exactly once in the content")             \
	P(effect, TEXT, new_string, REQUIRED, "text that takes the place of old_string") \
	P(effect, VALUE, reasoning, OPTIONAL, "why you take this action; kept in its record")
#define WFS_PARAMS_DELETE_ARTIFACT(P, effect)                        \
	P(effect, TEXT, artifact_id, REQUIRED, "id of the artifact") \
	P(effect, VALUE, reasoning, OPTIONAL, "why you take this action; kept in its record")
#define WFS_PARAMS_INVOKE_ARTIFACT(P, effect)                                         \
	P(effect, TEXT, artifact_id, REQUIRED, "id of the artifact")                  \
	P(effect, TEXT, method, OPTIONAL, "method of its interface; run when absent") \
	P(effect, VALUES, args, OPTIONAL, "arguments; none when absent")              \
	P(effect, VALUE, reasoning, OPTIONAL, "why you take this action; kept in its record")
#define WFS_PARAMS_QUERY_KERNEL(P, effect)                             \
	P(effect, TEXT, query_type, REQUIRED, "type of the query")     \
	P(effect, OBJECT, params, OPTIONAL, "parameters of the query") \
	P(effect, VALUE, reasoning, OPTIONAL, "why you take this action; kept in its record")
#define WFS_PARAMS_TRANSFER(P, effect)                                                       \
	P(effect, TEXT, to, REQUIRED, "principal or artifact that gets it")                  \
	P(effect, NAT, amount, REQUIRED, "how much, 1 or more")                              \
	P(effect, TEXT, resource, OPTIONAL,                                                  \
		"scrip (when absent), or the resource whose quota you give: disk, journal, " \
		"llm_budget or llm_tokens")                                                  \
	P(effect, VALUE, reasoning, OPTIONAL, "why you take this action; kept in its record")
#define WFS_PARAMS_TRANSFER_OWNERSHIP(P, effect)                          \
	P(effect, TEXT, artifact_id, REQUIRED, "id of the artifact")      \
	P(effect, TEXT, to, REQUIRED, "principal that gets the artifact") \
	P(effect, VALUE, reasoning, OPTIONAL, "why you take this action; kept in its record")
#define WFS_PARAMS_SUBMIT_TO_MINT(P, effect)                                   \
	P(effect, TEXT, artifact_id, REQUIRED, "executable artifact of yours") \
	P(effect, NAT, bid, REQUIRED, "scrip that you bid, 1 or more")         \
	P(effect, VALUE, reasoning, OPTIONAL, "why you take this action; kept in its record")
#define WFS_PARAMS_CANCEL_MINT(P, effect)                           \
	P(effect, TEXT, submission_id, REQUIRED,                    \
		"id of the bid, from the answer of submit_to_mint") \
	P(effect, VALUE, reasoning, OPTIONAL, "why you take this action; kept in its record")

#define WFS_PARAMS_SCHEDULE(P, effect)                                                           \
	P(effect, OBJECT, action, REQUIRED,                                                      \
		"an action, or a chat, event or step with the members of its control file")      \
	P(effect, TEXT, id, OPTIONAL, "name of the timer; one is made when absent")              \
	P(effect, TEXT, at, OPTIONAL, "due once, at this time of RFC 3339")                      \
	P(effect, NAT, after_ms, OPTIONAL, "due once, so many milliseconds from now")            \
	P(effect, NAT, every_ms, OPTIONAL,                                                       \
		"due again and again, every so many milliseconds, 100 or more")                  \
	P(effect, TEXT, cron, OPTIONAL, "due by five fields: minute, hour, day, month, weekday") \
	P(effect, TEXT, tz, OPTIONAL, "time zone of cron; UTC when absent")                      \
	P(effect, TEXT, catch_up, OPTIONAL,                                                      \
		"how many times it fires for due times that were missed: one (when absent), "    \
		"all or none")                                                                   \
	P(effect, TEXT, until, OPTIONAL, "time of RFC 3339 after which it is not due any more")  \
	P(effect, NAT, max, OPTIONAL, "how often it fires, at most")                             \
	P(effect, VALUE, reasoning, OPTIONAL, "why you take this action; kept in its record")
#define WFS_PARAMS_UNSCHEDULE(P, effect)                          \
	P(effect, TEXT, id, REQUIRED, "name of a timer of yours") \
	P(effect, VALUE, reasoning, OPTIONAL, "why you take this action; kept in its record")

#define WFS_PARAMS_RESOLVE_MINT(P, effect) \
	P(effect, VALUE, reasoning, OPTIONAL, "why you take this action; kept in its record")

#define WFS_PARAMS_STEP(P, effect)                                                                \
	P(effect, TEXT, agent, REQUIRED, "id of an artifact of the type agent")                   \
	P(effect, TEXT, message, OPTIONAL, "message to the agent; by default the agent's prompt") \
	P(effect, VALUES, messages, OPTIONAL,                                                     \
		"in place of message: all messages that the turn begins with")                    \
	P(effect, TEXTS, tools, OPTIONAL,                                                         \
		"names of those of the agent's tools that the model is offered; when absent, "    \
		"all")                                                                            \
	P(effect, NAT, max_turns, OPTIONAL,                                                       \
		"requests to the model in each turn, at most; no more than max_turns of the "     \
		"agent, the default")                                                             \
	P(effect, NAT, turns, OPTIONAL,                                                           \
		"how many turns the agent takes, one after the other; 1 when absent")             \
	P(effect, NAT, timeout_ms, OPTIONAL,                                                      \
		"milliseconds that each turn may take; a shorter run_timeout_ms of the agent "    \
		"prevails")                                                                       \
	P(effect, BOOL, wait, OPTIONAL,                                                           \
		"whether to answer only when the turns have ended; true when absent")
#define WFS_PARAMS_CANCEL(P, effect) \
	P(effect, TEXT, turn_id, REQUIRED, "id of a turn that has not ended")
#define WFS_PARAMS_WAKE(P, effect) \
	P(effect, TEXT, turn_id, REQUIRED, "id of a turn whose call of wait_until waits")
#define WFS_PARAMS_APPROVE(P, effect)                                                        \
	P(effect, TEXT, turn_id, REQUIRED, "id of a turn that has not ended")                \
	P(effect, TEXT, call_id, REQUIRED,                                                   \
		"id of a tool call of the turn that waits for an approval")                  \
	P(effect, TEXT, decision, REQUIRED, "what becomes of the call: allow or deny")       \
	P(effect, NAT, turn, OPTIONAL,                                                       \
		"number of the request to the model that gave the call; needed if the turn " \
		"has several calls with this id")
#define WFS_PARAMS_GENERATE(P, effect)                                  \
	P(effect, NAT, attempt, OPTIONAL, "of the step, from 1")        \
	P(effect, TEXT, chat_id, OPTIONAL, "that asks")                 \
	P(effect, TEXT, model, REQUIRED, "its name on the host")        \
	P(effect, TEXT, plan_id, OPTIONAL, "that asks")                 \
	P(effect, TEXT, run_id, OPTIONAL, "that asks")                  \
	P(effect, TEXT, step_id, OPTIONAL, "of the plan; else its end") \
	P(effect, NAT, turn, OPTIONAL, "of the run")
#define WFS_PARAMS_TOOL_CALL(P, effect)                          \
	P(effect, NAT, attempt, OPTIONAL, "of the step, from 1") \
	P(effect, NAT, call, OPTIONAL, "of the turn, from 0")    \
	P(effect, TEXT, call_id, OPTIONAL, "on the wire")        \
	P(effect, TEXT, name, REQUIRED, "of the tool")           \
	P(effect, TEXT, plan_id, OPTIONAL, "that asks")          \
	P(effect, TEXT, run_id, OPTIONAL, "that asks")           \
	P(effect, TEXT, step_id, OPTIONAL, "of the plan")        \
	P(effect, NAT, turn, OPTIONAL, "of the run")
#define WFS_PARAMS_TOOL_OUTSIDE(P, effect)                                              \
	P(effect, OBJECT, arguments, OPTIONAL, "arguments of the tool; {} when absent") \
	P(effect, TEXT, name, REQUIRED, "full name of the tool, server.tool")
#define WFS_PARAMS_INTENT_RESOLVE(P, effect)                                                     \
	P(effect, TEXT, intent_id, REQUIRED, "id of the intent of a call whose answer was lost") \
	P(effect, TEXT, outcome, REQUIRED, "whether the call took place: done or not-done")      \
	P(effect, VALUE, result, OPTIONAL, "result of the call; kept in the record")
#define WFS_PARAMS_ADVANCE(P, effect)                       \
	P(effect, TEXT, mode, REQUIRED, "condition or llm") \
	P(effect, TEXT, run_id, REQUIRED, "that is to end") \
	P(effect, TEXT, state, REQUIRED, "that it began in")
#define WFS_PARAMS_PLAN(P, effect)                             \
	P(effect, TEXT, chat_id, OPTIONAL, "whose plan it is") \
	P(effect, TEXT, plan_id, OPTIONAL, "of the plan")

#define WFS_PARAMS_MINT_SCORE(P, effect)                             \
	P(effect, TEXT, artifact_id, REQUIRED, "what was submitted") \
	P(effect, TEXT, submission_id, REQUIRED, "the bid that has won")

/*
 * X(constant, member of struct wfs_params, effect kind, type of the capability that covers it,
 *   origin scope, form of the receipt, params, what it does)
 * Origin scope: `both` means that reducers, too, may ask for the effect; `plan-only`, that they may
 * not. The kernel itself answers what reducers may ask for, and mint.score, which an action asks
 * for.
 */
/* Effects whose member begins with `action_` are actions. action_query_kernel changes nothing: its
 * kind is query.kernel, and a grant of type `query` covers it, like other questions. */
#define WFS_ACTION(X, constant, name, cap_type, help)                                       \
	X(ACTION_##constant, action_##name, "action." #name, cap_type, "plan-only", action, \
		WFS_PARAMS_##constant, help)
#define WFS_ACTIONS(X)                                                                             \
	WFS_ACTION(X, NOOP, noop, "act", "do nothing")                                             \
	WFS_ACTION(X, READ_ARTIFACT, read_artifact, "act", "read an artifact, at its price")       \
	WFS_ACTION(X, WRITE_ARTIFACT, write_artifact, "act",                                       \
		"make an artifact, or change those parts that are given")                          \
	WFS_ACTION(                                                                                \
		X, EDIT_ARTIFACT, edit_artifact, "act", "replace a text in an artifact's content") \
	WFS_ACTION(X, DELETE_ARTIFACT, delete_artifact, "act", "delete an artifact for good")      \
	WFS_ACTION(X, INVOKE_ARTIFACT, invoke_artifact, "act",                                     \
		"run an artifact's code, at its price")                                            \
	X(ACTION_QUERY_KERNEL, action_query_kernel, "query.kernel", "query", "plan-only",          \
		query_kernel, WFS_PARAMS_QUERY_KERNEL, "ask about the world, without changing it") \
	WFS_ACTION(X, TRANSFER, transfer, "act", "give scrip, or a part of a quota")               \
	WFS_ACTION(X, TRANSFER_OWNERSHIP, transfer_ownership, "act", "give an artifact away")      \
	WFS_ACTION(X, SUBMIT_TO_MINT, submit_to_mint, "act",                                       \
		"bid, in the auction of the mint, for a score of an artifact")                     \
	WFS_ACTION(                                                                                \
		X, CANCEL_MINT, cancel_mint, "act", "take back a bid in the auction of the mint")  \
	WFS_ACTION(X, RESOLVE_MINT, resolve_mint, "admin", "end the auction of the mint")          \
	X(ACTION_SCHEDULE, action_schedule, "timer.schedule", "timer", "both", timer_schedule,     \
		WFS_PARAMS_SCHEDULE, "have an action done later, once or again and again")         \
	X(ACTION_UNSCHEDULE, action_unschedule, "timer.unschedule", "timer", "plan-only", action,  \
		WFS_PARAMS_UNSCHEDULE, "delete a timer")
#define WFS_EFFECTS(X)                                                                             \
	X(INTROSPECT_MANIFEST, introspect_manifest, "introspect.manifest", "query", "both",        \
		introspect_manifest, WFS_PARAMS_MANIFEST, "read the manifest")                     \
	X(INTROSPECT_REDUCER_STATE, introspect_reducer_state, "introspect.reducer_state", "query", \
		"both", introspect_reducer_state, WFS_PARAMS_REDUCER_STATE, "read a cell")         \
	X(INTROSPECT_JOURNAL_HEAD, introspect_journal_head, "introspect.journal_head", "query",    \
		"both", introspect_journal_head, WFS_PARAMS_NONE,                                  \
		"read the height, and the hashes of manifest and snapshot")                        \
	X(INTROSPECT_LIST_CELLS, introspect_list_cells, "introspect.list_cells", "query", "both",  \
		introspect_list_cells, WFS_PARAMS_LIST_CELLS, "list the cells of a reducer")       \
	X(INTROSPECT_JOURNAL, introspect_journal, "introspect.journal", "query", "plan-only",      \
		introspect_journal, WFS_PARAMS_JOURNAL, "read records")                            \
	X(INTROSPECT_STATUS, introspect_status, "introspect.status", "query", "plan-only",         \
		introspect_status, WFS_PARAMS_NONE,                                                \
		"read the state of the world, its owner process and its mounts")                   \
	X(BLOB_GET, blob_get, "blob.get", "blob", "plan-only", blob_get, WFS_PARAMS_BLOB_GET,      \
		"read a blob")                                                                     \
	X(BLOB_PUT, blob_put, "blob.put", "blob", "plan-only", blob_put, WFS_PARAMS_BLOB_PUT,      \
		"store a blob")                                                                    \
	X(EVENT_EMIT, event_emit, "event.emit", "act", "plan-only", event_emit, WFS_PARAMS_EVENT,  \
		"send an event")                                                                   \
	WFS_ACTIONS(X)                                                                             \
	X(MINT_SCORE, mint_score, "mint.score", "admin", "plan-only", mint_score,                  \
		WFS_PARAMS_MINT_SCORE, "score the artifact that has won an auction of the mint")   \
	X(AGENT_STEP, agent_step, "agent.step", "drive", "plan-only", agent_step, WFS_PARAMS_STEP, \
		"have an agent take turns")                                                        \
	X(AGENT_CANCEL, agent_cancel, "agent.cancel", "drive", "plan-only", agent_run,             \
		WFS_PARAMS_CANCEL, "cancel a turn of an agent")                                    \
	X(AGENT_APPROVE, agent_approve, "agent.approve", "drive", "plan-only", agent_run,          \
		WFS_PARAMS_APPROVE, "allow or refuse a tool call that waits for an approval")      \
	X(AGENT_WAKE, agent_wake, "agent.wake", "drive", "plan-only", agent_run, WFS_PARAMS_WAKE,  \
		"let a turn that waits for a time or an event go on at once")                      \
	X(LLM_GENERATE, llm_generate, "llm.generate", "llm", "plan-only", llm_generate,            \
		WFS_PARAMS_GENERATE, "have a model answer")                                        \
	X(TOOL_CALL, tool_call, "tool.call", "drive", "plan-only", tool_call,                      \
		WFS_PARAMS_TOOL_CALL, "call a tool that a model has asked for")                    \
	X(TOOL_OUTSIDE, tool_outside, "tool.outside", "tool", "plan-only", tool_outside,           \
		WFS_PARAMS_TOOL_OUTSIDE, "call a tool of a server outside of the world")           \
	X(INTENT_RESOLVE, intent_resolve, "intent.resolve", "tool", "plan-only", intent_resolve,   \
		WFS_PARAMS_INTENT_RESOLVE,                                                         \
		"say whether a call of an outside tool, whose answer was lost, took place")        \
	X(WORKFLOW_ADVANCE, workflow_advance, "workflow.advance", "drive", "plan-only",            \
		workflow_advance, WFS_PARAMS_ADVANCE,                                              \
		"decide the next state of an agent's workflow")                                    \
	X(PLAN_RUN, plan_run, "plan.run", "drive", "plan-only", plan, WFS_PARAMS_PLAN,             \
		"chat, run and resume plans")                                                      \
	X(PLAN_CANCEL, plan_cancel, "plan.cancel", "drive", "plan-only", plan, WFS_PARAMS_PLAN,    \
		"stop a plan")                                                                     \
	X(PLAN_NORMALIZE, plan_normalize, "plan.normalize", "drive", "plan-only", plan_normalize,  \
		WFS_PARAMS_PLAN, "find the steps in the text of a plan")                           \
	X(PLAN_ADVANCE, plan_advance, "plan.advance", "drive", "plan-only", plan, WFS_PARAMS_PLAN, \
		"begin the next steps of a plan")                                                  \
	X(WORLD_SNAPSHOT, world_snapshot, "world.snapshot", "admin", "plan-only", world_snapshot,  \
		WFS_PARAMS_NONE, "record a snapshot")                                              \
	X(WORLD_GC, world_gc, "world.gc", "admin", "plan-only", world_gc, WFS_PARAMS_GC,           \
		"drop old heights")                                                                \
	X(WORLD_CODE, world_code, "world.code", "admin", "plan-only", world_code, WFS_PARAMS_CODE, \
		"list code that has crashed, or let such code run again")                          \
	X(WORLD_MOUNT, world_mount, "world.mount", "admin", "plan-only", world_mount,              \
		WFS_PARAMS_MOUNT, "mount and unmount")                                             \
	X(WORLD_SHUTDOWN, world_shutdown, "world.shutdown", "admin", "plan-only", world_shutdown,  \
		WFS_PARAMS_NONE, "end the owner process")                                          \
	X(WORLD_GRANT, world_grant, "world.grant", "admin", "plan-only", world_grant,              \
		WFS_PARAMS_GRANT, "grant a capability")                                            \
	X(WORLD_REVOKE, world_revoke, "world.revoke", "admin", "plan-only", world_revoke,          \
		WFS_PARAMS_REVOKE, "take a grant back")                                            \
	X(WORLD_PRINCIPAL, world_principal, "world.principal", "admin", "plan-only",               \
		world_principal, WFS_PARAMS_PRINCIPAL, "add a principal")                          \
	X(WORLD_APPLY, world_apply, "world.apply", "admin", "plan-only", world_apply,              \
		WFS_PARAMS_APPLY, "put a new manifest in force")

enum wfs_effect {
#define WFS_EFFECT_ENUM(constant, ...) WFS_EFFECT_##constant,
	WFS_EFFECTS(WFS_EFFECT_ENUM)
#undef WFS_EFFECT_ENUM
		WFS_EFFECT_COUNT
};

/* The C types of members: texts and JSON are borrowed from the params. Absent: NULL, -1, false. */
#define WFS_PARAM_C_TEXT const char *
#define WFS_PARAM_C_CONSISTENCY const char *
#define WFS_PARAM_C_NAT int64_t
#define WFS_PARAM_C_BOOL bool
#define WFS_PARAM_C_VALUE const json_t *
#define WFS_PARAM_C_OBJECT const json_t *
#define WFS_PARAM_C_TEXTS const json_t *
#define WFS_PARAM_C_VALUES const json_t *

/* Decoded params: plain value. Of the union, only the member of `effect` is set. */
struct wfs_params {
	enum wfs_effect effect;
	union {
#define WFS_PARAM_MEMBER(effect, type, name, need, help) WFS_PARAM_C_##type name;
#define WFS_PARAMS_STRUCT(constant, member, kind, cap_type, scope, receipt, params, help) \
	struct {                                                                          \
		params(WFS_PARAM_MEMBER, member)                                          \
	} member;
		WFS_EFFECTS(WFS_PARAMS_STRUCT)
#undef WFS_PARAMS_STRUCT
#undef WFS_PARAM_MEMBER
	};
};

/** wfs_effect_kind() - Return: the kind of an effect, e.g. "introspect.manifest"; static. */
const char *wfs_effect_kind(enum wfs_effect effect);

/** wfs_effect_help() - Return: what an effect does, e.g. "read a blob"; static. */
const char *wfs_effect_help(enum wfs_effect effect);

/** wfs_effect_params() - Return: the members of an effect's params, as a form of the kind record;
 *  static. */
const struct wfs_form *wfs_effect_params(enum wfs_effect effect);

/** wfs_effect_receipt() - Return: the form of the payload of an effect's receipt; static. */
const struct wfs_form *wfs_effect_receipt(enum wfs_effect effect);

/* Height and hashes of what was read, the member `meta` of receipts. */
extern const struct wfs_form wfs_effect_meta;

/** wfs_effect_action() - Return: the action_type of an effect that is an action, e.g. "noop",
 *  static; NULL for other effects. */
const char *wfs_effect_action(enum wfs_effect effect);

/** wfs_effect_find_action() - Return: the effect that is the action with this name, or
 *  WFS_EFFECT_COUNT for a name that no action has. */
enum wfs_effect wfs_effect_find_action(const char *name);

/** wfs_action_effect() - Return: the effect that the `action_type` of @action, a JSON object,
 *  names; WFS_EFFECT_COUNT if `action_type` names no effect, or is missing. */
enum wfs_effect wfs_action_effect(const json_t *action);

/** wfs_action_params() - copy @action without `action_type` and, if `action_type` names an effect,
 *  without the members that wfs_effect_drop_nulls() removes for this effect
 *  Return: new reference; NULL without memory. */
json_t *wfs_action_params(const json_t *action);

/** wfs_action_check_form() - check that @action, as a client has sent it, has besides `action_type`
 *  only the params of its effect, and all required ones; an optional param may be null
 *  @action: names an effect (wfs_action_effect())
 *  Return: 0, -EINVAL (as wfs_effect_decode()), -ENOMEM. */
int wfs_action_check_form(const json_t *action, struct wfs_error *error);

/** wfs_introspects() - is @effect one of introspect.manifest, introspect.reducer_state,
 *  introspect.journal_head and introspect.list_cells, which kernel/read/introspect.h answers? */
bool wfs_introspects(enum wfs_effect effect);

/** wfs_effect_granted_as() - Return: the word in the param `actions` of a grant of `act` that
 *  covers the effect: the name of an action, or the kind of another effect; static. */
const char *wfs_effect_granted_as(enum wfs_effect effect);

/** wfs_effect_action_page() - append the help page of an action to @buffer: lines of at most 80
 *  columns. */
void wfs_effect_action_page(enum wfs_effect effect, struct wfs_buffer *buffer);

/** wfs_effect_acts() - does the effect change something or ask for work, so that a refusal of it is
 *  recorded? False for blob.get and for effects that a grant of type `query` covers. */
bool wfs_effect_acts(enum wfs_effect effect);

/** wfs_effect_cap_type() - Return: the type of capability that covers the effect, e.g. "query";
 *  static. */
const char *wfs_effect_cap_type(enum wfs_effect effect);

/** wfs_effect_has_reducer() - is the effect about one reducer, which rules and grants may name? */
bool wfs_effect_has_reducer(enum wfs_effect effect);

/** wfs_effect_has_artifact() - is the effect about one artifact or agent, which rules and grants
 *  may name? */
bool wfs_effect_has_artifact(enum wfs_effect effect);

/** wfs_effect_covered_by() - can a grant of a capability of the type @cap_type cover the effect? A
 *  grant of type `admin` also covers plan.run, plan.cancel, agent.cancel, agent.wake, agent.approve
 *  and intent.resolve, for plans, turns and calls of other principals. */
bool wfs_effect_covered_by(enum wfs_effect effect, const char *cap_type);

/** wfs_effect_find() - Return: the effect with this kind, or WFS_EFFECT_COUNT for an unknown
 *  one. */
enum wfs_effect wfs_effect_find(const char *kind);

/** wfs_effect_of_reducers() - may reducers ask for the effect (origin_scope `both`)? */
bool wfs_effect_of_reducers(enum wfs_effect effect);

/** wfs_effect_definition() - make the definition of an effect (`defeffect`) as manifests have it
 *  Return: new reference, NULL without memory. */
json_t *wfs_effect_definition(enum wfs_effect effect);

/** wfs_effect_params_schema() - make the JSON Schema (2020-12) of an effect's params
 *  Return: new reference, NULL without memory. */
json_t *wfs_effect_params_schema(enum wfs_effect effect);

/** wfs_effect_drop_nulls() - remove from @params the optional members that are null, which count as
 *  absent. A null member whose type allows any value stays. */
void wfs_effect_drop_nulls(enum wfs_effect effect, json_t *params);

/** wfs_effect_decode() - check the params of an effect, and decode them into a struct
 *  @params: an object. A null member has the wrong type, unless its type allows any value;
 *  wfs_effect_drop_nulls() removes such members before. @ret_params: borrows from @params; set on
 *  success only
 *  Return: 0, -EINVAL (missing_argument; invalid_argument: unknown, or of the wrong type; the
 *  message names the member), -ENOMEM. */
int wfs_effect_decode(enum wfs_effect effect, const json_t *params, struct wfs_params *ret_params,
	struct wfs_error *error);

/** wfs_effect_check_receipt() - check that @receipt, the payload of a receipt, has the form that
 *  wfs_effect_receipt() returns. Return: 0, -EIO (internal_error: a defect of this program),
 *  -ENOMEM. */
int wfs_effect_check_receipt(
	enum wfs_effect effect, const json_t *receipt, struct wfs_error *error);
