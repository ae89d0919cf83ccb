/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one door: a session is a principal at work in a world.
 *
 * Mounts, control files, socket and command line hold a session and call nothing below it. What a
 * session does is in caps/session-<subject>.h. Every call names the effect kind it is
 * (kernel/manifest/effect.h), is judged by the rights that the principal has at that moment, and is
 * forwarded to one entry of the kernel. What a principal may not see is answered as if it did not
 * exist (-ENOENT); what it may not do at all is -EACCES. Refused changes are recorded; refused
 * reads are counted.
 * Source: docs/design.md §2.
 * Thread: any.
 */
#pragma once

#include "kernel/base/cleanup.h"
#include "kernel/manifest/effect.h"
#include "kernel/rights/scope.h"

struct wfs_authority;
struct wfs_permutation;
struct wfs_rights_watcher;
struct wfs_session;

/** wfs_session_new() - begin to act as the principal with the id @principal
 *  @authority: kept; must outlive the session. @principal: copied
 *  @ret_session: set on success; caller frees it with wfs_session_free()
 *  Return: 0, -ENOENT (not_found: no such principal), -EAGAIN (overloaded: too many views are
 *  open), -EIO (stored bytes are damaged), -ENOMEM. */
int wfs_session_new(struct wfs_authority *authority, const char *principal,
	struct wfs_session **ret_session, struct wfs_error *error);
void wfs_session_free(struct wfs_session *session);
WFS_DEFINE_AUTO(session, struct wfs_session, wfs_session_free)
#define WFS_AUTO_SESSION WFS_CLEANUP(wfs_auto_session)

const char *wfs_session_principal(const struct wfs_session *session);

enum { WFS_SESSION_QUEUE_MAX = 47 }; /* bytes */

/**
 * wfs_session_connect() - have all requests of the session done in the order in which they come
 * A principal has one queue, in which the requests of all its connections wait. Only the operator
 * has one for each connection, because it may act as another principal for one request, see
 * wfs_session_connect_as().
 * @connection: any number but 0 that no other connection has
 */
void wfs_session_connect(struct wfs_session *session, uint64_t connection);

/** wfs_session_connect_as() - have the requests of @session done in one order with those of @other,
 *  in the same queue, although the two sessions may have different principals. @other: its
 *  connection and the name of its queue are copied */
void wfs_session_connect_as(struct wfs_session *session, const struct wfs_session *other);
struct wfs_authority *wfs_session_authority(const struct wfs_session *session);

/* --- judging --- */

/** wfs_session_judge() - may this session do @effect to anything at all?
 *  A refusal is counted. @error: may be NULL
 *  Return: 0 (yes), -EACCES (not_authorized: no grant; expired: the grant has ended;
 *          policy_denied), -EDQUOT (quota_exceeded: the grant's budget is used up), -EOPNOTSUPP
 *          (not_enabled: the world's manifest does not have the effect), -ENOMEM. */
int wfs_session_judge(
	const struct wfs_session *session, enum wfs_effect effect, struct wfs_error *error);

/** wfs_session_may() - may this session do @effect to anything at all? A refusal is not counted.
 *  Return: false without memory, too. */
bool wfs_session_may(const struct wfs_session *session, enum wfs_effect effect);

/** wfs_session_sees() - may the session see a path of the tree?
 *  @effect: by which the path is read
 *  @path: without `at/<height>`; not compared with the grants if @effect is about blobs
 *  @least: how much of @path a grant must cover: WFS_COVERAGE_BELOW for a directory,
 *          WFS_COVERAGE_WHOLE for a file
 *  @error: filled on -EACCES and -EOPNOTSUPP; may be NULL
 *  Return: 0 (yes), -ENOENT (no grant covers the path), -EACCES (the session may read nothing by
 *          this effect; counted), -EOPNOTSUPP (not_enabled: the world's manifest does not have the
 *          effect; counted), -ENOMEM. */
int wfs_session_sees(const struct wfs_session *session, enum wfs_effect effect,
	struct wfs_path path, enum wfs_coverage least, struct wfs_error *error);

/** wfs_session_sees_whole() - may the session see and list everything in the directory @path, whose
 *  names are those of cells of @reducer? Return: 1, 0, -ENOMEM. */
int wfs_session_sees_whole(
	const struct wfs_session *session, struct wfs_path path, struct wfs_bytes reducer);

/** wfs_session_queries() - has the session's principal a grant that shows any part of the tree?
 *  Return: false without memory, too. */
bool wfs_session_queries(const struct wfs_session *session);

/** wfs_session_sees_all() - does the session see everything in the tree, except maybe blobs?
 *  Return: false without memory, too. */
bool wfs_session_sees_all(const struct wfs_session *session);

/* --- numbers that the principal sees --- */

/** wfs_session_permutation() - get the permutation of numbers that hides their order and gaps from
 *  the session's principal. @purpose: name of what the numbers are used for; each purpose has a
 *  permutation of its own. @first, @bits: range of the numbers, see wfs_permutation_init()
 *  (kernel/base/permutation.h). @ret_permutation: plain value. Return: 0, -ENOMEM. */
int wfs_session_permutation(const struct wfs_session *session, const char *purpose, uint64_t first,
	unsigned int bits, struct wfs_permutation *ret_permutation);

/** wfs_session_cursors() - get the permutation of the cursors that the session's principal gets
 *  from listings. @ret_permutation: plain value; set if the answer is 1. Return: 1, 0 (the
 *  principal sees everything, so it gets cursors without a permutation), -ENOMEM. */
int wfs_session_cursors(const struct wfs_session *session, struct wfs_permutation *ret_permutation);

/* --- rights that change --- */

/** wfs_session_watch() - have `changed` of @watcher called whenever what the session may see has
 *  changed. @watcher: caps/authority.h says what to set, and on which threads `changed` is called;
 *  borrowed until wfs_session_unwatch(). Return: 0, -EAGAIN (no thread could be started: @watcher
 *  is not kept). */
int wfs_session_watch(const struct wfs_session *session, struct wfs_rights_watcher *watcher);

/** wfs_session_unwatch() - forget @watcher; after this returns, it is not called any more. Waits
 *  for a call of any watcher that is in progress, so `changed` and `listed` must not call this. */
void wfs_session_unwatch(const struct wfs_session *session, struct wfs_rights_watcher *watcher);

/* A request in progress, from before its first judgement until it is answered. Plain value. */
struct wfs_session_pin {
	const struct wfs_session *session; /* NULL: not pinned */
	unsigned int generation;
};
void wfs_session_pin(const struct wfs_session *session, struct wfs_session_pin *ret_pin);
void wfs_session_unpin(struct wfs_session_pin *pin);
#define WFS_AUTO_SESSION_PIN WFS_CLEANUP(wfs_session_unpin)

/** wfs_session_settle() - wait until all requests that are pinned now are unpinned
 *  If this is called after rights have changed, no request is answered by the old rights once it
 *  has returned. Requests that are pinned during the call are not waited for. Thread: one at a
 *  time. */
void wfs_session_settle(const struct wfs_session *session);
