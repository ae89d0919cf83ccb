/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Callers that wait for the end of turns, or of a plan.
 *
 * Each has one struct wait from its request to the answer. A request is sent to the kernel; then
 * the cell of the turn, chat or plan is watched; when that has ended, the caller gets the answer.
 * When a caller goes away, what it has begun is cancelled, which ends the wait. run.c and chat.c
 * know what callers ask for, and when it has ended.
 */
#pragma once

#include "agents/engine/engine.h"

/* What callers wait for. Callback table; called on the driver's thread. */
struct wait_kind {
	size_t size;         /* of the struct that begins with a struct wait */
	const char *doing;   /* in messages: what failed */
	const char *closing; /* message when the world is being closed */
	/* Send a request to the kernel with wait_send(), or watch what has begun already. */
	void (*start)(struct wait *wait);
	/* The kernel has answered wait->request, or refused it. If request.result is 0, call
	 * wait_watch() for what @answer says was begun, or, if `at_once`, tell the caller its id;
	 * otherwise report request.error with wait_fail(). @answer: of the request; borrowed; NULL
	 * after a failure */
	void (*begun)(struct wait *wait, json_t *answer);
	/* Read the watched cell, which may have changed; if the turn, chat or plan has ended,
	 * answer the caller with wait_tell(). */
	void (*look)(struct wait *wait);
	/* Tell the caller what went wrong, with wait_tell(). @r: -errno; @error: may be changed */
	void (*fail)(struct wait *wait, int r, struct wfs_error *error);
	/* The action that cancels what the wait has begun; new reference, NULL without memory. */
	json_t *(*cancelled)(const struct wait *wait);
	/* Send that action: a function of caps/session-*.h. Return: 0, or -errno: nothing is
	 * cancelled, and the wait goes on. */
	int (*cancel)(
		const struct wfs_session *session, json_t *action, struct wfs_request *request);
	/* The caller has gone, and the wait watches nothing: end it. NULL: it ends by itself. */
	void (*left)(struct wait *wait);
	/* Free what the kind owns of the wait, before its caller gets the answer. */
	void (*done)(struct wait *wait);
};

struct wait {
	struct job job;
	struct job leaving; /* posted when the kernel has answered `cancel` */
	const struct wait_kind *kind;
	struct engine *engine;
	LIST_ENTRY(wait) all;
	struct wait *same;       /* the next wait for this id */
	struct wfs_drive *drive; /* NULL: its caller has the answer */
	int64_t began_ns;        /* when the caller asked, monotonic */
	bool at_once;            /* the caller does not wait for the end */
	bool is_watching;
	bool requested; /* the kernel has `request`, or a thread of libuv prepares it */
	bool abandoned; /* the caller has gone */
	char id[WFS_CHAT_ID_MAX + 1]; /* of the watched turn, chat or plan */
	struct wfs_request request;
	struct wfs_request cancel;
	json_t *cancel_action;         /* owned; the kernel has it until `cancel` is answered */
	struct wfs_session *canceller; /* owned; the caller's session may end first */
};

/** wait_begin() - make a wait for the request @drive, and have the driver's thread call `start` of
 *  its kind.
 *  @drive: must live until its `done` is called, which also reports failures; its `ticket` is set.
 *  Thread: any. */
void wait_begin(struct engine *engine, const struct wait_kind *kind, struct wfs_drive *drive);

/** wait_abandon() - cancel what the wait with this ticket has begun, because its caller has gone.
 *  Does nothing if the caller has its answer already. If memory is lacking, cancels nothing, and
 *  the wait goes on. Thread: any. */
void wait_abandon(struct engine *engine, uint64_t ticket);

/** wait_send() - prepare wait->request; when the kernel has answered it, `begun` of the wait's kind
 *  (struct wait_kind) is called, also with a refusal.
 *  Return: wait->request; the caller gives it to a function of caps/session-*.h. If that returns
 *  -errno, `begun` is not called, and the caller calls wait_fail(). */
struct wfs_request *wait_send(struct wait *wait);

/** wait_watch() - call the wait's `look` whenever the cell of the turn, chat or plan @id changes;
 *  the wait watches no other cell any more. @id: copied. Return: 0, or -ENOMEM with @error: the
 *  wait watches nothing. */
int wait_watch(struct wait *wait, const char *id, struct wfs_error *error);
void wait_unwatch(struct wait *wait);

/** wait_check_open() - may the wait still begin anything?
 *  Return: 0, or -EINTR with @error (cancelled: the world is being closed). */
int wait_check_open(const struct wait *wait, struct wfs_error *error);

/** wait_fail() - call the wait's `fail`, which answers the caller and ends the wait. Call this only
 *  when the kernel does not have wait->request, or has answered it.
 *  @r: -errno; @error: if it has no code, it is filled from @r */
void wait_fail(struct wait *wait, int r, struct wfs_error *error);

/** wait_tell() - answer the caller by calling the `done` of its struct wfs_drive. The wait is
 *  freed, at once or when `cancel` is answered. @status: 0 or -errno; @result: taken, shares no
 *  JSON value with anything else; a failure may have one, too; NULL: none. @error: of the failure;
 *  NULL: nothing failed */
void wait_tell(struct wait *wait, int status, json_t *result, const struct wfs_error *error);

/** wait_find() - find the waits that watch the turn, chat or plan @id: the result and those that
 *  follow it by `same`. Return: borrowed until the wait ends; NULL: no wait watches it. */
struct wait *wait_find(const struct engine *engine, const char *id);

/** wait_look() - call `look` of each wait that watches the turn, chat or plan @id, because its cell
 *  has changed. */
void wait_look(struct engine *engine, const char *id);

/** wait_look_at_all() - call `look` of every wait that watches a cell, whether or not the cell has
 *  changed. */
void wait_look_at_all(struct engine *engine);

/** wait_drop_all() - answer callers with the error `cancelled`, because the engine stops; but not
 *  those whose request the kernel has, and will answer. */
void wait_drop_all(struct engine *engine);
