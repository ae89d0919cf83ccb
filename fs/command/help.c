/* SPDX-License-Identifier: Apache-2.0 */
/* Help texts, from the table of commands. They fit 80 columns. */
#include <string.h>

#include "fs/command/frame/run.h"
#include "kernel/base/page.h"

void wfs_help_item(FILE *file, const char *left, const char *text)
{
	WFS_AUTO_BUFFER struct wfs_buffer page = {0};

	wfs_page_item(&page, left, text);
	fputs(wfs_buffer_text(&page), file);
}

static void print_paragraphs(FILE *file, const char *text)
{
	WFS_AUTO_BUFFER struct wfs_buffer page = {0};

	while (*text) {
		const size_t size = strcspn(text, "\n");

		if (*text == ' ')
			wfs_buffer_printf(&page, "%.*s\n", (int)size, text);
		else
			wfs_page_words(&page, 0, 0, WFS_BYTES(text, size));
		text += size + 1; /* every paragraph has its end */
	}
	fputs(wfs_buffer_text(&page), file);
}

static void print_option(FILE *file, const struct wfs_option_row *row)
{
	char left[80] = "      ";

	if (row->letter)
		snprintf(left, sizeof(left), "  -%c, ", row->letter);
	const size_t size = strlen(left);
	snprintf(left + size, sizeof(left) - size, "--%s%s%s", row->name,
		wfs_option_needs_value(row) ? " " : "", row->value ? row->value : "");
	wfs_help_item(file, left, row->help);
}

static void print_options(FILE *file, uint64_t options)
{
	for (size_t i = 0; i < WFS_OPTION_COUNT; i++)
		if (options & UINT64_C(1) << i)
			print_option(file, &wfs_option_rows[i]);
}

static void print_command_line(FILE *file, const struct wfs_command *command)
{
	char left[80];

	snprintf(left, sizeof(left), "  %s %s", command->name, command->arguments);
	wfs_help_item(file, left, command->summary);
}

/* All commands of the group that command @first begins; nothing when an earlier one has begun it. */
static void print_group(FILE *file, size_t first)
{
	const char *const group = wfs_commands[first].group;

	for (size_t i = 0; i < first; i++)
		if (strcmp(wfs_commands[i].group, group) == 0)
			return;
	fprintf(file, "\n%s:\n", group);
	for (size_t i = first; i < wfs_command_count; i++)
		if (strcmp(wfs_commands[i].group, group) == 0)
			print_command_line(file, &wfs_commands[i]);
}

void wfs_help_overview(FILE *file)
{
	fputs("Usage: worldfs [-w WORLD] COMMAND [OPTION]... [ARGUMENT]...\n"
	      "Keeps event-sourced worlds and shows them as files.\n",
		file);
	for (size_t i = 0; i < wfs_command_count; i++)
		print_group(file, i);
	fputs("\nEverywhere:\n", file);
	print_options(file, WFS_OPTIONS_GLOBAL | WFS_OPTION_BIT(VERSION));
	fputs("\nData goes to standard output; notices, progress and the height that was read\n"
	      "(meta) go to standard error.\n"
	      "Exit status: 0 success, 1 failure or not found, 2 wrong command line.\n"
	      "'worldfs COMMAND --help' describes a command.\n",
		file);
}

void wfs_help_group(FILE *file, const char *word)
{
	const size_t size = strlen(word);

	fprintf(file, "Usage: worldfs [-w WORLD] %s COMMAND [OPTION]... [ARGUMENT]...\n\n", word);
	for (size_t i = 0; i < wfs_command_count; i++)
		if (strncmp(wfs_commands[i].name, word, size) == 0 &&
			wfs_commands[i].name[size] == ' ')
			print_command_line(file, &wfs_commands[i]);
	fprintf(file, "\n'worldfs %s COMMAND --help' describes a command.\n", word);
}

void wfs_help_command(FILE *file, const struct wfs_command *command)
{
	fprintf(file, "Usage: worldfs [-w WORLD] %s%s%s%s\n", command->name,
		command->options ? " [OPTION]..." : "", *command->arguments ? " " : "",
		command->arguments);
	fprintf(file, "%s: %s.\n\n", command->name, command->summary);
	print_paragraphs(file, command->help);
	fputc('\n', file);
	print_options(file, command->options);
	print_options(file, WFS_OPTIONS_GLOBAL);
}
