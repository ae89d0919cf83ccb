/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chats and plans. Requests are those of caps/session-act.h; the objects that these functions get
 * become actions, belong to the caller, and must live until `done` is called. Each function that
 * makes a request returns 0 (`done` will be called), or -errno with request->error. In objects and
 * answers, session_id is the id of a session of messages, chat_id that of one of its messages, blob
 * a hash as text, model a name in host.json, batch_size how many steps are begun together, and
 * max_concurrency how many of these run at once.
 */
#pragma once

#include <jansson.h>

struct wfs_request;
struct wfs_session;

/** wfs_session_chat() - send a message, from which a model makes a plan; or, with `plan_id`, which
 *  must name a plan of the same principal and session_id, continue this plan with the message
 *  @chat: {batch_size, called_by?, max_concurrency, message, model, plan_id?, session_id};
 *  called_by: id of the intent of the tool call that sends the message
 *  The answer is {chat_id, plan_id?}: chat_id of the message, plan_id as in @chat. */
int wfs_session_chat(const struct wfs_session *session, json_t *chat, struct wfs_request *request);

/** wfs_session_plan_import() - make a plan from the text in a blob
 *  @import: {batch_size, blob, max_concurrency, model, rerun?, resume?, session_id}; resume: run
 *  the plan at once, instead of waiting for wfs_session_plan_resume(); rerun: run steps again that
 *  are done but have no results, instead of refusing the plan
 *  The answer is {chat_id}. */
int wfs_session_plan_import(
	const struct wfs_session *session, json_t *import, struct wfs_request *request);

/** wfs_session_plan_resume() - continue a plan if it was stopped, or waits because its answer could
 *  not be made; otherwise the plan stays as it is
 *  @resume: {plan_id, retry_failed?}; retry_failed: also run steps again that failed or were
 *  skipped, even if the plan has ended
 *  Allowed to the principal that made the plan, if it has a drive grant, to one with a drive grant
 *  for all plans, and to an administrator. The answer is {chat_id, plan_id}. */
int wfs_session_plan_resume(
	const struct wfs_session *session, json_t *resume, struct wfs_request *request);

/** wfs_session_plan_stop() - stop a plan, or a chat. @stop: {plan_id} or {chat_id}. Allowed to the
 *  same principals as wfs_session_plan_resume(). The answer is {plan_id} or {chat_id}, as in
 *  @stop. */
int wfs_session_plan_stop(
	const struct wfs_session *session, json_t *stop, struct wfs_request *request);

/** wfs_session_leave_plan() - stop a plan or chat that the session's principal has begun and does
 *  not wait for any more. For drivers: needs no right. @stop and the answer: as for
 *  wfs_session_plan_stop() */
int wfs_session_leave_plan(
	const struct wfs_session *session, json_t *stop, struct wfs_request *request);
