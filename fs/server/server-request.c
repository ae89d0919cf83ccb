/* SPDX-License-Identifier: Apache-2.0 */
/* A request of the control socket: its line, its call, its answer. */
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "caps/session.h"
#include "fs/server/server-impl.h"
#include "kernel/base/json.h"
#include "kernel/manifest/manifest.h"

#define ABANDON "abandon"

/* Writes the answer. Without memory for it, the answer is a line that says so. */
static void format_answer(struct wfs_server_request *request)
{
	WFS_AUTO_JSON json_t *envelope = wfs_call_envelope(&request->call, request->id);

	if (envelope)
		wfs_json_write_document(envelope, &request->answer);
	if (!envelope || wfs_buffer_check(&request->answer) < 0) {
		wfs_buffer_done(&request->answer);
		wfs_buffer_append_text(&request->answer,
			"{\"error\":{\"category\":\"system\",\"code\":\"internal_error\","
			"\"message\":"
			"\"out of memory\",\"retriable\":false},\"id\":\"\",\"ok\":false}\n");
	}
	wfs_call_done(&request->call);
}

void wfs_server_request_answered(struct wfs_server_request *request)
{
	if (request->answer.size == 0)
		format_answer(request);
	/* Frees the values: the answer may wait long for its turn. */
	(void)json_object_del(request->envelope, "payload");
	if (request->counted)
		wfs_order_end(&request->connection->order, request->order);
	request->counted = false;
	request->answered = true;
	wfs_server_user_answers(request->connection, request->answer.size, 0);
}

/* Hands a request to the loop, which may free it at once. */
static void hand_back(struct wfs_server_request *request)
{
	struct wfs_server *const server = request->connection->server;

	/* Wake the loop under the lock, so that it cannot have ended. */
	WFS_GUARD(&server->lock);
	request->next_finished = server->finished;
	server->finished = request;
	if (!request->next_finished)
		uv_async_send(&server->wake);
}

static void finish(struct wfs_server_request *request)
{
	if (request->slow) { /* large answers and requests are not the loop's work */
		format_answer(request);
		request->id = "";
		json_decref(WFS_STEAL(request->envelope));
	}
	hand_back(request);
}

static struct wfs_server_request *request_of(struct wfs_work_task *task)
{
	return (void *)((char *)task - offsetof(struct wfs_server_request, task));
}

static void finish_long(struct wfs_work_task *task)
{
	finish(request_of(task));
}

/* Thread: the loop's, one of the work's, or the publisher's. */
static void call_done(struct wfs_call *call)
{
	struct wfs_server_request *const request = call->context;
	struct wfs_server *const server = request->connection->server;

	if (pthread_equal(pthread_self(), server->thread)) {
		wfs_server_request_answered(request);
	} else if (request->line_bytes > WFS_SERVER_PARSE_MAX) {
		/* Freeing a million values takes 20 ms, and would hold up the publisher. */
		request->task.run = finish_long;
		wfs_work_add(server->long_lines, &request->task, 0);
	} else {
		finish(request);
	}
}

/* Takes a used request, or makes a new one. */
static struct wfs_server_request *request_new(struct wfs_server_connection *connection)
{
	struct wfs_server *const server = connection->server;
	struct wfs_server_request *request = server->idle;

	if (request) {
		server->idle = request->next;
		server->idle_count--;
		*request = (struct wfs_server_request){.next = NULL};
	} else {
		request = calloc(1, sizeof(*request));
	}
	if (!request)
		return NULL;
	request->connection = connection;
	request->id = "";
	request->call.session = connection->session ? connection->session : server->session;
	request->call.host = server->host;
	request->call.caller = &connection->caller;
	request->call.done = call_done;
	request->call.context = request;
	return request;
}

void wfs_server_request_free(struct wfs_server_request *request)
{
	struct wfs_server *const server = request->connection->server;

	wfs_call_done(&request->call);
	wfs_server_user_parsed(server, request->connection->user, request->parsed_bytes);
	wfs_session_free(request->session);
	json_decref(request->envelope);
	wfs_buffer_done(&request->answer);
	if (server->idle_count == WFS_SERVER_REQUESTS_MAX) {
		free(request);
		return;
	}
	request->next = server->idle;
	server->idle = request;
	server->idle_count++;
}

/* Does `as`, with which the operator acts as another principal for one request. A `principal`
 * request before it may have made that principal. */
