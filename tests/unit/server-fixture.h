/* SPDX-License-Identifier: Apache-2.0 */
/* A world, a server of its control socket on a thread of its own, and raw connections to it. Include after cmocka.h. */
#pragma once

#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>

#include "caps/session.h"
#include "fs/base/socket.h"
#include "fs/client/client.h"
#include "fs/server/server.h"
#include "tests/unit/world-fixture.h"

enum { WAIT_MS = 20000 }; /* until a test gives up */

/* Drives no agent: a turn ends when nobody waits for it any more. */
struct fake_driver {
	struct wfs_driver driver; /* first */
	struct wfs_drive *drive;  /* of the only request */
	sem_t asked;
	sem_t abandoned;
};

/* A world and a server on it. */
struct served {
	struct world_fixture *world;
	struct fake_driver driver;
	struct wfs_host host;
	struct wfs_server *server;
	pthread_t thread;
	sem_t ready;
	sem_t unmounting;  /* a thread has begun to unmount something … */
	sem_t may_unmount; /* … and waits for this */
	sem_t looping;     /* the loop's thread tells its status … */
	sem_t may_loop;    /* … and waits for this */
	bool holds_loop;   /* does it? Set before somebody asks for the status */
	bool joined;
};

static inline void fake_step(struct wfs_driver *driver, struct wfs_drive *drive)
{
	struct fake_driver *const fake = (struct fake_driver *)driver;

	drive->ticket = 7;
	fake->drive = drive;
	sem_post(&fake->asked);
}

static inline void fake_end(struct fake_driver *fake, int status)
{
	struct wfs_drive *const drive = WFS_STEAL(fake->drive);

	drive->status = status;
	drive->result = json_pack("{s:s}", "run_id", "ada.7");
	drive->done(drive);
}

static inline void fake_abandon(struct wfs_driver *driver, uint64_t ticket)
{
	struct fake_driver *const fake = (struct fake_driver *)driver;

	if (!fake->drive || ticket != fake->drive->ticket)
		return;
	fake_end(fake, wfs_error_set(&fake->drive->error, WFS_E_CANCELLED, "it was cancelled"));
	sem_post(&fake->abandoned);
}

static inline void fake_stop(struct wfs_driver *driver)
{
	(void)driver;
}

static inline int fake_umount(struct wfs_host *host, const char *directory, struct wfs_error *error)
{
	struct served *const served = (void *)((char *)host - offsetof(struct served, host));

	(void)error;
	(void)directory;
	sem_post(&served->unmounting);
	while (sem_wait(&served->may_unmount) != 0)
		;
	return 0;
}

static inline void fake_status(struct wfs_host *host, json_t *status)
{
	struct served *const served = (void *)((char *)host - offsetof(struct served, host));

	(void)status;
	if (!served->holds_loop)
		return;
	sem_post(&served->looping);
	while (sem_wait(&served->may_loop) != 0)
		;
}

static inline void *serve(void *context)
{
	struct served *const served = context;
	WFS_AUTO_AUTHORITY struct wfs_authority *authority = NULL;
	WFS_AUTO_SESSION struct wfs_session *session = NULL;
	WFS_AUTO_SERVER struct wfs_server *server = NULL;
	struct wfs_error error = {0};
	int r = wfs_authority_new(served->world->world, &authority, &error);

	if (!r)
		r = wfs_session_new(authority, WFS_PRINCIPAL_OPERATOR, &session, &error);
	if (!r)
		r = wfs_server_new(session, &served->host, &server, &error);
	if (r)
		print_error("%s\n", error.message);
	served->server = server;
	sem_post(&served->ready);
	if (!r)
		wfs_server_run(server);
	return NULL;
}

static inline int setup(void **state)
{
	struct served *const served = calloc(1, sizeof(*served));

	(void)signal(SIGPIPE, SIG_IGN);
	if (world_fixture_setup((void **)&served->world) != 0)
		return -1;
	sem_init(&served->ready, 0, 0);
	sem_init(&served->driver.asked, 0, 0);
	sem_init(&served->driver.abandoned, 0, 0);
	served->driver.driver =
		(struct wfs_driver){.begin = fake_step, .abandon = fake_abandon, .stop = fake_stop};
	served->host.driver = &served->driver.driver;
	served->host.umount = fake_umount;
	served->host.status = fake_status;
	sem_init(&served->unmounting, 0, 0);
	sem_init(&served->may_unmount, 0, 0);
	sem_init(&served->looping, 0, 0);
	sem_init(&served->may_loop, 0, 0);
	if (pthread_create(&served->thread, NULL, serve, served) != 0)
		return -1;
	while (sem_wait(&served->ready) != 0)
		;
	*state = served;
	return served->server ? 0 : -1;
}

