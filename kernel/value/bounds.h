/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds of artifacts, plans and chats, and codes of their failures. See
 * kernel/domain/action/action.h and kernel/domain/plan/plan.h. */
#pragma once

#define WFS_ARTIFACT_TYPE_AGENT "agent" /* of artifacts that are principals, and take turns */
#define WFS_ARTIFACT_TYPE_MEMORY "memory_store" /* of artifacts that have entries */

enum {
	WFS_ARTIFACT_ID_MAX = 128,        /* bytes */
	WFS_EMBEDDER_MODEL_MAX = 128,     /* bytes of the name of an embedder's model */
	WFS_PLAN_PART_MAX = 1000,         /* steps in one receipt */
	WFS_PLAN_BATCH_MAX = 200,         /* steps of a batch */
	WFS_PLAN_BATCH_DEFAULT = 25,      /* steps of a batch, by default */
	WFS_PLAN_CONCURRENCY_MAX = 64,    /* steps of a plan at once */
	WFS_PLAN_CONCURRENCY_DEFAULT = 8, /* steps at once, by default */
	WFS_PLAN_ATTEMPTS_MAX = 10,       /* attempts of a step */
	WFS_PLAN_BLOCK = 64,              /* steps in a cell of sys.plan_block */
	WFS_PLAN_ADVANCE_MAX =
		1000, /* steps that one fold ends or reopens; the next fold continues */
	WFS_PLAN_ADVANCE_BYTES = 16 << 20, /* bytes of wfs_fold_bytes(); the next fold continues */
	WFS_PLAN_RESULT_MAX = 4 << 20,     /* bytes of a step's result */
	WFS_PLAN_STEP_ID_MAX = 128,        /* bytes */
	WFS_PLAN_TITLE_MAX = 200, /* characters; longer titles, prompts and goals are cut */
	WFS_PLAN_PROMPT_MAX = 8000,
	WFS_PLAN_GOAL_MAX = 8000,
	WFS_PLAN_SOURCE_MAX = 8 << 20,    /* bytes of a plan that a model writes */
	WFS_PLAN_IMPORT_MAX = 256 << 20,  /* bytes of an imported plan */
	WFS_PLAN_ID_SIZE = 32,            /* characters */
	WFS_CHAT_SESSION_MAX = 100,       /* bytes of a session's id */
	WFS_CHAT_MESSAGE_MAX = 256 << 10, /* bytes of a message */
	WFS_CHAT_ID_MAX = 128 + 1 + WFS_CHAT_SESSION_MAX + 21,
};

#define WFS_CHAT_SESSION_DEFAULT "default"

/* Codes of chats that failed, in `error`. */
#define WFS_CHAT_INVALID_MESSAGE "INVALID_MESSAGE"
#define WFS_CHAT_INVALID_BATCH_SIZE "INVALID_BATCH_SIZE"
#define WFS_CHAT_CONTEXT_FAILED "CONTEXT_BUILD_FAILED"
#define WFS_CHAT_NORMALIZE_FAILED "PLAN_NORMALIZE_FAILED"
#define WFS_CHAT_RESUME_FAILED "RESUME_FAILED"
#define WFS_CHAT_LLM_FAILED "LLM_FAILED"
#define WFS_CHAT_PLAN_FAILED "PLAN_FAILED"
#define WFS_CHAT_CANCELLED "CANCELLED"

/* Codes of tool results. */
#define WFS_TOOL_INVALID_CALL "INVALID_TOOL_CALL"
#define WFS_TOOL_UNKNOWN "UNKNOWN_TOOL"
#define WFS_TOOL_EXCEPTION "TOOL_EXCEPTION"
#define WFS_TOOL_TIMEOUT "TOOL_TIMEOUT"
