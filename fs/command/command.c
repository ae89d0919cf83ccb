/* SPDX-License-Identifier: Apache-2.0 */
/* From a command line to a run: parsing, misuse, exit status. */
#include "fs/command/command.h"

#include <string.h>

#include "fs/client/client.h"
#include "fs/command/complete.h"
#include "fs/command/frame/interrupt.h"
#include "fs/command/help.h"
#include "fs/command/table.h"
#include "kernel/base/encode.h"
#include "kernel/base/formats.h"
#include "kernel/base/json.h"
#include "kernel/base/near.h"

enum { WAIT_MAX_S = 86400 }; /* longest wait for an owner */

#define SECOND_NS INT64_C(1000000000)
#define MS_NS INT64_C(1000000)

/* Is it the value of an option, an argument of its own? It may be a path, which has any bytes;
 * other arguments may become part of JSON. */
static bool is_value(const struct wfs_line *line, const char *argument)
{
	for (size_t i = 0; i < line->given_count; i++)
		if (line->given[i].value == argument)
			return true;
	return false;
}

static int refuse_option(struct wfs_run *run, const struct wfs_given *given)
{
	char name[WFS_NEAR_SIZE_MAX];
	struct wfs_near near = {.asked = name};

	snprintf(name, sizeof(name), "%.*s", (int)given->name_size, given->name);
	for (size_t i = 0; i < WFS_OPTION_COUNT; i++)
		wfs_near_try(&near, wfs_option_rows[i].name);
	return near.name ? wfs_run_misuse(run, "unknown option '%.60s'; did you mean '--%s'?",
				   given->argument, near.name)
			 : wfs_run_misuse(run, "unknown option '%.60s'", given->argument);
}

/* Reads the line, and checks what does not depend on the command. */
static int read_line(struct wfs_run *run, int argc, char *const *argv, struct wfs_line *line)
{
	wfs_line_read(line, argc - 1, argv + 1);
	for (int i = 1; i < argc; i++)
		if (!is_value(line, argv[i]) && !wfs_utf8_valid(argv[i], strlen(argv[i])))
			return wfs_run_misuse(
				run, "'%.60s': expected an argument in valid UTF-8", argv[i]);
	for (size_t i = 0; i < line->given_count; i++) {
		struct wfs_given *const given = &line->given[i];
		const struct wfs_option_row *const row = given->row;

		if (!row)
			return refuse_option(run, given);
		if (!row->value && given->value)
			return wfs_run_misuse(run, "option '--%s' takes no value", row->name);
		if (wfs_option_needs_value(row) && !given->value)
			return wfs_run_misuse(
				run, "option '--%s' needs a value: %s", row->name, row->value);
		if (!given->value)
			given->value = "";
	}
	return line->too_many ? wfs_run_misuse(run, "too many options") : 0;
}

static bool is_given(const struct wfs_line *line, enum wfs_option option)
{
	for (size_t i = 0; i < line->given_count; i++)
		if (line->given[i].row == &wfs_option_rows[option])
			return true;
	return false;
}

static int set_options(struct wfs_run *run, const struct wfs_line *line)
{
	for (size_t i = 0; i < line->given_count; i++) {
		const struct wfs_given *const given = &line->given[i];
		const struct wfs_option_row *const row = wfs_option_find(
			given->name, given->name_size, run->command->options | WFS_OPTIONS_GLOBAL);

		if (!row)
			return wfs_run_misuse(run, "'%s' has no option '%s%.*s'",
				run->command->name, given->name_size == 1 ? "-" : "--",
				(int)given->name_size, given->name);
		run->options[row - wfs_option_rows] = given->value;
		if (wfs_option_in(WFS_OPTIONS_REPEATED, (size_t)(row - wfs_option_rows)))
			run->values[run->value_count++] = given->value;
	}
	return 0;
}

static int set_arguments(struct wfs_run *run, const struct wfs_line *line, size_t words)
{
	const struct wfs_command *const command = run->command;
	const size_t count = line->word_count - words;

	if (count < command->argument_min)
		return wfs_run_misuse(run, "'%s' takes: %s", command->name, command->arguments);
	if (count > command->argument_max)
		return wfs_run_misuse(run, "'%.60s' is one argument too many",
			line->words[words + command->argument_max]);
	for (size_t i = 0; i < count; i++) {
		run->arguments[i] = line->words[words + i];
		if (!*run->arguments[i] && !command->empty_argument)
			return wfs_run_misuse(run, "an argument is empty; '%s' takes: %s",
				command->name, command->arguments);
	}
	run->argument_count = count;
	return 0;
}

/* --- reporting the end --- */

static void print_meta(struct wfs_run *run)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	if (!run->meta || run->options[WFS_OPTION_JSON] || run->options[WFS_OPTION_RAW_STATE])
		return;
	wfs_json_write(run->meta, &text);
	(void)fflush(run->out); /* both streams may be one file: keep the order */
	wfs_run_notice(run, "meta: %s", wfs_buffer_text(&text));
}

