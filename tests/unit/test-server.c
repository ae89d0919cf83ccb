/* SPDX-License-Identifier: Apache-2.0 */
/* The control socket, from the outside: real connections to a server on a thread of its own. */
#include "tests/fixture/server.h"
#include "tests/fixture/test.h"

#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "fs/base/socket.h"
#include "fs/client/client.h"
#include "fs/server/server.h"

enum {
	CLIENTS = 64,
	CLIENT_REQUESTS = 50,
	LONG_LINE = 1 << 20, /* bytes: more than the server's loop parses itself */
};

/* --- the protocol --- */

SERVED(server_answers_a_request_with_its_id)
{
	AUTO_WIRE struct wire wire = wire_to(served);

	wire_say(&wire, HEAD_1);
	assert_ok(&wire, "1");
}

SERVED(server_answers_invalid_json_and_goes_on)
{
	AUTO_WIRE struct wire wire = wire_to(served);

	wire_say(&wire, "{nonsense\n" HEAD_1);
	assert_error(&wire, "", "invalid_json");
	assert_ok(&wire, "1");
}

SERVED(server_refuses_another_version_and_echoes_the_id)
{
	AUTO_WIRE struct wire wire = wire_to(served);

	wire_say(&wire, "{'v':2,'id':'x','cmd':'journal-head'}\n{'id':'y','cmd':'status'}\n");
	assert_error(&wire, "x", "invalid_request");
	assert_error(&wire, "y", "invalid_request");
}

SERVED(server_refuses_malformed_envelopes)
{
	AUTO_WIRE struct wire wire = wire_to(served);

	wire_say(&wire, "5\n");
	assert_error(&wire, "", "invalid_request");
	wire_say(&wire, "{'v':1,'cmd':'status'}\n");
	assert_error(&wire, "", "invalid_request");
	wire_say(&wire, "{'v':1,'id':7,'cmd':'status'}\n");
	assert_error(&wire, "", "invalid_request");
	wire_say(&wire, "{'v':1,'id':'a'}\n");
	assert_error(&wire, "a", "invalid_request");
	wire_say(&wire, "{'v':1,'id':'b','cmd':'status','extra':1}\n");
	assert_error(&wire, "b", "invalid_request");
	wire_say(&wire, "{'v':1,'id':'c','cmd':'status','payload':[]}\n");
	assert_error(&wire, "c", "invalid_argument");
}

SERVED(server_acts_as_a_principal_that_exists)
{
	AUTO_WIRE struct wire wire = wire_to(served);

	wire_say(&wire,
		"{'v':1,'id':'a','cmd':'status','as':'operator'}\n"
		"{'v':1,'id':'b','cmd':'status','as':'nobody'}\n");
	assert_ok(&wire, "a");
	assert_error(&wire, "b", "not_found");
}

SERVED(server_refuses_a_line_over_16_mib_and_closes)
{
	const size_t size = WFS_SERVER_LINE_MAX + 1;
	WFS_AUTO_FREE char *line = malloc(size);
	AUTO_WIRE struct wire wire = wire_to(served);

	memset(line, 'x', size);
	wire_write(&wire, line, size);
	assert_error(&wire, "", "too_large");
	assert_closed(&wire);
}

SERVED(server_refuses_a_line_with_too_many_values_and_goes_on)
{
	WFS_AUTO_BUFFER struct wfs_buffer line = {0};
	AUTO_WIRE struct wire wire = wire_to(served);

	wfs_buffer_append_byte(&line, '[');
	for (int i = 0; i < WFS_JSON_VALUES_MAX; i++)
		wfs_buffer_append_text(&line, i ? ",[]" : "[]");
	wfs_buffer_append_text(&line, "]\n");
	wire_write(&wire, line.data, line.size);
	assert_error(&wire, "", "too_large");
	wire_say(&wire, HEAD_1);
	assert_ok(&wire, "1");
}

