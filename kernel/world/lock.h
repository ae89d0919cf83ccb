/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lock that makes one process the owner of a world directory: `worldfs.lock`, held with an
 * open file description lock (fcntl(2)), so that it is let go of however the owner ends, and can
 * be asked about without being taken.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "kernel/base/error.h"

/**
 * wfs_lock_take() - own @directory
 * @wait_ms: how long to wait for another owner to let go
 * Return: a descriptor that holds the lock until it is closed, -EBUSY (names the owner's pid), or
 *         another -errno.
 */
int wfs_lock_take(const char *directory, uint32_t wait_ms, struct wfs_error *error);

/** wfs_lock_owner() - Return: 0 and the owner's pid, 0 when nobody owns @directory; or -errno. */
int wfs_lock_owner(const char *directory, pid_t *ret_pid);
