/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends lines as events.
 *
 * Lines are sent without waiting for earlier answers, so that many go into one commit. Answers come
 * in order, so each is about the oldest unanswered line.
 *
 * A sender that follows its lines (event --follow) does not stop when the owner of the world ends:
 * lines without an answer are sent again to the next owner. Without an owner it opens the world
 * itself, and closes it again when no lines wait, and for a moment at least every second, so that
 * other processes can open it.
 */
#pragma once

#include "fs/command/frame/progress.h"
#include "fs/command/frame/run.h"
#include "fs/command/frame/tail.h"

enum {
	SENDER_UNDER_WAY_MAX = 4096,           /* lines sent and not answered */
	SENDER_UNDER_WAY_BYTES_MAX = 32 << 20, /* bytes of these lines */
	SENDER_TROUBLE_MS = 60000, /* how long lines are sent again, while none is accepted */
};

/* A line that was sent, or waits to be sent again. */
struct sender_line {
	struct sender_line *next;
	uint64_t number;
	size_t size;
	char text[]; /* only of a sender that follows */
};

/* A list of lines, owned. */
struct sender_lines {
	struct sender_line *first;
	struct sender_line *last;
	size_t count;
	size_t bytes;
};

/* Plain value; begins as zeros with the first members set. */
struct sender {
	struct wfs_run *run;
	struct wfs_tail *tail; /* owned */
	const char *schema;
	bool follows;
	json_t *refusals; /* gets the refused lines; owned; NULL: they are printed on run->err */

	struct wfs_progress progress;
	struct sender_lines under_way; /* sent, not answered */
	struct sender_lines again;     /* to be sent again, before new lines */
	bool failing;                  /* lines of `under_way` that fail now are sent again */
	int64_t trouble_ns;            /* since when no line is accepted; 0: lines are accepted */
	bool lost_told;                /* the user was told, since then, of lines without answer */
	int64_t retry_ns;              /* nothing is sent before this time */
	int64_t opened_ns;             /* when the access was made */
	int64_t used_ns;               /* when a line was last sent or answered */
	uint64_t number;               /* of the last line that was read */
	uint64_t accepted;
	uint64_t seen; /* with --dedup: keys that were seen before */
	uint64_t refused;
};

/** sender_run() - send all lines until their end or a signal, and take all answers
 *  @ret_stopped: a signal came before the end of the lines
 *  Return: 0, -EFBIG (a line is too long; a sender that follows refuses only this line), … with
 *  run->error. */
int sender_run(struct sender *sender, bool *ret_stopped);

void sender_done(struct sender *sender);

/** wfs_event_payload() - make the payload of send-event: {schema, value, dedup?, key?}, the last
 *  two from the options --dedup and --key. @value: taken. Return: new reference; NULL without
 *  memory. */
json_t *wfs_event_payload(const struct wfs_run *run, const char *schema, json_t *value);