/* Writes a request with `values` values, for which the world has no schema. */
static void long_line(struct wfs_buffer *line, int values)
{
	wfs_buffer_append_text(line,
		"{\"v\":1,\"id\":\"long\",\"cmd\":\"send-event\",\"payload\":"
		"{\"schema\":\"test/No@1\",\"value\":[");
	for (int i = 0; i < values; i++)
		wfs_buffer_append_text(line, i ? ",[]" : "[]");
	wfs_buffer_append_text(line, "]}}\n");
}

SERVED(server_reads_a_long_line_while_it_answers_others)
{
	enum { ROUNDS = 20 };
	WFS_AUTO_BUFFER struct wfs_buffer line = {0};
	AUTO_WIRE struct wire wire = wire_to(served);
	AUTO_WIRE struct wire other = wire_to(served);
	struct pollfd ready = {.fd = wire.fd, .events = POLLIN};
	bool others_first = false;

	/* On a busy machine the other client's answer may come late, but not always. */
	long_line(&line, 1000000);
	for (int i = 0; i < ROUNDS && !others_first; i++) {
		wire_write(&wire, line.data, line.size);
		wire_say(&other, HEAD_1);
		assert_ok(&other, "1");
		others_first = poll(&ready, 1, 0) == 0;
		assert_error(&wire, "long", "not_found");
	}
	assert_true(others_first);
}

SERVED(server_answers_long_lines_in_their_order)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	AUTO_WIRE struct wire wire = wire_to(served);

	for (int i = 0; i < 3; i++) {
		wfs_buffer_append_text(
			&text, "{\"v\":1,\"id\":\"short\",\"cmd\":\"journal-head\"}\n");
		long_line(&text, 100000);
		wfs_buffer_append_text(&text, "[");
		for (int j = 0; j < WFS_SERVER_LINE_MAX / 64; j++)
			wfs_buffer_append_text(&text, " ");
		wfs_buffer_append_text(&text, "\n");
	}
	text.size--; /* the last line lacks its end */
	wire_write(&wire, text.data, text.size);
	assert_int_equal(shutdown(wire.fd, SHUT_WR), 0);

	for (int i = 0; i < 3; i++) {
		assert_ok(&wire, "short");
		assert_error(&wire, "long", "not_found");
		assert_error(&wire, "", "invalid_json");
	}
	assert_closed(&wire);
}

/* @rest: JSON with ' for ", after so many blanks */
static void padded_line(struct wfs_buffer *line, size_t blanks, const char *rest)
{
	WFS_AUTO_FREE char *json = json_text(rest);

	assert_int_equal(wfs_buffer_reserve(line, blanks), 0);
	memset(line->data, ' ', blanks);
	line->size = blanks;
	wfs_buffer_append_text(line, json);
	assert_int_equal(wfs_buffer_check(line), 0);
}

SERVED(server_charges_nothing_for_long_lines_that_it_has_answered)
{
	enum { IDLE = 4 };
	WFS_AUTO_BUFFER struct wfs_buffer line = {0};
	struct wire wires[IDLE];

	padded_line(&line, WFS_SERVER_LINE_MAX - 100, HEAD_1);
	for (size_t i = 0; i < IDLE; i++) {
		wires[i] = wire_to(served);
		wire_write(&wires[i], line.data, line.size);
		assert_ok(&wires[i], "1");
	}

	for (size_t i = 0; i < IDLE; i++)
		wire_done(&wires[i]);
}

SERVED(server_reads_long_lines_while_verbs_of_others_take_long)
{
	WFS_AUTO_BUFFER struct wfs_buffer slow = {0};
	WFS_AUTO_BUFFER struct wfs_buffer line = {0};
	AUTO_WIRE struct wire first = wire_to(served);
	AUTO_WIRE struct wire second = wire_to(served);
	AUTO_WIRE struct wire other = wire_to(served);
	struct pollfd ready = {.fd = other.fd, .events = POLLIN};

	padded_line(&slow, LONG_LINE, "{'v':1,'id':'s','cmd':'umount','payload':{'dir':'/m'}}\n");
	padded_line(&line, LONG_LINE, HEAD_1);
	wire_write(&first, slow.data, slow.size);
	while (sem_wait(&served->unmounting) != 0)
		;
	wire_write(&second, slow.data, slow.size);
	wire_write(&other, line.data, line.size);
	const int answered = poll(&ready, 1, WAIT_MS);
	sem_post(&served->may_unmount);
	sem_post(&served->may_unmount);

	assert_int_equal(answered, 1);
	assert_ok(&other, "1");
	assert_ok(&first, "s");
	assert_ok(&second, "s");
}

