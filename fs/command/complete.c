/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Candidates for the next word of a command line: `worldfs __complete WORD…`, for completions of
 * shells (contrib/completions). The last WORD is the one that is being typed.
 *
 * Prints one candidate per line, followed by a tab and its meaning; or `:directories` or `:files`,
 * which the shell completes. So only the table has commands and options. Errors are not reported,
 * because a user who completes a line wants no message in it.
 */
#include "fs/command/complete.h"

#include <string.h>

#include "kernel/base/encode.h"
#include "kernel/manifest/manifest.h"

enum { NAMES_MAX = 10000 }; /* names of a directory that are read, in pages of the verb */

/* The line so far. */
struct typed {
	struct wfs_run run;                /* for requests; has the options that name the world */
	const struct wfs_command *command; /* of the line; NULL: not known yet */
	struct wfs_line line;
	size_t command_words; /* of the words of the line that name the command */
	const char *option;   /* option whose value is being typed, or NULL */
	size_t option_size;
	const char *before; /* text before the value in its word: `--at=`, or "" */
	size_t before_size;
	const char *current; /* what is being typed: an argument, an option, or a value */
};

static bool begins(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static void offer(const struct typed *typed, const char *candidate, const char *meaning)
{
	if (begins(candidate, typed->current))
		fprintf(typed->run.out, "%.*s%s\t%s\n", (int)typed->before_size, typed->before,
			candidate, meaning);
}

/* --- candidates from the world --- */

/* Calls a function for each name of a directory of the tree, if the directory exists. */
static void each_name(struct typed *typed, const char *path,
	void (*each)(const struct typed *typed, const char *path, const json_t *entry))
{
	WFS_AUTO_JSON json_t *cursor = NULL;
	size_t count = 0;
	int r;

	do {
		WFS_AUTO_JSON json_t *page = NULL;
		const json_t *entry;
		size_t i;

		r = wfs_run_call(&typed->run, "fs-list",
			json_pack("{s:s, s:O*}", "path", path, "cursor", cursor), &page);
		json_array_foreach(json_object_get(page, "entries"), i, entry)
			each(typed, path, entry);
		count += json_array_size(json_object_get(page, "entries"));
		json_decref(cursor);
		cursor = json_incref(json_object_get(page, "next_cursor"));
	} while (!r && cursor && count < NAMES_MAX);
}

static void offer_name(const struct typed *typed, const char *path, const json_t *entry)
{
	(void)path;
	offer(typed, wfs_json_text(entry, "name"), "");
}

/* Offers a plan. Each directory has a file of its name beside it, which is skipped. */
static void offer_plan(const struct typed *typed, const char *path, const json_t *entry)
{
	if (strcmp(wfs_json_text(entry, "type"), "directory") == 0)
		offer_name(typed, path, entry);
}

/* Offers a key as commands take it, unless it has control characters, which cannot be typed. */
static void offer_key(const struct typed *typed, const char *path, const json_t *entry)
{
	WFS_AUTO_BUFFER struct wfs_buffer key = {0};
	const char *const name = wfs_json_text(entry, "name");
	(void)path;

	if (wfs_name_decode(name, strlen(name), &key) < 0 || !wfs_utf8_valid(key.data, key.size))
		return;
	for (size_t i = 0; i < key.size; i++)
		if ((unsigned char)key.data[i] < 0x20 || key.data[i] == 0x7f)
			return;
	offer(typed, wfs_buffer_text(&key), "");
}

static void offer_path(const struct typed *typed, const char *path, const json_t *entry)
{
	const bool directory = strcmp(wfs_json_text(entry, "type"), "directory") == 0;
	WFS_AUTO_BUFFER struct wfs_buffer whole = {0};

	wfs_buffer_printf(
		&whole, "%s%s%s", path, wfs_json_text(entry, "name"), directory ? "/" : "");
	offer(typed, wfs_buffer_text(&whole), "");
}

static void offer_paths(struct typed *typed)
{
	const char *const slash = strrchr(typed->current, '/');
	WFS_AUTO_BUFFER struct wfs_buffer directory = {0};

	if (slash)
		wfs_buffer_append(&directory, typed->current, (size_t)(slash + 1 - typed->current));
	each_name(typed, wfs_buffer_text(&directory), offer_path);
}

static void offer_keys(struct typed *typed)
{
	WFS_AUTO_BUFFER struct wfs_buffer path = {0};

	wfs_buffer_append_text(&path, "reducers/");
	wfs_buffer_append_text(&path, typed->line.words[typed->command_words]);
	each_name(typed, wfs_buffer_text(&path), offer_key);
}

static void offer_schemas(struct typed *typed)
{
	WFS_AUTO_JSON json_t *result = NULL;
	const json_t *schema;
	size_t i;

	(void)wfs_run_call(&typed->run, "manifest-read", NULL, &result);
	json_array_foreach(
		json_object_get(json_object_get(result, "manifest"), "schemas"), i, schema)
		offer(typed, wfs_json_text(schema, "name"), "");
}

static void offer_agents(struct typed *typed)
{
	WFS_AUTO_JSON json_t *result = NULL;
	const json_t *artifact;
	size_t i;

	(void)wfs_run_call(&typed->run, "query",
		json_pack("{s:s, s:{s:s}}", "query_type", "artifacts", "params", "type", "agent"),
		&result);
	json_array_foreach(json_object_get(result, "results"), i, artifact)
		offer(typed, wfs_json_text(artifact, "id"), "");
}

/* Offers the nodes of a replicated world, each with its role. */
static void offer_nodes(struct typed *typed)
{
	WFS_AUTO_JSON json_t *result = NULL;
	const json_t *node;
	size_t i;

	(void)wfs_run_call(&typed->run, "replicas", NULL, &result);
	json_array_foreach(json_object_get(result, "nodes"), i, node)
		offer(typed, wfs_json_text(node, "name"), wfs_json_text(node, "role"));
}

static void offer_resources(const struct typed *typed)
{
#define OFFER_RESOURCE(constant, name) offer(typed, #name "=", "");
	WFS_RESOURCES(OFFER_RESOURCE)
#undef OFFER_RESOURCE
}

/* Offers values. @kind: the name of the value in the help */
static void offer_values(struct typed *typed, const char *kind)
{
	static const char *const directories[] = {"DIR", "MNT", "SRC", "TREE"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(directories); i++)
		if (strcmp(kind, directories[i]) == 0)
			fputs(":directories\n", typed->run.out);
	if (strcmp(kind, "FILE") == 0 || strncmp(kind, "FILE|", strlen("FILE|")) == 0)
		fputs(":files\n", typed->run.out);
	else if (strcmp(kind, "REDUCER") == 0)
		each_name(typed, "reducers", offer_name);
	else if (strcmp(kind, "TURN") == 0)
		each_name(typed, "turns", offer_name);
	else if (strcmp(kind, "PLAN") == 0)
		each_name(typed, "plans", offer_plan);
	else if (strcmp(kind, "AGENT") == 0)
		offer_agents(typed);
	else if (strcmp(kind, "NODE") == 0)
		offer_nodes(typed);
	else if (strcmp(kind, "PRINCIPAL") == 0)
		each_name(typed, "principals", offer_name);
	else if (strcmp(kind, "KEY") == 0)
		offer_keys(typed);
	else if (strcmp(kind, "SCHEMA") == 0)
		offer_schemas(typed);
	else if (strcmp(kind, "PATH") == 0)
		offer_paths(typed);
	else if (strcmp(kind, "NAME=N") == 0)
		offer_resources(typed);
}

/* --- candidates from the table --- */

static void offer_options(const struct typed *typed)
{
	const wfs_option_set allowed = WFS_OPTIONS_GLOBAL |
		(typed->command ? typed->command->options : WFS_OPTION_BIT(VERSION));
	char text[40];

	for (size_t i = 0; i < WFS_OPTION_COUNT; i++) {
		if (!wfs_option_in(allowed, i))
			continue;
		snprintf(text, sizeof(text), "--%s", wfs_option_rows[i].name);
		offer(typed, text, wfs_option_rows[i].help);
	}
}

/* Offers commands, or the second words of commands that begin with the typed word. */
static void offer_commands(const struct typed *typed)
{
	const char *const group = typed->line.word_count > 0 ? typed->line.words[0] : NULL;
	char last[40] = "";

	for (size_t i = 0; i < typed->run.commands->count; i++) {
		const char *const name = typed->run.commands->rows[i].name;
		const size_t size = strcspn(name, " ");
		char word[40];

		snprintf(word, sizeof(word), "%.*s", (int)size, name);
		if (typed->line.word_count == 1 && strcmp(word, group) == 0 && name[size])
			offer(typed, name + size + 1, typed->run.commands->rows[i].summary);
		else if (!group && strcmp(word, last) != 0)
			offer(typed, word,
				name[size] ? typed->run.commands->rows[i].group
					   : typed->run.commands->rows[i].summary);
		memcpy(last, word, sizeof(last));
	}
}

/* Offers values for the argument @index of the usage line: REDUCER [KEY]; the last is optional. */
static void offer_argument(struct typed *typed, size_t index)
{
	const char *text = typed->command->arguments;
	char kind[40];

	for (; index > 0 && *text; index--)
		text += strcspn(text, " ") + strspn(text + strcspn(text, " "), " ");
	text += strspn(text, "[");
	snprintf(kind, sizeof(kind), "%.*s", (int)strcspn(text, " ]"), text);
	offer_values(typed, kind);
}

static void offer_value_of_option(struct typed *typed)
{
	const struct wfs_option_row *const row = wfs_option_find(typed->option, typed->option_size,
		WFS_OPTIONS_GLOBAL | (typed->command ? typed->command->options : 0));

	if (row && wfs_option_needs_value(row))
		offer_values(typed, row->value);
}

/* --- reading the line --- */

/* Finds the typed value within `--at=val`. */
static void look_inside(struct typed *typed)
{
	const char *const equals = strchr(typed->current, '=');

	if (typed->line.options_ended || !equals || !begins(typed->current, "--"))
		return;
	typed->option = typed->current + 2;
	typed->option_size = (size_t)(equals - typed->option);
	typed->before = typed->current;
	typed->before_size = (size_t)(equals + 1 - typed->current);
	typed->current = equals + 1;
}

static void read_line(struct typed *typed, int count, char *const *words)
{
	const struct wfs_line *const line = &typed->line;

	typed->current = count > 0 ? words[count - 1] : "";
	wfs_line_read(&typed->line, count - 1, words);
	for (size_t i = 0; i < line->given_count; i++) {
		const struct wfs_given *const given = &line->given[i];

		if (!given->row || !wfs_option_needs_value(given->row))
			continue;
		typed->run.options[given->row - wfs_option_rows] = given->value;
		if (given->value)
			continue;
		typed->option = given->name;
		typed->option_size = given->name_size;
	}
	if (!typed->option)
		look_inside(typed);
	typed->command = wfs_command_find(
		typed->run.commands, line->words, line->word_count, &typed->command_words);
}

int wfs_complete(
	const struct wfs_commands *commands, int count, char *const *words, FILE *out, FILE *err)
{
	static const struct wfs_command reads = {.name = "__complete"}; /* changes nothing */
	struct typed typed = {
		.run = {.commands = commands, .command = &reads, .out = out, .err = err},
		.before = ""};

	read_line(&typed, count, words);
	if (typed.option)
		offer_value_of_option(&typed);
	else if (!typed.line.options_ended && typed.current[0] == '-')
		offer_options(&typed);
	else if (!typed.command)
		offer_commands(&typed);
	else
		offer_argument(&typed, typed.line.word_count - typed.command_words);
	wfs_access_free(typed.run.access);
	free(typed.run.directory);
	json_decref(typed.run.meta);
	return WFS_EXIT_DONE;
}