static inline void stop(struct served *served)
{
	wfs_server_stop(served->server);
	pthread_join(served->thread, NULL);
	served->joined = true;
}

static inline int teardown(void **state)
{
	struct served *const served = *state;

	if (!served->joined)
		stop(served);
	sem_destroy(&served->ready);
	sem_destroy(&served->unmounting);
	sem_destroy(&served->may_unmount);
	sem_destroy(&served->looping);
	sem_destroy(&served->may_loop);
	sem_destroy(&served->driver.asked);
	sem_destroy(&served->driver.abandoned);
	world_fixture_teardown((void **)&served->world);
	free(served);
	return 0;
}

/* --- a raw connection --- */

struct wire {
	int fd;
	struct wfs_buffer input;
	size_t taken;
};

static inline void wire_done(struct wire *wire)
{
	if (wire->fd >= 0)
		close(wire->fd);
	wfs_buffer_done(&wire->input);
}
#define AUTO_WIRE WFS_CLEANUP(wire_done)

static inline struct wire wire_to(const struct served *served)
{
	struct wire wire = {.fd = wfs_socket_connect(served->world->directory, 0, NULL)};

	assert_true(wire.fd >= 0);
	return wire;
}

static inline void wire_write(struct wire *wire, const char *data, size_t size)
{
	while (size > 0) {
		const ssize_t written = write(wire->fd, data, size);

		assert_true(written > 0);
		data += written;
		size -= (size_t)written;
	}
}

/* @text: JSON lines with ' for ". */
static inline void wire_say(struct wire *wire, const char *text)
{
	WFS_AUTO_FREE char *json = json_text(text);

	wire_write(wire, json, strlen(json));
}

/* Return: bytes that came, 0 at the end. */
static inline ssize_t wire_fill(struct wire *wire)
{
	struct pollfd ready = {.fd = wire->fd, .events = POLLIN};
	ssize_t size;

	assert_int_equal(wfs_buffer_reserve(&wire->input, 65536), 0);
	assert_int_equal(poll(&ready, 1, WAIT_MS), 1);
	size = read(wire->fd, wire->input.data + wire->input.size, 65536);
	if (size > 0)
		wire->input.size += (size_t)size;
	return size;
}

/* The next answer; caller owns it. NULL: the server closed. */
static inline json_t *wire_next(struct wire *wire)
{
	const char *end = NULL;
	json_t *answer;

	while (wire->input.size == wire->taken ||
		!(end = memchr(
			  wire->input.data + wire->taken, '\n', wire->input.size - wire->taken)))
		if (wire_fill(wire) <= 0)
			return NULL;
	const char *const line = wire->input.data + wire->taken;
	assert_int_equal(wfs_json_parse(line, (size_t)(end - line), &answer, NULL), 0);
	wire->taken = (size_t)(end + 1 - wire->input.data);
	return answer;
}

static inline const char *member(const json_t *json, const char *name)
{
	const char *const text = json_string_value(json_object_get(json, name));

	return text ? text : "";
}

static inline void assert_ok(struct wire *wire, const char *id)
{
	WFS_AUTO_JSON json_t *answer = wire_next(wire);

	assert_non_null(answer);
	assert_string_equal(member(answer, "id"), id);
	if (!json_is_true(json_object_get(answer, "ok")))
		fail_msg("%s", member(json_object_get(answer, "error"), "message"));
}

/* @told: where the world stands */
static inline void assert_error_telling(
	struct wire *wire, const char *id, const char *code, bool told)
{
	WFS_AUTO_JSON json_t *answer = wire_next(wire);

	assert_non_null(answer);
	assert_true(json_is_false(json_object_get(answer, "ok")));
	assert_string_equal(member(answer, "id"), id);
	assert_string_equal(member(json_object_get(answer, "error"), "code"), code);
	assert_int_equal(json_is_object(json_object_get(answer, "meta")), told);
}

static inline void assert_error(struct wire *wire, const char *id, const char *code)
{
	assert_error_telling(wire, id, code, true);
}

static inline void assert_closed(struct wire *wire)
{
	assert_null(wire_next(wire));
}

#define HEAD_1 "{'v':1,'id':'1','cmd':'journal-head'}\n"

#define STEP_1 "{'v':1,'id':'1','cmd':'step','payload':{'agent':'ada'}}\n"

static inline void wait_for(sem_t *event)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += WAIT_MS / 1000;
	assert_int_equal(sem_timedwait(event, &until), 0);
}

#define SERVED(name) TEST_WITH(name, struct served *served, setup, teardown)
