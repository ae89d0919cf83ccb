/* SPDX-License-Identifier: Apache-2.0 */
/* Private to fs/command/: the table of options, and reading an option from a command line. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	WFS_ARGUMENTS_MAX = 8, /* most arguments of a command */
	WFS_GIVEN_MAX = 64,    /* options on one line */
};

/*
 * X(constant, long name, short name or 0, name of its value or NULL, member of the payload or NULL,
 *   help)
 * A value in brackets is optional, and empty when it is left out. Options of one name belong to
 * different commands.
 */
#define WFS_OPTIONS(X)                                                                            \
	X(WORLD, "world", 'w', "DIR", NULL,                                                       \
		"the world (default: $WORLDFS_WORLD, or this directory or its nearest parent "    \
		"that is a world)")                                                               \
	X(AS, "as", 0, "PRINCIPAL", NULL, "act as this principal (operator only)")                \
	X(WAIT, "wait", 0, "TIME", NULL,                                                          \
		"fail if the owner process shows no sign of life for TIME (default 10s)")         \
	X(JSON, "json", 0, NULL, NULL, "print one JSON document, {data, meta} or {error, meta}")  \
	X(HELP, "help", 'h', NULL, NULL, "print this help")                                       \
	X(VERSION, "version", 0, NULL, NULL, "print the version")                                 \
	X(SOURCE, "from", 0, "SRC", NULL, "directory with world.json and the files it names")     \
	X(NAME, "name", 0, "NAME", NULL,                                                          \
		"name of the world (default: that of its source or directory)")                   \
	X(ALLOW_OTHER, "allow-other", 0, "[=act]", NULL,                                          \
		"let other users see the mount; with =act, also act as its principal")            \
	X(NEST_CTL, "nest-ctl", 0, NULL, NULL,                                                    \
		"mount the control files at MNT/ctl itself (root only)")                          \
	X(FOREGROUND, "foreground", 0, NULL, NULL, "stay in the foreground as the owner process") \
	X(PAUSED, "paused", 0, NULL, NULL,                                                        \
		"do not continue unfinished turns and plans, and fire no timer")                  \
	X(EXACT_HEIGHT, "exact-height", 0, "N", NULL, "read the state after the first N records") \
	X(AT_LEAST_HEIGHT, "at-least-height", 0, "N", NULL,                                       \
		"read the newest state; fail if it is below height N")                            \
	X(KEY_B64, "key-b64", 0, "K", NULL, "the key in base64, instead of KEY")                  \
	X(RAW_STATE, "raw", 0, NULL, NULL, "print the state without the line meta")               \
	X(RAW_CELLS, "raw", 0, NULL, NULL, "print each cell as a JSON object")                    \
	X(FOLLOW, "follow", 'f', NULL, NULL, "continue with what comes later")                    \
	X(FROM_SEQ, "from", 0, "N", NULL, "first record (default 0)")                             \
	X(TURN, "turn", 0, "TURN", NULL, "only the records of this turn")                         \
	X(LIMIT, "limit", 0, "N", NULL, "at most N records")                                      \
	X(AT, "at", 0, "HEIGHT", NULL, "read this height: N, exact:N, at_least:N or head")        \
	X(LONG, "long", 'l', NULL, NULL, "print type, size and time of each name")                \
	X(FILES, "files-with-matches", 'l', NULL, NULL,                                           \
		"print only the paths of files that match")                                       \
	X(LINES, "lines", 0, NULL, NULL, "send each line as the value of an event of its own")    \
	X(KEY, "key", 0, "K", NULL, "the key of the event")                                       \
	X(DEDUP, "dedup", 0, "MEMBER", NULL,                                                      \
		"record one event only for each value of this member")                            \
	X(KEEP_HEIGHTS, "keep-heights", 0, "N", "keep_heights", "keep the newest N heights")      \
	X(SINCE, "since", 0, "H", "since", "keep height H and all above it")                      \
	X(RAW_BEFORE, "raw-before", 0, "H", "raw_before",                                         \
		"drop the kept requests to models, and answers, of turns begun before height H")  \
	X(GRANT_NAME, "name", 0, "NAME", "name", "name of the grant (default: PRINCIPAL.TYPE.N)") \
	X(TO_ARTIFACT_OF, "to-artifact-of", 0, "OWNER", "to_artifact_of",                         \
		"the principal that owns the agent PRINCIPAL")                                    \
	X(EXPIRES, "expires", 0, "TIME", NULL,                                                    \
		"end of the grant: +90s, +10m, +1h, +7d or 2027-01-31T12:00:00Z")                 \
	X(CALLS, "calls", 0, "N", "budget.calls", "end the grant after N recorded calls")         \
	X(TOKENS, "tokens", 0, "N", "budget.tokens", "end the grant after N tokens of a model")   \
	X(SCRIP, "scrip", 0, "N", "scrip", "scrip that the principal begins with (default 0)")    \
	X(QUOTA, "quota", 0, "NAME=N", NULL,                                                      \
		"limit disk, journal, llm_budget or llm_tokens; may be given several times")      \
	X(DRY_RUN, "dry-run", 0, NULL, NULL, "change nothing, only print what would change")      \
	X(BASE, "base", 0, "HASH", NULL, "fail unless the manifest in force has this hash")       \
	X(OF_TURN, "of-turn", 0, "N", "turn",                                                     \
		"which CALL: N of 'turn N of M' in turns/TURN/status")                            \
	X(TURNS, "turns", 0, "N", "turns", "take N turns, one after the other (default 1)")       \
	X(WAKE, "wake", 0, NULL, NULL, "end the waiting of the turn AGENT")                       \
	X(AGAIN, "again", 0, NULL, NULL,                                                          \
		"ask a model what the turn AGENT was asked, and change nothing")                  \
	X(MODEL, "model", 0, "MODEL", NULL,                                                       \
		"with --again: the model of host.json that is asked (default: that of the turn)") \
	X(MAX_TURNS, "max-turns", 0, "N", "max_turns",                                            \
		"at most N requests to the model in a turn, up to the agent's own limit")         \
	X(MESSAGES, "messages", 0, "FILE", "messages",                                            \
		"begin with the messages in FILE, an array of {role, content} (-: standard "      \
		"input)")                                                                         \
	X(TOOLS, "tools", 0, "NAMES", "tools",                                                    \
		"offer the model only these tools of the agent: a,b ('': none)")                  \
	X(TIMEOUT, "timeout", 0, "TIME", "timeout_ms",                                            \
		"end a turn that takes longer: 90s, 10m, 1h")                                     \
	X(NO_WAIT, "no-wait", 0, NULL, NULL, "do not wait for the end, print the id of the turn") \
	X(RECORD, "record", 0, "FILE", NULL,                                                      \
		"write the model's answers, for the provider 'script'")                           \
	X(SESSION, "session", 0, "S", "session_id",                                               \
		"the session (default: 'default'; for plan ls: all sessions)")                    \
	X(PLAN, "plan", 0, "PLAN", "plan_id", "continue this plan of the session")                \
	X(BATCH, "batch", 0, "N", "batch_size", "steps of a batch, 1 to 200 (default 25)")        \
	X(CONCURRENCY, "concurrency", 0, "N", "max_concurrency",                                  \
		"steps that run at once, 1 to 64 (default 8)")                                    \
	X(RESUME, "resume", 0, NULL, NULL, "run the plan at once")                                \
	X(RETRY_FAILED, "retry-failed", 0, NULL, "retry_failed",                                  \
		"run failed and skipped steps again")                                             \
	X(KEEP, "keep", 0, NULL, NULL, "keep the old store for ever: gc does not remove it")      \
	X(DROP_OLD, "drop-old", 0, NULL, NULL, "only remove the old stores of earlier upgrades")  \
	X(REPAIR, "repair", 0, NULL, NULL,                                                        \
		"make the world that the journal gives, if the journal is complete")              \
	X(RERUN, "rerun", 0, NULL, "rerun",                                                       \
		"run steps again that are done but have no results in FILE")                      \
	X(ARTIFACT_ID, "id", 0, "ID", NULL, "id of the single artifact in FILE")                  \
	X(SVG, "svg", 0, NULL, NULL, "print a picture, drawn by Graphviz")                        \
	X(YES, "yes", 'y', NULL, NULL, "do not ask")                                              \
	X(PIN, "pin", 0, NULL, NULL, "only for the tools as their servers describe them now")     \
	X(OUTSIDE, "outside", 0, NULL, NULL, "list the tools of servers outside of the world")    \
	X(WITH_OUTSIDE, "with-outside", 0, NULL, NULL,                                            \
		"also offer the tools of servers outside of the world")                           \
	X(JOURNAL, "journal", 0, NULL, NULL, "drop the records of the dropped heights as well")   \
	X(NODE, "node", 0, "NAME", NULL, "name of this node, which no other node has")            \
	X(LISTEN, "listen", 0, "ADDRESS", NULL,                                                   \
		"HOST:PORT at which other nodes reach this one (default: a free port of "         \
		"127.0.0.1)")                                                                     \
	X(NO_OWNER, "no-owner", 0, NULL, NULL, "this node never owns the world")