static int act_as(struct wfs_server_request *request, struct wfs_error *error)
{
	const struct wfs_session *const own = request->call.session;
	const char *const principal = request->as;
	int r;

	if (!principal || strcmp(principal, wfs_session_principal(own)) == 0)
		return 0;
	if (strcmp(wfs_session_principal(own), WFS_PRINCIPAL_OPERATOR) != 0)
		return wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
			"'as': only the operator may act as another principal, not '%s'",
			wfs_session_principal(own));
	r = wfs_session_new(wfs_session_authority(own), principal, &request->session, error);
	if (r)
		return r;
	wfs_session_connect_as(request->session, own);
	request->call.session = request->session;
	return 0;
}

static int read_envelope(struct wfs_server_request *request, struct wfs_error *error)
{
	static const char *const members[] = {"v", "id", "cmd", "payload", "as", NULL};
	const struct wfs_session *const session = request->connection->session;
	const bool guest =
		!session || strcmp(wfs_session_principal(session), WFS_PRINCIPAL_OPERATOR) != 0;
	const json_t *const envelope = request->envelope;
	json_t *payload;
	const char *id;
	int r = wfs_json_get_string(envelope, "id", &id, error);

	if (r)
		return r;
	request->id = id;
	if (json_integer_value(json_object_get(envelope, "v")) != 1)
		return wfs_error_set(error, WFS_E_INVALID_REQUEST, "'v': expected 1");
	r = wfs_json_only(envelope, members, error);
	if (!r)
		r = wfs_json_get_string(envelope, "cmd", &request->verb, error);
	if (!r && json_object_get(envelope, "as"))
		r = wfs_json_get_string(envelope, "as", &request->as, error);
	if (r)
		return r;
	payload = json_object_get(envelope, "payload");
	request->call.payload = json_incref(payload);
	request->reads_long = wfs_verb_reads_long(request->verb, payload, guest);
	request->order = strcmp(request->verb, ABANDON) == 0
		? WFS_ORDER_AT_ONCE
		: wfs_order_kind(request->verb, payload);
	/* The request of a long line is slow already, and the loop's thread may be reading
	 * `slow`. */
	if (!request->slow)
		request->slow = request->reads_long || wfs_verb_slow(request->verb, payload);
	return 0;
}

static void read_line(struct wfs_server_request *request, const char *line)
{
	struct wfs_error *const error = &request->call.error;
	int r = wfs_json_parse_bounded(line, request->line_bytes, &request->envelope, error);

	if (!r) {
		r = read_envelope(request, error);
		/* Any error in the envelope is reported as a malformed request. */
		if (r == -EINVAL)
			error->code = WFS_E_INVALID_REQUEST;
	}
	request->call.status = r;
	if (r)
		request->order = WFS_ORDER_AT_ONCE;
}

/* Charges the user for the values of a line. Return: false: too much, and the request fails. */
static bool charge_values(struct wfs_server_request *request, const char *line)
{
	struct wfs_server_connection *const connection = request->connection;
	const size_t bytes = wfs_json_count(line, request->line_bytes) * WFS_JSON_VALUE_BYTES +
		request->line_bytes;
	int r = wfs_server_user_parse(
		connection->server, connection->user, bytes, &request->call.error);

	request->call.status = r;
	if (!r)
		request->parsed_bytes = bytes;
	return !r;
}

/* Reads a short line. Its values are charged if it will wait for other requests. */
static void read_short_line(struct wfs_server_request *request, const char *line)
{
	read_line(request, line);
	if (!request->call.status && wfs_server_order_holds(request->connection, request->order) &&
		!charge_values(request, line)) {
		request->order = WFS_ORDER_AT_ONCE;
		request->slow = false;
	}
}

struct wfs_server_request *wfs_server_request_new(
	struct wfs_server_connection *connection, const char *line, size_t size)
{
	struct wfs_server_request *const request = request_new(connection);

	if (!request)
		return NULL;
	request->line_bytes = size;
	request->slow = size > WFS_SERVER_PARSE_MAX;
	if (request->slow)
		request->unread = line;
	else
		read_short_line(request, line);
	return request;
}

struct wfs_server_request *wfs_server_request_refused(
	struct wfs_server_connection *connection, enum wfs_error_code code, const char *reason)
{
	struct wfs_server_request *const request = request_new(connection);

	if (request) {
		request->order = WFS_ORDER_AT_ONCE;
		request->call.stranger = !connection->session;
		request->call.status = wfs_error_set(&request->call.error, code, "%s", reason);
	}
	return request;
}

