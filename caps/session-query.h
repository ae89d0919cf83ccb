/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions to the world: introspection, query_kernel, and how far turns, plans and chats are.
 */
#pragma once

#include <jansson.h>
#include <stdatomic.h>

#include "kernel/base/buffer.h"
#include "kernel/manifest/effect.h"

struct wfs_session;
struct wfs_view;

/** wfs_session_introspect() - answer one of the introspection effects for the session's principal
 *  @effect: one for which wfs_introspects() (kernel/manifest/effect.h) is true. @params: of
 *  the effect. @ret_payload: the answer; for a failure {"code","message","meta"?}, or NULL if
 *  rights refuse the effect or memory is lacking. Caller owns it.
 *  Return: 0, -EACCES (rights refuse @effect), -EOPNOTSUPP (not_enabled: the world's manifest does
 *          not have @effect), or as wfs_introspect() (kernel/read/introspect.h). */
int wfs_session_introspect(const struct wfs_session *session, enum wfs_effect effect,
	const json_t *params, json_t **ret_payload, struct wfs_error *error);

/* A question of query_kernel; see wfs_query_check() in kernel/query/query.h. Plain value; pointers
 * are borrowed. */
struct wfs_session_query {
	const char *type;
	const json_t *params;
	const atomic_bool *gone; /* becomes true when the caller has gone; may be NULL */
};

/** wfs_session_query() - answer a question of query_kernel
 *  @view: of the head
 *  @ret_result: set on success; caller owns it
 *  Return: 0, -EACCES (the principal may not query), -EOPNOTSUPP (not_enabled: the world's manifest
 *          does not have query_kernel), -EINTR (cancelled: *query->gone has become true), or as
 *          wfs_query_check() (kernel/query/query.h) and wfs_query_run()
 *          (kernel/domain/query/query-run.h). */
int wfs_session_query(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_session_query *query, json_t **ret_result, struct wfs_error *error);

/** wfs_session_turn() - summarise a turn, if the session sees the file `status` of the turn
 *  @ret_summary: see wfs_turn_summary() (kernel/domain/turn/turn-file.h); set on success; caller
 *  owns it
 *  Return: 0, -ENOENT (no such turn, or the session does not see that file), -EIO (stored bytes are
 *  damaged), -ENOMEM. */
int wfs_session_turn(const struct wfs_session *session, struct wfs_view *view,
	struct wfs_bytes turn_id, json_t **ret_summary);

/** wfs_session_gets_plan() - may the session's principal learn the result of a plan: did it make
 *  the plan, or may it see the file `status` of the plan? Return: 1 (even so, the plan may not
 *  exist), 0, or -errno. */
int wfs_session_gets_plan(const struct wfs_session *session, const char *plan_id);

/** wfs_session_plan() - summarise a plan, if the session sees the file `status` of the plan
 *  @ret_summary: see wfs_plan_summary() (kernel/domain/plan/plan-read.h); set on success; caller
 *  owns it
 *  Return: 0, -ENOENT (no such plan, or the session does not see that file), -EIO (stored bytes are
 *  damaged), -ENOMEM. */
int wfs_session_plan(const struct wfs_session *session, struct wfs_view *view,
	struct wfs_bytes plan_id, json_t **ret_summary);

/** wfs_session_chat_status() - report the newest message that the session's principal has sent in
 *  one of its series of chats
 *  @session_id: of the series
 *  @ret_status: {chat_id, plan, status}: id of the message, the summary of its plan (as
 *  wfs_session_plan() makes it), and its status; plan: null if the message has none, or the session
 *  does not see it; set on success; caller owns it
 *  Return: 0, -ENOENT (the principal has sent no message in such a series), -EIO (stored bytes are
 *  damaged), -ENOMEM. */
int wfs_session_chat_status(const struct wfs_session *session, struct wfs_view *view,
	const char *session_id, json_t **ret_status);
