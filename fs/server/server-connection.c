/* SPDX-License-Identifier: Apache-2.0 */
/* Connections of the control socket: lines in, answers out, and the bounds of both. */
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "caps/session.h"
#include "fs/base/socket.h"
#include "fs/server/server-impl.h"
#include "kernel/base/clock.h"
#include "kernel/base/log.h"

enum {
	READ_SIZE = 64 << 10,       /* bytes asked for at once */
	INPUT_KEPT_BYTES = 1 << 20, /* of memory that is kept when it is empty */
};

/* Answers on their way to a client. */
struct write {
	uv_write_t request;
	struct wfs_server_connection *connection;
	struct wfs_buffer bytes;
};

static void connection_free(struct wfs_server_connection *connection)
{
	struct wfs_server *const server = connection->server;
	struct wfs_server_connection **at = &server->connections;

	while (*at != connection)
		at = &(*at)->next;
	*at = connection->next;
	server->connection_count--;
	wfs_session_free(connection->session);
	wfs_handed_close(&connection->handed);
	wfs_buffer_done(&connection->input);
	(void)wfs_server_user_input(connection, 0);
	wfs_server_user_answers(connection, 0, connection->answer_bytes);
	wfs_server_user_put(connection);
	free(connection);
	wfs_server_maybe_end(server);
}

static void drop_answered(struct wfs_server_connection *connection);

static void on_closed(uv_handle_t *handle)
{
	struct wfs_server_connection *const connection = handle->data;

	connection->closed = true;
	drop_answered(connection);
	if (!connection->first)
		connection_free(connection);
}

/* Abandons the requests of a connection that has ended. */
static void abandon_requests(struct wfs_server_connection *connection)
{
	for (struct wfs_server_request *at = connection->first; at; at = at->next)
		wfs_server_request_abandon(at);
}

static void connection_close(struct wfs_server_connection *connection)
{
	if (connection->closing)
		return;
	connection->ending = true;
	connection->closing = true;
	wfs_server_user_unready(connection);
	abandon_requests(connection);
	uv_close((uv_handle_t *)&connection->pipe, on_closed);
}

/* --- answers --- */

static bool is_answered(const struct wfs_server_request *request)
{
	return request && request->answered;
}

/* Frees answered requests that cannot be sent any more. */
static void drop_answered(struct wfs_server_connection *connection)
{
	struct wfs_server_request *request;

	while ((request = wfs_server_order_take(connection)))
		wfs_server_request_free(request);
}

static void on_written(uv_write_t *request, int status)
{
	struct write *const write = request->data;
	struct wfs_server_connection *const connection = write->connection;

	wfs_server_user_answers(connection, 0, write->bytes.size);
	wfs_buffer_done(&write->bytes);
	free(write);
	if (status < 0)
		connection_close(connection);
	else
		wfs_server_pump(connection);
}

/* Sends all answers whose turn it is, in one write. */
static void send_answers(struct wfs_server_connection *connection)
{
	struct wfs_server_request *request;
	struct write *write;
	uv_buf_t bytes;

	if (!is_answered(connection->first))
		return;
	write = calloc(1, sizeof(*write));
	if (!write) {
		connection_close(connection);
		return;
	}
	write->connection = connection;
	write->request.data = write;
	while ((request = wfs_server_order_take(connection))) {
		if (write->bytes.size == 0) {
			write->bytes = request->answer;
			request->answer = (struct wfs_buffer){0};
		} else {
			wfs_buffer_append(
				&write->bytes, request->answer.data, request->answer.size);
			write->bytes.failed |= request->answer.failed;
		}
		wfs_server_request_free(request);
	}
	bytes = uv_buf_init(write->bytes.data, (unsigned int)write->bytes.size);
	if (wfs_buffer_check(&write->bytes) < 0 ||
		uv_write(&write->request, (uv_stream_t *)&connection->pipe, &bytes, 1, on_written) <
			0) {
		wfs_buffer_done(&write->bytes);
		free(write);
		connection_close(connection);
	}
}

