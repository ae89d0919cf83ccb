/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a turn of an agent is doing, told from the records that it leaves.
 *
 * It is for people who wait: of two turns that the same agent takes at once it follows the one that
 * began first.
 */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "kernel/base/buffer.h"

enum { WFS_FOLLOW_TEXT_SIZE = 64 }; /* of names, and a NUL; longer ones are cut */

/* Plain value; zero-initialised but for `agent` has seen nothing. */
struct wfs_follow {
	const char *agent;
	/* Private. */
	char turn_id[192]; /* "": it has not begun */
	int64_t request;   /* the number of the model's answer that it is about, from 1 */
	int64_t request_max;
	int64_t token_count;             /* of all its turns */
	unsigned int call_count;         /* tools that are running */
	char tool[WFS_FOLLOW_TEXT_SIZE]; /* the last of them */
	char intent_id[80];              /* of its call */
	char call_id[WFS_FOLLOW_TEXT_SIZE];
	bool waits; /* that call does, for somebody to approve it */
};

/** wfs_follow_take() - look at the next record of the journal. */
void wfs_follow_take(struct wfs_follow *follow, const json_t *record);

/** wfs_follow_line() - append what people read: one line, without its end. */
void wfs_follow_line(const struct wfs_follow *follow, int64_t seconds, struct wfs_buffer *line);
