/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/engine/wait.h"

#include <search.h>

#include "caps/session.h"
#include "kernel/base/clock.h"
#include "kernel/base/json.h"

/* --- watching: a tree of those that are the first of their id --- */

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct wait *)a)->id, ((const struct wait *)b)->id);
}

struct wait *wait_find(const struct engine *engine, const char *id)
{
	struct wait key;

	snprintf(key.id, sizeof(key.id), "%s", id);
	struct wait *const *const found = tfind(&key, &engine->waits_by_id, compare);
	return found ? *found : NULL;
}

void wait_unwatch(struct wait *wait)
{
	void **const tree = &wait->engine->waits_by_id;

	if (!wait->is_watching)
		return;
	struct wait **at = tfind(wait, tree, compare);
	if (*at == wait && !wait->same) {
		(void)tdelete(wait, tree, compare);
	} else {
		while (*at != wait)
			at = &(*at)->same;
		*at = WFS_STEAL(wait->same);
	}
	wait->is_watching = false;
}

static void cancel(struct wait *wait);

int wait_watch(struct wait *wait, const char *id, struct wfs_error *error)
{
	wait_unwatch(wait);
	snprintf(wait->id, sizeof(wait->id), "%s", id);
	struct wait *const *const first = tsearch(wait, &wait->engine->waits_by_id, compare);
	if (!first)
		return wfs_error_from_errno(error, -ENOMEM, "%s", wait->kind->doing);
	if (*first != wait) {
		wait->same = (*first)->same;
		(*first)->same = wait;
	}
	wait->is_watching = true;
	if (wait->abandoned && !wait->canceller)
		cancel(wait);
	return 0;
}

void wait_look(struct engine *engine, const char *id)
{
	struct wait *next;

	for (struct wait *wait = wait_find(engine, id); wait; wait = next) {
		next = wait->same; /* a look may end the wait */
		wait->kind->look(wait);
	}
}

void wait_look_at_all(struct engine *engine)
{
	struct wait *next;

	for (struct wait *wait = LIST_FIRST(&engine->waits); wait; wait = next) {
		next = LIST_NEXT(wait, all);
		if (wait->is_watching)
			wait->kind->look(wait);
	}
}

/* --- the end --- */

/* Frees the wait when the kernel has no request of it any more. */
static void release(struct wait *wait)
{
	struct engine *const engine = wait->engine;

	if (wait->cancel_action)
		return;
	LIST_REMOVE(wait, all);
	wfs_session_free(wait->canceller);
	free(wait);
	engine_one_less(engine);
}

/* Two threads must not share a JSON value: values made of the caller's parameters are freed
 * first. */
void wait_tell(struct wait *wait, int status, json_t *result, const struct wfs_error *error)
{
	struct wfs_drive *const drive = wait->drive;

	wfs_require(!wait->requested); /* the kernel would have parts of it */
	wait_unwatch(wait);
	wait->kind->done(wait);
	wait->drive = NULL;
	drive->status = status;
	drive->result = result;
	if (error)
		drive->error = *error;
	drive->done(drive);
	release(wait);
}

void wait_fail(struct wait *wait, int r, struct wfs_error *error)
{
	wait->requested = false;
	if (error->code == WFS_OK)
		(void)wfs_error_from_errno(error, r, "%s", wait->kind->doing);
	wait->kind->fail(wait, r, error);
}

int wait_check_open(const struct wait *wait, struct wfs_error *error)
{
	return engine_stopping(wait->engine)
		? wfs_error_set(error, WFS_E_CANCELLED, "%s", wait->kind->closing)
		: 0;
}

void wait_drop_all(struct engine *engine)
{
	struct wait *next;

	for (struct wait *wait = LIST_FIRST(&engine->waits); wait; wait = next) {
		struct wfs_error error = {0};

		next = LIST_NEXT(wait, all);
		if (wait->drive && !wait->requested)
			wait_fail(wait, wait_check_open(wait, &error), &error);
	}
}

/* --- the beginning --- */

static void begun(struct engine *engine, struct job *job)
{
	struct wait *const wait = (struct wait *)job;
	WFS_AUTO_JSON json_t *answer = WFS_STEAL(wait->request.answer);

	(void)engine;
	wait->requested = false;
	wait->kind->begun(wait, answer);
}

struct wfs_request *wait_send(struct wait *wait)
{
	wait->requested = true;
	wait->request = engine_request(wait->engine, &wait->job, begun);
	wait->request.fired = wait->drive->fired;
	return &wait->request;
}

static void start(struct engine *engine, struct job *job)
{
	struct wait *const wait = (struct wait *)job;
	struct wfs_error error = {0};

	engine->open_count++;
	LIST_INSERT_HEAD(&engine->waits, wait, all);
	const int r = wait_check_open(wait, &error);
	if (r)
		wait_fail(wait, r, &error);
	else
		wait->kind->start(wait);
}

void wait_begin(struct engine *engine, const struct wait_kind *kind, struct wfs_drive *drive)
{
	struct wait *const wait = calloc(1, kind->size);

	if (wait) {
		wait->kind = kind;
		wait->engine = engine;
		wait->drive = drive;
		wait->at_once = json_is_false(json_object_get(drive->params, "wait"));
		wait->began_ns = wfs_clock_monotonic_ns();
		drive->ticket = engine_ticket(engine);
		if (engine_post(engine, &wait->job, start))
			return;
	}
	drive->status = wait ? wfs_error_set(&drive->error, WFS_E_CANCELLED, "%s", kind->closing)
			     : wfs_error_from_errno(&drive->error, -ENOMEM, "%s", kind->doing);
	free(wait);
	drive->done(drive);
}

/* --- going away --- */

static void cancelled(struct engine *engine, struct job *job)
{
	struct wait *const wait = CONTAINER_OF(job, struct wait, leaving);

	(void)engine;
	json_decref(WFS_STEAL(wait->cancel_action));
	json_decref(WFS_STEAL(wait->cancel.answer));
	if (!wait->drive)
		release(wait);
}

/* When the cancelled turn or plan ends, the wait ends. */
static void cancel(struct wait *wait)
{
	struct wfs_error ignored;

	if (wfs_session_new(wait->engine->authority, wfs_session_principal(wait->drive->session),
		    &wait->canceller, &ignored))
		return;
	wait->cancel_action = wait->kind->cancelled(wait);
	wait->cancel = engine_request(wait->engine, &wait->leaving, cancelled);
	if (wait->cancel_action &&
		wait->kind->cancel(wait->canceller, wait->cancel_action, &wait->cancel))
		json_decref(WFS_STEAL(wait->cancel_action));
}

/* A caller that has gone. */
struct leaver {
	struct job job;
	uint64_t ticket;
};

static void leave(struct engine *engine, struct job *job)
{
	struct leaver *const leaver = (struct leaver *)job;
	struct wait *wait = LIST_FIRST(&engine->waits);

	while (wait && !(wait->drive && wait->drive->ticket == leaver->ticket))
		wait = LIST_NEXT(wait, all);
	free(leaver);
	if (!wait || wait->abandoned)
		return;
	wait->abandoned = true;
	if (wait->is_watching)
		cancel(wait);
	else if (wait->kind->left)
		wait->kind->left(wait);
}

void wait_abandon(struct engine *engine, uint64_t ticket)
{
	struct leaver *const leaver = malloc(sizeof(*leaver));

	if (!leaver)
		return; /* what the caller has begun ends by itself */
	leaver->ticket = ticket;
	if (!engine_post(engine, &leaver->job, leave))
		free(leaver);
}
