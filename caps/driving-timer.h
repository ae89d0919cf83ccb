/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a driver calls (see caps/driving.h) for timers (kernel/domain/timer/timer.h): which are due,
 * and how they fire; and for waits. A *wait* is a tool call of a run that ends at a time or with an
 * event. Functions that return int return 0, or -errno with @error.
 */
#pragma once

#include "kernel/base/hash-text.h"
#include "kernel/manifest/document.h"
#include "kernel/value/fired.h"

struct wfs_driving;
struct wfs_request;
struct wfs_session;

/* Timers that are due. Plain value; zero-initialise, set the first members, and end with
 * wfs_due_done(). */
struct wfs_due {
	int64_t now_ns;      /* since 1970 */
	size_t max;          /* the search stops when it has found so many timers or waits */
	size_t left_out_max; /* the search stops when it has left out so many */
	/* After which timer or wait the search begins, in the order of due times; zeros: with the
	 * earliest. Moves on to where the search has stopped, and becomes zeros if no more are due,
	 * or after a failure. */
	struct wfs_due_place {
		int64_t due_ns;
		uint64_t cell_id;
	} place;
	struct wfs_document_timer *timers; /* owned, with their documents */
	size_t count;
	char (*waits)[WFS_HASH_TEXT_SIZE]; /* owned; intents whose wait is over */
	size_t wait_count;
	size_t left_out; /* timers and waits that were not wanted, and damaged timers */
	size_t damaged;  /* timers whose document is not valid: they do not fire */
	int64_t next_ns; /* when to search again, since 1970; INT64_MAX: no later one exists */
};
void wfs_due_done(struct wfs_due *due);
#define WFS_AUTO_DUE WFS_CLEANUP(wfs_due_done)

/* Is a timer or wait not wanted now, for instance because it is under way already? @principal: id
 * of the principal that owns the timer; NULL: a wait. @id: of the timer, or of the intent that
 * waits */
typedef bool wfs_due_busy_fn(void *context, const char *principal, const char *id);

/** wfs_driving_due() - find timers, and waits, that are due at due->now_ns, from due->place on
 *  @busy: called with @context on this thread; timers and waits for which it returns true are left
 *         out
 *  @due: caller ends it with wfs_due_done(), after a failure, too */
int wfs_driving_due(const struct wfs_driving *driving, wfs_due_busy_fn *busy, void *context,
	struct wfs_due *due, struct wfs_error *error);

/** wfs_driving_firing() - choose the due time for which a timer fires now, by its `catch_up`
 *  (kernel/domain/timer/timer.h)
 *  @timer: due at or before @now_ns (since 1970). @since_ns: the driver has been at work since this
 *  time, without a jump of the clock: earlier due times were missed, and do not fire if `catch_up`
 *  is `none`
 *  @ret_fired: set on success; borrows from @timer; its `how` is WFS_FIRED_LATE if the timer does
 *  not fire, because all its due times until now were missed */
int wfs_driving_firing(const struct wfs_document_timer *timer, int64_t since_ns, int64_t now_ns,
	struct wfs_fired *ret_fired, struct wfs_error *error);

/** wfs_driving_fires() - must the timer that @fired names, of the principal with the id @principal,
 *  still fire for the due time in @fired? Return: 1; 0: the timer has fired for it, or is gone
 *  (another timer may have its id now); or -errno. */
int wfs_driving_fires(const struct wfs_driving *driving, const char *principal,
	const struct wfs_fired *fired, struct wfs_error *error);

/** wfs_driving_wait() - read the wait of the tool call with the intent @intent_id. @ret_wait:
 *  caller ends it with wfs_document_done() (kernel/manifest/document.h), also after a failure. If
 *  the call does not wait, or not yet, ret_wait->own.json is NULL, and the function returns 0. */
int wfs_driving_wait(const struct wfs_driving *driving, const char *intent_id,
	struct wfs_document_wait *ret_wait, struct wfs_error *error);

/** wfs_driving_waited() - make the result of a wait that is over: {woken, event?}; woken: what
 *  ended the wait, "time", "event" or "step"; event: if an event ended the wait and the session may
 *  read its record, {schema, seq, value} of the event; otherwise missing. @ret_result: set on
 *  success; caller owns it */
int wfs_driving_waited(const struct wfs_session *session, const struct wfs_document_wait *wait,
	json_t **ret_result, struct wfs_error *error);

/** wfs_driving_timer_action() - get the action of a timer, with those private texts that the
 *  session's principal may read in the place of their stand-ins. @ret_action: shares no JSON value
 *  with anything else; caller owns it */
int wfs_driving_timer_action(const struct wfs_session *session,
	const struct wfs_document_timer *timer, json_t **ret_action, struct wfs_error *error);

/** wfs_session_fire() - send @action, the action of a timer: judge and submit it; if its
 *  `action_type` is `event`, as an event. Not for the types `step` and `chat`, which a driver does.
 *  @request: with `done`, `context` and `fired` set; @action: must live until `done` is called
 *  Return: 0 (`done` will be called, also with a refusal, which is recorded), or -errno with
 *  request->error: nothing was recorded, and `done` will not be called. */
int wfs_session_fire(
	const struct wfs_session *session, const json_t *action, struct wfs_request *request);

/** wfs_session_give_up() - record that a timer does not fire, for the reason in request->error
 *  @action: of the timer. @request: as for wfs_session_fire()
 *  Return: 0 (`done` will be called with that error; if it is recorded, request->seq is set), or
 *  -errno with request->error: `done` will not be called. */
int wfs_session_give_up(
	const struct wfs_session *session, const json_t *action, struct wfs_request *request);
