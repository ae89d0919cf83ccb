/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The transport of servers that are child processes: one message a line, over pipes.
 *
 * A child outlives its connection for a moment, until worldfs-outside has ended everything that it
 * had started.
 */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "agents/outside/keeper/keeper.h"
#include "agents/outside/outside-child.h"
#include "agents/outside/outside-impl.h"
#include "kernel/base/clock.h"
#include "kernel/base/encode.h"
#include "kernel/base/log.h"

enum {
	READ_SIZE = 64 << 10,
	SKIPPED_MAX = 64 << 20,       /* bytes of a line that is too long */
	KEPT_SIZE = 256,              /* bytes at both ends of a line that is too long */
	UNSENT_MAX = 1 << 20,         /* bytes of messages that no call waits for */
	STATUS_MS = 200,              /* between the end of the output and that of the process */
	LATE_MS = KEEPER_KILL_MS * 2, /* after which worldfs-outside is killed itself */
	LOG_LINE_MAX = 400,           /* bytes; the rest of a line of the server is left out */
	LOG_LINES_MAX = 100,          /* in LOG_SECONDS; further ones are counted */
	LOG_SECONDS = 10,
	NS_PER_S = 1000000000,
};

struct child {
	struct wfs_outside *outside;
	struct outside_server *server; /* NULL: the connection is closed */
	const char *name;              /* of the server; borrowed from the table */
	pid_t keeper;
	pid_t leader; /* of the server's process group; 0: not known */
	uv_pipe_t input;
	uv_pipe_t output;
	uv_pipe_t errors;
	uv_poll_t poll; /* of the socket */
	uv_timer_t timer;
	int socket;
	unsigned int handle_count;
	struct wfs_buffer line; /* the unfinished line of the output */
	bool skipping;          /* it is too long, and only its ends are kept */
	size_t skipped_bytes;   /* of it */
	struct wfs_buffer head;
	struct wfs_buffer tail;
	size_t unsent_bytes;
	bool ended; /* `reason` is known */
	char reason[WFS_OUTSIDE_REASON_SIZE];
	char log_line[LOG_LINE_MAX];
	size_t log_size;
	int64_t log_period;
	unsigned int log_count; /* lines in this period */
};

/* A message that is being written. */
struct writing {
	uv_write_t write;
	struct child *child;
	struct wfs_buffer message;
	bool of_call;
};

/* --- freeing --- */

static void on_closed(uv_handle_t *handle)
{
	struct child *const child = handle->data;

	if (--child->handle_count > 0)
		return;
	close(child->socket);
	wfs_buffer_done(&child->line);
	wfs_buffer_done(&child->head);
	wfs_buffer_done(&child->tail);
	outside_handle_closed(child->outside);
	free(child);
}

static void close_handle(void *handle)
{
	if (!uv_is_closing(handle))
		uv_close(handle, on_closed);
}

/* worldfs-outside has closed its socket, as one of the last things that it does. */
static void keeper_gone(struct child *child)
{
	int status = 0;

	while (waitpid(child->keeper, &status, 0) < 0 && errno == EINTR)
		continue;
	/* If it was killed, its orphans are not ended, but what is in the group can be. */
	if (child->leader > 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS))
		(void)kill(-child->leader, SIGKILL);
	close_handle(&child->input);
	close_handle(&child->output);
	close_handle(&child->errors);
	close_handle(&child->poll);
	close_handle(&child->timer);
}

/* --- the log --- */

static void log_line(struct child *child)
{
	const int64_t period = wfs_clock_monotonic_ns() / NS_PER_S / LOG_SECONDS;
	char line[LOG_LINE_MAX + 1];

	outside_line(line, sizeof(line), WFS_BYTES(child->log_line, child->log_size));
	child->log_size = 0;
	if (!line[0])
		return;
	if (period != child->log_period) {
		if (child->log_count > LOG_LINES_MAX)
			wfs_log(WFS_LOG_AGENTS, WFS_LOG_INFO,
				"server of tools: says: '%s': (%u lines were left out)",
				child->name, child->log_count - LOG_LINES_MAX);
		child->log_period = period;
		child->log_count = 0;
	}
	if (child->log_count++ < LOG_LINES_MAX)
		wfs_log(WFS_LOG_AGENTS, WFS_LOG_INFO, "server of tools: says: '%s': %s",
			child->name, line);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *ret_buffer)
{
	(void)handle;
	ret_buffer->base = malloc(suggested);
	ret_buffer->len = ret_buffer->base ? suggested : 0;
}

static void on_errors(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
	struct child *const child = stream->data;
	WFS_AUTO_FREE char *text = buffer->base;

	if (size < 0)
		uv_read_stop(stream);
	for (ssize_t i = 0; i < size; i++) {
		if (text[i] == '\n')
			log_line(child);
		else if (child->log_size < sizeof(child->log_line))
			child->log_line[child->log_size++] = text[i];
	}
	if (size < 0)
		log_line(child);
}

