/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line: `worldfs [-w WORLD] COMMAND …`.
 *
 * One table (fs/command/commands.txt) has all commands with their arguments, options and help
 * texts; parser, hints and `--help` come from it.
 * Source: worldfs(1).
 */
#pragma once

#include <stdio.h>

#include "caps/drive.h"
#include "fs/command/frame/exit.h"

/** wfs_command_main() - parse one command line and run it
 *  @out: data
 *  @err: notices, progress, meta, errors
 *  @drive: starts the driver of agents; NULL: they are not driven
 *  Return: the exit status. */
int wfs_command_main(int argc, char *const *argv, FILE *out, FILE *err, wfs_driver_start *drive);
