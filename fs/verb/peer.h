/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the principal of a user of this host that connects to the control socket.
 *
 * The world's owner, and root, are the operator. Other users are the principal that `uids` in the
 * world's host.json names, for example {"uids": {"1001": "alice"}}; users without a principal are
 * refused.
 * Source: worldfs(1).
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "kernel/base/error.h"

struct wfs_peers;

/** wfs_peers_new() - read `uids` of host.json in @directory; the file may be missing. If the user
 *  does not trust it (kernel/base/trust.h), this is logged, and its `uids` are ignored.
 *  @ret_peers: caller frees it with wfs_peers_free()
 *  Return: 0, -EINVAL (invalid_json, invalid_argument: says where), or another -errno of
 *  reading the file; with @error. */
int wfs_peers_new(const char *directory, struct wfs_peers **ret_peers, struct wfs_error *error);
void wfs_peers_free(struct wfs_peers *peers);

/** wfs_peers_any() - does host.json give a principal to any user but the world's owner and root? */
bool wfs_peers_any(const struct wfs_peers *peers);

/** wfs_peers_principal() - find the principal of the user @uid; of root and of the user of this
 *  process it is the operator. Return: its id, borrowed from @peers; NULL: the user has none. */
const char *wfs_peers_principal(const struct wfs_peers *peers, uid_t uid);
