/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does the process that owns a world react at all? Any answer to a connection, and its end, shows that it does;
 * one that was stopped, or hangs, accepts nothing.
 * Thread: any.
 */
#pragma once

#include <stdbool.h>

#include "kernel/base/error.h"

/** wfs_reaction() - wait for a reaction, up to @wait_ms. Return: true also when it has just ended. */
bool wfs_reaction(const char *directory, unsigned int wait_ms);

/** wfs_reaction_missed() - say that there was none in @wait_ms, and which process it is. Return: -ETIMEDOUT. */
int wfs_reaction_missed(const char *directory, unsigned int wait_ms, struct wfs_error *error);
