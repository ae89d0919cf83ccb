/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out whether the owner of a world reacts. Any answer to a connection, or its end, is a
 * reaction; an owner that was stopped, or hangs, accepts no connection.
 * Thread: any.
 */
#pragma once

#include <stdbool.h>

#include "kernel/base/error.h"

/** wfs_reaction() - connect to the owner of the world in @directory, and wait up to @wait_ms for a
 *  reaction. Return: did the owner react? True also if the connection fails at once, for instance
 *  because the owner has just ended. */
bool wfs_reaction(const char *directory, unsigned int wait_ms);

/** wfs_reaction_missed() - fill @error: the owner of the world in @directory, whose process id the
 *  message gives, did not react within @wait_ms. Return: -ETIMEDOUT. */
int wfs_reaction_missed(const char *directory, unsigned int wait_ms, struct wfs_error *error);
