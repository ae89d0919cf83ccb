/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A task: something that needs answers from a world, to one verb after another.
 *
 * A task knows which verbs it needs and what follows from their answers, but not how a verb gets
 * to the world. Its caller sends them: in a loop over a socket, in this process, or in a session.
 *
 *     while (wfs_task_next(task, &verb, &payload)) {
 *             (ask, and wait as long as it takes)
 *             wfs_task_answer(task, &answer);
 *     }
 *
 * The first answer fixes the height, so all that a task gives is of one moment.
 * Thread: one at a time.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "fs/verb/answer.h"
#include "kernel/base/buffer.h"

struct wfs_task;

/* A kind of task. Static lifetime. `start` and `answered` return 0 (they have called
 * wfs_task_ask(), or set task->result), or -errno with task->error. */
struct wfs_task_kind {
	bool changes; /* its verbs may change the world */
	/* Begins a task, by task->arguments, which were checked. */
	int (*start)(struct wfs_task *task);
	/* Takes an answer. @result: of the verb; borrowed */
	int (*answered)(struct wfs_task *task, const json_t *result);
	/* Sets task->error_details to the part of an error's details that the caller of the tool
	 * gets. NULL: it gets all of them. */
	void (*failed)(struct wfs_task *task, const json_t *details);
};

/* The members from `status` on are valid after wfs_task_next() has returned false. */
struct wfs_task {
	const struct wfs_task_kind *kind;
	json_t *arguments; /* owned, an object */
	const char *verb;  /* to be asked, or NULL; static */
	json_t *payload;   /* of that verb; owned */
	json_t *notes;     /* state of the kind between answers; owned, may be NULL */
	size_t index;      /* state of the kind */
	bool started;

	int status;     /* 0 or -errno */
	json_t *result; /* owned, an object; when status is 0 */
	/* Bytes that belong to the result, such as a file's text, but are not in the JSON value,
	 * because they are easier to read outside of JSON. */
	struct wfs_buffer bytes;
	json_t *meta;           /* height and so on of the last answer; owned; may be NULL */
	struct wfs_error error; /* when status is not 0 */
	json_t *error_details;  /* owned; may be NULL */
};

/** wfs_task_init() - begin a task. @arguments: taken; NULL: {} */
void wfs_task_init(struct wfs_task *task, const struct wfs_task_kind *kind, json_t *arguments);
void wfs_task_done(struct wfs_task *task);
#define WFS_AUTO_TASK WFS_CLEANUP(wfs_task_done)

/** wfs_task_next() - get the verb for which the task needs an answer next. @ret_verb: static;
 *  @ret_payload: caller owns it. Return: false: the task has ended, and neither is set. */
bool wfs_task_next(struct wfs_task *task, const char **ret_verb, json_t **ret_payload);

/** wfs_task_answer() - give a task the answer to the verb of the last wfs_task_next(); an error
 *  ends the task. @answer: borrowed */
void wfs_task_answer(struct wfs_task *task, const struct wfs_answer *answer);

/** wfs_task_fail() - end a task whose verb could not be sent: set its status to @r, a negative
 *  errno, and its error to a copy of @error. */
void wfs_task_fail(struct wfs_task *task, int r, const struct wfs_error *error);

/*
 * For kinds of tasks.
 */

/** wfs_task_ask() - set the verb that the task needs next. @payload: taken; NULL: memory for it was
 *  lacking. Return: 0, -ENOMEM. */
int wfs_task_ask(struct wfs_task *task, const char *verb, json_t *payload);

/** wfs_task_path() - make the payload {path, at?} for the verbs fs-list, fs-stat and fs-read
 *  `at` is the height of the first answer. It is left out before the first answer, and for paths
 *  below at/, which name a height, and below tools/, which no height has.
 *  Return: new reference, NULL without memory. */
json_t *wfs_task_path(const struct wfs_task *task, const char *path);

/** wfs_task_text() - get the text @name from task->arguments; borrowed; NULL if it is absent. */
const char *wfs_task_text(const struct wfs_task *task, const char *name);

/** wfs_task_integer() - get the integer @name from task->arguments; @otherwise if it is absent. */
int64_t wfs_task_integer(const struct wfs_task *task, const char *name, int64_t otherwise);

/** wfs_task_decode() - decode the base64 member @name of @result, if any, and append it to
 *  task->bytes.
 *  Return: 0, or -errno with task->error. */
int wfs_task_decode(struct wfs_task *task, const json_t *result, const char *name);
