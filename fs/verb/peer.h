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

/** wfs_peers_new() - read host.json in @directory; the file may be missing
 *  Return: 0, -EINVAL (invalid_json, invalid_argument: says where), -EFBIG, or another -errno. */
int wfs_peers_new(const char *directory, struct wfs_peers **ret_peers, struct wfs_error *error);
void wfs_peers_free(struct wfs_peers *peers);

/** wfs_peers_any() - has any user a principal besides the owner and root? */
bool wfs_peers_any(const struct wfs_peers *peers);

/** wfs_peers_principal() - the principal of a user; borrowed. NULL: the user has none. */
const char *wfs_peers_principal(const struct wfs_peers *peers, uid_t uid);
