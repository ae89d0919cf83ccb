/* SPDX-License-Identifier: Apache-2.0 */
/* A world, its authority, and sessions in it: of the operator, and of alice, who holds nothing yet. */
#pragma once

#include <semaphore.h>

#include "tests/unit/world-fixture.h"

#include "caps/session.h"

enum {
	GENESIS_HEIGHT = 2,
	ALICE_HEIGHT = 3, /* when there is alice */
};

struct at_work {
	struct world_fixture *world;
	struct wfs_authority *authority;
	struct wfs_session *operator;
	struct wfs_session *alice;
	struct wfs_error error; /* of the last call below */
};

/* Waits for what was begun with @r. Return: as wfs_world_call. */
static inline void wake_caller(struct wfs_request *request)
{
	sem_post(request->context);
}

static inline int wait_for(struct at_work *work, struct wfs_request *request, sem_t *done, int r)
{
	if (!r) {
		while (sem_wait(done) != 0)
			;
		r = request->result;
	}
	sem_destroy(done);
	work->error = request->error;
	json_decref(WFS_STEAL(request->answer));
	return r;
}

/* A request whose answer is waited for. */
#define BEGIN_REQUEST(request, done)                                            \
	sem_t done;                                                             \
	struct wfs_request request = {.done = wake_caller, .context = &(done)}; \
	sem_init(&(done), 0, 0)

/* @grant: JSON with ' for ". */
static inline int give(
	struct at_work *work, const struct wfs_session *session, const char *grant_text)
{
	WFS_AUTO_JSON json_t *document = json_of(grant_text);
	BEGIN_REQUEST(request, done);

	return wait_for(work, &request, &done, wfs_session_grant(session, document, &request));
}

static inline int take_back(
	struct at_work *work, const struct wfs_session *session, const char *name)
{
	WFS_AUTO_JSON json_t *revocation = json_pack("{s:s}", "name", name);
	BEGIN_REQUEST(request, done);

	return wait_for(work, &request, &done, wfs_session_revoke(session, revocation, &request));
}

static inline int add_principal(
	struct at_work *work, const struct wfs_session *session, const char *id)
{
	WFS_AUTO_JSON json_t *principal = json_pack("{s:s}", "id", id);
	BEGIN_REQUEST(request, done);

	return wait_for(
		work, &request, &done, wfs_session_add_principal(session, principal, &request));
}

/* The operator grants what must be granted. */
static inline void let(struct at_work *work, const char *grant_text)
{
	if (give(work, work->operator, grant_text))
		fail_msg("%s: %s", grant_text, work->error.message);
}

/* The world is open. */
static inline int at_work_begin(struct at_work *work)
{
	int r = wfs_authority_new(work->world->world, &work->authority, &work->error);

	if (!r)
		r = wfs_session_new(
			work->authority, WFS_PRINCIPAL_OPERATOR, &work->operator, & work->error);
	if (!r)
		r = add_principal(work, work->operator, "alice");
	if (!r)
		r = wfs_session_new(work->authority, "alice", &work->alice, &work->error);
	if (r)
		print_error("%s\n", work->error.message);
	return r;
}

static inline int at_work_setup(void **state)
{
	struct at_work *const work = calloc(1, sizeof(*work));

	*state = work;
	return world_fixture_setup((void **)&work->world) || at_work_begin(work);
}

static inline int at_work_teardown(void **state)
{
	struct at_work *const work = *state;
	void *world = work->world;

	wfs_session_free(work->operator);
	wfs_session_free(work->alice);
	wfs_authority_free(work->authority);
	free(work);
	return world_fixture_teardown(&world);
}

#define AT_WORK(name) TEST_WITH(name, struct at_work *work, at_work_setup, at_work_teardown)
