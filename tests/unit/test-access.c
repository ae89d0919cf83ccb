/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to an owner that ends: if it cannot have executed them they are executed elsewhere,
 * otherwise the client gets an error. Also requests to an owner that does not react. */
#include "tests/fixture/world.h"

#include <sys/socket.h>
#include <unistd.h>

#include "fs/base/socket.h"
#include "fs/client/access.h"

enum {
	READ_MAX = 4096,
	NEW_HEIGHT = 2, /* of a world that was just made */
};

/* A world's socket on which the test answers in the place of an owner; the connection to it is
 * open. */
struct ending {
	int listener;
	int connection; /* -1: not accepted */
	struct wfs_access *access;
};

static int setup(void **state)
{
	return world_fixture_source(state) || world_fixture_create(*state);
}

#define IN_CLOSED_WORLD(name) \
	TEST_WITH(name, struct world_fixture *fixture, setup, world_fixture_teardown)

static void ending_begin(const struct world_fixture *fixture, bool accepts, struct ending *ending)
{
	ending->listener = wfs_socket_listen(fixture->directory, false, NULL);
	assert_int_equal(listen(ending->listener, 1), 0);
	assert_int_equal(
		wfs_access_new(&(struct wfs_access_options){.directory = fixture->directory,
				       .change = true},
			&ending->access, NULL),
		0);
	assert_true(wfs_access_has_owner(ending->access));
	ending->connection = accepts ? accept(ending->listener, NULL, NULL) : -1;
}

static void ending_end(const struct world_fixture *fixture, const struct ending *ending)
{
	char path[READ_MAX];

	snprintf(path, sizeof(path), "%s/" WFS_SOCKET_NAME, fixture->directory);
	assert_int_equal(unlink(path), 0);
	close(ending->listener);
	if (ending->connection >= 0)
		close(ending->connection);
}

static void post_event(const struct ending *ending)
{
	json_t *payload = json_of("{'schema':'test/Do@1','value':{'key':'k','op':'add','n':1}}");

	assert_int_equal(wfs_access_post(ending->access, "send-event", payload), 0);
}

/* Takes an answer without waiting; none has come yet. */
static void take_nothing(const struct ending *ending)
{
	WFS_AUTO_ANSWER struct wfs_answer answer = {.status = 0};

	assert_int_equal(wfs_access_take(ending->access, false, &answer, NULL), 0);
}

static void assert_cancelled(const struct ending *ending)
{
	WFS_AUTO_ANSWER struct wfs_answer answer = {.status = 0};
	struct wfs_error error = {0};

	assert_true(wfs_access_take(ending->access, true, &answer, &error) < 0);
	assert_int_equal(error.code, WFS_E_CANCELLED);
}

static void assert_done_here(const struct ending *ending)
{
	WFS_AUTO_ANSWER struct wfs_answer answer = {.status = 0};
	WFS_AUTO_ANSWER struct wfs_answer head = {.status = 0};

	assert_int_equal(wfs_access_take(ending->access, true, &answer, NULL), 1);
	assert_int_equal(answer.status, 0);
	assert_false(wfs_access_has_owner(ending->access));
	assert_int_equal(wfs_access_post(ending->access, "journal-head", NULL), 0);
	assert_int_equal(wfs_access_take(ending->access, true, &head, NULL), 1);
	/* The event was recorded once. */
	assert_int_equal(
		json_integer_value(json_object_get(head.meta, "journal_height")), NEW_HEIGHT + 1);
}

IN_CLOSED_WORLD(what_an_owner_did_not_accept_is_done_without_him)
{
	struct ending ending;

	ending_begin(fixture, false, &ending);
	post_event(&ending);
	take_nothing(&ending);
	ending_end(fixture, &ending);

	assert_done_here(&ending);

	wfs_access_free(ending.access);
}

IN_CLOSED_WORLD(what_an_owner_did_not_read_is_done_without_him)
{
	struct ending ending;

	ending_begin(fixture, true, &ending);
	post_event(&ending);
	take_nothing(&ending);
	ending_end(fixture, &ending);

	assert_done_here(&ending);

	wfs_access_free(ending.access);
}

IN_CLOSED_WORLD(what_could_not_be_sent_any_more_is_done_without_him)
{
	struct ending ending;

	ending_begin(fixture, true, &ending);
	ending_end(fixture, &ending);
	post_event(&ending);

	assert_done_here(&ending);

	wfs_access_free(ending.access);
}

