/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lock that makes one process the owner of a world directory: `worldfs.lock`, held with an
 * open file description lock (fcntl(2)). So Linux releases it however the owner ends, and other
 * processes can ask about it without taking it.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "kernel/base/error.h"

enum { WFS_OPEN_WAIT_MS = 5000 }; /* how long a command waits for another's lock */

/** wfs_lock_take() - become the owner of @directory
 *  @wait_ms: how long to wait until another owner has released the lock
 *  Return: a descriptor that holds the lock until the caller closes it, -EBUSY (busy: another
 *  process still owns @directory; the message names its pid), or another -errno. */
int wfs_lock_take(const char *directory, uint32_t wait_ms, struct wfs_error *error);

/** wfs_lock_owner() - find the process that owns @directory
 *  @ret_pid: 0: no process owns it (also if the directory or its lock file is missing), or the disk
 *  was full, and the owner could not write its pid. Return: 0, or -errno. */
int wfs_lock_owner(const char *directory, pid_t *ret_pid);