enum wfs_option {
#define WFS_OPTION_ENUM(constant, name, letter, value, member, help) WFS_OPTION_##constant,
	WFS_OPTIONS(WFS_OPTION_ENUM)
#undef WFS_OPTION_ENUM
		WFS_OPTION_COUNT
};

/* One row of the options. Static lifetime. */
struct wfs_option_row {
	const char *name;
	char letter;
	const char *value; /* name of its value; in brackets: may be left out; NULL: a flag */
	/* What the option becomes in the payload (wfs_run_members); `budget.calls` is a member of
	 * the object `budget`. NULL: the command reads the option itself. */
	const char *member;
	const char *help;
};
extern const struct wfs_option_row wfs_option_rows[WFS_OPTION_COUNT];

/* A set of options. */
typedef unsigned __int128 wfs_option_set;
_Static_assert(WFS_OPTION_COUNT <= 8 * sizeof(wfs_option_set), "each option has a bit");

#define WFS_OPTION_BIT(constant) ((wfs_option_set)1 << WFS_OPTION_##constant)

/** wfs_option_in() - is the option with this index in the set? */
static inline bool wfs_option_in(wfs_option_set set, size_t index)
{
	return set >> index & 1;
}

/* Options that may be given more than once; a command has at most one of them. */
#define WFS_OPTIONS_REPEATED WFS_OPTION_BIT(QUOTA)

