/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which principal a user of this host is, at the control socket.
 *
 * The world's owner, and root, are the operator; others are whom `uids` in the world's host.json
 * names, e.g. {"uids": {"1001": "alice"}}, or nobody.
 * Source: worldfs(1).
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "kernel/base/error.h"

struct wfs_peers;

/**
 * wfs_peers_new() - read host.json in @directory, if there is one
 * Return: 0, -EINVAL (invalid_json, invalid_argument: says where), -EFBIG, or another -errno.
 */
int wfs_peers_new(const char *directory, struct wfs_peers **ret_peers, struct wfs_error *error);
void wfs_peers_free(struct wfs_peers *peers);

/** wfs_peers_any() - is there a user besides the owner and root? */
bool wfs_peers_any(const struct wfs_peers *peers);

/** wfs_peers_principal() - borrowed; NULL: the user is nobody here. */
const char *wfs_peers_principal(const struct wfs_peers *peers, uid_t uid);
