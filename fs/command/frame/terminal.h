/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Standard output of commands on a terminal. Text of agents, models and strangers may contain
 * sequences that a terminal executes, so it is cleaned here. Output to a file or pipe is not
 * changed. wfs_run_notice() cleans lines for standard error.
 */
#pragma once

#include <stdio.h>

/** wfs_terminal_open() - open a stream that passes text to @file, in which `?` replaces each
 *  control character but newline and tab (wfs_terminal_clean() in kernel/base/encode.h)
 *  Return: the stream (caller closes it before @file); or @file if it is not a terminal, or without
 *  memory. */
FILE *wfs_terminal_open(FILE *file);