/* Options of every command. */
#define WFS_OPTIONS_GLOBAL                                                   \
	(WFS_OPTION_BIT(WORLD) | WFS_OPTION_BIT(AS) | WFS_OPTION_BIT(WAIT) | \
		WFS_OPTION_BIT(JSON) | WFS_OPTION_BIT(HELP))

/** wfs_option_needs_value() - does the option take a value that cannot be left out? */
bool wfs_option_needs_value(const struct wfs_option_row *row);

/** wfs_option_find() - find an option of the set @allowed. @name: of @size bytes; one byte: the
 *  letter of the option; otherwise its long name
 *  Return: static; the first option with this name; NULL: none. Options of one name agree on
 *  whether they take a value. */
const struct wfs_option_row *wfs_option_find(const char *name, size_t size, wfs_option_set allowed);

/* An option on a command line, which it borrows. */
struct wfs_given {
	const struct wfs_option_row *row; /* the first of this name; NULL: no option has it */
	const char *argument;             /* argument of the command line that has the option */
	const char *name;                 /* the long name, or the letter; in `argument` */
	size_t name_size;
	const char *value; /* NULL: none was given */
};

/* A command line before its command is known. Plain value; borrows the arguments. */
struct wfs_line {
	struct wfs_given given[WFS_GIVEN_MAX];
	size_t given_count;
	const char
		*words[WFS_ARGUMENTS_MAX + 3]; /* a command of two, its arguments, one too many */
	size_t word_count;
	bool options_ended; /* by `--` */
	bool too_many;      /* too many options were given: the last ones are missing here */
};

/** wfs_line_read() - sort @count arguments of a command line into options and words; words that do
 *  not fit are dropped. @line: zero-initialised; borrows the arguments */
void wfs_line_read(struct wfs_line *line, int count, char *const *arguments);
