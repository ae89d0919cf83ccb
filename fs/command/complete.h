/* SPDX-License-Identifier: Apache-2.0 */
/* Private to fs/command/: completion of command lines. */
#pragma once

#include "fs/command/frame/run.h"

/** wfs_complete() - do `worldfs __complete WORD…`, which shells call: print to @out how the last of
 *  @words may continue, one candidate a line. @count: number of @words; to @err nothing is
 *  printed. Return: 0. */
int wfs_complete(
	const struct wfs_commands *commands, int count, char *const *words, FILE *out, FILE *err);
