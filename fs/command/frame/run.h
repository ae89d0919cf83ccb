/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to fs/command/: what a command is, and what a running command uses.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "caps/drive.h"
#include "fs/client/access.h"
#include "fs/command/frame/exit.h"
#include "fs/command/frame/option.h"
#include "kernel/base/json.h"

enum {
	WFS_ARGUMENTS_MAX = 8, /* that any command takes */
	WFS_GIVEN_MAX = 64,    /* options on one line */
};

struct wfs_run;

/* Runs a command. Return: 0, 1 (failed, and has said so), or -errno with run->error. */
typedef int wfs_command_run(struct wfs_run *run);

/* One row of the commands. Static lifetime. */
struct wfs_command {
	const char *name;      /* one word or two */
	const char *group;     /* heading in the list of commands */
	const char *arguments; /* as the usage line shows them */
	size_t argument_min;
	size_t argument_max;
	uint64_t options;    /* besides the global ones */
	bool empty_argument; /* the empty text is one, too */
	bool changes;        /* without an owner, this process must become it */
	wfs_command_run *run;
	const char *summary; /* one line */
	const char *help;    /* a paragraph a line; lines that begin with a space as they are */
	/* Print the help on an argument instead; false: there is none. May be NULL. */
	bool (*topic)(FILE *file, const char *word);
};

/* The table of commands (fs/command/table.c), for the parser, help and completion. */
struct wfs_commands {
	const struct wfs_command *rows;
	size_t count;
};

/** wfs_command_find() - the command that a line begins with, or NULL.
 *  @ret_words: how many words name it; as it was when none does */
const struct wfs_command *wfs_command_find(const struct wfs_commands *commands,
	const char *const *words, size_t word_count, size_t *ret_words);

/** wfs_command_is_group() - is this the first word of commands of two words? */
bool wfs_command_is_group(const struct wfs_commands *commands, const char *word);

/* One run of a command. */
struct wfs_run {
	const struct wfs_commands *commands;
	const struct wfs_command *command;
	const char *options[WFS_OPTION_COUNT]; /* value, "" for a flag, NULL when not given */
	const char *values[WFS_GIVEN_MAX];     /* of the option that may be given more than once */
	size_t value_count;
	const char *arguments[WFS_ARGUMENTS_MAX];
	size_t argument_count;
	FILE *out;
	FILE *err;
	wfs_driver_start *drive;   /* how agents are driven; NULL: they are not */
	unsigned int wait_ms;      /* for an owner that does not react */
	char *directory;           /* of the world; owned, NULL until it was looked for */
	struct wfs_access *access; /* owned, NULL until the first request */
	bool misused;
	int output_errno; /* why `out` could not be written; 0: it was, or that is not known */
	struct wfs_error error;
	json_t *error_details; /* of the last answer; owned */
	json_t *meta;          /* the same */
};

