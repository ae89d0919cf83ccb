/* SPDX-License-Identifier: Apache-2.0 */
/* Help texts, from the table of commands. They fit 80 columns. */
#include "fs/command/help.h"

#include <string.h>

#include "kernel/base/near.h"
#include "kernel/base/page.h"

static void print_item(FILE *file, const char *left, const char *text)
{
	WFS_AUTO_BUFFER struct wfs_buffer page = {0};

	wfs_page_item(&page, left, text);
	fputs(wfs_buffer_text(&page), file);
}

static void print_options(FILE *file, wfs_option_set options)
{
	for (size_t i = 0; i < WFS_OPTION_COUNT; i++) {
		const struct wfs_option_row *const row = &wfs_option_rows[i];
		char left[80] = "      ";

		if (!wfs_option_in(options, i))
			continue;
		if (row->letter)
			snprintf(left, sizeof(left), "  -%c, ", row->letter);
		const size_t size = strlen(left);
		snprintf(left + size, sizeof(left) - size, "--%s%s%s", row->name,
			wfs_option_needs_value(row) ? " " : "", row->value ? row->value : "");
		print_item(file, left, row->help);
	}
}

static void print_command_line(FILE *file, const struct wfs_command *command)
{
	char left[80];

	snprintf(left, sizeof(left), "  %s %s", command->name, command->arguments);
	print_item(file, left, command->summary);
}

/* Prints all commands of a group, if command @first is the group's first. */
static void print_group(FILE *file, const struct wfs_commands *commands, size_t first)
{
	const char *const group = commands->rows[first].group;

	for (size_t i = 0; i < first; i++)
		if (strcmp(commands->rows[i].group, group) == 0)
			return;
	fprintf(file, "\n%s:\n", group);
	for (size_t i = first; i < commands->count; i++)
		if (strcmp(commands->rows[i].group, group) == 0)
			print_command_line(file, &commands->rows[i]);
}

void wfs_help_overview(FILE *file, const struct wfs_commands *commands)
{
	fputs("Usage: worldfs [-w WORLD] COMMAND [OPTION]... [ARGUMENT]...\n"
	      "Keeps event-sourced worlds and shows them as files.\n",
		file);
	for (size_t i = 0; i < commands->count; i++)
		print_group(file, commands, i);
	fputs("\nEverywhere:\n", file);
	print_options(file, WFS_OPTIONS_GLOBAL | WFS_OPTION_BIT(VERSION));
	fputs("\nData goes to standard output; notices, progress and the height that was read\n"
	      "(meta) go to standard error.\n"
	      "Exit status: 0 success, 1 failure or not found, 2 wrong command line.\n"
	      "'worldfs COMMAND --help' describes a command.\n",
		file);
}

void wfs_help_group(FILE *file, const struct wfs_commands *commands, const char *word)
{
	const size_t size = strlen(word);

	fprintf(file, "Usage: worldfs [-w WORLD] %s COMMAND [OPTION]... [ARGUMENT]...\n\n", word);
	for (size_t i = 0; i < commands->count; i++)
		if (strncmp(commands->rows[i].name, word, size) == 0 &&
			commands->rows[i].name[size] == ' ')
			print_command_line(file, &commands->rows[i]);
	fprintf(file, "\n'worldfs %s COMMAND --help' describes a command.\n", word);
}

static void print_command(FILE *file, const struct wfs_command *command)
{
	fprintf(file, "Usage: worldfs [-w WORLD] %s%s%s%s\n", command->name,
		command->options ? " [OPTION]..." : "", *command->arguments ? " " : "",
		command->arguments);
	fprintf(file, "%s: %s.\n\n", command->name, command->summary);
	fputs(command->help, file);
	fputc('\n', file);
	print_options(file, command->options);
	print_options(file, WFS_OPTIONS_GLOBAL);
}

int wfs_help_refuse(struct wfs_run *run, const char *word)
{
	struct wfs_near near = {.asked = word};
	char first[WFS_NEAR_SIZE_MAX];
	char nearest[WFS_NEAR_SIZE_MAX];

	for (size_t i = 0; i < run->commands->count; i++) {
		snprintf(first, sizeof(first), "%.*s",
			(int)strcspn(run->commands->rows[i].name, " "),
			run->commands->rows[i].name);
		wfs_near_try(&near, first);
		if (near.name == first)
			near.name = memcpy(nearest, first, sizeof(first));
	}
	return near.name ? wfs_run_misuse(run, "unknown command '%.60s'; did you mean '%s'?", word,
				   near.name)
			 : wfs_run_misuse(run, "unknown command '%.60s'", word);
}

int wfs_help_words(struct wfs_run *run, const char *const *words, size_t word_count)
{
	size_t named = 0;
	const struct wfs_command *const command =
		wfs_command_find(run->commands, words, word_count, &named);

	if (command && command->topic && word_count > named &&
		command->topic(run->out, words[named]))
		return 0;
	if (command)
		print_command(run->out, command);
	else if (word_count > 0 && wfs_command_is_group(run->commands, words[0]))
		wfs_help_group(run->out, run->commands, words[0]);
	else if (word_count > 0)
		return wfs_help_refuse(run, words[0]);
	else
		wfs_help_overview(run->out, run->commands);
	return 0;
}

int wfs_run_help(struct wfs_run *run)
{
	return wfs_help_words(run, run->arguments, run->argument_count);
}
