/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A task: something that is found out by asking a world one verb after another.
 *
 * A task knows which verbs it wants and what comes of their answers, and nothing about how a verb
 * gets to a world. Whoever runs it does that: a loop over a socket, this process, a session.
 *
 *     while (wfs_task_next(task, &verb, &payload)) {
 *             (ask, and wait as long as it takes)
 *             wfs_task_answer(task, &answer);
 *     }
 *
 * The first answer fixes the height, so everything that a task gives is of one moment.
 * Thread: one at a time.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "fs/verb/answer.h"
#include "kernel/base/buffer.h"

struct wfs_task;

/* One kind of task. Static lifetime. Both functions give 0 (they have asked for a verb with
 * wfs_task_ask, or set task->result), or -errno with task->error. */
struct wfs_task_kind {
	bool changes; /* its verbs may change the world */
	/* From task->arguments, which were checked. */
	int (*start)(struct wfs_task *task);
	/* @result: what the verb gave; borrowed */
	int (*answered)(struct wfs_task *task, const json_t *result);
	/* Keep what is to be told of the details of an error, in task->error_details. NULL: all of them are. */
	void (*failed)(struct wfs_task *task, const json_t *details);
};

/* Read the second part when wfs_task_next has said false. */
struct wfs_task {
	const struct wfs_task_kind *kind;
	json_t *arguments; /* owned, an object */
	const char *verb;  /* to be asked, or NULL; static */
	json_t *payload;   /* of that verb; owned */
	json_t *notes;     /* what the kind remembers between answers; owned, may be NULL */
	size_t index;      /* the same */
	bool started;

	int status;     /* 0 or -errno */
	json_t *result; /* owned, an object; when status is 0 */
	/* Bytes that belong to it: a file's text, which is easier to read than inside of JSON. */
	struct wfs_buffer bytes;
	json_t *meta;           /* owned: where the last answer stood; may be NULL */
	struct wfs_error error; /* when status is not 0 */
	json_t *error_details;  /* owned; may be NULL */
};

/** wfs_task_init() - begin; takes @arguments, NULL: {} */
void wfs_task_init(struct wfs_task *task, const struct wfs_task_kind *kind, json_t *arguments);
void wfs_task_done(struct wfs_task *task);
#define WFS_AUTO_TASK WFS_CLEANUP(wfs_task_done)

/** wfs_task_next() - which verb to ask; @ret_payload: caller owns it. Return: false when all is over. */
bool wfs_task_next(struct wfs_task *task, const char **ret_verb, json_t **ret_payload);

/** wfs_task_answer() - what the verb gave. @answer: stays the caller's */
void wfs_task_answer(struct wfs_task *task, const struct wfs_answer *answer);

/** wfs_task_fail() - the task is over: its verb could not be asked. */
void wfs_task_fail(struct wfs_task *task, int r, const struct wfs_error *error);

/*
 * For kinds of tasks.
 */

/** wfs_task_ask() - want a verb next; takes @payload (NULL: no memory). Return: 0, -ENOMEM. */
int wfs_task_ask(struct wfs_task *task, const char *verb, json_t *payload);

/** wfs_task_path() - {path, at?} for a verb of the tree: after the first answer at its height, but
 *  for paths below at/, which name theirs. New reference, NULL without memory. */
json_t *wfs_task_path(const struct wfs_task *task, const char *path);

/** wfs_task_text() - a string among the arguments; NULL when it is absent. */
const char *wfs_task_text(const struct wfs_task *task, const char *name);

/** wfs_task_integer() - an integer among the arguments, or @otherwise. */
int64_t wfs_task_integer(const struct wfs_task *task, const char *name, int64_t otherwise);

/** wfs_task_decode() - append the bytes of a base64 member of an answer to task->bytes. */
int wfs_task_decode(struct wfs_task *task, const json_t *result, const char *name);
