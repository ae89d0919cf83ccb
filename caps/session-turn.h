/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns of agents: beginning and ending them, and what a driver does for them. Requests are those
 * of caps/session-act.h: an object that becomes an action must live until `done` is called, and a
 * function that makes a request returns 0 (`done` will be called), or -errno with request->error.
 * A *setup* is the document from which a turn is made (kernel/domain/turn/turn.h).
 */
#pragma once

#include <jansson.h>

#include "kernel/manifest/document.h"
#include "kernel/manifest/effect.h"
#include "kernel/manifest/grant.h"

struct wfs_request;
struct wfs_session;
struct wfs_view;

/** wfs_session_admit_step() - may the session's principal have the agent with the id @agent take
 *  turns, by grants and policy?
 *  To be called before the agent's configuration is read, so that a refused principal learns
 *  nothing of that.
 *  @request, Return: as for wfs_session_admit() (caps/session-act.h). */
int wfs_session_admit_step(
	const struct wfs_session *session, const char *agent, struct wfs_request *request);

/** wfs_session_find_agent() - may the session's principal have the agent with the id @agent take
 *  turns, by the rule for callers (`access`) of this artifact?
 *  Return: 0 (yes; or the artifact is not an agent, and the principal sees and may invoke it),
 *          -ENOENT (not_found: the agent does not exist, or the principal neither sees nor may
 *          invoke it), -EACCES (not_authorized: the principal sees the artifact, but may not invoke
 *          it), -EIO (stored bytes are damaged), -ENOMEM. */
int wfs_session_find_agent(const struct wfs_session *session, struct wfs_view *view,
	const char *agent, struct wfs_error *error);

/** wfs_session_offers() - may the session's principal get the artifact with the id @id as a tool?
 *  The principal's grants and the policy must allow to invoke the artifact, at least after an
 *  approval or with more budget, and so must the artifact's `access`. If a contract decides about
 *  access, the answer is not known before the call: then the principal must see the artifact in the
 *  tree.
 *  @ret_artifact: set if the answer is 1; caller then ends it with wfs_document_done()
 *                 (kernel/manifest/document.h)
 *  Return: 1, 0 (not as a tool, or no such artifact), or -errno. */
int wfs_session_offers(const struct wfs_session *session, struct wfs_view *view, const char *id,
	struct wfs_document_artifact *ret_artifact);

/** wfs_session_step() - begin a run. @step: {agent, called_by?, failure?, max_turns, messages,
 *  notes?, reflex?, setup}; worldfs-journal(5) explains these. The caller has set
 *  request->action.texts to the private texts that @step names, if any. The answer is {run_id}. */
int wfs_session_step(const struct wfs_session *session, json_t *step, struct wfs_request *request);

/** wfs_session_cancel() - end a run. @cancel: {turn_id}. Allowed to the principal that began the
 *  run, if it has a drive grant, and to an administrator. The answer is {run_id}. */
int wfs_session_cancel(
	const struct wfs_session *session, json_t *cancel, struct wfs_request *request);

/** wfs_session_wake() - end the waiting of a run that has called the tool `wait_until`. @wake:
 *  {turn_id}. Allowed to the same principals as wfs_session_cancel(). The answer is {run_id}. */
int wfs_session_wake(const struct wfs_session *session, json_t *wake, struct wfs_request *request);

/** wfs_session_approve() - allow or deny a tool call that waits for an approval
 *  @approve: {call_id, decision, turn?, turn_id}; decision: "allow" or "deny"; turn: number of the
 *  request to the model that was answered with the call, needed if an earlier call of the run had
 *  this call_id
 *  An administrator may do this, and a principal with a drive grant that has `approve`. The
 *  principal that began the run may only if it is an administrator. The agent, its artifacts, and
 *  principals that have their right from one of these never may. The answer is {run_id}. */
int wfs_session_approve(
	const struct wfs_session *session, json_t *approve, struct wfs_request *request);

/** wfs_session_leave_run() - end a run that the session's principal has begun and does not wait for
 *  any more. For drivers: needs no right, because the principal may have lost its right since it
 *  began the run. @cancel: {turn_id}. The answer is {run_id}. */
int wfs_session_leave_run(
	const struct wfs_session *session, json_t *cancel, struct wfs_request *request);

/* --- for drivers --- */

