/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the two upper layers know of each other: fs/ asks for turns, agents/ takes them, and neither
 * includes the other. fs/main-*.c hands each the tables of the other.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"

#define WFS_EMBEDDING_MODEL \
	"embedding" /* name of the entry of host.json that makes embeddings, for all actions */

struct wfs_authority;
struct wfs_driver;
struct wfs_session;

/*
 * X(constant, params, result), of what can be asked for. Results of plans are those of spec 6, also of what
 * failed, with `plan:ID` as the checkpoint's path; with `wait: false` {chat_id, plan_id?}.
 */
#define WFS_DRIVES(X)                                                                     \
	X(STEP, "those of agent.step", "the run's, or the list of them")                  \
	X(CHAT, "{batch_size?, max_concurrency?, message, plan_id?, session_id?, wait?}", \
		"the answer of a chat")                                                   \
	X(IMPORT, "{batch_size?, blob, max_concurrency?, rerun?, resume?, session_id?}",  \
		"the answer of a chat")                                                   \
	X(RESUME, "{plan_id, retry_failed?, wait?}", "the answer of a chat")

enum wfs_drive_what {
#define WFS_DRIVE_ENUM(constant, params, result) WFS_DRIVE_##constant,
	WFS_DRIVES(WFS_DRIVE_ENUM)
#undef WFS_DRIVE_ENUM
		WFS_DRIVE_COUNT
};

/* The tool call that a request is made for. The intent of the call keeps the id of what the request has begun, so that
 * the call begins it once. Plain value. */
struct wfs_called_by {
	const char *intent_id; /* NULL: it is no tool call */
	const char
		*began; /* id of the run or chat that the call has begun already; NULL: of none */
};

/* One request for turns of an agent, or for a plan. Zero-initialise, set the first members; the rest is
 * set in `done`. */
struct wfs_drive {
	enum wfs_drive_what what;
	const struct wfs_session *session;     /* who asks; kept until `done` */
	const json_t *params;                  /* what is asked for; kept until `done` */
	struct wfs_called_by called_by;        /* its texts are kept until `done` */
	void (*done)(struct wfs_drive *drive); /* exactly once, on any thread */
	void *context;

	int status;     /* 0 or -errno */
	json_t *result; /* also of a run that failed; the asker's */
	struct wfs_error error;

	uint64_t ticket; /* set by `step`: names the request */
};

/* Who takes the turns of a world's agents: does what runs ask for, also those of before. Callback table. */
struct wfs_driver {
	/* Begin; what fails at once is told through `done`, too. Thread: any. */
	void (*begin)(struct wfs_driver *driver, struct wfs_drive *drive);
	/* Whoever asked has gone: end the run; `done` comes all the same. It may have come. Thread: any. */
	void (*abandon)(struct wfs_driver *driver, uint64_t ticket);
	/* Begin nothing any more, and tell whoever waits that the world is being closed. Thread: any. */
	void (*stop)(struct wfs_driver *driver);
	/* The same, and wait until nothing is under way; what is open goes on when the world is opened
	 * again. */
	void (*free)(struct wfs_driver *driver);
};

/* One call of a function that has others take turns. Zero-initialise, set the first members; the rest is set in `done`. */
struct wfs_helper_call {
	const struct wfs_session *session; /* who calls; kept until `release` */
	struct wfs_driver *driver;         /* takes the turns */
	const char *name;                  /* of the function */
	const json_t *arguments;           /* fit its parameters */
	struct wfs_called_by called_by;    /* its texts are kept until `done` */
	void (*done)(
		struct wfs_helper_call *call); /* exactly once, on any thread, also in `begin` */
	void *context;

	int status;      /* 0 or -errno */
	json_t *result;  /* what is told; until `release` */
	json_t *details; /* the same, of a failure; NULL: nothing was begun */
	json_t *meta;    /* the same: where the world stood; NULL: not told */
	struct wfs_error error;
	void *own; /* the function's */
};

/* Functions for models beside actions. They read, are another form of actions, or have others take turns. Callback
 * table. Thread: any. */
struct wfs_helpers {
	/* Array of {acts, description, drives, name, parameters}; `acts` is true for those that are actions, `drives` for
	 * those that have others take turns. New reference, NULL without memory. */
	json_t *(*definitions)(void);
	/* Do the arguments fit the function? The same answer as for its other callers. Return: 0, -EINVAL, -ENOMEM. */
	int (*check)(const char *name, const json_t *arguments, struct wfs_error *error);
	/* The action that a call of one that acts is; caller owns it. @arguments: are checked, too.
	 * Return: 0, -EINVAL, -ENOMEM. NULL: no function acts. */
	int (*action)(const char *name, const json_t *arguments, json_t **ret_action,
		struct wfs_error *error);
	/* Append what one that reads gives. @arguments: fit its parameters. @ret_meta: of a failure, where the world stood;
	 * caller owns it; NULL: not told. Return: 0, or -errno with @error. */
	int (*run)(const struct wfs_session *session, const char *name, const json_t *arguments,
		struct wfs_buffer *output, json_t **ret_meta, struct wfs_error *error);
	/* Begin a call of one that drives; nothing waits for its end but `done`. NULL: no function drives. */
	void (*begin)(struct wfs_helper_call *call);
	/* The caller has gone: end what it has begun; `done` is called all the same. It may have been. */
	void (*abandon)(struct wfs_helper_call *call);
	/* Free what the call holds. After `done`. */
	void (*release)(struct wfs_helper_call *call);
};

/**
 * wfs_driver_start - begin to drive the agents of a world
 * @authority, @helpers: kept
 * @paused: runs and plans that were going on stay as they are, until somebody resumes them or the world
 *          is opened again
 * @ret_driver: ended by its `free`, before @authority
 */
typedef int wfs_driver_start(struct wfs_authority *authority, const struct wfs_helpers *helpers,
	bool paused, struct wfs_driver **ret_driver, struct wfs_error *error);
