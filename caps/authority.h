/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The authority of an open world: it knows every grant, and keeps the rights of each principal that
 * is at work as the newest commit has them.
 *
 * Grants are cells (kernel/domain/principal/grants.h). The authority observes commits, so that the rights that a
 * revocation leaves are in force, and every watcher has been told, before whoever revoked is
 * answered. Time ends grants as well: watchers are told then, too. Of a world that is opened for
 * reading only, which another process may change, the grants are read again when it has grown.
 * Source: spec 3, "Revocation is complete".
 * Thread: any.
 */
#pragma once

#include "kernel/rights/rights.h"
#include "kernel/world/world.h"

struct wfs_authority;
struct wfs_holder; /* a principal at work */

/* Who keeps copies of what a principal may see. Zero-initialise, set `changed`. */
struct wfs_rights_watcher {
	/* What the principal may see may have changed. The new rights are in force; who changed
	 * them is not answered yet. On the publisher's thread or the authority's, one at a time. */
	void (*changed)(struct wfs_rights_watcher *watcher);
	struct wfs_rights_watcher *next; /* private */
};

/**
 * wfs_authority_new() - of @world, which must outlive it
 * Return: 0, -EIO, -ENOMEM.
 */
int wfs_authority_new(
	struct wfs_world *world, struct wfs_authority **ret_authority, struct wfs_error *error);

/** wfs_authority_free() - when no principal is at work any more; accepts NULL. */
void wfs_authority_free(struct wfs_authority *authority);
WFS_DEFINE_AUTO(authority, struct wfs_authority, wfs_authority_free)
#define WFS_AUTO_AUTHORITY WFS_CLEANUP(wfs_auto_authority)

struct wfs_world *wfs_authority_world(const struct wfs_authority *authority);

/** wfs_authority_hold() - a principal begins to work.
 *  Return: 0, -ENOENT (not_found), -EIO, -ENOMEM. */
int wfs_authority_hold(struct wfs_authority *authority, const char *principal,
	struct wfs_holder **ret_holder, struct wfs_error *error);
void wfs_authority_release(struct wfs_authority *authority, struct wfs_holder *holder);

const char *wfs_holder_principal(const struct wfs_holder *holder);

/**
 * wfs_authority_rights() - as they are now; caller unrefs
 * @ret_height: they follow from the grants at this height, or at a later one
 * Return: the rights, or NULL without memory: then the principal may do nothing.
 */
struct wfs_rights *wfs_authority_rights(
	struct wfs_authority *authority, struct wfs_holder *holder, uint64_t *ret_height);

/** wfs_authority_rights_of() - the same of anybody, at work or not. NULL: no memory. */
struct wfs_rights *wfs_authority_rights_of(struct wfs_authority *authority, const char *principal);

/** wfs_authority_seen() - the world had @height; see above, of a world for reading only. */
void wfs_authority_seen(struct wfs_authority *authority, uint64_t height);

/** wfs_authority_watch() - have @watcher told of changes from now on.
 *  Return: 0, -EAGAIN (no thread to be had for what time ends). */
int wfs_authority_watch(struct wfs_authority *authority, struct wfs_holder *holder,
	struct wfs_rights_watcher *watcher);

/** wfs_authority_unwatch() - when it returns, the watcher is not being told any more. */
void wfs_authority_unwatch(struct wfs_authority *authority, struct wfs_holder *holder,
	struct wfs_rights_watcher *watcher);

/**
 * wfs_authority_passed_on() - did @principal pass this grant on?
 * @ret_mark: of the grant, see wfs_grant_mark()
 * @ret_height: the grant was there at this height, or at a later one
 * Return: 1, 0 (@principal has passed on no grant of that name), or -ENOMEM.
 */
int wfs_authority_passed_on(struct wfs_authority *authority, const char *grant,
	const char *principal, struct wfs_hash *ret_mark, uint64_t *ret_height);

/** wfs_authority_refused() - count a refused read. */
void wfs_authority_refused(struct wfs_authority *authority);
uint64_t wfs_authority_refused_total(const struct wfs_authority *authority);
