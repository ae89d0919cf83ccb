/* SPDX-License-Identifier: Apache-2.0 */
/* Private to fs/command/: completion of command lines. */
#pragma once

#include "fs/command/frame/run.h"

/** wfs_complete() - do `__complete WORD…`: print candidates for the last WORD. Always succeeds. */
int wfs_complete(
	const struct wfs_commands *commands, int count, char *const *words, FILE *out, FILE *err);