static void print_error(struct wfs_run *run, int r)
{
	if (run->error.code == WFS_OK)
		wfs_error_from_errno(&run->error, r, "the command failed");
	const struct wfs_error_info *const info = wfs_error_info(run->error.code);

	if (!run->options[WFS_OPTION_JSON]) {
		wfs_run_notice(run, "worldfs: %s: %s", info->name, run->error.message);
		return;
	}
	WFS_AUTO_JSON json_t *document = json_pack("{s:{s:s, s:s, s:O*, s:s, s:b}, s:O*}", "error",
		"category", info->category, "code", info->name, "details", run->error_details,
		"message", run->error.message, "retriable", (int)info->retriable, "meta",
		run->meta);
	if (document)
		(void)wfs_run_print_document(run, document);
}

static int misuse_status(struct wfs_run *run)
{
	wfs_run_notice(run, "worldfs: %s", run->error.message);
	if (run->command)
		wfs_run_notice(run, "Try 'worldfs %s --help'.", run->command->name);
	else
		wfs_run_notice(run, "Try 'worldfs --help'.");
	return WFS_EXIT_MISUSE;
}

static int run_command(struct wfs_run *run)
{
	int r = run->command->run(run);

	if (run->misused)
		return misuse_status(run);
	/* A failure to write output is reported at the end, for all commands. */
	if (r < 0 && run->error.code == WFS_OK && ferror(run->out))
		run->output_errno = -r;
	else if (r < 0)
		print_error(run, r);
	print_meta(run);
	return r ? WFS_EXIT_FAILED : WFS_EXIT_DONE;
}

static int refuse_command(struct wfs_run *run, const struct wfs_line *line)
{
	if (line->word_count == 0) {
		wfs_help_overview(run->err, run->commands);
		return WFS_EXIT_MISUSE;
	}
	if (wfs_command_is_group(run->commands, line->words[0])) {
		wfs_help_group(run->err, run->commands, line->words[0]);
		if (line->word_count == 1)
			return WFS_EXIT_MISUSE;
		(void)wfs_run_misuse(
			run, "unknown command '%.60s %.60s'", line->words[0], line->words[1]);
		return misuse_status(run);
	}
	(void)wfs_help_refuse(run, line->words[0]);
	return misuse_status(run);
}

static int set_wait(struct wfs_run *run)
{
	const char *const text = run->options[WFS_OPTION_WAIT];
	int64_t wait_ns;

	run->wait_ms = WFS_CLIENT_WAIT_MS;
	if (!text)
		return 0;
	if (wfs_duration_read(text, &wait_ns) < 0 || wait_ns < SECOND_NS ||
		wait_ns > WAIT_MAX_S * SECOND_NS)
		return wfs_run_misuse(run,
			"option '--wait': expected a time from 1s to 1d, as 30s or 10m, got "
			"'%.60s'",
			text);
	run->wait_ms = (unsigned int)(wait_ns / MS_NS);
	return 0;
}

static int print_version(struct wfs_run *run, bool json)
{
	if (!json) {
		fprintf(run->out, "worldfs %s\nstore format %d (opens %d to %d), fold version %d\n",
			WFS_VERSION, WFS_STORE_FORMAT, WFS_STORE_FORMAT_MIN, WFS_STORE_FORMAT,
			WFS_FOLD_VERSION);
		return WFS_EXIT_DONE;
	}
	return wfs_run_json(run,
		       json_pack("{s:i, s:[i, i], s:i, s:s}", "fold_version", WFS_FOLD_VERSION,
			       "opens", WFS_STORE_FORMAT_MIN, WFS_STORE_FORMAT, "store_format",
			       WFS_STORE_FORMAT, "version", WFS_VERSION))
		? WFS_EXIT_FAILED
		: WFS_EXIT_DONE;
}

static int run_line(struct wfs_run *run, int argc, char *const *argv)
{
	struct wfs_line line = {.given_count = 0};
	size_t words = 0;

	if (read_line(run, argc, argv, &line) < 0)
		return misuse_status(run);
	run->command = wfs_command_find(run->commands, line.words, line.word_count, &words);
	if (is_given(&line, WFS_OPTION_HELP))
		return wfs_help_words(run, line.words, line.word_count) ? misuse_status(run)
									: WFS_EXIT_DONE;
	if (is_given(&line, WFS_OPTION_VERSION) && !run->command) {
		return print_version(run, is_given(&line, WFS_OPTION_JSON));
	}
	if (!run->command)
		return refuse_command(run, &line);
	if (set_options(run, &line) < 0 || set_wait(run) < 0 ||
		set_arguments(run, &line, words) < 0)
		return misuse_status(run);
	return run_command(run);
}

int wfs_command_main(int argc, char *const *argv, FILE *out, FILE *err, wfs_driver_start *drive)
{
	struct wfs_run run = {.commands = &wfs_commands, .out = out, .err = err, .drive = drive};
	int status;

	if (argc > 1 && strcmp(argv[1], "__complete") == 0)
		status = wfs_complete(&wfs_commands, argc - 2, argv + 2, out, err);
	else
		status = run_line(&run, argc, argv);

	/* Unwritten output often stays in the buffer, and writing it fails again. */
	const int reason = fflush(out) != 0 ? errno : run.output_errno;
	if (reason || ferror(out)) {
		wfs_run_notice(&run, "worldfs: cannot write to standard output%s%s",
			reason ? ": " : "", reason ? strerrordesc_np(reason) : "");
		status = WFS_EXIT_FAILED;
	}

	wfs_access_free(run.access);
	free(run.directory);
	json_decref(run.meta);
	json_decref(run.error_details);
	if (status == WFS_EXIT_FAILED)
		wfs_interrupt_raise();
	return status;
}