/* Runs the verb, or answers with the request's error. */
static void run(struct wfs_server_request *request)
{
	struct wfs_call *const call = &request->call;
	const int r = call->status ? call->status : act_as(request, &call->error);

	if (r)
		wfs_verb_finish(call, r);
	else
		wfs_call_start(call, request->verb);
}

static void work(struct wfs_work_task *task)
{
	run(request_of(task));
}

/* Runs a request on a thread of low priority. */
static void take_long(struct wfs_work_task *task)
{
	(void)setpriority(PRIO_PROCESS, (id_t)gettid(), WFS_WORK_LONG_NICE);
	work(task);
}

/* Does the verb need a thread of the work's? A request may be slow only for its long line. */
static bool takes_thread(const struct wfs_server_request *request)
{
	return request->reads_long || wfs_verb_slow(request->verb, request->call.payload);
}

/* Runs a slow verb on another thread. Long reads are served by user in turn, as in the loop. */
static void hand_over(struct wfs_server_request *request)
{
	const struct wfs_server *const server = request->connection->server;
	const bool urgent = strcmp(request->verb, "umount") == 0;

	request->task.run = request->reads_long ? take_long : work;
	if (request->reads_long)
		wfs_work_add_in_turn(server->long_reads, &request->task, request->connection->user);
	else
		wfs_work_add(urgent ? server->urgent : server->work, &request->task, 0);
}

static void take_line(struct wfs_work_task *task)
{
	struct wfs_server_request *const request = request_of(task);

	(void)setpriority(PRIO_PROCESS, (id_t)gettid(), WFS_WORK_LONG_NICE);
	const char *const line = WFS_STEAL(request->unread);
	if (charge_values(request, line))
		read_line(request, line);
	hand_back(request);
}

void wfs_server_request_parse(struct wfs_server_request *request)
{
	request->parsing = true;
	request->task.run = take_line;
	wfs_work_add(request->connection->server->long_lines, &request->task, 0);
}

void wfs_server_request_collect(struct wfs_server_request *request)
{
	if (!request->parsing) {
		wfs_server_request_answered(request);
		return;
	}
	request->parsing = false;
	request->connection->slow = NULL;
	if (atomic_load(&request->call.gone))
		wfs_server_request_abandon(request);
}

void wfs_server_request_abandon(struct wfs_server_request *request)
{
	if (!request->started && !request->parsing) {
		request->started = true;
		wfs_verb_finish(&request->call,
			wfs_error_set(&request->call.error, WFS_E_CANCELLED,
				"the client is gone, so the request was not begun"));
	} else if (request->slow) {
		atomic_store(&request->call.gone, true);
	} else if (!request->answered) {
		wfs_call_abandon(&request->call);
	}
}

/* Does `abandon`, which is not a verb because it is about another request of the connection. Slow
 * requests that have begun are left alone: another thread may be writing their answer. */
static int abandon(struct wfs_server_request *request)
{
	struct wfs_call *const call = &request->call;
	struct wfs_server_request *other = request->connection->first;
	const char *id;
	int r = wfs_json_members(call->payload, ABANDON, "id", &call->error);

	if (!r)
		r = wfs_json_get_string(call->payload, "id", &id, &call->error);
	if (r)
		return r;
	while (other != request &&
		((other->slow && (other->started || other->parsing)) || strcmp(other->id, id) != 0))
		other = other->next;
	if (other == request)
		return wfs_error_set(&call->error, WFS_E_NOT_FOUND,
			"no request '%.60s' waits for its answer on this connection", id);
	wfs_server_request_abandon(other);
	call->result = json_object();
	return call->result ? 0 : -ENOMEM;
}

void wfs_server_request_start(struct wfs_server_request *request)
{
	const bool is_long = request->line_bytes > WFS_SERVER_PARSE_MAX;

	request->started = true;
	request->counted = true;
	wfs_order_begin(&request->connection->order, request->order);
	if (!request->slow && !request->call.status && strcmp(request->verb, ABANDON) == 0) {
		wfs_verb_finish(&request->call, abandon(request));
	} else if (!request->slow) {
		run(request);
	} else if (is_long && (request->call.status || !takes_thread(request))) {
		request->task.run = work;
		wfs_work_add(request->connection->server->long_lines, &request->task, 0);
	} else {
		hand_over(request);
	}
}
