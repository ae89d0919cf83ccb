/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds of turns (kernel/domain/turn/turn.h). */
#pragma once

#include "kernel/mind/setting.h"

enum {
	WFS_TURN_TURNS_MAX = WFS_MIND_TURNS_MAX, /* turns of a run */
	WFS_TURN_DEPTH_MAX = 8,   /* nested runs, each begun by a tool call of the one above it */
	WFS_TURN_BELOW_MAX = 256, /* open runs and chats that a run and those below it have begun */
	WFS_TURN_TURNS_DEFAULT = 20, /* turns of a run that does not set `max_turns` */
	WFS_TURN_CALLS_MAX = 256,    /* tool calls of one answer of a model */
	WFS_TURN_CONCURRENCY_MAX = WFS_MIND_CONCURRENCY_MAX, /* tool calls of a run at once */
	WFS_TURN_TOOLS_MAX = WFS_MIND_TOOLS_MAX,             /* tools of a run */
	WFS_TURN_MESSAGES_MAX = 1024,                        /* messages that a run begins with */
	WFS_TURN_PREVIEW_MAX = 100,     /* characters of a tool's output in an event */
	WFS_TURN_ID_MAX = 128 + 1 + 20, /* bytes of a run's id: agent, dot, seq */
	WFS_TURN_STATE_MAX = 64,        /* bytes of the name of a workflow's state */
	WFS_TURN_STATES_KEPT = 100,     /* changes of an agent's state in `history` */
	WFS_TURN_NOTES_MAX = 64,        /* notes of a step, or of an answer to workflow.advance */
	WFS_TURN_NOTE_MAX = 1024,       /* bytes of a text of a note */
	WFS_TURN_ACTION_SHOWN = 1000,   /* kept bytes of the last action's result */
};
