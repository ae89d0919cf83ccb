/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The address of a control socket. Paths of any length work: both ends reach the socket through
 * a descriptor of its directory, because sun_path has only 108 bytes (unix(7)).
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "kernel/base/error.h"

#define WFS_SOCKET_NAME "control.sock"

/**
 * wfs_socket_listen() - a bound socket, not listening yet
 * @for_others: let other users connect; else its mode is 0600
 * The caller owns the world, so a socket that is there was left behind and is replaced.
 * Return: a descriptor (caller closes), -EINVAL (something else is there), or -errno.
 */
int wfs_socket_listen(const char *directory, bool for_others, struct wfs_error *error);

/**
 * wfs_socket_pass_descriptors() - may the other end send descriptors (SCM_RIGHTS)?
 *
 * A connection that was accepted from wfs_socket_listen() refuses descriptors until this is called:
 * the sender gets EPERM. Linux before 6.16 does not know the option and takes them from everybody.
 */
void wfs_socket_pass_descriptors(int fd, bool pass);

/**
 * wfs_socket_shares() - is a process in the same namespace as this one?
 * @kind: a name in /proc/self/ns: "mnt" (its paths are ours), "user" (its uids are ours)
 * Return: false also when that cannot be found out.
 */
bool wfs_socket_shares(pid_t pid, const char *kind);

/**
 * wfs_socket_connect() - to the process that owns the world in @directory
 *
 * The name must be a socket of root, of this user or of the directory's owner. A link is not followed:
 * it would lead a request for one world to the owner of another.
 * @wait_ms: how long it may take; 0: for ever
 * Return: a descriptor (caller closes), -ENOENT or -ECONNREFUSED (nobody listens; @error is not set),
 *         -ETIMEDOUT (too many connect already, and none is accepted; the same),
 *         or -errno with @error: -EINVAL (not a socket), -EACCES (another user's socket), …
 */
int wfs_socket_connect(const char *directory, unsigned int wait_ms, struct wfs_error *error);
