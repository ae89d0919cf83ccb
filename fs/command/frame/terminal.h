/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Standard output of commands, when it is a terminal. Text of agents, models and strangers may hold
 * sequences that a terminal takes for commands, so this text passes here. Output to a file or pipe
 * stays as it is. Standard error gets lines that wfs_run_notice() has cleaned.
 */
#pragma once

#include <stdio.h>

/**
 * wfs_terminal_open() - a stream that writes to @file what wfs_terminal_clean() leaves
 * Return: the stream (caller closes it before @file), or @file when it is no terminal, or when there is no memory.
 */
FILE *wfs_terminal_open(FILE *file);
