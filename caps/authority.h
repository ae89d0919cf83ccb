/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The authority of an open world: has all grants, and keeps the rights of each principal that is at
 * work up to date with the newest commit.
 *
 * Grants are cells (kernel/domain/principal/grants.h). The authority observes commits: before a
 * request that revoked a grant is answered, the remaining rights are in force and every watcher was
 * notified. Grants also end by time; watchers are notified then, too. For a world that is open for
 * reading only, which another process may change, the grants are read again when the world has
 * grown. A *holder* is a principal that has sessions, with its rights and its watchers.
 * Thread: any.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/error.h"
#include "kernel/world/observer.h"
#include "kernel/world/world-options.h"

struct wfs_authority;
struct wfs_hash;
struct wfs_holder;
struct wfs_manifest;
struct wfs_rights;
struct wfs_world;

/* For a caller that keeps copies of what a principal may see. Zero-initialise, set `changed` and,
 * if wanted, `listed`. */
struct wfs_rights_watcher {
	/* Drop the copies: what the principal may see may have changed. The new rights are in
	 * force; if a request has changed them, it is not answered yet. Called on the publisher's
	 * thread, or on the authority's when a grant ends by time, one call at a time; must not
	 * add or remove watchers. */
	void (*changed)(struct wfs_rights_watcher *watcher);
	/* Drop copies of lists of outside tools (caps/session-tools.h): the world's list has
	 * changed. Always called on the authority's thread, never at the same time as `changed`;
	 * must not add or remove watchers. May be NULL. */
	void (*listed)(struct wfs_rights_watcher *watcher);
	struct wfs_rights_watcher *next; /* private */
};

/** wfs_authority_new() - make the authority of @world
 *  Unless the world is read-only, the authority observes it, and becomes its judge (caps/judge.h).
 *  @world: must outlive the authority. @ret_authority: set on success; caller frees it with
 *  wfs_authority_free()
 *  Return: 0, -EAGAIN (overloaded: too many views are open), -EIO (a grant is damaged), -ENOMEM. */
int wfs_authority_new(
	struct wfs_world *world, struct wfs_authority **ret_authority, struct wfs_error *error);

/** wfs_authority_free() - free an authority whose sessions have all been freed, and close the world
 *  if wfs_authority_open() has opened it; accepts NULL. */
void wfs_authority_free(struct wfs_authority *authority);
WFS_DEFINE_AUTO(authority, struct wfs_authority, wfs_authority_free)
#define WFS_AUTO_AUTHORITY WFS_CLEANUP(wfs_auto_authority)

/** wfs_authority_open() - open the world in @directory, and make its authority
 *  @options: borrowed for the call. @ret_authority: set on success; caller frees it with
 *  wfs_authority_free(), which also closes the world
 *  Return: as wfs_world_open() (kernel/world/world.h) and wfs_authority_new(); after a failure the
 *  world is closed. */
int wfs_authority_open(const char *directory, const struct wfs_world_options *options,
	struct wfs_authority **ret_authority, struct wfs_error *error);

struct wfs_world *wfs_authority_world(const struct wfs_authority *authority);

/* Each of these calls the function of kernel/world/world.h with `world` in place of `authority` in
 * its name. */
const char *wfs_authority_directory(const struct wfs_authority *authority); /* borrowed */
bool wfs_authority_read_only(const struct wfs_authority *authority);
bool wfs_authority_older(const struct wfs_authority *authority);
struct wfs_manifest *wfs_authority_manifest(const struct wfs_authority *authority);
void wfs_authority_end_code(const struct wfs_authority *authority, unsigned int delay_ms);
void wfs_authority_observe(const struct wfs_authority *authority, struct wfs_observer *observer);
void wfs_authority_unobserve(const struct wfs_authority *authority, struct wfs_observer *observer);

/** wfs_authority_hold() - get or make the holder of the principal with the id @principal, for a
 *  session. @ret_holder: set on success; caller gives it back with wfs_authority_release()
 *  Return: 0, -ENOENT (not_found: no such principal), -EAGAIN (overloaded: too many views are
 *  open), -EIO (stored bytes are damaged), -ENOMEM. */
int wfs_authority_hold(struct wfs_authority *authority, const char *principal,
	struct wfs_holder **ret_holder, struct wfs_error *error);
void wfs_authority_release(struct wfs_authority *authority, struct wfs_holder *holder);

const char *wfs_holder_principal(const struct wfs_holder *holder);

/** wfs_authority_rights() - get the current rights of a holder
 *  @ret_height: the rights follow from the grants at this height, or at a later one
 *  Return: the rights, which the caller releases with wfs_rights_unref() (kernel/rights/rights.h);
 *  NULL without memory: then the principal may do nothing. */
struct wfs_rights *wfs_authority_rights(
	struct wfs_authority *authority, struct wfs_holder *holder, uint64_t *ret_height);

/** wfs_authority_rights_of() - get the current rights of the principal with the id @principal, even
 *  if it has no session. Return: the rights, which allow nothing if the principal is unknown, and
 *  which the caller releases with wfs_rights_unref() (kernel/rights/rights.h); NULL without
 *  memory. */
struct wfs_rights *wfs_authority_rights_of(struct wfs_authority *authority, const char *principal);

/** wfs_authority_seen() - note that the world has reached @height. The authority reads the grants
 *  again if it could not read them before, or if the world is open for reading only and has grown;
 *  otherwise it does nothing. If reading fails, the rights stay as they are until a later call. */
void wfs_authority_seen(struct wfs_authority *authority, uint64_t height);

/** wfs_authority_watch() - notify @watcher from now on: call `changed` when what the principal of
 *  @holder sees may have changed, and `listed` when the list of outside tools has changed.
 *  @watcher: kept until wfs_authority_unwatch()
 *  Return: 0, -EAGAIN (the thread for grants that end by time could not be started; @watcher is not
 *  kept). */
int wfs_authority_watch(struct wfs_authority *authority, struct wfs_holder *holder,
	struct wfs_rights_watcher *watcher);

/** wfs_authority_unwatch() - forget @watcher; after this returns, it is not called any more. Waits
 *  for a call of any watcher that is in progress, so `changed` and `listed` must not call this. */
void wfs_authority_unwatch(struct wfs_authority *authority, struct wfs_holder *holder,
	struct wfs_rights_watcher *watcher);

/** wfs_authority_lend() - let principals other than operator have their rights until a moment
 *  For the node of a replicated world, which hears of a revocation for as long only as it has its
 *  lease. After @until_ns they may do nothing, until a later call; and the first later call
 *  notifies the watchers. Rights of worlds for which this is never called have no such end.
 *  @until_ns: by wfs_clock_boottime_ns(); INT64_MAX: no end */
void wfs_authority_lend(struct wfs_authority *authority, int64_t until_ns);

/** wfs_authority_passed_on() - has the principal with the id @principal delegated the grant with
 *  the name @grant?
 *  @ret_mark: of the grant, see wfs_grant_mark() (kernel/manifest/grant.h)
 *  @ret_height: the grant existed at this height, or at a later one
 *  Return: 1; otherwise @ret_mark and @ret_height are not set: 0 (@principal has not delegated a
 *  grant with that name), -ENOMEM. */
int wfs_authority_passed_on(struct wfs_authority *authority, const char *grant,
	const char *principal, struct wfs_hash *ret_mark, uint64_t *ret_height);

/** wfs_authority_refused() - count one refused read, for wfs_authority_refused_total(). */
void wfs_authority_refused(struct wfs_authority *authority);
uint64_t wfs_authority_refused_total(const struct wfs_authority *authority);