SERVED(server_answers_a_last_line_without_its_end)
{
	AUTO_WIRE struct wire wire = wire_to(served);

	wire_say(&wire, "{'v':1,'id':'1','cmd':'journal-head'}");
	assert_int_equal(shutdown(wire.fd, SHUT_WR), 0);
	assert_ok(&wire, "1");
	assert_closed(&wire);
}

SERVED(server_skips_empty_lines)
{
	AUTO_WIRE struct wire wire = wire_to(served);

	wire_say(&wire, "\n\n" HEAD_1);
	assert_ok(&wire, "1");
}

/* --- many requests --- */

static void say_event(struct wfs_buffer *text, int id)
{
	wfs_buffer_printf(text,
		"{\"v\":1,\"id\":\"%d\",\"cmd\":\"send-event\",\"payload\":{\"schema\":\"test/"
		"Do@1\","
		"\"value\":{\"key\":\"k\",\"op\":\"add\",\"n\":1}}}\n",
		id);
}

SERVED(server_answers_in_order_what_is_sent_at_once)
{
	const int count = 3 * WFS_SERVER_REQUESTS_MAX;
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	AUTO_WIRE struct wire wire = wire_to(served);
	char id[20];

	for (int i = 0; i < count; i++) {
		if (i % 500 == 0)
			wfs_buffer_printf(
				&text, "{\"v\":1,\"id\":\"%d\",\"cmd\":\"snapshot\"}\n", i);
		else if (i % 3 == 0)
			wfs_buffer_printf(
				&text, "{\"v\":1,\"id\":\"%d\",\"cmd\":\"journal-head\"}\n", i);
		else
			say_event(&text, i);
	}
	wire_write(&wire, text.data, text.size);
	for (int i = 0; i < count; i++) {
		snprintf(id, sizeof(id), "%d", i);
		assert_ok(&wire, id);
	}
}

/* What a client thread found wrong; cmocka's assertions are for the test's own thread. */
struct client_result {
	const struct served *served;
	int answers;
};

static void *client_thread(void *context)
{
	struct client_result *const result = context;
	WFS_AUTO_CLIENT struct wfs_client *client = NULL;

	if (wfs_client_new(
		    result->served->world->directory, NULL, WFS_CLIENT_WAIT_MS, &client, NULL) < 0)
		return NULL;
	for (int i = 0; i < CLIENT_REQUESTS; i++) {
		WFS_AUTO_ANSWER struct wfs_answer answer = {0};
		WFS_AUTO_JSON json_t *payload = json_pack("{s:s, s:{s:s, s:s, s:i}}", "schema",
			"test/Do@1", "value", "key", "k", "op", "add", "n", 1);

		if (wfs_client_post(client, "send-event", payload) < 0 ||
			wfs_client_take(client, true, &answer, NULL) != 1 || answer.status)
			return NULL;
		result->answers++;
	}
	return NULL;
}

SERVED(server_serves_64_connections_at_once)
{
	struct client_result results[CLIENTS];
	pthread_t threads[CLIENTS];

	for (int i = 0; i < CLIENTS; i++) {
		results[i] = (struct client_result){.served = served};
		assert_int_equal(pthread_create(&threads[i], NULL, client_thread, &results[i]), 0);
	}
	for (int i = 0; i < CLIENTS; i++)
		pthread_join(threads[i], NULL);

	for (int i = 0; i < CLIENTS; i++)
		assert_int_equal(results[i].answers, CLIENT_REQUESTS);
	assert_state(served->world, "cell", "k", "{'n':3200}");
}