/* --- the end of the server --- */

static void on_late(uv_timer_t *timer)
{
	struct child *const child = timer->data;

	if (child->server) { /* the output has ended */
		outside_fail(child->server, "%s",
			child->ended ? child->reason : "it has closed its output");
		return;
	}
	/* Something has stopped worldfs-outside. */
	(void)kill(child->keeper, SIGKILL);
}

static void describe(struct child *child, const struct keeper_message *message)
{
	const int value = message->value;

	if (child->ended)
		return; /* a program that cannot be run ends, too */
	child->ended = true;
	if (message->kind == KEEPER_NOT_STARTED)
		snprintf(child->reason, sizeof(child->reason), "it cannot be started: %s",
			outside_reason(-value));
	else if (WIFSIGNALED(value))
		snprintf(child->reason, sizeof(child->reason), "it was ended by signal %d",
			WTERMSIG(value));
	else
		snprintf(child->reason, sizeof(child->reason), "it has exited with status %d",
			WEXITSTATUS(value));
}

static void on_socket(uv_poll_t *poll, int status, int events)
{
	struct child *const child = poll->data;
	struct keeper_message message;

	(void)status;
	(void)events;
	const ssize_t size = recv(child->socket, &message, sizeof(message), MSG_DONTWAIT);
	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (size == sizeof(message) && message.kind == KEEPER_STARTED) {
		child->leader = message.value;
	} else if (size == sizeof(message)) {
		describe(child, &message);
		/* Lines that it has written before are read first. */
		if (child->server)
			uv_timer_start(&child->timer, on_late, STATUS_MS, 0);
	} else {
		keeper_gone(child);
		if (child->server)
			outside_fail(child->server, "%s",
				child->ended ? child->reason : "its process has ended");
	}
}

/* --- messages from the server --- */

/* Of a line that is too long, both ends are kept. */
static void keep_tail(struct child *child, const char *text, size_t size)
{
	wfs_buffer_append(&child->tail, text, size);
	if (child->tail.size <= KEPT_SIZE)
		return;
	memmove(child->tail.data, child->tail.data + child->tail.size - KEPT_SIZE, KEPT_SIZE);
	child->tail.size = KEPT_SIZE;
}

static void skip(struct child *child)
{
	struct wfs_buffer *const line = &child->line;

	if (!child->skipping) {
		wfs_buffer_reset(&child->head);
		wfs_buffer_reset(&child->tail);
		wfs_buffer_append(&child->head, line->data, KEPT_SIZE);
		child->skipped_bytes = 0;
	}
	child->skipping = true;
	child->skipped_bytes += line->size;
	keep_tail(child, line->data, line->size);
	wfs_buffer_done(line);
	if (child->skipped_bytes > SKIPPED_MAX)
		outside_fail(
			child->server, "it has sent a message of more than %d bytes", SKIPPED_MAX);
}

static void take_line(struct child *child)
{
	struct wfs_buffer *const line = &child->line;
	size_t spaces = 0;

	if (child->skipping) {
		keep_tail(child, line->data, line->size);
		child->skipping = false;
		wfs_buffer_reset(line);
		outside_take_broken(child->server, wfs_buffer_bytes(&child->head),
			wfs_buffer_bytes(&child->tail), child->skipped_bytes, WFS_E_TOO_LARGE,
			"a message that is too long");
		return;
	}
	while (spaces < line->size && strchr(" \t\r", line->data[spaces]) && line->data[spaces])
		spaces++;
	if (spaces < line->size) {
		/* Callbacks may close the connection, but not free the child. */
		WFS_AUTO_BUFFER struct wfs_buffer taken = *line;

		*line = (struct wfs_buffer){0};
		outside_take(child->server, wfs_buffer_bytes(&taken), NULL);
	}
	wfs_buffer_reset(line);
}

static void on_output(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
	struct child *const child = stream->data;
	WFS_AUTO_FREE char *text = buffer->base;
	const char *at = text;

	if (size < 0) {
		uv_read_stop(stream);
		if (child->server)
			uv_timer_start(&child->timer, on_late, STATUS_MS, 0);
		return;
	}
	for (const char *const end = at + size; at < end && child->server;) {
		const char *const stop = memchr(at, '\n', (size_t)(end - at));

		wfs_buffer_append(&child->line, at, (size_t)((stop ? stop : end) - at));
		at = stop ? stop + 1 : end;
		if (wfs_buffer_check(&child->line))
			outside_fail(child->server, "out of memory");
		else if (stop && child->line.size <= WFS_OUTSIDE_MESSAGE_MAX)
			take_line(child);
		else if (child->skipping || child->line.size > WFS_OUTSIDE_MESSAGE_MAX)
			skip(child);
		if (stop && child->server && child->skipping)
			take_line(child);
	}
}

/* --- messages to the server --- */

