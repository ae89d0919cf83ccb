/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that change the world.
 *
 * Each sets request->principal to the session's. A refusal is recorded as a decision, and then
 * returned as the answer: `done` is called as for any other answer. A function that returns 0 has
 * sent the request; if it returns -errno, request->error says why, and `done` is not called.
 * request->answer, which only some requests have, is the caller's.
 */
#pragma once

#include "kernel/world/request.h"

struct wfs_params;
struct wfs_session;

/** wfs_session_submit() - judge a request by its kind, then give it to the world's queue
 *  @request: of the kind event, blob, snapshot, manifest, gc or lift; other functions make requests
 *  of other kinds; must live until the answer
 *  Return: 0 (`done` will be called), -ENOMEM, or as wfs_world_submit() (kernel/world/world.h). */
int wfs_session_submit(const struct wfs_session *session, struct wfs_request *request);

/** wfs_session_call() - as wfs_session_submit(), but wait for the answer, which is in @request
 *  when this returns; `done` and `context` of @request are overwritten. Thread: any but the
 *  world's kernel thread and its publisher thread, without which no answer comes. Return: 0, or the
 *  -errno of a refusal or failure, also if nothing was sent; request->error says why. */
int wfs_session_call(const struct wfs_session *session, struct wfs_request *request);

enum { WFS_SESSION_REFUSED = 1 };

/** wfs_session_admit() - may this session do @effect to anything at all?
 *  To be called for an effect that does not become a request to the kernel (mount, shutdown), and
 *  for one whose artifact or reducer is not known yet: a later function, which gets the artifact or
 *  reducer, then judges the effect again, for that
 *  @request: without a kind, and with `done` set
 *  Return: 0 (allowed: nothing was sent, and @request can be used for a request to the kernel),
 *          WFS_SESSION_REFUSED (`done` will be called with the refusal), or -errno (it could not
 *          be judged, or the refusal could not be recorded). */
int wfs_session_admit(
	const struct wfs_session *session, enum wfs_effect effect, struct wfs_request *request);

/** wfs_session_act() - judge an action (kernel/domain/action/action.h) together with the artifact
 *  that it names, and send it
 *  @action: with its `action_type`; must live until `done` is called. In `done`, request->answer is
 *           {data, message}; after a refusal by the action's own rules, details of the refusal or
 *           NULL; after a refusal by rights, NULL
 *  Return: 0 (`done` will be called), -EINVAL (invalid_argument: unknown `action_type`, or a member
 *          of @action is wrong or missing), -ENOMEM, or as wfs_world_submit()
 *          (kernel/world/world.h). */
int wfs_session_act(
	const struct wfs_session *session, const json_t *action, struct wfs_request *request);

/** wfs_session_apply() - bring a manifest into force, or, for a dry run, report what would change
 *  @params: of WFS_EFFECT_WORLD_APPLY (kernel/manifest/effect.h); must live until the answer.
 *  request->answer is then the diff of kernel/manifest/manifest-diff.h, with the members
 *  base_manifest_hash, dry_run and manifest_hash added
 *  Return: as wfs_session_submit(). */
int wfs_session_apply(const struct wfs_session *session, const struct wfs_params *params,
	struct wfs_request *request);

/*
 * The objects that the functions below are given become the requests' actions. They belong to the
 * caller, and must live until `done` is called. In `done`, request->answer is {name} of the grant,
 * {removed} (how many grants were revoked), or {id} of the principal. Each function returns 0
 * (`done` will be called), or -errno.
 */

/** wfs_session_grant() - grant a capability; if the session's principal may not make grants,
 *  delegate a part of one that it holds
 *  @grant: {cap, to, params?, name?, expires_at_ns?, budget?}, as in a cell of sys.grant
 *  (kernel/domain/principal/grants.h); the function adds `params` if it is missing, and `from` if
 *  the grant is delegated */
int wfs_session_grant(
	const struct wfs_session *session, json_t *grant, struct wfs_request *request);

/** wfs_session_revoke() - revoke a grant, and all grants delegated from it. @revocation: {name}.
 *  Allowed to a principal that may make grants, and to the one that delegated this grant. */
int wfs_session_revoke(
	const struct wfs_session *session, json_t *revocation, struct wfs_request *request);

/** wfs_session_add_principal() - make a principal without grants. @principal: {id} */
int wfs_session_add_principal(
	const struct wfs_session *session, json_t *principal, struct wfs_request *request);