SERVED(server_refuses_the_connection_after_256)
{
	struct wire wires[WFS_SERVER_CONNECTIONS_MAX];
	AUTO_WIRE struct wire refused = {.fd = -1};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(wires); i++) {
		wires[i] = wire_to(served);
		wire_say(&wires[i], HEAD_1);
		assert_ok(&wires[i], "1");
	}
	refused = wire_to(served);
	assert_error_telling(&refused, "", "overloaded", false);
	assert_closed(&refused);

	for (size_t i = 0; i < WFS_ARRAY_COUNT(wires); i++)
		wire_done(&wires[i]);
}

/* Writes requests until the server takes no bytes for a while. Return: bytes taken. */
static size_t write_until_full(struct wire *wire, const char *request)
{
	const size_t size = strlen(request);
	struct pollfd ready = {.fd = wire->fd, .events = POLLOUT};
	size_t total = 0;

	assert_int_equal(fcntl(wire->fd, F_SETFL, O_NONBLOCK), 0);
	while (poll(&ready, 1, 300) == 1) {
		/* A write may end within a line: the next write continues there. */
		const ssize_t written =
			write(wire->fd, request + total % size, size - total % size);

		if (written > 0)
			total += (size_t)written;
	}
	return total;
}

SERVED(client_that_never_reads_is_not_read_from_and_holds_nobody_up)
{
	AUTO_WIRE struct wire silent = wire_to(served);
	AUTO_WIRE struct wire other = wire_to(served);
	const char *const request = "{\"v\":1,\"id\":\"m\",\"cmd\":\"manifest-read\"}\n";

	const size_t taken = write_until_full(&silent, request);
	wire_say(&other, HEAD_1);
	assert_ok(&other, "1");

	/* Each answer is longer than its request, so the bound of answers limits the bytes
	 * taken. */
	assert_true(taken < (size_t)2 * WFS_SERVER_ANSWERS_BYTES_MAX);
}

SERVED(client_that_reads_late_gets_all_answers)
{
	AUTO_WIRE struct wire late = wire_to(served);
	const char *const request = "{\"v\":1,\"id\":\"m\",\"cmd\":\"manifest-read\"}\n";

	const size_t taken = write_until_full(&late, request);
	for (size_t i = 0; i < taken / strlen(request); i++)
		assert_ok(&late, "m");
}

SERVED(client_that_goes_away_leaves_the_server_working)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	AUTO_WIRE struct wire other = wire_to(served);

	for (int i = 0; i < 200; i++)
		say_event(&text, i);
	for (int i = 0; i < 20; i++) {
		AUTO_WIRE struct wire wire = wire_to(served);

		wire_write(&wire, text.data, text.size);
	}
	wire_say(&other, HEAD_1);
	assert_ok(&other, "1");
}

/* --- turns of agents --- */

SERVED(client_that_goes_away_ends_the_turn_it_waits_for)
{
	struct wire wire = wire_to(served);

	wire_say(&wire, STEP_1);
	wait_for_event(&served->driver.asked);
	wire_done(&wire);

	wait_for_event(&served->driver.abandoned);
}

SERVED(client_that_says_nothing_more_waits_for_its_turn)
{
	AUTO_WIRE struct wire wire = wire_to(served);
	AUTO_WIRE struct wire other = wire_to(served);

	wire_say(&wire, STEP_1);
	wait_for_event(&served->driver.asked);
	assert_int_equal(shutdown(wire.fd, SHUT_WR), 0);
	wire_say(&other, HEAD_1); /* when this is answered, the server has seen the end */
	assert_ok(&other, "1");
	assert_non_null(served->driver.drive);
	fake_end(&served->driver, 0);

	assert_ok(&wire, "1");
	assert_closed(&wire);
}

SERVED(server_ends_the_request_that_is_abandoned)
{
	AUTO_WIRE struct wire wire = wire_to(served);

	wire_say(&wire, STEP_1 "{'v':1,'id':'2','cmd':'abandon','payload':{'id':'1'}}\n");

	assert_error(&wire, "1", "cancelled");
	assert_ok(&wire, "2");
}

