/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/replica/port-impl.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "kernel/base/encode.h"

#define BLOB "/v1/blob/"

enum { BLOCK_BYTES = 64 << 10 }; /* of a file or a backup, read at once */

/* --- life of a call --- */

static struct wfs_port_call *call_new(struct wfs_port *port, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *const info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct wfs_port_call *const call = info ? calloc(1, sizeof(*call)) : NULL;

	if (!call)
		return NULL;
	*call = (struct wfs_port_call){.port = port,
		.connection = connection,
		.refs = 1,
		.fd = info->connect_fd,
		.backup.fd = -1};
	return call;
}

/* Puts a call into the list. The caller has the lock. */
static void insert(struct wfs_port_call *call)
{
	struct wfs_port *const port = call->port;

	call->number = ++port->call_number;
	call->next = port->calls;
	if (call->next)
		call->next->previous = call;
	port->calls = call;
	port->call_count++;
	port->body_bytes += call->wanted_bytes;
}

static void take_out(struct wfs_port_call *call)
{
	struct wfs_port *const port = call->port;

	*(call->previous ? &call->previous->next : &port->calls) = call->next;
	if (call->next)
		call->next->previous = call->previous;
	port->call_count--;
	port->body_bytes -= call->wanted_bytes;
	pthread_cond_broadcast(&port->changed);
}

static void release(struct wfs_port_call *call)
{
	const struct wfs_port_options *const options = &call->port->options;

	if (call->is_backup && call->backup.fd >= 0) {
		close(call->backup.fd);
		options->handlers.backup_done(options->context, call->backup.backup);
	}
	wfs_buffer_done(&call->body);
	free(call->answer);
}

void wfs_port_unref(struct wfs_port_call *call)
{
	struct wfs_port *const port = call->port;

	pthread_mutex_lock(&port->lock);
	const bool last = --call->refs == 0;
	pthread_mutex_unlock(&port->lock);
	if (!last)
		return;
	release(call);
	pthread_mutex_lock(&port->lock);
	take_out(call);
	pthread_mutex_unlock(&port->lock);
	free(call);
}

void wfs_port_completed(void *context, struct MHD_Connection *connection, void **request,
	enum MHD_RequestTerminationCode code)
{
	(void)context;
	(void)connection;
	(void)code;
	if (*request)
		wfs_port_unref(WFS_STEAL(*request));
}

/* --- answers --- */

/* @response: taken; NULL: memory was short */
static enum MHD_Result give(
	struct MHD_Connection *connection, unsigned int status, struct MHD_Response *response)
{
	if (!response)
		return MHD_NO;
	const enum MHD_Result result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

/* @name, @value: of a header; NULL: none */
static enum MHD_Result refuse_with(struct MHD_Connection *connection, unsigned int status,
	const char *text, const char *name, const char *value)
{
	struct MHD_Response *const response =
		MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_MUST_COPY);

	if (response)
		(void)MHD_add_response_header(response, "Content-Type", "text/plain");
	if (response && name)
		(void)MHD_add_response_header(response, name, value);
	return give(connection, status, response);
}

static enum MHD_Result refuse(
	struct MHD_Connection *connection, unsigned int status, const char *text)
{
	return refuse_with(connection, status, text, NULL, NULL);
}

static enum MHD_Result not_found(struct MHD_Connection *connection)
{
	return refuse(connection, MHD_HTTP_NOT_FOUND, "not found\n");
}

static enum MHD_Result overloaded(struct MHD_Connection *connection)
{
	return refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
		"too many requests under way, or this node ends\n");
}

/* --- requests with a body --- */

/* Return: bytes of the body as the client says; 0: it does not say, or has none. */
static uint64_t body_size(struct MHD_Connection *connection)
{
	const char *const text =
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length");
	uint64_t size = 0;

	if (!text ||
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Transfer-Encoding") ||
		wfs_decimal_read(text, strlen(text), &size) != strlen(text))
		return 0;
	return size;
}

static bool admit(struct wfs_port_call *call)
{
	struct wfs_port *const port = call->port;
	WFS_GUARD(&port->lock);

	if (port->ending || port->call_count >= port->options.calls_max ||
		port->body_bytes + call->wanted_bytes > WFS_PORT_BODIES_MAX)
		return false;
	insert(call);
	return true;
}

static enum MHD_Result begin_request(
	struct wfs_port *port, struct MHD_Connection *connection, const char *rest, void **request)
{
	const uint64_t size = body_size(connection);

	(void)rest;
	if (size == 0)
		return refuse(connection, MHD_HTTP_LENGTH_REQUIRED,
			"expected a body, and its Content-Length\n");
	if (size > WFS_PORT_BODY_MAX)
		return refuse(connection, MHD_HTTP_CONTENT_TOO_LARGE,
			"the request's body is too large\n");
	struct wfs_port_call *const call = call_new(port, connection);
	if (!call)
		return MHD_NO;
	call->wanted_bytes = (size_t)size;
	if (!admit(call)) {
		free(call);
		return overloaded(connection);
	}
	*request = call;
	return MHD_YES;
}

