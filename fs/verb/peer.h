/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the principal of a user of this host that connects to the control socket.
 *
 * The world's owner, and root, are the operator. Other users are the principal that `uids` in the
 * world's host.json names, for example {"uids": {"1001": "alice"}}; users without a principal are
 * refused.
 * Source: worldfs-host(5).
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "kernel/base/error.h"
#include "kernel/manifest/grant.h"

struct wfs_peers; /* functions may be called on any thread */

/** wfs_peers_new() - read `uids` of host.json in @directory, that of the world; the file may be
 *  missing. If the user does not trust it (kernel/base/trust.h), this is logged, and its `uids` are
 *  ignored.
 *  @ret_peers: set on success; caller frees it with wfs_peers_free()
 *  Return: 0, -EINVAL (invalid_json: not JSON; invalid_argument: not as worldfs-host(5) says), or
 *  another -errno of reading the file; with @error. */
int wfs_peers_new(const char *directory, struct wfs_peers **ret_peers, struct wfs_error *error);
void wfs_peers_free(struct wfs_peers *peers);

/** wfs_peers_reload() - read host.json in @directory again; on failure, @peers stay as they are.
 *  Return: as wfs_peers_new(). */
int wfs_peers_reload(struct wfs_peers *peers, const char *directory, struct wfs_error *error);

/** wfs_peers_any() - does host.json give a principal to any user but the world's owner and root? */
bool wfs_peers_any(struct wfs_peers *peers);

/** wfs_peers_principal() - find the principal of the user @uid; that of root and of the user of
 *  this process is the operator. @ret_principal: id of the principal. Return: false: the user has
 *  none, and @ret_principal is not set. */
bool wfs_peers_principal(
	struct wfs_peers *peers, uid_t uid, char ret_principal[static WFS_GRANT_NAME_MAX + 1]);