static void on_written(uv_write_t *write, int status)
{
	struct writing *const writing = (struct writing *)write;
	struct child *const child = writing->child;

	if (!writing->of_call)
		child->unsent_bytes -= writing->message.size;
	wfs_buffer_done(&writing->message);
	free(writing);
	/* Its output may still have messages, and says when it ends. */
	if (status < 0 && status != UV_ECANCELED && status != UV_EPIPE && child->server)
		outside_fail(child->server, "it takes no messages: %s", uv_strerror(status));
}

static int child_send(struct outside_server *server, struct wfs_buffer *message,
	struct wfs_outside_call *call, bool asked)
{
	struct child *const child = server->link;
	struct writing *const writing = calloc(1, sizeof(*writing));

	(void)asked;

	if (!writing) {
		wfs_buffer_done(message);
		return -ENOMEM;
	}
	*writing = (struct writing){.child = child, .message = *message, .of_call = call != NULL};
	*message = (struct wfs_buffer){0};
	if (!call)
		child->unsent_bytes += writing->message.size;
	const bool full = child->unsent_bytes > UNSENT_MAX;
	const uv_buf_t bytes =
		uv_buf_init(writing->message.data, (unsigned int)writing->message.size);
	const int r = full
		? -ENOBUFS
		: uv_write(&writing->write, (uv_stream_t *)&child->input, &bytes, 1, on_written);
	if (r) {
		wfs_buffer_done(&writing->message);
		free(writing);
	}
	return r;
}

/* --- life --- */

static int open_handles(struct child *child, const struct outside_process *process)
{
	uv_loop_t *const loop = child->outside->loop;
	const struct {
		uv_pipe_t *pipe;
		int fd;
	} pipes[] = {
		{&child->input, process->input},
		{&child->output, process->output},
		{&child->errors, process->errors},
	};
	int r = 0;

	uv_timer_init(loop, &child->timer);
	child->timer.data = child;
	for (size_t i = 0; i < WFS_ARRAY_COUNT(pipes); i++) {
		uv_pipe_init(loop, pipes[i].pipe, 0);
		pipes[i].pipe->data = child;
		const int opened = uv_pipe_open(pipes[i].pipe, pipes[i].fd);
		if (opened)
			close(pipes[i].fd);
		r = r ? r : opened;
	}
	r = r ? r : uv_read_start((uv_stream_t *)&child->output, on_alloc, on_output);
	r = r ? r : uv_read_start((uv_stream_t *)&child->errors, on_alloc, on_errors);
	return r;
}

/* Takes over a started process. Whatever fails, it is waited for, which needs its socket alone.
 * Return: 0, or -errno: the caller closes server->link. */
static int take_over(
	struct outside_server *server, struct child *child, const struct outside_process *process)
{
	*child = (struct child){
		.outside = server->outside,
		.server = server,
		.name = server->name,
		.keeper = process->keeper,
		.socket = process->socket,
		.handle_count = 5,
	};
	server->outside->handle_count++;
	server->link = child;
	const int r = open_handles(child, process);
	int polled = uv_poll_init(server->outside->loop, &child->poll, process->socket);
	child->poll.data = child;
	if (!polled)
		polled = uv_poll_start(&child->poll, UV_READABLE | UV_DISCONNECT, on_socket);
	wfs_require(polled == 0); /* for a new socket it cannot fail but without memory */
	return r;
}

static int open_image(struct wfs_outside *outside)
{
	const int fd = outside->image_fd < 0 ? outside_process_image() : outside->image_fd;

	if (fd >= 0)
		outside->image_fd = fd;
	return fd < 0 ? fd : 0;
}

static int child_open(struct outside_server *server, struct wfs_error *error)
{
	WFS_AUTO_FREE struct child *child = malloc(sizeof(*child));
	struct outside_process process;
	sigset_t pipe;

	/* A server that is gone must not end this process. */
	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	(void)pthread_sigmask(SIG_BLOCK, &pipe, NULL);
	/* The server is the same user, and must not look into this process. */
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	int r = child ? open_image(server->outside) : -ENOMEM;
	if (r)
		return wfs_error_from_errno(error, r, "start a server of tools");
	r = outside_process_start(
		server->outside->image_fd, server->name, &server->host, &process, error);
	if (r)
		return r;
	r = take_over(server, WFS_STEAL(child), &process);
	return r ? wfs_error_from_errno(error, r, "start a server of tools") : 0;
}

static void child_close(struct outside_server *server)
{
	struct child *const child = WFS_STEAL(server->link);

	child->server = NULL;
	if (uv_is_closing((uv_handle_t *)&child->poll))
		return; /* it is gone already */
	close_handle(&child->input);
	close_handle(&child->output); /* a server that writes on gets SIGPIPE */
	(void)shutdown(child->socket, SHUT_WR);
	uv_timer_start(&child->timer, on_late, LATE_MS, 0);
}

const struct outside_transport outside_child = {
	.open = child_open,
	.send = child_send,
	.close = child_close,
};