/** wfs_run_misuse() - the command line is wrong. Return: -EINVAL. */
int wfs_run_misuse(struct wfs_run *run, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/** wfs_run_check_path() - may it stand in requests and answers? Return: 0, -EINVAL (not UTF-8). */
int wfs_run_check_path(struct wfs_run *run, const char *path);

/** wfs_run_directory() - find the world; absolute path in run->directory. */
int wfs_run_directory(struct wfs_run *run);

/** wfs_run_open() - find the world and a way into it, in run->access. */
int wfs_run_open(struct wfs_run *run);

/**
 * wfs_run_call() - one request; takes @payload, which may be NULL
 * @ret_result: caller owns it; run->meta is where the answer stood
 * Return: 0, or -errno with run->error.
 */
int wfs_run_call(struct wfs_run *run, const char *verb, json_t *payload, json_t **ret_result);

/** wfs_run_show() - one request, whose answer is printed: by @print, or with --json as {data, meta};
 *  takes @payload, which may be NULL. Return: 0, or -errno with run->error. */
int wfs_run_show(struct wfs_run *run, const char *verb, json_t *payload,
	int (*print)(struct wfs_run *run, const json_t *result));

/** wfs_run_order() - a change of which the user only learns that it is done: @done and @what, on
 *  run->err; takes @payload. Return: 0, or -errno with run->error. */
int wfs_run_order(
	struct wfs_run *run, const char *verb, json_t *payload, const char *done, const char *what);

/** wfs_run_act() - take one action as `invoke` does. @action: taken; @ret_data: may be NULL, else caller owns it */
int wfs_run_act(struct wfs_run *run, json_t *action, json_t **ret_data);

/** wfs_run_read_artifact() - by the action. @ret_artifact: caller owns it */
int wfs_run_read_artifact(struct wfs_run *run, const char *id, json_t **ret_artifact);

/** wfs_run_take() - the same for a request that was posted: wait for its answer. */
int wfs_run_take(struct wfs_run *run, json_t **ret_result);

/** wfs_run_pin() - make @consistency, which may be NULL, `exact:` the height that the last answer
 *  stood at, so that what follows is of the same moment. Takes and returns memory. */
int wfs_run_pin(struct wfs_run *run, char **consistency);

/**
 * wfs_run_each_cell() - all cells of a reducer at one height
 * @consistency: of the first page; NULL: head
 * @each: Return: 0, or -errno that ends it
 */
int wfs_run_each_cell(struct wfs_run *run, const char *reducer, const char *consistency,
	int (*each)(void *context, const json_t *cell), void *context);

/** wfs_run_json() - print {data, meta}; takes @data. Return: 0, -ENOMEM. */
int wfs_run_json(struct wfs_run *run, json_t *data);

/** wfs_run_number() - value of an option or argument @text. Return: 0, or -EINVAL (misuse). */
int wfs_run_number(struct wfs_run *run, const char *name, const char *text, uint64_t *ret_number);

/** wfs_run_count() - the number of an option; @ret_number keeps its value when the option is not given.
 *  Return: 0, or -EINVAL (misuse). */
int wfs_run_count(struct wfs_run *run, enum wfs_option option, uint64_t *ret_number);

/* An option that becomes a member of a payload: a number for one that takes N, true for a flag,
 * otherwise a text. Static lifetime. */
struct wfs_member {
	const char *name; /* NULL: after the last one */
	enum wfs_option option;
};

/** wfs_run_members() - set the members whose options are given. Return: 0, -EINVAL (misuse), -ENOMEM. */
int wfs_run_members(struct wfs_run *run, const struct wfs_member *members, json_t *payload);

/** wfs_duration_read() - 90s, 10m, 1h, 7d. Return: 0, -EINVAL. */
int wfs_duration_read(const char *text, int64_t *ret_ns);

/** wfs_run_consistency() - from --exact-height and --at-least-height; NULL: head. Caller frees. */
int wfs_run_consistency(struct wfs_run *run, char **ret_text);

/** wfs_run_at() - from --at; NULL: head. Caller frees. */
int wfs_run_at(struct wfs_run *run, char **ret_text);

/** wfs_run_value() - the JSON of an argument: as it stands there, or of @FILE (@-: standard input).
 *  @ret_value: caller owns it. Return: 0, -EINVAL, -EFBIG, or why the file cannot be read. */
int wfs_run_value(struct wfs_run *run, const char *given, json_t **ret_value);

/** wfs_run_message() - set `message` of @payload: the text of an argument as it stands there, or of @FILE
 *  (@-: standard input). Return: 0, -EINVAL (not UTF-8), -EFBIG, or why the file cannot be read. */
int wfs_run_message(struct wfs_run *run, const char *given, json_t *payload);

/**
 * wfs_run_list() - print a listing of a verb that gives it in pages, as a list of the verb's name
 * @payload: without a cursor; taken
 * @print: one item; @first: behind nothing else
 */
int wfs_run_list(struct wfs_run *run, const char *verb, json_t *payload,
	void (*print)(FILE *out, const json_t *item, bool first));

/** wfs_run_integer() - an integer member of an answer, 0 when it is not there. */
int64_t wfs_run_integer(const json_t *result, const char *name);

/** wfs_run_decode() - append the bytes of a base64 member of an answer. */
int wfs_run_decode(
	struct wfs_run *run, const json_t *result, const char *name, struct wfs_buffer *buffer);

/** wfs_run_print_document() - the canonical text and a newline. Return: 0, or -ENOMEM. */
int wfs_run_print_document(struct wfs_run *run, const json_t *document);

/** wfs_run_notice() - a line for people, on run->err. */
void wfs_run_notice(struct wfs_run *run, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
