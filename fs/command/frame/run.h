/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to fs/command/: the table of commands and options, and what a running command uses.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "fs/client/access.h"
#include "fs/command/command.h"
#include "kernel/base/json.h"

enum {
	WFS_ARGUMENTS_MAX = 8, /* that any command takes */
	WFS_GIVEN_MAX = 64,    /* options on one line */
};

/*
 * X(constant, long name, short name or 0, name of its value or NULL, help)
 * A value in brackets may be left out, and then is empty.
 * Two options of one name are for different commands.
 */
#define WFS_OPTIONS(X)                                                                             \
	X(WORLD, "world", 'w', "DIR",                                                              \
		"the world (default: $WORLDFS_WORLD, or this directory or its nearest parent "     \
		"that is a world)")                                                                \
	X(AS, "as", 0, "PRINCIPAL", "act as this principal (operator only)")                       \
	X(WAIT, "wait", 0, "TIME",                                                                 \
		"fail if the owner process shows no sign of life for TIME (default 10s)")          \
	X(JSON, "json", 0, NULL, "print one JSON document, {data, meta} or {error, meta}")         \
	X(HELP, "help", 'h', NULL, "print this help")                                              \
	X(VERSION, "version", 0, NULL, "print the version")                                        \
	X(SOURCE, "from", 0, "SRC", "directory with world.json and the files it names")            \
	X(NAME, "name", 0, "NAME", "name of the world (default: that of its source or directory)") \
	X(ALLOW_OTHER, "allow-other", 0, "[=act]",                                                 \
		"let other users see the mount; with =act, also act as its principal")             \
	X(NEST_CTL, "nest-ctl", 0, NULL, "mount the control files at MNT/ctl itself (root only)")  \
	X(FOREGROUND, "foreground", 0, NULL, "stay in the foreground as the owner process")        \
	X(PAUSED, "paused", 0, NULL, "do not continue unfinished turns and plans")                 \
	X(EXACT_HEIGHT, "exact-height", 0, "N", "read the state after the first N records")        \
	X(AT_LEAST_HEIGHT, "at-least-height", 0, "N",                                              \
		"read the newest state; fail if it is below height N")                             \
	X(KEY_B64, "key-b64", 0, "K", "the key in base64, instead of KEY")                         \
	X(RAW_STATE, "raw", 0, NULL, "print the state without the line meta")                      \
	X(RAW_CELLS, "raw", 0, NULL, "print each cell as a JSON object")                           \
	X(FOLLOW, "follow", 'f', NULL, "continue with new records as they come")                   \
	X(FROM_SEQ, "from", 0, "N", "first record (default 0)")                                    \
	X(TURN, "turn", 0, "TURN", "only the records of this turn")                                \
	X(LIMIT, "limit", 0, "N", "at most N records")                                             \
	X(AT, "at", 0, "HEIGHT", "read this height: N, exact:N, at_least:N or head")               \
	X(LONG, "long", 'l', NULL, "print type, size and time of each name")                       \
	X(FILES, "files-with-matches", 'l', NULL, "print only the paths of files that match")      \
	X(LINES, "lines", 0, NULL, "send each line as the value of an event of its own")           \
	X(KEY, "key", 0, "K", "the key of the event")                                              \
	X(KEEP_HEIGHTS, "keep-heights", 0, "N", "keep the newest N heights")                       \
	X(SINCE, "since", 0, "H", "keep height H and all above it")                                \
	X(GRANT_NAME, "name", 0, "NAME", "name of the grant (default: PRINCIPAL.TYPE.N)")          \
	X(TO_ARTIFACT_OF, "to-artifact-of", 0, "OWNER",                                            \
		"the principal that owns the agent PRINCIPAL")                                     \
	X(EXPIRES, "expires", 0, "TIME",                                                           \
		"end of the grant: +90s, +10m, +1h, +7d or 2027-01-31T12:00:00Z")                  \
	X(CALLS, "calls", 0, "N", "end the grant after N recorded calls")                          \
	X(TOKENS, "tokens", 0, "N", "end the grant after N tokens of a model")                     \
	X(SCRIP, "scrip", 0, "N", "scrip that it begins with (default 0)")                         \
	X(QUOTA, "quota", 0, "NAME=N",                                                             \
		"limit disk, journal, llm_budget or llm_tokens; may be given several times")       \
	X(DRY_RUN, "dry-run", 0, NULL, "change nothing, only print what would change")             \
	X(BASE, "base", 0, "HASH", "only if the manifest in force has this hash")                  \
	X(OF_TURN, "of-turn", 0, "N", "which CALL: N of 'turn N of M' in turns/TURN/status")       \
	X(TURNS, "turns", 0, "N", "take N turns, one after the other (default 1)")                 \
	X(MAX_TURNS, "max-turns", 0, "N",                                                          \
		"at most N requests to the model in a turn, up to the agent's own limit")          \
	X(MESSAGES, "messages", 0, "FILE",                                                         \
		"begin with the messages in FILE, an array of {role, content} (-: standard "       \
		"input)")                                                                          \
	X(TOOLS, "tools", 0, "NAMES",                                                              \
		"offer the model only these tools of the agent: a,b ('': none)")                   \
	X(TIMEOUT, "timeout", 0, "TIME", "end a turn that takes longer: 90s, 10m, 1h")             \
	X(NO_WAIT, "no-wait", 0, NULL, "do not wait for the end, print the id of the turn")        \
	X(RECORD, "record", 0, "FILE", "write the model's answers, for the provider 'script'")     \
	X(SESSION, "session", 0, "S",                                                              \
		"the session (default: 'default'; for plan ls: all sessions)")                     \
	X(PLAN, "plan", 0, "PLAN", "continue this plan of the session")                            \
	X(BATCH, "batch", 0, "N", "steps of a batch, 1 to 200 (default 25)")                       \
	X(CONCURRENCY, "concurrency", 0, "N", "steps that run at once, 1 to 64 (default 8)")       \
	X(RESUME, "resume", 0, NULL, "run the plan at once")                                       \
	X(RETRY_FAILED, "retry-failed", 0, NULL, "run failed and skipped steps again")             \
	X(REPAIR, "repair", 0, NULL, "make the world that the journal gives, if it is complete")   \
	X(RERUN, "rerun", 0, NULL, "run steps again that are done but have no results in FILE")    \
	X(ARTIFACT_ID, "id", 0, "ID", "id of the single artifact in FILE")                         \
	X(SVG, "svg", 0, NULL, "a picture, drawn by Graphviz")                                     \
	X(YES, "yes", 'y', NULL, "do not ask")                                                     \
	X(JOURNAL, "journal", 0, NULL, "drop their records as well (not enabled yet)")

