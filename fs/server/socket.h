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
 * Return: a descriptor (caller closes), or -errno.
 */
int wfs_socket_listen(const char *directory, bool for_others, struct wfs_error *error);

/**
 * wfs_socket_pass_descriptors() - may the other end send descriptors (SCM_RIGHTS)?
 *
 * A connection that was accepted from wfs_socket_listen() refuses descriptors until this is called:
 * the sender gets EPERM. Linux before 6.16 does not know the option and takes them from everybody.
 */
void wfs_socket_pass_descriptors(int fd, bool pass);

/** wfs_socket_is_here() - is a process in our mount namespace, so that its paths are ours? */
bool wfs_socket_is_here(pid_t pid);

/**
 * wfs_socket_connect() - to whoever owns the world in @directory
 * Return: a descriptor (caller closes), -ENOENT or -ECONNREFUSED (nobody listens), or -errno.
 */
int wfs_socket_connect(const char *directory);
