/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a turn of an agent is doing, according to its records; for users who wait for the turn. If
 * the agent takes two turns at once, a struct wfs_follow tells of the one that began first.
 */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "kernel/base/buffer.h"

enum { WFS_FOLLOW_TEXT_SIZE = 64 }; /* bytes of a name, and a NUL; longer ones are cut */

/* Plain value; zero-initialised except for `agent`. */
struct wfs_follow {
	const char *agent; /* its id; borrowed */
	/* Private. */
	char turn_id[192]; /* "": it has not begun */
	int64_t request;   /* number of the model's current answer, from 1 */
	int64_t request_max;
	int64_t token_count;             /* of the whole turn */
	unsigned int call_count;         /* tools that are running */
	char tool[WFS_FOLLOW_TEXT_SIZE]; /* the newest one */
	char intent_id[80];              /* of its call */
	char call_id[WFS_FOLLOW_TEXT_SIZE];
	bool waits; /* the call waits for an approval */
};

/** wfs_follow_take() - update @follow with the next record of the journal. @record: as the verb
 *  journal-read gives it; a record that is about another turn changes nothing */
void wfs_follow_take(struct wfs_follow *follow, const json_t *record);

/** wfs_follow_line() - append a line that says what the turn is doing, without a newline.
 *  @seconds: since the turn was requested; shown */
void wfs_follow_line(const struct wfs_follow *follow, int64_t seconds, struct wfs_buffer *line);