/* --- requests --- */

static bool may_begin(const struct wfs_server_connection *connection)
{
	return !connection->ending && !connection->slow &&
		connection->request_count < WFS_SERVER_REQUESTS_MAX &&
		connection->request_bytes < WFS_SERVER_REQUESTS_BYTES_MAX &&
		connection->answer_bytes < WFS_SERVER_ANSWERS_BYTES_MAX;
}

/* Takes the next whole line of the input, without its end. Return: false: there is no whole line
 * yet. */
static bool take_line(struct wfs_server_connection *connection, struct wfs_bytes *ret_line)
{
	const struct wfs_buffer *const input = &connection->input;
	const char *const line = input->data + connection->begun_bytes;
	const char *end = NULL;

	if (connection->scanned_bytes < input->size)
		end = memchr(input->data + connection->scanned_bytes, '\n',
			input->size - connection->scanned_bytes);
	connection->scanned_bytes = input->size;
	if (!end)
		return false;
	*ret_line = WFS_BYTES(line, (size_t)(end - line));
	connection->begun_bytes = (size_t)(end + 1 - input->data);
	connection->scanned_bytes = connection->begun_bytes;
	return true;
}

static void begin(struct wfs_server_connection *connection, struct wfs_server_request *request)
{
	if (!request) { /* no memory: answers could not be kept in order */
		connection_close(connection);
		return;
	}
	wfs_server_order_add(connection, request);
}

/* Answers with an error, and ends the connection. */
static void refuse(
	struct wfs_server_connection *connection, enum wfs_error_code code, const char *reason)
{
	begin(connection, wfs_server_request_refused(connection, code, reason));
	connection->ending = true;
}

/* Gives descriptors to the request with whose line they came; without such a line they are
 * closed. */
static void give_descriptors(
	struct wfs_server_connection *connection, struct wfs_server_request *request)
{
	if (connection->handed_count == 0 || connection->handed_at >= connection->begun_bytes)
		return;
	if (request) {
		request->call.handed = connection->handed;
		request->call.handed_count = connection->handed_count;
	} else {
		wfs_handed_close(&connection->handed);
	}
	connection->handed = (struct wfs_handed)WFS_HANDED_NONE;
	connection->handed_count = 0;
}

static void begin_line(struct wfs_server_connection *connection, struct wfs_bytes line)
{
	struct wfs_server_request *const request =
		line.size > 0 ? wfs_server_request_new(connection, line.data, line.size) : NULL;

	give_descriptors(connection, request);
	if (line.size > 0)
		begin(connection, request);
}

/* Is there input that was not scanned? */
static bool has_input(const struct wfs_server_connection *connection)
{
	return may_begin(connection) && connection->scanned_bytes < connection->input.size;
}

static void begin_requests(struct wfs_server_connection *connection, int64_t end_ns)
{
	struct wfs_bytes line;

	for (;;) {
		if (wfs_server_order_may_start(connection))
			wfs_server_order_start(connection);
		else if (!has_input(connection) || !take_line(connection, &line))
			break;
		else if (line.size > WFS_SERVER_LINE_MAX)
			refuse(connection, WFS_E_TOO_LARGE, "a request has at most 16 MiB");
		else
			begin_line(connection, line);
		if (wfs_clock_monotonic_ns() >= end_ns)
			return;
	}
	if (may_begin(connection) && connection->scanned_bytes == connection->input.size &&
		connection->input.size - connection->begun_bytes > WFS_SERVER_LINE_MAX)
		refuse(connection, WFS_E_TOO_LARGE, "a request has at most 16 MiB");
}

/* --- input --- */