/* Suspends the connection of a call for its handler. Return: false if the port is being freed. */
static bool suspend(struct wfs_port_call *call)
{
	WFS_GUARD(&call->port->lock);

	call->begun = true;
	if (call->port->ending)
		return false;
	MHD_suspend_connection(call->connection);
	call->suspended = true;
	call->refs++;
	call->handed = true;
	call->port->handed_count++;
	return true;
}

/* The handler has got the call. Return: true if the caller must call handlers->gone at once. */
static bool is_known(struct wfs_port_call *call)
{
	WFS_GUARD(&call->port->lock);

	call->known = true;
	if (call->suspended)
		wfs_port_watch(call);
	if (!call->handed || !call->port->ending)
		return false;
	call->told = true;
	return true;
}

/* Hands a call with its whole body to the handler. */
static enum MHD_Result hand_over(struct wfs_port_call *call)
{
	const struct wfs_port_options *const options = &call->port->options;

	if (!suspend(call))
		return overloaded(call->connection);
	options->handlers.request(options->context, call, wfs_buffer_bytes(&call->body));
	if (is_known(call))
		options->handlers.gone(options->context, call);
	return MHD_YES;
}

/* Goes on with a request whose connection was resumed. */
static enum MHD_Result send_answer(struct wfs_port_call *call)
{
	WFS_GUARD(&call->port->lock);

	if (!call->answer)
		return MHD_NO;
	struct MHD_Response *const response = MHD_create_response_from_buffer(
		call->answer_bytes, call->answer, MHD_RESPMEM_MUST_FREE);
	if (!response)
		return MHD_NO;
	call->answer = NULL;
	(void)MHD_add_response_header(response, "Content-Type", "application/json");
	return give(call->connection, (unsigned int)call->code, response);
}

static enum MHD_Result go_on(struct wfs_port_call *call, const char *part, size_t *part_bytes)
{
	if (*part_bytes > 0) {
		if (*part_bytes > call->wanted_bytes - call->body.size)
			return MHD_NO;
		wfs_buffer_append(&call->body, part, *part_bytes);
		*part_bytes = 0;
		return wfs_buffer_check(&call->body) ? MHD_NO : MHD_YES;
	}
	return call->begun ? send_answer(call) : hand_over(call);
}

void wfs_port_answer(struct wfs_port_call *call, int code, struct wfs_bytes answer)
{
	struct wfs_port *const port = call->port;
	char *const copy = malloc(answer.size + 1);

	wfs_require((code >= 200 && code <= 299) || code == MHD_HTTP_CONFLICT ||
		code == MHD_HTTP_UNPROCESSABLE_CONTENT || code == MHD_HTTP_INTERNAL_SERVER_ERROR);
	if (copy && answer.size > 0)
		memcpy(copy, answer.data, answer.size);
	pthread_mutex_lock(&port->lock);
	wfs_require(call->handed);
	call->handed = false;
	call->code = code;
	call->answer = copy;
	call->answer_bytes = answer.size;
	wfs_buffer_done(&call->body);
	const bool resumes = call->suspended;
	if (resumes)
		wfs_port_unwatch(call);
	pthread_mutex_unlock(&port->lock);
	if (resumes)
		MHD_resume_connection(call->connection);
	wfs_port_unref(call);
	/* From here on wfs_port_free() need not wait for this thread. */
	pthread_mutex_lock(&port->lock);
	port->handed_count--;
	pthread_cond_broadcast(&port->changed);
	pthread_mutex_unlock(&port->lock);
}

/* --- blobs --- */

struct blob {
	int fd; /* owned */
};

static ssize_t read_blob(void *context, uint64_t at, char *bytes, size_t size)
{
	const struct blob *const blob = context;
	ssize_t count;

	do
		count = pread(blob->fd, bytes, size, (off_t)at);
	while (count < 0 && errno == EINTR);
	/* libmicrohttpd asks for no more than the announced size: the file is shorter. */
	return count > 0 ? count : MHD_CONTENT_READER_END_WITH_ERROR;
}

static void blob_free(void *context)
{
	struct blob *const blob = context;

	close(blob->fd);
	free(blob);
}

/* @rest: of the path */
static enum MHD_Result begin_blob(
	struct wfs_port *port, struct MHD_Connection *connection, const char *rest, void **request)
{
	WFS_AUTO_FD int fd = -1;
	struct wfs_hash hash;
	uint64_t size = 0;

	(void)request;
	if (strlen(rest) != WFS_HASH_HEX_SIZE || wfs_hash_parse(rest, strlen(rest), &hash, NULL) ||
		port->options.handlers.blob(port->options.context, &hash, &fd, &size))
		return not_found(connection);
	struct blob *const blob = malloc(sizeof(*blob));
	struct MHD_Response *response = NULL;
	if (blob) {
		blob->fd = fd;
		response = size == 0
			? MHD_create_response_from_buffer(0, (void *)"", MHD_RESPMEM_PERSISTENT)
			: MHD_create_response_from_callback(
				  size, BLOCK_BYTES, read_blob, blob, blob_free);
	}
	if (!response || size == 0)
		free(blob);
	else
		fd = -1;
	return give(connection, MHD_HTTP_OK, response);
}