SERVED(server_refuses_to_abandon_what_is_not_there)
{
	AUTO_WIRE struct wire wire = wire_to(served);

	wire_say(&wire,
		"{'v':1,'id':'2','cmd':'abandon','payload':{'id':'1'}}\n"
		"{'v':1,'id':'3','cmd':'abandon','payload':{'id':'3'}}\n"
		"{'v':1,'id':'4','cmd':'abandon'}\n");

	assert_error(&wire, "2", "not_found");
	assert_error(&wire, "3", "not_found");
	assert_error(&wire, "4", "invalid_argument");
}

SERVED(client_abandons_one_of_its_requests)
{
	WFS_AUTO_CLIENT struct wfs_client *client = NULL;
	WFS_AUTO_ANSWER struct wfs_answer head = {0};
	WFS_AUTO_ANSWER struct wfs_answer turn = {0};
	WFS_AUTO_ANSWER struct wfs_answer last = {0};

	assert_int_equal(
		wfs_client_new(served->world->directory, NULL, WFS_CLIENT_WAIT_MS, &client, NULL),
		0);
	assert_int_equal(wfs_client_post(client, "journal-head", NULL), 0);
	assert_int_equal(wfs_client_take(client, true, &head, NULL), 1);
	assert_int_equal(wfs_client_post(client, "journal-head", NULL), 0);
	WFS_AUTO_JSON json_t *payload = json_of("{'agent':'ada'}");
	assert_int_equal(wfs_client_post(client, "step", payload), 0);
	assert_int_equal(wfs_client_abandon(client, 1), 0);
	assert_int_equal(wfs_client_post(client, "status", NULL), 0);
	wfs_answer_done(&head);
	assert_int_equal(wfs_client_take(client, true, &head, NULL), 1);
	assert_int_equal(wfs_client_take(client, true, &turn, NULL), 1);
	assert_int_equal(wfs_client_take(client, true, &last, NULL), 1);

	assert_int_equal(turn.status, -EINTR);
	assert_string_equal(member(turn.details, "run_id"), "ada.7");
	assert_int_equal(last.status, 0);
	assert_non_null(json_object_get(last.result, "version"));
}

/* --- beginning and ending --- */

SERVED(server_stop_answers_what_was_begun_and_nothing_else)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	AUTO_WIRE struct wire wire = wire_to(served);
	const uint64_t before = height_of(served->world);
	uint64_t answers = 0;
	json_t *answer;

	for (int i = 0; i < 900; i++)
		say_event(&text, i);
	wire_write(&wire, text.data, text.size);
	assert_ok(&wire, "0");
	stop(served);
	while ((answer = wire_next(&wire))) {
		answers++;
		json_decref(answer);
	}

	assert_int_equal(height_of(served->world), before + 1 + answers);
}

/* A request that the server has read counts as begun: its client cannot know that it was not
 * begun. */
SERVED(server_stop_answers_what_it_has_read)
{
	AUTO_WIRE struct wire asking = wire_to(served);
	AUTO_WIRE struct wire holding = wire_to(served);

	wire_say(&asking, "{'v':1,'id':'1','cmd':'journal-head'}\n");
	assert_ok(&asking, "1");
	served->holds_loop = true;
	wire_say(&holding, "{'v':1,'id':'2','cmd':'status'}\n");
	while (sem_wait(&served->looping) != 0)
		;
	/* The loop finds the request and the stop at once, and handles the request first. */
	wire_say(&asking, "{'v':1,'id':'3','cmd':'journal-head'}\n");
	wfs_server_stop(served->server);
	sem_post(&served->may_loop);

	assert_ok(&asking, "3");
	assert_ok(&holding, "2");
	pthread_join(served->thread, NULL);
	served->joined = true;
}

SERVED(server_stop_does_not_wait_for_ever_for_a_client_that_never_reads)
{
	AUTO_WIRE struct wire silent = wire_to(served);

	write_until_full(&silent, "{\"v\":1,\"id\":\"m\",\"cmd\":\"manifest-read\"}\n");
	stop(served);
}