/* Removes lines that have begun, so that an incomplete line is at the start of the buffer. */
static void compact_input(struct wfs_server_connection *connection)
{
	struct wfs_buffer *const input = &connection->input;
	const size_t rest = input->size - connection->begun_bytes;

	if (connection->begun_bytes == 0)
		return;
	memmove(input->data, input->data + connection->begun_bytes, rest);
	input->size = rest;
	if (rest == 0 && input->capacity_bytes > INPUT_KEPT_BYTES)
		wfs_buffer_done(input);
	connection->scanned_bytes -= connection->begun_bytes;
	if (connection->handed_count > 0)
		connection->handed_at -= connection->begun_bytes;
	connection->begun_bytes = 0;
}

/* Frees the input and its charge when every line has begun and none is being parsed. */
static void release_input(struct wfs_server_connection *connection)
{
	compact_input(connection);
	(void)wfs_server_user_input(connection, connection->input.capacity_bytes);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *ret_buf)
{
	struct wfs_server_connection *const connection = handle->data;
	struct wfs_buffer *const input = &connection->input;

	(void)suggested;
	compact_input(connection);
	if (wfs_buffer_reserve(input, READ_SIZE) < 0)
		*ret_buf = uv_buf_init(NULL, 0); /* reading then fails with ENOBUFS */
	else
		*ret_buf = uv_buf_init(input->data + input->size, READ_SIZE);
}

/* Has the client gone? It may also just have stopped sending. */
static bool has_gone(const struct wfs_server_connection *connection)
{
	struct pollfd end = {.fd = -1};

	return uv_fileno((const uv_handle_t *)&connection->pipe, &end.fd) == 0 &&
		poll(&end, 1, 0) > 0 && (end.revents & POLLHUP);
}

static void on_carrier_closed(uv_handle_t *carrier)
{
	free(carrier);
}

/* Takes a received descriptor, which libuv gives only as a handle. Return: a copy, or -errno. */
static int take_descriptor(struct wfs_server_connection *connection)
{
	uv_pipe_t *const carrier = calloc(1, sizeof(*carrier));
	uv_os_fd_t fd = -1;

	if (!carrier)
		return -ENOMEM;
	int r = uv_pipe_init(&connection->server->loop, carrier, 0);
	if (r) {
		free(carrier);
		return r;
	}
	r = uv_accept((uv_stream_t *)&connection->pipe, (uv_stream_t *)carrier);
	if (!r)
		r = uv_fileno((uv_handle_t *)carrier, &fd);
	if (!r) {
		r = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		r = r < 0 ? -errno : r;
	}
	uv_close((uv_handle_t *)carrier, on_carrier_closed);
	return r;
}

/* Do descriptors wait for their request to begin? So a connection holds those of one request at
 * most. */
static bool holds_descriptors(const struct wfs_server_connection *connection)
{
	for (const struct wfs_server_request *at = connection->waiting; at; at = at->next)
		if (!at->started && at->call.handed_count > 0)
			return true;
	return connection->handed_count > 0;
}

/* Takes descriptors that came with the bytes at @offset. Too many, or any while others wait for
 * their request, are closed. Return: 0 or -errno. */
static int take_descriptors(struct wfs_server_connection *connection, size_t offset)
{
	const bool wanted = !holds_descriptors(connection);

	while (uv_pipe_pending_count(&connection->pipe) > 0) {
		const int fd = take_descriptor(connection);

		if (fd < 0)
			return fd;
		if (wanted && connection->handed_count < WFS_HANDED_COUNT)
			connection->handed.fds[connection->handed_count] = fd;
		else
			close(fd);
		if (wanted) {
			connection->handed_count++;
			connection->handed_at = offset;
		}
	}
	return 0;
}

static void on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *buf)
{
	struct wfs_server_connection *const connection = stream->data;

	(void)buf;
	if (size == 0)
		return;
	if (size > 0 && take_descriptors(connection, connection->input.size) < 0) {
		connection_close(connection);
	} else if (size > 0) {
		connection->input.size += (size_t)size;
		if (!wfs_server_user_input(connection, connection->input.capacity_bytes))
			refuse(connection, WFS_E_OVERLOADED,
				"unfinished requests of this user take too much memory already");
	} else if (size == UV_EOF) {
		/* The client may still wait for answers, and the last line may lack its end. */
		connection->input_ended = true;
		wfs_buffer_append_byte(&connection->input, '\n');
		if (wfs_buffer_check(&connection->input) < 0)
			connection_close(connection);
		else if (has_gone(connection))
			abandon_requests(connection);
	} else {
		connection_close(connection);
	}
	wfs_server_pump(connection);
}

