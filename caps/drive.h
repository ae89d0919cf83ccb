/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface between the two upper layers: fs/ asks for turns, agents/ takes them, and neither
 * includes the other. fs/main-*.c gives each the callback tables of the other.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"
#include "kernel/value/fired.h"

#define WFS_EMBEDDING_MODEL \
	"embedding" /* name in host.json of the model that makes embeddings, for all actions */

struct wfs_authority;
struct wfs_driver;
struct wfs_session;

/*
 * X(constant, params, result): what a driver can be asked for. params, result: texts that describe
 * the members `params` and `result` of struct wfs_drive: "those" are the members of its payload
 * (worldfs-control(5)) or, of agent.step, of the effect; "the run's" is the result of the run, see
 * wfs_turn_result() (kernel/domain/turn/turn-read.h). A chat has an answer also if its plan failed;
 * `checkpoint.path` of the answer is `plan:ID`; with `wait: false` the answer is {chat_id,
 * plan_id?}.
 */
#define WFS_DRIVES(X)                                                                  \
	X(STEP, "those of agent.step", "the run's, or the list of them")               \
	X(AGAIN, "those of the verb step-again", "the answer of then and that of now") \
	X(CHAT, "those of the verb chat", "the answer of a chat")                      \
	X(IMPORT, "those of the verb plan-import", "the answer of a chat")             \
	X(RESUME, "those of the verb plan-resume", "the answer of a chat")             \
	X(TOOL, "those of the verb tool", "the receipt's payload")                     \
	X(TOOLS, "{}", "a list of caps/session-tools.h")

enum wfs_drive_what {
#define WFS_DRIVE_ENUM(constant, params, result) WFS_DRIVE_##constant,
	WFS_DRIVES(WFS_DRIVE_ENUM)
#undef WFS_DRIVE_ENUM
		WFS_DRIVE_COUNT
};

/* The tool call for which a request is made. The intent of the call keeps the id of the run or chat
 * that the request has begun, so that a call that is made again does not begin another. Plain
 * value. */
struct wfs_called_by {
	const char *intent_id; /* NULL: not for a tool call */
	const char *began; /* id of the run or chat that the call has begun already; NULL: none */
};

/* One request for turns of an agent, or for a plan. Zero-initialise, set the members up to
 * `context`; the driver sets the others before `done`. */
struct wfs_drive {
	enum wfs_drive_what what;
	const struct wfs_session *session;     /* of the caller; must live until `done` */
	const json_t *params;                  /* must live until `done` */
	struct wfs_called_by called_by;        /* its texts must live until `done` */
	struct wfs_fired fired;                /* timer for which the request is made, or zeros */
	void (*done)(struct wfs_drive *drive); /* exactly once, on any thread */
	void *context;

	int status;     /* 0 or -errno */
	json_t *result; /* also of a failed run or plan; NULL: none; the caller owns it */
	struct wfs_error error;

	uint64_t ticket; /* set by begin(): names the request for abandon() */
};

/* Takes the turns of a world's agents: does what runs ask for, also runs that were begun before the
 * driver was started. Callback table. */
struct wfs_driver {
	/* Begin a request; an immediate failure is reported by `done`, too. @drive: must live until
	 * `done` is called. Thread: any. */
	void (*begin)(struct wfs_driver *driver, struct wfs_drive *drive);
	/* The caller of a request has gone: end what the request has begun. `done` is called
	 * anyway, and may have been called already; then this does nothing. @ticket: of the
	 * request. Thread: any. */
	void (*abandon)(struct wfs_driver *driver, uint64_t ticket);
	/* Begin nothing any more, and answer all waiting requests:
	 * the world is being closed. Thread: any. */
	void (*stop)(struct wfs_driver *driver);
	/* Read again those entries of host.json that are not read for each request; returns before
	 * that is done. May be NULL. Thread: any. */
	void (*reload)(struct wfs_driver *driver);
	/* Will no timer fire as long as the world is open, because the driver was started with
	 * `paused`, or the world has the file WFS_TIMERS_PAUSED (kernel/base/world-file.h)?
	 * Thread: any. */
	bool (*paused)(struct wfs_driver *driver);
	/* stop(), and wait for everything in progress. Unfinished runs and plans continue when the
	 * world is opened again. */
	void (*free)(struct wfs_driver *driver);
};

/* One call of a function that makes agents or plans run. Zero-initialise, set the members up to
 * `context`; the others are set before `done`. */
struct wfs_helper_call {
	const struct wfs_session *session; /* of the caller; must live until `release` */
	struct wfs_driver *driver;         /* takes the turns */
	const char *name;                  /* of the function */
	const json_t *arguments;           /* must fit its parameters */
	struct wfs_called_by called_by;    /* its texts must live until `done` */
	void (*done)(
		struct wfs_helper_call *call); /* exactly once, on any thread, also in `begin` */
	void *context;

	int status;      /* 0 or -errno */
	json_t *result;  /* for the model; valid until `release` */
	json_t *details; /* of a failure, valid until `release`; NULL: nothing was begun */
	json_t *meta;    /* height and time of the answer, valid until `release`; NULL: none */
	struct wfs_error error;
	void *own; /* private to the function */
};

/* Functions for models besides actions: they read, wrap an action, or make agents and plans run.
 * Callback table. Thread: any. */
struct wfs_helpers {
	/* Array of {acts, description, drives, name, parameters}; `acts`: the function wraps an
	 * action; `drives`: it makes agents or plans run. New reference, NULL without memory. */
	json_t *(*definitions)(void);
	/* Check the arguments of the function @name, with the error messages that other callers of
	 * the function get. Return: 0, -EINVAL (they do not fit its parameters), -ENOMEM. */
	int (*check)(const char *name, const json_t *arguments, struct wfs_error *error);
	/* Check the arguments of a function with `acts`, and make the action that its call means.
	 * @ret_action: caller owns it. Return: 0, -EINVAL (they do not fit its parameters),
	 * -ENOMEM. The pointer is NULL if no function acts. */
	int (*action)(const char *name, const json_t *arguments, json_t **ret_action,
		struct wfs_error *error);
	/* Call a function that reads, and append its result to @output. @arguments: must fit its
	 * parameters. @ret_meta: set to NULL by the caller; may become the height and time of the
	 * answer if the call fails; caller owns it. Return: 0, or -errno with @error. */
	int (*run)(const struct wfs_session *session, const char *name, const json_t *arguments,
		struct wfs_buffer *output, json_t **ret_meta, struct wfs_error *error);
	/* Begin a call of a function with `drives`; call->done reports its end, also a failure.
	 * The pointer is NULL if no function drives. */
	void (*begin)(struct wfs_helper_call *call);
	/* The caller has gone: end what the call has begun. `done` is called anyway, and may have
	 * been called already. */
	void (*abandon)(struct wfs_helper_call *call);
	/* Free what the call holds, but not @call itself; to be called after `done`. */
	void (*release)(struct wfs_helper_call *call);
};

/** wfs_driver_start - start a driver, which takes the turns of a world's agents and runs its plans
 *  @authority, @helpers: borrowed until the driver is freed
 *  @paused: fire no timers, and do not continue unfinished runs and plans, until a caller resumes
 *           these or the world is opened again
 *  @ret_driver: set on success; caller calls its `free`, before freeing @authority
 *  Return: 0, or -errno with @error. */
typedef int wfs_driver_start(struct wfs_authority *authority, const struct wfs_helpers *helpers,
	bool paused, struct wfs_driver **ret_driver, struct wfs_error *error);
