/* SPDX-License-Identifier: Apache-2.0 */
/* Private to fs/command/: help texts, from the table of commands. @run: the running command, which
 * has this table, the streams and the error. */
#pragma once

#include "fs/command/frame/run.h"

wfs_command_run wfs_run_help;

void wfs_help_overview(FILE *file, const struct wfs_commands *commands);
void wfs_help_group(FILE *file, const struct wfs_commands *commands, const char *word);

/** wfs_help_words() - print help on the command, or the group such as `plan`, that the words name;
 *  without words, the list of all commands.
 *  Return: 0, or -EINVAL (misuse: nothing is printed; run->error has the message). */
int wfs_help_words(struct wfs_run *run, const char *const *words, size_t word_count);

/** wfs_help_refuse() - say in run->error that no command has the name @word, and which similar
 *  name exists, if any; prints nothing. Return: -EINVAL (misuse). */
int wfs_help_refuse(struct wfs_run *run, const char *word);
