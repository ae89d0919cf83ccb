/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What commands print to a terminal. Text of agents, models and strangers may hold sequences that a terminal takes for
 * commands; everything that a command prints to one passes here. What goes to a file or a pipe stays as it is.
 */
#pragma once

#include <stdio.h>

/**
 * wfs_terminal_open() - a stream that writes to @file what wfs_terminal_clean() leaves
 * Return: the stream (caller closes it before @file), or @file when it is no terminal, or when there is no memory.
 */
FILE *wfs_terminal_open(FILE *file);
