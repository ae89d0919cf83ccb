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

/** wfs_socket_listen() - bind a control socket in @directory; it does not listen yet
 *  The caller owns the world, so a socket that exists is left from a former owner, and is replaced.
 *  @for_others: true: other users may connect; false: the mode of the socket is 0600
 *  Return: a descriptor (caller closes); with @error: -EINVAL (a file of another kind has the
 *  name), or another -errno. */
int wfs_socket_listen(const char *directory, bool for_others, struct wfs_error *error);

/** wfs_socket_admit() - set whether other users may connect to the control socket in @directory
 *  Return: 0, -EINVAL (the file with this name is missing, not a socket, or not this user's), or
 *  another -errno; with @error. */
int wfs_socket_admit(const char *directory, bool others, struct wfs_error *error);

/**
 * wfs_socket_pass_descriptors() - set whether the other end of @fd may send descriptors
 * (SCM_RIGHTS)
 *
 * A connection that was accepted from wfs_socket_listen() refuses descriptors until this is called:
 * the sender gets EPERM. Linux before 6.16 lacks the option, and takes descriptors from every
 * sender.
 */
void wfs_socket_pass_descriptors(int fd, bool pass);

/** wfs_socket_shares() - is the process @pid in the same namespace as this process?
 *  @kind: of namespace, a name in /proc/self/ns: "mnt" (the paths of @pid mean the same files),
 *         "user" (its uids mean the same users)
 *  Return: false also if this cannot be found out. */
bool wfs_socket_shares(pid_t pid, const char *kind);

/**
 * wfs_socket_connect() - connect to the process that owns the world in @directory
 *
 * The name WFS_SOCKET_NAME must be that of a socket of root, of this user or of the directory's
 * owner. A link is not followed: it would lead a request for one world to the owner of another.
 * @wait_ms: how long to wait while too many other clients wait to be accepted; 0: for ever
 * Return: a descriptor (caller closes); without @error: -ENOENT or -ECONNREFUSED (no process
 *         listens), -ETIMEDOUT (after @wait_ms);
 *         or -errno with @error: -EINVAL (not a socket), -EACCES (another user's socket), …
 */
int wfs_socket_connect(const char *directory, unsigned int wait_ms, struct wfs_error *error);
