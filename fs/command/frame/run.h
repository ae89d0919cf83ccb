/* SPDX-License-Identifier: Apache-2.0 */
/* Private to fs/command/: commands, and what a running command uses. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "caps/drive.h"
#include "fs/client/access.h"
#include "fs/command/frame/exit.h"
#include "fs/command/frame/option.h"
#include "kernel/base/json.h"

struct wfs_run;

/* Runs a command. Return: 0, 1 (failed, and has reported it), or -errno with run->error. */
typedef int wfs_command_run(struct wfs_run *run);

/* One row of the commands. Static lifetime. */
struct wfs_command {
	const char *name;      /* one word or two */
	const char *group;     /* heading in the list of commands */
	const char *arguments; /* as in the usage line */
	size_t argument_min;
	size_t argument_max;
	wfs_option_set options; /* in addition to the global ones */
	bool empty_argument;    /* an empty argument is allowed */
	bool alone;             /* of a name of two words: the first word alone means it, too */
	bool changes;           /* if the world has no owner, this process becomes it */
	wfs_command_run *run;
	const char *summary; /* one line */
	const char *help;    /* the text that --help prints */
	/* Prints help on an argument. Return: false: it has none. May be NULL. */
	bool (*topic)(FILE *file, const char *word);
};

/* The table of commands (fs/command/commands.txt), for the parser, help and completion. */
struct wfs_commands {
	const struct wfs_command *rows;
	size_t count;
};

/** wfs_command_find() - find the command that the first one or two of @words name
 *  @ret_words: how many words name it; unchanged if none is found
 *  Return: static; NULL: they name no command. */
const struct wfs_command *wfs_command_find(const struct wfs_commands *commands,
	const char *const *words, size_t word_count, size_t *ret_words);

/** wfs_command_is_group() - is @word, such as `plan`, the first word of commands with two words? */
bool wfs_command_is_group(const struct wfs_commands *commands, const char *word);

/* One run of a command. */
struct wfs_run {
	const struct wfs_commands *commands;
	const struct wfs_command *command;
	const char *options[WFS_OPTION_COUNT]; /* value; "" for a flag; NULL: not given */
	const char *values[WFS_GIVEN_MAX]; /* all values of the option of WFS_OPTIONS_REPEATED */
	size_t value_count;
	const char *arguments[WFS_ARGUMENTS_MAX];
	size_t argument_count;
	FILE *out;
	FILE *err;
	wfs_driver_start *drive;   /* starts the driver of agents; NULL: they are not driven */
	unsigned int wait_ms;      /* how long to wait for an owner that does not react */
	char *directory;           /* of the world; owned, NULL until wfs_run_directory() */
	struct wfs_access *access; /* owned, NULL until the first request */
	bool misused;              /* `error` is about a wrong command line */
	int output_errno; /* why `out` could not be written; 0: it was written, or not known */
	struct wfs_error error;
	json_t *error_details; /* of the last answer; owned */
	json_t *meta;          /* of the last answer; owned */
};

/** wfs_run_misuse() - set run->error and run->misused: the command line is wrong. @format: what is
 *  wrong, printf style. Return: -EINVAL. */