static void update_reading(struct wfs_server_connection *connection)
{
	const bool wanted = may_begin(connection) && !connection->input_ended && !connection->ready;

	if (wanted == connection->reading || connection->closing)
		return;
	connection->reading = wanted;
	if (!wanted)
		uv_read_stop((uv_stream_t *)&connection->pipe);
	else if (uv_read_start((uv_stream_t *)&connection->pipe, on_alloc, on_read) < 0)
		connection_close(connection);
}

void wfs_server_pump(struct wfs_server_connection *connection)
{
	if (is_answered(connection->slow))
		connection->slow = NULL;
	if (connection->closing) {
		drop_answered(connection);
		if (connection->closed && !connection->first)
			connection_free(connection);
		return;
	}
	send_answers(connection);
	if (wfs_server_order_may_start(connection) || has_input(connection))
		wfs_server_user_ready(connection);
	else if (!connection->slow && connection->begun_bytes == connection->input.size)
		release_input(connection);
	update_reading(connection);
	if (connection->input_ended && connection->begun_bytes == connection->input.size)
		connection->ending = true;
	if (connection->ending && !connection->first && connection->answer_bytes == 0)
		connection_close(connection);
}

void wfs_server_turn(struct wfs_server_connection *connection, int64_t end_ns)
{
	begin_requests(connection, end_ns);
	wfs_server_pump(connection);
}

/* --- all connections --- */

void wfs_server_look_for_gone(struct wfs_server *server)
{
	for (struct wfs_server_connection *at = server->connections; at; at = at->next)
		if (at->first && !at->reading && !at->closing && has_gone(at))
			abandon_requests(at);
	if (!server->connections)
		uv_timer_stop(&server->gone_timer);
}

void wfs_server_collect(struct wfs_server *server)
{
	struct wfs_server_connection *touched = NULL;
	struct wfs_server_request *request;

	pthread_mutex_lock(&server->lock);
	request = WFS_STEAL(server->finished);
	pthread_mutex_unlock(&server->lock);
	while (request) {
		struct wfs_server_request *const next = request->next_finished;
		struct wfs_server_connection *const connection = request->connection;

		wfs_server_request_collect(request);
		if (!connection->touched) {
			connection->touched = true;
			connection->next_touched = touched;
			touched = connection;
		}
		request = next;
	}
	while (touched) {
		struct wfs_server_connection *const connection = touched;

		touched = connection->next_touched;
		connection->touched = false;
		wfs_server_pump(connection);
	}
}

void wfs_server_end_changed(struct wfs_server *server)
{
	struct wfs_server_connection *next;

	for (struct wfs_server_connection *at = server->connections; at; at = next) {
		char principal[WFS_GRANT_NAME_MAX + 1];

		next = at->next;
		if (!at->session ||
			(wfs_peers_principal(server->peers, at->caller.uid, principal) &&
				strcmp(principal, wfs_session_principal(at->session)) == 0))
			continue;
		at->ending = true;
		wfs_server_pump(at);
	}
}

void wfs_server_end_connections(struct wfs_server *server, bool now)
{
	struct wfs_server_connection *next;

	for (struct wfs_server_connection *at = server->connections; at; at = next) {
		next = at->next;
		/* A client sends unread requests to another owner; it cannot know whether the
		 * others were done. */
		if (!now)
			begin_requests(at, INT64_MAX);
		at->ending = true;
		if (now)
			connection_close(at);
		else
			wfs_server_pump(at);
	}
}

/*
 * Takes descriptors only from a client that may mount. Closing a descriptor, or dropping an unread
 * one, may take as long as its sender likes (a file of a FUSE filesystem that does not answer; a
 * TCP socket that lingers), and would hold up the loop's thread.
 */