/* A tool call of a run or plan. Zero-initialise, set the members up to `cannot_wait`; end with
 * wfs_session_call_done(). */
struct wfs_session_call {
	const char *intent_id; /* of the call; must live until the answer */
	bool approved;         /* somebody has approved it */
	bool cannot_wait;      /* refuse instead of waiting for an approval */
	json_t *ask;           /* private to the session; released by wfs_session_call_done() */
};
void wfs_session_call_done(struct wfs_session_call *call);

/** wfs_session_act_called() - as wfs_session_act() (caps/session-act.h), for an action that is a
 *  tool call of a run of the session's principal
 *  If the policy requires an approval that the call does not have, and call->cannot_wait is false,
 *  the action is not done; it is only recorded that the call waits: call->ask is set, and `done` is
 *  called when that is recorded. If call->cannot_wait is true, the action is refused.
 *  @call: must live until the answer
 *  Return: as wfs_session_act() (caps/session-act.h). */
int wfs_session_act_called(const struct wfs_session *session, const json_t *action,
	struct wfs_session_call *call, struct wfs_request *request);

/** wfs_session_wait_call() - must a tool call that makes agents or plans run wait for an approval?
 *  If so, record that it waits. @effect, @artifact: by which the call will be judged; @artifact: id
 *  of the artifact that the effect is about; NULL: none
 *  @call, @request: as for wfs_session_act_called(), but call->cannot_wait is ignored
 *  Return: 1 (yes: `done` will be called when that is recorded; call->ask is set), 0 (no: nothing
 *  was sent; the call may still be refused when it is judged), or -errno. */
int wfs_session_wait_call(const struct wfs_session *session, enum wfs_effect effect,
	const char *artifact, struct wfs_session_call *call, struct wfs_request *request);

/** wfs_session_suspend_call() - have a tool call of a run of the session's principal wait for a
 *  time or an event. Needs no right unless @wait has `until_event`, because a driver may take any
 *  time to answer a call.
 *  @wait: {after_ms?, at?, intent_id, until_event?}; becomes an action
 *  Return: 0 (`done` will be called), -EACCES (@wait has `until_event`, and the principal may
 *  not read the journal), … */
int wfs_session_suspend_call(
	const struct wfs_session *session, json_t *wait, struct wfs_request *request);

/** wfs_session_approve_call() - note that the tool call for which the session was made, whose
 *  effect is @effect, is approved: from now on, the session may do @effect even if the policy
 *  requires an approval. */
void wfs_session_approve_call(struct wfs_session *session, enum wfs_effect effect);

/** wfs_session_receipt() - submit the receipt that answers an intent; this needs no right, because
 *  the intent was judged
 *  @session: of the intent's principal
 *  @receipt: {adapter_id, intent_id, payload, status} of worldfs-journal(5), status being ok,
 *            error, timeout, cancelled or unknown; must live until the answer. If it names private
 *            texts, the caller has set request->receipt.texts to these, which must live as long
 *  @charge: name of the grant whose budget pays, "" for none; copied */
int wfs_session_receipt(const struct wfs_session *session, const json_t *receipt,
	const char *charge, struct wfs_request *request);

/** wfs_session_check_journal() - does the quota of the session's principal have room for another
 *  record? Receipts are always recorded, so effects that lead to one must not begin without room.
 *  Return: 0 (yes), -EDQUOT (quota_exceeded: no), … */
int wfs_session_check_journal(const struct wfs_session *session, struct wfs_error *error);

/** wfs_session_has_tokens() - has the session's principal tokens for models left? Return: 0 (yes,
 *  or it has no quota), -EDQUOT (quota_exceeded: no), … */
int wfs_session_has_tokens(const struct wfs_session *session, struct wfs_error *error);

/** wfs_session_generate() - may the session's principal ask a model?
 *  @ret_charge: name of the grant whose budget pays, "" for none; set if the answer is 0
 *  @request: without a kind, and with `done` set; becomes the record of a refusal; cleared if the
 *            answer is 0
 *  Return: 0 (yes), WFS_SESSION_REFUSED (`done` will be called with the refusal), or with
 *  request->error: -EDQUOT (quota_exceeded: the principal has used up its tokens; not recorded), or
 *  another -errno. */
int wfs_session_generate(const struct wfs_session *session,
	char ret_charge[static WFS_GRANT_NAME_MAX + 1], struct wfs_request *request);