SERVED(socket_is_for_its_user_only_and_gone_at_the_end)
{
	char path[120];
	struct stat status;

	snprintf(path, sizeof(path), "%s/%s", served->world->directory, WFS_SOCKET_NAME);
	assert_int_equal(stat(path, &status), 0);
	assert_true(S_ISSOCK(status.st_mode));
	assert_int_equal(status.st_mode & 0777, 0600);
	stop(served);
	assert_int_equal(stat(path, &status), -1);
}

/* Asks as an ordinary user. Return: 0 if the server answers not_authorized. */
static int ask_as_stranger(const char *directory)
{
	char answer[400] = "";
	int fd;

	if (setgid(65534) < 0 || setuid(65534) < 0)
		return 2;
	fd = wfs_socket_connect(directory, 0, NULL);
	if (fd < 0 || read(fd, answer, sizeof(answer) - 1) <= 0)
		return 3;
	return strstr(answer, "\"code\":\"not_authorized\"") ? 0 : 4;
}

/* Return: what ask_as_stranger() returns in a process of its own. */
static int stranger_status(const struct served *served)
{
	char path[120];
	int status;

	snprintf(path, sizeof(path), "%s/%s", served->world->directory, WFS_SOCKET_NAME);
	assert_int_equal(chmod(path, 0666), 0);
	assert_int_equal(chmod(served->world->directory, 0755), 0);
	assert_int_equal(chmod(served->world->root, 0755), 0);
	const pid_t pid = fork();
	if (pid == 0)
		_exit(ask_as_stranger(served->world->directory));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

SERVED(stranger_is_refused_whatever_the_mode_of_the_socket)
{
	if (geteuid() != 0)
		skip(); /* only root can become another user */
	assert_int_equal(stranger_status(served), 0);
}

SERVED(stranger_is_told_so_also_when_there_is_no_room)
{
	struct wire wires[WFS_SERVER_CONNECTIONS_MAX];

	if (geteuid() != 0)
		skip(); /* only root can become another user */
	for (size_t i = 0; i < WFS_ARRAY_COUNT(wires); i++) {
		wires[i] = wire_to(served);
		wire_say(&wires[i], HEAD_1);
		assert_ok(&wires[i], "1");
	}

	const int told = stranger_status(served);

	for (size_t i = 0; i < WFS_ARRAY_COUNT(wires); i++)
		wire_done(&wires[i]);
	assert_int_equal(told, 0);
}

IN_WORLD(socket_left_behind_is_replaced)
{
	struct served served = {.world = fixture};
	int left = wfs_socket_listen(fixture->directory, false, NULL);

	assert_true(left >= 0);
	close(left);
	assert_int_equal(wfs_socket_connect(fixture->directory, 0, NULL), -ECONNREFUSED);
	sem_init(&served.ready, 0, 0);
	assert_int_equal(pthread_create(&served.thread, NULL, serve, &served), 0);
	while (sem_wait(&served.ready) != 0)
		;
	assert_non_null(served.server);
	{
		AUTO_WIRE struct wire wire = wire_to(&served);

		wire_say(&wire, HEAD_1);
		assert_ok(&wire, "1");
	}
	stop(&served);
	sem_destroy(&served.ready);
}

IN_WORLD(socket_in_a_directory_with_a_long_path_works)
{
	char path[400];
	size_t size = (size_t)snprintf(path, sizeof(path), "%s/", fixture->root);

	memset(path + size, 'd', 200);
	path[size + 200] = '\0';
	assert_int_equal(mkdir(path, 0700), 0);
	WFS_AUTO_FD int listener = wfs_socket_listen(path, false, NULL);
	assert_true(listener >= 0);
	assert_int_equal(listen(listener, 1), 0);
	WFS_AUTO_FD int client = wfs_socket_connect(path, 0, NULL);
	assert_true(client >= 0);
}

IN_WORLD(connecting_where_nobody_listens_says_so)
{
	struct wfs_client *client = NULL;

	assert_int_equal(
		wfs_client_new(fixture->directory, NULL, WFS_CLIENT_WAIT_MS, &client, NULL),
		-ENOENT);
	assert_null(client);
}