static void take_descriptors_of(struct wfs_server_connection *connection, uv_os_fd_t fd)
{
	if (!wfs_session_may(connection->session, WFS_EFFECT_WORLD_MOUNT))
		return;
	connection->pipe.ipc = 1;
	wfs_socket_pass_descriptors(fd, true);
}

/* Begins a session of the principal that belongs to the peer's user, whatever the socket's mode
 * is. Return: 0, -EACCES, … */
static int begin_session(struct wfs_server_connection *connection, struct wfs_error *error)
{
	const struct wfs_server *const server = connection->server;
	char principal[WFS_GRANT_NAME_MAX + 1];
	bool known = false;
	struct ucred peer;
	socklen_t size = sizeof(peer);
	uv_os_fd_t fd = -1;

	if (uv_fileno((uv_handle_t *)&connection->pipe, &fd) == 0 &&
		getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0) {
		known = wfs_peers_principal(server->peers, peer.uid, principal);
		connection->user = wfs_server_user_get(connection->server, peer.uid);
		if (!connection->user)
			return wfs_error_from_errno(error, -ENOMEM, "take a connection");
		connection->caller = (struct wfs_caller){
			.uid = peer.uid,
			.gid = peer.gid,
			.here = peer.uid == geteuid() && wfs_socket_shares(peer.pid, "mnt"),
			.shares_uids = wfs_socket_shares(peer.pid, "user"),
		};
	}
	/* Strangers are not counted, so however many come, other users find room. */
	if (!known)
		return wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
			"the socket serves the user who owns the world, root, and the users in "
			"'uids' of its host.json");
	int r = wfs_server_user_admit(connection, error);
	if (r)
		return r;
	r = wfs_session_new(
		wfs_session_authority(server->session), principal, &connection->session, error);
	if (r)
		return r;
	wfs_session_connect(connection->session, ++connection->server->connections_total);
	take_descriptors_of(connection, fd);
	return 0;
}

static void on_turned_away(uv_handle_t *handle)
{
	struct wfs_server *const server = handle->data;

	server->turning_away = false;
	wfs_server_accept_waiting(server);
}

/* Sends a client away. libuv stops listening until a waiting client is accepted. */
static void turn_away(struct wfs_server *server)
{
	uv_pipe_t *const pipe = &server->turned_away;

	if (server->turning_away) {
		server->another_waits = true;
		return;
	}
	wfs_log(WFS_LOG_SOCKET, WFS_LOG_ERR, "accept: no memory, turning the client away");
	if (uv_pipe_init(&server->loop, pipe, 0) < 0)
		return;
	pipe->data = server;
	server->turning_away = true;
	(void)uv_accept((uv_stream_t *)&server->listener, (uv_stream_t *)pipe); /* closed anyway */
	uv_close((uv_handle_t *)pipe, on_turned_away);
}

void wfs_server_accept_waiting(struct wfs_server *server)
{
	if (!server->another_waits || server->turning_away || server->stopping)
		return;
	server->another_waits = false;
	wfs_server_accept(server);
}

void wfs_server_accept(struct wfs_server *server)
{
	struct wfs_server_connection *const connection = calloc(1, sizeof(*connection));
	struct wfs_error error = {.code = WFS_OK};

	if (!connection || uv_pipe_init(&server->loop, &connection->pipe, 0) < 0) {
		free(connection);
		turn_away(server);
		return;
	}
	connection->server = server;
	connection->handed = (struct wfs_handed)WFS_HANDED_NONE;
	connection->pipe.data = connection;
	connection->next = server->connections;
	server->connections = connection;
	server->connection_count++;
	if (uv_accept((uv_stream_t *)&server->listener, (uv_stream_t *)&connection->pipe) < 0)
		connection_close(connection);
	else if (begin_session(connection, &error))
		refuse(connection, error.code, error.message);
	wfs_server_pump(connection);
}