enum wfs_option {
#define WFS_OPTION_ENUM(constant, name, letter, value, help) WFS_OPTION_##constant,
	WFS_OPTIONS(WFS_OPTION_ENUM)
#undef WFS_OPTION_ENUM
		WFS_OPTION_COUNT
};

/* One row of the options. Static lifetime. */
struct wfs_option_row {
	const char *name;
	char letter;
	const char *value; /* NULL: a flag */
	const char *help;
};
extern const struct wfs_option_row wfs_option_rows[WFS_OPTION_COUNT];

#define WFS_OPTION_BIT(constant) (UINT64_C(1) << WFS_OPTION_##constant)

/* What may be given more than once; a command takes at most one of them. */
#define WFS_OPTIONS_REPEATED WFS_OPTION_BIT(QUOTA)

/* What every command takes. */
#define WFS_OPTIONS_GLOBAL                                                   \
	(WFS_OPTION_BIT(WORLD) | WFS_OPTION_BIT(AS) | WFS_OPTION_BIT(WAIT) | \
		WFS_OPTION_BIT(JSON) | WFS_OPTION_BIT(HELP))

/* --- fs/command/command.c --- */

/** wfs_option_named() - is this the option's name, the long one or the letter? */
bool wfs_option_named(const struct wfs_option_row *row, const char *name, size_t size);

/** wfs_option_needs_value() - has it a value that may not be left out? */
bool wfs_option_needs_value(const struct wfs_option_row *row);

/** wfs_option_find() - an option of that name, or NULL. Options of one name take values or do not,
 *  whatever command they are for. */
const struct wfs_option_row *wfs_option_find(const char *name, size_t size);

struct wfs_run;

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
	/* Return: 0, 1 (failed, and has said so), or -errno with run->error. */
	int (*run)(struct wfs_run *run);
	const char *summary; /* one line */
	const char *help;    /* a paragraph a line; lines that begin with a space as they are */
	/* Print the help on an argument instead; false: there is none. May be NULL. */
	bool (*topic)(FILE *file, const char *word);
};
extern const struct wfs_command wfs_commands[];
extern const size_t wfs_command_count;

/** wfs_command_find() - the command that a line begins with, or NULL.
 *  @ret_words: how many words name it; as it was when none does */
const struct wfs_command *wfs_command_find(
	const char *const *words, size_t word_count, size_t *ret_words);

/* One run of a command. */
struct wfs_run {
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

/* --- fs/command/frame/run.c --- */

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

/* --- fs/command/help.c --- */

void wfs_help_overview(FILE *file);

/** wfs_help_item() - a line: what it is, and in the column for that what it does. */
void wfs_help_item(FILE *file, const char *left, const char *text);
void wfs_help_group(FILE *file, const char *word);
void wfs_help_command(FILE *file, const struct wfs_command *command);

/* --- fs/command/complete.c --- */

/** wfs_complete() - `__complete WORD…`: what could stand where the last WORD is; always done. */
int wfs_complete(int count, char *const *words, FILE *out, FILE *err);