int wfs_run_misuse(struct wfs_run *run, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/** wfs_run_check_path() - check that a path of the host is UTF-8, so that it can be part of JSON.
 *  Return: 0, -EINVAL with run->error. */
int wfs_run_check_path(struct wfs_run *run, const char *path);

/** wfs_run_directory() - find the world by --world, $WORLDFS_WORLD or the working directory, and
 *  set run->directory to its absolute path. Return: 0, or -errno with run->error. */
int wfs_run_directory(struct wfs_run *run);

/** wfs_run_open() - find the world, and set run->access, through which requests are sent.
 *  Return: 0, or -errno with run->error. */
int wfs_run_open(struct wfs_run *run);

/** wfs_run_call() - send a request and wait for its answer. @payload: taken; NULL: {}
 *  @ret_result: caller owns it; run->meta gets the answer's `meta`, such as the height
 *  Return: 0, or -errno with run->error. */
int wfs_run_call(struct wfs_run *run, const char *verb, json_t *payload, json_t **ret_result);

/** wfs_run_show() - send a request and print its answer, by @print or, with --json, as {data, meta}
 *  @payload: taken; NULL: {}; @print: returns 0, or -errno with run->error
 *  Return: 0, what @print has returned, or -errno with run->error. */
int wfs_run_show(struct wfs_run *run, const char *verb, json_t *payload,
	int (*print)(struct wfs_run *run, const json_t *result));

/** wfs_run_order() - request a change, and print on run->err that it is done: the words @done and
 *  @what, such as "revoked" and the name of a grant; with --json print {data, meta} on run->out
 *  @payload: taken. Return: 0, or -errno with run->error. */
int wfs_run_order(
	struct wfs_run *run, const char *verb, json_t *payload, const char *done, const char *what);

/** wfs_run_act() - send an action with the verb `invoke`, and wait. @action: taken; NULL gives
 *  -ENOMEM; @ret_data: `data` of the answer, caller owns it; the pointer may be NULL: not wanted
 *  Return: 0, or -errno with run->error. */
int wfs_run_act(struct wfs_run *run, json_t *action, json_t **ret_data);

/** wfs_run_read_artifact() - read an artifact by the action `read_artifact`, for which the
 *  principal of --as may have to pay. @ret_artifact: `artifact` in the answer; caller owns it
 *  Return: 0, or -errno with run->error. */
int wfs_run_read_artifact(struct wfs_run *run, const char *id, json_t **ret_artifact);

/** wfs_run_take() - wait for the answer to the oldest request that wfs_access_post()
 *  (fs/client/access.h) has sent, and set run->meta and run->error_details. @ret_result: caller
 *  owns it
 *  Return: 0, or -errno with run->error. */
int wfs_run_take(struct wfs_run *run, json_t **ret_result);

/** wfs_run_pin() - set *@consistency to `exact:` and the height of the last answer, so that later
 *  requests read at that height. *@consistency: NULL, or a text that is freed, also on failure;
 *  caller frees the new text. Return: 0, -ENOMEM (*@consistency is NULL). */
int wfs_run_pin(struct wfs_run *run, char **consistency);

/** wfs_run_each_cell() - call @each for all cells of a reducer, as they are at one height
 *  @consistency: of the first page, such as "exact:5"; NULL: head; the other pages are read at the
 *  height of the first
 *  @each: gets @context and a cell as the verb list-cells gives it; returns 0, or -errno to stop
 *  Return: 0, what @each has returned, or -errno with run->error. */
int wfs_run_each_cell(struct wfs_run *run, const char *reducer, const char *consistency,
	int (*each)(void *context, const json_t *cell), void *context);

/** wfs_run_json() - print {data, meta} for --json on run->out. @data: taken; `meta` is run->meta.
 *  Return: 0, -ENOMEM (also if @data is NULL). */
int wfs_run_json(struct wfs_run *run, json_t *data);

/** wfs_run_number() - read a decimal number. @name: of the option or argument, for the message;
 *  @text: what the user gave. Return: 0, or -EINVAL (misuse). */
int wfs_run_number(struct wfs_run *run, const char *name, const char *text, uint64_t *ret_number);

/** wfs_run_count() - read the value of @option, a decimal number. @ret_number: unchanged if the
 *  option is not given. Return: 0, or -EINVAL (misuse). */
int wfs_run_count(struct wfs_run *run, enum wfs_option option, uint64_t *ret_number);

/** wfs_run_members() - set the members of @payload that given options have in the table of options
 *  (fs/command/frame/option.h). The name of an option's value there says what it becomes: N or H an
 *  integer, TIME milliseconds, NAMES a list, FILE the JSON in that file, none (a flag) true, any
 *  other a text. Return: 0, -EINVAL (misuse), -ENOMEM, or the error of reading the file. */
int wfs_run_members(struct wfs_run *run, json_t *payload);

/** wfs_duration_read() - read a time such as 90s, 10m, 1h or 7d, in nanoseconds. Return: 0, -EINVAL
 *  (no such time). */
int wfs_duration_read(const char *text, int64_t *ret_ns);

/** wfs_run_consistency() - read --exact-height and --at-least-height. @ret_text: a consistency,
 *  such as "exact:5"; caller frees; NULL: head. Return: 0, -EINVAL (misuse: both are given, or a
 *  value is not a number), -ENOMEM. */
int wfs_run_consistency(struct wfs_run *run, char **ret_text);

/** wfs_run_at() - read --at, a height or a consistency. @ret_text: as of wfs_run_consistency();
 *  NULL if the option is not given. Return: 0, -EINVAL (misuse: not a height or a consistency),
 *  -ENOMEM. */
int wfs_run_at(struct wfs_run *run, char **ret_text);

/** wfs_run_value() - read a JSON value. @given: an argument of the command line: JSON, or `@` and
 *  the path of a file with JSON (`@-`: standard input). @ret_value: caller owns it
 *  Return: 0, -EINVAL (not JSON), -EFBIG (too_large), or the error of reading the file. */
int wfs_run_value(struct wfs_run *run, const char *given, json_t **ret_value);

/** wfs_run_message() - set `message` of @payload to a text. @given: an argument of the command
 *  line: the text, or `@` and the path of a file with the text (`@-`: standard input)
 *  Return: 0, -EINVAL (not UTF-8), -EFBIG (too_large), or the error of reading the file. */
int wfs_run_message(struct wfs_run *run, const char *given, json_t *payload);

/** wfs_run_list() - print the items of a list that a verb gives in pages, by @print or, with
 *  --json, as {data, meta}. @verb: also the name of the list in its answer; @payload: without a
 *  cursor; taken; @print: gets `first` true for the first item
 *  Return: 0, or -errno with run->error. */
int wfs_run_list(struct wfs_run *run, const char *verb, json_t *payload,
	void (*print)(FILE *out, const json_t *item, bool first));

/** wfs_run_integer() - get an integer member of an answer; 0 if it is absent. */
int64_t wfs_run_integer(const json_t *result, const char *name);

/** wfs_run_decode() - decode the base64 member @name of an answer, and append it to @buffer; a
 *  member that is absent is empty.
 *  Return: 0, or -errno with run->error. */
int wfs_run_decode(
	struct wfs_run *run, const json_t *result, const char *name, struct wfs_buffer *buffer);

/** wfs_run_print_document() - print @document on run->out, as canonical JSON and a newline.
 *  Return: 0, or -ENOMEM. */
int wfs_run_print_document(struct wfs_run *run, const json_t *document);

/** wfs_run_notice() - print a line for the user on run->err. @format: without a newline */
void wfs_run_notice(struct wfs_run *run, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
