/* SPDX-License-Identifier: Apache-2.0 */
/* Help texts, from the table of commands. They fit 80 columns. */
#include <string.h>

#include "fs/command/command-impl.h"

enum {
	HELP_WIDTH = 79,
	HELP_INDENT = 28, /* column of what an option or command does */
};

/* Prints @size bytes of @text word by word from @column on, and further lines from @indent on. */
static void print_words(FILE *file, size_t column, size_t indent, const char *text, size_t size)
{
	const char *const end = text + size;

	while (text < end) {
		const char *const space = memchr(text, ' ', (size_t)(end - text));
		const size_t word_size = (size_t)((space ? space : end) - text);

		if (column > indent && column + 1 + word_size > HELP_WIDTH) {
			fprintf(file, "\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			fputc(' ', file);
			column++;
		}
		(void)fwrite(text, 1, word_size, file);
		column += word_size;
		text += word_size + (space != NULL);
	}
	fputc('\n', file);
}

/* Prints what something does in the column for that, behind @column that the line has reached. */
static void print_meaning(FILE *file, size_t column, const char *text)
{
	if (column + 2 > HELP_INDENT) {
		fputc('\n', file);
		column = 0;
	}
	fprintf(file, "%*s", (int)(HELP_INDENT - column), "");
	print_words(file, HELP_INDENT, HELP_INDENT, text, strlen(text));
}

void wfs_help_item(FILE *file, const char *left, const char *text)
{
	fputs(left, file);
	print_meaning(file, strlen(left), text);
}

static void print_paragraphs(FILE *file, const char *text)
{
	while (*text) {
		const size_t size = strcspn(text, "\n");

		if (*text == ' ')
			fprintf(file, "%.*s\n", (int)size, text);
		else
			print_words(file, 0, 0, text, size);
		text += size + 1; /* every paragraph has its end */
	}
}

static void print_option(FILE *file, const struct wfs_option_row *row)
{
	char left[80] = "      ";

	if (row->letter)
		snprintf(left, sizeof(left), "  -%c, ", row->letter);
	const size_t size = strlen(left);
	snprintf(left + size, sizeof(left) - size, "--%s%s%s", row->name, row->value ? " " : "",
		row->value ? row->value : "");
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

void wfs_help_overview(FILE *file)
{
	const char *group = "";

	fputs("Usage: worldfs [-w WORLD] COMMAND [OPTION]... [ARGUMENT]...\n"
	      "Keeps event-sourced worlds and shows them as files.\n",
		file);
	for (size_t i = 0; i < wfs_command_count; i++) {
		if (strcmp(group, wfs_commands[i].group) != 0) {
			group = wfs_commands[i].group;
			fprintf(file, "\n%s:\n", group);
		}
		print_command_line(file, &wfs_commands[i]);
	}
	fputs("\nEverywhere:\n", file);
	print_options(file, WFS_OPTIONS_GLOBAL | WFS_OPTION_BIT(VERSION));
	fputs("\nData goes to standard output; notices, progress and where a read stood (meta)\n"
	      "to standard error. Exit status: 0 done, 1 failed or not found, 2 misuse.\n"
	      "'worldfs COMMAND --help' tells more about a command.\n",
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
	fprintf(file, "\n'worldfs %s COMMAND --help' tells more about a command.\n", word);
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
