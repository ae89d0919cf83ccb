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

/* A kind of task. Static lifetime. Its functions are called in wfs_task_next() and
 * wfs_task_answer(), on the caller's thread. `start` and `answered` return 0 (they have called
 * wfs_task_ask(), or set task->result), or -errno, after which the task fails with task->error, if
 * that is set. */
struct wfs_task_kind {
	bool changes; /* its verbs may change the world */
	/* Begins a task, by task->arguments, which were checked. Called once. */
	int (*start)(struct wfs_task *task);
	/* Takes an answer that is not an error. @result: of the verb; borrowed */
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

/** wfs_task_init() - set up a task, which wfs_task_next() begins. @arguments: taken; NULL: {} */
void wfs_task_init(struct wfs_task *task, const struct wfs_task_kind *kind, json_t *arguments);
void wfs_task_done(struct wfs_task *task);
#define WFS_AUTO_TASK WFS_CLEANUP(wfs_task_done)

/** wfs_task_next() - get the verb for which the task needs an answer now. @ret_verb: name of the
 *  verb, static; @ret_payload: caller owns it. Return: false: the task has ended, and neither is
 *  set. */
bool wfs_task_next(struct wfs_task *task, const char **ret_verb, json_t **ret_payload);

/** wfs_task_answer() - give a task the answer to the verb that wfs_task_next() has given last; if
 *  the answer is an error, the task ends with it. @answer: borrowed */
void wfs_task_answer(struct wfs_task *task, const struct wfs_answer *answer);

/** wfs_task_fail() - end a task whose verb could not be sent: set its status to @r, a negative
 *  errno, and its error to a copy of @error. */
void wfs_task_fail(struct wfs_task *task, int r, const struct wfs_error *error);

/*
 * For kinds of tasks.
 */

/** wfs_task_ask() - set the verb for which the task needs an answer now. @verb: static. @payload:
 *  taken; NULL: memory for it was lacking. Return: 0, -ENOMEM (@payload is NULL). */
int wfs_task_ask(struct wfs_task *task, const char *verb, json_t *payload);

/** wfs_task_path() - make the payload {path, at?} for the verbs fs-list, fs-stat and fs-read
 *  `at` is the height of the task's first answer. `at` is left out before this answer, and for
 *  paths below at/, which name a height, and below tools/, which no height has.
 *  Return: new reference, NULL without memory. */
json_t *wfs_task_path(const struct wfs_task *task, const char *path);

/** wfs_task_text() - get the argument @name, a text, from task->arguments; borrowed from these;
 *  NULL if the argument is absent. */
const char *wfs_task_text(const struct wfs_task *task, const char *name);

/** wfs_task_integer() - get the argument @name, an integer, from task->arguments; @otherwise if the
 *  argument is absent. */
int64_t wfs_task_integer(const struct wfs_task *task, const char *name, int64_t otherwise);

/** wfs_task_decode() - decode the base64 member @name of @result, if any, and append it to
 *  task->bytes.
 *  Return: 0, -EINVAL (not base64; with task->error), -ENOMEM. */
int wfs_task_decode(struct wfs_task *task, const json_t *result, const char *name);