/* --- backups --- */

/* Nothing is in the pipe. Return: how reading goes on. */
static ssize_t wait_for_pipe(struct wfs_port_call *call)
{
	struct wfs_port *const port = call->port;
	WFS_GUARD(&port->lock);

	if (call->gone || port->ending || wfs_port_watch_pipe(call) < 0)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	MHD_suspend_connection(call->connection);
	call->suspended = true;
	wfs_port_watch(call);
	return 0;
}

static bool is_gone(struct wfs_port_call *call)
{
	WFS_GUARD(&call->port->lock);

	return call->gone || call->port->ending;
}

static ssize_t read_backup(void *context, uint64_t at, char *bytes, size_t size)
{
	struct wfs_port_call *const call = context;
	const struct wfs_port_options *const options = &call->port->options;
	ssize_t count;

	(void)at;
	if (is_gone(call))
		return MHD_CONTENT_READER_END_WITH_ERROR;
	do
		count = read(call->backup.fd, bytes, size);
	while (count < 0 && errno == EINTR);
	if (count < 0 && errno == EAGAIN)
		return wait_for_pipe(call);
	if (count == 0 && options->handlers.backup_is_whole(options->context, call->backup.backup))
		return MHD_CONTENT_READER_END_OF_STREAM;
	return count > 0 ? count : MHD_CONTENT_READER_END_WITH_ERROR;
}

static void backup_free(void *context)
{
	wfs_port_unref(context);
}

static void is_backup(struct wfs_port_call *call)
{
	WFS_GUARD(&call->port->lock);

	call->is_backup = true;
}

static enum MHD_Result begin_backup(
	struct wfs_port *port, struct MHD_Connection *connection, const char *rest, void **request)
{
	struct wfs_port_call *const call = call_new(port, connection);

	(void)rest;
	if (!call)
		return MHD_NO;
	if (!admit(call)) {
		free(call);
		return overloaded(connection);
	}
	*request = call;
	if (port->options.handlers.backup(port->options.context, &call->backup))
		return not_found(connection);
	is_backup(call);
	if (fcntl(call->backup.fd, F_SETFL, O_RDONLY | O_NONBLOCK) < 0)
		return MHD_NO;
	struct MHD_Response *const response = MHD_create_response_from_callback(
		MHD_SIZE_UNKNOWN, BLOCK_BYTES, read_backup, call, backup_free);
	if (response) {
		WFS_GUARD(&port->lock);
		call->refs++;
	}
	return give(connection, MHD_HTTP_OK, response);
}

/* --- which request it is --- */

struct route {
	const char *path;
	bool has_rest; /* the path goes on */
	const char *method;
	enum MHD_Result (*begin)(struct wfs_port *port, struct MHD_Connection *connection,
		const char *rest, void **request);
};

static const struct route routes[] = {
	{"/v1/request", false, "POST", begin_request},
	{BLOB, true, "GET", begin_blob},
	{"/v1/backup", false, "GET", begin_backup},
};

static const struct route *find_route(const char *url)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(routes); i++) {
		const size_t size = strlen(routes[i].path);

		if (strncmp(url, routes[i].path, size) == 0 && (routes[i].has_rest || !url[size]))
			return &routes[i];
	}
	return NULL;
}

/* The client has the token: from now on only its silence ends the connection. */
static void trust(struct wfs_port *port, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *const info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct wfs_port_client *const client = info ? info->socket_context : NULL;
	WFS_GUARD(&port->lock);

	if (client)
		client->until_ns = 0;
}

static enum MHD_Result begin(struct wfs_port *port, struct MHD_Connection *connection,
	const char *url, const char *method, const char *version, void **request)
{
	const struct route *const route = find_route(url);

	if (!wfs_identity_allows(port->options.identity,
		    MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization")))
		return refuse_with(connection, MHD_HTTP_UNAUTHORIZED,
			"expected 'Authorization: Bearer TOKEN' with this node's token\n",
			"WWW-Authenticate", "Bearer");
	trust(port, connection);
	/* By HTTP/1.0 a backup that fails would look like a shorter one. */
	if (strcmp(version, MHD_HTTP_VERSION_1_1) != 0)
		return refuse(
			connection, MHD_HTTP_HTTP_VERSION_NOT_SUPPORTED, "expected HTTP/1.1\n");
	if (!route || MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, NULL, NULL) > 0)
		return not_found(connection);
	if (strcmp(method, route->method) != 0)
		return refuse_with(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
			"this path has another method\n", "Allow", route->method);
	return route->begin(port, connection, url + strlen(route->path), request);
}

/* NOLINTNEXTLINE(readability-function-size): eight parameters are libmicrohttpd's */
enum MHD_Result wfs_port_serve(void *context, struct MHD_Connection *connection, const char *url,
	const char *method, const char *version, const char *part, size_t *part_bytes,
	void **request)
{
	return *request ? go_on(*request, part, part_bytes)
			: begin(context, connection, url, method, version, request);
}