IN_CLOSED_WORLD(what_an_owner_read_is_not_done_again)
{
	struct ending ending;
	char request[READ_MAX];

	ending_begin(fixture, true, &ending);
	post_event(&ending);
	take_nothing(&ending);
	assert_true(read(ending.connection, request, sizeof(request)) > 0);
	ending_end(fixture, &ending);

	assert_cancelled(&ending);

	wfs_access_free(ending.access);
}

IN_CLOSED_WORLD(what_is_behind_another_request_is_not_done_again)
{
	struct ending ending;

	ending_begin(fixture, true, &ending);
	post_event(&ending);
	post_event(&ending);
	take_nothing(&ending);
	ending_end(fixture, &ending);

	assert_cancelled(&ending);

	wfs_access_free(ending.access);
}

/* --- owners that do not react --- */

enum {
	WAIT_MS = 100,
	LATE_WAIT_MS = 2000,
	PROBES = 2, /* one each half second */
};

static int reach(const struct world_fixture *fixture, unsigned int wait_ms,
	struct wfs_access **ret_access, struct wfs_error *error)
{
	const struct wfs_access_options options = {
		.directory = fixture->directory, .wait_ms = wait_ms};

	return wfs_access_new(&options, ret_access, error);
}

IN_CLOSED_WORLD(an_owner_that_does_not_react_is_given_up)
{
	struct ending ending = {
		.listener = wfs_socket_listen(fixture->directory, false, NULL), .connection = -1};
	WFS_AUTO_ANSWER struct wfs_answer answer = {.status = 0};
	struct wfs_error error = {0};

	assert_int_equal(listen(ending.listener, 4), 0);
	assert_int_equal(reach(fixture, WAIT_MS, &ending.access, NULL), 0);
	assert_int_equal(wfs_access_post(ending.access, "journal-head", NULL), 0);

	assert_int_equal(wfs_access_take(ending.access, true, &answer, &error), -ETIMEDOUT);
	assert_int_equal(error.code, WFS_E_TIMEOUT);
	assert_non_null(strstr(error.message, "has not reacted for 0.1 s"));

	wfs_access_free(ending.access);
	ending_end(fixture, &ending);
}

IN_CLOSED_WORLD(an_owner_that_accepts_nothing_is_given_up)
{
	struct ending ending = {
		.listener = wfs_socket_listen(fixture->directory, false, NULL), .connection = -1};
	struct wfs_access *first;
	struct wfs_error error = {0};

	assert_int_equal(listen(ending.listener, 0), 0);
	assert_int_equal(reach(fixture, WAIT_MS, &first, NULL), 0); /* the one that may wait */

	assert_int_equal(reach(fixture, WAIT_MS, &ending.access, &error), -ETIMEDOUT);
	assert_int_equal(error.code, WFS_E_TIMEOUT);

	wfs_access_free(first);
	ending_end(fixture, &ending);
}

/* Answers the first connection after the client has asked PROBES times whether the owner reacts. */
static void *answer_late(void *argument)
{
	static const char answer[] =
		"{\"id\":\"1\",\"meta\":{},\"ok\":true,\"result\":{\"late\":true}}\n";
	const struct ending *const ending = argument;
	const int connection = accept(ending->listener, NULL, NULL);

	for (int i = 0; i < PROBES; i++)
		close(accept(ending->listener, NULL, NULL));
	const bool sent = write(connection, answer, strlen(answer)) == (ssize_t)strlen(answer);
	close(connection);
	return sent ? argument : NULL;
}

IN_CLOSED_WORLD(a_late_answer_of_an_owner_that_reacts_is_waited_for)
{
	struct ending ending = {
		.listener = wfs_socket_listen(fixture->directory, false, NULL), .connection = -1};
	WFS_AUTO_ANSWER struct wfs_answer answer = {.status = 0};
	pthread_t owner;
	void *sent;

	assert_int_equal(listen(ending.listener, 4), 0);
	assert_int_equal(fcntl(ending.listener, F_SETFL, 0), 0); /* it waits */
	assert_int_equal(reach(fixture, LATE_WAIT_MS, &ending.access, NULL), 0);
	assert_int_equal(wfs_access_post(ending.access, "journal-head", NULL), 0);
	assert_int_equal(pthread_create(&owner, NULL, answer_late, &ending), 0);

	assert_int_equal(wfs_access_take(ending.access, true, &answer, NULL), 1);
	assert_true(json_is_true(json_object_get(answer.result, "late")));
	assert_int_equal(pthread_join(owner, &sent), 0);
	assert_non_null(sent);

	wfs_access_free(ending.access);
	ending_end(fixture, &ending);
}
